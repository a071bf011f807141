/* Arrays: linear images in device memory. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/image/image.h"
#include "api/stream/capture.h"

static struct {
	struct drv_mutex lock;
	LIST_HEAD(, hip_array) all;
} arrays = {.lock = DRV_MUTEX(DRV_RANK_HIP_ARRAYS)};

struct hip_array *hip_array_of(hipArray_const_t handle)
{
	return hip_find(HIP_ARRAY, handle);
}

/* --- descriptors ------------------------------------------------------------------------------ */

/* Translates HSA's errors for images. */
static hipError_t of_image(hsa_status_t status)
{
	if (!status)
		return hipSuccess;
	return status == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? hipErrorOutOfMemory : hipErrorInvalidValue;
}

hipError_t hip_image_words(const struct hip_device *d, const hsa_ext_image_descriptor_t *image, const void *data,
			   size_t row_B, uint32_t words[HIP_IMAGE_OBJECT_SIZE_DWORD])
{
	hsa_ext_image_t made;
	hsa_status_t status = hsa_ext_image_create_with_layout(d->agent, image, data, HSA_ACCESS_PERMISSION_RW,
							       HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, row_B, 0, &made);

	if (status)
		return of_image(status);
	/* HSA's handle is the address of the descriptor; a copy of the descriptor works as well. */
	memcpy(words, (const void *)(uintptr_t)made.handle, HIP_IMAGE_OBJECT_SIZE_DWORD * sizeof(words[0]));
	hsa_ext_image_destroy(d->agent, made);
	return hipSuccess;
}

static hsa_ext_image_descriptor_t image_describe(const struct hip_array *a, hsa_ext_image_format_t format)
{
	bool layered = a->flags & hipArrayLayered;

	return (hsa_ext_image_descriptor_t){
		.geometry = a->geometry,
		.width = a->width,
		.height = a->height,
		.depth = layered ? 0 : a->depth,
		.array_size = layered ? a->depth : 0,
		.format = format,
	};
}

hipError_t hip_array_words(const struct hip_array *a, hsa_ext_image_format_t format,
			   uint32_t words[HIP_IMAGE_OBJECT_SIZE_DWORD])
{
	const hsa_ext_image_descriptor_t image = image_describe(a, format);

	return hip_image_words(a->device, &image, a->base, a->row_B, words);
}

/* --- creation and destruction ----------------------------------------------------------------- */

/* Finds HSA's geometry. False: no image has these dimensions. */
static bool find_geometry(struct hip_array *a)
{
	if (!a->width || (a->flags & hipArrayLayered && !a->depth))
		return false;
	if (a->flags & hipArrayLayered)
		a->geometry = a->height ? HSA_EXT_IMAGE_GEOMETRY_2DA : HSA_EXT_IMAGE_GEOMETRY_1DA;
	else if (a->depth)
		a->geometry = HSA_EXT_IMAGE_GEOMETRY_3D;
	else
		a->geometry = a->height ? HSA_EXT_IMAGE_GEOMETRY_2D : HSA_EXT_IMAGE_GEOMETRY_1D;
	return a->height || a->geometry != HSA_EXT_IMAGE_GEOMETRY_3D;
}

/* Gets the layout of rows and slices, as the hardware reads it. */
static hipError_t lay_out(struct hip_array *a, size_t *size_B)
{
	const hsa_ext_image_descriptor_t image =
		image_describe(a, hip_texels_hsa(&a->texels, hipReadModeElementType, false));
	struct rt_image_layout layout;
	hipError_t r = of_image(hip.hsa->image_layout(a->device->agent, &image, &layout));

	if (r)
		return r;
	a->row_B = layout.row_B;
	a->slice_B = layout.slice_B;
	*size_B = layout.size_B;
	return hipSuccess;
}

