/* The command processor's loop: fetches packets of a job's IBs, checks what all packets share, and hands each to
 * its function. Jumps live here too. */
#include "vgpu/engine/cp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Modelled time of a jump, so that a chain that leads back to itself meets the watchdog too. */
#define JUMP_NS 5000

/* --- reports --- */

void cp_where(const struct cp *cp, char *text, size_t text_B)
{
	unsigned long long dw = (cp->packet_va - cp->at.base_va) / 4;

	if (cp->chained || cp->called)
		snprintf(text, text_B, "%s at dword %llu of the buffer at 0x%llx, jump %u of IB %u", cp->name, dw,
			 (unsigned long long)cp->at.base_va, cp->chained, cp->ib_index);
	else
		snprintf(text, text_B, "%s at dword %llu of IB %u", cp->name, dw, cp->ib_index);
}

__attribute__((format(printf, 4, 0))) static void report_at(const struct cp *cp, enum engine_status status,
							    enum contract_row row, const char *fmt, va_list args)
{
	char where[160];
	size_t length;

	cp_where(cp, where, 128);
	length = strlen(where);
	snprintf(where + length, sizeof(where) - length, " (header 0x%08x)", cp->header);
	engine_run_blame(cp->run, status, row, where, fmt, args);
}

bool cp_illegal(struct cp *cp, enum contract_row row, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report_at(cp, ENGINE_ILLEGAL, row, fmt, args);
	va_end(args);
	return false;
}

bool cp_hang(struct cp *cp, enum contract_row row, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report_at(cp, ENGINE_HANG, row, fmt, args);
	va_end(args);
	return false;
}

void cp_remark(const struct cp *cp, enum contract_row row, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report_at(cp, ENGINE_DONE, row, fmt, args);
	va_end(args);
}

bool cp_need(struct cp *cp, bool ok)
{
	char where[128];

	if (ok)
		return true;
	cp_where(cp, where, sizeof(where));
	engine_run_stop(cp->run, ENGINE_HANG, "%s: the packet processor's %s of 0x%llx was refused (%s)", where,
			cp->mem.fault.access & GPUVM_W   ? "write"
			: cp->mem.fault.access & GPUVM_X ? "executable fetch"
							 : "read",
			(unsigned long long)cp->mem.fault.va,
			cp->mem.fault.mapped ? "not allowed by the mapping" : "not mapped");
	return false;
}

/* --- jumps --- */

static bool check_target(struct cp *cp, const struct pm4_indirect_buffer *ib)
{
	uint64_t va = pm4_va(ib->base_lo, ib->base_hi);
	uint32_t size_dw = ib->control & PM4_MAX_IB_dw;

	if (!size_dw || va & 3)
		return cp_hang(cp, CONTRACT_IB_CHAIN, "jump to 0x%llx, %u dwords", (unsigned long long)va, size_dw);
	if (cp_in_user_ring(cp) && !(ib->control & IB_INHERIT_VMID))
		cp_remark(cp, CONTRACT_IB_CHAIN, "INHERIT_VMID is not set: VMID 0 is the kernel's, control 0x%08x",
			  ib->control);
	if (ib->control & (IB_VMID_MASK | IB_PRIV))
		cp_remark(cp, CONTRACT_IB_CHAIN, "the kernel sets VMID and PRIV, not an IB: control 0x%08x",
			  ib->control);
	return true;
}

/* Compute IBs chain; the ring of a user queue calls, as the kernel's rings do. */
static bool may_jump(const struct cp *cp, uint32_t control)
{
	if (cp->gfx)
		return true;
	return control & IB_VALID && !(control & IB_CHAIN) == cp_in_user_ring(cp);
}

static bool jump_to(struct cp *cp, const struct pm4_indirect_buffer *ib)
{
	bool chain = ib->control & IB_CHAIN;

	if (!check_target(cp, ib))
		return false;
	if (!may_jump(cp, ib->control))
		return cp_hang(cp, CONTRACT_IB_CHAIN, "compute %s, with VALID: control 0x%08x",
			       cp_in_user_ring(cp) ? "rings can only call" : "IBs can only chain", ib->control);
	if (!chain && cp->called)
		return cp_hang(cp, CONTRACT_IB_CHAIN, "an IB2 cannot call a further one");
	if (chain && cp->at.left_dw)
		cp_remark(cp, CONTRACT_IB_CHAIN, "%u dwords follow a chaining packet and are never read",
			  cp->at.left_dw);
	if (!chain) {
		cp->caller = cp->at;
		cp->called = true;
	}
	cp->at = (struct cp_cursor){.va = pm4_va(ib->base_lo, ib->base_hi), .left_dw = ib->control & PM4_MAX_IB_dw};
	cp->at.base_va = cp->at.va;
	cp->chained++;
	engine_run_elapse(cp->run, JUMP_NS, ENGINE_HANG, "a chain of IBs");
	return true;
}

