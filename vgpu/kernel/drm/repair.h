/* Repair of the state after a process was killed inside the kernel lock, between any two instructions. Kernel lock
 * held.
 *
 * Normal operation writes no log for it. The repair walks the objects that the processes of the run reach from
 * their slots: reference counts, lists that only repeat what pointers say, accounts and the heap are made anew
 * from that, and unreachable objects are freed. An ioctl need only ensure that each pointer that it stores leads
 * to a complete object. */
#ifndef VGPU_KERNEL_DRM_REPAIR_H
#define VGPU_KERNEL_DRM_REPAIR_H

/* Clears root->repair_due, unless a living process has an object that only its stack names: then it does nothing
 * yet. Returns how many counts were wrong and how many blocks of the heap were unreachable: 0 in a correct state.
 */
unsigned kern_repair(void);

#endif
