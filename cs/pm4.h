/* PM4 packets and the registers of a compute dispatch, GFX9 to GFX12: constants only.
 *
 * Sources: Mesa sid.h and registers JSON (pkt3, gfx9 to gfx12), Linux soc15d.h and nvd.h; encodings checked against
 * the test vectors in pm4_test.c. */
#ifndef CS_PM4_H
#define CS_PM4_H

#include <stdint.h>

enum pm4_op {
	PM4_DISPATCH_DIRECT = 0x15,
	PM4_WRITE_DATA = 0x37,
	PM4_WAIT_REG_MEM = 0x3c,
	PM4_INDIRECT_BUFFER = 0x3f,
	PM4_COPY_DATA = 0x40,
	PM4_EVENT_WRITE = 0x46,
	PM4_RELEASE_MEM = 0x49,
	PM4_ACQUIRE_MEM = 0x58,
	PM4_SET_SH_REG = 0x76,
	PM4_SET_UCONFIG_REG = 0x79,
	/* rings of user queues only (Mesa amdgpu_cs.cpp; Linux nvd.h has HDP_FLUSH) */
	PM4_HDP_FLUSH = 0x95,
	PM4_PROTECTED_FENCE_SIGNAL = 0xd0,
	PM4_FENCE_WAIT_MULTI = 0xd1,
};

/* Type 3 header: 31:30 type, 29:16 body dwords - 1, 15:8 opcode. */
#define PM4_HEADER(op, body_dw)    (3u << 30 | (uint32_t)((body_dw) - 1) << 16 | (uint32_t)(op) << 8)
#define PM4_HEADER_OP(header)      ((header) >> 8 & 0xff)
#define PM4_HEADER_BODY_DW(header) (((header) >> 16 & 0x3fff) + 1)
/* Header of a NOP of `dw` dwords; a NOP that is only its header has a count field of all ones. */
#define PM4_NOP(dw) (3u << 30 | (((uint32_t)(dw) - 2) & 0x3fff) << 16 | 0x10u << 8)

/* SET_SH_REG offsets: dwords from byte address 0xB000. */
enum pm4_sh_reg {
	COMPUTE_START_X = 0x204,
	COMPUTE_NUM_THREAD_X = 0x207,
	COMPUTE_PIPELINESTAT_ENABLE = 0x20a,
	COMPUTE_PGM_LO = 0x20c,
	COMPUTE_DISPATCH_PKT_ADDR_LO = 0x20e,
	COMPUTE_DISPATCH_SCRATCH_BASE_LO = 0x210,
	COMPUTE_PGM_RSRC1 = 0x212,
	COMPUTE_PGM_RSRC2 = 0x213,
	COMPUTE_RESOURCE_LIMITS = 0x215,
	COMPUTE_STATIC_THREAD_MGMT_SE0 = 0x216,
	COMPUTE_STATIC_THREAD_MGMT_SE1 = 0x217,
	COMPUTE_TMPRING_SIZE = 0x218,
	COMPUTE_STATIC_THREAD_MGMT_SE2 = 0x219,
	COMPUTE_STATIC_THREAD_MGMT_SE3 = 0x21a,
	COMPUTE_RESTART_X = 0x21b,
	COMPUTE_STATIC_THREAD_MGMT_SE4 = 0x225,
	COMPUTE_PGM_RSRC3_GFX90A = 0x22d,
	COMPUTE_USER_DATA_0 = 0x240,
	/* GFX10 and later */
	COMPUTE_STATIC_THREAD_MGMT_SE8_GFX12 = 0x223,
	COMPUTE_USER_ACCUM_0 = 0x224,
	COMPUTE_PGM_RSRC3_GFX10 = 0x228,
	COMPUTE_STATIC_THREAD_MGMT_SE4_GFX11 = 0x22b,
	COMPUTE_DISPATCH_INTERLEAVE = 0x22f, /* GFX11 and later */
	COMPUTE_DISPATCH_TUNNEL = 0x27d,
};
/* SET_UCONFIG_REG offset: dwords from byte address 0x30000. GFX9 and GFX10. */
#define CP_COHER_START_DELAY 0x7b

/* COMPUTE_DISPATCH_INITIATOR */
#define INITIATOR_COMPUTE_SHADER_EN  (1u << 0)
#define INITIATOR_PARTIAL_TG_EN      (1u << 1)
#define INITIATOR_FORCE_START_AT_000 (1u << 2)
#define INITIATOR_CS_W32_EN          (1u << 15) /* GFX10 and later: waves of 32 lanes */

