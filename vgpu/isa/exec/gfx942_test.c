/* What gfx942 adds to gfx90a, one instruction at a time; matrices stand in matrix_test.c. */
#include <math.h>

#include "tests/check.h"
#include "vgpu/isa/wave/wave.h"
#include "vgpu/isa/test_code.h"

#define CODE_VA    0x100000ull
#define DATA_VA    0x200000ull
#define SCRATCH_VA 0x300000ull
#define DATA_B     65536

struct rig {
	struct vgpu_chip chip;
	struct gpuvm_region region[3];
	struct gpuvm_view view;
	struct isa_machine machine;
	struct isa_group group;
	struct isa_wave wave;
	uint32_t v[32][ISA_LANES] __attribute__((aligned(64)));
	uint32_t code[256 + 256]; /* and the 1,024 bytes that are fetched behind it */
	uint8_t data[DATA_B], scratch[DATA_B], lds[4096] __attribute__((aligned(64)));
	unsigned faults;
};
static struct rig rig;

static void count_fault(void *user, const struct gpuvm_fault *fault, uint64_t pc)
{
	(void)user;
	(void)fault;
	(void)pc;
	rig.faults++;
}

static uint64_t no_clock(void *user)
{
	(void)user;
	return 0;
}

static void rig_init(void)
{
	struct rig *r = &rig;

	memset(r, 0, sizeof(*r));
	r->chip.gfx = VGPU_GFX942;
	r->region[0] =
		(struct gpuvm_region){CODE_VA, CODE_VA + sizeof(r->code), (uint8_t *)r->code, GPUVM_R | GPUVM_X, 1};
	r->region[1] = (struct gpuvm_region){DATA_VA, DATA_VA + DATA_B, r->data, GPUVM_R | GPUVM_W, 2};
	r->region[2] = (struct gpuvm_region){SCRATCH_VA, SCRATCH_VA + DATA_B, r->scratch, GPUVM_R | GPUVM_W, 3};
	r->view = (struct gpuvm_view){3, r->region};
	r->machine = (struct isa_machine){.chip = &r->chip,
					  .view = &r->view,
					  .fault = count_fault,
					  .clock = no_clock,
					  .vgpr_count = 32,
					  .accum_offset = 32};
	r->group = (struct isa_group){.lds = r->lds, .lds_B = sizeof(r->lds), .waves = 1};
	r->wave = (struct isa_wave){
		.v = r->v, .group = &r->group, .machine = &r->machine, .mode = 0x3f0 | ISA_MODE_F8_FNUZ};
	isa_swrite64(&r->wave, ISA_FLAT_SCRATCH, SCRATCH_VA);
	isa_set_exec(&r->wave, ~0ull);
}

/* Assembles and runs; how it ended. */
static enum isa_stop run(const char *text)
{
	struct isa_cache *cache = isa_cache_create();
	enum isa_stop stop = ISA_STOPPED;
	const Elf64_Shdr *section;
	struct test_elf elf;
	char why[512];

	if (CHECK(test_assemble("gfx942", text, &elf))) {
		section = test_section(&elf, ".text");
		memset(rig.code, 0, sizeof(rig.code));
		memcpy(rig.code, elf.data + section->sh_offset, section->sh_size);
		rig.code[section->sh_size / 4] = 0xbf810000; /* s_endpgm */
		rig.wave.pc = CODE_VA;
		rig.wave.program = isa_program_get(cache, &rig.machine, CODE_VA, why, sizeof(why));
		stop = isa_run(&rig.wave, 1000);
		free(elf.data);
	}
	isa_cache_destroy(cache);
	return stop;
}

static void set_row(unsigned row, uint32_t value)
{
	for (unsigned l = 0; l < ISA_LANES; l++)
		rig.v[row][l] = value;
}

static uint64_t pair(unsigned row, unsigned lane)
{
	return rig.v[row][lane] | (uint64_t)rig.v[row + 1][lane] << 32;
}

static uint32_t data32(unsigned offset)
{
	uint32_t value;

	memcpy(&value, rig.data + offset, 4);
	return value;
}

