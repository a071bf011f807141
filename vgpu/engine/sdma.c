/* The SDMA packet processor: one flat IB after another. Copies are in sdma_copy.c. */
#include <stdarg.h>
#include <stdio.h>

#include "vgpu/engine/sdma_engine.h"

/* --- reports --- */

void sdma_where(const struct sdma *s, char *text, size_t text_B)
{
	snprintf(text, text_B, "SDMA %s at dword %u of IB %u", s->name, s->offset_dw, s->ib_index);
}

bool sdma_end(struct sdma *s, enum engine_status status, enum contract_row row, const char *fmt, ...)
{
	char where[128];
	va_list args;

	sdma_where(s, where, sizeof(where));
	va_start(args, fmt);
	engine_run_blame(s->run, status, row, where, fmt, args);
	va_end(args);
	return false;
}

void sdma_remark(const struct sdma *s, enum contract_row row, const char *fmt, ...)
{
	char where[128];
	va_list args;

	sdma_where(s, where, sizeof(where));
	va_start(args, fmt);
	engine_run_blame(s->run, ENGINE_DONE, row, where, fmt, args);
	va_end(args);
}

bool sdma_need(struct sdma *s, bool ok)
{
	char where[128];

	if (ok)
		return true;
	sdma_where(s, where, sizeof(where));
	engine_run_stop(s->run, ENGINE_HANG, "%s: the %s of 0x%llx was refused (%s)", where,
			s->mem.fault.access & GPUVM_W ? "write" : "read", (unsigned long long)s->mem.fault.va,
			s->mem.fault.mapped ? "not allowed by the mapping" : "not mapped");
	return false;
}

bool sdma_unswapped(struct sdma *s, uint32_t swap)
{
	return !swap || s->gen == P_SDMA70 ? true : sdma_end(s, ENGINE_HANG, 0, "byte swapping is not modelled");
}

/* --- packets --- */

static bool write_linear(struct sdma *s)
{
	const struct sdma_write *packet = (const void *)s->packet;
	uint64_t va = pm4_va(packet->dst_lo, packet->dst_hi);

	if (va & 3)
		sdma_remark(s, 0, "0x%llx is not 4-byte aligned", (unsigned long long)va);
	if (!sdma_unswapped(s, bits(packet->count, 25, 24)))
		return false;
	return sdma_need(s, engine_mem_write(&s->mem, va & ~(uint64_t)3, s->packet + 4, s->packet_dw - 4));
}

/* Past L2: its users on SDMA 5 and 6 set MTYPE UC. The effect of another type is not known. */
static bool sdma_fence(struct sdma *s)
{
	const struct sdma_fence *packet = (const void *)s->packet;

	if (s->gen & P_SDMA56 && bits(packet->header, 18, 16) != SDMA_MTYPE_UC)
		sdma_remark(s, CONTRACT_EOP_NO_WRITEBACK, "MTYPE %u, not UC: the word may stay in L2",
			    bits(packet->header, 18, 16));
	return sdma_need(s, engine_mem_write32(&s->mem, pm4_va(packet->addr_lo, packet->addr_hi), packet->data));
}

struct poll {
	struct sdma *s;
	const struct sdma_poll_regmem *packet;
	unsigned retries;
};

/* Polls again as often as the packet requests (0xfff: for ever). */
static bool poll_once(void *user, bool *over)
{
	struct poll *poll = user;
	const struct sdma_poll_regmem *packet = poll->packet;
	unsigned function = bits(packet->header, 30, 28), retry = bits(packet->interval, 27, 16);
	uint64_t va = pm4_va(packet->addr_lo, packet->addr_hi);
	uint32_t value;
	bool ok = sdma_need(poll->s, engine_mem_read32(&poll->s->mem, va, &value));

	*over = pm4_compare(function, value & packet->mask, packet->reference);
	if (ok && !*over && retry != 0xfff && poll->retries++ == retry)
		return sdma_end(poll->s, ENGINE_HANG, CONTRACT_POLL_ENDLESS, "poll timed out after %u retries",
				retry);
	return ok;
}

