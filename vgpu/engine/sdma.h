/* SDMA packets of 4.x; later versions' packets have names of their own where they differ.
 *
 * Sources: Linux vega10_sdma_pkt_open.h, navi10_sdma_pkt_open.h, sdma_v6_0_0_pkt_open.h, PAL's gfx12 headers. Each
 * struct is a whole packet; header: 7:0 op, 15:8 sub_op, rest by packet. */
#ifndef VGPU_ENGINE_SDMA_H
#define VGPU_ENGINE_SDMA_H

#include <assert.h>
#include <stdint.h>

enum sdma_op {
	SDMA_NOP = 0,
	SDMA_COPY = 1,
	SDMA_WRITE = 2,
	SDMA_INDIRECT = 4,
	SDMA_FENCE = 5,
	SDMA_TRAP = 6,
	SDMA_SEM = 7,
	SDMA_POLL_REGMEM = 8,
	SDMA_COND_EXE = 9,
	SDMA_ATOMIC = 10,
	SDMA_CONST_FILL = 11,
	SDMA_PTEPDE = 12,
	SDMA_TIMESTAMP = 13,
	SDMA_SRBM_WRITE = 14,
	SDMA_PRE_EXE = 15,
	SDMA_DUMMY_TRAP_4 = 16, /* 4.x */
	SDMA_GPUVM_INV = 16,    /* 5.0 and later, as all that follow */
	SDMA_GCR_REQ = 17,
	SDMA_DUMMY_TRAP = 32,
};

enum { SDMA_COPY_LINEAR = 0, SDMA_COPY_SUB_WINDOW = 4, SDMA_COPY_SUB_WINDOW_LARGE = 36 };
enum { SDMA_TIMESTAMP_SET = 0, SDMA_TIMESTAMP_GET = 1, SDMA_TIMESTAMP_GET_GLOBAL = 2 };

enum { SDMA_MTYPE_UC = 3 };

/* header: 18 tmz, 25 backwards (5.0 and later), 27 broadcast. With bit 19 on 7.0 a dword of DCC follows. */
struct sdma_copy_linear {
	uint32_t header;
	uint32_t count; /* bytes - 1 */
	uint32_t swap;  /* 17:16 of the destination, 25:24 of the source */
	uint32_t src_lo, src_hi;
	uint32_t dst_lo, dst_hi;
};
static_assert(sizeof(struct sdma_copy_linear) == 4 * 7, "COPY LINEAR is 7 dwords");

struct sdma_copy_broadcast {
	uint32_t header;
	uint32_t count;
	uint32_t swap;
	uint32_t src_lo, src_hi;
	uint32_t dst1_lo, dst1_hi;
	uint32_t dst2_lo, dst2_hi;
};
static_assert(sizeof(struct sdma_copy_broadcast) == 4 * 9, "COPY BROADCAST is 9 dwords");

/* header: 31:29 log2 of the element size; in elements: xy 13:0 x, 29:16 y; z_pitch 10:0 z, 31:13 pitch - 1;
 * slice 27:0 slice pitch - 1; rect_xy and rect_z minus one */
struct sdma_window {
	uint32_t base_lo, base_hi;
	uint32_t xy;
	uint32_t z_pitch;
	uint32_t slice;
};

struct sdma_copy_sub_window {
	uint32_t header;
	struct sdma_window src, dst;
	uint32_t rect_xy;
	uint32_t rect_z;
};
static_assert(sizeof(struct sdma_copy_sub_window) == 4 * 13, "COPY LINEAR SUB_WINDOW is 13 dwords");

/* 6.0 and later: whole dwords for everything. slice_hi of dst: 15:0 */
struct sdma_window_large {
	uint32_t base_lo, base_hi;
	uint32_t x, y, z;
	uint32_t pitch; /* minus one, as the slice */
	uint32_t slice_lo, slice_hi;
};

struct sdma_copy_sub_window_large {
	uint32_t header;
	struct sdma_window_large src, dst;
	uint32_t rect_x, rect_y, rect_z; /* minus one */
};
static_assert(sizeof(struct sdma_copy_sub_window_large) == 4 * 20, "COPY LINEAR SUB_WINDOW LARGE is 20 dwords");

/* base 31:7 and 47:32; GCR_CNTL 15:0 in base_hi 31:16, 18:16 in limit_lo 2:0; limit likewise; limit_hi 27:24 vmid
 */
struct sdma_gcr_req {
	uint32_t header;
	uint32_t base_lo, base_hi;
	uint32_t limit_lo, limit_hi;
};
static_assert(sizeof(struct sdma_gcr_req) == 4 * 5, "GCR_REQ is 5 dwords");

struct sdma_write {
	uint32_t header;
	uint32_t dst_lo, dst_hi;
	uint32_t count; /* 19:0 dwords - 1 */
};
static_assert(sizeof(struct sdma_write) == 4 * 4, "WRITE is 4+n dwords");

struct sdma_const_fill {
	uint32_t header; /* 31:30 fillsize: 0 byte, 1 halfword, 2 dword */
	uint32_t dst_lo, dst_hi;
	uint32_t pattern;
	uint32_t count; /* bytes - 1 */
};
static_assert(sizeof(struct sdma_const_fill) == 4 * 5, "CONST_FILL is 5 dwords");

struct sdma_fence {
	uint32_t header; /* 18:16 mtype, 5.0 to 6.1 */
	uint32_t addr_lo, addr_hi;
	uint32_t data;
};
static_assert(sizeof(struct sdma_fence) == 4 * 4, "FENCE is 4 dwords");

struct sdma_poll_regmem {
	uint32_t header; /* 26 hdp_flush, 30:28 function, 31 memory */
	uint32_t addr_lo, addr_hi;
	uint32_t reference;
	uint32_t mask;
	uint32_t interval; /* 15:0 interval, 27:16 retry, 0xfff: for ever */
};
static_assert(sizeof(struct sdma_poll_regmem) == 4 * 6, "POLL_REGMEM is 6 dwords");

struct sdma_cond_exe {
	uint32_t header;
	uint32_t addr_lo, addr_hi;
	uint32_t reference;
	uint32_t exec_count; /* 13:0 dwords */
};
static_assert(sizeof(struct sdma_cond_exe) == 4 * 5, "COND_EXE is 5 dwords");

struct sdma_atomic {
	uint32_t header; /* 16 loop, 31:25 operation */
	uint32_t addr_lo, addr_hi;
	uint32_t src_lo, src_hi;
	uint32_t cmp_lo, cmp_hi;
	uint32_t loop_interval;
};
static_assert(sizeof(struct sdma_atomic) == 4 * 8, "ATOMIC is 8 dwords");

struct sdma_timestamp {
	uint32_t header;
	uint32_t lo, hi; /* SET: the value; GET: the address */
};
static_assert(sizeof(struct sdma_timestamp) == 4 * 3, "TIMESTAMP is 3 dwords");

#endif
