/* Wait states: each rule one state short, and with as many as it needs (test_wave.h has the registers). */
#include "vgpu/isa/test_pieces.h"

#define RLANE "v_readfirstlane_b32 s24, v0\n"

static const struct piece pieces[] = {
	/* row 124 */
	{"SGPR to memory, short", NULL, RLANE "s_nop 3\n global_load_dword v20, v1, s[24:25]", 1},
	{"SGPR to memory", NULL,
	 "v_readfirstlane_b32 s16, v0\n s_nop 4\n buffer_load_dword v20, v1, s[4:7], s16 offen"},
	{"SGPR to a buffer, short", NULL,
	 "v_readfirstlane_b32 s16, v0\n s_nop 3\n buffer_load_dword v20, v1, s[4:7], s16 offen", 1},
	{"another SGPR", NULL, RLANE "buffer_load_dword v20, v1, s[4:7], s16 offen"},
	{"an SGPR of the scalar unit", NULL, "s_mov_b32 s16, 4\n buffer_load_dword v20, v1, s[4:7], s16 offen"},
	{"states are instructions too", NULL,
	 "v_readfirstlane_b32 s16, v0\n s_nop 0\n v_mov_b32 v26, 1\n s_mov_b32 s26, 1\n s_setprio 1\n s_waitcnt 0\n"
	 "buffer_load_dword v20, v1, s[4:7], s16 offen"},
	{"lane select, short", NULL, RLANE "s_nop 2\n v_readlane_b32 s26, v8, s24", 1},
	{"lane select", NULL, RLANE "s_nop 3\n v_readlane_b32 s26, v8, s24"},
	{"lane select to write, short", NULL, RLANE "s_nop 2\n v_writelane_b32 v20, 7, s24", 1},
	{"division, short", NULL, "v_cmp_eq_u32 vcc, v0, v1\n s_nop 2\n v_div_fmas_f32 v20, v9, v9, v9", 1},
	{"division", NULL, "v_cmp_eq_u32 vcc, v0, v1\n s_nop 3\n v_div_fmas_f32 v20, v9, v9, v9"},
	{"DPP, short", NULL, "v_mov_b32 v20, v8\n s_nop 0\n v_mov_b32_dpp v21, v20 row_shr:1", 1},
	{"DPP", NULL, "v_mov_b32 v20, v8\n s_nop 1\n v_mov_b32_dpp v21, v20 row_shr:1"},
	{"EXEC to DPP, short", NULL, "v_cmpx_ge_u32 vcc, v1, v0\n s_nop 3\n v_mov_b32_dpp v21, v8 row_shr:1", 1},
	{"EXEC to DPP", NULL, "v_cmpx_ge_u32 vcc, v1, v0\n s_nop 4\n v_mov_b32_dpp v21, v8 row_shr:1"},
	{"M0, short", NULL, "s_mov_b32 m0, 0\n s_movrels_b32 s24, s16", 1},
	{"M0", NULL, "s_mov_b32 m0, 0\n s_nop 0\n s_movrels_b32 s24, s16"},
	{"M0 to LDS, short", NULL, "s_mov_b32 m0, 0\n global_load_dword v[2:3], off lds", 1},
	{"hardware registers, short", NULL,
	 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0\n s_nop 0\n s_getreg_b32 s24, hwreg(HW_REG_MODE)", 1},
	{"hardware registers", NULL,
	 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0\n s_nop 1\n s_getreg_b32 s24, hwreg(HW_REG_MODE)"},
	{"another hardware register", NULL,
	 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0\n s_getreg_b32 s24, hwreg(HW_REG_HW_ID)"},
	{"data of a wide store, short", NULL,
	 "global_store_dwordx4 v[2:3], v[10:13], off offset:1024\n v_mov_b32 v13, 0", 1},
	{"data of a wide store", NULL,
	 "global_store_dwordx4 v[2:3], v[10:13], off offset:1024\n s_nop 1\n v_mov_b32 v13, 0"},
	{"data of a narrow store", NULL,
	 "global_store_dwordx2 v[2:3], v[10:11], off offset:1024\n v_mov_b32 v11, 0"},
	{"data of a store with an SGPR", NULL,
	 "buffer_store_dwordx4 v[10:13], v1, s[4:7], s16 offen\n v_mov_b32 v13, 0"},
	{"through a branch", NULL, RLANE "s_branch .Lon\n .Lon: s_nop 1\n v_readlane_b32 s26, v8, s24", 1},
	{"wide store, gfx942, short", NULL,
	 "global_store_dwordx4 v[2:3], v[10:13], off offset:1024\n s_nop 0\n v_mov_b32 v13, 0", 1, "gfx942"},
	{"SGPR to vector, short", NULL, RLANE "s_nop 0\n v_mov_b32 v20, s24", 1, "gfx942"},
	{"SGPR to vector", NULL, RLANE "s_nop 1\n v_mov_b32 v20, s24", 0, "gfx942"},
	{"SGPR to vector, elders", NULL, RLANE "v_mov_b32 v20, s24", 0, "gfx90a"},
	{"EXEC to lanes, short", NULL, "v_cmpx_ge_u32 vcc, v1, v0\n s_nop 2\n v_readfirstlane_b32 s24, v8", 1,
	 "gfx942"},
	{"EXEC to lanes", NULL, "v_cmpx_ge_u32 vcc, v1, v0\n s_nop 3\n v_readfirstlane_b32 s24, v8", 0, "gfx942"},
	{"VGPR to lanes, short", NULL, "v_mov_b32 v20, v8\n v_readlane_b32 s24, v20, 3", 1, "gfx942"},
	{"VGPR to lanes", NULL, "v_mov_b32 v20, v8\n s_nop 0\n v_readlane_b32 s24, v20, 3", 0, "gfx942"},
	{"transcendental, short", NULL, "v_rcp_f32 v20, v9\n v_add_f32 v21, v20, v9", 1, "gfx942"},
	{"transcendental", NULL, "v_rcp_f32 v20, v9\n v_sqrt_f32 v21, v20\n v_add_f32 v22, v20, v9", 0, "gfx942"},
	{"part of a register, short", NULL,
	 "v_mov_b32_sdwa v20, v8 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD\n v_add_u32 v21, v20, v9",
	 1, "gfx942"},
	{"part of a register", NULL,
	 "v_mov_b32_sdwa v20, v8 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD\n s_nop 0\n"
	 "v_add_u32 v21, v20, v9",
	 0, "gfx942"},
};

int main(void)
{
	static const char *const chips[] = {"gfx900", "gfx908", "gfx90a", "gfx942"};

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(*chips); n++)
		test_pieces(chips[n], true, pieces, sizeof(pieces) / sizeof(*pieces));
	return check_done("wait states");
}
