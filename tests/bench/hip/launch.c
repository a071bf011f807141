/* Launches: of an idle GPU, of a busy one, in a burst. */
#include <stdlib.h>

#include "tests/bench/hip/rig.h"

#define KERNEL(k) (void *)(uintptr_t)(k)
#define BURST     1000

static void rows_idle(void)
{
	rig_warm_up();
	rig_title("launches, the GPU is idle");
	rig_print_all((const struct rig_row[]){
		{"launch", "no args", rig_launch, KERNEL(RIG_EMPTY), .before = rig_until_idle},
		{"launch", "4 args", rig_launch, KERNEL(RIG_FOUR), .before = rig_until_idle},
		{"launch", "4+hidden5", rig_launch, KERNEL(RIG_HIDDEN5), .before = rig_until_idle},
		{"launch", "4+hidden4", rig_launch, KERNEL(RIG_HIDDEN4), .before = rig_until_idle},
		{0},
	});
}

static void rows_collected(void)
{
	rig_title("launches, the GPU is busy: the n-th in a row, n from 3 on (the clock is slow)");
	rig_keep_busy(rig_launch_each);
	rig_print_all((const struct rig_row[]){
		{"launch", "no args", rig_launch, KERNEL(RIG_EMPTY), .no_ioctls = true},
		{"launch", "4 args", rig_launch, KERNEL(RIG_FOUR), .no_ioctls = true},
		{"launch", "4+hidden5", rig_launch, KERNEL(RIG_HIDDEN5), .no_ioctls = true},
		{"launch", "4+hidden4", rig_launch, KERNEL(RIG_HIDDEN4), .no_ioctls = true},
		{0},
	});
}

static void burst(void *kernel)
{
	for (unsigned i = 0; i < BURST; i++)
		rig_launch(kernel);
	rig_synchronize(NULL);
}

static void rows_burst(void)
{
	rig_warm_up();
	rig_title("1,000 launches and a wait, 20 us a job");
	rig_print_all((const struct rig_row[]){
		{"burst", "no args", burst, KERNEL(RIG_EMPTY), .no_steps = true, .rounds = 4},
		{"burst", "4+hidden5", burst, KERNEL(RIG_HIDDEN5), .no_steps = true, .rounds = 4},
		{0},
	});
}

void bench_launch(void)
{
	rig_run("null:gfx908", rows_idle);
	/* No job ends, so no kernel's time becomes known: without a limit of time the launches share a job all the
	 * same. */
	setenv("TUFF_SPLIT_MS", "0", 1);
	rig_run("null:gfx908:service_us=5000000", rows_collected);
	unsetenv("TUFF_SPLIT_MS");
	rig_run("null:gfx908:service_us=20", rows_burst);
}
