/* Packets of the compute ring and what is wrong with them, without kernels. */
#include <pthread.h>
#include <time.h>

#include "vgpu/engine/test_gpu.h"

#define D TEST_DATA_VA

static void sleep_ms(unsigned ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void test_write_data(struct test_gpu *t)
{
	EMIT(t, PM4(PM4_WRITE_DATA, 5), 0x00100500, LO(D), HI(D), 0x11, 0x22);
	EMIT(t, PM4(PM4_WRITE_DATA, 6), 0x00110500, LO(D + 16), HI(D + 16), 1, 2, 3); /* all to one address */
	EMIT(t, PM4(PM4_WRITE_DATA, 4) | PM4_SHADER_TYPE, 0x00100200, LO(D + 24), HI(D + 24), 0x33);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data64(t, 0), 0x2200000011);
	CHECK_EQ(data32(t, 16), 3);
	CHECK_EQ(data32(t, 20), 0);
	CHECK_EQ(data32(t, 24), 0x33);
}

/* row 100 */
static void test_release_mem(struct test_gpu *t)
{
	uint64_t before, after;

	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00088514, 0x43000000, LO(D), HI(D), 0x55, 0x66, 0);
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00088514, 0x23000000, LO(D + 8), HI(D), 0x77, 0x88, 0);
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00000528, 0x60000000, LO(D + 16), HI(D), 0, 0, 0);
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00088514, 0x02000000, 0, 0, 0, 0, 0); /* interrupt only */
	set64(t, 8, 0);
	before = engine_clock(vgpu_chip_find("gfx908"));
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	after = engine_clock(vgpu_chip_find("gfx908"));
	CHECK_EQ(data64(t, 0), 0x6600000055);
	CHECK_EQ(data64(t, 8), 0x77);
	CHECK(data64(t, 16) >= before && data64(t, 16) <= after);
	/* TC_WB alone does nothing; data_sel 7 does not exist; CS_PARTIAL_FLUSH is no end-of-pipe event. */
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00008514, 0x40000000, LO(D), HI(D), 1, 0, 0);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00088514, 0xe0000000, LO(D), HI(D), 1, 0, 0);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "data_sel 7");
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00000407, 0x40000000, LO(D), HI(D), 1, 0, 0);
	EXPECT(test_run(t), ENGINE_HANG, 1, "end of pipe");
	/* A fence into nothing is lost, the job goes on. */
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00088514, 0x40000000, LO(TEST_HOLE_VA), 0, 1, 0, 0);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	CHECK_EQ(t->faults, 1);
	CHECK_EQ(t->fault.va, TEST_HOLE_VA);
	CHECK_EQ(t->fault.access, GPUVM_W);
}

static void test_copy_data(struct test_gpu *t)
{
	uint64_t before = engine_clock(vgpu_chip_find("gfx908"));

	set64(t, 64, 0x123456789abcdef0);
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x02012509, 0, 0, LO(D), HI(D));                  /* clock */
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00110501, LO(D + 64), HI(D), LO(D + 8), HI(D)); /* memory, 64 bits */
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100505, 0xabcd, 0, LO(D + 16), HI(D));        /* immediate */
	EMIT(t, PM4(PM4_SET_UCONFIG_REG, 2), 0x40, 0xcafedead);                          /* SCRATCH_REG0 */
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100500, 0xc040, 0, LO(D + 20), HI(D));        /* register */
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK(data64(t, 0) >= before);
	CHECK_EQ(data64(t, 8), 0x123456789abcdef0);
	CHECK_EQ(data32(t, 16), 0xabcd);
	CHECK_EQ(data32(t, 20), 0xcafedead);
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x0010050a, 0, 0, LO(D), HI(D));
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "src_sel 10");
}

static uint64_t one_atomic(struct test_gpu *t, unsigned op, uint64_t old, uint64_t src, uint64_t cmp)
{
	bool returns = !(op & 64);

	set64(t, 0, old);
	EMIT(t, PM4(PM4_ATOMIC_MEM, 8), op | (returns ? 0 : 0x200), LO(D), HI(D), LO(src), HI(src), LO(cmp),
	     HI(cmp), 0);
	if (returns)
		EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00110506, 0, 0, LO(D + 8), HI(D));
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	if (returns)
		CHECK_EQ(data64(t, 8), op & 32 ? old : (uint32_t)old);
	return data64(t, 0);
}

