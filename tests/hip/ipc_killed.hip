/* A process is killed while another waits for what it has recorded. */
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define RECORDS 32 /* that may be under way at a time */

__global__ void put(unsigned *at, unsigned value)
{
	*at = value;
}

__global__ void endless(const volatile unsigned *until)
{
	while (!*until)
		;
}

/* What keeps the stream of the one that is killed. */
enum hold { BY_VALUE, BY_KERNEL, HOLDS };

struct child {
	pid_t pid;
	int to, from;
};

static void hold_stream(enum hold how, hipStream_t stream)
{
	unsigned *word;

	HIP(hipExtMallocWithFlags((void **)&word, 8, hipMallocSignalMemory));
	*word = 0;
	if (how == BY_VALUE)
		HIP(hipStreamWaitValue32(stream, word, 1, hipStreamWaitValueEq));
	else
		endless<<<1, 1, 0, stream>>>(word);
}

static int child_main(enum hold how, int from, int to)
{
	hipIpcEventHandle_t handle;
	hipStream_t stream;
	hipEvent_t event;

	if (read(from, &handle, sizeof(handle)) != sizeof(handle))
		return 1;
	HIP(hipIpcOpenEventHandle(&event, handle));
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	hold_stream(how, stream);
	for (unsigned i = 0; i < RECORDS; i++)
		HIP(hipEventRecord(event, stream));
	CHECK(write(to, "", 1) == 1);
	for (;;)
		pause();
}

static struct child start(enum hold how)
{
	int there[2], back[2];
	struct child c = {};

	if (pipe(there) || pipe(back))
		abort();
	c.pid = fork();
	if (!c.pid)
		_exit(child_main(how, there[0], back[1]));
	c.to = there[1];
	c.from = back[0];
	return c;
}

static void outlive(const struct child *c, bool reaped)
{
	hipIpcEventHandle_t handle;
	hipStream_t stream;
	hipEvent_t event;
	unsigned *word;
	int status;
	char byte;

	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	HIP(hipMallocManaged((void **)&word, 4));
	*word = 0;
	HIP(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
	HIP(hipIpcGetEventHandle(&handle, event));
	CHECK(write(c->to, &handle, sizeof(handle)) == sizeof(handle));
	CHECK(read(c->from, &byte, 1) == 1);
	CHECK_EQ(hipEventQuery(event), hipErrorNotReady);
	HIP(hipStreamWaitEvent(stream, event, 0));
	put<<<1, 1, 0, stream>>>(word, 7);
	usleep(20000);
	CHECK_EQ(hipStreamQuery(stream), hipErrorNotReady);
	(void)hipGetLastError();
	CHECK_EQ(*(volatile unsigned *)word, 0);
	CHECK(!kill(c->pid, SIGKILL));
	if (reaped)
		CHECK(waitpid(c->pid, &status, 0) == c->pid);
	HIP(hipStreamSynchronize(stream));
	CHECK_EQ(*word, 7);
	HIP(hipEventSynchronize(event));
	HIP(hipEventQuery(event));
	/* Its turn in the slots comes again. */
	for (unsigned i = 0; i < 2 * RECORDS; i++)
		HIP(hipEventRecord(event, stream));
	HIP(hipEventSynchronize(event));
	if (!reaped)
		CHECK(waitpid(c->pid, &status, 0) == c->pid);
	HIP(hipEventDestroy(event));
	HIP(hipFree(word));
	HIP(hipStreamDestroy(stream));
}

int main()
{
	struct child child[2][HOLDS];

	/* Before anything of HIP's: a child inherits no GPU. */
	for (unsigned reaped = 0; reaped < 2; reaped++)
		for (unsigned how = 0; how < HOLDS; how++)
			child[reaped][how] = start((enum hold)how);
	for (unsigned reaped = 0; reaped < 2; reaped++)
		for (unsigned how = 0; how < HOLDS; how++)
			outlive(&child[reaped][how], reaped);
	return check_done("events of a process that was killed");
}
