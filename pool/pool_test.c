/* Pools on the virtual GPU: placement, sharing, finding, and blocks that jobs still use. */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool/pool.h"
#include "tests/check.h"
#include "tests/count.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"
#include "vm/host.h"

#define PAGE 4096ull
#define MIB  (1ull << 20)

static struct stack s[2];
static struct pool_space *space;

static struct pool *make(enum pool_placement home, unsigned vm, unsigned flags, uint32_t seen_by)
{
	struct pool_info info = {.placement = home, .vm = vm, .flags = flags, .seen_by = seen_by};
	struct pool *pool;

	return CHECK_EQ(pool_create(space, &info, &pool), 0) ? pool : NULL;
}

static struct pool_block *take(struct pool *pool, uint64_t size_B)
{
	struct pool_block *block;

	return CHECK_EQ(pool_alloc(pool, size_B, &block), 0) ? block : NULL;
}

static struct pool_stats stats_of(struct pool *pool)
{
	struct pool_stats stats;

	pool_stats(pool, &stats);
	return stats;
}

/* A job of device k that does not end before the value at gate becomes 1. */
static struct cs_fence gated_job(struct stack *k, const struct vm_mem *gate)
{
	struct cs_fence fence = {0};
	struct cs_ib *ib;

	if (!CHECK_EQ(cs_begin(k->ring, 0, &ib), 0))
		return fence;
	cs_ib_wait_word(ib, gate->va, 1);
	CHECK_EQ(cs_submit(ib, NULL, &fence), 0);
	return fence;
}

static struct vm_mem *make_gate(struct stack *k)
{
	struct vm_info info = {.size_B = PAGE, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED};
	struct vm_mem *gate;

	return CHECK_EQ(vm_mem_create(k->vm, &info, &gate), 0) ? gate : NULL;
}

static void open_gate(struct vm_mem *gate)
{
	__atomic_store_n((uint32_t *)gate->map, 1, __ATOMIC_RELEASE);
}

/* --- sizes and addresses ---------------------------------------------------------------------- */

static void sizes(void)
{
	static const uint64_t size_B[] = {1,         PAGE,      PAGE + 1,       5 * PAGE, 13 * PAGE,  255 << 10,
					  256 << 10, 257 << 10, 2 * MIB - PAGE, 2 * MIB,  5 * MIB + 1};
	struct pool *pool = make(POOL_VRAM, 0, VM_CPU | VM_EXEC, 0);
	struct pool_block *block[sizeof(size_B) / sizeof(size_B[0])], *other;

	for (unsigned i = 0; i < sizeof(size_B) / sizeof(size_B[0]); i++) {
		struct pool_found found;

		block[i] = take(pool, size_B[i]);
		CHECK_EQ(block[i]->va % (size_B[i] >= 2 * MIB ? 2 * MIB : PAGE), 0);
		CHECK_EQ(block[i]->size_B, (size_B[i] + PAGE - 1) & ~(PAGE - 1));
		CHECK_EQ((uintptr_t)block[i]->map, block[i]->va);
		memset(block[i]->map, (int)i, block[i]->size_B);
		CHECK(pool_find(space, block[i]->va + block[i]->size_B - 1, &found) && found.block == block[i]);
	}
	for (unsigned i = 0; i < sizeof(size_B) / sizeof(size_B[0]); i++) {
		const uint8_t *map = block[i]->map;

		CHECK(map[0] == i && map[block[i]->size_B - 1] == i);
		pool_free(block[i], NULL, 0);
	}
	CHECK_EQ(stats_of(pool).used_B, 0);
	CHECK_EQ(stats_of(pool).blocks, 0);
	CHECK(stats_of(pool).used_peak_B > 9 * MIB);
	pool_trim(pool, 0, 0);
	CHECK_EQ(stats_of(pool).reserved_B, 0);
	CHECK_EQ(pool_alloc(pool, 0, &other), -EINVAL);
	CHECK_EQ(pool_alloc(pool, UINT64_MAX, &other), -EINVAL);
	CHECK_EQ(pool_alloc(pool, UINT64_MAX - 2 * PAGE, &other), -EINVAL);
	CHECK_EQ(pool_alloc(pool, 1ull << 46, &other), -ENOMEM);
	pool_destroy(pool);
}