static hipError_t descriptor_check(const HIP_ARRAY3D_DESCRIPTOR *how, struct hip_array *a)
{
	*a = (struct hip_array){
		.device = hip_current(),
		.texels = {how->Format, how->NumChannels},
		.width = how->Width,
		.height = how->Height,
		.depth = how->Depth,
		.flags = how->Flags,
	};
	/* CLR's limits: no cube maps, and gathers from planes only. */
	if (!hip_texels_are(&a->texels) ||
	    a->flags & ~(unsigned)(hipArrayLayered | hipArraySurfaceLoadStore | hipArrayTextureGather) ||
	    !find_geometry(a))
		return hipErrorInvalidValue;
	if (a->flags & hipArrayTextureGather && (!a->height || a->depth))
		return hipErrorInvalidValue;
	return hip_has_images(a->device) ? hipSuccess : hipErrorNotSupported;
}

/* An array that has a handle is in the list: another thread may free it at once. life: of the device before the memory was
 * allocated. Errors: ContextIsDestroyed, when a reset has begun since then, and may not find the array in the list. */
static hipError_t array_enlist(struct hip_array *a, unsigned life, hipArray_t *out)
{
	hipError_t r = hipErrorContextIsDestroyed;

	drv_mutex_lock(&arrays.lock);
	if (life == atomic_load(&a->device->life))
		r = hip_of_errno(drv_handle_create(&hip_handles, HIP_KIND(HIP_ARRAY), a, &a->handle));
	if (!r) {
		LIST_INSERT_HEAD(&arrays.all, a, in_all);
		*out = (hipArray_t)(uintptr_t)a->handle;
	}
	drv_mutex_unlock(&arrays.lock);
	return r;
}

/* Allocates memory and handle; publishes the handle last. */
static hipError_t array_make(struct hip_array *a, size_t size_B, hipArray_t *out)
{
	const unsigned life = atomic_load(&a->device->life);
	void *base;
	hipError_t r = hip_memory_allocate(a->device, size_B, &base);

	if (r)
		return r;
	a->base = base;
	r = array_enlist(a, life, out);
	if (r)
		(void)!hip_memory_free_now(base);
	return r;
}

hipError_t hip_array_create(const HIP_ARRAY3D_DESCRIPTOR *how, hipArray_t *out)
{
	struct hip_array plan, *a;
	size_t size_B;
	hipError_t r = hip_capture_refuses(hipErrorStreamCaptureUnsupported);

	if (!r)
		r = descriptor_check(how, &plan);
	if (!r)
		r = lay_out(&plan, &size_B);
	if (r)
		return r;
	a = malloc(sizeof(*a));
	if (!a)
		return hipErrorOutOfMemory;
	*a = plan;
	r = array_make(a, size_B, out);
	if (r)
		free(a);
	return r;
}

/* Removes the array, so that no call finds it. NULL: the handle is no array. */
static struct hip_array *array_take(hipArray_const_t handle)
{
	struct hip_array *a;

	drv_mutex_lock(&arrays.lock);
	a = hip_array_of(handle);
	if (a) {
		drv_handle_destroy(&hip_handles, a->handle);
		LIST_REMOVE(a, in_all);
	}
	drv_mutex_unlock(&arrays.lock);
	return a;
}

static void free_array(struct drv_retired *retired)
{
	free(vm_container(retired, struct hip_array, retired));
}

/* CLR's error for a handle that was an array is ContextIsDestroyed. */
static hipError_t array_destroy(hipArray_t handle)
{
	hipError_t r = hip_capture_refuses(hipErrorStreamCaptureUnsupported);
	struct hip_array *a;

	if (r)
		return r;
	if (!handle)
		return hipErrorInvalidValue;
	a = array_take(handle);
	if (!a)
		return hipErrorContextIsDestroyed;
	r = hip_memory_free_now(a->base);
	drv_retire(&hip_calls, &a->retired, free_array);
	drv_retire_collect(&hip_calls);
	return r;
}

void hip_arrays_reset(struct hip_device *device)
{
	struct hip_array *a, *taken;

	do {
		uint64_t handle = 0;

		drv_mutex_lock(&arrays.lock);
		for (a = LIST_FIRST(&arrays.all); a && a->device != device;)
			a = LIST_NEXT(a, in_all);
		if (a)
			handle = a->handle;
		drv_mutex_unlock(&arrays.lock);
		/* hip_memory_reset() frees their memory. */
		taken = a ? array_take((hipArray_const_t)(uintptr_t)handle) : NULL;
		if (taken)
			drv_retire(&hip_calls, &taken->retired, free_array);
	} while (a);
}

