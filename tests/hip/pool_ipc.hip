/* Pools for other processes: statements S64 to S74 of docs/pools.md. A pool goes to another process as a
 * descriptor, over a socket; its addresses go as 64 bytes. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/files.h"
#include "tests/hip/pools.h"
#include "tests/hip/wire.h"

#define COUNT 100000u
#define LARGE (8 * MIB)

/* at[i] = at[i] * 3 + value */
__global__ void step(unsigned *at, size_t count, unsigned value)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
		at[i] = at[i] * 3 + value;
}

static void run_step(void *at, size_t count, unsigned value, hipStream_t on)
{
	step<<<4, 256, 0, on>>>((unsigned *)at, count, value);
	HIP_LAUNCHED();
}

static unsigned count_wrong(const void *at, size_t count, unsigned want)
{
	std::vector<unsigned> got(count);
	unsigned wrong = 0;

	HIP(hipMemcpy(got.data(), at, count * 4, hipMemcpyDeviceToHost));
	for (unsigned value : got)
		wrong += value != want;
	return wrong;
}

/* --- the wire --------------------------------------------------------------------------------- */

/* What one process tells the other. */
struct letter {
	hipMemPoolPtrExportData small, large;
	hipIpcEventHandle_t made, freed; /* the exporter has filled them; the importer has freed them */
};

struct peer {
	pid_t pid;
	int socket;
};

static void tell(int to, const void *what, size_t size, int fd = -1)
{
	CHECK(wire_send(to, what, size, fd));
}

/* The descriptor, or -1. */
static int hear(int from, void *what, size_t size)
{
	int fd;

	CHECK(wire_receive(from, what, size, &fd));
	return fd;
}

static void nod(int to)
{
	tell(to, "", 1);
}

static void await(int from)
{
	char byte;

	hear(from, &byte, 1);
}

static size_t free_memory()
{
	size_t left, all;

	HIP(hipMemGetInfo(&left, &all));
	return left;
}

/* --- the importer ----------------------------------------------------------------------------- */

static hipMemPool_t import(int fd)
{
	hipMemPool_t imported = nullptr;

	/* What stands above an int does not count. */
	HIP(hipMemPoolImportFromShareableHandle(&imported, (void *)(0x5d00000000000000u | (unsigned)fd),
						hipMemHandleTypePosixFileDescriptor, 0));
	close(fd);
	return imported;
}

/* S65: it gives nothing out, and tells nothing. */
static void refuses(hipMemPool_t imported, hipStream_t s)
{
	uint64_t value = 0;
	void *ptr;
	int fd;

	CHECK_EQ(hipMallocFromPoolAsync(&ptr, 512, imported, s), hipErrorInvalidValue);
	CHECK_EQ(hipDeviceSetMemPool(0, imported), hipErrorInvalidValue); /* S4, too */
	CHECK_EQ(hipMemPoolExportToShareableHandle(&fd, imported, hipMemHandleTypePosixFileDescriptor, 0),
		 hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolGetAttribute(imported, hipMemPoolAttrUsedMemCurrent, &value), hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolSetAttribute(imported, hipMemPoolAttrReleaseThreshold, &value), hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolTrimTo(imported, 0), hipErrorInvalidValue);
	(void)hipGetLastError();
}

/* S66: the device that has it, and no other. */
static void is_resident_only(hipMemPool_t imported)
{
	int devices;

	HIP(hipGetDeviceCount(&devices));
	for (int i = 0; i < devices; i++) {
		hipMemLocation where = {hipMemLocationTypeDevice, i};
		hipMemAccessFlags flags;

		HIP(hipMemPoolGetAccess(&flags, imported, &where));
		CHECK_EQ(flags, i ? hipMemAccessFlagsProtNone : hipMemAccessFlagsProtReadWrite);
	}
}

/* Whatever the 64 bytes hold, there is an error, and nothing stays. */
static void takes_no_nonsense(hipMemPool_t imported, const hipMemPoolPtrExportData &good)
{
	unsigned files = open_files();
	void *ptr;

	for (unsigned byte = 0; byte < sizeof(good); byte++) {
		hipMemPoolPtrExportData bad = good;

		bad.reserved[byte] ^= 0x80;
		hipError_t r = hipMemPoolImportPointer(&ptr, imported, &bad);
		/* Another offset that lies in the memory is another address: it is freed. */
		if (r == hipSuccess)
			HIP(hipFree(ptr));
		else
			CHECK(r == hipErrorInvalidValue || r == hipErrorOutOfMemory);
	}
	CHECK_EQ(open_files(), files);
	(void)hipGetLastError();
}

