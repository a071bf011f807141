/* Hazards from GFX10 on: each rule broken, kept in each way that its sources name, and broken on a chip that does not
 * have it (test_wave.h has the registers). */
#include "vgpu/isa/test_later.h"

/* Chips of a rule, as pairs of first and last. */
#define NAVI1      NULL, "gfx1019"
#define NAVI       NULL, "gfx1099"
#define NAVI2      "gfx1030", "gfx1099"
#define GFX11      "gfx1100", "gfx1199"
#define FROM_11    "gfx1100", NULL
#define FROM_NAVI2 "gfx1030", NULL

#define CMPX   "v_cmpx_gt_u32 32, v0\n"
#define PERM   "v_permlane16_b32 v20, v8, s16, s17\n"
#define TRANS  "v_rcp_f32 v20, v9\n"
#define TIMES5 "v_mov_b32 v26, 1\n v_mov_b32 v27, 2\n v_mov_b32 v26, 3\n v_mov_b32 v27, 4\n v_mov_b32 v26, 5\n"
#define LOAD   "global_load_dword v20, v1, s[18:19]\n"
#define STORE  "global_store_dword v1, v8, s[18:19]\n"
#define LDS    "ds_read_b32 v21, v1\n"
#define BRANCH "s_branch 1f\n 1:\n"
#define PART(between, after)                                                                                       \
	"v_mov_b32 v20, v8\n s_mov_b64 exec, -1\n" between "v_mov_b32 v21, v8\n" after "v_add_f32 v22, v20, v21\n"
#define MASK "v_cndmask_b32 v20, v8, v9, s[24:25]\n"

