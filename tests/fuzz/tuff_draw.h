/* Arguments of the functions of include/tuff/, drawn from an input: handles that are alive, destroyed, of another kind, or made
 * up; numbers in and out of range; structs of other sizes. Data is in memory that exists, and the GPU's commands reach only memory
 * of the input: it shares its address space with rings and code of the library. */
#ifndef TESTS_FUZZ_TUFF_DRAW_H
#define TESTS_FUZZ_TUFF_DRAW_H

#include <errno.h>
#include <unistd.h>

#include <tuff/tuff.h>

#include "shaders/blob.h"

/* A kind of handle, and how one is destroyed; in an order in which all can be that no other memory shares. */
#define DRAW_KINDS(X)                                                                                              \
	X(CMD, tuff_abandon(handle))                                                                               \
	X(QUEUE, tuff_queue_destroy(handle))                                                                       \
	X(RANGE, tuff_range_destroy(handle))                                                                       \
	X(KERNEL, 0)                                                                                               \
	X(CODE, tuff_code_unload(handle))                                                                          \
	X(SYNC, tuff_sync_destroy(handle))                                                                         \
	X(MEM, tuff_mem_destroy(handle))                                                                           \
	X(DEVICE, tuff_device_close(handle))

enum draw_kind {
#define X(name, destroy) K_##name,
	DRAW_KINDS(X)
#undef X
		KINDS
};

typedef void *draw_handle_t;
#define DRAW_NULL_AT 244
#define DRAW_OWN_MEMBERS                                                                                           \
	struct tuff_point points[SLOTS], point_out, point_list[SLOTS];                                             \
	unsigned point_next;                                                                                       \
	struct tuff_device *device; /* of the present call */                                                      \
	bool takes_point, takes_fd;                                                                                \
	int fd_out;                                                                                                \
	uint64_t range_va;             /* of the last range */                                                     \
	uint64_t va_room_B;            /* of the present call's addresses: what lies behind each */                \
	draw_handle_t busy[CALLS_MAX]; /* could not be destroyed when its place was taken */                       \
	unsigned busy_count;
#include "tests/fuzz/draw.h"

extern const struct shader_blob test_blobs[];

static _Thread_local bool is_other; /* not the thread that makes the objects */

/* --- handles ---------------------------------------------------------------------------------- */

static int draw_destroy_now(enum draw_kind kind, draw_handle_t handle)
{
	switch (kind) {
#define X(name, destroy)                                                                                           \
	case K_##name:                                                                                             \
		return destroy;
		DRAW_KINDS(X)
#undef X
	case KINDS:
		break;
	}
	return 0;
}

static void draw_destroy(enum draw_kind kind, draw_handle_t handle)
{
	if (draw_destroy_now(kind, handle) == -EBUSY)
		draw.busy[draw.busy_count++ % CALLS_MAX] = handle;
}

static void draw_note(enum draw_kind kind, draw_handle_t value)
{
	(void)kind;
	(void)value;
}

static draw_handle_t draw_handle(enum draw_kind kind)
{
	static const uintptr_t odd[] = {0, 1, 4096, (uintptr_t)1 << 63, UINTPTR_MAX};
	unsigned b = draw_byte();

	if (b < 224)
		return draw_slot(kind, b);
	if (b < 240)
		return draw_slot((enum draw_kind)(draw_byte() % KINDS), b);
	if (b < 248)
		return (draw_handle_t)DRAW(odd);
	/* Near a handle: another slot or generation. */
	return (draw_handle_t)((uintptr_t)draw_slot(kind, 0) ^ (uintptr_t)1 << draw_byte() % 64);
}
#define DEVICE (draw.device = draw_handle(K_DEVICE))
#define MEM    draw_handle(K_MEM)
#define RANGE  draw_handle(K_RANGE)
#define CODE   draw_handle(K_CODE)
#define KERNEL draw_handle(K_KERNEL)
#define QUEUE  draw_handle(K_QUEUE)
#define SYNC   draw_handle(K_SYNC)