static void test_atomic_mem(struct test_gpu *t)
{
	const uint64_t minus = 0xffffffffffffffff;

	for (unsigned form = 0; form < 128; form += 64) {
		/* 64 bits */
		CHECK_EQ(one_atomic(t, 39 + form, 5, 9, 0), 9);
		CHECK_EQ(one_atomic(t, 40 + form, 5, 9, 5), 9);
		CHECK_EQ(one_atomic(t, 40 + form, 5, 9, 6), 5);
		CHECK_EQ(one_atomic(t, 47 + form, 0xffffffff, 1, 0), 0x100000000);
		CHECK_EQ(one_atomic(t, 48 + form, 1, 1, 0), 0);
		CHECK_EQ(one_atomic(t, 49 + form, minus, 1, 0), minus);
		CHECK_EQ(one_atomic(t, 50 + form, minus, 1, 0), 1);
		CHECK_EQ(one_atomic(t, 51 + form, minus, 1, 0), 1);
		CHECK_EQ(one_atomic(t, 52 + form, minus, 1, 0), minus);
		CHECK_EQ(one_atomic(t, 53 + form, 12, 10, 0), 8);
		CHECK_EQ(one_atomic(t, 54 + form, 12, 10, 0), 14);
		CHECK_EQ(one_atomic(t, 55 + form, 12, 10, 0), 6);
		CHECK_EQ(one_atomic(t, 56 + form, 3, 3, 0), 0);
		CHECK_EQ(one_atomic(t, 56 + form, 2, 3, 0), 3);
		CHECK_EQ(one_atomic(t, 57 + form, 0, 7, 0), 7);
		CHECK_EQ(one_atomic(t, 57 + form, 9, 7, 0), 7);
		CHECK_EQ(one_atomic(t, 57 + form, 5, 7, 0), 4);
		/* 32 bits leave the upper half alone. */
		CHECK_EQ(one_atomic(t, 15 + form, 0x1ffffffff, 1, 0), 0x100000000);
		CHECK_EQ(one_atomic(t, 16 + form, 0x100000000, 1, 0), 0x1ffffffff);
		CHECK_EQ(one_atomic(t, 17 + form, 0xffffffff, 1, 0), 0xffffffff);
		CHECK_EQ(one_atomic(t, 18 + form, 0xffffffff, 1, 0), 1);
	}
	EMIT(t, PM4(PM4_ATOMIC_MEM, 8), 112, LO(D), HI(D), 1, 0, 0, 0, 0); /* no return, but single pass */
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	EMIT(t, PM4(PM4_ATOMIC_MEM, 8), 3, LO(D), HI(D), 1, 0, 0, 0, 0);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "operation 3");
}

static void test_conditions(struct test_gpu *t)
{
	set32(t, 0, 0);
	set32(t, 4, 1);
	set32(t, 64, 0);
	set32(t, 68, 0);
	EMIT(t, PM4(PM4_COND_EXEC, 4), LO(D), HI(D), 0, 5);
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(D + 64), HI(D), 1);
	EMIT(t, PM4(PM4_COND_EXEC, 4), LO(D + 4), HI(D), 0, 5);
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(D + 68), HI(D), 1);
	EMIT(t, PM4(PM4_PRED_EXEC, 1), 2u << 24 | 5); /* die 1 only */
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(D + 68), HI(D), 2);
	EMIT(t, PM4(PM4_COND_WRITE, 8), 0x113, LO(D + 4), HI(D), 1, ~0u, LO(D + 72), HI(D), 0x99); /* if == 1 */
	EMIT(t, PM4(PM4_COND_WRITE, 8), 0x114, LO(D + 4), HI(D), 1, ~0u, LO(D + 76), HI(D), 0x99); /* if != 1 */
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 64), 0);
	CHECK_EQ(data32(t, 68), 1);
	CHECK_EQ(data32(t, 72), 0x99);
	CHECK_EQ(data32(t, 76), 0);
	EMIT(t, PM4(PM4_COND_EXEC, 4), LO(D), HI(D), 0, 100);
	EXPECT(test_run(t), ENGINE_HANG, 1, "skips 100");
}

