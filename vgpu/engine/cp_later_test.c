/* Packets of GFX10 to GFX12, without kernels: encodings from Linux nvd.h, PAL's MEC headers and Mesa, not from the
 * driver. */
#include "vgpu/engine/test_gpu.h"

#include "vgpu/engine/regs.h"

#define D TEST_DATA_VA

enum { WRITE_MEMORY = 0x00100500, WRITE_L2 = 0x00100200 };

static const char *const chips[] = {"gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1201"};

static bool is_gfx12(const char *chip)
{
	return !strncmp(chip, "gfx12", 5);
}

/* What all of them share. */
static void test_common(struct test_gpu *t, const char *chip)
{
	uint64_t before = engine_clock(vgpu_chip_find(chip)), after;

	memset(t->data, 0, 4096);
	EMIT(t, PM4_NOP_1DW, PM4(PM4_NOP, 2), 1, 2);
	EMIT(t, PM4(PM4_WRITE_DATA, 5), WRITE_MEMORY, LO(D), HI(D), 0x11, 0x22);
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x00000407);
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 7), 0, ~0u, 0x00ffffff, 0, 0, 10, is_gfx12(chip) ? 0xc181 : 0xc3b1);
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), is_gfx12(chip) ? 0x00600514 : 0x00603514, 0x43000000, LO(D + 8), HI(D), 5,
	     6, 0);
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00000528, 0x60000000, LO(D + 16), HI(D), 0, 0, 0);
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00000528, 0x80000000, LO(D + 24), HI(D), 0, 0, 0); /* system clock */
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x15, LO(D + 8), HI(D), 5, ~0u, 4);
	EMIT(t, PM4(PM4_WAIT_REG_MEM64, 8), 0x13, LO(D + 8), HI(D), 5, 6, ~0u, ~0u, 4);
	EMIT(t, PM4(PM4_COPY_DATA, 5), is_gfx12(chip) ? 0x06016209 : 0x00010209, 0, 0, LO(D + 32), HI(D));
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x0001020a, 0, 0, LO(D + 40), HI(D));
	EMIT(t, PM4(PM4_ATOMIC_MEM, 8), 0x270, LO(D + 8), HI(D), 1, 0, 0, 0, 0);
	EMIT(t, PM4(PM4_COND_EXEC, 4), LO(D + 48), HI(D), 0, 5);
	EMIT(t, PM4(PM4_WRITE_DATA, 4), WRITE_MEMORY, LO(D), HI(D), 0x33);
	EMIT(t, PM4(PM4_HDP_FLUSH, 1), 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	after = engine_clock(vgpu_chip_find(chip));
	CHECK_EQ(data64(t, 0), 0x2200000011);
	CHECK_EQ(data64(t, 8), 0x600000004);
	for (unsigned at = 16; at < 48; at += 8)
		CHECK(data64(t, at) >= before && data64(t, at) <= after);
}

/* row 65: forms of other generations. */
static void test_forms(struct test_gpu *t, const char *chip)
{
	bool has_pairs = strcmp(chip, "gfx11") > 0, has_atomic_fence = !is_gfx12(chip) && strcmp(chip, "gfx1010");

	EMIT(t, PM4(PM4_ACQUIRE_MEM, 6), 0x28c40000, ~0u, 0xffffff, 0, 0, 10);
	EXPECT(test_run(t), ENGINE_HANG, 1, "a body of 6 dwords; it has 7 to 7");
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 7), 0x08400000, ~0u, 0xffffff, 0, 0, 10, 0x380);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL); /* COHER_CNTL */
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 7), 0, ~0u, 0xffffff, 0, 0, 10, 0x4380);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL); /* GL2_INV without GL2_WB */
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 7), 0, ~0u, 0xffffff, 0, 0, 10, 0x00080000);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL); /* a bit beyond GCR_CNTL */
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 7), 0, ~0u, 0xffffff, 0, 0, 10, 0xd000);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL); /* GL2_RANGE of everything */
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 7), 0, ~0u, 0xffffff, 0, 0, 10, 0x10);
	EXPECT(test_run(t), ENGINE_DONE, is_gfx12(chip) ? 0 : 1, NULL); /* GLM_WB without GLM_INV */
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00000514, 0xe0000000, LO(D), HI(D), 1, 0, 0);
	set32(t, 0, 41);
	if (has_atomic_fence) {
		EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
		CHECK_EQ(data32(t, 0), 42);
	} else {
		EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "data_sel 7");
	}
	EMIT(t, PM4(PM4_TIMESTAMP, 5), 3, LO(D + 8), HI(D), LO(D + 16), HI(D));
	if (has_pairs) {
		EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
		CHECK(data64(t, 8) >= data64(t, 16) && data64(t, 16) > 0);
	} else {
		EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "opcode 0xb2 is unknown to this generation");
	}
	EMIT(t, PM4(PM4_SET_BASE, 3), 6, LO(D), HI(D));
	EXPECT(test_run(t), is_gfx12(chip) ? ENGINE_DONE : ENGINE_ILLEGAL, is_gfx12(chip) ? 0 : 1, NULL);
	EMIT(t, PM4(PM4_INCREMENT_CE_COUNTER, 1), 1);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1,
	       strcmp(chip, "gfx11") < 0 ? "only the graphics ring" : "opcode 0x84");
	EMIT(t, PM4(0x98, 1), 0);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1,
	       "INVALIDATE_TLBS at dword 0 of IB 0 (header 0xc0009800): only the kernel");
}

