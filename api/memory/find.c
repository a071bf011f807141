/* The table of allocations by address, and its look-up. */
#include <stdlib.h>

#include "drv/lock.h"
#include "api/memory/memory.h"

/* A registered range lies within no other; variables of one code object may overlap. */
static struct {
	struct drv_rwlock lock;
	struct vm_tree tree;
	uint64_t last_id;
	_Atomic uint64_t changes; /* counts changes of the tree and its entries; written with the lock */
} memories = {.lock = DRV_RWLOCK(DRV_RANK_HIP_MEMORY), .changes = 1};

static void change_begin(void)
{
	drv_rwlock_wrlock(&memories.lock);
}

static void change_end(void)
{
	atomic_fetch_add_explicit(&memories.changes, 1, memory_order_release);
	drv_rwlock_unlock(&memories.lock);
}

/* --- look-up ---------------------------------------------------------------------------------- */

/* An allocation that the thread has found, and may use again until there is a change. */
struct found {
	uint64_t changes; /* value of memories.changes then; 0: none yet */
	struct hip_memory memory;
};
#define FOUND_SHIFT 4u /* log2 of the places, by a hash of the page */

static _Thread_local void *found_memory __attribute__((tls_model("initial-exec")));

static inline struct found *found_place(struct found *all, uintptr_t address)
{
	return &all[(address >> 12) * 0x9e3779b97f4a7c15u >> (64 - FOUND_SHIFT)];
}

static struct hip_memory *find_locked(uintptr_t address)
{
	struct vm_node *node = vm_tree_next(&memories.tree, NULL, address, address + 1);

	return node ? vm_container(node, struct hip_memory, node) : NULL;
}

__attribute__((noinline)) static bool find_in_tree(const void *address, struct hip_memory *memory)
{
	struct found *all = hip_thread_memory(&found_memory, sizeof(*all) << FOUND_SHIFT);
	const struct hip_memory *found;

	drv_rwlock_rdlock(&memories.lock);
	found = find_locked((uintptr_t)address);
	if (found)
		*memory = *found;
	if (found && all)
		*found_place(all, (uintptr_t)address) =
			(struct found){atomic_load_explicit(&memories.changes, memory_order_relaxed), *found};
	drv_rwlock_unlock(&memories.lock);
	return found;
}

bool hip_memory_find(const void *address, struct hip_memory *memory)
{
	const uintptr_t at = (uintptr_t)address;
	bool (*find)(const void *address, struct hip_memory *memory);
	const struct found *f = found_memory;

	if (__builtin_expect(f != NULL, 1)) {
		f = found_place(found_memory, at);
		if (f->changes == atomic_load_explicit(&memories.changes, memory_order_acquire) &&
		    at - f->memory.node.lo < f->memory.node.hi - f->memory.node.lo) {
			*memory = f->memory;
			return true;
		}
	}
	if (at == UINTPTR_MAX)
		return false;
	find = atomic_load_explicit(&hip_memory_hooks.find, memory_order_acquire);
	return (find && find(address, memory)) || find_in_tree(address, memory);
}

void hip_memory_set_sync(const void *address, bool sync)
{
	struct hip_memory *found;

	change_begin();
	found = find_locked((uintptr_t)address);
	if (found)
		found->sync = sync;
	change_end();
}

/* Only memory of hipMemMap() can lack access. */
static bool is_mapped_closed(const void *address, hsa_agent_t agent)
{
	hsa_access_permission_t permission;

	return !hsa_amd_vmem_get_access((void *)(uintptr_t)address, &permission, agent) &&
	       permission != HSA_ACCESS_PERMISSION_RW;
}

/* Each mapping has an access of its own. */
bool hip_mapping_is_closed(const struct hip_memory *m, const void *address, size_t size_B)
{
	const hsa_agent_t agent = hip.device[m->device].agent;
	struct hip_memory mapping = *m;
	const char *at = address;

	for (;;) {
		const uint64_t here_B = mapping.node.hi - (uintptr_t)at;

		if (is_mapped_closed(at, agent))
			return true;
		if (size_B <= here_B)
			return false;
		size_B -= here_B;
		at += here_B;
		if (!hip_memory_find(at, &mapping) || !hip_memory_is_mapped(&mapping))
			return false;
	}
}

