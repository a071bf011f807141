/* Hints for managed memory. They are kept by page and returned by queries, and have no other effect: the memory is
 * the host's, which every device can access, whatever the hints say. Pages with hints are in disjoint segments;
 * pages in no segment have the hints `plain`. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/memory/mem_advise.h"
#include "api/memory/memory.h"
#include "api/stream/capture.h"
#include "vm/segments.h"

#define PAGE_B 4096ull

struct hints {
	int preferred, prefetched; /* an index of a device, hipCpuDeviceId, or hipInvalidDeviceId */
	bool read_mostly, coarse, accessed_by_host;
	uint64_t accessed; /* a bit for each device */
};

struct segment {
	struct vm_node at;
	struct hints hints;
};
static const struct segment plain = {.hints = {.preferred = hipInvalidDeviceId, .prefetched = hipInvalidDeviceId}};

static struct {
	struct drv_mutex lock;
	struct vm_segments segments; /* owned */
} advice = {.lock = DRV_MUTEX(DRV_RANK_HIP_ADVICE), .segments.size_B = sizeof(struct segment)};

/* --- segments (call with the lock held) ------------------------------------------------------- */

static struct segment *segment_in(uint64_t lo, uint64_t hi)
{
	return vm_segment_first(&advice.segments, lo, hi);
}

void hip_advice_forget(uint64_t lo, uint64_t hi)
{
	struct segment *s;

	drv_mutex_lock(&advice.lock);
	while ((s = segment_in(lo, hi))) {
		vm_segment_remove(&advice.segments, s);
		free(s);
	}
	drv_mutex_unlock(&advice.lock);
}

/* --- setting of hints ------------------------------------------------------------------------- */

struct range {
	uint64_t lo, hi; /* whole pages */
	struct hip_memory memory;
};

static bool find_range(const void *ptr, size_t size_B, struct range *range)
{
	if (!ptr || !size_B || !hip_memory_find(ptr, &range->memory) ||
	    size_B > range->memory.size_B - ((uintptr_t)ptr - range->memory.node.lo))
		return false;
	range->lo = (uintptr_t)ptr & ~(PAGE_B - 1);
	range->hi = ((uintptr_t)ptr + size_B + PAGE_B - 1) & ~(PAGE_B - 1);
	return true;
}

static bool is_place(int device)
{
	return device == hipCpuDeviceId || hip_device_of(device);
}

typedef void hip_set_fn(struct hints *hints, hipMemoryAdvise what, int device);

static hipError_t range_set(const struct range *range, hip_set_fn *fn, hipMemoryAdvise what, int device)
{
	struct segment *s = NULL;
	int r;

	drv_mutex_lock(&advice.lock);
	r = vm_segments_cover(&advice.segments, range->lo, range->hi, &plain);
	while (!r && (s = vm_segment_next(&advice.segments, s, range->lo, range->hi)))
		fn(&s->hints, what, device);
	drv_mutex_unlock(&advice.lock);
	return r ? hipErrorOutOfMemory : hipSuccess;
}

static void set_accessed(struct hints *h, int device, bool on)
{
	if (device == hipCpuDeviceId)
		h->accessed_by_host = on;
	else if (on)
		h->accessed |= 1ull << device;
	else
		h->accessed &= ~(1ull << device);
}

static void hints_advise(struct hints *h, hipMemoryAdvise what, int device)
{
	switch (what) {
	case hipMemAdviseSetReadMostly:
	case hipMemAdviseUnsetReadMostly:
		h->read_mostly = what == hipMemAdviseSetReadMostly;
		break;
	case hipMemAdviseSetPreferredLocation:
	case hipMemAdviseUnsetPreferredLocation:
		h->preferred = what == hipMemAdviseSetPreferredLocation ? device : hipInvalidDeviceId;
		break;
	case hipMemAdviseSetAccessedBy:
	case hipMemAdviseUnsetAccessedBy:
		set_accessed(h, device, what == hipMemAdviseSetAccessedBy);
		break;
	case hipMemAdviseSetCoarseGrain:
	case hipMemAdviseUnsetCoarseGrain:
		h->coarse = what == hipMemAdviseSetCoarseGrain;
		break;
	default:
		break;
	}
}

