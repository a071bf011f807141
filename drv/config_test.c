/* Variables are parsed once; an invalid value is ignored and reported. */
#include "drv/drv.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"

static void overrides_are_read(void)
{
	const struct drv_config *c = drv_config();

	CHECK_EQ(c->overrides, 2);
	for (unsigned i = 0; i < c->overrides; i++) {
		const struct drv_override *o = &c->override[i];

		CHECK(o->node == -1 || o->node == 2);
		CHECK_EQ(o->major, o->node == 2 ? 9 : 10);
		CHECK_EQ(o->minor, o->node == 2 ? 0 : 3);
		CHECK_EQ(o->stepping, o->node == 2 ? 10 : 0);
	}
}

/* A program that has closed the log has a file of its own at its number. */
static void log_is_written_to_the_log_alone(void)
{
	FILE *own = tmpfile();

	CHECK(drv_config()->log_fd > STDERR_FILENO);
	CHECK_EQ(dup2(fileno(own), drv_config()->log_fd), drv_config()->log_fd);
	drv_log(DRV_LOG_ERROR, "not for the program");
	CHECK_EQ(lseek(fileno(own), 0, SEEK_END), 0);
	fclose(own);
}

int main(void)
{
	setenv("TUFF_LOG", "ib,,submit", 1);
	setenv("TUFF_COPY", "shader", 1);
	setenv("TUFF_SPIN_US", "12x", 1);
	setenv("TUFF_STAGING_KIB", "128", 1);
	setenv("TUFF_SPLIT_MS", "-18446744073709551610", 1); /* 6 to strtoul() */
	setenv("HSA_OVERRIDE_GFX_VERSION", "10.3.0", 1);
	setenv("HSA_OVERRIDE_GFX_VERSION_2", "9.0.10", 1);
	setenv("HSA_OVERRIDE_GFX_VERSION_x", "9.0.6", 1);
	setenv("HSA_OVERRIDE_GFX_VERSION_3", "9.0.a", 1);
	setenv("HSA_OVERRIDE_GFX_VERSION_4", "9.0", 1);
	setenv("HSA_OVERRIDE_GFX_VERSION_5", "9.0.256", 1);
	setenv("HSA_OVERRIDE_GFX_VERSION_6", "", 1);
	setenv("TUFF_LOG_FILE", "/dev/null", 1);
	setenv("AMD_LOG_LEVEL", "2", 1);
	setenv("AMD_SERIALIZE_KERNEL", "1", 1);
	setenv("AMD_SERIALIZE_COPY", "4", 1);
	setenv("HIP_LAUNCH_BLOCKING", "1", 1);
	CHECK_EQ(drv_config()->log, DRV_LOG_IB | DRV_LOG_SUBMIT | DRV_LOG_ERROR | DRV_LOG_HSA);
	CHECK_EQ(drv_config()->amd_log_level, 2);
	CHECK_EQ(drv_config()->serialize_kernel, 3);
	CHECK_EQ(drv_config()->serialize_copy, 0);
	CHECK(drv_log_on(DRV_LOG_IB | DRV_LOG_MEM));
	CHECK(!drv_log_on(DRV_LOG_MEM));
	CHECK_EQ(drv_config()->copy, DRV_COPY_SHADER);
	CHECK_EQ(drv_config()->spin_us, 50);
	CHECK_EQ(drv_config()->staging_KiB, 128);
	CHECK_EQ(drv_config()->split_ms, 250);
	CHECK_STR(drv_config()->problem, "TUFF_SPIN_US=12x is not understood");
	overrides_are_read();
	setenv("TUFF_COPY", "cpu", 1);
	CHECK_EQ(drv_config()->copy, DRV_COPY_SHADER);

	CHECK_EQ(drv_fail(-22, "what %d", 7), -22);
	CHECK_EQ(drv_error_last()->code, -22);
	CHECK_STR(drv_error_last()->text, "main: what 7 (Invalid argument)");
	log_is_written_to_the_log_alone();
	return check_done("configuration, errors");
}
