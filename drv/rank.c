#include "drv/rank.h"

#ifdef TUFF_DEBUG
#include <stdio.h>
#include <stdlib.h>

#define HELD_MAX 96

static const char *const names[] = {"none",
#define RANK(name) #name,
				    DRV_RANKS(RANK)
#undef RANK
};

/* The locks that the thread has, in the order in which it took them. */
static _Thread_local struct {
	unsigned count;
	unsigned char rank[HELD_MAX];
} held;

/* The caches of a pool are locked together, under the pool's lock. */
static bool may_nest(enum drv_rank rank)
{
	return rank == DRV_RANK_HIP_CACHE;
}

void drv_rank_take(enum drv_rank rank, bool waits)
{
	if (rank == DRV_RANK_NONE)
		return;
	for (unsigned i = 0; waits && i < held.count; i++)
		if (held.rank[i] > rank || (held.rank[i] == rank && !may_nest(rank))) {
			fprintf(stderr, "tuff: a thread that has the lock %s waits for %s\n", names[held.rank[i]],
				names[rank]);
			abort();
		}
	if (held.count == HELD_MAX) {
		fprintf(stderr, "tuff: a thread has more than %u locks\n", HELD_MAX);
		abort();
	}
	held.rank[held.count++] = (unsigned char)rank;
}

void drv_rank_give(enum drv_rank rank)
{
	for (unsigned i = held.count; i--;)
		if (held.rank[i] == rank) {
			held.count--;
			for (; i < held.count; i++)
				held.rank[i] = held.rank[i + 1];
			return;
		}
}

void drv_rank_assert(enum drv_rank rank)
{
	for (unsigned i = 0; i < held.count; i++)
		if (held.rank[i] == rank)
			return;
	fprintf(stderr, "tuff: a function needs the lock %s, which its thread has not\n", names[rank]);
	abort();
}
#endif
