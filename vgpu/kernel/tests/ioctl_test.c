/* Error codes and rules of the ioctls, row by row (reference: the kernel contract), on bare ioctls. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/check.h"
#include "vgpu/kernel/base/core.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

static int fd;

static int call(unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

/* Those since it was last called. */
static unsigned long new_findings(void)
{
	static unsigned long seen;
	unsigned long before = seen;

	seen = vgpu_findings();
	return seen - before;
}

static int create(uint64_t size_B, uint64_t domains, uint64_t flags, uint32_t *handle)
{
	union drm_amdgpu_gem_create args = {.in = {size_B, 0, domains, flags}};
	int r = call(DRM_IOCTL_AMDGPU_GEM_CREATE, &args);

	if (!r && handle)
		*handle = args.out.handle;
	return r;
}

static int gem_close(uint32_t handle)
{
	struct drm_gem_close args = {.handle = handle};

	return call(DRM_IOCTL_GEM_CLOSE, &args);
}

static int va(uint32_t op, uint32_t handle, uint64_t at, uint64_t offset, uint64_t size_B, uint32_t flags)
{
	struct drm_amdgpu_gem_va args = {handle, 0, op, flags, at, offset, size_B};

	return call(DRM_IOCTL_AMDGPU_GEM_VA, &args);
}

static int info(uint32_t query, void *to, uint32_t size_B)
{
	struct drm_amdgpu_info args = {.return_pointer = (uintptr_t)to, .return_size = size_B, .query = query};

	return call(DRM_IOCTL_AMDGPU_INFO, &args);
}

static void plumbing(void)
{
	struct drm_get_cap cap = {.capability = DRM_CAP_PRIME};
	struct drm_client client = {0};
	union drm_amdgpu_sched sched = {.in = {1, 0, 0, 0}};
	char name[8] = "", big[64] = {0};
	struct drm_version version = {.name = name, .name_len = 3};
	int primary;

	CHECK_EQ(call(DRM_IOWR(0x96, char[72]), big), -EINVAL);  /* row 1: USERQ */
	CHECK_EQ(call(_IOWR('T', 0x40, char[8]), big), -ENOTTY); /* row 2 */
	CHECK_EQ(isatty(fd), 0);
	CHECK_EQ(call(DRM_IOCTL_GET_CLIENT, &client), -EACCES); /* row 4 */
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_SCHED, &sched), -EACCES);
	CHECK_EQ(call(DRM_IOCTL_GET_CAP, &cap), 0);
	CHECK_EQ(cap.value, 3);
	cap.capability = 0x7777;
	CHECK_EQ(call(DRM_IOCTL_GET_CAP, &cap), -EINVAL);
	CHECK_EQ(call(DRM_IOCTL_VERSION, &version), 0);
	CHECK_EQ(version.name_len, 6);
	CHECK_STR(name, "amd"); /* as much as fits, and no terminator */
	CHECK_EQ(version.version_minor, 61);
	CHECK_EQ(call(DRM_IOCTL_GEM_CLOSE, (void *)8), -EFAULT);
	/* row 3: the 64-byte GEM_VA of newer kernels works, and is checked as the short one */
	CHECK_EQ(call(DRM_IOW(0x48, char[64]), big), -EINVAL);

	primary = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
	CHECK(primary >= 0);
	CHECK_EQ(ioctl(primary, DRM_IOCTL_GET_CLIENT, &client), 0);
	CHECK_EQ(client.auth, 1); /* the first one is master */
	close(primary);
}