/* A thread writes its own jobs only, and ends them with the call. */
static draw_handle_t draw_cmd(void)
{
	struct tuff_cmd *cmd = NULL;

	if (is_other && !tuff_begin(draw.handle[K_QUEUE][0], 0, &cmd))
		draw_keep(K_CMD, cmd);
	return draw_handle(K_CMD);
}
#define CMD draw_cmd()

/* Jobs that may use what the call is about to end are over, as its contract wants. */
static draw_handle_t draw_ended(enum draw_kind kind)
{
	for (unsigned i = 0; i < SLOTS; i++)
		(void)!tuff_wait(draw.points[i], TUFF_FOREVER);
	return draw_handle(kind);
}
#define ENDED(kind) draw_ended(K_##kind)

/* --- numbers ---------------------------------------------------------------------------------- */

#define BYTE ((uint8_t)draw_byte())

static uint64_t draw_wide(void)
{
	static const uint64_t some[] = {
		0, 4096, 0, 65536, 1, 8192, 100, (uint64_t)1 << 32, (uint64_t)1 << 63, (uint64_t)-4096, UINT64_MAX};

	return DRAW(some);
}

static size_t draw_allocation(void)
{
	static const size_t some[] = {4096, 65536, 65536, 2 << 20, 8192, 1 << 20, 100, 0};

	return draw_size(some, 8);
}
#define SIZE draw_allocation()

static size_t draw_length(void)
{
	static const size_t some[] = {4096, 64, 1, 3, 100, 4, 65536, 10000, 4095, 1 << 20, 0};

	return draw_size(some, 11);
}
#define LENGTH draw_length()

#define ACCESS ((enum tuff_access)draw_enum(3))

static int64_t draw_timeout(void)
{
	static const int64_t some[] = {0, TUFF_FOREVER, 1, 1000000, -1, INT64_MIN};

	return DRAW(some);
}
#define TIMEOUT draw_timeout()
/* Of waits that nothing may end. */
#define SHORT_TIMEOUT ((int64_t)(draw_byte() % 4) * 100000)

/* --- memory ----------------------------------------------------------------------------------- */

/* The address of memory that is alive, and the bytes behind it; else one where nothing is. */
static uint64_t draw_mem_va(uint64_t *room_B)
{
	struct tuff_mem_info info;
	uint64_t offset_B = draw_byte() % 4 * 8u;

	*room_B = 4096;
	if (tuff_mem_query(draw_slot(K_MEM, draw_byte()), &info) || !info.va)
		return draw_byte() & 1 ? 4096 : (uint64_t)1 << 46;
	*room_B = info.size_B - offset_B;
	return info.va + offset_B;
}

static uint64_t draw_va(void)
{
	unsigned b = draw_byte();
	uint64_t room_B, va;

	/* A range that is alive refuses this for another reason. */
	if (b >= 200 && tuff_range_unbind(draw_slot(K_RANGE, 0), 0, 0) != -EBADF) {
		room_B = 4096;
		va = draw.range_va;
	} else {
		va = draw_mem_va(&room_B);
	}
	if (room_B < draw.va_room_B)
		draw.va_room_B = room_B;
	return va + (b >= 180 && b < 200 ? 1 : 0);
}
#define VA draw_va()

/* Behind the addresses of the call. */
static uint64_t draw_room(void)
{
	uint64_t length_B = draw_length();

	return length_B < draw.va_room_B ? length_B : draw.va_room_B - 1;
}
#define ROOM draw_room()

/* Memory of the process, or of the call's device. */
static void *draw_data(void)
{
	struct tuff_mem_info info;
	struct tuff_mem *mem;
	uint64_t offset_B;
	unsigned b = draw_byte();
	void *at;

	if (b >= 248)
		return NULL;
	if (b >= 128 || tuff_mem_query(draw_slot(K_MEM, b), &info))
		return draw_host();
	at = (void *)(uintptr_t)info.va;
	return tuff_mem_find(draw.device, at, &mem, &offset_B) ? draw_host() : at;
}
#define DATA draw_data()

/* Any address, for functions that only look it up. */
static void *draw_address(void)
{
	static const uintptr_t odd[] = {0, 4096, 1, (uintptr_t)1 << 47, UINTPTR_MAX - 100};
	unsigned b = draw_byte();

	return b < 200   ? draw_data()
	       : b < 224 ? (void *)(uintptr_t)draw.range_va
	       : b < 232 ? (void *)(uintptr_t)test_blobs
			 : (void *)DRAW(odd);
}
#define ADDRESS draw_address()

