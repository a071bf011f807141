/* What the fuzzers of HIP and of HSA have in common: results of calls and where they are kept, numbers, and the loop over the
 * calls of an input.
 *
 * The includer has defined, before: enum draw_kind with KINDS, draw_handle_t, DRAW_OWN_MEMBERS, DRAW_NULL_AT. It defines
 * draw_destroy(), draw_note() and draw_handle(). The state is the thread's own (tests/pairs). */
#ifndef TESTS_FUZZ_DRAW_H
#define TESTS_FUZZ_DRAW_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/input.h"

#define SLOTS      8u
#define ARENA_B    (8u << 20) /* more than any copy reaches from the first quarter */
#define HOME_B     (64u << 10)
#define HOMES      4u
#define SCRATCH_B  4096u
#define SCRATCHES  6u
#define REMEMBERED 64u
#define CALLS_MAX  64u

/* A variable of a function that the function's caller reads: good for one call. */
#define DRAW_STATIC static _Thread_local

struct draw {
	struct input in;
	draw_handle_t handle[KINDS][SLOTS]; /* results of calls, alive or not; a ring for each kind */
	unsigned next[KINDS];
	/* Results of the present call, kept if it succeeds. */
	struct {
		enum draw_kind kind;
		draw_handle_t value;
	} fresh[4];
	unsigned fresh_count;
	int status; /* of the last call */
	/* Memory of both GPUs, and two kinds of the host's. */
	void *home[HOMES];
	bool host;    /* an argument of the present call is memory that no GPU knows: sizes stay small */
	bool private; /* data is in homes and in the arena: other threads use the memory of the slots */
	unsigned scratch_next;
	int fds[4]; /* owned: exports */
	unsigned fd_next;
	draw_handle_t list[2][SLOTS]; /* used in turn: a call may have two */
	unsigned list_next;
	uint64_t words[32];
	size_t capacity;
	/* What the end of the input undoes. */
	struct draw_range {
		void *at;
		size_t size_B;
	} map[REMEMBERED], range[REMEMBERED];
	unsigned maps, ranges;
	void *locked[REMEMBERED]; /* memory of the host's, registered or locked */
	unsigned locks;
	DRAW_OWN_MEMBERS
};

static _Thread_local struct draw draw;
static uint8_t first_arena[ARENA_B] __attribute__((aligned(4096)));
static _Thread_local uint8_t *arena = first_arena;
static _Thread_local uint8_t scratch[SCRATCHES][SCRATCH_B] __attribute__((aligned(64)));

static void draw_destroy(enum draw_kind kind, draw_handle_t handle);
static draw_handle_t draw_handle(enum draw_kind kind);
/* Called with each result that is kept. */
static void draw_note(enum draw_kind kind, draw_handle_t value);

static inline unsigned draw_byte(void)
{
	return input_byte(&draw.in);
}
#define DRAW(...) INPUT_PICK(&draw.in, __VA_ARGS__)
/* The structure itself, or NULL. */
#define DRAW_NULL_OR(p) (draw_byte() >= DRAW_NULL_AT ? NULL : (p))

/* --- results ------------------------------------------------------------------------------------ */

/* One of the places that calls have filled; the last first. */
static inline draw_handle_t draw_slot(enum draw_kind kind, unsigned b)
{
	unsigned filled = draw.next[kind] < SLOTS ? draw.next[kind] : SLOTS;

	return filled ? draw.handle[kind][(draw.next[kind] - 1 - b % filled) % SLOTS] : 0;
}

static inline void *draw_fresh(enum draw_kind kind)
{
	if (draw_byte() >= 248)
		return NULL;
	draw.fresh[draw.fresh_count].kind = kind;
	draw.fresh[draw.fresh_count].value = 0;
	return &draw.fresh[draw.fresh_count++].value;
}
#define NEW(kind) draw_fresh(K_##kind)

static inline void *draw_list(enum draw_kind kind)
{
	draw_handle_t *list = draw.list[draw.list_next++ % 2];

	if (draw_byte() >= 240)
		return NULL;
	for (unsigned i = 0; i < SLOTS; i++)
		list[i] = draw_slot(kind, i);
	list[0] = draw_handle(kind);
	return list;
}
#define LIST(kind) draw_list(K_##kind)

static inline void draw_keep(enum draw_kind kind, draw_handle_t value)
{
	draw_handle_t *slot = &draw.handle[kind][draw.next[kind]++ % SLOTS];

	draw_note(kind, value);
	if (*slot)
		draw_destroy(kind, *slot);
	*slot = value;
}

