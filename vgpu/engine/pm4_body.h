/* Bodies of PM4 packets: the dwords after the header. Sources: Linux soc15d.h, PAL gfx9 MEC packet headers. */
#ifndef VGPU_ENGINE_PM4_BODY_H
#define VGPU_ENGINE_PM4_BODY_H

#include "vgpu/engine/pm4.h"

/* SET_SH_REG, SET_UCONFIG_REG, SET_CONTEXT_REG: control 15:0 offset, 31:28 index; values follow. */
struct pm4_set_reg {
	uint32_t control;
	uint32_t value[];
};
static_assert(sizeof(struct pm4_set_reg) == 4, "SET_*_REG is 2+n dwords");

struct pm4_dispatch_direct {
	uint32_t dim[3];
	uint32_t initiator;
};
static_assert(sizeof(struct pm4_dispatch_direct) == 4 * 4, "DISPATCH_DIRECT is 5 dwords");

/* On the graphics ring: one offset from SET_BASE index 1, then the initiator. */
struct pm4_dispatch_indirect {
	uint32_t addr_lo, addr_hi;
	uint32_t initiator;
};
static_assert(sizeof(struct pm4_dispatch_indirect) == 4 * 3, "DISPATCH_INDIRECT is 4 dwords on MEC");

struct pm4_acquire_mem {
	uint32_t coher_cntl;
	uint32_t size_lo, size_hi; /* 256 B units */
	uint32_t base_lo, base_hi;
	uint32_t poll_interval;
};
static_assert(sizeof(struct pm4_acquire_mem) == 4 * 6, "ACQUIRE_MEM of GFX9 is 7 dwords");

enum pm4_coher_cntl {
	COHER_TC_NC_ACTION = 1 << 3,
	COHER_TC_WC_ACTION = 1 << 4,
	COHER_TC_INV_METADATA = 1 << 5,
	COHER_TCL1_VOL = 1 << 15,
	COHER_TC_WB = 1 << 18,
	COHER_TCL1 = 1 << 22,
	COHER_TC = 1 << 23,
	COHER_CB = 1 << 25,
	COHER_DB = 1 << 26,
	COHER_SH_KCACHE = 1 << 27,
	COHER_SH_KCACHE_VOL = 1 << 28,
	COHER_SH_ICACHE = 1 << 29,
	COHER_SH_KCACHE_WB = 1 << 30,
};

/* event_cntl: 5:0 type, 11:8 index, cache actions; data_cntl: 17:16 dst_sel, 26:24 int_sel, 31:29 data_sel */
struct pm4_release_mem {
	uint32_t event_cntl;
	uint32_t data_cntl;
	uint32_t addr_lo, addr_hi;
	uint32_t data_lo, data_hi;
	uint32_t int_ctxid;
};
static_assert(sizeof(struct pm4_release_mem) == 4 * 7, "RELEASE_MEM is 8 dwords");

/* ACQUIRE_MEM from GFX10 on. The ranges count only when GCR_CNTL names them. */
struct pm4_acquire_mem_gcr {
	uint32_t coher_cntl; /* pixel wait sync on the graphics ring, else 0 */
	uint32_t size_lo, size_hi;
	uint32_t base_lo, base_hi;
	uint32_t poll_interval;
	uint32_t gcr_cntl;
};
static_assert(sizeof(struct pm4_acquire_mem_gcr) == 4 * 7, "ACQUIRE_MEM of GFX10 is 8 dwords");

/* GCR_CNTL: GLI_INV 1:0, GL1_RANGE 3:2, GL2_RANGE 12:11, SEQ 17:16 */
enum pm4_gcr {
	GCR_GLI_ALL = 1 << 0,
	GCR_GLM_WB = 1 << 4,
	GCR_GLM_INV = 1 << 5,
	GCR_GLK_WB = 1 << 6,
	GCR_GLK_INV = 1 << 7,
	GCR_GLV_INV = 1 << 8,
	GCR_GL1_INV = 1 << 9,
	GCR_GL2_US = 1 << 10,
	GCR_GL2_DISCARD = 1 << 13,
	GCR_GL2_INV = 1 << 14,
	GCR_GL2_WB = 1 << 15,
	GCR_GL2_RANGE = 2, /* values of GL2_RANGE */
	GCR_GL2_FIRST_LAST = 3,
};

