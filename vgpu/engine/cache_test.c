/* Caches: each packet that is missing leaves stale or lost data behind, and the right packet cures it. */
#include <pthread.h>
#include <sched.h>

#include "vgpu/engine/regs.h"
#include "vgpu/engine/test_gpu.h"
#include "vgpu/isa/test_code.h"

#define D      TEST_DATA_VA
#define UC_VA  0x710000000000ull /* the upper half of the data once more, past L2 */
#define UC_AT  (8u << 20)
#define IN     4096u /* offsets in the data */
#define OUT    UC_AT /* what kernels found goes past L2, so that only reads are tested */
#define FLAG   (UC_AT + 65536u)
#define GO     (UC_AT + 65600u)
#define BEFORE 0x1111u
#define AFTER  0x2222u

#define ACQUIRE_L1      0x00400000u
#define ACQUIRE_SCALAR  0x08000000u
#define ACQUIRE_CODE    0x20000000u
#define ACQUIRE_L2      0x00840000u /* written back, too */
#define ACQUIRE_L2_NC   0x00800008u /* not written back */
#define RELEASE_NOTHING 0x00000514u
#define RELEASE_WB      0x00088514u /* TC_WB, TC_NC */

/* s[0:1] in, s[2:3] out, s4 a value; 256 bytes apart, in this order. */
enum { READ, READ_GLC, WRITE, READ_SCALAR, WRITE_READ, READ_ACQUIRE, READ_SCALAR_INV, ATOMIC };
static const char source[] =
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n global_load_dword v1, v0, s[0:1]\n"
	" s_waitcnt vmcnt(0)\n global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n global_load_dword v1, v0, s[0:1] glc\n"
	" s_waitcnt vmcnt(0)\n global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n v_mov_b32 v1, s4\n"
	" global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n s_load_dword s5, s[0:1], 0x0\n v_lshlrev_b32 v0, 2, v0\n"
	" s_waitcnt lgkmcnt(0)\n v_mov_b32 v1, s5\n global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n v_lshlrev_b32 v0, 2, v0\n v_mov_b32 v1, s4\n global_load_dword v2, v0, s[0:1]\n"
	" s_waitcnt vmcnt(0)\n global_store_dword v0, v1, s[0:1]\n s_waitcnt vmcnt(0)\n"
	" global_load_dword v1, v0, s[0:1]\n s_waitcnt vmcnt(0)\n"
	" global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n buffer_wbinvl1_vol\n v_lshlrev_b32 v0, 2, v0\n"
	" global_load_dword v1, v0, s[0:1]\n s_waitcnt vmcnt(0)\n"
	" global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n s_dcache_inv\n s_load_dword s5, s[0:1], 0x0\n v_lshlrev_b32 v0, 2, v0\n"
	" s_waitcnt lgkmcnt(0)\n v_mov_b32 v1, s5\n global_store_dword v0, v1, s[2:3]\n s_endpgm\n"
	".p2align 8\n v_mov_b32 v0, 0\n v_mov_b32 v1, s4\n"
	" global_atomic_add v0, v1, s[2:3]\n s_endpgm\n";

static void launch_at(struct test_gpu *t, unsigned kernel, uint64_t in, uint64_t out, uint32_t value)
{
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
	EMIT(t, PM4(PM4_SET_SH_REG, 6), COMPUTE_USER_DATA_0, LO(in), HI(in), LO(out), HI(out), value);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4) | PM4_SHADER_TYPE, 1, 1, 1, 5);
	EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x00000407);
}

/* Copies 64 dwords from IN to OUT, each result behind the last. */
static void launch_read(struct test_gpu *t, unsigned kernel, unsigned result)
{
	launch_at(t, kernel, D + IN, UC_VA + OUT - UC_AT + 256 * result, 0);
}

static void launch_write(struct test_gpu *t, uint32_t value)
{
	launch_at(t, WRITE, 0, D + IN, value);
}

static void acquire(struct test_gpu *t, uint32_t what)
{
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 6), what, ~0u, 0xff, 0, 0, 10);
}

/* Memory changes as if another device, SDMA or the CPU did it: WRITE_DATA to memory goes past L2. */
static void change_memory(struct test_gpu *t, uint32_t value)
{
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(D + IN), HI(D + IN), value);
}

