/* Registers above those that a dispatch grants: 32 VGPRs (and on gfx908 as many AGPRs), 96 SGPRs. A source reads
 * register 0, an instruction with such a result does nothing (test_wave.h has the registers). */
#include "vgpu/isa/test_pieces.h"

/* row 93 */
static void source_is_v0(void)
{
	ALL(20, l);
	ALL(21, 1000 + l + l);
}

static void result_is_lost(void)
{
	ALL(20, OLD(20));
	ALL(31, OLD(31));
	ALL(21, 1000 + l);
}

static void wide_over_the_end(void)
{
	ALL(31, OLD(31));
	ALL(30, OLD(30));
}

static void loads_are_dropped(void)
{
	ALL(31, OLD(31));
	ALL(30, OLD(30));
}

static void stores_take_v0(void)
{
	ALL_DATA(1024 + 4 * l, l);
}

static void scalar_source_is_s0(void)
{
	CHECK_EQ(S(24), (uint32_t)D);
	CHECK_EQ(S(26), (uint32_t)D + 64);
	ALL(20, (uint32_t)D);
}

static void scalar_result_is_lost(void)
{
	CHECK_EQ(S(96), 0);
	CHECK_EQ(S(97), 0);
	CHECK_EQ(S(100), 0);
	CHECK_EQ(S(24), 7);
}

static void indexed(void)
{
	ALL(20, l);
	ALL(21, OLD(21));
	ALL(22, 1000 + l);
}

static const struct piece pieces[] = {
	{"VGPR sources", source_is_v0, "v_mov_b32 v20, v32\n v_add_u32 v21, v8, v255", 2},
	{"VGPR result", result_is_lost, "v_mov_b32 v32, v8\n v_mov_b32 v255, v8\n v_mov_b32 v21, v8", 2},
	{"the last VGPR", NULL, "v_mov_b32 v31, v31\n v_lshlrev_b64 v[30:31], 1, v[30:31]"},
	{"a pair over the end", wide_over_the_end, "v_lshlrev_b64 v[31:32], 1, v[2:3]", 1, "gfx900"},
	{"loads", loads_are_dropped,
	 "global_load_dwordx4 v[30:33], v[2:3], off\n ds_read_b32 v32, v1\n buffer_load_dword v40, v1, s[4:7], 0 offen",
	 3},
	{"stores", stores_take_v0, "global_store_dword v[2:3], v100, off offset:1024", 1},
	{"compares", NULL, "v_cmp_eq_u32 vcc, v0, v32\n v_cmp_eq_u32 vcc, v0, v31", 1},
	{"SGPR sources", scalar_source_is_s0, "s_mov_b32 s24, s96\n s_add_u32 s26, s101, s16\n v_mov_b32 v20, s97",
	 3},
	{"SGPR results", scalar_result_is_lost,
	 "s_mov_b32 s96, 7\n v_readfirstlane_b32 s100, v8\n s_mov_b32 s24, 7\n s_load_dwordx2 s[96:97], s[0:1], 0x4",
	 3},
	{"the last SGPR", NULL, "s_mov_b32 s95, 7\n s_mov_b64 s[94:95], exec"},
	{"AGPRs", NULL, "v_accvgpr_write_b32 a32, v8\n v_accvgpr_read_b32 v20, a255\n v_accvgpr_write_b32 a31, v8",
	 2, "gfx908"},
	{"relative registers", indexed,
	 "s_movk_i32 s24, 200\n s_set_gpr_idx_on s24, 1\n v_mov_b32 v20, v2\n s_set_gpr_idx_off\n"
	 "s_set_gpr_idx_on s24, 8\n v_mov_b32 v21, v8\n s_set_gpr_idx_off\n v_mov_b32 v22, v8",
	 2},
	{"relative SGPRs", NULL,
	 "s_movk_i32 m0, 0x5f\n s_nop 0\n s_movrels_b32 s24, s0\n s_movreld_b32 s0, s24\n s_movk_i32 m0, 0x60\n s_nop 0\n"
	 "s_movrels_b32 s24, s0\n s_movreld_b32 s0, s24",
	 2},
	{"code that does not run", NULL, "s_branch .Lover\n v_mov_b32 v20, v32\n .Lover: v_mov_b32 v20, v31"},
	{"code that is branched to", NULL, "s_branch .Lthere\n v_nop\n .Lthere: v_mov_b32 v20, v32", 1},
};

int main(void)
{
	static const char *const chips[] = {"gfx900", "gfx908", "gfx90a", "gfx942"};

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(*chips); n++)
		for (unsigned checked = 0; checked < 2; checked++)
			test_pieces(chips[n], checked, pieces, sizeof(pieces) / sizeof(*pieces));
	return check_done("registers that are not granted");
}
