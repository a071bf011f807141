/* Interprocess events: a page that all processes have mapped and registered for their GPUs.
 *
 * Records are numbered. A record that is reached writes its number to its slot, by the GPU, so that a wait is for
 * one record, and not for later ones, which may depend on work after the wait. When the process that recorded ends
 * before the record is reached, the record counts as reached, like the kernel's fences of the work of a process
 * that has ended. A record that was refused has taken a number, too: it counts as reached when the record before it
 * is.
 *
 * The page is an anonymous file, which other processes open through /proc/PID/fd: the kernel checks their
 * permission, and nothing is left when processes end. The file cannot shrink, so that reading the page cannot
 * fault.
 */
#include "drv/cancel.h"
#include "drv/file.h"
#include "drv/lock.h"
#include "api/exec/event_shared.h"
#include "api/exec/value.h"
#include "api/stream/point.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "drv/process.h"

#define PAGE_B      4096
#define SLOTS       32u /* records that may be unfinished at a time, as in CLR */
#define SEALS       (F_SEAL_SHRINK | F_SEAL_GROW)
#define NAP_MAX_ns  1000000
#define HANDLE_MARK 0x74686576u
#define PID_BITS    22 /* the kernel's PID_MAX_LIMIT */
#define RECORDS_MAX (UINT64_MAX >> PID_BITS)

struct page {
	uint64_t key;
	_Atomic uint64_t records;        /* the last record, or one before it whose successor has its maker */
	_Atomic uint64_t reached[SLOTS]; /* the last reached record of each slot */
	/* The last record of each slot, and the process that made it; process 0: the record was refused. This store makes
	 * the record: a process that is killed has made it with its id, or not at all. */
	_Atomic uint64_t maker[SLOTS];
};
_Static_assert(sizeof(struct page) <= PAGE_B, "a page");

/* Operations of a stream that use the page. */
struct user {
	struct user *next;
	struct hip_point point; /* owned: reached when the operations have ended */
};

struct hip_shared {
	struct page *page; /* owned: the mapping */
	char *gpu_page;    /* owned: the GPU address */
	int fd;            /* owned; -1: another process made the event */
	uint64_t key;
	struct hip_shared *next; /* in freed_users */
	struct drv_lock lock;    /* guards `users`; inside a stream's */
	struct user *users;      /* owned */
};

/* Freed events whose page is still used by operations; freed when another is made or freed. */
static struct {
	struct drv_mutex lock; /* guards `list` */
	struct hip_shared *list;
} freed_users = {.lock = DRV_MUTEX(DRV_RANK_HIP_EVENTS_FREED)};

/* Contents of the program's 64 bytes. */
struct handle {
	uint32_t point;
	int32_t process, fd;
	uint32_t zero;
	uint64_t key;
};
_Static_assert(sizeof(struct handle) <= sizeof(hipIpcEventHandle_t), "a handle has room for it");

/* --- the page --------------------------------------------------------------------------------- */

/* Maps the page. Takes over `fd`, unless it fails. */
static hipError_t page_map(int fd, struct hip_shared **out)
{
	struct hip_shared *shared = calloc(1, sizeof(*shared));
	hsa_agent_t agents[HIP_DEVICES_MAX];
	void *page, *gpu;

	if (!shared)
		return hipErrorOutOfMemory;
	drv_lock_set_rank(&shared->lock, DRV_RANK_HIP_EVENT_SHARED);
	for (unsigned i = 0; i < hip.devices; i++)
		agents[i] = hip.device[i].agent;
	page = mmap(NULL, PAGE_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED ||
	    hsa_amd_memory_lock_to_pool(page, PAGE_B, agents, (int)hip.devices, hip.host_fine, 0, &gpu)) {
		if (page != MAP_FAILED)
			munmap(page, PAGE_B);
		free(shared);
		return hipErrorOutOfMemory;
	}
	shared->page = page;
	shared->gpu_page = gpu;
	shared->fd = fd;
	*out = shared;
	return hipSuccess;
}

hipError_t hip_shared_make(struct hip_shared **out)
{
	DRV_HOLD_CANCEL;
	int fd = drv_file_memory("hip-event", PAGE_B);
	uint64_t key;
	hipError_t r;

	if (fd < 0)
		return hipErrorOutOfMemory;
	r = fcntl(fd, F_ADD_SEALS, SEALS) || getrandom(&key, sizeof(key), 0) != sizeof(key) ? hipErrorOutOfMemory
											    : page_map(fd, out);
	if (r) {
		close(fd);
		return r;
	}
	(*out)->key = (*out)->page->key = key;
	return hipSuccess;
}

