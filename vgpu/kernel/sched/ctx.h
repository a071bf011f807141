/* Contexts and their entities. Kernel lock held. */
#ifndef VGPU_KERNEL_SCHED_CTX_H
#define VGPU_KERNEL_SCHED_CTX_H

#include "vgpu/kernel/base/core.h"

void kern_ctx_put(struct kern_ctx *ctx); /* NULL is fine */
static inline struct kern_ctx *kern_ctx_find(struct kern_file *file, uint32_t id)
{
	return kern_idr_find(&file->contexts, id);
}
/* The entity for (ip, instance, ring): 0, -EINVAL, -ENOENT where its partition has no ring for the context's
 * priority, or the error that its last job left. */
int kern_ctx_entity(struct kern_ctx *ctx, uint32_t ip, uint32_t instance, uint32_t ring,
		    struct kern_entity **entity);
/* The end of job seq; ~0: the latest. *fence is NULL when that is long over; counted otherwise. 0 or -EINVAL. */
int kern_entity_fence(struct kern_entity *entity, uint64_t seq, struct kern_fence **fence);
/* Entities of that IP in a context; 0 for an IP that does not exist at all. */
unsigned kern_ip_entities(uint32_t ip);
/* IBs that one job of each IP may have; 6.12 has ten IP types, the last is VPE. */
#define KERN_IP_TYPES 10
extern const uint32_t kern_ip_max_ibs[KERN_IP_TYPES];
/* Hardware rings of that IP on this device. */
unsigned kern_ip_hw_rings(const struct kern_device *dev, uint32_t ip);
/* IPs with user queues on this device, a bit each. */
uint32_t kern_ip_userqs(const struct kern_device *dev);
/* Hardware slots of user queues of that IP. */
unsigned kern_ip_userq_slots(const struct kern_device *dev, uint32_t ip);

int kern_ctx_ioctl(struct kern_file *file, void *arg);
int kern_sched_ioctl(struct kern_file *file, void *arg);

#endif
