/* Lane functions: matrix multiply-add (gfx908, gfx90a, gfx942). EXEC has no effect.
 *
 * An instruction multiplies `blocks` pairs of M x K and K x M matrices. Lane l of a source holds row (or column) l
 * % M; l / M counts blocks, or with a single block groups of k; each lane holds `per_lane` consecutive k. Lane l
 * of the result holds column l % M, and in its registers rows in fours: 8 * (r / 4) + 4 * (l / 32) + r % 4 for M =
 * 32 and so on. Sums run in the order of k, each step fused; the order and inner precision of hardware are not
 * public, nor is the NaN of a sum: here it is the default NaN. */
#include "vgpu/isa/fp8.h"
#include "vgpu/isa/half.h"
#include "vgpu/isa/valu/lanes.h"

#define MAX_M 32

struct shape {
	uint8_t m, blocks, per_lane;
};

/* BLGP: lane of source 1 used for lane l: unchanged, the lower or upper half for both, rotated by 16, or one group
 * of 16 for all. */
static unsigned blgp_lane(unsigned pattern, unsigned l)
{
	switch (pattern) {
	case 0:
		return l;
	case 1:
		return l & 31;
	case 2:
		return 32 | (l & 31);
	case 3:
		return (l + 16) & 63;
	default:
		return 16 * (pattern - 4) | (l & 15);
	}
}

/* CBSZ: 2^cbsz neighbouring blocks all read the source 0 of block number abid among them. More than there are is
 * reserved. */
static unsigned cbsz_block(const struct isa_valu *v, unsigned block, unsigned blocks)
{
	unsigned size = 1u << v->cbsz;

	return v->cbsz ? ((block & ~(size - 1)) + (v->abid & (size - 1))) % blocks : block;
}

/* The lane that holds row i and the k-group of a block. */
static unsigned source_lane(const struct shape *s, unsigned block, unsigned group, unsigned i)
{
	return i + s->m * (block + s->blocks * group);
}

static unsigned groups(const struct shape *s)
{
	return ISA_LANES / s->m / s->blocks;
}

/* Register and lane of element (i, j) of a block's result. */
static unsigned result_at(const struct shape *s, unsigned block, unsigned i, unsigned j)
{
	switch (s->m) {
	case 32:
		return (16 * block + 4 * (i / 8) + i % 4) * ISA_LANES + 32 * (i / 4 % 2) + j;
	case 16:
		return (4 * block + i % 4) * ISA_LANES + 16 * (i / 4) + j;
	default:
		return i * ISA_LANES + 4 * block + j;
	}
}

/* Element number e of a lane in each source format. */
static inline float element_f32(const uint32_t *rows, unsigned lane, unsigned e, const struct isa_lanes *x)
{
	(void)e;
	(void)x;
	return as_f32(rows[lane]);
}

static inline float element_f16(const uint32_t *rows, unsigned lane, unsigned e, const struct isa_lanes *x)
{
	uint32_t half = rows[e / 2 * ISA_LANES + lane] >> 16 * (e % 2) & 0xffff;

	return half_to_float(x->flush_half ? flush16(half) : half);
}

static inline float element_bf16(const uint32_t *rows, unsigned lane, unsigned e, const struct isa_lanes *x)
{
	uint32_t bits = rows[e / 2 * ISA_LANES + lane] >> 16 * (e % 2) << 16;

	return as_f32(x->flush_half ? flush32(bits) : bits);
}

static inline int32_t element_i8(const uint32_t *rows, unsigned lane, unsigned e, const struct isa_lanes *x)
{
	(void)x;
	return (int8_t)(rows[e / 4 * ISA_LANES + lane] >> 8 * (e % 4));
}

static inline float element_fp8(const uint32_t *rows, unsigned lane, unsigned e, const struct isa_lanes *x)
{
	return as_f32(fp8_to_bits32(rows[e / 4 * ISA_LANES + lane] >> 8 * (e % 4),
				    x->mode & ISA_MODE_F8_FNUZ ? FP8_E4M3_FNUZ : FP8_E4M3_OCP));
}

static inline float element_bf8(const uint32_t *rows, unsigned lane, unsigned e, const struct isa_lanes *x)
{
	return as_f32(fp8_to_bits32(rows[e / 4 * ISA_LANES + lane] >> 8 * (e % 4),
				    x->mode & ISA_MODE_F8_FNUZ ? FP8_E5M2_FNUZ : FP8_E5M2_OCP));
}

/* XF32: an f32 with 10 bits of mantissa. Rounded to nearest even; what hardware does is not public. */
static inline float element_xf32(const uint32_t *rows, unsigned lane, unsigned e, const struct isa_lanes *x)
{
	uint32_t bits = rows[e * ISA_LANES + lane];

	(void)x;
	if ((bits & 0x7f800000) != 0x7f800000)
		bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
	return as_f32(bits);
}