static uint32_t result(const struct test_gpu *t, unsigned number)
{
	return data32(t, OUT + 256 * number);
}

/* A job that ends: the kernel writes L2 back and invalidates it and L1, but neither scalar nor code. */
static void begin(struct test_gpu *t)
{
	acquire(t, ACQUIRE_L2 | ACQUIRE_L1 | ACQUIRE_SCALAR | ACQUIRE_CODE);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	for (unsigned n = 0; n < 64; n++)
		set32(t, IN + 4 * n, BEFORE);
	memset(t->data + OUT, 0, 131072);
}

/* --- one job while others look --- */

struct observer {
	struct test_gpu *gpu;
	struct test_gpu sdma; /* another ring of the same device */
	uint32_t cpu_saw, sdma_saw;
	bool change; /* memory, once the flag is there */
};

static void await_word(struct test_gpu *t, unsigned offset)
{
	while (!__atomic_load_n((uint32_t *)(void *)(t->data + offset), __ATOMIC_ACQUIRE))
		sched_yield();
}

/* Between the job's flag and its GO. */
static void *observe(void *arg)
{
	struct observer *o = arg;
	struct test_gpu *t = &o->sdma;

	await_word(o->gpu, FLAG);
	o->cpu_saw = data32(o->gpu, IN);
	EMIT(t, SDMA_COPY, 3, 0, LO(D + IN), HI(D + IN), LO(UC_VA + 32768), HI(UC_VA + 32768));
	EXPECT(test_run_at(t, TEST_IB_VA + TEST_IB_B / 2, 0), ENGINE_DONE, 0, NULL);
	o->sdma_saw = data32(o->gpu, UC_AT + 32768);
	if (o->change)
		set32(o->gpu, IN, AFTER);
	__atomic_store_n((uint32_t *)(void *)(o->gpu->data + GO), 1, __ATOMIC_RELEASE);
	return NULL;
}

static void emit_meeting(struct test_gpu *t, uint32_t release)
{
	EMIT(t, PM4(PM4_RELEASE_MEM, 7), release, 0x23000000, LO(UC_VA + FLAG - UC_AT), HI(UC_VA), 1, 0, 0);
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(UC_VA + GO - UC_AT), HI(UC_VA), 1, ~0u, 4);
}

static void run_observed(struct test_gpu *t, struct observer *o)
{
	pthread_t thread;

	o->gpu = t;
	o->sdma = *t;
	o->sdma.ring = engine_ring_create(t->dev, ENGINE_DMA, 0, 0);
	o->sdma.ib = t->ib + TEST_IB_B / 8;
	o->sdma.dw = 0;
	pthread_create(&thread, NULL, observe, o);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	pthread_join(thread, NULL);
	engine_ring_destroy(o->sdma.ring);
}

/* rows 83, 84 and 89 */
static void written_back_when_told(struct test_gpu *t)
{
	const struct {
		uint32_t release, acquire, seen;
	} rows[] = {
		{RELEASE_NOTHING, 0, BEFORE},
		{RELEASE_WB, 0, AFTER},
		{RELEASE_NOTHING, ACQUIRE_L2, AFTER},
		{RELEASE_NOTHING, 0x00040008, AFTER}, /* TC_WB, TC_NC */
		{RELEASE_NOTHING, ACQUIRE_L1 | ACQUIRE_SCALAR, BEFORE},
	};

	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct observer o = {.change = false};

		begin(t);
		launch_write(t, AFTER);
		if (rows[n].acquire)
			acquire(t, rows[n].acquire);
		emit_meeting(t, rows[n].release);
		run_observed(t, &o);
		CHECK_EQ(o.cpu_saw, rows[n].seen);
		CHECK_EQ(o.sdma_saw, rows[n].seen);
		CHECK_EQ(data32(t, IN), AFTER); /* the end of the job */
	}
}

/* What passes L2 by needs no write-back. */
static void uncached_is_seen_at_once(struct test_gpu *t)
{
	struct observer o = {.change = false};

	begin(t);
	launch_at(t, WRITE, 0, UC_VA, AFTER);
	emit_meeting(t, RELEASE_NOTHING);
	run_observed(t, &o);
	CHECK_EQ(data32(t, UC_AT), AFTER);
}

