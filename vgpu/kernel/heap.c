/* The segment's memory and its lock. */
#include "vgpu/kernel/core.h"
#include "vgpu/kernel/proc.h"

struct kern_root *kern;
struct kern_local kern_local = {.segment_fd = -1, .phys_fd = -1};

void kern_lock(void)
{
	int r = pthread_mutex_lock(&kern->lock);

	if (r != EOWNERDEAD)
		return;
	/* A process died inside an ioctl. The sweep undoes what its calls held (call.h) and frees what it was
	 * freeing; between two stores of a list, or of a VM's array, an element may be half in. Going on is better
	 * than stopping every other process of the run. */
	pthread_mutex_consistent(&kern->lock);
	kern->died_inside++;
	vgpu_log("a process died inside the kernel lock");
	kern_proc_sweep();
}

void kern_unlock(void)
{
	pthread_mutex_unlock(&kern->lock);
}

/* Size classes 32, 48, 64, 96, 128 ...; a freed block returns to its class and is never merged: the kinds of
 * objects are few, and arrays double. */
struct heap_head {
	uint32_t class;
	uint32_t in_use;
	struct heap_head *next;
};

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
	unsigned class = class_of(size_B + sizeof(struct heap_head));
	struct heap_head *head;

	if (class >= kern_array_len(kern->heap_free))
		return NULL;
	head = kern->heap_free[class];
	if (head) {
		kern->heap_free[class] = head->next;
		memset(head + 1, 0, size_B);
	} else {
		if (kern->heap_end - kern->heap_next < class_size(class))
			return NULL;
		head = (struct heap_head *)kern->heap_next;
		kern->heap_next += class_size(class);
	}
	head->class = class;
	head->in_use = 1;
	return head + 1;
}

void kern_free(void *p)
{
	struct heap_head *head;

	if (!p)
		return;
	head = (struct heap_head *)p - 1;
	assert(head->in_use);
	head->in_use = 0;
	head->next = kern->heap_free[head->class];
	kern->heap_free[head->class] = head;
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
	*room = want;
	return 0;
}
