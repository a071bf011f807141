#include "embed/internal.h"
#include "vm/host.h"
#include "vm/peer.h"

#include <errno.h>
#include <stdlib.h>

/* Frees the memory that an object owns. */
static void discard(const struct embed_mem *made)
{
	if (made->mem)
		vm_mem_destroy(made->mem);
	else
		vm_bo_put(made->bo);
}

/* Gives new memory its public object, which takes over the memory; frees the memory when this fails. */
static int publish(struct embed_mem *made, struct tuff_mem **out)
{
	struct embed_mem *mem = malloc(sizeof(*mem));
	int r;

	if (!mem) {
		r = drv_fail(-ENOMEM, "no host memory for a tuff_mem");
		goto fail_mem;
	}
	*mem = *made;
	r = embed_publish(EMBED_MEM, &mem->base);
	if (r)
		goto fail_publish;
	if (mem->parent)
		mem->parent->shares++;
	if (mem->mem)
		vm_mem_set_owner(mem->mem, mem->base.handle);
	*out = mem->base.handle;
	return 0;

fail_publish:
	free(mem);
fail_mem:
	discard(made);
	return r;
}

static int publish_bound(struct embed_device *device, struct vm_mem *mem, enum tuff_place place, unsigned flags,
			 struct tuff_mem **out)
{
	struct embed_mem made = {.base.device = device, .mem = mem, .bo = mem->bo, .place = place, .flags = flags};

	return publish(&made, out);
}

/* --- allocation ------------------------------------------------------------------------------- */

/* Chooses the place of an allocation. TUFF_LOCAL on an APU depends on how much VRAM is in use. */
static int choose_place(const struct embed_device *device, const struct tuff_mem_create_info *info,
			enum tuff_place *place)
{
	struct drv_usage usage = {0};
	int r = 0;

	*place = info->place;
	if (info->place != TUFF_LOCAL)
		return 0;
	if (device->drv->facts.apu)
		r = drv_usage_memory(device->drv, &usage);
	*place = drv_memory_placement(&device->drv->facts, info->size_B, usage.vram_B) == DRV_PLACEMENT_VRAM
			 ? TUFF_VRAM
			 : TUFF_GTT;
	return r;
}

static int convert_info(const struct embed_device *device, const struct tuff_mem_create_info *info,
			struct vm_info *out, enum tuff_place *place)
{
	static const enum vm_kind kinds[] = {[TUFF_VRAM] = VM_VRAM, [TUFF_GTT] = VM_GTT, [TUFF_GTT_WC] = VM_GTT_WC};
	static const struct {
		unsigned flag, vm_flag;
	} flags[] = {
		{TUFF_MEM_CPU, VM_CPU},          {TUFF_MEM_EXECUTABLE, VM_EXEC}, {TUFF_MEM_UNCACHED, VM_UNCACHED},
		{TUFF_MEM_PRIVATE, VM_RESIDENT}, {TUFF_MEM_STRICT, VM_STRICT},   {TUFF_MEM_UNBOUND, 0},
	};
	unsigned unknown;
	int r;

	unknown = info->flags;
	*out = (struct vm_info){.size_B = info->size_B};
	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (info->flags & flags[i].flag) {
			out->flags |= flags[i].vm_flag;
			unknown &= ~flags[i].flag;
		}
	if ((unsigned)info->place > TUFF_LOCAL || unknown)
		return drv_fail(-EINVAL, "place %u, flags 0x%x", info->place, info->flags);
	r = choose_place(device, info, place);
	if (r)
		return r;
	out->kind = kinds[*place];
	if (out->kind == VM_VRAM && out->flags & VM_UNCACHED && !device->drv->can[DRV_CAN_FINE_VRAM].yes)
		return drv_fail(-ENOTSUP, "uncached VRAM: %s", device->drv->can[DRV_CAN_FINE_VRAM].why);
	return 0;
}

int tuff_mem_create_sized(struct tuff_device *handle, const struct tuff_mem_create_info *info, size_t info_B,
			  struct tuff_mem **out)
{
	struct tuff_mem_create_info own;
	struct embed_mem made = {0};
	struct vm_info vm_info;
	int r = embed_get(EMBED_DEVICE, handle, &made.base.device);

