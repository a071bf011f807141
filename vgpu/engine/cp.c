/* The command processor's loop: fetches packets of a job's IBs, checks what all packets share, and hands each to
 * its function. Jumps live here too. */
#include "vgpu/engine/cp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Modelled time of a packet and of a jump, so that a chain that leads back to itself meets the watchdog too. */
#define PACKET_NS 200
#define JUMP_NS   5000

enum packet_flags {
	ON_COMPUTE = 1 << 0,
	ON_GFX = 1 << 1,
	ON_BOTH = ON_COMPUTE | ON_GFX,
	NOT_ON_NULL = 1 << 2, /* the null device skips it */
};

struct packet {
	const char *name;
	bool (*execute)(struct cp *cp); /* NULL: nothing to do */
	uint16_t min_dw, max_dw;        /* body */
	uint8_t flags;
};

/* --- reports ---------------------------------------------------------------------------------- */

void cp_where(const struct cp *cp, char *text, size_t text_B)
{
	unsigned long long dw = (cp->packet_va - cp->at.base_va) / 4;

	if (cp->chained || cp->called)
		snprintf(text, text_B, "%s at dword %llu of the buffer at 0x%llx, jump %u of IB %u", cp->name, dw,
			 (unsigned long long)cp->at.base_va, cp->chained, cp->ib_index);
	else
		snprintf(text, text_B, "%s at dword %llu of IB %u", cp->name, dw, cp->ib_index);
}

__attribute__((format(printf, 4, 0))) static void finish(struct cp *cp, enum engine_status status, unsigned row,
							 const char *fmt, va_list args)
{
	char where[128], text[256];

	cp_where(cp, where, sizeof(where));
	vsnprintf(text, sizeof(text), fmt, args);
	vgpu_finding(row, "%s (header 0x%08x): %s", where, cp->header, text);
	engine_run_stop(cp->run, status, "%s (header 0x%08x): %s", where, cp->header, text);
}

bool cp_illegal(struct cp *cp, unsigned row, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	finish(cp, ENGINE_ILLEGAL, row, fmt, args);
	va_end(args);
	return false;
}

bool cp_hang(struct cp *cp, unsigned row, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	finish(cp, ENGINE_HANG, row, fmt, args);
	va_end(args);
	return false;
}

void cp_remark(const struct cp *cp, unsigned row, const char *fmt, ...)
{
	char where[128], text[256];
	va_list args;

	cp_where(cp, where, sizeof(where));
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	vgpu_finding(row, "%s (header 0x%08x): %s", where, cp->header, text);
}

bool cp_need(struct cp *cp, bool ok)
{
	char where[128];

	if (ok)
		return true;
	cp_where(cp, where, sizeof(where));
	engine_run_stop(cp->run, ENGINE_HANG, "%s: the packet processor's %s of 0x%llx was refused (%s)", where,
			cp->mem.fault.access & GPUVM_W ? "write" : "read", (unsigned long long)cp->mem.fault.va,
			cp->mem.fault.mapped ? "not allowed by the mapping" : "not mapped");
	return false;
}

/* --- jumps ------------------------------------------------------------------------------------ */

static bool check_target(struct cp *cp, const struct pm4_indirect_buffer *ib)
{
	uint64_t va = pm4_va(ib->base_lo, ib->base_hi);
	uint32_t size_dw = ib->control & PM4_MAX_IB_dw;

	if (!size_dw || va & 3)
		return cp_hang(cp, 68, "jump to 0x%llx, %u dwords", (unsigned long long)va, size_dw);
	if (ib->control & (IB_VMID_MASK | IB_PRIV))
		cp_remark(cp, 68, "the kernel sets VMID and PRIV, not an IB: control 0x%08x", ib->control);
	return true;
}

