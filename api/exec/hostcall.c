/* Hostcalls: printf, memory and function calls that running kernels request from the host.
 *
 * A wave pops a packet from a stack in memory that GPU and CPU share, fills a slot for each lane, pushes the packet
 * to a second stack, signals the doorbell, and waits until the host has cleared the packet's control word. There
 * are as many packets as the device has wave slots, so that one is always free. Layouts and protocol:
 * ROCm-Device-Libs, ockl hostcall_impl.cl; printf's messages: CLR's devhcmessages.hpp, devhcprintf.cpp.
 */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/exec/hostcall.h"
#include "api/exec/print.h"

struct header {
	uint64_t next;   /* the next packet of the stack: an index, with a tag in the upper bits */
	uint64_t active; /* mask of the lanes whose slots are valid */
	uint32_t service;
	_Atomic uint32_t control; /* bit 0: the wave waits */
};
#define READY 1u

struct payload {
	uint64_t slot[64][8];
};
#define RESULT_B 16 /* the first bytes of a slot, which get the result */

struct hip_hostcall {
	struct header *headers;
	struct payload *payloads;
	hsa_signal_t doorbell;
	_Atomic uint64_t free, requested; /* tops of the stacks of free and of requested packets; 0: empty */
	uint64_t index_mask;
};

enum service { SERVICE_FUNCTION = 1, SERVICE_PRINTF = 2, SERVICE_MEMORY = 3 };

/* The host's own record of a buffer: kernels can write all of the buffer, the addresses in it included. */
struct buffer {
	struct hip_hostcall *shared; /* owned */
	struct header *headers;      /* in the buffer, as are the payloads */
	struct payload *payloads;
	uint64_t index_mask;
	unsigned packets;
};

/* A buffer for each device, made for the first kernel that needs one. All share one doorbell. */
static struct {
	struct drv_mutex lock;                          /* guards the making of buffers */
	struct buffer *_Atomic buffer[HIP_DEVICES_MAX]; /* owned */
	void *_Atomic heap[HIP_DEVICES_MAX];            /* owned */
	_Atomic bool stale[HIP_DEVICES_MAX]; /* the listener thread is to take back the buffer's packets */
	pthread_t listener;                  /* valid while there is a doorbell */
	hsa_signal_t doorbell;               /* owned; 0: the listener thread does not run yet */
} hostcalls = {.lock = DRV_MUTEX(DRV_RANK_HIP_HOSTCALLS)};

/* --- messages ---------------------------------------------------------------------------------------- */

/* A message comes in packets of up to seven words; the first word of a slot has the message's number and the count
 * of words. */
#define BEGIN          1u
#define END            2u
#define COUNT(first)   ((unsigned)((first) >> 5 & 7))
#define MESSAGE(first) ((first) >> 8)

struct message {
	const struct hip_device *device; /* of the kernel that writes it; NULL: it is free */
	size_t count, max;
	uint64_t *words; /* owned */
};

/* Used by the listener thread only. */
static struct {
	struct message *list; /* owned */
	size_t count;
} message_buffers;

/* NULL: out of memory, or the kernel names none. */
static struct message *find_message(const struct hip_device *device, uint64_t *first)
{
	size_t i = 0;

	if (!(*first & BEGIN)) {
		i = MESSAGE(*first);
		return i < message_buffers.count && message_buffers.list[i].device ? &message_buffers.list[i]
										   : NULL;
	}
	while (i < message_buffers.count && message_buffers.list[i].device)
		i++;
	if (i == message_buffers.count) {
		struct message *list = realloc(message_buffers.list, (message_buffers.count + 64) * sizeof(*list));

		if (!list)
			return NULL;
		memset(list + message_buffers.count, 0, 64 * sizeof(*list));
		message_buffers.list = list;
		message_buffers.count += 64;
	}
	message_buffers.list[i].device = device;
	message_buffers.list[i].count = 0;
	*first = (*first & 0xff & ~(uint64_t)BEGIN) | i << 8;
	return &message_buffers.list[i];
}

static bool message_append(struct message *m, const uint64_t *words, unsigned count)
{
	if (m->count + count + 1 > m->max) {
		size_t max = 2 * m->max + 64;
		uint64_t *more = realloc(m->words, max * sizeof(*more));

		if (!more)
			return false;
		m->words = more;
		m->max = max;
	}
	memcpy(m->words + m->count, words, count * sizeof(*words));
	m->count += count;
	m->words[m->count] = 0; /* terminates a text that the kernel did not terminate */
	return true;
}

/* --- printf ----------------------------------------------------------------------------------- */

/* Messages on stderr that a kernel prints just before it aborts, and the error that each means: the trap itself
 * reports none. */
