/* Halves of VGPRs as operands (GFX11 and GFX12): 16-bit instructions by the table of halves_cases.h, v_swap_b16, and memory
 * instructions of halves. */
#include "vgpu/isa/exec/halves_cases.h"
#include "vgpu/isa/test_later.h"

#define FILE_ROWS 256u
#define END       0xbfb00000u

static void rig_init(const char *chip, bool wave32)
{
	init_later(chip, wave32, false);
	free(test.v);
	test.v = aligned_alloc(64, FILE_ROWS * sizeof(*test.v));
	test.machine.vgpr_count = FILE_ROWS;
	test.wave.v = test.v;
}

/* The registers that the case names have its operands; those of the other half of the file have the complements. */
static void set_operands(const struct half_case *c)
{
	unsigned base = strstr(c->text, "v129") || strstr(c->text, "v133") ? 128 : 0;

	memset(test.v, 0x5a, FILE_ROWS * sizeof(*test.v));
	EACH
	{
		const uint32_t value[6] = {0, c->a[l & 1], c->b, c->c, 0, HALVES_OLD};

		for (unsigned n = 0; n < 6; n++) {
			test.v[base + n][l] = value[n];
			test.v[128 - base + n][l] = ~value[n];
		}
	}
}

static void set_scalars(void)
{
	struct isa_wave *w = &test.wave;

	memset(w->s, 0, sizeof(w->s));
	w->s[1] = HALVES_S1;
	w->s[8] = w->s[9] = w->s[ISA_VCC] = w->s[ISA_VCC + 1] = HALVES_MASK;
	w->s[ISA_EXEC] = w->s[ISA_EXEC + 1] = ~0u;
	w->mode = 0xf0;
	w->pc = CODE;
	w->why[0] = 0;
}

static bool run_words(const char *text, const uint32_t *code, unsigned words)
{
	struct isa_wave *w = &test.wave;
	char why[512] = "";

	memcpy(test.code, code, words * 4);
	memcpy(test.code + words * 4, &(uint32_t){END}, 4);
	set_scalars();
	w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
	if (CHECK(w->program != NULL) && CHECK_EQ(run_budgets(w), ISA_ENDED))
		return true;
	printf("  in \"%s\": %s%s\n", text, why, w->why);
	return false;
}

/* Code of the mask that a compare writes, or 0. */
static unsigned mask_of(const char *text)
{
	if (strncmp(text, "v_cmp", 5))
		return 0;
	return !strncmp(text, "v_cmpx", 6) ? ISA_EXEC : strstr(text, " vcc_lo,") ? ISA_VCC : 10;
}

static uint64_t result_of(const struct half_case *c, unsigned l)
{
	const char *reg = strchr(c->text, 'v') + strcspn(c->text, " ") + 1;
	unsigned mask = mask_of(c->text), n;

	if (mask)
		return test.wave.s[mask + l / 32] >> l % 32 & 1;
	n = (unsigned)strtoul(reg + (reg[1] == '[' ? 2 : 1), NULL, 10);
	return test.v[n][l] | (reg[1] == '[' ? (uint64_t)test.v[n + 1][l] << 32 : 0);
}

static void run_case(const struct half_case *c)
{
	unsigned words = c->code[2] ? 3 : c->code[1] ? 2 : 1;

	set_operands(c);
	if (!run_words(c->text, c->code, words))
		return;
	for (unsigned l = 0; l < LANES; l++) {
		if (CHECK_EQ(result_of(c, l), c->result[l & 1]))
			continue;
		printf("  lane %u in \"%s\"\n", l, c->text);
		return;
	}
}

static void run_cases(const struct half_case *cases, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		test.stepwise = false;
		run_case(&cases[n]);
		test.stepwise = true;
		run_case(&cases[n]);
	}
	test.stepwise = false;
}

/* --- v_swap_b16 --- */

/* The halves of register n: 0x100 + n and 0x200 + n. */
static void check_swaps(void)
{
	static const uint32_t code[] = {
		0x7f0acd01, /* v_swap_b16 v5.h, v1.l */
		0x7e04cd83, /* v_swap_b16 v2.l, v3.h */
		0x7e0ccd86, /* v_swap_b16 v6.l, v6.h */
		0xbefe008f, /* s_mov_b32 exec_lo, 15 */
		0x7e10cd09, /* v_swap_b16 v8.l, v9.l */
	};

	for (unsigned n = 0; n < 10; n++)
		EACH test.v[n][l] = (0x100 + n) << 16 | (0x200 + n);
	if (!run_words("v_swap_b16", code, sizeof(code) / 4))
		return;
	ALL_LANES(5, 0x02010205);
	ALL_LANES(1, 0x01010105);
	ALL_LANES(2, 0x01020103);
	ALL_LANES(3, 0x02020203);
	ALL_LANES(6, 0x02060106);
	ALL_LANES(8, l < 4 || l >= 32 ? 0x01080209 : 0x01080208);
	ALL_LANES(9, l < 4 || l >= 32 ? 0x01090208 : 0x01090209);
}

/* --- memory --- */

static uint32_t with_low(uint32_t old, uint32_t low)
{
	return (old & 0xffff0000) | (low & 0xffff);
}

