/* Address ranges, and the memory that is bound in them. */
#include "embed/internal.h"

#include <errno.h>
#include <stdlib.h>

int tuff_range_create_sized(struct tuff_device *handle, const struct tuff_range_create_info *info, size_t info_B,
			    struct tuff_range **out, uint64_t *va)
{
	struct tuff_range_create_info own;
	struct embed_device *device;
	struct embed_range *range;
	struct vm_range_request want;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	r = r ? r : embed_struct_take(&own, sizeof(own), info, info_B);
	if (r)
		return r;
	if (!out || !va)
		return drv_fail(-EINVAL, "no place for the range");
	if (own.flags & ~(unsigned)(TUFF_RANGE_LOW | TUFF_RANGE_GPU))
		return drv_fail(-EINVAL, "flags 0x%x", own.flags);
	want = (struct vm_range_request){
		.size_B = own.size_B,
		.align_B = own.align_B,
		.va = own.va,
		.flags = (own.va ? VM_REQUEST_EXACT : 0) | (own.flags & TUFF_RANGE_LOW ? VM_REQUEST_LOW : 0) |
			 (own.flags & TUFF_RANGE_GPU ? VM_REQUEST_HIGH : 0),
	};
	range = calloc(1, sizeof(*range));
	if (!range)
		return drv_fail(-ENOMEM, "no host memory for a range");
	range->base.device = device;
	r = vm_range_reserve(device->vm, &want, &range->range);
	if (r)
		goto fail_reserve;
	r = embed_publish(EMBED_RANGE, &range->base);
	if (r)
		goto fail_publish;
	*out = range->base.handle;
	*va = range->range.va;
	return 0;

fail_publish:
	vm_range_release(&range->range);
fail_reserve:
	free(range);
	return r;
}

int tuff_range_destroy(struct tuff_range *handle)
{
	struct embed_range *range;
	int r = handle ? embed_get(EMBED_RANGE, handle, &range) : 0;

	if (r || !handle)
		return r;
	embed_retire(EMBED_RANGE, &range->base);
	vm_range_release(&range->range);
	free(range);
	return 0;
}

/* Converts an access to vm's flags, for memory of those flags in this range. */
static unsigned convert_access(const struct vm_range *range, unsigned bo_flags, enum tuff_access access)
{
	bool cpu = bo_flags & VM_CPU && range->origin == VM_RANGE_HOST;
	unsigned out = 0;

	if (access & TUFF_ACCESS_READ)
		out |= VM_GPU_READ | (bo_flags & VM_EXEC ? VM_GPU_FETCH : 0) | (cpu ? VM_CPU_READ : 0);
	if (access == TUFF_ACCESS_READ_WRITE)
		out |= VM_GPU_WRITE | (cpu ? VM_CPU_WRITE : 0);
	return out;
}

static int check_access(enum tuff_access access)
{
	if (access != TUFF_ACCESS_NONE && access != TUFF_ACCESS_READ && access != TUFF_ACCESS_READ_WRITE)
		return drv_fail(-EINVAL, "access %u", access);
	return 0;
}

int tuff_range_bind(struct tuff_range *handle, uint64_t offset_B, struct tuff_mem *mem_handle,
		    uint64_t mem_offset_B, uint64_t size_B, enum tuff_access access)
{
	struct embed_range *range;
	struct embed_mem *mem;
	int r = embed_get(EMBED_RANGE, handle, &range);

	r = r ? r : embed_get(EMBED_MEM, mem_handle, &mem);
	r = r ? r : check_access(access);
	if (r)
		return r;
	if (mem->base.device != range->base.device)
		return drv_fail(-EXDEV, "memory of another device; tuff_mem_share() it first");
	return vm_range_rebind(&range->range, offset_B, mem->bo, mem_offset_B, size_B,
			       convert_access(&range->range, mem->bo->flags, access));
}

int tuff_range_unbind(struct tuff_range *handle, uint64_t offset_B, uint64_t size_B)
{
	struct embed_range *range;
	int r = embed_get(EMBED_RANGE, handle, &range);

	return r ? r : vm_range_unbind(&range->range, offset_B, size_B);
}

/* Checks that all of a part of a range is bound. */
static int check_bound(const struct vm_range *range, uint64_t offset_B, uint64_t size_B)
{
	uint64_t at_B = offset_B;
	struct vm_bound bound;

	if (!size_B || offset_B > range->size_B || size_B > range->size_B - offset_B)
		return drv_fail(-EINVAL, "%llu bytes at %llu of a range of %llu", (unsigned long long)size_B,
				(unsigned long long)offset_B, (unsigned long long)range->size_B);
	while (at_B < offset_B + size_B) {
		if (vm_range_query(range, at_B, &bound) || bound.offset_B > at_B)
			return drv_fail(-ENOENT, "nothing is bound at %llu", (unsigned long long)at_B);
		at_B = bound.offset_B + bound.size_B;
	}
	return 0;
}

int tuff_range_protect(struct tuff_range *handle, uint64_t offset_B, uint64_t size_B, enum tuff_access access)
{
	struct embed_range *range;
	uint64_t at_B = offset_B, end_B = offset_B + size_B;
	int r = embed_get(EMBED_RANGE, handle, &range);

	r = r ? r : check_access(access);
	r = r ? r : check_bound(&range->range, offset_B, size_B);
	/* Each binding is changed by itself: the CPU's access depends on its memory. */
	while (!r && at_B < end_B) {
		struct vm_bound bound;
		uint64_t part_B;

		r = vm_range_query(&range->range, at_B, &bound);
		if (r)
			break;
		part_B = bound.offset_B + bound.size_B - at_B;
		part_B = part_B < end_B - at_B ? part_B : end_B - at_B;
		r = vm_range_protect(&range->range, at_B, part_B,
				     convert_access(&range->range, bound.flags, access));
		at_B += part_B;
	}
	return r;
}
