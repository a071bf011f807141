/* Kernels that clang made, launched by hand-written PM4: the way from registers to waves and back. */
#include <pthread.h>
#include <time.h>

#include "vgpu/engine/test_launch.h"
#include "vgpu/host_time.h"

static const char source[] =
	"#define KERNEL extern \"C\" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 1024)))\n"
	"#define shared __attribute__((shared))\n"
	"#define X __builtin_amdgcn_workitem_id_x()\n"
	"#define Y __builtin_amdgcn_workitem_id_y()\n"
	"#define Z __builtin_amdgcn_workitem_id_z()\n"
	"#define GX __builtin_amdgcn_workgroup_id_x()\n"
	"#define GY __builtin_amdgcn_workgroup_id_y()\n"
	"#define GZ __builtin_amdgcn_workgroup_id_z()\n"
	"KERNEL void add(const float *a, const float *b, float *c) {\n"
	"  unsigned i = GX * 64 + X; c[i] = a[i] + b[i]; }\n"
	"KERNEL void reduce(const unsigned *in, unsigned *out) {\n"
	"  shared unsigned sum[256]; sum[X] = in[GX * 256 + X];\n"
	"  for (unsigned n = 128; n; n /= 2) { __builtin_amdgcn_fence(5, \"workgroup\"); __builtin_amdgcn_s_barrier();\n"
	"    if (X < n) sum[X] += sum[X + n]; }\n"
	"  if (!X) out[GX] = sum[0]; }\n"
	"KERNEL void count(unsigned *n, unsigned long *wide) {\n"
	"  __atomic_fetch_add(n, 1, 0); __atomic_fetch_add(wide, X, 0); }\n"
	"KERNEL void ids(unsigned *out, unsigned w, unsigned h) {\n" /* groups of 8 x 4 x 2 */
	"  unsigned x = GX * 8 + X, y = GY * 4 + Y, z = GZ * 2 + Z;\n"
	"  __atomic_fetch_add(&out[(z * h + y) * w + x], 1 + x + 100 * y + 10000 * z, 0); }\n"
	"__attribute__((device)) __attribute__((noinline)) unsigned walk(volatile unsigned *p, unsigned n) {\n"
	"  unsigned s = 0; for (unsigned i = 0; i < n; i++) s += p[i] * (i + 1); return s; }\n"
	"KERNEL void stack(unsigned *out) {\n"
	"  volatile unsigned own[16]; for (unsigned i = 0; i < 16; i++) own[i] = GX * 64 + X + i;\n"
	"  out[GX * 64 + X] = walk(own, 16); }\n"
	"KERNEL void hold(volatile unsigned *p) {\n"
	"  volatile unsigned own[64]; own[X] = X; while (p[65536] != 77) own[X]++; p[X] = own[X]; }\n"
	"KERNEL void meet(unsigned *arrived, unsigned *out, unsigned groups) {\n"
	"  if (!X) { __atomic_fetch_add(arrived, 1, 5); while (__atomic_load_n(arrived, 5) < groups); }\n"
	"  __builtin_amdgcn_s_barrier(); out[GX * 128 + X] = 1; }\n"
	"KERNEL void gws_init(unsigned value, unsigned of) { __builtin_amdgcn_ds_gws_init(value, of); }\n"
	"KERNEL void gws_meet(unsigned *arrived, unsigned *out, unsigned groups, unsigned of) {\n"
	"  for (unsigned round = 1; round <= 5; round++) {\n"
	"    if (!X) { __atomic_fetch_add(arrived, 1, 5); __builtin_amdgcn_ds_gws_barrier(groups - 1, of); }\n"
	"    __builtin_amdgcn_s_barrier();\n"
	"    if (!X) { if (__atomic_load_n(arrived, 5) == groups * round) out[GX]++;\n"
	"      __builtin_amdgcn_ds_gws_barrier(groups - 1, of); } } }\n"
	"KERNEL void gws_turns(unsigned *n, unsigned *wrong) {\n"
	"  __builtin_amdgcn_ds_gws_sema_p(0);\n"
	"  if (!X) { unsigned was = __atomic_load_n(n, 5);\n"
	"    __atomic_store_n(n, was + 1, 5); for (unsigned i = 0; i < 3; i++) __builtin_amdgcn_s_sleep(1);\n"
	"    if (__atomic_load_n(n, 5) != was + 1) __atomic_fetch_add(wrong, 1, 5); }\n"
	"  __builtin_amdgcn_ds_gws_sema_v(0); }\n"
	"KERNEL void gws_gate(unsigned *n) {\n"
	"  if (GX) { __builtin_amdgcn_ds_gws_sema_p(0); __atomic_fetch_add(n, 1, 5); }\n"
	"  else __builtin_amdgcn_ds_gws_sema_br(9, 0); }\n"
	"KERNEL void loop(volatile unsigned *p) { for (;;) if (*p == 77) return; }\n"
	"KERNEL void early(unsigned *out) { if (__builtin_amdgcn_readfirstlane(X) < 64) return;\n"
	"  __builtin_amdgcn_s_barrier(); out[X] = 1; }\n"
	"KERNEL void spin(unsigned *p) { for (unsigned n = 0;; n++) asm volatile(\"s_nop 0\"); }\n"
	"KERNEL void bad(unsigned *p) { if (GX == 3) asm volatile(\".long 0xbfa00000\"); p[GX] = 1; }\n"
	"KERNEL void wild(unsigned *p, unsigned *out) { out[X] = 5 + *(volatile unsigned *)(p + X); p[X] = 9; }\n"
	"KERNEL void gemm(const float *a, const float *b, float *c, unsigned n) {\n"
	"  unsigned x = GX * 16 + X, y = GY * 16 + Y; float s = 0;\n"
	"  for (unsigned k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x]; c[y * n + x] = s; }\n";

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- what kernels compute --- */