static bool indirect_buffer(struct cp *cp)
{
	const struct pm4_cond_indirect_buffer *cond = (const void *)cp->body;
	uint64_t value, mask, reference;

	if (cp->body_dw == sizeof(struct pm4_indirect_buffer) / 4)
		return jump_to(cp, (const void *)cp->body);
	if (cp->body_dw != sizeof(*cond) / 4)
		return cp_hang(cp, CONTRACT_PACKET_MALFORMED, "a body of %u dwords", cp->body_dw);
	if (!cp_need(cp, engine_mem_read64(&cp->mem, pm4_va(cond->addr_lo, cond->addr_hi), &value)))
		return false;
	mask = pm4_va(cond->mask_lo, cond->mask_hi);
	reference = pm4_va(cond->reference_lo, cond->reference_hi);
	if (pm4_compare(bits(cond->control, 10, 8), value & mask, reference))
		return jump_to(cp, &cond->taken);
	return bits(cond->control, 1, 0) == 2 ? jump_to(cp, &cond->other) : true;
}

static void cursor_advance(struct cp_cursor *at, uint32_t dw)
{
	at->va += (uint64_t)dw * 4;
	if (at->ring_B)
		at->va = at->base_va + (at->va - at->base_va) % at->ring_B;
	at->left_dw -= dw;
}

static bool skip_dwords(struct cp *cp, uint32_t dw)
{
	if (dw > cp->at.left_dw)
		return cp_hang(cp, CONTRACT_PACKET_MALFORMED, "skips %u dwords, but the IB has %u left", dw,
			       cp->at.left_dw);
	cursor_advance(&cp->at, dw);
	return true;
}

static bool cond_exec(struct cp *cp)
{
	const struct pm4_cond_exec *packet = (const void *)cp->body;
	uint32_t value;

	if (!cp_need(cp, engine_mem_read32(&cp->mem, pm4_va(packet->addr_lo, packet->addr_hi), &value)))
		return false;
	return value ? true : skip_dwords(cp, packet->exec_count & 0x3fff);
}

enum { PREDICATION_CLEAR = 0, PREDICATION_64 = 3, PREDICATION_32 = 4 };

/* Conditional rendering, which covers dispatches on the graphics ring. Counts of pixels and primitives are not
 * there to go by. */
static bool set_predication(struct cp *cp)
{
	const struct pm4_set_predication *packet = (const void *)cp->body;
	uint64_t va = pm4_va(packet->addr_lo, packet->addr_hi), value = 0;
	unsigned op = bits(packet->control, 18, 16);
	uint32_t word = 0;
	bool ok = true;

	if (op == PREDICATION_64)
		ok = cp_need(cp, engine_mem_read64(&cp->mem, va, &value));
	else if (op == PREDICATION_32)
		ok = cp_need(cp, engine_mem_read32(&cp->mem, va, &word));
	else if (op != PREDICATION_CLEAR)
		return cp_illegal(cp, CONTRACT_PACKET_WRONG_RING, "operation %u is for draws", op);
	cp->predicate_fails = op != PREDICATION_CLEAR && (value || word) != bits(packet->control, 8, 8);
	return ok;
}

/* Chips of one die execute what names die 0. */
static bool pred_exec(struct cp *cp)
{
	return bits(cp->body[0], 31, 24) & 1 ? true : skip_dwords(cp, cp->body[0] & 0x3fff);
}

/* --- packets --- */

/* Data that the CPU wrote to VRAM is visible without a flush: only the order checker has to be told of a flush. */
static bool hdp_flush(struct cp *cp)
{
	atomic_fetch_add_explicit(&cp->ring->dev->hdp_flushes, 1, memory_order_relaxed);
	return true;
}

static bool atomic_gds(struct cp *cp)
{
	return cp_illegal(cp, CONTRACT_PACKET_WRONG_RING, "no GDS is assigned to the job");
}

