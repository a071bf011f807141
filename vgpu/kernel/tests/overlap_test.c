/* Two jobs on one ring: the second one's packets are read while waves of the first live, unless something waits. */
#include <linux/sync_file.h>
#include "vgpu/kernel/tests/test_packets.h"

#define UC_VA   0x300000ull /* the data page once more, past L2 */
#define CODE_VA (UC_VA + 0x100)
#define FLAG    0 /* dwords of the data page: what the wave waits for, */
#define RESULT  1 /* where it puts it, */
#define BEGUN   2 /* that the second job has begun, */
#define SEEN    3 /* and what that saw of the result */
#define AT(n)   (UC_VA + 4 * (n))
#define SECOND  128 /* dwords: where its IB begins */
#define OLD     0x01du
#define NEW     0x600d

/* Waits for the word at s[0:1], writes it to s[2:3], and ends, or does what no wave may. */
static const uint32_t waiter[] = {
	0x7e000280,             /* v_mov_b32 v0, 0 */
	0xdc518000, 0x01000000, /* global_load_dword v1, v0, s[0:1] glc */
	0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
	0x7e080501,             /* v_readfirstlane_b32 s4, v1 */
	0xbf068004,             /* s_cmp_eq_u32 s4, 0 */
	0xbf85fffa,             /* s_cbranch_scc1 -6 */
	0xdc708000, 0x00020100, /* global_store_dword v0, v1, s[2:3] */
};
#define ENDS    0xbf810000u
#define ILLEGAL 0xbfa00000u

static uint32_t word(unsigned n)
{
	return __atomic_load_n(&rig.data[n], __ATOMIC_ACQUIRE);
}

static void emit_waiter(void)
{
	set_sh(0x240, (uint32_t)AT(FLAG));
	set_sh(0x241, 0);
	set_sh(0x242, (uint32_t)AT(RESULT));
	set_sh(0x243, 0);
	emit_dispatch_with(CODE_VA, 4);
}

static void emit_look(void)
{
	emit(0xc0044000); /* COPY_DATA: memory to memory */
	emit(0x00100501);
	emit((uint32_t)AT(RESULT));
	emit(0);
	emit((uint32_t)AT(SEEN));
	emit(0);
}

/* Runs what was emitted from dword `from` of the IB on. after: a job of after_ctx that it depends on; 0: none. */
static uint64_t submit_to(uint32_t ctx, uint32_t ip, uint32_t from, uint32_t after_ctx, uint64_t after)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA + 4 * from, 0, ip, 0, 0};
	struct drm_amdgpu_cs_chunk_dep dep = {ip, 0, 0, after_ctx, after};
	struct drm_amdgpu_cs_chunk chunk[2] = {{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
					       {AMDGPU_CHUNK_ID_DEPENDENCIES, sizeof(dep) / 4, (uintptr_t)&dep}};
	uint64_t pointer[2] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {ctx, rig.list, after ? 2 : 1, 0, (uintptr_t)pointer}};

	while (rig.ib_dw % 8)
		emit(RIG_NOP);
	ib.ib_bytes = 4 * (rig.ib_dw - from);
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), 0);
	return args.out.handle;
}

static uint64_t submit(uint32_t from, uint64_t after)
{
	return submit_to(rig.ctx, AMDGPU_HW_IP_COMPUTE, from, rig.ctx, after);
}

static uint64_t submit_first(uint32_t end)
{
	memset(rig.data, 0, 4096);
	memcpy(rig.data + 0x100 / 4, waiter, sizeof(waiter));
	rig.data[0x100 / 4 + sizeof(waiter) / 4] = end;
	rig.data[RESULT] = OLD;
	rig.ib_dw = 0;
	emit_waiter();
	return submit(0, 0);
}

static void await_word(unsigned n)
{
	for (unsigned i = 0; i < 10000 && !word(n); i++)
		usleep(1000);
	CHECK_EQ(word(n), 1);
}

