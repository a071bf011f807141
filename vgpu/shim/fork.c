/* fork: the child is a process of the run by itself, with holds of its own on what it inherits.
 *
 * The parent makes the child's holds before the fork, so that nothing the parent closes right after it can vanish
 * under the child; the child takes them over. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <unistd.h>
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"

/* The child's holds by ascending key. Guarded by the map lock, which is held around the fork. */
static struct bridge {
	uint64_t key;
	struct kern_hold *hold;
} *bridge;
static unsigned bridged, bridge_room, bridge_next;

/* Asks the descriptor, not the hold: another thread may be closing it. */
static struct kern_hold *hold_for_child(uint64_t key, struct kern_hold *hold)
{
	struct stat st;

	if (key >= SHIM_MAP_KEY)
		return kern_hold_copy(hold);
	return sys_fstat((int)key, &st) ? NULL : kern_fd_hold(st.st_dev, st.st_ino);
}

static struct kern_hold *bridge_add(uint64_t key, struct kern_hold *hold)
{
	if (bridged == bridge_room) {
		unsigned more = bridge_room ? bridge_room * 2 : 64;
		struct bridge *bigger = realloc(bridge, more * sizeof(*bigger));

		if (!bigger)
			return hold;
		bridge = bigger;
		bridge_room = more;
	}
	bridge[bridged++] = (struct bridge){key, hold_for_child(key, hold)};
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
	hold = bridge[bridge_next++].hold;
	if (hold)
		kern_hold_adopt(hold);
	return hold;
}

void shim_fork_prepare(void)
{
	shim_map_lock();
	bridged = bridge_next = 0;
	shim_fd_each(bridge_add);
	shim_map_each(bridge_add);
}

void shim_fork_parent(bool failed)
{
	for (unsigned i = 0; failed && i < bridged; i++)
		kern_hold_release(bridge[i].hold);
	shim_map_unlock();
}

void shim_fork_child(void)
{
	if (kern_forked()) {
		fprintf(stderr, "vgpu: the child %d cannot join the run\n", (int)getpid());
		atomic_store(&shim_is_active, false);
	} else {
		shim_fd_each(bridge_take);
		shim_map_each(bridge_take);
		shim_run_forked();
	}
	shim_map_unlock();
}

SHIM_EXPORT pid_t fork(void)
{
	bool active = shim_active();
	pid_t pid;
	int error;

	if (!active)
		return SHIM_REAL(fork)();
	kern_user_memory_forks();
	shim_fork_prepare();
	pid = SHIM_REAL(fork)();
	error = errno;
	if (!pid)
		shim_fork_child();
	else
		shim_fork_parent(pid < 0);
	errno = error;
	return pid;
}
