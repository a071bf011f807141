/* Memory under pressure: full VRAM, with an error or silently; a hundred thousand buffers; a process that has no
 * mapping left. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"
#include "vm/suballoc.h"

static struct stack s;

#define PAGE 4096ull

static struct drv_usage usage(void)
{
	struct drv_usage u = {0};

	CHECK_EQ(drv_usage_memory(s.dev, &u), 0);
	return u;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Allocates until it fails; how many it was. */
static unsigned fill(struct vm_mem **mem, unsigned most, const struct vm_info *info, int *r)
{
	unsigned n = 0;

	while (n < most && !(*r = vm_mem_create(s.vm, info, &mem[n])))
		n++;
	return n;
}

static void drain(struct vm_mem **mem, unsigned n)
{
	uint32_t list;

	while (n)
		vm_mem_destroy(mem[--n]);
	CHECK_EQ(vm_list(s.vm, &list), 0); /* the kernel lets go */
}

/* Every step of these stops at a finding: none of the buffers is put elsewhere. */
static void strict_memory_is_where_it_should_be(unsigned flags, uint64_t heap_B)
{
	struct vm_info info = {.size_B = 32 << 20, .kind = VM_VRAM, .flags = flags | VM_STRICT};
	struct drv_usage before = usage(), full, after;
	static struct vm_mem *mem[256];
	struct vm_suballoc piece;
	unsigned n;
	int r;

	n = fill(mem, 256, &info, &r);
	CHECK_EQ(r, -ENOMEM);
	CHECK(strstr(drv_error_last()->text, "GEM_CREATE"));
	full = usage();
	CHECK_EQ(full.vram_B - before.vram_B, n * info.size_B);
	CHECK_EQ(full.gtt_B, before.gtt_B);
	CHECK(full.visible_vram_B - before.visible_vram_B >= (flags & VM_CPU ? n * info.size_B : 0));
	CHECK(n * info.size_B + 2 * info.size_B > heap_B && n * info.size_B <= heap_B);
	info.size_B = PAGE;
	n += fill(mem + n, 1, &info, &r);
	info.size_B = 700;
	r = vm_suballoc_create(s.vm, &info, &piece);
	if (!r)
		vm_suballoc_destroy(&piece);
	CHECK(r == 0 || r == -ENOMEM);
	drain(mem, n);
	after = usage();
	CHECK(after.vram_B <= before.vram_B + 2 * VM_SLAB_B); /* a slab may stay */
}

static void other_memory_spills_and_the_counters_tell(void)
{
	struct vm_info strict = {.size_B = 32 << 20, .kind = VM_VRAM, .flags = VM_STRICT}, spill = strict;
	static struct vm_mem *mem[256], *extra;
	struct drv_usage full, after;
	unsigned n;
	int r;

	n = fill(mem, 256, &strict, &r);
	full = usage();
	spill.size_B = 1 << 28;
	spill.flags = 0;
	CHECK_EQ(vm_mem_create(s.vm, &spill, &extra), 0);
	after = usage();
	/* Idle buffers made room for it: about as much as it needs is now in GTT. */
	CHECK(after.gtt_B - full.gtt_B >= spill.size_B - strict.size_B &&
	      after.gtt_B - full.gtt_B <= spill.size_B + strict.size_B);
	CHECK(after.vram_B <= full.vram_B);
	CHECK_EQ(extra->bo->kind, VM_VRAM); /* what was asked for; nothing else is known of it */
	vm_mem_destroy(extra);
	drain(mem, n);
}

/* --- many ------------------------------------------------------------------------------------- */

enum { MANY = 100000 };