static void wide_integers(void)
{
	rig_init();
	set_row(2, 0x89abcdef);
	set_row(3, 0x01234567);
	set_row(4, 3);
	set_row(6, 0xffffffff);
	set_row(7, 0);
	for (unsigned l = 0; l < ISA_LANES; l++)
		rig.v[5][l] = l;
	isa_set_exec(&rig.wave, ~2ull);
	CHECK_EQ(run("v_mov_b64 v[8:9], v[2:3]\n"
		     "v_mov_b64 v[10:11], 0xf2345678\n"
		     "v_lshl_add_u64 v[12:13], v[2:3], v4, v[6:7]\n"
		     "v_mov_b64_dpp v[14:15], v[4:5] row_newbcast:3 row_mask:0xf bank_mask:0xf\n"
		     "v_mov_b64 v[16:17], -1\n"),
		 ISA_ENDED);
	CHECK_EQ(pair(8, 63), 0x0123456789abcdefull);
	CHECK_EQ(pair(8, 1), 0); /* EXEC */
	CHECK_EQ(pair(10, 0), 0xf2345678ull);
	CHECK_EQ(pair(12, 0), (0x0123456789abcdefull << 3) + 0xffffffffull);
	CHECK_EQ(pair(14, 20), 3 | 19ull << 32); /* lane 3 of the row of lanes 16 to 31 */
	CHECK_EQ(pair(16, 5), ~0ull);
}

static void fused_with_a_literal(void)
{
	const float x = 1.0f + 0x1p-23f;
	uint32_t bits, want;
	float f = fmaf(x, x, -1.0f); /* two roundings would lose the last bit */

	rig_init();
	memcpy(&bits, &x, 4);
	memcpy(&want, &f, 4);
	set_row(1, bits);
	set_row(2, 0xbf800000);
	CHECK_EQ(run("v_fmamk_f32 v3, v1, 0x3f800001, v2\n"
		     "v_fmaak_f32 v4, v1, v1, 0xbf800000\n"),
		 ISA_ENDED);
	CHECK_EQ(rig.v[3][0], want);
	CHECK_EQ(rig.v[4][9], want);
}

/* --- 8-bit floats --- */

/* What a code means, by its definition. */
static double meaning(unsigned code, unsigned mantissa, int bias)
{
	int exponent = (int)(code & 0x7f) >> mantissa;
	double fraction = code & ((1u << mantissa) - 1), scale = 1u << mantissa, value;

	if (code == 0x80)
		return NAN;
	value = exponent ? ldexp(1 + fraction / scale, exponent - bias) : ldexp(fraction / scale, 1 - bias);
	return code & 0x80 ? -value : value;
}

static void codes_mean_what_they_should(void)
{
	for (unsigned base = 0; base < 256; base += ISA_LANES) {
		unsigned bad = 0;

		rig_init();
		for (unsigned l = 0; l < ISA_LANES; l++)
			rig.v[1][l] = 0x55000055 | (base + l) << 8 | (255 - base - l) << 16;
		CHECK_EQ(run("v_cvt_f32_fp8_sdwa v2, v1 src0_sel:BYTE_1\n"
			     "v_cvt_f32_bf8_sdwa v3, v1 src0_sel:BYTE_2\n"
			     "v_cvt_pk_f32_fp8_sdwa v[4:5], v1 src0_sel:WORD_1\n"
			     "v_cvt_pk_f32_bf8 v[6:7], v1\n"),
			 ISA_ENDED);
		for (unsigned l = 0; l < ISA_LANES; l++) {
			const unsigned up = base + l, down = 255 - up;
			const double want[6] = {meaning(up, 3, 8),   meaning(down, 2, 16), meaning(down, 3, 8),
						meaning(0x55, 3, 8), meaning(0x55, 2, 16), meaning(up, 2, 16)};

			for (unsigned n = 0; n < 6; n++) {
				float got;

				memcpy(&got, &rig.v[2 + n][l], 4);
				bad += isnan(want[n]) ? !isnan(got) : (double)got != want[n];
			}
		}
		CHECK_EQ(bad, 0);
	}
}

/* The nearest code, the even one of two; 0x80 when the largest number is over half a step away. */
static unsigned nearest(double value, unsigned mantissa, int bias)
{
	double best = INFINITY, largest = meaning(0x7f, mantissa, bias);
	double step = largest - meaning(0x7e, mantissa, bias);
	unsigned code = 0;

	if (isnan(value) || fabs(value) >= largest + step / 2)
		return 0x80;
	for (unsigned c = 0; c < 128; c++) {
		double off = fabs(meaning(c, mantissa, bias) - fabs(value));

		if (off < best || (off == best && !(c & 1))) {
			best = off;
			code = c;
		}
	}
	return code && value < 0 ? code | 0x80 : code;
}

