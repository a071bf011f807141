/* The table of ioctls, and the rules by which the DRM core calls them (contract 0.1). */
#include <stdlib.h>
#include <unistd.h>
#include "vgpu/kernel/base/inject.h"
#include "vgpu/kernel/base/inode.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/call.h"
#include "vgpu/kernel/drm/drm.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/drm/info.h"
#include "vgpu/kernel/drm/prime.h"
#include "vgpu/kernel/drm/sync_file.h"
#include "vgpu/kernel/drm/wait_ioctls.h"
#include "vgpu/kernel/drm/watch.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/kernel.h"
#include "vgpu/kernel/sched/cs.h"
#include "vgpu/kernel/sched/ctx.h"
#include "vgpu/kernel/sched/userq.h"
#include "vgpu/kernel/sync/syncobj.h"

enum permission {
	RENDER = 1 << 0, /* allowed on render nodes */
	AUTH = 1 << 1,   /* on a primary node: authenticated clients */
	MASTER = 1 << 2,
};

struct kern_ioctl_row {
	const char *name; /* name in TUFF_VGPU_INJECT */
	int (*handler)(struct kern_file *file, void *arg);
	unsigned long code; /* the kernel's: direction and size */
	unsigned permissions;
	unsigned since_minor;  /* DRM 3 minor version; 0: before 40 */
	unsigned long code_64; /* from DRM 3.64 on, if that differs */
};

#define ROW(name, handler, code, permissions) [_IOC_NR(code)] = {name, handler, code, permissions, 0, 0}
#define ROW_SINCE(minor, name, handler, code, permissions)                                                         \
	[_IOC_NR(code)] = {name, handler, code, permissions, minor, 0}
#define ROW_GROWN(name, handler, code, code_64, permissions)                                                       \
	[_IOC_NR(code)] = {name, handler, code, permissions, 0, code_64}

