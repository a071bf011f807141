/* Lane functions: conversions. To integers: NaN gives 0, values out of range saturate, fractions are cut unless
 * the name says otherwise. To floats: rounded by MODE. */
#include "vgpu/isa/valu/f16.h"

static inline int32_t to_i32(double v)
{
	return v != v ? 0 : v >= 2147483647.0 ? INT32_MAX : v <= -2147483648.0 ? INT32_MIN : (int32_t)v;
}

static inline uint32_t to_u32(double v)
{
	return v > 0 ? v >= 4294967295.0 ? UINT32_MAX : (uint32_t)(int64_t)v : 0;
}

static inline int32_t f32_to_i32(float v)
{
	return v != v ? 0 : v >= 0x1p31f ? INT32_MAX : v <= -0x1p31f ? INT32_MIN : (int32_t)v;
}

/* Above 2^31 the number minus 2^31 converts as a signed one. */
static inline uint32_t f32_to_u32(float v)
{
	float low = v >= 0x1p31f ? v - 0x1p31f : v;

	return v > 0 ? v >= 0x1p32f ? UINT32_MAX : (uint32_t)(int32_t)low + (v >= 0x1p31f ? 0x80000000u : 0) : 0;
}

LANES_1(cvt_f32_i32, f32, i32, (float)a)
LANES_1(cvt_f32_u32, f32, u32, (float)a)
LANES_1(cvt_f64_i32, f64, i32, (double)a)
LANES_1(cvt_f64_u32, f64, u32, (double)a)
LANES_1(cvt_i32_f32, i32, f32, f32_to_i32(a))
LANES_1(cvt_u32_f32, u32, f32, f32_to_u32(a))
LANES_1(cvt_i32_f64, i32, f64, to_i32(a))
LANES_1(cvt_u32_f64, u32, f64, to_u32(a))
LANES_1(cvt_rpi_i32_f32, i32, f32, to_i32(__builtin_floor((double)a + 0.5)))
LANES_1(cvt_flr_i32_f32, i32, f32, f32_to_i32(__builtin_floorf(a)))

/* f64 to f32 keeps the top of a NaN's payload, as x86 does. */
LANES_1(cvt_f32_f64, f32, f64, (float)a)
LANES_1(cvt_f64_f32, f64, f32, (double)a)

#define F16_RESULT(name, TA, EXPR)                                                                                 \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const struct f16_mode mode = f16_mode(x->mode), *m = &mode;                                        \
		const uint32_t *s0 = x->s[0];                                                                      \
		uint32_t *d = x->d;                                                                                \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const t_##TA a = LD_##TA(s0, l);                                                           \
			d[l] = EXPR;                                                                               \
			(void)m;                                                                                   \
		}                                                                                                  \
	}
F16_RESULT(cvt_f16_f32, f32, f16_out(half_from_float(a, m->round), m))
F16_RESULT(cvt_f16_i16, i16, half_from_float((float)a, m->round))
F16_RESULT(cvt_f16_u16, u16, half_from_float((float)a, m->round))
F16_RESULT(cvt_f32_f16, u32, half_to_bits32(f16_in(a, m)))
F16_RESULT(cvt_i16_f16, u32,
	   (uint16_t)(int16_t)fminf(fmaxf(half_to_float(is_nan16(a & 0xffff) ? 0 : f16_in(a, m)), -32768.0f),
				    32767.0f))
F16_RESULT(cvt_u16_f16, u32,
	   (uint16_t)(int32_t)fminf(fmaxf(half_to_float(is_nan16(a & 0xffff) ? 0 : f16_in(a, m)), 0.0f), 65535.0f))

static void cvt_pkrtz(struct isa_lanes *x)
{
	const struct f16_mode m = f16_mode(x->mode);
	const uint32_t *s0 = x->s[0], *s1 = x->s[1];
	uint32_t *d = x->d;

	EACH_LANE
	{
		const uint32_t lo = f16_out(half_from_float(as_f32(s0[l]), HALF_ZERO), &m);

		d[l] = lo | f16_out(half_from_float(as_f32(s1[l]), HALF_ZERO), &m) << 16;
	}
}

/* --- normalised integers --- */

/* Symmetric: -1 is -32767. To nearest even. */
static inline uint32_t snorm16(float v)
{
	v = v != v ? 0 : v > 1 ? 1 : v < -1 ? -1 : v;
	return (uint16_t)(int32_t)__builtin_rintf(v * 32767.0f);
}

static inline uint32_t unorm16(float v)
{
	v = v > 0 ? v > 1 ? 1 : v : 0;
	return (uint16_t)(int32_t)__builtin_rintf(v * 65535.0f);
}

