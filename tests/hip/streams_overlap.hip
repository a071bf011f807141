// What a stream's work needs of another stream's: nothing, where nothing orders them. While a kernel of one stream waits for a flag,
// copies that engines do, copies and fills that kernels do, and kernels of another stream end; a copy behind such a kernel
// keeps no other copy waiting; an upload ends beside the kernel of the upload before it. Each wait here would last until the
// watchdog ends the kernels.
//
// And how many jobs the kernel driver is given for kernels of several streams that events order, at the least of a few rounds: a
// busy machine adds some. They are today's numbers, which should become smaller. Those of kernels that nothing orders depend
// on how fast the GPU is: from 12, where it is slow, to one for each kernel.
//
//   48 kernels on 4 streams behind an event of a fifth, which waits for them, and a last kernel   13: 5 would be enough
//   48 kernels on 2 streams in turn, each behind an event of the one before it, and a last one    49: 1 for each kernel
#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "tests/clients/hip/hip.h"

#define FAN_JOBS   13
#define CHAIN_JOBS 49

#define CS      0x44       // the ioctl's number
#define LARGE_B (4u << 20) // engines copy that between the GPU and the host
#define SMALL_B 4096u      // kernels copy that
#define KERNELS 48u
#define STREAMS 4u
#define ROUNDS  10u

