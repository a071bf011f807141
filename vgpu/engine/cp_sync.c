/* Packets that order work: caches, end of pipe, events, waits. */
#include "vgpu/engine/cp.h"

/* Waits for the waves of this ring, not of others. On hardware RELEASE_MEM is queued behind the waves while the CP
 * continues; here the CP waits. Inside a job the difference shows only to a packet that polls the result of a
 * later packet, and that would be a hang on hardware too. */
static void await_waves(struct cp *cp)
{
	engine_ring_drain(cp->run);
}

/* L2 actions of GFX9 whose effect differs from their name (Mesa radv_cs.c). */
static void check_l2_actions(const struct cp *cp, bool tc, bool wb, bool nc, bool metadata)
{
	if (wb && !tc && !nc)
		cp_remark(cp, CONTRACT_EOP_NO_WRITEBACK, "TC_WB without TC or TC_NC does nothing");
	if (tc && !wb && !metadata)
		cp_remark(cp, CONTRACT_EOP_NO_WRITEBACK,
			  "invalidates L2 without writing it back: other queues' dirty lines are lost");
}

/* Both actions on L2 hold for MTYPE NC and RW alike, which is all that L2 keeps. */
static unsigned l2_actions(bool tc, bool wb, bool nc, bool metadata)
{
	return (wb && (tc || nc) ? MEM_WRITE_BACK : 0) | (tc && !(metadata && !wb) ? MEM_DROP_L2 : 0);
}

static void maintain_caches(struct cp *cp, unsigned what, uint64_t lo, uint64_t hi)
{
	struct mem_cache *cache = cp->ring->cache;
	unsigned lost = cache && what ? mem_cache_maintain(cache, what, lo, hi) : 0;

	engine_run_cleaned(cp->run, what);
	if (lost)
		cp_remark(cp, CONTRACT_L2_DROPPED,
			  "%u lines of L2 are lost: they were written and not written back", lost);
}

/* 40 bits of 256 bytes are everything. */
static uint64_t range_end(uint64_t lo, uint64_t size256)
{
	return !lo && size256 >> 32 == 0xff ? ~(uint64_t)0 : lo + (size256 << 8);
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
	if (!size)
		return;
	maintain_caches(cp, what, lo, range_end(lo, size));
}

static void maintain_gcr(struct cp *cp, uint32_t gcr, uint64_t lo, uint64_t hi)
{
	struct engine_cache_work work = engine_gcr_work(cp->gen, gcr, lo, hi);
	const char *fault = engine_gcr_fault(cp->gen, gcr);

	if (fault)
		cp_remark(cp, CONTRACT_EOP_NO_WRITEBACK, "%s (GCR_CNTL 0x%05x)", fault, gcr);
	maintain_caches(cp, work.what, work.lo, work.hi);
}

/* From GFX10 on. The graphics ring of GFX11 may wait for a RELEASE_MEM's counter (pixel wait sync) in it, which has
 * always counted by then: RELEASE_MEM waits for the waves. */
static bool acquire_gcr(struct cp *cp)
{
	const struct pm4_acquire_mem_gcr *packet = (const void *)cp->body;
	uint64_t lo = pm4_va(packet->base_lo, bits(packet->base_hi, 23, 0)) << 8;
	uint64_t size = pm4_va(packet->size_lo, bits(packet->size_hi, 24, 0));

	if (!cp->gfx && packet->coher_cntl)
		cp_remark(cp, CONTRACT_PACKET_MALFORMED, "COHER_CNTL 0x%08x, which only the graphics ring has",
			  packet->coher_cntl);
	if (bits(packet->gcr_cntl, 12, 11) == GCR_GL2_RANGE && (size >> 32 >= 0xff || !size))
		cp_remark(cp, CONTRACT_INVALIDATE_MISSING, "GL2_RANGE with %s",
			  size ? "everything: hardware walks page after page" : "nothing");
	maintain_gcr(cp, packet->gcr_cntl, lo, size >> 32 >= 0xff ? ~(uint64_t)0 : lo + (size << 8));
	return true;
}

