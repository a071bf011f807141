/* Rows of the contract that the other tests of this room leave over, each by its number (docs/vgpu-contract.md). */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <xf86drm.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include "vgpu/kernel/base/core.h"
#include "vgpu/kernel/base/inode.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/kernel.h"
#include "vgpu/kernel/tests/test_rig.h"

#define EXPLICIT AMDGPU_GEM_CREATE_EXPLICIT_SYNC

static unsigned long seen; /* findings before */

static struct uapi_gpuvm_fault last_fault(void)
{
	struct uapi_gpuvm_fault fault = {0};

	CHECK_EQ(rig_info(AMDGPU_INFO_GPUVM_FAULT, &fault, sizeof(fault)), 0);
	return fault;
}

/* Whether a job that writes there ends, and is told of as a fault: since one at another place. */
static bool faults(uint32_t list, uint64_t va, uint32_t value)
{
	kern_quiet_seconds();
	CHECK_EQ(rig_try_write(rig.list, RIG_HOLE_VA + 0x900000, 1), 0);
	CHECK_EQ(last_fault().addr, RIG_HOLE_VA + 0x900000);
	CHECK_EQ(rig_try_write(list, va, value), 0);
	return last_fault().addr == (va & ~0xfffull);
}

static unsigned long new_findings(void)
{
	unsigned long before = seen;

	seen = vgpu_findings();
	return seen - before;
}

/* row 3 */
static void a_lost_tail_is_reported(void)
{
	struct {
		struct drm_amdgpu_gem_mmap_in in;
		uint64_t tail;
	} args = {{rig.ib_bo, 0}, 0};

	new_findings();
	CHECK_EQ(rig_call(DRM_IOWR(0x41, args), &args), 0);
	CHECK_EQ(new_findings(), 0);
	args.in.handle = rig.ib_bo;
	args.tail = 1;
	CHECK_EQ(rig_call(DRM_IOWR(0x41, args), &args), 0);
	CHECK_EQ(new_findings(), 1);
}

/* Takes CAP_SYS_ADMIN from what this thread may do, or gives it back. Whether it had it. */
static bool set_admin(bool on)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	uint32_t bit = 1u << CAP_SYS_ADMIN;
	bool had;

	CHECK_EQ(syscall(SYS_capget, &header, data), 0);
	had = data[0].effective & bit;
	data[0].effective = on ? data[0].effective | bit : data[0].effective & ~bit;
	CHECK_EQ(syscall(SYS_capset, &header, data), 0);
	return had;
}

/* row 5 */
static void a_second_client_of_the_card_must_authenticate(void)
{
	bool admin = set_admin(false);
	int master = rig_open("/dev/dri/card0"), second = rig_open("/dev/dri/card0"), render = rig.fd, third;
	drm_magic_t magic = 0;
	uint32_t handle;

	if (admin) { /* what its opener could do counts, not what its user can */
		set_admin(true);
		third = rig_open("/dev/dri/card0");
		set_admin(false);
		rig.fd = third;
		CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &handle), 0);
		CHECK_EQ(rig_close(handle), 0);
		close(third);
	}
	rig.fd = second;
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &handle), -EACCES);
	CHECK_EQ(drmGetMagic(second, &magic), 0);
	CHECK_EQ(drmAuthMagic(master, magic), 0);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &handle), 0);
	CHECK_EQ(rig_close(handle), 0);
	close(second);
	close(master);
	rig.fd = render;
	if (admin)
		set_admin(true);
}

/* row 34: memory that belongs to one VM; row 35: two imports are one handle */
static void one_handle_one_close(void)
{
	struct drm_prime_handle prime = {0};
	uint32_t always, plain;
	int dmabuf, other = rig_open("/dev/dri/renderD128"), mine = rig.fd;
	uint32_t first = 0, second = 0;

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, &always), 0);
	prime.handle = always;
	CHECK_EQ(rig_call(DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), -EPERM);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &plain), 0);
	CHECK_EQ(drmPrimeHandleToFD(mine, plain, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	CHECK_EQ(drmPrimeFDToHandle(other, dmabuf, &first), 0);
	CHECK_EQ(drmPrimeFDToHandle(other, dmabuf, &second), 0);
	CHECK_EQ(first, second);
	rig.fd = other;
	CHECK_EQ(rig_close(first), 0);
	CHECK_EQ(rig_close(second), -EINVAL);
	rig.fd = mine;
	CHECK_EQ(rig_close(plain), 0);
	CHECK_EQ(rig_close(always), 0);
	close(dmabuf);
	close(other);
}

/* row 38 */
static void what_is_left_at_close_is_reported(void)
{
	int mine = rig.fd;
	uint32_t handle;

	rig.fd = rig_open("/dev/dri/renderD128");
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &handle), 0);
	new_findings();
	close(rig.fd);
	CHECK_EQ(new_findings(), 1);
	rig.fd = mine;
}

