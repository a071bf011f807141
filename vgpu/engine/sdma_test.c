/* SDMA packets and what is wrong with them. */
#include "vgpu/engine/test_gpu.h"

#define D TEST_DATA_VA

static void fill_pattern(struct test_gpu *t, unsigned offset, unsigned size_B)
{
	for (unsigned n = 0; n < size_B; n++)
		t->data[offset + n] = (uint8_t)(n * 7 + n / 256);
}

static void test_copies(struct test_gpu *t)
{
	fill_pattern(t, 0, 5000);
	memset(t->data + 8192, 0, 5001);
	EMIT(t, 0x00000001, 5000 - 1, 0, LO(D), HI(D), LO(D + 8192), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	CHECK(!memcmp(t->data, t->data + 8192, 5000));
	CHECK_EQ(t->data[8192 + 5000], 0);
	EMIT(t, 0x08000001, 99, 0, LO(D), HI(D), LO(D + 16384), HI(D), LO(D + 20480), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	CHECK(!memcmp(t->data, t->data + 16384, 100));
	CHECK(!memcmp(t->data, t->data + 20480, 100));
}

/* 3 x 2 x 2 elements of 4 bytes from (1, 2, 0) of 8 x 8 slices to (0, 1, 1) of 5 x 4 slices. */
static void test_sub_window(struct test_gpu *t)
{
	uint32_t *src = (uint32_t *)(void *)t->data, *dst = (uint32_t *)(void *)(t->data + 65536);

	for (unsigned n = 0; n < 256; n++)
		src[n] = 1000 + n;
	memset(dst, 0, 4096);
	EMIT(t, 2u << 29 | SDMA_COPY_SUB_WINDOW << 8 | SDMA_COPY);
	EMIT(t, LO(D), HI(D), 1 | 2u << 16, 0 | (8u - 1) << 13, 64 - 1);
	EMIT(t, LO(D + 65536), HI(D), 0 | 1u << 16, 1 | (5u - 1) << 13, 20 - 1);
	EMIT(t, (3 - 1) | (2u - 1) << 16, 2 - 1);
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	for (unsigned z = 0; z < 2; z++)
		for (unsigned y = 0; y < 2; y++)
			for (unsigned x = 0; x < 3; x++)
				CHECK_EQ(dst[(z + 1) * 20 + (y + 1) * 5 + x], 1000 + z * 64 + (y + 2) * 8 + x + 1);
	CHECK_EQ(dst[20 + 5 + 3], 0);
	CHECK_EQ(dst[5], 0);
}

static void test_fills(struct test_gpu *t)
{
	memset(t->data, 0, 4096);
	EMIT(t, 0x8000000b, LO(D), HI(D), 0x12345678, 64 - 1);
	EMIT(t, 0x8000000b, LO(D + 128), HI(D), 0x12345678, 64 - 4); /* means the same */
	EMIT(t, 0x0000000b, LO(D + 257), HI(D), 0xab, 3 - 1);
	EMIT(t, 0x4000000b, LO(D + 512), HI(D), 0xbeef, 6 - 1);
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 60), 0x12345678);
	CHECK_EQ(data32(t, 64), 0);
	CHECK_EQ(data32(t, 128 + 60), 0x12345678);
	CHECK_EQ(data32(t, 192), 0);
	CHECK_EQ(data32(t, 256), 0xababab00);
	CHECK_EQ(data32(t, 260), 0);
	CHECK_EQ(data64(t, 512), 0xbeefbeefbeef);
}

