/* Small computations that run on GPU and CPU: one function per subject, compiled by clang for each target and by
 * the host's compiler, and compared bit by bit. x and y are random, i is the index. */
#ifndef TESTS_BATTERY_H
#define TESTS_BATTERY_H

#ifdef __HIP__
#include "shaders/device.h"
#define FN static __device__ __attribute__((noinline))
#pragma clang fp contract(off)
typedef int i32;
typedef long i64;
typedef short i16;
typedef signed char i8;
#else
#include <stdint.h>
#define FN static __attribute__((noinline))
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
#endif

#define BATTERY(X)                                                                                                 \
	X(int32)                                                                                                   \
	X(int64)                                                                                                   \
	X(shifts)                                                                                                  \
	X(bits)                                                                                                    \
	X(bytes)                                                                                                   \
	X(words)                                                                                                   \
	X(divide)                                                                                                  \
	X(float32)                                                                                                 \
	X(float64)                                                                                                 \
	X(float16)                                                                                                 \
	X(root)                                                                                                    \
	X(convert)                                                                                                 \
	X(compare)                                                                                                 \
	X(branches)                                                                                                \
	X(loops)                                                                                                   \
	X(cases)                                                                                                   \
	X(arrays)                                                                                                  \
	X(structs)                                                                                                 \
	X(recursion)                                                                                               \
	X(pointers)                                                                                                \
	X(wide)                                                                                                    \
	X(minmax)                                                                                                  \
	X(unaligned)

FN u64 b_int32(u32 i, u64 x, u64 y)
{
	i32 a = (i32)x, b = (i32)y;
	u32 c = (u32)(x >> 32), d = (u32)(y >> 32);

	return (u64)(u32)(a * (u32)b + c) ^ (u64)(c - d) << 32 ^
	       (u64)(c * 24u + (d & 0xffffff) * (c & 0xffffff)) << 16 ^ (u64)((i64)a * b) ^ (u64)c * d ^ i;
}

FN u64 b_int64(u32 i, u64 x, u64 y)
{
	i64 a = (i64)x, b = (i64)y;

	return (x + y) * 3 - (x ^ y) + (u64)(a >> 7) + (u64)(a < b ? a : b) + x * y + (u64)(-a) + (x & ~y) + i;
}

FN u64 b_shifts(u32 i, u64 x, u64 y)
{
	u32 s = (u32)y, n = s & 31, m = s & 63;
	u64 r = (x << m) ^ (x >> m) ^ (u64)((i64)x >> m);

	r += (u32)x << n;
	r ^= (u64)((u32)x >> n) << 8;
	r += (u64)((i32)x >> n);
	r ^= (x << (i & 63)) | (x >> (-i & 63));
	return r + ((u32)x >> 5 & 0x7f) + (((u32)x << n | (u32)x >> (-n & 31)) ^ (u16)x);
}

FN u64 b_bits(u32 i, u64 x, u64 y)
{
	u32 a = (u32)x | 1, b = (u32)y;
	u64 r = (u64)__builtin_popcount(a) + (u64)__builtin_popcountll(x) * 64;

	r += (u64)__builtin_clz(a) << 16;
	r += (u64)__builtin_ctz(a | 0x80000000u) << 24;
	r += (u64)__builtin_clzll(x | 1) << 32;
	r += (u64)__builtin_ctzll(x | 1ull << 63) << 40;
	r ^= __builtin_bswap32(b);
	r ^= __builtin_bswap64(y);
	return r ^ ((a & b) | (~a & i));
}

FN u64 b_bytes(u32 i, u64 x, u64 y)
{
	u8 a[8], r[8];
	u64 out = 0;

	for (u32 k = 0; k < 8; k++) {
		a[k] = (u8)(x >> 8 * k);
		r[(k * 3 + (y & 7)) & 7] = (u8)(a[k] + (i8)(y >> 8 * k));
	}
	for (u32 k = 0; k < 8; k++)
		out |= (u64)(u8)(r[k] * (k + i)) << 8 * k;
	return out;
}