static void finding(void)
{
	struct pool *pool = make(POOL_GTT, 0, VM_CPU, 0);
	struct pool_block *a = take(pool, 3 * PAGE - 7), *b = take(pool, MIB), *claimed;
	struct pool_found found;
	uint64_t b_va = b->va;

	CHECK(pool_find(space, a->va + PAGE, &found) && found.va == a->va && found.size_B == 3 * PAGE);
	CHECK(pool_find(space, b->va + MIB - 1, &found) && found.block == b && found.pool == pool);
	CHECK(!pool_find(space, b->va + MIB, &found) || found.block != b);
	CHECK(!pool_find(space, a->va + 3 * PAGE, &found)); /* a free neighbour in the slab */
	CHECK(!pool_find(space, (uintptr_t)&found, &found));
	CHECK(!pool_find(space, 0, &found));
	CHECK(!pool_find(space, UINT64_MAX, &found));
	CHECK_EQ(pool_claim(space, a->va + PAGE, &claimed), -ENOENT);
	CHECK_EQ(pool_claim(space, UINT64_MAX, &claimed), -ENOENT);
	CHECK_EQ(pool_claim(space, (uintptr_t)&found, &claimed), -ENOENT);
	CHECK_EQ(pool_claim(space, a->va, &claimed), 0);
	CHECK(claimed == a);
	CHECK_EQ(pool_claim(space, a->va, &claimed), -ENOENT);
	CHECK(!pool_find(space, a->va, &found));
	pool_free(a, NULL, 0);
	CHECK_EQ(pool_claim(space, a->va, &claimed), -ENOENT);
	pool_destroy(pool); /* b goes with it */
	CHECK(!pool_find(space, b_va, &found));
}

/* --- freed while in use ----------------------------------------------------------------------- */

static void deferred(void)
{
	struct pool *pool = make(POOL_VRAM, 0, VM_CPU, 0);
	struct vm_mem *gate = make_gate(&s[0]);
	struct pool_block *piece = take(pool, PAGE), *large = take(pool, 3 * MIB), *next[3];
	uint64_t piece_va = piece->va, large_va = large->va;
	struct cs_fence end = gated_job(&s[0], gate), settled = {0};
	struct pool_found found;

	pool_free(piece, &end, 1);
	pool_free(large, (struct cs_fence[]){settled, end, settled}, 3);
	CHECK(!pool_find(space, piece_va, &found)); /* not found any more, */
	CHECK_EQ(stats_of(pool).freed_B, PAGE + 3 * MIB);
	for (unsigned i = 0; i < 3; i++)
		next[i] = take(pool, i == 2 ? 3 * MIB : PAGE);
	for (unsigned i = 0; i < 3; i++) /* but not reused, */
		CHECK(next[i]->va != piece_va && next[i]->va != large_va);
	pool_trim(pool, 0, 1000000);
	((volatile char *)(uintptr_t)large_va)[MIB] = 1; /* and still mapped */
	open_gate(gate);
	CHECK_EQ(cs_fence_wait(end, CS_FOREVER), 0);
	pool_free(next[2], NULL, 0); /* checks the deferrals */
	CHECK_EQ(stats_of(pool).freed_B, 0);
	pool_free(next[0], NULL, 0);
	next[0] = take(pool, PAGE);
	CHECK(next[0]->va == piece_va || next[0]->va < next[1]->va + 2 * MIB);
	pool_destroy(pool);
	vm_mem_destroy(gate);
}