static void test_dma_data(struct test_gpu *t)
{
	for (unsigned n = 0; n < 1000; n++)
		t->data[4096 + n] = (uint8_t)n;
	EMIT(t, PM4(PM4_DMA_DATA, 6), 0x80000000, LO(D + 4096), HI(D), LO(D + 8192), HI(D), 1000);
	EMIT(t, PM4(PM4_DMA_DATA, 6), 0xc0000000, 0xdeadbeef, 0, LO(D + 12288), HI(D), 64);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK(!memcmp(t->data + 4096, t->data + 8192, 1000));
	CHECK_EQ(data32(t, 12288 + 60), 0xdeadbeef);
	CHECK_EQ(data32(t, 12288 + 64), 0);
}

/* --- waits --- */

static void *set_later(void *arg)
{
	sleep_ms(30);
	__atomic_store_n((uint32_t *)arg, 7, __ATOMIC_RELEASE);
	return NULL;
}

static void test_wait(struct test_gpu *t)
{
	pthread_t thread;

	set32(t, 0, 0);
	pthread_create(&thread, NULL, set_later, t->data);
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x15, LO(D), HI(D), 7, ~0u, 4);
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(D + 64), HI(D), 0x44);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 64), 0x44);
	pthread_join(thread, NULL);
	for (unsigned function = 0; function <= 6; function++) {
		static const uint32_t value[7] = {0, 4, 5, 5, 6, 5, 6}; /* each true against 5 */

		set32(t, 0, value[function]);
		EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x10 | function, LO(D), HI(D), 5, ~0u, 4);
	}
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x16, LO(D), HI(D), 0, 0xff, 4);
	EXPECT(test_run(t), ENGINE_HANG, 0, "watchdog"); /* the last value is not below 5 */
}

/* row 99 */
static void test_wait_for_ever(struct test_gpu *t)
{
	set32(t, 0, 1);
	t->watchdog_ns = 2000000000;
	EMIT(t, PM4(PM4_NOP, 3), 0, 0, 0);
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(D), HI(D), 7, ~0u, 4);
	EXPECT(test_run(t), ENGINE_HANG, 0, "WAIT_REG_MEM at dword 4 of IB 0");
	t->watchdog_ns = 60000000000ull;
}

static void *kill_later(void *ring)
{
	sleep_ms(20);
	engine_kill(ring);
	return NULL;
}

static void test_kill(struct test_gpu *t)
{
	pthread_t thread;

	set32(t, 0, 1);
	engine_kill(t->ring); /* without a job: no effect on the next */
	pthread_create(&thread, NULL, kill_later, t->ring);
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(D), HI(D), 7, ~0u, 4);
	EXPECT(test_run(t), ENGINE_KILLED, 0, "killed");
	pthread_join(thread, NULL);
	EMIT(t, PM4_NOP_1DW);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
}

/* A job that another one's reset took along begins anew, and what ended it then is forgotten: not so a kill. */
static void test_begin_anew(struct test_gpu *t)
{
	struct engine_ib ib[2] = {{.va = TEST_IB_VA, .size_B = 32}, {.va = TEST_IB_VA + 32, .size_B = 32}};
	struct engine_job job[2];
	struct engine_run *run[2];

	for (unsigned kills = 0; kills < 2; kills++) {
		set32(t, 0, !kills);
		EMIT(t, PM4(0xff, 1), 0, 0, 0, 0, 0, 0, 0); /* no packet */
		EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(D), HI(D), 1, ~0u, 4, PM4_NOP_1DW);
		t->dw = 0;
		for (unsigned n = 0; n < 2; n++) {
			job[n] = (struct engine_job){
				.view = &t->view, .ib = &ib[n], .ib_count = 1, .watchdog_ns = 1000000000};
			run[n] = engine_line_up(t->ring, &job[n]);
		}
		CHECK_EQ(engine_execute(run[0]), ENGINE_ILLEGAL);
		engine_leave(run[0]);
		CHECK_EQ(engine_execute(run[1]), ENGINE_RESET);
		CHECK(strstr(engine_why(run[1]), "because of the job before"));
		if (kills)
			engine_kill(t->ring);
		CHECK_EQ(engine_execute(run[1]), kills ? ENGINE_KILLED : ENGINE_DONE);
		CHECK(!strcmp(engine_why(run[1]), kills ? "killed" : ""));
		engine_leave(run[1]);
	}
}