/* Registers in every form, read back by COPY_DATA. */
static void test_registers(struct test_gpu *t, const char *chip)
{
	uint32_t *list = (uint32_t *)(void *)(t->data + 256);
	bool gfx11 = !strncmp(chip, "gfx11", 5), gfx12 = is_gfx12(chip);

	EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_PGM_LO, 1);
	EMIT(t, PM4(PM4_SET_SH_REG_INDEX, 2), 3u << 28 | COMPUTE_STATIC_THREAD_MGMT_SE0, 2);
	list[0] = 3;
	list[1] = 4;
	if (strcmp(chip, "gfx1010")) {
		EMIT(t, PM4(PM4_LOAD_SH_REG_INDEX, 4), LO(D + 256), HI(D), COMPUTE_USER_DATA_0, 2);
		list[4] = COMPUTE_USER_DATA_0 + 2;
		list[5] = 5;
		list[6] = COMPUTE_USER_DATA_0 + 5;
		list[7] = 6;
		EMIT(t, PM4(PM4_LOAD_SH_REG_INDEX, 4), LO(D + 272), HI(D), 1u << 31, 4);
	}
	if (gfx11)
		EMIT(t, PM4(PM4_SET_SH_REG_PAIRS_PACKED, 4), 2, COMPUTE_PGM_HI | COMPUTE_PGM_RSRC1 << 16, 7, 8);
	if (gfx12)
		EMIT(t, PM4(PM4_SET_SH_REG_PAIRS, 4) | PM4_RESET_FILTER_CAM, COMPUTE_PGM_HI, 7, COMPUTE_PGM_RSRC1,
		     8);
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100500, SH_BASE + COMPUTE_PGM_LO, 0, LO(D), HI(D));
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100500, SH_BASE + COMPUTE_STATIC_THREAD_MGMT_SE0, 0, LO(D + 4), HI(D));
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00110500, SH_BASE + COMPUTE_USER_DATA_0, 0, LO(D + 8), HI(D));
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100500, SH_BASE + COMPUTE_USER_DATA_0 + 2, 0, LO(D + 16), HI(D));
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100500, SH_BASE + COMPUTE_USER_DATA_0 + 5, 0, LO(D + 20), HI(D));
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100500, SH_BASE + COMPUTE_PGM_HI, 0, LO(D + 24), HI(D));
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100500, SH_BASE + COMPUTE_PGM_RSRC1, 0, LO(D + 28), HI(D));
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data64(t, 0), 0x200000001);
	if (strcmp(chip, "gfx1010")) {
		CHECK_EQ(data64(t, 8), 0x400000003);
		CHECK_EQ(data64(t, 16), 0x600000005);
	}
	if (gfx11 || gfx12)
		CHECK_EQ(data64(t, 24), 0x800000007);
	if (gfx11) {
		EMIT(t, PM4(PM4_SET_SH_REG_PAIRS_PACKED, 4), 4, COMPUTE_PGM_HI, 7, 8);
		EXPECT(test_run(t), ENGINE_HANG, 1, "4 registers in 4 dwords");
		EMIT(t, PM4(PM4_SET_SH_REG_PAIRS_PACKED_N, 4), 2, 0x214, 7, 8);
		EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "COMPUTE_VMID");
	}
	if (gfx12) {
		EMIT(t, PM4(PM4_SET_SH_REG_PAIRS, 2), 0x3ff, 7, PM4(PM4_SET_UCONFIG_REG_PAIRS, 2), 0x40, 9);
		EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
		EMIT(t, PM4(PM4_SET_SH_REG_PAIRS, 4), 0x240, 7, 0x240, 8);
		EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	}
}