bool cp_acquire_mem(struct cp *cp)
{
	const struct pm4_acquire_mem *packet = (const void *)cp->body;
	uint32_t cntl = packet->coher_cntl;

	if (!(cp->gen & P_ALL9))
		return acquire_gcr(cp);
	check_l2_actions(cp, cntl & COHER_TC, cntl & COHER_TC_WB, cntl & COHER_TC_NC_ACTION,
			 cntl & COHER_TC_INV_METADATA);
	if (!packet->size_lo && !bits(packet->size_hi, 7, 0))
		cp_remark(cp, CONTRACT_INVALIDATE_MISSING, "an empty range: nothing is invalidated");
	acquire_caches(cp, packet);
	return true;
}

/* --- end of pipe --- */

/* Decodes data_sel into *data. Returns the size in bytes, 0 for no data, -1 where the generation lacks the value.
 */
static int eop_data(struct cp *cp, const struct pm4_release_mem *packet, uint64_t *data)
{
	switch (bits(packet->data_cntl, 31, 29)) {
	case RELEASE_DATA_NONE:
		return 0;
	case RELEASE_DATA_32:
		*data = packet->data_lo;
		return 4;
	case RELEASE_DATA_64:
		*data = pm4_va(packet->data_lo, packet->data_hi);
		return 8;
	case RELEASE_DATA_SYSTEM_CLOCK:
		if (cp->gen & P_ALL9)
			return -1;
		/* fallthrough */
	case RELEASE_DATA_GPU_CLOCK:
		*data = engine_clock(cp->ring->dev->chip);
		return 8;
	case RELEASE_DATA_ATOMIC_ADD_32:
		*data = packet->data_lo;
		return cp->gen & (P_GFX103 | P_GFX11) ? 4 : -1;
	default:
		return -1;
	}
}

static bool write_eop_data(struct cp *cp, const struct pm4_release_mem *packet)
{
	uint64_t va = pm4_va(packet->addr_lo, packet->addr_hi), data = 0, old;
	unsigned data_sel = bits(packet->data_cntl, 31, 29);
	int size_B = eop_data(cp, packet, &data);
	bool written = true;

	if (size_B < 0)
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "data_sel %u", data_sel);
	if (size_B && va & (unsigned)(size_B - 1))
		cp_remark(cp, CONTRACT_EOP_NOWHERE, "0x%llx is not aligned to its data", (unsigned long long)va);
	if (data_sel == RELEASE_DATA_ATOMIC_ADD_32)
		written = engine_mem_atomic(&cp->mem, va, ENGINE_ATOMIC_ADD_32, data, 0, &old);
	else if (size_B)
		written = size_B == 4 ? engine_mem_write32(&cp->mem, va, (uint32_t)data)
				      : engine_mem_write64(&cp->mem, va, data);
	/* End-of-pipe writes do not stop the CP: the fence is lost, and whoever waits for it waits. */
	if (!written)
		cp_remark(cp, CONTRACT_EOP_NOWHERE, "the write to 0x%llx is lost", (unsigned long long)va);
	return true;
}

/* Events with a time stamp, which only RELEASE_MEM may carry. */
static bool is_timestamp_event(unsigned event)
{
	return event == EVENT_CACHE_FLUSH_TS || event == EVENT_CACHE_FLUSH_AND_INV_TS ||
	       event == EVENT_BOTTOM_OF_PIPE_TS || event == EVENT_FLUSH_SX_TS ||
	       event == EVENT_FLUSH_AND_INV_DB_DATA_TS || event == EVENT_FLUSH_AND_INV_CB_DATA_TS;
}

static bool is_eop_event(const struct cp *cp, unsigned event)
{
	if (!cp->gfx && event >= EVENT_FLUSH_SX_TS && event != EVENT_CS_DONE)
		return false;
	return is_timestamp_event(event) || event == EVENT_CS_DONE || event == EVENT_PS_DONE;
}

