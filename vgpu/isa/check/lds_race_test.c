/* Races of two waves in LDS. Each piece runs on both, one barrier after the other, the first wave first. s20 is the
 * wave's number; the other registers are those of test_wave.h. */
#include "vgpu/isa/test_pieces.h"

#define FIRST_ONLY  "s_cmp_lg_u32 s20, 0\n s_cbranch_scc1 1f\n"
#define SECOND_ONLY "s_cmp_eq_u32 s20, 0\n s_cbranch_scc1 1f\n"
#define BARRIER     "s_waitcnt lgkmcnt(0)\n s_barrier\n"

static const struct piece pieces[] = {
	{"apart", NULL,
	 "s_lshl_b32 s24, s20, 8\n v_add_u32 v26, s24, v1\n ds_write_b32 v26, v8\n ds_read_b32 v20, v26"},
	{"read behind a barrier", NULL, FIRST_ONLY "ds_write_b32 v1, v8\n 1:\n" BARRIER "ds_read_b32 v20, v1"},
	{"read without one", NULL,
	 FIRST_ONLY "ds_write_b32 v1, v8\n s_waitcnt lgkmcnt(0)\n 1:\n ds_read_b32 v20, v1", 1},
	{"written without one", NULL, "ds_read_b32 v20, v1\n" SECOND_ONLY "ds_write_b32 v1, v8\n 1:", 1},
	{"written behind one", NULL, "ds_read_b32 v20, v1\n" BARRIER SECOND_ONLY "ds_write_b32 v1, v8\n 1:"},
	{"two writers", NULL, "v_add_u32 v26, s20, v8\n ds_write_b32 v1, v26", 1},
	{"two writers of one value", NULL, "ds_write_b32 v1, v8"},
	{"a value written again is read", NULL,
	 FIRST_ONLY "ds_read_b32 v20, v1\n s_waitcnt lgkmcnt(0)\n ds_write_b32 v1, v20\n s_endpgm\n 1:\n"
		    "ds_write_b32 v1, v8",
	 1},
	{"behind the second barrier", NULL,
	 FIRST_ONLY "ds_write_b32 v1, v8\n 1:\n" BARRIER "ds_read_b32 v20, v1\n" BARRIER SECOND_ONLY
		    "ds_write_b32 v1, v9\n 1:"},
	{"no wait before the barrier", NULL,
	 FIRST_ONLY "ds_write_b32 v1, v8\n 1:\n s_barrier\n ds_read_b32 v20, v1", 1},
	{"a read without wait before the barrier", NULL,
	 "ds_read_b32 v20, v1\n s_barrier\n" SECOND_ONLY "ds_write_b32 v1, v8\n 1:", 1},
	{"waited for, behind the barrier", NULL,
	 FIRST_ONLY "ds_write_b32 v1, v8\n 1:\n s_barrier\n" BARRIER "ds_read_b32 v20, v1"},
	{"some waited for", NULL,
	 FIRST_ONLY
	 "ds_write_b32 v1, v8\n ds_write_b32 v1, v8 offset:1024\n s_waitcnt lgkmcnt(1)\n 1:\n s_barrier\n"
	 "ds_read_b32 v20, v1"},
	{"atomics", NULL, "ds_add_u32 v1, v8\n ds_add_rtn_u32 v20, v1, v8\n v_mov_b32 v26, 0\n ds_max_u32 v26, v8"},
	{"an atomic and a read", NULL, FIRST_ONLY "ds_add_u32 v1, v8\n s_endpgm\n 1: ds_read_b32 v20, v1"},
	{"append", NULL, "ds_append v20\n s_waitcnt lgkmcnt(0)\n ds_consume v21"},
	{"bytes of one dword", NULL,
	 "v_add_u32 v26, s20, v1\n ds_write_b8 v26, v8\n ds_read_u8 v20, v26\n" BARRIER "ds_read_b32 v20, v1"},
	{"one byte of a dword", NULL, FIRST_ONLY "ds_write_b8 v1, v8 offset:3\n s_endpgm\n 1: ds_read_b32 v20, v1",
	 1},
	{"wide, across words of the maps", NULL,
	 FIRST_ONLY "v_mov_b32 v26, 56\n ds_write_b96 v26, v[10:12]\n s_endpgm\n 1: v_mov_b32 v26, 64\n"
		    "ds_read_b32 v20, v26",
	 1},
	{"pairs", NULL,
	 FIRST_ONLY
	 "ds_write2_b32 v1, v10, v11 offset0:0 offset1:200\n s_endpgm\n 1: ds_read_b32 v20, v1 offset:800",
	 1},
	{"flat", NULL, FIRST_ONLY "flat_store_dword v[16:17], v8\n s_endpgm\n 1: flat_load_dword v20, v[16:17]", 1},
	{"an ended wave", NULL, FIRST_ONLY "ds_write_b32 v1, v8\n s_endpgm\n 1: s_barrier\n ds_read_b32 v20, v1"},
	{"own load to LDS", NULL,
	 FIRST_ONLY "global_load_dword v[2:3], off lds\n ds_read_b32 v20, v1 offset:256\n 1:", 1},
	{"load to LDS without wait before the barrier", NULL,
	 FIRST_ONLY "global_load_dword v[2:3], off lds\n s_waitcnt lgkmcnt(0)\n 1: s_barrier\n"
		    "ds_read_b32 v20, v1 offset:512\n" SECOND_ONLY "ds_read_b32 v20, v1 offset:256\n 1:",
	 1},
	{"load to LDS, waited for", NULL,
	 FIRST_ONLY "global_load_dword v[2:3], off lds\n s_waitcnt vmcnt(0)\n 1: s_barrier\n"
		    "ds_read_b32 v20, v1 offset:256"},
};

