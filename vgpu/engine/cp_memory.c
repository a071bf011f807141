/* Packets that move data: WRITE_DATA, COPY_DATA, ATOMIC_MEM, COND_WRITE, DMA_DATA. */
#include "vgpu/engine/cp.h"

/* --- WRITE_DATA --- */

enum { WRITE_DST_REGISTER = 0, WRITE_DST_MEMORY_SYNC = 1, WRITE_DST_L2 = 2, WRITE_DST_MEMORY = 5 };

static bool write_registers(struct cp *cp, const struct pm4_write_data *packet, unsigned count, bool increment)
{
	for (unsigned i = 0; i < count; i++)
		if (!cp_reg_write(cp, packet->addr_lo + (increment ? i : 0), packet->data[i]))
			return false;
	return true;
}

bool cp_write_data(struct cp *cp)
{
	const struct pm4_write_data *packet = (const void *)cp->body;
	uint64_t va = pm4_va(packet->addr_lo, packet->addr_hi);
	unsigned dst = bits(packet->control, 11, 8), count = cp->body_dw - 3;
	bool increment = !bits(packet->control, 16, 16);

	if (dst == WRITE_DST_REGISTER)
		return write_registers(cp, packet, count, increment);
	if (dst != WRITE_DST_L2 && dst != WRITE_DST_MEMORY && !(cp->gfx && dst == WRITE_DST_MEMORY_SYNC))
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "dst_sel %u", dst);
	cp->mem.past_l2 = dst == WRITE_DST_L2 ? 0 : GPUVM_W;
	if (increment)
		return cp_need(cp, engine_mem_write(&cp->mem, va, packet->data, count));
	for (unsigned i = 0; i < count; i++)
		if (!cp_need(cp, engine_mem_write32(&cp->mem, va, packet->data[i])))
			return false;
	return true;
}

/* --- COPY_DATA --- */

enum copy_src {
	COPY_SRC_REGISTER = 0,
	COPY_SRC_MEMORY = 1,
	COPY_SRC_L2 = 2,
	COPY_SRC_PERFCOUNTER = 4,
	COPY_SRC_IMMEDIATE = 5,
	COPY_SRC_ATOMIC_RETURN = 6,
	COPY_SRC_GPU_CLOCK = 9,
	COPY_SRC_SYSTEM_CLOCK = 10, /* GFX10 and later */
};

enum copy_dst {
	COPY_DST_REGISTER = 0,
	COPY_DST_MEMORY_SYNC = 1,
	COPY_DST_L2 = 2,
	COPY_DST_PERFCOUNTER = 4,
	COPY_DST_MEMORY = 5,
};

static bool copy_from_register(struct cp *cp, uint32_t offset, bool is_64, uint64_t *value)
{
	uint32_t lo, hi = 0;

	if (!cp_reg_read(cp, offset, &lo) || (is_64 && !cp_reg_read(cp, offset + 1, &hi)))
		return false;
	*value = pm4_va(lo, hi);
	return true;
}

static bool copy_from_memory(struct cp *cp, uint64_t va, bool is_64, uint64_t *value)
{
	uint32_t word = 0;

	if (is_64)
		return cp_need(cp, engine_mem_read64(&cp->mem, va, value));
	if (!cp_need(cp, engine_mem_read32(&cp->mem, va, &word)))
		return false;
	*value = word;
	return true;
}

/* Since GFX10 memory as source or destination of COPY_DATA means L2 too (PAL: "tc_l2_obsolete"). */
static bool past_l2(const struct cp *cp, bool memory)
{
	return memory && cp->gen & P_ALL9;
}

static bool copy_source(struct cp *cp, const struct pm4_copy_data *packet, bool is_64, uint64_t *value)
{
	switch (bits(packet->control, 3, 0)) {
	case COPY_SRC_REGISTER:
	case COPY_SRC_PERFCOUNTER:
		return copy_from_register(cp, packet->src_lo, is_64, value);
	case COPY_SRC_MEMORY:
	case COPY_SRC_L2:
		cp->mem.past_l2 |= past_l2(cp, bits(packet->control, 3, 0) == COPY_SRC_MEMORY) ? GPUVM_R : 0;
		cp->mem.plain = true;
		return copy_from_memory(cp, pm4_va(packet->src_lo, packet->src_hi), is_64, value);
	case COPY_SRC_IMMEDIATE:
		*value = pm4_va(packet->src_lo, packet->src_hi);
		return true;
	case COPY_SRC_ATOMIC_RETURN:
		*value = cp->ring->atomic_return;
		return true;
	case COPY_SRC_SYSTEM_CLOCK:
		if (cp->gen & P_ALL9)
			return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "src_sel 10");
		/* fallthrough */
	case COPY_SRC_GPU_CLOCK:
		*value = engine_clock(cp->ring->dev->chip);
		return true;
	default:
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "src_sel %u", bits(packet->control, 3, 0));
	}
}