static void numbers_round_to_the_nearest_code(void)
{
	/* Between and on the codes of both, and beyond. */
	for (unsigned round = 0; round < 40; round++) {
		unsigned bad = 0;

		rig_init();
		set_row(3, 0xaaaaaaaa);
		for (unsigned l = 0; l < ISA_LANES; l++) {
			float a = (float)(meaning((round * 7 + l) % 128, 3, 8) * (1 + (round % 5 - 2.0) / 16));
			float b = -(float)(meaning((round * 5 + l) % 128, 2, 16) * (1 + (round % 7 - 3.0) / 16));

			a = round == 39 && l < 2 ? (l ? INFINITY : NAN) : a;
			memcpy(&rig.v[1][l], &a, 4);
			memcpy(&rig.v[2][l], &b, 4);
		}
		CHECK_EQ(run("v_cvt_pk_fp8_f32 v3, v1, v2 op_sel:[0,0,1]\n"
			     "v_mov_b32 v4, v3\n"
			     "v_cvt_pk_bf8_f32 v4, v1, v2\n"),
			 ISA_ENDED);
		for (unsigned l = 0; l < ISA_LANES; l++) {
			float a, b;

			memcpy(&a, &rig.v[1][l], 4);
			memcpy(&b, &rig.v[2][l], 4);
			bad += rig.v[3][l] !=
			       (0xaaaa | nearest((double)a, 3, 8) << 16 | nearest((double)b, 3, 8) << 24);
			bad += (rig.v[4][l] & 0xffff) !=
			       (nearest((double)a, 2, 16) | nearest((double)b, 2, 16) << 8);
			bad += rig.v[4][l] >> 16 != rig.v[3][l] >> 16;
		}
		CHECK_EQ(bad, 0);
	}
	rig_init();
	rig.wave.mode |= 1u << 23; /* FP16_OVFL */
	set_row(1, 0x7f800000);
	set_row(2, 0xc7000000);
	CHECK_EQ(run("v_cvt_pk_fp8_f32 v3, v1, v2\n"), ISA_ENDED);
	CHECK_EQ(rig.v[3][0], 0xff7f);
}

/* row 170: what both families have the same code for, and what not */
static void without_f8_mode_they_are_ocp(void)
{
	static const struct {
		uint32_t code, fp8, bf8; /* f32 bits */
	} rows[] = {
		{0x00, 0, 0},
		{0x80, 0x80000000, 0x80000000},
		{0x38, 0x3f800000, 0x3f000000}, /* 1.0 of FP8, 0.5 of BF8 */
		{0x3c, 0x3fc00000, 0x3f800000},
		{0x01, 0x3b000000, 0x37800000}, /* 2^-9, 2^-16 */
		{0x7e, 0x43e00000, 0x7fc00000}, /* 448 */
		{0x7b, 0x43b00000, 0x47600000}, /* 352, 57344 */
		{0x7c, 0x43c00000, 0x7f800000}, /* 384, infinity */
		{0xfc, 0xc3c00000, 0xff800000},
		{0x7f, 0x7fc00000, 0x7fc00000},
	};

	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		rig_init();
		rig.wave.mode &= ~ISA_MODE_F8_FNUZ;
		set_row(1, rows[n].code);
		CHECK_EQ(run("v_cvt_f32_fp8 v2, v1\nv_cvt_f32_bf8 v3, v1\ns_nop 4\n"
			     "v_cvt_pk_fp8_f32 v4, v2, v2\nv_cvt_pk_bf8_f32 v5, v3, v3\n"),
			 ISA_ENDED);
		CHECK_EQ(rig.v[2][0], rows[n].fp8);
		CHECK_EQ(rig.v[3][0], rows[n].bf8);
		CHECK_EQ(rig.v[4][0] & 0xff, rows[n].code);
		CHECK_EQ(rig.v[5][0] & 0xff, rows[n].bf8 == 0x7fc00000 ? 0x7f : rows[n].code);
	}
	rig_init();
	for (unsigned saturates = 0; saturates < 2; saturates++) {
		rig_init();
		rig.wave.mode = 0x3f0 | saturates << 23; /* FP16_OVFL */
		set_row(1, 0x43e88000);                  /* 465: over half way to what would be 480 */
		set_row(2, 0xc7700000);                  /* -61440 */
		CHECK_EQ(run("v_cvt_pk_fp8_f32 v3, v1, v1\nv_cvt_pk_bf8_f32 v4, v2, v2\n"), ISA_ENDED);
		CHECK_EQ(rig.v[3][0] & 0xff, saturates ? 0x7e : 0x7f);
		CHECK_EQ(rig.v[4][0] & 0xff, saturates ? 0xfb : 0xfc);
	}
	rig_init();
	CHECK_EQ(run("s_getreg_b32 s4, hwreg(HW_REG_MODE)\n"), ISA_ENDED);
	CHECK_EQ(rig.wave.s[4], 0x3f0);
}

