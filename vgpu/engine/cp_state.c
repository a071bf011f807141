/* Packets that set registers and launch grids. */
#include <stdio.h>
#include <string.h>

#include "vgpu/engine/cp.h"

/* --- registers --- */

static bool in_window(uint32_t offset, uint32_t base, uint32_t end)
{
	return offset >= base && offset < end;
}

static bool sh_write(struct cp *cp, uint32_t offset, uint32_t value)
{
	if (offset == COMPUTE_VMID)
		return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN, "COMPUTE_VMID belongs to the kernel");
	if (offset == COMPUTE_DISPATCH_INITIATOR)
		return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN,
				  "COMPUTE_DISPATCH_INITIATOR is written by DISPATCH packets");
	cp->ring->sh[offset] = value;
	cp->ring->sh_job[offset] = cp->ring->job_number;
	return true;
}

bool cp_reg_write(struct cp *cp, uint32_t offset, uint32_t value)
{
	if (in_window(offset, SH_BASE, SH_END))
		return sh_write(cp, offset - SH_BASE, value);
	if (in_window(offset, UCONFIG_BASE, UCONFIG_END)) {
		cp->ring->uconfig[offset - UCONFIG_BASE] = value;
		return true;
	}
	return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN, "register 0x%x is privileged", offset);
}

bool cp_reg_read(struct cp *cp, uint32_t offset, uint32_t *value)
{
	*value = 0;
	if (in_window(offset, SH_BASE, SH_END)) {
		*value = cp->ring->sh[offset - SH_BASE];
		return true;
	}
	if (in_window(offset, UCONFIG_BASE, UCONFIG_END)) {
		*value = cp->ring->uconfig[offset - UCONFIG_BASE];
		return true;
	}
	return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN, "register 0x%x is privileged", offset);
}

static bool set_registers(struct cp *cp, uint32_t base, uint32_t end)
{
	const struct pm4_set_reg *packet = (const void *)cp->body;
	uint32_t first = base + bits(packet->control, 15, 0), count = cp->body_dw - 1;

	if (first >= end || count > end - first)
		return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN, "registers 0x%x to 0x%x leave the window", first,
				  first + count - 1);
	for (uint32_t i = 0; i < count; i++)
		if (!cp_reg_write(cp, first + i, packet->value[i]))
			return false;
	return true;
}

/* SET_SH_REG and SET_SH_REG_INDEX, which takes its place from GFX10 on. Index 3 ANDs a CU mask with the kernel's
 * own, which is all ones on kernel queues (Mesa radeon_set_sh_reg_idx). */
bool cp_set_sh_reg(struct cp *cp)
{
	if (bits(cp->body[0], 27, 16))
		cp_remark(cp, CONTRACT_REGISTER_FORBIDDEN, "reserved bits or a VMID shift, 0x%x",
			  bits(cp->body[0], 27, 16));
	if (bits(cp->body[0], 31, 28) != 3 && bits(cp->body[0], 31, 28) != 0)
		cp_remark(cp, CONTRACT_REGISTER_FORBIDDEN, "index %u", bits(cp->body[0], 31, 28));
	return set_registers(cp, SH_BASE, SH_END);
}

bool cp_set_uconfig_reg(struct cp *cp)
{
	return set_registers(cp, UCONFIG_BASE, UCONFIG_END);
}

/* Graphics state: nothing here reads it. */
bool cp_set_context_reg(struct cp *cp)
{
	uint32_t first = CONTEXT_BASE + bits(cp->body[0], 15, 0), count = cp->body_dw - 1;

	if (first >= CONTEXT_END || count > CONTEXT_END - first)
		return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN, "registers 0x%x to 0x%x leave the window", first,
				  first + count - 1);
	return true;
}