/* --- buffers --- */

/* row 68 */
static void test_chain(struct test_gpu *t)
{
	uint32_t *second = t->ib + 4096 / 4;

	second[0] = PM4(PM4_WRITE_DATA, 4);
	second[1] = 0x00100500;
	second[2] = LO(D + 64);
	second[3] = HI(D);
	second[4] = 0x77;
	for (unsigned n = 5; n < 8; n++)
		second[n] = PM4_NOP_1DW;
	EMIT(t, PM4_NOP_1DW, PM4_NOP_1DW, PM4_NOP_1DW, PM4_NOP_1DW);
	EMIT(t, PM4(PM4_INDIRECT_BUFFER, 3), LO(TEST_IB_VA + 4096), HI(TEST_IB_VA), IB_CHAIN | IB_VALID | 8);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 64), 0x77);
	EMIT(t, PM4(PM4_INDIRECT_BUFFER, 3), LO(TEST_IB_VA + 4096), HI(TEST_IB_VA), IB_CHAIN | 8);
	EXPECT(test_run(t), ENGINE_HANG, 1, "VALID");
	EMIT(t, PM4(PM4_INDIRECT_BUFFER, 3), LO(TEST_IB_VA + 4096), HI(TEST_IB_VA), IB_VALID | 8);
	EXPECT(test_run(t), ENGINE_HANG, 1, "chain");
	EMIT(t, PM4(PM4_INDIRECT_BUFFER, 3), LO(TEST_HOLE_VA), 0, IB_CHAIN | IB_VALID | 8, PM4_NOP_1DW, PM4_NOP_1DW,
	     PM4_NOP_1DW, PM4_NOP_1DW);
	EXPECT(test_run(t), ENGINE_HANG, 2, "refused"); /* what follows is never read; the target is not mapped */
	EMIT(t, PM4(PM4_INDIRECT_BUFFER, 3), LO(TEST_IB_VA + 4096), HI(TEST_IB_VA), IB_CHAIN | IB_VALID);
	EXPECT(test_run(t), ENGINE_HANG, 1, "0 dwords");
	EMIT(t, PM4(PM4_INDIRECT_BUFFER, 3), LO(TEST_IB_VA + 4098), HI(TEST_IB_VA), IB_CHAIN | IB_VALID | 8);
	EXPECT(test_run(t), ENGINE_HANG, 1, "jump to");
	/* For ever in a circle. */
	EMIT(t, PM4_NOP_1DW, PM4_NOP_1DW, PM4_NOP_1DW, PM4_NOP_1DW);
	EMIT(t, PM4(PM4_INDIRECT_BUFFER, 3), LO(TEST_IB_VA), HI(TEST_IB_VA), IB_CHAIN | IB_VALID | 8);
	t->watchdog_ns = 1000000000;
	EXPECT(test_run(t), ENGINE_HANG, 0, "watchdog");
	t->watchdog_ns = 60000000000ull;
}

/* A job of NOPs whose IB is mapped as `flags` say. */
static enum engine_status run_mapped(struct test_gpu *t, uint32_t nop, uint32_t flags)
{
	uint32_t before = t->region[0].flags;
	enum engine_status status;

	t->region[0].flags = flags;
	EMIT(t, nop);
	status = test_run_at(t, TEST_IB_VA, nop);
	t->region[0].flags = before;
	return status;
}

