/* Execution: single instructions against worked-out results, and whole little programs for what spans instructions.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "tests/check.h"
#include "vgpu/isa/exec/program.h"
#include "vgpu/isa/exec/run_cases.h"
#include "vgpu/isa/valu/valu.h"
#include "vgpu/report.h"

#define CODE_VA 0x100000ull
#define END     0xbf810000u /* s_endpgm */
#define CODE_DW 64
#define AHEAD_B 1024 /* fetched behind code */

/* A wave on a machine with one region of code. */
struct rig {
	struct vgpu_chip chip;
	struct gpuvm_region region;
	struct gpuvm_view view;
	struct isa_machine machine;
	struct isa_group group;
	struct isa_wave wave;
	uint32_t v[64][ISA_LANES] __attribute__((aligned(64)));
	uint32_t code[CODE_DW + AHEAD_B / 4];
	unsigned faults;
	struct isa_cache *cache;
};

static void count_fault(void *user, const struct gpuvm_fault *fault, uint64_t pc)
{
	struct rig *r = user;

	(void)pc;
	r->faults += fault->client == GPUVM_SQI && fault->access == GPUVM_X;
}

static uint64_t no_clock(void *user)
{
	(void)user;
	return 0;
}

static void rig_init(struct rig *r, enum vgpu_gfx gfx)
{
	memset(r, 0, sizeof(*r));
	r->chip.gfx = gfx;
	r->region =
		(struct gpuvm_region){CODE_VA, CODE_VA + sizeof(r->code), (uint8_t *)r->code, GPUVM_R | GPUVM_X, 1};
	r->view = (struct gpuvm_view){1, &r->region};
	r->machine = (struct isa_machine){
		.chip = &r->chip,
		.view = &r->view,
		.fault = count_fault,
		.clock = no_clock,
		.user = r,
		.vgpr_count = 32,
		.accum_offset = 32,
	};
	r->group.waves = 1;
	r->wave.v = r->v;
	r->wave.group = &r->group;
	r->wave.machine = &r->machine;
	r->wave.mode = 0x3f0;
	r->cache = isa_cache_create();
	isa_set_exec(&r->wave, ~0ull);
}

static enum isa_stop rig_run(struct rig *r, const uint32_t *code, unsigned words)
{
	char why[512];

	memset(r->code, 0, sizeof(r->code));
	memcpy(r->code, code, words * 4);
	r->code[words] = END;
	r->wave.pc = CODE_VA;
	r->wave.program = isa_program_get(r->cache, &r->machine, CODE_VA, why, sizeof(why));
	return isa_run(&r->wave, 1000);
}

static void set_row(struct rig *r, unsigned row, uint32_t value)
{
	for (unsigned l = 0; l < ISA_LANES; l++)
		r->v[row][l] = value;
}

static void set_pair(struct rig *r, unsigned row, uint64_t value)
{
	set_row(r, row, (uint32_t)value);
	set_row(r, row + 1, (uint32_t)(value >> 32));
}

static unsigned length(const uint32_t code[3])
{
	struct isa_decoder dec = isa_decoder_any(VGPU_GFX908);
	struct isa_inst inst;
	const char *why;
	unsigned n = isa_decode(&dec, code, 3, 0, &inst, &why);

	if (n)
		return n;
	dec.gfx = VGPU_GFX90A;
	return isa_decode(&dec, code, 3, 0, &inst, &why);
}

/* --- single instructions --- */

static void expect(const char *text, uint64_t got, uint64_t want)
{
	if (got != want)
		printf("%s: got 0x%llx, want 0x%llx\n", text, (unsigned long long)got, (unsigned long long)want);
	CHECK(got == want);
}