static const struct {
	hipError_t error;
	const char *text;
} abort_messages[] = {
	/* assert() of this project's headers, and of AMD's. */
	{hipErrorAssert, "%s:%u: %s: Device-side assertion `%s' failed.\n"},
	/* abort() of this project's headers. */
	{hipErrorLaunchFailure, "Device-side abort() was called.\n"},
};

static void abort_report(struct hip_device *device, const struct message *m)
{
	for (unsigned i = 0; i < sizeof(abort_messages) / sizeof(abort_messages[0]); i++) {
		size_t text_B = strlen(abort_messages[i].text) + 1;

		if (m->words[0] & 1 && m->count > (text_B + 7) / 8 &&
		    !memcmp(m->words + 1, abort_messages[i].text, text_B))
			hip_device_fail(device, abort_messages[i].error);
	}
}

static void serve_printf(struct hip_device *device, uint64_t *slot)
{
	struct message *m = find_message(device, &slot[0]);
	bool ok = m && message_append(m, slot + 1, COUNT(slot[0]));

	if (ok && !(slot[0] & END))
		return;
	/* Bit 0 of the first word selects stderr. */
	if (ok && m->count)
		abort_report(device, m);
	if (ok && m->count && !(m->words[0] & ~1ull))
		slot[0] = (uint64_t)hip_print_words(m->words[0] & 1 ? stderr : stdout, m->words + 1,
						    m->words + m->count);
	else
		slot[0] = (uint64_t)-1;
	/* The kernel goes on with the answer instead of the message's number. */
	if (m)
		m->device = NULL;
}

/* --- memory and function calls ---------------------------------------------------------------- */

/* Memory for running kernels. A running kernel can access new memory once its page tables have the mapping. No call
 * reports that; but when a job that was submitted later has begun, the tables are up to date, unless something was
 * unmapped meanwhile (docs/vgpu.md). So spare memory is mapped before each such kernel is launched, and memory that
 * kernels free is kept for later requests. */
struct grant {
	struct grant *next;
	struct hip_device *device;
	void *memory; /* owned */
	size_t size_B;
	bool used;
};
static struct drv_mutex grants_lock = DRV_MUTEX(DRV_RANK_HIP_GRANTS); /* guards `grants` and `unused_B` */
static struct grant *grants;                                          /* owned */
static size_t unused_B;
/* Unused slabs of each device. */
static _Atomic unsigned spare[HIP_DEVICES_MAX];
#define SLAB_B       2097152u    /* size that the device library requests */
#define SPARE        4u          /* slabs that CLR's heap begins with (HIP_INITIAL_DM_SIZE) */
#define UNUSED_MAX_B (64u << 20) /* bytes kept; more is freed */

static void set_used(struct grant *g, bool used)
{
	g->used = used;
	unused_B = used ? unused_B - g->size_B : unused_B + g->size_B;
	if (g->size_B >= SLAB_B)
		spare[g->device->index] += used ? -1u : 1u;
}

static struct grant *find_unused(const struct hip_device *device, size_t size_B)
{
	struct grant *best = NULL;

	for (struct grant *g = grants; g; g = g->next)
		if (!g->used && g->device == device && g->size_B >= size_B && g->size_B / 2 <= size_B &&
		    (!best || g->size_B < best->size_B))
			best = g;
	return best;
}

static struct grant *grant_make(struct hip_device *device, size_t size_B)
{
	struct grant *g = malloc(sizeof(*g));

	if (!g)
		return NULL;
	*g = (struct grant){.device = device, .size_B = size_B};
	if (hsa_amd_memory_pool_allocate(device->vram, size_B, 0, &g->memory)) {
		free(g);
		return NULL;
	}
	if (hsa_amd_memory_fill(g->memory, 0, 1)) {
		hsa_amd_memory_pool_free(g->memory);
		free(g);
		return NULL;
	}
	g->next = grants;
	grants = g;
	set_used(g, false);
	return g;
}

/* NULL: out of memory. */
static void *grant_take(struct hip_device *device, size_t size_B)
{
	struct grant *g = find_unused(device, size_B);

	if (!g)
		g = grant_make(device, size_B);
	if (!g)
		return NULL;
	set_used(g, true);
	return g->memory;
}

/* Keeps it for later requests, or frees it: false, and *at is the next one. */
static bool grant_end(struct grant **at)
{
	struct grant *g = *at;

	set_used(g, false);
	if (unused_B <= UNUSED_MAX_B)
		return true;
	set_used(g, true);
	*at = g->next;
	hsa_amd_memory_pool_free(g->memory);
	free(g);
	return false;
}

static void take_back(const void *memory)
{
	struct grant **at = &grants;

	while (*at && (*at)->memory != memory)
		at = &(*at)->next;
	if (*at && (*at)->used)
		(void)grant_end(at);
}