static bool jump(struct cp *cp, const struct pm4_indirect_buffer *ib)
{
	bool chain = ib->control & IB_CHAIN;

	if (!check_target(cp, ib))
		return false;
	if (!cp->gfx && (!(ib->control & IB_VALID) || !chain))
		return cp_hang(cp, 68, "compute IBs can only chain, with VALID: control 0x%08x", ib->control);
	if (!chain && cp->called)
		return cp_hang(cp, 68, "an IB2 cannot call a further one");
	if (chain && cp->at.left_dw)
		cp_remark(cp, 68, "%u dwords follow a chaining packet and are never read", cp->at.left_dw);
	if (!chain) {
		cp->caller = cp->at;
		cp->called = true;
	}
	cp->at.va = cp->at.base_va = pm4_va(ib->base_lo, ib->base_hi);
	cp->at.left_dw = ib->control & PM4_MAX_IB_dw;
	cp->chained++;
	engine_run_elapse(cp->run, JUMP_NS, ENGINE_HANG, "a chain of IBs");
	return true;
}

static bool indirect_buffer(struct cp *cp)
{
	const struct pm4_cond_indirect_buffer *cond = (const void *)cp->body;
	uint64_t value, mask, reference;

	if (cp->body_dw == sizeof(struct pm4_indirect_buffer) / 4)
		return jump(cp, (const void *)cp->body);
	if (cp->body_dw != sizeof(*cond) / 4)
		return cp_hang(cp, 65, "a body of %u dwords", cp->body_dw);
	if (!cp_need(cp, engine_mem_read64(&cp->mem, pm4_va(cond->addr_lo, cond->addr_hi), &value)))
		return false;
	mask = pm4_va(cond->mask_lo, cond->mask_hi);
	reference = pm4_va(cond->reference_lo, cond->reference_hi);
	if (pm4_compare(bits(cond->control, 10, 8), value & mask, reference))
		return jump(cp, &cond->taken);
	return bits(cond->control, 1, 0) == 2 ? jump(cp, &cond->other) : true;
}

static bool skip(struct cp *cp, uint32_t dw)
{
	if (dw > cp->at.left_dw)
		return cp_hang(cp, 65, "skips %u dwords, but the IB has %u left", dw, cp->at.left_dw);
	cp->at.va += (uint64_t)dw * 4;
	cp->at.left_dw -= dw;
	return true;
}

static bool cond_exec(struct cp *cp)
{
	const struct pm4_cond_exec *packet = (const void *)cp->body;
	uint32_t value;

	if (!cp_need(cp, engine_mem_read32(&cp->mem, pm4_va(packet->addr_lo, packet->addr_hi), &value)))
		return false;
	return value ? true : skip(cp, packet->exec_count & 0x3fff);
}

/* Chips of one die execute what names die 0. */
static bool pred_exec(struct cp *cp)
{
	return bits(cp->body[0], 31, 24) & 1 ? true : skip(cp, cp->body[0] & 0x3fff);
}

/* --- packets ---------------------------------------------------------------------------------- */

static bool atomic_gds(struct cp *cp)
{
	return cp_illegal(cp, 64, "no GDS is assigned to the job");
}

#define BODY(type) sizeof(struct type) / 4, sizeof(struct type) / 4
#define ANY        PM4_MAX_BODY_dw

