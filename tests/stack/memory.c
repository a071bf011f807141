/* Memory: BOs, ranges, slabs, the BO list, accounts, exhaustion, bad sizes, fork. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"
#include "vm/internal.h"
#include "vm/suballoc.h"

static struct stack s;

static void addresses_are_the_same_for_cpu_and_gpu(void)
{
	for (unsigned kind = 0; kind < VM_KINDS; kind++)
		for (unsigned flags = 0; flags < 16; flags++) {
			struct vm_info info = {.size_B = 12345, .kind = kind, .flags = flags};
			struct vm_mem *mem;

			if (!CHECK_EQ(vm_mem_create(s.vm, &info, &mem), 0))
				continue;
			CHECK_EQ(mem->bo->size_B, 16384);
			CHECK_EQ(mem->map ? (uintptr_t)mem->map : mem->va, mem->va);
			CHECK_EQ(!!mem->map, !!(flags & VM_CPU));
			if (mem->map) {
				memset(mem->map, 0x5a, 16384);
				CHECK_EQ(((uint8_t *)mem->map)[16383], 0x5a);
			}
			vm_mem_destroy(mem);
		}
}

static void bad_sizes_are_refused(void)
{
	static const uint64_t sizes_B[] = {0,          UINT64_MAX, UINT64_MAX - 4095, 1ull << 63,
					   1ull << 47, 1ull << 46, 1ull << 40};
	struct vm_stats before, after;

	vm_stats(s.vm, &before);
	for (unsigned i = 0; i < sizeof(sizes_B) / sizeof(sizes_B[0]); i++)
		for (unsigned kind = 0; kind < VM_KINDS; kind++) {
			struct vm_info info = {.size_B = sizes_B[i], .kind = kind, .flags = VM_CPU};
			struct vm_suballoc piece = {0};
			struct vm_mem *mem;
			int r = vm_mem_create(s.vm, &info, &mem);

			CHECK(r == -EINVAL || r == -ENOMEM);
			r = vm_suballoc_create(s.vm, &info, &piece);
			CHECK(r == -EINVAL || r == -ENOMEM);
			vm_suballoc_destroy(&piece);
		}
	vm_stats(s.vm, &after);
	CHECK_EQ(after.bos, before.bos);
	CHECK_EQ(after.ranges, before.ranges);
	vm_mem_destroy(NULL);
}

static void pieces_do_not_overlap(void)
{
	enum { COUNT = 3000 };
	static struct vm_suballoc piece[COUNT];
	static const uint32_t sizes_B[] = {1, 256, 257, 4096, 70000, 131072, 131073};
	struct vm_stats before, full, after;

	vm_stats(s.vm, &before);
	for (unsigned i = 0; i < COUNT; i++) {
		struct vm_info info = {.size_B = sizes_B[i % (i < 2000 ? 3 : 7)], .kind = VM_GTT, .flags = VM_CPU};

		if (!CHECK_EQ(vm_suballoc_create(s.vm, &info, &piece[i]), 0))
			break;
		CHECK(piece[i].size_B >= info.size_B);
		CHECK_EQ(piece[i].va % 256, 0);
		memset(piece[i].map, i, piece[i].size_B);
	}
	vm_stats(s.vm, &full);
	CHECK(full.bos - before.bos < COUNT / 4);
	for (unsigned i = 0; i < COUNT; i++) {
		const uint8_t *p = piece[i].map;

		CHECK(p[0] == (uint8_t)i && p[piece[i].size_B - 1] == (uint8_t)i);
	}
	for (unsigned i = 0; i < COUNT; i++)
		vm_suballoc_destroy(&piece[i * 7 % COUNT]);
	vm_stats(s.vm, &after);
	/* one empty slab a class may stay */
	CHECK(after.bos <= before.bos + 6);
	CHECK(after.peak[VM_GTT] >= full.bytes[VM_GTT]);
}

/* VRAM runs out with an error, everything comes back, and the GPU still works. */
static void exhaustion_is_an_error(void)
{
	enum { MOST = 4096 };
	static struct vm_mem *mem[MOST];
	struct vm_info info = {.size_B = 64 << 20, .kind = VM_VRAM};
	enum vgpu_strict level = vgpu_strict();
	struct cs_ib *ib;
	unsigned n = 0;
	int r = 0;

	/* VRAM that is full spills to GTT, which is a finding; here it is what we want to see. */
	vgpu_strict_set(VGPU_STRICT_OFF);
	while (n < MOST && !(r = vm_mem_create(s.vm, &info, &mem[n])))
		n++;
	CHECK_EQ(r, -ENOMEM);
	CHECK(n > 3);
	CHECK(strstr(drv_error_last()->text, "GEM_CREATE of 67108864 bytes of VRAM"));
	while (n)
		vm_mem_destroy(mem[--n]);
	vgpu_strict_set(level);
	CHECK_EQ(vm_mem_create(s.vm, &info, &mem[0]), 0);
	vm_mem_destroy(mem[0]);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	CHECK_EQ(cs_submit(ib, NULL, NULL), 0);
	CHECK_EQ(cs_fence_wait(cs_ring_last(s.ring), CS_FOREVER), 0);
}

