/* Two processes in turn: each changes shared memory after the other's event. */
#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define COUNT  3000u
#define ROUNDS 40u /* more than records that may be under way at a time */

/* a = a * 3 + value: what the order is shows. */
__global__ void step(unsigned *at, unsigned value)
{
	for (unsigned i = threadIdx.x; i < COUNT; i += blockDim.x)
		at[i] = at[i] * 3 + value;
}

/* What a process tells the other. */
struct letter {
	hipIpcMemHandle_t memory;
	hipIpcEventHandle_t event[2]; /* the parent has stepped, the child has */
};

static void tell(int to)
{
	char byte = 1;

	CHECK(write(to, &byte, 1) == 1);
}

static void hear(int from)
{
	char byte;

	CHECK(read(from, &byte, 1) == 1);
}

/* Told when the other's record was made, it waits for that on the GPU. */
static void take_turns(unsigned *at, unsigned value, bool first, hipEvent_t mine, hipEvent_t others, int from,
		       int to)
{
	hipStream_t stream;

	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (i || !first) {
			hear(from);
			HIP(hipStreamWaitEvent(stream, others, 0));
		}
		step<<<1, 256, 0, stream>>>(at, value);
		HIP(hipEventRecord(mine, stream));
		tell(to);
	}
	HIP(hipStreamSynchronize(stream));
	HIP(hipStreamDestroy(stream));
}

static int other(int from, int to)
{
	hipIpcEventHandle_t again;
	struct letter letter;
	hipEvent_t event[2];
	unsigned *at;

	if (read(from, &letter, sizeof(letter)) != sizeof(letter))
		return 1;
	HIP(hipIpcOpenMemHandle((void **)&at, letter.memory, hipIpcMemLazyEnablePeerAccess));
	for (unsigned i = 0; i < 2; i++)
		HIP(hipIpcOpenEventHandle(&event[i], letter.event[i]));
	CHECK_EQ(hipIpcGetEventHandle(&again, event[0]), hipErrorInvalidConfiguration);
	letter.event[0].reserved[17] ^= 1;
	CHECK_EQ(hipIpcOpenEventHandle(&event[0], letter.event[0]), hipErrorInvalidValue);
	(void)hipGetLastError();
	/* Recorded before it was opened. */
	HIP(hipEventSynchronize(event[0]));
	CHECK_EQ(hipEventQuery(event[0]), hipSuccess);
	take_turns(at, 2, false, event[1], event[0], from, to);
	for (hipEvent_t e : event)
		HIP(hipEventDestroy(e));
	HIP(hipIpcCloseMemHandle(at));
	return check_done("events of another process");
}