static void infos(void)
{
	struct uapi_dev_info dev;
	struct uapi_memory_info memory;
	uint32_t value, ibs[10], regs[2];
	struct drm_amdgpu_info args = {.return_pointer = (uintptr_t)&value, .return_size = 4};
	struct uapi_hw_ip ip;

	CHECK_EQ(info(AMDGPU_INFO_ACCEL_WORKING, &value, 0), -EINVAL); /* row 6 */
	CHECK_EQ(info(AMDGPU_INFO_ACCEL_WORKING, NULL, 4), -EINVAL);
	CHECK_EQ(info(0x7f, &value, 4), -EINVAL);
	CHECK_EQ(info(AMDGPU_INFO_ACCEL_WORKING, &value, 4), 0);
	CHECK_EQ(value, 1);
	CHECK_EQ(info(AMDGPU_INFO_DEV_INFO, &dev, sizeof(dev)), 0);
	CHECK_EQ(dev.device_id, 0x738c);
	CHECK_EQ(dev.virtual_address_offset, 0x10000);
	CHECK_EQ(dev.high_va_max, 0xffffffffffbf0000ull);
	CHECK_EQ(dev.cu_active_number, 120);
	value = 0;
	for (unsigned i = 0; i < 16; i++)
		value += (uint32_t)__builtin_popcount(dev.cu_bitmap[i / 4][i % 4]);
	CHECK_EQ(value, 120);
	CHECK_EQ(dev.cu_bitmap[0][1], 0x7fff); /* engine 4 */
	CHECK_EQ(info(AMDGPU_INFO_MEMORY, &memory, sizeof(memory)), 0);
	CHECK_EQ(memory.vram.total, 32ull << 30);
	CHECK_EQ(info(AMDGPU_INFO_MAX_IBS, ibs, sizeof(ibs)), 0);
	CHECK_EQ(ibs[AMDGPU_HW_IP_COMPUTE], 125);
	CHECK_EQ(info(AMDGPU_INFO_NUM_HANDLES, &value, 4), -ENODATA);

	args.query = AMDGPU_INFO_READ_MMR_REG; /* row 7 */
	args.read_mmr_reg.dword_offset = 0x263e;
	args.read_mmr_reg.count = 1;
	args.read_mmr_reg.instance = 0xffffffff;
	args.return_pointer = (uintptr_t)regs;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &args), 0);
	args.read_mmr_reg.dword_offset = 0x1234;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &args), -EFAULT);
	args.read_mmr_reg.count = 129;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &args), -EINVAL);

	args = (struct drm_amdgpu_info){(uintptr_t)&ip, sizeof(ip), AMDGPU_INFO_HW_IP_INFO, {{0}}};
	args.query_hw_ip.type = AMDGPU_HW_IP_GFX;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &args), 0);
	CHECK_EQ(ip.available_rings, 0); /* no graphics on Arcturus */
	args.query_hw_ip.type = AMDGPU_HW_IP_COMPUTE;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &args), 0);
	CHECK_EQ(ip.available_rings, 0xf);
	CHECK_EQ(ip.ip_discovery_version, 0x90401);
	args.query_hw_ip.ip_instance = 1; /* row 8 */
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &args), -EINVAL);
	args.query_hw_ip.ip_instance = 0;
	args.query_hw_ip.type = 77;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &args), -EINVAL);
}

