/* Pools of a single vm: which chunks are always valid, what an export does to them, and which stay mapped while
 * jobs run. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "pool/pool.h"
#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

#define PAGE 4096ull
#define MIB  (1ull << 20)

static struct stack s;
static struct pool_space *space;
static bool job_runs;   /* result of the watch's busy() */
static unsigned landed; /* calls of the watch's pt_sync() */

static bool busy(void *user, unsigned vm)
{
	CHECK(user == &s && vm == 0);
	return job_runs;
}

static void land(void *user, unsigned vm)
{
	CHECK(user == &s && vm == 0);
	landed++;
}

static struct pool *make(enum pool_placement home, unsigned flags)
{
	struct pool_info info = {.placement = home, .flags = flags};
	struct pool *pool;

	return CHECK_EQ(pool_create(space, &info, &pool), 0) ? pool : NULL;
}

static struct pool_block *take(struct pool *pool, uint64_t size_B)
{
	struct pool_block *block;

	return CHECK_EQ(pool_alloc(pool, size_B, &block), 0) ? block : NULL;
}

static uint64_t reserved_B(struct pool *pool)
{
	struct pool_stats stats;

	pool_stats(pool, &stats);
	return stats.reserved_B;
}

static bool is_resident(const struct pool_block *block)
{
	struct vm_bound bound;

	return CHECK_EQ(vm_query(s.vm, block->va, &bound), 0) && bound.flags & VM_RESIDENT;
}

static bool is_mapped(uint64_t va)
{
	struct vm_bound bound;

	return !vm_query(s.vm, va, &bound);
}

static void up_to_a_size(void)
{
	struct pool *vram = make(POOL_VRAM, 0), *gtt = make(POOL_GTT, VM_CPU), *node = make(POOL_HOST, VM_CPU);

	CHECK(is_resident(take(vram, PAGE)));
	CHECK(is_resident(take(vram, pool_resident_max_B(s.vm))));
	CHECK(!is_resident(take(vram, pool_resident_max_B(s.vm) + PAGE)));
	CHECK(is_resident(take(gtt, 3 * MIB)));
	CHECK(!is_resident(take(node, 3 * MIB)));
	pool_destroy(vram);
	pool_destroy(gtt);
	pool_destroy(node);
}

static int copy_up(void *user, uint64_t dst, uint64_t src, uint64_t size_B)
{
	struct sdma_job job = {.dst = {dst, SDMA_VRAM}, .src = {src, SDMA_VRAM}, .size_B = size_B};
	int r = sdma_copier_copy(user, &job);

	return r ? r : cs_fence_wait(job.fence, CS_FOREVER);
}

/* The dma-buf has the block's content; later writes are visible to both. */
static void exported(uint64_t size_B, unsigned flags, pool_copy_fn *copy)
{
	struct pool *pool = make(POOL_VRAM, VM_CPU | flags);
	struct pool_block *block = take(pool, size_B), *near = take(pool, size_B);
	struct vm_mem *seen;
	uint8_t *map = block->map;
	int fd[2];

	memset(map, 7, size_B);
	CHECK(pool_export_moves(block));
	CHECK_EQ(pool_export(block, copy, s.copier, &fd[0]), 0);
	CHECK(!is_resident(block));
	CHECK(is_resident(near));
	CHECK(!pool_export_moves(block));
	CHECK_EQ(pool_export(block, NULL, NULL, &fd[1]), 0);
	if (CHECK_EQ(vm_mem_import(s.vm, fd[0], &seen), 0)) {
		const uint8_t *far = seen->map;

		CHECK_EQ(seen->size_B, size_B);
		CHECK(far[0] == 7 && far[size_B - 1] == 7);
		map[0] = map[size_B - 1] = 8;
		CHECK(far[0] == 8 && far[size_B - 1] == 8);
		vm_mem_destroy(seen);
	}
	close(fd[0]);
	close(fd[1]);
	pool_free(block, NULL, 0);
	pool_free(near, NULL, 0);
	pool_destroy(pool);
}

static void nobody_copies(void)
{
	struct pool *pool = make(POOL_VRAM, 0);
	struct pool_block *block = take(pool, MIB);
	int fd;

	CHECK_EQ(pool_export(block, NULL, NULL, &fd), -EINVAL);
	CHECK(is_resident(block));
	pool_destroy(pool);
}

static void landed_while_jobs_run(void)
{
	struct pool *pool = make(POOL_VRAM, 0);

	landed = 0;
	take(pool, PAGE);
	take(pool, MIB);
	CHECK_EQ(landed, 0);
	job_runs = true;
	take(pool, PAGE); /* of the slab */
	CHECK_EQ(landed, 0);
	take(pool, 2 * PAGE);
	CHECK_EQ(landed, 1);
	take(pool, MIB);
	CHECK_EQ(landed, 2);
	take(pool, pool_resident_max_B(s.vm) + PAGE); /* running jobs do not reach it anyway: not always valid */
	CHECK_EQ(landed, 2);
	job_runs = false;
	pool_destroy(pool);
}