static bool poll_regmem(struct sdma *s)
{
	const struct sdma_poll_regmem *packet = (const void *)s->packet;
	struct poll poll = {s, packet, 0};

	if (s->gen != P_SDMA70 && bits(packet->header, 26, 26)) { /* flushes HDP */
		atomic_fetch_add_explicit(&s->ring->dev->hdp_flushes, 1, memory_order_relaxed);
		return true;
	}
	if (!bits(packet->header, 31, 31))
		return sdma_end(s, ENGINE_ILLEGAL, CONTRACT_REGISTER_FORBIDDEN, "polls register 0x%x",
				packet->addr_lo);
	return s->null ? true : engine_wait_until(&s->mem, poll_once, &poll);
}

static bool skip_dwords(struct sdma *s, uint32_t dw)
{
	if (dw > s->left_dw)
		return sdma_end(s, ENGINE_HANG, CONTRACT_PACKET_MALFORMED,
				"skips %u dwords, but the IB has %u left", dw, s->left_dw);
	s->va += (uint64_t)dw * 4;
	s->left_dw -= dw;
	return true;
}

static bool cond_exe(struct sdma *s)
{
	const struct sdma_cond_exe *packet = (const void *)s->packet;
	uint32_t value;

	if (!sdma_need(s, engine_mem_read32(&s->mem, pm4_va(packet->addr_lo, packet->addr_hi), &value)))
		return false;
	return value == packet->reference ? true : skip_dwords(s, packet->exec_count & 0x3fff);
}

static bool sdma_atomic(struct sdma *s)
{
	const struct sdma_atomic *packet = (const void *)s->packet;
	uint64_t va = pm4_va(packet->addr_lo, packet->addr_hi), src = pm4_va(packet->src_lo, packet->src_hi);
	uint64_t cmp = pm4_va(packet->cmp_lo, packet->cmp_hi), old;
	unsigned op = bits(packet->header, 31, 25);
	bool loop = bits(packet->header, 16, 16) && !s->null;

	if (!engine_atomic_name(op))
		return sdma_end(s, ENGINE_ILLEGAL, CONTRACT_PACKET_MALFORMED, "operation %u", op);
	return sdma_need(s, loop ? engine_wait_swap(&s->mem, va, op, src, cmp, &old)
				 : engine_mem_atomic(&s->mem, va, op, src, cmp, &old));
}

/* The engine has a counter of its own, which SET loads and GET reads; GET_GLOBAL reads the chip's. */
static bool sdma_timestamp(struct sdma *s)
{
	const struct sdma_timestamp *packet = (const void *)s->packet;
	uint64_t clock = engine_clock(s->ring->dev->chip), value = pm4_va(packet->lo, packet->hi);

	switch (bits(packet->header, 15, 8)) {
	case SDMA_TIMESTAMP_SET:
		s->ring->sdma_clock_base = value - clock;
		return true;
	case SDMA_TIMESTAMP_GET:
		clock += s->ring->sdma_clock_base;
		break;
	case SDMA_TIMESTAMP_GET_GLOBAL:
		break;
	default:
		return sdma_end(s, ENGINE_ILLEGAL, CONTRACT_PACKET_MALFORMED, "sub-operation %u",
				bits(packet->header, 15, 8));
	}
	if (value & 7)
		sdma_remark(s, CONTRACT_TIMESTAMP_UNITS, "0x%llx is not 8-byte aligned", (unsigned long long)value);
	return sdma_need(s, engine_mem_write64(&s->mem, value & ~(uint64_t)7, clock));
}

/* Chips of one device execute what names the first. */
static bool pre_exe(struct sdma *s)
{
	return bits(s->packet[0], 16, 16) ? true : skip_dwords(s, bits(s->packet[1], 13, 0));
}

