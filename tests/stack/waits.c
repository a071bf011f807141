/* Waits for a running job: a timeout is kept although the kernel counts in jiffies, and a blocking wait sleeps. */
#include <errno.h>
#include <time.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

#define WAIT_CS     0x49
#define WAIT_FENCES 0x52

static struct stack s;
static struct cs_code *code;
static struct vm_mem *words;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Runs until words[0] is not 0. */
static struct cs_fence start_job(void)
{
	const uint64_t args[] = {words->va};
	struct cs_fence point = {0};

	((volatile uint32_t *)words->map)[0] = 0;
	CHECK_EQ(stack_submit(&s,
			      &(struct stack_launch){
				      .code = code, .kernel = "k_endless", .args = args, .args_B = sizeof(args)},
			      &point),
		 0);
	return point;
}

static void end_job(struct cs_fence point)
{
	__atomic_store_n((uint32_t *)words->map, 1, __ATOMIC_RELEASE);
	CHECK_EQ(cs_fence_wait(point, CS_FOREVER), 0);
}

/* No wait may end before its time: not by a jiffy that the kernel cut off. */
static void limits_are_kept(struct cs_fence point)
{
	static const int64_t limits_us[] = {500, 1000, 3000, 19000, 21000, 60000};

	for (unsigned i = 0; i < sizeof(limits_us) / sizeof(limits_us[0]); i++) {
		const struct cs_fence two[] = {point, point};
		uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
		unsigned index;

		CHECK_EQ(cs_fence_wait(point, limits_us[i] * 1000), -ETIMEDOUT);
		CHECK(now_ns(CLOCK_MONOTONIC) - start_ns >= (uint64_t)limits_us[i] * 1000);
		start_ns = now_ns(CLOCK_MONOTONIC);
		CHECK_EQ(cs_fences_wait_any(two, 2, limits_us[i] * 1000, &index), -ETIMEDOUT);
		CHECK(now_ns(CLOCK_MONOTONIC) - start_ns >= (uint64_t)limits_us[i] * 1000);
	}
}

/* A wait that polls a kernel which cuts its timeouts makes thousands of ioctls. This one makes a few that sleep,
 * and some 30 while less is left than the kernel sleeps for. */
static void blocked_waits_sleep(struct cs_fence point)
{
	unsigned long before = vgpu_ioctl_count_nr(WAIT_CS) + vgpu_ioctl_count_nr(WAIT_FENCES);
	unsigned index;

	CHECK_EQ(cs_fence_wait(point, 300000000), -ETIMEDOUT);
	CHECK_EQ(cs_fences_wait_any(&point, 1, 300000000, &index), -ETIMEDOUT);
	CHECK(vgpu_ioctl_count_nr(WAIT_CS) + vgpu_ioctl_count_nr(WAIT_FENCES) - before < 150);
}

int main(void)
{
	const struct vm_info memory = {.size_B = 4096, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED};
	struct cs_fence point;

	CHECK_EQ(vgpu_start("gfx908"), 0);
	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(stack_load(&s, "group", 1, &code), 0))
		return check_done("waits");
	if (!CHECK_EQ(vm_mem_create(s.vm, &memory, &words), 0))
		return check_done("waits");
	point = start_job();
	limits_are_kept(point);
	blocked_waits_sleep(point);
	end_job(point);
	vm_mem_destroy(words);
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
	return check_done("waits");
}