/* `lanes`: what EXEC holds. */
static void vector_case(const struct vector_case *c, bool wide, uint64_t lanes, enum vgpu_gfx gfx)
{
	static struct rig r;
	unsigned step = wide ? 2 : 1, d = wide ? 6 : 3;

	rig_init(&r, gfx);
	r.wave.mode = c->mode;
	isa_set_exec(&r.wave, lanes);
	set_pair(&r, d, UNTOUCHED);
	if (wide) {
		set_pair(&r, 2 * step, c->c);
		set_pair(&r, step, c->b);
		set_pair(&r, 0, c->a);
	} else {
		set_row(&r, 0, (uint32_t)c->a);
		set_row(&r, 1, (uint32_t)c->b);
		set_row(&r, 2, (uint32_t)c->c);
	}
	CHECK_EQ(rig_run(&r, c->code, length(c->code)), ISA_ENDED);
	for (unsigned l = 0; l < ISA_LANES; l += 21) {
		uint64_t got = r.v[d][l] | (wide ? (uint64_t)r.v[d + 1][l] << 32 : 0);
		uint64_t old = wide ? UNTOUCHED : (uint32_t)UNTOUCHED;

		expect(c->text, got, lanes >> l & 1 ? c->result : old);
	}
	isa_cache_destroy(r.cache);
}

static void scalar_case(const struct scalar_case *c)
{
	static struct rig r;
	uint64_t want = c->result;

	rig_init(&r, VGPU_GFX900);
	isa_swrite64(&r.wave, 0, c->a);
	isa_swrite64(&r.wave, 2, c->b);
	isa_swrite64(&r.wave, 6, UNTOUCHED);
	r.wave.scc = c->scc_before;
	CHECK_EQ(rig_run(&r, c->code, length(c->code)), ISA_ENDED);
	if (!strstr(c->text, "s[6:7]") && want != UNTOUCHED)
		want |= UNTOUCHED & 0xffffffff00000000ull;
	expect(c->text, isa_sread64(&r.wave, 6), want);
	expect(c->text, r.wave.scc, c->scc);
	isa_cache_destroy(r.cache);
}

/* On the chips that have it, of those that differ; how many these are. */
static unsigned vector_cases(const struct vector_case *c, bool wide, uint64_t lanes)
{
	static const enum vgpu_gfx chips[] = {VGPU_GFX908, VGPU_GFX90A, VGPU_GFX942};
	unsigned count = 0;

	for (unsigned n = 0; n < sizeof(chips) / sizeof(chips[0]); n++) {
		struct isa_decoder dec = isa_decoder_any(chips[n]);
		struct isa_inst inst;
		const char *why;

		if (!isa_decode(&dec, c->code, 3, 0, &inst, &why))
			continue;
		vector_case(c, wide, lanes, chips[n]);
		count++;
	}
	return count;
}

static void single_instructions(void)
{
	for (unsigned n = 0; n < sizeof(vector32) / sizeof(vector32[0]); n++) {
		CHECK(vector_cases(&vector32[n], false, ~0ull));
		CHECK(vector_cases(&vector32[n], false, 1ull << 21 | 1ull << 63));
	}
	for (unsigned n = 0; n < sizeof(vector64) / sizeof(vector64[0]); n++) {
		CHECK(vector_cases(&vector64[n], true, ~0ull));
		CHECK(vector_cases(&vector64[n], true, 1ull << 42));
	}
	for (unsigned n = 0; n < sizeof(scalars) / sizeof(scalars[0]); n++)
		scalar_case(&scalars[n]);
}

