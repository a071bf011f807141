/* Waits that are missing, and those that are there, from GFX10 on: what each counter tells (test_wave.h has the
 * registers). Where a wait has one name up to GFX11 and another on GFX12, a piece has both forms. */
#include "vgpu/isa/test_later.h"

#define POISON 0xd5d5d5d5u

/* row 122: who is too early reads poison; the load arrives all the same. */
static void too_early(void)
{
	ALL_LANES(21, POISON);
	ALL_LANES(22, was(4 * l));
}

static void scalar_too_early(void)
{
	CHECK_EQ(S(26), POISON);
	CHECK_EQ(S(27), was(4));
}

/* v21, v23 and v24; v20 and v22 are holes. */
static void block_too_early(void)
{
	ALL_LANES(22, OLD(20));
	ALL_LANES(26, POISON);
	ALL_LANES(23, was(4 * l + 12));
}

/* Both halves are loaded. */
static void check_two_halves(void)
{
	ALL_LANES(20, (was(4 * l) & 0xffff) | was(4 * l + 4) << 16);
}

#define LOAD  "global_load_dword v20, v[2:3], off\n"
#define LOW   "global_load_d16_b16 v20, v[2:3], off\n"
#define HIGH  "global_load_d16_hi_b16 v20, v[2:3], off offset:4\n"
#define LOAD2 "global_load_dword v21, v[2:3], off\n"
#define STORE "global_store_dword v[2:3], v8, off offset:1024\n"
#define USE   "v_mov_b32 v22, v20\n"
#define USE2  "v_mov_b32 v22, v21\n"

