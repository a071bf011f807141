/* What later kernels added to the ioctls: fences of GEM_VA, GEM_LIST_HANDLES. */
#include <string.h>
#include <xf86drm.h>
#include "vgpu/kernel/tests/test_rig.h"

static struct uapi_gem_va map_of(uint32_t handle, uint64_t at)
{
	return (struct uapi_gem_va){
		.handle = handle,
		.operation = AMDGPU_VA_OP_MAP,
		.flags = RIG_RWX,
		.va_address = at,
		.map_size = 4096,
	};
}

static void updates_wait_for_fences_and_have_one(void)
{
	uint32_t bo, in[2] = {0}, out;
	struct uapi_gem_va va;
	uint64_t point = 0, want = 7, seq;
	union drm_amdgpu_fence_to_handle fence = {.in = {.fence = {rig.ctx, AMDGPU_HW_IP_COMPUTE, 0, 0, 0},
							 .what = AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ}};
	double begin;

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &bo), 0);
	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &out), 0);
	va = map_of(bo, RIG_HOLE_VA);
	va.num_syncobj_handles = 1;
	va.input_fence_syncobj_handles = (uintptr_t)in;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), -EINVAL); /* handle 0 */
	in[0] = 4711;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), -ENOENT);
	in[0] = out;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), -EINVAL); /* nothing in it */
	va.input_fence_syncobj_handles = 8;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), -EFAULT);
	va.handle = 4711;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), -ENOENT); /* which is looked at first */
	va = map_of(bo, RIG_HOLE_VA);
	va.vm_timeline_syncobj_out = 4711;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), -ENOENT);

	begin = rig_now();
	CHECK_EQ(rig_submit(rig.list, &seq), 0);
	fence.in.fence.seq_no = seq;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &fence), 0);
	in[0] = fence.out.handle;
	va = map_of(bo, RIG_HOLE_VA);
	va.num_syncobj_handles = 1;
	va.input_fence_syncobj_handles = (uintptr_t)in;
	va.vm_timeline_syncobj_out = out;
	va.vm_timeline_point = 7;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), 0);
	CHECK(rig_now() - begin >= 0.045);
	CHECK_EQ(drmSyncobjTimelineWait(rig.fd, &out, &want, 1, 0, 0, NULL), 0);
	CHECK_EQ(drmSyncobjQuery(rig.fd, &out, &point, 1), 0);
	CHECK_EQ(point, 7);
	va.num_syncobj_handles = 0;
	va.vm_timeline_point = 9;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), -EINVAL); /* overlaps: no point then */
	va.operation = AMDGPU_VA_OP_REPLACE;
	va.flags |= AMDGPU_VM_DELAY_UPDATE;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), 0); /* nor when the update is the next job's */
	CHECK_EQ(drmSyncobjQuery(rig.fd, &out, &point, 1), 0);
	CHECK_EQ(point, 7);
	va.flags &= ~(uint32_t)AMDGPU_VM_DELAY_UPDATE;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), 0);
	CHECK_EQ(drmSyncobjQuery(rig.fd, &out, &point, 1), 0);
	CHECK_EQ(point, 9);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, in[0]), 0);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, out), 0);
	CHECK_EQ(rig_close(bo), 0);
}

static void handles_are_listed(void)
{
	struct uapi_gem_list_handles_entry entry[4] = {{0}};
	struct uapi_gem_list_handles args = {(uintptr_t)entry, 2, 0};
	uint32_t bo;

	CHECK_EQ(rig_create(2 << 20, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &bo), 0);
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_LIST_HANDLES, &args), 0);
	CHECK_EQ(args.num_entries, 3);
	CHECK_EQ(entry[0].gem_handle, 0); /* too few: nothing is written */
	args.num_entries = 4;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_LIST_HANDLES, &args), 0);
	CHECK_EQ(args.num_entries, 3);
	CHECK_EQ(entry[0].gem_handle, rig.ib_bo);
	CHECK_EQ(entry[2].gem_handle, bo);
	CHECK_EQ(entry[2].size, 2 << 20);
	CHECK_EQ(entry[2].preferred_domains, AMDGPU_GEM_DOMAIN_VRAM);
	CHECK(entry[2].alloc_flags & AMDGPU_GEM_CREATE_EXPLICIT_SYNC);
	CHECK_EQ(entry[2].flags, 0);
	CHECK_EQ(entry[3].gem_handle, 0);
	args.entries = 8;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_LIST_HANDLES, &args), -EFAULT);
	CHECK_EQ(rig_close(bo), 0);
}

static void mappings_are_listed(void)
{
	struct uapi_gem_vm_entry entry[4] = {{0}};
	struct uapi_gem_op args = {.op = UAPI_GEM_OP_GET_MAPPING_INFO, .value = (uintptr_t)entry, .num_entries = 1};
	unsigned long before = vgpu_findings();

	CHECK_EQ(rig_create(3 * 4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &args.handle), 0);
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_OP, &args), -ENOENT); /* and later releases say no more than that */
	CHECK_EQ(vgpu_findings(), before + 1);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, args.handle, RIG_HOLE_VA, 3 * 4096, RIG_RWX), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_CLEAR, 0, RIG_HOLE_VA + 4096, 4096, 0), 0); /* two are left */
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_OP, &args), 0);
	CHECK_EQ(args.num_entries, 2);
	CHECK_EQ(entry[0].size, 0); /* too few: nothing is written */
	args.num_entries = 4;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_OP, &args), 0);
	CHECK_EQ(args.num_entries, 2);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(entry[i].addr == RIG_HOLE_VA || entry[i].addr == RIG_HOLE_VA + 8192);
		CHECK_EQ(entry[i].offset, entry[i].addr - RIG_HOLE_VA);
		CHECK_EQ(entry[i].size, 4096);
		CHECK_EQ(entry[i].flags, RIG_RWX);
	}
	CHECK(entry[0].addr != entry[1].addr);
	args.value = 8;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_OP, &args), -EFAULT);
	args.padding = 1;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_OP, &args), -EINVAL);
	CHECK_EQ(rig_close(args.handle), 0);
}