/* row 160 */
static void test_executable(const char *chip, enum engine_ip ip, bool demanded)
{
	uint32_t nop = ip == ENGINE_DMA ? 0 : PM4_NOP_1DW;
	struct test_gpu gpu, *t = &gpu;

	test_init(t, chip, ip, false, 0);
	EXPECT(run_mapped(t, nop, GPUVM_R | GPUVM_X), ENGINE_DONE, 0, NULL);
	if (!demanded) {
		EXPECT(run_mapped(t, nop, GPUVM_R), ENGINE_DONE, 0, NULL);
		test_fini(t);
		return;
	}
	EXPECT(run_mapped(t, nop, GPUVM_R), ENGINE_HANG, 1,
	       "executable fetch of 0x10000000 was refused (not allowed");
	CHECK_EQ(t->fault.client, GPUVM_CPF);
	CHECK_EQ(t->fault.access, GPUVM_X);
	CHECK(t->fault.mapped);
	for (unsigned n = 0; n < 8; n++)
		set32(t, 4 * n, PM4_NOP_1DW);
	EMIT(t, PM4_NOP_1DW, PM4_NOP_1DW, PM4_NOP_1DW, PM4_NOP_1DW);
	EMIT(t, PM4(PM4_INDIRECT_BUFFER, 3), LO(TEST_RO_VA), HI(TEST_RO_VA), IB_CHAIN | IB_VALID | 8);
	EXPECT(test_run(t), ENGINE_HANG, 1, "executable fetch of 0x40000000");
	test_fini(t);
}

static void test_cond_indirect(struct test_gpu *t)
{
	for (unsigned which = 0; which < 2; which++) {
		uint32_t *target = t->ib + (4096 + 256 * which) / 4;

		for (unsigned n = 0; n < 8; n++)
			target[n] = PM4_NOP_1DW;
		target[0] = PM4(PM4_WRITE_DATA, 4);
		target[1] = 0x00100500;
		target[2] = LO(D + 64);
		target[3] = HI(D);
		target[4] = 100 + which;
	}
	for (unsigned value = 0; value < 2; value++) {
		set64(t, 0, value);
		EMIT(t, PM4_NOP_1DW, PM4_NOP_1DW, PM4(PM4_INDIRECT_BUFFER, 13), 2 | 3 << 8, LO(D), HI(D), ~0u, ~0u,
		     1, 0, LO(TEST_IB_VA + 4096), 0, IB_CHAIN | IB_VALID | 8, LO(TEST_IB_VA + 4352), 0,
		     IB_CHAIN | IB_VALID | 8);
		EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
		CHECK_EQ(data32(t, 64), value ? 100 : 101);
	}
}

/* rows 58, 59, 60, 62, 65 */
static void test_bad_buffers(struct test_gpu *t)
{
	EMIT(t, PM4_NOP_1DW);
	EXPECT(test_run_at(t, TEST_IB_VA + 2, PM4_NOP_1DW), ENGINE_HANG, 1, "aligned");
	EMIT(t, PM4_NOP_1DW);
	t->ib[8] = 0x80000000;
	EXPECT(test_run_at(t, TEST_IB_VA + 4, PM4_NOP_1DW), ENGINE_ILLEGAL, 2, "dword 7"); /* type 2 */
	EXPECT(test_run(t), ENGINE_HANG, 1, "a size of 0");
	t->odd_B = 2;
	EMIT(t, PM4_NOP_1DW);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	t->odd_B = 0;
	EMIT(t, PM4_NOP_1DW);
	EXPECT(test_run_at(t, TEST_HOLE_VA, PM4_NOP_1DW), ENGINE_HANG, 1, "refused");
	CHECK_EQ(t->fault.client, GPUVM_CPF);
	EMIT(t, PM4(PM4_WRITE_DATA, 100), 0x00100500, LO(D), HI(D));
	EXPECT(test_run(t), ENGINE_HANG, 1, "left");
}

