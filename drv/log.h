/* The log: silent unless TUFF_LOG names categories, comma separated, or "all". Lines go to stderr, or
 * TUFF_LOG_FILE.
 *
 * Thread safe; a line is one write. */
#ifndef DRV_LOG_H
#define DRV_LOG_H

#include <stdbool.h>

enum drv_log_category {
	DRV_LOG_ERROR = 1 << 0,  /* "error": every recorded failure */
	DRV_LOG_DEVICE = 1 << 1, /* "device": discovery and facts */
	DRV_LOG_MEM = 1 << 2,    /* "mem": buffer objects and mappings */
	DRV_LOG_SUBMIT = 1 << 3, /* "submit": command submissions, waits, losses */
	DRV_LOG_IB = 1 << 4,     /* "ib": each submitted IB, decoded */
	DRV_LOG_CODE = 1 << 5,   /* "code": code objects */
	DRV_LOG_COPY = 1 << 6,   /* "copy": choices of the copy planner */
	DRV_LOG_HSA = 1 << 7,    /* "hsa": agents, queues, packets that stop a queue, errors of queues */
};

/* True when any of these categories is on. Test it before work that only the log needs. */
bool drv_log_on(unsigned categories);
/* Turns on these categories beside those of the variable, from this call on; their lines go to fd (borrowed)
 * instead of the log file. */
void drv_log_also(unsigned categories, int fd);
void drv_log(enum drv_log_category category, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
