/* Packets that order work: caches, end of pipe, events, waits. */
#include "vgpu/engine/cp.h"

/* Waves of this ring, not of others. On hardware RELEASE_MEM is queued behind the waves while the CP parses on;
 * here the CP stands until they are done, which nothing inside the job can tell but a packet that polls what a
 * later one writes, and that would be a hang on hardware too. */
static void await_waves(struct cp *cp)
{
	engine_ring_drain(cp->ring);
}

/* GFX9's L2 actions that do not do what their name says (Mesa radv_cs.c). */
static void check_l2_actions(const struct cp *cp, bool tc, bool wb, bool nc, bool metadata)
{
	if (wb && !tc && !nc)
		cp_remark(cp, 84, "TC_WB without TC or TC_NC does nothing");
	if (tc && !wb && !metadata)
		cp_remark(cp, 84, "invalidates L2 without writing it back: other queues' dirty lines are lost");
}

/* Both actions on L2 hold for MTYPE NC and RW alike, which is all that L2 keeps. */
static unsigned l2_actions(bool tc, bool wb, bool nc, bool metadata)
{
	return (wb && (tc || nc) ? MEM_WRITE_BACK : 0) | (tc && !(metadata && !wb) ? MEM_DROP_L2 : 0);
}

static void maintain(struct cp *cp, unsigned what, uint64_t lo, uint64_t hi)
{
	struct mem_cache *cache = cp->ring->dev->cache;
	unsigned lost = cache && what ? mem_cache_maintain(cache, what, lo, hi) : 0;

	if (lost)
		cp_remark(cp, 118, "%u lines of L2 are lost: they were written and not written back", lost);
}

static void acquire_caches(struct cp *cp, const struct pm4_acquire_mem *packet)
{
	uint32_t cntl = packet->coher_cntl;
	unsigned what = l2_actions(cntl & COHER_TC, cntl & COHER_TC_WB, cntl & COHER_TC_NC_ACTION,
				   cntl & COHER_TC_INV_METADATA);
	uint64_t lo = pm4_va(packet->base_lo, packet->base_hi) << 8;
	uint64_t size = pm4_va(packet->size_lo, bits(packet->size_hi, 7, 0));

	what |= cntl & (COHER_TCL1 | COHER_TCL1_VOL) ? MEM_DROP_L1 : 0;
	what |= cntl & (COHER_SH_KCACHE | COHER_SH_KCACHE_VOL) ? MEM_DROP_SCALAR : 0;
	what |= cntl & COHER_SH_ICACHE ? MEM_DROP_CODE : 0;
	/* 40 bits of 256 bytes: everything. */
	if (!size)
		return;
	maintain(cp, what, lo, !lo && size >> 32 == 0xff ? ~(uint64_t)0 : lo + (size << 8));
}

bool cp_acquire_mem(struct cp *cp)
{
	const struct pm4_acquire_mem *packet = (const void *)cp->body;
	uint32_t cntl = packet->coher_cntl;

	check_l2_actions(cp, cntl & COHER_TC, cntl & COHER_TC_WB, cntl & COHER_TC_NC_ACTION,
			 cntl & COHER_TC_INV_METADATA);
	if (!packet->size_lo && !bits(packet->size_hi, 7, 0))
		cp_remark(cp, 85, "an empty range: nothing is invalidated");
	acquire_caches(cp, packet);
	return true;
}

/* --- end of pipe ------------------------------------------------------------------------------ */

