/* SDMA packets from 5.0 to 7.0: encodings from Linux navi10_sdma_pkt_open.h and sdma_v6_0_0_pkt_open.h, PAL's gfx12
 * headers and Mesa, not from the driver. */
#include "vgpu/engine/test_gpu.h"

#define D      TEST_DATA_VA
#define BIG_VA 0x710000000000ull /* 128 GiB without memory */

/* One chip a version: 5.0, 5.2, 6.0, 6.1, 7.0. */
static const struct row {
	const char *chip;
	bool large;          /* SUB_WINDOW_LARGE */
	bool v7;             /* wider coordinates, DCC */
	uint32_t copy_limit; /* bytes */
	uint32_t fill_limit; /* of the count field */
} rows[] = {
	{"gfx1010", false, false, 1u << 22, 1u << 22}, {"gfx1030", false, false, 1u << 30, 1u << 22},
	{"gfx1100", true, false, 1u << 30, 1u << 30},  {"gfx1150", true, false, 1u << 30, 1u << 30},
	{"gfx1201", true, true, 1u << 30, 1u << 30},
};

static void test_words(struct test_gpu *t, const struct row *row)
{
	memset(t->data, 0, 4096);
	EMIT(t, 0x00000002, LO(D), HI(D), 2, 1, 2, 3);
	EMIT(t, 0x00030005, LO(D + 16), HI(D), 0x55); /* FENCE, MTYPE UC */
	EMIT(t, 0x0000020d, LO(D + 24), HI(D));
	EMIT(t, 0x5e00000a, LO(D + 32), HI(D), 1, 0, 0, 0, 0);
	EMIT(t, 0xb0000008, LO(D + 16), HI(D), 0x55, ~0u, 0x0fff000a);
	EMIT(t, 0x00000009, LO(D + 16), HI(D), 0x54, 4);
	EMIT(t, 0x00030005, LO(D + 40), HI(D), 1);
	EMIT(t, 0x8000000b, LO(D + 64), HI(D), 0xabcd, 63);
	EMIT(t, 0x20, 0); /* DUMMY_TRAP */
	EMIT(t, 0x00000011, 0, 0xc3b00000, 0, 0);
	EMIT(t, 0x00000111, 0, 0xc3b00000, 0, 0);
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data64(t, 0), 0x200000001);
	CHECK_EQ(data32(t, 16), 0x55);
	CHECK(data64(t, 24));
	CHECK_EQ(data64(t, 32), 1);
	CHECK_EQ(data32(t, 40), 0);
	CHECK_EQ(data32(t, 124), 0xabcd);
	EMIT(t, 0x00000011, 0, 0x40000000, 0, 0); /* GL2_INV without GL2_WB */
	EXPECT(test_run_sdma(t), ENGINE_DONE, 1, NULL);
	EMIT(t, 0x00000005, LO(D), HI(D), 1); /* a FENCE that is not UC */
	EXPECT(test_run_sdma(t), ENGINE_DONE, row->v7 ? 0 : 1, NULL);
	EMIT(t, 0x10, 0); /* GPUVM_INV */
	EXPECT(test_run_sdma(t), ENGINE_ILLEGAL, 1, "GPUVM_INV at dword 0 of IB 0: it is privileged");
	EMIT(t, 0x8000000b, LO(D), HI(D), 0, row->fill_limit);
	EXPECT(test_run_sdma(t), ENGINE_HANG, 1, "more than the field");
}

