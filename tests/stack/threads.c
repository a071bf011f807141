/* Eight threads create and destroy suballocations of the same slabs: each suballocation has one owner. Threads as
 * the user of a device sees them: tests/device/threads.c. */
#include <pthread.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"
#include "vm/suballoc.h"

enum { THREADS = 8, ROUNDS = 300, HELD = 16 };

static struct stack s;

static void *cut_and_give_back(void *index)
{
	uint32_t random_seed = (uint32_t)(uintptr_t)index + 1;
	uint64_t random = random_seed, bad = 0;
	struct vm_suballoc held[HELD] = {0};

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct vm_info info = {.size_B = 8 + test_random(&random) % 20000, .kind = VM_GTT, .flags = VM_CPU};
		struct vm_suballoc *piece = &held[i % HELD];

		if (piece->map) {
			bad += *(uint64_t *)piece->map != piece->va + random_seed;
			vm_suballoc_destroy(piece);
		}
		if (vm_suballoc_create(s.vm, &info, piece)) {
			*piece = (struct vm_suballoc){0};
			bad++;
			continue;
		}
		*(uint64_t *)piece->map = piece->va + random_seed;
	}
	for (unsigned i = 0; i < HELD; i++) {
		bad += !held[i].map || *(uint64_t *)held[i].map != held[i].va + random_seed;
		vm_suballoc_destroy(&held[i]);
	}
	return (void *)(uintptr_t)bad;
}

int main(void)
{
	struct vm_stats before, after;
	pthread_t thread[THREADS];
	void *bad;

	CHECK_EQ(vgpu_start("gfx908"), 0);
	if (!CHECK_EQ(stack_open(&s), 0))
		return check_done("threads");
	vm_stats(s.vm, &before);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, cut_and_give_back, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &bad);
		CHECK_EQ((uintptr_t)bad, 0);
	}
	vm_stats(s.vm, &after);
	CHECK(after.bos <= before.bos + 8); /* one empty slab a class may stay */
	stack_close(&s);
	vgpu_stop();
	return check_done("eight threads on the same slabs");
}