/* Offset and value by turns. */
static bool set_pairs(struct cp *cp, uint32_t base, uint32_t end)
{
	for (unsigned i = 0; i + 1 < cp->body_dw; i += 2) {
		uint32_t reg = base + bits(cp->body[i], 15, 0);

		if (reg >= end)
			return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN, "register 0x%x leaves the window", reg);
		if (i && bits(cp->body[i], 15, 0) == bits(cp->body[i - 2], 15, 0))
			cp_remark(cp, CONTRACT_REGISTER_FORBIDDEN, "register 0x%x twice, one after the other", reg);
		if (!cp_reg_write(cp, reg, cp->body[i + 1]))
			return false;
	}
	return cp->body_dw % 2 ? cp_hang(cp, CONTRACT_PACKET_MALFORMED, "%u dwords are no pairs", cp->body_dw)
			       : true;
}

bool cp_set_sh_reg_pairs(struct cp *cp)
{
	return set_pairs(cp, SH_BASE, SH_END);
}

bool cp_set_uconfig_reg_pairs(struct cp *cp)
{
	return set_pairs(cp, UCONFIG_BASE, UCONFIG_END);
}

/* Two offsets, then their two values; a last register without a partner is repeated. */
bool cp_set_sh_reg_packed(struct cp *cp)
{
	unsigned count = bits(cp->body[0], 15, 0);

	if (count % 2 || count / 2 * 3 + 1 != cp->body_dw)
		return cp_hang(cp, CONTRACT_PACKET_MALFORMED, "%u registers in %u dwords", count, cp->body_dw);
	for (const uint32_t *at = cp->body + 1; at < cp->body + cp->body_dw; at += 3)
		for (unsigned i = 0; i < 2; i++) {
			uint32_t reg = SH_BASE + bits(at[0], 16 * i + 15, 16 * i);

			if (reg >= SH_END)
				return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN,
						  "register 0x%x leaves the window", reg);
			if (!cp_reg_write(cp, reg, at[1 + i]))
				return false;
		}
	return true;
}

/* Registers from memory: `count` of them, or (offset, value) pairs in so many dwords. */
bool cp_load_sh_reg_index(struct cp *cp)
{
	const struct pm4_load_sh_reg_index *packet = (const void *)cp->body;
	uint64_t va = pm4_va(packet->addr_lo & ~3u, packet->addr_hi);
	uint32_t reg = SH_BASE + bits(packet->reg, 15, 0), count = bits(packet->count, 13, 0), value;
	unsigned step = bits(packet->reg, 31, 31) ? 2 : 1;

	if (!cp->gfx && cp->gen & (P_ALL9 | P_GFX101))
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "compute rings know it from GFX10.3 on");
	if (bits(packet->addr_lo, 1, 0))
		return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN, "index %u needs a base that nobody set",
				  bits(packet->addr_lo, 1, 0));
	for (uint32_t i = 0; i < count; i += step, va += 4ull * step) {
		if (step == 2 && !cp_need(cp, engine_mem_read32(&cp->mem, va, &reg)))
			return false;
		if (!cp_need(cp, engine_mem_read32(&cp->mem, va + 4 * (step - 1), &value)))
			return false;
		reg = step == 2 ? SH_BASE + bits(reg, 15, 0) : SH_BASE + bits(packet->reg, 15, 0) + i;
		if (reg >= SH_END)
			return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN, "register 0x%x leaves the window", reg);
		if (!cp_reg_write(cp, reg, value))
			return false;
	}
	return true;
}

/* Modelled time of a register that comes from memory: one packet may load 8,190 times the whole window. */
#define LOAD_NS 10

static bool load_elapse(struct cp *cp, uint32_t count)
{
	engine_run_elapse(cp->run, (uint64_t)count * LOAD_NS, ENGINE_HANG, "registers from memory");
	return !engine_run_stopped(cp->run);
}

/* LOAD_SH_REG, LOAD_UCONFIG_REG, LOAD_CONTEXT_REG: a base, then (first register, count) pairs; memory has the
 * layout of the window. The model has no use for context registers, but their memory must be mapped. */
