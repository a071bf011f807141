/* LDS instructions (test_wave.h has the registers). */
#include "vgpu/isa/test_pieces.h"

/* row 92 */
static void ds_words(void)
{
	ALL(20, 500 + l);
	ALL(22, 500 + 2 + l);
	ALL(23, 500 + 3 + l);
	ALL_LDS(1024 + 4 * l, 1000 + l);
	ALL(21, 0); /* beyond */
	ALL_LDS(2048 + 16 * l, 0xa00 + l);
	ALL_LDS(2048 + 16 * l + 8, 0xc00 + l);
	ALL(26, 0xa00 + l);
	ALL(28, 0xc00 + l);
	ALL(29, 0xd00 + l);
}

/* row 92: one of two addresses, the last lanes, an atomic, by FLAT, from M0; what is inside is done. */
static void beyond_lds(void)
{
	ALL(20, 500 + l);
	ALL(21, 0);
	ALL(22, l < 32 ? 500 + 992 + l : 0);
	ALL(23, l < 32 ? 500 + 992 + l : 0);
	ALL_LDS(4 * l, 1000 + l);
	ALL_LDS(3968 + 4 * (l & 31), 500 + 992 + (l & 31) + 1000 + (l & 31));
	ALL(27, 0);
	ALL(28, l ? OLD(28) : 0);
}

/* row 92: where no LDS can be, on purpose; an index below 0 is not */
static void parked(void)
{
	ALL(20, 0);
	ALL(21, 0);
	ALL(22, 0);
	ALL(23, 0);
	ALL_LDS(4 * l, 500 + l);
	CHECK_EQ(vgpu_remarks(), 1);
}

static void ds_pairs(void)
{
	ALL(20, 500 + l + 2);
	ALL(21, 500 + l + 64 * 2);
	ALL(22, 500 + l + 64);
	ALL(23, 500 + l + 192);
	ALL_LDS(1024 + 4 * l, 0xa00 + l);
	ALL_LDS(2048 + 4 * l, 0xb00 + l);
}

/* row 174: the half that the load does not write */
static void ds_sub(void)
{
	ALL(20, (500 + l) >> 8);
	ALL(21, (int16_t)(500 + l));
	ALL(22, (500 + l) << 16 | (OTHER_HALF(22) & 0xffff));
	ALL_LDS(1024 + 4 * l, ((500 + 256 + l) & 0xffffff00) | (l & 0xff));
	ALL_LDS(2048 + 4 * l, ((500 + 512 + l) & 0xffff0000) | 0xd5d5);
}

static void ds_atomics(void)
{
	ALL(20, 500 + l);
	ALL_LDS(4 * l, 500 + l + 1000 + l);
	CHECK_EQ(lds32(1024), 756 + 64 * 1000 + 63 * 32);
	ALL_LDS(2048 + 4 * l, 1000 + l); /* compared with v26 = what is there */
	ALL(21, 500 + 512 + l);
	ALL_LDS(2560 + 4 * l, 1000 + l - (500 + 640 + l));                       /* rsub */
	ALL_LDS(3072 + 4 * l, ((500u + 768 + l) & ~(0x900u + l)) | (0xb00 + l)); /* mskor */
	ALL_LDS(3328 + 4 * l, f32_bits(1.0f + (float)l)); /* max of a denormal and 1 + lane */
}

static void ds_lanes(void)
{
	ALL(20, 1000 + (l + 1) % 64);        /* bpermute */
	ALL(21, 1000 + (l + 63) % 64);       /* permute pushes the other way */
	ALL(22, l ^ 1);                      /* swizzle, xor 1 */
	ALL(23, (l & ~3u) | (3 - (l & 3)));  /* quads reversed */
	ALL(26, l & 1 ? 1000 + l : OLD(26)); /* sources that are off give 0 */
	ALL(27, l & 1 ? 0 : OLD(27));
}

static void ds_m0(void)
{
	ALL(20, 500 + 64 + 2 + l);
	ALL_LDS(256 + 512 + 4 * l, 1000 + l);
	ALL(21, 500 + 64 + 0);
	CHECK_EQ(lds32(256), 500 + 64 + 64 - 32);
	ALL(22, l < 32 ? 500 + 64 + 64 : OLD(22));
}