LANES_2(pknorm_i16_f32, u32, f32, f32, snorm16(a) | snorm16(b) << 16)
LANES_2(pknorm_u16_f32, u32, f32, f32, unorm16(a) | unorm16(b) << 16)
LANES_2(pknorm_i16_f16, u32, u16, u16, snorm16(half_to_float(a)) | snorm16(half_to_float(b)) << 16)
LANES_2(pknorm_u16_f16, u32, u16, u16, unorm16(half_to_float(a)) | unorm16(half_to_float(b)) << 16)
LANES_1(norm_i16_f16, u32, u16, snorm16(half_to_float(a)))
LANES_1(norm_u16_f16, u32, u16, unorm16(half_to_float(a)))

/* --- bytes --- */

LANES_1(ubyte0, f32, u32, (float)(int32_t)(a & 255))
LANES_1(ubyte1, f32, u32, (float)(int32_t)(a >> 8 & 255))
LANES_1(ubyte2, f32, u32, (float)(int32_t)(a >> 16 & 255))
LANES_1(ubyte3, f32, u32, (float)(int32_t)(a >> 24))

/* Byte number b 1:0 of c is replaced. */
static inline uint32_t put_u8(float a, uint32_t b, uint32_t c)
{
	unsigned shift = 8 * (b & 3);
	float v = a > 0 ? a > 255 ? 255 : a : 0;

	return (c & ~(255u << shift)) | (uint32_t)(int32_t)__builtin_rintf(v) << shift;
}

LANES_3(pk_u8_f32, u32, f32, u32, u32, put_u8(a, b, c))
/* A 4-bit signed number in sixteenths. */
LANES_1(off_f32_i4, f32, u32, (float)((int32_t)(a << 28) >> 28) * 0.0625f)

/* Towards zero, as to 32 bits; saturated. NaN gives 0. */
static inline uint32_t to_i16(float a)
{
	const float in = a > 32767 ? 32767 : a < -32768 ? -32768 : a;

	return a == a ? (uint16_t)(int32_t)in : 0;
}

static inline uint32_t to_u16(float a)
{
	const float in = a > 65535 ? 65535 : a < 0 ? 0 : a;

	return a == a ? (uint32_t)(int32_t)in : 0;
}

LANES_2(pk_i16_f32, u32, f32, f32, to_i16(a) | to_i16(b) << 16)
LANES_2(pk_u16_f32, u32, f32, f32, to_u16(a) | to_u16(b) << 16)

#define F(ID, fn) {ISA_OP_V_CVT_##ID, ISA_FP_32, fn}
#define D(ID, fn) {ISA_OP_V_CVT_##ID, ISA_FP_64, fn}
#define E(ID, fn) {ISA_OP_V_CVT_##ID, ISA_FP_EXACT, fn}

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_convert)[] = {
	F(F32_I32, cvt_f32_i32),
	F(F32_U32, cvt_f32_u32),
	F(I32_F32, cvt_i32_f32),
	F(U32_F32, cvt_u32_f32),
	E(RPI_I32_F32, cvt_rpi_i32_f32),
	F(FLR_I32_F32, cvt_flr_i32_f32),
	D(F64_I32, cvt_f64_i32),
	D(F64_U32, cvt_f64_u32),
	D(I32_F64, cvt_i32_f64),
	D(U32_F64, cvt_u32_f64),
	F(F32_F64, cvt_f32_f64),
	F(F64_F32, cvt_f64_f32),
	E(F16_F32, cvt_f16_f32),
	E(F16_I16, cvt_f16_i16),
	E(F16_U16, cvt_f16_u16),
	E(F32_F16, cvt_f32_f16),
	E(I16_F16, cvt_i16_f16),
	E(U16_F16, cvt_u16_f16),
	E(PKRTZ_F16_F32, cvt_pkrtz),
	E(PKNORM_I16_F32, pknorm_i16_f32),
	E(PKNORM_U16_F32, pknorm_u16_f32),
	E(PKNORM_I16_F16, pknorm_i16_f16),
	E(PKNORM_U16_F16, pknorm_u16_f16),
	E(NORM_I16_F16, norm_i16_f16),
	E(NORM_U16_F16, norm_u16_f16),
	F(F32_UBYTE0, ubyte0),
	F(F32_UBYTE1, ubyte1),
	F(F32_UBYTE2, ubyte2),
	F(F32_UBYTE3, ubyte3),
	F(PK_U8_F32, pk_u8_f32),
	F(PKACCUM_U8_F32, pk_u8_f32),
	F(OFF_F32_I4, off_f32_i4),
	F(PK_I16_F32, pk_i16_f32),
	F(PK_U16_F32, pk_u16_f32),
	{ISA_OP_NONE, 0, NULL},
};
