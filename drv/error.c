#include "drv/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "drv/log.h"

#ifdef DRV_ERROR_UNRECORDED
/* For a library that never reads the record, and whose thread-local memory is scarce: failures are logged only. */
int drv_fail_(int err, const char *function, const char *fmt, ...)
{
	char why[sizeof(((struct drv_error *)0)->why)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	drv_log(DRV_LOG_ERROR, "%s: %s (%s)", function, why, strerrordesc_np(-err));
	return err;
}
#else
static _Thread_local struct drv_error last;

int drv_fail_(int err, const char *function, const char *fmt, ...)
{
	char why[sizeof(last.why)];
	va_list args;

	/* The arguments may come from the record itself. */
	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	last.code = err;
	memcpy(last.why, why, sizeof(why));
	snprintf(last.text, sizeof(last.text), "%s: %s (%s)", function, why, strerrordesc_np(-err));
	drv_log(DRV_LOG_ERROR, "%s", last.text);
	return err;
}

const struct drv_error *drv_error_last(void)
{
	return &last;
}
#endif
