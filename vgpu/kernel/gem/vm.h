/* GPU address spaces. Kernel lock held. */
#ifndef VGPU_KERNEL_GEM_VM_H
#define VGPU_KERNEL_GEM_VM_H

#include "vgpu/kernel/base/core.h"
#include "vgpu/kernel/base/profile.h"

/* User addresses: what DEV_INFO offers and GEM_VA accepts (Linux 6.12). */
#define KERN_VA_HOLE_START 0x0000800000000000ull
#define KERN_VA_HOLE_END   0xffff800000000000ull
#define KERN_VA_MASK       0x0000ffffffffffffull
/* The end of what a client may map, in 48 bits. */
static inline uint64_t kern_vm_size(const struct kern_device *dev)
{
	return (1ull << 48) - kern_profile_of(dev)->va_reserved_B;
}

struct kern_vm *kern_vm_create(struct kern_device *dev);
static inline struct kern_vm *kern_vm_get(struct kern_vm *vm)
{
	vm->refs++;
	return vm;
}
void kern_vm_put(struct kern_vm *vm); /* NULL is fine */

/* The reservation of the page tables: 0, or -EINTR while another holds it. Sleeps without the kernel lock. */
int kern_vm_lock(struct kern_vm *vm);
void kern_vm_unlock(struct kern_vm *vm);

/* The mapping that holds va (48 bits), or NULL. */
const struct kern_map *kern_vm_find(const struct kern_vm *vm, uint64_t va);
void kern_vm_remove_handle(struct kern_vm *vm, struct kern_handle *handle);
/* Removes everything. */
void kern_vm_clear(struct kern_vm *vm);
/* Delayed mappings become valid: a CS does this. */
void kern_vm_flush_delayed(struct kern_vm *vm);

int kern_gem_va(struct kern_file *file, void *arg);
int kern_vm_ioctl(struct kern_file *file, void *arg);

/* A job that was submitted at this version has begun: so the updates that it waits for are done. */
void kern_vm_landed(struct kern_vm *vm, uint64_t version);

/* Maps the dummy page at va, as Linux answers a fault that is retried (amdgpu_vm_handle_fault): beside what clients
 * map, which replaces it. Without memory nothing happens. Views that are taken later have it; an access through an
 * earlier one faults again, and then it is there already: false. */
bool kern_vm_redirect(struct kern_vm *vm, uint64_t va);

/* Mappings made since a view was taken. Immutable. */
struct kern_later {
	struct kern_later *before; /* owned: regions of it may be in use */
	uint64_t version, landed;  /* the VM's, when it was made */
	struct gpuvm_view view;
	struct gpuvm_region region[];
};

/* Address space of a job. Immutable, but for `later`; in this process's own memory; cached as long as mappings and
 * list stay the same. */
struct kern_view {
	unsigned refs; /* kernel lock */
	uint64_t vm, version, list;
	uint64_t cuts, landed;              /* the VM's, when it was taken */
	unsigned redirects;                 /* the VM's, part of the view's key, too */
	struct kern_vm *space;              /* borrowed from the jobs that have the view, as is: */
	struct kern_bo_list *listed;        /* NULL: none */
	bool everything;                    /* no list: all that is mapped may be accessed */
	bool waits;                         /* nothing showed yet that the page tables have all of it */
	_Atomic(struct kern_later *) later; /* owned; the newest; set with the kernel lock, release */
	struct gpuvm_view view;
	struct gpuvm_region region[];
};
/* The words of user queues' fences, at the reserved top of each VM (amdgpu_seq64.c): below 2 MiB for the CSA. */
#define KERN_SEQ64_VA ((1ull << 48) - (4ull << 20))

/* The view of a user queue: whatever is mapped is resident. NULL without memory. */
struct kern_view *kern_view_get_all(struct kern_vm *vm);
/* NULL without memory. */
struct kern_view *kern_view_get(struct kern_vm *vm, struct kern_bo_list *list);
void kern_view_put(struct kern_view *view);
/* Forgets this process's cached views. */
void kern_view_drop_all(void);

#endif
