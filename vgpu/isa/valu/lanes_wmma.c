/* Lane functions: matrix instructions of GFX11 and GFX12, 16 rows by 16 columns. N = columns of the result by lane:
 *
 *           A (B alike, with its columns)         C and D
 *   GFX11   lane l has row l % 16, all of K        lane l has column l % 16, rows l / 16, l / 16 + G, ...
 *   GFX12   lane l has row l % 16, the part        lane l has column l % 16, the part of the rows that the
 *           of K that the group l / 16 has          group l / 16 has
 *
 * where G = lanes / 16. The groups of GFX12 have parts 0 and 1, those of a wave of 64 parts 0, 2, 1, 3; a part is a
 * register at least, so that 16 elements of 4 bits are in lanes 0 to 31 alone. Elements follow each other from the lowest
 * bit on; 16-bit results of GFX11 have a register each, in the half that OP_SEL 2 names. In sparse instructions A has two of each four elements of K, whose places
 * source 2 has, two bits each, in the half or quarter of the register that OP_SEL 0 (and 1) names (LLVM's index_key).
 *
 * Sources: RDNA 3 and RDNA 4 ISA, chapters on WMMA; for waves of 64 also Mesa's radv_nir_lower_cooperative_matrix.c and
 * LLPC's LowerCooperativeMatrix.cpp. RDNA 4 gives 16-bit A and B another order of K, which cancels out. Sums run in the
 * order of K with a fused step, and 16-bit results are rounded once. */
#include "vgpu/isa/fp8.h"
#include "vgpu/isa/half.h"
#include "vgpu/isa/valu/lanes.h"

enum wmma_format { WMMA_F16, WMMA_BF16, WMMA_FP8, WMMA_BF8, WMMA_I8, WMMA_I4 };
enum wmma_result { WMMA_TO_F32, WMMA_TO_F16, WMMA_TO_BF16, WMMA_TO_I32 };

struct wmma {
	enum wmma_format a, b;
	enum wmma_result result;
	unsigned k;
	bool sparse;
};

static inline unsigned wmma_bits(enum wmma_format format)
{
	return format <= WMMA_BF16 ? 16 : format == WMMA_I4 ? 4 : 8;
}

/* Element `index` of a lane's. */
static inline uint32_t lane_element(const uint32_t *rows, unsigned lane, unsigned index, unsigned width)
{
	unsigned at = index * width;

	return rows[at / 32 * ISA_LANES + lane] >> at % 32 & ((1u << width) - 1);
}

/* GFX12: the group of 16 lanes that has a part. */
static inline unsigned group_of(const struct isa_lanes *x, unsigned part)
{
	return x->lanes == 64 ? part % 2 * 2 + part / 2 : part;
}

/* GFX12: the elements fill a register of 32 lanes alone. count: elements of each row (column). */
static inline bool is_narrow(const struct isa_lanes *x, unsigned count, unsigned width)
{
	return !x->wmma_doubled && count * width < 2 * x->lanes;
}

/* Elements of a row that a lane has. */
static inline unsigned part_of(const struct isa_lanes *x, unsigned count, unsigned width)
{
	return x->wmma_doubled ? count : count / (is_narrow(x, count, width) ? 2 : x->lanes / 16);
}

/* Place of element k of row (column) n: lane, and number among the lane's elements. */
static inline void element_place(const struct isa_lanes *x, unsigned n, unsigned k, unsigned count, unsigned width,
				 unsigned *lane, unsigned *index)
{
	unsigned part = part_of(x, count, width);

	*lane = n + 16 * (is_narrow(x, count, width) ? k / part : group_of(x, k / part));
	*index = k % part;
}

static inline uint32_t wmma_element(const struct isa_lanes *x, const uint32_t *rows, unsigned n, unsigned k,
				    unsigned count, unsigned width)
{
	unsigned lane, index;

	element_place(x, n, k, count, width, &lane, &index);
	return lane_element(rows, lane, index, width);
}

/* Place of the result in row m and column n: lane, and number among the lane's results. */
static inline void result_place(const struct isa_lanes *x, unsigned m, unsigned n, unsigned *lane, unsigned *index)
{
	unsigned groups = x->lanes / 16, part = 16 / groups;

	*lane = n + 16 * (x->wmma_doubled ? m % groups : group_of(x, m / part));
	*index = x->wmma_doubled ? m / groups : m % part;
}

