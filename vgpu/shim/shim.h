/* The shim: interposes functions of libc, and passes calls on the virtual devices to kernel/.
 *
 *   run    directory, segment and physical memory of the devices; member processes       run.c, tree.c, spec.c
 *   path   names under /dev/dri and /sys that the run's directory replaces               path.c
 *   fds    descriptors of this process that belong to the virtual GPU, with their holds  fds.c
 *   maps   address ranges that map buffers, with their holds                             maps.c
 *   proc   /proc/self/maps                                                               proc_maps.c
 *   wrap_* the libc functions
 *
 * Locks: maps have one mutex, fds are lock-free, the rest is immutable while a run is active. Lock order: locks of
 * the program's fork handlers, map lock, kernel lock.
 * While shim_active() is false, every wrapper is its libc function and a load. Thread safe throughout. */
#ifndef VGPU_SHIM_SHIM_H
#define VGPU_SHIM_SHIM_H

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "vgpu/kernel/kernel.h"

/* ThreadSanitizer's own start calls libc, and thereby the wrappers, before it can be called itself: wrappers must
 * not be instrumented on the path without a run. The functions that they call in a run are instrumented. */
#define SHIM_EARLY   __attribute__((no_sanitize("thread")))
#define SHIM_EXPORT  __attribute__((visibility("default"))) SHIM_EARLY
#define SHIM_DEVICES 16

/* --- the functions behind ours --- */

/* Resolved at first use. Races are harmless: all write the same address. */
SHIM_EARLY static inline void *shim_resolve(_Atomic(void *) *cache, const char *name)
{
	void *function = atomic_load_explicit(cache, memory_order_acquire);

	if (__builtin_expect(!function, 0)) {
		function = dlsym(RTLD_NEXT, name);
		atomic_store_explicit(cache, function, memory_order_release);
	}
	return function;
}

