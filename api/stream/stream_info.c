/* Properties of a stream: flags, priority, device, compute units. */
#include "api/stream/stream.h"

static hipError_t stream_get(hipStream_t handle, unsigned *flags, int *priority, hipDevice_t *device)
{
	struct hip_stream *s;
	hipError_t r;

	if (!flags && !priority && !device)
		return hipErrorInvalidValue;
	r = hip_stream_of(handle, &s);
	if (r)
		return r;
	if (flags)
		*flags = s->flags;
	if (priority)
		*priority = s->priority;
	if (device)
		*device = s->device->index;
	return hipSuccess;
}

/* CLR refuses the null stream here. */
HIP_PUBLIC(hipStreamGetFlags, (hipStream_t stream, unsigned int *flags), (stream, flags))
{
	if (!stream)
		return hipErrorInvalidValue;
	return stream_get(stream, flags, NULL, NULL);
}

HIP_PUBLIC(hipStreamGetPriority, (hipStream_t stream, int *priority), (stream, priority))
{
	return stream_get(stream, NULL, priority, NULL);
}

HIP_PUBLIC(hipStreamGetDevice, (hipStream_t stream, hipDevice_t *device), (stream, device))
{
	return stream_get(stream, NULL, NULL, device);
}

int hipGetStreamDeviceId(hipStream_t stream)
{
	hipDevice_t device = -1;

	hip_call_begin();
	if (hip_ready() || stream_get(stream, NULL, NULL, &device))
		device = -1;
	hip_call_end();
	return device;
}

/* --- compute units ---------------------------------------------------------------------------- */

static uint32_t mask_dwords(const struct hip_device *d)
{
	return (d->cus + 31) / 32;
}

/* An empty mask allows all compute units. */
static hipError_t set_mask(struct hip_stream *s, uint32_t dwords, const uint32_t *mask)
{
	uint32_t most = mask_dwords(s->device), any = 0;
	hsa_status_t status;

	dwords = dwords < most ? dwords : most;
	for (uint32_t i = 0; i < dwords; i++)
		any |= mask[i];
	if (!any)
		return hipSuccess;
	status = hip.hsa->set_cus(s->flow, 32 * dwords, mask);
	/* The environment allows fewer units than the program requested. */
	return status == (hsa_status_t)HSA_STATUS_CU_MASK_REDUCED ? hipSuccess : hip_of_hsa(status);
}

static hipError_t create_masked(hipStream_t *out, uint32_t dwords, const uint32_t *mask)
{
	struct hip_stream *s;
	hipError_t r;

	if (!out)
		return hipErrorInvalidHandle;
	if (!dwords || !mask)
		return hipErrorInvalidValue;
	r = hip_stream_create(hip_current(), hipStreamDefault, 0, &s);
	if (r)
		return r;
	r = set_mask(s, dwords, mask);
	if (r)
		(void)!hip_stream_destroy((hipStream_t)(uintptr_t)s->handle);
	else
		*out = (hipStream_t)(uintptr_t)s->handle;
	return r;
}

HIP_PUBLIC(hipExtStreamCreateWithCUMask, (hipStream_t *stream, uint32_t dwords, const uint32_t *mask),
	   (stream, dwords, mask))
{
	return create_masked(stream, dwords, mask);
}

static hipError_t get_mask(hipStream_t handle, uint32_t dwords, uint32_t *mask)
{
	struct hip_stream *s;
	hipError_t r;

	if (!mask || dwords < mask_dwords(hip_current()))
		return hipErrorInvalidValue;
	r = hip_stream_of(handle, &s);
	if (r)
		return r;
	/* The stream may be on another device, which may need more words than the current one. */
	if (dwords < mask_dwords(s->device))
		return hipErrorInvalidValue;
	return hip_of_hsa(hip.hsa->get_cus(s->flow, 32 * mask_dwords(s->device), mask));
}

HIP_PUBLIC(hipExtStreamGetCUMask, (hipStream_t stream, uint32_t dwords, uint32_t *mask), (stream, dwords, mask))
{
	return get_mask(stream, dwords, mask);
}

/* --- identity and attributes (HIP 7) ----------------------------------------------------------- */

#if TUFF_HIP_ABI >= 7
HIP_PUBLIC(hipStreamGetId, (hipStream_t stream, unsigned long long *id), (stream, id))
{
	struct hip_stream *s;
	hipError_t r = id ? hip_stream_of(stream, &s) : hipErrorInvalidValue;

	if (!r)
		*id = s->id;
	return r;
}

/* CLR refuses the null stream here, too. */
HIP_PUBLIC(hipStreamSetAttribute,
	   (hipStream_t stream, hipLaunchAttributeID attribute, const hipLaunchAttributeValue *value),
	   (stream, attribute, value))
{
	struct hip_stream *s;
	hipError_t r;

	if (!stream || !value || attribute != hipLaunchAttributeSynchronizationPolicy ||
	    value->syncPolicy < hipSyncPolicyAuto || value->syncPolicy > hipSyncPolicyBlockingSync)
		return hipErrorInvalidValue;
	r = hip_stream_of(stream, &s);
	if (!r)
		atomic_store(&s->sync_policy, value->syncPolicy);
	return r;
}

HIP_PUBLIC(hipStreamGetAttribute,
	   (hipStream_t stream, hipLaunchAttributeID attribute, hipLaunchAttributeValue *value),
	   (stream, attribute, value))
{
	struct hip_stream *s;
	hipError_t r = value ? hip_stream_of(stream, &s) : hipErrorInvalidValue;

	if (r)
		return r;
	if (attribute == hipLaunchAttributeSynchronizationPolicy)
		value->syncPolicy = (hipSynchronizationPolicy)atomic_load(&s->sync_policy);
	else if (attribute == hipLaunchAttributePriority)
		value->priority = s->priority;
	else
		return hipErrorInvalidValue;
	return hipSuccess;
}

HIP_PUBLIC(hipStreamCopyAttributes, (hipStream_t dst, hipStream_t src), (dst, src))
{
	struct hip_stream *to, *from;
	hipError_t r = hip_stream_of(dst, &to);

	r = r ? r : hip_stream_of(src, &from);
	if (!r)
		atomic_store(&to->sync_policy, atomic_load(&from->sync_policy));
	return r;
}
#endif
