/* Host memory for the GPU: anonymous, of files, read-only, at odd addresses, overlapping, over fork, by many
 * threads, on a NUMA node; finding it by address. The GPU reads and writes through every mapping. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"
#include "vm/host.h"

static struct stack s;
static struct cs_code *code;

#define PAGE 4096ull

/* The GPU does data[i] = data[i] * 3 + value for 64 dwords. */
static int gpu_add(uint64_t va, uint32_t value)
{
	return stack_add(&s, code, va, value);
}

/* The same where it should not reach: the fault is wanted, so the virtual GPU must not stop at it. */
static int gpu_add_forbidden(uint64_t va)
{
	enum vgpu_strict level = vgpu_strict();
	int r;

	vgpu_strict_set(VGPU_STRICT_OFF);
	vgpu_quiet_seconds();
	r = gpu_add(va, 1);
	vgpu_strict_set(level);
	return r;
}

static struct vm_mem *enter(void *host, uint64_t size_B, unsigned flags)
{
	struct vm_register what = {.host = host, .size_B = size_B, .flags = flags};
	struct vm_mem *mem = NULL;

	if (!CHECK_EQ(vm_mem_register(s.vm, &what, &mem), 0))
		printf("  %s\n", drv_error_last()->text);
	return mem;
}

static char *pages(unsigned count)
{
	return mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* --- sorts of memory -------------------------------------------------------------------------- */

static void odd_addresses_and_sizes(void)
{
	static const struct {
		unsigned offset_B, size_B;
	} part[] = {{0, 4096}, {4, 256}, {4092, 260}, {100, 3 * 4096}, {8188, 260}, {0, 1}, {4095, 2}};
	struct vm_stats before, after;

	vm_stats(s.vm, &before);
	for (unsigned i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		for (unsigned flags = 0; flags <= VM_REGISTER_ALIAS; flags += VM_REGISTER_ALIAS) {
			char *host = pages(5), *start = host + part[i].offset_B;
			struct vm_mem *mem = enter(start, part[i].size_B, flags);
			uint32_t *data = (uint32_t *)start;

			CHECK_EQ(mem->size_B, part[i].size_B);
			CHECK(mem->map == start);
			CHECK_EQ(mem->va == (uintptr_t)start, !flags);
			CHECK_EQ(mem->range.va >> 63, 1);
			CHECK(vm_find(s.vm, mem->va) == mem);
			CHECK(vm_find(s.vm, (uintptr_t)start + part[i].size_B - 1) == mem);
			CHECK(!vm_find(s.vm, (uintptr_t)start + part[i].size_B));
			CHECK(!vm_find(s.vm, (uintptr_t)start - 1));
			if (part[i].size_B >= 256 && !(part[i].offset_B % 4)) {
				data[63] = 6;
				CHECK_EQ(gpu_add(mem->va, 7), 0);
				CHECK_EQ(gpu_add((uintptr_t)start, 1), 0);
				CHECK_EQ(gpu_add(mem->range.va + part[i].offset_B % PAGE, 1), 0);
				CHECK_EQ(data[63], 229);
			}
			vm_mem_destroy(mem);
			CHECK(!vm_find(s.vm, (uintptr_t)start));
			munmap(host, 5 * PAGE);
		}
	vm_stats(s.vm, &after);
	CHECK_EQ(after.user_B, before.user_B);
	CHECK(after.user_peak_B >= 4 * PAGE);
	CHECK_EQ(after.bos, before.bos);
	CHECK_EQ(after.ranges, before.ranges);
}

/* Jobs list no more what was registered apart, and is unlisted: whoever shares its page does not count on it. */
static void apart(void)
{
	char *host = pages(1);
	struct vm_mem *temporary = enter(host, 256, VM_REGISTER_APART), *mem;
	uint32_t *data = (uint32_t *)(void *)host;

	CHECK_EQ(temporary->va, temporary->range.va);
	CHECK_EQ(gpu_add(temporary->va, 7), 0);
	vm_mem_unlist(temporary);
	mem = enter(host, 256, 0);
	CHECK(mem->va == (uintptr_t)host);
	CHECK_EQ(gpu_add(mem->va, 1), 0);
	CHECK_EQ(data[63], 22);
	vm_mem_destroy(temporary);
	CHECK_EQ(gpu_add(mem->va, 1), 0);
	CHECK_EQ(data[63], 67);
	vm_mem_destroy(mem);
	munmap(host, PAGE);
}

static void files_and_shared_memory(void)
{
	char name[] = "/tmp/tuff-userptr-XXXXXX";
	int file = mkstemp(name), shm = memfd_create("test", 0);
	uint32_t word = 0, *data;

	unlink(name);
	for (unsigned i = 0; i < 2; i++) {
		int fd = i ? shm : file;
		struct vm_mem *mem;

		CHECK_EQ(ftruncate(fd, 3 * PAGE), 0);
		data = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		data[1024] = 5;
		mem = enter(data, 3 * PAGE, 0);
		CHECK(!(mem->bo->flags & VM_READONLY));
		CHECK_EQ(gpu_add(mem->va + PAGE, 7), 0);
		CHECK_EQ(pread(fd, &word, 4, PAGE), 4);
		CHECK_EQ(word, 22);
		vm_mem_destroy(mem);
		munmap(data, 3 * PAGE);
		close(fd);
	}
}

static void read_only_memory(void)
{
	struct vm_mem *out = stack_gtt(&s, PAGE);
	struct sdma_job job;
	uint32_t *data = (uint32_t *)pages(2);

	/* once because it cannot be written, once because that was asked for */
	for (unsigned i = 0; i < 2; i++) {
		struct vm_mem *mem;

		data[3] = 77 + i;
		if (!i)
			mprotect(data, 2 * PAGE, PROT_READ);
		mem = enter(data, 2 * PAGE, i ? VM_REGISTER_READ : 0);
		CHECK(mem->bo->flags & VM_READONLY);
		job = (struct sdma_job){
			.size_B = 256, .src = {mem->va, SDMA_GTT, false}, .dst = {out->va, SDMA_GTT, true}};
		CHECK_EQ(sdma_copier_copy(s.copier, &job), 0);
		CHECK_EQ(cs_fence_wait(job.fence, CS_FOREVER), 0);
		CHECK_EQ(((uint32_t *)out->map)[3], 77 + i);
		CHECK_EQ(gpu_add_forbidden(mem->va), -EFAULT);
		CHECK_EQ(gpu_add_forbidden(mem->range.va), -EFAULT);
		CHECK_EQ(data[3], 77 + i);
		vm_mem_destroy(mem);
		mprotect(data, 2 * PAGE, PROT_READ | PROT_WRITE);
	}
	munmap(data, 2 * PAGE);
	vm_mem_destroy(out);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void our_own_memory_is_refused(void)
{
	struct vm_mem *gtt = stack_gtt(&s, 3 * PAGE), *mem;
	struct vm_register what = {.host = (char *)gtt->map + 5000, .size_B = 10};

	CHECK_EQ(vm_mem_register(s.vm, &what, &mem), -EEXIST);
	CHECK(vm_find(s.vm, gtt->va + 5000) == gtt);
	what = (struct vm_register){.host = (char *)gtt->map - 100, .size_B = 200};
	CHECK_EQ(vm_mem_register(s.vm, &what, &mem), -EEXIST);
	vm_mem_destroy(gtt);
}

static void what_is_not_there_is_refused(void)
{
	char *host = pages(5);
	struct vm_stats before, after;
	struct vm_mem *mem;

	munmap(host + 2 * PAGE, PAGE);
	vm_stats(s.vm, &before);
	for (unsigned i = 0; i < 2; i++) {
		struct vm_register what = {.host = host + i * 2 * PAGE + 10, .size_B = 2 * PAGE};

		CHECK_EQ(vm_mem_register(s.vm, &what, &mem), -EFAULT);
	}
	vm_stats(s.vm, &after);
	CHECK_EQ(after.bos, before.bos);
	CHECK_EQ(after.ranges, before.ranges);
	munmap(host, 5 * PAGE);
}

static void bad_numbers_never_reach_the_kernel(void)
{
	static const uint64_t sizes_B[] = {0, UINT64_MAX, UINT64_MAX - 4095, UINT64_MAX - 8191};
	char *host = pages(1);
	unsigned long ioctls = vgpu_ioctl_count();
	struct vm_mem *mem;
	int node;

	for (unsigned i = 0; i < 4; i++) {
		struct vm_register what = {.host = host, .size_B = sizes_B[i]};

		CHECK_EQ(vm_mem_register(s.vm, &what, &mem), -EINVAL);
		CHECK_EQ(vm_host_nodes(host, sizes_B[i], &node), -EINVAL);
		CHECK_EQ(vm_mem_create_on_node(s.vm, sizes_B[i], 0, 0, &mem), -EINVAL);
	}
	CHECK_EQ(vm_mem_register(s.vm, &(struct vm_register){.host = host, .size_B = 1, .flags = 1 << 12}, &mem),
		 -EINVAL);
	CHECK_EQ(vm_mem_register(s.vm, &(struct vm_register){.host = host, .size_B = 1, .alias = 77}, &mem),
		 -EINVAL);
	CHECK_EQ(vm_mem_register(s.vm, &(struct vm_register){.size_B = 1}, &mem), -EINVAL);
	CHECK_EQ(vm_mem_create_on_node(s.vm, PAGE, -2, 0, &mem), -EINVAL);
	CHECK_EQ(vm_mem_create_on_node(s.vm, PAGE, 1000, 0, &mem), -EINVAL);
	CHECK_EQ(vm_mem_create_on_node(s.vm, PAGE, 0, VM_RESIDENT, &mem), -EINVAL);
	CHECK(!vm_find(s.vm, 0) && !vm_find(s.vm, UINT64_MAX));
	CHECK_EQ(vgpu_ioctl_count(), ioctls);
	munmap(host, PAGE);
}

/* --- overlaps --------------------------------------------------------------------------------- */

enum { SPAN = 12, REGS = 4 };

static const struct {
	unsigned first, count;
} overlap[REGS] = {{1, 6}, {4, 6}, {1, 6}, {5, 1}};

/* Each page is there for the GPU as long as somebody has registered it, and no longer. */
static bool host_addresses_are_right(char *host, struct vm_mem *const *mem)
{
	for (unsigned p = 0; p < SPAN; p++) {
		uint32_t *data = (uint32_t *)(host + p * PAGE);
		bool covered = false;

		for (unsigned i = 0; i < REGS; i++)
			covered |= mem[i] && p >= overlap[i].first && p < overlap[i].first + overlap[i].count;
		*data = p;
		if (covered ? gpu_add((uintptr_t)data, 5) != 0 || *data != 3 * p + 5
			    : gpu_add_forbidden((uintptr_t)data) != -EFAULT)
			return false;
	}
	return true;
}

static void leave_in_order(char *host, const unsigned *order)
{
	struct vm_mem *mem[REGS];
	uint32_t *shared = (uint32_t *)(host + 5 * PAGE); /* all cover it */

	for (unsigned i = 0; i < REGS; i++)
		mem[i] = enter(host + overlap[i].first * PAGE, overlap[i].count * PAGE, 0);
	CHECK(host_addresses_are_right(host, mem));
	for (unsigned i = 0; i < REGS; i++) {
		struct vm_mem *last = mem[order[REGS - 1]];

		*shared = 1;
		CHECK_EQ(gpu_add(last->range.va + (5 - overlap[order[REGS - 1]].first) * PAGE, 2), 0);
		CHECK_EQ(*shared, 5);
		vm_mem_destroy(mem[order[i]]);
		mem[order[i]] = NULL;
		CHECK(host_addresses_are_right(host, mem));
	}
}

static void registrations_overlap_and_end_in_any_order(void)
{
	char *host = pages(SPAN);

	for (unsigned n = 0; n < 256; n++) {
		unsigned order[REGS] = {n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6 & 3}, seen = 0;

		for (unsigned i = 0; i < REGS; i++)
			seen |= 1u << order[i];
		if (seen == 15)
			leave_in_order(host, order);
	}
	munmap(host, SPAN * PAGE);
}

static void the_writable_registration_wins(void)
{
	char *host = pages(4);
	struct vm_mem *ro = enter(host, 4 * PAGE, VM_REGISTER_READ), *rw;
	uint32_t *data = (uint32_t *)(host + 2 * PAGE);

	CHECK_EQ(gpu_add_forbidden((uintptr_t)data), -EFAULT);
	rw = enter(host + PAGE, 2 * PAGE, 0);
	*data = 1;
	CHECK_EQ(gpu_add((uintptr_t)data, 1), 0);
	CHECK_EQ(*data, 4);
	CHECK_EQ(gpu_add_forbidden((uintptr_t)host), -EFAULT);
	vm_mem_destroy(rw);
	CHECK_EQ(gpu_add_forbidden((uintptr_t)data), -EFAULT);
	CHECK_EQ(*data, 4);
	vm_mem_destroy(ro);
	munmap(host, 4 * PAGE);
}

/* A program that frees first and unregisters later: its addresses may be ours in between. */
static void unmapped_addresses_are_used_again(void)
{
	char *host = pages(4);
	struct vm_mem *stale = enter(host, 4 * PAGE, 0), *mem;
	struct vm_range_request want = {
		.size_B = 2 * PAGE, .va = (uintptr_t)host + PAGE, .flags = VM_REQUEST_EXACT};
	struct vm_info info = {.size_B = 2 * PAGE, .kind = VM_GTT, .flags = VM_CPU};
	struct vm_range range;
	struct vm_bo *bo;

	munmap(host, 4 * PAGE);
	CHECK_EQ(vm_range_reserve(s.vm, &want, &range), 0);
	CHECK_EQ(vm_bo_create(s.vm, &info, &bo), 0);
	CHECK_EQ(vm_range_bind(&range, 0, bo, 0, 2 * PAGE, vm_access_of(VM_CPU)), 0);
	vm_mem_destroy(stale);
	*(uint32_t *)(host + PAGE) = 5;
	CHECK_EQ(gpu_add(range.va, 7), 0);
	CHECK_EQ(*(uint32_t *)(host + PAGE), 22);
	vm_range_release(&range);
	vm_bo_put(bo);
	mem = stack_gtt(&s, PAGE);
	CHECK(mem != NULL);
	vm_mem_destroy(mem);
}

/* --- fork ------------------------------------------------------------------------------------- */

/* Which of the pages a child has, as bits. */
static unsigned pages_of_child(const char *host, unsigned count)
{
	int status, out[2];
	pid_t pid;

	if (pipe(out))
		return 0;
	pid = fork();
	if (!pid) {
		unsigned has = 0;

		/* write() answers EFAULT where a load would be a SIGSEGV */
		for (unsigned i = 0; i < count; i++)
			has |= (write(out[1], host + i * PAGE, 1) == 1) << i;
		_exit(has);
	}
	waitpid(pid, &status, 0);
	close(out[0]);
	close(out[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : ~0u;
}

static void children_do_not_get_what_is_kept_from_them(void)
{
	char *host = pages(8);
	struct vm_mem *a, *b, *c, *plain;

	memset(host, 1, 8 * PAGE);
	plain = enter(host, 8 * PAGE, 0);
	CHECK_EQ(pages_of_child(host, 8), 0xff);
	a = enter(host + 100, 4 * PAGE, VM_REGISTER_DONTFORK); /* whole: 1, 2, 3; in part: 0, 4 */
	CHECK_EQ(pages_of_child(host, 8), 0xf1);
	b = enter(host + 2 * PAGE, 4 * PAGE, VM_REGISTER_DONTFORK);
	c = enter(host + 3 * PAGE, PAGE, VM_REGISTER_DONTFORK);
	CHECK_EQ(pages_of_child(host, 8), 0xc1);
	vm_mem_destroy(a);
	CHECK_EQ(pages_of_child(host, 8), 0xc3);
	vm_mem_destroy(b);
	CHECK_EQ(pages_of_child(host, 8), 0xf7);
	vm_mem_destroy(c);
	CHECK_EQ(pages_of_child(host, 8), 0xff);
	c = enter(host + 10, 20, VM_REGISTER_DONTFORK); /* no whole page */
	CHECK_EQ(pages_of_child(host, 8), 0xff);
	vm_mem_destroy(c);
	vm_mem_destroy(plain);
	munmap(host, 8 * PAGE);
}

/* After a fork the parent's pages are copied on write: the GPU must see what the parent sees. */
static void the_gpu_stays_with_the_parent(void)
{
	char *host = pages(2);
	struct vm_mem *mem;
	uint32_t *data = (uint32_t *)host;
	int hold[2], status;
	char byte;
	pid_t pid;

	*data = 1;
	mem = enter(host, 2 * PAGE, 0);
	CHECK_EQ(pipe(hold), 0);
	pid = fork();
	if (!pid) {
		close(hold[1]);
		_exit(read(hold[0], &byte, 1) != 0 || *data != 1);
	}
	*data = 3;
	CHECK_EQ(gpu_add(mem->va, 1), 0);
	CHECK_EQ(*data, 10);
	close(hold[1]);
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
	close(hold[0]);
	vm_mem_destroy(mem);
	munmap(host, 2 * PAGE);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 150, ARENA = 64 };

static char *arena;

static void *register_at_random(void *arg)
{
	uint64_t random = (uintptr_t)arg * 2654435761u + 1, bad = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned first = test_random(&random) % ARENA, count = 1 + test_random(&random) % (ARENA - first);
		struct vm_register what = {
			.host = arena + first * PAGE, .size_B = count * PAGE, .flags = test_random(&random) & 7};
		struct vm_mem *mem;

		if (vm_mem_register(s.vm, &what, &mem)) {
			bad++;
			continue;
		}
		bad += vm_find(s.vm, mem->range.va + count * PAGE - 1) != mem;
		bad += !vm_find(s.vm, (uintptr_t)what.host);
		vm_mem_destroy(mem);
	}
	return (void *)(uintptr_t)bad;
}

static void threads_register_the_same_memory(void)
{
	struct vm_stats before, after;
	pthread_t thread[THREADS];
	void *bad;

	arena = pages(ARENA);
	vm_stats(s.vm, &before);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, register_at_random, (void *)(i + 1)), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &bad);
		CHECK_EQ((uintptr_t)bad, 0);
	}
	vm_stats(s.vm, &after);
	CHECK_EQ(after.bos, before.bos);
	CHECK_EQ(after.user_B, before.user_B);
	CHECK_EQ(after.mappings, before.mappings);
	for (unsigned i = 0; i < ARENA; i += 9)
		CHECK_EQ(gpu_add_forbidden((uintptr_t)arena + i * PAGE), -EFAULT);
	memset(arena, 1, 8 * PAGE);
	CHECK_EQ(pages_of_child(arena, 8), 0xff);
	munmap(arena, ARENA * PAGE);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void memory_of_a_node(void)
{
	struct vm_mem *mem = NULL;
	int node[700], r = vm_mem_create_on_node(s.vm, 700 * PAGE - 5, 0, VM_STRICT, &mem);
	uint32_t *data;

	if (!CHECK_EQ(r, 0))
		return (void)printf("  %s\n", drv_error_last()->text);
	CHECK_EQ(mem->va, (uintptr_t)mem->map);
	CHECK_EQ(mem->size_B, 700 * PAGE);
	data = mem->map;
	data[699 * 1024] = 5;
	CHECK_EQ(gpu_add(mem->va + 699 * PAGE, 7), 0);
	CHECK_EQ(data[699 * 1024], 22);
	CHECK(vm_find(s.vm, mem->va + 5) == mem);
	r = vm_host_nodes(mem->map, mem->size_B, node);
	if (r == -ENOTSUP) {
		printf("this system does not tell where pages are\n");
	} else {
		CHECK_EQ(r, 0);
		for (unsigned i = 0; i < 700; i++)
			CHECK_EQ(node[i], 0);
	}
	vm_mem_destroy(mem);
}

static void pages_without_memory_have_no_node(void)
{
	char *host = pages(3);
	int node[3] = {5, 5, 5}, r;

	host[PAGE] = 1;
	r = vm_host_nodes(host + 100, 2 * PAGE, node);
	if (r == -ENOTSUP)
		return;
	CHECK_EQ(r, 0);
	CHECK_EQ(node[0], -ENOENT);
	CHECK(node[1] >= 0);
	CHECK_EQ(node[2], -ENOENT);
	munmap(host, 3 * PAGE);
}

int main(void)
{
	CHECK_EQ(vgpu_start("gfx908:vram=2G"), 0);
	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(stack_load(&s, "group", 3, &code), 0)) {
		printf("%s\n", drv_error_last()->text);
		return check_done("host memory");
	}
	odd_addresses_and_sizes();
	apart();
	files_and_shared_memory();
	read_only_memory();
	our_own_memory_is_refused();
	what_is_not_there_is_refused();
	bad_numbers_never_reach_the_kernel();
	registrations_overlap_and_end_in_any_order();
	the_writable_registration_wins();
	unmapped_addresses_are_used_again();
	children_do_not_get_what_is_kept_from_them();
	the_gpu_stays_with_the_parent();
	threads_register_the_same_memory();
	memory_of_a_node();
	pages_without_memory_have_no_node();
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
	return check_done("host memory");
}
