/* Copies of HSA: between any two places, after signals, of rectangles, with times. */
#include <stdlib.h>

#include "tests/hsa_rig.h"
#include "tests/random.h"

static uint64_t random_state = 1;

#define ROOM_B (1u << 20)

enum place { VRAM, COARSE, FINE, LOCKED, PAGEABLE, PLACES };

static struct room {
	void *at;   /* as the API takes it */
	char *cpu;  /* as the CPU reads it; NULL: it goes through hsa_memory_copy() */
	void *host; /* what was malloc'ed */
} room[PLACES];
static char *model, *look; /* what should be there; what is */

static void open_rooms(void)
{
	room[VRAM].at = rig_memory(rig.found.gpu[0].coarse, ROOM_B);
	room[COARSE].at = room[COARSE].cpu = rig_memory(rig.found.cpu[0].coarse, ROOM_B);
	room[FINE].at = room[FINE].cpu = rig_memory(rig.found.cpu[0].fine, ROOM_B);
	room[LOCKED].host = room[LOCKED].cpu = malloc(ROOM_B);
	CHECK_EQ(hsa_amd_memory_lock(room[LOCKED].host, ROOM_B, &rig.gpu, 1, &room[LOCKED].at), HSA_STATUS_SUCCESS);
	room[PAGEABLE].host = room[PAGEABLE].cpu = room[PAGEABLE].at = malloc(ROOM_B);
	model = malloc(ROOM_B);
	look = malloc(ROOM_B);
}

static void close_rooms(void)
{
	CHECK_EQ(hsa_amd_memory_unlock(room[LOCKED].host), HSA_STATUS_SUCCESS);
	for (unsigned i = 0; i < LOCKED; i++)
		CHECK_EQ(hsa_amd_memory_pool_free(room[i].at), HSA_STATUS_SUCCESS);
	free(room[LOCKED].host);
	free(room[PAGEABLE].host);
	free(model);
	free(look);
}

static void put(enum place place, const char *data)
{
	if (room[place].cpu)
		memcpy(room[place].cpu, data, ROOM_B);
	else
		CHECK_EQ(hsa_memory_copy(room[place].at, data, ROOM_B), HSA_STATUS_SUCCESS);
}

static void check_room(enum place place)
{
	if (room[place].cpu)
		memcpy(look, room[place].cpu, ROOM_B);
	else
		CHECK_EQ(hsa_memory_copy(look, room[place].at, ROOM_B), HSA_STATUS_SUCCESS);
	CHECK(!memcmp(look, model, ROOM_B));
}

static hsa_agent_t agent_of(enum place place)
{
	return place == VRAM ? rig.gpu : rig.cpu;
}

static void fill_random(char *data)
{
	for (unsigned i = 0; i < ROOM_B; i++)
		data[i] = (char)test_random(&random_state);
}

/* --- bytes ------------------------------------------------------------------------------------ */

static void every_pair(void)
{
	static const size_t size_B[] = {1, 7, 4096, 70001, ROOM_B - 64};
	char *from = malloc(ROOM_B);

	for (unsigned n = 0; n < PLACES * PLACES * 5; n++) {
		enum place src = n % PLACES, dst = n / PLACES % PLACES;
		size_t bytes = size_B[n / PLACES / PLACES], at = n % 13;
		hsa_signal_t done;

		if (src == dst)
			continue;
		done = rig_signal(1);
		fill_random(from);
		put(src, from);
		memset(model, 0x55, ROOM_B);
		put(dst, model);
		CHECK_EQ(hsa_amd_memory_async_copy((char *)room[dst].at + at, agent_of(dst),
						   (char *)room[src].at + 2 * at, agent_of(src), bytes, 0, NULL,
						   done),
			 HSA_STATUS_SUCCESS);
		CHECK_EQ(rig_wait(done), 0);
		memcpy(model + at, from + 2 * at, bytes);
		check_room(dst);
		hsa_signal_destroy(done);
	}
	free(from);
}

/* A copy waits for all its signals, also for those that nobody has submitted anything for. */
static void behind_signals(void)
{
	hsa_signal_t gate[3] = {rig_signal(1), rig_signal(1), rig_signal(1)}, done = rig_signal(1);
	hsa_barrier_and_packet_t barrier = {.completion_signal = gate[1]};
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_SINGLE);

	memset(model, 1, ROOM_B);
	put(COARSE, model);
	memset(model, 2, ROOM_B);
	put(FINE, model);
	CHECK_EQ(hsa_amd_memory_async_copy(room[FINE].at, rig.cpu, room[COARSE].at, rig.gpu, ROOM_B, 3, gate, done),
		 HSA_STATUS_SUCCESS);
	hsa_signal_store_screlease(gate[0], 0);
	rig_publish(queue, &barrier, HSA_PACKET_TYPE_BARRIER_AND | RIG_BARRIER, 0);
	CHECK_EQ(rig_wait(gate[1]), 0);
	CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 5000000, HSA_WAIT_STATE_BLOCKED), 1);
	check_room(FINE);
	hsa_signal_subtract_screlease(gate[2], 1);
	CHECK_EQ(rig_wait(done), 0);
	memset(model, 1, ROOM_B);
	check_room(FINE);
	for (unsigned i = 0; i < 3; i++)
		hsa_signal_destroy(gate[i]);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
}