/* rows 27, 33, 47: an unlisted buffer, of the device's memory and of the process's own; row 50: another file's */
static void jobs_reach_what_they_list(void)
{
	struct drm_amdgpu_gem_userptr user = {.size = 4096,
					      .flags = AMDGPU_GEM_USERPTR_ANONONLY | AMDGPU_GEM_USERPTR_REGISTER};
	uint32_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t bo, list, lists[2];

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_VRAM, EXPLICIT, &bo), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, 0x300000, 4096, RIG_RWX), 0);
	user.addr = (uintptr_t)memory;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, user.handle, 0x301000, 4096, RIG_RWX), 0);
	lists[0] = bo;
	lists[1] = user.handle;
	list = rig_list(lists, 2);
	CHECK_EQ(rig_try_write(list, 0x300000, 1), 0);
	CHECK_EQ(rig_try_write(list, 0x301000, 5), 0);
	CHECK_EQ(*memory, 5);
	new_findings();
	CHECK_EQ(rig_try_write(rig.list, 0x300000, 2), -ETIME);
	CHECK(new_findings() > 0);
	CHECK_EQ(rig_try_write(rig.list, 0x301000, 6), -ETIME);
	CHECK(new_findings() > 0);
	CHECK_EQ(*memory, 5);
	CHECK_EQ(rig_close(bo), 0);
	CHECK_EQ(rig_close(user.handle), 0);
	CHECK(faults(list, 0x300000, 3)); /* closing took the mapping away */
	CHECK_EQ(rig_list_free(list), 0);
	munmap(memory, 4096);
}

/* row 47: at the level at which other people's programs run, a card's answer; but not where nothing keeps the
 * memory */
static void unlisted_memory_is_reported(void)
{
	struct drm_amdgpu_gem_userptr user = {.size = 4096,
					      .flags = AMDGPU_GEM_USERPTR_ANONONLY | AMDGPU_GEM_USERPTR_REGISTER};
	uint32_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *map, bo;

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_VRAM, EXPLICIT, &bo), 0);
	map = rig_map(bo, 4096);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, 0x300000, 4096, RIG_RWX), 0);
	user.addr = (uintptr_t)memory;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, user.handle, 0x301000, 4096, RIG_RWX), 0);
	new_findings();
	CHECK_EQ(rig_try_write(rig.list, 0x300000, 2), 0);
	CHECK_EQ(new_findings(), 1);
	CHECK_EQ(*map, 2);
	CHECK_EQ(rig_try_write(rig.list, 0x301000, 6), -ETIME);
	CHECK(new_findings() > 0);
	CHECK_EQ(*memory, 0);
	CHECK_EQ(rig_close(bo), 0);
	CHECK_EQ(rig_close(user.handle), 0);
	munmap(map, 4096);
	munmap(memory, 4096);
}

/* rows 45, 46: the fault query tells the page and what was wrong */
static void faults_are_recorded(void)
{
	uint32_t bo, list;

	CHECK(faults(rig.list, RIG_HOLE_VA + 0x123010, 1));
	CHECK_EQ(last_fault().status >> 4 & 0xf, 1 | 4); /* not valid; no W */
	CHECK_EQ(last_fault().status >> 18 & 1, 1);      /* a write */
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &bo), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, 0x300000, 4096, AMDGPU_VM_PAGE_READABLE), 0);
	list = rig_list(&bo, 1);
	CHECK(faults(list, 0x300000, 1));
	CHECK_EQ(last_fault().status >> 4 & 0xf, 4);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(bo), 0);
}

