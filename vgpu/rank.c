#include "vgpu/rank.h"

_Thread_local unsigned vgpu_locks;

#ifdef TUFF_DEBUG
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {
#define RANK(name) #name,
	VGPU_RANKS(RANK)
#undef RANK
};

/* How many locks of each rank the thread has. */
static _Thread_local unsigned char held[sizeof(names) / sizeof(names[0])];

void vgpu_rank_take(enum vgpu_rank rank)
{
	for (unsigned i = rank; i < sizeof(held); i++)
		if (held[i]) {
			fprintf(stderr, "vgpu: a thread that has the lock %s waits for %s\n", names[i],
				names[rank]);
			abort();
		}
	held[rank]++;
	vgpu_locks++;
}

void vgpu_rank_give(enum vgpu_rank rank)
{
	vgpu_locks -= !!held[rank];
	held[rank] -= !!held[rank];
}
#endif