static void buffers(void)
{
	uint32_t handle = 0, second = 0;
	union drm_amdgpu_gem_mmap map = {0};
	struct drm_amdgpu_gem_metadata meta = {.op = AMDGPU_GEM_METADATA_OP_SET_METADATA};
	struct drm_amdgpu_gem_create_in created;
	struct drm_amdgpu_gem_op op = {.op = AMDGPU_GEM_OP_GET_GEM_CREATE_INFO, .value = (uintptr_t)&created};
	struct uapi_memory_info memory;
	uint32_t *p;

	CHECK_EQ(create(4096, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_VRAM_CONTIGUOUS, NULL),
		 -EINVAL); /* row 13 */
	CHECK_EQ(create(4096, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_ENCRYPTED, NULL), -EINVAL);
	CHECK_EQ(create(4096, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_COHERENT, NULL), -EINVAL);
	CHECK_EQ(create(4096, AMDGPU_GEM_DOMAIN_DOORBELL, 0, NULL), -EINVAL);   /* row 14 */
	CHECK_EQ(create(1ull << 50, AMDGPU_GEM_DOMAIN_VRAM, 0, NULL), -ENOMEM); /* row 15 */
	CHECK_EQ(info(AMDGPU_INFO_MEMORY, &memory, sizeof(memory)), 0);
	CHECK_EQ(create(memory.gtt.total, AMDGPU_GEM_DOMAIN_GTT, 0, NULL), -ENOMEM);
	new_findings();
	CHECK_EQ(create(0, AMDGPU_GEM_DOMAIN_VRAM, 0, NULL), -ENOSPC); /* row 16 */
	CHECK_EQ(new_findings(), 1);
	CHECK_EQ(create(5000, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_NO_CPU_ACCESS, &handle), 0);
	map.in.handle = handle;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_MMAP, &map), -EPERM); /* row 20 */
	op.handle = handle;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_OP, &op), 0);
	CHECK_EQ(created.bo_size, 8192);
	CHECK_EQ(gem_close(handle), 0);
	CHECK_EQ(gem_close(handle), -EINVAL); /* row 24 */
	CHECK_EQ(new_findings(), 1);
	map.in.handle = handle;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_MMAP, &map), -ENOENT); /* row 25 */
	CHECK_EQ(new_findings(), 1);

	CHECK_EQ(create(8192, AMDGPU_GEM_DOMAIN_GTT, 0, &handle), 0);
	CHECK_EQ(create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &second), 0);
	CHECK_EQ(second, handle + 1);
	map = (union drm_amdgpu_gem_mmap){.in = {handle, 0}};
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_MMAP, &map), 0);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, (off_t)map.out.addr_ptr + 4096) ==
	      MAP_FAILED); /* row 21 */
	CHECK_EQ(errno, EINVAL);
	CHECK(mmap(NULL, 12288, PROT_READ, MAP_SHARED, fd, (off_t)map.out.addr_ptr) == MAP_FAILED);
	CHECK(mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE, fd, (off_t)map.out.addr_ptr) == MAP_FAILED); /* row 22 */
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.out.addr_ptr);
	CHECK(p != MAP_FAILED);
	CHECK_EQ(p[0], 0);
	p[1024] = 77;
	CHECK_EQ(gem_close(handle), 0); /* row 23 */
	CHECK_EQ(p[1024], 77);
	CHECK_EQ(munmap(p, 8192), 0);

	meta.handle = second;
	meta.data.data_size_bytes = 257; /* row 37 */
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_METADATA, &meta), -EINVAL);
	meta.op = 9;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_METADATA, &meta), 0);
	CHECK_EQ(gem_close(second), 0);
}

static int userptr(void *at, uint64_t size_B, uint32_t flags, uint32_t *handle)
{
	struct drm_amdgpu_gem_userptr args = {(uintptr_t)at, size_B, flags, 0};
	int r = call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &args);

	*handle = args.handle;
	return r;
}

/* Pages of a file mapping that lie behind the file's end. */
static void user_memory_past_end(void)
{
	const uint32_t flags = AMDGPU_GEM_USERPTR_REGISTER | AMDGPU_GEM_USERPTR_VALIDATE;
	int memory = memfd_create("short", MFD_CLOEXEC);
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	uint32_t handle;

	CHECK_EQ(ftruncate(memory, 4096), 0);
	CHECK_EQ(userptr(p, 8192, flags, &handle), -EFAULT);
	CHECK_EQ(userptr(p, 8192, AMDGPU_GEM_USERPTR_READONLY | AMDGPU_GEM_USERPTR_VALIDATE, &handle), -EFAULT);
	CHECK_EQ(userptr(p, 4096, flags, &handle), 0);
	CHECK_EQ(gem_close(handle), 0);
	munmap(p, 8192);
	close(memory);
}

/* row 121 */
static void user_memory(void)
{
	const uint32_t all =
		AMDGPU_GEM_USERPTR_ANONONLY | AMDGPU_GEM_USERPTR_REGISTER | AMDGPU_GEM_USERPTR_VALIDATE;
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int self = open("/proc/self/exe", O_RDONLY);
	void *file = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, self, 0);
	struct drm_prime_handle prime = {0};
	uint32_t handle;

	CHECK_EQ(userptr(p + 1, 4096, all, &handle), -EINVAL);                     /* row 28 */
	CHECK_EQ(userptr(p, 4096, AMDGPU_GEM_USERPTR_VALIDATE, &handle), -EACCES); /* row 29 */
	CHECK_EQ(userptr(p, 4096, 1 << 7, &handle), -EINVAL);
	CHECK_EQ(userptr(file, 4096, all, &handle), -EPERM); /* row 30 */
	CHECK_EQ(userptr((void *)0x10000, 4096, all, &handle), -EFAULT);
	CHECK_EQ(mprotect(p + 4096, 4096, PROT_READ), 0);
	CHECK_EQ(userptr(p, 8192, all, &handle), -EFAULT);
	CHECK_EQ(userptr(p, 8192, AMDGPU_GEM_USERPTR_READONLY | AMDGPU_GEM_USERPTR_VALIDATE, &handle), 0);
	prime.handle = handle;
	CHECK_EQ(call(DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), -EPERM); /* row 34 */
	CHECK_EQ(gem_close(handle), 0);
	munmap(p, 8192);
	munmap(file, 4096);
	close(self);
}

