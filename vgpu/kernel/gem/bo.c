/* Buffers: creation, placement, handles, mapping for the CPU. */
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/base/inject.h"
#include "vgpu/kernel/base/jiffies.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/gem/evict.h"
#include "vgpu/kernel/gem/gws.h"
#include "vgpu/kernel/gem/handle.h"
#include "vgpu/kernel/gem/memory.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/sync/fence.h"

#define ON_CHIP (AMDGPU_GEM_DOMAIN_GDS | AMDGPU_GEM_DOMAIN_GWS | AMDGPU_GEM_DOMAIN_OA)

/* --- life --- */

void kern_call_put_bo(struct kern_bo *bo)
{
	kern_call_current()->bo = NULL;
	kern_bo_put(bo);
}

struct kern_bo *kern_bo_create(struct kern_device *dev, uint64_t size_B)
{
	struct kern_bo *bo = kern_alloc(sizeof(*bo));

	if (!bo)
		return NULL;
	bo->refs = 1;
	bo->id = (uint32_t)++kern->next_id;
	bo->dev = dev;
	bo->size_B = size_B;
	bo->alignment_B = KERN_PAGE;
	bo->fake = KERN_FAKE_BASE + kern->next_fake;
	kern->next_fake += KERN_PAGE;
	kern_list_init(&bo->handles);
	kern_list_init(&bo->lists);
	kern_list_init(&bo->user_link);
	kern_list_init(&bo->zombie);
	kern_list_init(&bo->lru);
	kern_list_init(&bo->imports);
	kern_list_init(&bo->import_link);
	kern_list_add(&kern->mmap_hash[bo->fake / KERN_PAGE % KERN_HASH], &bo->hash);
	kern_live(KERN_BOS, 1);
	kern_call_current()->bo = bo;
	return bo;
}

void kern_bo_take_offsets(const struct kern_bo *bo)
{
	kern->next_fake += bo->size_B - KERN_PAGE;
}

/* Each step can be repeated: a process may be killed between any two, and the next one starts again. */
static void bo_free(struct kern_bo *bo)
{
	struct kern_block *block = bo->block;
	struct kern_bo *foreign = bo->foreign;
	struct kern_vm *vm = bo->vm;

	kern_list_del(&bo->zombie);
	kern_list_add(&kern->proc[kern_local.slot].freeing, &bo->zombie);
	kern_list_del(&bo->hash);
	if (!kern_list_empty(&bo->user_link))
		kern->userptr_count--;
	kern_list_del(&bo->user_link);
	kern_list_del(&bo->lru);
	kern_list_del(&bo->import_link);
	kern_heap_uncharge(bo);
	kern_gws_release(bo);
	if (block)
		kern_block_discard(block);
	bo->block = NULL;
	kern_block_free(block);
	kern_resv_fini(&bo->resv);
	bo->foreign = NULL;
	kern_bo_put(foreign);
	bo->vm = NULL;
	kern_vm_put(vm);
	kern_free(bo->meta);
	kern_list_del(&bo->zombie);
	kern_live(KERN_BOS, -1);
	kern_free(bo);
}

/* Memory that a job may still use stays until the job's end (TTM's delayed delete). */
void kern_bo_put(struct kern_bo *bo)
{
	if (!bo || --bo->refs)
		return;
	kern_list_del(&bo->hash);
	if (kern_bo_fences(bo, kern_any_fence, NULL))
		kern_list_add_tail(&kern->zombies, &bo->zombie);
	else
		bo_free(bo);
}

void kern_bo_free_rest(struct kern_proc *proc)
{
	while (!kern_list_empty(&proc->freeing))
		bo_free(kern_entry(proc->freeing.next, struct kern_bo, zombie));
}

void kern_bo_bury(void)
{
	struct kern_list *pos, *tmp;

	kern_list_each(pos, tmp, &kern->zombies) {
		struct kern_bo *bo = kern_entry(pos, struct kern_bo, zombie);

		if (!kern_bo_fences(bo, kern_any_fence, NULL))
			bo_free(bo);
	}
}