/* --- launches --- */

/* What Mesa, IREE and tinygrad set before a dispatch. */
static void emit_registers(struct test_gpu *t, const char *chip)
{
	unsigned engines = vgpu_chip_find(chip)->engines;

	EMIT(t, PM4(PM4_SET_SH_REG, 7), COMPUTE_START_X, 0, 0, 0, 64, 1, 1);
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_PGM_LO, LO(TEST_CODE_VA >> 8), HI(TEST_CODE_VA >> 8));
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_PGM_RSRC1, 0x60af0000, 4u << 1);
	EMIT(t, PM4(PM4_SET_SH_REG, 2), 0x228, 0); /* RSRC3 */
	EMIT(t, PM4(PM4_SET_SH_REG, 5), COMPUTE_RESOURCE_LIMITS, 0, ~0u, ~0u, 0);
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_STATIC_THREAD_MGMT_SE2, ~0u, ~0u);
	if (engines > 4)
		EMIT(t, PM4(PM4_SET_SH_REG, 5), 0x22b, ~0u, ~0u, ~0u, ~0u);
	EMIT(t, PM4(PM4_SET_SH_REG, 5), COMPUTE_USER_DATA_0, 1, 2, 3, 4);
}

/* The job as emitted launches a kernel that ends at once. */
static void expect_launch(struct test_gpu *t, const char *chip, long findings)
{
	t->code[0] = strcmp(chip, "gfx11") < 0 ? 0xbf810000 : 0xbfb00000; /* s_endpgm */
	EXPECT(test_run(t), ENGINE_DONE, findings, NULL);
}

/* rows 67, 95, 96 */
static void test_dispatch(struct test_gpu *t, const char *chip)
{
	emit_registers(t, chip);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 1, 1, 1, 0x8005);
	expect_launch(t, chip, 0);
	emit_registers(t, chip);
	set32(t, 0, 1);
	set32(t, 4, 1);
	set32(t, 8, 1);
	EMIT(t, PM4(PM4_DISPATCH_INDIRECT, 3), LO(D), HI(D), 0x5);
	expect_launch(t, chip, 0);
	emit_registers(t, chip);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 0, 1, 1, 0x8005); /* no workgroup */
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	emit_registers(t, chip);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 1, 65536, 1, 0x8005);
	expect_launch(t, chip, is_gfx12(chip) ? 1 : 0);
	emit_registers(t, chip);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 1, 1, 1, 0x80005); /* bit 19 */
	expect_launch(t, chip, 1);
	emit_registers(t, chip);
	EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_NUM_THREAD_X, 1025);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 1, 1, 1, 0x8005);
	EXPECT(test_run(t), ENGINE_HANG, 1, "over 1024");
	emit_registers(t, chip);
	EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_PGM_RSRC1, 63); /* 512 VGPRs of 32 lanes */
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 1, 1, 1, 0x8005);
	EXPECT(test_run(t), ENGINE_HANG, 1, "more VGPRs");
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 1, 1, 1, 0x8005); /* nothing set: poison */
	CHECK_EQ(test_run(t), ENGINE_HANG);
}

/* row 91: WAVES and WAVESIZE in each generation's units, and where scratch is. */
static void test_scratch(struct test_gpu *t, const char *chip)
{
	bool later = strcmp(chip, "gfx11") > 0; /* 256 bytes, of one engine, by a register */
	unsigned waves = later ? 8 : 8 * vgpu_chip_find(chip)->engines;
	uint32_t tmpring = waves | (later ? 4u : 1u) << 12; /* 1 KiB a wave */

	for (unsigned wrong = 0; wrong < 2; wrong++) {
		uint64_t base = wrong ? TEST_HOLE_VA : D;

		emit_registers(t, chip);
		EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_PGM_RSRC2, 1 | 4u << 1);
		EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_TMPRING_SIZE, tmpring + (later ? 0 : wrong));
		EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_DISPATCH_SCRATCH_BASE_LO, LO(base >> 8), HI(base >> 8));
		EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 1, 1, 1, 0x8005);
		/* Unmapped scratch, or waves that cannot be shared out evenly. */
		expect_launch(t, chip, wrong && (later || vgpu_chip_find(chip)->engines > 1) ? 1 : 0);
	}
	emit_registers(t, chip);
	EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_PGM_RSRC2, 1 | 4u << 1);
	EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_TMPRING_SIZE, 0);
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_DISPATCH_SCRATCH_BASE_LO, LO(D >> 8), HI(D >> 8));
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 1, 1, 1, 0x8005);
	EXPECT(test_run(t), ENGINE_HANG, 1, "none starts");
}

