/* What GFX10 to GFX12 do differently under the same names, and what they added: pieces of assembly with results worked
 * out by hand from the RDNA ISA documents. */
#include "vgpu/isa/test_later.h"
#include "vgpu/isa/wave/wave.h"

/* --- masks --- */

static void check_masks(void)
{
	/* v0 < 12; a wave of 32 leaves the register above. */
	CHECK_EQ(S(30), 0xfff);
	CHECK_EQ(S(31), LANES == 32 ? 0x1111 : 0);
	CHECK_EQ(S(20), 0xfffff000); /* the else branch */
}

static void check_cmpx(void)
{
	CHECK_EQ(S(ISA_VCC), 0x1234);
	CHECK_EQ(S(20), 0xff);
}

static void check_null(void)
{
	CHECK_EQ(S(20), 7);
	CHECK_EQ(S(104), 9);
	ALL_LANES(20, l);
}

static void check_saveexec(void)
{
	CHECK_EQ(S(20), 0xffffffff);
	CHECK_EQ(S(21), 0x0f);
	CHECK_EQ(S(22), 0xffffffff); /* or with the complement of EXEC */
}

/* --- halves --- */

static void check_half_is_kept(void)
{
	ALL_LANES(20, (OLD(20) & 0xffff0000) | ((1000 + l) & 0xffff));
	ALL_LANES(21, (OLD(21) & 0xffff) | ((2 * (1000 + l)) & 0xffff) << 16);
}

/* SDWA says itself where a half goes and what becomes of the rest. */
static void check_sdwa_half(void)
{
	ALL_LANES(20, 0x40000000);
	ALL_LANES(22, 0x4000);
	ALL_LANES(23, (OLD(23) & 0xffff) | 0x40000000);
}

static void check_true16(void)
{
	ALL_LANES(20, (OLD(20) & 0xffff) | (OLD(22) & 0xffff0000));
	ALL_LANES(21, (OLD(21) & 0xffff0000) | (OLD(22) >> 16));
}

/* --- across lanes --- */

/* v30 and v31 are shared: the upper half writes last, and reads what the lower half wrote. */
static void check_shared(void)
{
	ALL_LANES(30, 1000 + 32 + (l & 31));
	ALL_LANES(20, 1000 + 32 + (l & 31));
	ALL_LANES(31, was(4 * (l & 31)));
	ALL_LANES(21, was(4 * (l & 31)));
}

/* Fields of results that are not written name no register: v31 of these two keeps its halves, and v255 is not granted. */
static void check_shared_unwritten(void)
{
	ALL_LANES(31, OLD(31));
	ALL_DATA(4 * l, was(4 * l) + 2 * (4 * l));
	ALL_LDS(256 + 4 * l, was(4 * l) + 2 * (4 * l));
}

static void check_dpp8(void)
{
	ALL_LANES(20, 1000 + ((l & ~7u) | (7 - (l & 7))));
}

static void check_dpp_fetch(void)
{
	/* Lanes 4 and up are off: without FI they give 0. */
	ALL_LANES(20, l < 4 ? (l < 3 ? 1001 + l : 0) : OLD(20));
	ALL_LANES(21, l < 4 ? 1001 + l : OLD(21));
}

static void check_row_share(void)
{
	ALL_LANES(20, 1000 + (l & ~15u) + 3);
	ALL_LANES(21, 1000 + (l ^ 5));
}

static void check_permlane(void)
{
	ALL_LANES(20, 1000 + ((l & ~15u) | (15 - (l & 15))));
	ALL_LANES(21, 1000 + ((l & ~15u) ^ 16) + (15 - (l & 15)));
}

static void check_permlane64(void)
{
	ALL_LANES(20, LANES == 64 ? 1000 + (l ^ 32) : OLD(20));
}

/* Lane 40 is asked for: in its own half from GFX10 to GFX11, in all of the wave from GFX12 on. */
static void check_bpermute_halves(void)
{
	ALL_LANES(20, 1000 + (l & 32) + 8);
}

static void check_bpermute_wave(void)
{
	ALL_LANES(20, 1040);
}

static void check_readlane(void)
{
	CHECK_EQ(S(20), LANES == 32 ? 1005 : 1037);
}

/* --- arithmetic --- */

static void check_new_integers(void)
{
	ALL_LANES(20, l ^ (4 * l) ^ (1000 + l));
	ALL_LANES(21, l + 0x1234a); /* a literal in VOP3 */
}

static void check_legacy(void)
{
	ALL_LANES(20, f32_bits(2.0f)); /* 0 * infinity + 2 */
}

static void check_minimum(void)
{
	ALL_LANES(20, 0x7fc00001);     /* a NaN decides */
	ALL_LANES(21, 0x80000000);     /* -0 is below 0 */
	ALL_LANES(22, f32_bits(3.0f)); /* the number decides */
}

