/* Addresses and bindings: where ranges may lie, several BOs in a range, one BO in several, parts that are rebound,
 * unbound and protected, all seen by CPU and GPU; bad arguments; a full address space. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

static struct stack s;
static struct cs_code *code;

#define ALL  (VM_GPU_READ | VM_GPU_WRITE | VM_CPU_READ | VM_CPU_WRITE)
#define GPU  (VM_GPU_READ | VM_GPU_WRITE)
#define PAGE 4096ull

/* The GPU does data[i] = data[i] * 3 + value for 64 dwords. 0, or what went wrong; -EFAULT: it may not. */
static int gpu_add(uint64_t va, uint32_t value)
{
	return stack_add(&s, code, va, value);
}

static struct vm_bo *make_bo(uint64_t size_B, unsigned flags)
{
	struct vm_info info = {.size_B = size_B, .kind = VM_GTT, .flags = flags};
	struct vm_bo *bo = NULL;

	CHECK_EQ(vm_bo_create(s.vm, &info, &bo), 0);
	return bo;
}

static struct vm_range reserve(uint64_t size_B, uint64_t align_B, uint64_t va, unsigned flags)
{
	struct vm_range_request want = {.size_B = size_B, .align_B = align_B, .va = va, .flags = flags};
	struct vm_range range = {0};

	CHECK_EQ(vm_range_reserve(s.vm, &want, &range), 0);
	return range;
}

static uint32_t *at(const struct vm_range *range, uint64_t offset_B)
{
	return (uint32_t *)(uintptr_t)(range->va + offset_B);
}

/* --- where ranges lie ------------------------------------------------------------------------- */

static void ranges_lie_where_they_are_wanted(void)
{
	struct vm_range any = reserve(3 * PAGE, 0, 0, 0), aligned = reserve(PAGE, 64 << 20, 0, 0);
	struct vm_range low[20], hinted, again;
	uint64_t va = any.va;
	struct vm_range_request exact = {.size_B = PAGE, .va = va, .flags = VM_REQUEST_EXACT};

	CHECK_EQ(aligned.va % (64 << 20), 0);
	CHECK_EQ(vm_range_reserve(s.vm, &exact, &again), -EEXIST);
	hinted = reserve(PAGE, 0, va, 0);
	CHECK(hinted.va != va);
	vm_range_release(&any);
	again = reserve(3 * PAGE, 0, va, VM_REQUEST_EXACT);
	CHECK_EQ(again.va, va);
	CHECK(!any.vm);
	vm_range_release(&any); /* does nothing */
	vm_range_release(&again);
	vm_range_release(&hinted);
	vm_range_release(&aligned);
	for (unsigned i = 0; i < 20; i++) {
		low[i] = reserve((i + 1) * 16 * PAGE, i & 1 ? 8 << 20 : 0, i & 2 ? 0x30000000 : 0, VM_REQUEST_LOW);
		CHECK(low[i].va && low[i].va + low[i].size_B <= 1ull << 32);
		CHECK_EQ(low[i].va % (i & 1 ? 8 << 20 : 4096), 0);
	}
	for (unsigned i = 0; i < 20; i++)
		vm_range_release(&low[i]);
}

static void high_ranges_are_for_the_gpu_alone(void)
{
	const struct drv_facts *f = &s.dev->facts;
	struct vm_bo *bo = make_bo(2 * PAGE, VM_CPU);
	struct vm_range host = reserve(2 * PAGE, 0, 0, 0), high[64], again;
	struct vm_range_request bad = {.size_B = PAGE, .va = 0x1000, .flags = VM_REQUEST_HIGH | VM_REQUEST_EXACT};
	uint64_t va;

	CHECK(f->high_va_lo >= 1ull << 63 && f->high_va_hi > f->high_va_lo);
	for (unsigned i = 0; i < 64; i++) {
		high[i] = reserve((1 + i % 3) * PAGE, i % 5 ? 0 : 1 << 20, 0, VM_REQUEST_HIGH);
		CHECK(high[i].va >= f->high_va_lo && high[i].va + high[i].size_B <= f->high_va_hi);
		for (unsigned j = 0; j < i; j++)
			CHECK(high[i].va + high[i].size_B <= high[j].va ||
			      high[j].va + high[j].size_B <= high[i].va);
	}
	va = high[7].va;
	vm_range_release(&high[7]);
	high[7] = reserve(2 * PAGE, 0, va, VM_REQUEST_HIGH | VM_REQUEST_EXACT);
	CHECK_EQ(high[7].va, va);
	CHECK_EQ(vm_range_reserve(s.vm, &bad, &again), -EEXIST);
	CHECK_EQ(vm_range_bind(&host, 0, bo, 0, 2 * PAGE, ALL), 0);
	CHECK_EQ(vm_range_bind(&high[7], 0, bo, 0, 2 * PAGE, ALL), -EINVAL); /* no CPU there */
	CHECK_EQ(vm_range_bind(&high[7], 0, bo, 0, 2 * PAGE, GPU), 0);
	at(&host, PAGE)[63] = 5;
	CHECK_EQ(gpu_add(high[7].va + PAGE, 7), 0);
	CHECK_EQ(at(&host, PAGE)[63], 22);
	for (unsigned i = 0; i < 64; i++)
		vm_range_release(&high[i]);
	vm_range_release(&host);
	vm_bo_put(bo);
}