/* --- L2 --- */

/* row 84: whether memory has what a packet left in L2, once another packet has signalled so. */
static void test_write_back(struct test_gpu *t, const char *chip)
{
	const struct {
		uint32_t release, acquire, seen;
	} rows[] = {
		{0x00000514, 0, 0},
		{0x00600514, 0, 1},      /* GL2_WB */
		{0x00000514, 0xc000, 1}, /* GL2_INV, GL2_WB */
		{0x00000514, 0x380, 0},
	};

	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		memset(t->data, 0, 128);
		EMIT(t, PM4(PM4_WRITE_DATA, 4), WRITE_L2, LO(D), HI(D), 1);
		if (rows[n].acquire)
			EMIT(t, PM4(PM4_ACQUIRE_MEM, 7), 0, ~0u, 0xffffff, 0, 0, 10, rows[n].acquire);
		EMIT(t, PM4(PM4_RELEASE_MEM, 7), rows[n].release, 0x20000000, LO(D + 64), HI(D), 1, 0, 0);
		/* Past L2, so this is what memory holds: the alias is not cached. */
		EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100502, LO(TEST_RO_VA), HI(TEST_RO_VA), LO(D + 128), HI(D));
		t->region[2].flags = GPUVM_R | GPUVM_UC << GPUVM_MTYPE_SHIFT;
		EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
		CHECK_EQ(data32(t, 0), 1); /* the end of the job */
		CHECK_EQ(data32(t, 128), is_gfx12(chip) ? 1 : rows[n].seen);
	}
}

/* row 85: the end of a job writes L2 back and keeps its lines; what the CPU writes then is seen with the flag only.
 */
static void test_lines_outlive_jobs(struct test_gpu *t, const char *chip)
{
	struct engine_ib ib = {.va = TEST_IB_VA, .size_B = 32};
	struct engine_job job = {.view = &t->view, .ib = &ib, .ib_count = 1, .watchdog_ns = 60000000000ull};

	for (unsigned round = 0; round < 2; round++) {
		set32(t, 0, 1);
		EMIT(t, PM4(PM4_ACQUIRE_MEM, 7), 0, ~0u, 0xffffff, 0, 0, 10, 0xc000);
		EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100202, LO(D), HI(D), LO(D + 128), HI(D));
		EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
		set32(t, 0, 2);
		EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100202, LO(D), HI(D), LO(D + 192), HI(D), PM4_NOP_1DW,
		     PM4_NOP_1DW);
		t->dw = 0;
		ib.flags = round ? 1 << 6 : 0; /* EMIT_MEM_SYNC */
		CHECK_EQ(test_execute(t, &job), ENGINE_DONE);
		CHECK_EQ(data32(t, 192), round || is_gfx12(chip) ? 2 : 1);
	}
}

static void copy_before_and_behind_gcr(struct test_gpu *t)
{
	EMIT(t, SDMA_COPY, 3, 0, LO(D), HI(D), LO(D + 256), HI(D));
	EMIT(t, SDMA_GCR_REQ | 1 << 8, 0, 0xc0000000, 0, 0); /* GL2_INV, GL2_WB */
	EMIT(t, SDMA_COPY, 3, 0, LO(D), HI(D), LO(D + 320), HI(D));
	EXPECT(test_run_sdma(t), ENGINE_DONE, 0, NULL);
}

