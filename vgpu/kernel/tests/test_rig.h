/* What the tests of vgpu/kernel share: one open node with an IB, memory to write to, a list of both and a context,
 * driven by bare ioctls. Test programs only; each has one rig. */
#ifndef VGPU_KERNEL_TESTS_TEST_RIG_H
#define VGPU_KERNEL_TESTS_TEST_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "tests/check.h"
#include "vgpu/kernel/base/core.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/repair.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define RIG_IB_VA   0x200000ull
#define RIG_DATA_VA 0x201000ull
#define RIG_HOLE_VA 0x400000ull /* nothing is mapped there */
#define RIG_RWX     (AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE | AMDGPU_VM_PAGE_EXECUTABLE)
#define RIG_NOP     0xffff1000u /* one dword */

static struct rig {
	int fd;
	uint32_t ib_bo, data_bo, list, ctx;
	uint32_t *ib, *data; /* owned mappings of a page each */
	uint32_t ib_dw;      /* how much of the IB runs */
} rig;

static inline int rig_call(unsigned long request, void *arg)
{
	return ioctl(rig.fd, request, arg) < 0 ? -errno : 0;
}

static inline int rig_create(uint64_t size_B, uint64_t domains, uint64_t flags, uint32_t *handle)
{
	union drm_amdgpu_gem_create args = {.in = {size_B, 0, domains, flags}};
	int r = rig_call(DRM_IOCTL_AMDGPU_GEM_CREATE, &args);

	*handle = r ? 0 : args.out.handle;
	return r;
}

static inline int rig_close(uint32_t handle)
{
	struct drm_gem_close args = {.handle = handle};

	return rig_call(DRM_IOCTL_GEM_CLOSE, &args);
}

static inline uint32_t *rig_map(uint32_t handle, uint64_t size_B)
{
	union drm_amdgpu_gem_mmap args = {.in = {handle, 0}};

	if (rig_call(DRM_IOCTL_AMDGPU_GEM_MMAP, &args))
		return MAP_FAILED;
	return mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_SHARED, rig.fd, (off_t)args.out.addr_ptr);
}

static inline int rig_va(uint32_t op, uint32_t handle, uint64_t at, uint64_t size_B, uint32_t flags)
{
	struct drm_amdgpu_gem_va args = {handle, 0, op, flags, at, 0, size_B};

	return rig_call(DRM_IOCTL_AMDGPU_GEM_VA, &args);
}

static inline int rig_info(uint32_t query, void *to, uint32_t size_B)
{
	struct drm_amdgpu_info args = {.return_pointer = (uintptr_t)to, .return_size = size_B, .query = query};

	return rig_call(DRM_IOCTL_AMDGPU_INFO, &args);
}

static inline uint64_t rig_count(uint32_t query)
{
	uint64_t value = 0;

	CHECK_EQ(rig_info(query, &value, sizeof(value)), 0);
	return value;
}

static inline uint32_t rig_ctx(void)
{
	union drm_amdgpu_ctx args = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CTX, &args), 0);
	return args.out.alloc.ctx_id;
}

static inline int rig_ctx_free(uint32_t id)
{
	union drm_amdgpu_ctx args = {.in = {.op = AMDGPU_CTX_OP_FREE_CTX, .ctx_id = id}};

	return rig_call(DRM_IOCTL_AMDGPU_CTX, &args);
}

/* The IB, and `more` besides: a list of its own for what a test makes. */
static inline uint32_t rig_list(const uint32_t *more, unsigned count)
{
	struct drm_amdgpu_bo_list_entry entry[16] = {{rig.ib_bo, 0}};
	union drm_amdgpu_bo_list args = {.in = {AMDGPU_BO_LIST_OP_CREATE, 0, count + 1, 8, (uintptr_t)entry}};

	for (unsigned i = 0; i < count; i++)
		entry[i + 1].bo_handle = more[i];
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_BO_LIST, &args), 0);
	return args.out.list_handle;
}

static inline int rig_list_free(uint32_t list)
{
	union drm_amdgpu_bo_list args = {.in = {AMDGPU_BO_LIST_OP_DESTROY, list, 0, 0, 0}};

	return rig_call(DRM_IOCTL_AMDGPU_BO_LIST, &args);
}