static inline float wmma_float(uint32_t bits, enum wmma_format format)
{
	switch (format) {
	case WMMA_F16:
		return half_to_float(bits);
	case WMMA_BF16:
		return as_f32(bits << 16);
	case WMMA_FP8:
		return as_f32(fp8_to_bits32(bits, FP8_E4M3_OCP));
	default:
		return as_f32(fp8_to_bits32(bits, FP8_E5M2_OCP));
	}
}

static inline int32_t wmma_integer(uint32_t bits, unsigned width, bool is_signed)
{
	return is_signed ? (int32_t)(bits << (32 - width)) >> (32 - width) : (int32_t)bits;
}

/* Of 16-bit operands NEG_LO and NEG_HI change the signs of even and odd elements. */
static inline uint32_t with_sign(const struct isa_lanes *x, uint32_t bits, enum wmma_format format, unsigned source,
				 unsigned k)
{
	uint32_t signs = k & 1 ? x->inst->abs : x->inst->neg;

	return format <= WMMA_BF16 && signs >> source & 1 ? bits ^ 0x8000 : bits;
}

/* The column of K that stored element k of row m stands for. */
static inline unsigned sparse_column(const struct isa_lanes *x, const struct wmma *s, unsigned m, unsigned k)
{
	unsigned lane, index, bits = 2 * part_of(x, s->k / 2, wmma_bits(s->a));

	element_place(x, m, k, s->k / 2, wmma_bits(s->a), &lane, &index);
	return k / 2 * 4 + (x->s[2][lane] >> (bits * x->inst->opsel + 2 * index) % 32 & 3);
}

static inline float dot_floats(const struct isa_lanes *x, const struct wmma *s, unsigned m, unsigned n, float sum)
{
	unsigned stored = s->sparse ? s->k / 2 : s->k;

	for (unsigned k = 0; k < stored; k++) {
		unsigned column = s->sparse ? sparse_column(x, s, m, k) : k;
		uint32_t a = wmma_element(x, x->s[0], m, k, stored, wmma_bits(s->a));
		uint32_t b = wmma_element(x, x->s[1], n, column, s->k, wmma_bits(s->b));

		a = with_sign(x, a, s->a, 0, k);
		b = with_sign(x, b, s->b, 1, column);
		sum = fused(wmma_float(a, s->a), wmma_float(b, s->b), sum);
	}
	return sum;
}

static inline int64_t dot_integers(const struct isa_lanes *x, const struct wmma *s, unsigned m, unsigned n,
				   int64_t sum)
{
	unsigned stored = s->sparse ? s->k / 2 : s->k, width = wmma_bits(s->a);

	for (unsigned k = 0; k < stored; k++) {
		unsigned column = s->sparse ? sparse_column(x, s, m, k) : k;
		uint32_t a = wmma_element(x, x->s[0], m, k, stored, width);
		uint32_t b = wmma_element(x, x->s[1], n, column, s->k, width);

		sum += (int64_t)wmma_integer(a, width, x->inst->neg & 1) * wmma_integer(b, width, x->inst->neg & 2);
	}
	return sum;
}

static inline uint32_t bf16_from_float(float f)
{
	uint32_t bits = f32_bits(f);

	return is_nan32(bits) ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static inline uint32_t saturate(const struct isa_lanes *x, int64_t sum)
{
	if (x->clamp)
		sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
	return (uint32_t)sum;
}

/* NEG_LO and NEG_HI of the addend: its sign, its absolute value. */
static inline float addend(const struct isa_lanes *x, const struct wmma *s, float c)
{
	if (s->sparse)
		return c;
	if (x->inst->abs & 4)
		c = __builtin_fabsf(c);
	return x->inst->neg & 4 ? -c : c;
}

static inline void result_32(struct isa_lanes *x, const struct wmma *s, unsigned m, unsigned n)
{
	unsigned lane, index;
	uint32_t *d;

	result_place(x, m, n, &lane, &index);
	d = &x->d[index * ISA_LANES + lane];
	if (s->result == WMMA_TO_I32)
		*d = saturate(x, dot_integers(x, s, m, n, (int32_t)*d));
	else
		*d = f32_bits(dot_floats(x, s, m, n, addend(x, s, as_f32(*d))));
}

static inline void result_16(struct isa_lanes *x, const struct wmma *s, unsigned m, unsigned n)
{
	bool half = s->result == WMMA_TO_F16;
	unsigned lane, index, shift;
	uint32_t *d, old;
	float sum;

	result_place(x, m, n, &lane, &index);
	shift = x->wmma_doubled ? (x->inst->opsel & 4 ? 16 : 0) : index % 2 * 16;
	d = &x->d[(x->wmma_doubled ? index : index / 2) * ISA_LANES + lane];
	old = *d >> shift & 0xffff;
	sum = dot_floats(x, s, m, n, addend(x, s, half ? half_to_float(old) : as_f32(old << 16)));
	*d = (*d & ~(0xffffu << shift)) | (half ? half_from_float(sum, HALF_NEAREST) : bf16_from_float(sum))
						  << shift;
}

static void multiply(struct isa_lanes *x, const struct wmma *s)
{
	for (unsigned m = 0; m < 16; m++)
		for (unsigned n = 0; n < 16; n++)
			if (s->result == WMMA_TO_F16 || s->result == WMMA_TO_BF16)
				result_16(x, s, m, n);
			else
				result_32(x, s, m, n);
}

#define WMMA(name, A, B, RESULT, K, SPARSE)                                                                        \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		multiply(x, &(const struct wmma){WMMA_##A, WMMA_##B, WMMA_TO_##RESULT, K, SPARSE});                \
	}
