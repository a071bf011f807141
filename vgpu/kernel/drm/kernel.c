/* Attaching to a run, and small functions of the interface. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include "vgpu/layout.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/drm/inode.h"
#include "vgpu/kernel/drm/proc.h"
#include "vgpu/kernel/drm/watch.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/hold.h"
#include "vgpu/kernel/gem/memory.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/kernel.h"
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/kernel/sched/userq.h"
#include "vgpu/kernel/sync/fence.h"

/* --- devices --- */

/* amdgpu.gttsize, or TTM's page limit since 6.6: half of the machine's memory. */
static uint64_t gtt_size(const struct kern_device_config *config)
{
	struct sysinfo info;

	if (config->gtt_B)
		return config->gtt_B;
	if (sysinfo(&info))
		return 4ull << 30;
	return (uint64_t)info.totalram * info.mem_unit / 2 & ~(uint64_t)(KERN_PAGE - 1);
}

uint64_t kern_config_vram_B(const struct vgpu_chip *chip, const struct kern_device_config *config)
{
	return config->vram_B ? config->vram_B : chip->vram_B * (config->partitions ? chip->xccs : 1u);
}

uint64_t kern_config_visible_B(const struct vgpu_chip *chip, const struct kern_device_config *config)
{
	uint64_t vram_B = kern_config_vram_B(chip, config);
	uint64_t visible_B = config->visible_B ? config->visible_B
					       : chip->visible_vram_B * (config->partitions ? chip->xccs : 1u);

	return visible_B < vram_B ? visible_B : vram_B;
}

uint64_t kern_phys_size(const struct kern_device_config *config, unsigned count)
{
	uint64_t size_B = 256ull << 30, want_B = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct vgpu_chip *chip = vgpu_chip_find(config[i].chip);

		want_B += gtt_size(&config[i]) + (chip ? kern_config_vram_B(chip, &config[i]) : 0);
	}
	while (size_B < 2 * want_B) /* twice: contiguous ranges are then always found */
		size_B *= 2;
	return size_B;
}

static void device_init(struct kern_device *dev, const struct kern_device_config *config)
{
	const struct vgpu_chip *chip = vgpu_chip_find(config->chip);
	const struct kern_profile *profile = kern_profile_at(config->profile);
	dev->index = (unsigned)(dev - kern->device);
	dev->profile = config->profile;
	snprintf(dev->chip_name, sizeof(dev->chip_name), "%s", config->chip);
	dev->null_device = config->null_device;
	dev->service_ns = config->service_ns;
	dev->nodes = kern_config_nodes(config);
	dev->f8_fnuz = config->f8_fnuz;
	dev->sramecc = chip->sramecc == CHIP_ECC_ON || config->sramecc;
	dev->userq = config->userq;
	dev->xccs = config->partitions ? chip->xccs : 1;
	dev->partitions = config->partitions ? config->partitions : 1;
	dev->vram_B = kern_config_vram_B(chip, config);
	dev->visible_B = kern_config_visible_B(chip, config);
	dev->gtt_B = gtt_size(config);
	dev->hive = config->hive;
	dev->no_p2p = config->p2p < 0 ? !profile->pci_p2pdma : !config->p2p;
	dev->generation = 1;
	kern_list_init(&dev->lru);
	kern_waitq_init(&dev->notified);
	for (unsigned ip = 0; ip < KERN_IPS; ip++)
		dev->watchdog_ns[ip] = config->watchdog_ns          ? config->watchdog_ns
				       : ip == AMDGPU_HW_IP_COMPUTE ? profile->compute_limit_ns
								    : profile->other_limit_ns;
}

/* --- attaching --- */