static void set_flag(void)
{
	__atomic_store_n(&rig.data[FLAG], NEW, __ATOMIC_RELEASE);
}

/* row 81 */
static void no_barrier_reads_too_early(void)
{
	uint64_t first = submit_first(ENDS), second;

	rig.ib_dw = SECOND;
	emit_look();
	emit_write(AT(FLAG), NEW);
	second = submit(SECOND, 0);
	CHECK_EQ(rig_wait(first), 0); /* which is over because the second has begun */
	CHECK_EQ(rig_wait(second), 0);
	CHECK_EQ(word(RESULT), NEW);
	CHECK_EQ(word(SEEN), OLD);
}

/* row 81 */
static void a_flush_waits_for_earlier_jobs(void)
{
	uint64_t first = submit_first(ENDS), second;

	rig.ib_dw = SECOND;
	emit_write(AT(BEGUN), 1);
	emit_flush();
	emit_look();
	second = submit(SECOND, 0);
	await_word(BEGUN);
	CHECK_EQ(rig_wait_ctx(rig.ctx, first, 0), 1);
	set_flag();
	CHECK_EQ(rig_wait(second), 0);
	CHECK_EQ(rig_wait_ctx(rig.ctx, first, 0), 0); /* fences of a ring are signalled in order */
	CHECK_EQ(word(SEEN), NEW);
}

/* row 81: the kernel has the ring wait for a job that was named, though it is of the same entity */
static void a_dependency_waits_for_the_end(void)
{
	uint64_t first = submit_first(ENDS), second;

	rig.ib_dw = SECOND;
	emit_write(AT(BEGUN), 1);
	emit_look();
	second = submit(SECOND, first);
	usleep(20000);
	CHECK_EQ(word(BEGUN), 0);
	set_flag();
	CHECK_EQ(rig_wait(second), 0);
	CHECK_EQ(word(SEEN), NEW);
}

/* Fences are signalled in order, though the second job has nothing left to do. */
static void ends_are_in_order(void)
{
	uint64_t first = submit_first(ENDS), second;

	rig.ib_dw = SECOND;
	emit_write(AT(BEGUN), 1);
	second = submit(SECOND, 0);
	await_word(BEGUN);
	usleep(20000);
	CHECK_EQ(rig_wait_ctx(rig.ctx, second, 0), 1);
	set_flag();
	CHECK_EQ(rig_wait(second), 0);
	CHECK_EQ(rig_wait_ctx(rig.ctx, first, 0), 0);
}

static void new_context(void)
{
	CHECK_EQ(rig_ctx_free(rig.ctx), 0);
	rig.ctx = rig_ctx();
}

/* row 97: the waves of the VM are killed, the second job's too; it ends all the same, and nobody is told. */
static void soft_recovery_spares_the_second_job(void)
{
	uint64_t first = submit_first(ENDS), second;

	rig.ib_dw = SECOND;
	emit_waiter();
	emit_write(AT(BEGUN), 1);
	second = submit(SECOND, 0);
	CHECK_EQ(rig_wait(second), 0);
	CHECK_EQ(rig_wait(first), -ENODATA);
	CHECK_EQ(word(BEGUN), 1);
	CHECK_EQ(word(RESULT), OLD);
	rig_nops();
	CHECK_EQ(rig_submit(rig.list, NULL), 0); /* the entity has the error of its last job, which has none */
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	new_context();
}

static int sync_file_of(uint64_t seq)
{
	union drm_amdgpu_fence_to_handle args = {
		.in = {.fence = {.ctx_id = rig.ctx, .ip_type = AMDGPU_HW_IP_COMPUTE, .seq_no = seq},
		       .what = AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD}};

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &args), 0);
	return (int)args.out.handle;
}

static int status_of(int sync_file)
{
	struct sync_file_info info = {0};

	CHECK_EQ(ioctl(sync_file, SYNC_IOC_FILE_INFO, &info), 0);
	close(sync_file);
	return info.status;
}