/* row 89: SDMA 5 and 6 find in L2 what they read, and write past it; 7 does neither. */
static void test_sdma_and_l2(struct test_gpu *t, const char *chip)
{
	struct test_gpu sdma = *t;

	sdma.ring = engine_ring_create(t->dev, ENGINE_DMA, 0, 0);
	set32(t, 0, 1);
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 7), 0, ~0u, 0xffffff, 0, 0, 10, 0xc000);
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100202, LO(D), HI(D), LO(D + 128), HI(D)); /* into L2 */
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	set32(t, 0, 2);
	copy_before_and_behind_gcr(&sdma);
	CHECK_EQ(data32(t, 256), is_gfx12(chip) ? 2 : 1);
	CHECK_EQ(data32(t, 320), 2);
	engine_ring_destroy(sdma.ring);
}

/* An end-of-pipe atomic past L2 adds to what a packet left there, not to what memory had before. */
static void test_atomic_past_l2(struct test_gpu *t, const char *chip)
{
	if (is_gfx12(chip) || !strcmp(chip, "gfx1010"))
		return;
	memset(t->data, 0, 64);
	EMIT(t, PM4(PM4_WRITE_DATA, 5), WRITE_L2, LO(D), HI(D), 40, 50);
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00000514, 0xe0000000, LO(D + 4), HI(D), 2, 0, 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data64(t, 0), 52ull << 32 | 40);
}

static void test_caches(const char *chip)
{
	struct test_gpu gpu;

	vgpu_set(VGPU_CACHES, true);
	test_init(&gpu, chip, ENGINE_COMPUTE, false, 0);
	test_write_back(&gpu, chip);
	test_lines_outlive_jobs(&gpu, chip);
	test_sdma_and_l2(&gpu, chip);
	test_atomic_past_l2(&gpu, chip);
	test_fini(&gpu);
	vgpu_set(VGPU_CACHES, false);
}

/* --- the graphics ring --- */

/* The preamble of a graphics queue, as Mesa sends it. */
static void test_graphics_ring(const char *chip)
{
	struct test_gpu gpu, *t = &gpu;

	test_init(t, chip, ENGINE_GFX, false, 0);
	EMIT(t, PM4(PM4_CONTEXT_CONTROL, 2), 0x80000000, 0x80000000, PM4(PM4_CLEAR_STATE, 1), 0);
	EMIT(t, PM4(PM4_SET_CONTEXT_REG, 2), 0x10, 0, PM4(PM4_SET_UCONFIG_REG_INDEX, 2), 2u << 28 | 0x242, 1);
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x00000024, PM4(PM4_EVENT_WRITE, 1), 0x00000410); /* VGT_FLUSH, PS flush */
	EMIT(t, PM4(PM4_PFP_SYNC_ME, 1), 0);
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 7), 0x80000000, ~0u, 0xffffff, 0, 0, 10, is_gfx12(chip) ? 0xc181 : 0xc3b1);
	if (!strncmp(chip, "gfx11", 5))
		EMIT(t, PM4(PM4_SET_CONTEXT_REG_PAIRS_PACKED, 4) | PM4_RESET_FILTER_CAM, 2, 0x00110010, 1, 2);
	if (strcmp(chip, "gfx11") > 0)
		EMIT(t, PM4(PM4_EVENT_WRITE_ZPASS, 2), LO(D + 64), HI(D));
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x0000052d, 0x23000000, LO(D), HI(D), 7, 0, 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 7);
	EMIT(t, PM4(0x2d, 2), 0, 0);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "DRAW_INDEX_AUTO");
	test_fini(t);
}

/* Ends waits and writes fences, and leaves out the rest. */
static void test_null_device(const char *chip)
{
	struct test_gpu gpu, *t = &gpu;

	test_init(t, chip, ENGINE_COMPUTE, true, 0);
	EMIT(t, PM4(PM4_WAIT_REG_MEM64, 8), 0x13, LO(D), HI(D), 7, 0, ~0u, ~0u, 4);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 1, 1, 1, 0x8005);
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00000514, 0x43000000, LO(D + 8), HI(D), 0x55, 0, 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data64(t, 8), 0x55);
	test_fini(t);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_REPORT);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(chips[0]); n++) {
		struct test_gpu gpu;

		test_init(&gpu, chips[n], ENGINE_COMPUTE, false, 0);
		test_common(&gpu, chips[n]);
		test_forms(&gpu, chips[n]);
		test_registers(&gpu, chips[n]);
		test_dispatch(&gpu, chips[n]);
		test_scratch(&gpu, chips[n]);
		test_fini(&gpu);
		test_caches(chips[n]);
		test_graphics_ring(chips[n]);
		test_null_device(chips[n]);
	}
	return check_done("packets of GFX10 to GFX12");
}
