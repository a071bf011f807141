/* PM4 packets of each generation, on compute and graphics rings: printed, and executed by the engine with a little memory
 * mapped. The input is dwords, or opcodes with fields, among them whole launches of small kernels. */
#include "tests/fuzz/engine.h"
#include "vgpu/engine/regs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

/* What the engine executes; the other opcodes come by number. */
static const uint8_t opcodes[] = {
	PM4_NOP,
	PM4_SET_BASE,
	PM4_DISPATCH_DIRECT,
	PM4_DISPATCH_INDIRECT,
	PM4_EVENT_WRITE_ZPASS,
	PM4_ATOMIC_MEM,
	PM4_SET_PREDICATION,
	PM4_COND_EXEC,
	PM4_PRED_EXEC,
	PM4_WRITE_DATA,
	PM4_WAIT_REG_MEM,
	PM4_INDIRECT_BUFFER,
	PM4_COPY_DATA,
	PM4_COND_WRITE,
	PM4_EVENT_WRITE,
	PM4_RELEASE_MEM,
	PM4_DMA_DATA,
	PM4_ACQUIRE_MEM,
	PM4_REWIND,
	PM4_SET_CONTEXT_REG,
	PM4_SET_SH_REG,
	PM4_SET_UCONFIG_REG,
	PM4_LOAD_UCONFIG_REG,
	PM4_LOAD_SH_REG,
	PM4_LOAD_CONTEXT_REG,
	PM4_LOAD_SH_REG_INDEX,
	PM4_WAIT_REG_MEM64,
	PM4_TIMESTAMP,
	PM4_SET_SH_REG_PAIRS,
	PM4_SET_SH_REG_PAIRS_PACKED,
	PM4_SET_UCONFIG_REG_PAIRS,
	PM4_HDP_FLUSH,
};

/* Kernels of all chips of GFX9, by 64 dwords: ends; stores v0 and adds to memory; meets others at a barrier, in LDS and
 * in global wave sync; spins; what the input has. */
static const uint32_t kernels[][16] = {
	{0xbf810000},
	{0x7e020280, 0x7e0402ff, 0x00007000, 0x7e0202ff, 0x00000000, 0xdc708000, 0x007f0001, 0xdd088000, 0x007f0001,
	 0xbf810000},
	{0xd81a0000, 0x00000000, 0xbf8cc07f, 0xbf8a0000, 0xd86c0000, 0x03000000, 0xbf8cc07f, 0xbf8a0000, 0xd9330000,
	 0x00000000, 0xbf810000},
	{0xbf82ffff},
};
#define KERNEL_dw 64u
#define KERNELS   (sizeof(kernels) / sizeof(*kernels))

static void put_code(struct fuzz_gpu *g, const uint8_t *code, size_t size_B)
{
	for (unsigned n = 0; n < 1024; n++)
		g->code[n] = 0xbf810000;
	for (unsigned n = 0; n < KERNELS; n++)
		memcpy(g->code + n * KERNEL_dw, kernels[n], sizeof(kernels[n]));
	memcpy(g->code + KERNELS * KERNEL_dw, code, size_B < 2048 ? size_B & ~(size_t)3 : 2048);
}

static void set_sh(struct fuzz_gpu *g, unsigned reg, uint32_t value)
{
	fuzz_emit(g, 3u << 30 | 1u << 16 | PM4_SET_SH_REG << 8);
	fuzz_emit(g, reg);
	fuzz_emit(g, value);
}

