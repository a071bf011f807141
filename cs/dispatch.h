/* Commands of compute rings: barriers, releases, dispatches.
 *
 *   cs_pm4                a generation's packets, where they differ: constant
 *   cs_barrier_packet     the packets of a barrier with an acquire, by scope; constant
 *   cs_launch             one dispatch
 *   cs_dispatch_template  the commands of a launch, written once, for launches that differ in addresses and id
 *
 * All structs are the caller's and plain data. Thread rule: an IB belongs to the thread that began it (cs.h). */
#ifndef CS_DISPATCH_H
#define CS_DISPATCH_H

#include <string.h>

#include "cs/code_object.h"
#include "cs/cs.h"

/* Memory scopes; values of HSA. */
enum cs_scope {
	CS_SCOPE_NONE,
	CS_SCOPE_AGENT, /* this GPU: vector and scalar L1 caches, instructions; with several XCCs L2, too */
	/* every agent and the host: writes L2 back and invalidates it, too; HSA's reserved 3 means the same */
	CS_SCOPE_SYSTEM,
};

#define CS_BARRIER_DW_MAX   12 /* dwords */
#define CS_CONSTANTS_DW_MAX 16
struct cs_barrier_packet {
	uint32_t dw[CS_BARRIER_DW_MAX], count;
	uint32_t pad[3]; /* makes the row size a power of two, for indexing by a shift */
};
struct cs_pm4 {
	/* A row per scope and barrier bit, which are adjacent in the header of an AQL packet. */
	struct cs_barrier_packet barrier[8];
	/* Packets at the start of an IB: registers that this library never changes, and other processes may. */
	uint32_t constants[CS_CONSTANTS_DW_MAX], constants_dw;
	uint32_t release[CS_SCOPE_SYSTEM + 1]; /* RELEASE_MEM, DW1 by scope: event and cache actions */
	uint32_t clock;                        /* COPY_DATA, DW1: GPU clock to memory */
	uint32_t write;                        /* WRITE_DATA, DW1 */
	bool writes_past_l2;                   /* WRITE_DATA changes memory, and L2 may hold the lines */
	bool limits_waves;                     /* RESOURCE_LIMITS has a limit */
	bool engine_waves;                     /* TMPRING_SIZE counts the waves of one engine */
	uint32_t scratch_word3; /* last word of the resource by which kernels address scratch, without its stride */
};
/* A row for each generation (enum drv_pm4), and one for devices with several XCCs. */
#define CS_PM4_XCCS (DRV_PM4_GFX12 + 1)
extern DRV_OWN const struct cs_pm4 cs_pm4_rows[CS_PM4_XCCS + 1];
static inline const struct cs_pm4 *cs_pm4_of(const struct drv_device *dev)
{
	return &cs_pm4_rows[dev->facts.xccs > 1 ? (unsigned)CS_PM4_XCCS : (unsigned)dev->chip->pm4];
}
/* Appends a barrier between two dispatches. barrier: waits until all waves launched before it have ended. acquire:
 * makes data that others wrote at that scope visible to the following commands; an acquire alone waits for no
 * wave. */
static inline void cs_ib_barrier(struct cs_ib *ib, bool barrier, enum cs_scope acquire)
{
	const struct cs_barrier_packet *packet = &ib->pm4->barrier[acquire << 1 | barrier];
	uint32_t *p = cs_ib_room(ib, CS_BARRIER_DW_MAX);

	/* A copy of constant size is three moves; later packets overwrite the dwords after the end. */
	memcpy(p, packet->dw, sizeof(packet->dw));
	cs_ib_wrote(ib, p + packet->count);
}
/* Appends a release: after earlier waves have ended, makes their writes visible at that scope, then writes the
 * 64-bit value to va (8-aligned). */
void cs_ib_release_value(struct cs_ib *ib, enum cs_scope scope, uint64_t va, uint64_t value);
/* Appends a release that writes the GPU clock counter to va, without cache action. */
void cs_ib_release_clock(struct cs_ib *ib, uint64_t va);
/* Writes the clock counter to va when the command processor reaches this packet, without waiting for waves. */
void cs_ib_clock(struct cs_ib *ib, uint64_t va);
/* Makes the command processor wait until the unsigned 32-bit word at va (uncached memory) is >= value. */
void cs_ib_wait_word(struct cs_ib *ib, uint64_t va, uint32_t value);
/* Makes the command processor write `count` dwords to va (4-aligned). */
void cs_ib_write(struct cs_ib *ib, uint64_t va, const uint32_t *data, unsigned count);

cs_print_fn cs_pm4_print;

/* --- dispatches --------------------------------------------------------------------------------- */

#define CS_ENGINES_MAX 8 /* most shader engines in masks of compute units */