static const struct packet packets[256] = {
	[PM4_NOP] = {"NOP", NULL, 1, ANY, ON_BOTH},
	[PM4_SET_BASE] = {"SET_BASE", cp_set_base, 3, 3, ON_GFX},
	[PM4_CLEAR_STATE] = {"CLEAR_STATE", NULL, 1, 1, ON_GFX},
	[PM4_DISPATCH_DIRECT] = {"DISPATCH_DIRECT", cp_dispatch_direct, BODY(pm4_dispatch_direct),
				 ON_BOTH | NOT_ON_NULL},
	[PM4_DISPATCH_INDIRECT] = {"DISPATCH_INDIRECT", cp_dispatch_indirect, 2, 3, ON_BOTH | NOT_ON_NULL},
	[PM4_ATOMIC_GDS] = {"ATOMIC_GDS", atomic_gds, 10, 10, ON_BOTH},
	[PM4_ATOMIC_MEM] = {"ATOMIC_MEM", cp_atomic_mem, BODY(pm4_atomic_mem), ON_BOTH},
	[PM4_COND_EXEC] = {"COND_EXEC", cond_exec, BODY(pm4_cond_exec), ON_BOTH},
	[PM4_PRED_EXEC] = {"PRED_EXEC", pred_exec, 1, 1, ON_BOTH},
	[PM4_CONTEXT_CONTROL] = {"CONTEXT_CONTROL", NULL, 2, 2, ON_GFX},
	[PM4_WRITE_DATA] = {"WRITE_DATA", cp_write_data, 4, ANY, ON_BOTH},
	[PM4_WAIT_REG_MEM] = {"WAIT_REG_MEM", cp_wait_reg_mem, BODY(pm4_wait_reg_mem), ON_BOTH | NOT_ON_NULL},
	[PM4_INDIRECT_BUFFER] = {"INDIRECT_BUFFER", indirect_buffer, 3, 13, ON_BOTH},
	[PM4_COPY_DATA] = {"COPY_DATA", cp_copy_data, BODY(pm4_copy_data), ON_BOTH},
	[PM4_PFP_SYNC_ME] = {"PFP_SYNC_ME", NULL, 1, 1, ON_GFX},
	[PM4_COND_WRITE] = {"COND_WRITE", cp_cond_write, BODY(pm4_cond_write), ON_BOTH},
	[PM4_EVENT_WRITE] = {"EVENT_WRITE", cp_event_write, 1, 3, ON_BOTH},
	[PM4_RELEASE_MEM] = {"RELEASE_MEM", cp_release_mem, BODY(pm4_release_mem), ON_BOTH},
	[PM4_DMA_DATA] = {"DMA_DATA", cp_dma_data, BODY(pm4_dma_data), ON_BOTH | NOT_ON_NULL},
	[PM4_ACQUIRE_MEM] = {"ACQUIRE_MEM", cp_acquire_mem, BODY(pm4_acquire_mem), ON_BOTH},
	[PM4_REWIND] = {"REWIND", cp_rewind, 1, 1, ON_BOTH | NOT_ON_NULL},
	[PM4_PRIME_UTCL2] = {"PRIME_UTCL2", NULL, 4, 4, ON_BOTH}, /* a hint */
	[PM4_SET_CONFIG_REG] = {"SET_CONFIG_REG", cp_set_config_reg, 2, ANY, ON_BOTH},
	[PM4_SET_CONTEXT_REG] = {"SET_CONTEXT_REG", cp_set_context_reg, 2, ANY, ON_GFX},
	[PM4_SET_SH_REG] = {"SET_SH_REG", cp_set_sh_reg, 2, ANY, ON_BOTH},
	[PM4_SET_UCONFIG_REG] = {"SET_UCONFIG_REG", cp_set_uconfig_reg, 2, ANY, ON_BOTH},
	[PM4_INCREMENT_CE_COUNTER] = {"INCREMENT_CE_COUNTER", cp_count_engines, 1, 1, ON_GFX},
	[PM4_INCREMENT_DE_COUNTER] = {"INCREMENT_DE_COUNTER", cp_count_engines, 1, 1, ON_GFX},
	[PM4_WAIT_ON_CE_COUNTER] = {"WAIT_ON_CE_COUNTER", cp_wait_on_engine, 1, 1, ON_GFX},
	[PM4_WAIT_ON_DE_COUNTER_DIFF] = {"WAIT_ON_DE_COUNTER_DIFF", cp_wait_on_engine, 1, 1, ON_GFX},
	[PM4_SET_CE_DE_COUNTERS] = {"SET_CE_DE_COUNTERS", cp_count_engines, 1, 1, ON_GFX},
	[PM4_SET_SH_REG_INDEX] = {"SET_SH_REG_INDEX", cp_set_sh_reg, 2, ANY, ON_BOTH},
};

/* Draws and their kin: known, but the graphics pipeline is not part of this chip's model. */
static bool is_graphics(unsigned opcode)
{
	return (opcode >= 0x24 && opcode <= 0x36) || opcode == 0x43 || opcode == 0x47 || opcode == 0x48 ||
	       opcode == 0x69 || opcode == 0x8b || opcode == 0x90;
}