static void test_add(struct test_gpu *t)
{
	float *a = (float *)(void *)t->data, *b = a + 65536, *c = b + 65536;
	unsigned bad = 0;

	for (unsigned n = 0; n < 65536; n++) {
		a[n] = (float)n;
		b[n] = (float)n * 0.5f;
		c[n] = -1;
	}
	EXPECT(LAUNCH("add", {1000}, {64}, .args = {D, D + 262144, D + 524288}), ENGINE_DONE, 0, NULL);
	for (unsigned n = 0; n < 65536; n++)
		bad += c[n] != (n < 64000 ? (float)n * 1.5f : -1.0f);
	CHECK_EQ(bad, 0);
}

static void test_reduce(struct test_gpu *t)
{
	uint32_t *in = (uint32_t *)(void *)t->data, *out = in + 65536, bad = 0;

	for (unsigned n = 0; n < 65536; n++)
		in[n] = n;
	EXPECT(LAUNCH("reduce", {256}, {256}, .args = {D, D + 262144}), ENGINE_DONE, 0, NULL);
	for (unsigned group = 0; group < 256; group++)
		bad += out[group] != 256 * (256 * group) + 255 * 128;
	CHECK_EQ(bad, 0);
}

static void test_count(struct test_gpu *t)
{
	set64(t, 0, 0);
	set64(t, 8, 0);
	EXPECT(LAUNCH("count", {100}, {200}, .args = {D, D + 8}), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 20000);
	CHECK_EQ(data64(t, 8), 100 * 199 * 100);
}

/* A grid of 21 x 10 x 3 in groups of 8 x 4 x 2, by both ways to say so. */
static void check_ids(const struct test_gpu *t)
{
	const uint32_t *out = (const uint32_t *)(const void *)t->data;
	unsigned bad = 0;

	for (unsigned z = 0; z < 4; z++)
		for (unsigned y = 0; y < 10; y++)
			for (unsigned x = 0; x < 21; x++)
				bad += out[(z * 10 + y) * 21 + x] != (z < 3 ? 1 + x + 100 * y + 10000 * z : 0);
	CHECK_EQ(bad, 0);
}

