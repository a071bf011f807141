/* Packets as data: for each its name, its length, the generations and rings that have it, and the names of its
 * bits. The processors check packets against these tables (cp.c, sdma.c), print.c makes text with them.
 *
 * Sources: Linux soc15d.h, nvd.h and *_sdma_pkt_open.h, PAL's merged packet headers, Mesa sid.h. */
#ifndef VGPU_ENGINE_PACKET_H
#define VGPU_ENGINE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vgpu/chip.h"

/* Generations that differ in packets, one bit each. A set of 0 means all of them. */
enum packet_gen {
	P_GFX9 = 1 << 0,   /* up to gfx90c */
	P_GFX940 = 1 << 1, /* gfx942 */
	P_GFX101 = 1 << 2,
	P_GFX103 = 1 << 3,
	P_GFX11 = 1 << 4,
	P_GFX12 = 1 << 5,
	P_SDMA40 = 1 << 8, /* 4.0 to 4.4.2 */
	P_SDMA50 = 1 << 9,
	P_SDMA52 = 1 << 10,
	P_SDMA60 = 1 << 11, /* and 6.1 */
	P_SDMA70 = 1 << 12,
};
#define P_ALL9    (P_GFX9 | P_GFX940)
#define P_ALL10   (P_GFX101 | P_GFX103)
#define P_10UP    (P_ALL10 | P_GFX11 | P_GFX12)
#define P_103UP   (P_GFX103 | P_GFX11 | P_GFX12)
#define P_11UP    (P_GFX11 | P_GFX12)
#define P_TO10    (P_ALL9 | P_ALL10)
#define P_TO11    (P_TO10 | P_GFX11)
#define P_SDMA5   (P_SDMA50 | P_SDMA52)
#define P_SDMA5U  (P_SDMA5 | P_SDMA60 | P_SDMA70)
#define P_SDMA56  (P_SDMA5 | P_SDMA60)
#define P_SDMA526 (P_SDMA52 | P_SDMA60)

/* The one bit that is the chip's command processor, its SDMA engines. */
unsigned packet_gfx_gen(const struct vgpu_chip *chip);
unsigned packet_sdma_gen(const struct vgpu_chip *chip);

static inline bool packet_in(unsigned gens, unsigned gen)
{
	return !gens || gens & gen;
}

enum packet_kind {
	FIELD_HEX,    /* not printed when 0 */
	FIELD_DEC,    /* not printed when 0 */
	FIELD_COUNT,  /* always printed, in decimal */
	FIELD_LESS1,  /* a count minus one; printed with the one */
	FIELD_FLAG,   /* prints its name when it is set */
	FIELD_NAME,   /* a value with a name; not printed when 0 */
	FIELD_ATOMIC, /* an operation of the texture cache (engine_atomic_name) */
	FIELD_WORD,   /* always printed, in hexadecimal */
	FIELD_VA,     /* low half of an address; the next dword is the high one */
	FIELD_64,     /* low half of a number; the next dword is the high one */
	FIELD_DATA,   /* this dword and all that follow */
	FIELD_REGS,   /* register offset; values of it and the next ones follow. lo: window (enum packet_window) */
	FIELD_PAIRS,  /* from here on offset and value by turns. lo: window */
	FIELD_PACKED, /* from here on two offsets and their two values by turns. lo: window */
	FIELD_RESERVED, /* not checked */
};

enum packet_window { WINDOW_CONFIG, WINDOW_SH, WINDOW_CONTEXT, WINDOW_UCONFIG };

/* Bits [hi:lo] of a dword; dword 0 is the header. */
struct packet_field {
	const char *name; /* NULL ends a list */
	uint8_t dw, hi, lo, kind;
	uint16_t gens;
	const char *const
		*names; /* names of FIELD_NAME's values; ends at NULL, with "" for a value without a name */
};

enum packet_flags {
	ON_COMPUTE = 1 << 0,
	ON_GFX = 1 << 1,
	ON_BOTH = ON_COMPUTE | ON_GFX,
	P_IGNORED = 1 << 2,      /* graphics state, or a hint: without effect here */
	P_UNMODELLED = 1 << 3,   /* not modelled: the graphics pipeline, tiled images, what no client sends */
	P_PRIVILEGED = 1 << 4,   /* for the kernel's rings */
	P_USER_RING = 1 << 6,    /* in the ring of a user queue only */
	P_UNKNOWN_BITS = 1 << 5, /* the fields do not cover all bits */
};

struct packet_form {
	const char *name;
	const struct packet_field *fields; /* NULL: none is known */
	uint16_t min_dw, max_dw;           /* the whole packet */
	uint16_t gens;
	uint8_t flags;                  /* SDMA: P_IGNORED and its kind only */
	uint8_t op, sub, bit;           /* sub and bit: of SDMA; the header bit that selects the form, 0: none */
	const struct packet_form *next; /* another form of the opcode */
};

#define PACKET_ANY 0x4001 /* dwords: the largest count of a header */

/* Form of a packet; NULL if the generation lacks it. Rings and lengths are not checked, but where an opcode has
 * two forms the length selects one. */
const struct packet_form *packet_pm4(unsigned gen, uint32_t header);
const struct packet_form *packet_sdma(unsigned gen, uint32_t header);
/* Length in dwords of the SDMA packet that begins at dw, of which have_dw are readable. 0: more dwords are needed.
 */
uint32_t packet_sdma_dw(const struct packet_form *form, const uint32_t *dw, uint32_t have_dw);

/* Finds bits set that no field of the generation has: their dword and the bits; false when there are none. */
bool packet_stray_bits(const struct packet_form *form, unsigned gen, const uint32_t *dw, unsigned count,
		       unsigned *where, uint32_t *stray);

/* "COMPUTE_PGM_LO", NULL where no name is known. offset: dwords from the window's start. */
const char *packet_register(unsigned gen, enum packet_window window, unsigned offset);

#endif
