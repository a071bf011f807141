/* Many buffers, jobs, points of a timeline: the work for one does not grow with their number, nor does the shared
 * segment with time. */
#include <pthread.h>
#include <stdlib.h>
#include "vgpu/kernel/base/core.h"
#include "vgpu/kernel/tests/test_packets.h"

enum { MANY = 100000, PARTS = 10, ROUNDS = 3000 };

#define PART (MANY / PARTS)

static uint64_t segment_used_B(void)
{
	uint64_t used_B;

	kern_lock();
	used_B = kern->heap_next;
	kern_unlock();
	return used_B;
}

/* Creates and maps one part of them; what it took. */
static double part(uint32_t *handle, uint64_t va)
{
	double begin = rig_now();
	unsigned bad = 0;

	for (unsigned i = 0; i < PART; i++) {
		bad += rig_create(4096, i & 1 ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT,
				  AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, &handle[i]) != 0;
		bad += rig_va(AMDGPU_VA_OP_MAP, handle[i], va + 4096ull * i, 4096, RIG_RWX) != 0;
	}
	CHECK_EQ(bad, 0);
	return rig_now() - begin;
}

/* Opening, mapping and closing: what the last tenth takes is printed beside the first. A quadratic step would make
 * it minutes; the runner's time limit is what such a step fails at, not a threshold here. */
static void a_hundred_thousand_buffers(void)
{
	uint32_t *handle = calloc(MANY, sizeof(*handle));
	double first = 0, last = 0, begin;
	unsigned bad = 0;

	if (!CHECK(handle))
		return;
	for (unsigned i = 0; i < PARTS; i++) {
		last = part(handle + i * PART, 0x10000000 + 4096ull * PART * i);
		first = i ? first : last;
	}
	printf("%u buffers: %.2f us each in the first tenth, %.2f in the last", MANY, first / PART * 1e6,
	       last / PART * 1e6);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	begin = rig_now();
	for (unsigned i = 0; i < MANY; i++) /* in an order of their own */
		bad += rig_close(handle[(uint64_t)i * 7919 % MANY]) != 0;
	CHECK_EQ(bad, 0);
	printf(", closing %.2f us\n", (rig_now() - begin) / MANY * 1e6);
	free(handle);
}

/* A program's life in short: memory comes and goes, lists change, jobs run, contexts are made anew. */
static void live(unsigned round)
{
	uint32_t bo, list;

	CHECK_EQ(rig_create(4096u << round % 5, round & 1 ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT,
			    AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &bo),
		 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, RIG_HOLE_VA, 4096, RIG_RWX), 0);
	list = rig_list(&bo, 1);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(rig_submit(list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(bo), 0);
	if (round % 16 == 0) {
		CHECK_EQ(rig_ctx_free(rig.ctx), 0);
		rig.ctx = rig_ctx();
	}
}

static void a_long_run_does_not_grow(void)
{
	uint64_t before_B;

	for (unsigned i = 0; i < 200; i++)
		live(i);
	before_B = segment_used_B();
	for (unsigned i = 0; i < ROUNDS; i++)
		live(i);
	if (!CHECK(segment_used_B() - before_B <= 64 << 10)) /* jobs may overlap their ends in another way */
		printf("  it grew by %llu bytes\n", (unsigned long long)(segment_used_B() - before_B));
}

/* A list may name a buffer as often as it has entries, and each job waits for the buffer's fences once. If each entry
 * waited for them, the jobs would take an hour, more than the runner's time limit. */
static void a_buffer_that_is_listed_often(void)
{
	enum { ENTRIES = 128 << 10, JOBS = 300 };
	struct drm_amdgpu_bo_list_entry *entry = calloc(ENTRIES, sizeof(*entry));
	union drm_amdgpu_bo_list args = {.in = {AMDGPU_BO_LIST_OP_CREATE, 0, ENTRIES, 8, (uintptr_t)entry}};
	uint32_t bo;
	double begin;

	if (!CHECK(entry))
		return;
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &bo), 0);
	for (unsigned i = 0; i < ENTRIES; i++)
		entry[i].bo_handle = i ? bo : rig.ib_bo;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_BO_LIST, &args), 0);
	begin = rig_now();
	for (unsigned i = 0; i < JOBS; i++)
		CHECK_EQ(rig_submit(args.out.list_handle, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	printf("%u jobs with a buffer listed %u times: %.3f s\n", JOBS, ENTRIES, rig_now() - begin);
	CHECK_EQ(rig_list_free(args.out.list_handle), 0);
	CHECK_EQ(rig_close(bo), 0);
	free(entry);
}

/* --- a timeline of many points that all wait for one job --- */

static uint32_t syncobj(void)
{
	struct drm_syncobj_create args = {0};

	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_CREATE, &args), 0);
	return args.handle;
}

static void destroy(uint32_t handle)
{
	struct drm_syncobj_destroy args = {.handle = handle};

	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_DESTROY, &args), 0);
}