/* CP and waves of a device share L2; "memory" as source or destination is past it. */
static void packets_see_l2(struct test_gpu *t)
{
	begin(t);
	launch_write(t, AFTER);
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100502, LO(D + IN), HI(D + IN), LO(UC_VA), HI(UC_VA));
	EMIT(t, PM4(PM4_COPY_DATA, 5), 0x00100501, LO(D + IN), HI(D + IN), LO(UC_VA + 256), HI(UC_VA));
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(D + IN), HI(D + IN), AFTER, ~0u, 4);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(result(t, 0), AFTER);
	CHECK_EQ(result(t, 1), BEFORE);
}

/* --- stale lines --- */

/* What a second read finds after memory has changed under L2. */
static uint32_t read_again(struct test_gpu *t, uint32_t what, unsigned kernel)
{
	begin(t);
	launch_read(t, READ, 0);
	change_memory(t, AFTER);
	if (what)
		acquire(t, what);
	launch_read(t, kernel, 1);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(result(t, 0), BEFORE);
	return result(t, 1);
}

/* row 85 */
static void l2_is_stale(struct test_gpu *t)
{
	CHECK_EQ(read_again(t, 0, READ), BEFORE);
	CHECK_EQ(read_again(t, 0, READ_GLC), BEFORE);
	CHECK_EQ(read_again(t, ACQUIRE_L1, READ), BEFORE);
	CHECK_EQ(read_again(t, ACQUIRE_L2 | ACQUIRE_L1, READ), AFTER);
}

/* The CPU writes while the job waits, as a host that answers a kernel. */
static void cpu_writes_are_seen_after_acquire(struct test_gpu *t)
{
	for (unsigned n = 0; n < 2; n++) {
		struct observer o = {.change = true};

		begin(t);
		launch_read(t, READ, 0);
		emit_meeting(t, RELEASE_NOTHING);
		acquire(t, n ? ACQUIRE_L2 | ACQUIRE_L1 : ACQUIRE_L1);
		launch_read(t, READ, 1);
		run_observed(t, &o);
		CHECK_EQ(result(t, 1), n ? AFTER : BEFORE);
	}
}

/* A packet polls what L2 holds for ever, unless the page passes it by. */
static void polls_may_be_stale(struct test_gpu *t)
{
	begin(t);
	t->watchdog_ns = 200000000;
	launch_read(t, READ, 0);
	change_memory(t, AFTER);
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(D + IN), HI(D + IN), AFTER, ~0u, 4);
	EXPECT(test_run(t), ENGINE_HANG, 0, "WAIT_REG_MEM");
	launch_at(t, READ, UC_VA, UC_VA + 256, 0);
	EMIT(t, PM4(PM4_WRITE_DATA, 4), 0x00100500, LO(UC_VA), HI(UC_VA), AFTER);
	EMIT(t, PM4(PM4_WAIT_REG_MEM, 6), 0x13, LO(UC_VA), HI(UC_VA), AFTER, ~0u, 4);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	t->watchdog_ns = 60000000000ull;
}

/* Read, written on another compute unit, read again on the first. */
static uint32_t read_write_read(struct test_gpu *t, uint32_t what, unsigned kernel)
{
	begin(t);
	launch_read(t, READ, 0);
	launch_write(t, AFTER);
	if (what)
		acquire(t, what);
	launch_read(t, kernel, 1);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	return result(t, 1);
}

static void l1_is_stale(struct test_gpu *t)
{
	CHECK_EQ(read_write_read(t, 0, READ), BEFORE);
	CHECK_EQ(read_write_read(t, ACQUIRE_SCALAR, READ), BEFORE);
	CHECK_EQ(read_write_read(t, ACQUIRE_L1, READ), AFTER);
	CHECK_EQ(read_write_read(t, 0, READ_GLC), AFTER);
	CHECK_EQ(read_write_read(t, 0, READ_ACQUIRE), AFTER);
}

/* row 85: a range of nothing is a finding, and drops nothing. */
static void empty_ranges_drop_nothing(struct test_gpu *t)
{
	begin(t);
	launch_read(t, READ, 0);
	launch_write(t, AFTER);
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 6), ACQUIRE_L1, 0, 0, 0, 0, 10);
	launch_read(t, READ, 1);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	CHECK_EQ(result(t, 1), BEFORE);
}

