/* The text of packets, against what their fields mean by the headers of Linux and PAL. */
#include "vgpu/engine/print.h"

#include <string.h>

#include "tests/check.h"
#include "vgpu/engine/packet.h"

#define DW(...)  {__VA_ARGS__}, sizeof((uint32_t[])DW_(__VA_ARGS__)) / 4
#define DW_(...) {__VA_ARGS__}

struct golden {
	const char *chip;
	enum engine_ip ip;
	uint32_t dw[24];
	unsigned count;
	const char *text;
};

static const struct golden cases[] = {
	{"gfx908", ENGINE_COMPUTE, DW(0xffff1000), "NOP"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0011000, 1, 2), "NOP 0x1 0x2"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0004600, 0x00000407), "EVENT_WRITE CS_PARTIAL_FLUSH index=4"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0027600, 0x0000020c, 0x1000, 0x7f),
	 "SET_SH_REG COMPUTE_PGM_LO=0x1000 COMPUTE_PGM_HI=0x7f"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0017600, 0x00000227, 9), "SET_SH_REG COMPUTE_STATIC_THREAD_MGMT_SE6=0x9"},
	{"gfx942", ENGINE_COMPUTE, DW(0xc0017600, 0x00000227, 9), "SET_SH_REG COMPUTE_TG_CHUNK_SIZE=0x9"},
	{"gfx1030", ENGINE_COMPUTE, DW(0xc0017600, 0x00000228, 9), "SET_SH_REG COMPUTE_PGM_RSRC3=0x9"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0017900, 0x00000040, 0xcafedead),
	 "SET_UCONFIG_REG SCRATCH_REG0=0xcafedead"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0017900, 0x00000999, 1), "SET_UCONFIG_REG 0x999=0x1"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0031502, 4, 2, 1, 5), "DISPATCH_DIRECT x=4 y=2 z=1 initiator=0x5"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0021600, 0x1000, 0x7f, 5),
	 "DISPATCH_INDIRECT args=0x7f00001000 initiator=0x5"},
	{"gfx908", ENGINE_GFX, DW(0xc0011602, 0x40, 5), "DISPATCH_INDIRECT offset=0x40 initiator=0x5"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0055800, 0x08400000, 0xffffffff, 0x00ffffff, 0, 0, 0xa),
	 "ACQUIRE_MEM tcl1 k size256=0xffffffffffffff base256=0x0 interval=10"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0055800, 0x28c40000, 0xffffffff, 0x00ffffff, 0, 0, 0xa),
	 "ACQUIRE_MEM tc_wb tcl1 tc k i size256=0xffffffffffffff base256=0x0 interval=10"},
	{"gfx1100", ENGINE_COMPUTE, DW(0xc0065800, 0, 0xffffffff, 0x00ffffff, 0, 0, 0xa, 0xc3b1),
	 "ACQUIRE_MEM gli_inv glm_wb glm_inv glk_inv glv_inv gl1_inv gl2_inv gl2_wb size256=0xffffffffffffff "
	 "base256=0x0 interval=10"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0064900, 0x00088514, 0x43000000, 0x1000, 0x7f, 0x12, 0, 0),
	 "RELEASE_MEM CACHE_FLUSH_AND_INV_TS index=5 data64 va=0x7f00001000 data=0x12 int=3 tc_wb tc_nc"},
	{"gfx1030", ENGINE_COMPUTE, DW(0xc0064900, 0x06603514, 0x43000000, 0x1000, 0x7f, 0x12, 0, 0),
	 "RELEASE_MEM CACHE_FLUSH_AND_INV_TS index=5 data64 va=0x7f00001000 data=0x12 int=3 glm_wb glm_inv gl2_wb "
	 "seq=forward policy=3"},
	{"gfx1100", ENGINE_COMPUTE, DW(0xc000d000, 0), "PROTECTED_FENCE_SIGNAL"},
	{"gfx1201", ENGINE_COMPUTE, DW(0xc004d100, 0x00040002, 0xffc00008, 0xffffffff, 0x12, 0),
	 "FENCE_WAIT_MULTI preemptable interval=4 0xffc00008 0xffffffff 0x12 0x0"},
	{"gfx1201", ENGINE_COMPUTE, DW(0xc0064900, 0x00600514, 0x43000000, 0x1000, 0x7f, 0x12, 0, 0),
	 "RELEASE_MEM CACHE_FLUSH_AND_INV_TS index=5 data64 va=0x7f00001000 data=0x12 int=3 gl2_wb seq=forward"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0064900, 0x00000528, 0x60000000, 0x1000, 0x7f, 0, 0, 0),
	 "RELEASE_MEM BOTTOM_OF_PIPE_TS index=5 gpu_clock va=0x7f00001000 data=0x0"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0053c00, 0x00000015, 0x1000, 0x7f, 7, 0xffffffff, 4),
	 "WAIT_REG_MEM memory va=0x7f00001000 >= ref=0x7 mask=0xffffffff interval=4"},
	{"gfx1030", ENGINE_COMPUTE, DW(0xc0079300, 0x13, 0x1000, 0x7f, 7, 1, 0xffffffff, 0xffffffff, 4),
	 "WAIT_REG_MEM64 memory va=0x7f00001000 == ref=0x100000007 mask=0xffffffffffffffff interval=4"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0079300, 0x13, 0x1000, 0x7f, 7, 1, 2, 3, 4),
	 "opcode 0x93 0x13 0x1000 0x7f 0x7 ... 8 dwords"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0043700, 0x00100500, 0x1000, 0x7f, 1, 2),
	 "WRITE_DATA to=mem confirm va=0x7f00001000 0x1 0x2"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0044000, 0x02012509, 0, 0, 0x1000, 0x7f),
	 "COPY_DATA from=gpu_clock to=mem 64 src_policy=1 dst_policy=1 src=0x0 dst=0x7f00001000"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0071e00, 0x00000270, 0x1000, 0x7f, 1, 0, 0, 0, 0),
	 "ATOMIC_MEM sub_64 confirm va=0x7f00001000 src=0x1 cmp=0x0"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0071e00, 0x00000030, 0x1000, 0x7f, 1, 0, 0, 0, 0),
	 "ATOMIC_MEM sub_64_rtn va=0x7f00001000 src=0x1 cmp=0x0"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0023f00, 0x1000, 0x7f, 0x00900040),
	 "INDIRECT_BUFFER va=0x7f00001000 dw=64 chain valid"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0032200, 0x1000, 0x7f, 0, 5), "COND_EXEC va=0x7f00001000 dw=5"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0055000, 0xc0000000, 0xdead, 0, 0x1000, 0x7f, 64),
	 "DMA_DATA from=data sync src=0xdead dst=0x7f00001000 size=64"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0005900, 0x81000000), "REWIND offload valid"},
	{"gfx1100", ENGINE_COMPUTE, DW(0xc003bb00, 2, 0x020d020c, 0x11, 0x22),
	 "SET_SH_REG_PAIRS_PACKED count=2 COMPUTE_PGM_LO=0x11 COMPUTE_PGM_HI=0x22"},
	{"gfx1201", ENGINE_COMPUTE, DW(0xc003ba00, 0x212, 0x11, 0x213, 0x22),
	 "SET_SH_REG_PAIRS COMPUTE_PGM_RSRC1=0x11 COMPUTE_PGM_RSRC2=0x22"},
	{"gfx1100", ENGINE_COMPUTE, DW(0xc004b200, 3, 0x1000, 0x7f, 0x2000, 0x7f),
	 "TIMESTAMP bottom top bottom_va=0x7f00001000 top_va=0x7f00002000"},
	{"gfx908", ENGINE_COMPUTE, DW(0x80000000), "type 2 packet 0x80000000"},
	{"gfx908", ENGINE_COMPUTE, DW(0xc0064900, 0x00088514),
	 "RELEASE_MEM (2 of 8 dwords) CACHE_FLUSH_AND_INV_TS index=5 "
	 "tc_wb tc_nc"},

	{"gfx908", ENGINE_GFX, DW(0xc0022000, 0x00040100, 0x1000, 0x7f),
	 "SET_PREDICATION 32 if_set va=0x7f00001000"},
	{"gfx908", ENGINE_DMA, DW(0), "NOP"},
	{"gfx908", ENGINE_DMA, DW(1, 99, 0, 0x1000, 0x7f, 0x2000, 0x7f),
	 "COPY_LINEAR src=0x7f00001000 dst=0x7f00002000 size=100"},
	{"gfx908", ENGINE_DMA, DW(0x08000001, 99, 0, 0x1000, 0x7f, 0x2000, 0x7f, 0x3000, 0x7f),
	 "COPY_BROADCAST src=0x7f00001000 dst=0x7f00002000 dst2=0x7f00003000 size=100"},
	{"gfx1201", ENGINE_DMA, DW(0x00080001, 99, 0, 0x1000, 0x7f, 0x2000, 0x7f, 5),
	 "COPY_LINEAR src=0x7f00001000 dst=0x7f00002000 size=100 dcc meta=0x5"},
	{"gfx908", ENGINE_DMA,
	 DW(0x40000401, 0x1000, 0x7f, 0x20001, 0xe000, 63, 0x2000, 0x7f, 0x10000, 0x8001, 19, 0x10002, 1),
	 "COPY_SUB_WINDOW element=4 src=0x7f00001000 x=1 y=2 z=0 pitch=8 slice=64 dst=0x7f00002000 x=0 y=1 z=1 "
	 "pitch=5 slice=20 w=3 h=2 d=2"},
	{"gfx1201", ENGINE_DMA,
	 DW(0x40000401, 0x1000, 0x7f, 0x20001, 0x70000, 63, 0x2000, 0x7f, 0x10000, 0x40001, 19, 0x10002, 1),
	 "COPY_SUB_WINDOW element=4 src=0x7f00001000 x=1 y=2 z=0 pitch=8 slice=64 dst=0x7f00002000 x=0 y=1 z=1 "
	 "pitch=5 slice=20 w=3 h=2 d=2"},
	{"gfx908", ENGINE_DMA, DW(2, 0x1000, 0x7f, 1, 7, 8), "WRITE dst=0x7f00001000 dw=2 0x7 0x8"},
	{"gfx908", ENGINE_DMA, DW(5, 0x1000, 0x7f, 7), "FENCE va=0x7f00001000 data=0x7"},
	{"gfx1030", ENGINE_DMA, DW(0x00030005, 0x1000, 0x7f, 7), "FENCE va=0x7f00001000 data=0x7 mtype=3"},
	{"gfx908", ENGINE_DMA, DW(0xb0000008, 0x1000, 0x7f, 7, 0xffffffff, 0x0fff000a),
	 "POLL_REGMEM memory va=0x7f00001000 == ref=0x7 mask=0xffffffff interval=10 retries=0xfff"},
	{"gfx908", ENGINE_DMA, DW(0x5e00000a, 0x1000, 0x7f, 1, 0, 0, 0, 0),
	 "ATOMIC add_64_rtn va=0x7f00001000 src=0x1 cmp=0x0"},
	{"gfx908", ENGINE_DMA, DW(0x0000020d, 0x1000, 0x7f), "TIMESTAMP_GET_GLOBAL va=0x7f00001000"},
	{"gfx908", ENGINE_DMA, DW(0x8000000b, 0x1000, 0x7f, 0xdead, 63),
	 "CONST_FILL dst=0x7f00001000 data=0xdead last=0x3f dwords"},
	{"gfx908", ENGINE_DMA, DW(9, 0x1000, 0x7f, 7, 4), "COND_EXE va=0x7f00001000 ref=0x7 dw=4"},
	{"gfx1030", ENGINE_DMA, DW(0x00000111, 0, 0xc3b00000, 0, 0),
	 "GCR_REQ_USER glm_wb glm_inv glk_inv glv_inv gl1_inv gl2_inv gl2_wb"},
	{"gfx908", ENGINE_DMA, DW(0x11, 0, 0, 0, 0), "operation 17.0 (header 0x00000011)"},
	{"gfx908", ENGINE_DMA, DW(0x0501), "COPY_TILED_SUB_WINDOW (1 of 14 dwords)"},
};