/* All seeds but the lowest bits: as often as the number is near it, the upper neighbour is the result. FNUZ: 1.0 is 0x40;
 * 2^-10 is the smallest number. */
static void seeds_round_as_often_as_they_should(void)
{
	static const struct {
		uint32_t bits, low; /* the code below */
		double up;          /* how far it is to the code above */
	} rows[] = {
		{0x3f800000, 0x40, 0},    {0x3f880000, 0x40, 0.5},
		{0xbf8c0000, 0xc0, 0.75}, {0x3fff0000, 0x47, 0.9375}, /* to 2.0: the exponent counts on */
		{0x39800000, 0, 0.25},                                /* 2^-12 */
	};

	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		unsigned up = 0;

		for (unsigned round = 0; round < 16; round++) {
			rig_init();
			set_row(1, rows[n].bits);
			for (unsigned l = 0; l < ISA_LANES; l++)
				rig.v[2][l] = (round * ISA_LANES + l) << 22 | 0xfff;
			CHECK_EQ(run("v_cvt_sr_fp8_f32 v3, v1, v2\n"), ISA_ENDED);
			for (unsigned l = 0; l < ISA_LANES; l++) {
				CHECK((rig.v[3][l] & 0xff) - rows[n].low < 2);
				up += (rig.v[3][l] & 0xff) - rows[n].low;
			}
		}
		CHECK_EQ(up, (unsigned)(1024 * rows[n].up));
	}
	rig_init();
	set_row(1, 0xff800000);
	set_row(2, ~0u);
	set_row(3, 0x11223344);
	set_row(4, 0x43700000); /* 240 */
	CHECK_EQ(run("v_cvt_sr_bf8_f32 v3, v1, v2 op_sel:[0,0,1,0]\n"
		     "v_cvt_sr_fp8_f32 v3, v4, v2 op_sel:[0,0,1,1]\n"),
		 ISA_ENDED);
	CHECK_EQ(rig.v[3][0], 0x7f228044);
}

/* --- memory --- */

static void atomics(void)
{
	rig_init();
	isa_set_exec(&rig.wave, 7);
	for (unsigned l = 0; l < ISA_LANES; l++) {
		rig.v[0][l] = (uint32_t)DATA_VA;
		rig.v[1][l] = 0;
	}
	memcpy(rig.data + 8, &(uint32_t){0x3c004000}, 4);  /* f16 1, 2 */
	memcpy(rig.data + 12, &(uint32_t){0x3f804000}, 4); /* bf16 1, 2 */
	set_row(2, 0x3f000000);
	set_row(3, 0x3c003c00);
	set_row(4, 0x3f803f80);
	set_row(5, 0x00000001);
	CHECK_EQ(run("flat_atomic_add_f32 v[0:1], v2 offset:4\n"
		     "flat_atomic_pk_add_f16 v[0:1], v3 offset:8\n"
		     "global_atomic_pk_add_bf16 v[0:1], v4, off offset:12\n"
		     "flat_atomic_pk_add_bf16 v6, v[0:1], v4 offset:12 sc0\n"
		     "global_atomic_add_f32 v[0:1], v5, off offset:16\n"
		     "buffer_wbl2 sc0 sc1\n"
		     "buffer_inv sc0 sc1\n"),
		 ISA_ENDED);
	CHECK_EQ(data32(4), 0x3fc00000);   /* 1.5 */
	CHECK_EQ(data32(8), 0x44004500);   /* 4, 5 */
	CHECK_EQ(data32(12), 0x40e04100);  /* 7, 8 */
	CHECK_EQ(rig.v[6][0], 0x408040a0); /* 4, 5, before the second */
	CHECK_EQ(data32(16), 3);           /* denormals are not flushed any more */
}