static int importer(int wire)
{
	letter letter;
	int fd = hear(wire, &letter, sizeof(letter));
	hipMemPool_t imported = import(fd), owner;
	hipEvent_t made, freed;
	hipMemPoolPtrExportData again;
	void *small, *twice, *large;
	stream s;

	refuses(imported, s);
	is_resident_only(imported);
	takes_no_nonsense(imported, letter.large);
	HIP(hipIpcOpenEventHandle(&made, letter.made));
	HIP(hipIpcOpenEventHandle(&freed, letter.freed));
	HIP(hipMemPoolImportPointer(&small, imported, &letter.small));
	HIP(hipMemPoolImportPointer(&twice, imported, &letter.small));
	HIP(hipMemPoolImportPointer(&large, imported, &letter.large));
	CHECK_EQ((uintptr_t)twice, (uintptr_t)small); /* S68 */
	HIP(hipPointerGetAttribute(&owner, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, small));
	CHECK_EQ((uintptr_t)owner, (uintptr_t)imported);
	CHECK_EQ(hipMemPoolExportPointer(&again, small), hipErrorInvalidValue); /* S67 */
	/* S69: its work begins when the exporter has filled them. */
	HIP(hipStreamWaitEvent(s, made, 0));
	nod(wire);
	run_step(small, COUNT, 7, s);
	run_step(large, LARGE / 4, 8, s);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(count_wrong(small, COUNT, 5 * 3 + 7), 0);
	CHECK_EQ(count_wrong(large, LARGE / 4, 6 * 3 + 8), 0);
	/* S70, S71: it frees first, and only its own view goes. */
	HIP(hipFreeAsync(small, s));
	CHECK_EQ(hipFreeAsync(small, s), hipErrorInvalidValue); /* S68 */
	HIP(hipMemPoolDestroy(imported));                       /* S65 */
	run_step(large, LARGE / 4, 9, s);                       /* it lives on without its pool */
	HIP(hipEventRecord(freed, s));
	HIP(hipFreeAsync(large, s));
	nod(wire);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(hipFree(large), hipErrorInvalidValue);
	(void)hipGetLastError();
	HIP(hipEventDestroy(made));
	HIP(hipEventDestroy(freed));
	return check_done("a pool of another process");
}

/* --- the exporter ----------------------------------------------------------------------------- */

static hipMemPoolProps shared_props()
{
	hipMemPoolProps props = pool_props();

	props.handleTypes = hipMemHandleTypePosixFileDescriptor;
	return props;
}

static int export_pool(const pool &p)
{
	int fd = -1;

	HIP(hipMemPoolExportToShareableHandle(&fd, p.at, hipMemHandleTypePosixFileDescriptor, 0));
	return fd;
}

static int handle_types(void *ptr)
{
	int types = -1;

	HIP(hipPointerGetAttribute(&types, HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, ptr));
	return types;
}

static void refusals()
{
	pool plain, shared(true, shared_props());
	hipMemPoolPtrExportData data;
	hipMemPool_t first, none;
	void *ptr, *own;
	int fd, files[2];
	stream s;

	HIP(hipDeviceGetAttribute(&fd, hipDeviceAttributeMemoryPoolSupportedHandleTypes, 0));
	CHECK_EQ(fd, hipMemHandleTypePosixFileDescriptor);
	HIP(hipDeviceGetDefaultMemPool(&first, 0));
	CHECK_EQ(hipMemPoolExportToShareableHandle(&fd, plain.at, hipMemHandleTypePosixFileDescriptor, 0),
		 hipErrorInvalidValue); /* S73 */
	CHECK_EQ(hipMemPoolExportToShareableHandle(&fd, first, hipMemHandleTypePosixFileDescriptor, 0),
		 hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolExportToShareableHandle(&fd, shared.at, hipMemHandleTypeNone, 0), hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolExportToShareableHandle(&fd, shared.at, hipMemHandleTypePosixFileDescriptor, 1),
		 hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolExportToShareableHandle(NULL, shared.at, hipMemHandleTypePosixFileDescriptor, 0),
		 hipErrorInvalidValue);
	/* S67 */
	own = shared.take(MIB, s);
	CHECK_EQ(hipMemPoolExportPointer(&data, (char *)own + 512), hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolExportPointer(NULL, own), hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolExportPointer(&data, NULL), hipErrorInvalidValue);
	HIP(hipMemPoolExportPointer(&data, own));
	CHECK_EQ(handle_types(own), hipMemHandleTypePosixFileDescriptor);
	give(own, s);
	CHECK_EQ(hipMemPoolExportPointer(&data, own), hipErrorInvalidValue);
	ptr = plain.take(MIB, s);
	CHECK_EQ(hipMemPoolExportPointer(&data, ptr), hipErrorInvalidValue);
	CHECK_EQ(handle_types(ptr), hipMemHandleTypeNone);
	give(ptr, s);
	HIP(hipMalloc(&ptr, MIB));
	CHECK_EQ(hipMemPoolExportPointer(&data, ptr), hipErrorInvalidValue);
	HIP(hipFree(ptr));
	/* What is no pool. */
	CHECK(!pipe(files));
	CHECK_EQ(hipMemPoolImportFromShareableHandle(&none, (void *)(uintptr_t)files[0],
						     hipMemHandleTypePosixFileDescriptor, 0),
		 hipErrorInvalidValue);
	close(files[0]);
	close(files[1]);
	CHECK_EQ(hipMemPoolImportFromShareableHandle(&none, (void *)(uintptr_t)files[0],
						     hipMemHandleTypePosixFileDescriptor, 0),
		 hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolImportPointer(&ptr, shared.at, &data), hipErrorInvalidValue);
	(void)hipGetLastError();
	HIP(hipStreamSynchronize(s));
}