/* rows 97, 98: an illegal instruction in the first job, while the second is on the ring. */
static void a_reset_takes_the_second_job_along(void)
{
	uint64_t first = submit_first(ILLEGAL), second;
	int file = sync_file_of(first);

	rig.ib_dw = SECOND;
	emit_write(AT(BEGUN), 1);
	emit_wait_for(AT(SEEN), 1); /* which nobody writes */
	second = submit(SECOND, 0);
	await_word(BEGUN);
	set_flag();
	CHECK_EQ(rig_wait(second), -ECANCELED);
	CHECK_EQ(rig_wait(first), -ECANCELED); /* the entity's error, which is the last one's, comes first */
	CHECK_EQ(status_of(file), -ETIME);
	CHECK_EQ(rig_submit(rig.list, NULL), -ECANCELED);
	new_context();
	rig_nops();
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
}

static int wait_gfx(uint32_t ctx)
{
	union drm_amdgpu_wait_cs args = {.in = {UINT64_MAX, UINT64_MAX, AMDGPU_HW_IP_GFX, 0, 0, ctx}};
	int r = rig_call(DRM_IOCTL_AMDGPU_WAIT_CS, &args);

	return r ? r : (int)args.out.status;
}

/* rows 97, 98: a packet that hangs, while another context's job is on the ring. What becomes of that one? */
static int neighbour_of_a_hang(uint32_t *begun)
{
	uint32_t other = rig_ctx();
	int r;

	memset(rig.data, 0, 4096);
	rig.ib_dw = 0;
	emit_wait_for(AT(FLAG), NEW);
	emit(0xc000ff00); /* no packet */
	submit_to(rig.ctx, AMDGPU_HW_IP_GFX, 0, 0, 0);
	rig.ib_dw = SECOND;
	emit_write(AT(BEGUN), 1);
	submit_to(other, AMDGPU_HW_IP_GFX, SECOND, 0, 0);
	usleep(20000); /* both are on the ring */
	CHECK_EQ(word(BEGUN), 0);
	set_flag();
	CHECK_EQ(wait_gfx(rig.ctx), -ETIME);
	r = wait_gfx(other);
	*begun = word(BEGUN);
	CHECK_EQ(rig_ctx_free(other), 0);
	new_context();
	return r;
}

static void off_runs_one_after_the_other(void)
{
	uint64_t first, second;

	vgpu_set(VGPU_OVERLAP, false);
	first = submit_first(ENDS);
	rig.ib_dw = SECOND;
	emit_write(AT(BEGUN), 1);
	emit_look();
	second = submit(SECOND, 0);
	usleep(20000);
	CHECK_EQ(word(BEGUN), 0);
	set_flag();
	CHECK_EQ(rig_wait(first), 0);
	CHECK_EQ(rig_wait(second), 0);
	CHECK_EQ(word(SEEN), NEW);
}

/* --- what the order checker makes of it --- */

#define GO     4   /* what a job waits for before the others begin */
#define THIRD  256 /* dwords: where further IBs begin */
#define FOURTH 320

/* Writes to s[2:3]. */
static const uint32_t writer[] = {
	0x7e000280, /* v_mov_b32 v0, 0 */
	0xdc708000,
	0x00020000, /* global_store_dword v0, v0, s[2:3] */
	ENDS,
};

static void emit_writer(void)
{
	memcpy(rig.data + 0x300 / 4, writer, sizeof(writer));
	set_sh(0x240, 0);
	set_sh(0x241, 0);
	set_sh(0x242, (uint32_t)AT(RESULT));
	set_sh(0x243, 0);
	emit_dispatch_with(UC_VA + 0x300, 4);
}

static uint64_t submit_gate(void)
{
	memset(rig.data, 0, 4096);
	rig.ib_dw = 0;
	emit_wait_for(AT(GO), 1);
	return submit(0, 0);
}

static void open_gate(void)
{
	__atomic_store_n(&rig.data[GO], 1, __ATOMIC_RELEASE);
}