uint8_t *kern_bo_host(const struct kern_bo *bo)
{
	const struct kern_block *block = kern_bo_block(bo);

	if (block)
		return kern_local.phys + block->offset;
	return (uint8_t *)(uintptr_t)bo->user_addr;
}

bool kern_bo_is_system(const struct kern_bo *bo)
{
	if (bo->foreign)
		return bo->foreign->heap != AMDGPU_GEM_DOMAIN_VRAM;
	return bo->heap != AMDGPU_GEM_DOMAIN_VRAM;
}

/* --- handles --- */

int kern_handle_create(struct kern_file *file, struct kern_bo *bo, uint32_t *id)
{
	struct kern_handle *handle = kern_alloc(sizeof(*handle));
	int r;

	if (!handle)
		return -ENOMEM;
	handle->bo = bo;
	handle->file = file;
	kern_list_init(&handle->maps);
	kern_list_init(&handle->bo_link);
	kern_list_step(); /* whoever finds it finds it whole */
	handle->id = kern_idr_add(&file->handles, handle, &r);
	if (!handle->id) {
		kern_free(handle);
		return r;
	}
	kern_bo_get(bo);
	kern_list_add_tail(&bo->handles, &handle->bo_link);
	*id = handle->id;
	return 0;
}

struct kern_handle *kern_handle_of(struct kern_file *file, struct kern_bo *bo)
{
	struct kern_list *pos, *tmp;

	kern_list_each(pos, tmp, &bo->handles) {
		struct kern_handle *handle = kern_entry(pos, struct kern_handle, bo_link);

		if (handle->file == file)
			return handle;
	}
	return NULL;
}

void kern_handle_close(struct kern_handle *handle)
{
	struct kern_file *file = handle->file;
	struct kern_bo *bo = handle->bo;
	struct kern_list *pos, *tmp;

	kern_vm_remove_handle(file->vm, handle);
	/* The list kept from the last chunk belongs to the kernel, not to the client: it must not keep the memory.
	 */
	kern_list_each(pos, tmp, &bo->lists)
		if (kern_entry(pos, struct kern_list_entry, bo_link)->list == file->recent) {
			kern_bo_list_put(file->recent);
			file->recent = NULL;
			break;
		}
	kern_list_del(&handle->bo_link);
	kern_idr_remove(&file->handles, handle->id);
	kern_free(handle);
	kern_bo_put(bo);
}

int kern_gem_close(struct kern_file *file, void *arg)
{
	struct drm_gem_close *args = arg;
	struct kern_handle *handle = kern_handle_find(file, args->handle);
	int r;

	if (!handle) {
		vgpu_finding(CONTRACT_HANDLE_CLOSED_TWICE, "GEM_CLOSE: handle %u is closed already, or never was",
			     args->handle);
		return -EINVAL;
	}
	/* Closing takes the reservation of the page tables: it waits behind a CS that blocks. */
	r = kern_vm_lock(file->vm);
	if (r)
		return r;
	handle = kern_handle_find(file, args->handle);
	if (handle)
		kern_handle_close(handle);
	kern_vm_unlock(file->vm);
	return handle ? 0 : -EINVAL;
}

/* --- creation --- */

static int create_check(const struct kern_device *dev, const struct drm_amdgpu_gem_create_in *in)
{
	if ((in->domains & AMDGPU_GEM_DOMAIN_DOORBELL) && !dev->userq)
		return -EINVAL;
	if (in->domain_flags & ~kern_profile_of(dev)->create_flags)
		return -EINVAL;
	if (in->domains & ~(uint64_t)(AMDGPU_GEM_DOMAIN_MASK | AMDGPU_GEM_DOMAIN_DOORBELL))
		return -EINVAL;
	if (kern_profile_of(dev)->plain_domains && (in->domains & ON_CHIP) && (in->domains & (in->domains - 1)))
		return -EINVAL;
	if (in->domain_flags & AMDGPU_GEM_CREATE_ENCRYPTED) /* no TMZ on compute parts */
		return -EINVAL;
	if ((in->domains & ON_CHIP) && (in->domain_flags & AMDGPU_GEM_CREATE_VM_ALWAYS_VALID))
		return -EINVAL;
	return 0;
}