#define SHIM_REAL(name)                                                                                            \
	({                                                                                                         \
		static _Atomic(void *) cache_;                                                                     \
		(__typeof__(&name))shim_resolve(&cache_, #name);                                                   \
	})

/* --- cancellation of threads --- */

/* A call that the real kernel does without a cancellation point is none here either, although the virtual kernel waits and
 * writes by functions of libc: a canceled thread would end with the kernel's locks. */
SHIM_EARLY static inline int shim_cancel_hold(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}
SHIM_EARLY static inline void shim_cancel_restore(const int *before)
{
	pthread_setcancelstate(*before, NULL);
}
/* A declaration that holds cancellation to the end of its block. */
#define SHIM_HOLD_CANCEL                                                                                           \
	int cancel_before_ __attribute__((cleanup(shim_cancel_restore), unused)) = shim_cancel_hold()

/* --- sanitizers (sanitizer.c) --- */

/* Finds the runtime library of a sanitizer. Before a run becomes active. */
void shim_sanitizer_find(void);
/* Whether a sanitizer's runtime contains the code at that address. Its calls concern memory of its own, and it makes them with locks
 * held that a thread waits for which creates another thread, or reports a race: maybe the holder of the kernel lock. */
bool shim_in_sanitizer(const void *code);

/* --- run --- */

struct shim_config {
	unsigned count;
	struct kern_device_config device[SHIM_DEVICES];
};
/* Parses a SPEC; prints errors on stderr. 0 or -EINVAL. */
int shim_spec_parse(const char *spec, struct shim_config *config);
/* Plans the failures and events of TUFF_VGPU_INJECT: "ioctl=N:ENOMEM,cs=5%:EAGAIN,evict=10%,seed=7". Only the
 * creator of a run calls it, before others join. 0 or -EINVAL. */
int shim_inject_parse(const char *text);

extern _Atomic bool shim_is_active;
SHIM_EARLY static inline bool shim_active(void)
{
	return __builtin_expect(atomic_load_explicit(&shim_is_active, memory_order_acquire), 0);
}

/* The run's directory, which contains the replacements of paths from "/" on. Valid while active. */
const char *shim_root(void);
/* Builds the tree for these devices under root. */
int shim_tree_build(const char *root, const struct shim_config *config);
/* Removes a tree. Neither allocates nor locks: a handler of a signal may call _exit(). */
void shim_tree_remove(const char *root);
/* Builds KFD's topology in the tree, unless a process of the run has. While active. */
void shim_kfd_build(void);
/* Updates the files that show memory in use. While active. */
void shim_tree_refresh(void);
/* Is path, without links, the directory of a device, and of which? */
bool shim_tree_device(const char *path, unsigned *device);

int shim_run_create(const char *spec, const struct shim_config *config);
int shim_run_join(const char *dir);
void shim_run_leave(void);
/* Leaves the run at process exit while other threads may still use the devices: the last process removes the
 * directory, and the next process to sweep frees this one's objects. */
void shim_run_leave_in_haste(void);
/* In a forked child that is in the run. */
void shim_run_forked(void);
/* False in a child that runs no handlers of fork (vfork(), _Fork(), a raw system call): it acts for its parent. */
bool shim_run_is_member(void);
/* Is fd one that the run needs? Clients must not close it. */
bool shim_run_owns(int fd);
/* The lowest of them from first on; UINT_MAX: none. */
unsigned shim_run_next_owned(unsigned first);
/* A descriptor of the physical memory file. */
int shim_phys_fd(void);
/* st_dev of memfds, as which descriptors are made; sync files are pipes. */
uint64_t shim_memfd_dev(void);
/* Whether a descriptor with that st_dev may be the virtual GPU's. */
bool shim_dev_is_ours(uint64_t st_dev);

/* --- path --- */

/* The path to use for `path`: itself, or rewritten into buf (PATH_MAX). NULL with errno set: not there. */
const char *shim_path(const char *path, char *buf);
/* Redirects a path relative to a descriptor. The descriptor may be the host's "/" or "/sys", which the run does
 * not replace: paths below it must still reach the run's files. */
const char *shim_path_at(int dir, const char *path, char *buf);
/* Takes the run's directory off a path; returns the new length. */
size_t shim_path_strip(char *path, size_t length);
/* Whether the placeholder (dev, ino) is a device node's. */
bool shim_node(uint64_t dev, uint64_t ino, unsigned *node, bool *primary);
/* Remembers the placeholders; at joining. */
int shim_nodes_find(unsigned count);
/* Corrects st for a node or a descriptor of the virtual GPU. */
void shim_stat_fix(struct stat *st);
bool shim_rdev_of(uint64_t dev, uint64_t ino, unsigned *minor);
/* Target of the link /proc/self/fd/N, if N is a descriptor of the virtual GPU: its length, or -1. */
long shim_proc_link(const char *path, char *buf, size_t size_B);

/* --- proc --- */

/* Is it the file of this process's mappings, and is a buffer among them? */
bool shim_proc_maps(const char *path);
/* Opens a copy of it, in which a mapped buffer is a mapping of its device's render node. The descriptor, or -errno. */
int shim_proc_maps_open(bool cloexec);

/* --- fds --- */

void shim_fd_opened(int fd, struct kern_hold *hold); /* also replaces a stale entry */
int shim_fd_find(const struct kern_inode *inode);
struct kern_hold *shim_fd_hold(int fd); /* NULL: not the virtual GPU's. Borrowed while the descriptor is open */
struct kern_hold *shim_fd_take(int fd); /* removes it; the caller releases */
void shim_fd_copied(int from, int to);  /* after a dup */
void shim_fd_adopt(int fd);             /* for a descriptor made past the shim: by a message, an exec */
void shim_fd_adopt_all(void);
void shim_fd_clear(void); /* after the run was left: the holds are released already */
void shim_fd_forget_range(unsigned first, unsigned last);

/* --- maps --- */

/* [addr, addr+size_B) now maps what hold keeps (taken over). */
void shim_map_add(uint64_t addr, uint64_t size_B, struct kern_hold *hold);
/* Forgets a range that now maps something else, or nothing. */
void shim_map_drop(uint64_t addr, uint64_t size_B);
bool shim_map_any(void);
/* Whether a buffer is mapped at addr, and of which device: its first node. */
bool shim_map_node(uint64_t addr, unsigned *node);
void shim_map_clear(void);
/* Moves what maps old to new after an mremap. */
void shim_map_move(uint64_t from, uint64_t from_B, uint64_t to, uint64_t to_B);

/* --- fork (fork.c) --- */

/* For each entry, in ascending order of key: what visit returns takes its place. */
typedef struct kern_hold *shim_visit(uint64_t key, struct kern_hold *hold);
void shim_fd_each(shim_visit *visit);  /* key: the descriptor */
void shim_map_each(shim_visit *visit); /* key: SHIM_MAP_KEY and the index. With the map lock */
#define SHIM_MAP_KEY (1ull << 32)
void shim_map_lock(void);
void shim_map_unlock(void);

#endif
