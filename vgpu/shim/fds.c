/* Descriptors of this process that belong to the virtual GPU, each with its hold. A descriptor closed past the
 * shim (fclose, a raw system call) leaves a stale entry, which is removed when its number is used again.
 *
 * A child of vfork() has this memory, one of _Fork() or of a raw system call a copy, and both have descriptors of their own: what
 * they close and copy before an exec changes no entry, whose hold is the parent's. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"

#define CHUNK  1024
#define CHUNKS 1024 /* up to a million descriptors, Linux's default hard limit */

typedef _Atomic(struct kern_hold *) hold_slot;
static _Atomic(hold_slot *) chunks[CHUNKS];

/* The place for fd; with `make` it creates a missing one. */
static hold_slot *slot_of(int fd, bool make)
{
	hold_slot *chunk, *expected = NULL;

	if (fd < 0 || fd >= CHUNK * CHUNKS)
		return NULL;
	chunk = atomic_load(&chunks[fd / CHUNK]);
	if (!chunk && make) {
		chunk = calloc(CHUNK, sizeof(*chunk));
		if (chunk && !atomic_compare_exchange_strong(&chunks[fd / CHUNK], &expected, chunk)) {
			free(chunk);
			chunk = expected;
		}
	}
	return chunk ? &chunk[fd % CHUNK] : NULL;
}

void shim_fd_opened(int fd, struct kern_hold *hold)
{
	hold_slot *slot = slot_of(fd, true);
	struct kern_hold *stale = slot ? atomic_exchange(slot, hold) : hold;

	if (stale)
		kern_hold_stale(stale);
}

struct kern_hold *shim_fd_hold(int fd)
{
	hold_slot *slot = slot_of(fd, false);

	return slot ? atomic_load(slot) : NULL;
}

struct kern_hold *shim_fd_take(int fd)
{
	hold_slot *slot = slot_of(fd, false);

	return slot && atomic_load(slot) && shim_run_is_member() ? atomic_exchange(slot, NULL) : NULL;
}

static void set_hold(int fd, struct kern_hold *hold)
{
	hold_slot *slot = slot_of(fd, true);
	struct kern_hold *stale = slot ? atomic_exchange(slot, hold) : hold;

	if (stale)
		kern_hold_release(stale);
}

/* Finds the hold by the descriptor itself, because another thread may have closed a hold meanwhile. */
void shim_fd_adopt(int fd)
{
	struct kern_hold *hold;
	struct stat st;

	if (sys_fstat(fd, &st) || !shim_dev_is_ours(st.st_dev) || !shim_run_is_member())
		return;
	hold = kern_fd_hold(st.st_dev, st.st_ino);
	if (hold)
		set_hold(fd, hold);
}

void shim_fd_copied(int from, int to)
{
	if (shim_fd_hold(from))
		shim_fd_adopt(to);
	else if (shim_fd_hold(to) && shim_run_is_member())
		set_hold(to, NULL);
}

void shim_fd_adopt_all(void)
{
	DIR *dir = opendir("/proc/thread-self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && !shim_run_owns(fd) && !shim_fd_hold(fd))
			shim_fd_adopt(fd);
	}
	if (dir)
		closedir(dir);
}

int shim_fd_find(const struct kern_inode *inode)
{
	for (int c = 0; c < CHUNKS; c++) {
		hold_slot *chunk = atomic_load(&chunks[c]);

		for (int i = 0; chunk && i < CHUNK; i++) {
			struct kern_hold *hold = atomic_load(&chunk[i]);

			if (hold && kern_hold_is(hold, inode))
				return c * CHUNK + i;
		}
	}
	return -1;
}

void shim_fd_forget_range(unsigned first, unsigned last)
{
	for (unsigned c = first / CHUNK; c < CHUNKS && c <= last / CHUNK; c++) {
		if (!atomic_load(&chunks[c]))
			continue;
		for (unsigned i = 0; i < CHUNK; i++) {
			unsigned fd = c * CHUNK + i;
			struct kern_hold *hold = fd >= first && fd <= last ? shim_fd_take((int)fd) : NULL;

			if (hold)
				kern_hold_release(hold);
		}
	}
}

void shim_fd_clear(void)
{
	for (unsigned c = 0; c < CHUNKS; c++)
		free(atomic_exchange(&chunks[c], NULL));
}

void shim_fd_each(shim_visit *visit)
{
	for (unsigned c = 0; c < CHUNKS; c++) {
		hold_slot *chunk = atomic_load(&chunks[c]);

		for (unsigned i = 0; chunk && i < CHUNK; i++) {
			struct kern_hold *hold = atomic_load(&chunk[i]), *after;

			after = hold ? visit(c * CHUNK + i, hold) : NULL;
			if (after != hold)
				atomic_store(&chunk[i], after);
		}
	}
}