/* The size must be smaller than the manager's: GTT's when GTT is allowed, else VRAM's. */
static bool size_fits(const struct kern_device *dev, uint64_t size_B, uint32_t domains)
{
	if (domains & AMDGPU_GEM_DOMAIN_GTT)
		return size_B < dev->gtt_B;
	if (domains & AMDGPU_GEM_DOMAIN_VRAM)
		return size_B < dev->vram_B;
	return true;
}

static int place_bo(struct kern_bo *bo, uint32_t domains, bool need_visible)
{
	if (!size_fits(bo->dev, bo->size_B, domains))
		return -ENOMEM;
	if ((domains & AMDGPU_GEM_DOMAIN_VRAM) && !kern_heap_charge(bo, AMDGPU_GEM_DOMAIN_VRAM, need_visible))
		return 0;
	/* A buffer that GTT serves as well does not evict others. */
	if (domains == AMDGPU_GEM_DOMAIN_VRAM && !kern_evict_for(bo, need_visible))
		return kern_heap_charge(bo, AMDGPU_GEM_DOMAIN_VRAM, need_visible);
	if ((domains & AMDGPU_GEM_DOMAIN_GTT) && !kern_heap_charge(bo, AMDGPU_GEM_DOMAIN_GTT, false))
		return 0;
	if (domains & (AMDGPU_GEM_DOMAIN_VRAM | AMDGPU_GEM_DOMAIN_GTT))
		return -ENOMEM;
	return kern_heap_charge(bo, AMDGPU_GEM_DOMAIN_CPU, false);
}

/* Tries placements in the kernel's order: as requested, without CPU access, with GTT besides VRAM. */
static int place_or_spill(struct kern_bo *bo, uint32_t domains, uint64_t flags)
{
	bool need_visible = flags & AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED;
	bool planned = domains == AMDGPU_GEM_DOMAIN_VRAM && kern_inject_event(KERN_SPILL);
	int r = planned ? -ENOMEM : place_bo(bo, domains, need_visible);

	if (r && need_visible && !planned) {
		r = place_bo(bo, domains, false);
		if (!r)
			vgpu_finding(CONTRACT_WINDOW_FULL,
				     "BO %u: the visible window is full, CPU_ACCESS_REQUIRED was dropped", bo->id);
	}
	if (r && domains == AMDGPU_GEM_DOMAIN_VRAM) {
		domains |= AMDGPU_GEM_DOMAIN_GTT;
		r = place_bo(bo, planned ? AMDGPU_GEM_DOMAIN_GTT : domains, false);
		if (!r && !planned)
			vgpu_finding(CONTRACT_VRAM_FULL, "BO %u: VRAM is full, %llu bytes spilled to GTT", bo->id,
				     (unsigned long long)bo->size_B);
	}
	bo->preferred = domains;
	bo->allowed = domains;
	if (domains == AMDGPU_GEM_DOMAIN_VRAM && !(flags & AMDGPU_GEM_CREATE_DISCARDABLE))
		bo->allowed |= AMDGPU_GEM_DOMAIN_GTT;
	return r;
}

/* VRAM that was not cleared holds its last owner's data: a pattern at its beginning fails clients that rely on
 * zeros. */
static void poison_vram(const struct kern_bo *bo)
{
	const uint64_t part_B = 1 << 20;

	if (vgpu_strict() != VGPU_STRICT_OFF)
		memset(kern_bo_host(bo), 0xd1, bo->size_B < part_B ? bo->size_B : part_B);
}

static int give_memory(struct kern_bo *bo, uint32_t domains, uint64_t flags)
{
	int r = place_or_spill(bo, domains, flags);

	if (r || (domains & ON_CHIP))
		return r;
	bo->block = kern_block_alloc(bo->size_B);
	if (!bo->block)
		return -ENOMEM;
	kern_bo_take_offsets(bo);
	if (bo->heap == AMDGPU_GEM_DOMAIN_VRAM && !(flags & AMDGPU_GEM_CREATE_VRAM_CLEARED))
		poison_vram(bo);
	return 0;
}