static int lock_init(void)
{
	pthread_mutexattr_t attr;
	int r = pthread_mutexattr_init(&attr);

	if (r)
		return -r;
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	r = pthread_mutex_init(&kern->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return -r;
}

uint64_t kern_layout(void)
{
	return (uint64_t)KERN_LAYOUT << 32 | sizeof(struct kern_root);
}

static int root_init(uint64_t phys_size_B, const struct kern_device_config *config, unsigned count)
{
	int r;

	kern->heap_next = KERN_SEGMENT_ADDR + kern_align(sizeof(*kern), KERN_PAGE);
	kern->heap_end = KERN_SEGMENT_ADDR + KERN_SEGMENT_B;
	kern->next_context = 1;
	kern->devices = count;
	kern_list_init(&kern->userptrs);
	kern_waitq_init(&kern->released);
	kern_list_init(&kern->zombies);
	for (unsigned i = 0; i < KERN_HASH; i++) {
		kern_list_init(&kern->inode_hash[i]);
		kern_list_init(&kern->mmap_hash[i]);
	}
	for (unsigned i = 0; i < count; i++)
		device_init(&kern->device[i], &config[i]);
	r = lock_init();
	if (r)
		return r;
	r = kern_phys_init(&kern->phys, phys_size_B);
	kern->layout = kern_layout();
	kern->magic = KERN_MAGIC;
	return r;
}

static int find_chips(void)
{
	for (unsigned i = 0; i < kern->devices; i++) {
		kern_local.chip[i] = vgpu_chip_find(kern->device[i].chip_name);
		if (!kern_local.chip[i])
			return -ENODEV;
	}
	return 0;
}

static void unmap_run(void)
{
	if (kern_local.phys)
		sys_munmap(kern_local.phys, kern->phys.size_B);
	sys_munmap((void *)KERN_SEGMENT_ADDR, KERN_SEGMENT_B);
	kern = NULL;
	kern_local = (struct kern_local){.segment_fd = -1, .phys_fd = -1};
}

static int enter_run(void)
{
	int r = find_chips();

	if (r)
		return r;
	kern_lock();
	r = kern_proc_enter();
	kern_unlock();
	return r;
}

/* -EEXIST: another mapping of this process is there; -ENOMEM: RLIMIT_AS is too small. */
static int map_segment(int segment_fd)
{
	long at = sys_call6(SYS_mmap, (long)KERN_SEGMENT_ADDR, (long)KERN_SEGMENT_B, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, segment_fd, 0);

	if (at < 0 && at > -4096)
		return (int)at;
	if (at != (long)KERN_SEGMENT_ADDR)
		return -EEXIST;
	kern = (void *)at;
	return 0;
}

static bool file_has(int fd, uint64_t size_B)
{
	struct stat st;

	return !sys_fstat(fd, &st) && (uint64_t)st.st_size >= size_B;
}

/* The files of a run that is joined are what a process names that may be another by now: a page that is not there would
 * be a SIGBUS. */
static int root_check(int phys_fd)
{
	if (kern->magic != KERN_MAGIC || kern->layout != kern_layout() || kern->devices > KERN_DEVICES)
		return -EPROTO;
	return file_has(phys_fd, kern->phys.size_B) ? 0 : -EPROTO;
}

int kern_attach(int segment_fd, int phys_fd, bool create, const struct kern_device_config *config, unsigned count)
{
	uint64_t phys_B = create ? kern_phys_size(config, count) : 0;
	int r = create ? sys_ftruncate(segment_fd, KERN_SEGMENT_B) : 0;
	void *at;

	if (!r && create)
		r = sys_ftruncate(phys_fd, phys_B);
	if (!create && !file_has(segment_fd, KERN_SEGMENT_B))
		r = -EPROTO;
	if (r)
		return r;
	r = map_segment(segment_fd);
	if (r)
		return r;
	kern_local.segment_fd = segment_fd;
	kern_local.phys_fd = phys_fd;
	kern_local.sweep = kern_proc_sweep;
	r = create ? root_init(phys_B, config, count) : root_check(phys_fd);
	if (!r) {
		at = sys_mmap(NULL, kern->phys.size_B, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, phys_fd,
			      0);
		kern_local.phys = at == MAP_FAILED ? NULL : at;
		r = kern_local.phys ? enter_run() : -ENOMEM;
	}
	if (r)
		unmap_run();
	return r;
}

void kern_detach(bool leaving)
{
	kern_local.leaving = leaving;
	kern_watch_stop();
	kern_userqs_stop();
	kern_sched_stop();
	kern_lock();
	kern_view_drop_all();
	kern_proc_leave();
	kern_unlock();
	unmap_run();
}

int kern_fork_prepare(struct kern_child *child)
{
	int r;

	kern_lock();
	r = kern_proc_conceive(child);
	kern_unlock();
	return r;
}

int kern_forked(const struct kern_child *child)
{
	int r;

	kern_sched_forked();
	kern_userqs_forked();
	kern_watch_forked();
	kern_lock();
	r = kern_proc_born(child);
	kern_unlock();
	sys_close(child->guard);
	return r;
}

bool kern_alone(void)
{
	unsigned alive = 0;

	if (!kern_trylock())
		return false;
	for (unsigned i = 0; i < KERN_PROCS; i++)
		alive += kern->proc[i].serial && kern_tenant_alive(&kern->proc[i]);
	kern_unlock();
	return alive <= 1;
}

unsigned kern_device_count(void)
{
	return kern->devices;
}

void kern_usage(unsigned device, struct kern_usage *usage)
{
	const struct kern_device *dev = &kern->device[device];

	kern_lock();
	*usage = (struct kern_usage){dev->vram_used_B, dev->visible_used_B, dev->gtt_used_B, dev->gtt_B};
	kern_unlock();
}

/* --- descriptors --- */

void kern_set_hooks(void (*opened)(int fd, struct kern_hold *hold), int (*find)(const struct kern_inode *inode))
{
	kern_fd_opened = opened;
	kern_fd_find = find;
}

unsigned kern_node_count(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < kern->devices; i++)
		count += kern->device[i].nodes;
	return count;
}

