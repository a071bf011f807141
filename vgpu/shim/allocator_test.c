/* An allocator that gets its pages by mmap() and madvise() under their names, as jemalloc and tcmalloc do: the virtual
 * GPU's own allocations, made with its locks held, call the wrappers again. */
#include <stdio.h>
#include <stdlib.h>
#include "vgpu/kernel/tests/test_rig.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* has an allocator of its own */
#define OTHER_ALLOCATOR 1
#else
#define OTHER_ALLOCATOR 0
#endif

#define MAPPINGS 200 /* more than the shim's list of mappings has room for at first */
#define HUNG_S   20  /* ends the test */

void *__libc_calloc(size_t count, size_t size_B);
void *__libc_realloc(void *old, size_t size_B);

static void *page; /* the allocator's; NULL: it is like libc's */
static unsigned changes;

#if !OTHER_ALLOCATOR
static void page_change(void)
{
	if (!page)
		return;
	changes++;
	madvise(page, 4096, MADV_DONTNEED);
	CHECK(mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page);
}

void *calloc(size_t count, size_t size_B)
{
	page_change();
	return __libc_calloc(count, size_B);
}

void *realloc(void *old, size_t size_B)
{
	page_change();
	return __libc_realloc(old, size_B);
}
#endif

/* The kernel's lock: a CS allocates with it. */
static void submission_allocates(void)
{
	unsigned before = changes;

	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK(changes > before);
}

/* The lock of the list of mappings, which grows. */
static void mappings_allocate(void)
{
	static uint32_t *at[MAPPINGS];
	unsigned before = changes;

	for (unsigned i = 0; i < MAPPINGS; i++)
		CHECK((at[i] = rig_map(rig.data_bo, 4096)) != MAP_FAILED);
	CHECK(changes > before);
	for (unsigned i = 0; i < MAPPINGS; i++)
		CHECK_EQ(munmap(at[i], 4096), 0);
}

int main(void)
{
	void *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_amdgpu_gem_userptr user = {(uintptr_t)memory, 4096, AMDGPU_GEM_USERPTR_REGISTER, 0};

	if (OTHER_ALLOCATOR) {
		printf("the sanitizer has its own allocator\n");
		return 77;
	}
	rig_start("null:gfx908");
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0); /* what makes changes of mappings wait */
	alarm(HUNG_S);
	page = (char *)memory + 4096;
	mappings_allocate();
	submission_allocates();
	page = NULL;
	CHECK_EQ(rig_close(user.handle), 0);
	munmap(memory, 8192);
	rig_stop();
	return check_done("allocators that map by name");
}