/* One dispatch. The kernel's properties decide which of the addresses are used. */
struct cs_launch {
	const struct cs_kernel *kernel;
	uint32_t grid[3];  /* work-items, each at least 1; the last workgroups may be partial */
	uint32_t group[3]; /* work-items per workgroup */
	/* The part of the grid that runs, in workgroups; group_count all 0: the whole. The kernel still sees the
	 * size of the whole grid, and unchanged ids. */
	uint32_t first_group[3], group_count[3];
	uint32_t lds_B, private_B; /* totals: per workgroup, per lane */
	uint64_t kernarg_va;
	uint64_t packet_va; /* address of its AQL packet, which must stay unchanged until the kernel ends */
	uint64_t queue_va;  /* amd_queue_t */
	uint64_t dispatch_id;
	const uint32_t *cu_mask; /* compute units by shader engine, CS_ENGINES_MAX words; NULL: all */
	bool cooperative;        /* the workgroups wait for one another: scratch for all of them, or -ENOMEM */
};
#define CS_WANTS_DISPATCH_PTR (1u << 1) /* bit of cs_kernel.properties */
static inline bool cs_kernel_wants_packet(const struct cs_kernel *kernel)
{
	return kernel->properties & CS_WANTS_DISPATCH_PTR;
}
/* True when the kernel's waves have scratch: COMPUTE_PGM_RSRC2.SCRATCH_EN. */
static inline bool cs_kernel_has_scratch(const struct cs_kernel *kernel)
{
	return kernel->rsrc2 & 1;
}
/* Appends one dispatch: all its register state, and scratch. Dispatches of one IB may overlap; put cs_ib_barrier()
 * between those that depend on each other. -EINVAL: outside the chip's limits; -ENOMEM. The IB stays usable after
 * -EINVAL. */
DRV_MUST_CHECK int cs_ib_launch(struct cs_ib *ib, const struct cs_launch *launch);
/* Does the same for a dispatch without addresses, id and private_B: copies args_B bytes of explicit arguments, in the
 * kernel's layout, into the job, adds the hidden ones, and makes the packet if the kernel reads it. args_B: at most
 * kernel->explicit_B, and a struct's padding; missing bytes are zero. -EINVAL: outside the kernel's limits, too. */
DRV_MUST_CHECK int cs_ib_dispatch(struct cs_ib *ib, const struct cs_launch *launch, const void *args,
				  uint32_t args_B);
/* Most workgroups of group_threads work-items of a kernel with scratch that can run at the same time on one ring: the
 * hardware numbers the slots of a queue's waves with 12 bits. Other limits are not considered. */
uint32_t cs_scratch_groups_max(const struct drv_device *dev, const struct cs_kernel *kernel,
			       uint32_t group_threads);

#define CS_TAIL_MAX 24 /* dwords: 16 user SGPRs, the dispatch, and spare room for unused values */

/* A launch that is checked and written once, for many launches that differ only in addresses and id. Plain data. */
struct cs_dispatch_template {
	uint32_t dw[CS_ROOM_MAX + CS_TAIL_MAX];
	uint8_t count, packet_at, queue_at, kernarg_at, id_at;
	uint8_t tail_at; /* start of the tail: addresses, id and the dispatch, all that a repeated launch needs */
};
/* Writes a template. False: not possible, since the launch needs scratch or preloaded arguments, or cs_ib_launch()
 * would refuse it. The template is valid for all rings of the device. */
bool cs_dispatch_template_init(const struct cs_ring *ring, const struct cs_launch *launch,
			       struct cs_dispatch_template *template);
/* Patches a copy of the template's commands at p with the addresses and id of a launch; gives the end of the
 * commands. */
static inline uint32_t *cs_dispatch_template_patch(uint32_t *p, const struct cs_dispatch_template *template,
						   uint64_t kernarg_va, uint64_t queue_va, uint64_t dispatch_id)
{
	cs_put_64(p + template->queue_at, queue_va);
	cs_put_64(p + template->kernarg_at, kernarg_va);
	cs_put_64(p + template->id_at, dispatch_id);
	return p + template->count;
}
static inline void cs_ib_launch_template(struct cs_ib *ib, const struct cs_dispatch_template *template,
					 uint64_t kernarg_va, uint64_t queue_va, uint64_t dispatch_id,
					 uint64_t packet_va)
{
	uint32_t *p;

	if (ib->regs == template) {
		/* Copies of constant size are a few wide moves. */
		p = cs_ib_room(ib, CS_TAIL_MAX);
		memcpy(p, template->dw + template->tail_at, CS_TAIL_MAX * sizeof(*p));
		p -= template->tail_at;
	} else {
		p = cs_ib_room(ib, CS_ROOM_MAX);
		memcpy(p, template->dw, CS_ROOM_MAX * sizeof(*p));
		ib->regs = template;
	}
	cs_put_64(p + template->packet_at, packet_va);
	cs_ib_wrote(ib, cs_dispatch_template_patch(p, template, kernarg_va, queue_va, dispatch_id));
}

/* A ring with this many unfinished jobs has enough to do, and more work can wait to be batched into one job. */
#define CS_BUSY_JOBS 2
/* Submits a job of one launch by a template, for an idle or nearly idle ring, when the kernel needs no AQL packet.
 * Has the effect of cs_begin() (CS_NOWAIT; ordered: CS_ORDERED), cs_ib_launch_template() and cs_submit(), in a
 * third of the instructions. -EAGAIN: an uncommon case, and nothing has changed. */
DRV_MUST_CHECK int cs_submit_template(struct cs_ring *ring, bool ordered,
				      const struct cs_dispatch_template *template, uint64_t kernarg_va,
				      uint64_t queue_va, uint64_t dispatch_id);

#endif