/* After a call. */
static inline void draw_keep_all(int status)
{
	unsigned count = draw.fresh_count;

	draw.fresh_count = 0;
	draw.host = false;
	draw.status = status;
	for (unsigned i = 0; i < count && !status; i++)
		draw_keep(draw.fresh[i].kind, draw.fresh[i].value);
}

static inline void draw_destroy_all(void)
{
	for (unsigned k = 0; k < KINDS; k++)
		for (unsigned i = 0; i < SLOTS; i++)
			if (draw.handle[k][i])
				draw_destroy((enum draw_kind)k, draw.handle[k][i]);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static inline uint32_t draw_int(void)
{
	static const uint32_t some[] = {0,  1,  2,   3,   4,          7,          8,         16,
					32, 64, 255, 256, 0x7fffffff, 0x80000000, 0xffffffff};
	unsigned b = draw_byte();

	return b < 192 ? some[b % 15] : (uint32_t)input_draw(&draw.in, 4);
}
#define FLAGS (draw_byte() < 160 ? 0 : draw_int())

/* Most in range, the rest anything. */
static inline int draw_enum(unsigned most)
{
	unsigned b = draw_byte();

	return b < 224 ? (int)(b % (most ? most + 2 : 224)) : (int)draw_int();
}
#define ENUM(most) draw_enum(most)

/* Lengths of lists and of buffers, which are never longer than these. */
static inline unsigned draw_few(void)
{
	static const unsigned some[] = {0, 1, 0, 1, 2, 3, 4, SLOTS - 1};

	return DRAW(some);
}
#define FEW draw_few()

static inline size_t draw_huge(void)
{
	/* More than the host has: what it has is slow to allocate. */
	static const size_t some[] = {(size_t)1 << 40, (size_t)1 << 47, (size_t)1 << 63,
				      (size_t)-1,      (size_t)-64,     (size_t)-4096};

	return DRAW(some);
}

/* With memory of the host's a size must be true. */
static inline size_t draw_size(const size_t *some, unsigned count)
{
	unsigned b = draw_byte();

	return b >= 232 && !draw.host ? draw_huge() : some[b % count];
}

/* Whole multiples of the granularity, or not. */
static inline size_t draw_range_size(void)
{
	static const size_t some[] = {2 << 20, 2 << 20, 2 << 20, 4 << 20, 4096, 0};

	return draw_size(some, 6);
}
#define RANGE_B draw_range_size()

static inline void *draw_host(void)
{
	draw.host = true;
	return arena + input_draw(&draw.in, 2) * 16;
}
#define HOST draw_host()

/* --- what calls leave behind ------------------------------------------------------------------------ */

static inline void draw_range_note(struct draw_range *list, unsigned *count, void *at, size_t size_B)
{
	list[(*count)++] = (struct draw_range){at, size_B};
}

/* No cancellation point, as what it belongs to is none (canceled.h). */
static inline void draw_close(int fd)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	close(fd);
	pthread_setcancelstate(before, NULL);
}

/* Takes over a descriptor that a call has made. */
static inline void draw_fd_keep(int fd)
{
	int *slot = &draw.fds[draw.fd_next++ % 4];

	if (*slot >= 0)
		draw_close(*slot);
	*slot = fd;
}

static inline void draw_fds_close(void)
{
	for (unsigned i = 0; i < 4; i++)
		if (draw.fds[i] >= 0)
			close(draw.fds[i]);
}

/* --- inputs --------------------------------------------------------------------------------------- */

struct draw_row {
	const char *name;
	void (*call)(void);
};

/* Calls of the input, one after the other. pick: draws a row; NULL: none. FUZZ_TRACE: prints the calls. */
static inline void draw_calls(const uint8_t *data, size_t size_B, const struct draw_row *(*pick)(void))
{
	const bool prints = getenv("FUZZ_TRACE") != NULL;

	draw.in = (struct input){data, data + size_B};
	for (unsigned i = 0; i < CALLS_MAX && !input_ended(&draw.in); i++) {
		const struct draw_row *row = pick();

		if (!row)
			continue;
		if (prints)
			fprintf(stderr, "%s", row->name);
		row->call();
		if (prints)
			fprintf(stderr, ": 0x%x\n", (unsigned)draw.status);
	}
}

static inline void draw_begin(void)
{
	memset(&draw, 0, sizeof(draw));
	memset(draw.fds, 0xff, sizeof(draw.fds));
}

#endif
