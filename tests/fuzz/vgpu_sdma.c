/* SDMA packets of each version: printed, and executed by the engine with a little memory mapped. The input is dwords, or
 * operations with fields. */
#include "tests/fuzz/engine.h"
#include "vgpu/engine/sdma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

/* The headers of what the engine models: an operation and its sub-operation. */
static const uint32_t headers[] = {
	SDMA_NOP,
	SDMA_COPY,
	SDMA_COPY | 1u << 27,
	SDMA_COPY | 1u << 19,
	SDMA_COPY | SDMA_COPY_SUB_WINDOW << 8,
	SDMA_COPY | SDMA_COPY_SUB_WINDOW_LARGE << 8,
	SDMA_WRITE,
	SDMA_FENCE,
	SDMA_TRAP,
	SDMA_POLL_REGMEM | 1u << 31,
	SDMA_COND_EXE,
	SDMA_ATOMIC,
	SDMA_CONST_FILL,
	SDMA_TIMESTAMP,
	SDMA_TIMESTAMP | SDMA_TIMESTAMP_GET << 8,
	SDMA_TIMESTAMP | SDMA_TIMESTAMP_GET_GLOBAL << 8,
	SDMA_PRE_EXE,
	SDMA_GCR_REQ,
	SDMA_COPY | 1u << 25,
};

static void put_packet(struct fuzz_gpu *g, struct fuzz_input *in)
{
	unsigned choice = fuzz_u8(in), upper = fuzz_u8(in), dw;
	uint32_t header = choice & 128 ? choice | (uint32_t)fuzz_u8(in) << 8
				       : headers[choice % (sizeof(headers) / sizeof(*headers))];
	const struct packet_form *form;

	header |= (uint32_t)upper << 24;
	form = packet_sdma(g->gen, header);
	dw = form ? form->min_dw : 2;
	fuzz_emit(g, header);
	fuzz_body(g, in, form, dw - 1);
	/* Counts are small more often than not, so that something is done. */
	if (g->dw >= dw && dw > 4 && form && choice & 64) {
		unsigned at = g->dw - dw + (form->op == SDMA_WRITE ? 3 : form->op == SDMA_CONST_FILL ? 4 : 1);

		g->ib[at] &= form->op == SDMA_WRITE ? 0x3f : 0xfff;
		for (unsigned n = 0; form->op == SDMA_WRITE && n < g->ib[at]; n++)
			fuzz_emit(g, n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	struct fuzz_input in = {data, size_B};
	struct fuzz_gpu g;
	unsigned odd;

	fuzz_gpu_init(&g, &in, ENGINE_DMA);
	odd = fuzz_u8(&in);
	while (in.left_B && g.dw < FUZZ_IB_dw)
		if (g.options & FUZZ_STRUCTURED)
			put_packet(&g, &in);
		else
			fuzz_emit(&g, fuzz_u32(&in));
	fuzz_print(&g);
	fuzz_run(&g, odd);
	return 0;
}