/* Of a lane's number and a denormal that MODE flushes. */
static void check_minimum_flushes(void)
{
	ALL_LANES(20, 0);
	ALL_LANES(21, 0);
}

static void check_scalar_float(void)
{
	CHECK_EQ(S(20), f32_bits(3.75f));
	CHECK_EQ(S(21), f32_bits(7.5f));
	CHECK_EQ(S(22), 3);
	CHECK_EQ(S(23), 0x4380); /* f16 of 3.75 */
	CHECK_EQ(S(24), f32_bits(1.5f * 2.25f + 3.75f));
	CHECK(test.wave.scc);
}

static void check_scalar_trans(void)
{
	CHECK_EQ(S(20), f32_bits(0.25f));
	CHECK_EQ(S(21), f32_bits(-4.0f));
}

static void check_scalar_64(void)
{
	CHECK_EQ(S(20), 0xffffffff);
	CHECK_EQ(S(21), 4);
	CHECK_EQ(S(22), 1);
	CHECK_EQ(S(23), 0xa);
}

/* --- dual instructions --- */

static void check_dual(void)
{
	ALL_LANES(20, OLD(21)); /* each has the other's old value */
	ALL_LANES(21, OLD(20));
	ALL_LANES(22, 4 * l + 1000 + l);
	ALL_LANES(23, OLD(22)); /* of before the first half */
}

/* --- memory --- */

static void check_memory(void)
{
	ALL_LANES(20, was(4 * l));
	ALL_LANES(21, was(64 + 4 * l));
	ALL_LANES(22, was(2048 - 4 + 16 * l));
	CHECK_EQ(S(20), was(0x40));
	CHECK_EQ(S(21), was(0x48));
}

static void check_atomics(void)
{
	ALL_LANES(20, was(4 * l));
	CHECK_EQ(d32(4), was(4) + 1001);
	CHECK_EQ(d32(4096), was(4096) + (LANES == 32 ? 32 : 64));
}

static void check_fmax(void)
{
	CHECK_EQ(d32(0), f32_bits((float)LANES)); /* 1.0 + the highest lane */
}

static void check_csub(void)
{
	ALL_LANES(20, was(4 * l));
	CHECK_EQ(d32(0), 0); /* 1 - 1000 stays at 0 */
}

static void check_compare_store(void)
{
	/* Equal where the second operand is what LDS holds. */
	CHECK_EQ(lds32(0), 1000);
	CHECK_EQ(lds32(4), 501);
	ALL_LANES(20, 500 + l);
}

static void check_scratch(void)
{
	for (unsigned l = 0; l < LANES; l++) {
		CHECK_EQ(d32(SCRATCH + 2 * 4 * LANES + 4 * l), l);
		CHECK_EQ(d32(SCRATCH + 3 * 4 * LANES + 4 * l), 1000 + l);
	}
	ALL_LANES(20, l);
	ALL_LANES(21, 1000 + l);
}

static void check_flat_scratch(void)
{
	for (unsigned l = 0; l < LANES; l++)
		CHECK_EQ(d32(SCRATCH + 2 * 4 * LANES + 4 * l), 1000 + l);
}

/* Index 8 is out of the 8 records, offset 12 + 8 out of the stride of 16. */
static void check_ranges(void)
{
	ALL_LANES(20, l < 8 ? was(16 * l + 8) : 0);
	ALL_LANES(21, 0);
	ALL_LANES(22, l < 8 ? was(16 * l + 16) : 0);
}

static void check_formats(void)
{
	ALL_LANES(20, was(4 * l) & 0xff);
	ALL_LANES(21, was(4 * l) >> 8 & 0xff);
}

static void check_sub_dwords(void)
{
	CHECK_EQ(S(20), was(0) >> 8 & 255);
	CHECK_EQ(S(21), (uint32_t)(int8_t)(was(0xc0) & 255));
	CHECK_EQ(S(22), was(4) & 0xffff);
	CHECK_EQ(S(26), was(8 + 8));
}

/* --- modes and time --- */

static void check_modes(void)
{
	CHECK_EQ(S(20) & 0xff, 0xa5);
}

static void check_time(void)
{
	CHECK_EQ(S(20), 0x456789ab);
	CHECK_EQ(S(21), 0x123);
	CHECK_EQ(S(22), 0);
}

static void check_barrier(void)
{
	CHECK(test.wave.scc);
	CHECK_EQ(test.group.phase, 2);
}

/* v20, v21 and v23; v22 is a hole, in memory as well. */
static void check_blocks(void)
{
	ALL_LANES(20, was(4 * l + 8));
	ALL_LANES(21, was(4 * l + 12));
	ALL_LANES(22, OLD(22));
	ALL_LANES(23, was(4 * l + 20));
}

