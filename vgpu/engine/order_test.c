/* The order checker: each edge, without which two accesses race and with which they do not. Jobs run one after the
 * other here; only what orders them counts. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "vgpu/engine/regs.h"
#include "vgpu/engine/test_gpu.h"
#include "vgpu/isa/test_code.h"

#define D      TEST_DATA_VA
#define DATA   (D + 4096) /* what they share; each test has its own */
#define FLAG   (D + (1u << 20))
#define ELSE   (D + (2u << 20))  /* nobody else's */
#define GTT    0x710000000000ull /* the data once more, as system memory */
#define RINGS  3
#define SECOND 4096 /* dwords: where another ring's IB begins */

/* s[0:1] data, s[2:3] flag, s4 a value; 256 bytes apart, in this order. */
enum { READ, WRITE, PUBLISH, CONSUME, COUNT, BYTE, LOAD_COUNT, FORWARD };
static const char source[] =
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n global_load_dword v1, v0, s[0:1]\n s_waitcnt vmcnt(0)\n s_endpgm\n"
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n v_mov_b32 v1, s4\n global_store_dword v0, v1, s[0:1]\n s_endpgm\n"
	/* writes, then counts the flag up */
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n v_mov_b32 v1, s4\n global_store_dword v0, v1, s[0:1]\n"
	" s_waitcnt vmcnt(0)\n v_mov_b32 v2, 0\n v_mov_b32 v3, 1\n global_atomic_add v2, v3, s[2:3]\n s_endpgm\n"
	/* looks at the flag, then reads */
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n v_mov_b32 v2, 0\n global_load_dword v3, v2, s[2:3] glc\n"
	" s_waitcnt vmcnt(0)\n global_load_dword v1, v0, s[0:1]\n s_waitcnt vmcnt(0)\n s_endpgm\n"
	".p2align 8\n v_mov_b32 v0, 0\n v_mov_b32 v1, s4\n global_atomic_add v0, v1, s[0:1]\n s_endpgm\n"
	".p2align 8\n v_mov_b32 v0, s4\n v_mov_b32 v1, s4\n s_mov_b64 exec, 1\n"
	" global_store_byte v0, v1, s[0:1]\n s_endpgm\n"
	".p2align 8\n v_mov_b32 v0, 0\n global_load_dword v1, v0, s[0:1]\n s_waitcnt vmcnt(0)\n s_endpgm\n"
	/* says that it is there, looks at a flag, and says so */
	".p2align 8\n v_mov_b32 v0, 0\n v_mov_b32 v1, 1\n global_atomic_add v0, v1, s[2:3]\n"
	" global_load_dword v2, v0, s[0:1] glc\n s_waitcnt vmcnt(0)\n global_atomic_add v0, v1, s[2:3]\n s_endpgm\n";

static struct test_gpu gpu;
static struct engine_ring *rings[RINGS]; /* two of COMPUTE, one of SDMA */
static struct mem_clock *nothing;        /* what the CPU had seen before the test */
static uint64_t seq;

/* --- what was found --- */

static char log_name[] = "/tmp/order_test.XXXXXX";
static char last[1024]; /* the last finding */

static void read_log(void)
{
	static long from;
	FILE *f = fopen(log_name, "r");
	char line[1024];

	fseek(f, from, SEEK_SET);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "finding"))
			snprintf(last, sizeof(last), "%s", line);
	from = ftell(f);
	fclose(f);
}

static unsigned long found;

static void begin(void)
{
	engine_forget(nothing);
	nothing = engine_seen();
	found = vgpu_findings();
	last[0] = 0;
}

/* One finding of that row; 0: none. */
static void expect_at(int line, unsigned row)
{
	char head[64];

	read_log();
	snprintf(head, sizeof(head), "row %u:", row);
	check_(vgpu_findings() - found == (row != 0) && (!row || strstr(last, head)), __FILE__, line,
	       "what is found is what is wrong");
	if (vgpu_findings() - found != (row != 0))
		printf("  %lu findings, the last: %s\n", vgpu_findings() - found, last);
}
#define FOUND(row) expect_at(__LINE__, row)