static uint64_t size_in_pages(const struct drm_amdgpu_gem_create_in *in)
{
	if (in->domains & (AMDGPU_GEM_DOMAIN_GWS | AMDGPU_GEM_DOMAIN_OA))
		return in->bo_size << 12; /* a "page" is a unit */
	if (in->domains & AMDGPU_GEM_DOMAIN_GDS)
		return kern_align(in->bo_size, 4) << 12;
	return kern_align(in->bo_size, KERN_PAGE);
}

static int create_bo(struct kern_file *file, const struct drm_amdgpu_gem_create_in *in, struct kern_bo **out)
{
	uint64_t flags = in->domain_flags | kern_profile_of(file->dev)->forced_flags;
	uint64_t size_B = size_in_pages(in);
	struct kern_bo *bo;
	int r;

	if (in->bo_size > UINT64_MAX - KERN_PAGE || (in->domains & ON_CHIP && in->bo_size > UINT32_MAX))
		return -ENOMEM;
	if (!size_B) {
		vgpu_finding(CONTRACT_BO_SIZE_0, "GEM_CREATE: a buffer of size 0");
		return -ENOSPC;
	}
	if (in->domains & ON_CHIP)
		flags |= AMDGPU_GEM_CREATE_NO_CPU_ACCESS;
	bo = kern_bo_create(file->dev, size_B);
	if (!bo)
		return -ENOMEM;
	bo->flags = flags & ~(uint64_t)AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED;
	bo->alignment_B = in->alignment ? kern_align(in->alignment, KERN_PAGE) : 0;
	if (flags & AMDGPU_GEM_CREATE_VM_ALWAYS_VALID)
		bo->vm = kern_vm_get(file->vm);
	r = give_memory(bo, (uint32_t)in->domains, flags);
	if (r)
		kern_call_put_bo(bo);
	else
		*out = bo;
	return r;
}

int kern_gem_create(struct kern_file *file, void *arg)
{
	union drm_amdgpu_gem_create *args = arg;
	struct drm_amdgpu_gem_create_in in = args->in;
	bool always_valid = in.domain_flags & AMDGPU_GEM_CREATE_VM_ALWAYS_VALID;
	struct kern_bo *bo;
	uint32_t id = 0;
	int r = create_check(file->dev, &in);

	if (!r && always_valid)
		r = kern_vm_lock(file->vm); /* the buffer shares the page tables' reservation */
	if (r)
		return r;
	r = create_bo(file, &in, &bo);
	if (always_valid)
		kern_vm_unlock(file->vm);
	if (r)
		return r;
	r = kern_handle_create(file, bo, &id);
	kern_call_put_bo(bo);
	if (r)
		return r;
	memset(args, 0, sizeof(*args));
	args->out.handle = id;
	return 0;
}

/* --- mapping for the CPU --- */

static bool cpu_forbidden(const struct kern_bo *bo)
{
	return kern_bo_is_userptr(bo) || (bo->flags & AMDGPU_GEM_CREATE_NO_CPU_ACCESS) || !kern_bo_block(bo);
}

int kern_gem_mmap(struct kern_file *file, void *arg)
{
	union drm_amdgpu_gem_mmap *args = arg;
	struct kern_handle *handle = kern_handle_must(file, args->in.handle, "GEM_MMAP");

	if (!handle)
		return -ENOENT;
	if (cpu_forbidden(handle->bo))
		return -EPERM;
	args->out.addr_ptr = handle->bo->fake;
	return 0;
}

static struct kern_bo *bo_at(uint64_t offset)
{
	struct kern_list *head = &kern->mmap_hash[offset / KERN_PAGE % KERN_HASH], *pos, *tmp;

	kern_list_each(pos, tmp, head) {
		struct kern_bo *bo = kern_entry(pos, struct kern_bo, hash);

		if (bo->fake == offset)
			return bo;
	}
	return NULL;
}

/* The kernel moves a buffer that the CPU touches outside the window when it is touched; here, when it is mapped. */
static void make_visible(struct kern_bo *bo)
{
	if (bo->heap != AMDGPU_GEM_DOMAIN_VRAM || bo->visible)
		return;
	bo->dev->cpu_faults++;
	if (kern_heap_charge(bo, AMDGPU_GEM_DOMAIN_VRAM, true))
		kern_heap_charge(bo, AMDGPU_GEM_DOMAIN_GTT, false);
	kern_bo_moved(bo);
	bo->flags |= AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED;
}