/* Handlers by opcode. Opcodes without a handler are ignored. */
static const struct action {
	bool (*execute)(struct cp *cp);
	bool not_on_null; /* the null device skips it */
} cp_actions[256] = {
	[PM4_SET_BASE] = {cp_set_base},
	[PM4_DISPATCH_DIRECT] = {cp_dispatch_direct, .not_on_null = true},
	[PM4_DISPATCH_INDIRECT] = {cp_dispatch_indirect, .not_on_null = true},
	[PM4_DISPATCH_DIRECT_INTERLEAVED] = {cp_dispatch_direct, .not_on_null = true},
	[PM4_DISPATCH_INDIRECT_INTERLEAVED] = {cp_dispatch_indirect, .not_on_null = true},
	[PM4_EVENT_WRITE_ZPASS] = {cp_event_write_zpass},
	[PM4_ATOMIC_GDS] = {atomic_gds},
	[PM4_ATOMIC_MEM] = {cp_atomic_mem},
	[PM4_SET_PREDICATION] = {set_predication},
	[PM4_COND_EXEC] = {cond_exec},
	[PM4_PRED_EXEC] = {pred_exec},
	[PM4_WRITE_DATA] = {cp_write_data},
	[PM4_WAIT_REG_MEM] = {cp_wait_reg_mem, .not_on_null = true},
	[PM4_INDIRECT_BUFFER] = {indirect_buffer},
	[PM4_COPY_DATA] = {cp_copy_data},
	[PM4_COND_WRITE] = {cp_cond_write},
	[PM4_EVENT_WRITE] = {cp_event_write},
	[PM4_RELEASE_MEM] = {cp_release_mem},
	[PM4_DMA_DATA] = {cp_dma_data, .not_on_null = true},
	[PM4_ACQUIRE_MEM] = {cp_acquire_mem},
	[PM4_REWIND] = {cp_rewind, .not_on_null = true},
	[PM4_SET_CONTEXT_REG] = {cp_set_context_reg},
	[PM4_SET_SH_REG] = {cp_set_sh_reg},
	[PM4_SET_UCONFIG_REG] = {cp_set_uconfig_reg},
	[PM4_INCREMENT_CE_COUNTER] = {cp_count_engines},
	[PM4_INCREMENT_DE_COUNTER] = {cp_count_engines},
	[PM4_WAIT_ON_CE_COUNTER] = {cp_wait_on_engine},
	[PM4_WAIT_ON_DE_COUNTER_DIFF] = {cp_wait_on_engine},
	[PM4_SET_CE_DE_COUNTERS] = {cp_count_engines},
	[PM4_SET_SH_REG_INDEX] = {cp_set_sh_reg},
	[PM4_SET_CONTEXT_REG_INDEX] = {cp_set_context_reg},
	[PM4_SET_UCONFIG_REG_INDEX] = {cp_set_uconfig_reg},
	[PM4_LOAD_UCONFIG_REG] = {cp_load_reg},
	[PM4_LOAD_SH_REG] = {cp_load_reg},
	[PM4_LOAD_CONTEXT_REG] = {cp_load_reg},
	[PM4_LOAD_SH_REG_INDEX] = {cp_load_sh_reg_index},
	[PM4_HDP_FLUSH] = {hdp_flush},
	[PM4_WAIT_REG_MEM64] = {cp_wait_reg_mem64, .not_on_null = true},
	[PM4_TIMESTAMP] = {cp_timestamp},
	[PM4_SET_SH_REG_PAIRS] = {cp_set_sh_reg_pairs},
	[PM4_SET_SH_REG_PAIRS_PACKED] = {cp_set_sh_reg_packed},
	[PM4_SET_SH_REG_PAIRS_PACKED_N] = {cp_set_sh_reg_packed},
	[PM4_SET_UCONFIG_REG_PAIRS] = {cp_set_uconfig_reg_pairs},
	[PM4_PROTECTED_FENCE_SIGNAL] = {cp_protected_fence_signal},
	[PM4_FENCE_WAIT_MULTI] = {cp_fence_wait_multi},
};

static bool refuse_opcode(struct cp *cp)
{
	unsigned opcode = pm4_opcode(cp->header);

	if (!cp->form)
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "opcode 0x%02x is unknown to this generation",
				  opcode);
	if (!(cp->form->flags & (cp->gfx ? ON_GFX : ON_COMPUTE)))
		return cp_illegal(cp, CONTRACT_PACKET_WRONG_RING, "only the graphics ring knows it");
	if (cp->form->flags & (P_PRIVILEGED | P_USER_RING))
		return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN,
				  "only the kernel's rings may hold it: it is privileged");
	return cp_illegal(cp, CONTRACT_PACKET_WRONG_RING, "it is for graphics, or nobody sends it: not modelled");
}

