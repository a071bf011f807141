/* Races of two waves in LDS. Each piece runs on both, one barrier after the other, the first wave first. s20 is the
 * wave's number; the other registers are those of test_wave.h. */
#include "vgpu/isa/test_later.h"

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

/* Pieces from GFX10 on, where more operations may be under way, and with GFX12's signals apart from waits. */
#define MEET10 "s_waitcnt lgkmcnt(0)\n s_barrier\n"
#define MEET12 "s_wait_dscnt 0\n" SIGNAL WAIT
#define SIGNAL "s_barrier_signal -1\n"
#define WAIT   "s_barrier_wait -1\n"
#define WRITE  "ds_write_b32 v1, v8\n"
#define READ   "ds_read_b32 v20, v1\n"

static const struct later_piece later[] = {
	BOTH("read behind a barrier", NULL, FIRST_ONLY WRITE "1:\n", MEET10, MEET12, READ, 0),
	BOTH("read without one", NULL, FIRST_ONLY WRITE "1:\n", "s_waitcnt lgkmcnt(0)\n", "s_wait_dscnt 0\n", READ,
	     1),
	BOTH("no wait before the barrier", NULL, FIRST_ONLY WRITE "1:\n", "s_barrier\n", SIGNAL WAIT, READ, 1),
	BOTH("some waited for", NULL, FIRST_ONLY WRITE "ds_write_b32 v1, v8 offset:1024\n 1:\n",
	     "s_waitcnt lgkmcnt(1)\n s_barrier\n", "s_wait_dscnt 1\n" SIGNAL WAIT, READ, 0),
	BOTH("many under way", NULL, FIRST_ONLY WRITE ".rept 20\n ds_write_b32 v1, v8 offset:1024\n .endr\n 1:\n",
	     "s_waitcnt lgkmcnt(21)\n s_barrier\n", "s_wait_dscnt 21\n" SIGNAL WAIT, READ, 1),
	BOTH("flat", NULL, FIRST_ONLY "flat_store_dword v[16:17], v8\n 1:\n",
	     "s_waitcnt_vscnt null, 0\n s_barrier\n", "s_wait_storecnt 0\n" SIGNAL WAIT, READ, 1),
	BOTH("flat, waited for", NULL, FIRST_ONLY "flat_store_dword v[16:17], v8\n 1:\n", MEET10, MEET12, READ, 0),
	{"load to LDS", NULL,
	 FIRST_ONLY "buffer_load_dword v1, s[4:7], 0 offen lds\n s_waitcnt vmcnt(0)\n 1: s_barrier\n"
		    "ds_read_b32 v20, v1 offset:256\n",
	 NULL, "gfx1099", 0, 0},
	{"load to LDS without wait before the barrier", NULL,
	 FIRST_ONLY "buffer_load_dword v1, s[4:7], 0 offen lds\n s_waitcnt lgkmcnt(0)\n 1: s_barrier\n" SECOND_ONLY
		    "ds_read_b32 v20, v1 offset:256\n 1:\n",
	 NULL, "gfx1099", 0, 1},
	{"a read after the signal sees either", NULL,
	 FIRST_ONLY WRITE "s_wait_dscnt 0\n" SIGNAL WAIT "s_endpgm\n 1:\n" SIGNAL READ WAIT, "gfx1200", NULL, 0, 1},
	{"a write after the signal comes before or after", NULL,
	 FIRST_ONLY SIGNAL WRITE WAIT "s_endpgm\n 1:\n" SIGNAL WAIT READ, "gfx1200", NULL, 0, 1},
	{"a write after the signal, waited for, is in no order all the same", NULL,
	 FIRST_ONLY SIGNAL WRITE "s_wait_dscnt 0\n" WAIT "s_endpgm\n 1:\n" SIGNAL WAIT READ, "gfx1200", NULL, 0, 1},
	{"other bytes after the signal", NULL,
	 FIRST_ONLY WRITE "s_wait_dscnt 0\n" SIGNAL "ds_write_b32 v1, v8 offset:1024\n" WAIT
			  "s_endpgm\n 1:\n" SIGNAL "ds_read_b32 v21, v1 offset:2048\n" WAIT READ,
	 "gfx1200", NULL, 0, 0},
	{"behind the wait of the first signal", NULL,
	 FIRST_ONLY "s_barrier_signal_isfirst -1\n" WAIT WRITE "s_wait_dscnt 0\n" SIGNAL WAIT
		    "s_endpgm\n 1:\n" SIGNAL WAIT SIGNAL WAIT READ,
	 "gfx1200", NULL, 0, 0},
	{"a wave that has ended", NULL, FIRST_ONLY WRITE "s_endpgm\n 1:\n" SIGNAL WAIT READ, "gfx1200", NULL, 0, 0},
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
	w->signal_phase = 0;
	w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
	pair.stop[n] = ISA_BUDGET;
}

