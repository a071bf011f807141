/* The SDMA emitter, and its packets by generation. */
#include "sdma/packet.h"

#include "sdma/sdma.h"

#define WINDOW_V5 .pitch_shift = 13, .window_max = 1 << 14, .pitch_max = 1 << 19, .slice_max = 1 << 28
#define FENCE     SDMA_HEADER(SDMA_OP_FENCE, 0)
#define FENCE_UC  (FENCE | 3 << 16)
const struct sdma_packets sdma_packets[] = {
	[DRV_SDMA_V4] = {FENCE, 0x3fffff, 0x3fffff, WINDOW_V5, .slices_max = 1 << 11},
	[DRV_SDMA_V5] = {FENCE_UC, 0x3fffff, 0x3fffff, WINDOW_V5, .slices_max = 1 << 13},
	[DRV_SDMA_V5_2] = {FENCE_UC, 0x3fffffff, 0x3fffff, WINDOW_V5, .slices_max = 1 << 13},
	[DRV_SDMA_V6] = {FENCE_UC, 0x3fffffff, 0x3fffffff, WINDOW_V5, .slices_max = 1 << 13},
	[DRV_SDMA_V7] = {FENCE_UC, 0x3fffffff, 0x3fffffff, .pitch_shift = 16, .window_max = 1 << 16,
			 .pitch_max = 1 << 16, .slice_max = 1ull << 32, .slices_max = 1 << 14},
};

static uint32_t *put_va(uint32_t *p, uint64_t va)
{
	*p++ = (uint32_t)va;
	*p++ = (uint32_t)(va >> 32);
	return p;
}

static const struct drv_chip *chip_of(const struct cs_ib *ib)
{
	return vm_device(cs_ring_vm(ib->ring))->chip;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void sdma_copy(struct cs_ib *ib, uint64_t dst, uint64_t src, uint64_t size_B)
{
	const uint64_t most_B = chip_of(ib)->sdma_copy_max_B;

	while (size_B && !ib->error) { /* else the rest of what no job can hold would take hours */
		uint64_t now_B = min_u64(size_B, most_B);
		uint32_t *p = cs_ib_room(ib, SDMA_COPY_DW);

		*p++ = SDMA_HEADER(SDMA_OP_COPY, 0);
		*p++ = now_B - 1;
		*p++ = 0; /* no byte swapping */
		p = put_va(p, src);
		p = put_va(p, dst);
		cs_ib_wrote(ib, p);
		src += now_B;
		dst += now_B;
		size_B -= now_B;
	}
}

static void fill_emit(struct cs_ib *ib, uint64_t va, uint32_t header, uint32_t pattern, uint64_t size_B)
{
	const uint64_t most_B = chip_of(ib)->sdma_fill_max_B;

	while (size_B && !ib->error) {
		uint64_t now_B = min_u64(size_B, most_B);
		uint32_t *p = cs_ib_room(ib, SDMA_CONST_FILL_DW);

		*p++ = header;
		p = put_va(p, va);
		*p++ = pattern;
		*p++ = now_B - 1;
		cs_ib_wrote(ib, p);
		va += now_B;
		size_B -= now_B;
	}
}

void sdma_fill(struct cs_ib *ib, uint64_t va, uint32_t value, uint64_t size_B)
{
	fill_emit(ib, va, SDMA_HEADER(SDMA_OP_CONST_FILL, 0) | SDMA_CONST_FILL_DWORDS, value, size_B);
}

void sdma_fill_bytes(struct cs_ib *ib, uint64_t va, uint8_t value, uint64_t size_B)
{
	/* Dwords are faster: bytes only at the ends. */
	uint64_t head_B = min_u64(size_B, -va & 3), body_B = (size_B - head_B) & ~3ull;
	uint32_t bytes = SDMA_HEADER(SDMA_OP_CONST_FILL, 0), pattern = value * 0x01010101u;

	fill_emit(ib, va, bytes, pattern, head_B);
	sdma_fill(ib, va + head_B, pattern, body_B);
	fill_emit(ib, va + head_B + body_B, bytes, pattern, size_B - head_B - body_B);
}

void sdma_write(struct cs_ib *ib, uint64_t va, const uint32_t *data, unsigned count)
{
	while (count) {
		unsigned now = min_u64(count, CS_ROOM_MAX - SDMA_WRITE_DW);
		uint32_t *p = cs_ib_room(ib, SDMA_WRITE_DW + now);

		*p++ = SDMA_HEADER(SDMA_OP_WRITE, 0);
		p = put_va(p, va);
		*p++ = now - 1;
		for (unsigned i = 0; i < now; i++)
			*p++ = data[i];
		cs_ib_wrote(ib, p);
		data += now;
		va += now * 4;
		count -= now;
	}
}

void sdma_fence(struct cs_ib *ib, uint64_t va, uint32_t value)
{
	uint32_t *p = cs_ib_room(ib, SDMA_FENCE_DW);

	*p++ = sdma_packets[chip_of(ib)->sdma].fence;
	p = put_va(p, va);
	*p++ = value;
	cs_ib_wrote(ib, p);
}

void sdma_timestamp(struct cs_ib *ib, uint64_t va)
{
	uint32_t *p = cs_ib_room(ib, SDMA_TIMESTAMP_DW);

	*p++ = SDMA_HEADER(SDMA_OP_TIMESTAMP, SDMA_TIMESTAMP_GET_GLOBAL);
	cs_ib_wrote(ib, put_va(p, va));
}

void sdma_barrier(struct cs_ib *ib)
{
	uint32_t *p = cs_ib_room(ib, 1);

	*p++ = SDMA_HEADER(SDMA_OP_NOP, 0);
	cs_ib_wrote(ib, p);
}
