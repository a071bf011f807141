/* Address ranges of this process that map buffers: each keeps its buffer alive after GEM_CLOSE and close(). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "vgpu/rank.h"
#include "vgpu/shim/shim.h"

struct range {
	uint64_t lo, hi;
	struct kern_hold *hold;
};

/* Sorted by lo, never overlapping. Guarded by lock; count is also read without it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;
static unsigned room;
static _Atomic unsigned count;

bool shim_map_any(void)
{
	return atomic_load_explicit(&count, memory_order_relaxed);
}

void shim_map_lock(void)
{
	vgpu_lock(&lock, VGPU_RANK_MAPS);
}

void shim_map_unlock(void)
{
	vgpu_unlock(&lock, VGPU_RANK_MAPS);
}

/* Index of the first range that ends above addr. */
static unsigned first_above(uint64_t addr)
{
	unsigned lo = 0, hi = count;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (ranges[mid].hi <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool insert_range(unsigned i, struct range range)
{
	if (count == room) {
		unsigned more = room ? room * 2 : 64;
		struct range *bigger = realloc(ranges, more * sizeof(*bigger));

		if (!bigger)
			return false;
		ranges = bigger;
		room = more;
	}
	memmove(&ranges[i + 1], &ranges[i], (count - i) * sizeof(*ranges));
	ranges[i] = range;
	count++;
	return true;
}

static void erase_range(unsigned i)
{
	kern_hold_release(ranges[i].hold);
	count--;
	memmove(&ranges[i], &ranges[i + 1], (count - i) * sizeof(*ranges));
}

/* Cuts [lo, hi) out of range i. */
static void cut_range(unsigned i, uint64_t lo, uint64_t hi)
{
	struct range *r = &ranges[i];

	if (r->lo < lo && r->hi > hi) {
		struct range right = {hi, r->hi, kern_hold_copy(r->hold)};

		r->hi = lo;
		if (!insert_range(i + 1, right) && right.hold)
			kern_hold_release(right.hold);
	} else if (r->lo < lo) {
		r->hi = lo;
	} else if (r->hi > hi) {
		r->lo = hi;
	} else {
		erase_range(i);
	}
}

static void drop_locked(uint64_t lo, uint64_t hi)
{
	for (unsigned i = first_above(lo); i < count && ranges[i].lo < hi; i = first_above(lo))
		cut_range(i, lo, hi);
}

static uint64_t page_up(uint64_t size_B)
{
	return (size_B + 4095) & ~4095ull;
}

void shim_map_drop(uint64_t addr, uint64_t size_B)
{
	if (!shim_map_any())
		return;
	shim_map_lock();
	drop_locked(addr, addr + page_up(size_B));
	shim_map_unlock();
}

void shim_map_add(uint64_t addr, uint64_t size_B, struct kern_hold *hold)
{
	shim_map_lock();
	drop_locked(addr, addr + page_up(size_B));
	/* Without memory for the entry the hold stays: the buffer lives as long as the process. */
	insert_range(first_above(addr), (struct range){addr, addr + page_up(size_B), hold});
	shim_map_unlock();
}

bool shim_map_node(uint64_t addr, unsigned *node)
{
	unsigned i;
	bool found;

	shim_map_lock();
	i = first_above(addr);
	found = i < count && ranges[i].lo <= addr && ranges[i].hold;
	if (found)
		*node = kern_hold_node(ranges[i].hold);
	shim_map_unlock();
	return found;
}

void shim_map_move(uint64_t from, uint64_t from_B, uint64_t to, uint64_t to_B)
{
	struct kern_hold *hold = NULL;
	unsigned i;

	if (!shim_map_any())
		return;
	shim_map_lock();
	i = first_above(from);
	if (i < count && ranges[i].lo <= from)
		hold = kern_hold_copy(ranges[i].hold);
	drop_locked(from, from + page_up(from_B));
	drop_locked(to, to + page_up(to_B));
	if (hold)
		insert_range(first_above(to), (struct range){to, to + page_up(to_B), hold});
	shim_map_unlock();
}

void shim_map_each(shim_visit *visit)
{
	for (unsigned i = 0; i < count; i++)
		ranges[i].hold = visit(SHIM_MAP_KEY + i, ranges[i].hold);
}

void shim_map_clear(void)
{
	shim_map_lock();
	free(ranges);
	ranges = NULL;
	room = count = 0;
	shim_map_unlock();
}