FN u64 b_words(u32 i, u64 x, u64 y)
{
	u16 a = (u16)x, b = (u16)(x >> 16), c = (u16)y;
	i16 d = (i16)(y >> 16), e = (i16)(x >> 32);
	u64 r = (u16)(a * b + c);

	r |= (u64)(u16)(d + e) << 16;
	r |= (u64)(u16)(d > e ? d : e) << 32;
	r |= (u64)(u16)(a < c ? a : c) << 48;
	return r ^ (u64)((u32)(u16)(a >> (i & 15)) + (u32)(u16)(d >> (b & 15))) ^ (u64)(i64)(i8)y;
}

FN u64 b_divide(u32 i, u64 x, u64 y)
{
	u32 a = (u32)x, b = (u32)y | 1;
	i32 c = (i32)(x >> 32), d = (i32)(y >> 32) | 1;
	u64 r = a / b + (u64)(a % b) * 3;

	if (d == -1)
		d = 3;
	r ^= (u64)(u32)(c / d) << 32;
	r += (u64)(u32)(c % d);
	r ^= x / (y >> 20 | 1);
	r += x % (y >> 9 | 1);
	r ^= (u64)((i64)x / ((i64)y >> 33 | 3));
	return r + a / 10 + a % 7 + i;
}

/* Floats in a tame range, so that no result is a NaN whose payload compilers may choose. */
FN float f32_of(u64 x)
{
	return (float)(i32)(x & 0xfffff) * 0.01f - 5000.0f;
}

FN u64 bits32(float f)
{
	union {
		float f;
		u32 u;
	} v;
	v.f = f;
	return v.u;
}

FN u64 bits64(double f)
{
	union {
		double f;
		u64 u;
	} v;
	v.f = f;
	return v.u;
}

FN u64 b_float32(u32 i, u64 x, u64 y)
{
	float a = f32_of(x), b = f32_of(y), c = f32_of(x >> 20), d = f32_of(y >> 20) + 0.25f;
	float p = a * b + c, q = a / (d == 0 ? 1.0f : d), r = __builtin_fmaf(a, b, c);

	p = p - __builtin_fabsf(q) + (float)i * 1e-20f;
	/* denormals */
	return bits32(p) ^ bits32(q) << 13 ^ bits32(r) << 29 ^ bits32(a * 1e-38f * 1e-3f) << 7 ^
	       bits32(__builtin_fminf(a, b) - __builtin_fmaxf(c, d)) ^ bits32(__builtin_copysignf(a, b)) << 3;
}

FN u64 b_float64(u32 i, u64 x, u64 y)
{
	double a = (double)(i64)x * 1e-6, b = (double)(i64)y * 1e-9 + 0.125, c = (double)(u32)x;
	double p = a * b - c, q = a / (b == 0 ? 1.0 : b), r = __builtin_fma(a, b, c);

	return bits64(p) ^ bits64(q) << 1 ^ bits64(r) >> 1 ^ bits64(a * 1e-300 * 1e-20) ^ bits64(a < b ? a : b) ^
	       bits64((double)i + q);
}

FN u64 bits16(_Float16 f)
{
	union {
		_Float16 f;
		u16 u;
	} v;
	v.f = f;
	return v.u;
}

FN u64 b_float16(u32 i, u64 x, u64 y)
{
	_Float16 a = (_Float16)((float)(i32)(x & 0x7ff) * 0.03125f - 20.0f);
	_Float16 b = (_Float16)((float)(i32)(y & 0x7ff) * 0.015625f - 9.0f);
	_Float16 s = (_Float16)(a + b), m = (_Float16)(a * b), d = (_Float16)(a - b);

	return (bits16(s) | bits16(m) << 16 | bits16(d) << 32 | bits16((_Float16)(a > b ? s : m)) << 48) ^ i;
}

FN u64 b_root(u32 i, u64 x, u64 y)
{
	float a = __builtin_fabsf(f32_of(x)) + 1e-3f;
	double b = (double)(y >> 11) * 1e-3;

	return bits32(__builtin_sqrtf(a)) ^ bits64(__builtin_sqrt(b)) ^ (u64)i << 40;
}