#define STEP_f32(a, b, c) __builtin_fmaf(a, b, c)
#define STEP_i32(a, b, c) ((int32_t)((uint32_t)(a) * (uint32_t)(b) + (uint32_t)(c)))
#define BITS_f32(v)       (is_nan32(f32_bits(v)) ? NAN32 : f32_bits(v))
#define BITS_i32(v)       ((uint32_t)(v))

/* Multiplies a block: x->d holds the addend and gets the result. */
#define MATRIX(name, T, ELEMENT_A, ELEMENT_B)                                                                      \
	static void name##_block(struct isa_lanes *x, const struct shape *s, unsigned block)                       \
	{                                                                                                          \
		const unsigned from = cbsz_block(x->inst, block, s->blocks), m = s->m;                             \
		t_##T sum[MAX_M][MAX_M], column[MAX_M];                                                            \
		for (unsigned i = 0; i < m; i++)                                                                   \
			for (unsigned j = 0; j < m; j++)                                                           \
				sum[i][j] = LD_##T(x->d, result_at(s, block, i, j));                               \
		for (unsigned k = 0; k < groups(s) * s->per_lane; k++) {                                           \
			const unsigned group = k / s->per_lane, e = k % s->per_lane;                               \
			for (unsigned j = 0; j < m; j++)                                                           \
				column[j] = ELEMENT_B(                                                             \
					x->s[1], blgp_lane(x->inst->blgp, source_lane(s, block, group, j)), e, x); \
			for (unsigned i = 0; i < m; i++) {                                                         \
				const t_##T a = ELEMENT_A(x->s[0], source_lane(s, from, group, i), e, x);          \
				for (unsigned j = 0; j < m; j++)                                                   \
					sum[i][j] = STEP_##T(a, column[j], sum[i][j]);                             \
			}                                                                                          \
		}                                                                                                  \
		for (unsigned i = 0; i < m; i++)                                                                   \
			for (unsigned j = 0; j < m; j++)                                                           \
				x->d[result_at(s, block, i, j)] = BITS_##T(sum[i][j]);                             \
	}                                                                                                          \
	static void name(struct isa_lanes *x, struct shape s)                                                      \
	{                                                                                                          \
		for (unsigned block = 0; block < s.blocks; block++)                                                \
			name##_block(x, &s, block);                                                                \
	}
MATRIX(matrix_f32, f32, element_f32, element_f32)
MATRIX(matrix_f16, f32, element_f16, element_f16)
MATRIX(matrix_bf16, f32, element_bf16, element_bf16)
MATRIX(matrix_i8, i32, element_i8, element_i8)
MATRIX(matrix_xf32, f32, element_xf32, element_xf32)
MATRIX(matrix_bf8_bf8, f32, element_bf8, element_bf8)
MATRIX(matrix_bf8_fp8, f32, element_bf8, element_fp8)
MATRIX(matrix_fp8_bf8, f32, element_fp8, element_bf8)
MATRIX(matrix_fp8_fp8, f32, element_fp8, element_fp8)

/* --- sparse: of each four neighbours in a row of source 0 only two are there --- */

/* Position (of four neighbours) of element e of a lane. An element has two bits; a set of them serves the lane's
 * elements, and where CBSZ is 0, ABID selects the register's set. */
static unsigned sparse_place(const struct isa_lanes *x, const struct shape *s, unsigned lane, unsigned e)
{
	unsigned set_bits = 2u * s->per_lane, sets = 32 / set_bits;
	unsigned set = x->inst->cbsz ? 0 : x->inst->abid % sets;

	return x->s[2][lane] >> (set * set_bits + 2 * e) & 3;
}

/* per_lane counts source 0; lanes of source 1 hold twice as many, dense. */
#define SPARSE(name, T, ELEMENT_A, ELEMENT_B)                                                                      \
	static void name(struct isa_lanes *x, struct shape s)                                                      \
	{                                                                                                          \
		for (unsigned i = 0; i < s.m; i++)                                                                 \
			for (unsigned j = 0; j < s.m; j++) {                                                       \
				t_##T sum = LD_##T(x->d, result_at(&s, 0, i, j));                                  \
				for (unsigned k = 0; k < groups(&s) * s.per_lane; k++) {                           \
					const unsigned group = k / s.per_lane, e = k % s.per_lane;                 \
					const unsigned lane = source_lane(&s, 0, group, i);                        \
					const unsigned dense = e / 2 * 4 + sparse_place(x, &s, lane, e);           \
					const t_##T a = ELEMENT_A(x->s[0], lane, e, x);                            \
					const t_##T b =                                                            \
						ELEMENT_B(x->s[1], source_lane(&s, 0, group, j), dense, x);        \
					sum = STEP_##T(a, b, sum);                                                 \
				}                                                                                  \
				x->d[result_at(&s, 0, i, j)] = BITS_##T(sum);                                      \
			}                                                                                          \
	}
