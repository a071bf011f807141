/* User queues: submissions are stores, and order, waits, exports and losses are those of the kernel's rings. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define SPEC          "gfx1100:kernel=7.0:userq=1:watchdog_ms=60000"
#define GEM_CREATE    0x40
#define CS            0x44
#define USERQ         0x56
#define USERQ_SIGNAL  0x57
#define TIMELINE_WAIT 0xca

static struct stack s, other;
static struct vm_mem *words; /* 0: the CPU's; from 1 on: the jobs' */

/* A queue with a context of its own. */
struct queue {
	struct cs_ctx *ctx;
	struct cs_ring *ring;
};

static struct queue queue_create(const struct stack *of)
{
	struct queue q = {0};

	CHECK_EQ(cs_ctx_create(of->vm, CS_PRIORITY_NORMAL, &q.ctx), 0);
	CHECK_EQ(cs_ring_create_user(q.ctx, cs_pm4_print, &q.ring), 0);
	return q;
}

static void queue_destroy(struct queue *q)
{
	cs_ring_destroy(q->ring);
	cs_ctx_destroy(q->ctx);
}

static volatile uint32_t *word(unsigned i)
{
	return (uint32_t *)words->map + i;
}

static uint64_t word_va(unsigned i)
{
	return words->va + 4 * i;
}

/* A job that waits until word[wait] is at least value (0: it does not), then adds to nothing and writes word[to]. */
static struct cs_fence write_job(struct cs_ring *ring, unsigned wait, uint32_t value, unsigned to, uint32_t what,
				 const struct cs_submit_info *info)
{
	struct cs_fence fence = {0};
	struct cs_ib *ib;

	CHECK_EQ(cs_begin(ring, CS_ORDERED, &ib), 0);
	if (value)
		cs_ib_wait_word(ib, word_va(wait), value);
	cs_ib_write(ib, word_va(to), &what, 1);
	CHECK_EQ(cs_submit(ib, info, &fence), 0);
	return fence;
}

/* Memory that both poll. */
static struct vm_mem *words_create(void)
{
	const struct vm_info info = {.size_B = 4096, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED};
	struct vm_mem *mem = NULL;

	CHECK_EQ(vm_mem_create(s.vm, &info, &mem), 0);
	return mem;
}

static void words_clear(void)
{
	memset(words->map, 0, words->size_B);
}

/* Everything but the wait is a store; a wait that spins long enough needs no ioctl, either. */
static void submissions_make_no_ioctl(void)
{
	struct queue q = queue_create(&s);
	struct cs_fence fence = write_job(q.ring, 0, 0, 1, 1, NULL);
	unsigned long before;

	CHECK_EQ(cs_fence_wait(fence, CS_FOREVER), 0);
	before = vgpu_ioctl_count();
	for (uint32_t i = 0; i < 200; i++) {
		fence = write_job(q.ring, 0, 0, 1, i, NULL);
		while (!cs_fence_poll(fence))
			;
		CHECK_EQ(*word(1), i);
	}
	CHECK_EQ(vgpu_ioctl_count() - before, 0);
	CHECK_EQ(vgpu_ioctl_count_nr(CS), 0);
	queue_destroy(&q);
}

/* More jobs than the ring has places for, each behind many fences of several rings. */
static void the_ring_goes_round(void)
{
	struct queue q[8];
	struct cs_fence after[7 * 4];
	const struct cs_submit_info info = {.after = after, .after_count = 7 * 4};

	for (unsigned i = 0; i < 8; i++)
		q[i] = queue_create(&s);
	for (uint32_t turn = 1; turn < 200; turn++) {
		for (unsigned i = 0; i < info.after_count; i++)
			after[i] = write_job(q[1 + i % 7].ring, 0, 0, 2 + i % 7, turn, NULL);
		(void)write_job(q[0].ring, 2, turn, 1, turn, &info);
	}
	CHECK_EQ(cs_fence_wait(cs_ring_last(q[0].ring), CS_FOREVER), 0);
	CHECK_EQ(*word(1), 199);
	for (unsigned i = 0; i < 8; i++)
		queue_destroy(&q[i]);
}

/* A job of any ring waits for one of any other: both kinds, in a chain. */
static void rings_wait_for_one_another(void)
{
	struct queue a = queue_create(&s), b = queue_create(&s);
	struct cs_ring *chain[] = {a.ring, b.ring, s.ring, a.ring, s.ring, b.ring};
	struct cs_fence fence = {0};

	words_clear();
	for (unsigned i = 0; i < 6; i++) {
		const struct cs_submit_info info = {.after = &fence, .after_count = i > 0};

		/* The first waits for the CPU; each of the others would write too early. */
		fence = write_job(chain[i], 0, !i, 1, i + 1, &info);
	}
	usleep(20000);
	CHECK_EQ(*word(1), 0);
	CHECK_EQ(cs_fence_poll(fence), 0);
	*word(0) = 1;
	CHECK_EQ(cs_fence_wait(fence, CS_FOREVER), 0);
	CHECK_EQ(*word(1), 6);
	queue_destroy(&a);
	queue_destroy(&b);
}

