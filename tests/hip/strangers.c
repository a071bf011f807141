/* What processes do not get from each other: another user's process opens no handle, and memory is never read that another
 * process had. */
#include <grp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hip/hip_runtime_api.h>

#include "tests/check.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define NOBODY   65534
#define SECRET   0x5ec2e75eu
#define BUFFERS  12
#define BUFFER_B (16u << 20)

static pid_t start(int (*run)(int from), int from)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	check_failed_ = 0;
	run(from);
	fflush(stdout);
	_exit(check_failed_ != 0);
}

static void check_ended(pid_t pid)
{
	int status = -1;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* --- memory of the dead ----------------------------------------------------------------------- */

/* Of each kind, so much that the next process gets the same places. */
static hipError_t allocate(unsigned i, uint32_t **at)
{
	switch (i % 4) {
	case 0:
		return hipMalloc((void **)at, BUFFER_B);
	case 1:
		return hipHostMalloc((void **)at, BUFFER_B, 0);
	case 2:
		return hipMallocAsync((void **)at, BUFFER_B, NULL);
	default:
		return hipMalloc((void **)at, 4096); /* of a slab, which has kernel arguments, too */
	}
}

static size_t size_of(unsigned i)
{
	return i % 4 == 3 ? 4096 : BUFFER_B;
}

static int leave_secrets(int unused)
{
	uint32_t *at;

	(void)unused;
	for (unsigned i = 0; i < BUFFERS; i++)
		CHECK(!allocate(i, &at) && !hipMemsetD32(at, (int)SECRET, size_of(i) / 4));
	return 0;
}

/* The virtual GPU puts a pattern where Linux would leave what was there before. */
static int look_for_secrets(int unused)
{
	uint32_t *host = malloc(BUFFER_B), *at;
	size_t found = 0;

	(void)unused;
	vgpu_strict_set(VGPU_STRICT_REPORT);
	for (unsigned i = 0; i < BUFFERS; i++) {
		CHECK(!allocate(i, &at) && !hipMemcpy(host, at, size_of(i), hipMemcpyDefault));
		for (size_t k = 0; k < size_of(i) / 4; k++)
			found += host[k] != 0;
	}
	CHECK_EQ(found, 0);
	free(host);
	return 0;
}

/* Linux 6.1 clears VRAM if it is asked to, and later releases always. */
static void memory_of_the_dead_is_cleared(const char *gpu)
{
	if (!CHECK_EQ(vgpu_start(gpu), 0))
		return;
	for (unsigned i = 0; i < 2; i++) {
		check_ended(start(leave_secrets, -1));
		check_ended(start(look_for_secrets, -1));
	}
	vgpu_stop();
}

/* --- handles of another user ------------------------------------------------------------------- */

struct letter {
	hipIpcMemHandle_t memory;
	hipIpcEventHandle_t event;
};

static int open_handles(int from)
{
	struct letter letter;
	hipEvent_t event;
	void *memory;

	if (!CHECK(read(from, &letter, sizeof(letter)) == sizeof(letter)))
		return 0;
	CHECK(!setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY));
	if (!CHECK_EQ(vgpu_start("gfx908"), 0)) /* a run of its own */
		return 0;
	CHECK_EQ(hipIpcOpenMemHandle(&memory, letter.memory, hipIpcMemLazyEnablePeerAccess),
		 hipErrorInvalidDevicePointer);
	CHECK_EQ(hipIpcOpenEventHandle(&event, letter.event), hipErrorInvalidValue);
	CHECK_EQ(hipMalloc(&memory, 4096), hipSuccess);
	return 0;
}

static void handles_are_for_their_user(void)
{
	struct letter letter;
	hipEvent_t event;
	void *memory;
	int pipes[2];
	pid_t pid;

	if (geteuid()) {
		printf("not root: that other users are refused was not tried\n");
		return;
	}
	CHECK(!pipe(pipes));
	pid = start(open_handles, pipes[0]);
	CHECK_EQ(vgpu_start("gfx908"), 0);
	CHECK(!hipMalloc(&memory, 1 << 20) && !hipIpcGetMemHandle(&letter.memory, memory));
	CHECK(!hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
	CHECK_EQ(hipIpcGetEventHandle(&letter.event, event), hipSuccess);
	CHECK_EQ(write(pipes[1], &letter, sizeof(letter)), (ssize_t)sizeof(letter));
	check_ended(pid);
	CHECK(!hipEventDestroy(event) && !hipFree(memory));
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF); /* buffers that a process leaves are a finding */
	memory_of_the_dead_is_cleared("gfx908:kernel=6.1:vram=256M");
	memory_of_the_dead_is_cleared("gfx908:vram=256M");
	handles_are_for_their_user();
	return check_done("processes that share nothing");
}