static hipError_t give_advice(const void *ptr, size_t size_B, hipMemoryAdvise what, int device)
{
	bool anywhere = what == hipMemAdviseSetReadMostly || what == hipMemAdviseUnsetReadMostly;
	struct range range;

	if (!anywhere && !is_place(device))
		return hipErrorInvalidDevice;
	if (!find_range(ptr, size_B, &range) || range.memory.kind != HIP_MEMORY_MANAGED ||
	    ((what < hipMemAdviseSetReadMostly || what > hipMemAdviseUnsetAccessedBy) &&
	     what != hipMemAdviseSetCoarseGrain && what != hipMemAdviseUnsetCoarseGrain))
		return hipErrorInvalidValue;
	return range_set(&range, hints_advise, what, device);
}

HIP_PUBLIC(hipMemAdvise, (const void *ptr, size_t size, hipMemoryAdvise what, int device),
	   (ptr, size, what, device))
{
	hipError_t r = hip_capture_refuses_since_7();

	return r ? r : give_advice(ptr, size, what, device);
}

static void prefetch_to(struct hints *h, hipMemoryAdvise what, int device)
{
	(void)what;
	h->prefetched = device;
}

static hipError_t range_prefetch(const void *ptr, size_t size_B, int device, hipStream_t stream)
{
	struct hip_memory memory;
	struct hip_stream *s;
	struct range range;
	hipError_t r = ptr && size_B ? hip_stream_of(stream, &s) : hipErrorInvalidValue;
	bool known;

	if (r)
		return r;
	known = hip_memory_find(ptr, &memory);
	if (known && !find_range(ptr, size_B, &range))
		return hipErrorInvalidValue;
	if (!is_place(device))
		return hipErrorInvalidDevice;
	/* CLR's rule: memory that HIP does not know cannot be moved, and may be prefetched only to the CPU. */
	if (!known)
		return device == hipCpuDeviceId ? hipSuccess : hipErrorNotSupported;
	return memory.kind == HIP_MEMORY_MANAGED ? range_set(&range, prefetch_to, 0, device) : hipSuccess;
}

HIP_PUBLIC(hipMemPrefetchAsync, (const void *ptr, size_t size, int device, hipStream_t stream),
	   (ptr, size, device, stream))
{
	hipError_t r = hip_capture_refuses_since_7();

	return r ? r : range_prefetch(ptr, size, device, stream);
}

/* --- hints with a location (HIP 7) -------------------------------------------------------------- */

#if TUFF_HIP_ABI >= 7
/* CLR's rule: of the host's kinds of location the number does not matter. */
static bool is_host(const hipMemLocation *location)
{
	return location->type >= hipMemLocationTypeHost && location->type <= hipMemLocationTypeHostNumaCurrent;
}

HIP_PUBLIC(hipMemAdvise_v2, (const void *ptr, size_t size, hipMemoryAdvise what, hipMemLocation location),
	   (ptr, size, what, location))
{
	if (!is_host(&location) && location.type != hipMemLocationTypeDevice)
		return hipErrorInvalidValue;
	return give_advice(ptr, size, what, is_host(&location) ? hipCpuDeviceId : location.id);
}

/* A location without a type is a device's, as in CLR. */
HIP_PUBLIC(hipMemPrefetchAsync_v2,
	   (const void *ptr, size_t size, hipMemLocation location, unsigned int flags, hipStream_t stream),
	   (ptr, size, location, flags, stream))
{
	if (flags)
		return hipErrorInvalidValue;
	return range_prefetch(ptr, size, is_host(&location) ? hipCpuDeviceId : location.id, stream);
}
#endif

/* --- queries ---------------------------------------------------------------------------------- */

static void hints_join(struct hints *all, const struct hints *h, bool *coarse, bool *fine)
{
	if (h->preferred != all->preferred)
		all->preferred = hipInvalidDeviceId;
	if (h->prefetched != all->prefetched)
		all->prefetched = hipInvalidDeviceId;
	all->read_mostly &= h->read_mostly;
	all->accessed &= h->accessed;
	all->accessed_by_host &= h->accessed_by_host;
	*coarse |= h->coarse;
	*fine |= !h->coarse;
}

/* Combines the hints of all pages of the range; *mode is their coherence. */
static struct hints hints_common(const struct range *range, hipMemRangeCoherencyMode *mode)
{
	bool coarse = false, fine = false;
	const struct segment *s;
	struct hints all = plain.hints;
	uint64_t at, until;