unsigned kern_hold_node(const struct kern_hold *hold)
{
	unsigned node = 0;

	for (const struct kern_device *dev = kern->device; dev != hold->bo->dev; dev++)
		node += dev->nodes;
	return node;
}

/* *partition becomes which of its device's nodes it is. */
static struct kern_device *device_of_node(unsigned node, unsigned *partition)
{
	struct kern_device *dev = kern->device;

	for (; node >= dev->nodes; dev++)
		node -= dev->nodes;
	*partition = node;
	return dev;
}

int kern_open(unsigned node, bool primary, bool cloexec)
{
	unsigned partition;
	struct kern_device *dev = device_of_node(node, &partition);
	struct kern_file *file;
	int r, fd;

	if (!primary && partition >= dev->partitions)
		return -ENOENT;

	kern_lock();
	if (kern->procs > 1)
		kern_proc_sweep();
	r = kern_file_create(dev, primary, &file);
	if (!r) {
		file->node = node;
		file->partition = primary ? -1 : (int8_t)partition;
	}
	if (!r)
		r = kern_fd_create(KERN_INODE_FILE, file, 0, cloexec, &fd);
	kern_unlock();
	return r ? r : fd;
}

enum kern_fd_kind kern_fd_kind(uint64_t st_dev, uint64_t st_ino, unsigned *node, bool *primary)
{
	enum kern_fd_kind kind = KERN_FD_OTHER;
	struct kern_inode *inode;

	kern_lock();
	inode = kern_inode_find(st_dev, st_ino);
	if (inode && inode->kind == KERN_INODE_FILE) {
		const struct kern_file *file = inode->object;

		kind = KERN_FD_NODE;
		*node = file->node;
		*primary = file->primary;
	} else if (inode) {
		kind = inode->kind == KERN_INODE_DMABUF ? KERN_FD_DMABUF : KERN_FD_SYNC;
	}
	kern_unlock();
	return kind;
}

struct kern_hold *kern_fd_hold(uint64_t st_dev, uint64_t st_ino)
{
	struct kern_hold *hold = NULL;
	struct kern_inode *inode;

	kern_lock();
	inode = kern_inode_find(st_dev, st_ino);
	if (inode)
		hold = kern_hold_inode(inode);
	kern_unlock();
	return hold;
}

