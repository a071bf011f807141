/* Intrusive doubly linked lists that live in the shared segment: plain pointers, valid in every process of the run.
 */
#ifndef VGPU_KERNEL_BASE_LIST_H
#define VGPU_KERNEL_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct kern_list {
	struct kern_list *next, *prev;
};

#define kern_entry(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
/* Walks; the current element may be removed. */
#define kern_list_each(pos, tmp, head)                                                                             \
	for ((pos) = (head)->next, (tmp) = (pos)->next; (pos) != (head); (pos) = (tmp), (tmp) = (pos)->next)

/* Orders two stores for a process that repairs the list after a process was killed between them: forwards a list
 * is whole at every moment. x86-64 keeps the order of stores, so only the compiler must. */
static inline void kern_list_step(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void kern_list_init(struct kern_list *l)
{
	l->next = l->prev = l;
}

static inline bool kern_list_empty(const struct kern_list *l)
{
	return l->next == l;
}

static inline void kern_list_add_tail(struct kern_list *head, struct kern_list *l)
{
	l->prev = head->prev;
	l->next = head;
	kern_list_step();
	head->prev->next = l;
	kern_list_step();
	head->prev = l;
}

static inline void kern_list_add(struct kern_list *head, struct kern_list *l)
{
	kern_list_add_tail(head->next, l);
}

/* Unlinks; the element is then an empty list, so that unlinking twice is harmless. */
static inline void kern_list_del(struct kern_list *l)
{
	l->prev->next = l->next;
	kern_list_step();
	l->next->prev = l->prev;
	kern_list_step();
	kern_list_init(l);
}

#endif
