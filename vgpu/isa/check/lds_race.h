/* Races in LDS: two waves of a workgroup access the same byte with no barrier between the accesses, one of them
 * writes, and not both use an atomic. Private to vgpu/isa/, except the functions in isa.h.
 *
 * Each wave has a bit for each byte of LDS that it read, wrote or updated since the last barrier, and the
 * instructions that did it. A barrier orders operations that a wave has waited for; an operation under way when the
 * wave arrives (waitcnt_check.h) counts as done after the barrier.
 *
 * GFX12 arrives by s_barrier_signal and passes by s_barrier_wait. What a wave does in between has an order neither with
 * what others do before they arrive nor with what they do after they have passed: it counts on both sides.
 *
 * No race: accesses of lanes of one wave; a write of the value that is there already, which counts as a read of it
 * (so that all waves may write the same value); a read beside an atomic update: an atomic load is the same
 * instruction, and every loop of compare-and-swap begins with one.
 *
 * Thread rule: as the group's. */
#ifndef VGPU_ISA_CHECK_LDS_RACE_H
#define VGPU_ISA_CHECK_LDS_RACE_H

#include "vgpu/isa/check/waitcnt_check.h"

enum isa_race_kind { ISA_RACE_READ, ISA_RACE_WRITE, ISA_RACE_ATOMIC, ISA_RACE_KINDS };

/* A lane's access to [offset, offset + size_B) of LDS, inside its bounds, before it is done. new_bytes: what a
 * write brings. */
void isa_race_access(struct isa_wave *w, const struct isa_inst *i, uint32_t offset, unsigned size_B,
		     enum isa_race_kind kind, const void *new_bytes);
/* The same for all lanes of an instruction that reads. */
void isa_race_read(struct isa_wave *w, const struct isa_inst *i, const uint32_t offset[ISA_LANES], uint64_t lanes,
		   unsigned size_B);
/* Called when a wave arrives at a barrier, or at its end, where all of its operations get done. */
void isa_race_leave(const struct isa_wave *w, bool ends);
/* Called when a wave has passed s_barrier_wait. */
void isa_race_pass(const struct isa_wave *w);

#endif