	r = r ? r : embed_struct_take(&own, sizeof(own), info, info_B);
	r = r ? r : convert_info(made.base.device, &own, &vm_info, &made.place);
	if (r)
		return r;
	if (!out)
		return drv_fail(-EINVAL, "no place for the memory");
	made.flags = own.flags;
	if (own.flags & TUFF_MEM_UNBOUND) {
		r = vm_bo_create(made.base.device->vm, &vm_info, &made.bo);
	} else {
		r = vm_mem_create(made.base.device->vm, &vm_info, &made.mem);
		made.bo = r ? NULL : made.mem->bo;
	}
	return r ? r : publish(&made, out);
}

int tuff_mem_destroy(struct tuff_mem *handle)
{
	struct embed_mem *mem;
	int r = handle ? embed_get(EMBED_MEM, handle, &mem) : 0;

	if (r || !handle)
		return r;
	if (mem->shares)
		return drv_fail(-EBUSY, "%u devices still share this memory", mem->shares);
	embed_retire(EMBED_MEM, &mem->base);
	if (mem->parent)
		mem->parent->shares--;
	discard(mem);
	free(mem);
	return 0;
}

int tuff_mem_query_sized(struct tuff_mem *handle, struct tuff_mem_info *info, size_t info_B)
{
	struct tuff_mem_info own;
	struct embed_mem *mem;
	int r = embed_get(EMBED_MEM, handle, &mem);

	if (r)
		return r;
	if (!info || !info_B)
		return drv_fail(-EINVAL, "no place for the facts");
	own = (struct tuff_mem_info){
		.va = mem->mem ? mem->mem->va : 0,
		.map = mem->mem ? mem->mem->map : NULL,
		.size_B = mem->mem ? mem->mem->size_B : mem->bo->size_B,
		.place = mem->place,
		.flags = mem->flags,
	};
	embed_struct_give(info, info_B, &own, sizeof(own));
	return 0;
}

int tuff_mem_find(struct tuff_device *handle, const void *address, struct tuff_mem **out, uint64_t *offset_B)
{
	struct embed_device *device;
	struct vm_location found;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	if (r)
		return r;
	if (!out || !offset_B)
		return drv_fail(-EINVAL, "no place for the memory");
	/* Memory that the driver made for itself has no tuff_mem. */
	if (vm_locate(device->vm, (uintptr_t)address, &found) || !found.owner)
		return drv_fail(-ENOENT, "no memory of the device at %p", address);
	*out = found.owner;
	*offset_B = found.offset_B;
	return 0;
}

/* --- host memory ------------------------------------------------------------------------------ */

int tuff_mem_register(struct tuff_device *handle, void *host, uint64_t size_B, unsigned flags,
		      struct tuff_mem **out)
{
	struct vm_register what = {.host = host, .size_B = size_B, .flags = VM_REGISTER_DONTFORK};
	struct embed_device *device;
	struct vm_mem *mem;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	if (r)
		return r;
	if (!out || !host || flags & ~(unsigned)(TUFF_REGISTER_READ_ONLY | TUFF_REGISTER_ALIAS))
		return drv_fail(-EINVAL, "host address %p, flags 0x%x", host, flags);
	if (flags & TUFF_REGISTER_READ_ONLY)
		what.flags |= VM_REGISTER_READ;
	if (flags & TUFF_REGISTER_ALIAS)
		what.flags |= VM_REGISTER_ALIAS;
	r = vm_mem_register(device->vm, &what, &mem);
	return r ? r : publish_bound(device, mem, TUFF_HOST, TUFF_MEM_CPU, out);
}

int tuff_mem_create_on_node(struct tuff_device *handle, uint64_t size_B, unsigned node, struct tuff_mem **out)
{
	struct embed_device *device;
	struct vm_mem *mem;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	if (r)
		return r;
	if (!out || node > INT32_MAX)
		return drv_fail(-EINVAL, "node %u", node);
	r = vm_mem_create_on_node(device->vm, size_B, (int)node, VM_CPU | VM_STRICT, &mem);
	return r ? r : publish_bound(device, mem, TUFF_HOST, TUFF_MEM_CPU, out);
}