/* --- jobs --- */

static void launch(unsigned kernel, uint64_t data, uint64_t flag, uint32_t value)
{
	struct test_gpu *t = &gpu;
	uint64_t entry = TEST_CODE_VA + 256u * kernel;
	const uint32_t rsrc1 = 1 | 1 << 6 | 0xc0 << 12, rsrc2 = 5 << 1; /* 8 VGPRs, 16 SGPRs, 5 of the user */

	EMIT(t, PM4(PM4_SET_SH_REG, 7), COMPUTE_START_X, 0, 0, 0, 64, 1, 1);
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_PGM_LO, LO(entry >> 8), HI(entry >> 8));
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_PGM_RSRC1, rsrc1, rsrc2);
	EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_RESOURCE_LIMITS, 0);
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_STATIC_THREAD_MGMT_SE0, ~0u, ~0u);
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_STATIC_THREAD_MGMT_SE2, ~0u, ~0u);
	EMIT(t, PM4(PM4_SET_SH_REG, 5), COMPUTE_STATIC_THREAD_MGMT_SE4, ~0u, ~0u, ~0u, ~0u);
	EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_TMPRING_SIZE, 0);
	EMIT(t, PM4(PM4_SET_SH_REG, 6), COMPUTE_USER_DATA_0, LO(data), HI(data), LO(flag), HI(flag), value);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4) | PM4_SHADER_TYPE, 1, 1, 1, 5);
}

static void flush(void)
{
	EMIT(&gpu, PM4(PM4_EVENT_WRITE, 1), 0x00000407);
}

static void write_data(uint64_t va, uint32_t value)
{
	EMIT(&gpu, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(va), HI(va), value);
}

static void release(uint64_t va, uint32_t value)
{
	EMIT(&gpu, PM4(PM4_RELEASE_MEM, 7), 0x00088514, 0x23000000, LO(va), HI(va), value, 0, 0);
}

static void wait_for(uint64_t va, uint32_t value)
{
	EMIT(&gpu, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(va), HI(va), value, ~0u, 4);
}

static void copy(uint64_t to, uint64_t from)
{
	EMIT(&gpu, SDMA_COPY, 255, 0, LO(from), HI(from), LO(to), HI(to));
}

static void fence(uint64_t va, uint32_t value)
{
	EMIT(&gpu, SDMA_FENCE, LO(va), HI(va), value);
}

static void poll(uint64_t va, uint32_t value)
{
	EMIT(&gpu, SDMA_POLL_REGMEM | 3u << 28 | 1u << 31, LO(va), HI(va), value, ~0u, 0x0fff0004);
}

/* Runs what was emitted on a queue of its own for each ring. after: which job it depends on; 0: none. The CPU had
 * seen what `seen` says when it submitted. Returns the job. */
static struct mem_after run_seen(unsigned ring, const struct mem_after *after, struct mem_clock *seen)
{
	struct engine_ib ib = {.va = TEST_IB_VA};
	struct engine_job job = {.view = &gpu.view, .ib = &ib, .ib_count = 1, .watchdog_ns = gpu.watchdog_ns};

	while (gpu.dw % 8)
		EMIT(&gpu, rings[ring] == rings[2] ? 0 : PM4_NOP_1DW);
	ib.size_B = 4 * gpu.dw;
	job.queue = 100 + ring;
	job.seq = ++seq;
	job.after = after;
	job.after_count = after != NULL;
	job.seen = seen;
	job.fault = test_on_fault;
	job.user = &gpu;
	gpu.ring = rings[ring];
	CHECK_EQ(test_execute(&gpu, &job), ENGINE_DONE);
	gpu.dw = 0;
	return (struct mem_after){job.queue, job.seq};
}

static struct mem_after run(unsigned ring, const struct mem_after *after)
{
	return run_seen(ring, after, nothing);
}

/* --- two rings --- */

static uint64_t fresh(void)
{
	static uint64_t next = DATA;

	return next += 4096;
}