/* COMPUTE_PGM_RSRC2 */
#define RSRC2_SCRATCH_EN       (1u << 0)
#define RSRC2_USER_SGPR(rsrc2) ((rsrc2) >> 1 & 0x1f)
#define RSRC2_TRAP_PRESENT     (1u << 6)
#define RSRC2_LDS_SIZE_SHIFT   15
#define RSRC2_LDS_SIZE_MASK    (0x1ffu << RSRC2_LDS_SIZE_SHIFT)
/* COMPUTE_PGM_RSRC1 */
#define RSRC1_PRIV         (1u << 20)
#define RSRC1_DEBUG_MODE   (1u << 22)
#define RSRC1_VGPRS(rsrc1) ((rsrc1) & 0x3f)
#define RSRC1_WGP_MODE     (1u << 29) /* GFX10 and later: a workgroup may use both units of a pair */
/* COMPUTE_TMPRING_SIZE: waves (of the whole device; of one engine from GFX11 on), size of a wave's scratch */
#define TMPRING_SIZE(waves, units) ((uint32_t)(waves) | (uint32_t)(units) << 12)
#define TMPRING_WAVES_MAX          0xfff

/* ACQUIRE_MEM's COHER_CNTL, GFX9 */
#define COHER_TC_WB     (1u << 18)
#define COHER_TCL1      (1u << 22)
#define COHER_TC        (1u << 23)
#define COHER_SH_KCACHE (1u << 27)
#define COHER_SH_ICACHE (1u << 29)
/* ACQUIRE_MEM's GCR_CNTL, GFX10 and later: L0, K$ and I$ of the shaders, GL1 and GLM (metadata) up to GFX11, GL2 */
#define GCR_GLI_INV (1u << 0)
#define GCR_GLM_WB  (1u << 4) /* always with GLM_INV */
#define GCR_GLM_INV (1u << 5)
#define GCR_GLK_INV (1u << 7)
#define GCR_GLV_INV (1u << 8)
#define GCR_GL1_INV (1u << 9)
#define GCR_GL2_INV (1u << 14)
#define GCR_GL2_WB  (1u << 15)

/* Events: type | index << 8 */
#define EVENT_CS_PARTIAL_FLUSH       (0x07 | 4 << 8)
#define EVENT_CACHE_FLUSH_AND_INV_TS (0x14 | 5 << 8)
#define EVENT_BOTTOM_OF_PIPE_TS      (0x28 | 5 << 8)
/* RELEASE_MEM, DW1 cache actions, GFX9 */
#define RELEASE_TC_WB (1u << 15)
#define RELEASE_TC_NC (1u << 19)
/* The same, GFX10 and later */
#define RELEASE_GLM_WB      (1u << 12)
#define RELEASE_GLM_INV     (1u << 13)
#define RELEASE_GL2_WB      (1u << 21)
#define RELEASE_SEQ_FORWARD (1u << 22)
/* The write itself goes past L2, as those of the kernel's fences (Linux gfx_v11_0_ring_emit_fence()) */
#define RELEASE_POLICY_BYPASS (3u << 25)
/* RELEASE_MEM, DW2 */
#define RELEASE_INT_AFTER_WRITE_CONFIRM (3u << 24)
#define RELEASE_DATA_64                 (2u << 29)
#define RELEASE_DATA_CLOCK              (3u << 29)
/* COPY_DATA: source GPU clock, 64 bit, destination memory, both policies stream */
#define COPY_DATA_CLOCK_TO_MEMORY 0x02012509u
/* The same, write confirmed, without policies, whose values differ between later generations (RADV's timestamp at the
 * top of the pipe) */
#define COPY_DATA_CLOCK_GFX10 0x00110509u
/* COPY_DATA: source L2, 32 bit, destination register (counted from byte address 0), write confirmed */
#define COPY_DATA_L2_TO_REGISTER (2u | 1u << 20)
#define SH_REG_BASE              0x2c00u /* base of SET_SH_REG's registers */
/* WRITE_DATA: destination L2, write confirmed. A write past L2 (5) would be invisible to kernels that have the line
 * cached, and overwritten by those that have written it; uncached memory works either way. */
#define WRITE_DATA_L2 (2u << 8 | 1u << 20)
/* The same, destination memory: for GFX12, whose command processor does not reach L2 (Mesa
 * radeon_info::cp_sdma_ge_use_system_memory_scope). */
#define WRITE_DATA_MEMORY (5u << 8 | 1u << 20)
/* WAIT_REG_MEM: memory, >= */
#define WAIT_MEMORY_GE   (5u | 1u << 4)
#define WAIT_POLL_CLOCKS 4u /* poll interval of the kernel and Mesa */
/* INDIRECT_BUFFER, DW3 */
#define IB_SIZE_MAX_DW 0xfffffu
#define IB_CHAIN       (1u << 20)
#define IB_VALID       (1u << 23)
/* In the ring of a user queue: the IB runs with the queue's VMID */
#define IB_INHERIT_VMID (1u << 30)
/* FENCE_WAIT_MULTI, DW1; behind it addresses and values of 64 bits: until each word is at least its value */
#define FENCE_WAIT_ENGINE      1u
#define FENCE_WAIT_PREEMPTABLE (1u << 1) /* the scheduler may take the queue off the hardware meanwhile */
#define FENCE_WAIT_POLL_SHIFT  16

#define PM4_CHAIN_DW 4

#endif