FN u64 b_convert(u32 i, u64 x, u64 y)
{
	float f = f32_of(x);
	double d = (double)(i64)y * 1e-3;
	u64 r = (u64)(u32)(i32)f ^ (u64)(i64)d;

	r ^= bits32((float)(u32)x) << 8;
	r ^= bits32((float)(i32)y) << 16;
	r ^= bits32((float)x);
	r ^= bits32((float)(i64)y) << 5;
	r ^= bits64((double)x);
	r ^= bits64((double)f) >> 3;
	r ^= bits32((float)d) << 20;
	r ^= (u64)(u32)__builtin_fabsf(f) << 9;
	r ^= (u64)(__builtin_floorf(f) + __builtin_ceilf(f * 0.5f) + __builtin_truncf(f * 0.25f) + 100000.0f) << 30;
	r ^= (u64)(u32)(i32)(__builtin_rintf(f)) << 11;
	return r + (u64)(float)(i & 0xff);
}

FN u64 b_compare(u32 i, u64 x, u64 y)
{
	float a = f32_of(x), b = f32_of(y);
	double c = (double)(i64)x, d = (double)(i64)y;
	i32 p = (i32)x, q = (i32)y;
	u64 r = 0;

	r |= (u64)(a < b) << 0 | (u64)(a <= b) << 1 | (u64)(a > b) << 2 | (u64)(a >= b) << 3 | (u64)(a == b) << 4;
	r |= (u64)(a != b) << 5 | (u64)(c < d) << 6 | (u64)(c > d) << 7 | (u64)(c == d) << 8;
	r |= (u64)(p < q) << 9 | (u64)(p > q) << 10 | (u64)(p == q) << 11 | (u64)((u32)p < (u32)q) << 12;
	r |= (u64)((i64)x < (i64)y) << 13 | (u64)(x < y) << 14 | (u64)((i16)x < (i16)y) << 15;
	r |= (u64)(p < 17) << 16 | (u64)((u32)q > 4000000000u) << 17 | (u64)(a != a) << 18 | (u64) !(a < b) << 19;
	r |= (u64)((u8)x == (u8)y) << 20 | (u64)((x & y & 1) && p > 3) << 21;
	return r ^ (u64)i << 32;
}

FN u64 b_branches(u32 i, u64 x, u64 y)
{
	u64 r = y;

	if (i & 1)
		r = x + 1;
	else if (x & 2)
		r ^= x >> 3;
	if ((x & 7) > 3) {
		if (y & 16)
			r *= 5;
		else
			r -= x;
		if (i % 3 == 0)
			return r ^ 0x1234;
	}
	return (x & 0x100) ? r + y : r - y;
}

FN u64 b_loops(u32 i, u64 x, u64 y)
{
	u32 n = (u32)(x & 63), m = (u32)(y & 15);
	u64 r = i;

	for (u32 k = 0; k < n; k++) {
		if ((k ^ i) % 5 == 4)
			continue;
		r = r * 6364136223846793005ull + k;
		for (u32 j = m; j; j--)
			r ^= r >> 7;
		if ((r & 0x3ff) == 0x155)
			break;
	}
	while (r & 0x8000000000000000ull)
		r = r << 1;
	return r;
}

FN u64 b_cases(u32 i, u64 x, u64 y)
{
	switch ((x + i) % 11) {
	case 0:
		return y * 3;
	case 1:
		return y ^ x;
	case 2:
		return y >> 2;
	case 3:
		return y + 77;
	case 4:
		return ~y;
	case 5:
		return y << 9;
	case 7:
		return y - x;
	case 8:
		return y | 0xf0f0;
	default:
		return x & y;
	}
}

FN u64 b_arrays(u32 i, u64 x, u64 y)
{
	u32 table[24];
	u64 r = 0;

	for (u32 k = 0; k < 24; k++)
		table[k] = (u32)(x >> (k & 31)) + k * (u32)y;
	for (u32 k = 0; k < 40; k++) {
		u32 at = (u32)(y >> (k & 31)) % 24, to = (k + i) % 24;

		table[to] ^= table[at] + k;
	}
	for (u32 k = 0; k < 24; k++)
		r = r * 31 + table[k];
	return r;
}

