/* Global wave sync: resources of a device with which waves of all workgroups synchronise. A resource is a barrier
 * or a semaphore, by the operations on it; a job may use the resources that the kernel gave it. */
#ifndef VGPU_ISA_GWS_H
#define VGPU_ISA_GWS_H

#include <stdbool.h>
#include <stdint.h>

#define ISA_GWS_UNITS 64

/* GWS resources of a device. Thread safe. */
struct isa_gws;
/* NULL without memory. */
struct isa_gws *isa_gws_create(void);
void isa_gws_destroy(struct isa_gws *gws);

/* GWS resources of a job. Plain data. */
struct isa_gws_part {
	struct isa_gws *gws;  /* borrowed; NULL: nothing */
	uint32_t base, count; /* resources 0 to count - 1 of its waves are base and the following ones */
	uint64_t given; /* stamp of the assignment to this owner, which has to set up a resource before its use */
	uint64_t groups, resident; /* workgroups of the dispatch; how many the chip holds at once */
};

/* Condition that a wave waits for. */
struct isa_gws_wait {
	uint8_t unit; /* number of the resource in the device */
	bool flag;    /* a barrier's: over when the resource's differs */
};

struct isa_wave;
/* Whether a wave that left with ISA_SYNC may go on; a semaphore is taken then. */
bool isa_gws_passed(struct isa_wave *wave);

#endif