/* The bits of RELEASE_MEM as GCR_CNTL has them; nothing for the instruction cache. */
static uint32_t release_gcr(unsigned gen, uint32_t cntl)
{
	uint32_t gcr = 0;

	gcr |= bits(cntl, 12, 12) ? GCR_GLM_WB : 0;
	gcr |= bits(cntl, 13, 13) ? GCR_GLM_INV : 0;
	gcr |= bits(cntl, 14, 14) ? GCR_GLV_INV : 0;
	gcr |= bits(cntl, 15, 15) ? GCR_GL1_INV : 0;
	gcr |= bits(cntl, 16, 16) ? GCR_GL2_US : 0;
	gcr |= bits(cntl, 18, 17) << 11;
	gcr |= bits(cntl, 19, 19) ? GCR_GL2_DISCARD : 0;
	gcr |= bits(cntl, 20, 20) ? GCR_GL2_INV : 0;
	gcr |= bits(cntl, 21, 21) ? GCR_GL2_WB : 0;
	gcr |= bits(cntl, 23, 22) << 16;
	gcr |= gen & P_11UP && bits(cntl, 24, 24) ? GCR_GLK_WB : 0;
	gcr |= gen & P_11UP && bits(cntl, 30, 30) ? GCR_GLK_INV : 0;
	return gcr;
}

static void release_caches(struct cp *cp, uint32_t cntl)
{
	if (!(cp->gen & P_ALL9)) {
		maintain_gcr(cp, release_gcr(cp->gen, cntl), 0, ~(uint64_t)0);
		return;
	}
	maintain_caches(cp,
			l2_actions(cntl & RELEASE_TC, cntl & RELEASE_TC_WB, cntl & RELEASE_TC_NC, false) |
				(cntl & RELEASE_TCL1 ? MEM_DROP_L1 : 0),
			0, ~(uint64_t)0);
}

bool cp_release_mem(struct cp *cp)
{
	const struct pm4_release_mem *packet = (const void *)cp->body;
	uint32_t cntl = packet->event_cntl;
	unsigned event = bits(cntl, 5, 0), index = bits(cntl, 11, 8);

	if (!is_eop_event(cp, event) || (index != 5 && index != 6))
		return cp_hang(cp, CONTRACT_PACKET_MALFORMED,
			       "event 0x%02x with index %u is not of the end of pipe", event, index);
	if (bits(packet->data_cntl, 17, 16) > 1)
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "dst_sel %u", bits(packet->data_cntl, 17, 16));
	if (cp->gen & P_ALL9)
		check_l2_actions(cp, cntl & RELEASE_TC, cntl & RELEASE_TC_WB, cntl & RELEASE_TC_NC, false);
	await_waves(cp);
	if (engine_run_stopped(cp->run))
		return false;
	release_caches(cp, cntl);
	cp->mem.past_l2 = bits(packet->data_cntl, 17, 16) ? 0 : GPUVM_W;
	cp->mem.actor.end_of_pipe = true;
	return write_eop_data(cp, packet);
}

/* Two clocks: where the CP reads the packet, and behind all waves before it. GFX11 and later. */
bool cp_timestamp(struct cp *cp)
{
	const struct pm4_timestamp *packet = (const void *)cp->body;
	uint64_t bottom = pm4_va(packet->bottom_lo, packet->bottom_hi),
		 top = pm4_va(packet->top_lo, packet->top_hi);

	cp->mem.past_l2 = GPUVM_W;
	if (packet->control & 2 &&
	    !cp_need(cp, engine_mem_write64(&cp->mem, top, engine_clock(cp->ring->dev->chip))))
		return false;
	if (!(packet->control & 1))
		return true;
	await_waves(cp);
	if (engine_run_stopped(cp->run))
		return false;
	cp->mem.actor.end_of_pipe = true;
	if (!engine_mem_write64(&cp->mem, bottom, engine_clock(cp->ring->dev->chip)))
		cp_remark(cp, CONTRACT_EOP_NOWHERE, "the write to 0x%llx is lost", (unsigned long long)bottom);
	return true;
}

/* --- events --- */

/* The order in which SAMPLE_PIPELINESTAT writes its counters (Mesa radv_query.c); of all of them only the
 * invocations of compute shaders move here. */
enum { PIPELINESTAT_COUNT = 11, PIPELINESTAT_CS = 10 };