static void test_copies(struct test_gpu *t, const struct row *row)
{
	for (unsigned n = 0; n < 1024; n++)
		t->data[n] = (uint8_t)(n * 7 + n / 256);
	memset(t->data + 4096, 0, 8192);
	EMIT(t, 1, 999, 0, LO(D), HI(D), LO(D + 4096), HI(D));
	EMIT(t, 0x08000001, 99, 0, LO(D), HI(D), LO(D + 8192), HI(D), LO(D + 9216), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	CHECK(!memcmp(t->data, t->data + 4096, 1000));
	CHECK_EQ(t->data[4096 + 1000], 0);
	CHECK(!memcmp(t->data, t->data + 8192, 100));
	CHECK(!memcmp(t->data, t->data + 9216, 100));
	EMIT(t, 0x02000001, 99, 0, LO(D), HI(D), LO(D + 8), HI(D)); /* backwards: may overlap */
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	EMIT(t, 1, row->copy_limit, 0, LO(D), HI(D), LO(D + 4096), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_HANG, 1, "count field");
}

/* Over several pages, and over two mappings. */
static void check_backwards(struct test_gpu *t, uint64_t va, unsigned by_B)
{
	static const unsigned size_B = 10000;
	uint8_t *was = malloc(size_B);

	for (unsigned n = 0; n < size_B; n++)
		was[n] = t->data[n] = (uint8_t)(n * 7 + n / 256);
	EMIT(t, 0x02000001, size_B - 1, 0, LO(va), HI(va), LO(va + by_B), HI(va));
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	CHECK(!memcmp(t->data + by_B, was, size_B));
	free(was);
}

static void test_backwards(const char *chip)
{
	struct test_gpu gpu, *t = &gpu;

	for (unsigned caches = 0; caches < 2; caches++) {
		vgpu_set(VGPU_CACHES, caches);
		test_init(t, chip, ENGINE_DMA, false, 0);
		test_region(t, BIG_VA, 8192, t->data, GPUVM_R | GPUVM_W);
		test_region(t, BIG_VA + 8192, 8192, t->data + 8192, GPUVM_R | GPUVM_W);
		check_backwards(t, D, 256);
		check_backwards(t, D, 5000);
		check_backwards(t, BIG_VA, 256);
		check_backwards(t, BIG_VA, 4096);
		EMIT(t, 0x02000001, 99, 0, LO(D + 8), HI(D), LO(D), HI(D)); /* overlaps from below */
		EXPECT(test_run_sdma(t), ENGINE_DONE, 1, NULL);
		test_fini(t);
	}
	vgpu_set(VGPU_CACHES, false);
}

/* Bit 19: a DCC dword on 7.0, CPV on 5.2 and 6, nothing before. */
static void test_bit_19(struct test_gpu *t, const struct row *row)
{
	memset(t->data + 4096, 0, 8);
	EMIT(t, 0x00080001, 3, 0, LO(D), HI(D), LO(D + 4096), HI(D));
	if (row->v7)
		EMIT(t, 0x00030005); /* would be a FENCE, cut off */
	EXPECT(test_run_sdma(t), ENGINE_DONE, strcmp(row->chip, "gfx1010") ? 0 : 1, NULL);
	CHECK_EQ(data32(t, 4096), data32(t, 0));
}

/* 3 x 2 x 2 elements of 4 bytes from (1, 2, 0) of 8 x 8 slices to (0, 1, 1) of 5 x 4 slices. */
static void check_window(struct test_gpu *t)
{
	uint32_t *src = (uint32_t *)(void *)t->data, *dst = (uint32_t *)(void *)(t->data + 65536);

	for (unsigned n = 0; n < 256; n++)
		src[n] = 1000 + n;
	memset(dst, 0, 4096);
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	for (unsigned z = 0; z < 2; z++)
		for (unsigned y = 0; y < 2; y++)
			for (unsigned x = 0; x < 3; x++)
				CHECK_EQ(dst[(z + 1) * 20 + (y + 1) * 5 + x], 1000 + z * 64 + (y + 2) * 8 + x + 1);
	CHECK_EQ(dst[20 + 5 + 3], 0);
	CHECK_EQ(dst[5], 0);
}

static void test_sub_window(struct test_gpu *t, const struct row *row)
{
	unsigned pitch_at = row->v7 ? 16 : 13;

	EMIT(t, 0x40000401, LO(D), HI(D), 1 | 2u << 16, 0 | 7u << pitch_at, 63);
	EMIT(t, LO(D + 65536), HI(D), 0 | 1u << 16, 1 | 4u << pitch_at, 19, 2 | 1u << 16, 1);
	check_window(t);
	EMIT(t, 0x40002401, LO(D), HI(D), 1, 2, 0, 7, 63, 0);
	EMIT(t, LO(D + 65536), HI(D), 0, 1, 1, 4, 19, 0, 2, 1, 1);
	if (row->large) {
		check_window(t);
	} else {
		EXPECT(test_run_sdma(t), ENGINE_ILLEGAL, 1, "operation 1.36 is unknown to this generation");
	}
	/* x has 14 bits before 7.0, 16 then; z 13 and 14. */
	EMIT(t, 0x00000401, LO(D), HI(D), 1u << 14, 0 | 65535u << pitch_at, 63);
	EMIT(t, LO(D + 65536), HI(D), 0, 0 | 4u << pitch_at, 19, 0, 0);
	t->data[1u << 14] = 0x5a;
	EXPECT(test_run_sdma(t), ENGINE_DONE, row->v7 ? 1 : 2, NULL); /* pitch of odd bytes; a stray bit */
	CHECK_EQ(t->data[65536], row->v7 ? 0x5a : t->data[0]);
}

/* row 97: windows of 2^64 rows, each 64 GiB or four bytes, which come round to where they began. */
static void test_endless_window(struct test_gpu *t, const struct row *row)
{
	static const uint32_t row_x[] = {~0u, 0};

	t->watchdog_ns = 10000000;
	for (unsigned n = 0; row->large && n < 2; n++) {
		EMIT(t, n ? 0x40002401 : 0x80002401, LO(BIG_VA), HI(BIG_VA), 0, 0, 0, 0, ~0u, 0xffff);
		EMIT(t, LO(BIG_VA), HI(BIG_VA), 0, 0, 0, 0, ~0u, 0xffff, row_x[n], ~0u, ~0u);
		EXPECT(test_run_sdma(t), ENGINE_HANG, 0, "in SDMA copies");
	}
	t->watchdog_ns = 60000000000ull;
}

/* HDP flushes have bit 26 until 6.1; on 7.0 it is part of the mode. */
static void test_hdp_flush(struct test_gpu *t, const struct row *row)
{
	EMIT(t, 0x04000008, 0, 0x80000000, 0, 0, 0);
	if (row->v7) {
		EXPECT(test_run_sdma(t), ENGINE_ILLEGAL, 1, "polls register");
	} else {
		EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	}
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_REPORT);
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct test_gpu gpu;

		test_init(&gpu, rows[n].chip, ENGINE_DMA, false, 0);
		test_region(&gpu, BIG_VA, 1ull << 37, NULL, GPUVM_PRT);
		test_words(&gpu, &rows[n]);
		test_copies(&gpu, &rows[n]);
		test_bit_19(&gpu, &rows[n]);
		test_sub_window(&gpu, &rows[n]);
		test_endless_window(&gpu, &rows[n]);
		test_hdp_flush(&gpu, &rows[n]);
		test_fini(&gpu);
		test_backwards(rows[n].chip);
	}
	return check_done("SDMA packets from 5.0 on");
}