/* A dispatch with sizes of the input; some registers get other values than those that make sense. */
static void put_launch(struct fuzz_gpu *g, struct fuzz_input *in)
{
	static const uint16_t masks[] = {COMPUTE_STATIC_THREAD_MGMT_SE0, COMPUTE_STATIC_THREAD_MGMT_SE1,
					 COMPUTE_STATIC_THREAD_MGMT_SE2, COMPUTE_STATIC_THREAD_MGMT_SE3};
	unsigned kernel = fuzz_u8(in), shape = fuzz_u8(in), grid = fuzz_u8(in), wrong = fuzz_u8(in);
	uint64_t entry = FUZZ_CODE_VA + (uint64_t)kernel % (KERNELS + 1) * KERNEL_dw * 4;
	uint32_t group = 1u << (shape & 7), lds = shape >> 3 & 3;

	set_sh(g, COMPUTE_PGM_LO, (uint32_t)(entry >> 8));
	set_sh(g, COMPUTE_PGM_HI, (uint32_t)(entry >> 40));
	set_sh(g, COMPUTE_PGM_RSRC1, 5 | 3u << 6 | 0xf0u << 12 | (shape & 32 ? 63 : 0));
	set_sh(g, COMPUTE_PGM_RSRC2, 4u << 1 | RSRC2_TGID_X_EN | lds << 15 | (kernel >> 6 & 1));
	set_sh(g, COMPUTE_NUM_THREAD_X, group);
	set_sh(g, COMPUTE_NUM_THREAD_X + 1, shape >> 6);
	set_sh(g, COMPUTE_NUM_THREAD_X + 2, 1);
	for (unsigned n = 0; n < 4; n++) {
		set_sh(g, masks[n], 0xffffffff);
		set_sh(g, COMPUTE_USER_DATA_0 + n,
		       n == 1 ? FUZZ_DATA_VA >> 32 | (uint32_t)(kernel >> 7) << 31 : n << 8);
	}
	set_sh(g, COMPUTE_TMPRING_SIZE, 1u << 12 | 64);
	set_sh(g, COMPUTE_RESOURCE_LIMITS, 0);
	for (; wrong & 3; wrong--)
		set_sh(g, COMPUTE_DISPATCH_INITIATOR + fuzz_u8(in) % 0x50, fuzz_u32(in));
	fuzz_emit(g, 3u << 30 | 3u << 16 | PM4_DISPATCH_DIRECT << 8 | PM4_SHADER_TYPE);
	fuzz_emit(g, grid & 15);
	fuzz_emit(g, 1 + (grid >> 4 & 3));
	fuzz_emit(g, grid & 64 ? fuzz_u32(in) : 1);
	fuzz_emit(g, INITIATOR_COMPUTE_SHADER_EN | (grid & 128 ? fuzz_u32(in) : INITIATOR_FORCE_START_AT_000));
}

static void put_packet(struct fuzz_gpu *g, struct fuzz_input *in)
{
	unsigned choice = fuzz_u8(in), length = fuzz_u8(in), dw;
	uint8_t opcode = choice & 64 ? fuzz_u8(in) : opcodes[choice % sizeof(opcodes)];
	const struct packet_form *form =
		packet_pm4(g->gen, 3u << 30 | (uint32_t)(length & 15) << 16 | opcode << 8u);

	if (choice >= 224) {
		put_launch(g, in);
		return;
	}
	dw = form ? form->min_dw + (form->max_dw > form->min_dw ? length % 8 : 0) : 2 + length % 4;
	dw = dw > 1 ? dw : 2;
	/* The count lies now and then. */
	fuzz_emit(g, 3u << 30 | (dw - 2 + (length >= 250 ? length - 248 : 0)) << 16 | (uint32_t)opcode << 8 |
			     (length & 64 ? PM4_SHADER_TYPE : 0) | (length >> 7 & 1));
	fuzz_body(g, in, form, dw - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	struct fuzz_input in = {data, size_B};
	struct fuzz_gpu g;
	unsigned odd;

	fuzz_gpu_init(&g, &in, ENGINE_COMPUTE);
	odd = fuzz_u8(&in);
	put_code(&g, in.at, in.left_B);
	while (in.left_B && g.dw < FUZZ_IB_dw)
		if (g.options & FUZZ_STRUCTURED)
			put_packet(&g, &in);
		else
			fuzz_emit(&g, fuzz_u32(&in));
	fuzz_print(&g);
	fuzz_run(&g, odd);
	return 0;
}
