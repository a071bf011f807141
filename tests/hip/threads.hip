/* Calls of one thread while others are in the library: no work is lost, no object is freed in use. */
#define HIP_DEPRECATED /* contexts, too */
#include <atomic>
#include <dlfcn.h>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

__global__ void add_one(unsigned *at)
{
	atomicAdd(at, 1);
}

__global__ void nothing()
{
}

__global__ void set_late(volatile unsigned *at, unsigned value)
{
	for (volatile unsigned i = 0; i < 300; i++)
		;
	*at = value;
}

/* --- host memory ------------------------------------------------------------------------------ */

/* What is unmapped behind its registration's end is in no other thread's job any more. */
static void registered_and_unmapped()
{
	gpu_array<unsigned> sum(std::vector<unsigned>(1, 0));
	std::atomic<bool> stop{false};
	std::atomic<unsigned> launched{0};
	std::vector<std::thread> all;

	for (unsigned i = 0; i < 2; i++)
		all.emplace_back([&] {
			hipStream_t stream;

			HIP(hipStreamCreate(&stream));
			while (!stop) {
				add_one<<<1, 1, 0, stream>>>(sum.at);
				HIP(hipGetLastError());
				if (++launched % 32 == 0)
					HIP(hipStreamSynchronize(stream));
			}
			HIP(hipStreamSynchronize(stream));
			HIP(hipStreamDestroy(stream));
		});
	for (unsigned i = 0; i < 2000; i++) {
		void *memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		HIP(hipHostRegister(memory, 8192, hipHostRegisterDefault));
		HIP(hipHostUnregister(memory));
		munmap(memory, 8192);
	}
	stop = true;
	for (std::thread &t : all)
		t.join();
	CHECK_EQ(sum.read()[0], launched);
}

static void registered_by_several()
{
	std::vector<std::thread> all;
	std::atomic<unsigned> begun{0}, ended{0};
	static char memory[16384];

	for (unsigned t = 0; t < 4; t++)
		all.emplace_back([&] {
			for (unsigned i = 0; i < 500; i++) {
				hipError_t r = hipHostRegister(memory, sizeof(memory), hipHostRegisterDefault);

				if (r != hipErrorHostMemoryAlreadyRegistered)
					HIP(r);
				begun += !r;
				r = hipHostUnregister(memory);
				if (r != hipErrorHostMemoryNotRegistered)
					HIP(r);
				ended += !r;
			}
		});
	for (std::thread &t : all)
		t.join();
	CHECK(begun >= ended && ended);
	CHECK_EQ(hipHostUnregister(memory), hipErrorHostMemoryNotRegistered);
}

/* Threads map memory of different sizes at one address, and unmap it: nothing of a mapping stays behind. */
static void mapped_by_several()
{
	const size_t unit_B = 2 << 20;
	hipMemAllocationProp p = {};
	std::vector<std::thread> all;
	std::atomic<unsigned> mapped{0}, stuck{0};
	void *at;

	p.type = hipMemAllocationTypePinned;
	p.location.type = hipMemLocationTypeDevice;
	HIP(hipMemAddressReserve(&at, 2 * unit_B, 0, nullptr, 0));
	for (unsigned t = 0; t < 8; t++)
		all.emplace_back([&, t] {
			const size_t size_B = (t % 2 + 1) * unit_B;
			hipMemGenericAllocationHandle_t memory;

			HIP(hipMemCreate(&memory, size_B, &p, 0));
			for (unsigned i = 0; i < 20000 && !stuck; i++)
				if (!hipMemMap(at, size_B, 0, memory, 0)) {
					mapped++;
					stuck += hipMemUnmap(at, size_B) != hipSuccess;
				}
			HIP(hipMemRelease(memory));
			(void)hipGetLastError();
		});
	for (std::thread &t : all)
		t.join();
	CHECK(mapped && !stuck);
	HIP(hipMemAddressFree(at, 2 * unit_B));
}

/* --- streams ---------------------------------------------------------------------------------- */

/* An event on a stream that the null stream's kernel is before is reached behind that, though it is another
 * thread's launch that the stream began to wait for it with. */
static void event_behind_null_stream()
{
	std::atomic<unsigned> turn{0}, launched{0};
	volatile unsigned *value;
	hipStream_t stream;
	hipEvent_t event;
	unsigned early = 0, seed = 7;

	HIP(hipStreamCreate(&stream));
	HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	HIP(hipHostMalloc((void **)&value, 64, hipHostMallocDefault));
	nothing<<<1, 1, 0, stream>>>();
	HIP(hipEventRecord(event, stream));
	HIP(hipDeviceSynchronize());
	std::thread other([&] {
		unsigned mine = 1;

		for (unsigned seen = 0; seen < 1500; launched = seen) {
			while (turn == seen)
				continue;
			seen = turn;
			for (volatile int i = rand_r(&mine) % 3000; i > 0; i--)
				;
			nothing<<<1, 1, 0, stream>>>();
		}
	});
	for (unsigned i = 1; i <= 1500; i++) {
		set_late<<<1, 1>>>((unsigned *)value, i);
		turn = i;
		for (volatile int k = rand_r(&seed) % 3000; k > 0; k--)
			;
		HIP(hipEventRecord(event, stream));
		HIP(hipEventSynchronize(event));
		early += *value != i;
		while (launched != i)
			continue;
		HIP(hipDeviceSynchronize());
	}
	other.join();
	CHECK_EQ(early, 0);
	HIP(hipEventDestroy(event));
	HIP(hipStreamDestroy(stream));
	HIP(hipHostFree((void *)value));
}