static void drop_users(struct hip_shared *shared)
{
	for (struct user **at = &shared->users, *user; (user = *at);) {
		if (!hip_point_is_completed(&user->point)) {
			at = &user->next;
			continue;
		}
		*at = user->next;
		hip_point_put(&user->point);
		free(user);
	}
}

/* Adds a user that ends with the stream's last operation. Between hip_stream_begin() and hip_stream_done(). */
static void add_user(struct hip_shared *shared, struct user *user, struct hip_stream *s)
{
	user->point = hip_stream_point(s);
	drv_lock(&shared->lock);
	drop_users(shared);
	user->next = shared->users;
	shared->users = user;
	drv_unlock(&shared->lock);
}

static void page_unmap(struct hip_shared *shared)
{
	hsa_amd_memory_unlock(shared->page);
	munmap(shared->page, PAGE_B);
	free(shared);
}

static void freed_reap(void)
{
	drv_mutex_lock(&freed_users.lock);
	for (struct hip_shared **at = &freed_users.list, *shared; (shared = *at);) {
		drop_users(shared);
		if (shared->users) {
			at = &shared->next;
			continue;
		}
		*at = shared->next;
		page_unmap(shared);
	}
	drv_mutex_unlock(&freed_users.lock);
}

void hip_shared_free(struct hip_shared *shared)
{
	DRV_HOLD_CANCEL;

	if (!shared)
		return;
	if (shared->fd >= 0)
		close(shared->fd);
	drv_mutex_lock(&freed_users.lock);
	shared->next = freed_users.list;
	freed_users.list = shared;
	drv_mutex_unlock(&freed_users.lock);
	freed_reap();
}

/* --- handles ---------------------------------------------------------------------------------- */

hipError_t hip_shared_handle(const struct hip_shared *shared, hipIpcEventHandle_t *out)
{
	const struct handle handle = {
		.point = HANDLE_MARK, .process = getpid(), .fd = shared->fd, .key = shared->key};

	if (shared->fd < 0)
		return hipErrorInvalidConfiguration;
	memset(out, 0, sizeof(*out));
	memcpy(out, &handle, sizeof(handle));
	return hipSuccess;
}

/* Opens the file of the handle. The descriptor's number may be another file's by then, so the contents are
 * checked. */
static int open_page(const struct handle *handle)
{
	DRV_HOLD_CANCEL;
	char path[64];
	uint64_t key = 0;
	int fd, seals;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", handle->process, handle->fd);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals >= 0 && (seals & SEALS) == SEALS && lseek(fd, 0, SEEK_END) == PAGE_B &&
	    pread(fd, &key, sizeof(key), 0) == sizeof(key) && key == handle->key)
		return fd;
	close(fd);
	return -1;
}

hipError_t hip_shared_open(const hipIpcEventHandle_t *from, struct hip_shared **out)
{
	DRV_HOLD_CANCEL;
	struct handle handle;
	hipError_t r;
	int fd;

	memcpy(&handle, from, sizeof(handle));
	if (handle.point != HANDLE_MARK)
		return hipErrorInvalidValue;
	if (handle.process == getpid())
		return hipErrorInvalidContext;
	fd = open_page(&handle);
	if (fd < 0)
		return hipErrorInvalidValue;
	r = page_map(fd, out);
	close(fd);
	if (r)
		return r;
	(*out)->fd = -1;
	(*out)->key = handle.key;
	return hipSuccess;
}

/* --- records ---------------------------------------------------------------------------------- */

static uint64_t maker_make(uint64_t number, pid_t process)
{
	return number << PID_BITS | (uint64_t)process;
}

static uint64_t maker_read(const struct hip_shared *shared, uint64_t number)
{
	return atomic_load(&shared->page->maker[number % SLOTS]);
}

/* The process that made the record; 0: this one, or it has not stored its id yet. */
static pid_t maker_of(const struct hip_shared *shared, uint64_t number)
{
	uint64_t maker = maker_read(shared, number);
	pid_t process = (pid_t)(maker & ((1u << PID_BITS) - 1));

	return maker >> PID_BITS == number && process != getpid() ? process : 0;
}

/* The record itself, or the last one before it that was not refused. A slot is used again when its record is reached: all
 * records before it are then reached, too. */
static uint64_t accepted_record(const struct hip_shared *shared, uint64_t number)
{
	unsigned refused = 0;

	while (number && refused < SLOTS && maker_read(shared, number) == maker_make(number, 0)) {
		number--;
		refused++;
	}
	return number;
}