/* The first load overwrites its own address. */
static void check_blocks_stored(void)
{
	ALL_LANES(2, was(4 * l + 8));
	ALL_LANES(3, was(4 * l + 12));
	for (unsigned l = 0; l < LANES; l++) {
		CHECK_EQ(d32(SCRATCH + 4 * 4 * LANES + 4 * l), 0xa00 + l);
		CHECK_EQ(d32(SCRATCH + 5 * 4 * LANES + 4 * l), was(SCRATCH + 5 * 4 * LANES + 4 * l));
		CHECK_EQ(d32(SCRATCH + 6 * 4 * LANES + 4 * l), 0xc00 + l);
	}
	ALL_LANES(26, 0xa00 + l);
	ALL_LANES(28, 0xc00 + l);
}

/* --- rounding by a seed --- */

/* What an RX 9070 gave (bjacob/goc, rdna4_fp8_narrow_hardware.h): FP8 and BF8, then the same with FP16_OVFL. */
static const struct {
	uint32_t number, seed;
	uint8_t result[4];
} seeded[] = {
	{0x00000000, 0xffffffff, {0x00, 0x00, 0x00, 0x00}}, {0x80000001, 0xffffffff, {0x80, 0x80, 0x80, 0x80}},
	{0x3f880000, 0x00000000, {0x38, 0x3c, 0x38, 0x3c}}, {0x3f880000, 0x7fffffff, {0x38, 0x3c, 0x38, 0x3c}},
	{0x3f880000, 0x80000000, {0x39, 0x3c, 0x39, 0x3c}}, {0x3f880000, 0xffffffff, {0x39, 0x3d, 0x39, 0x3d}},
	{0xbf980000, 0x00000000, {0xb9, 0xbc, 0xb9, 0xbc}}, {0xbf980000, 0x7fffffff, {0xb9, 0xbd, 0xb9, 0xbd}},
	{0x43e80000, 0x7fffffff, {0x7e, 0x5f, 0x7e, 0x5f}}, {0x43e80000, 0x80000000, {0x7f, 0x5f, 0x7e, 0x5f}},
	{0x43e80000, 0xffffffff, {0x7f, 0x60, 0x7e, 0x60}}, {0x43f00000, 0x00000000, {0x7f, 0x5f, 0x7e, 0x5f}},
	{0x47700000, 0x7fffffff, {0x7f, 0x7b, 0x7e, 0x7b}}, {0x47700000, 0x80000000, {0x7f, 0x7c, 0x7e, 0x7b}},
	{0x3a000000, 0x80000000, {0x00, 0x10, 0x00, 0x10}}, {0x3a000000, 0xffffffff, {0x01, 0x10, 0x01, 0x10}},
	{0x3a7fffff, 0x80000000, {0x00, 0x14, 0x00, 0x14}}, {0x3a800001, 0xffffffff, {0x01, 0x15, 0x01, 0x15}},
	{0x37000000, 0x80000000, {0x00, 0x01, 0x00, 0x01}}, {0x377fffff, 0x00000000, {0x00, 0x00, 0x00, 0x00}},
	{0x37800001, 0x7fffffff, {0x00, 0x01, 0x00, 0x01}}, {0x3f800001, 0xffffffff, {0x39, 0x3d, 0x39, 0x3d}},
	{0x2c800000, 0xffffffff, {0x00, 0x00, 0x00, 0x00}}, {0x2d000000, 0x80000000, {0x00, 0x00, 0x00, 0x00}},
	{0x2d000000, 0xffffffff, {0x00, 0x01, 0x00, 0x01}}, {0x30800000, 0xffffffff, {0x00, 0x01, 0x00, 0x01}},
	{0x31000000, 0xffffffff, {0x01, 0x01, 0x01, 0x01}}, {0x7f800000, 0xffffffff, {0x7f, 0x7c, 0x7f, 0x7c}},
	{0xff800000, 0x00000000, {0xff, 0xfc, 0xff, 0xfc}},
};

#define SEEDED (sizeof(seeded) / sizeof(*seeded))

/* --- transposing loads --- */

/* Element e of a lane's, in registers from `row` on. */
static uint32_t element(unsigned row, unsigned lane, unsigned e, unsigned bits)
{
	return test.v[row + e * bits / 32][lane] >> e * bits % 32 & ((1u << bits) - 1);
}

/* The matrix that WMMA expects: lane l has column l % 16. The rows of a wave of 64 go around its halves (RDNA 4 ISA,
 * "Matrix Element Storage in VGPRs"). */
static void check_transposed(unsigned bits, unsigned stride_B)
{
	for (unsigned l = 0; l < LANES; l++)
		for (unsigned e = 0; e < 256 / LANES; e++) {
			unsigned row = l % 32 / 16 * 8 + l / 32 * 4 + e;

			CHECK_EQ(element(20, l, e, bits),
				 was(256 + row * stride_B + l % 16 * bits / 8) & ((1u << bits) - 1));
		}
	if (LANES == 64) /* half as many registers */
		ALL_LANES(20 + bits / 8, OLD(20 + bits / 8));
}