#define RUN(r, ...)                                                                                                \
	rig_run(r, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* --- lanes and masks --- */

static void compares_clear_inactive_lanes(struct rig *r)
{
	isa_swrite64(&r->wave, ISA_VCC, ~0ull);
	isa_set_exec(&r->wave, 0xff00);
	for (unsigned l = 0; l < ISA_LANES; l++)
		r->v[0][l] = l;
	RUN(r, 0x7d88008c); /* v_cmp_gt_i32_e32 vcc, 12, v0 */
	CHECK_EQ(isa_sread64(&r->wave, ISA_VCC), 0x0f00);
}

static void cmpx_writes_exec_and_vcc(struct rig *r)
{
	isa_set_exec(&r->wave, ~0ull);
	for (unsigned l = 0; l < ISA_LANES; l++)
		r->v[0][l] = l;
	RUN(r, 0x7db8008c); /* v_cmpx_gt_u32_e32 vcc, 12, v0 */
	CHECK_EQ(isa_sread64(&r->wave, ISA_VCC), 0xfff);
	CHECK_EQ(isa_exec(&r->wave), 0xfff);
}

static void readfirstlane_without_lanes_reads_lane_0(struct rig *r)
{
	for (unsigned l = 0; l < ISA_LANES; l++)
		r->v[1][l] = 100 + l;
	isa_set_exec(&r->wave, 0);
	RUN(r, 0x7e060501); /* v_readfirstlane_b32 s3, v1 */
	CHECK_EQ(r->wave.s[3], 100);
	isa_set_exec(&r->wave, 1ull << 40);
	RUN(r, 0x7e060501);
	CHECK_EQ(r->wave.s[3], 140);
}

static void readlane_takes_the_lane_modulo_64_and_ignores_exec(struct rig *r)
{
	isa_set_exec(&r->wave, 0);
	r->wave.s[0] = 64 + 7;
	for (unsigned l = 0; l < ISA_LANES; l++)
		r->v[1][l] = 100 + l;
	RUN(r, 0xd2890003, 0x00000101); /* v_readlane_b32 s3, v1, s0 */
	CHECK_EQ(r->wave.s[3], 107);
	RUN(r, 0xd28a0001, 0x00000085); /* v_writelane_b32 v1, 5, s0 */
	CHECK_EQ(r->v[1][7], 5);
	CHECK_EQ(r->v[1][8], 108);
}

static void addc_takes_and_gives_carries(struct rig *r)
{
	isa_set_exec(&r->wave, 0xf);
	isa_swrite64(&r->wave, ISA_VCC, 0xfffffffffffffff5ull);
	set_row(r, 0, 0xffffffff);
	set_row(r, 1, 0);
	RUN(r, 0x38060300); /* v_addc_co_u32_e32 v3, vcc, v0, v1, vcc */
	CHECK_EQ(r->v[3][0], 0);
	CHECK_EQ(r->v[3][1], 0xffffffff);
	CHECK_EQ(isa_sread64(&r->wave, ISA_VCC), 5);
}

/* --- DPP --- */

/* v_mov_b32_dpp v1, v0 with this control; v1 holds 999 before, lanes of v0 their numbers. */
static const uint32_t *dpp(struct rig *r, uint32_t second)
{
	for (unsigned l = 0; l < ISA_LANES; l++)
		r->v[0][l] = l;
	set_row(r, 1, 999);
	RUN(r, 0x7e0202fa, second);
	return r->v[1];
}

static void dpp_moves_lanes(struct rig *r)
{
	const uint32_t *d;

	isa_set_exec(&r->wave, ~0ull);
	d = dpp(r, 0xff001b00); /* quad_perm:[3,2,1,0] */
	CHECK_EQ(d[4], 7);
	d = dpp(r, 0xff010100); /* row_shl:1 */
	CHECK_EQ(d[3], 4);
	CHECK_EQ(d[15], 999);
	d = dpp(r, 0xff091100); /* row_shr:1 bound_ctrl:0 */
	CHECK_EQ(d[17], 16);
	CHECK_EQ(d[16], 0);
	d = dpp(r, 0xff012100); /* row_ror:1 */
	CHECK_EQ(d[16], 31);
	d = dpp(r, 0xff013000); /* wave_shl:1 */
	CHECK_EQ(d[15], 16);
	CHECK_EQ(d[63], 999);
	d = dpp(r, 0xff013c00); /* wave_ror:1 */
	CHECK_EQ(d[0], 63);
	d = dpp(r, 0xff014000); /* row_mirror */
	CHECK_EQ(d[16], 31);
	d = dpp(r, 0xaf014200); /* row_bcast:15 row_mask:0xa */
	CHECK_EQ(d[16], 15);
	CHECK_EQ(d[40], 999);
	CHECK_EQ(d[63], 47);
	d = dpp(r, 0xff014300); /* row_bcast:31 */
	CHECK_EQ(d[31], 999);
	CHECK_EQ(d[50], 31);
	d = dpp(r, 0xf1014000); /* bank_mask:0x1 */
	CHECK_EQ(d[3], 12);
	CHECK_EQ(d[4], 999);
	isa_set_exec(&r->wave, ~(1ull << 4));
	d = dpp(r, 0xff010100); /* row_shl:1: lane 3 reads a disabled lane */
	CHECK_EQ(d[3], 999);
	d = dpp(r, 0xff090100);
	CHECK_EQ(d[3], 0);
}

/* --- programs --- */

static void loops_run_and_budgets_interrupt_them(struct rig *r)
{
	r->wave.s[1] = 0;
	/* s_movk_i32 s0, 100; s_addk_i32 s1, 3; s_addk_i32 s0, -1; s_cmp_lg_u32 s0, 0; s_cbranch_scc1 -4 */
	CHECK_EQ(RUN(r, 0xb0000064, 0xb7010003, 0xb700ffff, 0xbf078000, 0xbf85fffc), ISA_ENDED);
	CHECK_EQ(r->wave.s[1], 300);
	CHECK_EQ(r->wave.executed, 402);
	r->wave.pc = CODE_VA;
	CHECK_EQ(isa_run(&r->wave, 10), ISA_BUDGET);
	while (isa_run(&r->wave, 7) == ISA_BUDGET)
		;
	CHECK_EQ(r->wave.s[1], 600);
}

/* row 94 */
static void barriers_and_calls(struct rig *r)
{
	/* s_barrier; s_getpc s[2:3]; s_add_u32 s2, s2, 16; s_swappc s[4:5], s[2:3]; s_movk s6, 1; s_endpgm;
	 * s_movk s7, 2; s_setpc s[4:5] */
	CHECK_EQ(RUN(r, 0xbf8a0000, 0xbe821c00, 0x80029002, 0xbe841e02, 0xb0060001, END, 0xb0070002, 0xbe801d04),
		 ISA_BARRIER);
	CHECK_EQ(isa_run(&r->wave, 100), ISA_ENDED);
	CHECK_EQ(r->wave.s[6], 1);
	CHECK_EQ(r->wave.s[7], 2);
}

static void indexed_registers(struct rig *r)
{
	isa_set_exec(&r->wave, ~0ull);
	r->wave.s[0] = 5;
	set_row(r, 7, 77);
	set_row(r, 3, 0);
	/* s_set_gpr_idx_on s0, 1 (source 0); v_mov_b32 v3, v2; s_set_gpr_idx_off; v_mov_b32 v4, v3 */
	CHECK_EQ(RUN(r, 0xbf110100, 0x7e060302, 0xbf9c0000, 0x7e080303), ISA_ENDED);
	CHECK_EQ(r->v[3][0], 77);
	CHECK_EQ(r->v[4][9], 77);
}

static void setreg_changes_rounding(struct rig *r)
{
	isa_set_exec(&r->wave, ~0ull);
	set_row(r, 0, 0x3f800000);
	set_row(r, 1, 0x33000000);
	/* s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1; v_add_f32 v2, v0, v1; and back to nearest; v_add_f32 v3
	 */
	CHECK_EQ(RUN(r, 0xba000801, 1, 0x02040300, 0xba000801, 0, 0x02060300), ISA_ENDED);
	CHECK_EQ(r->v[2][0], 0x3f800001);
	CHECK_EQ(r->v[3][0], 0x3f800000);
}

static void bad_code_stops_with_a_reason(struct rig *r)
{
	CHECK_EQ(RUN(r, 0xb0000001, 0xdc000000u + 0x3fff000, 0), ISA_STOPPED);
	CHECK(strstr(r->wave.why, "0x100004") != NULL);
	CHECK_EQ(RUN(r, 0xf1080100, 0x00020000), ISA_STOPPED); /* image_gather4h */
	CHECK(strstr(r->wave.why, "not implemented") && strstr(r->wave.why, "image_gather4h"));
}

static void running_off_the_mapping_faults(struct rig *r)
{
	uint32_t code[63];

	for (unsigned n = 0; n < 63; n++)
		code[n] = 0xbe800000; /* s_mov_b32 s0, s0 */
	r->faults = 0;
	r->region.hi = CODE_VA + CODE_DW * 4;
	rig_run(r, code, 63);
	r->code[63] = 0xbe800000;
	r->wave.pc = CODE_VA;
	isa_code_refresh(&r->wave);
	CHECK_EQ(isa_run(&r->wave, 1000), ISA_STOPPED);
	CHECK_EQ(r->faults, 1);
}

/* row 117: gfx90a fetches ahead, its elders are not known to */
static void code_at_the_end_is_reported(void)
{
	static const struct {
		enum vgpu_gfx gfx;
		uint32_t behind_B; /* mapped behind s_endpgm */
		unsigned findings;
	} cases[] = {
		{VGPU_GFX90A, AHEAD_B, 0},
		{VGPU_GFX90A, AHEAD_B - 4, 1},
		{VGPU_GFX942, 0, 1},
		{VGPU_GFX908, 0, 0},
	};
	enum vgpu_strict strict = vgpu_strict();

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		unsigned long before = vgpu_findings();
		static struct rig r;

		rig_init(&r, cases[n].gfx);
		r.region.hi = CODE_VA + 8 + cases[n].behind_B;
		CHECK_EQ(RUN(&r, 0xb0000001), ISA_ENDED);
		CHECK_EQ(vgpu_findings() - before, cases[n].findings);
		isa_cache_destroy(r.cache);
	}
	vgpu_strict_set(strict);
}