/* row 46: pages of a READONLY userptr BO are never writable, whatever the mapping says */
static void read_only_memory_is_not_written(void)
{
	uint32_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), list;
	struct drm_amdgpu_gem_userptr user = {(uintptr_t)memory, 4096, AMDGPU_GEM_USERPTR_READONLY, 0};

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, user.handle, 0x300000, 4096, RIG_RWX), 0);
	list = rig_list(&user.handle, 1);
	CHECK(faults(list, 0x300000, 1));
	CHECK_EQ(last_fault().status >> 4 & 0xf, 4);
	CHECK_EQ(*memory, 0);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(user.handle), 0);
	munmap(memory, 4096);
}

/* row 53: a write to a PRT page is no fault; without the mapping it is one */
static void prt_pages_take_writes(void)
{
	uint64_t before = last_fault().addr;

	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, 0, RIG_HOLE_VA, 8192, AMDGPU_VM_PAGE_PRT), 0);
	CHECK_EQ(rig_try_write(rig.list, RIG_HOLE_VA + 4096, 1), 0);
	CHECK_EQ(last_fault().addr, before);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_UNMAP, 0, RIG_HOLE_VA, 8192, AMDGPU_VM_PAGE_PRT), 0);
	CHECK(faults(rig.list, RIG_HOLE_VA + 4096, 1));
}

static int submit_with_fence(uint32_t handle, uint32_t offset)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA, 64, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk_fence fence = {handle, offset};
	struct drm_amdgpu_cs_chunk chunk[2] = {{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
					       {AMDGPU_CHUNK_ID_FENCE, sizeof(fence) / 4, (uintptr_t)&fence}};
	uint64_t pointer[2] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {rig.ctx, rig.list, 2, 0, (uintptr_t)pointer}};
	int r;

	rig_nops();
	r = rig_call(DRM_IOCTL_AMDGPU_CS, &args);
	if (!r)
		CHECK_EQ(rig_wait(args.out.handle), 0);
	return r;
}

/* row 71 */
static void user_fences_have_their_page(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_amdgpu_gem_userptr user = {(uintptr_t)memory, 4096,
					      AMDGPU_GEM_USERPTR_ANONONLY | AMDGPU_GEM_USERPTR_REGISTER, 0};
	uint32_t one, two;

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &one), 0);
	CHECK_EQ(rig_create(8192, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &two), 0);
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	CHECK_EQ(submit_with_fence(one, 4088), 0);
	CHECK_EQ(submit_with_fence(one, 4089), -EINVAL);
	CHECK_EQ(submit_with_fence(two, 0), -EINVAL);
	CHECK_EQ(submit_with_fence(user.handle, 0), -EINVAL);
	CHECK_EQ(rig_close(one), 0);
	CHECK_EQ(rig_close(two), 0);
	CHECK_EQ(rig_close(user.handle), 0);
	munmap(memory, 4096);
}

/* row 50 */
static void another_files_address_is_not_mine(void)
{
	int mine = rig.fd, other = rig_open("/dev/dri/renderD128");
	uint32_t bo;

	rig.fd = other;
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &bo), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, RIG_HOLE_VA, 4096, RIG_RWX), 0);
	rig.fd = mine;
	CHECK(faults(rig.list, RIG_HOLE_VA, 1));
	rig.fd = other;
	CHECK_EQ(rig_close(bo), 0);
	rig.fd = mine;
	close(other);
}

/* Whether the page tables of the next job have something there. */
static bool is_mapped(uint64_t va)
{
	struct kern_view *view;
	bool mapped;

	kern_lock();
	view = kern_view_get(((struct kern_file *)kern_inode_of_fd(rig.fd)->object)->vm, NULL);
	mapped = gpuvm_find(&view->view, va);
	kern_view_put(view);
	kern_unlock();
	return mapped;
}

/* row 48 */
static void a_delayed_mapping_comes_with_the_next_job(void)
{
	uint32_t bo, list;

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &bo), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, RIG_HOLE_VA, 4096, RIG_RWX | AMDGPU_VM_DELAY_UPDATE), 0);
	CHECK(!is_mapped(RIG_HOLE_VA));
	list = rig_list(&bo, 1);
	CHECK_EQ(rig_try_write(list, RIG_HOLE_VA, 1), 0);
	CHECK(is_mapped(RIG_HOLE_VA));
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(bo), 0);
}

static enum gpuvm_mtype effective(uint64_t domain, uint64_t flags, uint32_t asked)
{
	enum gpuvm_mtype mtype = GPUVM_NC;
	struct kern_view *view;
	uint32_t bo;