static void copies_wait_and_are_waited_for(void)
{
	struct queue q = queue_create(&s);
	struct vm_mem *vram = stack_vram(&s, 4096);
	struct cs_fence fence;
	struct sdma_job in = {.size_B = 4096,
			      .dst = {vram->va, SDMA_VRAM, false},
			      .src = {words->va, SDMA_GTT, false},
			      .after = &fence,
			      .after_count = 1},
			out = {.size_B = 4096, .dst = in.src, .src = in.dst, .after = &fence, .after_count = 1};

	words_clear();
	fence = write_job(q.ring, 0, 0, 3, 33, NULL);
	CHECK_EQ(sdma_copier_copy(s.copier, &in), 0);
	fence = write_job(q.ring, 0, 0, 3, 44, &(struct cs_submit_info){.after = &in.fence, .after_count = 1});
	CHECK_EQ(sdma_copier_copy(s.copier, &out), 0);
	CHECK_EQ(cs_fence_wait(out.fence, CS_FOREVER), 0);
	CHECK_EQ(*word(3), 33);
	vm_mem_destroy(vram);
	queue_destroy(&q);
}

/* What a kernel wrote into cached memory is in memory when its job has ended. */
static void results_reach_the_cpu(void)
{
	struct queue q = queue_create(&s);
	struct vm_mem *data = stack_gtt(&s, 4096);
	struct stack on_queue = s;
	struct cs_code *code;
	uint32_t *value = data->map;

	on_queue.ring = q.ring;
	CHECK_EQ(stack_load(&s, "group", 1, &code), 0);
	value[7] = 5;
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(stack_add(&on_queue, code, data->va, 1), 0);
	CHECK_EQ(value[7], ((5 * 3 + 1) * 3 + 1) * 3 + 1);
	cs_code_unload(code);
	vm_mem_destroy(data);
	queue_destroy(&q);
}

/* A thread that sleeps asks for one fence, and is not held up by a later job of the ring. */
static void sleeping_threads_are_woken(void)
{
	struct queue q = queue_create(&s);
	struct cs_fence first, second;
	unsigned long before;
	unsigned index;

	words_clear();
	first = write_job(q.ring, 0, 1, 1, 1, NULL);
	CHECK_EQ(cs_fence_wait(first, 5000000), -ETIMEDOUT);
	before = vgpu_ioctl_count();
	CHECK_EQ(cs_fence_wait(first, 100000000), -ETIMEDOUT);
	CHECK(vgpu_ioctl_count() - before < 100);
	second = write_job(q.ring, 4, 1, 1, 2, NULL);
	*word(0) = 1;
	CHECK_EQ(cs_fence_wait(first, CS_FOREVER), 0);
	CHECK_EQ(cs_fence_poll(second), 0);
	first = write_job(s.ring, 5, 1, 6, 1, NULL);
	CHECK_EQ(cs_fences_wait_any((struct cs_fence[]){first, second}, 2, 30000000, &index), -ETIMEDOUT);
	*word(4) = 1;
	CHECK_EQ(cs_fences_wait_any((struct cs_fence[]){first, second}, 2, CS_FOREVER, &index), 0);
	CHECK_EQ(index, 1);
	*word(5) = 1;
	CHECK_EQ(cs_fence_wait(first, CS_FOREVER), 0);
	queue_destroy(&q);
}

static void fences_are_exported(void)
{
	struct queue q = queue_create(&s);
	struct cs_fence fence;
	struct pollfd file = {.events = POLLIN};

	words_clear();
	fence = write_job(q.ring, 0, 1, 1, 1, NULL);
	CHECK_EQ(cs_fence_sync_file(fence, &file.fd), 0);
	CHECK_EQ(poll(&file, 1, 0), 0);
	*word(0) = 1;
	CHECK_EQ(poll(&file, 1, 10000), 1);
	close(file.fd);
	CHECK_EQ(cs_fence_wait(fence, CS_FOREVER), 0);
	queue_destroy(&q);
}

