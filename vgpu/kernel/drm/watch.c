#include <signal.h>
#include <stdio.h>
#include "vgpu/kernel/drm/watch.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

#define HIGH_FD 768 /* above the numbers that clients close or reuse */

/* This process's thread. Guarded by the kernel lock. */
static struct {
	bool started, running, stop;
	pthread_t thread;
	struct kern_wait *sleep; /* borrowed from the thread while it sleeps, to wake it */
} watcher;

static struct kern_list *own_watches(void)
{
	return &kern->proc[kern_local.slot].watches;
}

/* --- one watch --- */

static void watch_free(struct kern_watch *w)
{
	kern_list_del(&w->link);
	if (w->syncobj)
		w->syncobj->watched--;
	kern_syncobj_put(w->syncobj);
	kern_fence_put(w->fence);
	kern_free(w);
}

static void signal_fd(int fd)
{
	uint64_t one = 1;

	sys_call6(SYS_write, fd, (long)&one, sizeof(one), 0, 0, 0);
}

static bool still_the_same(const struct kern_watch *w)
{
	struct stat st;

	return !sys_fstat(w->fd, &st) && st.st_dev == w->dev && st.st_ino == w->ino;
}

static bool is_done(struct kern_watch *w)
{
	if (!w->fence)
		w->fence = kern_syncobj_peek(w->syncobj, w->point);
	return w->fence && (w->available || w->fence->signalled);
}

/* A watch does not keep its syncobj (Linux drm_syncobj_free()): without a handle or a descriptor nothing can signal it. */
static bool is_abandoned(const struct kern_watch *w)
{
	return w->syncobj && w->syncobj->refs == w->syncobj->watched;
}

/* Signals the descriptors of fences that are done, and counts the others. */
static unsigned look_at_all(void)
{
	struct kern_list *pos, *tmp;
	unsigned left = 0;

	kern_list_each(pos, tmp, own_watches()) {
		struct kern_watch *w = kern_entry(pos, struct kern_watch, link);
		bool abandoned = is_abandoned(w);

		if (!abandoned && !is_done(w)) {
			left++;
			continue;
		}
		if (still_the_same(w)) {
			if (!abandoned)
				signal_fd(w->fd);
			sys_close(w->fd);
		}
		watch_free(w);
	}
	return left;
}

/* --- the thread --- */

static void sleep_on_all(struct kern_wait *wait)
{
	struct kern_list *pos, *tmp;

	kern_list_each(pos, tmp, own_watches()) {
		struct kern_watch *w = kern_entry(pos, struct kern_watch, link);

		if (w->fence)
			kern_wait_on(wait, &w->fence->waitq);
		if (w->syncobj)
			kern_wait_on(wait, &w->syncobj->waitq);
	}
	watcher.sleep = wait;
	kern_wait_sleep(wait, INT64_MAX);
	watcher.sleep = NULL;
}

static void *watcher_main(void *arg)
{
	unsigned left;

	(void)arg;
	kern_lock();
	while (!watcher.stop && (left = look_at_all())) {
		struct kern_wait *wait = kern_wait_begin(2 * left);

		if (!wait) {
			vgpu_log("no memory to wait for %u descriptors' fences: they are never told", left);
			break;
		}
		sleep_on_all(wait);
		kern_wait_end(wait);
	}
	watcher.running = false;
	kern_unlock();
	return NULL;
}

static void watcher_wake(void)
{
	if (!watcher.sleep)
		return;
	atomic_fetch_add(&watcher.sleep->word, 1);
	kern_futex_wake(&watcher.sleep->word);
}

/* A client's signals are not for the thread. -ENODEV: the process exits, and the thread of another one that still runs
 * would not be ended any more. */
