/* The amdgpu and DRM drivers of Linux, as ioctls on shared state. Interface of kernel/ for shim/.
 *
 *   kern_root   the state that processes share, in the run's segment                base/state.h
 *   kern_inode  the object behind a descriptor: file, dma-buf, syncobj, sync file
 *   kern_hold   an object that a process keeps alive: a descriptor, a CPU mapping
 *
 * The functions take the kernel lock themselves; any thread may call them. */
#ifndef VGPU_KERNEL_KERNEL_H
#define VGPU_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kern_inode;
struct kern_hold;
struct kern_bo;

/* Configuration of a device, from the run's SPEC. */
struct kern_device_config {
	char chip[16];
	unsigned profile; /* kernel release: index of profile.h */
	bool null_device;
	uint64_t service_ns;
	uint64_t vram_B, visible_B; /* 0: the chip's */
	uint64_t gtt_B;             /* amdgpu.gttsize; 0: half of the memory of the machine */
	uint64_t watchdog_ns;       /* 0: the kernel's defaults */
	uint64_t hive;              /* xGMI hive; 0: none */
	bool f8_fnuz;               /* 8-bit floats as in KFD's VMIDs */
	bool sramecc;               /* ECC of registers, which some chips have on some boards */
	unsigned userq;             /* amdgpu.user_queue: 0 off, 1 beside the kernel's rings, 2 instead of them */
	unsigned partitions;        /* partitions of a card with all its XCCs; 0: a card of a single XCC */
	int numa_node;              /* -1: none */
	int p2p; /* whether PCI gives peer access to it, and from it; -1: as the release is built */
};

struct vgpu_chip;
/* VRAM of a device, and its part that the CPU reaches. */
uint64_t kern_config_vram_B(const struct vgpu_chip *chip, const struct kern_device_config *config);
uint64_t kern_config_visible_B(const struct vgpu_chip *chip, const struct kern_device_config *config);

/* Nodes have consecutive numbers, the same for card and render minor. A device has one; a card of several XCCs has
 * as many as Linux has partitions at most, whatever the mode (amdgpu_xcp_dev_alloc). */
#define KERN_NODES 64
static inline unsigned kern_config_nodes(const struct kern_device_config *config)
{
	return config->partitions ? 8 : 1;
}

/* Size of the physical memory file for these devices. */
uint64_t kern_phys_size(const struct kern_device_config *config, unsigned count);
/* Maps the segment and the physical memory file, which stay the caller's to keep open. create: lays out the root
 * with these devices; else joins the run. 0 or -errno, nothing attached then. One attach at a time in a process. */
int kern_attach(int segment_fd, int phys_fd, bool create, const struct kern_device_config *config, unsigned count);
/* Ends this process's part in the run and unmaps. leaving: the process exits, what is open is no leak. */
void kern_detach(bool leaving);
/* A child of this process, from before its fork: it has holds, and keeps them whichever process dies first. */
struct kern_child {
	unsigned slot;
	uint32_t serial;
	/* A descriptor that the parent closes after the fork, and the child when it has entered. When neither has it, the
	 * child's process is reaped. */
	int guard;
};
/* Before the fork. 0, or -errno: the child will not be able to join the run. */
int kern_fork_prepare(struct kern_child *child);
/* In a forked child, before anything else: it becomes a process of the run by itself. 0 or -errno. */
int kern_forked(const struct kern_child *child);
/* Gives a hold of this process to the child. NULL is fine. */
void kern_hold_give(struct kern_hold *hold, const struct kern_child *child);

/* Ways to recover from a hang on a ring of that IP, besides a full reset, as sysfs of such a device reports them.
 */
struct kern_reset_mask {
	bool known, soft, queue, pipe;
};
struct kern_reset_mask kern_reset_mask(const struct kern_device_config *config, unsigned ip);

unsigned kern_device_count(void);
unsigned kern_node_count(void);
/* Memory of a device in use. */
struct kern_usage {
	uint64_t vram_B, visible_B, gtt_B, gtt_total_B;
};
void kern_usage(unsigned device, struct kern_usage *usage);
/* Whether no other process is left in the run. Never blocks: false while the lock is taken. */
bool kern_alone(void);

/* A new open of a node: descriptor or -errno; -ENOENT where its partition is not in use. */
int kern_open(unsigned node, bool primary, bool cloexec);

/* Performs an ioctl on fd, if fd is the virtual GPU's: sets *ours. 0, positive, or -errno. */
long kern_ioctl(int fd, unsigned long request, void *arg, bool *ours);