static void check_transposed_words(void)
{
	check_transposed(16, 40);
}

static void check_transposed_bytes(void)
{
	check_transposed(8, 24);
}

/* Lanes with consecutive addresses, as measured on gfx1201: a test for tinygrad of words, and "trperm" of a project of
 * FP8 matrices for llama.cpp. */
static void check_measured_words(void)
{
	for (unsigned l = 0; l < 32; l++)
		for (unsigned e = 0; e < 8; e++)
			CHECK_EQ(element(20, l, e, 16),
				 was(2 * (16 * (4 * (l / 8) + e / 2) + l % 8 + e % 2 * 8)) & 0xffff);
}

static void check_measured_bytes(void)
{
	for (unsigned l = 0; l < 32; l++)
		for (unsigned e = 0; e < 8; e++)
			CHECK_EQ(element(20, l, e, 8),
				 was(l % 8 + (l / 8 & 1) * 32 + l / 16 * 128 + e % 4 * 8 + e / 4 * 64) & 0xff);
}

static void check_not_transposed(void)
{
	ALL_LANES(20, OLD(20));
	ALL_LANES(21, OLD(21));
}

/* Where lanes read: RADV's and LLPC's addresses. In a wave of 64 those of the upper half are others, and ignored. */
#define ADDRESS_WORDS                                                                                              \
	"v_lshrrev_b32 v26, 4, v0\n v_lshlrev_b32 v26, 3, v26\n v_and_b32 v27, 7, v0\n"                            \
	"v_add_nc_u32 v26, v26, v27\n v_bfe_u32 v27, v0, 3, 1\n v_lshlrev_b32 v27, 4, v27\n"                       \
	"v_mul_u32_u24 v26, 40, v26\n v_add_nc_u32 v26, v26, v27\n"
#define ADDRESS_BYTES                                                                                              \
	"v_lshrrev_b32 v26, 3, v0\n v_lshlrev_b32 v26, 2, v26\n v_and_b32 v27, 3, v0\n"                            \
	"v_add_nc_u32 v26, v26, v27\n v_bfe_u32 v27, v0, 2, 1\n v_lshlrev_b32 v27, 3, v27\n"                       \
	"v_mul_u32_u24 v26, 24, v26\n v_add_nc_u32 v26, v26, v27\n"

