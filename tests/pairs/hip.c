/* Pairs of HIP's functions (pairs.h). */
#include "tests/fuzz/hip_table.h"

static void shared_make(void)
{
	objects_make();
}

/* The thread has memory for data, and descriptors, of its own. */
static void thread_begin(void)
{
	draw.maps = draw.ranges = draw.locks = 0;
	for (unsigned i = 0; i < 4; i++)
		draw.fds[i] = -1;
	homes_make();
}

static void shared_end(void)
{
	input_end();
}

static void child_begin(void)
{
}

#include "tests/pairs/pairs.h"

int main(int argc, char **argv)
{
	return pairs_main(argc, argv, "pairs of HIP's functions");
}