/* A thread that waits for room in the null stream's queue keeps nobody from making a stream. */
static void full_queue()
{
	static std::atomic<bool> go;
	static std::atomic<unsigned> put;
	hipStream_t stream, made;

	go = false;
	put = 0;
	HIP(hipStreamCreate(&stream));
	HIP(hipLaunchHostFunc(
		stream,
		[](void *) {
			while (!go)
				usleep(1000);
		},
		nullptr));
	std::thread other([&] {
		for (unsigned i = 0; i < 1500; i++) {
			nothing<<<1, 1>>>();
			nothing<<<1, 1, 0, stream>>>();
			put++;
		}
	});
	for (unsigned before = ~0u; before != put; usleep(200000)) /* until it is stuck */
		before = put;
	CHECK(put < 1500);
	HIP(hipStreamCreate(&made));
	go = true;
	other.join();
	HIP(hipDeviceSynchronize());
	HIP(hipStreamDestroy(made));
	HIP(hipStreamDestroy(stream));
}

/* --- threads that end ------------------------------------------------------------------------- */

static pthread_key_t key;
static unsigned *key_sum;

static void launch_at_end(void *)
{
	void *memory[16];

	for (unsigned i = 0; i < 4; i++)
		add_one<<<1, 1>>>(key_sum);
	for (unsigned i = 0; i < 16; i++)
		memory[i] = malloc(150 + i);
	for (void *m : memory)
		free(m);
	HIP(hipDeviceSynchronize());
}

static void launches_from_destructors()
{
	gpu_array<unsigned> sum(std::vector<unsigned>(1, 0));

	key_sum = sum.at;
	CHECK_EQ(pthread_key_create(&key, launch_at_end), 0);
	for (unsigned i = 0; i < 20; i++)
		std::thread([] {
			pthread_setspecific(key, key_sum);
			add_one<<<1, 1>>>(key_sum);
		}).join();
	CHECK_EQ(sum.read()[0], 100);
}

/* The next thread may be where the one was that began a capture, and is not it. */
static void captures_of_ended_threads()
{
	hipStream_t stream;
	hipGraph_t graph = nullptr;
	void *memory = nullptr;

	HIP(hipStreamCreate(&stream));
	std::thread([&] { HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal)); }).join();
	std::thread([&] {
		HIP(hipMalloc(&memory, 64));
		CHECK_EQ(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureWrongThread);
	}).join();
	HIP(hipFree(memory));
	HIP(hipStreamDestroy(stream));
}

/* --- pools ------------------------------------------------------------------------------------ */

static size_t resident_B()
{
	size_t all = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file && fscanf(file, "%zu %zu", &all, &resident) == 2);
	fclose(file);
	return resident * 4096;
}

/* A stream keeps nothing of the pools that have come and gone on it. */
static void pools_come_and_go()
{
	hipMemPoolProps props = {};
	size_t before_B = 0;

	props.allocType = hipMemAllocationTypePinned;
	props.location = {hipMemLocationTypeDevice, 0};
	for (unsigned i = 0; i < 2400; i++) {
		hipMemPool_t pool;
		void *memory;

		if (i == 400)
			before_B = resident_B();
		HIP(hipMemPoolCreate(&pool, &props));
		HIP(hipMallocFromPoolAsync(&memory, 4096, pool, nullptr));
		HIP(hipFreeAsync(memory, nullptr));
		HIP(hipMemPoolDestroy(pool));
		if (i % 100 == 0)
			HIP(hipStreamSynchronize(nullptr));
	}
	/* AddressSanitizer, under the libraries, keeps what they free. */
	if (!dlsym(RTLD_DEFAULT, "__asan_init"))
		CHECK(resident_B() < before_B + (1 << 20));
}

/* --- hipDeviceReset() ------------------------------------------------------------------------- */