bool hip_mappings_cover(const struct hip_memory *memory, const void *address, size_t size_B)
{
	uint64_t at = (uintptr_t)address, hi = memory->node.hi;
	const struct hip_memory *next;

	drv_rwlock_rdlock(&memories.lock);
	while (size_B > hi - at) {
		next = find_locked(hi);
		if (!next || !hip_memory_is_mapped(next))
			break;
		hi = next->node.hi;
	}
	drv_rwlock_unlock(&memories.lock);
	return size_B <= hi - at;
}

/* --- changes ---------------------------------------------------------------------------------- */

hipError_t hip_memories_add(const struct hip_memory *like)
{
	struct hip_memory *memory = malloc(sizeof(*memory));
	bool taken;

	if (!memory)
		return hipErrorOutOfMemory;
	*memory = *like;
	memory->node.lo = (uintptr_t)(like->base ? like->base : like->gpu_base);
	memory->node.hi = memory->node.lo + like->size_B;
	change_begin();
	taken = like->end && vm_tree_next(&memories.tree, NULL, memory->node.lo, memory->node.hi);
	if (!taken) {
		memory->id = ++memories.last_id;
		vm_tree_insert(&memories.tree, &memory->node);
	}
	change_end();
	if (taken)
		free(memory);
	return taken ? hipErrorInvalidValue : hipSuccess;
}

struct hip_memory *hip_memories_take(const void *address, unsigned kinds, bool ours)
{
	const uintptr_t lo = (uintptr_t)address;
	struct hip_memory *taken = NULL;

	change_begin();
	for (struct vm_node *n = NULL; !taken && (n = vm_tree_next(&memories.tree, n, lo, lo + 1));) {
		struct hip_memory *m = vm_container(n, struct hip_memory, node);

		if (m->node.lo == lo && kinds >> m->kind & 1 && m->ours == ours)
			taken = m;
	}
	if (taken)
		vm_tree_remove(&memories.tree, &taken->node);
	change_end();
	return taken;
}

static struct hip_memory *next_locked(const struct hip_memory *memory)
{
	struct vm_node *node = vm_tree_next(&memories.tree, memory ? &memory->node : NULL, 0, UINT64_MAX);

	return node ? vm_container(node, struct hip_memory, node) : NULL;
}

static bool is_freed_by_reset(const struct hip_memory *memory, const struct hip_device *device)
{
	return memory->device == device->index && memory->kind != HIP_MEMORY_REGISTERED && !memory->ours;
}

struct hip_memory *hip_memories_take_of(const struct hip_device *device)
{
	struct hip_memory *memory = NULL;

	change_begin();
	do
		memory = next_locked(memory);
	while (memory && !is_freed_by_reset(memory, device));
	if (memory)
		vm_tree_remove(&memories.tree, &memory->node);
	change_end();
	return memory;
}

void hip_memories_each(void (*fn)(const struct hip_memory *memory, void *arg), void *arg)
{
	drv_rwlock_rdlock(&memories.lock);
	for (const struct hip_memory *m = next_locked(NULL); m; m = next_locked(m))
		fn(m, arg);
	drv_rwlock_unlock(&memories.lock);
}

bool hip_memories_overlap(const void *ptr, size_t size_B, bool *again)
{
	const uintptr_t lo = (uintptr_t)ptr;
	bool any = false;

	*again = false;
	drv_rwlock_rdlock(&memories.lock);
	for (struct vm_node *n = NULL; (n = vm_tree_next(&memories.tree, n, lo, lo + size_B));) {
		const struct hip_memory *m = vm_container(n, struct hip_memory, node);

		if (m->kind == HIP_MEMORY_REGISTERED && m->base == ptr)
			*again = true;
		else
			any = true;
	}
	drv_rwlock_unlock(&memories.lock);
	return any;
}