static void *draw_out(void)
{
	return DRAW_NULL_OR(scratch[draw.scratch_next++ % SCRATCHES]);
}
#define OUT draw_out()

/* --- structs that grow --------------------------------------------------------------------------- */

/* The caller's size of a struct: the library's own, a newer one's, an older one's. */
static size_t draw_struct_B(size_t own_B)
{
	unsigned b = draw_byte();

	return b < 192 ? own_B : b < 240 ? b % 160 : own_B + 8;
}
#define OUTS(type) draw_out(), draw_struct_B(sizeof(type))

/* The structs are what the call sees of draw.words. */
#define STRUCT_IN(type, p) DRAW_NULL_OR(p), draw_struct_B(sizeof(type))
static void *draw_words_clear(void)
{
	memset(draw.words, 0, sizeof(draw.words));
	if (draw_byte() >= 250)
		draw.words[31] = draw.words[19] = 1;
	return draw.words;
}

static void *draw_mem_info(void)
{
	static const enum tuff_place places[] = {TUFF_VRAM, TUFF_GTT,  TUFF_GTT_WC,  TUFF_LOCAL,
						 TUFF_GTT,  TUFF_HOST, TUFF_FOREIGN, (enum tuff_place)99};
	struct tuff_mem_create_info *info = draw_words_clear();

	info->size_B = draw_allocation();
	info->place = DRAW(places);
	info->flags = draw_byte() < 200 ? draw_byte() % 64 : draw_int();
	return info;
}
#define MEM_INFO STRUCT_IN(struct tuff_mem_create_info, draw_mem_info())

static void *draw_range_info(void)
{
	static const uint64_t sizes[] = {65536, 4096, 2 << 20, 0, 100, (uint64_t)1 << 47, (uint64_t)-4096};
	struct tuff_range_create_info *info = draw_words_clear();

	info->size_B = DRAW(sizes);
	info->align_B = draw_byte() < 200 ? 0 : draw_wide();
	info->va = draw_byte() < 200 ? 0 : draw_byte() & 1 ? draw.range_va : draw_wide();
	info->flags = draw_byte() < 200 ? draw_byte() % 4 : draw_int();
	return info;
}
#define RANGE_INFO STRUCT_IN(struct tuff_range_create_info, draw_range_info())

static void *draw_range_va(void)
{
	return DRAW_NULL_OR(&draw.range_va);
}

static void *draw_queue_info(void)
{
	struct tuff_queue_create_info *info = draw_words_clear();

	info->engine = (enum tuff_engine)draw_enum(1);
	info->ring = draw_byte() < 200 ? draw_byte() % 3 : draw_int();
	info->priority = draw_byte() < 160 ? TUFF_PRIORITY_NORMAL : (enum tuff_priority)draw_enum(3);
	return info;
}
#define QUEUE_INFO STRUCT_IN(struct tuff_queue_create_info, draw_queue_info())

static void *draw_dispatch(void)
{
	static const uint32_t grids[] = {64, 1, 100, 0, 256, 1025},
			      groups[] = {64, 1, 0, 100, 1024, 1025, UINT32_MAX},
			      sizes[] = {0, 0, 256, 65536, UINT32_MAX};
	DRAW_STATIC uint64_t args[32];
	struct tuff_dispatch *d = draw_words_clear();
	uint64_t room_B;

	args[0] = draw_mem_va(&room_B);
	args[1] = draw_byte();
	d->kernel = KERNEL;
	for (unsigned i = 0; i < 3; i++) {
		d->grid[i] = i && draw_byte() < 200 ? 1 : DRAW(grids);
		d->group[i] = i && draw_byte() < 200 ? 1 : DRAW(groups);
		d->first_group[i] = draw_byte() < 224 ? 0 : draw_int();
		d->group_count[i] = draw_byte() < 224 ? 0 : draw_int();
	}
	d->dynamic_lds_B = DRAW(sizes);
	d->args = DRAW_NULL_OR(args);
	d->args_B = draw_byte() < 200 ? 12 : draw_byte();
	return d;
}
#define DISPATCH STRUCT_IN(struct tuff_dispatch, draw_dispatch())

