/* SDMA packets, 4.x to 7.x. Sources: Linux vega10_sdma_pkt_open.h, navi10_sdma_pkt_open.h, sdma_v6_0_0_pkt_open.h,
 * sdma_v7_1_0_pkt_open.h; Mesa sid.h, ac_cmdbuf_sdma.c. */
#ifndef SDMA_PACKET_H
#define SDMA_PACKET_H

#include <stdint.h>

#include "drv/chip.h"
#include "drv/error.h"

/* DW0: 7:0 opcode, 15:8 sub-opcode. */
enum sdma_opcode {
	SDMA_OP_NOP = 0,
	SDMA_OP_COPY = 1,
	SDMA_OP_WRITE = 2,
	SDMA_OP_FENCE = 5,
	SDMA_OP_CONST_FILL = 11,
	SDMA_OP_TIMESTAMP = 13,
};

#define SDMA_COPY_WINDOW          4  /* sub-opcode of COPY: LINEAR_SUB_WINDOW */
#define SDMA_ELEMENT_SHIFT        29 /* DW0 31:29, log2 of an element's bytes */
#define SDMA_Y_SHIFT              16
#define SDMA_HEADER(op, sub)      ((uint32_t)(op) | (uint32_t)(sub) << 8)
#define SDMA_TIMESTAMP_GET_GLOBAL 2
#define SDMA_CONST_FILL_DWORDS    (2u << 30) /* DW0 31:30, size of the pattern */
#define SDMA_WRITE_COUNT_MASK     0xfffffu   /* WRITE: dwords - 1 */

enum sdma_packet_dw {
	SDMA_COPY_DW = 7,
	SDMA_COPY_WINDOW_DW = 13,
	SDMA_WRITE_DW = 4, /* followed by the data */
	SDMA_FENCE_DW = 4,
	SDMA_CONST_FILL_DW = 5,
	SDMA_TIMESTAMP_DW = 3,
};

/* A generation's packets, where they differ: constant, by enum drv_sdma. */
struct sdma_packets {
	uint32_t fence;                  /* FENCE, DW0: from version 5 on the memory type, uncached */
	uint32_t copy_mask, fill_mask;   /* bytes - 1 of COPY and of CONST_FILL */
	uint8_t pitch_shift;             /* COPY_WINDOW: position of the pitch, behind the slice number */
	uint32_t window_max, slices_max; /* elements of a row, and rows; slices */
	uint32_t pitch_max;              /* elements */
	uint64_t slice_max;
};
extern DRV_OWN const struct sdma_packets sdma_packets[DRV_SDMA_V7 + 1];

#endif
