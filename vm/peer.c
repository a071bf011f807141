/* Finds out whether one GPU reaches another GPU's VRAM without moving it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "vm/internal.h"
#include "vm/peer.h"

/* The kernel allocates VRAM in blocks of 2 MiB, so the counters change in such steps. */
#define SCRATCH_B (2u << 20)
#define TRIALS    8

struct vm_peers {
	struct vm_peers *next; /* owned */
	char path[32];         /* the other device's node */
	enum vm_peer peer;
};

struct probe {
	struct vm *owner, *other;
	vm_submit_fn *submit;
	void *arg;
};

/* Compares the owner's counters before and after the other device uses the scratch buffer; -EAGAIN when the change
 * fits neither case. */
static int watch_move(const struct probe *p, const struct vm_mem *scratch, enum vm_peer *peer)
{
	struct drv_usage before, after;
	struct vm_mem *seen;
	uint32_t list;
	int r = vm_list(p->owner, &list);

	/* The kernel's lists keep buffers alive that were freed since the last submission, such as those of the
	 * last trial; update them first, so that none is freed during the measurement. */
	r = r ? r : vm_list(p->other, &list);
	r = r ? r : drv_usage_memory(p->owner->dev, &before);
	if (r)
		return r;
	r = vm_mem_share(p->other, scratch, &seen);
	if (r == -EINVAL || r == -ENODEV || r == -EPERM || r == -ENOSYS) {
		*peer = VM_PEER_NONE;
		return 0;
	}
	if (r)
		return r;
	r = p->submit(p->other, p->arg);
	r = r ? r : drv_usage_memory(p->owner->dev, &after);
	vm_mem_destroy(seen);
	if (r)
		return r;
	if (after.vram_B == before.vram_B && after.gtt_B == before.gtt_B)
		*peer = VM_PEER_DIRECT;
	else if (after.vram_B == before.vram_B - SCRATCH_B && after.gtt_B == before.gtt_B + SCRATCH_B)
		*peer = VM_PEER_SYSTEM;
	else
		return -EAGAIN;
	return 0;
}

static int run_trial(const struct probe *p, enum vm_peer *peer)
{
	struct vm_info info = {.size_B = SCRATCH_B, .kind = VM_VRAM, .flags = VM_STRICT};
	struct vm_mem *scratch;
	int r = vm_mem_create(p->owner, &info, &scratch);

	if (r)
		return r;
	r = watch_move(p, scratch, peer);
	vm_mem_destroy(scratch);
	return r;
}

static int run_trials(const struct probe *p, enum vm_peer *peer)
{
	enum vm_peer last = VM_PEER_NONE;
	unsigned agreed = 0;
	int r;

	for (unsigned i = 0; i < TRIALS && agreed < 2; i++) {
		r = run_trial(p, peer);
		if (r && r != -EAGAIN)
			return r;
		agreed = r ? 0 : agreed && *peer == last ? agreed + 1 : 1;
		last = *peer;
	}
	return agreed == 2 ? 0
			   : drv_fail(-EAGAIN, "other users of %s change its memory counters all the time",
				      p->owner->dev->node.path);
}

static int ask_and_keep(const struct probe *p, enum vm_peer *peer)
{
	struct vm_peers *entry = calloc(1, sizeof(*entry));
	int r;

	if (!entry)
		return drv_fail(-ENOMEM, "no host memory for a peer");
	r = run_trials(p, &entry->peer);
	if (r) {
		free(entry);
		return r;
	}
	memcpy(entry->path, p->other->dev->node.path, sizeof(entry->path));
	entry->next = p->owner->peers;
	p->owner->peers = entry;
	*peer = entry->peer;
	return 0;
}

static const struct vm_peers *find_locked(const struct vm *owner, const struct vm *other)
{
	const struct vm_peers *entry = owner->peers;

	while (entry && strcmp(entry->path, other->dev->node.path))
		entry = entry->next;
	return entry;
}

bool vm_peer_known(struct vm *owner, const struct vm *other, enum vm_peer *peer)
{
	const struct vm_peers *entry;

	if (drv_check_process(owner->dev))
		return false;
	drv_mutex_lock(&owner->peer_lock);
	entry = find_locked(owner, other);
	if (entry)
		*peer = entry->peer;
	drv_mutex_unlock(&owner->peer_lock);
	return entry;
}

int vm_peer_probe(struct vm *owner, struct vm *other, vm_submit_fn *submit, void *arg, enum vm_peer *peer)
{
	struct probe p = {owner, other, submit, arg};
	const struct vm_peers *entry;
	int r = drv_check_process(owner->dev);

	r = r ? r : drv_check_process(other->dev);
	if (r)
		return r;
	if (!strcmp(owner->dev->node.path, other->dev->node.path)) {
		*peer = VM_PEER_DIRECT;
		return 0;
	}
	drv_mutex_lock(&owner->peer_lock);
	entry = find_locked(owner, other);
	if (entry)
		*peer = entry->peer;
	else
		r = ask_and_keep(&p, peer);
	drv_mutex_unlock(&owner->peer_lock);
	return r;
}

void vm_peers_fini(struct vm *vm)
{
	struct vm_peers *next;

	for (; vm->peers; vm->peers = next) {
		next = vm->peers->next;
		free(vm->peers);
	}
}