/* --- points, syncs, orders ------------------------------------------------------------------------- */

static unsigned draw_count(void)
{
	return draw_byte() < 248 ? draw_few() : UINT32_MAX;
}

static struct tuff_point draw_point(void)
{
	struct tuff_point p = draw.points[draw_byte() % SLOTS];
	unsigned b = draw_byte();

	if (b >= 240)
		p.queue = QUEUE;
	if (b >= 232)
		p.seq = draw_wide();
	return p;
}
#define POINT draw_point()

static struct tuff_point *draw_point_list(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		draw.point_list[i] = i < 2 ? draw_point() : draw.points[i];
	return DRAW_NULL_OR(draw.point_list);
}
#define POINTS draw_point_list(), draw_count()

static void *draw_point_out(void)
{
	draw.takes_point = draw_byte() < 200;
	return draw.takes_point ? &draw.point_out : NULL;
}
#define POINT_OUT draw_point_out()

static struct tuff_sync_point *draw_sync_list(struct tuff_sync_point *list)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		list[i].sync = draw_slot(K_SYNC, i);
		list[i].value = draw_byte() % 4;
	}
	list[0].sync = SYNC;
	return DRAW_NULL_OR(list);
}

static void *draw_order(void)
{
	DRAW_STATIC struct tuff_sync_point wait[SLOTS], signal[SLOTS];
	struct tuff_order *o = draw_words_clear();

	if (draw_byte() < 96)
		return NULL;
	o->after = draw_point_list();
	o->after_count = draw_count();
	o->wait = draw_sync_list(wait);
	o->wait_count = draw_byte() < 128 ? 0 : draw_count();
	o->signal = draw_sync_list(signal);
	o->signal_count = draw_count();
	return o;
}
#define ORDER draw_order(), draw_struct_B(sizeof(struct tuff_order))

/* --- commands, code, files --------------------------------------------------------------------------- */

/* Packets without an effect, or with one that the ring does not survive. */
static const uint32_t *draw_dwords(void)
{
	static const uint32_t some[] = {0x80000000, 0, 0xffff1000, 0xffffffff};
	DRAW_STATIC uint32_t dw[64];
	uint32_t value = DRAW(some);

	for (unsigned i = 0; i < 64; i++)
		dw[i] = value;
	return DRAW_NULL_OR(dw);
}

static unsigned draw_dword_count(void)
{
	static const unsigned some[] = {1, 2, 8, 60, 61, 64, 0, 65, UINT32_MAX};

	return DRAW(some);
}
#define DWORDS draw_dwords(), draw_dword_count()

static const void *draw_image(size_t *size_B)
{
	const struct shader_blob *blob =
		shader_find(test_blobs, "group.O1", draw_byte() < 200 ? "gfx908" : "gfx1030");
	unsigned b = draw_byte();

	*size_B = b < 200 ? blob->size_B : blob->size_B / 32 * (b % 32);
	return DRAW_NULL_OR(blob->image);
}
#define IMAGE draw_image(&draw.capacity), draw.capacity

static const char *draw_name(void)
{
	static const char *const some[] = {"k_store", "k_add",   "k_empty", "k_endless", "k_illegal",
					   "counter", "pointer", "",        "none",      NULL};

	return DRAW(some);
}
#define NAME draw_name()

static const char *draw_path(void)
{
	static const char *const some[] = {
		NULL, "/dev/dri/renderD128", "/dev/dri/renderD129", "/dev/dri/renderD130", "/dev/null", "/", ""};

	return DRAW(some);
}
#define PATH draw_path()

static int *draw_fd_out(void)
{
	draw.takes_fd = draw_byte() < 240;
	return draw.takes_fd ? &draw.fd_out : NULL;
}

static int draw_fd(void)
{
	unsigned b = draw_byte();

	return b < 224 ? draw.fds[b % 4] : b < 232 ? 0 : (int)draw_int();
}
#define FD draw_fd()

#endif
