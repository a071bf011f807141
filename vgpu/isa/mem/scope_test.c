/* Which loads see what another compute unit has stored since the line was cached, and what makes plain loads see it: the
 * cache bits and instructions of each generation (LLVM's AMDGPUUsage, memory models). */
#include "vgpu/isa/test_pieces.h"
#include "vgpu/memory/cache.h"

/* A load into v20 of the dword that s0:1 has, after other instructions. */
struct access_case {
	const char *first, *last; /* chips */
	const char *code;
	bool fresh;
};

static const struct access_case cases[] = {
	{"gfx1010", "gfx1030", "global_load_dword v20, v21, s[0:1]", false},
	{"gfx1010", "gfx1030", "global_load_dword v20, v21, s[0:1] glc", false}, /* of the workgroup's scope */
	{"gfx1010", "gfx1030", "global_load_dword v20, v21, s[0:1] glc dlc", true},
	{"gfx1010", "gfx1150", "buffer_gl0_inv\n global_load_dword v20, v21, s[0:1]", false},
	{"gfx1010", "gfx1150", "buffer_gl1_inv\n global_load_dword v20, v21, s[0:1]", false},
	{"gfx1010", "gfx1150", "buffer_gl1_inv\n buffer_gl0_inv\n global_load_dword v20, v21, s[0:1]", true},
	{"gfx1010", "gfx1150", "buffer_gl0_inv\n buffer_gl1_inv\n global_load_dword v20, v21, s[0:1]", false},
	{"gfx1010", "gfx1030", "buffer_load_dword v20, off, s[4:7], 0 glc dlc", true},
	{"gfx1010", "gfx1030", "flat_load_dword v20, v[6:7] glc dlc", true},
	{"gfx1100", "gfx1150", "global_load_b32 v20, v21, s[0:1] glc", true},
	{"gfx1100", "gfx1150", "global_load_b32 v20, v21, s[0:1] dlc", false},
	{"gfx1100", "gfx1150", "buffer_load_b32 v20, off, s[4:7], 0 glc", true},
	{"gfx1200", "gfx1200", "global_load_b32 v20, v21, s[0:1]", false},
	{"gfx1200", "gfx1200", "global_load_b32 v20, v21, s[0:1] th:TH_LOAD_NT", false},
	{"gfx1200", "gfx1200", "global_load_b32 v20, v21, s[0:1] scope:SCOPE_DEV", true},
	{"gfx1200", "gfx1200", "flat_load_b32 v20, v[6:7] scope:SCOPE_SYS", true},
	{"gfx1200", "gfx1200", "buffer_load_b32 v20, off, s[4:7], null scope:SCOPE_DEV", true},
	{"gfx1200", "gfx1200", "global_inv scope:SCOPE_SE\n global_load_b32 v20, v21, s[0:1]", false},
	{"gfx1200", "gfx1200", "global_inv scope:SCOPE_DEV\n global_load_b32 v20, v21, s[0:1]", true},
	{"gfx1200", "gfx1200", "global_wb scope:SCOPE_DEV\n global_load_b32 v20, v21, s[0:1]", false},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))
/* Pieces before those of the cases. */
enum { LOAD, STORE, FIRST_CASE };

static bool applies(const struct access_case *c, const char *chip)
{
	return strcmp(chip, c->first) >= 0 && strcmp(chip, c->last) <= 0;
}

/* v21 = 0, and the range of the buffer in bytes. */
static void no_offset(const char *arg)
{
	(void)arg;
	memset(test.v[21], 0, sizeof(test.v[21]));
	S(7) |= 3u << 28;
}

/* Runs a piece on a compute unit of one of the two. */
static void run_on(enum mem_layer l1, unsigned piece)
{
	test.machine.l1 = l1;
	test.group.past_l1 = test.group.past_gl1 = test.group.past_scalar = false;
	mem_cache_enter(test.machine.cache);
	CHECK(run_prepared(piece, no_offset, NULL));
	mem_cache_leave(test.machine.cache);
}

static void test_case(const char *chip, unsigned n)
{
	const struct access_case *c = &cases[n];

	test.machine.cache = mem_cache_create();
	run_on(MEM_L1_EVEN, LOAD);
	CHECK_EQ(test.v[20][0], was(0));
	run_on(MEM_L1_ODD, STORE);
	run_on(MEM_L1_EVEN, FIRST_CASE + n);
	if (!CHECK_EQ(test.v[20][0], c->fresh ? 1063 : was(0)))
		printf("  %s: %s\n", chip, c->code);
	mem_cache_destroy(test.machine.cache);
	test.machine.cache = NULL;
	memset(test.wave.memo, 0, sizeof(test.wave.memo));
}

static void test_chip(const char *chip)
{
	struct piece pieces[FIRST_CASE + CASES] = {
		[LOAD] = {"load", NULL, "global_load_dword v20, v21, s[0:1]"},
		[STORE] = {"store", NULL, "global_store_dword v21, v8, s[0:1]"}, /* the highest lane's stays */
	};

	for (unsigned n = 0; n < CASES; n++)
		pieces[FIRST_CASE + n].code = applies(&cases[n], chip) ? cases[n].code : "";
	init(chip, false);
	test.machine.sgpr_count = 0;
	if (!CHECK(assemble(chip, pieces, FIRST_CASE + CASES)))
		return;
	for (unsigned n = 0; n < CASES; n++)
		if (applies(&cases[n], chip))
			test_case(chip, n);
	fini();
}

int main(void)
{
	static const char *const chips[] = {"gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200"};

	for (unsigned n = 0; n < sizeof(chips) / sizeof(chips[0]); n++)
		test_chip(chips[n]);
	return check_done("loads and scopes from GFX10 on");
}
