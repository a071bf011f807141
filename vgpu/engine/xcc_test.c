/* Several XCCs in a partition: a ring's jobs run on one, with compute units and caches of its own. */
#include <pthread.h>
#include <sched.h>

#include "vgpu/engine/regs.h"
#include "vgpu/engine/test_gpu.h"
#include "vgpu/isa/test_code.h"

#define D      TEST_DATA_VA
#define UC_VA  0x710000000000ull /* the upper half of the data once more, past L2 */
#define UC_AT  (8u << 20)
#define IN     4096u /* offsets in the data */
#define OUT    UC_AT
#define FLAG   (UC_AT + 65536u)
#define GO     (UC_AT + 65600u)
#define BEFORE 0x1111u
#define AFTER  0x2222u

#define ACQUIRE_L2_L1   0x00c40000u /* written back, too */
#define ACQUIRE_CODE    0x20000000u
#define RELEASE_NOTHING 0x00000514u
#define RELEASE_WB      0x00088514u /* TC_WB, TC_NC */

/* s[0:1] in, s[2:3] out, s4 a value; 256 bytes apart, in this order. */
enum { READ, WRITE, COUNT, WRITE_RELEASED, READ_ACQUIRED, XCC_ID, MEET, STORE_DEVICE, READ_DEVICE, GATHER };
static const char source[] =
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n global_load_dword v1, v0, s[0:1]\n s_waitcnt vmcnt(0)\n"
	" global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n v_mov_b32 v1, s4\n global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n v_mov_b32 v0, 0\n v_mov_b32 v1, s4\n global_atomic_add v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n v_mov_b32 v1, s4\n global_store_dword v0, v1, s[2:3]\n"
	" buffer_wbl2 sc1\n s_waitcnt vmcnt(0)\n s_endpgm\n"
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n buffer_inv sc1\n global_load_dword v1, v0, s[0:1]\n"
	" s_waitcnt vmcnt(0)\n global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n s_getreg_b32 s5, hwreg(HW_REG_XCC_ID)\n v_lshlrev_b32 v0, 2, v0\n s_nop 4\n v_mov_b32 v1, s5\n"
	" global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n s_mov_b64 exec, 1\n v_mov_b32 v0, 0\n v_mov_b32 v1, 1\n global_atomic_add v0, v1, s[2:3]\n"
	"again: global_load_dword v2, v0, s[2:3] sc1\n s_waitcnt vmcnt(0)\n v_readfirstlane_b32 s5, v2\n"
	" s_cmp_lt_u32 s5, s4\n s_cbranch_scc1 again\n s_endpgm\n"
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n v_mov_b32 v1, s4\n global_store_dword v0, v1, s[2:3] sc1\n"
	" s_endpgm\n"
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n global_load_dword v1, v0, s[0:1] sc1\n s_waitcnt vmcnt(0)\n"
	" global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n global_load_dword v1, v0, s[0:1]\n s_waitcnt vmcnt(0)\n"
	" global_atomic_or v0, v1, s[2:3]\n global_load_dword v1, v0, s[0:1]\n s_waitcnt vmcnt(0)\n s_endpgm\n";

struct launch {
	unsigned kernel;
	uint64_t in, out;
	uint32_t value, groups, items;
};

static void emit_launch(struct test_gpu *t, struct launch l)
{
	uint64_t entry = TEST_CODE_VA + 256u * l.kernel;
	const uint32_t rsrc1 = 0 | 1 << 6 | 0xc0 << 12, rsrc2 = 5 << 1; /* 8 VGPRs, 16 SGPRs, 5 of the user */

	EMIT(t, PM4(PM4_SET_SH_REG, 7), COMPUTE_START_X, 0, 0, 0, l.items ? l.items : 64, 1, 1);
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_PGM_LO, LO(entry >> 8), HI(entry >> 8));
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_PGM_RSRC1, rsrc1, rsrc2);
	EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_RESOURCE_LIMITS, 0);
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_STATIC_THREAD_MGMT_SE0, ~0u, ~0u);
	EMIT(t, PM4(PM4_SET_SH_REG, 3), COMPUTE_STATIC_THREAD_MGMT_SE2, ~0u, ~0u);
	EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_TG_CHUNK_SIZE, 0);
	EMIT(t, PM4(PM4_SET_SH_REG, 2), COMPUTE_PGM_RSRC3, 1);
	EMIT(t, PM4(PM4_SET_SH_REG, 6), COMPUTE_USER_DATA_0, LO(l.in), HI(l.in), LO(l.out), HI(l.out), l.value);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4) | PM4_SHADER_TYPE, l.groups ? l.groups : 1, 1, 1, 5);
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x00000407);
}

#define LAUNCH(t, ...) emit_launch(t, (struct launch){__VA_ARGS__})

static void acquire(struct test_gpu *t, uint32_t what)
{
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 6), what, ~0u, 0xff, 0, 0, 10);
}

static uint64_t out(unsigned n)
{
	return UC_VA + 256 * n;
}