/* row 82: reading after writing, writing after reading, writing twice */
static void two_rings_need_an_order(void)
{
	const unsigned first[] = {WRITE, READ, WRITE}, second[] = {READ, WRITE, WRITE};
	struct mem_after job;
	struct mem_clock *seen;

	for (unsigned n = 0; n < 3; n++) {
		uint64_t data = fresh();

		begin();
		launch(first[n], data, FLAG, 1);
		run(0, NULL);
		launch(second[n], data, FLAG, 2);
		run(1, NULL);
		FOUND(82);
		data = fresh();
		begin();
		launch(first[n], data, FLAG, 1);
		job = run(0, NULL);
		launch(second[n], data, FLAG, 2);
		run(1, &job); /* a dependency */
		FOUND(0);
		data = fresh();
		begin();
		launch(first[n], data, FLAG, 1);
		run(0, NULL);
		launch(second[n], data, FLAG, 2);
		seen = engine_seen();
		run_seen(1, NULL, seen); /* the CPU may have waited for the first */
		engine_forget(seen);
		FOUND(0);
	}
}

static void reading_twice_is_no_race(void)
{
	uint64_t data = fresh();

	begin();
	launch(READ, data, FLAG, 0);
	run(0, NULL);
	launch(READ, data, FLAG, 0);
	run(1, NULL);
	FOUND(0);
}

/* row 82: and the finding names both packets, jobs, rings and the address */
static void both_are_named(void)
{
	uint64_t data = fresh();
	char va[32];

	begin();
	launch(WRITE, data, FLAG, 1);
	run(0, NULL);
	launch(READ, data, FLAG, 0);
	run(1, NULL);
	FOUND(82);
	snprintf(va, sizeof(va), "reads 0x%llx", (unsigned long long)data);
	CHECK(strstr(last, va));
	CHECK(strstr(last, "DISPATCH_DIRECT at dword 43 of IB 0 of job"));
	CHECK(strstr(last, "compute 1 reads"));
	CHECK(strstr(last, "compute 0 writes"));
}

/* row 82: words that packets hand on */
static void packets_hand_on(void)
{
	uint64_t data = fresh();

	begin();
	launch(WRITE, data, FLAG, 1);
	release(FLAG + 64, 1);
	run(0, NULL);
	wait_for(FLAG + 64, 1);
	launch(READ, data, FLAG, 0);
	run(1, NULL);
	FOUND(0);
	/* WRITE_DATA does not wait for the waves. */
	data = fresh();
	begin();
	launch(WRITE, data, FLAG, 1);
	write_data(FLAG + 128, 1);
	run(0, NULL);
	wait_for(FLAG + 128, 1);
	launch(READ, data, FLAG, 0);
	run(1, NULL);
	FOUND(82);
	data = fresh();
	begin();
	launch(WRITE, data, FLAG, 1);
	flush();
	write_data(FLAG + 192, 1);
	run(0, NULL);
	wait_for(FLAG + 192, 1);
	launch(READ, data, FLAG, 0);
	run(1, NULL);
	FOUND(0);
	/* Another word hands nothing on. */
	data = fresh();
	begin();
	write_data(FLAG + 256, 1);
	launch(WRITE, data, FLAG, 1);
	release(FLAG + 264, 1);
	run(0, NULL);
	wait_for(FLAG + 256, 1);
	launch(READ, data, FLAG, 0);
	run(1, NULL);
	FOUND(82);
}

/* row 82 */
static void copies_need_an_order(void)
{
	uint64_t data = fresh();

	begin();
	copy(data, ELSE);
	run(2, NULL);
	launch(READ, data, FLAG, 0);
	run(0, NULL);
	FOUND(82);
	data = fresh();
	begin();
	copy(data, ELSE);
	fence(FLAG + 512, 1);
	run(2, NULL);
	wait_for(FLAG + 512, 1);
	launch(READ, data, FLAG, 0);
	run(0, NULL);
	FOUND(0);
	data = fresh();
	begin();
	launch(WRITE, data, FLAG, 1);
	release(FLAG + 576, 1);
	run(0, NULL);
	poll(FLAG + 576, 1);
	copy(ELSE + 4096, data);
	run(2, NULL);
	FOUND(0);
	data = fresh();
	begin();
	launch(WRITE, data, FLAG, 1);
	run(0, NULL);
	copy(ELSE + 8192, data);
	run(2, NULL);
	FOUND(82);
}