/* Both wait at s_barrier, or one of them and the other has ended. */
static void meet_at_barrier(void)
{
	bool any = pair.stop[0] == ISA_BARRIER || pair.stop[1] == ISA_BARRIER;

	for (unsigned n = 0; n < 2; n++)
		if (pair.stop[n] == ISA_BARRIER)
			pair.stop[n] = ISA_BUDGET;
	if (any)
		isa_races_barrier(pair.races);
}

/* False when nothing is left to run. */
static bool meet(void)
{
	meet_at_barrier();
	test.group.ended = (uint32_t)(pair.stop[0] == ISA_ENDED) + (pair.stop[1] == ISA_ENDED);
	isa_barrier_step(&test.group);
	for (unsigned n = 0; n < 2; n++)
		if (pair.stop[n] == ISA_SIGNALS && isa_barrier_passed(wave_of(n)))
			pair.stop[n] = ISA_BUDGET;
	return pair.stop[0] == ISA_BUDGET || pair.stop[1] == ISA_BUDGET;
}

static void start_pair(unsigned piece, const char *chip)
{
	for (unsigned n = 0; n < 1024; n++)
		memcpy(test.lds + 4 * n, &(uint32_t){n + 500}, 4);
	isa_races_reset(pair.races, 2);
	test.group.signals = test.group.phase = test.group.ended = 0;
	start(1, piece);
	start(0, piece);
	if (chip)
		later_state(chip);
	set_vgprs();
	memcpy(pair.wave.v, test.v, ROWS * sizeof(*test.v));
}

/* False if a wave stops, or both wait for ever. */
static bool run_pair(unsigned piece, const char *chip)
{
	start_pair(piece, chip);
	do {
		for (unsigned n = 0; n < 2; n++)
			if (pair.stop[n] == ISA_BUDGET)
				pair.stop[n] = isa_run(wave_of(n), 100);
	} while (meet());
	return pair.stop[0] == ISA_ENDED && pair.stop[1] == ISA_ENDED;
}

static void init_pair(void)
{
	pair.races = isa_races_create(test.group.lds_B, 2);
	test.group.waves = 2;
	test.group.races = pair.races;
	pair.wave = test.wave;
	pair.wave.waitcnt = isa_waitcnt_create();
	pair.wave.v = aligned_alloc(64, 2 * ROWS * sizeof(*test.v));
}

static void fini_pair(void)
{
	free(pair.wave.v);
	isa_waitcnt_destroy(pair.wave.waitcnt);
	isa_races_destroy(pair.races);
	fini();
}

static void test_pair(unsigned piece, const char *name, const char *chip, bool is_later, unsigned findings)
{
	unsigned long before = vgpu_findings();

	if (!CHECK(run_pair(piece, is_later ? chip : NULL)) || !CHECK_EQ(vgpu_findings() - before, findings))
		printf("  in \"%s\" on %s, wave%u: %s%s\n", name, chip, LANES, test.wave.why, pair.wave.why);
}

/* rows 122 and 123 */
static void test_pairs(const char *chip)
{
	unsigned count = sizeof(pieces) / sizeof(*pieces);

	init(chip, true);
	init_pair();
	if (CHECK(assemble(chip, pieces, count)))
		for (unsigned n = 0; n < count; n++)
			test_pair(n, pieces[n].name, chip, false, pieces[n].findings);
	fini_pair();
}

static void test_later_pairs(const char *chip, bool wave32)
{
	unsigned count = sizeof(later) / sizeof(*later);

	init_later(chip, wave32, true);
	init_pair();
	if (CHECK(assemble_later(chip, later, count)))
		for (unsigned n = 0; n < count; n++)
			if (applies(&later[n], chip))
				test_pair(n, later[n].name, chip, true, later[n].findings);
	fini_pair();
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
	static const char *const chips[] = {"gfx900", "gfx908", "gfx90a", "gfx942"}, *const from_gfx10[] = {
											     "gfx1010", "gfx1030",
											     "gfx1100", "gfx1200"};
	char log[64];

	snprintf(log, sizeof(log), "/tmp/tuff-race-%d.log", (int)getpid());
	setenv("TUFF_VGPU_LOG", log, 1);
	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(*chips); n++)
		test_pairs(chips[n]);
	for (unsigned n = 0; n < sizeof(from_gfx10) / sizeof(*from_gfx10); n++)
		for (unsigned wave32 = 0; wave32 < 2; wave32++)
			test_later_pairs(from_gfx10[n], wave32);
	test_words(log);
	unlink(log);
	return check_done("races in LDS");
}