/* --- bindings --------------------------------------------------------------------------------- */

/* Compares what is bound with a text: per binding "offset+pages=bo@offset:access", in pages, BOs by letter. */
static void expect(const struct vm_range *range, struct vm_bo *const *bos, const char *want)
{
	char got[400] = "", one[80];
	struct vm_bound b;

	for (uint64_t off = 0; off < range->size_B && !vm_range_query(range, off, &b);
	     off = b.offset_B + b.size_B) {
		unsigned which = 0;

		while (bos[which] != b.bo)
			which++;
		snprintf(one, sizeof(one), "%s%u+%u=%c@%u:%x", *got ? " " : "", (unsigned)(b.offset_B / PAGE),
			 (unsigned)(b.size_B / PAGE), 'a' + which, (unsigned)(b.bo_offset_B / PAGE), b.access);
		strcat(got, one);
	}
	CHECK_STR(got, want);
}

static void bos_share_a_range(void)
{
	struct vm_bo *bo[] = {make_bo(8 * PAGE, VM_CPU), make_bo(8 * PAGE, VM_CPU), NULL};
	struct vm_range r = reserve(16 * PAGE, 0, 0, 0), other = reserve(8 * PAGE, 0, 0, 0);
	struct vm_stats before, after;

	vm_stats(s.vm, &before);
	expect(&r, bo, "");
	CHECK_EQ(vm_range_bind(&r, 0, bo[0], 0, 8 * PAGE, ALL), 0);
	CHECK_EQ(vm_range_bind(&r, 8 * PAGE, bo[1], 2 * PAGE, 4 * PAGE, ALL), 0);
	expect(&r, bo, "0+8=a@0:1b 8+4=b@2:1b");
	CHECK_EQ(vm_range_bind(&r, 7 * PAGE, bo[1], 0, PAGE, ALL), -EEXIST);
	CHECK_EQ(vm_range_bind(&other, 0, bo[1], 0, 8 * PAGE, ALL), 0);

	/* one memory, two addresses, CPU and GPU */
	for (unsigned i = 0; i < 16; i++)
		if (i < 12)
			at(&r, i * PAGE)[1] = i;
	CHECK_EQ(at(&other, 2 * PAGE)[1], 8);
	CHECK_EQ(gpu_add(r.va + 9 * PAGE, 100), 0);
	CHECK_EQ(at(&other, 3 * PAGE)[1], 127);

	/* a hole, which cuts one binding in two */
	CHECK_EQ(vm_range_unbind(&r, 2 * PAGE, 3 * PAGE), 0);
	expect(&r, bo, "0+2=a@0:1b 5+3=a@5:1b 8+4=b@2:1b");
	CHECK_EQ(gpu_add(r.va + 5 * PAGE, 1), 0);
	CHECK_EQ(at(&r, 5 * PAGE)[1], 16);
	CHECK_EQ(vm_range_unbind(&r, 2 * PAGE, 3 * PAGE), 0); /* nothing there: nothing to do */

	/* over two bindings and the hole */
	CHECK_EQ(vm_range_rebind(&r, PAGE, bo[1], 0, 6 * PAGE, ALL), 0);
	expect(&r, bo, "0+1=a@0:1b 1+6=b@0:1b 7+1=a@7:1b 8+4=b@2:1b");
	CHECK_EQ(at(&r, 3 * PAGE)[1], 8);
	CHECK_EQ(at(&r, 7 * PAGE)[1], 7);
	CHECK_EQ(gpu_add(r.va + 4 * PAGE, 1), 0);
	CHECK_EQ(at(&other, 3 * PAGE)[1], 382);
	CHECK_EQ(at(&r, 9 * PAGE)[1], 382);

	/* the BO's creator lets go; bindings keep it */
	vm_bo_put(bo[0]);
	CHECK_EQ(at(&r, 0)[1], 0);
	CHECK_EQ(gpu_add(r.va, 3), 0);
	CHECK_EQ(at(&r, 0)[1], 3);
	vm_range_release(&r);
	vm_range_release(&other);
	vm_bo_put(bo[1]);
	vm_stats(s.vm, &after);
	CHECK_EQ(after.bos, before.bos - 2);
	CHECK_EQ(after.mappings, before.mappings);
}

