/* Calls of HIP, a sequence of them from each input, on two virtual devices. No call may crash or block, whatever handles and
 * numbers it gets; at the end of each input both devices are reset, and no memory of theirs is left.
 *
 * hip_calls has the library of version 6, hip7_calls that of version 7. */
#include "tests/fuzz/hip_table.h"
#include "tests/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);
void replay_check(void); /* replay.c */

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

/* Calls that version 7 refuses since a fault, of each input and altogether. */
#define REFUSED_MAX 3u
static unsigned long calls, all_refused;
static unsigned refused;

/* An input ends soon after its first fault. */
static bool has_ended(void)
{
	if (!atomic_load(&hip.fault))
		return false;
	all_refused++;
	return refused++ == REFUSED_MAX;
}

static const struct draw_row *row_pick(void)
{
	unsigned which = (unsigned)input_draw(&draw.in, 2) % ROWS_MAX;

	if (which >= ROWS)
		return NULL;
	calls++;
	if (!has_ended())
		return &rows[which];
	draw.in.at = draw.in.end;
	return NULL;
}

static void thread_begin(void)
{
}
#include "tests/fuzz/canceled.h"

/* The corpus of version 7 has faults, and most of its calls come before them. */
void replay_check(void)
{
	canceled_check();
	CHECK(calls > 2 * all_refused);
	if (TUFF_HIP_ABI >= 7)
		CHECK(all_refused > 0);
}

/* The first call of an input finds an object of each kind that objects_make() makes: what earlier inputs did has ended. */
static void objects_check(void)
{
	for (unsigned k = 0; k < KINDS; k++) {
		const bool made =
			k != K_MIPMAP && k != K_TEXTURE && k != K_SURFACE && k != K_EXTMEM && k != K_GRAPHICS;

		if (made && !draw.handle[k][0]) {
			fprintf(stderr, "ERROR: an input begins without an object of kind %u\n", k);
			__builtin_trap();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	static bool started;

	if (!started)
		calls_start();
	started = true;
	draw_begin();
	refused = 0;
	objects_make();
	objects_check();
	draw_calls(data, size_B, row_pick);
	input_end();
	leaks_check();
	return 0;
}
