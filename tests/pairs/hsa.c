/* Pairs of HSA's functions (pairs.h). */
#include <hsa/amd_hsa_queue.h>

#include "tests/fuzz/hsa_table.h"

static void shared_make(void)
{
	objects_make();
}

/* The thread has memory for data, a queue for the functions that trust it, and descriptors, of its own. */
static void thread_begin(void)
{
	draw.maps = draw.ranges = draw.locks = draw.queues = draw.signals = 0;
	for (unsigned i = 0; i < 4; i++)
		draw.fds[i] = -1;
	homes_make();
	if (!spare_queue && hsa_queue_create(draw.agents[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
					     UINT32_MAX, &spare_queue))
		abort();
}

static void thread_end(void)
{
	input_end();
}

static void shared_end(void)
{
	input_end();
}

/* A child does not inherit queues, and functions that trust a queue get some other memory. */
static void child_begin(void)
{
	static uint8_t packets[64][64];
	static amd_queue_v2_t queue;

	queue.hsa_queue = (hsa_queue_t){.base_address = packets, .size = 64};
	spare_queue = &queue.hsa_queue;
}

#include "tests/pairs/pairs.h"

int main(int argc, char **argv)
{
	int status = pairs_main(argc, argv, "pairs of HSA's functions");

	/* The leak check does not see what signals own: they are no part of the heap. */
	while (!hsa_shut_down())
		;
	return status;
}