static uint32_t result(const struct test_gpu *t, unsigned n)
{
	return data32(t, OUT + 256 * n);
}

static void begin(struct test_gpu *t)
{
	for (unsigned n = 0; n < 64; n++)
		set32(t, IN + 4 * n, BEFORE);
	memset(t->data + OUT, 0, 131072);
}

/* A job of one ring while a job of another one stands between its flag and its GO. */
struct pair {
	struct test_gpu *first;
	struct test_gpu second;
	struct launch meanwhile;
};

static void *run_second(void *arg)
{
	struct pair *p = arg;
	struct test_gpu *t = &p->second;

	while (!__atomic_load_n((uint32_t *)(void *)(t->data + FLAG), __ATOMIC_ACQUIRE))
		sched_yield();
	emit_launch(t, p->meanwhile);
	EXPECT(test_run_at(t, TEST_IB_VA + TEST_IB_B / 2, PM4_NOP_1DW), ENGINE_DONE, 0, NULL);
	__atomic_store_n((uint32_t *)(void *)(t->data + GO), 1, __ATOMIC_RELEASE);
	return NULL;
}

static void emit_meeting(struct test_gpu *t, uint32_t release)
{
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), release, 0x23000000, LO(UC_VA + FLAG - UC_AT), HI(UC_VA), 1, 0, 0);
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(UC_VA + GO - UC_AT), HI(UC_VA), 1, ~0u, 4);
}

/* Runs what was emitted on t's ring, and the launch on the ring of another XCC. */
static void run_pair(struct test_gpu *t, struct engine_ring *other, struct launch meanwhile)
{
	struct pair p = {t, *t, meanwhile};
	pthread_t thread;

	p.second.ring = other;
	p.second.ib = t->ib + TEST_IB_B / 8;
	p.second.dw = 0;
	pthread_create(&thread, NULL, run_second, &p);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	pthread_join(thread, NULL);
}

/* row 164: what another XCC reads of what a kernel wrote, before its job ends */
static uint32_t seen_by_other(struct test_gpu *t, struct engine_ring *other, unsigned kernel, uint32_t release)
{
	begin(t);
	LAUNCH(t, kernel, 0, D + IN, AFTER);
	emit_meeting(t, release);
	run_pair(t, other, (struct launch){READ, D + IN, out(0)});
	CHECK_EQ(data32(t, IN), AFTER); /* the end of the job */
	return result(t, 0);
}

/* row 164: what a kernel reads a second time, behind a job of another XCC that wrote it */
static uint32_t read_again(struct test_gpu *t, struct engine_ring *other, unsigned kernel, uint32_t what)
{
	begin(t);
	LAUNCH(t, READ, D + IN, out(0));
	emit_meeting(t, RELEASE_NOTHING);
	if (what)
		acquire(t, what);
	LAUNCH(t, kernel, D + IN, out(1));
	run_pair(t, other, (struct launch){WRITE, 0, D + IN, AFTER});
	CHECK_EQ(result(t, 0), BEFORE);
	return result(t, 1);
}

static void several_l2(struct test_gpu *t, struct engine_ring *other)
{
	CHECK_EQ(seen_by_other(t, other, WRITE, RELEASE_NOTHING), BEFORE);
	CHECK_EQ(seen_by_other(t, other, WRITE, RELEASE_WB), AFTER);
	CHECK_EQ(seen_by_other(t, other, WRITE_RELEASED, RELEASE_NOTHING), AFTER);
	CHECK_EQ(seen_by_other(t, other, STORE_DEVICE, RELEASE_NOTHING), AFTER);
	CHECK_EQ(read_again(t, other, READ, 0), BEFORE);
	CHECK_EQ(read_again(t, other, READ, ACQUIRE_L2_L1), AFTER);
	CHECK_EQ(read_again(t, other, READ_ACQUIRED, 0), AFTER);
	CHECK_EQ(read_again(t, other, READ_DEVICE, 0), AFTER);
}

/* Partitions of one XCC each: to each of them its L2 is the only one, and device scope ends there. */
static void one_l2_each(struct test_gpu *t, struct engine_ring *other)
{
	CHECK_EQ(seen_by_other(t, other, WRITE_RELEASED, RELEASE_NOTHING), BEFORE);
	CHECK_EQ(seen_by_other(t, other, WRITE_RELEASED, RELEASE_WB), AFTER);
	CHECK_EQ(read_again(t, other, READ_ACQUIRED, 0), BEFORE);
}

/* Atomics of both meet in memory, behind what either XCC holds. */
static void atomics_add_up(struct test_gpu *t, struct engine_ring *other)
{
	begin(t);
	set32(t, IN, 0);
	LAUNCH(t, WRITE, 0, D + IN, 5);
	LAUNCH(t, COUNT, 0, D + IN, 1);
	emit_meeting(t, RELEASE_NOTHING);
	LAUNCH(t, COUNT, 0, D + IN, 1);
	LAUNCH(t, READ_DEVICE, D + IN, out(0));
	run_pair(t, other, (struct launch){COUNT, 0, D + IN, 1000});
	CHECK_EQ(data32(t, IN), 5 + 2 * 64 + 64000);
	CHECK_EQ(result(t, 0), 5 + 2 * 64 + 64000);
	CHECK_EQ(data32(t, IN + 4), 5);
}