/* A slot with a later record is used again. A slot without the record, or a later one, is of a page that another process has
 * written over: no thread waits for what is not there. */
static bool has_reached(const struct hip_shared *shared, uint64_t number)
{
	uint64_t accepted = accepted_record(shared, number);
	pid_t maker;

	if (atomic_load_explicit(&shared->page->reached[accepted % SLOTS], memory_order_acquire) >= accepted ||
	    maker_read(shared, accepted) >> PID_BITS != accepted)
		return true;
	maker = maker_of(shared, accepted);
	return maker && drv_process_gone(maker);
}

/* Beyond RECORDS_MAX: another process has written over the page. */
static uint64_t last_record(const struct hip_shared *shared)
{
	for (;;) {
		uint64_t last = atomic_load(&shared->page->records);
		uint64_t next = maker_read(shared, last + 1) >> PID_BITS;

		if (next <= last)
			return last;
		if (next == last + 1)
			atomic_compare_exchange_strong(&shared->page->records, &last, next);
		/* The slot is used again when other processes have made records meanwhile. */
		else if (atomic_load(&shared->page->records) == last)
			return UINT64_MAX - 1;
	}
}

static hipError_t wait_for(const struct hip_shared *shared, uint64_t number)
{
	uint64_t nap_ns = NAP_MAX_ns / 64;
	hipError_t r = hipSuccess;

	while (!has_reached(shared, number) && !(r = hip_fault(hip_current()))) {
		drv_nap(nap_ns);
		if (nap_ns < NAP_MAX_ns)
			nap_ns *= 2;
	}
	return r;
}

static void record_skip(struct hip_shared *shared, uint64_t number)
{
	atomic_store(&shared->page->reached[number % SLOTS], number);
}

void hip_shared_refuse(struct hip_shared *shared, uint64_t number)
{
	atomic_store(&shared->page->maker[number % SLOTS], maker_make(number, 0));
}

/* False: another record has the number. */
static bool record_claim(struct hip_shared *shared, uint64_t number, pid_t process)
{
	uint64_t before = maker_read(shared, number);

	return before >> PID_BITS < number && atomic_compare_exchange_strong(&shared->page->maker[number % SLOTS],
									     &before, maker_make(number, process));
}

hipError_t hip_shared_next(struct hip_shared *shared, uint64_t *number)
{
	const pid_t process = getpid();
	hipError_t r;

	do {
		*number = last_record(shared) + 1;
		/* No event has that many records: another process has written over the page. */
		if (*number - 1 >= RECORDS_MAX)
			return hipErrorIllegalState;
		r = *number > SLOTS ? wait_for(shared, *number - SLOTS) : hipSuccess;
		if (r)
			return r;
	} while (!record_claim(shared, *number, process));
	/* The slot is reused: the previous record is marked as reached, since its maker's id is overwritten. */
	if (*number > SLOTS)
		record_skip(shared, *number - SLOTS);
	return hipSuccess;
}

static struct hip_value slot_value(const struct hip_shared *shared, uint64_t number, bool wait)
{
	return (struct hip_value){
		.address = shared->gpu_page + offsetof(struct page, reached[number % SLOTS]),
		.cpu = &shared->page->reached[number % SLOTS],
		.value = number,
		.mask = UINT64_MAX,
		.size_B = 8,
		.flags = hipStreamWaitValueGte,
		.wait = wait,
		.process = maker_of(shared, number),
	};
}

static hipError_t value_submit(struct hip_shared *shared, const struct hip_value *value, struct hip_stream *s)
{
	struct user *user = calloc(1, sizeof(*user));
	hipError_t r = user ? hip_value_put(s, value) : hipErrorOutOfMemory;

	if (r)
		free(user);
	else
		add_user(shared, user, s);
	return r;
}

hipError_t hip_shared_put(struct hip_shared *shared, uint64_t number, struct hip_stream *s)
{
	const struct hip_value value = slot_value(shared, number, false);

	return value_submit(shared, &value, s);
}

hipError_t hip_shared_after(struct hip_shared *shared, struct hip_stream *s)
{
	uint64_t number = accepted_record(shared, last_record(shared));
	const struct hip_value value = slot_value(shared, number, true);

	return has_reached(shared, number) ? hipSuccess : value_submit(shared, &value, s);
}

bool hip_shared_reached(const struct hip_shared *shared)
{
	return has_reached(shared, last_record(shared));
}

hipError_t hip_shared_wait(const struct hip_shared *shared)
{
	return wait_for(shared, last_record(shared));
}