static int add_point(uint32_t timeline, uint32_t from, uint64_t point)
{
	struct drm_syncobj_transfer args = {.src_handle = from, .dst_handle = timeline, .dst_point = point};

	return rig_call(DRM_IOCTL_SYNCOBJ_TRANSFER, &args);
}

/* What stands in the IB from `begin_dw` on, with one more chunk. */
static uint64_t submit_with(uint32_t begin_dw, uint32_t id, const void *data, uint32_t size_B)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA + 4 * begin_dw, 32, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk chunk[2] = {{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
					       {id, size_B / 4, (uintptr_t)data}};
	uint64_t pointer[2] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {rig.ctx, rig.list, 2, 0, (uintptr_t)pointer}};

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), 0);
	return args.out.handle;
}

static uint64_t submit_gate(uint32_t sync)
{
	struct drm_amdgpu_cs_chunk_sem out = {sync};

	rig.data[0] = rig.ib_dw = 0;
	emit_wait_for(RIG_DATA_VA, 1);
	for (unsigned i = 0; i < 9; i++)
		emit(RIG_NOP);
	return submit_with(0, AMDGPU_CHUNK_ID_SYNCOBJ_OUT, &out, sizeof(out));
}

/* Each point holds the one before; they are walked through, signalled and freed without a stack frame for each. */
static void a_hundred_thousand_points(bool waited_for)
{
	uint32_t job = syncobj(), timeline = syncobj();
	struct drm_amdgpu_cs_chunk_syncobj in = {timeline, 0, MANY + 64};
	uint64_t seq = submit_gate(job);
	unsigned bad = 0;

	for (uint64_t i = 1; i <= MANY; i++)
		bad += add_point(timeline, job, i) != 0;
	for (uint64_t i = 1; i <= 64; i++) /* each of the one before, twice: 2^64 ways to the first */
		bad += add_point(timeline, timeline, MANY + i) != 0;
	CHECK_EQ(bad, 0);
	if (waited_for)
		seq = submit_with(8, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, &in, sizeof(in));
	destroy(timeline);
	destroy(job);
	__atomic_store_n(&rig.data[0], 1, __ATOMIC_RELEASE);
	CHECK_EQ(rig_wait(seq), 0);
}

/* Jobs that the newest one of this process is known to come after. */
static unsigned jobs_before_newest(void)
{
	const struct kern_job *newest = NULL;

	kern_lock();
	for (unsigned i = 0; i < KERN_IPS * KERN_HW_RINGS; i++) {
		const struct kern_ring *ring = kern->proc[kern_local.slot].rings[i];

		for (const struct kern_list *pos = ring ? ring->jobs.next : NULL; ring && pos != &ring->jobs;
		     pos = pos->next)
			newest = kern_entry(pos, struct kern_job, link);
	}
	kern_unlock();
	return newest ? newest->afters : 0;
}

/* A job that waits for each of the points by itself: what the points have in common is visited once. */
static void a_wait_for_each_point(void)
{
	struct drm_amdgpu_cs_chunk_syncobj *in = calloc(MANY, sizeof(*in));
	uint32_t job = syncobj(), timeline = syncobj();
	uint64_t seq = submit_gate(job);
	double begin;
	unsigned bad = 0;

	if (!CHECK(in))
		return;
	for (uint64_t i = 0; i < MANY; i++) {
		bad += add_point(timeline, job, i + 1) != 0;
		in[i] = (struct drm_amdgpu_cs_chunk_syncobj){timeline, 0, i + 1};
	}
	CHECK_EQ(bad, 0);
	begin = rig_now();
	seq = submit_with(8, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, in, MANY * (uint32_t)sizeof(*in));
	printf("a job that waits for %u points: %.3f s\n", MANY, rig_now() - begin);
	CHECK_EQ(jobs_before_newest(), 1);
	destroy(timeline);
	destroy(job);
	free(in);
	__atomic_store_n(&rig.data[0], 1, __ATOMIC_RELEASE);
	CHECK_EQ(rig_wait(seq), 0);
}

static void *points(void *unused)
{
	(void)unused;
	a_hundred_thousand_points(false);
	a_hundred_thousand_points(true);
	a_wait_for_each_point();
	return NULL;
}

static void with_little_stack(void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 512 << 10);
	r = pthread_create(&thread, &attr, run, NULL);
	if (!r)
		pthread_join(thread, NULL);
	CHECK_EQ(r, 0); /* checks are counted by one thread at a time */
	pthread_attr_destroy(&attr);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	rig_start("null:gfx908");
	a_long_run_does_not_grow();
	rig_stop();
	rig_start("null:gfx908");
	a_hundred_thousand_buffers();
	a_buffer_that_is_listed_often();
	rig_stop();
	rig_start("gfx908");
	with_little_stack(points);
	rig_stop();
	return check_done("scale");
}