static void test_ids(struct test_gpu *t)
{
	const uint64_t args[2] = {D, 21 | 10ull << 32};

	memset(t->data, 0, 65536);
	EXPECT(LAUNCH("ids", {3, 3, 2}, {8, 4, 2}, {5, 2, 1}, 7, .args = {args[0], args[1]}), ENGINE_DONE, 0, NULL);
	check_ids(t);
	memset(t->data, 0, 65536);
	EXPECT(LAUNCH("ids", {21, 10, 3}, {8, 4, 2}, .initiator = 0x25, .args = {args[0], args[1]}), ENGINE_DONE, 0,
	       NULL);
	check_ids(t);
	/* A partial size of 0 is a mistake; the group is taken as full. */
	memset(t->data, 0, 65536);
	EXPECT(LAUNCH("ids", {1, 1, 1}, {8, 4, 2}, {8, 4, 0}, 7, .args = {args[0], args[1]}), ENGINE_DONE, 1, NULL);
	EXPECT(LAUNCH("ids", {0, 1, 1}, {8, 4, 2}, .args = {args[0], args[1]}), ENGINE_DONE, 0, NULL);
}

/* row 91 */
static void test_stack(struct test_gpu *t)
{
	const uint32_t *out = (const uint32_t *)(const void *)t->data;
	unsigned bad = 0;
	struct kernel k;

	EXPECT(LAUNCH("stack", {50}, {64}, .args = {D}, .waves = 16), ENGINE_DONE, 0, NULL);
	for (unsigned n = 0; n < 3200; n++) {
		uint32_t sum = 0;

		for (unsigned i = 0; i < 16; i++)
			sum += (n + i) * (i + 1);
		bad += out[n] != sum;
	}
	CHECK_EQ(bad, 0);
	if (!(find("stack").rsrc2 & RSRC2_SCRATCH_EN))
		return;
	EXPECT(LAUNCH("stack", {1}, {256}, .args = {D}, .waves = 3), ENGINE_HANG, chip_row->engines > 1 ? 2 : 1,
	       "none starts");
	/* So many waves do not fit into the descriptor, where there is one, nor into what is mapped. */
	k = find("stack");
	CHECK(4088ull * wave_B(&k) > SCRATCH_B);
	EXPECT(LAUNCH("stack", {1}, {64}, .args = {D}, .waves = 4088), ENGINE_DONE,
	       chip_row->flat_scratch_given ? 1 : 2, NULL);
}

/* row 116: scratch of one size is in use when a dispatch comes that cuts it up in another way */
static void test_stack_changes(struct test_gpu *t)
{
	const struct launch hold = {"hold", {1}, {64}, .args = {D}, .waves = 16, .no_wait = true};
	const struct launch stack = {"stack", {1}, {64}, .args = {D}, .waves = 16, .no_wait = true};
	struct kernel k = find("stack"), other = find("hold");

	if (!(k.rsrc2 & RSRC2_SCRATCH_EN))
		return;
	CHECK(wave_B(&k) != wave_B(&other));
	set32(t, 262144, 0);
	emit_launch(t, &hold);
	emit_launch(t, &stack);
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(D + 262144), HI(D + 262144), 77);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	emit_launch(t, &hold);
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x00000407); /* its waves have ended */
	emit_launch(t, &stack);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
}

/* --- how they are scheduled --- */

/* All workgroups wait for all others: as many as the chip holds must run at once. */
static void test_meet(struct test_gpu *t)
{
	unsigned groups = chip_row->cus_active * 4u;
	double begin = now_s();

	set32(t, 0, 0);
	memset(t->data + 4096, 0, 4 * 128 * groups);
	EXPECT(LAUNCH("meet", {groups}, {128}, .args = {D, D + 4096, groups}, .waves = 2 * groups), ENGINE_DONE, 0,
	       NULL);
	CHECK_EQ(data32(t, 4096 + 4 * (128 * groups - 1)), 1);
	printf("  %u workgroups met after %.2f s\n", groups, now_s() - begin);
}