static const struct later_piece pieces[] = {
	/* row 124 */
	{"v_cmpx, v_permlane", NULL, CMPX PERM, NAVI1, 0, 1},
	{"v_cmpx, v_nop, v_permlane", NULL, CMPX "v_nop\n" PERM, NAVI1, 0, 1},
	{"v_cmpx, s_nop, v_permlane", NULL, CMPX "s_nop 7\n" PERM, NAVI1, 0, 1},
	{"v_cmpx, v_mov, v_permlane", NULL, CMPX "v_mov_b32 v8, v8\n" PERM, NAVI1, 0, 0},
	{"v_cmpx, v_permlane of GFX10.3", NULL, CMPX PERM, NAVI2, 0, 0},
	{"v_cmpx, v_permlane of GFX11", NULL, CMPX PERM, FROM_11, 0, 1},
	{"v_cmpx, v_permlane64", NULL, CMPX "v_permlane64_b32 v20, v8\n", FROM_11, 0, 1},
	{"v_cmpx, v_nop, v_permlane of GFX11", NULL, CMPX "v_nop\n" PERM, FROM_11, 0, 0},
	{"v_cmp is no v_cmpx", NULL, "v_cmp_gt_u32 vcc, 32, v0\n" PERM, NULL, NULL, 64, 0},

	{"memory reads an SGPR that is written", NULL, LOAD "s_mov_b32 s18, 0\n", NAVI1, 0, 1},
	{"a store, too", NULL, STORE "s_mov_b32 s19, 0\n", NAVI1, 0, 1},
	{"EXEC is read by all", NULL, LOAD "s_mov_b32 exec_lo, 0\n", NAVI1, 32, 1},
	{"LDS reads EXEC", NULL, LDS "s_mov_b32 exec_lo, 0\n", NAVI1, 32, 1},
	{"scalar memory writes it", NULL, LOAD "s_load_dword s18, s[0:1], 0x0\n", NAVI1, 0, 1},
	{"another SGPR", NULL, LOAD "s_mov_b32 s20, 0\n", NAVI1, 0, 0},
	{"a vector instruction between", NULL, LOAD "v_mov_b32 v26, 0\n s_mov_b32 s18, 0\n", NAVI1, 0, 0},
	{"a wait between", NULL, LOAD "s_waitcnt vmcnt(0)\n s_mov_b32 s18, 0\n", NAVI1, 0, 0},
	{"a wait for LDS between", NULL, LOAD "s_waitcnt lgkmcnt(0)\n s_mov_b32 s18, 0\n", NAVI1, 0, 1},
	{"a wait for stores between", NULL, STORE "s_waitcnt_vscnt null, 0\n s_mov_b32 s18, 0\n", NAVI1, 0, 0},
	{"a wait for the sources between", NULL, LOAD "s_waitcnt_depctr 0xffe3\n s_mov_b32 s18, 0\n", NAVI1, 0, 0},
	{"another dependency", NULL, LOAD "s_waitcnt_depctr 0x0fff\n s_mov_b32 s18, 0\n", NAVI1, 0, 1},
	{"GFX10.3 waits by itself", NULL, LOAD "s_mov_b32 s18, 0\n", FROM_NAVI2, 0, 0},

	{"scalar memory reads what v_cmp writes", NULL,
	 "s_load_dword s24, s[18:19], 0x0\n v_cmp_eq_u32 s[18:19], v0, v1\n", NAVI1, 64, 1},
	{"v_readlane, too", NULL, "s_load_dword s24, s[18:19], 0x0\n v_readfirstlane_b32 s19, v0\n", NAVI1, 0, 1},
	{"a scalar instruction between", NULL,
	 "s_load_dword s24, s[18:19], 0x0\n s_mov_b32 null, 0\n v_readfirstlane_b32 s19, v0\n", NAVI1, 0, 0},
	{"SOPP between", NULL, "s_load_dword s24, s[18:19], 0x0\n s_nop 3\n v_readfirstlane_b32 s19, v0\n", NAVI1,
	 0, 1},
	{"a wait for other counters", NULL,
	 "s_load_dword s24, s[18:19], 0x0\n s_waitcnt_vscnt null, 0\n v_readfirstlane_b32 s19, v0\n", NAVI1, 0, 1},
	{"a wait for it", NULL,
	 "s_load_dword s24, s[18:19], 0x0\n s_waitcnt lgkmcnt(0)\n v_readfirstlane_b32 s19, v0\n", NAVI1, 0, 0},
	{"not on GFX10.3", NULL, "s_load_dword s24, s[18:19], 0x0\n v_readfirstlane_b32 s19, v0\n", FROM_NAVI2, 0,
	 0},

	{"EXEC is read, then written by v_cmpx", NULL, "s_mov_b32 s24, exec_lo\n" CMPX, NAVI1, 0, 1},
	{"v_cmp between", NULL, "s_mov_b32 s24, exec_lo\n v_cmp_eq_u32 vcc_lo, v0, v1\n" CMPX, NAVI1, 32, 0},
	{"v_mov does not help", NULL, "s_mov_b32 s24, exec_lo\n v_mov_b32 v26, 0\n" CMPX, NAVI1, 0, 1},
	{"a wait for scalar results between", NULL, "s_mov_b32 s24, exec_lo\n s_waitcnt_depctr 0xfffe\n" CMPX,
	 NAVI1, 0, 0},
	{"EXEC is read, GFX10.3", NULL, "s_mov_b32 s24, exec_lo\n" CMPX, FROM_NAVI2, 0, 0},

	{"LDS, branch, memory", NULL, LDS BRANCH LOAD, NAVI1, 0, 1},
	{"memory, branch, LDS", NULL, STORE BRANCH LDS, NAVI1, 0, 1},
	{"no branch", NULL, LDS LOAD, NAVI1, 0, 0},
	{"LDS on both sides", NULL, LDS BRANCH LDS, NAVI1, 0, 0},
	{"a wait for stores behind the branch", NULL, LDS BRANCH "s_waitcnt_vscnt null, 0\n" LOAD, NAVI1, 0, 0},
	{"a wait for stores before the branch", NULL, LDS "s_waitcnt_vscnt null, 0\n" BRANCH LOAD, NAVI1, 0, 0},
	{"a wait for some stores", NULL, LDS BRANCH "s_waitcnt_vscnt null, 1\n" LOAD, NAVI1, 0, 1},
	{"flat is neither", NULL, LDS BRANCH "flat_load_dword v20, v[2:3]\n", NAVI1, 0, 0},
	{"LDS, branch, memory on GFX10.3", NULL, LDS BRANCH LOAD, FROM_NAVI2, 0, 0},

	{"an image with many addresses, then a buffer", NULL,
	 "s_mov_b64 exec, 0\n s_brev_b32 s11, 9\n image_sample_d v20, [v0, v1, v8, v9, v10, v11], s[8:15], s[4:7] dmask:0x1 "
	 "dim:SQ_RSRC_IMG_2D\n buffer_load_dword v21, v1, s[4:7], 0 offen offset:4\n",
	 NAVI1, 64, 1},
	{"an offset that does not matter", NULL,
	 "s_mov_b64 exec, 0\n s_brev_b32 s11, 9\n image_sample_d v20, [v0, v1, v8, v9, v10, v11], s[8:15], s[4:7] dmask:0x1 "
	 "dim:SQ_RSRC_IMG_2D\n buffer_load_dword v21, v1, s[4:7], 0 offen offset:8\n",
	 NAVI1, 64, 0},
	{"s_nop between image and buffer", NULL,
	 "s_mov_b64 exec, 0\n s_brev_b32 s11, 9\n image_sample_d v20, [v0, v1, v8, v9, v10, v11], s[8:15], s[4:7] dmask:0x1 "
	 "dim:SQ_RSRC_IMG_2D\n s_nop 0\n buffer_load_dword v21, v1, s[4:7], 0 offen offset:4\n",
	 NAVI1, 64, 0},

	{"a float atomic, then s_denorm_mode", NULL,
	 "global_atomic_fmin v1, v9, s[18:19]\n s_nop 1\n s_denorm_mode 15\n", NAVI, 0, 1},
	{"3 wait states", NULL, "global_atomic_fmin v1, v9, s[18:19]\n s_nop 2\n s_denorm_mode 15\n", NAVI, 0, 0},
	{"a wait before s_denorm_mode", NULL,
	 "global_atomic_fmin v1, v9, s[18:19]\n s_waitcnt vmcnt(63)\n s_denorm_mode 15\n", NAVI, 0, 0},
	{"an integer atomic", NULL, "global_atomic_smin v1, v9, s[18:19]\n s_denorm_mode 15\n", NAVI, 0, 0},

	{"sources before and after EXEC", NULL, PART("", ""), GFX11, 64, 1},
	{"2 vector instructions between the writes", NULL, PART("v_mov_b32 v26, 0\n v_mov_b32 v26, 0\n", ""), GFX11,
	 64, 1},
	{"3 vector instructions between the writes", NULL,
	 PART("v_mov_b32 v26, 0\n v_mov_b32 v26, 0\n v_mov_b32 v26, 0\n", ""), GFX11, 64, 0},
	{"4 vector instructions after them", NULL,
	 PART("", "v_mov_b32 v26, 0\n v_mov_b32 v26, 0\n v_mov_b32 v26, 0\n v_mov_b32 v26, 0\n"), GFX11, 64, 1},
	{"5 vector instructions after them", NULL, PART("", TIMES5), GFX11, 64, 0},
	{"a wait for vector results", NULL, PART("", "s_waitcnt_depctr 0x0fff\n"), GFX11, 64, 0},
	{"a memory instruction waits for them", NULL, PART("", STORE), GFX11, 64, 0},
	{"EXEC before both", NULL,
	 "s_mov_b64 exec, -1\n v_mov_b32 v20, v8\n v_mov_b32 v21, v8\n v_add_f32 v22, v20, v21\n", GFX11, 64, 0},
	{"a wave of 32", NULL,
	 "v_mov_b32 v20, v8\n s_mov_b32 exec_lo, -1\n v_mov_b32 v21, v8\n v_add_f32 v22, v20, v21\n", GFX11, 32, 0},

	{"a transcendental result", NULL, TRANS "v_mov_b32 v21, v20\n", GFX11, 0, 1},
	{"5 vector instructions behind it", NULL, TRANS TIMES5 "v_mov_b32 v21, v20\n", GFX11, 0, 1},
	{"6 vector instructions behind it", NULL, TRANS TIMES5 "v_mov_b32 v26, 6\n v_mov_b32 v21, v20\n", GFX11, 0,
	 0},
	{"2 transcendental ones behind it", NULL,
	 TRANS "v_rcp_f32 v26, v9\n v_rcp_f32 v27, v9\n v_mov_b32 v21, v20\n", GFX11, 0, 0},
	{"a wait for vector results behind it", NULL, TRANS "s_waitcnt_depctr 0x0fff\n v_mov_b32 v21, v20\n", GFX11,
	 0, 0},
	{"s_delay_alu is a hint", NULL, TRANS "s_delay_alu 0x5\n v_mov_b32 v21, v20\n", GFX11, 0, 1},
	{"a transcendental result in a dual instruction", NULL,
	 TRANS "v_dual_mov_b32 v22, v8 :: v_dual_add_f32 v23, v21, v20\n", GFX11, 32, 1},
	{"dual instructions count as one", NULL,
	 TRANS ".rept 4\n v_dual_mov_b32 v22, v8 :: v_dual_mov_b32 v23, v9\n .endr\n v_mov_b32 v21, v20\n", GFX11,
	 32, 1},
	{"GFX12 waits by itself", NULL, TRANS "v_mov_b32 v21, v20\n", "gfx1200", NULL, 0, 0},

	{"a mask is read, written and read", NULL, MASK "s_mov_b32 s24, 0\n s_mov_b32 s26, s24\n", GFX11, 64, 1},
	{"and read by a vector instruction", NULL, MASK "s_mov_b64 s[24:25], 0\n v_mov_b32 v21, s25\n", GFX11, 64,
	 1},
	{"a wait for scalar results", NULL,
	 MASK "s_mov_b32 s24, 0\n s_waitcnt_depctr 0xfffe\n s_mov_b32 s26, s24\n", GFX11, 64, 0},
	{"another SGPR is read in between", NULL,
	 MASK "v_mov_b32 v21, s16\n s_mov_b32 s24, 0\n s_mov_b32 s26, s24\n", GFX11, 64, 0},
	{"an SGPR that was no mask", NULL, "v_mov_b32 v20, s24\n s_mov_b32 s24, 0\n s_mov_b32 s26, s24\n", GFX11,
	 64, 0},
	{"VCC as a mask", NULL, "v_cndmask_b32 v20, v8, v9, vcc\n s_mov_b64 vcc, 0\n s_cbranch_vccnz 1f\n 1:\n",
	 GFX11, 64, 1},
	{"a mask of another function", NULL,
	 MASK "s_getpc_b64 s[26:27]\n s_add_u32 s26, s26, 16\n s_addc_u32 s27, s27, 0\n s_setpc_b64 s[26:27]\n"
	      "s_mov_b32 s24, 0\n s_mov_b32 s28, s24\n",
	 GFX11, 64, 0},
	{"a mask on GFX12", NULL, MASK "s_mov_b32 s24, 0\n s_mov_b32 s26, s24\n", "gfx1200", NULL, 64, 0},

	{"a product is a factor", NULL,
	 "v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[0:7], v[16:23]\n"
	 "v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[0:7], v[8:15]\n",
	 GFX11, 32, 1},
	{"a product is an addend", NULL,
	 "v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[0:7], v[16:23]\n"
	 "v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[0:7], v[16:23]\n",
	 GFX11, 32, 0},
	{"v_nop between products", NULL,
	 "v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[0:7], v[16:23]\n v_nop\n"
	 "v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[0:7], v[8:15]\n",
	 GFX11, 32, 0},
	{"a product is an index", NULL,
	 "v_wmma_f32_16x16x16_f16 v[16:23], v[0:3], v[0:3], v[16:23]\n"
	 "v_swmmac_f32_16x16x32_f16 v[8:15], v[0:3], v[0:7], v16\n",
	 "gfx1200", NULL, 32, 1},

	{"registers are freed", NULL, "s_nop 0\n s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\n", FROM_11, 0, 0},
	{"registers are freed without s_nop", NULL, "s_mov_b32 s24, 0\n s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\n",
	 FROM_11, 0, 1},

	{"a branch over 0x3f dwords", NULL, "s_cbranch_scc1 0x3f\n", NAVI1, 0, 1},
	{"a branch over 0x3e dwords", NULL, "s_cbranch_scc1 0x3e\n", NAVI1, 0, 0},
	{"a branch over 0x3f dwords on GFX10.3", NULL, "s_cbranch_scc1 0x3f\n", FROM_NAVI2, 0, 0},
};