/* Destroying a ring waits for it, and removes its fences from the deferrals. */
static void ring_goes(void)
{
	struct pool *pool = make(POOL_GTT, 0, VM_CPU, 0);
	struct vm_mem *gate = make_gate(&s[0]);
	struct pool_block *block = take(pool, PAGE);
	struct cs_ctx *ctx;
	struct stack k = s[0];
	struct cs_fence end;

	CHECK_EQ(cs_ctx_create(s[0].vm, CS_PRIORITY_NORMAL, &ctx), 0);
	CHECK_EQ(cs_ring_create(ctx, DRV_IP_COMPUTE, 1, cs_pm4_print, &k.ring), 0);
	end = gated_job(&k, gate);
	pool_free(block, &end, 1);
	CHECK_EQ(stats_of(pool).freed_B, PAGE);
	open_gate(gate);
	pool_space_forget_ring(space, k.ring);
	cs_ring_destroy(k.ring);
	cs_ctx_destroy(ctx);
	pool_trim(pool, 0, 0);
	CHECK_EQ(stats_of(pool).freed_B, 0);
	CHECK_EQ(stats_of(pool).reserved_B, 0);
	pool_destroy(pool);
	vm_mem_destroy(gate);
}

/* Memory that runs out comes back from freed blocks, when the job ends within a second. */
static void *open_later(void *gate)
{
	usleep(50000);
	open_gate(gate);
	return NULL;
}

static void exhausted(void)
{
	struct pool *pool = make(POOL_VRAM, 0, VM_STRICT, 0);
	struct vm_mem *gate = make_gate(&s[0]);
	struct drv_usage usage;
	struct pool_block *half, *again;
	struct cs_fence end;
	pthread_t thread;
	uint64_t size_B;

	CHECK_EQ(drv_usage_memory(s[0].dev, &usage), 0);
	size_B = (s[0].dev->facts.vram.total_B - usage.vram_B) / 4 * 3 & ~(2 * MIB - 1);
	half = take(pool, size_B);
	CHECK_EQ(pool_alloc(pool, size_B, &again), -ENOMEM);
	end = gated_job(&s[0], gate);
	pool_free(half, &end, 1);
	CHECK_EQ(pthread_create(&thread, NULL, open_later, gate), 0);
	again = take(pool, size_B);
	pthread_join(thread, NULL);
	if (again)
		pool_free(again, NULL, 0);
	pool_destroy(pool);
	vm_mem_destroy(gate);
}

/* --- several devices -------------------------------------------------------------------------- */

/* Device k copies src to dst. */
static void copy_by(unsigned k, uint64_t dst, uint64_t src, uint64_t size_B)
{
	struct sdma_job job = {.dst = {dst, SDMA_GTT, true}, .src = {src, SDMA_GTT, true}, .size_B = size_B};

	CHECK_EQ(sdma_copier_copy(s[k].copier, &job), 0);
	CHECK_EQ(cs_fence_wait(job.fence, CS_FOREVER), 0);
}

static bool all_are(const void *map, int value, uint64_t size_B)
{
	const uint8_t *bytes = map;

	return bytes[0] == value && !memcmp(bytes, bytes + 1, size_B - 1);
}

static void seen_by_both(enum pool_placement home, uint64_t size_B)
{
	struct pool *pool = make(home, 0, VM_CPU | VM_UNCACHED, 3);
	struct pool_block *a = take(pool, size_B), *b = take(pool, size_B);

	for (unsigned k = 0; k < 2; k++) {
		memset(a->map, 0x30 + (int)k, a->size_B);
		memset(b->map, 0, b->size_B);
		copy_by(k, b->va, a->va, a->size_B);
		CHECK(all_are(b->map, 0x30 + (int)k, b->size_B));
		CHECK_EQ(vm_check_fault(s[k].vm, NULL), 0);
	}
	pool_destroy(pool);
}

/* The test shows that each page is on the node, according to the kernel: on a machine of one node no more can be
 * tested. */