static uint32_t with_high(uint32_t old, uint32_t high)
{
	return (old & 0xffff) | high << 16;
}

static void check_loads(void)
{
	ALL_LANES(20, with_low(OLD(20), was(4 * l + 2)));
	ALL_LANES(21, with_high(OLD(21), was(4 * l + 6)));
	ALL_LANES(22, with_low(OLD(22), was(4 * l + 1) & 0xff));
	ALL_LANES(23, with_high(OLD(23), (uint32_t)(int8_t)was(4 * l + 5)));
	ALL_LANES(26, with_high(OLD(26), was(4 * l + 9) & 0xff));
	ALL_LANES(27, with_low(OLD(27), (uint32_t)(int8_t)was(4 * l + 7)));
}

/* v9 has floats. */
static void check_stores(void)
{
	for (unsigned l = 0; l < LANES; l++) {
		uint32_t high = test.v[9][l] >> 16;

		CHECK_EQ(d32(4 * l), high | (0xa00 + l) << 16);
		CHECK_EQ(d32(4096 + 4 * l), (was(4096 + 4 * l) & 0xffff00ff) | (high & 0xff) << 8);
	}
}

static uint32_t lds_was(unsigned offset)
{
	return (uint32_t)(((uint64_t)(offset / 4 + 501) << 32 | (offset / 4 + 500)) >> 8 * (offset & 3));
}

static void check_lds(void)
{
	ALL_LANES(20, with_low(OLD(20), lds_was(4 * l + 4)));
	ALL_LANES(21, with_high(OLD(21), lds_was(4 * l + 8)));
	ALL_LANES(22, with_high(OLD(22), lds_was(4 * l) & 0xff));
	ALL_LANES(23, with_low(OLD(23), (uint32_t)(int8_t)lds_was(4 * l)));
	for (unsigned l = 0; l < LANES; l++) {
		uint32_t high = test.v[9][l] >> 16;

		CHECK_EQ(lds32(1024 + 4 * l), high << 16 | (lds_was(1024 + 4 * l) & 0xffff));
		CHECK_EQ(lds32(2048 + 4 * l), (lds_was(2048 + 4 * l) & ~0xffu) | (high & 0xff));
	}
}

static void check_scratch(void)
{
	ALL_LANES(20, with_high(OLD(20), 1000 + l));
	ALL_LANES(21, with_low(OLD(21), 1000 + l));
	ALL_LANES(22, with_low(1000 + l, test.v[9][l] >> 16));
}

static const struct later_piece pieces[] = {
	{"loads of halves", check_loads,
	 "global_load_d16_b16 v20, v[2:3], off offset:2\n global_load_d16_hi_b16 v21, v[2:3], off offset:6\n"
	 "global_load_d16_u8 v22, v[2:3], off offset:1\n global_load_d16_hi_i8 v23, v[2:3], off offset:5\n"
	 "flat_load_d16_hi_u8 v26, v[2:3] offset:9\n flat_load_d16_i8 v27, v[2:3] offset:7\n",
	 "gfx1100", NULL, 0, 0},
	{"stores of halves", check_stores,
	 "global_store_d16_hi_b16 v[2:3], v9, off\n global_store_b16 v[2:3], v10, off offset:2\n"
	 "s_add_u32 s24, s0, 4096\n s_mov_b32 s25, s1\n global_store_d16_hi_b8 v1, v9, s[24:25] offset:1\n",
	 "gfx1100", NULL, 0, 0},
	{"halves in LDS", check_lds,
	 "ds_load_u16_d16 v20, v1 offset:4\n ds_load_u16_d16_hi v21, v1 offset:8\n ds_load_u8_d16_hi v22, v1\n"
	 "ds_load_i8_d16 v23, v1\n ds_store_b16_d16_hi v1, v9 offset:1026\n ds_store_b8_d16_hi v1, v9 offset:2048\n",
	 "gfx1100", NULL, 0, 0},
	{"halves in scratch", check_scratch,
	 "s_mov_b32 s24, 4\n scratch_store_b32 off, v8, s24 offset:4\n scratch_load_d16_hi_b16 v20, off, s24 offset:4\n"
	 "scratch_load_d16_b16 v21, off, s24 offset:4\n scratch_store_d16_hi_b16 off, v9, s24 offset:4\n"
	 "scratch_load_b32 v22, off, s24 offset:4\n",
	 "gfx1100", NULL, 0, 0},
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void test_chip(const char *chip, bool wave32)
{
	rig_init(chip, wave32);
	run_cases(of_both, COUNT(of_both));
	if (strcmp(chip, "gfx12") < 0)
		run_cases(of_gfx11, COUNT(of_gfx11));
	else
		run_cases(of_gfx12, COUNT(of_gfx12));
	check_swaps();
	fini();
	test_later(chip, wave32, false, pieces, COUNT(pieces));
}

int main(void)
{
	static const char *const chips[] = {"gfx1100", "gfx1150", "gfx1200"};

	vgpu_strict_set(VGPU_STRICT_REPORT);
	for (unsigned n = 0; n < COUNT(chips); n++) {
		test_chip(chips[n], true);
		test_chip(chips[n], false);
	}
	return check_done("halves of registers");
}
