/* For tests: a wave with known registers and memory, on which pieces of assembly run one after the other.
 *
 * - s0:1 = D, the address of the data; s16 = 64, an offset; s18:19 = D + 0x2000; s20 = 0x12345678
 * - s4:7 = a raw buffer of 4096 bytes at D; s8:11 = a structured one, stride 16, 8 records
 * - s12:15 = scratch descriptor at D + 65536; FLAT_SCRATCH = D + 65536; M0 = 256
 * - v0 = lane; v1 = 4 * lane; v2:3 = D + 4 * lane; v4:5 = D + 16 * lane; v6:7 = D
 * - v8 = 1000 + lane; v9 = f32 1.0 + lane; v10 to v13 = 0x100 * n + lane; v14:15 = f64 lane
 * - v16:17 = shared aperture + 4 * lane; v18:19 = private aperture + 8; v20:23 = poison
 * - v24:25 = HOLE + 4 * lane, which is not mapped
 * - memory: D[n] = n * 3 + 1 as dwords, up to 1 MiB; LDS[n] = n + 500 as dwords, 4096 bytes */
#ifndef VGPU_ISA_TEST_WAVE_H
#define VGPU_ISA_TEST_WAVE_H

#include "tests/check.h"
#include "vgpu/isa/bits.h"
#include "vgpu/isa/isa.h"
#include "vgpu/isa/test_code.h"
#include "vgpu/report.h"

#define D       0xffff923400000000ull /* in the half where RADV has its buffers */
#define D_48    (D & 0xffffffffffff)  /* as regions and faults are told */
#define CODE    0x20000000ull
#define HOLE    0x66600000000ull
#define FINE    0x66700000000ull /* HOLE + 2^32: the first page of the data, past L2 */
#define PRT     0x66800000000ull /* HOLE + 2^33: a page that is there, without memory */
#define SCRATCH 65536
#define DATA_B  (1u << 20)
#define PIECE_B 256
#define ROWS    32

struct wave_test {
	struct isa_machine machine;
	struct gpuvm_region region[4];
	struct gpuvm_view view;
	struct isa_group group;
	struct isa_cache *cache;
	struct isa_wave wave;
	uint8_t *code, *data, *lds;
	unsigned faults;
	uint64_t fault_va;
	bool stepwise; /* for run_budgets() */
	uint32_t (*v)[ISA_LANES];
};

static struct wave_test test;

static inline void on_fault(void *user, const struct gpuvm_fault *fault, uint64_t pc)
{
	(void)user;
	(void)pc;
	test.faults++;
	test.fault_va = fault->va;
}

static inline uint64_t on_clock(void *user)
{
	(void)user;
	return 0x123456789abull;
}

static inline uint32_t d32(unsigned offset)
{
	uint32_t value;

	memcpy(&value, test.data + offset, 4);
	return value;
}

static inline uint64_t d64(unsigned offset)
{
	uint64_t value;

	memcpy(&value, test.data + offset, 8);
	return value;
}

static inline void put32(unsigned offset, uint32_t value)
{
	memcpy(test.data + offset, &value, 4);
}

static inline uint32_t lds32(unsigned offset)
{
	uint32_t value;

	memcpy(&value, test.lds + offset, 4);
	return value;
}

/* What D holds before a piece runs. */
static inline uint32_t was(unsigned offset)
{
	uint64_t both = (uint64_t)(offset / 4 * 3 + 1) | (uint64_t)(offset / 4 * 3 + 4) << 32;

	return (uint32_t)(both >> 8 * (offset & 3));
}

static inline void set_pair(unsigned row, unsigned lane, uint64_t value)
{
	test.v[row][lane] = (uint32_t)value;
	test.v[row + 1][lane] = (uint32_t)(value >> 32);
}

static inline void set_vgprs(void)
{
	for (unsigned lane = 0; lane < ISA_LANES; lane++) {
		float f = 1.0f + (float)lane;
		double d = (double)lane;
		uint64_t bits;

		for (unsigned row = 0; row < ROWS; row++)
			test.v[row][lane] = 0xd5d50000 | row << 8 | lane;
		test.v[0][lane] = lane;
		test.v[1][lane] = 4 * lane;
		set_pair(2, lane, D + 4 * lane);
		set_pair(4, lane, D + 16 * lane);
		set_pair(6, lane, D);
		test.v[8][lane] = 1000 + lane;
		for (unsigned n = 10; n < 14; n++)
			test.v[n][lane] = 0x100 * n + lane;
		memcpy(&test.v[9][lane], &f, 4);
		memcpy(&bits, &d, 8);
		set_pair(14, lane, bits);
		set_pair(16, lane, ISA_SHARED_BASE + 4 * lane);
		set_pair(18, lane, ISA_PRIVATE_BASE + 8);
		set_pair(24, lane, HOLE + 4 * lane);
	}
}

