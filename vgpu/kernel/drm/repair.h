/* The state after a process was killed inside the kernel lock, between any two instructions. Kernel lock held.
 *
 * Nothing is written down while all goes well. What the processes of the run reach is walked instead, from their
 * slots: counts of references, lists that only repeat what pointers say, accounts and the heap are made anew from
 * that, and what nobody reaches is free. So an ioctl need only see to it that each pointer that it stores leads to
 * something whole. */
#ifndef VGPU_KERNEL_REPAIR_H
#define VGPU_KERNEL_REPAIR_H

/* Clears root->repair_due, unless a living process holds what only its stack names: then nothing is done yet.
 * Returns how many counts were wrong and how many blocks of the heap nobody reached: 0 in a state that is whole. */
unsigned kern_repair(void);

#endif
