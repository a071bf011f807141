/* Waits that are missing, and those that are there: what each counter of GFX9 tells (test_wave.h has the
 * registers). */
#include "vgpu/isa/test_pieces.h"

#define POISON 0xd5d5d5d5u

/* row 122: who is too early reads poison; the load arrives all the same. */
static void too_early(void)
{
	ALL(21, POISON);
	ALL(22, was(4 * l));
}

static void overwritten(void)
{
	ALL(21, was(4 * l));
}

static void scalar_too_early(void)
{
	CHECK_EQ(S(26), POISON);
	CHECK_EQ(S(27), was(4));
	CHECK_EQ(S(24), was(4));
}

static void halves(void)
{
	ALL(20, l & 1 ? was(4 * l) : l);
}

static const struct piece pieces[] = {
	{"a load is read too early", too_early,
	 "global_load_dword v20, v[2:3], off\n v_mov_b32 v21, v20\n s_waitcnt vmcnt(0)\n v_mov_b32 v22, v20", 1},
	{"a load is overwritten too early", overwritten,
	 "global_load_dword v20, v[2:3], off\n v_mov_b32 v20, 7\n s_waitcnt vmcnt(0)\n v_mov_b32 v21, v20", 1},
	{"a load is waited for", NULL,
	 "global_load_dword v20, v[2:3], off\n s_waitcnt vmcnt(0)\n v_mov_b32 v21, v20\n v_mov_b32 v20, 7"},
	{"lgkmcnt says nothing of vector memory", NULL,
	 "global_load_dword v20, v[2:3], off\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v21, v20", 1},
	{"nobody looks", NULL,
	 "global_load_dword v20, v[2:3], off\n ds_read_b32 v21, v1\n s_load_dword s24, s[0:1], 0x4"},
	{"the first of two", NULL,
	 "global_load_dword v20, v[2:3], off\n global_load_dword v21, v[2:3], off\n s_waitcnt vmcnt(1)\n"
	 "v_mov_b32 v22, v20"},
	{"the second of two", NULL,
	 "global_load_dword v20, v[2:3], off\n global_load_dword v21, v[2:3], off\n s_waitcnt vmcnt(1)\n"
	 "v_mov_b32 v22, v21",
	 1},
	{"stores count", NULL,
	 "global_load_dword v20, v[2:3], off\n global_store_dword v[2:3], v8, off offset:2048\n s_waitcnt vmcnt(1)\n"
	 "v_mov_b32 v22, v20"},
	{"buffers", NULL,
	 "buffer_load_dwordx2 v[20:21], v1, s[4:7], 0 offen\n buffer_load_dword v22, v1, s[4:7], 0 offen\n"
	 "s_waitcnt vmcnt(1)\n v_mov_b32 v26, v21\n v_mov_b32 v27, v22",
	 1},
	{"scratch", NULL, "scratch_load_dword v20, v1, off\n v_add_u32 v21, v8, v20", 1},
	{"an address that is loading", NULL,
	 "global_load_dwordx2 v[6:7], v[6:7], off\n s_waitcnt vmcnt(0)\n v_mov_b32 v6, v2\n v_mov_b32 v7, v3\n"
	 "ds_read_b32 v26, v1\n ds_read_b32 v27, v26",
	 1 + 1}, /* poison is beyond LDS, told once */
	{"data that is loading", NULL,
	 "global_load_dword v20, v[2:3], off\n global_store_dword v[2:3], v20, off offset:2048", 1},
	{"stores read their data at once", NULL,
	 "global_store_dwordx2 v[2:3], v[20:21], off offset:2048\n s_nop 1\n v_mov_b32 v20, 7\n ds_write_b32 v1, v21\n"
	 "v_mov_b32 v21, 7"},
	{"loads to one register come in order", NULL,
	 "global_load_dword v20, v[2:3], off\n global_load_dword v20, v[2:3], off offset:4\n ds_read_b32 v21, v1\n"
	 "ds_read_b32 v21, v1 offset:4"},
	{"LDS and memory do not", NULL, "global_load_dword v20, v[2:3], off\n ds_read_b32 v20, v1", 1},
	{"LDS is in order", NULL,
	 "ds_read_b32 v20, v1\n ds_read_b32 v21, v1\n s_waitcnt lgkmcnt(1)\n v_mov_b32 v22, v20\n v_mov_b32 v23, v21",
	 1},
	{"lgkmcnt goes to 15", NULL,
	 ".rept 15\n ds_write_b32 v1, v8 offset:1024\n .endr\n ds_read_b32 v20, v1\n .rept 15\n"
	 "ds_write_b32 v1, v8 offset:1024\n .endr\n v_mov_b32 v21, v20"},
	{"scalar memory", scalar_too_early,
	 "s_load_dword s24, s[0:1], 0x4\n s_mov_b32 s26, s24\n s_waitcnt lgkmcnt(0)\n s_mov_b32 s27, s24", 1},
	{"scalar memory is out of order", NULL,
	 "s_load_dword s24, s[0:1], 0x4\n s_load_dword s26, s[0:1], 0x8\n s_waitcnt lgkmcnt(1)\n s_mov_b32 s27, s24",
	 1},
	{"a vector instruction reads scalars too", NULL, "s_load_dword s24, s[0:1], 0x4\n v_mov_b32 v20, s24", 1},
	{"vcc is loading", NULL, "s_load_dwordx2 vcc, s[0:1], 0x4\n v_cndmask_b32 v20, v8, v9, vcc", 1},
	{"LDS among scalar memory", NULL,
	 "ds_read_b32 v20, v1\n s_load_dword s24, s[0:1], 0x4\n ds_read_b32 v21, v1\n s_waitcnt lgkmcnt(1)\n"
	 "v_mov_b32 v22, v20\n v_mov_b32 v23, v21",
	 1},
	{"the clock", NULL, "s_memtime s[24:25]\n s_add_u32 s26, s25, 1", 1},
	{"flat, in memory", NULL, "flat_load_dword v20, v[2:3]\n s_waitcnt vmcnt(0)\n v_mov_b32 v21, v20"},
	{"flat, in LDS", NULL, "flat_load_dword v20, v[16:17]\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v21, v20"},
	{"flat, in LDS, waiting for memory", NULL,
	 "flat_load_dword v20, v[16:17]\n s_waitcnt vmcnt(0)\n v_mov_b32 v21, v20", 1},
	{"flat, in both", NULL,
	 "s_mov_b32 vcc_lo, 0xaaaaaaaa\n s_mov_b32 vcc_hi, vcc_lo\n v_cndmask_b32 v26, v16, v2, vcc\n"
	 "v_cndmask_b32 v27, v17, v3, vcc\n flat_load_dword v20, v[26:27]\n s_waitcnt vmcnt(0)\n v_mov_b32 v21, v20",
	 1},
	{"flat is in no order", NULL,
	 "flat_load_dword v20, v[2:3]\n global_load_dword v21, v[2:3], off\n s_waitcnt vmcnt(1)\n v_mov_b32 v22, v20",
	 1},
	{"flat stores count for nothing", NULL,
	 "global_load_dword v20, v[2:3], off\n flat_store_dword v[2:3], v8 offset:2048\n s_waitcnt vmcnt(1)\n"
	 "v_mov_b32 v22, v20",
	 1},
	{"atomics that return", NULL,
	 "global_atomic_add v20, v[2:3], v8, off glc\n ds_add_rtn_u32 v21, v1, v8\n v_mov_b32 v22, v20\n"
	 "v_mov_b32 v22, v21",
	 2},
	{"atomics that do not", NULL,
	 "global_atomic_add v[2:3], v8, off\n ds_add_u32 v1, v8\n v_mov_b32 v8, 1\n v_mov_b32 v20, 1"},
	{"across lanes", NULL, "ds_bpermute_b32 v20, v1, v8\n v_mov_b32 v21, v20", 1},
	{"other lanes", halves,
	 "v_mov_b32 v20, v0\n s_mov_b32 exec_lo, 0xaaaaaaaa\n s_mov_b32 exec_hi, exec_lo\n"
	 "global_load_dword v20, v[2:3], off\n s_not_b64 exec, exec\n v_add_u32 v20, v20, 0\n s_mov_b64 exec, -1\n"
	 "s_waitcnt vmcnt(0)"},
	{"other lanes that are read", NULL,
	 "v_mov_b32 v20, v0\n s_mov_b32 exec_lo, 0xaaaaaaaa\n s_mov_b32 exec_hi, exec_lo\n"
	 "global_load_dword v20, v[2:3], off\n s_not_b64 exec, exec\n v_mov_b32_dpp v21, v20 wave_shr:1",
	 1},
	{"no lanes", NULL, "s_mov_b64 exec, 0\n global_load_dword v20, v[2:3], off\n v_readlane_b32 s24, v20, 0"},
	{"indexed", NULL,
	 "global_load_dword v20, v[2:3], off\n s_mov_b32 s24, 10\n s_set_gpr_idx_on s24, 1\n v_mov_b32 v26, v10\n"
	 "v_mov_b32 v27, v11\n s_set_gpr_idx_off",
	 1},
	{"once a loop", NULL,
	 "s_mov_b32 s24, 5\n .Lagain:\n global_load_dword v20, v[2:3], off\n v_mov_b32 v21, v20\n s_sub_u32 s24, s24, 1\n"
	 "s_cmp_lg_u32 s24, 0\n s_cbranch_scc1 .Lagain",
	 1},
	{"load to LDS", NULL,
	 "global_load_dword v[2:3], off lds\n s_waitcnt vmcnt(0)\n ds_read_b32 v20, v1 offset:256"},
};

int main(void)
{
	static const char *const chips[] = {"gfx900", "gfx908", "gfx90a", "gfx942"};

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(*chips); n++)
		test_pieces(chips[n], true, pieces, sizeof(pieces) / sizeof(*pieces));
	return check_done("loads under way");
}
