/* PM4 packets of GFX9 as the compute micro-engine (and the graphics ring, for compute) reads them.
 *
 * Sources: Linux soc15d.h, PAL gfx9 MEC packet headers. pm4_body.h has the bodies of packets.
 *
 *   31 30 | 29      16 | 15     8 | 7     2 |      1      |     0
 *   type 3| count = n-1|  opcode  |   0     | SHADER_TYPE | PREDICATE      n = dwords of the body
 */
#ifndef VGPU_ENGINE_PM4_H
#define VGPU_ENGINE_PM4_H

#include <assert.h>
#include <stdint.h>

enum pm4_opcode {
	PM4_NOP = 0x10,
	PM4_SET_BASE = 0x11,
	PM4_CLEAR_STATE = 0x12,
	PM4_DISPATCH_DIRECT = 0x15,
	PM4_DISPATCH_INDIRECT = 0x16,
	PM4_ATOMIC_GDS = 0x1d,
	PM4_ATOMIC_MEM = 0x1e,
	PM4_SET_PREDICATION = 0x20,
	PM4_COND_EXEC = 0x22,
	PM4_PRED_EXEC = 0x23,
	PM4_CONTEXT_CONTROL = 0x28,
	PM4_INDIRECT_BUFFER_CNST = 0x33,
	PM4_WRITE_DATA = 0x37,
	PM4_MEM_SEMAPHORE = 0x39,
	PM4_WAIT_REG_MEM = 0x3c,
	PM4_INDIRECT_BUFFER = 0x3f, /* a packet with 14 dwords is COND_INDIRECT_BUFFER */
	PM4_COPY_DATA = 0x40,
	PM4_PFP_SYNC_ME = 0x42,
	PM4_COND_WRITE = 0x45,
	PM4_EVENT_WRITE = 0x46,
	PM4_RELEASE_MEM = 0x49,
	PM4_DMA_DATA = 0x50,
	PM4_ACQUIRE_MEM = 0x58,
	PM4_REWIND = 0x59,
	PM4_PRIME_UTCL2 = 0x5d,
	PM4_LOAD_UCONFIG_REG = 0x5e,
	PM4_LOAD_SH_REG = 0x5f,
	PM4_LOAD_CONTEXT_REG = 0x61,
	PM4_LOAD_SH_REG_INDEX = 0x63, /* on compute rings from GFX10.3 on */
	PM4_SET_CONFIG_REG = 0x68,
	PM4_SET_CONTEXT_REG = 0x69,
	PM4_SET_CONTEXT_REG_INDEX = 0x6a,
	PM4_SET_SH_REG = 0x76,
	PM4_SET_SH_REG_OFFSET = 0x77,
	PM4_SET_UCONFIG_REG = 0x79,
	PM4_SET_UCONFIG_REG_INDEX = 0x7a,
	PM4_INCREMENT_CE_COUNTER = 0x84,
	PM4_INCREMENT_DE_COUNTER = 0x85,
	PM4_WAIT_ON_CE_COUNTER = 0x86,
	PM4_WAIT_ON_DE_COUNTER_DIFF = 0x88,
	PM4_SET_CE_DE_COUNTERS = 0x89,
	PM4_WAIT_REG_MEM64 = 0x93,      /* GFX10 and later */
	PM4_HDP_FLUSH = 0x95,           /* GFX10 and later */
	PM4_DMA_DATA_FILL_MULTI = 0x9a, /* GFX10 and later */
	PM4_SET_SH_REG_INDEX = 0x9b,
	PM4_DISPATCH_DIRECT_INTERLEAVED = 0xa7,   /* GFX12 */
	PM4_DISPATCH_INDIRECT_INTERLEAVED = 0xa8, /* GFX12 */
	PM4_EVENT_WRITE_ZPASS = 0xb1,             /* GFX11 and later, as all that follow */
	PM4_PROTECTED_FENCE_SIGNAL = 0xd0,        /* in the ring of a user queue, as is the next */
	PM4_FENCE_WAIT_MULTI = 0xd1,
	PM4_TIMESTAMP = 0xb2,
	PM4_SET_CONTEXT_REG_PAIRS = 0xb8,
	PM4_SET_CONTEXT_REG_PAIRS_PACKED = 0xb9,
	PM4_SET_SH_REG_PAIRS = 0xba,
	PM4_SET_SH_REG_PAIRS_PACKED = 0xbb,
	PM4_SET_SH_REG_PAIRS_PACKED_N = 0xbd,
	PM4_SET_UCONFIG_REG_PAIRS = 0xbe, /* GFX12 */
};

#define PM4_NOP_1DW     0xffff1000u /* NOP of one dword: count 0x3fff */
#define PM4_MAX_BODY_dw 0x4000
#define PM4_MAX_IB_dw   0xfffffu

enum { PM4_RESET_FILTER_CAM = 1 << 2, PM4_SHADER_TYPE = 1 << 1, PM4_PREDICATE = 1 << 0 };

static inline unsigned pm4_type(uint32_t header)
{
	return header >> 30;
}

static inline unsigned pm4_opcode(uint32_t header)
{
	return (header >> 8) & 0xff;
}

static inline unsigned pm4_body_dw(uint32_t header)
{
	return ((header >> 16) & 0x3fff) + 1;
}

/* Comparison functions of WAIT_REG_MEM, COND_WRITE and SDMA's POLL_REGMEM; all unsigned. */
enum pm4_function {
	PM4_ALWAYS,
	PM4_LESS,
	PM4_LESS_EQUAL,
	PM4_EQUAL,
	PM4_NOT_EQUAL,
	PM4_GREATER_EQUAL,
	PM4_GREATER,
};

static inline int pm4_compare(unsigned function, uint64_t value, uint64_t reference)
{
	switch (function) {
	case PM4_LESS:
		return value < reference;
	case PM4_LESS_EQUAL:
		return value <= reference;
	case PM4_EQUAL:
		return value == reference;
	case PM4_NOT_EQUAL:
		return value != reference;
	case PM4_GREATER_EQUAL:
		return value >= reference;
	case PM4_GREATER:
		return value > reference;
	default:
		return 1;
	}
}

static inline uint64_t pm4_va(uint32_t lo, uint32_t hi)
{
	return (uint64_t)hi << 32 | lo;
}

#endif
