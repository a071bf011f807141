/* A process is killed while another waits for what it has recorded. */
#include <csignal>
#include <cstddef>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* The kernel kills the process at its next getpid(). */
static bool die_at_getpid()
{
	sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const sock_fprog program = {4, filter};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int record_and_die(int from)
{
	hipIpcEventHandle_t handle;
	hipStream_t stream;
	hipEvent_t event;

	if (read(from, &handle, sizeof(handle)) != sizeof(handle))
		return 1;
	HIP(hipIpcOpenEventHandle(&event, handle));
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	if (CHECK(die_at_getpid()))
		HIP(hipEventRecord(event, stream));
	return 1;
}

/* A process is killed while it makes a record, which stores its id: others do not wait for that record. */
static void outlive_record(pid_t pid, int to)
{
	hipIpcEventHandle_t handle;
	hipEvent_t event;
	int status;

	HIP(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
	HIP(hipIpcGetEventHandle(&handle, event));
	CHECK(write(to, &handle, sizeof(handle)) == sizeof(handle));
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	HIP(hipEventSynchronize(event));
	HIP(hipStreamWaitEvent(nullptr, event, 0));
	HIP(hipDeviceSynchronize());
	HIP(hipEventRecord(event, nullptr));
	HIP(hipEventSynchronize(event));
	HIP(hipEventDestroy(event));
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
	int to_recorder[2];
	pid_t recorder;

	/* Before anything of HIP's: a child inherits no GPU. */
	for (unsigned reaped = 0; reaped < 2; reaped++)
		for (unsigned how = 0; how < HOLDS; how++)
			child[reaped][how] = start((enum hold)how);
	if (pipe(to_recorder))
		abort();
	recorder = fork();
	if (!recorder)
		_exit(record_and_die(to_recorder[0]));
	for (unsigned reaped = 0; reaped < 2; reaped++)
		for (unsigned how = 0; how < HOLDS; how++)
			outlive(&child[reaped][how], reaped);
	outlive_record(recorder, to_recorder[1]);
	return check_done("events of a process that was killed");
}