/* row 81: who has released a word, and releases it again, hands on what it learned in between. */
static void later_news_are_handed_on(void)
{
	uint64_t data = fresh(), one = FLAG + 4096, other = FLAG + 8192;

	begin();
	launch(PUBLISH, data, one, 1);
	run(0, NULL);
	launch(FORWARD, one, other, 0);
	run(1, NULL);
	launch(CONSUME, data, other, 0);
	run(0, NULL);
	FOUND(0);
	/* Nobody forwards. */
	data = fresh();
	begin();
	launch(PUBLISH, data, one, 1);
	run(0, NULL);
	launch(CONSUME, data, other + 64, 0);
	run(0, NULL);
	FOUND(81);
}

/* row 82: atomics and coherent loads */
static void waves_hand_on(void)
{
	uint64_t data = fresh();

	begin();
	launch(PUBLISH, data, FLAG + 1024, 1);
	run(0, NULL);
	launch(CONSUME, data, FLAG + 1024, 0);
	run(1, NULL);
	FOUND(0);
	data = fresh();
	begin();
	launch(PUBLISH, data, FLAG + 1088, 1);
	run(0, NULL);
	launch(CONSUME, data, FLAG + 1152, 0); /* another flag */
	run(1, NULL);
	FOUND(82);
	/* Atomics do not race with each other, but with others' loads. */
	data = fresh();
	begin();
	launch(COUNT, data, FLAG, 1);
	run(0, NULL);
	launch(COUNT, data, FLAG, 1);
	run(1, NULL);
	FOUND(0);
	data = fresh();
	begin();
	launch(COUNT, data, FLAG, 1);
	run(0, NULL);
	launch(LOAD_COUNT, data, FLAG, 0);
	run(1, NULL);
	FOUND(82);
}

static void bytes_of_a_dword_are_apart(void)
{
	uint64_t data = fresh();

	begin();
	launch(BYTE, data, FLAG, 1);
	run(0, NULL);
	launch(BYTE, data, FLAG, 2);
	run(1, NULL);
	FOUND(0);
}

/* --- one ring --- */

/* row 81 */
static void dispatches_need_a_flush(void)
{
	uint64_t data = fresh();

	begin();
	launch(WRITE, data, FLAG, 1);
	launch(READ, data, FLAG, 0);
	run(0, NULL);
	FOUND(81);
	data = fresh();
	begin();
	launch(WRITE, data, FLAG, 1);
	flush();
	launch(READ, data, FLAG, 0);
	run(0, NULL);
	FOUND(0);
	/* The end of the pipe tells others; the packets behind it do not wait. */
	data = fresh();
	begin();
	launch(WRITE, data, FLAG, 1);
	release(FLAG + 2048, 1);
	launch(READ, data, FLAG, 0);
	run(0, NULL);
	FOUND(81);
	data = fresh();
	begin();
	launch(WRITE, data, FLAG, 1);
	release(FLAG + 2112, 1);
	wait_for(FLAG + 2112, 1);
	launch(READ, data, FLAG, 0);
	run(0, NULL);
	FOUND(0);
}

/* row 81 */
static void packets_and_waves_need_a_flush(void)
{
	uint64_t data = fresh();

	begin();
	write_data(data, 7); /* a dispatch begins behind the packets before it */
	launch(READ, data, FLAG, 0);
	run(0, NULL);
	FOUND(0);
	begin();
	launch(READ, data, FLAG, 0);
	write_data(data, 8);
	run(0, NULL);
	FOUND(81);
	data = fresh();
	begin();
	launch(WRITE, data, FLAG, 1);
	release(data, 2); /* at the end of the pipe */
	run(0, NULL);
	FOUND(0);
}

