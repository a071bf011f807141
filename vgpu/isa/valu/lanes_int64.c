/* Lane functions: 64-bit integers, and multi-dword sums of absolute differences. */
#include "vgpu/isa/valu/lanes.h"

LANES_2(lshlrev_b64, u64, u32, u64, b << (a & 63))
LANES_2(lshrrev_b64, u64, u32, u64, b >> (a & 63))
LANES_2(ashrrev_i64, i64, u32, i64, b >> (a & 63))

/* 32 x 32 + 64 bits; the SGPR pair gets the 65th bit. CLAMP saturates. */
static void mad_u64_u32(struct isa_lanes *x)
{
	uint32_t m[ISA_LANES] __attribute__((aligned(64)));
	const uint32_t *s0 = x->s[0], *s1 = x->s[1], *s2 = x->s[2];
	const uint64_t saturate = x->clamp ? ~0ull : 0;
	uint32_t *d = x->d;

	EACH_LANE
	{
		const uint64_t addend = LD_u64(s2, l), sum = (uint64_t)s0[l] * s1[l] + addend;
		const uint64_t over = sum < addend ? ~0ull : 0;

		ST_u64(d, l, sum | (over & saturate));
		m[l] = (uint32_t)over;
	}
	x->carry = mask_bits(m);
}

/* The SGPR pair gets the signed overflow. */
static void mad_i64_i32(struct isa_lanes *x)
{
	uint32_t m[ISA_LANES] __attribute__((aligned(64)));
	const uint32_t *s0 = x->s[0], *s1 = x->s[1], *s2 = x->s[2];
	uint32_t *d = x->d;

	for (unsigned l = 0; l < ISA_LANES; l++) {
		int64_t product = (int64_t)(int32_t)s0[l] * (int32_t)s1[l], sum;
		bool over = __builtin_add_overflow(product, LD_i64(s2, l), &sum);

		if (over && x->clamp)
			sum = product < 0 ? INT64_MIN : INT64_MAX;
		ST_i64(d, l, sum);
		m[l] = over ? ~0u : 0;
	}
	x->carry = mask_bits(m);
}

/* --- quad sums of absolute differences --- */

static inline uint32_t absdiff_byte(uint64_t a, uint32_t b, unsigned n)
{
	uint32_t p = (uint32_t)(a >> n) & 255, q = b >> n & 255;

	return p > q ? p - q : q - p;
}

/* `masked`: bytes where the reference is 0 do not count. */
static inline uint32_t sad4(uint64_t a, uint32_t b, bool masked)
{
	uint32_t sum = 0;

	for (unsigned n = 0; n < 32; n += 8)
		sum += masked && !(b >> n & 255) ? 0 : absdiff_byte(a, b, n);
	return sum;
}

/* Four 16-bit sums, of the four byte windows of a that start at its bytes 0 to 3. */
static inline uint64_t qsad(uint64_t a, uint32_t b, uint64_t c, bool masked, bool clamp)
{
	uint64_t r = 0;

	for (unsigned n = 0; n < 4; n++) {
		uint32_t sum = sad4(a >> 8 * n, b, masked) + ((uint32_t)(c >> 16 * n) & 0xffff);

		if (clamp && sum > 0xffff)
			sum = 0xffff;
		r |= (uint64_t)(sum & 0xffff) << 16 * n;
	}
	return r;
}

LANES_1(mov_b64, u64, u64, a)
LANES_3(lshl_add_u64, u64, u64, u32, u64, (a << (b & 7)) + c)
LANES_3(qsad_pk, u64, u64, u32, u64, qsad(a, b, c, false, x->clamp))
LANES_3(mqsad_pk, u64, u64, u32, u64, qsad(a, b, c, true, x->clamp))

/* The same with four 32-bit sums. */
static void mqsad_u32(struct isa_lanes *x)
{
	const uint32_t *s0 = x->s[0], *s1 = x->s[1], *s2 = x->s[2];
	uint32_t *d = x->d;

	for (unsigned l = 0; l < ISA_LANES; l++) {
		uint64_t a = LD_u64(s0, l);
		uint32_t b = s1[l], r[4];

		for (unsigned n = 0; n < 4; n++) {
			uint64_t sum = (uint64_t)sad4(a >> 8 * n, b, true) + s2[n * ISA_LANES + l];

			r[n] = x->clamp && sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
		}
		for (unsigned n = 0; n < 4; n++)
			d[n * ISA_LANES + l] = r[n];
	}
}

#define N(ID, fn) {ISA_OP_V_##ID, ISA_FP_NONE, fn}

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_int64)[] = {
	N(LSHLREV_B64, lshlrev_b64),   N(LSHRREV_B64, lshrrev_b64), N(ASHRREV_I64, ashrrev_i64),
	N(MAD_U64_U32, mad_u64_u32),   N(MAD_I64_I32, mad_i64_i32), N(QSAD_PK_U16_U8, qsad_pk),
	N(MQSAD_PK_U16_U8, mqsad_pk),  N(MQSAD_U32_U8, mqsad_u32),  N(MOV_B64, mov_b64),
	N(LSHL_ADD_U64, lshl_add_u64), {ISA_OP_NONE, 0, NULL},
};
