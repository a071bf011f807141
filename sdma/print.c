/* Prints SDMA IBs, one line per packet (TUFF_LOG=ib). */
#include "sdma/packet.h"

#include "sdma/sdma.h"

static uint64_t print_address(const uint32_t *lo)
{
	return lo[0] | (uint64_t)lo[1] << 32;
}

/* Size of the packet at p in dwords, of which `left` exist; 0: unknown or cut off. */
static uint32_t packet_dw(const uint32_t *p, uint32_t left)
{
	static const uint8_t dw[] = {
		[SDMA_OP_NOP] = 1,
		[SDMA_OP_COPY] = SDMA_COPY_DW,
		[SDMA_OP_WRITE] = SDMA_WRITE_DW,
		[SDMA_OP_FENCE] = SDMA_FENCE_DW,
		[SDMA_OP_CONST_FILL] = SDMA_CONST_FILL_DW,
		[SDMA_OP_TIMESTAMP] = SDMA_TIMESTAMP_DW,
	};
	uint32_t op = p[0] & 0xff, size = op < sizeof(dw) ? dw[op] : 0;

	if (op == SDMA_OP_COPY && p[0] >> 8 & 0xff)
		size = SDMA_COPY_WINDOW_DW;
	if (op == SDMA_OP_WRITE && left >= size)
		size += (p[3] & SDMA_WRITE_COUNT_MASK) + 1;
	return size <= left ? size : 0;
}

static void print_packet(const struct sdma_packets *sdma, const uint32_t *p, unsigned long long va)
{
	switch (p[0] & 0xff) {
	case SDMA_OP_COPY:
		if (p[0] >> 8 & 0xff)
			drv_log(DRV_LOG_IB, "  %llx: COPY_SUB_WINDOW %llx -> %llx, %u x %u x %u of %u bytes", va,
				(unsigned long long)print_address(p + 1), (unsigned long long)print_address(p + 6),
				(p[11] & (sdma->window_max - 1)) + 1,
				(p[11] >> SDMA_Y_SHIFT & (sdma->window_max - 1)) + 1,
				(p[12] & (sdma->slices_max - 1)) + 1, 1u << (p[0] >> SDMA_ELEMENT_SHIFT));
		else
			drv_log(DRV_LOG_IB, "  %llx: COPY %llx -> %llx, %u bytes", va,
				(unsigned long long)print_address(p + 3), (unsigned long long)print_address(p + 5),
				(p[1] & sdma->copy_mask) + 1);
		break;
	case SDMA_OP_WRITE:
		drv_log(DRV_LOG_IB, "  %llx: WRITE %llx, %u dwords: %x ...", va,
			(unsigned long long)print_address(p + 1), (p[3] & SDMA_WRITE_COUNT_MASK) + 1, p[4]);
		break;
	case SDMA_OP_FENCE:
		drv_log(DRV_LOG_IB, "  %llx: FENCE %llx = %x", va, (unsigned long long)print_address(p + 1), p[3]);
		break;
	case SDMA_OP_CONST_FILL:
		drv_log(DRV_LOG_IB, "  %llx: CONST_FILL %llx with %x, %u bytes", va,
			(unsigned long long)print_address(p + 1), p[3], (p[4] & sdma->fill_mask) + 1);
		break;
	case SDMA_OP_TIMESTAMP:
		drv_log(DRV_LOG_IB, "  %llx: TIMESTAMP %llx", va, (unsigned long long)print_address(p + 1));
		break;
	default:
		break;
	}
}

void sdma_print(const struct drv_chip *chip, const uint32_t *ib, uint32_t count, uint64_t va)
{
	for (uint32_t i = 0; i < count;) {
		uint32_t dw = packet_dw(ib + i, count - i);

		if (!dw) {
			drv_log(DRV_LOG_IB, "  %llx: no packet: %08x", (unsigned long long)va + 4ull * i, ib[i]);
			return;
		}
		print_packet(&sdma_packets[chip->sdma], ib + i, va + 4ull * i);
		i += dw;
	}
}