static const struct later_piece pieces[] = {
	{"a matrix of words", check_transposed_words,
	 ADDRESS_WORDS "global_load_tr_b128 v[20:23], v26, s[0:1] offset:256\n", "gfx1200", NULL, 32, 0},
	{"a matrix of words, in a wave of 64", check_transposed_words,
	 ADDRESS_WORDS "global_load_tr_b128 v[20:21], v26, s[0:1] offset:256\n", "gfx1200", NULL, 64, 0},
	{"a matrix of bytes", check_transposed_bytes,
	 ADDRESS_BYTES "global_load_tr_b64 v[20:21], v26, s[0:1] offset:256\n", "gfx1200", NULL, 32, 0},
	{"a matrix of bytes, in a wave of 64", check_transposed_bytes,
	 ADDRESS_BYTES "global_load_tr_b64 v20, v26, s[0:1] offset:256\n", "gfx1200", NULL, 64, 0},
	{"a matrix of words, as measured, over its address", check_measured_words,
	 "v_mov_b32 v20, v4\n v_mov_b32 v21, v5\n global_load_tr_b128 v[20:23], v[20:21], off\n", "gfx1200", NULL,
	 32, 0},
	{"a matrix of bytes, as measured", check_measured_bytes,
	 "v_lshlrev_b32 v26, 3, v0\n global_load_tr_b64 v[20:21], v26, s[0:1]\n", "gfx1200", NULL, 32, 0},
	{"a matrix without lanes", check_not_transposed,
	 "s_mov_b32 s24, exec_lo\n s_mov_b32 exec_lo, 0\n global_load_tr_b64 v[20:21], v[24:25], off\n"
	 "s_mov_b32 exec_lo, s24\n",
	 "gfx1200", NULL, 32, 0},
	{"masks of a wave", check_masks,
	 "s_mov_b32 s31, 0x1111\n v_cmp_gt_u32_e64 s[30:31], 12, v0\n s_mov_b64 s[20:21], exec\n"
	 "s_andn2_b64 s[20:21], exec, s[30:31]\n",
	 NULL, "gfx1099", 64},
	{"masks of a wave of 32", check_masks,
	 "s_mov_b32 s31, 0x1111\n v_cmp_gt_u32_e64 s30, 12, v0\n s_andn2_b32 s20, exec_lo, s30\n", NULL, "gfx1099",
	 32},
	{"v_cmpx writes EXEC alone", check_cmpx,
	 "s_mov_b32 vcc_lo, 0x1234\n v_cmpx_gt_u32 8, v0\n s_mov_b32 s20, exec_lo\n", NULL, NULL, 0},
	{"NULL, and SGPRs up to 105", check_null,
	 "s_mov_b32 s20, 7\n s_mov_b32 null, 99\n s_add_u32 s20, s20, null\n s_mov_b32 s104, 9\n"
	 "v_add_nc_u32 v20, null, v0\n s_load_dwordx2 null, s[0:1], 0x0\n",
	 NULL, "gfx1099", 0},
	{"saveexec of 32 bits", check_saveexec,
	 "s_mov_b32 s24, 15\n s_and_saveexec_b32 s20, s24\n s_mov_b32 s21, exec_lo\n s_orn2_saveexec_b32 s22, s24\n"
	 "s_mov_b32 s22, exec_lo\n",
	 NULL, "gfx1099", 32},
	{"16-bit results keep the other half", check_half_is_kept,
	 "v_add_nc_u16 v20, v8, 0\n v_add_nc_u16 v21, v8, v8 op_sel:[0,0,1]\n", NULL, NULL, 0},
	{"halves by the register's number", check_true16, ".long 0x7f283996\n .long 0x7e2a3996\n", "gfx1100", NULL,
	 0}, /* v_mov_b16 v20.h, v22.h; v21.l, v22.h */
	{"DPP8", check_dpp8, "v_mov_b32_dpp v20, v8 dpp8:[7,6,5,4,3,2,1,0]\n", NULL, NULL, 0},
	{"FI fetches from lanes that are off", check_dpp_fetch,
	 "s_mov_b32 exec_lo, 15\n s_mov_b32 exec_hi, 0\n"
	 "v_mov_b32_dpp v20, v8 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1\n"
	 "v_mov_b32_dpp v21, v8 row_shl:1 row_mask:0xf bank_mask:0xf fi:1\n",
	 NULL, NULL, 0},
	{"halves of SDWA", check_sdwa_half,
	 "v_mov_b32 v21, 0x3c00\n v_add_f16_sdwa v20, v21, v21 dst_sel:WORD_1 dst_unused:UNUSED_PAD\n"
	 "v_add_f16_sdwa v22, v21, v21 dst_sel:WORD_0 dst_unused:UNUSED_PAD\n"
	 "v_add_f16_sdwa v23, v21, v21 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE\n",
	 NULL, "gfx1099", 0},
	{"VGPRs that halves share", check_shared,
	 "v_mov_b32 v30, v8\n v_mov_b32 v20, v30\n s_mov_b32 exec_hi, 0\n global_load_dword v31, v[2:3], off\n"
	 "s_mov_b32 exec_hi, -1\n v_mov_b32 v21, v31\n",
	 NULL, "gfx1099", 64},
	{"shared VGPRs in fields without a result", check_shared_unwritten,
	 /* global_atomic_add without GLC, then buffer_load_dword with the LDS bit */
	 ".long 0xdcc88000, 0x1f7d0102\n .long 0xdcc88000, 0xff7d0102\n"
	 ".long 0xe0311000, 0x80011f01\n .long 0xe0311000, 0x8001ff01\n",
	 NULL, "gfx1099", 64},
	{"row_share and row_xmask", check_row_share,
	 "v_mov_b32_dpp v20, v8 row_share:3 row_mask:0xf bank_mask:0xf\n"
	 "v_mov_b32_dpp v21, v8 row_xmask:5 row_mask:0xf bank_mask:0xf\n",
	 NULL, NULL, 0},
	{"permlane16 and permlanex16", check_permlane,
	 "s_mov_b32 s24, 0x89abcdef\n s_mov_b32 s25, 0x01234567\n v_permlane16_b32 v20, v8, s24, s25\n"
	 "v_permlanex16_b32 v21, v8, s24, s25\n",
	 NULL, NULL, 0},
	{"permlane64 swaps halves", check_permlane64, "v_permlane64_b32 v20, v8\n", "gfx1100", NULL, 0},
	{"ds_bpermute inside halves", check_bpermute_halves, "v_mov_b32 v21, 160\n ds_bpermute_b32 v20, v21, v8\n",
	 NULL, "gfx1199", 0},
	{"ds_bpermute in the wave", check_bpermute_wave, "v_mov_b32 v21, 160\n ds_bpermute_b32 v20, v21, v8\n",
	 "gfx1200", NULL, 64},
	{"v_readlane takes the lane modulo the wave", check_readlane,
	 "s_mov_b32 s24, 37\n v_readlane_b32 s20, v8, s24\n", NULL, NULL, 0},
	{"v_xor3, literals in VOP3", check_new_integers,
	 "v_xor3_b32 v20, v0, v1, v8\n s_mov_b32 s24, 5\n v_add3_u32 v21, v0, 0x12345, s24\n", NULL, NULL, 0},
	{"legacy products", check_legacy,
	 "v_mov_b32 v21, 0\n v_mov_b32 v22, 0x7f800000\n v_fma_legacy_f32 v20, v21, v22, 2.0\n", "gfx1030",
	 "gfx1099", 0},
	{"minimum and minimumNumber", check_minimum,
	 "v_mov_b32 v23, 0x7f800001\n v_mov_b32 v24, 3.0\n v_minimum_f32 v20, v24, v23\n"
	 "v_mov_b32 v25, 0\n v_mov_b32 v26, 0x80000000\n v_minimum_f32 v21, v25, v26\n v_min_num_f32 v22, v24, v23\n",
	 "gfx1200", NULL, 0},
	{"the minimum of denormals that are flushed", check_minimum_flushes,
	 "v_mov_b32 v26, 1\n v_mov_b32 v27, 0\n s_denorm_mode 0\n v_minimum_f64 v[20:21], v[14:15], v[26:27]\n",
	 "gfx1200", NULL, 0},
	{"scalar floating point", check_scalar_float,
	 "s_mov_b32 s25, 0x3fc00000\n s_add_f32 s20, s25, 0x40100000\n s_mul_f32 s21, s20, 2.0\n"
	 "s_cvt_i32_f32 s22, s20\n s_cvt_f16_f32 s23, s20\n s_mov_b32 s24, s20\n s_fmac_f32 s24, s25, 0x40100000\n"
	 "s_cmp_lt_f32 s25, s20\n",
	 "gfx1150", NULL, 0},
	{"transcendental functions of scalars", check_scalar_trans,
	 "s_mov_b32 s24, 4.0\n v_s_rcp_f32 s20, s24\n v_s_sqrt_f32 s21, 0x41800000\n v_s_rcp_f32 s21, -0.25\n",
	 "gfx1200", NULL, 0},
	{"scalars of 64 bits", check_scalar_64,
	 "s_mov_b32 s24, 0\n s_mov_b32 s25, 5\n s_sub_nc_u64 s[20:21], s[24:25], 1\n"
	 "s_mov_b32 s24, 1\n s_mul_u64 s[22:23], s[24:25], s[24:25]\n",
	 "gfx1200", NULL, 0},
	{"dual instructions read before they write", check_dual,
	 "v_dual_mov_b32 v20, v21 :: v_dual_mov_b32 v21, v20\n"
	 "v_mov_b32 v24, v22\n v_mov_b32 v23, v8\n v_dual_mov_b32 v22, v0 :: v_dual_add_nc_u32 v25, v1, v23\n"
	 "v_mov_b32 v22, v25\n v_mov_b32 v23, v24\n",
	 "gfx1100", NULL, 32},
	{"loads", check_memory,
	 "global_load_dword v20, v[2:3], off\n global_load_dword v21, v1, s[0:1] offset:64\n"
	 "global_load_dword v22, v[4:5], off offset:2044\n s_load_dword s20, s[0:1], 0x40\n"
	 "s_mov_b32 s24, 8\n s_load_dword s21, s[0:1], s24 offset:0x40\n",
	 NULL, NULL, 0},
	{"atomics return by GLC", check_atomics,
	 "global_atomic_add v20, v[2:3], v8, off glc\n v_mov_b32 v21, 1\n v_mov_b32 v22, 0\n"
	 "s_add_u32 s24, s0, 4096\n s_mov_b32 s25, s1\n global_atomic_add v22, v21, s[24:25]\n",
	 NULL, "gfx1199", 0},
	{"atomics return by TH", check_atomics,
	 "global_atomic_add_u32 v20, v[2:3], v8, off th:TH_ATOMIC_RETURN\n v_mov_b32 v21, 1\n v_mov_b32 v22, 0\n"
	 "s_add_co_u32 s24, s0, 4096\n s_mov_b32 s25, s1\n global_atomic_add_u32 v22, v21, s[24:25]\n",
	 "gfx1200", NULL, 0},
	{"floating-point maximum in memory", check_fmax, "v_mov_b32 v20, 0\n global_atomic_fmax v20, v9, s[0:1]\n",
	 NULL, "gfx1099", 0},
	{"subtraction that stops at 0", check_csub, "global_atomic_csub v20, v[2:3], v8, off glc\n", "gfx1030",
	 "gfx1199", 0},
	{"compare before value in LDS", check_compare_store,
	 "v_mov_b32 v21, 0x1f4\n ds_cmpst_rtn_b32 v20, v1, v21, v8\n", NULL, "gfx1099", 0},
	{"value before compare in LDS", check_compare_store,
	 "v_mov_b32 v21, 0x1f4\n ds_cmpstore_rtn_b32 v20, v1, v8, v21\n", "gfx1100", NULL, 0},
	{"scratch by lanes of the wave", check_scratch,
	 "s_mov_b32 s24, 4\n scratch_store_dword off, v0, s24 offset:4\n v_mov_b32 v22, 12\n"
	 "scratch_store_dword v22, v8, off\n scratch_load_dword v20, off, s24 offset:4\n"
	 "scratch_load_dword v21, v22, off\n",
	 NULL, NULL, 0},
	{"flat instructions find scratch", check_flat_scratch, "flat_store_dword v[18:19], v8\n", NULL, NULL, 0},
	{"ranges of buffers", check_ranges,
	 "buffer_load_dword v20, v0, s[8:11], 0 idxen offset:8\n"
	 "buffer_load_dword v21, v0, s[8:11], 0 idxen offset:16\n"
	 "s_or_b32 s11, s11, 0x10000000\n buffer_load_dword v22, v0, s[8:11], 0 idxen offset:16\n",
	 NULL, "gfx1199", 0},
	{"ranges of buffers with an offset of 24 bits", check_ranges,
	 "buffer_load_b32 v20, v0, s[8:11], null idxen offset:8\n"
	 "buffer_load_b32 v21, v0, s[8:11], null idxen offset:16\n"
	 "s_or_b32 s11, s11, 0x10000000\n buffer_load_b32 v22, v0, s[8:11], null idxen offset:16\n",
	 "gfx1200", NULL, 0},
	{"one number for the format", check_formats,
	 "tbuffer_load_format_xy v[20:21], v1, s[4:7], 0 format:18 offen\n", NULL, "gfx1199", 0},
	{"scalar loads of bytes", check_sub_dwords,
	 "s_load_u8 s20, s[0:1], 0x1\n s_load_i8 s21, s[0:1], 0xc0\n s_load_u16 s22, s[0:1], 0x4\n"
	 "s_load_b96 s[24:26], s[0:1], 0x8\n",
	 "gfx1200", NULL, 0},
	{"s_round_mode and s_denorm_mode", check_modes,
	 "s_round_mode 5\n s_denorm_mode 10\n s_getreg_b32 s20, hwreg(HW_REG_MODE)\n", NULL, NULL, 0},
	{"time by a message", check_time,
	 "s_sendmsg_rtn_b64 s[20:21], sendmsg(MSG_RTN_GET_REALTIME)\n s_sendmsg_rtn_b32 s22, sendmsg(MSG_RTN_GET_DOORBELL)\n",
	 "gfx1100", NULL, 0},
	{"blocks", check_blocks, "s_mov_b32 m0, 0xb\nglobal_load_block v[20:51], v[2:3], off offset:8\n", "gfx1200",
	 NULL, 0},
	{"blocks over their address, and in scratch", check_blocks_stored,
	 "s_mov_b32 m0, 5\n s_mov_b32 s24, 0\n scratch_store_block off, v[10:41], s24 offset:16\n"
	 "scratch_load_block v[26:57], off, s24 offset:16\n s_mov_b32 m0, 3\n"
	 "global_load_block v[2:33], v[2:3], off offset:8\n",
	 "gfx1200", NULL, 0},
	{"signal, then wait", check_barrier,
	 "s_barrier_signal -1\n s_barrier_wait -1\n s_barrier_signal_isfirst -1\n s_barrier_wait -1\n", "gfx1200",
	 NULL, 0},
};