static const struct later_piece pieces[] = {
	BOTH("a load is read too early", too_early, LOAD "v_mov_b32 v21, v20\n", "s_waitcnt vmcnt(0)\n",
	     "s_wait_loadcnt 0\n", USE, 1),
	BOTH("a load is waited for", NULL, LOAD, "s_waitcnt vmcnt(0)\n", "s_wait_loadcnt 0\n", USE, 0),
	BOTH("LDS's counter says nothing of memory", NULL, LOAD, "s_waitcnt lgkmcnt(0)\n", "s_wait_dscnt 0\n", USE,
	     1),
	BOTH("the first of two", NULL, LOAD LOAD2, "s_waitcnt vmcnt(1)\n", "s_wait_loadcnt 1\n", USE, 0),
	BOTH("the second of two", NULL, LOAD LOAD2, "s_waitcnt vmcnt(1)\n", "s_wait_loadcnt 1\n", USE2, 1),
	BOTH("stores do not count with loads", NULL, LOAD STORE, "s_waitcnt vmcnt(1)\n", "s_wait_loadcnt 1\n", USE,
	     1),
	BOTH("stores have a counter", NULL, LOAD STORE, "s_waitcnt_vscnt null, 0\n", "s_wait_storecnt 0\n", USE, 1),
	BOTH("atomics without a result are stores", NULL, LOAD "global_atomic_add v[2:3], v8, off\n",
	     "s_waitcnt vmcnt(1)\n", "s_wait_loadcnt 1\n", USE, 1),
	{"atomics with a result are loads", NULL,
	 LOAD "global_atomic_add v21, v[2:3], v8, off glc\n s_waitcnt vmcnt(1)\n" USE, NULL, "gfx1199", 0, 0},
	{"atomics with a result are loads", NULL,
	 LOAD "global_atomic_add_u32 v21, v[2:3], v8, off th:TH_ATOMIC_RETURN\n s_wait_loadcnt 1\n" USE, "gfx1200",
	 NULL, 0, 0},
	{"a counter at a time", NULL, LOAD "s_waitcnt_vmcnt null, 0\n" USE, NULL, "gfx1199", 0, 0},
	/* s_waitcnt_vmcnt s24, 0: LLVM takes NULL alone */
	{"a counter and a register", NULL, "s_mov_b32 s24, 1\n" LOAD LOAD2 ".long 0xbc180000\n" USE USE2, NULL,
	 "gfx1099", 0, 1},
	{"LDS's counter alone", NULL, "ds_read_b32 v20, v1\n s_waitcnt_lgkmcnt null, 0\n" USE, NULL, "gfx1199", 0,
	 0},
	{"a counter and the next", NULL, LOAD "ds_read_b32 v21, v1\n s_wait_loadcnt_dscnt 0x0\n" USE USE2,
	 "gfx1200", NULL, 0, 0},
	{"the fields of both", NULL,
	 LOAD LOAD2 "ds_read_b32 v26, v1\n ds_read_b32 v27, v1\n s_wait_loadcnt_dscnt 0x102\n" USE
		    "v_mov_b32 v23, v26\n",
	 "gfx1200", NULL, 0, 1},
	{"stores and LDS", NULL, "ds_read_b32 v20, v1\n s_wait_storecnt_dscnt 0x3f00\n" USE, "gfx1200", NULL, 0, 0},
	{"all counters", NULL,
	 LOAD "ds_read_b32 v21, v1\n s_load_dword s24, s[0:1], 0x4\n s_wait_idle\n" USE USE2 "v_mov_b32 v22, s24\n",
	 NULL, NULL, 0, 0},
	BOTH("LDS is in order", NULL, "ds_read_b32 v20, v1\n ds_read_b32 v21, v1\n", "s_waitcnt lgkmcnt(1)\n",
	     "s_wait_dscnt 1\n", USE USE2, 1),
	BOTH("scalar memory", scalar_too_early, "s_load_dword s24, s[0:1], 0x4\n s_mov_b32 s26, s24\n",
	     "s_waitcnt lgkmcnt(0)\n", "s_wait_kmcnt 0\n", "s_mov_b32 s27, s24\n", 1),
	BOTH("scalar memory is out of order", NULL,
	     "s_load_dword s24, s[0:1], 0x4\n s_load_dword s26, s[0:1], 0x8\n", "s_waitcnt lgkmcnt(1)\n",
	     "s_wait_kmcnt 1\n", "s_mov_b32 s27, s24\n", 1),
	{"scalar memory has a counter", NULL,
	 "s_load_dword s24, s[0:1], 0x4\n s_wait_dscnt 0\n s_mov_b32 s26, s24\n", "gfx1200", NULL, 0, 1},
	{"the counter of LDS goes to 63", NULL,
	 "ds_read_b32 v20, v1\n .rept 20\n ds_write_b32 v1, v8 offset:1024\n .endr\n v_mov_b32 v21, v20\n", NULL,
	 NULL, 0, 1},
	{"the other half for the vector ALU", NULL, HIGH "v_add_nc_u16 v21, v20, v8\n", "gfx1100", NULL, 0, 1},
	{"a result in the other half", NULL, HIGH "v_add_nc_u16 v20, v8, v8\n", "gfx1100", NULL, 0, 1},
	{"a load of the other half", check_two_halves, HIGH LOW, "gfx1100", NULL, 0, 0},
	{"a store of the other half", NULL,
	 HIGH "global_store_b16 v[2:3], v20, off offset:1024\n ds_store_b16 v1, v20 offset:1024\n", "gfx1100", NULL,
	 0, 0},
	{"a store of the half", NULL, HIGH "global_store_d16_hi_b16 v[2:3], v20, off offset:1024\n", "gfx1100",
	 NULL, 0, 1},
	{"a store of the register", NULL, HIGH "global_store_b32 v[2:3], v20, off offset:1024\n", "gfx1100", NULL,
	 0, 1},
	{"an address with a half under way", NULL, LOW "ds_bpermute_b32 v21, v20, v8\n", "gfx1100", NULL, 0, 1},
	{"halves from memory and LDS", NULL, LOW "ds_load_u16_d16_hi v20, v1\n", "gfx1100", NULL, 0, 0},
	{"the same half from memory and LDS", NULL, LOW "ds_load_u8_d16 v20, v1\n", "gfx1100", NULL, 0, 1},
	{"halves of earlier chips", NULL,
	 "global_load_short_d16_hi v20, v[2:3], off\n global_store_short v[2:3], v20, off offset:1024\n", NULL,
	 "gfx1099", 0, 1},
	{"a message's answer", NULL,
	 "s_sendmsg_rtn_b32 s24, sendmsg(MSG_RTN_GET_DOORBELL)\n s_mov_b32 s26, s24\n s_waitcnt lgkmcnt(0)\n",
	 "gfx1100", "gfx1199", 0, 1},
	{"a message is no register", NULL,
	 "s_load_dword s0, s[0:1], 0x4\n s_sendmsg_rtn_b32 s24, sendmsg(MSG_RTN_GET_DOORBELL)\n", "gfx1100", NULL,
	 0, 0},
	{"a barrier's state", NULL, "s_get_barrier_state s24, -1\n s_mov_b32 s26, s24\n", "gfx1200", NULL, 0, 1},
	{"a barrier's state, waited for", NULL,
	 "s_get_barrier_state s24, -1\n s_wait_kmcnt 0\n s_mov_b32 s26, s24\n", "gfx1200", NULL, 0, 0},
	{"a message's answer, waited for", NULL,
	 "s_sendmsg_rtn_b64 s[24:25], sendmsg(MSG_RTN_GET_REALTIME)\n s_wait_kmcnt 0\n s_mov_b32 s26, s25\n",
	 "gfx1200", NULL, 0, 0},
	BOTH("flat, in memory", NULL, "flat_load_dword v20, v[2:3]\n", "s_waitcnt vmcnt(0)\n", "s_wait_loadcnt 0\n",
	     USE, 0),
	BOTH("flat, in LDS", NULL, "flat_load_dword v20, v[16:17]\n", "s_waitcnt lgkmcnt(0)\n", "s_wait_dscnt 0\n",
	     USE, 0),
	BOTH("flat, in LDS, waiting for memory", NULL, "flat_load_dword v20, v[16:17]\n", "s_waitcnt vmcnt(0)\n",
	     "s_wait_loadcnt 0\n", USE, 1),
	BOTH("flat is in the order of memory", NULL, "flat_load_dword v20, v[2:3]\n" LOAD2, "s_waitcnt vmcnt(1)\n",
	     "s_wait_loadcnt 1\n", USE, 0),
	BOTH("flat is in the order of LDS", NULL, "flat_load_dword v20, v[16:17]\n ds_read_b32 v21, v1\n",
	     "s_waitcnt lgkmcnt(1)\n", "s_wait_dscnt 1\n", USE, 0),
	BOTH("flat counts in LDS wherever it goes", NULL, "ds_read_b32 v20, v1\n flat_load_dword v21, v[2:3]\n",
	     "s_waitcnt lgkmcnt(1)\n", "s_wait_dscnt 1\n", USE, 0),
	BOTH("a flat store counts with stores", NULL, LOAD "flat_store_dword v[2:3], v8 offset:1024\n",
	     "s_waitcnt vmcnt(1)\n", "s_wait_loadcnt 1\n", USE, 1),
	{"loads to one register come in order", NULL, LOAD "global_load_dword v20, v[2:3], off offset:4\n", NULL,
	 "gfx1199", 0, 0},
	{"loads to one register come in any order", NULL, LOAD "global_load_dword v20, v[2:3], off offset:4\n",
	 "gfx1200", NULL, 0, 1},
	{"invalidations count with loads", NULL, LOAD "global_inv\n s_wait_loadcnt 1\n" USE, "gfx1200", NULL, 0, 0},
	{"write-backs count with stores", NULL, LOAD "global_wb\n s_wait_loadcnt 1\n" USE, "gfx1200", NULL, 0, 1},
	{"masks are as wide as the wave", NULL,
	 "s_load_dword vcc_hi, s[0:1], 0x4\n v_cmp_eq_u32 vcc_lo, v0, v1\n v_cndmask_b32 v20, v8, v9, vcc_lo\n",
	 NULL, NULL, 32, 0},
	{"masks of a wave of 64", NULL, "s_load_dword vcc_hi, s[0:1], 0x4\n v_cndmask_b32 v20, v8, v9, vcc\n", NULL,
	 NULL, 64, 1},
	{"both halves of a dual instruction", NULL,
	 LOAD LOAD2 "v_dual_mov_b32 v22, v20 :: v_dual_add_f32 v23, v21, v8\n", "gfx1100", NULL, 32, 2},
	{"halves that overwrite each other's sources", NULL,
	 LOAD "v_dual_mov_b32 v22, v27 :: v_dual_add_f32 v27, v22, v20\n", "gfx1100", NULL, 32, 1},
	{"shared registers", NULL, LOAD "v_mov_b32 v30, v20\n", NULL, "gfx1099", 64, 1},
	{"shared registers are loaded", NULL, "global_load_dword v30, v[2:3], off\n v_mov_b32 v20, v30\n", NULL,
	 "gfx1099", 64, 1},
	{"a transposing load is read too early", NULL,
	 "global_load_tr_b128 v[20:23], v[4:5], off\n v_mov_b32 v24, v23\n", "gfx1200", NULL, 32, 1},
	{"a transposing load is waited for", NULL,
	 "global_load_tr_b128 v[20:23], v[4:5], off\n s_wait_loadcnt 0\n v_mov_b32 v24, v23\n", "gfx1200", NULL, 32,
	 0},
	{"a transposing load of a wave of 64 has half the registers", NULL,
	 "global_load_tr_b128 v[20:21], v[4:5], off\n v_mov_b32 v24, v22\n v_mov_b32 v24, v21\n", "gfx1200", NULL,
	 64, 1},
	{"a block is read too early", block_too_early,
	 "s_mov_b32 m0, 0x1a\n global_load_block v[20:51], v[2:3], off\n v_mov_b32 v22, v20\n v_mov_b32 v26, v23\n"
	 "s_wait_loadcnt 0\n",
	 "gfx1200", NULL, 0, 1},
	{"a block is waited for", NULL,
	 "s_mov_b32 m0, 0x1a\n global_load_block v[20:51], v[2:3], off\n s_wait_loadcnt 0\n v_mov_b32 v26, v24\n",
	 "gfx1200", NULL, 0, 0},
	{"a block of scratch is written too early", NULL,
	 "s_mov_b32 m0, 0x21\n scratch_load_block v[20:51], off, off\n v_mov_b32 v24, 0\n v_mov_b32 v25, 0\n",
	 "gfx1200", NULL, 0, 1},
	{"a block is stored too early", NULL, LOAD2 "s_mov_b32 m0, 3\n global_store_block v[6:7], v[20:51], off\n",
	 "gfx1200", NULL, 0, 1},
	{"registers that a block leaves out", NULL,
	 LOAD2 "s_mov_b32 m0, 5\n global_store_block v[6:7], v[20:51], off\n", "gfx1200", NULL, 0, 0},
	{"no register of a block", NULL, "s_mov_b32 m0, 0\n global_load_block v[20:51], v[2:3], off\n" USE,
	 "gfx1200", NULL, 0, 0},
	{"other lanes", NULL, LOAD "v_nop\n s_mov_b32 exec_lo, 1\n v_permlane16_b32 v22, v20, s16, s17\n", NULL,
	 NULL, 32, 1},
};

int main(void)
{
	static const char *const chips[] = {"gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200"};

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(*chips); n++)
		for (unsigned wave32 = 0; wave32 < 2; wave32++)
			test_later(chips[n], wave32, true, pieces, sizeof(pieces) / sizeof(*pieces));
	return check_done("loads under way from GFX10 on");
}