static unsigned length_of(const struct golden *c)
{
	char text[16];

	return engine_packet_print(vgpu_chip_find(c->chip), c->ip, c->dw, c->count, text, sizeof(text));
}

static void texts_are_golden(void)
{
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct golden *c = &cases[i];
		char text[512];
		unsigned dw =
			engine_packet_print(vgpu_chip_find(c->chip), c->ip, c->dw, c->count, text, sizeof(text));

		if (!CHECK(!strcmp(text, c->text)))
			printf("  %s: \"%s\"\n  want \"%s\"\n", c->chip, text, c->text);
		if (!strstr(c->text, " dwords)") && !strstr(c->text, "operation "))
			CHECK_EQ(dw, c->count);
		CHECK_EQ(length_of(c), dw); /* however little room there is */
	}
}

/* A text of any packet stays in its room, whatever the dwords are. */
static void any_dwords_print(void)
{
	uint32_t dw[40], state = 1;

	for (unsigned round = 0; round < 200000; round++) {
		char text[80];
		enum engine_ip ip = round % 3;
		unsigned count = 1 + round % 40;

		for (unsigned i = 0; i < 40; i++)
			dw[i] = state = state * 1664525u + 1013904223u;
		dw[0] = ip == ENGINE_DMA ? (dw[0] & 0xff003f1f) : (dw[0] & 0x003fff00) | 0xc0000000;
		text[sizeof(text) - 1] = 'x';
		CHECK(engine_packet_print(vgpu_chip_at(round % 29), ip, dw, count, text, sizeof(text) - 1) >= 1);
		CHECK(memchr(text, 0, sizeof(text) - 1) && text[sizeof(text) - 1] == 'x');
	}
}

static void stray_bits_are_found(void)
{
	uint32_t fence[4] = {0x00030005, 0, 0, 0}, stray;
	unsigned where;

	CHECK(packet_stray_bits(packet_sdma(P_SDMA40, fence[0]), P_SDMA40, fence, 4, &where, &stray));
	CHECK_EQ(where, 0);
	CHECK_EQ(stray, 0x00030000);
	CHECK(!packet_stray_bits(packet_sdma(P_SDMA50, fence[0]), P_SDMA50, fence, 4, &where, &stray));
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct golden *c = &cases[i];
		const struct vgpu_chip *chip = vgpu_chip_find(c->chip);
		unsigned gen = c->ip == ENGINE_DMA ? packet_sdma_gen(chip) : packet_gfx_gen(chip);
		const struct packet_form *form =
			c->ip == ENGINE_DMA ? packet_sdma(gen, c->dw[0]) : packet_pm4(gen, c->dw[0]);

		if (form && !CHECK(!packet_stray_bits(form, gen, c->dw, c->count, &where, &stray)))
			printf("  0x%x of dword %u: %s\n", stray, where, c->text);
	}
}

int main(void)
{
	texts_are_golden();
	any_dwords_print();
	stray_bits_are_found();
	return check_done("text of packets");
}