static bool write_eop_data(struct cp *cp, const struct pm4_release_mem *packet)
{
	uint64_t va = pm4_va(packet->addr_lo, packet->addr_hi), data = pm4_va(packet->data_lo, packet->data_hi);
	unsigned data_sel = bits(packet->data_cntl, 31, 29);
	bool written = true;

	if (data_sel != RELEASE_DATA_NONE && va & (data_sel == RELEASE_DATA_32 ? 3 : 7))
		cp_remark(cp, 100, "0x%llx is not aligned to its data", (unsigned long long)va);
	switch (data_sel) {
	case RELEASE_DATA_NONE:
		break;
	case RELEASE_DATA_32:
		written = engine_mem_write32(&cp->mem, va, packet->data_lo);
		break;
	case RELEASE_DATA_64:
		written = engine_mem_write64(&cp->mem, va, data);
		break;
	case RELEASE_DATA_GPU_CLOCK:
		written = engine_mem_write64(&cp->mem, va, engine_clock(cp->ring->dev->chip));
		break;
	default:
		return cp_illegal(cp, 65, "data_sel %u", data_sel);
	}
	/* End-of-pipe writes do not stop the CP: the fence is lost, and whoever waits for it waits. */
	if (!written)
		cp_remark(cp, 100, "the write to 0x%llx is lost", (unsigned long long)va);
	return true;
}

static bool is_eop_event(unsigned event)
{
	return event == EVENT_CACHE_FLUSH_TS || event == EVENT_CACHE_FLUSH_AND_INV_TS ||
	       event == EVENT_BOTTOM_OF_PIPE_TS || event == EVENT_CS_DONE;
}

bool cp_release_mem(struct cp *cp)
{
	const struct pm4_release_mem *packet = (const void *)cp->body;
	uint32_t cntl = packet->event_cntl;
	unsigned event = bits(cntl, 5, 0), index = bits(cntl, 11, 8);

	if (!is_eop_event(event) || (index != 5 && index != 6))
		return cp_hang(cp, 65, "event 0x%02x with index %u is not of the end of pipe", event, index);
	if (bits(packet->data_cntl, 17, 16) > 1)
		return cp_illegal(cp, 65, "dst_sel %u", bits(packet->data_cntl, 17, 16));
	check_l2_actions(cp, cntl & RELEASE_TC, cntl & RELEASE_TC_WB, cntl & RELEASE_TC_NC, false);
	await_waves(cp);
	if (engine_run_stopped(cp->run))
		return false;
	maintain(cp,
		 l2_actions(cntl & RELEASE_TC, cntl & RELEASE_TC_WB, cntl & RELEASE_TC_NC, false) |
			 (cntl & RELEASE_TCL1 ? MEM_DROP_L1 : 0),
		 0, ~(uint64_t)0);
	cp->mem.past_l2 = bits(packet->data_cntl, 17, 16) ? 0 : GPUVM_W;
	return write_eop_data(cp, packet);
}

bool cp_event_write(struct cp *cp)
{
	unsigned event = bits(cp->body[0], 5, 0), index = bits(cp->body[0], 11, 8);

	if (is_eop_event(event) && event != EVENT_CS_DONE)
		return cp_hang(cp, 64, "event 0x%02x is for RELEASE_MEM", event);
	switch (event) {
	case EVENT_CS_PARTIAL_FLUSH:
		if (index != 4)
			cp_remark(cp, 65, "CS_PARTIAL_FLUSH has index 4, not %u", index);
		await_waves(cp);
		return !engine_run_stopped(cp->run);
	case EVENT_VS_PARTIAL_FLUSH:
	case EVENT_PS_PARTIAL_FLUSH:
		return cp->gfx ? true : cp_illegal(cp, 64, "event 0x%02x is for graphics", event);
	case EVENT_SAMPLE_PIPELINESTAT:
		cp_remark(cp, 0, "pipeline statistics are not counted: nothing is written");
		return true;
	case EVENT_CACHE_FLUSH_AND_INV:
	case EVENT_PERFCOUNTER_START:
	case EVENT_PERFCOUNTER_STOP:
	case EVENT_PERFCOUNTER_SAMPLE:
	case EVENT_PIPELINESTAT_START:
	case EVENT_PIPELINESTAT_STOP:
	case EVENT_CS_DONE:
	case EVENT_THREAD_TRACE_START:
	case EVENT_THREAD_TRACE_STOP:
	case EVENT_THREAD_TRACE_MARKER:
	case EVENT_THREAD_TRACE_FINISH:
		return true;
	default:
		return cp->gfx ? true : cp_illegal(cp, 65, "event 0x%02x", event);
	}
}

