/* Row 70: an IB that the CPU changes between submission and execution. Checked at the fatal level only, because
 * the check reads every IB twice. */
#ifndef VGPU_KERNEL_SCHED_IB_HASH_H
#define VGPU_KERNEL_SCHED_IB_HASH_H

#include "vgpu/kernel/gem/vm.h"

/* At submission, with the kernel lock. */
void kern_ib_hash(struct kern_job *job);
/* Before execution, without it. */
void kern_ib_check(const struct kern_job *job);

#endif
