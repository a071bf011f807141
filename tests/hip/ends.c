/* Two processes share memory, events and a pool. One of them ends at any of its system calls. */
#include "tests/ends.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/hip/parts.h"
#include "vgpu/vgpu.h"

/* What the exporter sends; the pool's descriptor follows. */
struct letter {
	hipIpcMemHandle_t memory;
	hipIpcEventHandle_t made, used;
	hipMemPoolPtrExportData piece;
};

/* State of either process. */
struct shared {
	struct rig g;
	uint32_t *memory, *piece;
	hipMemPool_t pool;
	hipEvent_t made, used;
	int socket;
	bool alone; /* the other process is gone */
};

/* An import may fail when the other process is gone, and no other call. */
static bool is_ok(hipError_t r, bool needs_other, const struct shared *s, const char *call)
{
	if (CHECK(!r || (needs_other && ends_is_alone(s->socket))))
		return !r;
	printf("  %s: %s\n", call, hipGetErrorName(r));
	return false;
}
#define OK(call)       is_ok(call, false, s, #call)
#define IMPORTED(call) is_ok(call, true, s, #call)

static void send_nod(struct shared *s)
{
	s->alone = !ends_send(s->socket, "", 1) || s->alone;
}

static void await_nod(struct shared *s)
{
	char byte;

	s->alone = !ends_receive(s->socket, &byte, 1) || s->alone;
}

/* What an importer that is gone should have written may be missing. */
static void check_data(const struct shared *s, const uint32_t *at, uint32_t want)
{
	hipError_t r = expect(&s->g, at, want);

	is_ok(r, r == WRONG, s, "expect");
}

/* --- the exporter ----------------------------------------------------------------------------- */

static void create(struct shared *s)
{
	const hipMemPoolProps like = {.allocType = hipMemAllocationTypePinned,
				      .handleTypes = hipMemHandleTypePosixFileDescriptor,
				      .location = {.type = hipMemLocationTypeDevice}};

	OK(hipMalloc((void **)&s->memory, 4 * COUNT));
	OK(hipMemPoolCreate(&s->pool, &like));
	OK(hipMallocFromPoolAsync((void **)&s->piece, 4 * COUNT, s->pool, s->g.stream));
	OK(hipEventCreateWithFlags(&s->made, hipEventInterprocess | hipEventDisableTiming));
	OK(hipEventCreateWithFlags(&s->used, hipEventInterprocess | hipEventDisableTiming));
}

static void export(struct shared *s, struct letter *letter, int *pool)
{
	OK(hipIpcGetMemHandle(&letter->memory, s->memory));
	OK(hipIpcGetEventHandle(&letter->made, s->made));
	OK(hipIpcGetEventHandle(&letter->used, s->used));
	OK(hipMemPoolExportToShareableHandle(pool, s->pool, hipMemHandleTypePosixFileDescriptor, 0));
	OK(hipMemPoolExportPointer(&letter->piece, s->piece));
}

static void destroy(struct shared *s)
{
	OK(hipStreamSynchronize(s->g.stream));
	OK(hipFreeAsync(s->piece, s->g.stream));
	OK(hipMemPoolDestroy(s->pool));
	OK(hipFree(s->memory));
	OK(hipEventDestroy(s->made));
	OK(hipEventDestroy(s->used));
	OK(hipStreamSynchronize(s->g.stream));
}

static void export_and_use(struct shared *s)
{
	struct letter letter;
	int pool = -1;

	create(s);
	export(s, &letter, &pool);
	OK(hipMemsetD32Async(s->memory, 5, COUNT, s->g.stream));
	OK(hipMemsetD32Async(s->piece, 6, COUNT, s->g.stream));
	OK(hipEventRecord(s->made, s->g.stream));
	s->alone = !ends_send(s->socket, &letter, sizeof(letter)) || send_fd(s->socket, pool, 0);
	close(pool);
	await_nod(s); /* the importer has recorded `used`, behind a held stream */
	OK(hipStreamWaitEvent(s->g.stream, s->used, 0));
	send_nod(s);
	check_data(s, s->memory, 7);
	check_data(s, s->piece, 8);
	OK(hipEventSynchronize(s->used));
	destroy(s);
	send_nod(s);
}

