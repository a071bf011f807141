/* Calls of HSA, a sequence of them from each input, on two virtual GPUs, and packets with any content in queues. No call may
 * crash or block, whatever handles and numbers it gets, and no packet may stop another queue. */
#include "hsa/core/core.h"
#include "hsa/signal/signals.h"
#include "tests/fuzz/hsa_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);
void replay_check(void); /* replay.c */

/* LeakSanitizer's, where it is linked. It searches no mapping by itself. */
__attribute__((weak)) void __lsan_register_root_region(const void *begin, size_t size_B);

/* The signals' mapping has the only pointers to their lists of completions. */
static void signals_show(void)
{
	if (__lsan_register_root_region)
		__lsan_register_root_region(rt_get()->signals->beside, RT_SIGNALS_MAX * sizeof(struct rt_signal));
}

static const struct draw_row *row_pick(void)
{
	unsigned which = draw_byte();

	return &rows[which < ROWS ? which : ROWS - 1];
}

static hsa_queue_t *first_spare; /* the main thread's */

static void thread_begin(void)
{
	spare_queue = first_spare;
}
#include "tests/fuzz/canceled.h"

void replay_check(void)
{
	first_spare = spare_queue;
	canceled_check();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	static bool started;

	if (!started) {
		calls_start();
		signals_show();
	}
	started = true;
	draw_begin();
	objects_make();
	draw_calls(data, size_B, row_pick);
	input_end();
	return 0;
}
