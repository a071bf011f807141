/* Bits of integers: counting, searching, permuting and extracting; and halves of products. */
#ifndef HIP_DEVICE_BITS_H
#define HIP_DEVICE_BITS_H

#include <hip/device/attributes.h>
#include <stdint.h>

/* --- counting and finding ----------------------------------------------------------------------- */

HIP_DEVICE unsigned int __popc(unsigned int x)
{
	return static_cast<unsigned int>(__builtin_popcount(x));
}

HIP_DEVICE unsigned int __popcll(unsigned long long x)
{
	return static_cast<unsigned int>(__builtin_popcountll(x));
}

/* Zeros above the highest bit that is set; the number of bits for 0. */
HIP_DEVICE int __clz(int x)
{
	return x ? __builtin_clz(static_cast<unsigned>(x)) : 32;
}

HIP_DEVICE int __clzll(long long x)
{
	return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}

/* Position of the lowest bit that is set, from 1; 0 for 0. */
HIP_DEVICE int __ffs(unsigned int x)
{
	return __builtin_ffs(static_cast<int>(x));
}

HIP_DEVICE int __ffs(int x)
{
	return __builtin_ffs(x);
}

HIP_DEVICE int __ffsll(unsigned long long x)
{
	return __builtin_ffsll(static_cast<long long>(x));
}

HIP_DEVICE int __ffsll(long long x)
{
	return __builtin_ffsll(x);
}

HIP_DEVICE int __ffsll(unsigned long x)
{
	return __builtin_ffsll(static_cast<long long>(x));
}

HIP_DEVICE unsigned int __lastbit_u32_u64(uint64_t x)
{
	return x ? static_cast<unsigned>(__builtin_ctzll(x)) : ~0u;
}

/* Position of the offset-th bit that is set from base, upwards or, for a negative offset, downwards; -1: none. */
template <typename M_> HIP_DEVICE int hip_find_nth(M_ mask, unsigned base, int offset)
{
	int step = offset < 0 ? -1 : 1, bits = 8 * static_cast<int>(sizeof(M_)),
	    left = offset < 0 ? -offset : offset;

	for (int at = static_cast<int>(base); at >= 0 && at < bits; at += step) {
		bool set = mask >> at & 1;

		if (!left)
			return set ? at : -1;
		if (set && !--left)
			return at;
	}
	return -1;
}

HIP_DEVICE int __fns32(uint64_t mask, uint32_t base, int32_t offset)
{
	return hip_find_nth(static_cast<uint32_t>(mask), base, offset);
}

HIP_DEVICE int __fns64(uint64_t mask, uint32_t base, int32_t offset)
{
	return hip_find_nth(mask, base, offset);
}

HIP_DEVICE int __fns(unsigned int mask, unsigned int base, int offset)
{
	return hip_find_nth(mask, base, offset);
}

/* --- moving ------------------------------------------------------------------------------------- */

HIP_DEVICE unsigned int __brev(unsigned int x)
{
	return __builtin_bitreverse32(x);
}

HIP_DEVICE unsigned long long __brevll(unsigned long long x)
{
	return __builtin_bitreverse64(x);
}

/* Bytes of x (0 to 3) and y (4 to 7); each hexadecimal digit of selector selects one. */
HIP_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector)
{
	uint64_t both = static_cast<uint64_t>(y) << 32 | x;
	unsigned int picked = 0;

	for (unsigned i = 0; i < 4; i++)
		picked |= static_cast<unsigned>(both >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
	return picked;
}

/* The upper (l) or lower (r) half of hi:lo after a shift. The shift is taken modulo 32, or (c) is at most 32. */
HIP_DEVICE unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift)
{
	return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) << (shift & 31) >> 32);
}

HIP_DEVICE unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift)
{
	return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}

HIP_DEVICE unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift)
{
	return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) >> (shift & 31));
}

HIP_DEVICE unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift)
{
	return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

/* Extracts width bits at offset, or inserts bits there. Both are taken modulo the number of bits; a field that
 * exceeds the end gives the result of AMD's functions, which shift by an amount modulo the number of bits. */
#define HIP_BIT_FIELDS(suffix, type, bits)                                                                         \
	HIP_DEVICE type __bitextract_##suffix(type x, unsigned int offset, unsigned int width)                     \
	{                                                                                                          \
		offset &= bits - 1;                                                                                \
		width &= bits - 1;                                                                                 \
		return width ? x << ((bits - width - offset) & (bits - 1)) >> (bits - width) : 0;                  \
	}                                                                                                          \
	HIP_DEVICE type __bitinsert_##suffix(type x, type field, unsigned int offset, unsigned int width)          \
	{                                                                                                          \
		type mask = (static_cast<type>(1) << (width & (bits - 1))) - 1;                                    \
		offset &= bits - 1;                                                                                \
		return (x & ~(mask << offset)) | (field & mask) << offset;                                         \
	}
HIP_BIT_FIELDS(u32, uint32_t, 32)
HIP_BIT_FIELDS(u64, uint64_t, 64)
#undef HIP_BIT_FIELDS

/* --- arithmetic --------------------------------------------------------------------------------- */

HIP_DEVICE int __mul24(int x, int y)
{
	return (x << 8 >> 8) * (y << 8 >> 8);
}

HIP_DEVICE unsigned int __umul24(unsigned int x, unsigned int y)
{
	return (x & 0xffffff) * (y & 0xffffff);
}

HIP_DEVICE int __mulhi(int x, int y)
{
	return static_cast<int>(static_cast<int64_t>(x) * y >> 32);
}

HIP_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y)
{
	return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32);
}

HIP_DEVICE long long int __mul64hi(long long int x, long long int y)
{
	return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}

HIP_DEVICE unsigned long long int __umul64hi(unsigned long long int x, unsigned long long int y)
{
	return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}

/* Half of the sum, rounded down or (r) up. */
HIP_DEVICE int __hadd(int x, int y)
{
	return static_cast<int>((static_cast<int64_t>(x) + y) >> 1);
}

HIP_DEVICE int __rhadd(int x, int y)
{
	return static_cast<int>((static_cast<int64_t>(x) + y + 1) >> 1);
}

HIP_DEVICE unsigned int __uhadd(unsigned int x, unsigned int y)
{
	return static_cast<unsigned>((static_cast<uint64_t>(x) + y) >> 1);
}

HIP_DEVICE unsigned int __urhadd(unsigned int x, unsigned int y)
{
	return static_cast<unsigned>((static_cast<uint64_t>(x) + y + 1) >> 1);
}

/* |x - y| + z */
HIP_DEVICE unsigned int __sad(int x, int y, unsigned int z)
{
	return (x > y ? static_cast<unsigned>(x) - static_cast<unsigned>(y)
		      : static_cast<unsigned>(y) - static_cast<unsigned>(x)) +
	       z;
}

HIP_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z)
{
	return (x > y ? x - y : y - x) + z;
}

#endif