/* row 86 */
static void changed_code_is_noticed(struct rig *r)
{
	CHECK_EQ(RUN(r, 0xb0000001), ISA_ENDED);
	CHECK_EQ(r->wave.s[0], 1);
	CHECK_EQ(RUN(r, 0xb0000002), ISA_ENDED);
	CHECK_EQ(r->wave.s[0], 2);
}

/* A worker has workgroups of several grids in turn. Two address spaces often have code at the same address, and the view
 * of a grid that has ended is gone. */
static void grids_in_turn_run_their_own_code(struct rig *r)
{
	static const uint32_t code[] = {0xbf820001u, END, 0xbe800081u, 0xbf820001u, END, 0xbe810087u, END};
	static const uint32_t other_code[] = {0xbe810089u};
	struct rig *other = aligned_alloc(64, sizeof(*other));
	struct isa_cache *own;
	char why[512];

	rig_init(other, r->chip.gfx);
	own = other->cache;
	memset(r->code, 0, sizeof(r->code));
	memcpy(r->code, code, sizeof(code));
	r->wave.pc = CODE_VA;
	r->wave.s[1] = 0;
	r->wave.program = isa_program_get(r->cache, &r->machine, CODE_VA, why, sizeof(why));
	CHECK_EQ(isa_run(&r->wave, 1), ISA_BUDGET); /* its last block is not decoded yet */
	other->cache = r->cache;
	CHECK_EQ(rig_run(other, other_code, 1), ISA_ENDED);
	CHECK_EQ(other->wave.s[1], 9);
	isa_cache_destroy(own);
	memset(other, 0xff, sizeof(*other));
	free(other);
	CHECK_EQ(isa_run(&r->wave, 100), ISA_ENDED);
	CHECK_EQ(r->wave.s[1], 7);
}

