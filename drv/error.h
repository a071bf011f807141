/* Errors: functions return 0 or -errno, and leave why in a record of the calling thread.
 *
 * The record is text for people: which function failed, which ioctl, and what to do. It stays until the thread's
 * next failure; success does not clear it. */
#ifndef DRV_ERROR_H
#define DRV_ERROR_H

#define DRV_MUST_CHECK __attribute__((warn_unused_result))
/* A variable that hot paths share: it is this library's own, and found without a look into the table of symbols
 * that others might define. -fvisibility=hidden says so of definitions alone. */
#define DRV_OWN __attribute__((visibility("hidden")))

struct drv_error {
	int code;       /* -errno of the last failure of this thread, 0: none yet */
	char why[400];  /* a sentence for people */
	char text[480]; /* the same with the function that failed and the meaning of the code */
};

/* Records a failure of the calling function and returns err, which is -errno. */
#define drv_fail(err, ...) drv_fail_(err, __func__, __VA_ARGS__)
int drv_fail_(int err, const char *function, const char *fmt, ...) __attribute__((format(printf, 3, 4), cold));

/* The calling thread's record. Never NULL; valid until the thread ends. */
const struct drv_error *drv_error_last(void);

#endif
