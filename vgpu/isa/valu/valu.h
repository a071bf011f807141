/* Vector ALU: how 64 lanes are computed. Private to vgpu/isa/.
 *
 * A semantic has one lane function, which reads whole source rows and writes whole result rows, for all 64 lanes:
 * EXEC, modifiers, SDWA and DPP are the business of the handler in valu.c, which hands it rows already prepared and
 * blends the result under EXEC afterwards. Lane functions live in lanes_*.c, which the Makefile compiles twice, for
 * any x86-64 and for AVX2, and some a third time, for AVX2 and waves of 32 lanes.
 *
 * A result row may be a source row: lane functions read all of a lane before they write it. */
#ifndef VGPU_ISA_VALU_VALU_H
#define VGPU_ISA_VALU_VALU_H

#include "vgpu/isa/wave/wave.h"

/* Operands of a lane function. */
struct isa_lanes {
	uint32_t *d;          /* result rows: the low dword's 64 lanes, then the next dword's */
	const uint32_t *s[3]; /* source rows, in the same way */
	uint64_t carry;       /* in: bit per lane; out: carry or compare result */
	uint64_t exec;     /* active lanes: only for functions across lanes, and functions that are slow per lane */
	uint32_t mode;     /* isa_wave::mode */
	bool clamp;        /* saturate integer results */
	uint8_t lanes;     /* matrices from GFX11 on: of the wave */
	bool wmma_doubled; /* GFX11: operands are there once for each 16 lanes */
	bool flush_half;   /* matrices: denormal f16 and bf16 sources are zero (gfx90a, not gfx942) */
	const struct isa_valu *inst;
};

typedef void (*isa_lane_fn)(struct isa_lanes *x);

struct isa_lane_op {
	uint16_t op;
	uint8_t fp; /* enum isa_fp */
	isa_lane_fn fn;
};

/* Builds of lane functions. Those of ISA_BUILD_HALF leave the upper 32 lanes of results undefined; what it does not have is
 * that of AVX2. */
enum isa_build { ISA_BUILD_BASE, ISA_BUILD_AVX2, ISA_BUILD_HALF };

/* Tables of lane functions, ended by ISA_OP_NONE; one set per build. */
#define ISA_LANE_TABLES(X)                                                                                         \
	X(int) X(int64) X(f32) X(compare) X(f64) X(f16) X(packed) X(convert) X(special) X(matrix) X(wmma) X(fp8)
#define ISA_DECLARE_LANES(name)                                                                                    \
	extern const struct isa_lane_op isa_lanes_##name##_base[], isa_lanes_##name##_avx2[];
ISA_LANE_TABLES(ISA_DECLARE_LANES)
#define ISA_HALF_TABLES(X)     X(int) X(int64) X(f32) X(compare)
#define ISA_DECLARE_HALF(name) extern const struct isa_lane_op isa_lanes_##name##_half[];
ISA_HALF_TABLES(ISA_DECLARE_HALF)

/* Operations of handlers on whole rows, in both builds. Shifts are in bits. */
struct isa_row_tools {
	/* `dw` rows, where the lane mask is set. */
	void (*blend)(uint32_t *d, const uint32_t *from, const uint32_t *mask, unsigned dw);
	/* A bit per lane to 0 or ~0 per lane. */
	void (*expand)(uint64_t bits, uint32_t *mask);
	/* Writes a value to all lanes. */
	void (*spread)(uint32_t *row, uint32_t value);
	/* row << up >> down, the second shift arithmetic with sext. */
	void (*extract)(uint32_t *row, unsigned up, unsigned down, bool sext);
	/* (row & keep) ^ flip. */
	void (*sign)(uint32_t *row, uint32_t keep, uint32_t flip);
	/* Two halves from bits lo and hi of each lane; lo, hi: 0 or 16. */
	void (*pair16)(uint32_t *row, unsigned lo, unsigned hi, uint32_t flip);
	/* Two rows from the rows at lo and hi: 0 or ISA_LANES. */
	void (*pair32)(uint32_t *rows, unsigned lo, unsigned hi, uint32_t flip_lo, uint32_t flip_hi);
	/* The f16 at `shift` to f32, exactly. */
	void (*widen_half)(uint32_t *row, unsigned shift);
	/* row & mask to bit `shift`; other bits from old, or without it 0, or with fill, above the field, its sign
	 * (fill is
	 * ~(mask >> 1)). */
	void (*insert)(uint32_t *row, const uint32_t *old, uint32_t mask, unsigned shift, uint32_t fill);
};
extern const struct isa_row_tools isa_row_tools_base, isa_row_tools_avx2;

/* The lane function of a semantic, NULL when there is none. */
const struct isa_lane_op *isa_lane_find(enum isa_op op, enum isa_build build);
/* Whether this host runs the AVX2 build, and the build for its waves. */
bool isa_host_avx2(void);
enum isa_build isa_host_build(bool wave32);

/* Binds fn and lane of a decoded vector instruction; false: not implemented. */
bool isa_valu_bind(struct isa_inst *inst, const struct isa_generation *gen, bool wave32);

#endif