WMMA(f32_f16, F16, F16, F32, 16, false)
WMMA(f32_bf16, BF16, BF16, F32, 16, false)
WMMA(f16_f16, F16, F16, F16, 16, false)
WMMA(bf16_bf16, BF16, BF16, BF16, 16, false)
WMMA(i32_iu8, I8, I8, I32, 16, false)
WMMA(i32_iu4, I4, I4, I32, 16, false)
WMMA(i32_iu4_32, I4, I4, I32, 32, false)
WMMA(fp8_fp8, FP8, FP8, F32, 16, false)
WMMA(fp8_bf8, FP8, BF8, F32, 16, false)
WMMA(bf8_fp8, BF8, FP8, F32, 16, false)
WMMA(bf8_bf8, BF8, BF8, F32, 16, false)
WMMA(s_f32_f16, F16, F16, F32, 32, true)
WMMA(s_f32_bf16, BF16, BF16, F32, 32, true)
WMMA(s_f16_f16, F16, F16, F16, 32, true)
WMMA(s_bf16_bf16, BF16, BF16, BF16, 32, true)
WMMA(s_i32_iu8, I8, I8, I32, 32, true)
WMMA(s_i32_iu4, I4, I4, I32, 32, true)
WMMA(s_i32_iu4_64, I4, I4, I32, 64, true)
WMMA(s_fp8_fp8, FP8, FP8, F32, 32, true)
WMMA(s_fp8_bf8, FP8, BF8, F32, 32, true)
WMMA(s_bf8_fp8, BF8, FP8, F32, 32, true)
WMMA(s_bf8_bf8, BF8, BF8, F32, 32, true)

#define E(ID, fn) {ISA_OP_V_WMMA_##ID, ISA_FP_EXACT, fn}
#define S(ID, fn) {ISA_OP_V_SWMMAC_##ID, ISA_FP_EXACT, fn}

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_wmma)[] = {
	E(F32_16X16X16_F16, f32_f16),
	E(F32_16X16X16_BF16, f32_bf16),
	E(F16_16X16X16_F16, f16_f16),
	E(BF16_16X16X16_BF16, bf16_bf16),
	E(I32_16X16X16_IU8, i32_iu8),
	E(I32_16X16X16_IU4, i32_iu4),
	E(I32_16X16X32_IU4, i32_iu4_32),
	E(F32_16X16X16_FP8_FP8, fp8_fp8),
	E(F32_16X16X16_FP8_BF8, fp8_bf8),
	E(F32_16X16X16_BF8_FP8, bf8_fp8),
	E(F32_16X16X16_BF8_BF8, bf8_bf8),
	S(F32_16X16X32_F16, s_f32_f16),
	S(F32_16X16X32_BF16, s_f32_bf16),
	S(F16_16X16X32_F16, s_f16_f16),
	S(BF16_16X16X32_BF16, s_bf16_bf16),
	S(I32_16X16X32_IU8, s_i32_iu8),
	S(I32_16X16X32_IU4, s_i32_iu4),
	S(I32_16X16X64_IU4, s_i32_iu4_64),
	S(F32_16X16X32_FP8_FP8, s_fp8_fp8),
	S(F32_16X16X32_FP8_BF8, s_fp8_bf8),
	S(F32_16X16X32_BF8_FP8, s_bf8_fp8),
	S(F32_16X16X32_BF8_BF8, s_bf8_bf8),
	{ISA_OP_NONE, 0, NULL},
};