static size_t resident_B(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (size_t)usage.ru_maxrss << 10;
}

/* Bits 63:48 of the pc do not count: a program can have 65536 addresses for each of its instructions. */
static void decoded_code_does_not_fill_memory(struct rig *r)
{
	enum { FILL = 4000, ROUNDS = 1200, WORDS = FILL + 7, SIZE_B = 16384 };
	static uint32_t code[SIZE_B / 4];
	const struct gpuvm_region small = r->region;
	size_t before_B = resident_B();
	unsigned n = 0;
	char why[512];

	code[n++] = 0x8001ff01; /* s_add_u32 s1, s1, 0x10000 */
	code[n++] = 0x10000;
	code[n++] = 0xbf840000 | FILL; /* s_cbranch_scc0 */
	for (unsigned i = 0; i < FILL; i++)
		code[n++] = 0xbe820002; /* s_mov_b32 s2, s2 */
	code[n++] = 0x80838103;         /* s_sub_u32 s3, s3, 1 */
	code[n++] = 0xbf850001;         /* s_cbranch_scc1 */
	code[n++] = 0xbe801d00;         /* s_setpc_b64 s[0:1] */
	code[n++] = END;
	CHECK_EQ(n, WORDS);
	r->region = (struct gpuvm_region){CODE_VA, CODE_VA + SIZE_B, (uint8_t *)code, GPUVM_R | GPUVM_X, 1};
	isa_swrite64(&r->wave, 0, CODE_VA);
	r->wave.s[3] = ROUNDS;
	r->wave.pc = CODE_VA;
	r->wave.program = isa_program_get(r->cache, &r->machine, CODE_VA, why, sizeof(why));
	CHECK_EQ(isa_run(&r->wave, 100000), ISA_ENDED);
	CHECK_EQ(r->wave.s[1], (ROUNDS + 1) << 16);
	CHECK(resident_B() - before_B < 640u << 20); /* else 795 MiB */
	printf("decoded code takes %zu MiB\n", (resident_B() - before_B) >> 20);
	r->region = small;
}