#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

/* What stops a wave of GFX12, and what it says. */
static const struct {
	const char *code, *why;
} refused[] = {
	{"s_mov_b32 exec_lo, 1\n global_load_tr_b128 v[20:21], v[4:5], off\n", "lanes that EXEC turns off"},
	{"s_mov_b32 exec_lo, 1\n global_load_tr_b64 v20, v[4:5], off\n", "lanes that EXEC turns off"},
	{"ds_direct_load v1 wait_va_vdst:15 wait_vm_vsrc:1\n", "LDS_DIRECT is not executed"},
	{"ds_param_load v1, attr0.x wait_va_vdst:15 wait_vm_vsrc:1\n", "parameters of pixels are not executed"},
	{"v_movreld_b32_dpp v20, v8 quad_perm:[1,0,3,2]\n", "DPP and SDWA of this instruction are not executed"},
	{"v_movrels_b32_e64_dpp v20, v8 dpp8:[1,0,3,2,5,4,7,6]\n",
	 "DPP and SDWA of this instruction are not executed"},
	{".long 0x7e0202fe\n", "LDS_DIRECT is not executed"}, /* v_mov_b32 v1, src_lds_direct */
	{"s_barrier_signal 1\n", "no named barriers"},
	{"s_mov_b32 m0, 1\n s_barrier_signal m0\n", "no named barriers"},
	{"s_barrier_signal_isfirst 1\n", "no named barriers"},
	{"s_barrier_wait 1\n", "no named barriers"},
	{"s_get_barrier_state s20, 1\n", "no named barriers"},
	/* LLVM 19 assembles these three for gfx1200, LLVM 21 no longer. */
	{".long 0xbe80517d\n", "s_barrier_init"},
	{".long 0xbe80527d\n", "s_barrier_join"},
	{".long 0xbf950000\n", "s_barrier_leave"},
};