/* The rest of a group of two; the first is the fixture's. */
static struct {
	struct isa_wave wave;
	struct isa_races *races;
	enum isa_stop stop[2];
} pair;

static struct isa_wave *wave_of(unsigned n)
{
	return n ? &pair.wave : &test.wave;
}

/* As run() leaves it, with the code of the piece to come. */
static void start(unsigned n, unsigned piece)
{
	struct isa_wave *w = wave_of(n);
	char why[512];

	isa_waitcnt_reset(w->waitcnt);
	set_sgprs();
	memcpy(w->s, test.wave.s, sizeof(w->s));
	w->s[20] = n;
	w->pc = CODE + (uint64_t)piece * PIECE_B;
	w->mode = 0x3f0;
	w->last_region = NULL;
	w->why[0] = 0;
	w->wave_in_group = n;
	w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
	pair.stop[n] = ISA_BUDGET;
}

static bool meet(void)
{
	bool ended = pair.stop[0] == ISA_ENDED && pair.stop[1] == ISA_ENDED;

	for (unsigned n = 0; n < 2; n++)
		if (pair.stop[n] == ISA_BARRIER)
			pair.stop[n] = ISA_BUDGET;
	isa_races_barrier(pair.races);
	return !ended;
}

static bool run_pair(unsigned piece)
{
	for (unsigned n = 0; n < 1024; n++)
		memcpy(test.lds + 4 * n, &(uint32_t){n + 500}, 4);
	isa_races_reset(pair.races, 2);
	start(1, piece);
	start(0, piece);
	set_vgprs();
	memcpy(pair.wave.v, test.v, ROWS * sizeof(*test.v));
	do {
		for (unsigned n = 0; n < 2; n++)
			if (pair.stop[n] == ISA_BUDGET)
				pair.stop[n] = isa_run(wave_of(n), 100);
		if (pair.stop[0] == ISA_STOPPED || pair.stop[1] == ISA_STOPPED)
			return false;
	} while (meet());
	return true;
}

/* rows 122 and 123 */
static void test_pairs(const char *chip)
{
	unsigned count = sizeof(pieces) / sizeof(*pieces);

	init(chip, true);
	pair.races = isa_races_create(test.group.lds_B, 2);
	test.group.waves = 2;
	test.group.races = pair.races;
	pair.wave = test.wave;
	pair.wave.waitcnt = isa_waitcnt_create();
	pair.wave.v = aligned_alloc(64, 2 * ROWS * sizeof(*test.v));
	if (CHECK(assemble(chip, pieces, count)))
		for (unsigned n = 0; n < count; n++) {
			unsigned long before = vgpu_findings();

			if (!CHECK(run_pair(n)) || !CHECK_EQ(vgpu_findings() - before, pieces[n].findings))
				printf("  in \"%s\" on %s: %s%s\n", pieces[n].name, chip, test.wave.why,
				       pair.wave.why);
		}
	free(pair.wave.v);
	isa_waitcnt_destroy(pair.wave.waitcnt);
	isa_races_destroy(pair.races);
	fini();
}

/* Both instructions, where they stand, and the place in LDS. */
static void test_words(const char *log)
{
	char text[16384] = "";
	FILE *f = fopen(log, "r");

	if (!CHECK(f != NULL))
		return;
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	CHECK(strstr(text, "finding, row 123: wave 1: \"ds_read_b32 v20, v1\" at 0x200") != NULL);
	CHECK(strstr(text, " reads LDS at 0x0, which wave 0 writes by \"ds_write_b32 v1, v8\" at 0x200") != NULL);
	CHECK(strstr(text, "with no wait before the barrier between them") != NULL);
	CHECK(strstr(text, "with no barrier between them") != NULL);
}

int main(void)
{
	static const char *const chips[] = {"gfx900", "gfx908", "gfx90a", "gfx942"};
	char log[64];

	snprintf(log, sizeof(log), "/tmp/tuff-race-%d.log", (int)getpid());
	setenv("TUFF_VGPU_LOG", log, 1);
	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(*chips); n++)
		test_pairs(chips[n]);
	test_words(log);
	unlink(log);
	return check_done("races in LDS");
}