static void a_hundred_thousand_buffers(void)
{
	struct vm_mem **mem = calloc(MANY, sizeof(struct vm_mem *));
	struct vm_stats before, full, after;
	unsigned n = 0, right = 0;
	uint32_t list, again;
	double t = seconds();

	vm_stats(s.vm, &before);
	for (; n < MANY; n++) {
		struct vm_info info = {.size_B = PAGE, .kind = n & 1 ? VM_VRAM : VM_GTT};

		if (vm_mem_create(s.vm, &info, &mem[n]))
			break;
	}
	if (!CHECK_EQ(n, MANY))
		printf("  %s\n", drv_error_last()->text);
	printf("%u buffers: %.2f us each", n, (seconds() - t) / n * 1e6);
	t = seconds();
	CHECK_EQ(vm_list(s.vm, &list), 0);
	CHECK_EQ(vm_list(s.vm, &again), 0);
	CHECK_EQ(list, again);
	printf(", listing them %.2f ms", (seconds() - t) * 1e3);
	vm_stats(s.vm, &full);
	CHECK_EQ(full.bos - before.bos, n);
	CHECK_EQ(full.mappings - before.mappings, n);
	CHECK_EQ(full.list_updates - before.list_updates, 1);
	t = seconds();
	for (unsigned i = 0; i < n; i++)
		right += vm_find(s.vm, mem[i]->va + i % PAGE) == mem[i];
	CHECK_EQ(right, n);
	printf(", finding one %.2f us", (seconds() - t) / n * 1e6);
	t = seconds();
	for (unsigned i = 0; i < n; i++)
		vm_mem_destroy(mem[(uint64_t)i * 7919 % n]);
	CHECK_EQ(vm_list(s.vm, &list), 0);
	printf(", freeing %.2f us\n", (seconds() - t) / n * 1e6);
	vm_stats(s.vm, &after);
	CHECK_EQ(after.bos, before.bos);
	CHECK_EQ(after.mappings, before.mappings);
	CHECK_EQ(after.ranges, before.ranges);
	free(mem);
}

/* --- no mappings left ------------------------------------------------------------------------- */

static long max_mappings(void)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	long max = 0;

	if (f && fscanf(f, "%ld", &max) != 1)
		max = 0;
	if (f)
		fclose(f);
	return max;
}

/* Every second page read-only is a mapping of its own: takes all but a few of what the process may have. */
static char *take_mappings(size_t *size_B)
{
	long max = max_mappings();
	char *p;

	if (!max || max > 1 << 20)
		return NULL;
	*size_B = (size_t)max * PAGE;
	p = mmap(NULL, *size_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	for (long i = 0; i < max - 1; i += 2)
		if (mprotect(p + i * PAGE, PAGE, PROT_READ))
			break;
	/* some are given back, in the middle of what comes next */
	mprotect(p, 80 * PAGE, PROT_NONE);
	return p;
}

static void no_mapping_left_is_an_error(void)
{
	struct vm_info info = {.size_B = 5 * PAGE, .kind = VM_GTT, .flags = VM_CPU};
	static struct vm_mem *mem[300];
	struct vm_stats before, after;
	struct cs_ib *ib;
	size_t size_B;
	char *taken;
	unsigned n;
	int r;

	/* malloc() maps too: what it needs it shall have */
	free(malloc(16 << 20));
	vm_stats(s.vm, &before);
	taken = take_mappings(&size_B);
	if (!taken)
		return (void)printf("this system has no limit of mappings that a test can reach\n");
	n = fill(mem, 300, &info, &r);
	CHECK_EQ(r, -ENOMEM);
	CHECK(n < 300);
	drain(mem, n);
	CHECK_EQ(vm_mem_create(s.vm, &info, &mem[0]), 0);
	memset(mem[0]->map, 1, 5 * PAGE);
	vm_mem_destroy(mem[0]);
	munmap(taken, size_B);
	vm_stats(s.vm, &after);
	CHECK_EQ(after.bos, before.bos);
	CHECK_EQ(after.ranges, before.ranges);
	CHECK_EQ(after.mappings, before.mappings);
	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	CHECK_EQ(cs_submit(ib, NULL, NULL), 0);
	CHECK_EQ(cs_fence_wait(cs_ring_last(s.ring), CS_FOREVER), 0);
}

static bool start(const char *spec)
{
	CHECK_EQ(vgpu_start(spec), 0);
	return CHECK_EQ(stack_open(&s), 0);
}

static void stop(void)
{
	stack_close(&s);
	vgpu_stop();
}

int main(void)
{
	if (start("gfx908:vram=2G:bar=256M")) {
		strict_memory_is_where_it_should_be(0, s.dev->facts.vram.usable_B);
		strict_memory_is_where_it_should_be(VM_CPU, s.dev->facts.visible_vram.usable_B);
		other_memory_spills_and_the_counters_tell();
		no_mapping_left_is_an_error();
	}
	stop();
	if (start("null:gfx908"))
		a_hundred_thousand_buffers();
	stop();
	return check_done("memory under pressure");
}