/* --- the importer ----------------------------------------------------------------------------- */

static bool import(struct shared *s, const struct letter *letter, int pool)
{
	return IMPORTED(hipIpcOpenMemHandle((void **)&s->memory, letter->memory, hipIpcMemLazyEnablePeerAccess)) &&
	       IMPORTED(hipIpcOpenEventHandle(&s->made, letter->made)) &&
	       IMPORTED(hipIpcOpenEventHandle(&s->used, letter->used)) &&
	       IMPORTED(hipMemPoolImportFromShareableHandle(&s->pool, (void *)(intptr_t)pool,
							    hipMemHandleTypePosixFileDescriptor, 0)) &&
	       IMPORTED(hipMemPoolImportPointer((void **)&s->piece, s->pool,
						(hipMemPoolPtrExportData *)&letter->piece));
}

static void use(struct shared *s)
{
	uint32_t *hold = NULL;

	if (!OK(hipExtMallocWithFlags((void **)&hold, 8, hipMallocSignalMemory)))
		return;
	*hold = 0;
	OK(hipStreamWaitEvent(s->g.stream, s->made, 0));
	OK(hipStreamWaitValue32(s->g.stream, hold, 1, hipStreamWaitValueEq, UINT32_MAX));
	OK(hipMemsetD32Async(s->memory, 7, COUNT, s->g.stream));
	OK(hipMemsetD32Async(s->piece, 8, COUNT, s->g.stream));
	OK(hipEventRecord(s->used, s->g.stream));
	send_nod(s);
	await_nod(s);
	__atomic_store_n(hold, 1, __ATOMIC_RELEASE);
	OK(hipStreamSynchronize(s->g.stream));
	OK(hipFree(hold));
}

/* Gives back what was imported before an import failed. */
static void drop(struct shared *s)
{
	if (s->piece)
		OK(hipFreeAsync(s->piece, s->g.stream));
	if (s->pool)
		OK(hipMemPoolDestroy(s->pool));
	if (s->made)
		OK(hipEventDestroy(s->made));
	if (s->used)
		OK(hipEventDestroy(s->used));
	if (s->memory)
		OK(hipIpcCloseMemHandle(s->memory));
	OK(hipStreamSynchronize(s->g.stream));
}

static void import_and_use(struct shared *s)
{
	struct letter letter;
	uint32_t word;
	int pool = -1;

	s->alone = !ends_receive(s->socket, &letter, sizeof(letter));
	if (!s->alone)
		s->alone = (pool = receive_fd(s->socket, &word)) < 0;
	if (s->alone)
		return;
	if (import(s, &letter, pool))
		use(s);
	else
		s->alone = true;
	close(pool);
	drop(s);
	if (!s->alone)
		await_nod(s); /* the exporter has used the memory */
}

/* --- both ------------------------------------------------------------------------------------- */

/* Exports each kind of object once: the library keeps its server, and memory of events and pools. */
static void warm_up(struct shared *s)
{
	struct letter letter;
	int pool = -1;

	create(s);
	export(s, &letter, &pool);
	close(pool);
	destroy(s);
	CHECK_EQ(program(), hipSuccess);
}

/* Another thread may still close descriptors, and the virtual GPU has one while a thread forks. */
static void check_files(unsigned before)
{
	unsigned now = ends_files();

	for (unsigned i = 0; i < 5000 && now > before; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		now = ends_files();
	}
	CHECK(now <= before);
}

static void play(unsigned role, int socket)
{
	struct shared s = {.socket = socket}, fresh = s;
	unsigned files;

	if (!CHECK_EQ(rig_open(&s.g), hipSuccess))
		return;
	fresh.g = s.g;
	warm_up(&fresh);
	ends_may_fork();
	files = ends_files();
	(role ? import_and_use : export_and_use)(&s);
	(void)hipGetLastError();
	CHECK_EQ(program(), hipSuccess);
	check_files(files);
	rig_close(&s.g);
}

/* HIP refuses to work in a child of fork(). */
static void forked(void)
{
	void *memory;

	CHECK(hipMalloc(&memory, 4096) != hipSuccess);
}

int main(int argc, char **argv)
{
	static const struct ends ends = {"gfx908", "libamdhip64.so.6", play, forked};

	return ends_main(&ends, argc, argv);
}