bool cp_copy_data(struct cp *cp)
{
	const struct pm4_copy_data *packet = (const void *)cp->body;
	uint64_t va = pm4_va(packet->dst_lo, packet->dst_hi), value;
	bool is_64 = bits(packet->control, 16, 16);

	if (!copy_source(cp, packet, is_64, &value))
		return false;
	cp->mem.plain = false;
	switch (bits(packet->control, 11, 8)) {
	case COPY_DST_REGISTER:
	case COPY_DST_PERFCOUNTER:
		return cp_reg_write(cp, packet->dst_lo, (uint32_t)value) &&
		       (!is_64 || cp_reg_write(cp, packet->dst_lo + 1, (uint32_t)(value >> 32)));
	case COPY_DST_MEMORY_SYNC:
		if (!cp->gfx)
			return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "dst_sel 1 is for the graphics ring");
		/* fallthrough */
	case COPY_DST_L2:
	case COPY_DST_MEMORY:
		cp->mem.past_l2 |= past_l2(cp, bits(packet->control, 11, 8) != COPY_DST_L2) ? GPUVM_W : 0;
		return cp_need(cp, is_64 ? engine_mem_write64(&cp->mem, va, value)
					 : engine_mem_write32(&cp->mem, va, (uint32_t)value));
	default:
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "dst_sel %u", bits(packet->control, 11, 8));
	}
}

/* --- ATOMIC_MEM --- */

enum { ATOMIC_SINGLE_PASS = 0, ATOMIC_LOOP = 1, ATOMIC_WRITE_CONFIRM = 2, ATOMIC_SEND = 3 };

/* Executes when it is parsed, not at the end of the pipe: earlier waves may still run. */
bool cp_atomic_mem(struct cp *cp)
{
	const struct pm4_atomic_mem *packet = (const void *)cp->body;
	uint64_t va = pm4_va(packet->addr_lo, packet->addr_hi);
	uint64_t src = pm4_va(packet->src_lo, packet->src_hi), cmp = pm4_va(packet->cmp_lo, packet->cmp_hi), old;
	unsigned op = bits(packet->control, 6, 0), command = bits(packet->control, 11, 8);
	bool loop = command == ATOMIC_LOOP && !cp->null;

	if (!engine_atomic_name(op) || command > ATOMIC_SEND)
		return cp_illegal(cp, CONTRACT_PACKET_MALFORMED, "operation %u, command %u", op, command);
	if (engine_atomic_returns(op) != (command < ATOMIC_WRITE_CONFIRM))
		cp_remark(cp, CONTRACT_PACKET_MALFORMED, "command %u is not for operation %u, which %s", command,
			  op, engine_atomic_returns(op) ? "returns" : "does not return");
	if (!cp_need(cp, loop ? engine_wait_swap(&cp->mem, va, op, src, cmp, &old)
			      : engine_mem_atomic(&cp->mem, va, op, src, cmp, &old)))
		return false;
	if (engine_atomic_returns(op))
		cp->ring->atomic_return = old;
	return true;
}

/* --- COND_WRITE --- */

bool cp_cond_write(struct cp *cp)
{
	const struct pm4_cond_write *packet = (const void *)cp->body;
	bool from_memory = bits(packet->control, 4, 4);
	uint32_t value;

	if (from_memory
		    ? !cp_need(cp, engine_mem_read32(&cp->mem, pm4_va(packet->poll_lo, packet->poll_hi), &value))
		    : !cp_reg_read(cp, packet->poll_lo, &value))
		return false;
	if (!pm4_compare(bits(packet->control, 2, 0), value & packet->mask, packet->reference))
		return true;
	if (!bits(packet->control, 9, 8))
		return cp_reg_write(cp, packet->write_lo, packet->data);
	return cp_need(cp, engine_mem_write32(&cp->mem, pm4_va(packet->write_lo, packet->write_hi), packet->data));
}

/* --- DMA_DATA --- */

enum { DMA_SRC_ADDRESS = 0, DMA_SRC_GDS = 1, DMA_SRC_DATA = 2, DMA_SRC_L2 = 3 };
enum { DMA_DST_ADDRESS = 0, DMA_DST_GDS = 1, DMA_DST_NOWHERE = 2, DMA_DST_L2 = 3 };

bool cp_dma_data(struct cp *cp)
{
	const struct pm4_dma_data *packet = (const void *)cp->body;
	uint64_t src = pm4_va(packet->src_lo, packet->src_hi), dst = pm4_va(packet->dst_lo, packet->dst_hi);
	unsigned from = bits(packet->control, 30, 29), to = bits(packet->control, 21, 20);
	uint32_t size_B = bits(packet->command, 25, 0);

	if (cp->gen == P_GFX940)
		return cp_illegal(cp, CONTRACT_PACKET_WRONG_RING,
				  "the compute processor of gfx942 has no DMA engine");
	if (from == DMA_SRC_GDS || to == DMA_DST_GDS)
		return cp_illegal(cp, CONTRACT_PACKET_WRONG_RING, "no GDS is assigned to the job");
	if (bits(packet->command, 29, 26))
		return cp_illegal(cp, CONTRACT_REGISTER_FORBIDDEN,
				  "register space or a fixed address: command 0x%08x", packet->command);
	if (to == DMA_DST_NOWHERE) /* prefetch into L2 */
		return true;
	engine_run_elapse(cp->run, size_B / ENGINE_BYTES_PER_NS, ENGINE_HANG, "DMA_DATA");
	if (engine_run_stopped(cp->run))
		return false;
	cp->mem.past_l2 = (from == DMA_SRC_L2 ? 0 : GPUVM_R) | (to == DMA_DST_L2 ? 0 : GPUVM_W);
	if (from == DMA_SRC_DATA) {
		if (dst & 3 || size_B & 3)
			cp_remark(cp, CONTRACT_PACKET_MALFORMED, "a fill of %u bytes at 0x%llx is not of dwords",
				  size_B, (unsigned long long)dst);
		return cp_need(cp, engine_mem_fill(&cp->mem, dst & ~(uint64_t)3, packet->src_lo, 4,
						   size_B & ~(uint32_t)3));
	}
	return cp_need(cp, engine_mem_copy(&cp->mem, dst, src, size_B));
}