/* rows 161 and 162: kernels with scratch, three waves a group, four slots in each shader engine */
static void test_slots_of_engines(struct test_gpu *t)
{
	unsigned engines = chip_row->engines, waves = 4 * engines;

	if (!(find("meet").rsrc2 & RSRC2_SCRATCH_EN))
		return;
	EXPECT(LAUNCH("meet", {1}, {256}, .args = {D, D + 4096, 1}, .waves = waves), ENGINE_DONE, 0, NULL);
	EXPECT(LAUNCH("meet", {1}, {257}, .args = {D, D + 4096, 1}, .waves = waves), ENGINE_HANG, 1,
	       "scratch for 4 waves in each shader engine, but a workgroup has 5");
	set32(t, 0, 0);
	EXPECT(LAUNCH("meet", {engines}, {192}, .args = {D, D + 4096, engines}, .waves = waves), ENGINE_DONE, 0,
	       NULL);
	set32(t, 0, 0);
	t->watchdog_ns = 300000000;
	EXPECT(LAUNCH("meet", {engines + 1}, {192}, .args = {D, D + 4096, engines + 1}, .waves = waves),
	       ENGINE_WAVES, 0, "watchdog");
	t->watchdog_ns = 60000000000ull;
	CHECK(data32(t, 0) <= engines); /* fewer where the machine is busy */
}

static void *set_flag(void *arg)
{
	struct timespec t = {.tv_nsec = 50000000};

	nanosleep(&t, NULL);
	__atomic_store_n((uint32_t *)arg, 77, __ATOMIC_RELEASE);
	return NULL;
}

/* A kernel waits for the host, the CP for memory that a kernel writes. */
static void test_asynchronous(struct test_gpu *t)
{
	pthread_t thread;

	set32(t, 0, 0);
	pthread_create(&thread, NULL, set_flag, t->data);
	EXPECT(LAUNCH("loop", {1}, {64}, .args = {D}), ENGINE_DONE, 0, NULL);
	pthread_join(thread, NULL);
	/* The CP goes on beside the kernel: it sets the flag that the kernel waits for. */
	set32(t, 0, 0);
	emit_launch(t, &(struct launch){"loop", {4}, {64}, .args = {D}, .no_wait = true});
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(D), HI(D), 77);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	set64(t, 0, 0);
	emit_launch(t, &(struct launch){"count", {1}, {64}, .args = {D, D + 8}, .no_wait = true});
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(D), HI(D), 64, ~0u, 4);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
}

/* --- what goes wrong --- */

static void *kill_soon(void *ring)
{
	struct timespec t = {.tv_nsec = 50000000};

	nanosleep(&t, NULL);
	engine_kill(ring);
	return NULL;
}

/* rows 94, 97 */
static void test_watchdog(struct test_gpu *t)
{
	pthread_t thread;
	double begin = now_s();
	uint64_t given;

	t->watchdog_ns = 500000000;
	set32(t, 4 * 255, 0);
	EXPECT(LAUNCH("early", {1}, {256}, .args = {D}), ENGINE_DONE, 0, NULL); /* one wave ends, three meet */
	CHECK_EQ(data32(t, 4 * 255), 1);
	EXPECT(LAUNCH("spin", {1}, {64}, .args = {D}), ENGINE_WAVES, 0, "DISPATCH_DIRECT");
	printf("  0.5 s of an endless loop took %.2f s\n", now_s() - begin);
	set32(t, 0, 0);
	begin = now_s();
	given = vgpu_host_time_ns();
	EXPECT(LAUNCH("loop", {300}, {64}, .args = {D}), ENGINE_WAVES, 0, "watchdog");
	printf("  0.5 s of 300 polling workgroups took %.2f s\n", now_s() - begin);
	CHECK(vgpu_host_time_ns() - given < 10000000000u);
	/* So many that their number alone takes too long, and that they cannot be taken out one by one. */
	t->watchdog_ns = 100000;
	EXPECT(LAUNCH("early", {1u << 30, 1u << 30}, {64}, .args = {D}), ENGINE_WAVES, 0, "watchdog");
	t->watchdog_ns = 0;
	pthread_create(&thread, NULL, kill_soon, t->ring);
	EXPECT(LAUNCH("spin", {10}, {64}, .args = {D}), ENGINE_KILLED, 0, NULL);
	pthread_join(thread, NULL);
	t->watchdog_ns = 60000000000ull;
}