/* --- waits ------------------------------------------------------------------------------------ */

/* One look. False: the job was stopped. */
static bool look(struct cp *cp, bool memory, uint64_t where, uint32_t *value)
{
	if (memory)
		return cp_need(cp, engine_mem_read32(&cp->mem, where, value));
	return cp_reg_read(cp, (uint32_t)where, value);
}

static bool poll_until(struct cp *cp, bool memory, uint64_t where, unsigned function, uint32_t mask,
		       uint32_t reference)
{
	struct engine_wait wait;
	char what[128];
	uint32_t value;
	bool ok = look(cp, memory, where, &value);

	if (!ok || pm4_compare(function, value & mask, reference))
		return ok;
	cp_where(cp, what, sizeof(what));
	engine_wait_begin(&wait, cp->run, what);
	do
		ok = engine_wait_on(&wait) && look(cp, memory, where, &value);
	while (ok && !pm4_compare(function, value & mask, reference));
	engine_wait_end(&wait);
	return ok;
}

bool cp_wait_reg_mem(struct cp *cp)
{
	const struct pm4_wait_reg_mem *packet = (const void *)cp->body;
	bool memory = bits(packet->control, 5, 4) == 1;
	unsigned function = bits(packet->control, 2, 0), operation = bits(packet->control, 7, 6);
	uint64_t where = memory ? pm4_va(packet->addr_lo, packet->addr_hi) : packet->addr_lo;

	if (function > PM4_GREATER || bits(packet->control, 5, 4) > 1)
		return cp_illegal(cp, 65, "control 0x%x", packet->control);
	/* Write, wait, write: as the kernel flushes HDP. */
	if (operation == 1) {
		if (memory || !cp_reg_write(cp, packet->addr_lo, packet->reference))
			return cp_illegal(cp, 66, "write-wait-write of 0x%x", packet->addr_lo);
		where = packet->addr_hi;
	} else if (operation) {
		return cp_illegal(cp, 65, "operation %u", operation);
	}
	return poll_until(cp, memory, where, function, packet->mask, packet->reference);
}

/* Waits until somebody sets the packet's valid bit in memory. */
bool cp_rewind(struct cp *cp)
{
	return poll_until(cp, true, cp->packet_va + 4, PM4_EQUAL, 1u << 31, 1u << 31);
}

/* --- constant and draw engine ------------------------------------------------------------------ */

/* A graphics job may bring an IB for the constant engine, which a card runs beside the draw engine's. Here IBs run
 * in their order, so only what an earlier one counted can be waited for. */
bool cp_count_engines(struct cp *cp)
{
	switch (pm4_opcode(cp->header)) {
	case PM4_INCREMENT_CE_COUNTER:
		cp->ce_count++;
		break;
	case PM4_INCREMENT_DE_COUNTER:
		cp->de_count++;
		break;
	default:
		cp->ce_count = cp->de_count = 0;
	}
	return true;
}

/* The draw engine waits until the constant engine is ahead; that one until it is not too far ahead. */
bool cp_wait_on_engine(struct cp *cp)
{
	uint32_t ahead = cp->ce_count - cp->de_count;
	bool draw = pm4_opcode(cp->header) == PM4_WAIT_ON_CE_COUNTER;
	char where[96];

	if (draw ? ahead != 0 && ahead <= INT32_MAX : ahead <= cp->body[0])
		return true;
	cp_where(cp, where, sizeof(where));
	engine_run_stop(cp->run, ENGINE_HANG, "%s: waits for ever, constant engine at %u, draw engine at %u", where,
			cp->ce_count, cp->de_count);
	return false;
}