static void saveexec_reads_before_it_writes(struct rig *r)
{
	isa_set_exec(&r->wave, 0xff);
	isa_swrite64(&r->wave, 4, 0x0ff0);
	RUN(r, 0xbe842004); /* s_and_saveexec_b64 s[4:5], s[4:5] */
	CHECK_EQ(isa_exec(&r->wave), 0xf0);
	CHECK_EQ(isa_sread64(&r->wave, 4), 0xff);
	CHECK(r->wave.scc);
}

/* --- division --- */

/* n / d as compilers expand it; the result must be the IEEE quotient. v0 n, v1 d. */
static const uint32_t divide[] = {
	0xd1e00403, 0x04020301, 0xd1e06a04, 0x04020300, 0x7e0a4503, 0xd1cb0006, 0x23ca0b03,
	0xd1cb0005, 0x04160b06, 0x0a0c0b04, 0xd1cb0007, 0x24120d03, 0xd1cb0006, 0x041a0b07,
	0xd1cb0007, 0x24120d03, 0xd1e20005, 0x041a0b07, 0xd1de0002, 0x04020305,
};

static float as_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static void division_macro_is_exact(struct rig *r)
{
	uint32_t seed = 12345;

	isa_set_exec(&r->wave, ~0ull);
	for (unsigned round = 0; round < 200; round++) {
		uint32_t n[ISA_LANES], d[ISA_LANES];

		for (unsigned l = 0; l < ISA_LANES; l++) {
			n[l] = seed = seed * 1664525 + 1013904223;
			d[l] = seed = seed * 1664525 + 1013904223;
			r->v[0][l] = n[l];
			r->v[1][l] = d[l];
		}
		if (!CHECK(rig_run(r, divide, sizeof(divide) / 4) == ISA_ENDED))
			return;
		for (unsigned l = 0; l < ISA_LANES; l++) {
			float want = as_float(n[l]) / as_float(d[l]), got = as_float(r->v[2][l]);

			if (want != want ? got == got : memcmp(&want, &got, 4)) {
				printf("%08x / %08x: %08x\n", n[l], d[l], r->v[2][l]);
				CHECK(!"the IEEE quotient");
			}
		}
	}
	CHECK(1);
}

int main(void)
{
	static struct rig r;

	single_instructions();
	rig_init(&r, VGPU_GFX900);
	compares_clear_inactive_lanes(&r);
	cmpx_writes_exec_and_vcc(&r);
	readfirstlane_without_lanes_reads_lane_0(&r);
	readlane_takes_the_lane_modulo_64_and_ignores_exec(&r);
	addc_takes_and_gives_carries(&r);
	dpp_moves_lanes(&r);
	isa_cache_destroy(r.cache);
	rig_init(&r, VGPU_GFX900);
	loops_run_and_budgets_interrupt_them(&r);
	barriers_and_calls(&r);
	indexed_registers(&r);
	setreg_changes_rounding(&r);
	bad_code_stops_with_a_reason(&r);
	changed_code_is_noticed(&r);
	grids_in_turn_run_their_own_code(&r);
	decoded_code_does_not_fill_memory(&r);
	saveexec_reads_before_it_writes(&r);
	division_macro_is_exact(&r);
	running_off_the_mapping_faults(&r);
	code_at_the_end_is_reported();
	isa_cache_destroy(r.cache);
	return check_done("execution of instructions");
}