/* What header bits and length say by themselves. */
static bool check_header(struct cp *cp, const struct packet *packet)
{
	unsigned opcode = pm4_opcode(cp->header), on = cp->gfx ? ON_GFX : ON_COMPUTE;

	if (!packet->name)
		return cp_illegal(cp, is_graphics(opcode) ? 64 : 65, "opcode 0x%02x is %s", opcode,
				  is_graphics(opcode) ? "for graphics" : "unknown");
	cp->name = packet->name;
	if (!(packet->flags & on))
		return cp_illegal(cp, 64, "only the graphics ring knows it");
	if (cp->header & (0xfc | PM4_PREDICATE))
		cp_remark(cp, 65, "reserved or predicate bits are set");
	if (cp->body_dw > cp->at.left_dw)
		return cp_hang(cp, 65, "a body of %u dwords, but the IB has %u left", cp->body_dw, cp->at.left_dw);
	if (cp->body_dw < packet->min_dw || cp->body_dw > packet->max_dw)
		return cp_hang(cp, 65, "a body of %u dwords; it has %u to %u", cp->body_dw, packet->min_dw,
			       packet->max_dw);
	return true;
}

static bool fetch(struct cp *cp, uint32_t *dst, unsigned dw)
{
	bool ok = engine_mem_fetch(&cp->mem, cp->at.va, dst, dw);

	if (!ok) {
		vgpu_finding(cp->chained ? 68 : 62, "IB %u of job %llu cannot be fetched at 0x%llx", cp->ib_index,
			     (unsigned long long)cp->run->job->seq, (unsigned long long)cp->at.va);
		return cp_need(cp, false);
	}
	cp->at.va += (uint64_t)dw * 4;
	cp->at.left_dw -= dw;
	return true;
}

static void record(const struct cp *cp, uint64_t begin_ns)
{
	char where[128];

	if (!begin_ns)
		return;
	cp_where(cp, where, sizeof(where));
	vgpu_trace_span(engine_run_row(cp->run), cp->name, begin_ns, "job %llu: %s",
			(unsigned long long)cp->run->job->seq, where);
}

static bool execute_packet(struct cp *cp)
{
	const struct packet *packet;
	uint64_t begin_ns;
	bool ok;

	cp->name = "packet";
	cp->packet_va = cp->at.va;
	if (!fetch(cp, &cp->header, 1))
		return false;
	if (pm4_type(cp->header) != 3)
		return cp_illegal(cp, 65, "a packet of type %u", pm4_type(cp->header));
	if (cp->header == PM4_NOP_1DW)
		return true;
	packet = &packets[pm4_opcode(cp->header)];
	cp->body_dw = pm4_body_dw(cp->header);
	if (!check_header(cp, packet))
		return false;
	if (packet->execute == NULL || (cp->null && packet->flags & NOT_ON_NULL))
		return skip(cp, cp->body_dw);
	if (!fetch(cp, cp->ring->packet, cp->body_dw))
		return false;
	cp->body = cp->ring->packet;
	cp->mem.past_l2 = 0;
	begin_ns = vgpu_trace_now();
	ok = packet->execute(cp);
	record(cp, begin_ns);
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
		if (engine_run_stopped(cp->run) || !execute_packet(cp))
			return false;
		if (++packets_done % 64 == 0)
			engine_run_elapse(cp->run, 64 * PACKET_NS, ENGINE_HANG, "packets");
	}
	return true;
}

/* What the kernel does not check about an IB (Linux amdgpu_cs.c parses video IBs only). */
static bool check_ib(struct cp *cp, const struct engine_ib *ib)
{
	cp->name = "IB start";
	if (ib->va & 3)
		return cp_hang(cp, 58, "VA 0x%llx is not 4-byte aligned: the kernel dies",
			       (unsigned long long)ib->va);
	if (ib->va & 31)
		cp_remark(cp, 59, "VA 0x%llx is not 32-byte aligned", (unsigned long long)ib->va);
	if (ib->size_B / 4 == 0 || ib->size_B / 4 > PM4_MAX_IB_dw)
		return cp_hang(cp, 60, "a size of %u bytes", ib->size_B);
	if (ib->size_B & 3)
		cp_remark(cp, 60, "a size of %u bytes, no multiple of 4", ib->size_B);
	return true;
}

void engine_cp_execute(struct engine_run *run)
{
	struct cp cp = {
		.run = run,
		.ring = run->ring,
		.gfx = run->ring->ip == ENGINE_GFX,
		.null = run->ring->dev->null_device,
	};
	enum gpuvm_client client = cp.gfx ? GPUVM_CPG : GPUVM_CPC;

	engine_mem_init(&cp.mem, run, GPUVM_CPF, client);
	cp.mem.cache = run->ring->dev->cache;
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
