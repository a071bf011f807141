/* Attributes of pools, trimming, and access by devices. */
#include <string.h>

#include "drv/lock.h"
#include "api/pool/pool.h"
#include "api/stream/capture.h"

/* --- attributes ------------------------------------------------------------------------------- */

static _Atomic int *policy_of(struct hip_pool *p, hipMemPoolAttr attribute)
{
	switch (attribute) {
	case hipMemPoolReuseFollowEventDependencies:
		return &p->follow;
	case hipMemPoolReuseAllowOpportunistic:
		return &p->opportunistic;
	case hipMemPoolReuseAllowInternalDependencies:
		return &p->internal;
	default:
		return NULL;
	}
}

static hipError_t set_number(struct hip_pool *p, hipMemPoolAttr attribute, uint64_t value)
{
	hipError_t r = value ? hipErrorInvalidValue : hipSuccess;

	if (attribute == hipMemPoolAttrReleaseThreshold) {
		atomic_store(&p->threshold_B, value);
		return hipSuccess;
	}
	if (r || (attribute != hipMemPoolAttrReservedMemHigh && attribute != hipMemPoolAttrUsedMemHigh))
		return hipErrorInvalidValue;
	/* Resetting a maximum sets it to the present value. */
	drv_mutex_lock(&p->lock);
	if (attribute == hipMemPoolAttrReservedMemHigh)
		p->reserved_high_B = p->reserved_B;
	else
		p->used_high_B = hip_pool_used_locked(p);
	drv_mutex_unlock(&p->lock);
	return hipSuccess;
}

HIP_PUBLIC(hipMemPoolSetAttribute, (hipMemPool_t handle, hipMemPoolAttr attribute, void *value),
	   (handle, attribute, value))
{
	struct hip_pool *p;
	_Atomic int *policy;
	uint64_t number;
	int on;

	p = hip_pool_of(handle);
	if (!p || !value || p->imported)
		return hipErrorInvalidValue;
	policy = policy_of(p, attribute);
	if (policy) {
		memcpy(&on, value, sizeof(on));
		atomic_store(policy, on != 0);
		return hipSuccess;
	}
	if (attribute < hipMemPoolAttrReleaseThreshold || attribute > hipMemPoolAttrUsedMemHigh)
		return hipErrorInvalidValue;
	memcpy(&number, value, sizeof(number));
	return set_number(p, attribute, number);
}

static hipError_t get_number(struct hip_pool *p, hipMemPoolAttr attribute, uint64_t *value)
{
	hipError_t r = hipSuccess;

	drv_mutex_lock(&p->lock);
	switch (attribute) {
	case hipMemPoolAttrReleaseThreshold:
		*value = p->threshold_B;
		break;
	case hipMemPoolAttrReservedMemCurrent:
		*value = p->reserved_B;
		break;
	case hipMemPoolAttrReservedMemHigh:
		*value = p->reserved_high_B;
		break;
	case hipMemPoolAttrUsedMemCurrent:
		*value = hip_pool_used_locked(p);
		break;
	case hipMemPoolAttrUsedMemHigh:
		(void)hip_pool_used_locked(p);
		*value = p->used_high_B;
		break;
	default:
		r = hipErrorInvalidValue;
	}
	drv_mutex_unlock(&p->lock);
	return r;
}

HIP_PUBLIC(hipMemPoolGetAttribute, (hipMemPool_t handle, hipMemPoolAttr attribute, void *value),
	   (handle, attribute, value))
{
	struct hip_pool *p;
	_Atomic int *policy;
	uint64_t number;
	hipError_t r;

	p = hip_pool_of(handle);
	if (!p || !value || p->imported)
		return hipErrorInvalidValue;
	policy = policy_of(p, attribute);
	if (policy) {
		int on = *policy;

		memcpy(value, &on, sizeof(on));
		return hipSuccess;
	}
	r = get_number(p, attribute, &number);
	if (!r)
		memcpy(value, &number, sizeof(number));
	return r;
}

HIP_PUBLIC(hipMemPoolTrimTo, (hipMemPool_t handle, size_t keep_B), (handle, keep_B))
{
	struct hip_pool *p;
	hipError_t r;

	r = TUFF_HIP_ABI >= 7 ? hipSuccess : hip_capture_refuses(hipErrorStreamCaptureUnsupported);
	if (r)
		return r;
	p = hip_pool_of(handle);
	if (!p || p->imported)
		return hipErrorInvalidValue;
	hip_arena_trim(p, keep_B, true);
	return hipSuccess;
}

/* --- access ----------------------------------------------------------------------------------- */

static hipError_t check_access(const struct hip_pool *p, const hipMemAccessDesc *d)
{
	if (d->location.type != hipMemLocationTypeDevice)
		return hipErrorInvalidValue;
	if (!hip_device_of(d->location.id) || d->flags == hipMemAccessFlagsProtNone)
		return hipErrorInvalidDevice;
	if (d->flags != hipMemAccessFlagsProtRead && d->flags != hipMemAccessFlagsProtReadWrite)
		return hipErrorInvalidValue;
	if (d->location.id == p->device->index && d->flags != hipMemAccessFlagsProtReadWrite)
		return hipErrorNotSupported;
	return hipSuccess;
}

/* The caller holds access_lock. */
static hipError_t apply_access(struct hip_pool *p)
{
	return p->imported ? hip_imports_set_access(p) : hip_arena_set_access(p);
}

/* Applies the whole list, or nothing. */
static hipError_t set_access(struct hip_pool *p, const hipMemAccessDesc *list, size_t count)
{
	hipMemAccessFlags old[HIP_DEVICES_MAX];
	hipError_t r = hipSuccess;

	for (size_t i = 0; !r && i < count; i++)
		r = check_access(p, &list[i]);
	if (r)
		return r;
	drv_mutex_lock(&p->access_lock);
	for (unsigned i = 0; i < hip.devices; i++)
		old[i] = p->access[i];
	for (size_t i = 0; i < count; i++)
		p->access[list[i].location.id] = list[i].flags;
	r = apply_access(p);
	for (unsigned i = 0; r && i < hip.devices; i++)
		p->access[i] = old[i];
	/* Some chunks have the new access: taking that back may fail, too, and does no harm then. */
	if (r)
		(void)!apply_access(p);
	drv_mutex_unlock(&p->access_lock);
	return r;
}

HIP_PUBLIC(hipMemPoolSetAccess, (hipMemPool_t handle, const hipMemAccessDesc *list, size_t count),
	   (handle, list, count))
{
	struct hip_pool *p;

	p = hip_pool_of(handle);
	if (!p || !list)
		return hipErrorInvalidValue;
	return count > hip.devices ? hipErrorInvalidDevice : set_access(p, list, count);
}

HIP_PUBLIC(hipMemPoolGetAccess, (hipMemAccessFlags *flags, hipMemPool_t handle, hipMemLocation *location),
	   (flags, handle, location))
{
	struct hip_pool *p;

	p = hip_pool_of(handle);
	if (!p || !flags || !location || location->type != hipMemLocationTypeDevice || !hip_device_of(location->id))
		return hipErrorInvalidValue;
	*flags = p->access[location->id];
	return hipSuccess;
}