/* Serves a lane: the slot has an address to free, or a size to allocate. */
static void serve_memory(struct hip_device *device, uint64_t *slot)
{
	drv_mutex_lock(&grants_lock);
	if (slot[0])
		take_back((const void *)(uintptr_t)slot[0]);
	else
		slot[0] = (uintptr_t)grant_take(device, slot[1]);
	drv_mutex_unlock(&grants_lock);
}

static void serve_function(uint64_t *slot)
{
	void (*function)(uint64_t *out, const uint64_t *in) =
		(void (*)(uint64_t *, const uint64_t *))(uintptr_t)slot[0];
	uint64_t out[2] = {0};

	function(out, slot + 1);
	memcpy(slot, out, sizeof(out));
}

static void packet_serve(struct hip_device *device, uint32_t service, uint64_t *slot)
{
	switch (service) {
	case SERVICE_FUNCTION:
		serve_function(slot);
		break;
	case SERVICE_PRINTF:
		serve_printf(device, slot);
		break;
	case SERVICE_MEMORY:
		serve_memory(device, slot);
		break;
	}
}

/* --- the listener thread ---------------------------------------------------------------------- */

/* Serves a copy: a kernel may write the slot at any time. */
static void slot_serve(struct hip_device *device, uint32_t service, uint64_t *shared)
{
	uint64_t slot[8];

	memcpy(slot, shared, sizeof(slot));
	packet_serve(device, service, slot);
	memcpy(shared, slot, RESULT_B);
}

/* Serves the requested packets, each once: a chain that a kernel has closed to a ring would have no end. */
static void serve_all(struct hip_device *device, const struct buffer *b)
{
	uint64_t at = atomic_exchange_explicit(&b->shared->requested, 0, memory_order_acquire);

	for (unsigned left = b->packets; at && left && (at & b->index_mask) < b->packets; left--) {
		struct header *h = &b->headers[at & b->index_mask];
		struct payload *p = &b->payloads[at & b->index_mask];
		uint32_t service = __atomic_load_n(&h->service, __ATOMIC_RELAXED);

		at = __atomic_load_n(&h->next, __ATOMIC_RELAXED);
		for (uint64_t lanes = __atomic_load_n(&h->active, __ATOMIC_RELAXED); lanes; lanes &= lanes - 1)
			slot_serve(device, service, p->slot[__builtin_ctzll(lanes)]);
		atomic_fetch_and_explicit(&h->control, ~READY, memory_order_release);
	}
}

static void fill_shared(const struct buffer *b);

/* No kernel of the device runs: packets, requests and messages are of kernels that were stopped in the middle. */
static void renew(const struct hip_device *device, const struct buffer *b)
{
	for (size_t i = 0; i < message_buffers.count; i++)
		if (message_buffers.list[i].device == device)
			message_buffers.list[i].device = NULL;
	fill_shared(b);
	atomic_store_explicit(&hostcalls.stale[device->index], false, memory_order_release);
}

static void *listen_to_kernels(void *arg)
{
	DRV_HOLD_CANCEL;
	hsa_signal_value_t seen = 0;

	(void)arg;
	for (;;) {
		seen = hsa_signal_wait_scacquire(hostcalls.doorbell, HSA_SIGNAL_CONDITION_NE, seen, UINT64_MAX,
						 HSA_WAIT_STATE_BLOCKED);
		for (unsigned i = 0; i < hip.devices; i++) {
			const struct buffer *b = atomic_load_explicit(&hostcalls.buffer[i], memory_order_acquire);

			if (b && atomic_load_explicit(&hostcalls.stale[i], memory_order_acquire))
				renew(&hip.device[i], b);
			else if (b)
				serve_all(&hip.device[i], b);
		}
	}
	return NULL;
}