SPARSE(sparse_f16, f32, element_f16, element_f16)
SPARSE(sparse_bf16, f32, element_bf16, element_bf16)
SPARSE(sparse_i8, i32, element_i8, element_i8)
SPARSE(sparse_bf8_bf8, f32, element_bf8, element_bf8)
SPARSE(sparse_bf8_fp8, f32, element_bf8, element_fp8)
SPARSE(sparse_fp8_bf8, f32, element_fp8, element_bf8)
SPARSE(sparse_fp8_fp8, f32, element_fp8, element_fp8)

/* f64: BLGP negates the sources instead. The result of 16 x 16 holds row 4 * r + l / 16 in register pair r; the
 * four 4 x 4 blocks have one register pair. */
static double element_f64(const uint32_t *rows, unsigned lane, bool negate)
{
	double v = LD_f64(rows, lane);

	return negate ? -v : v;
}

static void matrix_f64(struct isa_lanes *x, struct shape s)
{
	const unsigned neg = x->inst->blgp;
	const bool wide = s.m == 16;

	for (unsigned l = 0; l < ISA_LANES; l++)
		for (unsigned r = 0; r < (wide ? 4u : 1u); r++) {
			unsigned i = wide ? 4 * r + l / 16 : l / 16, block = wide ? 0 : l / 4 % 4;
			uint32_t *d = x->d + 2 * r * ISA_LANES;
			double sum = element_f64(d, l, neg >> 2 & 1);

			for (unsigned k = 0; k < 4; k++)
				sum = __builtin_fma(
					element_f64(x->s[0], source_lane(&s, block, k, i), neg & 1),
					element_f64(x->s[1], source_lane(&s, block, k, l % s.m), neg >> 1 & 1),
					sum);
			ST_f64(d, l, sum != sum ? as_f64(NAN64) : sum);
		}
}

#define SHAPE(name, KIND, M, BLOCKS, PER_LANE)                                                                     \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		matrix_##KIND(x, (struct shape){M, BLOCKS, PER_LANE});                                             \
	}
SHAPE(f32_32x32x1, f32, 32, 2, 1)
SHAPE(f32_16x16x1, f32, 16, 4, 1)
SHAPE(f32_4x4x1, f32, 4, 16, 1)
SHAPE(f32_32x32x2, f32, 32, 1, 1)
SHAPE(f32_16x16x4, f32, 16, 1, 1)
SHAPE(f16_32x32x4, f16, 32, 2, 4)
SHAPE(f16_16x16x4, f16, 16, 4, 4)
SHAPE(f16_4x4x4, f16, 4, 16, 4)
SHAPE(f16_32x32x8, f16, 32, 1, 4)
SHAPE(f16_16x16x16, f16, 16, 1, 4)
SHAPE(i8_32x32x4, i8, 32, 2, 4)
SHAPE(i8_16x16x4, i8, 16, 4, 4)
SHAPE(i8_4x4x4, i8, 4, 16, 4)
SHAPE(i8_32x32x8, i8, 32, 1, 4)
SHAPE(i8_16x16x16, i8, 16, 1, 4)
SHAPE(bf16_32x32x2, bf16, 32, 2, 2)
SHAPE(bf16_16x16x2, bf16, 16, 4, 2)
SHAPE(bf16_4x4x2, bf16, 4, 16, 2)
SHAPE(bf16_32x32x4, bf16, 32, 1, 2)
SHAPE(bf16_16x16x8, bf16, 16, 1, 2)
SHAPE(bf16_32x32x4_1k, bf16, 32, 2, 4)
SHAPE(bf16_16x16x4_1k, bf16, 16, 4, 4)
SHAPE(bf16_4x4x4_1k, bf16, 4, 16, 4)
SHAPE(bf16_32x32x8_1k, bf16, 32, 1, 4)
SHAPE(bf16_16x16x16_1k, bf16, 16, 1, 4)
SHAPE(f64_16x16x4, f64, 16, 1, 1)
SHAPE(f64_4x4x4, f64, 4, 4, 1)
SHAPE(xf32_16x16x8, xf32, 16, 1, 2)
SHAPE(xf32_32x32x4, xf32, 32, 1, 2)
SHAPE(i8_16x16x32, i8, 16, 1, 8)
SHAPE(i8_32x32x16, i8, 32, 1, 8)

