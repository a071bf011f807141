#include "vgpu/host_time.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "vgpu/sys.h"

#define LOOK_NS     10000000u /* interval at which the times of threads are read */
#define THREADS_MAX 1024u     /* the times of further threads are not read */

struct thread {
	int id;
	struct vgpu_threads times;
};

/* Between two readings the clock runs at the rate of the last interval, in parts of a million. */
static _Atomic uint64_t look_ns, given_at_look_ns, rate_ppm = 1000000, latest_ns;
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct thread seen[THREADS_MAX];
static unsigned seen_count;
static pid_t seen_process;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t vgpu_host_time_of(uint64_t interval_ns, const struct vgpu_threads *did, unsigned processors)
{
	double interval = (double)interval_ns, ran = (double)did->ran_ns, wanted = ran + (double)did->ready_ns;

	if (wanted > interval * processors)
		wanted = interval * processors;
	if (ran >= wanted)
		return interval_ns;
	if (wanted > interval)
		return (uint64_t)(interval * ran / wanted);
	return (uint64_t)(interval - (wanted - ran));
}

/* --- looking at the threads; by system calls, for libc's functions may be the shim's --- */

static bool read_thread(int id, struct thread *thread)
{
	char path[64], text[96];
	long n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", id);
	n = sys_read_file(path, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = 0;
	thread->id = id;
	return sscanf(text, "%lu %lu", &thread->times.ran_ns, &thread->times.ready_ns) == 2;
}

/* Times of thread `id` at the last reading; 0 if the thread is new. /proc lists threads in the same order each
 * time, so the search begins at the same place. */
static struct vgpu_threads times_before(const struct thread *old, unsigned count, int id, unsigned hint)
{
	for (unsigned n = 0; n < count; n++)
		if (old[(hint + n) % count].id == id)
			return old[(hint + n) % count].times;
	return (struct vgpu_threads){0};
}

static uint64_t difference(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

static void add_thread(int id, const struct thread *old, unsigned old_count, struct vgpu_threads *did)
{
	struct thread *thread = &seen[seen_count];
	struct vgpu_threads was;

	if (seen_count == THREADS_MAX || !read_thread(id, thread))
		return;
	was = times_before(old, old_count, id, seen_count);
	did->ran_ns += difference(thread->times.ran_ns, was.ran_ns);
	did->ready_ns += difference(thread->times.ready_ns, was.ready_ns);
	seen_count++;
}

struct entry64 {
	uint64_t ino;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Sums the times of all threads since the last reading. */
static struct vgpu_threads read_threads(void)
{
	static struct thread old[THREADS_MAX];
	char room[4096] __attribute__((aligned(8)));
	struct vgpu_threads did = {0};
	unsigned old_count = seen_count;
	long n;
	int fd;

	memcpy(old, seen, old_count * sizeof(old[0]));
	seen_count = 0;
	fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && (n = sys_call6(SYS_getdents64, fd, (long)room, sizeof(room), 0, 0, 0)) > 0)
		for (const char *at = room; at < room + n;) {
			const struct entry64 *entry = (const void *)at;

			if (entry->name[0] != '.')
				add_thread(atoi(entry->name), old, old_count, &did);
			at += entry->length;
		}
	if (fd >= 0)
		sys_close(fd);
	return did;
}

static void advance_locked(uint64_t now)
{
	uint64_t interval = difference(now, atomic_load(&look_ns)), charge;
	struct vgpu_threads did;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	bool first =
		seen_process != getpid(); /* true in a forked child, too: the parent's thread times do not count */

	if (!interval) /* another thread read the times after this one's `now` */
		return;
	seen_process = getpid();
	if (first)
		seen_count = 0;
	did = read_threads();
	/* This thread may have lost its processor since `now`: `did` has what threads waited meanwhile, so no
	 * interval has that time. */
	atomic_store(&look_ns, now_ns());
	charge = first ? 0 : vgpu_host_time_of(interval, &did, processors > 0 ? (unsigned)processors : 1);
	atomic_store(&rate_ppm, first ? 1000000 : charge * 1000000 / interval);
	atomic_fetch_add(&given_at_look_ns, charge);
}

/* --- the clock --- */

uint64_t vgpu_host_time_ns(void)
{
	uint64_t now = now_ns(), given, last, since_look;

	if (difference(now, atomic_load(&look_ns)) >= LOOK_NS && !pthread_mutex_trylock(&looking)) {
		advance_locked(now);
		pthread_mutex_unlock(&looking);
	}
	/* The reading thread may lose its processor meanwhile: the rate holds for one interval at most. */
	since_look = difference(now, atomic_load(&look_ns));
	if (since_look > LOOK_NS)
		since_look = LOOK_NS;
	given = atomic_load(&given_at_look_ns) + since_look * atomic_load(&rate_ppm) / 1000000;
	last = atomic_load(&latest_ns);
	while (given > last && !atomic_compare_exchange_weak(&latest_ns, &last, given))
		;
	return given > last ? given : last;
}