	CHECK_EQ(rig_create(4096, domain, flags | AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, &bo), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, RIG_HOLE_VA, 4096, RIG_RWX | asked), 0);
	kern_lock();
	view = kern_view_get(((struct kern_file *)kern_inode_of_fd(rig.fd)->object)->vm, NULL);
	mtype = (gpuvm_find(&view->view, RIG_HOLE_VA)->flags & GPUVM_MTYPE_MASK) >> GPUVM_MTYPE_SHIFT;
	kern_view_put(view);
	kern_unlock();
	CHECK_EQ(rig_close(bo), 0);
	return mtype;
}

/* row 54: on gfx908 VRAM is RW whatever is asked for */
static void the_chip_decides_the_memory_type(void)
{
	CHECK_EQ(effective(AMDGPU_GEM_DOMAIN_VRAM, 0, AMDGPU_VM_MTYPE_UC), GPUVM_RW);
	CHECK_EQ(effective(AMDGPU_GEM_DOMAIN_GTT, 0, AMDGPU_VM_MTYPE_UC), GPUVM_UC);
	CHECK_EQ(effective(AMDGPU_GEM_DOMAIN_GTT, 0, AMDGPU_VM_MTYPE_NC), GPUVM_NC);
}

/* row 54: later generations have no RW */
static void later_chips_decide_otherwise(void)
{
	rig_start("gfx1030");
	CHECK_EQ(effective(AMDGPU_GEM_DOMAIN_VRAM, 0, AMDGPU_VM_MTYPE_UC), GPUVM_UC);
	CHECK_EQ(effective(AMDGPU_GEM_DOMAIN_VRAM, 0, AMDGPU_VM_MTYPE_RW), GPUVM_NC);
	CHECK_EQ(effective(AMDGPU_GEM_DOMAIN_GTT, 0, AMDGPU_VM_MTYPE_CC), GPUVM_CC);
	rig_stop();
	rig_start("gfx1201");
	CHECK_EQ(effective(AMDGPU_GEM_DOMAIN_VRAM, 0, AMDGPU_VM_MTYPE_UC), GPUVM_UC);
	CHECK_EQ(effective(AMDGPU_GEM_DOMAIN_GTT, 0, AMDGPU_VM_MTYPE_UC), GPUVM_UC);
	CHECK_EQ(effective(AMDGPU_GEM_DOMAIN_GTT, 0, AMDGPU_VM_MTYPE_CC), GPUVM_NC);
	rig_stop();
}

/* rows 57, 80 */
static void odd_ibs(void)
{
	uint64_t seq;

	CHECK_EQ(rig_submit_ibs(rig.ctx, rig.list, 0, 125, &seq), 0);
	CHECK_EQ(rig_wait(seq), 0);
	CHECK_EQ(rig_submit_ibs(rig.ctx, rig.list, 0, 126, NULL), -EINVAL);
	CHECK_EQ(rig_submit_ibs(rig.ctx, rig.list, UAPI_IB_FLAG_SECURE, 1, &seq),
		 0); /* noticed when it is scheduled */
	CHECK_EQ(rig_wait(seq), -EINVAL);
	CHECK_EQ(rig_ctx_free(rig.ctx), 0);
	rig.ctx = rig_ctx();
}

/* --- with jobs that take 50 ms --- */

/* row 26 */
static void a_closed_buffer_lives_until_its_jobs_end(void)
{
	struct vgpu_live before, during, after;
	uint32_t bo, list;
	uint64_t seq;

	vgpu_live(&before);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &bo), 0);
	list = rig_list(&bo, 1);
	CHECK_EQ(rig_submit(list, &seq), 0);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(bo), 0);
	vgpu_live(&during);
	CHECK_EQ(during.bos, before.bos + 1);
	CHECK_EQ(rig_wait(seq), 0);
	vgpu_live(&after);
	CHECK_EQ(after.bos, before.bos);
	/* One that no list of the job keeps. */
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT | AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, &bo), 0);
	CHECK_EQ(rig_submit(rig.list, &seq), 0);
	CHECK_EQ(rig_close(bo), 0);
	vgpu_live(&during);
	CHECK_EQ(during.bos, before.bos + 1);
	CHECK_EQ(rig_wait(seq), 0);
	vgpu_live(&after);
	CHECK_EQ(after.bos, before.bos);
}

