#include "api/module/built_in.h"

#include "shaders/blob.h"

extern const struct shader_blob kernels_blobs[];

static const char *const names[HIP_BUILT_INS] = {
	[HIP_BUILT_IN_MEET] = "meet",   [HIP_BUILT_IN_WRITE4] = "write4", [HIP_BUILT_IN_WRITE8] = "write8",
	[HIP_BUILT_IN_COPY1] = "copy1", [HIP_BUILT_IN_COPY4] = "copy4",   [HIP_BUILT_IN_COPY16] = "copy16",
	[HIP_BUILT_IN_FILL] = "fill",
};

static struct built_in {
	_Atomic bool loaded;  /* release: the members below are set */
	struct drv_lock lock; /* guards the members below; inside a stream's */
	struct hip_code code; /* owned */
	struct hip_kernel kernel[HIP_BUILT_INS];
} built_ins[HIP_DEVICES_MAX] = {[0 ... HIP_DEVICES_MAX - 1] = {.lock = DRV_LOCK(DRV_RANK_HIP_BUILT_INS)}};

static hipError_t load_locked(struct built_in *b, struct hip_device *device)
{
	const struct shader_blob *blob;
	hipError_t r;

	drv_rank_assert(DRV_RANK_HIP_BUILT_INS);
	if (b->loaded)
		return hipSuccess;
	blob = shader_for(kernels_blobs, "kernels.O3", device->chip);
	if (!blob)
		return hipErrorNoBinaryForGpu;
	r = hip_code_load(device, blob->image, blob->size_B, &b->code);
	if (r)
		return r;
	for (unsigned i = 0; i < HIP_BUILT_INS && !r; i++) {
		r = hip_code_kernel(&b->code, names[i], &b->kernel[i]);
		if (r == hipErrorNotFound && i == HIP_BUILT_IN_MEET) /* chips without global wave sync */
			r = hipSuccess;
	}
	if (r)
		hip_code_unload(&b->code);
	atomic_store_explicit(&b->loaded, !r, memory_order_release);
	return r;
}

__attribute__((cold, noinline)) static hipError_t load(struct built_in *b, struct hip_device *device)
{
	hipError_t r;

	drv_lock(&b->lock);
	r = load_locked(b, device);
	drv_unlock(&b->lock);
	return r;
}

hipError_t hip_built_in(struct hip_device *device, enum hip_built_in which, const struct hip_kernel **kernel)
{
	struct built_in *b = &built_ins[device->index];

	*kernel = &b->kernel[which];
	return __builtin_expect(atomic_load_explicit(&b->loaded, memory_order_acquire), 1) ? hipSuccess
											   : load(b, device);
}

void hip_built_ins_reset(struct hip_device *device)
{
	struct built_in *b = &built_ins[device->index];

	drv_lock(&b->lock);
	if (b->loaded)
		hip_code_unload(&b->code);
	b->loaded = false;
	drv_unlock(&b->lock);
}