/* Frees a block while a job runs, which then ends; another job goes on. */
static void free_under_a_job(struct pool_block *block)
{
	struct vm_info info = {.size_B = PAGE, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED};
	struct cs_fence end;
	struct vm_mem *gate;
	struct cs_ib *ib;

	CHECK_EQ(vm_mem_create(s.vm, &info, &gate), 0);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	cs_ib_wait_word(ib, gate->va, 1);
	CHECK_EQ(cs_submit(ib, NULL, &end), 0);
	pool_free(block, &end, 1);
	__atomic_store_n((uint32_t *)gate->map, 1, __ATOMIC_RELEASE);
	cs_fence_retire(end);
	vm_mem_destroy(gate);
}

static void at_rest(void)
{
	struct pool *pool = make(POOL_VRAM, 0);
	struct pool_block *block = take(pool, 3 * MIB), *small = take(pool, PAGE);
	uint64_t va = block->va, before_B = reserved_B(pool);

	job_runs = true;
	free_under_a_job(block);
	CHECK_EQ(reserved_B(pool), before_B);
	take(pool, PAGE); /* checks the deferrals */
	CHECK(is_mapped(va));
	CHECK_EQ(reserved_B(pool), before_B);
	CHECK(take(pool, 4 * MIB)->va != va); /* another size */
	landed = 0;
	block = take(pool, 3 * MIB);
	CHECK_EQ(block->va, va);
	CHECK_EQ(landed, 0); /* mapped all the time */
	free_under_a_job(block);
	take(pool, PAGE);
	CHECK(is_mapped(va));
	block = take(pool, 3 * MIB);
	CHECK_EQ(block->va, va);
	pool_free(block, NULL, 0); /* a job is still being submitted */
	CHECK(is_mapped(va));
	job_runs = false;
	pool_free(small, NULL, 0);
	CHECK(!is_mapped(va));
	CHECK_EQ(reserved_B(pool), before_B - 3 * MIB + 4 * MIB);
	pool_destroy(pool);
}

/* A job that runs may have been submitted after the block was freed, and lists the memory all the same. */
static void host_memory_stays_while_jobs_run(void)
{
	struct pool *pool = make(POOL_HOST, VM_CPU);
	struct pool_block *block = take(pool, 3 * MIB);
	uint64_t va = block->va;

	job_runs = true;
	pool_free(block, NULL, 0);
	CHECK(is_mapped(va));
	pool_trim(pool, 0, 0);
	CHECK(is_mapped(va));
	block = take(pool, 3 * MIB);
	CHECK_EQ(block->va, va);
	pool_free(block, NULL, 0);
	CHECK(is_mapped(va));
	job_runs = false;
	pool_free(take(pool, PAGE), NULL, 0);
	CHECK(!is_mapped(va));
	CHECK_EQ(reserved_B(pool), POOL_SLAB_B);
	pool_destroy(pool);
}

/* The cache is limited, and its memory is released on demand. */
static void not_for_ever(void)
{
	struct pool *pool = make(POOL_VRAM, 0);
	struct pool_block *block[6];
	uint64_t all_B;

	for (unsigned i = 0; i < 6; i++)
		block[i] = take(pool, 48 * MIB);
	take(pool, PAGE);
	all_B = reserved_B(pool);
	job_runs = true;
	for (unsigned i = 0; i < 6; i++)
		free_under_a_job(block[i]);
	for (unsigned i = 0; i < 3; i++)
		take(pool, PAGE);
	CHECK_EQ(reserved_B(pool), all_B - 48 * MIB);
	pool_trim(pool, UINT64_MAX, 0);
	CHECK_EQ(reserved_B(pool), all_B - 6 * 48 * MIB);
	job_runs = false;
	pool_destroy(pool);
}

int main(void)
{
	struct pool_watch watch = {NULL, busy, land, &s};

	CHECK_EQ(vgpu_start("gfx908"), 0);
	if (!CHECK_EQ(stack_open(&s), 0))
		return check_done("pools of one vm");
	CHECK_EQ(pool_space_create(&s.vm, 1, &space), 0);
	pool_space_watch(space, &watch);
	up_to_a_size();
	exported(PAGE, 0, NULL);
	exported(MIB, 0, NULL);
	exported(PAGE, 0, copy_up);
	exported(5 * MIB, VM_EXEC, copy_up);
	nobody_copies();
	host_memory_stays_while_jobs_run();
	landed_while_jobs_run();
	at_rest();
	not_for_ever();
	pool_space_destroy(space);
	stack_close(&s);
	CHECK_EQ(vgpu_live_objects(), 0);
	return check_done("pools of one vm");
}