/* row 81: jobs of a ring overlap */
static void jobs_need_a_flush(void)
{
	uint64_t data = fresh();
	struct mem_after job;

	begin();
	launch(WRITE, data, FLAG, 1);
	run(0, NULL);
	launch(READ, data, FLAG, 0);
	run(0, NULL);
	FOUND(81);
	data = fresh();
	begin();
	launch(WRITE, data, FLAG, 1);
	run(0, NULL);
	flush();
	launch(READ, data, FLAG, 0);
	run(0, NULL);
	FOUND(0);
	data = fresh();
	begin();
	launch(WRITE, data, FLAG, 1);
	job = run(0, NULL);
	launch(READ, data, FLAG, 0);
	run(0, &job); /* a pipeline sync */
	FOUND(0);
}

/* An order travels: the first ring to the second, that to the third. */
static void order_travels(void)
{
	uint64_t data = fresh();
	struct mem_after job;

	begin();
	launch(WRITE, data, FLAG, 1);
	job = run(0, NULL);
	write_data(FLAG + 3072, 1);
	run(1, &job);
	poll(FLAG + 3072, 1);
	copy(ELSE, data);
	run(2, NULL);
	FOUND(0);
}

/* --- the CPU's stores to VRAM --- */

/* Many stores: a look falls between some of them, whatever the machine does besides. */
static void *write_word(void *arg)
{
	uint32_t *word = arg;

	for (uint32_t value = 1; value < 100; value++) {
		__atomic_store_n(word, value, __ATOMIC_RELEASE);
		usleep(2000);
	}
	__atomic_store_n(word, 1000, __ATOMIC_RELEASE);
	return NULL;
}

static void poll_while_written(uint64_t va)
{
	uint32_t *word = (uint32_t *)(void *)(gpu.data + (va & (TEST_DATA_B - 1)));
	pthread_t thread;

	begin();
	*word = 0;
	pthread_create(&thread, NULL, write_word, word);
	wait_for(va, 1000);
	run(0, NULL);
	pthread_join(thread, NULL);
	read_log();
}

/* row 88 */
static void stores_to_vram_need_a_flush(void)
{
	uint64_t word = fresh();

	poll_while_written(word);
	CHECK(vgpu_findings() > found);
	CHECK(strstr(last, "row 88: WAIT_REG_MEM at dword 0"));
	poll_while_written(GTT + (fresh() & (TEST_DATA_B - 1)));
	FOUND(0); /* not there */
	word = fresh();
	write_data(word, 0);
	run(1, NULL);
	poll_while_written(word);
	FOUND(0); /* nor where it may have been the GPU */
}

int main(void)
{
	int fd = mkstemp(log_name);
	struct test_elf elf = {0};

	close(fd);
	if (!CHECK(test_assemble("gfx908", source, &elf)))
		return check_done("order of accesses");
	setenv("TUFF_VGPU_LOG", log_name, 1);
	vgpu_strict_set(VGPU_STRICT_OFF);
	vgpu_set(VGPU_ORDER, true);
	test_init(&gpu, "gfx908", ENGINE_COMPUTE, false, 0);
	test_region(&gpu, GTT, TEST_DATA_B, gpu.data, GPUVM_R | GPUVM_W | GPUVM_SYSTEM);
	rings[0] = gpu.ring;
	rings[1] = engine_ring_create(gpu.dev, ENGINE_COMPUTE, 0, 1);
	rings[2] = engine_ring_create(gpu.dev, ENGINE_DMA, 0, 0);
	memcpy(gpu.code, elf.data + test_section(&elf, ".text")->sh_offset, test_section(&elf, ".text")->sh_size);
	two_rings_need_an_order();
	reading_twice_is_no_race();
	both_are_named();
	packets_hand_on();
	copies_need_an_order();
	waves_hand_on();
	later_news_are_handed_on();
	bytes_of_a_dword_are_apart();
	dispatches_need_a_flush();
	packets_and_waves_need_a_flush();
	jobs_need_a_flush();
	order_travels();
	stores_to_vram_need_a_flush();
	engine_forget(nothing);
	engine_ring_destroy(rings[1]);
	engine_ring_destroy(rings[2]);
	gpu.ring = rings[0];
	test_fini(&gpu);
	unlink(log_name);
	free(elf.data);
	return check_done("order of accesses");
}