/* rows 64, 66, 118 */
static void test_bad_packets(struct test_gpu *t)
{
	EMIT(t, 0x80000000);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "type 2");
	EMIT(t, PM4(0x2d, 2), 0, 0); /* DRAW_INDEX_AUTO */
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "graphics");
	EMIT(t, PM4(PM4_SET_CONTEXT_REG, 2), 0, 0);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "graphics ring");
	EMIT(t, PM4(PM4_PFP_SYNC_ME, 1), 0);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "graphics ring");
	EMIT(t, PM4(0xf0, 1), 0);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "opcode 0xf0");
	EMIT(t, PM4(PM4_SET_SH_REG, 3), 0x3ff, 0, 0);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "leave the window");
	EMIT(t, PM4(PM4_SET_SH_REG, 2), 0x214, 3); /* COMPUTE_VMID */
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "COMPUTE_VMID");
	EMIT(t, PM4(PM4_SET_CONFIG_REG, 2), 0, 0);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "privileged");
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100000, 0x54b, 0,
	     0); /* a VM register, as libdrm's deadlock test writes */
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "privileged");
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x00000528);
	EXPECT(test_run(t), ENGINE_HANG, 1, "RELEASE_MEM");
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x00000407, PM4(PM4_NOP, 1) | PM4_PREDICATE, 0);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 6), 0x08800000, ~0u, 0xffffff, 0, 0,
	     10); /* L2 invalidate without write-back */
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 6), 0x28c40000, ~0u, 0xffffff, 0, 0, 10);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
}

/* --- memory --- */

/* rows 46, 47, 53 */
static void test_refused(struct test_gpu *t)
{
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(TEST_RO_VA), 0, 1);
	EXPECT(test_run(t), ENGINE_HANG, 0, "not allowed");
	CHECK(t->fault.mapped);
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(TEST_UNLISTED), 0, 1);
	EXPECT(test_run(t), ENGINE_HANG, 1, "refused");
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(TEST_PRT_VA), 0, 1);
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100501, LO(TEST_PRT_VA), 0, LO(D), HI(D));
	set32(t, 0, 5);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 0);
	CHECK_EQ(t->faults, 0);
}

static void test_gfx_ring(void)
{
	struct test_gpu gpu, *t = &gpu;
	uint32_t *second;

	test_init(t, "gfx906", ENGINE_GFX, false, 0);
	second = t->ib + 4096 / 4;
	for (unsigned n = 0; n < 8; n++)
		second[n] = PM4_NOP_1DW;
	second[0] = PM4(PM4_WRITE_DATA, 4);
	second[1] = 0x40100500;
	second[2] = LO(D);
	second[3] = HI(D);
	second[4] = 1;
	EMIT(t, PM4(PM4_CONTEXT_CONTROL, 2), 0x80000000, 0x80000000, PM4(PM4_CLEAR_STATE, 1), 0);
	EMIT(t, PM4(PM4_SET_CONTEXT_REG, 2), 0x10, 0, PM4(PM4_PFP_SYNC_ME, 1), 0);
	EMIT(t, PM4(PM4_INDIRECT_BUFFER, 3), LO(TEST_IB_VA + 4096), 0, 8); /* IB2: comes back */
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100100, LO(D + 4), HI(D), 2);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 1);
	CHECK_EQ(data32(t, 4), 2);
	test_fini(t);
}

/* As libdrm's own tests: an IB for the constant engine, then one that waits for it. */
static void test_constant_engine(void)
{
	struct test_gpu gpu, *t = &gpu;

	test_init(t, "gfx906", ENGINE_GFX, false, 0);
	EMIT(t, PM4(PM4_SET_CE_DE_COUNTERS, 1), 0, PM4(PM4_INCREMENT_CE_COUNTER, 1), 1);
	EMIT(t, PM4(PM4_WAIT_ON_CE_COUNTER, 1), 1, PM4(PM4_INCREMENT_DE_COUNTER, 1), 0);
	EMIT(t, PM4(PM4_WAIT_ON_DE_COUNTER_DIFF, 1), 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	EMIT(t, PM4(PM4_WAIT_ON_CE_COUNTER, 1), 1);
	EXPECT(test_run(t), ENGINE_HANG, 0, "constant engine");
	EMIT(t, PM4(PM4_INCREMENT_CE_COUNTER, 1), 0, PM4(PM4_INCREMENT_CE_COUNTER, 1), 0);
	EMIT(t, PM4(PM4_WAIT_ON_DE_COUNTER_DIFF, 1), 1);
	EXPECT(test_run(t), ENGINE_HANG, 0, "draw engine at 0");
	test_fini(t);
	test_init(t, "gfx906", ENGINE_COMPUTE, false, 0);
	EMIT(t, PM4(PM4_INCREMENT_CE_COUNTER, 1), 0);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "only the graphics ring");
	test_fini(t);
}

