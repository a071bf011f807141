/* Registers of the compute path, as dword offsets, under AMD's names.
 *
 * Sources: Mesa registers/gfx9.json to gfx12.json, Linux asic_reg/gc. Written apart from the driver's own headers.
 */
#ifndef VGPU_ENGINE_REGS_H
#define VGPU_ENGINE_REGS_H

#include <assert.h>
#include <stdint.h>

/* Windows of SET_*_REG, in dwords. */
enum {
	CONFIG_BASE = 0x2000,
	CONFIG_END = 0x2c00,
	SH_BASE = 0x2c00,
	SH_END = 0x3000,
	CONTEXT_BASE = 0xa000,
	CONTEXT_END = 0xa400,
	UCONFIG_BASE = 0xc000,
	UCONFIG_END = 0x10000,
	SH_COUNT = SH_END - SH_BASE,
	UCONFIG_COUNT = UCONFIG_END - UCONFIG_BASE,
};

/* Offsets from SH_BASE. */
enum sh_reg {
	COMPUTE_DISPATCH_INITIATOR = 0x200,
	COMPUTE_DIM_X = 0x201, /* Y, Z follow */
	COMPUTE_START_X = 0x204,
	COMPUTE_NUM_THREAD_X = 0x207,
	COMPUTE_PIPELINESTAT_ENABLE = 0x20a,
	COMPUTE_PERFCOUNT_ENABLE = 0x20b,
	COMPUTE_PGM_LO = 0x20c,
	COMPUTE_PGM_HI = 0x20d,
	COMPUTE_DISPATCH_PKT_ADDR_LO = 0x20e,
	COMPUTE_DISPATCH_SCRATCH_BASE_LO = 0x210, /* gfx942: address >> 8, HI follows */
	COMPUTE_PGM_RSRC1 = 0x212,
	COMPUTE_PGM_RSRC2 = 0x213,
	COMPUTE_VMID = 0x214,
	COMPUTE_RESOURCE_LIMITS = 0x215,
	COMPUTE_STATIC_THREAD_MGMT_SE0 = 0x216,
	COMPUTE_STATIC_THREAD_MGMT_SE1 = 0x217,
	COMPUTE_TMPRING_SIZE = 0x218,
	COMPUTE_STATIC_THREAD_MGMT_SE2 = 0x219,
	COMPUTE_STATIC_THREAD_MGMT_SE3 = 0x21a,
	COMPUTE_RESTART_X = 0x21b,
	COMPUTE_THREAD_TRACE_ENABLE = 0x21e,
	COMPUTE_STATIC_THREAD_MGMT_SE4 = 0x225, /* SE5..SE7 follow; gfx908, gfx90a */
	COMPUTE_TG_CHUNK_SIZE = 0x227,          /* gfx942: groups that one XCC takes at a time; 0: one XCC is all */
	COMPUTE_PGM_RSRC3 = 0x22d,              /* gfx90a, gfx942 */
	COMPUTE_PGM_RSRC3_GFX10 = 0x228,
	COMPUTE_STATIC_THREAD_MGMT_SE4_GFX11 = 0x22b, /* SE5..SE7 follow */
	COMPUTE_USER_DATA_0 = 0x240,
	COMPUTE_USER_DATA_COUNT = 16,
};

static_assert((0xb830 - 0xb000) / 4 == COMPUTE_PGM_LO, "PGM_LO is byte B830");
static_assert((0xb840 - 0xb000) / 4 == COMPUTE_DISPATCH_SCRATCH_BASE_LO, "SCRATCH_BASE is byte B840");
static_assert((0xb848 - 0xb000) / 4 == COMPUTE_PGM_RSRC1, "RSRC1 is byte B848");
static_assert((0xb860 - 0xb000) / 4 == COMPUTE_TMPRING_SIZE, "TMPRING_SIZE is byte B860");
static_assert((0xb894 - 0xb000) / 4 == COMPUTE_STATIC_THREAD_MGMT_SE4, "SE4 is byte B894");
static_assert((0xb8b4 - 0xb000) / 4 == COMPUTE_PGM_RSRC3, "RSRC3 of gfx90a is byte B8B4");
static_assert((0xb900 - 0xb000) / 4 == COMPUTE_USER_DATA_0, "USER_DATA_0 is byte B900");

/* Bits [hi:lo] of a register or packet dword. */
static inline uint32_t bits(uint32_t value, unsigned hi, unsigned lo)
{
	return (value >> lo) & (0xffffffffu >> (31 - (hi - lo)));
}

/* COMPUTE_DISPATCH_INITIATOR */
enum {
	INITIATOR_COMPUTE_SHADER_EN = 1 << 0,
	INITIATOR_PARTIAL_TG_EN = 1 << 1,
	INITIATOR_FORCE_START_AT_000 = 1 << 2,
	INITIATOR_ORDERED_APPEND_ENBL = 1 << 3,
	INITIATOR_ORDERED_APPEND_MODE = 1 << 4,
	INITIATOR_USE_THREAD_DIMENSIONS = 1 << 5,
	INITIATOR_ORDER_MODE = 1 << 6,
	INITIATOR_SCALAR_L1_INV_VOL = 1 << 10,
	INITIATOR_VECTOR_L1_INV_VOL = 1 << 11,
	INITIATOR_PING_PONG_EN = 1 << 12,  /* gfx12 */
	INITIATOR_TUNNEL_ENABLE = 1 << 13, /* gfx10 and later */
	INITIATOR_RESTORE = 1 << 14,
	INITIATOR_CS_W32_EN = 1 << 15, /* gfx10 and later */
	INITIATOR_AMP_SHADER_EN = 1 << 16,
	INITIATOR_DISABLE_DISP_PREMPT_EN = 1 << 17, /* gfx11 and later */
	INITIATOR_INTERLEAVE_2D_EN = 1 << 18,       /* gfx12 */
};
#define INITIATOR_TTRACE 0xe0000000u /* TTRACE_QUEUE_ID 31:29 */

/* COMPUTE_PGM_RSRC1: VGPRS 5:0, SGPRS 9:6, PRIORITY 11:10, FLOAT_MODE 19:12 */
enum {
	RSRC1_PRIV = 1 << 20,
	RSRC1_DX10_CLAMP = 1 << 21,
	RSRC1_DEBUG_MODE = 1 << 22,
	RSRC1_IEEE_MODE = 1 << 23,
	RSRC1_FP16_OVFL = 1 << 26,
	RSRC1_WGP_MODE = 1 << 29, /* GFX10 and later: a workgroup has both compute units of a pair */
};

/* COMPUTE_PGM_RSRC2: USER_SGPR 5:1, TIDIG_COMP_CNT 12:11, LDS_SIZE 23:15, EXCP_EN 30:24 */
enum {
	RSRC2_SCRATCH_EN = 1 << 0,
	RSRC2_TRAP_PRESENT = 1 << 6,
	RSRC2_TGID_X_EN = 1 << 7,
	RSRC2_TGID_Y_EN = 1 << 8,
	RSRC2_TGID_Z_EN = 1 << 9,
	RSRC2_TG_SIZE_EN = 1 << 10,
};

#endif