enum { RELEASE_TC_WB = 1 << 15, RELEASE_TCL1 = 1 << 16, RELEASE_TC = 1 << 17, RELEASE_TC_NC = 1 << 19 };
enum {
	RELEASE_DATA_NONE = 0,
	RELEASE_DATA_32 = 1,
	RELEASE_DATA_64 = 2,
	RELEASE_DATA_GPU_CLOCK = 3,
	RELEASE_DATA_SYSTEM_CLOCK = 4, /* GFX10 and later */
	RELEASE_DATA_GDS = 5,
	RELEASE_DATA_ATOMIC_ADD_32 = 7, /* GFX10.3, GFX11 */
};

enum pm4_event {
	EVENT_CACHE_FLUSH_TS = 0x04,
	EVENT_CACHE_FLUSH = 0x06,
	EVENT_CS_PARTIAL_FLUSH = 0x07,
	EVENT_VS_PARTIAL_FLUSH = 0x0f,
	EVENT_PS_PARTIAL_FLUSH = 0x10,
	EVENT_CACHE_FLUSH_AND_INV_TS = 0x14,
	EVENT_ZPASS_DONE = 0x15,
	EVENT_CACHE_FLUSH_AND_INV = 0x16,
	EVENT_PERFCOUNTER_START = 0x17,
	EVENT_PERFCOUNTER_STOP = 0x18,
	EVENT_PIPELINESTAT_START = 0x19,
	EVENT_PIPELINESTAT_STOP = 0x1a,
	EVENT_PERFCOUNTER_SAMPLE = 0x1b,
	EVENT_SAMPLE_PIPELINESTAT = 0x1e,
	EVENT_BOTTOM_OF_PIPE_TS = 0x28,
	EVENT_FLUSH_SX_TS = 0x29,
	EVENT_FLUSH_AND_INV_DB_DATA_TS = 0x2b,
	EVENT_FLUSH_AND_INV_CB_DATA_TS = 0x2d,
	EVENT_CS_DONE = 0x2f,
	EVENT_PS_DONE = 0x30,
	EVENT_THREAD_TRACE_START = 0x33,
	EVENT_THREAD_TRACE_STOP = 0x34,
	EVENT_THREAD_TRACE_MARKER = 0x35,
	EVENT_THREAD_TRACE_FINISH = 0x37,
};

/* control: 2:0 function, 5:4 mem_space, 7:6 operation, 8 engine */
struct pm4_wait_reg_mem {
	uint32_t control;
	uint32_t addr_lo, addr_hi;
	uint32_t reference;
	uint32_t mask;
	uint32_t poll_interval;
};
static_assert(sizeof(struct pm4_wait_reg_mem) == 4 * 6, "WAIT_REG_MEM is 7 dwords");

/* WAIT_REG_MEM64: control as WAIT_REG_MEM. */
struct pm4_wait_reg_mem64 {
	uint32_t control;
	uint32_t addr_lo, addr_hi;
	uint32_t reference_lo, reference_hi;
	uint32_t mask_lo, mask_hi;
	uint32_t poll_interval;
};
static_assert(sizeof(struct pm4_wait_reg_mem64) == 4 * 8, "WAIT_REG_MEM64 is 9 dwords");

/* control: 0 bottom of pipe, 1 top, 2 system clock */
struct pm4_timestamp {
	uint32_t control;
	uint32_t bottom_lo, bottom_hi;
	uint32_t top_lo, top_hi;
};
static_assert(sizeof(struct pm4_timestamp) == 4 * 5, "TIMESTAMP is 6 dwords");

/* index: 1:0, 0 for the address itself; reg: 15:0 first, 31 memory holds offsets too; count: 13:0 dwords */
struct pm4_load_sh_reg_index {
	uint32_t addr_lo, addr_hi; /* addr_lo 1:0: index */
	uint32_t reg;
	uint32_t count;
};
static_assert(sizeof(struct pm4_load_sh_reg_index) == 4 * 4, "LOAD_SH_REG_INDEX is 5 dwords");