int kern_bo_mmap(struct kern_file *file, uint64_t offset, uint64_t size_B, int prot, int flags,
		 struct kern_bo **out, uint64_t *phys_offset)
{
	struct kern_bo *bo = bo_at(offset);

	if (!bo || bo->dev != file->dev || size_B > bo->size_B)
		return -EINVAL;
	if (!kern_handle_of(file, bo))
		return -EACCES;
	if (cpu_forbidden(bo))
		return -EPERM;
	if ((flags & MAP_TYPE) == MAP_PRIVATE && (prot & PROT_WRITE))
		return -EINVAL;
	make_visible(bo);
	*out = bo;
	*phys_offset = kern_bo_block(bo)->offset;
	return 0;
}

int kern_dmabuf_mmap(struct kern_bo *bo, uint64_t offset, uint64_t size_B, uint64_t *phys_offset)
{
	if (offset > bo->size_B || size_B > bo->size_B - offset)
		return -EINVAL;
	if (cpu_forbidden(bo))
		return -EPERM;
	make_visible(bo);
	*phys_offset = kern_bo_block(bo)->offset + offset;
	return 0;
}

/* --- attributes --- */

static int metadata_set(struct kern_bo *bo, const struct drm_amdgpu_gem_metadata *args)
{
	void *data = NULL;

	if (args->data.data_size_bytes > sizeof(args->data.data))
		return -EINVAL;
	if (args->data.data_size_bytes) {
		data = kern_alloc(args->data.data_size_bytes);
		if (!data)
			return -ENOMEM;
		memcpy(data, args->data.data, args->data.data_size_bytes);
	}
	kern_free(bo->meta);
	bo->meta = data;
	bo->meta_B = args->data.data_size_bytes;
	bo->meta_flags = args->data.flags;
	bo->tiling = args->data.tiling_info;
	return 0;
}

int kern_gem_metadata(struct kern_file *file, void *arg)
{
	struct drm_amdgpu_gem_metadata *args = arg;
	struct kern_handle *handle = kern_handle_must(file, args->handle, "GEM_METADATA");
	struct kern_bo *bo;

	if (!handle)
		return -ENOENT;
	bo = handle->bo;
	if (args->op == AMDGPU_GEM_METADATA_OP_SET_METADATA)
		return metadata_set(bo, args);
	if (args->op == AMDGPU_GEM_METADATA_OP_GET_METADATA) {
		args->data.tiling_info = bo->tiling;
		args->data.flags = bo->meta_flags;
		args->data.data_size_bytes = bo->meta_B;
		if (bo->meta_B)
			memcpy(args->data.data, bo->meta, bo->meta_B);
	}
	return 0; /* an unknown operation does nothing, successfully */
}

static int set_placement(struct kern_handle *handle, uint64_t value)
{
	struct kern_bo *bo = handle->bo;

	if (bo->foreign && (value & AMDGPU_GEM_DOMAIN_VRAM))
		return -EINVAL;
	if (kern_bo_is_userptr(bo))
		return -EPERM;
	bo->preferred = value & (AMDGPU_GEM_DOMAIN_VRAM | AMDGPU_GEM_DOMAIN_GTT | AMDGPU_GEM_DOMAIN_CPU);
	bo->allowed = bo->preferred;
	if (bo->allowed == AMDGPU_GEM_DOMAIN_VRAM)
		bo->allowed |= AMDGPU_GEM_DOMAIN_GTT;
	/* The next CS would move it; the client sees no difference but in the counters. */
	if (bo->block && bo->heap && !(bo->heap & bo->preferred) && !place_bo(bo, bo->allowed, bo->visible))
		kern_bo_moved(bo);
	return 0;
}

