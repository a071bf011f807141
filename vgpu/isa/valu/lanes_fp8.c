/* Lane functions: 8-bit floats (gfx942, GFX12). */
#include "vgpu/isa/fp8.h"
#include "vgpu/isa/valu/lanes.h"

/* MODE.FP16_OVFL: what overflows becomes the largest number. */
#define SATURATES(mode) ((mode) >> 23 & 1)

/* The byte that op_sel 1:0 of VOP3 names, with its bits reversed (GFX12: RDNA4 ISA, V_CVT_F32_FP8; LLVM writes byte_sel:1
 * as op_sel:[0,1]). */
static unsigned byte_shift(const struct isa_valu *v)
{
	return (v->opsel & 1) << 4 | (v->opsel & 2) << 2;
}

#define WIDEN(name, FORMAT)                                                                                        \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const unsigned shift = byte_shift(x->inst);                                                        \
		const struct fp8_format f = x->mode & ISA_MODE_F8_FNUZ ? FORMAT##_FNUZ : FORMAT##_OCP;             \
		for (unsigned l = 0; l < ISA_LANES; l++)                                                           \
			x->d[l] = fp8_to_bits32(x->s[0][l] >> shift, f);                                           \
	}                                                                                                          \
	static void pk_##name(struct isa_lanes *x)                                                                 \
	{                                                                                                          \
		const struct fp8_format f = x->mode & ISA_MODE_F8_FNUZ ? FORMAT##_FNUZ : FORMAT##_OCP;             \
		for (unsigned l = 0; l < ISA_LANES; l++) {                                                         \
			const uint32_t pair = x->s[0][l];                                                          \
			x->d[l] = fp8_to_bits32(pair, f);                                                          \
			x->d[ISA_LANES + l] = fp8_to_bits32(pair >> 8, f);                                         \
		}                                                                                                  \
	}
WIDEN(f32_fp8, FP8_E4M3)
WIDEN(f32_bf8, FP8_E5M2)

/* Two results to the half of vdst that op_sel names; source 2 is vdst as it was. */
#define NARROW(name, FORMAT)                                                                                       \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const unsigned shift = x->inst->opsel & 8 ? 16 : 0;                                                \
		const struct fp8_format f = x->mode & ISA_MODE_F8_FNUZ ? FORMAT##_FNUZ : FORMAT##_OCP;             \
		const bool saturate = SATURATES(x->mode);                                                          \
		for (unsigned l = 0; l < ISA_LANES; l++) {                                                         \
			const uint32_t pair = fp8_from_bits32(x->s[0][l], f, saturate) |                           \
					      fp8_from_bits32(x->s[1][l], f, saturate) << 8;                       \
			x->d[l] = (x->s[2][l] & ~(0xffffu << shift)) | pair << shift;                              \
		}                                                                                                  \
	}
NARROW(pk_fp8, FP8_E4M3)
NARROW(pk_bf8, FP8_E5M2)

/* One result to the byte of vdst that op_sel 3:2 names. The ISA documents name the seed's bits, but leave out the carry
 * and round to nearest even; HIP's header for OCP formats (from_float_sr()) carries and cuts off, as a card does
 * (later_test.c has what one gave). HIP's older header, for FNUZ, takes the seed's lower bits: no card's results are
 * public for gfx942, and its document has GFX12's words. */
#define BY_SEED(name, FORMAT)                                                                                      \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const unsigned shift = x->inst->opsel >> 2 << 3;                                                   \
		const struct fp8_format f = x->mode & ISA_MODE_F8_FNUZ ? FORMAT##_FNUZ : FORMAT##_OCP;             \
		const bool saturate = SATURATES(x->mode);                                                          \
		for (unsigned l = 0; l < ISA_LANES; l++) {                                                         \
			const uint32_t code = fp8_from_bits32_by_seed(x->s[0][l], f, saturate, x->s[1][l]);        \
			x->d[l] = (x->s[2][l] & ~(0xffu << shift)) | code << shift;                                \
		}                                                                                                  \
	}
BY_SEED(sr_fp8, FP8_E4M3)
BY_SEED(sr_bf8, FP8_E5M2)

/* GFX12: four products, added to c in turn. */
#define DOT4(name, FORMAT_A, FORMAT_B)                                                                             \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		for (unsigned l = 0; l < ISA_LANES; l++) {                                                         \
			float sum = as_f32(x->s[2][l]);                                                            \
			for (unsigned n = 0; n < 32; n += 8)                                                       \
				sum = fused(as_f32(fp8_to_bits32(x->s[0][l] >> n & 255, FORMAT_A)),                \
					    as_f32(fp8_to_bits32(x->s[1][l] >> n & 255, FORMAT_B)), sum);          \
			x->d[l] = f32_bits(sum);                                                                   \
		}                                                                                                  \
	}
DOT4(dot4_fp8_fp8, FP8_E4M3_OCP, FP8_E4M3_OCP)
DOT4(dot4_fp8_bf8, FP8_E4M3_OCP, FP8_E5M2_OCP)
DOT4(dot4_bf8_fp8, FP8_E5M2_OCP, FP8_E4M3_OCP)
DOT4(dot4_bf8_bf8, FP8_E5M2_OCP, FP8_E5M2_OCP)

#define DOT(ID, fn) {ISA_OP_V_DOT4_F32_##ID, ISA_FP_FLUSH, fn}
#define N(ID, fn)   {ISA_OP_V_CVT_##ID, ISA_FP_NONE, fn}

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_fp8)[] = {
	N(F32_FP8, f32_fp8),        N(F32_BF8, f32_bf8),        N(PK_F32_FP8, pk_f32_fp8),
	N(PK_F32_BF8, pk_f32_bf8),  N(PK_FP8_F32, pk_fp8),      N(PK_BF8_F32, pk_bf8),
	N(SR_FP8_F32, sr_fp8),      N(SR_BF8_F32, sr_bf8),      DOT(FP8_FP8, dot4_fp8_fp8),
	DOT(FP8_BF8, dot4_fp8_bf8), DOT(BF8_FP8, dot4_bf8_fp8), DOT(BF8_BF8, dot4_bf8_bf8),
	{ISA_OP_NONE, 0, NULL},
};
