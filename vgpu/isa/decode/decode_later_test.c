/* Every number of every encoding of GFX10 to GFX12, with several operand patterns: LLVM's disassembler, where
 * installed, and ours must agree on what is an instruction, on its name, its length and, where our syntax is
 * LLVM's, its operands. Every prefix of a generation is written down here a second time. */
#include "vgpu/isa/decode/test_llvm.h"

enum generation { GFX10, GFX11, GFX12 };

static void salu_probes(enum generation gen)
{
	uint32_t null = gen == GFX10 ? 125 : 124;

	for (uint32_t n = 0; n < 96; n++) {
		bool literal = gen != GFX10 && (n == 0x45 || n == 0x46);

		add(2u << 30 | n << 23 | 32 << 16 | 16 << 8 | 8, 0x12345678, literal ? 2 : 1);
		if (!literal)
			add(2u << 30 | n << 23 | 104 << 16 | null << 8 | 255, 0x12345678, 2);
	}
	for (uint32_t n = 0; n < 28; n++)
		add(0xbu << 28 | n << 23 | 32 << 16 | 0x1234, 0x55, n == (gen == GFX10 ? 21 : 19) ? 2 : 1);
	for (uint32_t n = 0; n < 256; n++) {
		add(0x17du << 23 | 32 << 16 | n << 8 | 8, 0, 1);
		add(0x17du << 23 | 104 << 16 | n << 8 | 125, 0, 1);
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
	return vop2 == 0x20 || vop2 == 0x21 || vop2 == 0x2c || vop2 == 0x2d || vop2 == 0x37 || vop2 == 0x38;
}

/* VOP1, VOP2, VOPC. */
static void short_probes(enum generation gen)
{
	static const uint32_t src0[] = {256 + 2, 10, 129, 242, 106, 124, 125};

	for (uint32_t k = 0; k < 7; k++) {
		for (uint32_t n = 0; n < 62; n++)
			add(n << 25 | 6 << 17 | 4 << 9 | src0[k], 0x12345678, has_literal(n) ? 2 : 1);
		for (uint32_t n = 0; n < 256; n++) {
			add(0x3fu << 25 | 6 << 17 | n << 9 | src0[k], 0, 1);
			add(0x3eu << 25 | n << 17 | 4 << 9 | src0[k], 0, 1);
		}
	}
	for (uint32_t n = 0; n < 256; n++) { /* literals, DPP8, DPP, SDWA */
		add(0x3fu << 25 | 6 << 17 | n << 9 | 255, 0x12345678, 2);
		add(0x3fu << 25 | 6 << 17 | n << 9 | 233, 0x05397702, 2);
		add(0x3fu << 25 | 6 << 17 | n << 9 | 250, 0xff04e402, 2);
		add(0x3fu << 25 | 6 << 17 | n << 9 | 250, 0xff015302, 2);
		if (gen == GFX10) {
			add(0x3fu << 25 | 6 << 17 | n << 9 | 249, 0x00061505, 2);
			add(0x3eu << 25 | n << 17 | 4 << 9 | 249, 0x06050002, 2);
		} else {
			add(0x3eu << 25 | n << 17 | 4 << 9 | 234, 0x05397702, 2);
		}
	}
}

static void long_probes(enum generation gen)
{
	for (uint32_t n = 0; n < 1024; n++) {
		uint32_t w = 0x35u << 26 | n << 16;

		add(w | 6, 258 | 260 << 9 | 264 << 18, 2);
		add(w | 6, 258 | 260 << 9, 2);
		add(w | 6, 258, 2);
		add(w | 6, 258 | 10 << 9, 2);
		add(w | 6, 258 | 10 << 9 | 12 << 18, 2);
		add(w | 6, 10, 2);
		add(w | 20 << 8 | 6, 258 | 260 << 9 | 264 << 18, 2);
		add(w | 20 << 8 | 6, 258 | 260 << 9 | 30 << 18, 2);
		add(w | 6, 10 | 129 << 9 | 264 << 18, 2);
		add(w | 6 | 1 << 8, 258 | 260 << 9 | 264 << 18 | 1u << 30, 2);
		add(w | 0x8006, 258 | 260 << 9 | 264 << 18 | 1u << 27, 2);
		add(w, 0, 2);
		add(w | 6, 255 | 260 << 9 | 264 << 18, 3);
		add(w | 6, 255 | 260 << 9, 3);
		if (gen == GFX10)
			continue;
		add3(w | 6, 250 | 260 << 9 | 264 << 18, 0xff04e402, 3);
		add3(w | 6, 250 | 260 << 9, 0xff04e402, 3);
		add3(w | 6, 233 | 260 << 9, 0x05397702, 3);
	}
	for (uint32_t n = 0; n < 128; n++) {
		uint32_t w = 0x198u << 23 | n << 16;

		add(w | 6 | 1 << 14, 258 | 260 << 9 | 264 << 18 | 3 << 27, 2);
		add(w | 6, 258 | 260 << 9 | 264 << 18, 2);
		add(w | 6 | 1 << 14, 255 | 260 << 9 | 264 << 18 | 3 << 27, 3);
		add(w | 32, 258 | 1 << 27, 2);
		add(w | 32 | 1 << 14, 258 | 260 << 9 | 3 << 27, 2);
	}
}

/* VGPRs 1, 2 and 6, 7 as sources: each half has a bank of its own for each. */
static void dual_probes(void)
{
	for (uint32_t x = 0; x < 16; x++)
		for (uint32_t y = 0; y < 32; y++) {
			bool literal = x == 1 || x == 2 || y == 1 || y == 2;
			uint32_t w = 0x32u << 26 | x << 22 | y << 17;

			add(w | 2 << 9 | 257, 8u << 24 | 5 << 17 | 7 << 9 | 262, literal ? 3 : 2);
			add(w | 2 << 9 | 10, 9u << 24 | 5 << 17 | 7 << 9 | 129, literal ? 3 : 2);
			add(w | 2 << 9 | 255, 9u << 24 | 5 << 17 | 7 << 9 | 262, 3);
		}
}

static void smem_probes(enum generation gen)
{
	for (uint32_t n = 0; n < (gen == GFX12 ? 64 : 256); n++) {
		uint32_t s = 0x3du << 26 | n << (gen == GFX12 ? 13 : 18), none = (gen == GFX10 ? 125u : 124u) << 25;

		add(s | 16 << 6 | 4, none | 0x40, 2);
		add(s | 16 << 6 | 4, none | 0x1fff00, 2);
		add(s | 16 << 6 | 4, 30u << 25 | 8, 2);
		add(s, 0, 2);
		add(s, none, 2);
	}
}

static void ds_probes(void)
{
	for (uint32_t n = 0; n < 256; n++) {
		uint32_t d = 0x36u << 26 | n << 18;

		for (uint32_t gds = 0; gds < 2; gds++) {
			add(d | gds << 17 | 0x0102, 8u << 24 | 6 << 16 | 4 << 8 | 2, 2);
			add(d | gds << 17 | 2, 8u << 24 | 4 << 8 | 2, 2);
			add(d | gds << 17 | 2, 8u << 24 | 2, 2);
			add(d | gds << 17 | 2, 4 << 8 | 2, 2);
			add(d | gds << 17 | 2, 6 << 16 | 4 << 8 | 2, 2);
			add(d | gds << 17 | 2, 2, 2);
			add(d | gds << 17 | 2, 8u << 24, 2);
			add(d | gds << 17, 0, 2);
		}
	}
}

/* Two dwords, GFX10 and GFX11. */
static void flat_probes(enum generation gen)
{
	uint32_t none = (gen == GFX10 ? 125 : 124) << 16, sve = gen == GFX10 ? 0 : 1 << 23;

	for (uint32_t n = 0; n < 128; n++)
		for (uint32_t glc = 0; glc < 2; glc++) {
			uint32_t f = 0x37u << 26 | n << 18 | glc << (gen == GFX10 ? 16 : 14) | 8;

			add(f, 8u << 24 | none | 4 << 8 | 2, 2);
			add(f, 8u << 24 | none | 2, 2);
			add(f, none | 4 << 8 | 2, 2);
			for (uint32_t seg = 1; seg < 3; seg++) {
				uint32_t s = f | seg << (gen == GFX10 ? 14 : 16);

				add(s, 8u << 24 | none | sve | 4 << 8 | 2, 2);
				add(s | 0xf00, 8u << 24 | 20 << 16 | 4 << 8 | 2, 2);
				add(s, 8u << 24 | 20 << 16 | sve | 4 << 8 | 2, 2);
				add(s, 8u << 24 | 127 << 16 | 4 << 8, 2);
				add(s, none | 4 << 8, 2);
			}
		}
}

static void buffer_probes(enum generation gen)
{
	uint32_t offen = gen == GFX10 ? 0 : 1 << 22, offen0 = gen == GFX10 ? 1 << 12 : 0;

	for (uint32_t n = 0; n < (gen == GFX10 ? 128 : 256); n++)
		for (uint32_t glc = 0; glc < 2; glc++) {
			uint32_t m = 0x38u << 26 | n << 18 | glc << 14;

			add(m | offen0 | 8, offen | 16u << 24 | 2 << 16 | 4 << 8 | 2, 2);
			add(m | 3 * offen0 | 8, 3 * offen | 128u << 24 | 2 << 16 | 4 << 8 | 2, 2);
			add(m | 9, 16u << 24 | 2 << 16 | 4 << 8, 2);
			add(m, 0x80u << 24, 2);
			add(m, 0, 2);
		}
	for (uint32_t n = 0; n < 16; n++) {
		uint32_t op = gen == GFX10 ? (n & 7) << 16 : n << 15, hi = gen == GFX10 ? n >> 3 << 21 : 0;

		add(0x3au << 26 | 22 << 19 | op | offen0 | 8, hi | offen | 16u << 24 | 2 << 16 | 4 << 8 | 2, 2);
	}
}

/* Every number with one component of a two-dimensional image; then dimensions, modes and lists of VGPRs. */
static void image_probes(enum generation gen)
{
	static const uint32_t modes_10[] = {1 << 12, 1 << 13, 1 << 25, 1 << 7, 1 << 16, 1 << 17},
			      modes_11[] = {1 << 7, 1 << 14, 1 << 12, 1 << 13, 1 << 16, 1 << 17};
	uint32_t dim = gen == GFX10 ? 3 : 2, nsa = gen == GFX10 ? 1 << 1 : 1,
		 sampler = 4u << (gen == GFX10 ? 21 : 26);

	for (uint32_t n = 0; n < 256; n++) {
		uint32_t w = 0x3cu << 26 | 1 << 8 | (gen == GFX10 ? (n & 127) << 18 | n >> 7 : n << 18);

		for (uint32_t d = 0; d < 8; d++) {
			uint32_t w1 = (d & 1 ? 0 : sampler) | 2 << 16 | 4 << 8 | 2;

			add(w | d << dim, 2 << 16 | 4 << 8 | 2, 2);
			add(w | d << dim, w1, 2);
			add3(w | 0xf << 8 | d << dim | nsa, w1, 0x08030907, 3);
			add(w | 0x3 << 8 | d << dim, w1, 2);
		}
		for (uint32_t k = 0; k < 6; k++)
			add(w | 0xf << 8 | 1 << dim | (gen == GFX10 ? modes_10 : modes_11)[k],
			    sampler | 2 << 16 | 4 << 8 | 2, 2);
		if (gen == GFX10) {
			add(w | 0xf << 8 | 2 << dim, 3u << 30 | sampler | 2 << 16 | 4 << 8 | 2, 2);
			add(w | 0xf << 8 | 2 << dim, 1u << 30 | sampler | 2 << 16 | 4 << 8 | 2, 2);
		}
	}
}

/* Three dwords: VIMAGE and VSAMPLE. */
static void image12_probes(void)
{
	for (uint32_t n = 0; n < 256; n++)
		for (uint32_t sample = 0; sample < 2; sample++) {
			uint32_t w = (sample ? 0x39u : 0x34u) << 26 | n << 14,
				 w1 = 8 << 9 | 4 | (sample ? 20u << 23 : 0);

			for (uint32_t d = 0; d < 8; d++) {
				add3(w | 0x1 << 22 | d, w1, 0, 3);
				add3(w | 0xf << 22 | d, w1, 0x08030907, 3);
				add3(w | 0x3 << 22 | d, w1 | 3 << 18 | 1 << 20, 0x08030907, 3);
			}
			add3(w | 0xf << 22 | 1 | 1 << 5, w1, 0x08030907, 3);
			add3(w | 0xf << 22 | 2 | 1 << 6, w1, 0x0907, 3);
			add3(w | 0xf << 22 | 1 | (sample ? 1 << 3 : 0), w1 | (sample ? 0 : 1 << 23), 0x0907, 3);
			add3(w | 0xf << 22 | 1 | (sample ? 1 << 13 : 0), w1, 0x08030907, 3);
		}
}

/* Three dwords: FLAT, GLOBAL, SCRATCH, buffers. */
static void memory12_probes(void)
{
	for (uint32_t n = 0; n < 256; n++)
		for (uint32_t th = 0; th < 2; th++) {
			uint32_t w1 = th << 20 | 4 << 23;

			for (uint32_t seg = 0; seg < 3; seg++) {
				uint32_t f = 0x3bu << 26 | seg << 24 | n << 14;

				add3(f | 124, w1 | 8, 8 << 8 | 2, 3);
				add3(f | 124, w1 | 1 << 17 | 8, 8 << 8 | 2, 3);
				add3(f | 124, 8, 2, 3);
				add3(f | 124, 4 << 23, 2, 3);
				add3(f | 20, w1 | 8, 0xfff00002, 3);
				add3(f | 20, w1 | 1 << 17 | 8, 8 << 8 | 2, 3);
				add3(f | 124, 2 << 18, 0, 3);
			}
			add3(0x31u << 26 | n << 14 | 16, th << 20 | 1u << 30 | 8 << 9 | 4 | 8 << 23, 8 << 8 | 2, 3);
			add3(0x31u << 26 | n << 14 | 124, th << 20 | 3u << 30 | 8 << 9 | 4 | 8 << 23, 2, 3);
			add3(0x31u << 26 | n << 14 | 124, th << 20 | 8 << 9 | 4 | 8 << 23, 0xffff00, 3);
		}
}

static void probe_generation(enum generation gen)
{
	probe_count = 0;
	salu_probes(gen);
	if (gen != GFX10)
		dual_probes();
	short_probes(gen);
	long_probes(gen);
	smem_probes(gen);
	ds_probes();
	if (gen == GFX12) {
		memory12_probes();
		image12_probes();
		return;
	}
	flat_probes(gen);
	buffer_probes(gen);
	image_probes(gen);
}

int main(void)
{
	static const struct {
		enum generation gen;
		enum vgpu_gfx gfx;
		const char *name;
	} chips[] = {
		{GFX10, VGPU_GFX10_1, "gfx1010"}, {GFX10, VGPU_GFX10_1_DOT, "gfx1011"},
		{GFX10, VGPU_GFX10_3, "gfx1030"}, {GFX11, VGPU_GFX11, "gfx1100"},
		{GFX11, VGPU_GFX11_5, "gfx1150"}, {GFX12, VGPU_GFX12, "gfx1200"},
	};

	if (system("command -v " TOOL " >/dev/null 2>&1")) {
		printf("SKIP " TOOL " is not installed\n");
		return 77;
	}
	for (unsigned n = 0; n < sizeof(chips) / sizeof(chips[0]); n++) {
		probe_generation(chips[n].gen);
		compare_chip(chips[n].gfx, chips[n].name, 5000, 90);
	}
	return check_done("decoding GFX10 to GFX12 against LLVM");
}
