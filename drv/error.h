/* Errors: functions return 0 or -errno, and leave the reason in a record of the calling thread.
 *
 *   drv_error  the record of one thread; thread-local, no lock
 *
 * The record is text for people: the function and the ioctl that failed, and a remedy. It stays until the thread's
 * next failure; success does not clear it. */
#ifndef DRV_ERROR_H
#define DRV_ERROR_H

#define DRV_MUST_CHECK __attribute__((warn_unused_result))
/* Marks a variable of hot paths as private to its library, so that an access needs no lookup in the symbol table
 * (GOT). -fvisibility=hidden does this for definitions only, not for declarations. */
#define DRV_OWN __attribute__((visibility("hidden")))

struct drv_error {
	int code;       /* -errno of the last failure of this thread, 0: none yet */
	char why[400];  /* a sentence for people */
	char text[480]; /* the same with the function that failed and the meaning of the code */
};

/* Records a failure of the calling function and returns err, a -errno. */
#define drv_fail(err, ...) drv_fail_(err, __func__, __VA_ARGS__)
int drv_fail_(int err, const char *function, const char *fmt, ...) __attribute__((format(printf, 3, 4), cold));

/* The calling thread's record. Never NULL; valid until the thread ends. */
const struct drv_error *drv_error_last(void);

#endif
