/* fork: the child is a process of the run by itself, with holds of its own on the descriptors and mappings that it
 * inherits. The parent makes the child's holds before the fork, so that an object that the parent closes right
 * after the fork, or by its end, stays alive for the child.
 *
 * Lock order: a library may map memory under a lock that its own fork handlers take, so the map lock comes after
 * all such locks, and the handlers of this file are registered first: pthread_atfork() runs the first registered
 * prepare handler last, and the first registered parent and child handlers first. Libraries that the program is linked with
 * may register theirs before a constructor of this one runs, so the registration itself is this library's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"

/* The child's holds by ascending key. Guarded by the map lock, which is held around the fork. */
static struct bridge {
	uint64_t key;
	struct kern_hold *hold;
} *bridge;
static unsigned bridged, bridge_room, bridge_next;

/* The last fork of this thread: whether the run was active, and whether it made a child ready to join. */
static _Thread_local struct {
	bool active, ready;
	struct kern_child child;
} last_fork;

/* Makes a hold by the descriptor, not by its hold: another thread may be closing the descriptor. */
static struct kern_hold *hold_for_child(uint64_t key, struct kern_hold *hold)
{
	struct stat st;

	if (key >= SHIM_MAP_KEY)
		return kern_hold_copy(hold);
	return sys_fstat((int)key, &st) ? NULL : kern_fd_hold(st.st_dev, st.st_ino);
}

static struct kern_hold *bridge_add(uint64_t key, struct kern_hold *hold)
{
	struct kern_hold *copy;

	if (bridged == bridge_room) {
		unsigned more = bridge_room ? bridge_room * 2 : 64;
		struct bridge *bigger = realloc(bridge, more * sizeof(*bigger));

		if (!bigger)
			return hold;
		bridge = bigger;
		bridge_room = more;
	}
	copy = hold_for_child(key, hold);
	kern_hold_give(copy, &last_fork.child);
	bridge[bridged++] = (struct bridge){key, copy};
	return hold;
}

/* A descriptor or mapping that another thread of the parent opened or closed during the fork has no bridge, or no
 * entry. */
static struct kern_hold *bridge_take(uint64_t key, struct kern_hold *hold)
{
	(void)hold;
	while (bridge_next < bridged && bridge[bridge_next].key < key)
		kern_hold_release(bridge[bridge_next++].hold);
	if (bridge_next == bridged || bridge[bridge_next].key != key)
		return NULL;
	return bridge[bridge_next++].hold;
}

static void fork_prepare(void)
{
	last_fork.active = shim_active();
	if (!last_fork.active)
		return;
	shim_map_lock();
	bridged = bridge_next = 0;
	last_fork.ready = !kern_fork_prepare(&last_fork.child);
	if (!last_fork.ready)
		return;
	shim_fd_each(bridge_add);
	shim_map_each(bridge_add);
}

/* Also after a fork that failed: nobody has the guard then, and the next sweep reaps the child that never was. */
static void fork_parent(void)
{
	if (!last_fork.active)
		return;
	if (last_fork.ready)
		sys_close(last_fork.child.guard);
	shim_map_unlock();
}

static void fork_child(void)
{
	if (!last_fork.active)
		return;
	if (!last_fork.ready || kern_forked(&last_fork.child)) {
		fprintf(stderr, "vgpu: the child %d cannot join the run\n", (int)getpid());
		atomic_store(&shim_is_active, false);
	} else {
		shim_fd_each(bridge_take);
		shim_map_each(bridge_take);
		shim_run_forked();
	}
	shim_map_unlock();
}

/* What pthread_atfork() calls; it has no header. dso: whose handlers they are: they go when that is unloaded. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
extern void *__dso_handle;

/* Once, as the first of all. Without pthread_once(): ThreadSanitizer registers handlers of its own before it can intercept that. The first
 * call comes while libraries are loaded, by one thread. */
static void register_own(void)
{
	static atomic_flag registered = ATOMIC_FLAG_INIT;

	if (atomic_flag_test_and_set(&registered))
		return;
	if (SHIM_REAL(__register_atfork)(fork_prepare, fork_parent, fork_child, __dso_handle))
		fprintf(stderr, "vgpu: no memory for fork handlers: children cannot use the run\n");
}

SHIM_EXPORT int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso)
{
	register_own();
	return SHIM_REAL(__register_atfork)(prepare, parent, child, dso);
}

/* For forks of programs where nothing else is registered. */
__attribute__((constructor)) static void watch_forks(void)
{
	register_own();
}

SHIM_EXPORT pid_t fork(void)
{
	if (shim_active())
		kern_user_memory_forks();
	return SHIM_REAL(fork)();
}