/* Cache work in the name of all engines. A range of nothing is everything. */
static bool gcr_req(struct sdma *s)
{
	const struct sdma_gcr_req *packet = (const void *)s->packet;
	uint32_t gcr = bits(packet->base_hi, 31, 16) | bits(packet->limit_lo, 2, 0) << 16;
	uint64_t base = pm4_va(packet->base_lo & ~127u, bits(packet->base_hi, 15, 0));
	uint64_t limit = pm4_va(packet->limit_lo & ~127u, bits(packet->limit_hi, 15, 0));
	struct mem_cache *cache = s->ring->cache;
	struct engine_cache_work work =
		engine_gcr_work(packet_gfx_gen(s->ring->dev->chip), gcr, base, limit ? limit : ~(uint64_t)0);
	const char *fault = engine_gcr_fault(packet_gfx_gen(s->ring->dev->chip), gcr);
	unsigned lost = 0;

	if (fault)
		sdma_remark(s, CONTRACT_EOP_NO_WRITEBACK, "%s (GCR_CNTL 0x%05x)", fault, gcr);
	if (bits(packet->limit_hi, 27, 24))
		sdma_remark(s, CONTRACT_REGISTER_FORBIDDEN, "the kernel names VMIDs, not an IB");
	if (cache && work.what)
		lost = mem_cache_maintain(cache, work.what, work.lo, work.hi);
	if (lost)
		sdma_remark(s, CONTRACT_L2_DROPPED,
			    "%u lines of L2 are lost: they were written and not written back", lost);
	return true;
}

/* --- the loop --- */

/* Handlers by operation; a handler decodes its sub-operations. */
static const struct action {
	bool (*execute)(struct sdma *s); /* NULL: nothing to do */
	bool drains;                     /* waits for earlier copies */
	bool not_on_null;
} sdma_actions[] = {
	[SDMA_NOP] = {NULL, .drains = true},
	[SDMA_COPY] = {sdma_copy, .not_on_null = true},
	[SDMA_WRITE] = {write_linear},
	[SDMA_FENCE] = {sdma_fence, .drains = true},
	[SDMA_TRAP] = {NULL, .drains = true},
	[SDMA_POLL_REGMEM] = {poll_regmem, .drains = true},
	[SDMA_COND_EXE] = {cond_exe, .drains = true},
	[SDMA_ATOMIC] = {sdma_atomic, .drains = true},
	[SDMA_CONST_FILL] = {sdma_const_fill, .not_on_null = true},
	[SDMA_TIMESTAMP] = {sdma_timestamp, .drains = true},
	[SDMA_PRE_EXE] = {pre_exe, .drains = true},
	[SDMA_GCR_REQ] = {gcr_req, .drains = true},
	[SDMA_DUMMY_TRAP_4] = {NULL, .drains = true},
	[SDMA_DUMMY_TRAP] = {NULL, .drains = true},
};

static bool fetch_dwords(struct sdma *s, uint32_t *dst, uint64_t va, uint32_t dw)
{
	if (engine_mem_fetch(&s->mem, va, dst, dw))
		return true;
	vgpu_finding(CONTRACT_IB_UNREACHABLE, "SDMA IB %u of job %llu cannot be fetched at 0x%llx", s->ib_index,
		     (unsigned long long)s->run->job->seq, (unsigned long long)va);
	return sdma_need(s, false);
}

static bool refuse_op(struct sdma *s, const struct packet_form *form, uint32_t header)
{
	unsigned op = bits(header, 7, 0);

	if (!form)
		return sdma_end(s, ENGINE_ILLEGAL, CONTRACT_PACKET_MALFORMED,
				"operation %u.%u is unknown to this generation (header 0x%08x)", op,
				bits(header, 15, 8), header);
	if (op == SDMA_INDIRECT)
		return sdma_end(s, ENGINE_ILLEGAL, CONTRACT_SDMA_IB_NESTED,
				"an IB cannot hold INDIRECT (header 0x%08x)", header);
	if (form->flags & P_PRIVILEGED)
		return sdma_end(s, ENGINE_ILLEGAL, CONTRACT_REGISTER_FORBIDDEN, "it is privileged (header 0x%08x)",
				header);
	return sdma_end(s, ENGINE_HANG, 0, "the virtual GPU does not model it (header 0x%08x)", header);
}

/* Reads the packet behind its header, and what its length depends on before the rest. Each dword is read once: the client
 * may write them meanwhile. */
static bool fetch_packet(struct sdma *s, const struct packet_form *form)
{
	uint32_t first_dw = form->min_dw < s->left_dw ? form->min_dw : s->left_dw;

	if (first_dw > 1 && !fetch_dwords(s, s->ring->packet + 1, s->va + 4, first_dw - 1))
		return false;
	s->packet = s->ring->packet;
	s->packet_dw = packet_sdma_dw(form, s->packet, first_dw);
	if (!s->packet_dw || s->packet_dw > s->left_dw)
		return sdma_end(s, ENGINE_HANG, CONTRACT_PACKET_MALFORMED, "%u dwords, but the IB has %u left",
				s->packet_dw ? s->packet_dw : form->min_dw, s->left_dw);
	return s->packet_dw == first_dw || form->flags & P_IGNORED ||
	       fetch_dwords(s, s->ring->packet + first_dw, s->va + 4ull * first_dw, s->packet_dw - first_dw);
}