/* Of another context: `from` an IB that writes or copies the result, behind a job of after_ctx. */
static uint64_t submit_other(uint32_t ctx, uint32_t from, void (*emit_what)(void), uint32_t after_ctx,
			     uint64_t after)
{
	rig.ib_dw = from;
	emit_what();
	return submit_to(ctx, AMDGPU_HW_IP_COMPUTE, from, after_ctx, after);
}

/* Two that meet in one instant may miss each other's notes (vgpu/memory/order.c, struct mem_shadow): once more
 * then. */
static void check_found(void (*race)(uint32_t a, uint32_t b), uint32_t a, uint32_t b)
{
	unsigned long before = vgpu_findings();

	for (unsigned i = 0; i < 8 && vgpu_findings() == before; i++)
		race(a, b);
	CHECK_EQ(vgpu_findings() - before, 1);
}

/* Both begin after the same job, in whatever order. */
static void race_of_two_contexts(uint32_t a, uint32_t b)
{
	uint64_t gate = submit_gate(), look;

	submit_other(a, SECOND, emit_writer, rig.ctx, gate);
	look = submit_other(b, THIRD, emit_look, rig.ctx, gate);
	open_gate();
	CHECK_EQ(rig_wait_ctx(b, look, UINT64_MAX), 0);
	CHECK_EQ(rig_wait_ctx(a, UINT64_MAX, UINT64_MAX), 0);
}

/* row 82 */
static void two_contexts_need_a_dependency(uint32_t a, uint32_t b)
{
	unsigned long before;
	uint64_t gate, write, look;

	check_found(race_of_two_contexts, a, b);
	before = vgpu_findings();
	gate = submit_gate();
	write = submit_other(a, SECOND, emit_writer, rig.ctx, gate);
	look = submit_other(b, THIRD, emit_look, a, write);
	open_gate();
	CHECK_EQ(rig_wait_ctx(b, look, UINT64_MAX), 0);
	CHECK_EQ(vgpu_findings() - before, 0);
}

/* Of another context, in front of or behind point 5 of a timeline. */
static uint64_t submit_point(uint32_t ctx, uint32_t from, void (*emit_what)(void), uint32_t chunk_id, uint32_t sync)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA + 4 * from, 0, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk_syncobj point = {sync, 0, 5};
	struct drm_amdgpu_cs_chunk chunk[2] = {{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
					       {chunk_id, sizeof(point) / 4, (uintptr_t)&point}};
	uint64_t pointer[2] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {ctx, rig.list, 2, 0, (uintptr_t)pointer}};

	rig.ib_dw = from;
	emit_what();
	while (rig.ib_dw % 8)
		emit(RIG_NOP);
	ib.ib_bytes = 4 * (rig.ib_dw - from);
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), 0);
	return args.out.handle;
}

static void emit_gated_writer(void)
{
	emit_wait_for(AT(GO), 1);
	emit_writer();
}

/* A point of a timeline stands for the jobs behind it. */
static void a_timeline_orders_them(uint32_t a, uint32_t b)
{
	struct drm_syncobj_create sync = {0};
	struct drm_syncobj_destroy gone = {0};
	unsigned long before = vgpu_findings();
	uint64_t look;

	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_CREATE, &sync), 0);
	gone.handle = sync.handle;
	memset(rig.data, 0, 4096);
	submit_point(a, SECOND, emit_gated_writer, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, sync.handle);
	look = submit_point(b, THIRD, emit_look, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, sync.handle);
	open_gate();
	CHECK_EQ(rig_wait_ctx(b, look, UINT64_MAX), 0);
	CHECK_EQ(vgpu_findings() - before, 0);
	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_DESTROY, &gone), 0);
}

static void emit_release_and_wait(void)
{
	emit_writer();
	emit_release(AT(BEGUN), 1);
	emit_wait_for(AT(GO), 1);
}