struct pair {
	u64 wide;
	u32 narrow;
	u16 half;
	u8 byte, last;
};

FN struct pair make_pair(u64 x, u64 y)
{
	struct pair p;

	p.wide = x ^ y;
	p.narrow = (u32)(x + y);
	p.half = (u16)(x >> 40);
	p.byte = (u8)(y >> 50);
	p.last = (u8)(p.half + p.byte);
	return p;
}

FN u64 b_structs(u32 i, u64 x, u64 y)
{
	struct pair p[3];

	p[0] = make_pair(x, y);
	p[1] = make_pair(y, i);
	p[2] = p[(x ^ i) & 1];
	return p[2].wide + p[2].narrow * (u64)p[0].half + p[1].byte + ((u64)p[2].last << 48);
}

FN u64 fold(u64 x, u32 depth)
{
	if (!depth)
		return x;
	if (x & 1)
		return fold(x >> 1 ^ x << 3, depth - 1) * 3 + depth;
	return fold(x + depth, depth - 1) ^ x;
}

FN u64 b_recursion(u32 i, u64 x, u64 y)
{
	return fold(x, (u32)(y & 7) + (i & 3));
}

FN u64 twice(u64 x)
{
	return x * 2 + 1;
}

FN u64 thrice(u64 x)
{
	return x * 3 + 2;
}

FN u64 b_pointers(u32 i, u64 x, u64 y)
{
	u64 (*const f)(u64) = (x ^ i) & 4 ? twice : thrice;
	u64 local = y, other = x;
	u64 *volatile p = (y & 8) ? &local : &other;

	*p += f(x);
	return local ^ other * 7;
}

/* 128-bit loads and stores come from here. */
FN u64 b_wide(u32 i, u64 x, u64 y)
{
	u32 v[4] __attribute__((aligned(16))), w[4] __attribute__((aligned(16)));
	u64 r = 0;

	for (u32 k = 0; k < 4; k++) {
		v[k] = (u32)(x >> 16 * k) * (k + 1);
		w[k] = (u32)(y >> 16 * k) ^ i;
	}
	for (u32 k = 0; k < 4; k++)
		r += (u64)v[k] * w[3 - k];
	return r;
}

/* Private memory at every byte offset, in pieces of 2, 4 and 8 bytes. */
FN u64 b_unaligned(u32 i, u64 x, u64 y)
{
	u8 bytes[96];
	u32 at = (u32)(y & 63), to = (u32)(x >> 8 & 31);
	u16 half;
	u32 word;
	u64 both;

	for (u32 k = 0; k < 96; k++)
		bytes[k] = (u8)(x >> (k & 31)) + (u8)(k * 3);
	__builtin_memcpy(&half, bytes + at, 2);
	__builtin_memcpy(&word, bytes + at + 3, 4);
	__builtin_memcpy(&both, bytes + at + 9, 8);
	half = (u16)(half * 3 + i);
	word ^= (u32)y;
	both += x;
	__builtin_memcpy(bytes + to, &half, 2);
	__builtin_memcpy(bytes + to + 5, &word, 4);
	__builtin_memcpy(bytes + to + 11, &both, 8);
	for (u32 k = 0; k < 96; k++)
		both = both * 31 + bytes[k];
	return both ^ half ^ (u64)word << 20;
}

FN u64 b_minmax(u32 i, u64 x, u64 y)
{
	i32 a = (i32)x, b = (i32)y, c = (i32)(x >> 32);
	i32 lo = a < b ? a : b, hi = a > b ? a : b, mid = c < lo ? lo : c > hi ? hi : c;
	u32 ua = (u32)a, ub = (u32)b;
	u32 d = ua > ub ? ua - ub : ub - ua;

	return (u64)(u32)mid << 32 ^ d ^ (u64)(u32)(a < 0 ? -a : a) << 7 ^ (ua < ub ? ua : ub) ^ i;
}

#endif