static void check_bits(struct sdma *s, const struct packet_form *form)
{
	unsigned where;
	uint32_t stray;

	if (vgpu_strict() != VGPU_STRICT_OFF &&
	    packet_stray_bits(form, s->gen, s->packet, s->packet_dw, &where, &stray))
		sdma_remark(s, CONTRACT_PACKET_MALFORMED, "reserved bits 0x%08x of dword %u are set", stray, where);
}

static bool execute_packet(struct sdma *s)
{
	const struct packet_form *form;
	const struct action *action;
	struct engine_record record;
	uint32_t header;
	bool ok;

	s->name = "packet";
	s->offset_dw = (uint32_t)((s->va - s->base_va) / 4);
	if (!fetch_dwords(s, &header, s->va, 1))
		return false;
	form = packet_sdma(s->gen, header);
	if (form)
		s->name = form->name;
	if (!form || form->flags & (P_PRIVILEGED | P_UNMODELLED))
		return refuse_op(s, form, header);
	s->ring->packet[0] = header;
	if (!fetch_packet(s, form))
		return false;
	s->va += (uint64_t)s->packet_dw * 4;
	s->left_dw -= s->packet_dw;
	action = &sdma_actions[form->op];
	if (action->drains)
		s->pending_count = 0;
	engine_mem_next(&s->mem);
	engine_run_elapse(s->run, ENGINE_PACKET_NS, ENGINE_HANG, "SDMA packets");
	if (!action->execute || (s->null && action->not_on_null))
		return true;
	check_bits(s, form);
	engine_packet_begins(&record, s->run, s->packet_dw, s->ib_index, (uint64_t)s->offset_dw * 4);
	ok = action->execute(s);
	engine_packet_ends(&record, s->run, s->name);
	return ok;
}

static bool check_ib(struct sdma *s, const struct engine_ib *ib)
{
	uint32_t dw = ib->size_B / 4;

	s->name = "IB start";
	s->offset_dw = 0;
	if (ib->va & 31)
		sdma_remark(s, ib->va & 3 ? CONTRACT_IB_UNALIGNED_4 : CONTRACT_IB_UNALIGNED_32,
			    "VA 0x%llx: the engine drops the low 5 bits", (unsigned long long)ib->va);
	if (!dw || dw > PM4_MAX_IB_dw)
		return sdma_end(s, ENGINE_HANG, CONTRACT_IB_SIZE, "a size of %u bytes", ib->size_B);
	if (ib->size_B & 3)
		sdma_remark(s, CONTRACT_IB_SIZE, "a size of %u bytes, no multiple of 4", ib->size_B);
	if (dw % 8)
		sdma_remark(s, CONTRACT_SDMA_IB_UNPADDED, "%u dwords, not padded to 8", dw);
	return true;
}

static void where_of(const void *user, char *text, size_t text_B)
{
	sdma_where(user, text, text_B);
}

void engine_sdma_execute(struct engine_run *run)
{
	struct sdma s = {
		.run = run,
		.ring = run->ring,
		.gen = packet_sdma_gen(run->ring->dev->chip),
		.null = run->ring->dev->null_device,
	};
	enum gpuvm_client client = (enum gpuvm_client)(GPUVM_SDMA0 + run->ring->index);

	engine_mem_init(&s.mem, run, client, client);
	if (s.gen & P_SDMA56)
		engine_mem_peek(&s.mem, run->ring->cache);
	s.mem.actor.where = where_of;
	s.mem.actor.user = &s;
	for (; s.ib_index < run->job->ib_count; s.ib_index++) {
		const struct engine_ib *ib = &run->job->ib[s.ib_index];

		s.va = s.base_va = ib->va & ~(uint64_t)31;
		s.left_dw = ib->size_B / 4;
		if (!check_ib(&s, ib))
			return;
		while (s.left_dw)
			if (engine_run_stopped(run) || !execute_packet(&s))
				return;
	}
}
