/* A sanitizer's runtime calls mmap() and munmap() while it looks for names of functions, with locks held that threads of the virtual GPU may
 * wait for: the calls must not wait for the kernel lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include "tests/check.h"
#include "vgpu/kernel/base/core.h"
#include "vgpu/kernel/kernel.h"
#include "vgpu/shim/shim.h"
#include "vgpu/vgpu.h"

/* Of the runtimes' interface (sanitizer/common_interface_defs.h). */
__attribute__((weak)) void __sanitizer_symbolize_pc(void *code, const char *format, char *text, size_t size_B);

#define WAIT_MS 20000 /* gives up, so that the test ends */

static _Atomic bool locked, named, given_up;

/* Has the kernel lock until the runtime has found names. */
static void *lock_hold(void *unused)
{
	kern_lock();
	atomic_store(&locked, true);
	for (unsigned ms = 0; ms < WAIT_MS && !atomic_load(&named); ms++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	atomic_store(&given_up, !atomic_load(&named));
	kern_unlock();
	return unused;
}

/* The lines of long files: their tables grow to a size that is unmapped. */
static void names_find(void)
{
	static const char *const code[] = {(char *)kern_ioctl, (char *)kern_open, (char *)kern_mmap,
					   (char *)vgpu_start, (char *)kern_user_memory_changes};
	char text[256];

	for (unsigned i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		__sanitizer_symbolize_pc((void *)(code[i] + 1), "%f", text, sizeof(text));
	/* UBSan's runtime of gcc 12 gives no names. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	CHECK_STR(text, "kern_user_memory_changes");
#endif
}

int main(void)
{
	pthread_t holder;

	if (!__sanitizer_symbolize_pc) {
		printf("this build has no sanitizer\n");
		return 77;
	}
	if (!CHECK_EQ(vgpu_start("gfx908"), 0))
		return check_done("calls of sanitizers");
	CHECK(shim_in_sanitizer((void *)__sanitizer_symbolize_pc));
	CHECK(!shim_in_sanitizer((void *)names_find));
	/* As if there were memory that changes of mappings wait for. */
	atomic_fetch_add(&kern->userptr_count, 1);
	CHECK_EQ(pthread_create(&holder, NULL, lock_hold, NULL), 0);
	while (!atomic_load(&locked))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	names_find();
	atomic_store(&named, true);
	pthread_join(holder, NULL);
	CHECK(!given_up);
	atomic_fetch_sub(&kern->userptr_count, 1);
	vgpu_stop();
	return check_done("calls of sanitizers");
}