/* Runs the rig's IB, `copies` times in one job, on COMPUTE ring 0. */
static inline int rig_submit_ibs(uint32_t ctx, uint32_t list, uint32_t ib_flags, unsigned copies, uint64_t *seq)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, ib_flags, RIG_IB_VA, 4 * rig.ib_dw, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib};
	uint64_t pointer[256];
	union drm_amdgpu_cs args = {.in = {ctx, list, copies, 0, (uintptr_t)pointer}};
	int r;

	for (unsigned i = 0; i < copies; i++)
		pointer[i] = (uintptr_t)&chunk;
	r = rig_call(DRM_IOCTL_AMDGPU_CS, &args);
	if (seq)
		*seq = r ? 0 : args.out.handle;
	return r;
}

static inline int rig_submit(uint32_t list, uint64_t *seq)
{
	return rig_submit_ibs(rig.ctx, list, 0, 1, seq);
}

/* 0 done, 1 busy, or -errno. seq UINT64_MAX: the last one. */
static inline int rig_wait_ctx(uint32_t ctx, uint64_t seq, uint64_t timeout)
{
	union drm_amdgpu_wait_cs args = {.in = {seq, timeout, AMDGPU_HW_IP_COMPUTE, 0, 0, ctx}};
	int r = rig_call(DRM_IOCTL_AMDGPU_WAIT_CS, &args);

	return r ? r : (int)args.out.status;
}

static inline int rig_wait(uint64_t seq)
{
	return rig_wait_ctx(rig.ctx, seq, UINT64_MAX);
}

static inline void rig_nops(void)
{
	rig.ib_dw = 16;
	for (unsigned i = 0; i < rig.ib_dw; i++)
		rig.ib[i] = RIG_NOP;
}

/* The IB becomes a WRITE_DATA of one dword. */
static inline void rig_write_data(uint64_t va, uint32_t value)
{
	rig_nops();
	rig.ib[0] = 0xc0033700;
	rig.ib[1] = 0x00100500; /* memory, with confirmation */
	rig.ib[2] = (uint32_t)va;
	rig.ib[3] = (uint32_t)(va >> 32);
	rig.ib[4] = value;
}

/* What becomes of a job that writes there. A context that lost a job is replaced. */
static inline int rig_try_write(uint32_t list, uint64_t va, uint32_t value)
{
	int r;

	rig_write_data(va, value);
	CHECK_EQ(rig_submit(list, NULL), 0);
	r = rig_wait(UINT64_MAX);
	if (r) {
		CHECK_EQ(rig_ctx_free(rig.ctx), 0);
		rig.ctx = rig_ctx();
	}
	rig_nops();
	return r;
}

static inline double rig_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static inline int rig_open(const char *node)
{
	return open(node, O_RDWR | O_CLOEXEC);
}

static inline void rig_init(const char *node)
{
	rig.fd = rig_open(node);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &rig.ib_bo), 0);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &rig.data_bo), 0);
	rig.ib = rig_map(rig.ib_bo, 4096);
	rig.data = rig_map(rig.data_bo, 4096);
	rig_nops();
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, rig.ib_bo, RIG_IB_VA, 4096, RIG_RWX), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, rig.data_bo, RIG_DATA_VA, 4096, RIG_RWX), 0);
	rig.list = rig_list(&rig.data_bo, 1);
	rig.ctx = rig_ctx();
}

static inline void rig_start_at(const char *spec, const char *node)
{
	CHECK_EQ(vgpu_start(spec), 0);
	rig_init(node);
}

static inline void rig_start(const char *spec)
{
	rig_start_at(spec, "/dev/dri/renderD128");
}

static inline void rig_fini(void)
{
	munmap(rig.ib, 4096);
	munmap(rig.data, 4096);
	rig_close(rig.ib_bo);
	rig_close(rig.data_bo);
	close(rig.fd);
}

/* Every count is what the walk of repair.c finds, and it finds all that is in use. */
static inline void rig_check_whole(void)
{
	kern_lock();
	CHECK_EQ(kern_repair(), 0);
	kern_unlock();
}

static inline void rig_stop(void)
{
	rig_check_whole();
	rig_fini();
	for (unsigned i = 0; i < 2000 && vgpu_live_objects(); i++)
		usleep(1000);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
}

#endif