int tuff_mem_nodes(struct tuff_mem *handle, uint64_t first_page, size_t count, int *node)
{
	struct embed_mem *mem;
	uint64_t pages, head_B;
	int r = embed_get(EMBED_MEM, handle, &mem);

	if (r)
		return r;
	if (!mem->mem || !mem->mem->map)
		return drv_fail(-EINVAL, "the CPU does not reach this memory");
	/* Registered memory may begin inside a page. */
	head_B = (uintptr_t)mem->mem->map % EMBED_PAGE_B;
	pages = (head_B + mem->mem->size_B + EMBED_PAGE_B - 1) / EMBED_PAGE_B;
	if (!node || !count || first_page >= pages || count > pages - first_page)
		return drv_fail(-EINVAL, "pages %llu + %zu of %llu", (unsigned long long)first_page, count,
				(unsigned long long)pages);
	r = vm_host_nodes((char *)mem->mem->map - head_B + first_page * EMBED_PAGE_B, count * EMBED_PAGE_B, node);
	for (size_t i = 0; !r && i < count; i++)
		node[i] = node[i] < 0 ? -1 : node[i];
	return r;
}

/* --- sharing ---------------------------------------------------------------------------------- */

int tuff_mem_export(struct tuff_mem *handle, int *fd)
{
	struct embed_mem *mem;
	int r = embed_get(EMBED_MEM, handle, &mem);

	if (!r && !fd)
		r = drv_fail(-EINVAL, "no place for the descriptor");
	return r ? r : vm_bo_export(mem->bo, fd);
}

int tuff_mem_import(struct tuff_device *handle, int fd, unsigned flags, struct tuff_mem **out)
{
	struct embed_mem made = {.place = TUFF_FOREIGN};
	int r = embed_get(EMBED_DEVICE, handle, &made.base.device);
	bool cpu;

	if (r)
		return r;
	if (!out || flags & ~(unsigned)(TUFF_MEM_CPU | TUFF_MEM_UNBOUND))
		return drv_fail(-EINVAL, "flags 0x%x", flags);
	if (flags & TUFF_MEM_UNBOUND) {
		r = vm_bo_import(made.base.device->vm, fd, &made.bo);
	} else {
		r = vm_mem_import(made.base.device->vm, fd, &made.mem);
		made.bo = r ? NULL : made.mem->bo;
	}
	/* -EBADF is the kernel's error for a closed descriptor; in this interface it means a dead object. */
	if (r)
		return r == -EBADF ? -EINVAL : r;
	/* The exporter may forbid what the kernel says of the import: the mapping tells, where there is one. */
	cpu = made.mem ? made.mem->map != NULL : made.bo->flags & VM_CPU;
	made.flags = flags | (cpu ? TUFF_MEM_CPU : 0);
	if (!(flags & TUFF_MEM_CPU) || cpu)
		return publish(&made, out);
	discard(&made);
	return drv_fail(-EACCES, "the exporter does not let the CPU reach this memory");
}

int tuff_mem_share(struct tuff_mem *handle, struct tuff_device *other, struct tuff_mem **out)
{
	struct embed_mem *mem, made = {.place = TUFF_FOREIGN};
	int r = embed_get(EMBED_MEM, handle, &mem);

	r = r ? r : embed_get(EMBED_DEVICE, other, &made.base.device);
	if (r)
		return r;
	if (!out || !mem->mem || made.base.device == mem->base.device)
		return drv_fail(-EINVAL, "%s", mem->mem ? "sharing with the device that has it" : "unbound memory");
	r = vm_mem_share(made.base.device->vm, mem->mem, &made.mem);
	if (r)
		return r;
	made.bo = made.mem->bo;
	made.flags = mem->flags;
	made.parent = mem;
	return publish(&made, out);
}

int tuff_peer_access(struct tuff_device *owner_handle, struct tuff_device *handle, enum tuff_peer *peer)
{
	static const enum tuff_peer peers[] = {[VM_PEER_NONE] = TUFF_PEER_NONE,
					       [VM_PEER_SYSTEM] = TUFF_PEER_SYSTEM,
					       [VM_PEER_DIRECT] = TUFF_PEER_DIRECT};
	struct embed_device *owner, *device;
	enum vm_peer found;
	int r = embed_get(EMBED_DEVICE, owner_handle, &owner);

	r = r ? r : embed_get(EMBED_DEVICE, handle, &device);
	if (!r && (!peer || owner == device))
		r = drv_fail(-EINVAL, "a device and itself");
	r = r ? r : vm_peer_probe(owner->vm, device->vm, cs_run_nop, NULL, &found);
	if (!r)
		*peer = peers[found];
	return r;
}
