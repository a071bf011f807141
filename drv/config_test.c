/* Variables are parsed once; what cannot be understood is ignored and named. */
#include "drv/drv.h"

#include <stdlib.h>

#include "tests/check.h"

int main(void)
{
	setenv("TUFF_LOG", "ib,,submit", 1);
	setenv("TUFF_COPY", "shader", 1);
	setenv("TUFF_SPIN_US", "12x", 1);
	setenv("TUFF_STAGING_KIB", "128", 1);
	setenv("TUFF_LOG_FILE", "/dev/null", 1);
	CHECK_EQ(drv_config()->log, DRV_LOG_IB | DRV_LOG_SUBMIT);
	CHECK(drv_log_on(DRV_LOG_IB | DRV_LOG_MEM));
	CHECK(!drv_log_on(DRV_LOG_MEM));
	CHECK_EQ(drv_config()->copy, DRV_COPY_SHADER);
	CHECK_EQ(drv_config()->spin_us, 50);
	CHECK_EQ(drv_config()->staging_KiB, 128);
	CHECK_STR(drv_config()->problem, "TUFF_SPIN_US=12x is not understood");
	setenv("TUFF_COPY", "cpu", 1);
	CHECK_EQ(drv_config()->copy, DRV_COPY_SHADER);

	CHECK_EQ(drv_fail(-22, "what %d", 7), -22);
	CHECK_EQ(drv_error_last()->code, -22);
	CHECK_STR(drv_error_last()->text, "main: what 7 (Invalid argument)");
	return check_done("configuration, errors");
}