static const struct piece pieces[] = {
	{"ds, words", ds_words,
	 "ds_read_b32 v20, v1\n ds_read_b64 v[22:23], v1 offset:8\n ds_write_b32 v1, v8 offset:1024\n"
	 "ds_read_b32 v21, v1 offset:4096\n v_lshlrev_b32 v26, 4, v0\n ds_write_b96 v26, v[10:12] offset:2048\n"
	 "v_mov_b32 v27, v26\n ds_write_b32 v26, v13 offset:2060\n ds_read_b128 v[26:29], v27 offset:2048",
	 1},
	{"ds, beyond", beyond_lds,
	 "v_add_u32 v26, 0x800, v1\n ds_read2_b32 v[20:21], v1 offset0:0 offset1:0\n"
	 "v_add_u32 v30, 0xf80, v1\n ds_read_b32 v22, v30\n v_add_u32 v18, 0xf80, v16\n v_mov_b32 v19, v17\n"
	 "flat_load_dword v23, v[18:19]\n ds_add_u32 v30, v8\n v_mov_b32 v26, 0x1000\n"
	 "ds_read2_b32 v[20:21], v1 offset0:0 offset1:0\n ds_read_b32 v21, v26\n"
	 "ds_write2st64_b32 v1, v8, v9 offset0:0 offset1:16\n v_mov_b32 v27, -1\n ds_add_rtn_u32 v27, v26, v8\n"
	 "s_movk_i32 m0, 0x1000\n s_mov_b64 exec, 1\n ds_append v28",
	 7},
	{"ds, parked", parked,
	 "v_mov_b32 v26, 0xf00000\n ds_write_b32 v26, v8\n ds_read_b32 v20, v26\n v_mov_b32 v27, 0x10000\n"
	 "ds_read_b64 v[22:23], v27\n v_mov_b32 v28, -4\n ds_read_b32 v21, v28",
	 1},
	{"ds, pairs", ds_pairs,
	 "ds_read2_b32 v[20:21], v1 offset0:2 offset1:128\n ds_read2st64_b32 v[22:23], v1 offset0:1 offset1:3\n"
	 "v_add_u32 v26, 1024, v1\n ds_write2st64_b32 v26, v10, v11 offset0:0 offset1:4"},
	{"ds, parts", ds_sub,
	 "ds_read_u8 v20, v1 offset:1\n ds_read_i16 v21, v1\n ds_read_u16_d16_hi v22, v1\n"
	 "ds_write_b8 v1, v10 offset:1024\n ds_write_b16_d16_hi v1, v23 offset:2048"},
	{"ds atomics", ds_atomics,
	 "ds_add_rtn_u32 v20, v1, v8\n v_mov_b32 v26, 0\n ds_add_u32 v26, v8 offset:1024\n"
	 "ds_read_b32 v26, v1 offset:2048\n ds_cmpst_rtn_b32 v21, v1, v26, v8 offset:2048\n"
	 "ds_rsub_u32 v1, v8 offset:2560\n ds_mskor_b32 v1, v10, v11 offset:3072\n ds_max_f32 v1, v9 offset:3328"},
	{"ds, across lanes", ds_lanes,
	 "v_add_u32 v26, 4, v1\n ds_bpermute_b32 v20, v26, v8\n ds_permute_b32 v21, v26, v8\n"
	 "ds_swizzle_b32 v22, v0 offset:swizzle(SWAP,1)\n ds_swizzle_b32 v23, v0 offset:swizzle(QUAD_PERM,3,2,1,0)\n"
	 "v_mov_b32 v28, v26\n v_mov_b32 v26, v30\n v_and_b32 v26, 0xff, v30\n v_or_b32 v26, 0xd5d51a00, v26\n"
	 "s_mov_b32 exec_lo, 0xaaaaaaaa\n s_mov_b32 exec_hi, exec_lo\n ds_bpermute_b32 v26, v1, v8\n"
	 "ds_bpermute_b32 v27, v28, v8"},
	{"ds, M0", ds_m0,
	 "ds_read_addtid_b32 v20 offset:8\n ds_write_addtid_b32 v8 offset:512\n ds_append v21\n"
	 "s_mov_b32 exec_hi, 0\n ds_consume v22"},
};

int main(void)
{
	static const char *const chips[] = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"};

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(*chips); n++)
		test_pieces(chips[n], false, pieces, sizeof(pieces) / sizeof(*pieces));
	return check_done("LDS instructions");
}