static void placed_on_node(void)
{
	struct pool_info info = {
		.placement = POOL_HOST, .vm = 0, .node = 0, .flags = VM_CPU | VM_STRICT, .seen_by = 3};
	struct pool_block *block;
	struct pool *pool;
	int node[600], r, fd;

	CHECK_EQ(pool_create(space, &info, &pool), 0);
	block = take(pool, 600 * PAGE);
	r = vm_host_nodes(block->map, block->size_B, node);
	CHECK(r == 0 || r == -ENOTSUP);
	for (unsigned i = 0; !r && i < 600; i++)
		CHECK_EQ(node[i], 0);
	CHECK_EQ(pool_export(block, NULL, NULL, &fd), -EPERM);
	pool_destroy(pool);
	info.node = 1000;
	CHECK_EQ(pool_create(space, &info, &pool), 0);
	CHECK_EQ(pool_alloc(pool, PAGE, &block), -EINVAL);
	pool_destroy(pool);
}

static void allowed(void)
{
	struct pool *pool = make(POOL_VRAM, 0, VM_CPU, 0), *gtt = make(POOL_GTT, 1, VM_CPU, 0);
	struct pool_block *a = take(pool, PAGE), *b = take(pool, PAGE), *to = take(gtt, PAGE);
	struct vm_mem *gate = make_gate(&s[0]);
	struct cs_fence end;

	memset(a->map, 7, PAGE);
	CHECK(!vm_find(s[1].vm, a->va));
	CHECK_EQ(pool_allow(a, 2, NULL, 0), 0);
	CHECK_EQ(a->seen_by, 3);
	CHECK_EQ(b->seen_by, 1);
	copy_by(1, to->va, a->va, PAGE);
	CHECK(all_are(to->map, 7, PAGE));
	CHECK_EQ(pool_allow(b, 3, NULL, 0), 0);
	CHECK_EQ(pool_allow(b, 3, NULL, 0), 0);
	CHECK_EQ(pool_allow(a, 0, NULL, 0), 0);
	CHECK(vm_find(s[1].vm, a->va)); /* b needs it */
	end = gated_job(&s[0], gate);
	CHECK_EQ(pool_allow(b, 0, &end, 1), 0);
	CHECK_EQ(b->seen_by, 1);
	CHECK(vm_find(s[1].vm, b->va)); /* work may use it */
	open_gate(gate);
	CHECK_EQ(cs_fence_wait(end, CS_FOREVER), 0);
	CHECK_EQ(pool_allow(b, 2, NULL, 0), 0);
	CHECK_EQ(pool_allow(b, 0, &end, 1), 0);
	CHECK(!vm_find(s[1].vm, b->va));
	CHECK_EQ(pool_allow(a, 2, NULL, 0), 0);
	pool_free(a, NULL, 0); /* with its permission */
	pool_destroy(pool);
	pool_destroy(gtt);
	vm_mem_destroy(gate);
}

/* --- exports ---------------------------------------------------------------------------------- */

static void exported(void)
{
	struct pool *pool = make(POOL_VRAM, 0, VM_CPU, 0);
	struct pool_block *near = take(pool, 3 * PAGE), *piece = take(pool, 3 * PAGE), *again;
	struct vm_mem *seen;
	uint64_t va = piece->va;
	int fd, fd2;

	memset(near->map, 1, near->size_B);
	memset(piece->map, 2, piece->size_B);
	CHECK_EQ(pool_allow(piece, 2, NULL, 0), 0);
	CHECK_EQ(pool_export(piece, NULL, NULL, &fd), 0);
	CHECK_EQ(pool_export(piece, NULL, NULL, &fd2), 0);
	close(fd2);
	CHECK_EQ(vm_mem_import(s[1].vm, fd, &seen), 0);
	CHECK_EQ(seen->size_B, 3 * PAGE); /* this piece alone */
	CHECK(all_are(seen->map, 2, 3 * PAGE));
	memset(piece->map, 3, 3 * PAGE);
	CHECK(all_are(seen->map, 3, 3 * PAGE));
	CHECK(all_are(near->map, 1, 3 * PAGE));
	/* on the other device, the block moved as well */
	CHECK_EQ(pool_allow(near, 2, NULL, 0), 0);
	copy_by(1, near->va, piece->va, PAGE);
	CHECK(all_are(near->map, 3, PAGE));
	pool_free(piece, NULL, 0);
	again = take(pool, 3 * PAGE);
	CHECK_EQ(again->va, va);
	memset(again->map, 9, 3 * PAGE);
	CHECK(all_are(seen->map, 3, 3 * PAGE)); /* the dma-buf does not show later content of the slab */
	vm_mem_destroy(seen);
	close(fd);
	/* mapped on a vm after the move */
	CHECK_EQ(pool_allow(near, 0, NULL, 0), 0);
	CHECK_EQ(pool_export(again, NULL, NULL, &fd), 0);
	close(fd);
	CHECK_EQ(pool_allow(near, 2, NULL, 0), 0);
	CHECK_EQ(pool_allow(again, 2, NULL, 0), 0);
	copy_by(1, near->va, again->va, PAGE);
	CHECK(all_are(near->map, 9, PAGE));
	pool_destroy(pool);
}

