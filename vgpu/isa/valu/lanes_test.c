/* Every lane function: the baseline and the AVX2 build must give the same bits, for random and for special
 * operands, in all rounding and denormal modes. NaN payloads included. */
#include <immintrin.h>
#include <stdlib.h>

#include "tests/check.h"
#include "vgpu/isa/valu/valu.h"

#define ROWS   (8 * ISA_LANES)
#define ROUNDS 200

static uint64_t seed = 0x123456789abcdefull;

static uint32_t random32(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 32);
}

/* Values at the edges of the formats: zeros, denormals, ones, largest, infinities, quiet and signalling NaNs. */
static uint32_t special32(void)
{
	static const uint32_t values[] = {
		0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
		0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345,
		0x4b000000, 0x4effffff, 0x4f000000, 0x4f800000, 0xcf000000, 0x3effffff, 0x3f000000, 0x33000000,
		0x00003c00, 0x7bff7c00, 0x7c01fe00, 0x03ff0400, 0x80018000, 0xffff7fff, 31,         32,
		63,         64,         255,        0x7ff00000, 0x7ff80000, 0xfff00001, 0x3ff00000, 0x00100000,
		0x000fffff, 0x7fefffff, 0xbff00000, 0x40000000, 0xffffffff, 0x7fffffff, 24,         2,
	};

	return values[random32() % (sizeof(values) / sizeof(values[0]))];
}

static void fill(uint32_t *rows)
{
	for (unsigned n = 0; n < ROWS; n++)
		rows[n] = random32() & 1 ? special32() : random32() & 1 ? random32() : random32() & 0x83ffffff;
}

struct bench {
	uint32_t source[3][ROWS] __attribute__((aligned(64)));
	uint32_t result[2][32 * ISA_LANES] __attribute__((aligned(64)));
	struct isa_lanes x[2];
};

static void run(struct bench *b, unsigned which, const struct isa_lane_op *op, uint32_t mode, bool clamp,
		uint64_t carry)
{
	static const struct isa_valu plain;
	unsigned csr = _mm_getcsr();

	b->x[which] = (struct isa_lanes){
		.d = b->result[which],
		.s = {b->source[0], b->source[1], b->source[2]},
		.carry = carry,
		.exec = ~0ull,
		.mode = mode,
		.clamp = clamp,
		.flush_half = clamp,
		.lanes = 32,
		.wmma_doubled = clamp,
		.inst = &plain,
	};
	_mm_setcsr(isa_mxcsr(mode, op->fp == ISA_FP_NONE ? ISA_FP_32 : op->fp));
	op->fn(&b->x[which]);
	_mm_setcsr(csr);
}

/* First lane and dword that differ, or -1. */
static int difference(const struct bench *b, unsigned dw, unsigned lanes)
{
	for (unsigned n = 0; n < dw * ISA_LANES; n++)
		if (n % ISA_LANES < lanes && b->result[0][n] != b->result[1][n])
			return (int)n;
	return -1;
}

static void report(const struct bench *b, enum isa_op op, int n, uint32_t mode)
{
	unsigned l = (unsigned)n % ISA_LANES;

	printf("%s mode 0x%x lane %u: sources %08x%08x %08x%08x %08x%08x: baseline %08x, other %08x\n",
	       isa_op_name(op), mode, l, b->source[0][64 + l], b->source[0][l], b->source[1][64 + l],
	       b->source[1][l], b->source[2][64 + l], b->source[2][l], b->result[0][n], b->result[1][n]);
}

static void compare_op(struct bench *b, const struct isa_row *row, const struct isa_lane_op *base,
		       const struct isa_lane_op *fast, unsigned lanes)
{
	uint64_t full = ~(uint64_t)0 >> (64 - lanes);

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t mode = round % 3 ? 0x3f0 : (random32() & 0x3ff);
		bool clamp = random32() & 1;
		uint64_t carry = (uint64_t)random32() << 32 | random32();
		int n;

		for (unsigned s = 0; s < 3; s++)
			fill(b->source[s]);
		memset(b->result, 0, sizeof(b->result));
		run(b, 0, base, mode, clamp, carry);
		run(b, 1, fast, mode, clamp, carry);
		n = row->dst == ISA_T_M64 ? -1 : difference(b, isa_type_dw(row->dst), lanes);
		if (n >= 0)
			report(b, base->op, n, mode);
		if (!CHECK(n < 0) || !CHECK((b->x[0].carry & full) == (b->x[1].carry & full)))
			return;
	}
}

/* All builds of the function, if the instruction has one. */
static bool compare_builds(struct bench *b, const struct isa_row *row)
{
	const struct isa_lane_op *base = isa_lane_find(row->op, ISA_BUILD_BASE);
	const struct isa_lane_op *fast = isa_lane_find(row->op, ISA_BUILD_AVX2);
	const struct isa_lane_op *half = isa_lane_find(row->op, ISA_BUILD_HALF);

	CHECK(!base == !fast && !base == !half);
	if (!base || !fast || !half)
		return false;
	CHECK(base->fp == fast->fp && base->fp == half->fp);
	compare_op(b, row, base, fast, 64);
	if (half != fast)
		compare_op(b, row, base, half, 32);
	return true;
}

static unsigned compare_chip(struct bench *b, enum vgpu_gfx gfx, bool *seen)
{
	static const uint8_t encs[] = {ISA_VOP1, ISA_VOP2, ISA_VOPC, ISA_VOP3, ISA_VOP3P};
	unsigned count = 0;

	for (unsigned e = 0; e < sizeof(encs); e++)
		for (unsigned number = 0; number < 1024; number++) {
			const struct isa_row *row = isa_row_find(gfx, (enum isa_enc)encs[e], number);

			if (!row || seen[row->op])
				continue;
			seen[row->op] = true;
			count += compare_builds(b, row);
		}
	return count;
}

int main(void)
{
	static struct bench b;
	static bool seen[ISA_OP_COUNT];
	unsigned count = 0;

	if (!isa_host_avx2()) {
		printf("skipped: this CPU has no AVX2\n");
		return 0;
	}
	for (unsigned gfx = 0; gfx < VGPU_GFX_COUNT; gfx++)
		count += compare_chip(&b, (enum vgpu_gfx)gfx, seen);
	printf("%u lane functions\n", count);
	CHECK(count > 450);
	return check_done("lane functions, baseline against the others");
}