/* The process that exports may import, too: another address of the same memory. */
static void same_process()
{
	pool p(true, shared_props());
	stream s;
	hipMemPoolPtrExportData data;
	void *own = p.take(COUNT * 4, s), *other;
	hipMemPool_t imported = import(export_pool(p));

	HIP(hipMemsetAsync(own, 0, COUNT * 4, s));
	HIP(hipMemPoolExportPointer(&data, own));
	HIP(hipMemPoolImportPointer(&other, imported, &data));
	CHECK((uintptr_t)other != (uintptr_t)own);
	run_step(other, COUNT, 11, s);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(count_wrong(own, COUNT, 11), 0);
	HIP(hipFree(other));
	CHECK_EQ(hipFree(other), hipErrorInvalidValue);
	(void)hipGetLastError();
	give(own, s);
	HIP(hipStreamSynchronize(s));
	HIP(hipMemPoolDestroy(imported));
}

/* Memory that came in pieces, so that it lies in several chunks. */
static void *take_in_pieces(const pool &p, hipStream_t s)
{
	void *part[LARGE / (2 * MIB)];

	for (void *&at : part)
		at = p.take(2 * MIB, s);
	for (void *at : part)
		give(at, s);
	void *whole = p.take(LARGE, s);
	CHECK_EQ(p.reserved(), LARGE);
	return whole;
}

static void exporter(const peer &other)
{
	pool p(true, shared_props());
	hipEvent_t made, freed;
	letter letter;
	void *small, *large;
	int fd[2], status;
	stream s;
	gate g;

	for (hipEvent_t *e : {&made, &freed})
		HIP(hipEventCreateWithFlags(e, hipEventInterprocess | hipEventDisableTiming));
	p.keep(0);
	large = take_in_pieces(p, s);
	small = p.take(COUNT * 4, s);
	/* S64 */
	fd[0] = export_pool(p);
	fd[1] = export_pool(p);
	CHECK(fd[0] >= 0 && fd[1] >= 0 && fd[0] != fd[1]);
	close(fd[0]);
	HIP(hipMemsetAsync(small, 0, COUNT * 4, s));
	HIP(hipMemsetAsync(large, 0, LARGE, s));
	wait_for<<<1, 1, 0, s>>>(g.word);
	HIP_LAUNCHED();
	run_step(small, COUNT, 5, s);
	run_step(large, LARGE / 4, 6, s);
	HIP(hipEventRecord(made, s));
	HIP(hipMemPoolExportPointer(&letter.small, small));
	HIP(hipMemPoolExportPointer(&letter.large, large));
	HIP(hipIpcGetEventHandle(&letter.made, made));
	HIP(hipIpcGetEventHandle(&letter.freed, freed));
	tell(other.socket, &letter, sizeof(letter), fd[1]);
	close(fd[1]);
	await(other.socket); /* it waits for the event, whose work has not begun */
	g.open();
	await(other.socket); /* it has freed them */
	HIP(hipStreamWaitEvent(s, freed, 0));
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(count_wrong(small, COUNT, 5 * 3 + 7), 0); /* S71 */
	CHECK_EQ(count_wrong(large, LARGE / 4, (6 * 3 + 8) * 3 + 9), 0);
	HIP(hipMemPoolTrimTo(p.at, 0));
	CHECK_EQ(p.reserved(), LARGE + 2 * MIB); /* S72: it lives */
	HIP(hipFreeAsync(small, s));
	HIP(hipFreeAsync(large, s));
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(p.reserved(), 0); /* S72 */
	void *next = p.take(LARGE, s);
	CHECK_EQ((uintptr_t)next, (uintptr_t)large);
	give(next, s);
	HIP(hipStreamSynchronize(s));
	CHECK(waitpid(other.pid, &status, 0) == other.pid);
	CHECK_EQ(status, 0);
	for (hipEvent_t e : {made, freed})
		HIP(hipEventDestroy(e));
}