static bool start_listener(void)
{
	if (hostcalls.doorbell.handle)
		return true;
	if (hsa_signal_create(0, 0, NULL, &hostcalls.doorbell))
		return false;
	if (pthread_create(&hostcalls.listener, NULL, listen_to_kernels, NULL)) {
		hsa_signal_destroy(hostcalls.doorbell);
		hostcalls.doorbell.handle = 0;
		return false;
	}
	pthread_detach(hostcalls.listener);
	return true;
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* Pushes all packets to the stack of free ones. Index 0 has a tag, since a top of 0 means an empty stack. */
static void fill_shared(const struct buffer *b)
{
	uint64_t next = b->index_mask + 1;

	b->headers[0].next = 0;
	for (unsigned i = 1; i < b->packets; i++) {
		b->headers[i].next = next;
		next = i;
	}
	b->shared->headers = b->headers;
	b->shared->payloads = b->payloads;
	b->shared->doorbell = hostcalls.doorbell;
	b->shared->index_mask = b->index_mask;
	atomic_store(&b->shared->free, next);
	atomic_store(&b->shared->requested, 0);
}

static bool make_shared(struct hip_device *device, struct buffer *b)
{
	size_t size_B =
		sizeof(struct hip_hostcall) + b->packets * (sizeof(struct header) + sizeof(struct payload)) + 4096;

	b->shared = hip_allocate_for(device, hip.host_fine, size_B);
	if (!b->shared)
		return false;
	b->headers = (struct header *)(b->shared + 1);
	b->payloads = (struct payload *)(((uintptr_t)(b->headers + b->packets) + 4095) & ~(uintptr_t)4095);
	b->index_mask = (2u << (31 - __builtin_clz(b->packets - 1))) - 1;
	fill_shared(b);
	return true;
}

static struct buffer *make_buffer(struct hip_device *device)
{
	struct buffer *b;
	uint32_t waves = 0;

	if (hsa_agent_get_info(device->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, &waves))
		return NULL;
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->packets = device->cus * waves;
	if (b->packets < 2 || !make_shared(device, b)) {
		free(b);
		return NULL;
	}
	return b;
}

struct hip_hostcall *hip_hostcall_buffer(struct hip_device *device)
{
	struct buffer *b = atomic_load_explicit(&hostcalls.buffer[device->index], memory_order_acquire);

	if (b)
		return b->shared;
	drv_mutex_lock(&hostcalls.lock);
	b = atomic_load(&hostcalls.buffer[device->index]);
	if (!b && start_listener()) {
		b = make_buffer(device);
		atomic_store_explicit(&hostcalls.buffer[device->index], b, memory_order_release);
	}
	drv_mutex_unlock(&hostcalls.lock);
	return b ? b->shared : NULL;
}

/* --- the heap of malloc() in kernels ---------------------------------------------------------- */

/* Bytes of the device library's bookkeeping, which begins as zeros: every slab is requested then. ROCm-Device-Libs'
 * dm.cl clears as much. */
#define HEAP_B 131072u

static void *make_heap(struct hip_device *device)
{
	void *heap;

	if (hsa_amd_memory_pool_allocate(device->vram, HEAP_B, 0, &heap))
		return NULL;
	if (hsa_amd_memory_fill(heap, 0, HEAP_B / 4)) {
		hsa_amd_memory_pool_free(heap);
		return NULL;
	}
	return heap;
}

/* Maps spare slabs. When memory is short, kernels request slabs later. */
static void make_spare(struct hip_device *device)
{
	drv_mutex_lock(&grants_lock);
	while (spare[device->index] < SPARE && grant_make(device, SLAB_B))
		;
	drv_mutex_unlock(&grants_lock);
}

void *hip_kernel_heap(struct hip_device *device)
{
	void *heap = atomic_load_explicit(&hostcalls.heap[device->index], memory_order_acquire);

	if (atomic_load_explicit(&spare[device->index], memory_order_relaxed) < SPARE)
		make_spare(device);
	if (heap)
		return heap;
	drv_mutex_lock(&hostcalls.lock);
	heap = atomic_load(&hostcalls.heap[device->index]);
	if (!heap) {
		heap = make_heap(device);
		atomic_store_explicit(&hostcalls.heap[device->index], heap, memory_order_release);
	}
	drv_mutex_unlock(&hostcalls.lock);
	return heap;
}

/* --- reset ------------------------------------------------------------------------------------ */

static void take_back_all(const struct hip_device *device)
{
	struct grant **at = &grants, *g;

	while ((g = *at))
		if (g->device != device || !g->used || grant_end(at))
			at = &g->next;
}

static void heap_reset(const struct hip_device *device)
{
	void *heap = atomic_load(&hostcalls.heap[device->index]);

	/* Without an empty heap, what kernels had stays theirs. */
	if (!heap || hsa_amd_memory_fill(heap, 0, HEAP_B / 4))
		return;
	drv_mutex_lock(&grants_lock);
	take_back_all(device);
	drv_mutex_unlock(&grants_lock);
}

/* A function that a kernel has called resets its device: the rest of its packet is still served. */
static bool is_listener(void)
{
	return hostcalls.doorbell.handle && pthread_equal(pthread_self(), hostcalls.listener);
}

void hip_hostcalls_reset(struct hip_device *device)
{
	_Atomic bool *stale = &hostcalls.stale[device->index];
	struct drv_pause pause = {0};

	heap_reset(device);
	if (!atomic_load(&hostcalls.buffer[device->index]) || is_listener())
		return;
	atomic_store(stale, true);
	hsa_signal_add_screlease(hostcalls.doorbell, 1);
	while (atomic_load_explicit(stale, memory_order_acquire))
		drv_pause(&pause);
}