/* --- the hot path ----------------------------------------------------------------------------- */

static void alloc_and_free(void *arg)
{
	struct pool_block *block = NULL;

	(void)!pool_alloc(arg, 3 * PAGE, &block);
	pool_free(block, NULL, 0);
}

static void find_unknown(void *arg)
{
	struct pool_found found;

	(void)pool_find(arg, (uintptr_t)&found, &found);
}

static void hit(void)
{
	struct pool *pool = make(POOL_GTT, 0, VM_CPU, 0);
	struct pool_block *held[64];
	uint64_t before;

	for (unsigned i = 0; i < 64; i++)
		held[i] = take(pool, 3 * PAGE);
	before = atomic_load(s[0].dev->ioctls);
	for (unsigned i = 0; i < 100; i++)
		alloc_and_free(pool);
	CHECK_EQ(atomic_load(s[0].dev->ioctls), before);
	CHECK_EQ(stats_of(pool).hits, stats_of(pool).allocs - 1);
	printf("a slab hit and its free: %llu instructions; an unknown address: %llu (%s)\n",
	       (unsigned long long)count_instructions(alloc_and_free, pool, 5),
	       (unsigned long long)count_instructions(find_unknown, space, 5), count_method());
	for (unsigned i = 0; i < 64; i++)
		pool_free(held[i], NULL, 0);
	pool_destroy(pool);
}

/* --- a child ---------------------------------------------------------------------------------- */

static void forked(void)
{
	struct pool *pool = make(POOL_GTT, 0, VM_CPU, 0);
	struct pool_block *block = take(pool, PAGE), *other;
	struct pool_found found;
	int status;
	pid_t child = fork();

	if (!child) {
		bool ok = pool_alloc(pool, PAGE, &other) == -ENODEV && !pool_find(space, block->va, &found) &&
			  pool_claim(space, block->va, &other) == -ENODEV;

		pool_free(block, NULL, 0);
		_exit(!ok);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	memset(block->map, 1, PAGE);
	pool_destroy(pool);
}

int main(void)
{
	struct vm *vm[2];

	CHECK_EQ(vgpu_start("gfx908,gfx906"), 0);
	if (!CHECK_EQ(stack_open(&s[0]), 0) || !CHECK_EQ(stack_open_at(&s[1], 1, s[0].vm), 0))
		return check_done("pools");
	vm[0] = s[0].vm;
	vm[1] = s[1].vm;
	CHECK_EQ(pool_space_create(vm, 0, &space), -EINVAL);
	CHECK_EQ(pool_space_create(vm, 2, &space), 0);
	sizes();
	finding();
	deferred();
	ring_goes();
	exhausted();
	seen_by_both(POOL_GTT, PAGE);
	seen_by_both(POOL_GTT, MIB);
	seen_by_both(POOL_HOST, PAGE);
	seen_by_both(POOL_HOST, 3 * MIB);
	placed_on_node();
	allowed();
	exported();
	hit();
	forked();
	pool_space_destroy(space);
	stack_close(&s[1]);
	stack_close(&s[0]);
	CHECK_EQ(vgpu_live_objects(), 0);
	return check_done("pools");
}