static const struct kern_ioctl_row rows[KERN_IOCTLS] = {
	ROW("version", kern_version_ioctl, DRM_IOCTL_VERSION, RENDER),
	ROW("get_unique", kern_get_unique_ioctl, DRM_IOCTL_GET_UNIQUE, 0),
	ROW("get_magic", kern_get_magic_ioctl, DRM_IOCTL_GET_MAGIC, 0),
	ROW("get_client", kern_get_client_ioctl, DRM_IOCTL_GET_CLIENT, 0),
	ROW("set_version", kern_set_version_ioctl, DRM_IOCTL_SET_VERSION, MASTER),
	ROW("gem_close", kern_gem_close, DRM_IOCTL_GEM_CLOSE, RENDER),
	ROW("gem_flink", kern_flink_ioctl, DRM_IOCTL_GEM_FLINK, AUTH),
	ROW("gem_open", kern_gem_open_ioctl, DRM_IOCTL_GEM_OPEN, AUTH),
	ROW("get_cap", kern_get_cap_ioctl, DRM_IOCTL_GET_CAP, RENDER),
	ROW("set_client_cap", kern_set_client_cap_ioctl, DRM_IOCTL_SET_CLIENT_CAP, 0),
	ROW("auth_magic", kern_auth_magic_ioctl, DRM_IOCTL_AUTH_MAGIC, MASTER),
	ROW("set_master", kern_set_master_ioctl, DRM_IOCTL_SET_MASTER, 0),
	ROW("drop_master", kern_drop_master_ioctl, DRM_IOCTL_DROP_MASTER, 0),
	ROW("prime_handle_to_fd", kern_prime_to_fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, RENDER),
	ROW("prime_fd_to_handle", kern_prime_from_fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, RENDER),
	ROW("mode_getresources", kern_no_modeset_ioctl, DRM_IOCTL_MODE_GETRESOURCES, 0),
	ROW("mode_getcrtc", kern_no_modeset_ioctl, DRM_IOCTL_MODE_GETCRTC, 0),
	ROW("mode_getencoder", kern_no_modeset_ioctl, DRM_IOCTL_MODE_GETENCODER, 0),
	ROW("mode_getconnector", kern_no_modeset_ioctl, DRM_IOCTL_MODE_GETCONNECTOR, 0),
	ROW("mode_getplaneresources", kern_no_modeset_ioctl, DRM_IOCTL_MODE_GETPLANERESOURCES, 0),
	ROW("mode_create_dumb", kern_no_modeset_ioctl, DRM_IOCTL_MODE_CREATE_DUMB, 0),
	ROW("syncobj_create", kern_syncobj_create_ioctl, DRM_IOCTL_SYNCOBJ_CREATE, RENDER),
	ROW("syncobj_destroy", kern_syncobj_destroy_ioctl, DRM_IOCTL_SYNCOBJ_DESTROY, RENDER),
	ROW_GROWN("syncobj_handle_to_fd", kern_syncobj_to_fd_ioctl, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD,
		  UAPI_IOCTL_SYNCOBJ_HANDLE_TO_FD, RENDER),
	ROW_GROWN("syncobj_fd_to_handle", kern_syncobj_from_fd_ioctl, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE,
		  UAPI_IOCTL_SYNCOBJ_FD_TO_HANDLE, RENDER),
	ROW("syncobj_wait", kern_syncobj_wait_ioctl, DRM_IOWR(0xc3, struct uapi_syncobj_wait), RENDER),
	ROW("syncobj_reset", kern_syncobj_reset_ioctl, DRM_IOCTL_SYNCOBJ_RESET, RENDER),
	ROW("syncobj_signal", kern_syncobj_signal_ioctl, DRM_IOCTL_SYNCOBJ_SIGNAL, RENDER),
	ROW("syncobj_timeline_wait", kern_syncobj_timeline_wait_ioctl,
	    DRM_IOWR(0xca, struct uapi_syncobj_timeline_wait), RENDER),
	ROW("syncobj_query", kern_syncobj_query_ioctl, DRM_IOCTL_SYNCOBJ_QUERY, RENDER),
	ROW("syncobj_transfer", kern_syncobj_transfer_ioctl, DRM_IOCTL_SYNCOBJ_TRANSFER, RENDER),
	ROW("syncobj_timeline_signal", kern_syncobj_timeline_signal_ioctl, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL,
	    RENDER),

	ROW_SINCE(54, "syncobj_eventfd", kern_syncobj_eventfd_ioctl, UAPI_IOCTL_SYNCOBJ_EVENTFD, RENDER),

	ROW("gem_create", kern_gem_create, DRM_IOCTL_AMDGPU_GEM_CREATE, AUTH | RENDER),
	ROW("gem_mmap", kern_gem_mmap, DRM_IOCTL_AMDGPU_GEM_MMAP, AUTH | RENDER),
	ROW("ctx", kern_ctx_ioctl, DRM_IOCTL_AMDGPU_CTX, AUTH | RENDER),
	ROW("bo_list", kern_bo_list_ioctl, DRM_IOCTL_AMDGPU_BO_LIST, AUTH | RENDER),
	ROW("cs", kern_cs_ioctl, DRM_IOCTL_AMDGPU_CS, AUTH | RENDER),
	ROW("info", kern_info_ioctl, DRM_IOCTL_AMDGPU_INFO, AUTH | RENDER),
	ROW("gem_metadata", kern_gem_metadata, DRM_IOCTL_AMDGPU_GEM_METADATA, AUTH | RENDER),
	ROW("gem_wait_idle", kern_gem_wait_idle, DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE, AUTH | RENDER),
	ROW_GROWN("gem_va", kern_gem_va, UAPI_IOCTL_GEM_VA_SHORT, UAPI_IOCTL_GEM_VA, AUTH | RENDER),
	ROW("wait_cs", kern_wait_cs_ioctl, DRM_IOCTL_AMDGPU_WAIT_CS, AUTH | RENDER),
	ROW_GROWN("gem_op", kern_gem_op, DRM_IOCTL_AMDGPU_GEM_OP, UAPI_IOCTL_GEM_OP, AUTH | RENDER),
	ROW("gem_userptr", kern_gem_userptr, DRM_IOCTL_AMDGPU_GEM_USERPTR, AUTH | RENDER),
	ROW("wait_fences", kern_wait_fences_ioctl, DRM_IOCTL_AMDGPU_WAIT_FENCES, AUTH | RENDER),
	ROW("vm", kern_vm_ioctl, DRM_IOCTL_AMDGPU_VM, AUTH | RENDER),
	ROW("fence_to_handle", kern_fence_to_handle_ioctl, DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, AUTH | RENDER),
	ROW("sched", kern_sched_ioctl, DRM_IOCTL_AMDGPU_SCHED, MASTER),
	ROW_SINCE(64, "gem_list_handles", kern_gem_list_handles, UAPI_IOCTL_GEM_LIST_HANDLES, AUTH | RENDER),
	ROW_SINCE(64, "userq", kern_userq_ioctl, UAPI_IOCTL_USERQ, AUTH | RENDER),
	ROW_SINCE(64, "userq_signal", kern_userq_signal_ioctl, UAPI_IOCTL_USERQ_SIGNAL, AUTH | RENDER),
	ROW_SINCE(64, "userq_wait", kern_userq_wait_ioctl, UAPI_IOCTL_USERQ_WAIT, AUTH | RENDER),
};

const char *kern_ioctl_name(unsigned nr)
{
	return nr < KERN_IOCTLS ? rows[nr].name : NULL;
}

int kern_ioctl_number(const char *name)
{
	for (unsigned nr = 0; nr < KERN_IOCTLS; nr++)
		if (kern_ioctl_name(nr) && !strcmp(kern_ioctl_name(nr), name))
			return (int)nr;
	return -1;
}

/* --- one call --- */

#define ARG_MAX_B 1024 /* larger than all structs of the table; _IOC_SIZE allows 16 KiB */

static int check_permission(const struct kern_file *file, const struct kern_ioctl_row *row)
{
	if (!file->primary)
		return row->permissions & RENDER ? 0 : -EACCES;
	if ((row->permissions & AUTH) && !file->authenticated)
		return -EACCES;
	if ((row->permissions & MASTER) && file->dev->master != file)
		return -EACCES;
	return 0;
}

