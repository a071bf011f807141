/* Every number of every encoding of the chips of GFX9, with several operand patterns: LLVM's disassembler, where
 * installed, and ours must agree on what is an instruction, on its name, its length and, where our syntax is
 * LLVM's, its operands.
 */
#include "vgpu/isa/decode/test_llvm.h"

/* Operands: even registers, so that gfx90a's alignment rule holds; VGPRs 2, 4, 8 as sources, 6 or 32 as result. */
static void scalar_probes(void)
{
	for (uint32_t n = 0; n < 96; n++)
		add(2u << 30 | n << 23 | 32 << 16 | 16 << 8 | 8, 0, 1);
	for (uint32_t n = 0; n < 28; n++)
		add(0xbu << 28 | n << 23 | 32 << 16 | 0x1234, 0x55, n == 20 ? 2 : 1);
	for (uint32_t n = 0; n < 256; n++) {
		add(0x17du << 23 | 32 << 16 | n << 8 | 8, 0, 1);
		if (n != 0x1c) /* s_getpc has no source that could be a literal */
			add(0x17du << 23 | 106 << 16 | n << 8 | 255, 0x80000001, 2);
		add(0x17du << 23 | n << 8, 0, 1);
	}
	for (uint32_t n = 0; n < 128; n++) {
		add(0x17eu << 23 | n << 16 | 16 << 8 | 8, 0, 1);
		add(0x17eu << 23 | n << 16 | 193 << 8 | 126, 0, 1);
		add(0x17fu << 23 | n << 16, 0, 1);
		add(0x17fu << 23 | n << 16 | 2, 0, 1);
	}
}

static bool has_literal(uint32_t vop2)
{
	return vop2 == 0x17 || vop2 == 0x18 || vop2 == 0x24 || vop2 == 0x25;
}

static void vector_probes(void)
{
	static const uint32_t src0[] = {256 + 2, 10, 129, 242, 106};

	for (uint32_t k = 0; k < 5; k++) {
		for (uint32_t n = 0; n < 62; n++)
			add(n << 25 | 6 << 17 | 4 << 9 | src0[k], 0x12345678, has_literal(n) ? 2 : 1);
		for (uint32_t n = 0; n < 256; n++) {
			add(0x3fu << 25 | 6 << 17 | n << 9 | src0[k], 0, 1);
			add(0x3eu << 25 | n << 17 | 4 << 9 | src0[k], 0, 1);
		}
	}
	for (uint32_t n = 0; n < 256; n++) { /* literals, SDWA, DPP */
		add(0x3fu << 25 | 6 << 17 | n << 9 | 255, 0x12345678, 2);
		add(0x3fu << 25 | 6 << 17 | n << 9 | 249, 0x00061505, 2);
		add(0x3fu << 25 | 6 << 17 | n << 9 | 250, 0xff00e402, 2);
		add(0x3eu << 25 | n << 17 | 4 << 9 | 249, 0x06050002, 2);
	}
	for (uint32_t n = 0; n < 1024; n++) {
		uint32_t w = 0x34u << 26 | n << 16;

		add(w | 6, 258 | 260 << 9 | 264 << 18, 2);
		add(w | 6, 258 | 260 << 9, 2);
		add(w | 6, 258, 2);
		add(w | 6, 258 | 10 << 9, 2);
		add(w | 20 << 8 | 6, 258 | 260 << 9 | 264 << 18, 2);
		add(w | 20 << 8 | 6, 258 | 260 << 9 | 30 << 18, 2);
		add(w | 6, 10 | 129 << 9 | 264 << 18, 2);
		add(w | 6 | 1 << 8, 258 | 260 << 9 | 264 << 18 | 1u << 30, 2);
		add(w | 0x8006, 258 | 260 << 9 | 264 << 18 | 1u << 27, 2);
		add(w, 0, 2);
	}
	for (uint32_t n = 0; n < 128; n++) {
		uint32_t w = 0x1a7u << 23 | n << 16;

		add(w | 6 | 1 << 14, 258 | 260 << 9 | 264 << 18 | 3 << 27, 2);
		add(w | 6, 258 | 260 << 9 | 264 << 18, 2);
		add(w | 6 | 1 << 14, 258 | 260 << 9 | 3 << 27, 2);
		add(w | 32, 258 | 260 << 9 | (256 + 64) << 18, 2);
		add(w | 32, 258 | 1 << 27, 2);
		add(w | 32, 258, 2);
	}
}