static void test_bad_code(struct test_gpu *t)
{
	EXPECT(LAUNCH("bad", {8}, {64}, .args = {D}), ENGINE_ILLEGAL, 0, "workgroup 3,0,0");
	CHECK(strstr(t->why, "bfa00000"));
	/* The code's mapping loses its X. */
	t->region[1].flags = GPUVM_R;
	EXPECT(LAUNCH("add", {1}, {64}, .args = {D, D, D}), ENGINE_WAVES, 0, "fetch");
	CHECK_EQ(t->fault.access, GPUVM_X);
	t->region[1].flags = GPUVM_R | GPUVM_X;
}

/* rows 27, 45 */
static void test_wild(struct test_gpu *t)
{
	EXPECT(LAUNCH("wild", {1}, {64}, .args = {TEST_HOLE_VA, D}), ENGINE_DONE, 0, NULL);
	CHECK(t->faults >= 2);
	CHECK_EQ(t->fault.va >> 12, TEST_HOLE_VA >> 12);
	CHECK_EQ(t->fault.client, GPUVM_TCP);
	CHECK_EQ(data32(t, 4), 5);
	EXPECT(LAUNCH("wild", {1}, {64}, .args = {TEST_UNLISTED, D}), ENGINE_DONE, 2, NULL);
	CHECK(t->faults >= 2 && t->fault.mapped);
}

/* rows 67, 95, 96 */
static void test_registers(struct test_gpu *t)
{
	unsigned long findings;

	EXPECT(LAUNCH("add", {1}, {64}, .args = {D, D, D}, .skip = SKIP_MASKS), ENGINE_DONE, chip_row->engines,
	       NULL);
	EXPECT(LAUNCH("add", {1}, {64}, .args = {D, D, D}, .skip = ZERO_MASKS), ENGINE_HANG, 1, "no compute unit");
	findings = vgpu_findings();
	/* Poisoned pointers lead nowhere, and who reads one is named. */
	CHECK_EQ(LAUNCH("add", {1}, {64}, .args = {D, D, D}, .skip = SKIP_USER_DATA), ENGINE_DONE);
	CHECK(vgpu_findings() > findings);
	CHECK(t->faults);
	EXPECT(LAUNCH("add", {1}, {1025}, .args = {D, D, D}), ENGINE_HANG, 1, "1024");
	t->watchdog_ns = 500000000;
	EXPECT(LAUNCH("add", {1u << 31, 1u << 31, 1}, {64}, .args = {D, D, D}), ENGINE_HANG, 1, "overflow");
	t->watchdog_ns = 60000000000ull;
	EXPECT(LAUNCH("add", {1}, {64}, .args = {D, D, D}, .initiator = 4), ENGINE_DONE, 1, NULL);
	EXPECT(LAUNCH("add", {1}, {64}, .args = {D, D, D}, .initiator = 0x8005), ENGINE_DONE, 1, NULL);
}

static void test_indirect(struct test_gpu *t)
{
	set64(t, 0, 0);
	set32(t, 64, 7);
	set32(t, 68, 1);
	set32(t, 72, 1);
	emit_launch(t, &(struct launch){"count", {0}, {64}, .args = {D, D + 8}});
	EMIT(t, PM4(PM4_DISPATCH_INDIRECT, 3), LO(D + 64), HI(D), 5);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 7 * 64);
}

