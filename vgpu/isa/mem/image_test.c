/* Images with 16-bit coordinates and 16-bit components. */
#include "vgpu/isa/half.h"
#include "vgpu/isa/test_pieces.h"

/* s24:31 = an image of 8 by 4 elements in rows of 256 bytes at D; words 1 and 3 of it follow. v20, v21 = X, Y; the
 * lower 32 lanes are inside. */
#define IMAGE(word1, word3, word4)                                                                                 \
	"s_mov_b32 s24, s4\n s_and_b32 s25, s5, 0xffff\n s_lshr_b64 s[24:25], s[24:25], 8\n"                       \
	"s_or_b32 s25, s25, " word1 "\n s_mov_b32 s26, 0xc007\n s_mov_b32 s27, " word3 "\n s_mov_b32 s28, " word4  \
	"\n s_mov_b32 s29, 0\n s_mov_b32 s30, 0\n s_mov_b32 s31, 0\n"                                              \
	"v_and_b32 v20, 7, v0\n v_lshrrev_b32 v21, 3, v0\n"
#define UINT_32    "0x10400000"
#define UINT_8888  "0x10a00000"
#define UNORM_8888 "0x00a00000"
#define PACK       "v_lshl_or_b32 v20, v21, 16, v20\n v_mov_b32 v21, 99\n" /* nothing reads v21 then */

static uint32_t texel(unsigned l)
{
	return l < 32 ? was(256 * (l / 8) + 4 * (l % 8)) : 0;
}

static uint32_t half_of(uint32_t word, unsigned byte)
{
	return half_from_float((float)((word >> 8 * byte & 0xff) / 255.0), HALF_NEAREST);
}

static void a16_load_store(void)
{
	ALL(22, texel(l));
	ALL_OF(l < 32 ? d32(1024 + 256 * (l / 8) + 4 * (l % 8)) : 0, l < 32 ? 1000 + l : 0);
	CHECK_EQ(d32(1024 + 256 * 4), was(1024 + 256 * 4));
	CHECK_EQ(test.faults, 0);
}

static void a16_layers(void)
{
	ALL(22, texel(l));
}

static void a16_sample(void)
{
	ALL(22, l < 32 ? texel(l) : texel(l % 32)); /* clamp: repeats */
}

static void d16_load_store(void)
{
	ALL(22, half_of(texel(l), 0) | half_of(texel(l), 1) << 16);
	ALL(23, half_of(texel(l), 2) | half_of(texel(l), 3) << 16);
	ALL_OF(l < 32 ? d32(1024 + 256 * (l / 8) + 4 * (l % 8)) : 0, texel(l));
}

static void d16_integers(void)
{
	ALL(22, (texel(l) & 0xff) | (texel(l) >> 8 & 0xff) << 16);
	ALL(23, texel(l) >> 24); /* the third of three: its pair is left alone */
}

/* X and Y are in v30 and v31, the last VGPRs; the layer would be behind them: all come from v0 on. */
static void beyond(void)
{
	ALL(22, l ? 0 : was(0));
}

static const struct piece pieces[] = {
	{"A16 load and store", a16_load_store,
	 IMAGE(UINT_32, "0x90000fac", "0x7e000") PACK
	 "image_load v22, v20, s[24:31] dmask:0x1 unorm a16\n s_add_u32 s24, s24, 4\n"
	 "image_store v8, v20, s[24:31] dmask:0x1 unorm a16"},
	{"A16 layers", a16_layers,
	 IMAGE(UINT_32, "0xc0000fac", "0x7e003") PACK "image_load v22, v20, s[24:31] dmask:0x1 unorm a16 da"},
	{"A16 sample", a16_sample,
	 IMAGE(UINT_32, "0x90000fac",
	       "0x7e000") "v_cvt_f16_u16 v20, v20\n v_cvt_f16_u16 v21, v21\n v_add_f16 v20, 0.5, v20\n v_add_f16 v21, 0.5, v21\n"
			  "v_pack_b32_f16 v20, v20, v21\n s_mov_b64 s[32:33], 0\n s_mov_b64 s[34:35], 0\n"
			  "image_sample v22, v20, s[24:31], s[32:35] dmask:0x1 unorm a16"},
	{"D16 load and store", d16_load_store,
	 IMAGE(UNORM_8888, "0x90000fac",
	       "0x7e000") "image_load v[22:23], v[20:21], s[24:31] dmask:0xf unorm d16\n s_add_u32 s24, s24, 4\n"
			  "image_store v[22:23], v[20:21], s[24:31] dmask:0xf unorm d16"},
	{"coordinates over the end", beyond,
	 IMAGE(UINT_32, "0xd0000fac", "0x7e003") "image_load v22, v[30:32], s[24:31] dmask:0x1 unorm da", 1},
	{"D16 integers", d16_integers,
	 IMAGE(UINT_8888, "0x90000fac", "0x7e000") "image_load v[22:23], v[20:21], s[24:31] dmask:0xb unorm d16"},
};

/* row 171 */
int main(void)
{
	static const char *const chips[] = {"gfx900", "gfx906", "gfx90a"};

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(*chips); n++)
		test_pieces(chips[n], false, pieces, sizeof(pieces) / sizeof(*pieces));
	return check_done("images of 16 bits");
}
