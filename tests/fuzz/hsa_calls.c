/* Calls of HSA, a sequence of them from each input, on two virtual GPUs, and packets with any content in queues. No call may
 * crash or block, whatever handles and numbers it gets, and no packet may stop another queue. */
#include "tests/fuzz/hsa_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

/* LeakSanitizer does not search the signals' mapping, which has the only pointers to these lists. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:add_pending_locked\n";
}

static const struct draw_row *row_pick(void)
{
	unsigned which = draw_byte();

	return &rows[which < ROWS ? which : ROWS - 1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	static bool started;

	if (!started)
		calls_start();
	started = true;
	draw_begin();
	objects_make();
	draw_calls(data, size_B, row_pick);
	input_end();
	return 0;
}