static void check_refused(void)
{
	const char *codes[sizeof(refused) / sizeof(*refused)];
	char why[512] = "";

	init_later("gfx1200", false, false);
	for (unsigned n = 0; n < sizeof(refused) / sizeof(*refused); n++)
		codes[n] = refused[n].code;
	if (!CHECK(assemble_codes("gfx1200", codes, sizeof(refused) / sizeof(*refused))))
		return;
	for (unsigned n = 0; n < sizeof(refused) / sizeof(*refused); n++) {
		struct isa_wave *w = &test.wave;

		set_vgprs();
		set_sgprs();
		w->pc = CODE + (uint64_t)n * PIECE_B;
		w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
		if (!CHECK(w->program) || !CHECK_EQ(isa_run(w, 100), ISA_STOPPED) ||
		    !CHECK(strstr(w->why, refused[n].why)))
			printf("  %s: %s%s\n", refused[n].code, why, w->why);
	}
	fini();
}

static uint8_t seeded_want(unsigned lane, unsigned n)
{
	return seeded[lane % 32 % SEEDED].result[n];
}

/* Three waves, of which one has ended and one, this one, signals. */
static void check_barrier_state(void)
{
	static const char *const code[] = {"s_get_barrier_state s20, -1\n s_barrier_signal -1\n"
					   "s_get_barrier_state s21, -1\n"};

	for (unsigned waves = 1; waves <= 3; waves += 2) {
		struct isa_wave *w = &test.wave;
		char why[512];

		init_later("gfx1200", true, false);
		test.group.waves = waves;
		test.group.ended = waves / 3;
		CHECK(assemble_codes("gfx1200", code, 1));
		set_sgprs();
		w->pc = CODE;
		w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
		CHECK(w->program && isa_run(w, 100) == ISA_ENDED);
		CHECK_EQ(S(20), waves == 3 ? 0x00000021 : 0);
		CHECK_EQ(S(21), waves == 3 ? 0x00010021 : 0);
		fini();
	}
}

