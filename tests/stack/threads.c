/* Eight threads on one device: submission on rings of their own and shared ones, copies, memory, code, all at once.
 * Under ThreadSanitizer this is the test of every lock. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

#define THREADS 8
#define ROUNDS  30

static struct stack s;
static struct cs_code *code;

struct worker {
	pthread_t thread;
	unsigned index;
	const char *failed; /* what went wrong, NULL if nothing */
	int error;
};

#define TRY(w, call)                                                                                               \
	do {                                                                                                       \
		int r_ = (call);                                                                                   \
		if (r_) {                                                                                          \
			(w)->failed = #call;                                                                       \
			(w)->error = r_;                                                                           \
			return NULL;                                                                               \
		}                                                                                                  \
	} while (0)

static int add(struct cs_ring *ring, const struct vm_mem *m, uint32_t value, struct cs_point *point)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {m->va, value};
	struct cs_dispatch d = {.grid = {64, 1, 1}, .group = {64, 1, 1}, .args = &args, .args_B = 12};
	struct cs_ib *ib;
	int r = cs_code_kernel(code, "k_add", &d.kernel);

	r = r ? r : cs_begin(ring, CS_ORDERED, &ib);
	if (r)
		return r;
	r = cs_ib_dispatch(ib, &d);
	if (r) {
		cs_abandon(ib);
		return r;
	}
	return cs_submit(ib, NULL, point);
}

/* Even threads share the ring of the stack; odd ones have a context of their own. */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct cs_ctx *ctx = NULL;
	struct cs_ring *ring = s.ring;
	struct vm_mem *m = stack_gtt(&s, 4096), *vram = stack_vram(&s, 65536);
	static uint8_t host[THREADS][65536];
	uint32_t want = w->index;

	if (w->index & 1) {
		TRY(w, cs_ctx_create(s.vm, CS_PRIORITY_NORMAL, &ctx));
		TRY(w, cs_ring_create(ctx, DRV_IP_COMPUTE, w->index % 4, cs_pm4_print, &ring));
	}
	*(uint32_t *)m->map = want;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct sdma_job in = {.size_B = 65536,
				      .dst = {vram->va, SDMA_VRAM, false},
				      .src = {(uintptr_t)host[w->index], SDMA_PAGEABLE, true}};
		struct sdma_job out = {
			.size_B = 65536, .src = in.dst, .dst = in.src, .after = &in.point, .after_count = 1};
		struct vm_info info = {.size_B = 300 + i * 50, .kind = VM_GTT, .flags = VM_CPU};
		struct vm_piece piece;
		struct cs_point point;

		TRY(w, vm_piece_alloc(s.vm, &info, &piece));
		*(uint32_t *)piece.map = i;
		TRY(w, add(ring, m, i, &point));
		host[w->index][i] = i + 1;
		TRY(w, sdma_copier_copy(s.copier, &in));
		TRY(w, sdma_copier_copy(s.copier, &out));
		TRY(w, cs_point_wait(point, CS_FOREVER));
		want = want * 3 + i;
		TRY(w, *(uint32_t *)m->map != want);
		TRY(w, host[w->index][i] != i + 1);
		vm_piece_free(&piece);
	}
	if (ctx) {
		cs_ring_destroy(ring);
		cs_ctx_destroy(ctx);
	}
	vm_mem_destroy(m);
	vm_mem_destroy(vram);
	return NULL;
}

int main(void)
{
	struct worker worker[THREADS];

	CHECK_EQ(vgpu_start("gfx908"), 0);
	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(stack_load(&s, "group", 3, &code), 0))
		return check_done("threads");
	for (unsigned i = 0; i < THREADS; i++) {
		worker[i] = (struct worker){.index = i};
		CHECK_EQ(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(worker[i].thread, NULL);
		if (!CHECK(!worker[i].failed))
			printf("  thread %u: %s gave %d\n", i, worker[i].failed, worker[i].error);
	}
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
	return check_done("eight threads on one device");
}