/* --- rectangles ------------------------------------------------------------------------------- */

struct rectangle {
	hsa_pitched_ptr_t dst, src;
	hsa_dim3_t to, from, range;
};

static void model_rect(const struct rectangle *r, const char *from)
{
	for (uint32_t z = 0; z < r->range.z; z++)
		for (uint32_t y = 0; y < r->range.y; y++)
			memcpy(model + r->to.x + (r->to.y + y) * r->dst.pitch + (r->to.z + z) * r->dst.slice,
			       from + r->from.x + (r->from.y + y) * r->src.pitch + (r->from.z + z) * r->src.slice,
			       r->range.x);
}

static void one_rect(enum place dst, enum place src, struct rectangle r)
{
	static const hsa_amd_copy_direction_t direction[2][2] = {{hsaHostToDevice, hsaHostToDevice},
								 {hsaDeviceToHost, hsaDeviceToDevice}};
	char *from = malloc(ROOM_B);
	hsa_signal_t done = rig_signal(1);

	r.dst.base = room[dst].at;
	r.src.base = room[src].at;
	fill_random(from);
	put(src, from);
	memset(model, 0x33, ROOM_B);
	put(dst, model);
	CHECK_EQ(hsa_amd_memory_async_copy_rect(&r.dst, &r.to, &r.src, &r.from, &r.range, rig.gpu,
						direction[src == VRAM][dst == VRAM], 0, NULL, done),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(rig_wait(done), 0);
	model_rect(&r, from);
	check_room(dst);
	hsa_signal_destroy(done);
	free(from);
}

/* Aligned and not, one row and many, pitches that the engine's packet can say and such that it cannot. */
static void rectangles(void)
{
	static const struct rectangle row[] = {
		{{0, 256, 256 * 16}, {0, 512, 512 * 8}, {0, 0, 0}, {0, 0, 0}, {256, 8, 3}},
		{{0, 256, 256 * 16}, {0, 512, 512 * 8}, {16, 1, 1}, {32, 2, 0}, {64, 5, 2}},
		{{0, 256, 256 * 16}, {0, 512, 512 * 8}, {3, 1, 1}, {6, 2, 0}, {61, 5, 2}},
		{{0, 257, 257 * 16}, {0, 511, 511 * 8}, {3, 1, 1}, {6, 2, 0}, {61, 5, 2}},
		{{0, 40, 4000}, {0, 44, 4004}, {2, 0, 0}, {2, 0, 0}, {38, 90, 5}},
		{{0, 16, 16 * 4096}, {0, 64, 64 * 2048}, {0, 0, 0}, {0, 0, 0}, {16, 2000, 7}},
		{{0, 100000, 0}, {0, 70000, 0}, {5, 1, 0}, {1, 3, 0}, {60000, 6, 1}},
		{{0, 0, 0}, {0, 0, 0}, {77, 0, 0}, {1, 0, 0}, {1000, 1, 1}},
		{{0, 300000, 0}, {0, 300000, 0}, {0, 0, 0}, {4, 0, 0}, {299996, 3, 1}},
	};
	static const enum place pair[][2] = {{VRAM, COARSE}, {COARSE, VRAM}, {VRAM, PAGEABLE}, {LOCKED, VRAM}};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		for (unsigned k = 0; k < 4; k++)
			one_rect(pair[k][0], pair[k][1], row[i]);
}

/* --- times ------------------------------------------------------------------------------------ */

static void times(void)
{
	hsa_signal_t done[2] = {rig_signal(1), rig_signal(1)}, never = rig_signal(0);
	hsa_amd_profiling_async_copy_time_t time[2] = {{0, 0}};
	uint64_t before, after;

	CHECK_EQ(hsa_amd_profiling_get_async_copy_time(never, time), HSA_STATUS_ERROR);
	CHECK_EQ(hsa_amd_profiling_async_copy_enable(true), HSA_STATUS_SUCCESS);
	hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before);
	CHECK_EQ(hsa_amd_memory_async_copy(room[VRAM].at, rig.gpu, room[COARSE].at, rig.cpu, ROOM_B, 0, NULL,
					   done[0]),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(
		hsa_amd_memory_async_copy(room[FINE].at, rig.cpu, room[VRAM].at, rig.gpu, ROOM_B, 1, done, done[1]),
		HSA_STATUS_SUCCESS);
	CHECK_EQ(rig_wait(done[1]), 0);
	hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(hsa_amd_profiling_get_async_copy_time(done[i], &time[i]), HSA_STATUS_SUCCESS);
	CHECK(time[0].start < time[0].end);
	CHECK(time[0].end <= time[1].start);
	CHECK(time[1].start < time[1].end);
	/* The GPU's clock is placed on the host's with an error of its own. */
	CHECK(time[0].start + 1000000 > before);
	CHECK(time[1].start < after + 1000000);
	CHECK_EQ(hsa_amd_profiling_async_copy_enable(false), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done[0]);
	hsa_signal_destroy(done[1]);
	hsa_signal_destroy(never);
}

/* --- misuse ----------------------------------------------------------------------------------- */

static void misuse(void)
{
	hsa_signal_t done = rig_signal(1), gone = rig_signal(1);
	hsa_pitched_ptr_t at = {room[VRAM].at, 256, 4096}, huge = {room[VRAM].at, SIZE_MAX / 2, SIZE_MAX};
	hsa_dim3_t none = {0, 0, 0}, some = {16, 4, 2}, far = {16, 4, UINT32_MAX};
	void *vram = room[VRAM].at, *host = room[COARSE].at;
	uint32_t mask;

	hsa_signal_destroy(gone);
#define COPY(dst, to, src, from, size, n, deps, signal)                                                            \
	hsa_amd_memory_async_copy(dst, to, src, from, size, n, deps, signal)
	CHECK_EQ(COPY(NULL, rig.gpu, host, rig.cpu, 4, 0, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(COPY(vram, rig.gpu, NULL, rig.cpu, 4, 0, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(COPY(vram, rig.gpu, host, rig.cpu, 4, 1, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(COPY(vram, rig.gpu, host, rig.cpu, 4, 0, &done, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(COPY(vram, rig.gpu, host, rig.cpu, SIZE_MAX, 0, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(COPY(vram, rig.gpu, host, (hsa_agent_t){7}, 4, 0, NULL, done), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(COPY(vram, rig.gpu, host, rig.cpu, 4, 0, NULL, gone), HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(COPY(vram, rig.gpu, host, rig.cpu, 4, 1, &gone, done), HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(COPY(vram, rig.gpu, host, rig.cpu, 0, 0, NULL, done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_load_relaxed(done), 1);
	/* Behind the end of the memory. */
	CHECK(COPY((char *)vram + ROOM_B - 4, rig.gpu, host, rig.cpu, ROOM_B, 0, NULL, done) != HSA_STATUS_SUCCESS);
#define RECT(dst, to, src, from, range, agent, way)                                                                \
	hsa_amd_memory_async_copy_rect(dst, to, src, from, range, agent, way, 0, NULL, done)
	CHECK_EQ(RECT(NULL, &none, &at, &none, &some, rig.gpu, hsaDeviceToDevice),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(RECT(&at, &none, &at, &none, NULL, rig.gpu, hsaDeviceToDevice), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(RECT(&at, &none, &at, &none, &some, rig.gpu, hsaHostToHost), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(RECT(&at, &none, &at, &none, &some, rig.cpu, hsaDeviceToDevice), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(RECT(&huge, &none, &at, &none, &some, rig.gpu, hsaDeviceToDevice),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(RECT(&huge, &some, &at, &none, &far, rig.gpu, hsaDeviceToDevice),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK(RECT(&at, &none, &at, &none, &far, rig.gpu, hsaDeviceToDevice) != HSA_STATUS_SUCCESS);
	CHECK_EQ(RECT(&at, &none, &at, &none, &none, rig.gpu, hsaDeviceToDevice), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_load_relaxed(done), 1);
	CHECK_EQ(hsa_amd_memory_copy_engine_status(rig.gpu, rig.gpu, &mask), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_memory_copy_engine_status(rig.gpu, rig.cpu, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_memory_copy_engine_status(rig.gpu, rig.cpu, &mask), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_async_copy_on_engine(vram, rig.gpu, host, rig.cpu, 4, 0, NULL, done,
						     (hsa_amd_sdma_engine_id_t)3, false),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_memory_copy(NULL, host, 4), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_memory_copy(vram, host, SIZE_MAX), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_memory_copy(NULL, NULL, 0), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
}

static void run(const char *spec)
{
	if (!rig_start(spec, "gfx908", "group.O1"))
		return;
	open_rooms();
	every_pair();
	behind_signals();
	rectangles();
	times();
	misuse();
	close_rooms();
	rig_stop();
}

int main(void)
{
	run("gfx908");
	run("gfx908:bar=256M"); /* the CPU does not see VRAM */
	return check_done("copies of HSA");
}