/* row 31: the memory is gone when a job lists it; row 32: it goes while a job uses it */
static void own_memory_goes_away(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_amdgpu_gem_userptr user = {(uintptr_t)memory, 4096,
					      AMDGPU_GEM_USERPTR_ANONONLY | AMDGPU_GEM_USERPTR_REGISTER, 0};
	double begin = rig_now();
	uint32_t list;

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	list = rig_list(&user.handle, 1);
	CHECK_EQ(rig_submit(list, NULL), 0);
	munmap(memory, 4096);
	CHECK(rig_now() - begin >= 0.045);
	CHECK_EQ(rig_submit(list, NULL), -EFAULT);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(user.handle), 0);
}

/* row 31: the memory is there, and protected */
static void own_memory_is_protected(bool read_only)
{
	char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_amdgpu_gem_userptr user = {(uintptr_t)memory, 8192,
					      AMDGPU_GEM_USERPTR_REGISTER | AMDGPU_GEM_USERPTR_VALIDATE |
						      (read_only ? AMDGPU_GEM_USERPTR_READONLY : 0),
					      0};
	uint32_t list;

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, user.handle, RIG_HOLE_VA, 8192, RIG_RWX), 0);
	list = rig_list(&user.handle, 1);
	CHECK_EQ(mprotect(memory + 4096, 4096, PROT_NONE), 0);
	rig_write_data(RIG_HOLE_VA + 4096, 5);
	CHECK_EQ(rig_submit(list, NULL), -EFAULT);
	CHECK_EQ(mprotect(memory + 4096, 4096, PROT_READ | PROT_WRITE), 0);
	CHECK_EQ(rig_submit(list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(pkey_mprotect(memory + 4096, 4096, PROT_NONE, -1), 0);
	CHECK_EQ(rig_submit(list, NULL), -EFAULT);
	CHECK_EQ(syscall(SYS_pkey_mprotect, memory + 4096, 4096L, (long)PROT_READ, -1L), 0);
	CHECK_EQ(rig_submit(list, NULL), read_only ? 0 : -EFAULT); /* where it faults */
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK(mmap(memory + 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	      MAP_FAILED);
	CHECK_EQ(rig_submit(list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(memory[4096], read_only ? 0 : 5);
	CHECK(mmap(memory, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
	CHECK_EQ(rig_submit(list, NULL), -EFAULT);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(user.handle), 0);
	munmap(memory, 8192);
	rig_nops();
}

/* row 31: the memory went, and something that cannot be accessed came to its address by itself */
static void own_memory_is_replaced(bool moves)
{
	void *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *away;
	struct drm_amdgpu_gem_userptr user = {(uintptr_t)memory, 4096,
					      AMDGPU_GEM_USERPTR_REGISTER | AMDGPU_GEM_USERPTR_VALIDATE, 0};
	uint32_t list;

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, user.handle, RIG_HOLE_VA, 4096, RIG_RWX), 0);
	list = rig_list(&user.handle, 1);
	away = moves ? mremap(memory, 4096, 8192, MREMAP_MAYMOVE) : MAP_FAILED;
	CHECK(moves ? away != MAP_FAILED && away != memory : !munmap(memory, 4096));
	CHECK(mmap(memory, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == memory);
	rig_write_data(RIG_HOLE_VA, 5);
	CHECK_EQ(rig_submit(list, NULL), -EFAULT);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(user.handle), 0);
	munmap(memory, 8192);
	if (moves)
		munmap(away, 8192);
	rig_nops();
}

/* row 31: the memory is a file's, which is cut */
static void own_file_is_cut(uint32_t flags)
{
	int file = memfd_create("cut", MFD_CLOEXEC);
	char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	struct drm_amdgpu_gem_userptr user = {(uintptr_t)memory, 8192, AMDGPU_GEM_USERPTR_REGISTER | flags, 0};
	uint32_t list;

	CHECK_EQ(ftruncate(file, 8192), 0);
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, user.handle, RIG_HOLE_VA, 8192, RIG_RWX), 0);
	list = rig_list(&user.handle, 1);
	rig_write_data(RIG_HOLE_VA + 4096, 5);
	CHECK_EQ(rig_submit(list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(memory[4096], 5);
	CHECK_EQ(ftruncate(file, 4096), 0);
	CHECK_EQ(rig_submit(list, NULL), -EFAULT);
	CHECK_EQ(ftruncate(file, 8192), 0);
	CHECK_EQ(rig_submit(list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(memory[4096], 5);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(user.handle), 0);
	munmap(memory, 8192);
	close(file);
	rig_nops();
}

/* row 44: page tables lose it when the jobs that were submitted before have ended */
static void what_is_unmapped_under_jobs_stays_until_they_end(void)
{
	uint32_t bo, list, *map;
	uint64_t seq;

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &bo), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, RIG_HOLE_VA, 4096, RIG_RWX), 0);
	map = rig_map(bo, 4096);
	list = rig_list(&bo, 1);
	rig_write_data(RIG_HOLE_VA, 5);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(rig_submit(list, &seq), 0);
	new_findings();
	CHECK_EQ(rig_va(AMDGPU_VA_OP_UNMAP, bo, RIG_HOLE_VA, 4096, 0), 0);
	CHECK_EQ(rig_wait_ctx(rig.ctx, seq, 0), 1);
	__atomic_store_n(map, 0, __ATOMIC_RELAXED); /* the last of them writes it again */
	CHECK_EQ(rig_wait(seq), 0);
	CHECK_EQ(__atomic_load_n(map, __ATOMIC_RELAXED), 5);
	CHECK_EQ(new_findings(), 0);
	CHECK(faults(list, RIG_HOLE_VA, 6));
	CHECK_EQ(__atomic_load_n(map, __ATOMIC_RELAXED), 5);
	munmap(map, 4096);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(bo), 0);
}