static bool load_registers(struct cp *cp, uint32_t base, uint32_t end)
{
	uint64_t va = pm4_va(cp->body[0] & ~3u, cp->body[1]);
	uint32_t value;

	for (unsigned i = 2; i + 1 < cp->body_dw; i += 2) {
		uint32_t first = bits(cp->body[i], 15, 0), count = bits(cp->body[i + 1], 13, 0);

		if (first >= end - base || count > end - base - first)
			return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN,
					  "registers 0x%x to 0x%x leave the window", base + first,
					  base + first + count - 1);
		if (!load_elapse(cp, count))
			return false;
		for (uint32_t reg = first; reg < first + count; reg++) {
			if (!cp_need(cp, engine_mem_read32(&cp->mem, va + 4ull * reg, &value)))
				return false;
			if (base != CONTEXT_BASE && !cp_reg_write(cp, base + reg, value))
				return false;
		}
	}
	return true;
}

bool cp_load_reg(struct cp *cp)
{
	switch (pm4_opcode(cp->header)) {
	case PM4_LOAD_SH_REG:
		return load_registers(cp, SH_BASE, SH_END);
	case PM4_LOAD_UCONFIG_REG:
		return load_registers(cp, UCONFIG_BASE, UCONFIG_END);
	default:
		return load_registers(cp, CONTEXT_BASE, CONTEXT_END);
	}
}

bool cp_set_base(struct cp *cp)
{
	if (!cp->gfx && cp->gen != P_GFX12)
		return cp_illegal(cp, CONTRACT_PACKET_WRONG_RING, "only the graphics ring knows it");
	if (!cp->gfx && bits(cp->body[0], 3, 0) != 6) /* 5: for EXECUTE_INDIRECT */
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "index %u", bits(cp->body[0], 3, 0));
	if (bits(cp->body[0], 3, 0) == 1) /* base of indirect arguments */
		cp->ring->indirect_base = pm4_va(cp->body[1] & ~7u, cp->body[2]);
	return true;
}

/* --- launches --- */

/* Asynchronous: the CP continues while the waves run. */
static bool launch_grid(struct cp *cp, const uint32_t dim[3], uint32_t initiator)
{
	char where[96];
	struct engine_grid *grid;

	cp_where(cp, where, sizeof(where));
	memcpy(&cp->ring->sh[COMPUTE_DIM_X], dim, 3 * sizeof(*dim));
	cp->ring->sh[COMPUTE_DISPATCH_INITIATOR] = initiator;
	/* Vega executes it all the same: libdrm's "Sync dependency Test" dispatches so. */
	if (cp->gfx && !(cp->header & PM4_SHADER_TYPE))
		cp_remark(cp, CONTRACT_PACKET_MALFORMED, "on the graphics ring a dispatch has SHADER_TYPE");
	grid = engine_grid_create(cp->run, dim, initiator, where);
	if (grid && cp->ring->counts_invocations && cp->ring->sh[COMPUTE_PIPELINESTAT_ENABLE] & 1)
		cp->ring->cs_invocations += engine_grid_items(grid);
	if (grid)
		engine_grid_publish(grid);
	return !engine_run_stopped(cp->run);
}

bool cp_dispatch_direct(struct cp *cp)
{
	const struct pm4_dispatch_direct *packet = (const void *)cp->body;

	return launch_grid(cp, packet->dim, packet->initiator);
}

bool cp_dispatch_indirect(struct cp *cp)
{
	const struct pm4_dispatch_indirect *packet = (const void *)cp->body;
	uint64_t va = cp->gfx ? cp->ring->indirect_base + cp->body[0] : pm4_va(packet->addr_lo, packet->addr_hi);
	uint32_t dim[3];

	cp->mem.plain = true;
	if (cp->body_dw != (cp->gfx ? 2 : 3))
		return cp_hang(cp, CONTRACT_PACKET_MALFORMED, "a body of %u dwords", cp->body_dw);
	if (va & 3)
		cp_remark(cp, CONTRACT_PACKET_MALFORMED, "arguments at 0x%llx are not 4-byte aligned",
			  (unsigned long long)va);
	va &= ~(uint64_t)3;
	for (unsigned i = 0; i < 3; i++)
		if (!cp_need(cp, engine_mem_read32(&cp->mem, va + 4 * i, &dim[i])))
			return false;
	return launch_grid(cp, dim, cp->body[cp->body_dw - 1]);
}