/* --- one is killed ---------------------------------------------------------------------------- */

/* Work that never ends of itself, on memory of the exporter's. */
static int importer_dies(int wire)
{
	letter letter;
	int fd = hear(wire, &letter, sizeof(letter));
	hipMemPool_t imported = import(fd);
	void *large;
	stream s;
	gate g;

	HIP(hipMemPoolImportPointer(&large, imported, &letter.large));
	run_step(large, LARGE / 4, 1, s);
	HIP(hipStreamSynchronize(s));
	wait_for<<<1, 1, 0, s>>>(g.word);
	HIP_LAUNCHED();
	run_step(large, LARGE / 4, 100, s);
	nod(wire);
	pause();
	return 1;
}

static void outlives_importer(const peer &other)
{
	size_t before = free_memory();
	unsigned files = open_files();
	{
		pool p(true, shared_props());
		letter letter;
		void *large;
		stream s;
		int fd, status;

		p.keep(0);
		large = take_in_pieces(p, s);
		HIP(hipMemsetAsync(large, 0, LARGE, s));
		HIP(hipStreamSynchronize(s));
		HIP(hipMemPoolExportPointer(&letter.large, large));
		fd = export_pool(p);
		tell(other.socket, &letter, sizeof(letter), fd);
		close(fd);
		await(other.socket);
		kill(other.pid, SIGKILL);
		CHECK(waitpid(other.pid, &status, 0) == other.pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		CHECK_EQ(count_wrong(large, LARGE / 4, 1), 0); /* S74 */
		run_step(large, LARGE / 4, 2, s);
		HIP(hipStreamSynchronize(s));
		CHECK_EQ(count_wrong(large, LARGE / 4, 1 * 3 + 2), 0);
		give(large, s);
		HIP(hipStreamSynchronize(s));
		CHECK_EQ(p.reserved(), 0);
	}
	CHECK_EQ(free_memory(), before);
	CHECK_EQ(open_files(), files);
}

static int exporter_dies(int wire)
{
	await(wire);
	pool p(true, shared_props());
	letter letter;
	stream s;
	void *large = take_in_pieces(p, s), *small = p.take(COUNT * 4, s);
	int fd = export_pool(p);

	HIP(hipMemsetAsync(large, 0, LARGE, s));
	run_step(large, LARGE / 4, 21, s);
	HIP(hipStreamSynchronize(s));
	HIP(hipMemPoolExportPointer(&letter.large, large));
	HIP(hipMemPoolExportPointer(&letter.small, small));
	tell(wire, &letter, sizeof(letter), fd);
	pause();
	return 1;
}

static void outlives_exporter(const peer &other)
{
	size_t before = free_memory();
	unsigned files = open_files();
	letter letter;
	hipMemPool_t imported;
	void *large, *small;
	int status;
	stream s;

	nod(other.socket);
	imported = import(hear(other.socket, &letter, sizeof(letter)));
	HIP(hipMemPoolImportPointer(&large, imported, &letter.large));
	kill(other.pid, SIGKILL);
	CHECK(waitpid(other.pid, &status, 0) == other.pid);
	CHECK_EQ(count_wrong(large, LARGE / 4, 21), 0); /* S74 */
	run_step(large, LARGE / 4, 2, s);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(count_wrong(large, LARGE / 4, 21 * 3 + 2), 0);
	CHECK_EQ(hipMemPoolImportPointer(&small, imported, &letter.small), hipErrorOutOfMemory); /* nobody has it */
	(void)hipGetLastError();
	HIP(hipFreeAsync(large, s));
	HIP(hipStreamSynchronize(s));
	HIP(hipMemPoolDestroy(imported));
	CHECK_EQ(free_memory(), before); /* S71: with the last view the memory went */
	CHECK_EQ(open_files(), files);
}

/* --- all of it -------------------------------------------------------------------------------- */

static peer begin(int (*role)(int wire))
{
	int pair[2];
	peer p;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		exit(1);
	p.pid = fork();
	if (!p.pid) {
		close(pair[0]);
		exit(role(pair[1]));
	}
	close(pair[1]);
	p.socket = pair[0];
	return p;
}

int main()
{
	/* Before anything of HIP's: a child inherits no GPU. */
	peer lives = begin(importer), dies = begin(importer_dies), killed = begin(exporter_dies);

	refusals();
	same_process();
	exporter(lives);
	outlives_importer(dies);
	outlives_exporter(killed);
	return check_done("pools for other processes");
}