/* Header bits with a meaning: in packets of pairs a bit lets the CP skip registers that have the value already. */
static uint32_t known_bits(const struct cp *cp)
{
	unsigned opcode = pm4_opcode(cp->header);
	bool pairs = opcode >= PM4_SET_CONTEXT_REG_PAIRS && opcode <= PM4_SET_UCONFIG_REG_PAIRS;

	return 0xffffff00 | PM4_SHADER_TYPE | (pairs ? PM4_RESET_FILTER_CAM : 0u) | (cp->gfx ? PM4_PREDICATE : 0u);
}

/* Checks header bits and length, without regard to the opcode. */
static bool check_header(struct cp *cp)
{
	const struct packet_form *form = cp->form = packet_pm4(cp->gen, cp->header);

	if (form)
		cp->name = form->name;
	if (!form || !(form->flags & (cp->gfx ? ON_GFX : ON_COMPUTE)) ||
	    form->flags & (P_PRIVILEGED | P_UNMODELLED) || (form->flags & P_USER_RING && !cp_in_user_ring(cp)))
		return refuse_opcode(cp);
	if (cp->header & ~known_bits(cp))
		cp_remark(cp, CONTRACT_PACKET_MALFORMED, "reserved or predicate bits are set");
	if (cp->body_dw > cp->at.left_dw)
		return cp_hang(cp, CONTRACT_PACKET_MALFORMED, "a body of %u dwords, but the IB has %u left",
			       cp->body_dw, cp->at.left_dw);
	if (cp->body_dw + 1 < form->min_dw || cp->body_dw + 1 > form->max_dw)
		return cp_hang(cp, CONTRACT_PACKET_MALFORMED, "a body of %u dwords; it has %u to %u", cp->body_dw,
			       form->min_dw - 1, form->max_dw - 1);
	return true;
}

/* Bits that nothing reads today: another generation, or newer firmware, may. */
static void check_bits(struct cp *cp)
{
	unsigned where;
	uint32_t stray;

	if (vgpu_strict() != VGPU_STRICT_OFF &&
	    packet_stray_bits(cp->form, cp->gen, cp->body - 1, cp->body_dw + 1, &where, &stray))
		cp_remark(cp, CONTRACT_PACKET_MALFORMED, "reserved bits 0x%08x of dword %u are set", stray, where);
}

static void report_fetch(const struct cp *cp)
{
	unsigned long long seq = cp->run->job->seq, va = cp->at.va;

	if (cp->mem.fault.access & GPUVM_X)
		vgpu_finding(CONTRACT_IB_NOT_EXECUTABLE,
			     "IB %u of job %llu is mapped without EXECUTABLE at 0x%llx: the fetch faults",
			     cp->ib_index, seq, va);
	else
		vgpu_finding(cp->chained ? CONTRACT_IB_CHAIN : CONTRACT_IB_UNREACHABLE,
			     "IB %u of job %llu cannot be fetched at 0x%llx", cp->ib_index, seq, va);
}

static bool fetch_body(struct cp *cp, uint32_t *dst, unsigned dw)
{
	/* Compute queues fetch IBs as code: CP_HQD_IB_CONTROL.IB_EXE_DISABLE is 0 after reset (gc_9_0, gc_10_1_0,
	 * gc_10_3_0 and gc_11_0_0_default.h: 0x00300000), and Linux's kernel queues set MIN_IB_AVAIL_SIZE only
	 * (gfx_v9_0.c to gfx_v12_0.c, *_mqd_init); KFD sets the bit for its own, on v9. Graphics queues have no
	 * such bit for IBs; a ring is none. */
	cp->mem.fetch_access = GPUVM_R | (cp->gfx || cp_in_user_ring(cp) ? 0 : GPUVM_X);
	do {
		uint32_t part = dw;

		if (cp->at.ring_B && part > (cp->at.base_va + cp->at.ring_B - cp->at.va) / 4)
			part = (uint32_t)((cp->at.base_va + cp->at.ring_B - cp->at.va) / 4);
		if (!engine_mem_fetch(&cp->mem, cp->at.va, dst, part)) {
			report_fetch(cp);
			return cp_need(cp, false);
		}
		cursor_advance(&cp->at, part);
		dst += part;
		dw -= part;
	} while (dw);
	return true;
}