/* rows 55 and 125: the VM is the one of the submission, until something shows more */
static void a_job_does_not_see_later_mappings(void)
{
	uint32_t bo, list;

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &bo), 0);
	list = rig_list(&bo, 1);
	rig_write_data(RIG_HOLE_VA, 1);
	CHECK_EQ(rig_submit(list, NULL), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, RIG_HOLE_VA, 4096, RIG_RWX), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), -ETIME);
	CHECK_EQ(rig_ctx_free(rig.ctx), 0);
	rig.ctx = rig_ctx();
	CHECK_EQ(rig_try_write(list, RIG_HOLE_VA, 1), 0);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(bo), 0);
}

/* row 70, which aborts: in a child with a run of its own */
static void a_changed_ib_is_noticed(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 2);
		vgpu_stop();
		vgpu_strict_set(VGPU_STRICT_FATAL);
		rig_start("null:gfx908:service_us=20000");
		rig_submit(rig.list, NULL);
		rig_submit(rig.list, NULL);
		rig.ib[4] = 0; /* a legal NOP of two dwords in place of two of one */
		rig.ib[3] = 0xc0001000;
		rig_wait(UINT64_MAX);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* What a CS waits for comes after 15 s, unless the test is over before. */
struct late_signal {
	uint32_t sync;
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool is_over;
};

static void *signal_late(void *arg)
{
	struct late_signal *late = arg;
	struct timespec until;
	uint64_t point = 1;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 15;
	pthread_mutex_lock(&late->lock);
	while (!late->is_over && !r)
		r = pthread_cond_timedwait(&late->over, &late->lock, &until);
	if (!late->is_over)
		drmSyncobjTimelineSignal(rig.fd, &late->sync, &point, 1);
	pthread_mutex_unlock(&late->lock);
	return NULL;
}

/* row 74: nothing is submitted in the five seconds */
static void waiting_for_a_submission_ends(void)
{
	uint32_t sync;
	struct drm_amdgpu_cs_chunk_syncobj in = {0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, 1};
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA, 64, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk chunk[2] = {
		{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
		{AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, sizeof(in) / 4, (uintptr_t)&in}};
	uint64_t pointer[2] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {rig.ctx, rig.list, 2, 0, (uintptr_t)pointer}};
	struct late_signal late = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};
	double begin = rig_now();
	pthread_t thread;

	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &sync), 0);
	in.handle = late.sync = sync;
	in.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), -EINVAL);
	in.flags = 0;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), -EINVAL);
	in.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
	pthread_create(&thread, NULL, signal_late, &late);
	new_findings();
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), -ETIME);
	CHECK_EQ(new_findings(), 1);
	CHECK(rig_now() - begin >= 5);
	pthread_mutex_lock(&late.lock);
	late.is_over = true;
	pthread_cond_signal(&late.over);
	pthread_mutex_unlock(&late.lock);
	pthread_join(thread, NULL);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, sync), 0);
}