static int watcher_start(void)
{
	sigset_t all, before;
	int r;

	if (kern_local.leaving)
		return -ENODEV;
	if (watcher.running) {
		watcher_wake();
		return 0;
	}
	if (watcher.started) /* the thread has nothing left to do but return */
		pthread_join(watcher.thread, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&watcher.thread, NULL, watcher_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	watcher.started = watcher.running = !r;
	watcher.stop = false;
	return r ? -ENOMEM : 0;
}

void kern_watch_stop(void)
{
	bool started;

	kern_lock();
	started = watcher.started;
	watcher.stop = true;
	watcher.started = false;
	watcher_wake();
	kern_unlock();
	if (started)
		pthread_join(watcher.thread, NULL);
	kern_lock();
	for (struct kern_list *pos = own_watches()->next; pos != own_watches(); pos = pos->next)
		if (still_the_same(kern_entry(pos, struct kern_watch, link)))
			sys_close(kern_entry(pos, struct kern_watch, link)->fd);
	kern_watch_proc_gone(&kern->proc[kern_local.slot]);
	kern_unlock();
}

void kern_watch_forked(void)
{
	memset(&watcher, 0, sizeof(watcher));
}

void kern_watch_proc_gone(struct kern_proc *proc)
{
	while (!kern_list_empty(&proc->watches))
		watch_free(kern_entry(proc->watches.next, struct kern_watch, link));
}

/* --- what is watched --- */

/* Takes over fd and the references of `what`, also when it fails. */
static int watch_add(const struct kern_watch *what)
{
	struct kern_watch *w = kern_alloc(sizeof(*w));
	struct stat st;
	int r = w ? sys_fstat(what->fd, &st) : -ENOMEM;

	if (w) {
		*w = *what;
		kern_list_init(&w->link);
		if (w->syncobj)
			w->syncobj->watched++;
	}
	if (!r) {
		w->dev = st.st_dev;
		w->ino = st.st_ino;
		kern_list_add_tail(own_watches(), &w->link);
		r = watcher_start();
	}
	if (!r)
		return 0;
	sys_close(what->fd);
	if (w) {
		watch_free(w);
		return r;
	}
	kern_syncobj_put(what->syncobj);
	kern_fence_put(what->fence);
	return r;
}

/* Moves fd up out of the client's way; where there is no room, it stays. */
static int move_fd_high(int fd)
{
	long up = sys_call6(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_FD, 0, 0, 0);

	if (up < 0)
		return fd;
	sys_close(fd);
	return (int)up;
}

int kern_watch_pipe(struct kern_fence *f, bool cloexec, int *fd)
{
	int end[2];
	int r = (int)sys_call6(SYS_pipe2, (long)end, (cloexec ? O_CLOEXEC : 0) | O_NONBLOCK, 0, 0, 0, 0);

	if (r < 0)
		return r;
	if (f->signalled) { /* without a writer it stays readable for ever */
		signal_fd(end[1]);
		sys_close(end[1]);
	} else {
		r = watch_add(&(struct kern_watch){.fence = kern_fence_get(f), .fd = move_fd_high(end[1])});
	}
	if (r)
		sys_close(end[0]);
	else
		*fd = end[0];
	return r;
}

/* A copy of the client's eventfd: -EBADF; -EINVAL when it is something else. */
static int take_eventfd(int fd)
{
	static const char eventfd[] = "anon_inode:[eventfd]";
	char path[32], link[sizeof(eventfd)];
	long n;

	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	n = sys_call6(SYS_readlinkat, AT_FDCWD, (long)path, (long)link, sizeof(link), 0, 0);
	if (n < 0)
		return -EBADF;
	if (n != sizeof(eventfd) - 1 || memcmp(link, eventfd, sizeof(eventfd) - 1))
		return -EINVAL;
	n = sys_call6(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_FD, 0, 0, 0);
	return (int)(n == -EINVAL ? sys_call6(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3, 0, 0, 0) : n);
}

int kern_syncobj_eventfd_ioctl(struct kern_file *file, void *arg)
{
	const struct uapi_syncobj_eventfd *args = arg;
	struct kern_watch w = {.point = args->point};
	struct kern_syncobj *s;

	if ((args->flags & ~(uint32_t)DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE) || args->pad)
		return -EINVAL;
	s = kern_syncobj_find(file, args->handle);
	if (!s)
		return -ENOENT;
	w.fd = take_eventfd(args->fd);
	if (w.fd < 0)
		return w.fd;
	w.available = args->flags;
	w.syncobj = kern_syncobj_get(s);
	if (!is_done(&w))
		return watch_add(&w);
	signal_fd(w.fd);
	sys_close(w.fd);
	kern_syncobj_put(w.syncobj);
	kern_fence_put(w.fence);
	return 0;
}