void kern_hold_release(struct kern_hold *hold)
{
	kern_lock();
	kern_hold_put(hold);
	kern_unlock();
}

struct kern_hold *kern_hold_copy(struct kern_hold *hold)
{
	struct kern_hold *copy;

	if (!hold) /* there was no memory for it when the process was forked */
		return NULL;
	kern_lock();
	copy = hold->inode ? kern_hold_inode(hold->inode) : kern_hold_bo(hold->bo);
	kern_unlock();
	return copy;
}

void kern_hold_give(struct kern_hold *hold, const struct kern_child *child)
{
	if (!hold)
		return;
	kern_lock();
	kern_list_del(&hold->link);
	kern_list_add_tail(&kern->proc[child->slot].holds, &hold->link);
	kern_unlock();
}

void kern_hold_stale(struct kern_hold *hold)
{
	kern_hold_put(hold);
}

bool kern_hold_is(const struct kern_hold *hold, const struct kern_inode *inode)
{
	return hold->inode == inode;
}

void kern_fd_sent(uint64_t st_dev, uint64_t st_ino, pid_t receiver)
{
	struct kern_inode *inode;

	kern_lock();
	inode = kern_inode_find(st_dev, st_ino);
	if (inode) {
		if (inode->flying < KERN_RECEIVERS)
			inode->receiver[inode->flying] = receiver;
		inode->holds++, inode->flying++;
	}
	kern_unlock();
}

void kern_fd_arrived(uint64_t st_dev, uint64_t st_ino)
{
	struct kern_inode *inode;

	kern_lock();
	inode = kern_inode_find(st_dev, st_ino);
	if (inode && inode->flying)
		kern_inode_landed(inode, kern_local.pid);
	kern_unlock();
}

/* --- memory --- */

/* The hold is made with the lock, before anyone can close the descriptor. */
static int mmap_locked(struct kern_inode *inode, uint64_t offset, uint64_t size_B, int prot, int flags,
		       uint64_t *phys_offset, struct kern_hold **hold)
{
	struct kern_bo *bo;
	int r;

	if (!inode)
		return -ENXIO;
	if (inode->kind == KERN_INODE_FILE) {
		r = kern_bo_mmap(inode->object, offset, size_B, prot, flags, &bo, phys_offset);
	} else if (inode->kind == KERN_INODE_DMABUF) {
		bo = inode->object;
		r = kern_dmabuf_mmap(bo, offset, size_B, phys_offset);
	} else {
		r = -ENODEV;
	}
	if (r)
		return r;
	*hold = kern_hold_bo(bo);
	return *hold ? 0 : -ENOMEM;
}

int kern_mmap(int fd, uint64_t offset, uint64_t size_B, int prot, int flags, uint64_t *phys_offset,
	      struct kern_hold **hold)
{
	int r;

	kern_lock();
	r = mmap_locked(kern_inode_of_fd(fd), offset, kern_align(size_B, KERN_PAGE), prot, flags, phys_offset,
			hold);
	kern_unlock();
	return r;
}

/* --- for tests --- */

uint64_t kern_live_count(unsigned kind)
{
	uint64_t count;

	kern_lock();
	kern_proc_sweep(); /* objects of dead processes are not alive */
	count = kind < KERN_KINDS ? kern->live[kind] : 0;
	kern_unlock();
	return count;
}

uint64_t kern_userptr_pages(void)
{
	uint64_t pages;

	kern_lock();
	pages = kern->userptr_pages;
	kern_unlock();
	return pages;
}

int kern_inject_reset(unsigned device)
{
	if (device >= kern->devices)
		return -ENODEV;
	kern_lock();
	kern_reset_device(&kern->device[device], NULL);
	kern_unlock();
	return 0;
}

int kern_inject_unplug(unsigned device)
{
	if (device >= kern->devices)
		return -ENODEV;
	kern_lock();
	kern->device[device].unplugged = true;
	kern_unlock();
	return 0;
}