/* The last piece alone gives a remark, and none a finding. */
static const struct later_piece remarks[] = {
	{"waited for", NULL, "v_mov_b32 v20, s24\n s_mov_b32 s24, 0\n s_wait_alu 0xfffe\n v_mov_b32 v21, s24\n",
	 NULL, NULL, 0, 0},
	{"long ago", NULL,
	 "v_mov_b32 v20, s24\n s_mov_b32 s24, 0\n .rept 11\n s_mov_b32 s26, 0\n .endr\n v_mov_b32 v21, s24\n", NULL,
	 NULL, 0, 0},
	{"not read before", NULL, "v_mov_b32 v20, s26\n s_mov_b32 s24, 0\n v_mov_b32 v21, s24\n", NULL, NULL, 0, 0},
	{"another half of the pair was read", NULL,
	 "v_mov_b32 v20, s25\n s_mov_b32 s24, 0\n .rept 10\n s_mov_b32 s26, 0\n .endr\n v_mov_b32 v21, s24\n", NULL,
	 NULL, 0, 0},
};

static void test_remarks(void)
{
	unsigned count = sizeof(remarks) / sizeof(*remarks);

	test_later("gfx1200", true, true, remarks, count - 1);
	CHECK_EQ(vgpu_remarks(), 0);
	test_later("gfx1200", true, true, remarks, count);
	CHECK_EQ(vgpu_remarks(), 1);
}

int main(void)
{
	static const char *const chips[] = {"gfx1010", "gfx1012", "gfx1030", "gfx1100", "gfx1200"};

	vgpu_strict_set(VGPU_STRICT_OFF);
	test_remarks();
	for (unsigned n = 0; n < sizeof(chips) / sizeof(*chips); n++)
		for (unsigned wave32 = 0; wave32 < 2; wave32++)
			test_later(chips[n], wave32, true, pieces, sizeof(pieces) / sizeof(*pieces));
	return check_done("hazards from GFX10 on");
}
