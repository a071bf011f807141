/* SDMA packets: split at the chip's limits, decodable, and byte-exact where bytes matter. Runs them in a small
 * model. */
#include <errno.h>
#include <stdlib.h>

#include "sdma/internal.h"
#include "sdma/packet.h"
#include "tests/check.h"

#include "cs/internal.h"
#include "vm/internal.h"

static uint32_t buffer[8192];
static struct drv_device dev;
static struct vm vm;
static struct cs_ctx ctx;
static struct cs_ring ring;

static struct cs_ib fresh_on(const char *target)
{
	dev.chip = drv_chip_by_target(target);
	vm.dev = &dev;
	ctx.vm = &vm;
	ring.ctx = &ctx;
	ring.ip = DRV_IP_DMA;
	return (struct cs_ib){.ring = &ring, .cur = buffer, .end = buffer + sizeof(buffer) / sizeof(buffer[0])};
}

static struct cs_ib fresh(void)
{
	return fresh_on("gfx908");
}

static uint64_t address(const uint32_t *p)
{
	return p[0] | (uint64_t)p[1] << 32;
}

static void copies_are_split_and_cover_everything(void)
{
	const uint64_t sizes_B[] = {1, 3, 4096, 0x3fff00, 0x3fff01, 0x10000000 + 5};

	for (unsigned s = 0; s < sizeof(sizes_B) / sizeof(sizes_B[0]); s++) {
		struct cs_ib ib = fresh();
		uint64_t at_B = 0;

		sdma_copy(&ib, 0x20000000, 0x7000000001ull, sizes_B[s]);
		for (uint32_t *p = buffer; p < ib.cur; p += SDMA_COPY_DW) {
			CHECK_EQ(p[0], 1);
			CHECK(p[1] < dev.chip->sdma_copy_max_B);
			CHECK_EQ(p[2], 0);
			CHECK_EQ(address(p + 3), 0x7000000001ull + at_B);
			CHECK_EQ(address(p + 5), 0x20000000 + at_B);
			at_B += p[1] + 1ull;
		}
		CHECK_EQ(at_B, sizes_B[s]);
	}
}

/* Models the effect of a fill's packets on memory at 0x1000. */
static void run_fill(const struct cs_ib *ib, uint8_t *memory)
{
	for (uint32_t *p = buffer; p < ib->cur; p += SDMA_CONST_FILL_DW) {
		uint64_t at = address(p + 1) - 0x1000, size_B = (p[4] & 0x3fffff) + 1;

		if (p[0] >> 30 == 2) {
			CHECK_EQ(at % 4, 0);
			size_B &= ~3ull;
			for (uint64_t i = 0; i < size_B; i++)
				memory[at + i] = p[3] >> 8 * (i % 4);
		} else {
			CHECK_EQ(p[0] >> 30, 0);
			memset(memory + at, p[3] & 0xff, size_B);
		}
	}
}

static void byte_fills_touch_exactly_their_bytes(void)
{
	for (unsigned start = 0; start < 5; start++)
		for (unsigned size_B = 0; size_B < 14; size_B++) {
			uint8_t memory[32] = {0};
			struct cs_ib ib = fresh();

			sdma_fill_bytes(&ib, 0x1000 + start, 0xab, size_B);
			run_fill(&ib, memory);
			for (unsigned i = 0; i < sizeof(memory); i++)
				CHECK_EQ(memory[i], i >= start && i < start + size_B ? 0xab : 0);
		}
}

static void small_packets_have_the_reference_headers(void)
{
	struct cs_ib ib = fresh();

	sdma_fence(&ib, 0x100000004ull, 9);
	sdma_timestamp(&ib, 0x100000008ull);
	sdma_write(&ib, 0x100000010ull, (const uint32_t[]){5, 6}, 2);
	sdma_fill(&ib, 0x1000, 1, 4);
	sdma_barrier(&ib);
	CHECK_EQ(buffer[0], 0x00000005);
	CHECK_EQ(address(buffer + 1), 0x100000004ull);
	CHECK_EQ(buffer[3], 9);
	CHECK_EQ(buffer[4], 0x0000020D);
	CHECK_EQ(buffer[7], 0x00000002);
	CHECK_EQ(buffer[10], 1); /* dwords - 1 */
	CHECK_EQ(buffer[12], 6);
	CHECK_EQ(buffer[13], 0x8000000B);
	CHECK_EQ(buffer[17], 3); /* bytes - 1 */
	CHECK_EQ(buffer[18], 0);
	sdma_print(dev.chip, buffer, ib.cur - buffer, 0);
}

/* Versions 5 and later: the fence's memory type, and the widths of counts and windows. */
static void later_versions_have_their_fields(void)
{
	static const struct sdma_rect rect = {.dst = 0x1000,
					      .src = 0x200000,
					      .row_B = 400,
					      .rows = 5,
					      .slices = 2,
					      .dst_pitch_B = 4096,
					      .src_pitch_B = 1024,
					      .dst_slice_B = 1 << 20,
					      .src_slice_B = 1 << 16};
	struct cs_ib ib = fresh_on("gfx1030");
	struct sdma_queues none = {0};

	sdma_fence(&ib, 0x100000004ull, 9);
	sdma_copy(&ib, 0x20000000, 0x70000000, 0x10000000);
	CHECK_EQ(buffer[0], 0x00030005);
	CHECK_EQ(ib.cur - buffer, 4 + 7);
	CHECK_EQ(buffer[5], 0x0fffffff);
	ib = fresh_on("gfx1030");
	CHECK_EQ(sdma_append_rect(&none, SDMA_ENGINE_SDMA, &ib, &rect), 0);
	CHECK_EQ(buffer[0], 0x80000401);
	CHECK_EQ(buffer[4], 63u << 13);
	CHECK_EQ(buffer[9], 255u << 13);
	CHECK_EQ(buffer[11], 24 | 4 << 16);
	CHECK_EQ(buffer[12], 1);
	ib = fresh_on("gfx1201");
	CHECK_EQ(sdma_append_rect(&none, SDMA_ENGINE_SDMA, &ib, &rect), 0);
	CHECK_EQ(ib.cur - buffer, SDMA_COPY_WINDOW_DW);
	CHECK_EQ(buffer[4], 63u << 16);
	CHECK_EQ(buffer[5], 4095);
	CHECK_EQ(buffer[9], 255u << 16);
	CHECK_EQ(buffer[10], 65535);
	sdma_print(dev.chip, buffer, ib.cur - buffer, 0);
}

/* The rest of a copy or fill that the job had no memory for is left out: it might be of 2^40 packets. */
static void jobs_without_memory_end(void)
{
	struct cs_ib ib = fresh();

	ib.error = -ENOMEM;
	sdma_copy(&ib, 4096, 1ull << 63, 1ull << 62);
	sdma_fill(&ib, 4096, 0, 1ull << 62);
	sdma_fill_bytes(&ib, 4097, 0, 1ull << 62);
	CHECK(ib.cur == buffer);
}

int main(void)
{
	copies_are_split_and_cover_everything();
	byte_fills_touch_exactly_their_bytes();
	small_packets_have_the_reference_headers();
	later_versions_have_their_fields();
	jobs_without_memory_end();
	return check_done("SDMA packets");
}