static void refused()
{
	hipIpcEventHandle_t handle = {};
	hipEvent_t plain, event;

	HIP(hipEventCreate(&plain));
	CHECK_EQ(hipIpcGetEventHandle(&handle, plain), hipErrorInvalidConfiguration);
	CHECK_EQ(hipIpcGetEventHandle(nullptr, plain), hipErrorInvalidValue);
	CHECK_EQ(hipIpcGetEventHandle(&handle, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipIpcOpenEventHandle(&event, handle), hipErrorInvalidValue);
	CHECK_EQ(hipIpcOpenEventHandle(nullptr, handle), hipErrorInvalidValue);
	CHECK_EQ(hipEventCreateWithFlags(&event, hipEventInterprocess), hipErrorInvalidValue);
	HIP(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
	HIP(hipIpcGetEventHandle(&handle, event));
	CHECK_EQ(hipEventQuery(event), hipSuccess);
	HIP(hipEventDestroy(plain));
	CHECK_EQ(hipIpcOpenEventHandle(&plain, handle), hipErrorInvalidContext);
	(void)hipGetLastError();
	HIP(hipEventDestroy(event));
}

/* An event may go as soon as streams were told of it. */
static void goes_early()
{
	hipStream_t first, second;
	unsigned *word;

	HIP(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
	HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
	HIP(hipExtMallocWithFlags((void **)&word, 8, hipMallocSignalMemory));
	*word = 0;
	HIP(hipStreamWaitValue32(first, word, 1, hipStreamWaitValueEq));
	for (unsigned i = 0; i < 3; i++) {
		hipEvent_t event;

		HIP(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
		HIP(hipEventRecord(event, first));
		HIP(hipStreamWaitEvent(second, event, 0));
		CHECK_EQ(hipEventQuery(event), hipErrorNotReady);
		HIP(hipEventDestroy(event));
	}
	CHECK_EQ(hipStreamQuery(second), hipErrorNotReady);
	(void)hipGetLastError();
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	HIP(hipStreamSynchronize(second));
	HIP(hipStreamDestroy(first));
	HIP(hipStreamDestroy(second));
	HIP(hipFree(word));
}

#define UNFINISHED 32u /* records of an event that may be under way at a time */

/* A record waits for the one 32 before it; meanwhile other threads query the event. */
static void queried_meanwhile()
{
	std::atomic<bool> recorded{false}, queried{false};
	hipStream_t stream;
	hipEvent_t event;
	unsigned *go;

	HIP(hipHostMalloc((void **)&go, sizeof(*go), 0));
	*go = 0;
	HIP(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	HIP(hipStreamWaitValue32(stream, go, 1, hipStreamWaitValueEq, ~0u));
	for (unsigned i = 0; i < UNFINISHED; i++)
		HIP(hipEventRecord(event, stream));
	std::thread recorder([&] {
		HIP(hipEventRecord(event, stream));
		recorded = true;
	});
	usleep(50000); /* most likely it is in there now */
	std::thread other([&] {
		CHECK_EQ(hipEventQuery(event), hipErrorNotReady);
		queried = true;
	});
	for (unsigned i = 0; i < 1000 && !queried; i++)
		usleep(10000);
	CHECK(queried && !recorded);
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	recorder.join();
	other.join();
	HIP(hipEventSynchronize(event));
	HIP(hipStreamDestroy(stream));
	HIP(hipEventDestroy(event));
	HIP(hipHostFree(go));
}

int main()
{
	int there[2], back[2], status = -1;
	unsigned *at, wrong = 0, want = 0;
	std::vector<unsigned> got(COUNT);
	struct letter letter;
	hipEvent_t event[2];
	pid_t child;

	/* Before anything of HIP's: a child inherits no GPU. */
	if (pipe(there) || pipe(back))
		return 1;
	child = fork();
	if (!child)
		return other(there[0], back[1]);
	HIP(hipMalloc((void **)&at, COUNT * 4));
	HIP(hipMemset(at, 0, COUNT * 4));
	HIP(hipDeviceSynchronize());
	for (hipEvent_t &e : event)
		HIP(hipEventCreateWithFlags(&e, hipEventInterprocess | hipEventDisableTiming));
	HIP(hipEventRecord(event[0], 0));
	HIP(hipIpcGetMemHandle(&letter.memory, at));
	for (unsigned i = 0; i < 2; i++)
		HIP(hipIpcGetEventHandle(&letter.event[i], event[i]));
	CHECK(write(there[1], &letter, sizeof(letter)) == sizeof(letter));
	take_turns(at, 1, true, event[0], event[1], back[0], there[1]);
	hear(back[0]);
	HIP(hipEventSynchronize(event[1]));
	HIP(hipMemcpy(got.data(), at, COUNT * 4, hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < ROUNDS; i++)
		want = (want * 3 + 1) * 3 + 2;
	for (unsigned value : got)
		wrong += value != want;
	CHECK_EQ(wrong, 0);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQ(status, 0);
	for (hipEvent_t e : event)
		HIP(hipEventDestroy(e));
	HIP(hipFree(at));
	refused();
	goes_early();
	queried_meanwhile();
	return check_done("events for another process");
}