/* Writes the number of compute invocations launched since PIPELINESTAT_START, of running waves too. */
static bool sample_pipelinestat(struct cp *cp, uint64_t va)
{
	for (unsigned i = 0; i < PIPELINESTAT_COUNT; i++)
		if (!cp_need(cp, engine_mem_write64(&cp->mem, va + 8 * i,
						    i == PIPELINESTAT_CS ? cp->ring->cs_invocations : 0)))
			return false;
	return true;
}

/* Writes a count for each render backend, in two words of 16 bytes each: nothing was drawn. Bit 63 marks the count
 * as written. */
static bool zpass_done(struct cp *cp, uint64_t va)
{
	for (unsigned rb = 0; rb < cp->ring->dev->chip->rbs; rb++)
		if (!cp_need(cp, engine_mem_write64(&cp->mem, va + 16 * rb, (uint64_t)1 << 63)))
			return false;
	return true;
}

/* Events that write to the packet's address. */
static bool sample_event(struct cp *cp, unsigned event)
{
	uint64_t va;

	if (cp->body_dw != 3)
		return cp_hang(cp, CONTRACT_PACKET_MALFORMED, "event 0x%02x has an address", event);
	va = pm4_va(cp->body[1], cp->body[2]);
	/* Mesa's Vulkan driver gives ZPASS_DONE an unaligned dword of its own scratch memory, which is harmless. */
	if (va & 7 && event != EVENT_ZPASS_DONE)
		cp_remark(cp, CONTRACT_PACKET_MALFORMED, "0x%llx is not 8-byte aligned", (unsigned long long)va);
	va &= ~(uint64_t)7;
	cp->mem.past_l2 = GPUVM_W;
	return event == EVENT_SAMPLE_PIPELINESTAT ? sample_pipelinestat(cp, va) : zpass_done(cp, va);
}

/* GFX11 and later have a packet of its own for it. */
bool cp_event_write_zpass(struct cp *cp)
{
	cp->mem.past_l2 = GPUVM_W;
	return zpass_done(cp, pm4_va(cp->body[0] & ~7u, cp->body[1]));
}

/* Events that a compute ring accepts (PAL's MEC headers and gfx9CmdUtil.cpp); the graphics ring accepts all
 * events. */
static bool is_compute_event(unsigned event)
{
	static const uint64_t events = 1ull << EVENT_CACHE_FLUSH | 1ull << EVENT_CACHE_FLUSH_AND_INV |
				       1ull << EVENT_PERFCOUNTER_START | 1ull << EVENT_PERFCOUNTER_STOP |
				       1ull << EVENT_PERFCOUNTER_SAMPLE | 1ull << EVENT_PIPELINESTAT_START |
				       1ull << EVENT_PIPELINESTAT_STOP | 1ull << EVENT_CS_DONE |
				       1ull << EVENT_THREAD_TRACE_START | 1ull << EVENT_THREAD_TRACE_STOP |
				       1ull << EVENT_THREAD_TRACE_MARKER | 1ull << EVENT_THREAD_TRACE_FINISH;

	return events >> event & 1;
}

bool cp_event_write(struct cp *cp)
{
	unsigned event = bits(cp->body[0], 5, 0), index = bits(cp->body[0], 11, 8);

	if (is_timestamp_event(event))
		return cp_hang(cp, CONTRACT_PACKET_WRONG_RING, "event 0x%02x is for RELEASE_MEM", event);
	switch (event) {
	case EVENT_CS_PARTIAL_FLUSH:
		if (index != 4)
			cp_remark(cp, CONTRACT_PACKET_MALFORMED, "CS_PARTIAL_FLUSH has index 4, not %u", index);
		await_waves(cp);
		mem_order_flush(&cp->run->order);
		return !engine_run_stopped(cp->run);
	case EVENT_SAMPLE_PIPELINESTAT:
		if (index != 2)
			cp_remark(cp, CONTRACT_PACKET_MALFORMED, "SAMPLE_PIPELINESTAT has index 2, not %u", index);
		return sample_event(cp, event);
	case EVENT_ZPASS_DONE:
		return cp->gfx ? sample_event(cp, event)
			       : cp_illegal(cp, CONTRACT_PACKET_WRONG_RING, "event 0x%02x is for graphics", event);
	case EVENT_PIPELINESTAT_START:
	case EVENT_PIPELINESTAT_STOP:
		cp->ring->counts_invocations = event == EVENT_PIPELINESTAT_START;
		return true;
	case EVENT_VS_PARTIAL_FLUSH:
	case EVENT_PS_PARTIAL_FLUSH:
		return cp->gfx ? true
			       : cp_illegal(cp, CONTRACT_PACKET_WRONG_RING, "event 0x%02x is for graphics", event);
	default:
		return cp->gfx || is_compute_event(event)
			       ? true
			       : cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "event 0x%02x", event);
	}
}