static bool cpu_reads(const volatile uint32_t *p)
{
	int fd[2];
	bool can;

	/* write() answers EFAULT where a load would be a SIGSEGV */
	if (pipe(fd))
		return false;
	can = write(fd[1], (const void *)p, 4) == 4;
	close(fd[0]);
	close(fd[1]);
	return can;
}

static void access_is_changed_in_step(void)
{
	struct vm_bo *bo[] = {make_bo(6 * PAGE, VM_CPU | VM_EXEC), NULL};
	struct vm_range r = reserve(6 * PAGE, 0, 0, 0);
	enum vgpu_strict level = vgpu_strict();
	struct vm_stats before, after;
	unsigned long findings;

	vm_stats(s.vm, &before);
	CHECK_EQ(vm_range_bind(&r, 0, bo[0], 0, 6 * PAGE, 0), 0);
	expect(&r, bo, "0+6=a@0:0");
	CHECK(!cpu_reads(at(&r, 0)));
	vgpu_strict_set(VGPU_STRICT_OFF);
	CHECK_EQ(gpu_add(r.va, 1), -EFAULT);
	vgpu_strict_set(level);
	CHECK_EQ(vm_range_protect(&r, 0, 6 * PAGE, ALL), 0);
	vm_stats(s.vm, &after);
	CHECK_EQ(after.mappings, before.mappings + 1);
	at(&r, 0)[0] = 4;
	CHECK_EQ(gpu_add(r.va, 1), 0);
	CHECK_EQ(at(&r, 0)[0], 13);

	CHECK_EQ(vm_range_protect(&r, 2 * PAGE, 2 * PAGE, VM_GPU_READ | VM_CPU_READ), 0);
	expect(&r, bo, "0+2=a@0:1b 2+2=a@2:9 4+2=a@4:1b");
	CHECK(cpu_reads(at(&r, 2 * PAGE)));
	findings = vgpu_findings();
	vgpu_strict_set(VGPU_STRICT_OFF);
	CHECK_EQ(gpu_add(r.va + 3 * PAGE, 9), -EFAULT);
	vgpu_strict_set(level);
	CHECK_EQ(at(&r, 3 * PAGE)[0], 0); /* the write did not happen */
	CHECK_EQ(vgpu_findings(), findings);

	/* CPU only, over parts with different access */
	CHECK_EQ(vm_range_protect(&r, PAGE, 4 * PAGE, VM_CPU_READ | VM_CPU_WRITE), 0);
	expect(&r, bo, "0+1=a@0:1b 1+1=a@1:18 2+2=a@2:18 4+1=a@4:18 5+1=a@5:1b");
	at(&r, 3 * PAGE)[0] = 2;
	CHECK_EQ(vm_range_protect(&r, PAGE, 4 * PAGE, GPU), 0);
	CHECK(!cpu_reads(at(&r, 3 * PAGE)));
	CHECK_EQ(gpu_add(r.va + 3 * PAGE, 9), 0);
	CHECK_EQ(vm_range_protect(&r, 3 * PAGE, PAGE, ALL), 0);
	CHECK_EQ(at(&r, 3 * PAGE)[0], 15);

	CHECK_EQ(vm_range_unbind(&r, 5 * PAGE, PAGE), 0);
	CHECK_EQ(vm_range_protect(&r, 0, 6 * PAGE, GPU), -ENOENT);
	vm_range_release(&r);
	vm_stats(s.vm, &after);
	CHECK_EQ(after.mappings, before.mappings);
	vm_bo_put(bo[0]);
}

static void access_needs_permission(void)
{
	struct vm_bo *hidden = make_bo(PAGE, 0);
	struct vm_range r = reserve(PAGE, 0, 0, 0);

	CHECK_EQ(vm_range_bind(&r, 0, hidden, 0, PAGE, ALL), -EACCES);
	CHECK_EQ(vm_range_bind(&r, 0, hidden, 0, PAGE, GPU | VM_GPU_FETCH), -EACCES);
	CHECK_EQ(vm_range_bind(&r, 0, hidden, 0, PAGE, 1 << 9), -EINVAL);
	CHECK_EQ(vm_range_bind(&r, 0, hidden, 0, PAGE, GPU), 0);
	CHECK_EQ(vm_range_protect(&r, 0, PAGE, ALL), -EACCES);
	vm_range_release(&r);
	vm_bo_put(hidden);
}

