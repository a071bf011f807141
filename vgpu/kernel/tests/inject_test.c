/* TUFF_VGPU_INJECT: what it takes, and that chances are what they say and can be repeated. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "vgpu/kernel/kernel.h"
#include "vgpu/kernel/tests/test_rig.h"
#include "vgpu/shim/shim.h"

enum { CALLS = 20000 };

static void bad_texts_are_refused(void)
{
	static const char *const good[] = {"",      "cs=1:EAGAIN",       "cs=5%:EAGAIN,ioctl=1%:EINTR",
					   "evict", "evict=0.5%,seed=3", "spill=7,reset=1%,evict=2"};
	static const char *const bad[] = {"cs",         "cs=0:EIO",  "cs=0%:EIO",  "cs=101%:EIO", "nothing=1:EIO",
					  "cs=1:EWHAT", "evict=x",   "spill=",     "seed",        "seed=x",
					  "cs=5%",      "cs=1:EIO,", "cs=1:EIO;x", "=1:EIO"};

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK_EQ(shim_inject_parse(good[i]), 0);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!CHECK_EQ(shim_inject_parse(bad[i]), i == 11 ? 0 : -EINVAL))
			printf("  %s\n", bad[i]);
}

/* How many of CALLS fail, and a sum that tells which. */
static unsigned failures(uint64_t *which)
{
	uint32_t value;
	unsigned failed = 0;

	*which = 0;
	for (unsigned i = 0; i < CALLS; i++) {
		int r = rig_info(AMDGPU_INFO_ACCEL_WORKING, &value, 4);

		CHECK(r == 0 || r == -EINTR);
		failed += r != 0;
		*which = *which * 31 + (uint64_t)-r;
	}
	return failed;
}

/* row 78 */
static void chances_are_as_planned(void)
{
	uint64_t first, second, third;
	unsigned n;

	CHECK_EQ(shim_inject_parse("info=5%:EINTR,seed=42"), 0);
	n = failures(&first);
	CHECK(n > CALLS / 25 && n < CALLS * 3 / 50); /* 5 % of 20,000: 1000, give or take 31 */
	CHECK_EQ(shim_inject_parse("info=5%:EINTR,seed=42"), 0);
	CHECK_EQ(failures(&second), n);
	CHECK_EQ(first, second);
	CHECK_EQ(shim_inject_parse("info=5%:EINTR,seed=43"), 0);
	failures(&third);
	CHECK(third != first);
	kern_inject_chance(-1, 0, 0);
	kern_inject_chance(0x45, 0, 0);
	CHECK_EQ(failures(&first), 0);
}

static void any_ioctl_may_fail(void)
{
	uint32_t handle;
	unsigned failed = 0;

	kern_inject_chance(-1, 500000, ENOMEM);
	for (unsigned i = 0; i < 200; i++) {
		int r = rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &handle);

		if (!r)
			while (rig_close(handle) == -ENOMEM)
				failed++;
		else
			CHECK_EQ(r, -ENOMEM);
	}
	CHECK(failed > 20);
	kern_inject_chance(-1, 0, 0);
}

/* row 17: VRAM is full for the second buffer. */
static void buffers_spill_as_planned(void)
{
	uint64_t gtt = rig_count(AMDGPU_INFO_GTT_USAGE), vram = rig_count(AMDGPU_INFO_VRAM_USAGE);
	uint32_t bo[3];

	CHECK_EQ(shim_inject_parse("spill=2"), 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(rig_create(1 << 20, AMDGPU_GEM_DOMAIN_VRAM, 0, &bo[i]), 0);
	CHECK_EQ(rig_count(AMDGPU_INFO_GTT_USAGE) - gtt, 1 << 20);
	CHECK_EQ(rig_count(AMDGPU_INFO_VRAM_USAGE) - vram, 2 << 20);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(rig_close(bo[i]), 0);
}

/* The third job finds its context older than the device's last reset; a new context works. */
static void the_device_is_reset_as_planned(void)
{
	CHECK_EQ(shim_inject_parse("reset=3"), 0);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(rig_submit(rig.list, NULL), -ECANCELED);
	CHECK_EQ(rig_count(AMDGPU_INFO_VRAM_LOST_COUNTER), 1);
	CHECK_EQ(rig_submit(rig.list, NULL), -ECANCELED);
	CHECK_EQ(rig_ctx_free(rig.ctx), 0);
	rig.ctx = rig_ctx();
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
}

/* A child has no threads for its rings yet. -EAGAIN would have it repeat the ioctl for ever. */
static void no_thread_is_no_memory(void)
{
	pthread_attr_t usual, huge; /* no thread begins with a stack of 64 TiB */
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		check_failed_ = 0;
		alarm(60);
		CHECK(!pthread_getattr_default_np(&usual) && !pthread_attr_init(&huge) &&
		      !pthread_attr_setstacksize(&huge, 1ull << 46) && !pthread_setattr_default_np(&huge));
		CHECK_EQ(rig_submit(rig.list, NULL), -ENOMEM);
		CHECK_EQ(pthread_setattr_default_np(&usual), 0);
		CHECK_EQ(rig_submit(rig.list, NULL), 0);
		CHECK_EQ(rig_wait(UINT64_MAX), 0);
		fflush(stdout);
		_exit(check_failed_ != 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	rig_start("null:gfx908");
	bad_texts_are_refused();
	kern_inject(0x44, 0, 0);
	kern_inject_chance(0x44, 0, 0);
	kern_inject_chance(-1, 0, 0);
	CHECK_EQ(shim_inject_parse("seed=1"), 0);
	chances_are_as_planned();
	any_ioctl_may_fail();
	buffers_spill_as_planned();
	the_device_is_reset_as_planned();
	no_thread_is_no_memory();
	rig_stop();
	return check_done("planned failures");
}
