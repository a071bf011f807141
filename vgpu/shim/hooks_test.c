/* Libraries that overwrite libc's functions of memory: OpenMPI's and UCX's hooks call syscall(), which is the shim's. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <amdgpu_drm.h>
#include <xf86drm.h>
#include "tests/check.h"
#include "vgpu/vgpu.h"

static unsigned calls;

static void *hook_mmap(void *addr, size_t size_B, int prot, int flags, int fd, off_t offset)
{
	calls++;
	return (void *)syscall(SYS_mmap, addr, size_B, (long)prot, (long)flags, (long)fd, offset);
}

static int hook_munmap(void *addr, size_t size_B)
{
	calls++;
	return (int)syscall(SYS_munmap, addr, size_B);
}

static int hook_madvise(void *addr, size_t size_B, int advice)
{
	calls++;
	return (int)syscall(SYS_madvise, addr, size_B, (long)advice);
}

static void *hook_mremap(void *old, size_t old_B, size_t new_B, int flags, void *to)
{
	calls++;
	return (void *)syscall(SYS_mremap, old, old_B, new_B, (long)flags, to);
}

/* Writes a jump to hook over the beginning of libc's function. */
static bool overwrite(const char *name, void *hook)
{
	uint8_t jump[12] = {0x48, 0xb8, [10] = 0xff, 0xe0}; /* mov $hook, %rax; jmp *%rax */
	uint8_t *code = dlsym(RTLD_NEXT, name);
	uintptr_t page = (uintptr_t)code & ~4095ull;

	if (!code || mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	memcpy(jump + 2, &hook, sizeof(hook));
	memcpy(code, jump, sizeof(jump));
	return true;
}

static uint64_t buffer_offset(int fd)
{
	union drm_amdgpu_gem_create create = {.in = {8192, 0, AMDGPU_GEM_DOMAIN_GTT, 0}};
	union drm_amdgpu_gem_mmap map;

	CHECK_EQ(ioctl(fd, DRM_IOCTL_AMDGPU_GEM_CREATE, &create), 0);
	map.in.handle = create.out.handle;
	map.in._pad = 0;
	CHECK_EQ(ioctl(fd, DRM_IOCTL_AMDGPU_GEM_MMAP, &map), 0);
	return map.out.addr_ptr;
}

/* In a child, whose libc is spoilt. */
static int use_memory(void)
{
	int fd = open("/dev/dri/renderD128", O_RDWR);
	uint64_t offset = buffer_offset(fd);
	uint32_t *one, *two;

	CHECK(overwrite("mmap", (void *)hook_mmap));
	CHECK(overwrite("mremap", (void *)hook_mremap));
	CHECK(overwrite("madvise", (void *)hook_madvise));
	CHECK(overwrite("munmap", (void *)hook_munmap));
	one = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	two = (uint32_t *)syscall(SYS_mmap, NULL, 8192L, (long)(PROT_READ | PROT_WRITE), (long)MAP_SHARED, (long)fd,
				  (long)offset);
	CHECK(one != MAP_FAILED && two != MAP_FAILED && one != two);
	one[5] = 7;
	CHECK_EQ(two[5], 7);
	CHECK_EQ(munmap(two, 8192), 0);
	one = mremap(one, 8192, 4096, 0);
	CHECK_EQ(one[5], 7);
	CHECK_EQ(munmap(one, 4096), 0);
	two = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK_EQ(madvise(two, 1 << 20, MADV_DONTNEED), 0);
	CHECK_EQ(two[0], 0);
	CHECK(calls >= 6);
	return check_done("a spoilt libc");
}

int main(void)
{
	int status = -1;
	pid_t child;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	printf("SKIP the sanitizer's functions stand before libc's\n");
	return 77;
#endif
	CHECK_EQ(vgpu_start("gfx906"), 0);
	child = fork();
	if (!child)
		_exit(use_memory());
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	vgpu_stop();
	return check_done("hooks in libc");
}