static void addresses(void)
{
	const uint32_t rwx = AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE | AMDGPU_VM_PAGE_EXECUTABLE;
	const uint64_t base = 0x100000, high = 0xffff800000000000ull;
	uint32_t bo = 0, other = 0;

	CHECK_EQ(create(4 * 4096, AMDGPU_GEM_DOMAIN_GTT, 0, &bo), 0);
	CHECK_EQ(create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &other), 0);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, 0x8000, 0, 4096, rwx), -EINVAL); /* row 39 */
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, 1ull << 47, 0, 4096, rwx), -EINVAL);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, 0xffffffffffbfe000ull, 0, 4096, rwx), -EINVAL);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, base + 1, 0, 4096, rwx), -EINVAL); /* row 40 */
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, base, 2048, 4096, rwx), -EINVAL);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, base, 0, 4097, rwx), -EINVAL);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, base, 4096, 2048, rwx), -EINVAL);
	CHECK_EQ(va(AMDGPU_VA_OP_REPLACE, bo, base, 2048, 4096, rwx), -EINVAL);
	CHECK_EQ(va(AMDGPU_VA_OP_REPLACE, bo, base, 0, 4097, rwx), -EINVAL);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, base, 0, 0, rwx), -EINVAL);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, base, 4096, 4 * 4096, rwx), -EINVAL);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, base, 0, 4096, AMDGPU_VM_PAGE_PRT | rwx), -EINVAL);
	CHECK_EQ(va(9, bo, base, 0, 4096, rwx), -EINVAL);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, 999, base, 0, 4096, rwx), -ENOENT);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, base, 0, 4 * 4096, rwx), 0);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, bo, high, 0, 4 * 4096, rwx), 0); /* a second address */
	new_findings();
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, other, base + 4096, 0, 4096, rwx), -EINVAL); /* row 41 */
	CHECK_EQ(new_findings(), 1);
	CHECK_EQ(va(AMDGPU_VA_OP_UNMAP, bo, base + 4096, 0, 4096, rwx), -ENOENT); /* row 42 */
	CHECK_EQ(va(AMDGPU_VA_OP_UNMAP, other, base, 0, 4096, rwx), -ENOENT);
	CHECK_EQ(va(AMDGPU_VA_OP_CLEAR, 0, base + 4096, 0, 4096, 0), 0); /* a hole in the middle */
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, other, base + 4096, 0, 4096, rwx), 0);
	CHECK_EQ(va(AMDGPU_VA_OP_REPLACE, other, base, 0, 4096, rwx), 0);
	new_findings();
	CHECK_EQ(va(AMDGPU_VA_OP_UNMAP, bo, base + 8192, 0, 4096, rwx), 0); /* row 43: all of the right piece */
	CHECK_EQ(new_findings(), 1);
	CHECK_EQ(va(AMDGPU_VA_OP_CLEAR, 0, 0x200000, 0, 4096, 0), 0);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, 0, 0x400000, 0, 1 << 20, AMDGPU_VM_PAGE_PRT), 0); /* row 53 */
	CHECK_EQ(va(AMDGPU_VA_OP_UNMAP, 0, 0x400000, 0, 1 << 20, AMDGPU_VM_PAGE_PRT), 0);
	CHECK_EQ(gem_close(bo), 0);
	CHECK_EQ(va(AMDGPU_VA_OP_MAP, other, high, 0, 4096, rwx), 0); /* closing removed its mappings */
	CHECK_EQ(gem_close(other), 0);
}

static int ctx_op(uint32_t op, uint32_t id, uint32_t flags, int priority, uint32_t *out)
{
	union drm_amdgpu_ctx args = {.in = {op, flags, id, priority}};
	int r = call(DRM_IOCTL_AMDGPU_CTX, &args);

	if (out)
		*out = args.out.alloc.ctx_id;
	return r;
}

