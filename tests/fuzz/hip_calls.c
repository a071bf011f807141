/* Calls of HIP, a sequence of them from each input, on two virtual devices. No call may crash or block, whatever handles and
 * numbers it gets; at the end of each input both devices are reset, and no memory of theirs is left. */
#include "tests/fuzz/hip_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

/* Freed memory is returned to the kernel in batches; memory that inputs leave behind adds up. */
#define BATCHES_BOS 1000u

static void leaks_check(void)
{
	static unsigned long most;
	struct vgpu_live live;

	vgpu_live(&live);
	if (getenv("FUZZ_LIVE"))
		fprintf(stderr, "%lu BOs, %lu mappings, %lu contexts, %lu syncobjs\n", live.bos, live.mappings,
			live.contexts, live.syncobjs);
	if (most && live.bos > most + BATCHES_BOS) {
		fprintf(stderr, "ERROR: %lu BOs are alive, once %lu were\n", live.bos, most);
		__builtin_trap();
	}
	if (!most)
		most = live.bos;
}

static const struct draw_row *row_pick(void)
{
	unsigned which = (unsigned)input_draw(&draw.in, 2) % ROWS_MAX;

	return which < ROWS ? &rows[which] : NULL;
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
	leaks_check();
	return 0;
}