/* SAMPLE_PIPELINESTAT counts what was launched between START and STOP; the graphics ring samples depth counts. */
static void test_samples(struct test_gpu *t)
{
	memset(t->data, 0xff, 256);
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x00000019);
	EMIT(t, PM4(PM4_EVENT_WRITE, 3), 0x0000021e, LO(D), HI(D));
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	for (unsigned i = 0; i < 11; i++)
		CHECK_EQ(data64(t, 8 * i), 0);
	CHECK_EQ(data64(t, 88), ~0ull);
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x0000021e);
	EXPECT(test_run(t), ENGINE_HANG, 1, "has an address");
	EMIT(t, PM4(PM4_EVENT_WRITE, 3), 0x0000021e, LO(D + 4), HI(D));
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	EMIT(t, PM4(PM4_EVENT_WRITE, 3), 0x00000115, LO(D), HI(D));
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "for graphics");
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x0000003f);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "event 0x3f");
}

/* A predicate on the graphics ring, of 32 and of 64 bits, both ways round. */
static void test_predication(void)
{
	const uint32_t write = PM4(PM4_WRITE_DATA, 4) | PM4_PREDICATE;
	struct test_gpu gpu, *t = &gpu;

	test_init(t, "gfx906", ENGINE_GFX, false, 0);
	set64(t, 64, 1ull << 32); /* nothing to 32 bits */
	for (unsigned n = 0; n < 4; n++) {
		EMIT(t, PM4(PM4_SET_PREDICATION, 3), (n & 1 ? 3u : 4u) << 16 | (n & 2 ? 1u << 8 : 0), LO(D + 64),
		     HI(D));
		EMIT(t, write, 0x00100500, LO(D + 4 * n), HI(D), 1, write & ~1u, 0x00100500, LO(D + 16), HI(D), n);
	}
	EMIT(t, PM4(PM4_SET_PREDICATION, 3), 0, 0, 0, write, 0x00100500, LO(D + 20), HI(D), 1);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	for (unsigned n = 0; n < 4; n++)
		CHECK_EQ(data32(t, 4 * n), n == 0 || n == 3);
	CHECK_EQ(data32(t, 16), 3);
	CHECK_EQ(data32(t, 20), 1);
	EMIT(t, PM4(PM4_SET_PREDICATION, 3), 1u << 16, LO(D), HI(D));
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "for draws");
	test_fini(t);
}

/* As a card does whose registers are shadowed in memory. */
static void test_graphics_state(void)
{
	struct test_gpu gpu, *t = &gpu;

	test_init(t, "gfx906", ENGINE_GFX, false, 0);
	set32(t, 4096 + 4 * 0x240, 77);
	EMIT(t, PM4(PM4_LOAD_SH_REG, 4), LO(D + 4096), HI(D), 0x240, 1);
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100500, 0x2c00 + 0x240, 0, LO(D), HI(D));
	EMIT(t, PM4(PM4_LOAD_CONTEXT_REG, 4), LO(D + 4096), HI(D), 0x10, 4);
	EMIT(t, PM4(PM4_SET_CONTEXT_REG_INDEX, 2), 2u << 28 | 0x2aa, 1);
	EMIT(t, PM4(PM4_EVENT_WRITE, 3), 0x00000115, LO(D + 68), HI(D)); /* ZPASS_DONE: of 64 on */
	EMIT(t, PM4(0x2f, 1), 1, PM4(0x2a, 1), 0);                       /* NUM_INSTANCES, INDEX_TYPE */
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 77);
	CHECK_EQ(data64(t, 64), 1ull << 63);
	CHECK_EQ(data64(t, 72), 0);
	EMIT(t, PM4(PM4_LOAD_SH_REG, 4), LO(D + 4096), HI(D), 0x3ff, 2);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "leave the window");
	EMIT(t, PM4(PM4_SET_BASE, 3), 1, LO(D), HI(D));
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	test_fini(t);
	test_init(t, "gfx908", ENGINE_COMPUTE, false, 0);
	EMIT(t, PM4(PM4_SET_BASE, 3), 1, LO(D), HI(D));
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "only the graphics ring");
	EMIT(t, PM4(PM4_WAIT_REG_MEM64, 8), 0x13, LO(D), HI(D), 0, 0, 0, 0, 4);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "opcode 0x93 is unknown to this generation");
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00300500, LO(D), HI(D), 1); /* bit 21: of GFX12 */
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	test_fini(t);
}

