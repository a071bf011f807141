/* In a sandbox without membarrier(2) destroyed objects are freed, too, and not while a thread is stopped inside a call. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hip/hip_runtime_api.h>

#include "tests/hip/stopper.h"

#define EVENTS 20000
#define ROUNDS 100
#define OTHERS 160 /* more than the library frees at a time */

/* From here on membarrier(2) gives ENOSYS, as on a kernel that does not have it. */
static void membarrier_forbid(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	CHECK_EQ(syscall(SYS_membarrier, 0, 0, 0), -1);
}

static void events_come_and_go(unsigned count)
{
	hipEvent_t event;

	for (unsigned i = 0; i < count; i++) {
		CHECK_EQ(hipEventCreateWithFlags(&event, hipEventDisableTiming), hipSuccess);
		CHECK_EQ(hipEventDestroy(event), hipSuccess);
	}
}

/* An event has more than 64 bytes: 1 MiB if all stay. */
static void destroyed_events_are_freed(void)
{
	size_t used;

	events_come_and_go(OTHERS);
	used = mallinfo2().uordblks;
	events_come_and_go(EVENTS);
	CHECK(mallinfo2().uordblks < used + EVENTS * 16);
}

static hipEvent_t event;

static void event_create(void)
{
	CHECK_EQ(hipEventCreateWithFlags(&event, hipEventDisableTiming), hipSuccess);
	CHECK_EQ(hipEventRecord(event, NULL), hipSuccess);
}

static int event_use(void)
{
	hipError_t r = hipEventRecord(event, NULL);
	hipError_t query = hipEventQuery(event);

	return (r && r != hipErrorContextIsDestroyed && r != hipErrorInvalidHandle) +
	       (query && query != hipErrorNotReady && query != hipErrorContextIsDestroyed);
}

static void event_destroy(void)
{
	CHECK_EQ(hipEventDestroy(event), hipSuccess);
	events_come_and_go(OTHERS);
}

int main(void)
{
	static const struct stopper_kind kind = {event_create, event_use, event_destroy, NULL};

	membarrier_forbid();
	stopper_init();
	CHECK_EQ(hipSetDevice(0), hipSuccess);
	destroyed_events_are_freed();
	for (unsigned i = 0; i < ROUNDS; i++)
		stopper_round(&kind, 20 + i * 37 % 500);
	CHECK(stopper_rounds > 0);
	return check_done("a sandbox without membarrier");
}
