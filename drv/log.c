#include "drv/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "drv/cancel.h"
#include "drv/config.h"

/* Categories of drv_log_also(). */
static _Atomic unsigned asked;
static _Atomic int asked_fd;

bool drv_log_on(unsigned categories)
{
	return (drv_config()->log | asked) & categories;
}

void drv_log_also(unsigned categories, int fd)
{
	asked_fd = fd;
	asked = categories;
}

static bool is_log(const struct drv_config *config)
{
	struct stat is;

	return config->log_fd == STDERR_FILENO ||
	       (!fstat(config->log_fd, &is) && is.st_dev == config->log_device && is.st_ino == config->log_inode);
}

void drv_log(enum drv_log_category category, const char *fmt, ...)
{
	const struct drv_config *config = drv_config();
	const bool also = asked & category;
	char line[512];
	struct timespec now;
	va_list args;
	int n, m;

	if (!drv_log_on(category))
		return;
	DRV_HOLD_CANCEL;

	clock_gettime(CLOCK_MONOTONIC, &now);
	n = snprintf(line, sizeof(line), "tuff %ld.%06ld ", (long)now.tv_sec, now.tv_nsec / 1000);
	va_start(args, fmt);
	m = vsnprintf(line + n, sizeof(line) - n - 1, fmt, args);
	va_end(args);
	n = m < (int)sizeof(line) - n - 1 ? n + m : (int)sizeof(line) - 2;
	line[n] = '\n';
	/* A failed write of the log is no error of the caller. */
	if (also || is_log(config))
		(void)!write(also ? asked_fd : config->log_fd, line, n + 1);
}