static void run_on(struct test_gpu *t, struct engine_ring *ring)
{
	struct engine_ring *own = t->ring;

	t->ring = ring;
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	t->ring = own;
}

/* row 165: code is dropped from the instruction cache of one XCC, and runs on another one */
static void code_is_stale(struct test_gpu *t, struct engine_ring *other)
{
	uint8_t saved[256];

	begin(t);
	acquire(t, ACQUIRE_CODE);
	LAUNCH(t, READ, D + IN, out(0));
	run_on(t, other);
	memcpy(saved, t->code, sizeof(saved));
	memcpy(t->code, (uint8_t *)t->code + 256 * WRITE, sizeof(saved));
	acquire(t, ACQUIRE_CODE);
	LAUNCH(t, READ, D + IN, out(1), AFTER);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(result(t, 1), AFTER);
	LAUNCH(t, READ, D + IN, out(2), AFTER);
	run_on(t, other);
	CHECK_EQ(result(t, 2), BEFORE);
	acquire(t, ACQUIRE_CODE);
	LAUNCH(t, READ, D + IN, out(3), AFTER);
	run_on(t, other);
	CHECK_EQ(result(t, 3), AFTER);
	memcpy(t->code, saved, sizeof(saved));
	acquire(t, ACQUIRE_CODE);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	acquire(t, ACQUIRE_CODE);
	run_on(t, other);
}

/* The first jobs of a device: both XCCs have dropped as often when one thread runs workgroups of the one, then of the
 * other. */
static void waves_forget_other_caches(struct test_gpu *t, struct engine_ring *other)
{
	begin(t);
	LAUNCH(t, GATHER, D + IN, out(0), 0, 4096);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	for (unsigned n = 0; n < 64; n++)
		set32(t, IN + 4 * n, AFTER);
	LAUNCH(t, GATHER, D + IN, out(1), 0, 4096);
	run_on(t, other);
	CHECK_EQ(result(t, 0), BEFORE);
	CHECK_EQ(result(t, 1), AFTER);
}

static void waves_know_theirs(struct test_gpu *t, struct engine_ring *other)
{
	begin(t);
	LAUNCH(t, XCC_ID, 0, out(0));
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	LAUNCH(t, XCC_ID, 0, out(1));
	run_on(t, other);
	CHECK_EQ(result(t, 0), 0);
	CHECK_EQ(result(t, 1), 1);
}

/* row 163: workgroups of 16 waves, two to a compute unit, that wait for all others */
static void one_xcc_for_a_grid(struct test_gpu *t)
{
	unsigned groups = 2u * vgpu_chip_find("gfx942")->cus_active;

	begin(t);
	LAUNCH(t, MEET, 0, UC_VA, 16 * groups, groups, 1024);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(result(t, 0), 16 * groups);
	begin(t);
	t->watchdog_ns = 1000000000;
	LAUNCH(t, MEET, 0, UC_VA, 16 * groups + 16, groups + 1, 1024);
	EXPECT(test_run(t), ENGINE_WAVES, 0, "watchdog");
	t->watchdog_ns = 60000000000ull;
}

static void test_device(const struct test_elf *elf, const struct engine_config *config)
{
	const Elf64_Shdr *text = test_section(elf, ".text");
	struct test_gpu gpu, *t = &gpu;
	struct engine_ring *other;

	test_init_device(t, "gfx942", ENGINE_COMPUTE, config);
	other = engine_ring_create(t->dev, ENGINE_COMPUTE, 1, 8);
	test_region(t, UC_VA, TEST_DATA_B - UC_AT, t->data + UC_AT,
		    GPUVM_R | GPUVM_W | GPUVM_SYSTEM | GPUVM_UC << GPUVM_MTYPE_SHIFT);
	memcpy(t->code, elf->data + text->sh_offset, text->sh_size);
	waves_forget_other_caches(t, other);
	if (config->partitions == 1) {
		several_l2(t, other);
		atomics_add_up(t, other);
	} else {
		one_l2_each(t, other);
	}
	code_is_stale(t, other);
	waves_know_theirs(t, other);
	one_xcc_for_a_grid(t);
	engine_ring_destroy(other);
	test_fini(t);
}

int main(void)
{
	struct test_elf elf;

	vgpu_strict_set(VGPU_STRICT_REPORT);
	vgpu_set(VGPU_CACHES, true);
	if (!CHECK(test_assemble("gfx942", source, &elf)))
		return check_done("XCCs");
	test_device(&elf, &(struct engine_config){.xccs = 8, .partitions = 1});
	test_device(&elf, &(struct engine_config){.xccs = 8, .partitions = 8});
	free(elf.data);
	return check_done("XCCs");
}