static void check_seeds(bool wave32)
{
	static const char *const code[] = {
		"v_cvt_sr_fp8_f32 v20, v26, v27 byte_sel:1\n v_cvt_sr_bf8_f32 v20, v26, v27 byte_sel:2\n"
		"v_cvt_sr_fp8_f32 v22, -|v26|, v27\n s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n"
		"v_cvt_sr_fp8_f32 v21, v26, v27\n v_cvt_sr_bf8_f32 v21, v26, v27 byte_sel:3\n"
		"v_cvt_pk_fp8_f32 v23, v26, v26\n v_cvt_pk_bf8_f32 v24, v26, v26\n"};
	struct isa_wave *w = &test.wave;
	char why[512];

	init_later("gfx1200", wave32, false);
	if (!CHECK(assemble_codes("gfx1200", code, 1)))
		return;
	set_vgprs();
	set_sgprs();
	for (unsigned l = 0; l < LANES; l++) {
		test.v[26][l] = seeded[l % 32 % SEEDED].number;
		test.v[27][l] = seeded[l % 32 % SEEDED].seed;
	}
	w->pc = CODE;
	w->mode = 0xf0;
	w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
	CHECK(w->program && isa_run(w, 100) == ISA_ENDED);
	ALL_LANES(20, (OLD(20) & 0xff0000ff) | seeded_want(l, 0) << 8 | seeded_want(l, 1) << 16);
	ALL_LANES(21, (OLD(21) & 0x00ffff00) | seeded_want(l, 2) | (uint32_t)seeded_want(l, 3) << 24);
	ALL_LANES(22, (OLD(22) & 0xffffff00) | seeded_want(l, 0) | 0x80);
	for (unsigned l = 0; l < LANES; l++) { /* FP16_OVFL leaves infinities what they are */
		if ((test.v[26][l] & 0x7fffffff) != 0x7f800000)
			continue;
		CHECK_EQ(test.v[23][l] & 0xff, seeded_want(l, 2));
		CHECK_EQ(test.v[24][l] & 0xff, seeded_want(l, 3));
	}
	fini();
}

int main(void)
{
	static const char *const chips[] = {"gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200"};

	vgpu_strict_set(VGPU_STRICT_REPORT);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(chips[0]); n++) {
		test_later(chips[n], true, false, pieces, PIECES);
		test_later(chips[n], false, false, pieces, PIECES);
	}
	check_refused();
	check_barrier_state();
	check_seeds(false);
	check_seeds(true);
	return check_done("instructions from GFX10 on");
}