static void *submit_many(void *arg)
{
	uint64_t *seq = arg;

	for (unsigned i = 0; i < 100; i++)
		if (rig_submit(rig.list, &seq[i]))
			return arg;
	return NULL;
}

/* row 76 */
static void threads_may_share_an_entity(void)
{
	static uint64_t seq[2][100];
	static bool used[201];
	pthread_t thread[2];
	void *bad;

	rig.ctx = rig_ctx();
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, submit_many, seq[i]), 0);
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(thread[i], &bad);
		CHECK(!bad);
	}
	for (unsigned i = 0; i < 200; i++) {
		uint64_t s = seq[i / 100][i % 100];

		CHECK(s >= 1 && s <= 200 && !used[s]);
		used[s <= 200 ? s : 0] = true;
		CHECK(!(i % 100) || s > seq[i / 100][i % 100 - 1]); /* each thread's own stay in order */
	}
	CHECK_EQ(rig_wait(200), 0);
}

/* row 79 */
static void jobs_of_a_freed_context_finish(void)
{
	uint32_t ctx = rig_ctx(), sync;
	struct vgpu_live live;

	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &sync), 0);
	CHECK_EQ(rig_submit_ibs(ctx, rig.list, 0, 1, NULL), 0);
	CHECK_EQ(rig_ctx_free(ctx), 0);
	CHECK_EQ(rig_wait_ctx(ctx, 1, 0), -EINVAL);
	vgpu_live(&live);
	CHECK_EQ(live.jobs, 1);
	for (unsigned i = 0; i < 1000 && live.jobs; i++) {
		usleep(1000);
		vgpu_live(&live);
	}
	CHECK_EQ(live.jobs, 0);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, sync), 0);
}

/* row 18 */
static void a_full_window_is_reported(void)
{
	uint32_t first, second;

	rig_start("null:gfx908:vram=1G:bar=256M");
	CHECK_EQ(rig_create(255 << 20, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED, &first), 0);
	CHECK_EQ(rig_count(AMDGPU_INFO_VIS_VRAM_USAGE), 255 << 20);
	new_findings();
	CHECK_EQ(rig_create(300 << 20, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED, &second), 0);
	CHECK_EQ(new_findings(), 1);
	CHECK_EQ(rig_count(AMDGPU_INFO_VIS_VRAM_USAGE), 255 << 20);
	CHECK_EQ(rig_count(AMDGPU_INFO_VRAM_USAGE), 555 << 20);
	CHECK_EQ(rig_close(first), 0);
	CHECK_EQ(rig_close(second), 0);
	rig_stop();
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_REPORT);
	rig_start("gfx908");
	a_lost_tail_is_reported();
	a_second_client_of_the_card_must_authenticate();
	one_handle_one_close();
	what_is_left_at_close_is_reported();
	vgpu_strict_set(VGPU_STRICT_OFF);
	jobs_reach_what_they_list();
	vgpu_strict_set(VGPU_STRICT_REPORT);
	unlisted_memory_is_reported();
	faults_are_recorded();
	read_only_memory_is_not_written();
	prt_pages_take_writes();
	user_fences_have_their_page();
	another_files_address_is_not_mine();
	a_delayed_mapping_comes_with_the_next_job();
	the_chip_decides_the_memory_type();
	odd_ibs();
	own_memory_is_protected(false);
	own_memory_is_protected(true);
	own_memory_is_replaced(false);
	own_memory_is_replaced(true);
	own_file_is_cut(0);
	own_file_is_cut(AMDGPU_GEM_USERPTR_VALIDATE);
	rig_stop();
	rig_start("null:gfx908:service_us=50000");
	a_closed_buffer_lives_until_its_jobs_end();
	own_memory_goes_away();
	what_is_unmapped_under_jobs_stays_until_they_end();
	a_job_does_not_see_later_mappings();
	jobs_of_a_freed_context_finish();
	waiting_for_a_submission_ends();
	rig_stop();
	rig_start("null:gfx908");
	threads_may_share_an_entity();
	a_changed_ib_is_noticed();
	rig_stop();
	a_full_window_is_reported();
	later_chips_decide_otherwise();
	return check_done("rows of the contract");
}