static bool execute_packet(struct cp *cp)
{
	const struct action *action;
	struct engine_record record;
	bool ok;

	cp->name = "packet";
	cp->packet_va = cp->at.va;
	if (!fetch_body(cp, &cp->header, 1))
		return false;
	if (pm4_type(cp->header) != 3)
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "a packet of type %u", pm4_type(cp->header));
	if (cp->header == PM4_NOP_1DW)
		return true;
	action = &cp_actions[pm4_opcode(cp->header)];
	cp->body_dw = pm4_body_dw(cp->header);
	if (!check_header(cp))
		return false;
	if (cp->form->flags & P_IGNORED || (cp->null && action->not_on_null) ||
	    (cp->header & PM4_PREDICATE && cp->predicate_fails))
		return skip_dwords(cp, cp->body_dw);
	if (!action->execute)
		return refuse_opcode(cp);
	cp->ring->packet[0] = cp->header;
	cp->body = cp->ring->packet + 1;
	if (!fetch_body(cp, cp->ring->packet + 1, cp->body_dw))
		return false;
	check_bits(cp);
	cp->mem.past_l2 = 0;
	engine_mem_next(&cp->mem);
	engine_packet_begins(&record, cp->run, cp->body_dw + 1, cp->ib_index, cp->packet_va - cp->at.base_va);
	ok = action->execute(cp);
	engine_packet_ends(&record, cp->run, cp->name);
	return ok;
}

static bool execute_buffer(struct cp *cp)
{
	unsigned packets_done = 0;

	while (cp->at.left_dw || cp->called) {
		if (!cp->at.left_dw) {
			cp->at = cp->caller;
			cp->called = false;
			continue;
		}
		if (cp_in_user_ring(cp))
			cp_user_ring_progress(cp);
		if (engine_run_stopped(cp->run) || !execute_packet(cp))
			return false;
		if (++packets_done % 64 == 0)
			engine_run_elapse(cp->run, 64 * ENGINE_PACKET_NS, ENGINE_HANG, "packets");
	}
	return true;
}

/* Checks properties of an IB that the kernel does not check (Linux amdgpu_cs.c parses video IBs only). */
static bool check_ib(struct cp *cp, const struct engine_ib *ib)
{
	cp->name = "IB start";
	if (ib->va & 3)
		return cp_hang(cp, CONTRACT_IB_UNALIGNED_4, "VA 0x%llx is not 4-byte aligned: the kernel dies",
			       (unsigned long long)ib->va);
	if (ib->va & 31)
		cp_remark(cp, CONTRACT_IB_UNALIGNED_32, "VA 0x%llx is not 32-byte aligned",
			  (unsigned long long)ib->va);
	if (ib->size_B / 4 == 0 || ib->size_B / 4 > PM4_MAX_IB_dw)
		return cp_hang(cp, CONTRACT_IB_SIZE, "a size of %u bytes", ib->size_B);
	if (ib->size_B & 3)
		cp_remark(cp, CONTRACT_IB_SIZE, "a size of %u bytes, no multiple of 4", ib->size_B);
	return true;
}

static void where_of(const void *user, char *text, size_t text_B)
{
	cp_where(user, text, text_B);
}

void engine_cp_execute(struct engine_run *run)
{
	struct cp cp = {
		.run = run,
		.ring = run->ring,
		.gen = packet_gfx_gen(run->ring->dev->chip),
		.gfx = run->ring->ip == ENGINE_GFX,
		.null = run->ring->dev->null_device,
	};
	enum gpuvm_client client = cp.gfx ? GPUVM_CPG : GPUVM_CPC;

	engine_mem_init(&cp.mem, run, GPUVM_CPF, client);
	/* GFX12's CP bypasses L2 (Mesa ac_gpu_info.c, cp_sdma_ge_use_system_memory_scope) */
	if (cp.gen != P_GFX12)
		cp.mem.cache = run->ring->cache;
	cp.mem.actor.where = where_of;
	cp.mem.actor.user = &cp;
	if (run->job->user_ring) {
		cp.at = cp_user_ring_cursor(run->job->user_ring);
		if (execute_buffer(&cp))
			cp_user_ring_progress(&cp);
		return;
	}
	for (; cp.ib_index < run->job->ib_count; cp.ib_index++) {
		const struct engine_ib *ib = &run->job->ib[cp.ib_index];

		cp.chained = 0;
		cp.header = 0;
		cp.at = (struct cp_cursor){.va = ib->va, .base_va = ib->va, .left_dw = ib->size_B / 4};
		cp.packet_va = ib->va;
		if (!check_ib(&cp, ib) || !execute_buffer(&cp))
			return;
	}
}