/* A submission updates the list once, however many BOs came and went. */
static void the_list_is_updated_lazily(void)
{
	struct vm_mem *mem[100];
	struct vm_stats before, after;
	uint32_t handle, again;

	CHECK_EQ(vm_list(s.vm, &handle), 0);
	vm_stats(s.vm, &before);
	for (unsigned i = 0; i < 100; i++)
		mem[i] = stack_gtt(&s, 4096);
	for (unsigned i = 0; i < 50; i++)
		vm_mem_destroy(mem[i * 2]);
	CHECK_EQ(vm_list(s.vm, &handle), 0);
	CHECK_EQ(vm_list(s.vm, &again), 0);
	CHECK_EQ(again, handle);
	vm_stats(s.vm, &after);
	CHECK_EQ(after.list_updates - before.list_updates, 1);
	for (unsigned i = 0; i < 50; i++)
		vm_mem_destroy(mem[i * 2 + 1]);
}

enum { LIST_THREADS = 4 };

static struct vm *list_vm;

static void *list_once(void *unused)
{
	uint32_t handle;

	CHECK_EQ(vm_list(list_vm, &handle), 0);
	return unused;
}

/* Threads that submit for the first time at once make one list, also when memory comes between them: they are held at the
 * list's lock, and the list is stale for each of them. */
static void threads_make_one_list(void)
{
	const struct vm_info info = {.size_B = 4096, .kind = VM_GTT};
	pthread_t thread[LIST_THREADS];
	struct vgpu_live before, after;
	struct vm_bo *bo;

	vgpu_live(&before);
	CHECK_EQ(vm_create(s.dev, &list_vm), 0);
	CHECK_EQ(vm_bo_create(list_vm, &info, &bo), 0);
	drv_mutex_lock(&list_vm->lock);
	for (unsigned i = 0; i < LIST_THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, list_once, NULL), 0);
	usleep(100000);
	drv_mutex_unlock(&list_vm->lock);
	for (unsigned i = 0; i < LIST_THREADS; i++) {
		while (pthread_tryjoin_np(thread[i], NULL))
			list_vm->list_stale = true;
	}
	vgpu_live(&after);
	CHECK_EQ(after.bo_lists, before.bo_lists + 1);
	vm_bo_put(bo);
	vm_destroy(list_vm);
	vgpu_live(&after);
	CHECK_EQ(after.bo_lists, before.bo_lists);
}

static void a_forked_child_is_told_no(void)
{
	struct vm_mem *mem = stack_gtt(&s, 4096);
	struct vm_info info = {.size_B = 4096, .kind = VM_GTT};
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct sdma_job fill = {.dst = {mem->va, SDMA_GTT, true}, .size_B = 64};
		struct vm_suballoc piece;
		struct vm_mem *other;
		struct cs_ib *ib;
		struct stack own;
		int bad = vm_mem_create(s.vm, &info, &other) != -ENODEV;

		bad |= cs_begin(s.ring, 0, &ib) != -ENODEV;
		bad |= vm_suballoc_create(s.vm, &info, &piece) != -ENODEV;
		bad |= sdma_copier_fill(s.copier, &fill, 1) != -ENODEV;
		vm_mem_destroy(mem); /* must not reach the parent's */
		/* the child may open the GPU anew */
		bad |= stack_open(&own) != 0;
		if (!bad) {
			bad |= cs_begin(own.ring, 0, &ib) || cs_submit(ib, NULL, NULL) ||
			       cs_fence_wait(cs_ring_last(own.ring), CS_FOREVER);
			stack_close(&own);
		}
		_exit(bad);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	*(volatile uint32_t *)mem->map = 1;
	vm_mem_destroy(mem);
	the_list_is_updated_lazily();
}

/* The kernel's list ends at 131,072 BOs; what is there goes on working. */
static void the_list_ends(void)
{
	const struct vm_info page = {.size_B = 4096, .kind = VM_GTT};
	static struct vm_bo *bo[131072];
	uint32_t count = 0, list;
	int r = 0;

	while (!r && count < 131072)
		r = vm_bo_create(s.vm, &page, &bo[count++]);
	CHECK_EQ(r, -ENOMEM);
	CHECK_EQ(vm_list(s.vm, &list), 0);
	for (count -= 1; count--;)
		vm_bo_put(bo[count]);
	CHECK_EQ(vm_list(s.vm, &list), 0);
}

int main(void)
{
	CHECK_EQ(vgpu_start("gfx90a:vram=2G:bar=256M"), 0);
	if (!CHECK_EQ(stack_open(&s), 0)) {
		printf("%s\n", drv_error_last()->text);
		return check_done("memory");
	}
	addresses_are_the_same_for_cpu_and_gpu();
	bad_sizes_are_refused();
	pieces_do_not_overlap();
	exhaustion_is_an_error();
	the_list_is_updated_lazily();
	the_list_ends();
	threads_make_one_list();
	a_forked_child_is_told_no();
	stack_close(&s);
	vgpu_stop();
	return check_done("memory");
}
