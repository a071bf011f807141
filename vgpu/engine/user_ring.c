/* The ring of a user queue, and the packets that only such a ring holds. */
#include "vgpu/engine/cp.h"

struct cp_cursor cp_user_ring_cursor(const struct engine_user_ring *user_ring)
{
	return (struct cp_cursor){
		.va = user_ring->va + user_ring->begin * 4 % user_ring->size_B,
		.base_va = user_ring->va,
		.left_dw = (uint32_t)(user_ring->end - user_ring->begin),
		.ring_B = user_ring->size_B,
	};
}

void cp_user_ring_progress(const struct cp *cp)
{
	const struct engine_job *job = cp->run->job;

	job->user_ring->progress(job->user, job->user_ring->end - cp->at.left_dw);
}

/* A RELEASE_MEM of the firmware's own, to an address that the MQD holds (Linux mes_userqueue.c, fence_address; Mesa
 * amdgpu_cs.cpp has it as the last packet of a submission). Caches are left to the RELEASE_MEM before it. */
bool cp_protected_fence_signal(struct cp *cp)
{
	const struct engine_job *job = cp->run->job;
	uint64_t position = job->user_ring->end - cp->at.left_dw;

	engine_ring_drain(cp->run);
	if (engine_run_stopped(cp->run))
		return false;
	mem_order_signal(&cp->run->order, position);
	job->user_ring->signal(job->user, position);
	return true;
}

struct fences {
	struct cp *cp;
	unsigned next, count;
};

/* Looks at the fences from the first that was missing. False: the job was stopped. */
static bool fences_look(void *user, bool *over)
{
	struct fences *f = user;
	const struct pm4_fence_wait_multi *packet = (const void *)f->cp->body;

	for (*over = false; f->next < f->count; f->next++) {
		uint64_t va = pm4_va(packet->fence[f->next].va_lo, packet->fence[f->next].va_hi), value;

		if (!cp_need(f->cp, engine_mem_read64(&f->cp->mem, va, &value)))
			return false;
		if (value < pm4_va(packet->fence[f->next].value_lo, packet->fence[f->next].value_hi))
			return true;
		engine_mem_look_over(&f->cp->mem);
	}
	*over = true;
	return true;
}

bool cp_fence_wait_multi(struct cp *cp)
{
	struct fences fences = {.cp = cp, .count = (cp->body_dw - 1) / 4};

	if (cp->body_dw % 4 != 1)
		return cp_hang(cp, CONTRACT_PACKET_MALFORMED, "a body of %u dwords", cp->body_dw);
	return engine_wait_until(&cp->mem, fences_look, &fences);
}