/* --- bad arguments ---------------------------------------------------------------------------- */

/* The CPU sees one BO where the GPU is bound to another, or to none. */
static void the_cpu_has_views_of_its_own(void)
{
	struct vm_range range = reserve(4 * PAGE, 0, 0, 0), high = reserve(PAGE, 0, 0, VM_REQUEST_HIGH);
	struct vm_bo *bo = make_bo(2 * PAGE, VM_CPU), *hidden = make_bo(PAGE, 0);
	uint64_t updates = vgpu_ioctl_count();

	CHECK_EQ(vm_range_view(&range, PAGE, bo, 0, 2 * PAGE, VM_CPU_READ | VM_CPU_WRITE), 0);
	CHECK(vgpu_ioctl_count() - updates <= 1); /* where to map it; the GPU hears of nothing */
	at(&range, PAGE)[0] = 5;
	at(&range, 2 * PAGE)[0] = 6;
	CHECK_EQ(vm_range_bind(&range, PAGE, hidden, 0, PAGE, GPU), 0);
	CHECK_EQ(gpu_add(range.va + PAGE, 1), 0);
	CHECK_EQ(at(&range, PAGE)[0], 5);
	CHECK_EQ(vm_range_view(&range, 0, bo, PAGE, PAGE, VM_CPU_READ), 0); /* twice, at another place */
	CHECK_EQ(at(&range, 0)[0], 6);
	CHECK_EQ(vm_range_unbind(&range, 0, 4 * PAGE), 0); /* what is no binding stays */
	CHECK_EQ(at(&range, 0)[0], 6);
	CHECK_EQ(vm_range_view(&range, 0, NULL, 0, PAGE, 0), 0);
	CHECK_EQ(vm_range_view(&range, 0, hidden, 0, PAGE, VM_CPU_READ), -EACCES);
	CHECK_EQ(vm_range_view(&range, 0, bo, PAGE, 2 * PAGE, VM_CPU_READ), -EINVAL);
	CHECK_EQ(vm_range_view(&range, 0, bo, 0, PAGE, VM_GPU_READ), -EINVAL);
	CHECK_EQ(vm_range_view(&range, 3 * PAGE, bo, 0, 2 * PAGE, VM_CPU_READ), -EINVAL);
	CHECK_EQ(vm_range_view(&high, 0, bo, 0, PAGE, VM_CPU_READ), -EINVAL);
	vm_bo_put(bo);
	vm_bo_put(hidden);
	vm_range_release(&high);
	vm_range_release(&range);
}

