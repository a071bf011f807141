/* Two processes share memory and signals by HSA. One of them ends at any of its system calls. */
#include "tests/ends.h"

#include <unistd.h>

#include "tests/hsa_find.h"

#define SIZE_B 8192u
#define WORDS  (SIZE_B / 4)

enum { VRAM, HOST, BUFFERS };

/* What the exporter sends. */
struct letter {
	hsa_amd_ipc_memory_t memory[BUFFERS];
	hsa_amd_ipc_signal_t go, done;
};

/* State of either process. */
struct shared {
	struct hsa_find find;
	hsa_queue_t *queue;
	uint32_t *memory[BUFFERS];
	hsa_signal_t go, done;
	int socket;
	bool alone; /* the other process is gone */
};

/* A call gives success; an import may fail when the other process is gone. */
static bool is_ok(hsa_status_t r, bool needs_other, const struct shared *s, const char *call)
{
	if (CHECK(!r || (needs_other && ends_is_alone(s->socket))))
		return !r;
	printf("  %s: 0x%x\n", call, r);
	return false;
}
#define OK(call)       is_ok(call, false, s, #call)
#define IMPORTED(call) is_ok(call, true, s, #call)

static bool begin(struct shared *s)
{
	hsa_agent_t gpu;

	if (!OK(hsa_init()) || !hsa_find_all(&s->find))
		return false;
	gpu = s->find.gpu[0].agent;
	return OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &s->queue));
}

static void end(struct shared *s)
{
	OK(hsa_queue_destroy(s->queue));
	OK(hsa_shut_down());
}

static void fill(struct shared *s, uint32_t value)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		OK(hsa_amd_memory_fill(s->memory[i], value, WORDS));
}

static void check_filled(const struct shared *s, uint32_t value)
{
	uint32_t host[WORDS];
	unsigned wrong = 0;

	for (unsigned i = 0; i < BUFFERS; i++) {
		OK(hsa_memory_copy(host, s->memory[i], SIZE_B));
		for (unsigned k = 0; k < WORDS; k++)
			wrong += host[k] != value;
	}
	CHECK(!wrong || ends_is_alone(s->socket));
}

/* A packet that waits for `signal`, and takes 1 from `completion`. */
static void put_barrier(const struct shared *s, hsa_signal_t signal, hsa_signal_t completion)
{
	uint64_t index = hsa_queue_add_write_index_screlease(s->queue, 1);
	hsa_barrier_and_packet_t *packet =
		(hsa_barrier_and_packet_t *)s->queue->base_address + index % s->queue->size;

	packet->dep_signal[0] = signal;
	packet->completion_signal = completion;
	__atomic_store_n(&packet->header, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(s->queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* HSA does not tell that the process that should change a signal is gone: the survivor changes it itself. */
static void wait_for(struct shared *s, hsa_signal_t signal)
{
	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, 1000000, HSA_WAIT_STATE_BLOCKED)) {
		if (!ends_has_hung_up(s->socket))
			continue;
		s->alone = true;
		hsa_signal_store_screlease(signal, 0);
	}
}

/* --- the exporter ----------------------------------------------------------------------------- */

static void create(struct shared *s, struct letter *letter)
{
	const hsa_amd_memory_pool_t pool[BUFFERS] = {s->find.gpu[0].coarse, s->find.cpu[0].fine};

	for (unsigned i = 0; i < BUFFERS; i++) {
		OK(hsa_amd_memory_pool_allocate(pool[i], SIZE_B, 0, (void **)&s->memory[i]));
		OK(hsa_amd_ipc_memory_create(s->memory[i], SIZE_B, &letter->memory[i]));
	}
	OK(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &s->go));
	OK(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &s->done));
	OK(hsa_amd_ipc_signal_create(s->go, &letter->go));
	OK(hsa_amd_ipc_signal_create(s->done, &letter->done));
}

static void destroy(struct shared *s)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		OK(hsa_amd_memory_pool_free(s->memory[i]));
	OK(hsa_signal_destroy(s->go));
	OK(hsa_signal_destroy(s->done));
}

static void export_and_use(struct shared *s)
{
	struct letter letter;
	hsa_signal_t after;

	create(s, &letter);
	fill(s, 5);
	OK(hsa_signal_create(1, 0, NULL, &after));
	s->alone = !ends_send(s->socket, &letter, sizeof(letter));
	put_barrier(s, s->done, after); /* the queue waits for the importer */
	hsa_signal_store_screlease(s->go, 0);
	wait_for(s, s->done);
	CHECK_EQ(hsa_signal_wait_scacquire(after, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED),
		 0);
	check_filled(s, 7);
	OK(hsa_signal_destroy(after));
	destroy(s);
	(void)ends_send(s->socket, "", 1);
}

/* --- the importer ----------------------------------------------------------------------------- */

static bool import(struct shared *s, const struct letter *letter)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		if (!IMPORTED(hsa_amd_ipc_memory_attach(&letter->memory[i], SIZE_B, 1, &s->find.gpu[0].agent,
							(void **)&s->memory[i])))
			return false;
	return IMPORTED(hsa_amd_ipc_signal_attach(&letter->go, &s->go)) &&
	       IMPORTED(hsa_amd_ipc_signal_attach(&letter->done, &s->done));
}

/* Gives back what was imported before an import failed. */
static void drop(struct shared *s)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		if (s->memory[i])
			OK(hsa_amd_ipc_memory_detach(s->memory[i]));
	if (s->go.handle)
		OK(hsa_signal_destroy(s->go));
	if (s->done.handle)
		OK(hsa_signal_destroy(s->done));
}

static void import_and_use(struct shared *s)
{
	struct letter letter;
	char byte;

	if (!ends_receive(s->socket, &letter, sizeof(letter)))
		return;
	if (import(s, &letter)) {
		wait_for(s, s->go);
		fill(s, 7);
		put_barrier(s, s->go, s->done);
		(void)ends_receive(s->socket, &byte, 1); /* the exporter has used the memory */
		check_filled(s, 7);
	}
	drop(s);
}

/* --- both ------------------------------------------------------------------------------------- */

static void work_alone(struct shared *s)
{
	struct letter letter;

	create(s, &letter);
	fill(s, 9);
	check_filled(s, 9);
	put_barrier(s, (hsa_signal_t){0}, s->done);
	wait_for(s, s->done);
	destroy(s);
}

static void play(unsigned role, int socket)
{
	struct shared shared = {.socket = socket}, *s = &shared, own = shared;
	unsigned files = ends_files();

	if (!begin(s))
		return;
	(role ? import_and_use : export_and_use)(s);
	own.find = s->find;
	own.queue = s->queue;
	work_alone(&own);
	end(s);
	CHECK_EQ(ends_files(), files);
}

int main(int argc, char **argv)
{
	/* It is not forked: hsa_shut_down() unmaps memory under a lock that a fork takes. */
	static const struct ends ends = {.gpu = "gfx908", .library = "libhsa-runtime64.so.1", .play = play};

	return ends_main(&ends, argc, argv);
}