static void test_words(struct test_gpu *t)
{
	uint64_t before = engine_clock(vgpu_chip_find("gfx908"));

	memset(t->data, 0, 4096);
	EMIT(t, 0x00000002, LO(D), HI(D), 2, 1, 2, 3);
	EMIT(t, 0x00000005, LO(D + 16), HI(D), 0x55);
	EMIT(t, 0x00000006, 0);
	EMIT(t, 0x0000020d, LO(D + 24), HI(D));
	EMIT(t, 0x5e00000a, LO(D + 32), HI(D), ~0u, ~0u, 0, 0, 0); /* add -1, 64 bits */
	EMIT(t, 0xb0000008, LO(D + 16), HI(D), 0x55, ~0u, 0x0fff000a);
	EMIT(t, 0x00000009, LO(D + 16), HI(D), 0x54, 4); /* not equal: skip */
	EMIT(t, 0x00000005, LO(D + 40), HI(D), 1);
	EMIT(t, 0x00000009, LO(D + 16), HI(D), 0x55, 4);
	EMIT(t, 0x00000005, LO(D + 44), HI(D), 1);
	EMIT(t, 2u << 16, ~0u, ~0u);                                 /* NOP with two dwords to skip */
	EMIT(t, 0x0000000d, 1000, 0, 0x0000010d, LO(D + 48), HI(D)); /* set, get */
	set64(t, 32, 10);
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data64(t, 0), 0x200000001);
	CHECK_EQ(data32(t, 8), 3);
	CHECK_EQ(data32(t, 16), 0x55);
	CHECK(data64(t, 24) >= before);
	CHECK_EQ(data64(t, 32), 9);
	CHECK_EQ(data32(t, 40), 0);
	CHECK_EQ(data32(t, 44), 1);
	CHECK(data64(t, 48) >= 1000 && data64(t, 48) < 1000 + 100000000);
}

/* The count has 20 bits: more than a PM4 packet can be long. */
static void test_long_write(struct test_gpu *t)
{
	enum { COUNT = 200000 };

	EMIT(t, 0x00000002, LO(D), HI(D), COUNT - 1);
	for (unsigned n = 0; n < COUNT; n++)
		t->ib[t->dw++] = n;
	EMIT(t, 0x00000005, LO(D + 4 * COUNT), HI(D), 0x55);
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	CHECK(!memcmp(t->data, t->ib + 4, 4 * COUNT));
	CHECK_EQ(data32(t, 4 * COUNT), 0x55);
	EMIT(t, 0x00000002, LO(D), HI(D), COUNT - 1);
	EXPECT(test_run_sdma(t), ENGINE_HANG, 1, "200004 dwords, but the IB has 8 left");
}