/* Syncobjs, also timelines, and jobs of another device, on both sides. */
static void others_wait_and_are_waited_for(void)
{
	struct queue q = queue_create(&s), far = queue_create(&other);
	struct cs_syncobj sync, done;
	struct cs_syncobj_point wait = {&sync, 0}, signal = {&done, 7};
	struct cs_fence fence, theirs;
	struct cs_ib *ib;

	words_clear();
	CHECK_EQ(cs_syncobj_init(s.vm, false, &sync), 0);
	CHECK_EQ(cs_syncobj_init(s.vm, false, &done), 0);
	CHECK_EQ(cs_begin(q.ring, 0, &ib), 0);
	CHECK_EQ(cs_submit(ib, &(struct cs_submit_info){.wait = &wait, .wait_count = 1}, NULL), -ENOENT);
	(void)write_job(s.ring, 0, 1, 1, 1, &(struct cs_submit_info){.signal = &wait, .signal_count = 1});
	fence = write_job(
		q.ring, 0, 0, 1, 2,
		&(struct cs_submit_info){.wait = &wait, .signal = &signal, .wait_count = 1, .signal_count = 1});
	CHECK_EQ(cs_begin(far.ring, 0, &ib), 0);
	CHECK_EQ(cs_submit(ib, &(struct cs_submit_info){.after = &fence, .after_count = 1}, &theirs), 0);
	(void)write_job(q.ring, 0, 0, 1, 3, &(struct cs_submit_info){.after = &theirs, .after_count = 1});
	CHECK_EQ(cs_syncobj_wait(&done, 7, 20000000), -ETIMEDOUT);
	CHECK_EQ(cs_fence_poll(theirs), 0);
	CHECK_EQ(*word(1), 0);
	*word(0) = 1;
	CHECK_EQ(cs_syncobj_wait(&done, 7, CS_FOREVER), 0);
	CHECK_EQ(cs_fence_wait(cs_ring_last(q.ring), CS_FOREVER), 0);
	CHECK_EQ(*word(1), 3);
	cs_syncobj_fini(&sync);
	cs_syncobj_fini(&done);
	queue_destroy(&q);
	queue_destroy(&far);
}

/* The job is in the queue already, and nothing can take it back: the queue runs no more, and no later job is taken for
 * this one. */
static void a_signal_that_fails_loses_the_queue(void)
{
	struct queue q = queue_create(&s);
	struct cs_syncobj done;
	struct cs_syncobj_point signal = {&done, 0};
	const struct cs_submit_info info = {.signal = &signal, .signal_count = 1};
	struct cs_ib *ib;

	words_clear();
	CHECK_EQ(cs_syncobj_init(s.vm, false, &done), 0);
	CHECK_EQ(cs_begin(q.ring, 0, &ib), 0);
	cs_ib_wait_word(ib, word_va(0), 1);
	cs_ib_write(ib, word_va(1), &(uint32_t){1}, 1);
	vgpu_inject_ioctl_chance(USERQ_SIGNAL, 1000000, EINVAL);
	CHECK_EQ(cs_submit(ib, &info, NULL), -ECANCELED);
	vgpu_inject_ioctl_chance(USERQ_SIGNAL, 0, 0);
	CHECK_EQ(cs_begin(q.ring, 0, &ib), -ECANCELED);
	*word(0) = 1;
	CHECK_EQ(cs_fence_wait(write_job(s.ring, 0, 0, 2, 1, NULL), CS_FOREVER), 0);
	CHECK_EQ(*word(1), 0);
	cs_syncobj_fini(&done);
	queue_destroy(&q);
}

/* Without memory for the signal the job is not in the queue. */
static void a_gate_that_cannot_be_made_runs_nothing(void)
{
	struct queue q = queue_create(&s);
	struct cs_syncobj done;
	struct cs_syncobj_point signal = {&done, 0};
	const struct cs_submit_info info = {.signal = &signal, .signal_count = 1};
	unsigned long before;
	struct cs_ib *ib;

	words_clear();
	CHECK_EQ(cs_syncobj_init(s.vm, false, &done), 0);
	CHECK_EQ(cs_begin(q.ring, 0, &ib), 0);
	cs_ib_write(ib, word_va(1), &(uint32_t){1}, 1);
	before = vgpu_ioctl_count_nr(GEM_CREATE);
	vgpu_inject_ioctl_chance(GEM_CREATE, 1000000, ENOMEM);
	int r = cs_submit(ib, &info, NULL);
	vgpu_inject_ioctl_chance(GEM_CREATE, 0, 0);
	if (vgpu_ioctl_count_nr(GEM_CREATE) > before) {
		CHECK_EQ(r, -ENOMEM);
		CHECK_EQ(cs_fence_wait(write_job(q.ring, 0, 0, 2, 1, NULL), CS_FOREVER), 0);
		CHECK_EQ(*word(1), 0);
	} else {
		CHECK_EQ(r, 0);
	}
	cs_syncobj_fini(&done);
	queue_destroy(&q);
}