/* SAMPLE_PIPELINESTAT counts the work-items that were launched between START and STOP. */
static void test_invocations(struct test_gpu *t)
{
	const struct launch l = {"count", {3}, {64}, .args = {D, D + 8}};

	SET(t, COMPUTE_PIPELINESTAT_ENABLE, 1);
	emit_launch(t, &l);
	EMIT(t, PM4(PM4_EVENT_WRITE, 3), 0x0000021e, LO(D + 1024), HI(D));
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x00000019);
	emit_launch(t, &l);
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x0000001a);
	emit_launch(t, &l);
	EMIT(t, PM4(PM4_EVENT_WRITE, 3), 0x0000021e, LO(D + 2048), HI(D));
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data64(t, 2048 + 80) - data64(t, 1024 + 80), 3 * 64);
}

static void test_speed(struct test_gpu *t)
{
	float *a = (float *)(void *)t->data, *b = a + 65536, *c = b + 65536;
	unsigned n = 128, bad = 0;
	double begin;

	for (unsigned i = 0; i < n * n; i++) {
		a[i] = (float)(i % 7);
		b[i] = (float)(i % 5);
	}
	begin = now_s();
	EXPECT(LAUNCH("gemm", {n / 16, n / 16}, {16, 16}, .args = {D, D + 262144, D + 524288, n}), ENGINE_DONE, 0,
	       NULL);
	printf("  SGEMM of %u^3 took %.1f ms\n", n, 1e3 * (now_s() - begin));
	for (unsigned y = 0; y < n; y++) {
		float sum = 0;

		for (unsigned k = 0; k < n; k++)
			sum += a[y * n + k] * b[k * n + 9];
		bad += c[y * n + 9] != sum;
	}
	CHECK_EQ(bad, 0);
	begin = now_s();
	for (unsigned i = 0; i < 1000; i++)
		emit_launch(t, &(struct launch){"add", {1}, {64}, .args = {D, D, D}});
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	printf("  1000 launches of one wave took %.2f ms\n", 1e3 * (now_s() - begin));
}

/* --- several rings --- */

struct second_ring {
	struct test_gpu gpu;
	enum engine_status status;
};

static void *run_second(void *arg)
{
	struct second_ring *s = arg;
	struct test_gpu *t = &s->gpu;

	emit_launch(t, &(struct launch){"loop", {64}, {64}, .args = {D}});
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(D + 64), HI(D), 1);
	s->status = test_run_at(t, TEST_IB_VA + TEST_IB_B / 2, PM4_NOP_1DW);
	return NULL;
}

/* The kernel of one ring waits for what the other ring writes after many launches of its own. */
static void test_two_rings(struct test_gpu *t)
{
	struct second_ring second = {.gpu = *t};
	pthread_t thread;

	second.gpu.ring = engine_ring_create(t->dev, ENGINE_COMPUTE, 0, 1);
	second.gpu.ib = t->ib + TEST_IB_B / 8;
	set64(t, 0, 0);
	set64(t, 64, 0);
	set64(t, 128, 0);
	/* Both rings find their arguments at one place: the first word of either kernel is the flag. */
	pthread_create(&thread, NULL, run_second, &second);
	for (unsigned n = 0; n < 20; n++) {
		for (unsigned i = 0; i < 8; i++)
			EMIT(t, PM4(PM4_ATOMIC_MEM, 8), 0x270 - 1, LO(D + 128), HI(D), 1, 0, 0, 0, 0);
		EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	}
	CHECK_EQ(data64(t, 128), 160);
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(D), HI(D), 77);
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(D + 64), HI(D), 1, ~0u, 4);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	pthread_join(thread, NULL);
	CHECK_EQ(second.status, ENGINE_DONE);
	engine_ring_destroy(second.gpu.ring);
}