/* A kernel reads, writes and reads: its own writes it sees, whatever was cached. */
static void own_writes_are_seen(struct test_gpu *t)
{
	begin(t);
	launch_read(t, READ, 0);
	launch_read(t, READ, 0);
	launch_at(t, WRITE_READ, D + IN, UC_VA + 256, AFTER);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(result(t, 1), AFTER);
	for (unsigned n = 0; n < 64; n++)
		CHECK_EQ(data32(t, IN + 4 * n), AFTER);
}

/* Scalar data outlives the job: nothing that the kernel does at its end drops it. */
static uint32_t scalar_read_again(struct test_gpu *t, uint32_t what, unsigned kernel)
{
	begin(t);
	launch_read(t, READ_SCALAR, 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(result(t, 0), BEFORE);
	set32(t, IN, AFTER);
	if (what)
		acquire(t, what);
	launch_read(t, kernel, 1);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	return result(t, 1);
}

static void scalar_is_stale(struct test_gpu *t)
{
	CHECK_EQ(scalar_read_again(t, 0, READ_SCALAR), BEFORE);
	CHECK_EQ(scalar_read_again(t, ACQUIRE_L2 | ACQUIRE_L1, READ_SCALAR), BEFORE);
	CHECK_EQ(scalar_read_again(t, ACQUIRE_SCALAR, READ_SCALAR), AFTER);
	CHECK_EQ(scalar_read_again(t, 0, READ_SCALAR_INV), AFTER);
	/* Vector memory was dropped at the end of the job. */
	CHECK_EQ(scalar_read_again(t, 0, READ), AFTER);
}

/* Other code at the address of a kernel that has run. */
static uint32_t run_new_code(struct test_gpu *t, uint32_t what)
{
	uint8_t saved[256];

	begin(t);
	launch_at(t, READ, D + IN, UC_VA, 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	memcpy(saved, t->code, sizeof(saved));
	memcpy(t->code, (uint8_t *)t->code + 256 * WRITE, sizeof(saved));
	if (what)
		acquire(t, what);
	launch_at(t, READ, D + IN, UC_VA, AFTER);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	memcpy(t->code, saved, sizeof(saved));
	return result(t, 0);
}

/* row 86 */
static void code_is_stale(struct test_gpu *t)
{
	CHECK_EQ(run_new_code(t, 0), BEFORE);
	CHECK_EQ(run_new_code(t, ACQUIRE_L2 | ACQUIRE_L1 | ACQUIRE_SCALAR), BEFORE);
	CHECK_EQ(run_new_code(t, ACQUIRE_CODE), AFTER);
}

/* rows 168 and 169: a VM with other code at the same address, under the same VMID */
static uint32_t run_other_vm(struct test_gpu *t, uint32_t what)
{
	struct gpuvm_region *code = &t->region[1];
	struct gpuvm_region before = *code;

	begin(t);
	launch_at(t, READ, D + IN, UC_VA, 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	t->view.vm = 2;
	code->host += 65536;
	code->hi -= 65536;
	memcpy(code->host, (uint8_t *)t->code + 256 * WRITE, 256);
	if (what)
		acquire(t, what);
	launch_at(t, READ, D + IN, UC_VA, AFTER);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	t->view.vm = 0;
	*code = before;
	return result(t, 0);
}

static void a_vmid_is_no_process(struct test_gpu *t)
{
	CHECK_EQ(run_other_vm(t, 0), BEFORE);
	CHECK_EQ(run_other_vm(t, ACQUIRE_L2 | ACQUIRE_L1 | ACQUIRE_SCALAR), BEFORE);
	CHECK_EQ(run_other_vm(t, ACQUIRE_CODE), AFTER);
}

/* row 168: what the other process left is not known here, but that it may be there is. */
static void vmids_change_hands(struct test_gpu *t)
{
	begin(t);
	t->vmid_foreign = t->vmid_epoch = 1;
	launch_at(t, READ, D + IN, UC_VA, 0);
	EXPECT(test_run(t), ENGINE_DONE, 2, NULL); /* said once of each cache */
	launch_at(t, READ, D + IN, UC_VA, 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	t->vmid_foreign = t->vmid_epoch = 2;
	acquire(t, ACQUIRE_SCALAR);
	launch_at(t, READ, D + IN, UC_VA, 0);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	t->vmid_foreign = t->vmid_epoch = 3;
	acquire(t, ACQUIRE_SCALAR | ACQUIRE_CODE);
	launch_at(t, READ, D + IN, UC_VA, 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	t->vmid_foreign = t->vmid_epoch = 0;
}

/* The flag that asks the kernel for an acquire before the first IB. */
static void mem_sync_drops_all(struct test_gpu *t)
{
	struct engine_ib ib = {.va = TEST_IB_VA, .flags = 1 << 6};
	struct engine_job job = {.view = &t->view, .ib = &ib, .ib_count = 1, .fault = test_on_fault, .user = t};

	begin(t);
	launch_read(t, READ_SCALAR, 0);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	set32(t, IN, AFTER);
	launch_read(t, READ_SCALAR, 1);
	ib.size_B = t->dw * 4;
	EXPECT(test_execute(t, &job), ENGINE_DONE, 0, NULL);
	t->dw = 0;
	CHECK_EQ(result(t, 1), AFTER);
}

/* --- losses --- */

/* row 118 */
static void dropped_lines_are_lost(struct test_gpu *t)
{
	begin(t);
	launch_write(t, AFTER);
	acquire(t, ACQUIRE_L2_NC);
	EXPECT(test_run(t), ENGINE_DONE, 2, NULL); /* what the packet asks for, and what it cost */
	CHECK_EQ(data32(t, IN), BEFORE);
	/* Outside the range nothing happens. */
	begin(t);
	launch_write(t, AFTER);
	EMIT(t, PM4(PM4_ACQUIRE_MEM, 6), ACQUIRE_L2_NC, 16, 0, LO((D + 65536) >> 8), HI((D + 65536) >> 8), 10);
	EXPECT(test_run(t), ENGINE_DONE, 1, NULL);
	CHECK_EQ(data32(t, IN), AFTER);
}

/* Only written bytes go back: others of the line may have changed in memory. */
static void write_back_leaves_neighbours(struct test_gpu *t)
{
	begin(t);
	launch_at(t, ATOMIC, 0, D + IN + 8, 1);
	change_memory(t, AFTER);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, IN), AFTER);
	CHECK_EQ(data32(t, IN + 8), BEFORE + 64);
	CHECK_EQ(data32(t, IN + 12), BEFORE);
}

/* As RADV resets a query through L2 and writes its time "to memory" behind that. */
static void the_later_write_stays(struct test_gpu *t)
{
	begin(t);
	EMIT(t, PM4(PM4_WRITE_DATA, 5), 0x00100200, LO(D + IN), HI(D + IN), BEFORE + 1, BEFORE + 1); /* to L2 */
	change_memory(t, AFTER);
	EXPECT(test_run(t), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, IN), AFTER);
	CHECK_EQ(data32(t, IN + 4), BEFORE + 1);
}

int main(void)
{
	struct test_gpu gpu, *t = &gpu;
	struct test_elf elf;

	vgpu_strict_set(VGPU_STRICT_REPORT);
	vgpu_set(VGPU_CACHES, true);
	if (!CHECK(test_assemble("gfx908", source, &elf)))
		return check_done("caches");
	test_init(t, "gfx908", ENGINE_COMPUTE, false, 0);
	test_region(t, UC_VA, TEST_DATA_B - UC_AT, t->data + UC_AT,
		    GPUVM_R | GPUVM_W | GPUVM_SYSTEM | GPUVM_UC << GPUVM_MTYPE_SHIFT);
	memcpy(t->code, elf.data + test_section(&elf, ".text")->sh_offset, test_section(&elf, ".text")->sh_size);
	written_back_when_told(t);
	uncached_is_seen_at_once(t);
	packets_see_l2(t);
	l2_is_stale(t);
	cpu_writes_are_seen_after_acquire(t);
	polls_may_be_stale(t);
	l1_is_stale(t);
	empty_ranges_drop_nothing(t);
	own_writes_are_seen(t);
	scalar_is_stale(t);
	code_is_stale(t);
	a_vmid_is_no_process(t);
	vmids_change_hands(t);
	mem_sync_drops_all(t);
	dropped_lines_are_lost(t);
	write_back_leaves_neighbours(t);
	the_later_write_stays(t);
	test_fini(t);
	free(elf.data);
	return check_done("caches");
}