static void contexts(void)
{
	uint32_t id, ids[4096], other, count = 0;

	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_ALLOC_CTX, 0, 1, 0, NULL), -EINVAL);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_ALLOC_CTX, 0, 0, 4711, &id), 0); /* unknown priority is NORMAL */
	CHECK_EQ(ctx_op(99, id, 0, 0, NULL), -EINVAL);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_QUERY_STATE, id, 0, 0, &other), 0);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_QUERY_STATE2, id, 1, 0, NULL), -EINVAL);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_SET_STABLE_PSTATE, id, 5, 0, NULL), -EINVAL);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_SET_STABLE_PSTATE, id, 4, 0, NULL), 0);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_ALLOC_CTX, 0, 0, 0, &other), 0);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_SET_STABLE_PSTATE, other, 4, 0, NULL), -EBUSY);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_FREE_CTX, id, 0, 0, NULL), 0);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_FREE_CTX, id, 0, 0, NULL), -EINVAL);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_FREE_CTX, other, 0, 0, NULL), 0);
	while (!ctx_op(AMDGPU_CTX_OP_ALLOC_CTX, 0, 0, 0, &ids[count]))
		count++;
	CHECK_EQ(count, 4095);
	CHECK_EQ(ctx_op(AMDGPU_CTX_OP_ALLOC_CTX, 0, 0, 0, NULL), -ENOSPC);
	while (count)
		ctx_op(AMDGPU_CTX_OP_FREE_CTX, ids[--count], 0, 0, NULL);
}

/* The kernel's memory is no user's, although it is mapped. */
static void kernel_addresses(void)
{
	struct drm_version version = {.name_len = 16, .name = (char *)kern->proc};
	struct drm_amdgpu_info info = {
		.return_pointer = KERN_SEGMENT_ADDR - 4, .return_size = 8, .query = AMDGPU_INFO_TIMESTAMP};
	struct drm_amdgpu_gem_userptr user = {KERN_SEGMENT_ADDR, 4096, 0, 0};

	CHECK_EQ(call(DRM_IOCTL_VERSION, &version), -EFAULT);
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &info), -EFAULT);
	info.return_pointer = (uintptr_t)kern_local.phys + 4096;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &info), -EFAULT);
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, kern->proc), -EFAULT);
	user.flags = AMDGPU_GEM_USERPTR_ANONONLY | AMDGPU_GEM_USERPTR_VALIDATE | AMDGPU_GEM_USERPTR_REGISTER;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), -EFAULT);
}

/* Arrays that Linux cannot allocate are refused before they are read; of memory only what is needed is. */
static void long_arrays(void)
{
	struct uapi_syncobj_wait wait = {.handles = 4096, .count = 0x31ffffff};
	struct uapi_syncobj_timeline_wait timeline = {.handles = 4096, .points = 4096, .count = 1u << 17};
	struct drm_syncobj_array array = {.handles = 4096, .count_handles = 1u << 20};
	union drm_amdgpu_wait_fences fences = {.in = {4096, 1u << 18, 0, 0}};
	/* Of addresses that nothing else takes only the first page is memory. */
	const size_t taken_B = (1u << 20) + 8192;
	uint8_t *page = mmap(NULL, taken_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	union drm_amdgpu_bo_list list = {.in = {AMDGPU_BO_LIST_OP_CREATE, 0, 2, 4088, (uintptr_t)page}};
	uint32_t handle = 0;

	CHECK_EQ(call(DRM_IOWR(0xc3, struct uapi_syncobj_wait), &wait), -ENOMEM);
	wait.count = 1;
	CHECK_EQ(call(DRM_IOWR(0xc3, struct uapi_syncobj_wait), &wait), -EFAULT);
	CHECK_EQ(call(DRM_IOWR(0xca, struct uapi_syncobj_timeline_wait), &timeline), -ENOMEM);
	CHECK_EQ(call(DRM_IOCTL_SYNCOBJ_RESET, &array), -ENOMEM);
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_WAIT_FENCES, &fences), -ENOMEM);
	/* The second entry ends with the page, and the rest of its stride cannot be read. */
	CHECK_EQ(mprotect(page, 4096, PROT_READ | PROT_WRITE), 0);
	CHECK_EQ(create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &handle), 0);
	memcpy(page, &handle, 4);
	memcpy(page + 4088, &handle, 4);
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_BO_LIST, &list), 0);
	list.in = (struct drm_amdgpu_bo_list_in){AMDGPU_BO_LIST_OP_DESTROY, list.out.list_handle, 0, 0, 0};
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_BO_LIST, &list), 0);
	list.in = (struct drm_amdgpu_bo_list_in){AMDGPU_BO_LIST_OP_CREATE, 0, 2, 1u << 20, (uintptr_t)page};
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_BO_LIST, &list), -EFAULT);
	CHECK_EQ(call(DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){.handle = handle}), 0);
	munmap(page, taken_B);
}