/* As libdrm's own tests launch: CU masks by SET_SH_REG_INDEX, ORDER_MODE, the context packets before. */
static void test_gfx_ring(void)
{
	struct test_gpu gpu, *t = &gpu;

	if (!CHECK(test_compile_hip("gfx906", "-O2", source, &elf)))
		return;
	chip_row = vgpu_chip_find("gfx906");
	test_init(t, "gfx906", ENGINE_GFX, false, 0);
	test_load(&elf, (uint8_t *)t->code);
	set64(t, 0, 0);
	set64(t, 8, 0);
	EMIT(t, PM4(PM4_CONTEXT_CONTROL, 2), 0x80000000, 0x80000000, PM4(PM4_CLEAR_STATE, 1), 0x80000000);
	EMIT(t, PM4(PM4_SET_SH_REG_INDEX, 3) | PM4_SHADER_TYPE, 0x30000216, 0xffffffff, 0xffffffff);
	EMIT(t, PM4(PM4_SET_SH_REG_INDEX, 3) | PM4_SHADER_TYPE, 0x30000219, 0xffffffff, 0xffffffff);
	emit_launch(t, &(struct launch){
			       "count", {16}, {64}, .args = {D, D + 8}, .initiator = 0x45, .skip = SKIP_MASKS});
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 1024);
	emit_launch(t, &(struct launch){"count", {16}, {64}, .args = {D, D + 8}});
	t->ib[t->dw - 7] &= ~PM4_SHADER_TYPE; /* it runs, and is a finding */
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	CHECK_EQ(data32(t, 0), 2048);
	test_fini(t);
	/* A ring starts with all compute units on, and keeps them where nobody is strict. */
	vgpu_strict_set(VGPU_STRICT_OFF);
	test_init(t, "gfx906", ENGINE_GFX, false, 0);
	test_load(&elf, (uint8_t *)t->code);
	emit_launch(t, &(struct launch){"count", {16}, {64}, .args = {D, D + 8}, .skip = SKIP_MASKS});
	CHECK_EQ(test_run(t), ENGINE_DONE);
	CHECK_EQ(data32(t, 0), 1024);
	test_fini(t);
	vgpu_strict_set(VGPU_STRICT_REPORT);
	vgpu_set(VGPU_WAITS, true);
	free(elf.data);
}

/* Workgroups of two waves that the chip holds. */
static unsigned held(const char *kernel)
{
	unsigned vgprs = (bits(find(kernel).rsrc1, 5, 0) + 1) * (vgpu_gfx_unified(chip_row->gfx) ? 8 : 4);
	unsigned by_vgprs = chip_row->vgprs / vgprs, most = chip_row->max_waves_per_cu / 4u;

	return chip_row->cus_active * (4 * (by_vgprs < most ? by_vgprs : most) / 2);
}

/* One more than that: those that came wait for ever. */
static void test_wave_sync_hangs(struct test_gpu *t)
{
	unsigned groups = held("gws_meet") + 1;

	t->watchdog_ns = 200000000;
	EXPECT(LAUNCH("gws_init", {1}, {1}, .args = {groups - 1}), ENGINE_DONE, 0, NULL);
	vgpu_strict_set(VGPU_STRICT_OFF);
	EXPECT(LAUNCH("gws_meet", {groups}, {128}, .args = {D, D + 4096, groups}), ENGINE_WAVES, groups - 1,
	       "watchdog");
	vgpu_strict_set(VGPU_STRICT_REPORT);
	t->watchdog_ns = 60000000000ull;
}