__global__ void hold(const unsigned *go)
{
	while (!__hip_atomic_load(go, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(64);
}

__global__ void add(unsigned *at, unsigned value)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

struct stream {
	hipStream_t at;
	stream()
	{
		HIP(hipStreamCreateWithFlags(&at, hipStreamNonBlocking));
	}
	stream(const stream &) = delete;
	~stream()
	{
		HIP(hipStreamDestroy(at));
	}
	operator hipStream_t() const
	{
		return at;
	}
};

struct event {
	hipEvent_t at;
	event()
	{
		HIP(hipEventCreateWithFlags(&at, hipEventDisableTiming));
	}
	event(const event &) = delete;
	~event()
	{
		HIP(hipEventDestroy(at));
	}
	operator hipEvent_t() const
	{
		return at;
	}
};

// Pinned memory of the host's, and as much of the GPU's.
struct memory {
	unsigned *host, *gpu;
	memory()
	{
		HIP(hipHostMalloc((void **)&host, LARGE_B, hipHostMallocDefault));
		HIP(hipMalloc((void **)&gpu, LARGE_B));
		fill(0);
	}
	memory(const memory &) = delete;
	~memory()
	{
		HIP(hipFree(gpu));
		HIP(hipHostFree(host));
	}
	void fill(unsigned value) const
	{
		std::fill(host, host + LARGE_B / 4, value);
	}
	bool is_full_of(unsigned value, size_t size_B) const
	{
		return std::all_of(host, host + size_B / 4, [=](unsigned word) { return word == value; });
	}
};

// A kernel holds the stream until the gate is opened.
struct gate {
	unsigned *go;
	gate()
	{
		HIP(hipHostMalloc((void **)&go, 64, hipHostMallocCoherent));
		*go = 0;
	}
	gate(const gate &) = delete;
	~gate()
	{
		HIP(hipHostFree(go));
	}
	void close(hipStream_t s) const
	{
		__atomic_store_n(go, 0, __ATOMIC_RELEASE);
		hold<<<1, 1, 0, s>>>(go);
		HIP_LAUNCHED();
	}
	void open() const
	{
		__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	}
};

static void launch(hipStream_t s, unsigned *at, unsigned value)
{
	add<<<SMALL_B / 4 / 256, 256, 0, s>>>(at, value);
	HIP_LAUNCHED();
}

static bool is_busy(hipStream_t s)
{
	bool busy = hipStreamQuery(s) == hipErrorNotReady;

	(void)hipGetLastError();
	return busy;
}

// --- beside a stream that is held ---

// Each way of the stream's work alone, and then all of it at once.
static void all_go_by(hipStream_t s, const memory &m)
{
	m.fill(3);
	HIP(hipMemcpyAsync(m.gpu, m.host, LARGE_B, hipMemcpyHostToDevice, s));
	HIP(hipStreamSynchronize(s));
	m.fill(0);
	HIP(hipMemcpyAsync(m.host, m.gpu, LARGE_B, hipMemcpyDeviceToHost, s));
	HIP(hipStreamSynchronize(s));
	CHECK(m.is_full_of(3, LARGE_B));
	HIP(hipMemsetD32Async((hipDeviceptr_t)m.gpu, 5, LARGE_B / 4, s));
	HIP(hipStreamSynchronize(s));
	HIP(hipMemcpyAsync(m.host, m.gpu, SMALL_B, hipMemcpyDeviceToHost, s));
	HIP(hipStreamSynchronize(s));
	CHECK(m.is_full_of(5, SMALL_B));
	launch(s, m.gpu, 1);
	HIP(hipStreamSynchronize(s));
	HIP(hipMemcpyAsync(m.gpu + SMALL_B / 4, m.gpu, SMALL_B, hipMemcpyDeviceToDevice, s));
	HIP(hipStreamSynchronize(s));

	m.fill(7);
	HIP(hipMemcpyAsync(m.gpu, m.host, LARGE_B, hipMemcpyHostToDevice, s));
	launch(s, m.gpu, 2);
	HIP(hipMemcpyAsync(m.gpu + LARGE_B / 8, m.gpu, SMALL_B, hipMemcpyDeviceToDevice, s));
	HIP(hipMemcpyAsync(m.host, m.gpu, LARGE_B, hipMemcpyDeviceToHost, s));
	HIP(hipStreamSynchronize(s));
	CHECK(m.is_full_of(9, SMALL_B));
	CHECK_EQ(m.host[LARGE_B / 8], 9);
	CHECK_EQ(m.host[LARGE_B / 4 - 1], 7);
}

static void beside_a_kernel()
{
	stream held, s;
	memory m;
	gate g;

	g.close(held);
	all_go_by(s, m);
	CHECK(is_busy(held));
	g.open();
	HIP(hipStreamSynchronize(held));
}

// Copies by engines in both directions, behind the kernel.
static void beside_a_copy_that_waits()
{
	stream held, s;
	memory waits, m;
	gate g;

	g.close(held);
	waits.fill(11);
	HIP(hipMemcpyAsync(waits.gpu, waits.host, LARGE_B, hipMemcpyHostToDevice, held));
	launch(held, waits.gpu, 1);
	HIP(hipMemcpyAsync(waits.host, waits.gpu, LARGE_B, hipMemcpyDeviceToHost, held));
	all_go_by(s, m);
	CHECK(is_busy(held));
	CHECK(waits.is_full_of(11, LARGE_B));
	g.open();
	HIP(hipStreamSynchronize(held));
	CHECK(waits.is_full_of(12, SMALL_B));
}

// So does a stream that waits for the kernel by an event, and one that waits for a value.
static void beside_streams_that_wait()
{
	stream held, by_event, by_value, s;
	memory first, second, m;
	gate g, value;
	event e;

	g.close(held);
	HIP(hipEventRecord(e, held));
	HIP(hipStreamWaitEvent(by_event, e, 0));
	HIP(hipMemcpyAsync(first.gpu, first.host, LARGE_B, hipMemcpyHostToDevice, by_event));
	HIP(hipStreamWaitValue32(by_value, value.go, 1, hipStreamWaitValueEq));
	HIP(hipMemcpyAsync(second.gpu, second.host, LARGE_B, hipMemcpyHostToDevice, by_value));
	all_go_by(s, m);
	CHECK(is_busy(held) && is_busy(by_event) && is_busy(by_value));
	g.open();
	HIP(hipStreamSynchronize(by_event));
	CHECK(is_busy(by_value));
	value.open();
	HIP(hipStreamSynchronize(by_value));
}

// Two buffers: the kernels of one are held while the other is filled, and what was before is read back.
static void double_buffers()
{
	stream uploads, kernels, downloads;
	event uploaded[2], computed[2], read[2];
	memory in[2], out[2];
	gate gates[2];

	for (unsigned i = 0; i < 8; i++) {
		const unsigned b = i % 2;

		in[b].fill(100 * i);
		HIP(hipStreamWaitEvent(uploads, computed[b], 0));
		HIP(hipMemcpyAsync(in[b].gpu, in[b].host, LARGE_B, hipMemcpyHostToDevice, uploads));
		HIP(hipEventRecord(uploaded[b], uploads));
		HIP(hipEventSynchronize(uploaded[b])); // while the kernel before it is held
		if (i) {
			CHECK(is_busy(kernels));
			gates[!b].open();
			HIP(hipEventSynchronize(read[!b]));
			CHECK(out[!b].is_full_of(100 * (i - 1) + 1, SMALL_B));
		}
		HIP(hipStreamWaitEvent(kernels, uploaded[b], 0));
		gates[b].close(kernels);
		launch(kernels, in[b].gpu, 1);
		HIP(hipEventRecord(computed[b], kernels));
		HIP(hipStreamWaitEvent(downloads, computed[b], 0));
		HIP(hipMemcpyAsync(out[b].host, in[b].gpu, LARGE_B, hipMemcpyDeviceToHost, downloads));
		HIP(hipEventRecord(read[b], downloads));
		HIP(hipStreamWaitEvent(uploads, read[!b], 0));
	}
	gates[1].open();
	HIP(hipEventSynchronize(read[1]));
	CHECK(out[1].is_full_of(701, SMALL_B));
}

// --- jobs ---

static unsigned long jobs()
{
	static const auto count = (unsigned long (*)(unsigned))dlsym(RTLD_DEFAULT, "vgpu_ioctl_count_nr");

	return count ? count(CS) : 0;
}

// The first stream is held while the work of the others is put behind it.
struct team {
	stream first, streams[STREAMS];
	event from, to[STREAMS];
	memory m;
	gate g;

	void fan() const
	{
		HIP(hipEventRecord(from, first));
		for (unsigned i = 0; i < STREAMS; i++)
			HIP(hipStreamWaitEvent(streams[i], from, 0));
		for (unsigned i = 0; i < KERNELS; i++)
			launch(streams[i % STREAMS], m.gpu + i % STREAMS * SMALL_B, 1);
		for (unsigned i = 0; i < STREAMS; i++) {
			HIP(hipEventRecord(to[i], streams[i]));
			HIP(hipStreamWaitEvent(first, to[i], 0));
		}
		launch(first, m.gpu, 1);
	}
	void chain() const
	{
		for (unsigned i = 0; i < KERNELS; i++) {
			HIP(hipEventRecord(to[i % 2], i ? streams[(i + 1) % 2] : first));
			HIP(hipStreamWaitEvent(streams[i % 2], to[i % 2], 0));
			launch(streams[i % 2], m.gpu, 1);
		}
		HIP(hipEventRecord(from, streams[(KERNELS - 1) % 2]));
		HIP(hipStreamWaitEvent(first, from, 0));
		launch(first, m.gpu, 1);
	}
	unsigned long least(void (team::*put)() const) const
	{
		unsigned long least = ~0ul;

		for (unsigned round = 0; round < ROUNDS; round++) {
			g.close(first);
			unsigned long before = jobs();
			(this->*put)();
			g.open();
			HIP(hipStreamSynchronize(first));
			least = std::min(least, jobs() - before);
		}
		return least;
	}
};

static void count_jobs()
{
	static const struct {
		const char *name;
		void (team::*put)() const;
		unsigned long most;
	} rows[] = {
		{"fan", &team::fan, FAN_JOBS},
		{"chain", &team::chain, CHAIN_JOBS},
	};
	team t;

	HIP(hipMemset(t.m.gpu, 0, LARGE_B));
	HIP(hipDeviceSynchronize());
	for (const auto &row : rows) {
		unsigned long least = t.least(row.put);

		printf("  %s: %lu jobs\n", row.name, least);
		CHECK(least > 0 && least <= row.most);
	}
	HIP(hipMemcpy(t.m.host, t.m.gpu, SMALL_B, hipMemcpyDeviceToHost));
	CHECK(t.m.is_full_of(ROUNDS * (KERNELS / STREAMS + 1 + KERNELS + 1), SMALL_B));
}

int main()
{
	beside_a_kernel();
	beside_a_copy_that_waits();
	beside_streams_that_wait();
	double_buffers();
	count_jobs();
	return check_done("overlap of streams");
}