/* The count that is needed, and the mappings if there is room for all. */
static int list_mappings(struct kern_handle *handle, struct uapi_gem_op *args)
{
	uint32_t room = args->num_entries, count = 0;
	struct kern_list *pos, *tmp;
	int r = 0;

	if (args->padding)
		return -EINVAL;
	if (kern_list_empty(&handle->maps)) {
		vgpu_finding(
			0,
			"GEM_OP GET_MAPPING_INFO of a buffer without mappings: the first kernels that have it die");
		return -ENOENT;
	}
	kern_list_each(pos, tmp, &handle->maps)
		count++;
	args->num_entries = count;
	if (count > room)
		return 0;
	count = 0;
	kern_list_each(pos, tmp, &handle->maps) {
		const struct kern_map *map = kern_entry(pos, struct kern_map, link);
		struct uapi_gem_vm_entry entry = {map->lo, map->hi - map->lo, map->offset, map->flags};

		if (!r)
			r = kern_copy_out(args->value + count++ * sizeof(entry), &entry, sizeof(entry));
	}
	return r;
}

int kern_gem_op(struct kern_file *file, void *arg)
{
	struct uapi_gem_op *args = arg;
	struct kern_handle *handle = kern_handle_must(file, args->handle, "GEM_OP");
	struct drm_amdgpu_gem_create_in info;

	if (!handle)
		return -ENOENT;
	switch (args->op) {
	case AMDGPU_GEM_OP_GET_GEM_CREATE_INFO:
		info = (struct drm_amdgpu_gem_create_in){
			.bo_size = handle->bo->size_B,
			.alignment = handle->bo->alignment_B,
			.domains = handle->bo->preferred,
			.domain_flags = handle->bo->flags,
		};
		return kern_copy_out(args->value, &info, sizeof(info));
	case AMDGPU_GEM_OP_SET_PLACEMENT:
		return set_placement(handle, args->value);
	case UAPI_GEM_OP_GET_MAPPING_INFO:
		return kern_profile_of(file->dev)->lists_handles ? list_mappings(handle, args) : -EINVAL;
	default:
		return -EINVAL;
	}
}

int kern_gem_wait_idle(struct kern_file *file, void *arg)
{
	union drm_amdgpu_gem_wait_idle *args = arg;
	struct kern_handle *handle = kern_handle_must(file, args->in.handle, "GEM_WAIT_IDLE");
	int64_t deadline = kern_gem_deadline(file->dev, args->in.timeout);
	struct kern_bo *bo;
	int r;

	if (!handle)
		return -ENOENT;
	bo = kern_call_current()->bo = kern_bo_get(handle->bo);
	r = kern_bo_wait_idle(bo, deadline);
	kern_call_put_bo(bo);
	if (r && r != -ETIME)
		return r;
	memset(args, 0, sizeof(*args));
	args->out.status = r == -ETIME;
	return 0;
}

/* The count that is needed, when the array is too small for all. */
int kern_gem_list_handles(struct kern_file *file, void *arg)
{
	struct uapi_gem_list_handles *args = arg;
	uint32_t room = args->num_entries, count = 0;
	int r = 0;

	if (!kern_profile_of(file->dev)->lists_handles) {
		vgpu_finding(CONTRACT_IOCTL_UNKNOWN, "GEM_LIST_HANDLES is not of Linux %s's amdgpu",
			     kern_profile_of(file->dev)->release);
		return -EINVAL;
	}
	args->num_entries = file->handles.count;
	if (room < file->handles.count)
		return 0;
	for (uint32_t id = 1; !r && id < file->handles.room; id++) {
		const struct kern_handle *handle = kern_handle_find(file, id);
		const struct kern_bo *bo = handle ? handle->bo : NULL;

		if (!bo)
			continue;
		r = kern_copy_out(args->entries + count++ * sizeof(struct uapi_gem_list_handles_entry),
				  &(struct uapi_gem_list_handles_entry){
					  .gem_handle = id,
					  .flags = bo->foreign ? UAPI_GEM_LIST_HANDLES_IS_IMPORT : 0,
					  .size = bo->size_B,
					  .preferred_domains = bo->preferred,
					  .alloc_flags = bo->flags,
					  .alignment = bo->alignment_B,
				  },
				  sizeof(struct uapi_gem_list_handles_entry));
	}
	return r;
}