	drv_mutex_lock(&advice.lock);
	for (at = range->lo; at < range->hi; at = until) {
		s = segment_in(at, range->hi);
		until = !s ? range->hi : s->at.lo > at ? s->at.lo : s->at.hi;
		if (at == range->lo)
			all = s && s->at.lo <= at ? s->hints : plain.hints;
		hints_join(&all, s && s->at.lo <= at ? &s->hints : &plain.hints, &coarse, &fine);
	}
	drv_mutex_unlock(&advice.lock);
	*mode = coarse && fine ? hipMemRangeCoherencyModeIndeterminate
		: coarse       ? hipMemRangeCoherencyModeCoarseGrain
			       : hipMemRangeCoherencyModeFineGrain;
	return all;
}

/* Writes as many of the devices, and the CPU, as the list has room for; the rest becomes hipInvalidDeviceId. */
static hipError_t list_accessed(const struct hints *h, int *list, size_t count)
{
	size_t n = 0;

	for (unsigned i = 0; i < hip.devices && n < count; i++)
		if (h->accessed >> i & 1)
			list[n++] = (int)i;
	if (h->accessed_by_host && n < count)
		list[n++] = hipCpuDeviceId;
	while (n < count)
		list[n++] = hipInvalidDeviceId;
	return hipSuccess;
}

/* Memory that is not managed has this attribute only. */
static int coherency_of(const struct hip_memory *memory)
{
	bool coarse = memory->kind == HIP_MEMORY_DEVICE
			      ? !memory->flags
			      : memory->kind == HIP_MEMORY_HOST && memory->flags & hipHostMallocNonCoherent;

	return coarse ? hipMemRangeCoherencyModeCoarseGrain : hipMemRangeCoherencyModeFineGrain;
}

static hipError_t range_attribute(void *data, size_t data_B, hipMemRangeAttribute attribute, const void *ptr,
				  size_t size_B)
{
	bool managed, mode_only = attribute == hipMemRangeAttributeCoherencyMode;
	hipMemRangeCoherencyMode mode;
	struct hints hints;
	struct range range;
	int value;

	if (!data || !data_B || data_B % sizeof(int) || !find_range(ptr, size_B, &range))
		return hipErrorInvalidValue;
	managed = range.memory.kind == HIP_MEMORY_MANAGED;
	if (!managed && !mode_only)
		return hipErrorInvalidValue;
	hints = hints_common(&range, &mode);
	if (attribute == hipMemRangeAttributeAccessedBy)
		return list_accessed(&hints, data, data_B / sizeof(int));
	if (attribute == hipMemRangeAttributeReadMostly)
		value = hints.read_mostly;
	else if (attribute == hipMemRangeAttributePreferredLocation)
		value = hints.preferred;
	else if (attribute == hipMemRangeAttributeLastPrefetchLocation)
		value = hints.prefetched;
	else if (mode_only)
		value = managed ? (int)mode : coherency_of(&range.memory);
	else
		return hipErrorInvalidValue;
	if (data_B != sizeof(value))
		return hipErrorInvalidValue;
	memcpy(data, &value, sizeof(value));
	return hipSuccess;
}

HIP_PUBLIC(hipMemRangeGetAttribute,
	   (void *data, size_t data_size, hipMemRangeAttribute attribute, const void *ptr, size_t size),
	   (data, data_size, attribute, ptr, size))
{
	return range_attribute(data, data_size, attribute, ptr, size);
}

HIP_PUBLIC(hipMemRangeGetAttributes,
	   (void **data, size_t *data_sizes, hipMemRangeAttribute *attributes, size_t count, const void *ptr,
	    size_t size),
	   (data, data_sizes, attributes, count, ptr, size))
{
	hipError_t r = hipSuccess;

	if (!data || !data_sizes || !attributes || !count)
		return hipErrorInvalidValue;
	for (size_t i = 0; !r && i < count; i++)
		r = range_attribute(data[i], data_sizes[i], attributes[i], ptr, size);
	return r;
}

HIP_PUBLIC(hipStreamAttachMemAsync, (hipStream_t stream, void *ptr, size_t size, unsigned int flags),
	   (stream, ptr, size, flags))
{
	struct hip_memory memory;
	struct hip_stream *s;
	hipError_t r;

	r = ptr ? hip_stream_of(stream, &s) : hipErrorInvalidValue;
	if (r)
		return r;
	if ((flags == hipMemAttachSingle && !stream) ||
	    (flags != hipMemAttachGlobal && flags != hipMemAttachHost && flags != hipMemAttachSingle) ||
	    !hip_memory_find(ptr, &memory) || memory.kind != HIP_MEMORY_MANAGED || (size && size != memory.size_B))
		return hipErrorInvalidValue;
	return hipSuccess;
}