static void test_order(struct test_gpu *t)
{
	/* The second copy reads what the first writes. */
	EMIT(t, 1, 99, 0, LO(D), HI(D), LO(D + 4096), HI(D));
	EMIT(t, 1, 99, 0, LO(D + 4096), HI(D), LO(D + 8192), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_DONE, 1, NULL);
	EMIT(t, 1, 99, 0, LO(D), HI(D), LO(D + 4096), HI(D), 0);
	EMIT(t, 1, 99, 0, LO(D + 4096), HI(D), LO(D + 8192), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	EMIT(t, 1, 99, 0, LO(D), HI(D), LO(D + 4096), HI(D));
	EMIT(t, 1, 99, 0, LO(D), HI(D), LO(D + 4096 + 100), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	EMIT(t, 1, 99, 0, LO(D), HI(D), LO(D + 4096), HI(D));
	EMIT(t, 1, 99, 0, LO(D + 200), HI(D), LO(D + 4096 + 99), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_DONE, 1, NULL);
}

/* row 69 */
static void test_bad(struct test_gpu *t)
{
	EMIT(t, 1, 1u << 22, 0, LO(D), HI(D), LO(D + 4096), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_HANG, 1, "count field");
	EMIT(t, 4, 0, 0, 0, 0, 0);
	EXPECT(test_run_sdma(t), ENGINE_ILLEGAL, 1, "INDIRECT");
	EMIT(t, 14, 0, 0);
	EXPECT(test_run_sdma(t), ENGINE_ILLEGAL, 1, "privileged");
	EMIT(t, 0x77);
	EXPECT(test_run_sdma(t), ENGINE_ILLEGAL, 1, "unknown");
	EMIT(t, 0x0901);
	EXPECT(test_run_sdma(t), ENGINE_ILLEGAL, 1, "unknown");
	EMIT(t, 0x0801);
	EXPECT(test_run_sdma(t), ENGINE_ILLEGAL, 1, "COPY_PHYSICAL at dword 0 of IB 0: it is privileged");
	EMIT(t, 0x0501);
	EXPECT(test_run_sdma(t), ENGINE_HANG, 1,
	       "COPY_TILED_SUB_WINDOW at dword 0 of IB 0: the virtual GPU does not model");
	EMIT(t, 1, 99, 1u << 24, LO(D), HI(D), LO(D + 4096), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_HANG, 1, "byte swapping");
	EMIT(t, 2, LO(D), HI(D), 1u << 24, 1);
	EXPECT(test_run_sdma(t), ENGINE_HANG, 1, "byte swapping");
	EMIT(t, 0x8002000b, LO(D), HI(D), 0, 3);
	EXPECT(test_run_sdma(t), ENGINE_HANG, 1, "byte swapping");
	EMIT(t, 0x00010005, LO(D), HI(D), 1);
	EXPECT(test_run_sdma(t), ENGINE_DONE, 1, NULL); /* MTYPE: of 5.0 and later */
	EMIT(t, 0x0001000f, 4, 5, LO(D), HI(D), 0x77);  /* PRE_EXE for device 0 */
	EMIT(t, 0x0002000f, 4, 5, LO(D), HI(D), 0x88);  /* for device 1 */
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 0x77);
	EMIT(t, 0x10, 0); /* DUMMY_TRAP */
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
	EMIT(t, 1, 99, 0, LO(TEST_HOLE_VA), 0, LO(D), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_HANG, 0, "refused");
	CHECK_EQ(t->fault.client, GPUVM_SDMA0);
	EMIT(t, 1, 99, 0, LO(D), HI(D), LO(TEST_RO_VA), 0);
	EXPECT(test_run_sdma(t), ENGINE_HANG, 0, "not allowed");
	EMIT(t, 0, 0, 0, 0, 0, 0, 0, 0x00000005); /* a FENCE cut off */
	EXPECT(test_run_sdma(t), ENGINE_HANG, 1, "left");
	EMIT(t, 0xb0000008, LO(D), HI(D), 0x55, ~0u, 0x0003000a);
	set32(t, 0, 0);
	EXPECT(test_run_sdma(t), ENGINE_HANG, 1, "timed out");
}

/* A copy or a fill that takes longer than the job may is not begun. */
static void test_watchdog(struct test_gpu *t)
{
	const uint64_t limit_ns = t->watchdog_ns;

	set32(t, 0, 1);
	set32(t, 1 << 20, 2);
	t->watchdog_ns = 10000;
	EMIT(t, 1, (1 << 20) - 1, 0, LO(D + (1 << 20)), HI(D), LO(D), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_HANG, 0, "watchdog");
	EMIT(t, 1 | 1u << 27, (1 << 19) - 1, 0, LO(D + (1 << 20)), HI(D), LO(D), HI(D), LO(D), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_HANG, 0, "watchdog");
	EMIT(t, 0x8000000b, LO(D), HI(D), 3, (1 << 20) - 4);
	EXPECT(test_run_sdma(t), ENGINE_HANG, 0, "watchdog");
	CHECK_EQ(data32(t, 0), 1);
	t->watchdog_ns = limit_ns;
}

/* row 61 */
static void test_padding(struct test_gpu *t)
{
	struct engine_ib ib = {.va = TEST_IB_VA, .size_B = 20};
	struct engine_job job = {.view = &t->view, .ib = &ib, .ib_count = 1, .fault = test_on_fault, .user = t};
	unsigned long before = vgpu_findings();

	memset(t->ib, 0, 64);
	CHECK_EQ(test_execute(t, &job), ENGINE_DONE);
	CHECK_EQ(vgpu_findings() - before, 1);
	ib.size_B = 32;
	CHECK_EQ(test_execute(t, &job), ENGINE_DONE);
	CHECK_EQ(vgpu_findings() - before, 1);
}

int main(void)
{
	struct test_gpu gpu;

	vgpu_strict_set(VGPU_STRICT_REPORT);
	test_init(&gpu, "gfx908", ENGINE_DMA, false, 0);
	test_copies(&gpu);
	test_sub_window(&gpu);
	test_fills(&gpu);
	test_words(&gpu);
	test_long_write(&gpu);
	test_order(&gpu);
	test_bad(&gpu);
	test_watchdog(&gpu);
	test_padding(&gpu);
	test_fini(&gpu);
	return check_done("SDMA packets");
}