/* Sizes of what no CPU maps move no other buffer's offset for mmap(), nor give one to two buffers. */
static void map_offsets(void)
{
	union drm_amdgpu_gem_mmap map[2];
	uint32_t handle[2], huge;

	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &handle[i]), 0);
		map[i] = (union drm_amdgpu_gem_mmap){.in = {handle[i], 0}};
		CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_MMAP, &map[i]), 0);
		CHECK_EQ(create(1ull << 63, AMDGPU_GEM_DOMAIN_GTT, 0, NULL), -ENOMEM);
		CHECK_EQ(userptr((void *)4096, (1ull << 63) - 8192, AMDGPU_GEM_USERPTR_REGISTER, &huge), 0);
		CHECK_EQ(gem_close(huge), 0);
		CHECK_EQ(create(UINT32_MAX, AMDGPU_GEM_DOMAIN_GWS, 0, &huge), 0);
		CHECK_EQ(gem_close(huge), 0);
	}
	CHECK(map[1].out.addr_ptr > map[0].out.addr_ptr && map[1].out.addr_ptr < map[0].out.addr_ptr + (1 << 20));
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(gem_close(handle[i]), 0);
}

static void accounting(void)
{
	struct uapi_memory_info before, after;
	uint32_t handle[6] = {0};

	CHECK_EQ(info(AMDGPU_INFO_MEMORY, &before, sizeof(before)), 0);
	for (unsigned i = 0; i < 6; i++) /* 4 of 8 GiB fit in 32 GiB less nothing; then GTT */
		CHECK_EQ(create(i < 3 ? 8ull << 30 : 1 << 20, AMDGPU_GEM_DOMAIN_VRAM, 0, &handle[i]), 0);
	CHECK_EQ(info(AMDGPU_INFO_MEMORY, &after, sizeof(after)), 0);
	CHECK_EQ(after.vram.usage - before.vram.usage, (24ull << 30) + (3 << 20));
	for (unsigned i = 0; i < 6; i++)
		CHECK_EQ(gem_close(handle[i]), 0);
	CHECK_EQ(info(AMDGPU_INFO_MEMORY, &after, sizeof(after)), 0);
	CHECK_EQ(after.vram.usage, before.vram.usage);
}

/* rows 78, 114 */
static void planned_failures(void)
{
	uint32_t value;

	vgpu_inject_ioctl(2, EIO);
	CHECK_EQ(info(AMDGPU_INFO_ACCEL_WORKING, &value, 4), 0);
	CHECK_EQ(info(AMDGPU_INFO_ACCEL_WORKING, &value, 4), -EIO);
	CHECK_EQ(info(AMDGPU_INFO_ACCEL_WORKING, &value, 4), 0);
	vgpu_inject_ioctl_nr(0x40, 1, ENOMEM);
	CHECK_EQ(info(AMDGPU_INFO_ACCEL_WORKING, &value, 4), 0);
	CHECK_EQ(create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, NULL), -ENOMEM);
	CHECK_EQ(vgpu_inject_unplug(0), 0);
	CHECK_EQ(info(AMDGPU_INFO_ACCEL_WORKING, &value, 4), -ENODEV);
	CHECK_EQ(open("/dev/dri/renderD128", O_RDWR), -1);
	CHECK_EQ(errno, ENODEV); /* row 9 */
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	CHECK_EQ(vgpu_start("null:gfx908:kernel=6.12"), 0);
	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	plumbing();
	infos();
	buffers();
	user_memory();
	user_memory_past_end();
	addresses();
	contexts();
	long_arrays();
	kernel_addresses();
	map_offsets();
	accounting();
	planned_failures();
	close(fd);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
	return check_done("ioctls answer as Linux 6.12 does");
}