/* Two sizes of the four mixtures of 8-bit floats. */
#define SHAPES_8(KIND)                                                                                             \
	SHAPE(KIND##_16x16x32, KIND, 16, 1, 8)                                                                     \
	SHAPE(KIND##_32x32x16, KIND, 32, 1, 8)
SHAPES_8(bf8_bf8)
SHAPES_8(bf8_fp8)
SHAPES_8(fp8_bf8)
SHAPES_8(fp8_fp8)

#define SPARSE_SHAPES(KIND, PER_LANE)                                                                              \
	static void smfmac_16_##KIND(struct isa_lanes *x)                                                          \
	{                                                                                                          \
		sparse_##KIND(x, (struct shape){16, 1, PER_LANE});                                                 \
	}                                                                                                          \
	static void smfmac_32_##KIND(struct isa_lanes *x)                                                          \
	{                                                                                                          \
		sparse_##KIND(x, (struct shape){32, 1, PER_LANE});                                                 \
	}
SPARSE_SHAPES(f16, 4)
SPARSE_SHAPES(bf16, 4)
SPARSE_SHAPES(i8, 8)
SPARSE_SHAPES(bf8_bf8, 8)
SPARSE_SHAPES(bf8_fp8, 8)
SPARSE_SHAPES(fp8_bf8, 8)
SPARSE_SHAPES(fp8_fp8, 8)

#define E(ID, fn) {ISA_OP_V_MFMA_##ID, ISA_FP_EXACT, fn}
#define S(ID, fn) {ISA_OP_V_SMFMAC_##ID, ISA_FP_EXACT, fn}
#define E8(ID, kind)                                                                                               \
	E(F32_16X16X32_##ID, kind##_16x16x32), E(F32_32X32X16_##ID, kind##_32x32x16),                              \
		S(F32_16X16X64_##ID, smfmac_16_##kind), S(F32_32X32X32_##ID, smfmac_32_##kind)

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_matrix)[] = {
	E(F32_32X32X1F32, f32_32x32x1),
	E(F32_16X16X1F32, f32_16x16x1),
	E(F32_4X4X1F32, f32_4x4x1),
	E(F32_32X32X2F32, f32_32x32x2),
	E(F32_16X16X4F32, f32_16x16x4),
	E(F32_32X32X4F16, f16_32x32x4),
	E(F32_16X16X4F16, f16_16x16x4),
	E(F32_4X4X4F16, f16_4x4x4),
	E(F32_32X32X8F16, f16_32x32x8),
	E(F32_16X16X16F16, f16_16x16x16),
	E(I32_32X32X4I8, i8_32x32x4),
	E(I32_16X16X4I8, i8_16x16x4),
	E(I32_4X4X4I8, i8_4x4x4),
	E(I32_32X32X8I8, i8_32x32x8),
	E(I32_16X16X16I8, i8_16x16x16),
	E(F32_32X32X2BF16, bf16_32x32x2),
	E(F32_16X16X2BF16, bf16_16x16x2),
	E(F32_4X4X2BF16, bf16_4x4x2),
	E(F32_32X32X4BF16, bf16_32x32x4),
	E(F32_16X16X8BF16, bf16_16x16x8),
	E(F32_32X32X4BF16_1K, bf16_32x32x4_1k),
	E(F32_16X16X4BF16_1K, bf16_16x16x4_1k),
	E(F32_4X4X4BF16_1K, bf16_4x4x4_1k),
	E(F32_32X32X8BF16_1K, bf16_32x32x8_1k),
	E(F32_16X16X16BF16_1K, bf16_16x16x16_1k),
	E(F64_16X16X4F64, f64_16x16x4),
	E(F64_4X4X4F64, f64_4x4x4),
	E(F32_16X16X8_XF32, xf32_16x16x8),
	E(F32_32X32X4_XF32, xf32_32x32x4),
	E(I32_16X16X32_I8, i8_16x16x32),
	E(I32_32X32X16_I8, i8_32x32x16),
	E8(BF8_BF8, bf8_bf8),
	E8(BF8_FP8, bf8_fp8),
	E8(FP8_BF8, fp8_bf8),
	E8(FP8_FP8, fp8_fp8),
	S(F32_16X16X32_F16, smfmac_16_f16),
	S(F32_32X32X16_F16, smfmac_32_f16),
	S(F32_16X16X32_BF16, smfmac_16_bf16),
	S(F32_32X32X16_BF16, smfmac_32_bf16),
	S(I32_16X16X64_I8, smfmac_16_i8),
	S(I32_32X32X32_I8, smfmac_32_i8),
	{ISA_OP_NONE, 0, NULL},
};