/* 1 + 2^-9 lies between two bf16: half the way to 1.0078125 is a tie, one bit more is not. */
static void bf16_rounds_once(void)
{
	rig_init();
	isa_set_exec(&rig.wave, 1);
	memcpy(rig.data, &(uint32_t){0x3f80}, 4);
	rig.v[0][0] = (uint32_t)DATA_VA;
	rig.v[2][0] = 0x3b80; /* 2^-8: a tie, to even */
	CHECK_EQ(run("global_atomic_pk_add_bf16 v[0:1], v2, off\n"), ISA_ENDED);
	CHECK_EQ(data32(0), 0x3f80);
	rig.v[2][0] = 0x3b81;
	CHECK_EQ(run("global_atomic_pk_add_bf16 v[0:1], v2, off\n"), ISA_ENDED);
	CHECK_EQ(data32(0), 0x3f81);
}

static void lds(void)
{
	rig_init();
	isa_set_exec(&rig.wave, 3);
	rig.wave.s[ISA_M0] = 256;
	rig.v[2][1] = 4;
	set_row(3, 0x40004000);
	memcpy(rig.data + 64, "abcdefgh", 8);
	for (unsigned l = 0; l < ISA_LANES; l++)
		rig.v[0][l] = (uint32_t)DATA_VA + 60 + 4 * l;
	CHECK_EQ(run("global_load_lds_dword v[0:1], off offset:4\n"
		     "global_load_lds_ubyte v[0:1], off offset:8\n"
		     "ds_pk_add_f16 v2, v3\n"
		     "ds_pk_add_rtn_f16 v4, v2, v3\n"
		     "ds_pk_add_bf16 v2, v3 offset:16\n"
		     "ds_pk_add_rtn_bf16 v5, v2, v3 offset:16\n"),
		 ISA_ENDED);
	CHECK(!memcmp(rig.lds + 260, "abcd", 4)); /* M0 + offset + 4 * lane */
	CHECK_EQ(rig.lds[264], 'e');              /* the byte load came after, at 264 */
	CHECK_EQ(rig.v[4][0], 0x40004000);
	CHECK(!memcmp(rig.lds, &(uint32_t){0x44004400}, 4));
	CHECK_EQ(rig.v[5][1], 0x40004000);
	CHECK(!memcmp(rig.lds + 20, &(uint32_t){0x40804080}, 4));
}

/* Where dword n of a lane's scratch is. */
static uint32_t scratch(unsigned lane, unsigned dword)
{
	uint32_t value;

	memcpy(&value, rig.scratch + 256 * dword + 4 * lane, 4);
	return value;
}

static void scratch_takes_both_addresses(void)
{
	rig_init();
	rig.wave.s[3] = 16;
	for (unsigned l = 0; l < ISA_LANES; l++) {
		rig.v[1][l] = 4 * (l % 4);
		rig.v[2][l] = 1000 + l;
	}
	CHECK_EQ(run("scratch_store_dword v1, v2, s3 offset:8\n" /* SVS */
		     "scratch_store_dword off, v2, s3 offset:48\n"
		     "scratch_store_dword v1, v2, off offset:128\n"
		     "scratch_store_dword off, v2, off offset:256\n"
		     "scratch_load_dword v5, v1, s3 offset:8\n"
		     "scratch_load_dword v6, off, off offset:256 sc0 sc1 nt\n"),
		 ISA_ENDED);
	CHECK_EQ(scratch(5, (16 + 8 + 4) / 4), 1005);
	CHECK_EQ(scratch(5, (16 + 48) / 4), 1005);
	CHECK_EQ(scratch(7, (128 + 12) / 4), 1007);
	CHECK_EQ(scratch(9, 64), 1009);
	CHECK_EQ(rig.v[5][63], 1063);
	CHECK_EQ(rig.v[6][2], 1002);
	CHECK_EQ(rig.faults, 0);
}

static void what_is_missing_says_so(void)
{
	rig_init();
	CHECK_EQ(run(".long 0xd1c10003, 0x04020501\n"), ISA_STOPPED); /* v_mad_f32 is gone */
}

int main(void)
{
	wide_integers();
	fused_with_a_literal();
	codes_mean_what_they_should();
	numbers_round_to_the_nearest_code();
	without_f8_mode_they_are_ocp();
	seeds_round_as_often_as_they_should();
	atomics();
	bf16_rounds_once();
	lds();
	scratch_takes_both_addresses();
	what_is_missing_says_so();
	return check_done("gfx942");
}