static void memory_probes(void)
{
	for (uint32_t n = 0; n < 256; n++) {
		uint32_t s = 0x30u << 26 | n << 18, d = 0x36u << 26 | n << 17;

		add(s | 1 << 17 | 16 << 6 | 4, 0x40, 2);
		add(s | 1 << 16 | 1 << 17 | 16 << 6 | 4, 0x40, 2);
		add(s | 16 << 6 | 4, 30, 2);
		add(s, 0, 2);
		for (uint32_t gds = 0; gds < 2; gds++) {
			add(d | gds << 16 | 0x0102, 8u << 24 | 6 << 16 | 4 << 8 | 2, 2);
			add(d | gds << 16 | 2, 8u << 24 | 4 << 8 | 2, 2);
			add(d | gds << 16 | 2, 8u << 24 | 2, 2);
			add(d | gds << 16 | 2, 4 << 8 | 2, 2);
			add(d | gds << 16 | 2, 6 << 16 | 4 << 8 | 2, 2);
			add(d | gds << 16 | 2, 2, 2);
			add(d | gds << 16 | 2, 8u << 24, 2);
			add(d | gds << 16, 0, 2);
		}
	}
	for (uint32_t n = 0; n < 128; n++) {
		for (uint32_t glc = 0; glc < 2; glc++) {
			uint32_t f = 0x37u << 26 | n << 18 | glc << 16 | 8, m = 0x38u << 26 | n << 18 | glc << 14;

			add(f, 8u << 24 | 4 << 8 | 2, 2);
			add(f, 8u << 24 | 2, 2);
			add(f, 4 << 8 | 2, 2);
			for (uint32_t seg = 1; seg < 3; seg++) {
				add(f | seg << 14, 8u << 24 | 0x7f << 16 | 4 << 8 | 2, 2);
				add(f | seg << 14 | 0x1ff0, 8u << 24 | 20 << 16 | 4 << 8 | 2, 2);
				/* Bits of gfx942: SVE, nt, sc1. */
				add(f | seg << 14 | 0x2000, 8u << 24 | 20 << 16 | 4 << 8 | 2, 2);
				add(f | seg << 14 | 1 << 25 | 1 << 17, 8u << 24 | 0x7f << 16 | 4 << 8 | 2, 2);
			}
			add(m | 1 << 12 | 8, 16u << 24 | 2 << 16 | 4 << 8 | 2, 2);
			add(m | 3 << 12 | 8, 128u << 24 | 2 << 16 | 4 << 8 | 2, 2);
			add(m | 9, 16u << 24 | 2 << 16 | 4 << 8, 2);
		}
		add(0x38u << 26 | n << 18, 0x80u << 24, 2);
		for (uint32_t samples = 0; samples < 2; samples++)
			add(0x3cu << 26 | n << 18 | 1 << 8 | 1 << 12, 2 << 16 | 4 << 8 | 2 | samples << 23, 2);
	}
	for (uint32_t n = 0; n < 16; n++)
		add(0x3au << 26 | 4 << 23 | 4 << 19 | n << 15 | 1 << 12 | 8, 16u << 24 | 2 << 16 | 4 << 8 | 2, 2);
}

static void names_granted_rows(const struct isa_inst *inst)
{
	if (inst->enc < ISA_VOP1 || inst->enc > ISA_VOP3P)
		return;
	for (unsigned s = 0; s < 3; s++)
		if (inst->valu.kind[s] == ISA_FROM_ROW && inst->valu.row[s] >= 32)
			CHECK(!"a granted register");
	if (inst->valu.vdst >= 32)
		CHECK(!"a granted register");
}

/* Whatever the words, decoding ends, stays inside them, and names registers that were granted. */
static void random_words_are_safe(void)
{
	uint64_t seed = 1;

	for (unsigned n = 0; n < 2000000; n++) {
		struct isa_decoder dec = {(enum vgpu_gfx)(n % VGPU_GFX_COUNT), 24, 32, 24, 8};
		uint32_t code[5];
		struct isa_inst inst;
		const char *why;
		char text[64];
		unsigned words = 1 + n % 5, used;

		for (unsigned k = 0; k < 5; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			code[k] = (uint32_t)(seed >> 32);
		}
		used = isa_decode(&dec, code, words, 0, &inst, &why);
		if (used > words || (!used && !why) ||
		    isa_disassemble(dec.gfx, code, words, 0, text, sizeof(text)) > words)
			CHECK(!"inside the words");
		if (!used)
			continue;
		names_granted_rows(&inst);
		if (!inst.dual)
			continue;
		isa_decode_second(&dec, code, words, 0, &inst);
		names_granted_rows(&inst);
	}
	CHECK(1);
}

int main(void)
{
	static const char *const chips[] = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"};

	random_words_are_safe();
	scalar_probes();
	vector_probes();
	memory_probes();
	if (system("command -v " TOOL " >/dev/null 2>&1")) {
		printf("the comparison is skipped: " TOOL " is not installed\n");
		return check_done("decoding");
	}
	for (unsigned gfx = 0; gfx < VGPU_GFX10_1; gfx++)
		compare_chip((enum vgpu_gfx)gfx, chips[gfx], 5000, 90);
	return check_done("decoding against LLVM");
}