static hipError_t create_of_desc(hipArray_t *out, const hipChannelFormatDesc *desc, hipExtent extent,
				 unsigned flags)
{
	HIP_ARRAY3D_DESCRIPTOR how = {
		.Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
	struct hip_texels texels;

	if (!out || !desc || !hip_texels_of_desc(desc, &texels))
		return hipErrorInvalidValue;
	how.Format = texels.format;
	how.NumChannels = texels.channels;
	return hip_array_create(&how, out);
}

HIP_PUBLIC(hipMallocArray,
	   (hipArray_t *array, const hipChannelFormatDesc *desc, size_t width, size_t height, unsigned int flags),
	   (array, desc, width, height, flags))
{
	return create_of_desc(array, desc, (hipExtent){width, height, 0}, flags);
}

HIP_PUBLIC(hipMalloc3DArray,
	   (hipArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent, unsigned int flags),
	   (array, desc, extent, flags))
{
	return create_of_desc(array, desc, extent, flags);
}

HIP_PUBLIC(hipArrayCreate, (hipArray_t *array, const HIP_ARRAY_DESCRIPTOR *how), (array, how))
{
	HIP_ARRAY3D_DESCRIPTOR same;

	if (!array || !how)
		return hipErrorInvalidValue;
	same = (HIP_ARRAY3D_DESCRIPTOR){
		.Width = how->Width, .Height = how->Height, .Format = how->Format, .NumChannels = how->NumChannels};
	return hip_array_create(&same, array);
}

HIP_PUBLIC(hipArray3DCreate, (hipArray_t *array, const HIP_ARRAY3D_DESCRIPTOR *how), (array, how))
{
	return array && how ? hip_array_create(how, array) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipFreeArray, (hipArray_t array), (array))
{
	return array_destroy(array);
}

HIP_PUBLIC(hipArrayDestroy, (hipArray_t array), (array))
{
	return array_destroy(array);
}

/* --- queries ---------------------------------------------------------------------------------- */

static hipError_t array_find(hipArray_const_t handle, const struct hip_array **array)
{
	hipError_t r = hip_capture_refuses(hipErrorStreamCaptureUnsupported);

	*array = hip_array_of(handle);
	return r || *array ? r : hipErrorInvalidHandle;
}

HIP_PUBLIC(hipArrayGetInfo, (hipChannelFormatDesc *desc, hipExtent *extent, unsigned int *flags, hipArray_t handle),
	   (desc, extent, flags, handle))
{
	const struct hip_array *a;
	hipError_t r;

	r = array_find(handle, &a);
	if (r)
		return r;
	if (desc)
		*desc = hip_texels_desc(&a->texels);
	if (extent)
		*extent = (hipExtent){a->width, a->height, a->depth};
	if (flags)
		*flags = a->flags;
	return hipSuccess;
}

HIP_PUBLIC(hipArrayGetDescriptor, (HIP_ARRAY_DESCRIPTOR *how, hipArray_t handle), (how, handle))
{
	const struct hip_array *a;
	hipError_t r;

	r = array_find(handle, &a);
	if (r || !how)
		return r ? r : hipErrorInvalidValue;
	*how = (HIP_ARRAY_DESCRIPTOR){a->width, a->height, a->texels.format, a->texels.channels};
	return hipSuccess;
}

HIP_PUBLIC(hipArray3DGetDescriptor, (HIP_ARRAY3D_DESCRIPTOR *how, hipArray_t handle), (how, handle))
{
	const struct hip_array *a;
	hipError_t r;

	r = array_find(handle, &a);
	if (r || !how)
		return r ? r : hipErrorInvalidValue;
	*how = (HIP_ARRAY3D_DESCRIPTOR){a->width,         a->height,          a->depth,
					a->texels.format, a->texels.channels, a->flags};
	return hipSuccess;
}

HIP_PUBLIC(hipGetChannelDesc, (hipChannelFormatDesc *desc, hipArray_const_t handle), (desc, handle))
{
	const struct hip_array *a;

	if (!desc)
		return hipErrorInvalidValue;
	a = hip_array_of(handle);
	if (!a)
		return hipErrorInvalidHandle;
	*desc = hip_texels_desc(&a->texels);
	return hipSuccess;
}