/* row 126: global wave sync, on the resources 5 and 6 of the device */
static void test_wave_sync(struct test_gpu *t)
{
	bool scratch = find("gws_meet").rsrc2 & RSRC2_SCRATCH_EN;
	unsigned groups = scratch ? chip_row->cus_active * 4u : held("gws_meet"), bad = 0;

	EXPECT(LAUNCH("gws_init", {1}, {1}, .args = {0}), ENGINE_DONE, 1, NULL);
	t->gws_base = 5;
	t->gws_count = 2;
	t->gws_given = 1;
	memset(t->data, 0, 4096 + 4 * groups);
	EXPECT(LAUNCH("gws_init", {1}, {1}, .args = {(groups - 1) | 1ull << 32}), ENGINE_DONE, 0, NULL);
	EXPECT(LAUNCH("gws_meet", {groups}, {128}, .args = {D, D + 4096, groups | 1ull << 32},
		      .waves = scratch ? 2 * groups : 0),
	       ENGINE_DONE, 0, NULL);
	for (unsigned group = 0; group < groups; group++)
		bad += data32(t, 4096 + 4 * group) != 5;
	CHECK_EQ(bad, 0);
	EXPECT(LAUNCH("gws_init", {1}, {1}, .args = {2ull << 32}), ENGINE_DONE, 1, NULL);
	/* What it held in another owner's time says nothing. */
	t->gws_given = 2;
	EXPECT(LAUNCH("gws_meet", {1}, {256}, .args = {D, D + 4096, 1}), ENGINE_DONE, 10, NULL);
	if (!scratch)
		test_wave_sync_hangs(t);
	t->gws_count = 0;
}

static void test_semaphores(struct test_gpu *t)
{
	t->gws_count = 1;
	set32(t, 0, 0);
	set32(t, 4, 0);
	EXPECT(LAUNCH("gws_init", {1}, {1}, .args = {1}), ENGINE_DONE, 0, NULL);
	EXPECT(LAUNCH("gws_turns", {300}, {64}, .args = {D, D + 4}), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 300);
	CHECK_EQ(data32(t, 4), 0);
	set32(t, 0, 0);
	EXPECT(LAUNCH("gws_init", {1}, {1}, .args = {0}), ENGINE_DONE, 0, NULL);
	EXPECT(LAUNCH("gws_gate", {10}, {64}, .args = {D}), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 9 * 64);
	t->gws_count = 0;
}

/* What GFX9's others have and gfx942 lacks. */
static void test_gfx942(struct test_gpu *t)
{
	EXPECT(LAUNCH("add", {1}, {64}, .args = {D, D, D}, .initiator = 0x45), ENGINE_DONE, 1, NULL);
	EMIT(t, PM4(PM4_DMA_DATA, 6), 0x80000000, LO(D), HI(D), LO(D + 4096), HI(D), 64);
	EXPECT(test_run(t), ENGINE_ILLEGAL, 1, "DMA");
	emit_launch(t, &(struct launch){"add", {1}, {64}, .args = {D, D, D}});
	SET(t, COMPUTE_TG_CHUNK_SIZE, 4);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4) | PM4_SHADER_TYPE, 1, 1, 1, 5);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
}

static void test_chip(const char *chip, const char *optimise)
{
	struct test_gpu gpu, *t = &gpu;

	printf(" %s %s\n", chip, optimise);
	if (!CHECK(test_compile_hip(chip, optimise, source, &elf)))
		return;
	chip_row = vgpu_chip_find(chip);
	test_init(t, chip, ENGINE_COMPUTE, false, 0);
	test_load(&elf, (uint8_t *)t->code);
	test_add(t);
	test_reduce(t);
	test_count(t);
	test_ids(t);
	test_stack(t);
	test_stack_changes(t);
	test_meet(t);
	test_slots_of_engines(t);
	test_wave_sync(t);
	test_semaphores(t);
	test_asynchronous(t);
	test_watchdog(t);
	test_bad_code(t);
	test_wild(t);
	if (chip_row->gfx != VGPU_GFX900)
		test_registers(t);
	if (chip_row->gfx == VGPU_GFX942)
		test_gfx942(t);
	test_indirect(t);
	test_invocations(t);
	test_two_rings(t);
	test_speed(t);
	test_fini(t);
	free(elf.data);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_REPORT);
	vgpu_set(VGPU_WAITS, true);
	test_chip("gfx908", "-O2");
	test_chip("gfx908", "-O0");
	test_chip("gfx90a", "-O2");
	test_chip("gfx900", "-O1");
	test_chip("gfx90c", "-O2");
	test_chip("gfx942", "-O0");
	test_chip("gfx942", "-O3");
	test_gfx_ring();
	return check_done("dispatches");
}