/* --- waits --- */

/* Operands of a poll. */
struct poll {
	struct cp *cp;
	bool memory, is_64;
	uint64_t where; /* address, or register */
	unsigned function;
	uint64_t mask, reference;
};

/* Polls once. False: the job was stopped. */
static bool poll_once(void *user, bool *over)
{
	const struct poll *poll = user;
	struct cp *cp = poll->cp;
	uint32_t word = 0, high = 0;
	uint64_t value = 0;
	bool ok;

	if (poll->memory && poll->is_64) {
		ok = cp_need(cp, engine_mem_read64(&cp->mem, poll->where, &value));
	} else if (poll->memory) {
		ok = cp_need(cp, engine_mem_read32(&cp->mem, poll->where, &word));
	} else {
		ok = cp_reg_read(cp, (uint32_t)poll->where, &word) &&
		     (!poll->is_64 || cp_reg_read(cp, (uint32_t)poll->where + 1, &high));
	}
	value |= pm4_va(word, high);
	*over = pm4_compare(poll->function, value & poll->mask, poll->reference);
	return ok;
}

enum { WAIT = 0, WAIT_WRITE_WAIT_WRITE = 1, WAIT_PREEMPTABLE = 3 };

/* Common part of the 32-bit and the 64-bit wait: control and address. */
static bool wait_on(struct cp *cp, struct poll *poll)
{
	uint32_t control = cp->body[0], lo = cp->body[1], hi = cp->body[2];
	unsigned operation = bits(control, 7, 6);

	poll->memory = bits(control, 5, 4) == 1;
	poll->function = bits(control, 2, 0);
	poll->where = poll->memory ? pm4_va(lo, hi) : lo;
	if (poll->function > PM4_GREATER || bits(control, 5, 4) > 1)
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "control 0x%x", control);
	/* Write, wait, write: as the kernel flushes HDP. */
	if (operation == WAIT_WRITE_WAIT_WRITE) {
		if (poll->memory || poll->is_64 || !cp_reg_write(cp, lo, (uint32_t)poll->reference))
			return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN, "write-wait-write of 0x%x", lo);
		poll->where = hi;
	} else if (operation != WAIT && !(operation == WAIT_PREEMPTABLE && cp->gen & P_11UP)) {
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "operation %u", operation);
	}
	return engine_wait_until(&cp->mem, poll_once, poll);
}

bool cp_wait_reg_mem(struct cp *cp)
{
	const struct pm4_wait_reg_mem *packet = (const void *)cp->body;
	struct poll poll = {.cp = cp, .mask = packet->mask, .reference = packet->reference};

	return wait_on(cp, &poll);
}

bool cp_wait_reg_mem64(struct cp *cp)
{
	const struct pm4_wait_reg_mem64 *packet = (const void *)cp->body;
	struct poll poll = {
		.cp = cp,
		.is_64 = true,
		.mask = pm4_va(packet->mask_lo, packet->mask_hi),
		.reference = pm4_va(packet->reference_lo, packet->reference_hi),
	};

	return wait_on(cp, &poll);
}

/* Waits until the packet's valid bit is set in memory. */
bool cp_rewind(struct cp *cp)
{
	struct poll poll = {
		.cp = cp,
		.memory = true,
		.where = cp->packet_va + 4,
		.function = PM4_EQUAL,
		.mask = 1u << 31,
		.reference = 1u << 31,
	};

	return engine_wait_until(&cp->mem, poll_once, &poll);
}

/* --- constant and draw engine --- */

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