/* row 82: the CPU may have looked, at a fence or at memory */
static void the_cpu_may_order_them(uint32_t a, uint32_t b)
{
	unsigned long before = vgpu_findings();

	memset(rig.data, 0, 4096);
	submit_other(a, SECOND, emit_writer, 0, 0);
	CHECK_EQ(rig_wait_ctx(a, UINT64_MAX, UINT64_MAX), 0);
	submit_other(b, THIRD, emit_look, 0, 0);
	CHECK_EQ(rig_wait_ctx(b, UINT64_MAX, UINT64_MAX), 0);
	memset(rig.data, 0, 4096);
	submit_other(a, SECOND, emit_release_and_wait, 0, 0);
	await_word(BEGUN); /* behind the wave; the job goes on */
	submit_other(b, FOURTH, emit_look, 0, 0);
	CHECK_EQ(rig_wait_ctx(b, UINT64_MAX, UINT64_MAX), 0);
	open_gate();
	CHECK_EQ(rig_wait_ctx(a, UINT64_MAX, UINT64_MAX), 0);
	CHECK_EQ(vgpu_findings() - before, 0);
}

static void emit_flush_and_look(void)
{
	emit_flush();
	emit_look();
}

static void race_of_one_ring(uint32_t a, uint32_t b)
{
	submit_gate();
	submit_other(a, SECOND, emit_writer, 0, 0);
	submit_other(b, THIRD, emit_look, 0, 0);
	open_gate();
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
}

/* row 81: two jobs of one ring, with nothing between them, with a flush, with a dependency */
static void two_jobs_need_a_flush(void)
{
	unsigned long before;
	uint64_t write;

	check_found(race_of_one_ring, rig.ctx, rig.ctx);
	before = vgpu_findings();
	submit_gate();
	submit_other(rig.ctx, SECOND, emit_writer, 0, 0);
	submit_other(rig.ctx, THIRD, emit_flush_and_look, 0, 0);
	open_gate();
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	submit_gate();
	write = submit_other(rig.ctx, SECOND, emit_writer, 0, 0);
	submit_other(rig.ctx, THIRD, emit_look, rig.ctx, write);
	open_gate();
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(vgpu_findings() - before, 0);
}

static void order_is_checked(void)
{
	uint32_t a = rig_ctx(), b = rig_ctx();

	two_contexts_need_a_dependency(a, b);
	a_timeline_orders_them(a, b);
	the_cpu_may_order_them(a, b);
	two_jobs_need_a_flush();
	CHECK_EQ(rig_ctx_free(a), 0);
	CHECK_EQ(rig_ctx_free(b), 0);
}

static void start(const char *spec)
{
	rig_start(spec);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, rig.data_bo, UC_VA, 4096, RIG_RWX | AMDGPU_VM_MTYPE_UC), 0);
}

int main(void)
{
	uint32_t begun;

	vgpu_strict_set(VGPU_STRICT_OFF);
	start("gfx908:watchdog_ms=500");
	off_runs_one_after_the_other();
	vgpu_set(VGPU_OVERLAP, true);
	rig_stop();
	start("gfx908:watchdog_ms=500");
	no_barrier_reads_too_early();
	a_flush_waits_for_earlier_jobs();
	a_dependency_waits_for_the_end();
	ends_are_in_order();
	soft_recovery_spares_the_second_job();
	a_reset_takes_the_second_job_along();
	no_barrier_reads_too_early();
	rig_stop();
	vgpu_set(VGPU_ORDER, true);
	start("gfx908");
	order_is_checked();
	rig_stop();
	vgpu_set(VGPU_ORDER, false);
	start("gfx906");
	CHECK_EQ(neighbour_of_a_hang(&begun), -ECANCELED);
	CHECK_EQ(begun, 0);
	rig_stop();
	start("gfx906:kernel=6.18");
	CHECK_EQ(neighbour_of_a_hang(&begun), 0); /* the kernel gives it to the ring once more */
	CHECK_EQ(begun, 1);
	rig_stop();
	return check_done("two jobs on a ring");
}