static inline void set_sgprs(void)
{
	static const uint32_t first[24] = {
		(uint32_t)D,
		(uint32_t)(D >> 32),
		0,
		0, /* s0 */
		(uint32_t)D,
		(uint16_t)(D >> 32),
		4096,
		0x00024fac, /* s4: raw; 32 bits, UINT, XYZW */
		(uint32_t)D,
		(uint16_t)(D >> 32) | 16u << 16,
		8,
		0x00074fac, /* s8: 4 x 32 bits, UINT */
		(uint32_t)(D + SCRATCH),
		(uint16_t)(D >> 32) | 1u << 31,
		DATA_B - SCRATCH,
		0x00ea4fac, /* s12 */
		64,
		0,
		(uint32_t)(D + 0x2000),
		(uint32_t)(D >> 32), /* s16 */
		0x12345678,
		0x9abcdef0,
		0,
		0, /* s20 */
	};
	uint64_t scratch = D + SCRATCH, exec = ~(uint64_t)0;

	memset(test.wave.s, 0, sizeof(test.wave.s));
	memcpy(test.wave.s, first, sizeof(first));
	memcpy(&test.wave.s[ISA_FLAT_SCRATCH], &scratch, 8);
	memcpy(&test.wave.s[ISA_EXEC], &exec, 8);
	test.wave.s[ISA_M0] = 256;
}

/* Runs up to 100 instructions. Stepwise: each has a budget of its own, so that a budget ends at every place where it can. */
static inline enum isa_stop run_budgets(struct isa_wave *w)
{
	enum isa_stop stop = isa_run(w, test.stepwise ? 1 : 100);

	for (unsigned n = 1; test.stepwise && stop == ISA_BUDGET && n < 100; n++)
		stop = isa_run(w, 1);
	return stop;
}

/* Runs piece n from fresh registers and memory, which prepare (or NULL) may change; true when it came to its s_endpgm.
 */
static inline bool run_prepared(unsigned piece, void (*prepare)(const char *arg), const char *arg)
{
	char why[512] = "";
	struct isa_wave *w = &test.wave;
	enum isa_stop stop;

	for (unsigned offset = 0; offset < DATA_B; offset += 4)
		put32(offset, was(offset));
	for (unsigned n = 0; n < 1024; n++)
		memcpy(test.lds + 4 * n, &(uint32_t){n + 500}, 4);
	set_vgprs();
	set_sgprs();
	w->scc = false;
	w->pc = CODE + (uint64_t)piece * PIECE_B;
	w->mode = 0xf0 | 1 << 8 | 1 << 9;
	w->last_region = NULL;
	w->refused_pc = 0;
	if (prepare)
		prepare(arg);
	w->why[0] = 0;
	test.faults = 0;
	if (w->waitcnt)
		isa_waitcnt_reset(w->waitcnt);
	w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
	stop = w->program ? run_budgets(w) : ISA_STOPPED;
	if (stop != ISA_ENDED)
		printf("  piece %u stopped: %s %s\n", piece, why, w->why);
	return stop == ISA_ENDED;
}

static inline bool run(unsigned piece)
{
	return run_prepared(piece, NULL, NULL);
}

#define EACH     for (unsigned l = 0; l < ISA_LANES; l++)
#define OLD(row) (0xd5d50000 | (row) << 8 | l) /* what a row held before */
/* What a load of 16 bits leaves in the half that it does not write. */
#define OTHER_HALF(row) (test.machine.sramecc ? 0 : OLD(row))

/* Lanes whose `got` is not `want`. */
#define ALL_OF(got, want)                                                                                          \
	do {                                                                                                       \
		unsigned bad_ = 0, first_ = 64;                                                                    \
		EACH if ((uint32_t)(got) != (uint32_t)(want))                                                      \
		{                                                                                                  \
			bad_++;                                                                                    \
			first_ = first_ < l ? first_ : l;                                                          \
		}                                                                                                  \
		if (!CHECK_EQ(bad_, 0)) {                                                                          \
			unsigned l = first_;                                                                       \
			printf("  %s: lane %u has 0x%x, want 0x%x\n", #got, l, (uint32_t)(got), (uint32_t)(want)); \
		}                                                                                                  \
	} while (0)
#define ALL(row, want)         ALL_OF(test.v[row][l], want)
#define ALL_DATA(offset, want) ALL_OF(d32(offset), want)
#define ALL_LDS(offset, want)  ALL_OF(lds32(offset), want)
#define S(n)                   test.wave.s[n]

/* Lanes of the wave, from GFX10 on, and results in them. */
#define LANES (test.machine.wave32 ? 32u : 64u)
#define ALL_LANES(row, want)                                                                                       \
	do {                                                                                                       \
		unsigned bad_ = 0, first_ = 64;                                                                    \
		for (unsigned l = 0; l < LANES; l++)                                                               \
			if (test.v[row][l] != (uint32_t)(want)) {                                                  \
				bad_++;                                                                            \
				first_ = first_ < l ? first_ : l;                                                  \
			}                                                                                          \
		if (!CHECK_EQ(bad_, 0)) {                                                                          \
			unsigned l = first_;                                                                       \
			printf("  v%u: lane %u has 0x%x, want 0x%x\n", row, l, test.v[row][l], (uint32_t)(want));  \
		}                                                                                                  \
	} while (0)

/* Where dword n of a lane's scratch stands. */
static inline unsigned scratch(unsigned l, unsigned byte)
{
	return SCRATCH + byte / 4 * 256 + 4 * l + byte % 4;
}

#endif