/* row 97: what one packet can make the CP do takes its time, so that the watchdog sees it. */
static void test_long_packets(void)
{
	struct test_gpu gpu, *t = &gpu;

	test_init(t, "gfx906", ENGINE_GFX, false, 0);
	t->watchdog_ns = 100000;
	EMIT(t, PM4(PM4_DMA_DATA, 6), 0x80000000, LO(D), HI(D), LO(D + (8u << 20)), HI(D), 4u << 20);
	EXPECT(test_run(t), ENGINE_HANG, 0, "in DMA_DATA");
	EMIT(t, PM4(PM4_LOAD_UCONFIG_REG, 2 + 2 * 100), LO(D), HI(D));
	for (unsigned n = 0; n < 100; n++)
		EMIT(t, 0, 0x3fff);
	EXPECT(test_run(t), ENGINE_HANG, 0, "in registers from memory");
	test_fini(t);
}

static void test_null_device(void)
{
	struct test_gpu gpu, *t = &gpu;
	uint64_t begin;

	test_init(t, "gfx908", ENGINE_COMPUTE, true, 2000000);
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(D), HI(D), 7, ~0u, 4);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4), 1, 1, 1, 5);
	EMIT(t, PM4(PM4_DMA_DATA, 6), 0xc0000000, 1, 0, LO(D + 128), HI(D), 64);
	EMIT(t, PM4(PM4_ATOMIC_MEM, 8), 0x270, LO(D + 64), HI(D), 1, 0, 0, 0, 0);
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), 0x00088514, 0x43000000, LO(D + 8), HI(D), 0x55, 0, 0);
	set64(t, 64, 5);
	begin = now_ns();
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK(now_ns() - begin >= 2000000);
	CHECK_EQ(data64(t, 8), 0x55);
	CHECK_EQ(data64(t, 64), 4);
	CHECK_EQ(data32(t, 128), 0);
	test_fini(t);
}

int main(void)
{
	struct test_gpu gpu;

	vgpu_strict_set(VGPU_STRICT_REPORT);
	test_init(&gpu, "gfx908", ENGINE_COMPUTE, false, 0);
	test_write_data(&gpu);
	test_release_mem(&gpu);
	test_copy_data(&gpu);
	test_atomic_mem(&gpu);
	test_conditions(&gpu);
	test_dma_data(&gpu);
	gpu.watchdog_ns = 1000000000;
	test_wait(&gpu);
	test_wait_for_ever(&gpu);
	test_kill(&gpu);
	test_begin_anew(&gpu);
	test_chain(&gpu);
	test_executable("gfx900", ENGINE_COMPUTE, true);
	test_executable("gfx942", ENGINE_COMPUTE, true);
	test_executable("gfx1100", ENGINE_COMPUTE, true);
	test_executable("gfx906", ENGINE_GFX, false);
	test_executable("gfx906", ENGINE_DMA, false);
	test_cond_indirect(&gpu);
	test_bad_buffers(&gpu);
	test_bad_packets(&gpu);
	test_refused(&gpu);
	test_samples(&gpu);
	test_fini(&gpu);
	test_graphics_state();
	test_predication();
	test_gfx_ring();
	test_constant_engine();
	test_long_packets();
	test_null_device();
	return check_done("packets of the compute ring");
}
