/* SDMA 4.x packets. Sources: Linux vega10_sdma_pkt_open.h, Mesa sid.h. */
#ifndef SDMA_PACKET_H
#define SDMA_PACKET_H

#include <stdint.h>

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
#define SDMA_PITCH_SHIFT          13
#define SDMA_WINDOW_MAX           16384u     /* elements of a row, and rows */
#define SDMA_PITCH_MAX            (1u << 19) /* elements */
#define SDMA_SLICE_MAX            (1u << 28)
#define SDMA_HEADER(op, sub)      ((uint32_t)(op) | (uint32_t)(sub) << 8)
#define SDMA_TIMESTAMP_GET_GLOBAL 2
#define SDMA_CONST_FILL_DWORDS    (2u << 30) /* DW0 31:30, size of the pattern */
#define SDMA_COUNT_MASK           0x3fffffu  /* COPY and CONST_FILL: bytes - 1 */
#define SDMA_WRITE_COUNT_MASK     0xfffffu   /* WRITE: dwords - 1 */

enum sdma_packet_dw {
	SDMA_COPY_DW = 7,
	SDMA_COPY_WINDOW_DW = 13,
	SDMA_WRITE_DW = 4, /* followed by the data */
	SDMA_FENCE_DW = 4,
	SDMA_CONST_FILL_DW = 5,
	SDMA_TIMESTAMP_DW = 3,
};

#endif