/* A point leaves as a sync file and comes back as another timeline's. */
static void sync_files_have_points(void)
{
	struct uapi_syncobj_handle file = {.flags = UAPI_SYNCOBJ_SYNC_FILE | UAPI_SYNCOBJ_TIMELINE, .point = 5};
	uint64_t value = 3, seven = 7;
	uint32_t from, to;

	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &from), 0);
	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &to), 0);
	CHECK_EQ(drmSyncobjTimelineSignal(rig.fd, &from, &value, 1), 0);
	file.handle = from;
	CHECK_EQ(rig_call(UAPI_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file), -EINVAL); /* point 5 is nobody's yet */
	file.point = 3;
	CHECK_EQ(rig_call(UAPI_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file), 0);
	file.handle = to;
	file.point = 7;
	CHECK_EQ(rig_call(UAPI_IOCTL_SYNCOBJ_FD_TO_HANDLE, &file), 0);
	CHECK_EQ(drmSyncobjTimelineWait(rig.fd, &to, &seven, 1, 0, 0, NULL), 0);
	CHECK_EQ(drmSyncobjQuery(rig.fd, &to, &value, 1), 0);
	CHECK_EQ(value, 7);
	close(file.fd);
	file.flags = 0; /* a syncobj has no point as a whole */
	CHECK_EQ(rig_call(UAPI_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file), -EINVAL);
	file.flags = 4;
	CHECK_EQ(rig_call(UAPI_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file), -EINVAL);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, from), 0);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, to), 0);
}

/* Older kernels know none of it, and lose what stands in the tail. */
static void older_kernels_do_not_have_it(const char *spec)
{
	struct uapi_syncobj_handle file = {.flags = UAPI_SYNCOBJ_SYNC_FILE | UAPI_SYNCOBJ_TIMELINE};
	struct uapi_gem_op op = {.op = UAPI_GEM_OP_GET_MAPPING_INFO};
	struct uapi_gem_list_handles args = {0};
	struct uapi_gem_va va;
	unsigned long before;
	uint32_t bo;

	rig_start(spec);
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_LIST_HANDLES, &args), -EINVAL);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &bo), 0);
	op.handle = bo;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_OP, &op), -EINVAL);
	CHECK_EQ(drmSyncobjCreate(rig.fd, DRM_SYNCOBJ_CREATE_SIGNALED, &file.handle), 0);
	CHECK_EQ(rig_call(UAPI_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file), strstr(spec, "6.16") ? 0 : -EINVAL);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, file.handle), 0);
	if (strstr(spec, "6.16"))
		close(file.fd);
	va = map_of(bo, RIG_HOLE_VA);
	va.vm_timeline_syncobj_out = 4711;
	before = vgpu_findings();
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), strstr(spec, "6.16") ? -ENOENT : 0);
	CHECK_EQ(vgpu_findings() - before, strstr(spec, "6.16") ? 0 : 1);
	CHECK_EQ(rig_close(bo), 0);
	rig_stop();
}

static void *wait_for_handle(void *handle)
{
	struct uapi_userq_fence pair[4];
	struct uapi_userq_wait args = {.syncobj_handles = (uintptr_t)handle,
				       .num_syncobj_handles = 1,
				       .num_fences = 4,
				       .out_fences = (uintptr_t)pair};

	CHECK_EQ(rig_call(UAPI_IOCTL_USERQ_WAIT, &args), -EINVAL); /* there is no such queue */
	return NULL;
}

/* The handle that USERQ_WAIT waits by is destroyed, and the object signalled by another one. */
static void a_handle_goes_while_it_is_awaited(void)
{
	uint32_t handle, other;
	pthread_t thread;
	int fd;

	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &handle), 0);
	CHECK_EQ(drmSyncobjHandleToFD(rig.fd, handle, &fd), 0);
	CHECK_EQ(drmSyncobjFDToHandle(rig.fd, fd, &other), 0);
	close(fd);
	CHECK_EQ(pthread_create(&thread, NULL, wait_for_handle, &handle), 0);
	usleep(100000);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, handle), 0);
	CHECK_EQ(drmSyncobjSignal(rig.fd, &other, 1), 0);
	pthread_join(thread, NULL);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, other), 0);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	rig_start("null:gfx908:service_us=50000:kernel=6.18");
	updates_wait_for_fences_and_have_one();
	handles_are_listed();
	mappings_are_listed();
	sync_files_have_points();
	rig_stop();
	rig_start("null:gfx1100:kernel=7.2:userq=1");
	a_handle_goes_while_it_is_awaited();
	rig_stop();
	older_kernels_do_not_have_it("null:gfx908:kernel=6.12");
	older_kernels_do_not_have_it("null:gfx908:kernel=6.16");
	return check_done("what later kernels added");
}