/* Whatever others do meanwhile fails at worst. */
static void resets()
{
	std::atomic<bool> stop{false};
	std::vector<std::thread> all;
	std::atomic<unsigned> rounds{0};

	all.emplace_back([&] {
		while (!stop) {
			hipStream_t stream = nullptr;

			(void)!hipStreamCreate(&stream);
			nothing<<<1, 1, 0, stream>>>();
			(void)!hipStreamDestroy(stream);
			rounds++;
		}
	});
	all.emplace_back([&] {
		char bytes[256];

		while (!stop) {
			void *memory = nullptr;

			nothing<<<1, 1>>>();
			(void)!hipMallocAsync(&memory, 65536, nullptr);
			(void)!hipMemcpyAsync(memory, bytes, sizeof(bytes), hipMemcpyHostToDevice, nullptr);
			(void)!hipFreeAsync(memory, nullptr);
			(void)!hipStreamSynchronize(nullptr);
			rounds++;
		}
	});
	all.emplace_back([&] {
		while (!stop) {
			std::thread([] { nothing<<<1, 1, 0, hipStreamPerThread>>>(); }).join();
			rounds++;
		}
	});
	all.emplace_back([&] {
		while (!stop)
			(void)!hipDeviceReset();
	});
	for (unsigned i = 0; i < 150 || rounds < 100; i++)
		(void)!hipDeviceReset();
	stop = true;
	for (std::thread &t : all)
		t.join();
	(void)!hipGetLastError();
	gpu_array<unsigned> sum(std::vector<unsigned>(1, 0));
	add_one<<<1, 1>>>(sum.at);
	CHECK_EQ(sum.read()[0], 1);
}

/* --- processes -------------------------------------------------------------------------------- */

/* A host function may end the program. */
static void exit_in_host_function(const char *self)
{
	CHECK_EQ(system((std::string(self) + " exit").c_str()), 7 << 8);
}

/* A child that has nothing to do with the GPU ends, whatever the parent's other threads were doing. */
static void forks()
{
	std::atomic<bool> stop{false};
	std::thread other([&] {
		while (!stop) {
			nothing<<<1, 1>>>();
			(void)!hipDeviceReset();
		}
	});

	for (unsigned i = 0; i < 20; i++) {
		pid_t child = fork();
		int status;

		if (!child)
			exit(0);
		CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	}
	stop = true;
	other.join();
}

/* A thread that HIP does not know yet forks, and its child calls HIP: an error, while others register and retire. */
static void calls_in_children()
{
	std::atomic<bool> stop{false};
	auto busy = [&] {
		while (!stop) {
			hipEvent_t event;

			HIP(hipEventCreate(&event));
			HIP(hipEventDestroy(event));
		}
	};
	std::thread one(busy), two(busy);

	for (unsigned i = 0; i < 100 && !check_failed_; i++)
		std::thread([] {
			pid_t child = fork();
			int status;

			if (!child) {
				void *memory;

				alarm(20);
				_exit(hipMalloc(&memory, 4096) == hipSuccess);
			}
			CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
		}).join();
	stop = true;
	one.join();
	two.join();
}

/* --- thread-specific data ----------------------------------------------------------------------- */

static std::vector<pthread_key_t> keys; /* the program's; each of their values is the address of this list */
static std::atomic<unsigned> values_changed;

static void value_check(void *value)
{
	values_changed += value != &keys;
}

static void call_without_keys()
{
	gpu_array<unsigned> sum(std::vector<unsigned>(1, 0));
	hipCtx_t context;

	for (pthread_key_t key : keys)
		CHECK_EQ(pthread_setspecific(key, &keys), 0);
	CHECK_EQ(hipCtxCreate(&context, 0, 0), hipErrorOutOfMemory);
	CHECK_EQ(hipStreamQuery(hipStreamPerThread), hipErrorOutOfMemory);
	add_one<<<1, 1>>>(sum.at);
	HIP(hipDeviceSynchronize());
	CHECK_EQ(sum.read()[0], 1);
	for (pthread_key_t key : keys)
		value_check(pthread_getspecific(key));
	for (unsigned i = 0; i < 4; i++, keys.pop_back())
		pthread_key_delete(keys.back());
	HIP(hipStreamQuery(hipStreamPerThread));
	(void)hipGetLastError();
}

/* The program has all keys before it calls HIP: none of their values changes, and launches run. With a few keys
 * less a thread has its own stream. In a process of its own, whose library has no key yet. */
static void no_key_is_left()
{
	pid_t child = fork();
	int status;

	if (!child) {
		pthread_key_t key;

		while (!pthread_key_create(&key, value_check))
			keys.push_back(key);
		std::thread(call_without_keys).join();
		CHECK_EQ(values_changed, 0);
		_exit(check_failed_ != 0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		nothing<<<1, 1>>>();
		HIP(hipLaunchHostFunc(nullptr, [](void *) { exit(7); }, nullptr));
		HIP(hipDeviceSynchronize());
		return 1;
	}
	no_key_is_left(); /* first: HIP is not initialised yet */
	registered_and_unmapped();
	registered_by_several();
	mapped_by_several();
	event_behind_null_stream();
	full_queue();
	launches_from_destructors();
	captures_of_ended_threads();
	pools_come_and_go();
	exit_in_host_function(argv[0]);
	forks();
	calls_in_children();
	resets();
	return check_done("threads");
}