/* Once for all that was mapped since. */
static void new_memory_is_waited_for(void)
{
	struct queue q = queue_create(&s);
	unsigned long before;
	struct vm_mem *mem;

	CHECK_EQ(cs_fence_wait(write_job(q.ring, 0, 0, 1, 1, NULL), CS_FOREVER), 0);
	before = vgpu_ioctl_count_nr(TIMELINE_WAIT);
	mem = stack_gtt(&s, 4096);
	CHECK(vm_updates_pending(s.vm));
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(cs_fence_wait(write_job(q.ring, 0, 0, 1, 1, NULL), CS_FOREVER), 0);
	CHECK(!vm_updates_pending(s.vm));
	CHECK(vgpu_ioctl_count_nr(TIMELINE_WAIT) > before);
	vm_mem_destroy(mem);
	queue_destroy(&q);
}

/* The kernel ends the queue at the time limit of a fence. Other queues of the process go on. */
static void a_queue_that_hangs_is_lost(void)
{
	struct queue bad = queue_create(&s), good = queue_create(&s);
	struct cs_fence fence, behind;
	struct cs_ib *ib;

	words_clear();
	fence = write_job(bad.ring, 0, 1, 1, 1, NULL);
	CHECK_EQ(cs_fence_wait(fence, CS_FOREVER), -ECANCELED);
	CHECK_EQ(cs_fence_poll(fence), -ECANCELED);
	CHECK_EQ(cs_begin(bad.ring, 0, &ib), -ECANCELED);
	CHECK_EQ(cs_begin(good.ring, 0, &ib), 0);
	CHECK_EQ(cs_submit(ib, &(struct cs_submit_info){.after = &fence, .after_count = 1}, NULL), -ECANCELED);
	behind = write_job(good.ring, 0, 0, 2, 2, NULL);
	CHECK_EQ(cs_fence_wait(behind, CS_FOREVER), 0);
	CHECK(cs_fence_is_retired(fence));
	CHECK_EQ(*word(1), 0);
	queue_destroy(&bad);
	queue_destroy(&good);
}

static void creation_leaves_nothing_behind(void)
{
	struct vm_stats before, after;
	struct cs_ring *ring, *again;
	struct cs_ctx *ctx;

	CHECK_EQ(cs_ctx_create(s.vm, CS_PRIORITY_NORMAL, &ctx), 0);
	vm_stats(s.vm, &before);
	vgpu_inject_ioctl_nr(USERQ, 1, ENOMEM);
	CHECK_EQ(cs_ring_create_user(ctx, cs_pm4_print, &ring), -ENOMEM);
	vm_stats(s.vm, &after);
	CHECK_EQ(after.bos, before.bos);
	CHECK_EQ(cs_ring_create_user(ctx, cs_pm4_print, &ring), 0);
	CHECK_EQ(cs_ring_create_user(ctx, cs_pm4_print, &again), -EBUSY);
	cs_ring_destroy(ring);
	cs_ctx_destroy(ctx);
}

/* Runs a test on a device of its own. */
static void run_alone(const char *spec, void (*test)(void))
{
	CHECK_EQ(vgpu_start(spec), 0);
	if (CHECK_EQ(stack_open(&s), 0)) {
		words = words_create();
		test();
		vm_mem_destroy(words);
		stack_close(&s);
	}
	vgpu_stop();
}

/* Before Linux 7.0 nothing ends a job that hangs: the thread that waits gives the queue up after a minute. */
static void a_stuck_queue_is_given_up(void)
{
	struct queue q = queue_create(&s);

	CHECK_EQ(cs_fence_wait(write_job(q.ring, 0, 1, 1, 1, NULL), CS_FOREVER), -ECANCELED);
	queue_destroy(&q);
}

int main(void)
{
	setenv("TUFF_USERQ", "1", 1);
	CHECK_EQ(vgpu_start(SPEC "," SPEC), 0);
	if (CHECK_EQ(stack_open(&s), 0) && CHECK_EQ(stack_open_at(&other, 1, s.vm), 0)) {
		CHECK(drv_uses_user_queues(s.dev));
		words = words_create();
		submissions_make_no_ioctl();
		the_ring_goes_round();
		rings_wait_for_one_another();
		copies_wait_and_are_waited_for();
		results_reach_the_cpu();
		sleeping_threads_are_woken();
		fences_are_exported();
		others_wait_and_are_waited_for();
		a_signal_that_fails_loses_the_queue();
		a_gate_that_cannot_be_made_runs_nothing();
		new_memory_is_waited_for();
		creation_leaves_nothing_behind();
		vm_mem_destroy(words);
		stack_close(&other);
		stack_close(&s);
	}
	CHECK_EQ(vgpu_findings(), 0);
	vgpu_stop();
	run_alone("gfx1100:kernel=7.0:userq=1:watchdog_ms=300", a_queue_that_hangs_is_lost);
	if (getenv("TUFF_TEST_LONG"))
		run_alone("gfx1100:kernel=6.18:userq=1", a_stuck_queue_is_given_up);
	return check_done("user queues");
}