enum kern_fd_kind { KERN_FD_OTHER, KERN_FD_NODE, KERN_FD_DMABUF, KERN_FD_SYNC };
/* Kind of fd. For a node: its number and whether it is the primary one. Takes no reference. */
enum kern_fd_kind kern_fd_kind(uint64_t st_dev, uint64_t st_ino, unsigned *node, bool *primary);

/* Makes a hold for another descriptor of the inode (st_dev, st_ino); NULL if that is not the virtual GPU's. */
struct kern_hold *kern_fd_hold(uint64_t st_dev, uint64_t st_ino);
/* Releases the hold of a closed descriptor or mapping. NULL is fine. */
void kern_hold_release(struct kern_hold *hold);
/* A message that carries the descriptor is under way: one reference more, until kern_fd_arrived, or until the
 * receiver dies. 0: it is not known. */
void kern_fd_sent(uint64_t st_dev, uint64_t st_ino, pid_t receiver);
void kern_fd_arrived(uint64_t st_dev, uint64_t st_ino);

/* Resolves a mapping of fd: offset in the physical memory file with a hold on the buffer, or -errno; -ENXIO when
 * fd is not the virtual GPU's. */
int kern_mmap(int fd, uint64_t offset, uint64_t size_B, int prot, int flags, uint64_t *phys_offset,
	      struct kern_hold **hold);
/* The first node of the device whose buffer the mapping keeps. Immutable; no lock. */
unsigned kern_hold_node(const struct kern_hold *hold);
/* Makes another hold on the same object: a mapping was cut in two, or a child inherited it. NULL without memory. */
struct kern_hold *kern_hold_copy(struct kern_hold *hold);

/* Releases a hold inside the `opened` function, where the kernel lock is held already. */
void kern_hold_stale(struct kern_hold *hold);
/* Is it a descriptor's hold on that inode? Immutable; no lock. */
bool kern_hold_is(const struct kern_hold *hold, const struct kern_inode *inode);

/* Called before user memory [addr, addr+size_B) is unmapped or its protection changes: waits for the jobs that use
 * it, as the kernel's notifier does. */
void kern_user_memory_changes(uint64_t addr, uint64_t size_B);
/* Called after another mapping has taken its place, or its protection has changed: the next CS checks it. */
void kern_user_memory_changed(uint64_t addr, uint64_t size_B);
/* The process is about to fork: the same for all private memory that the child would get. */
void kern_user_memory_forks(void);

/* Sets shim/'s functions, called with the kernel lock held: `opened` records a new descriptor with its hold,
 * `find` returns a descriptor for inode. */
void kern_set_hooks(void (*opened)(int fd, struct kern_hold *hold), int (*find)(const struct kern_inode *inode));

/* --- for tests --- */
uint64_t kern_ioctl_count(void);
uint64_t kern_ioctl_count_nr(unsigned nr);
/* The n-th call from now (of number nr; any: -1) fails with error, a positive errno; n 0 forgets. */
void kern_inject(int nr, uint64_t n, int error);
/* Every call fails with a chance of ppm parts of a million, until the next plan; 0 forgets. */
void kern_inject_chance(int nr, uint32_t ppm, int error);
#define KERN_PPM_ALL 1000000u
/* Planned events besides failures. */
enum kern_event {
	KERN_EVICT,      /* a CS first moves an idle buffer out of VRAM */
	KERN_SPILL,      /* a new buffer does not fit in VRAM and is placed in GTT */
	KERN_RESET,      /* a CS finds that the device was reset, its VRAM lost */
	KERN_LATE,       /* a CS returns when its job may have run for a while */
	KERN_FAULT_LATE, /* a VM fault is recorded after the job's fence */
	KERN_FAULT_LOST, /* a VM fault is not recorded */
	KERN_EVENTS,
};
/* Plans an event: the n-th occasion from now (0: none), and each occasion with a chance of ppm parts of a million.
 */
void kern_inject_plan(enum kern_event event, uint64_t n, uint32_t ppm);
/* Seeds the generator that chances are drawn from. */
void kern_inject_seed(uint64_t seed);
/* The name of an ioctl, or NULL; -1: no ioctl has that name. */
const char *kern_ioctl_name(unsigned nr);
int kern_ioctl_number(const char *name);
uint64_t kern_live_count(unsigned kind); /* enum kern_kind of state.h */
/* Number of pages of userptr BOs that CS ioctls of the run have looked up: a CS looks up all pages of each such BO
 * that it lists. */
uint64_t kern_userptr_pages(void);
/* Loss of VRAM by a reset; removal of the device. */
int kern_inject_reset(unsigned device);
int kern_inject_unplug(unsigned device);
/* Resets the message limit, as five quiet seconds do: ten messages are printed again (fault.c). */
void kern_quiet_seconds(void);

#endif