/* control: 11:8 dst_sel, 16 addr_incr, 20 wr_confirm */
struct pm4_write_data {
	uint32_t control;
	uint32_t addr_lo, addr_hi;
	uint32_t data[];
};
static_assert(sizeof(struct pm4_write_data) == 4 * 3, "WRITE_DATA is 4+n dwords");

/* control: 3:0 src_sel, 11:8 dst_sel, 16 count_sel, 20 wr_confirm */
struct pm4_copy_data {
	uint32_t control;
	uint32_t src_lo, src_hi;
	uint32_t dst_lo, dst_hi;
};
static_assert(sizeof(struct pm4_copy_data) == 4 * 5, "COPY_DATA is 6 dwords");

/* control: 6:0 atomic, 11:8 command */
struct pm4_atomic_mem {
	uint32_t control;
	uint32_t addr_lo, addr_hi;
	uint32_t src_lo, src_hi;
	uint32_t cmp_lo, cmp_hi;
	uint32_t loop_interval;
};
static_assert(sizeof(struct pm4_atomic_mem) == 4 * 8, "ATOMIC_MEM is 9 dwords");

/* control: 8 draw if it is set, 18:16 operation */
struct pm4_set_predication {
	uint32_t control;
	uint32_t addr_lo, addr_hi;
};
static_assert(sizeof(struct pm4_set_predication) == 4 * 3, "SET_PREDICATION is 4 dwords");

struct pm4_cond_exec {
	uint32_t addr_lo, addr_hi;
	uint32_t control;
	uint32_t exec_count; /* 13:0 dwords */
};
static_assert(sizeof(struct pm4_cond_exec) == 4 * 4, "COND_EXEC is 5 dwords");

/* control: 19:0 size in dwords, 20 chain, 23 valid, 27:24 vmid, 31 priv */
struct pm4_indirect_buffer {
	uint32_t base_lo, base_hi;
	uint32_t control;
};
static_assert(sizeof(struct pm4_indirect_buffer) == 4 * 3, "INDIRECT_BUFFER is 4 dwords");

enum { IB_CHAIN = 1 << 20, IB_PRE_ENA = 1 << 21, IB_VALID = 1 << 23 };
#define IB_PRIV         (1u << 31)
#define IB_VMID_MASK    0x0f000000u
#define IB_INHERIT_VMID (1u << 30) /* in the ring of a user queue: the queue's */

struct pm4_cond_indirect_buffer {
	uint32_t control; /* 1:0 mode (1 if-then, 2 if-then-else), 10:8 function */
	uint32_t addr_lo, addr_hi;
	uint32_t mask_lo, mask_hi;
	uint32_t reference_lo, reference_hi;
	struct pm4_indirect_buffer taken, other;
};
static_assert(sizeof(struct pm4_cond_indirect_buffer) == 4 * 13, "COND_INDIRECT_BUFFER is 14 dwords");

/* control: 8 space of the poll (0 register, 1 memory is bit 4), as WAIT_REG_MEM; 10:8 write_space */
struct pm4_cond_write {
	uint32_t control; /* 2:0 function, 4 poll_space, 9:8 write_space */
	uint32_t poll_lo, poll_hi;
	uint32_t reference;
	uint32_t mask;
	uint32_t write_lo, write_hi;
	uint32_t data;
};
static_assert(sizeof(struct pm4_cond_write) == 4 * 8, "COND_WRITE is 9 dwords");

/* control: 21:20 dst_sel, 30:29 src_sel, 31 cp_sync; command: 25:0 byte_count, 26 sas, 27 das, 28 saic, 29 daic */
struct pm4_dma_data {
	uint32_t control;
	uint32_t src_lo, src_hi;
	uint32_t dst_lo, dst_hi;
	uint32_t command;
};
static_assert(sizeof(struct pm4_dma_data) == 4 * 6, "DMA_DATA is 7 dwords");

/* Waits until all words have reached their values. */
#define PM4_FENCES_MAX 32
struct pm4_fence_wait_multi {
	uint32_t control;
	struct {
		uint32_t va_lo, va_hi, value_lo, value_hi;
	} fence[];
};

#endif
