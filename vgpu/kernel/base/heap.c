/* The segment's memory and its lock. */
#include <time.h>
#include "vgpu/kernel/base/heap.h"
#include "vgpu/rank.h"
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

struct kern_root *kern;
struct kern_local kern_local = {.segment_fd = -1, .phys_fd = -1};

/* Called with the lock. A process died inside an ioctl, perhaps between two stores of a list. The state is
 * repaired, then the sweep undoes the ioctls of the process (call.h) and frees the objects that it was freeing. */
static void take_over(void)
{
	pthread_mutex_consistent(&kern->lock);
	kern->died_inside++;
	vgpu_log("a process died inside the kernel lock");
	kern->repair_due = true;
	kern_local.sweep();
}

/* A thread that is woken to take the lock, and ends with its process before it has, loses the wake-up: if another thread
 * takes the lock meanwhile, neither Linux (handle_futex_death()) nor glibc, whose lock word then says that nobody waits,
 * wakes those that still sleep. So no sleep is longer than this. */
#define LOCK_SLEEP_NS 50000000

static int64_t real_time_ns(void)
{
	struct timespec t;

	sys_call6(SYS_clock_gettime, CLOCK_REALTIME, (long)&t, 0, 0, 0, 0);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Takes the lock that another thread has. pthread_mutex_clocklock() would have a clock that nobody sets, but ThreadSanitizer
 * does not know it. */
static int lock_sleep(void)
{
	int r;

	do {
		int64_t until_ns = real_time_ns() + LOCK_SLEEP_NS;
		const struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};

		r = pthread_mutex_timedlock(&kern->lock, &until);
	} while (r == ETIMEDOUT);
#ifdef __SANITIZE_THREAD__
	/* TSan's pthread_mutex_timedlock() takes EOWNERDEAD for a failure. */
	if (r == EOWNERDEAD)
		__tsan_mutex_post_lock(&kern->lock, __tsan_mutex_try_lock, 0);
#endif
	return r;
}

/* ThreadSanitizer's own fork handlers come before and after the shim's, which are registered first (shim/fork.c). Between them it
 * ignores mutexes but not accesses to memory, and would report each access of the shim's handlers as a race: the lock's order is
 * declared to it here as well. */
static void order_acquire(void)
{
#ifdef __SANITIZE_THREAD__
	__tsan_acquire(&kern->lock);
#endif
}

static void order_release(void)
{
#ifdef __SANITIZE_THREAD__
	__tsan_release(&kern->lock);
#endif
}

void kern_lock(void)
{
	int r;

	vgpu_rank_take(VGPU_RANK_KERNEL);
	r = pthread_mutex_trylock(&kern->lock);
	if (r == EBUSY)
		r = lock_sleep();
	order_acquire();
	if (r == EOWNERDEAD)
		take_over();
}

bool kern_trylock(void)
{
	int r = pthread_mutex_trylock(&kern->lock);

	if (r && r != EOWNERDEAD)
		return false;
	order_acquire();
	if (r == EOWNERDEAD)
		take_over();
	vgpu_rank_take(VGPU_RANK_KERNEL);
	return true;
}

void kern_unlock(void)
{
	order_release();
	pthread_mutex_unlock(&kern->lock);
	vgpu_rank_give(VGPU_RANK_KERNEL);
}

/* Size classes 32, 48, 64, 96, 128 ...; a freed block returns to its class and is never merged: the kinds of
 * objects are few, and arrays double. */
static size_t class_size(unsigned class)
{
	return (class & 1 ? 48ull : 32ull) << (class / 2);
}

static unsigned class_of(size_t size_B)
{
	unsigned class = 0;

	if (size_B > 32)
		class = 2 * (unsigned)(59 - __builtin_clzll(size_B - 1)) - 1;
	while (class_size(class) < size_B)
		class ++;
	return class;
}

void *kern_alloc(size_t size_B)
{
	unsigned class = class_of(size_B + sizeof(struct kern_head));
	struct kern_head *head;

	if (class >= kern_array_len(kern->heap_free))
		return NULL;
	head = kern->heap_free[class];
	if (head) {
		kern->heap_free[class] = head->next;
		memset(head + 1, 0, size_B);
	} else {
		if (kern->heap_end - kern->heap_next < class_size(class))
			return NULL;
		head = (struct kern_head *)kern->heap_next;
		head->class = class;
		kern_list_step(); /* below heap_next every block can be walked */
		kern->heap_next += class_size(class);
	}
	head->in_use = 1;
	return head + 1;
}

void kern_free(void *p)
{
	struct kern_head *head;

	if (!p)
		return;
	head = (struct kern_head *)p - 1;
	assert(head->in_use);
	head->in_use = 0;
	head->next = kern->heap_free[head->class];
	kern->heap_free[head->class] = head;
}

struct kern_head *kern_head_first(void)
{
	uint64_t first = KERN_SEGMENT_ADDR + kern_align(sizeof(*kern), KERN_PAGE);

	return first < kern->heap_next ? (struct kern_head *)first : NULL;
}

struct kern_head *kern_head_after(struct kern_head *head)
{
	uint64_t next = (uint64_t)head + class_size(head->class);

	return next < kern->heap_next ? (struct kern_head *)next : NULL;
}

void kern_heap_relist(void)
{
	memset(kern->heap_free, 0, sizeof(kern->heap_free));
	for (struct kern_head *head = kern_head_first(); head; head = kern_head_after(head)) {
		if (head->in_use)
			continue;
		head->next = kern->heap_free[head->class];
		kern->heap_free[head->class] = head;
	}
}

int kern_reserve(void *array, unsigned count, unsigned *room, size_t element_B)
{
	void **p = array, *bigger;
	unsigned want = *room ? *room * 2 : 8;

	if (count < *room)
		return 0;
	while (want <= count)
		want *= 2;
	bigger = kern_alloc(want * element_B);
	if (!bigger)
		return -ENOMEM;
	if (*room)
		memcpy(bigger, *p, *room * element_B);
	kern_free(*p);
	*p = bigger;
	kern_list_step();
	*room = want;
	return 0;
}