/* A longer struct than the kernel's is legal, but its tail is ignored. */
static void report_tail(const char *name, const uint8_t *data, size_t kernel_B, size_t user_B)
{
	for (size_t i = kernel_B; i < user_B; i++)
		if (data[i]) {
			vgpu_finding(CONTRACT_IOCTL_SIZE,
				     "%s: byte %zu of the argument is set, but this kernel's struct has %zu bytes",
				     name, i, kernel_B);
			return;
		}
}

static void report_fork(struct kern_file *file, const char *name)
{
	if (file->opener == kern_local.serial || file->fork_reported)
		return;
	file->fork_reported = true;
	vgpu_log("row 11: %s on a render node that another process opened: VM and buffers are shared with it",
		 name);
}

static long call_handler(struct kern_file *file, const struct kern_ioctl_row *row, unsigned long request, void *arg)
{
	bool grown = row->code_64 && kern_profile_of(file->dev)->drm_minor >= 64;
	unsigned long code = grown ? row->code_64 : row->code;
	unsigned dir = _IOC_DIR(request) & _IOC_DIR(code);
	size_t user_B = _IOC_SIZE(request), size_B = user_B > _IOC_SIZE(code) ? user_B : _IOC_SIZE(code);
	size_t in_B = dir & _IOC_WRITE ? user_B : 0, out_B = dir & _IOC_READ ? user_B : 0;
	uint64_t small[ARG_MAX_B / 8];
	uint8_t *data = size_B <= sizeof(small) ? (uint8_t *)small : malloc(size_B);
	long r = data ? 0 : -ENOMEM;

	if (!r)
		r = kern_copy_in(data, (uintptr_t)arg, in_B);
	if (!r) {
		memset(data + in_B, 0, size_B - in_B);
		report_tail(row->name, data, _IOC_SIZE(code), in_B);
		report_fork(file, row->name);
		r = file->dev->unplugged ? -ENODEV : check_permission(file, row);
		if (!r)
			r = row->handler(file, data);
		/* The kernel copies the answer out, too, when the handler fails. */
		if (kern_copy_out((uintptr_t)arg, data, out_B))
			r = -EFAULT;
	}
	if (data != (uint8_t *)small)
		free(data);
	return r;
}

/* Longer than a small job of a test takes on the host. */
#define LATE_US 50000

/* *late: delay the return, as if the thread had lost its processor. */
static long file_ioctl(struct kern_file *file, unsigned long request, void *arg, bool *late)
{
	unsigned nr = _IOC_NR(request);
	const struct kern_ioctl_row *row = &rows[nr];
	struct kern_call *record;
	int injected;
	long r;

	kern->ioctls++;
	kern->ioctl_nr[nr]++;
	injected = kern_injected(nr, row->name ? row->name : "a request");
	if (injected)
		return -injected;
	if (!row->handler || row->since_minor > kern_profile_of(file->dev)->drm_minor) {
		vgpu_finding(CONTRACT_IOCTL_UNKNOWN, "request 0x%02x is not of Linux %s's amdgpu, or not modelled",
			     nr, kern_profile_of(file->dev)->release);
		return -EINVAL;
	}
	record = kern_call_begin(file);
	if (!record)
		return -ENOMEM;
	r = call_handler(file, row, request, arg);
	if (file->userqs.count)
		kern_userqs_unmapped(file);
	kern_call_end(record);
	*late = nr == DRM_COMMAND_BASE + DRM_AMDGPU_CS && !r && kern_inject_event(KERN_LATE);
	return r;
}

static void record_call(int fd, unsigned long request, uint64_t begin_ns, long r)
{
	const char *name = _IOC_TYPE(request) == DRM_IOCTL_BASE ? kern_ioctl_name(_IOC_NR(request)) : "sync_file";

	name = name ? name : "unknown request";
	vgpu_log("%s on fd %d: %ld", name, fd, r);
	vgpu_trace_span(VGPU_TRACE_THREAD, name, begin_ns, "fd %d: %ld", fd, r);
}

long kern_ioctl(int fd, unsigned long request, void *arg, bool *ours)
{
	uint64_t begin_ns = vgpu_trace_now();
	struct kern_inode *inode;
	bool late = false;
	struct stat st;
	long r;

	*ours = false;
	if (sys_fstat(fd, &st))
		return 0;
	kern_lock();
	inode = kern_inode_find(st.st_dev, st.st_ino);
	*ours = inode;
	if (!inode)
		r = 0;
	else if (inode->kind == KERN_INODE_FILE)
		r = _IOC_TYPE(request) == DRM_IOCTL_BASE ? file_ioctl(inode->object, request, arg, &late) : -ENOTTY;
	else
		r = kern_sync_ioctl(inode, request, arg);
	kern_unlock();
	if (late)
		usleep(LATE_US);
	if (inode)
		record_call(fd, request, begin_ns, r);
	return r;
}