static void bad_numbers_never_reach_the_kernel(void)
{
	static const uint64_t bad[] = {1,
				       4095,
				       4097,
				       9 * 4096,
				       1ull << 47,
				       1ull << 63,
				       UINT64_MAX - 4095,
				       UINT64_MAX,
				       UINT64_MAX - 8191,
				       1ull << 52};
	struct vm_bo *bo = make_bo(4 * PAGE, VM_CPU);
	struct vm_range r = reserve(8 * PAGE, 0, 0, 0), none = {0}, out;
	unsigned long ioctls = vgpu_ioctl_count();
	struct vm_bound bound;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t b = bad[i];
		struct vm_range_request size = {.size_B = b},
					va = {.size_B = PAGE, .va = b, .flags = VM_REQUEST_EXACT};
		struct vm_range huge = {.va = b, .size_B = PAGE};

		CHECK_EQ(vm_range_bind(&r, b, bo, 0, PAGE, ALL), -EINVAL);
		CHECK_EQ(vm_range_bind(&r, 0, bo, b, PAGE, ALL), -EINVAL);
		CHECK_EQ(vm_range_bind(&r, 0, bo, 0, b, ALL), -EINVAL);
		CHECK_EQ(vm_range_bind(&r, PAGE, bo, PAGE, b, ALL), -EINVAL);
		CHECK_EQ(vm_range_rebind(&r, b, bo, 0, PAGE, ALL), -EINVAL);
		CHECK_EQ(vm_range_unbind(&r, b, PAGE), -EINVAL);
		CHECK_EQ(vm_range_unbind(&r, PAGE, b), -EINVAL);
		CHECK_EQ(vm_range_protect(&r, b, PAGE, ALL), -EINVAL);
		CHECK_EQ(vm_range_protect(&r, PAGE, b, ALL), -EINVAL);
		CHECK_EQ(strncmp(drv_error_last()->text, "check_part", 10), 0);
		if (b > 8 * PAGE)
			CHECK_EQ(vm_range_query(&r, b, &bound), -EINVAL);
		if (b % PAGE || b > 1ull << 40)
			CHECK(vm_range_reserve(s.vm, &size, &out) < 0);
		if (b % PAGE || b >= 1ull << 47)
			CHECK(vm_range_reserve(s.vm, &va, &out) < 0);
		if (b % PAGE || b == 1ull << 47 || b == 1ull << 52)
			CHECK_EQ(vm_range_adopt(s.vm, &huge, &out), -EINVAL);
	}
	CHECK_EQ(vm_range_bind(&r, 0, bo, 0, 0, ALL), -EINVAL);
	CHECK_EQ(vm_range_unbind(&r, 0, 0), -EINVAL);
	CHECK_EQ(vm_range_protect(&r, 0, 0, ALL), -EINVAL);
	CHECK_EQ(vm_range_reserve(s.vm, &(struct vm_range_request){0}, &out), -EINVAL);
	CHECK_EQ(vm_range_reserve(s.vm, &(struct vm_range_request){.size_B = PAGE, .align_B = 12288}, &out),
		 -EINVAL);
	CHECK_EQ(vm_range_reserve(s.vm, &(struct vm_range_request){.size_B = PAGE, .align_B = 1ull << 63}, &out),
		 -EINVAL);
	CHECK_EQ(vm_range_reserve(s.vm, &(struct vm_range_request){.size_B = PAGE, .align_B = 8192, .va = PAGE},
				  &out),
		 -EINVAL);
	CHECK_EQ(vm_range_reserve(
			 s.vm,
			 &(struct vm_range_request){.size_B = PAGE, .flags = VM_REQUEST_LOW | VM_REQUEST_HIGH},
			 &out),
		 -EINVAL);
	CHECK_EQ(vm_range_reserve(s.vm, &(struct vm_range_request){.size_B = 1ull << 33, .flags = VM_REQUEST_LOW},
				  &out),
		 -ENOMEM);
	CHECK_EQ(vm_range_bind(&none, 0, bo, 0, PAGE, ALL), -EINVAL);
	CHECK_EQ(vm_range_unbind(&none, 0, PAGE), -EINVAL);
	CHECK_EQ(vm_range_query(&none, 0, &bound), -EINVAL);
	CHECK_EQ(vgpu_ioctl_count(), ioctls);
	vm_range_release(&r);
	vm_bo_put(bo);
}

/* --- a full address space --------------------------------------------------------------------- */

static void a_full_address_space_is_an_error(void)
{
	struct rlimit old, tight;
	struct vm_range_request want = {.size_B = 1 << 30};
	struct vm_range range[64];
	struct vm_stats before, after;
	unsigned n = 0;
	long pages;
	FILE *f = fopen("/proc/self/statm", "re");
	int r = 0;

	CHECK(f && fscanf(f, "%ld", &pages) == 1);
	fclose(f);
	getrlimit(RLIMIT_AS, &old);
	tight = old;
	tight.rlim_cur = (rlim_t)pages * PAGE + (5ull << 30);
	vm_stats(s.vm, &before);
	CHECK_EQ(setrlimit(RLIMIT_AS, &tight), 0);
	while (n < 64 && !(r = vm_range_reserve(s.vm, &want, &range[n])))
		n++;
	CHECK_EQ(r, -ENOMEM);
	CHECK(n >= 2 && n <= 5);
	CHECK(!stack_gtt(&s, 2ull << 30)); /* whether BO or addresses run out, nothing is left */
	while (n)
		vm_range_release(&range[--n]);
	CHECK_EQ(vm_range_reserve(s.vm, &want, &range[0]), 0);
	vm_range_release(&range[0]);
	setrlimit(RLIMIT_AS, &old);
	vm_stats(s.vm, &after);
	CHECK_EQ(after.ranges, before.ranges);
	CHECK_EQ(after.bos, before.bos);
}

int main(void)
{
	CHECK_EQ(vgpu_start("gfx90a:vram=2G"), 0);
	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(stack_load(&s, "group", 3, &code), 0)) {
		printf("%s\n", drv_error_last()->text);
		return check_done("addresses and bindings");
	}
	ranges_lie_where_they_are_wanted();
	high_ranges_are_for_the_gpu_alone();
	bos_share_a_range();
	access_is_changed_in_step();
	access_needs_permission();
	the_cpu_has_views_of_its_own();
	bad_numbers_never_reach_the_kernel();
	a_full_address_space_is_an_error();
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
	return check_done("addresses and bindings");
}
