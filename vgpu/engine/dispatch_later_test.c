/* Kernels that clang made for GFX10 and later, in waves of 32 and of 64: what they compute, against the same C on the
 * host. */
#include "vgpu/engine/test_launch.h"

/* Compiled here, and as text for the GPU. */
#define BOTH(...)                                                                                                  \
	__VA_ARGS__                                                                                                \
	static const char both[] = #__VA_ARGS__;
#define DEVICE static inline

typedef uint32_t u32;
typedef uint64_t u64;

BOTH(
	DEVICE u32 integers(u32 a, u32 b) {
		u32 r = a * b + (a >> (b & 31)) + (b << (a & 31));
		r ^= a / (b | 1) + a % (b | 1);
		r += (u32)((int)a / (int)(b | 3)) ^ (u32)((int)a >> (b & 15));
		r += (u32)__builtin_popcount(a) * 3 + (u32)__builtin_clz(a | 1) + (u32)__builtin_ctz(b | 4);
		r ^= (a << 7 | a >> 25) + (a < b ? a : b) - ((int)a > (int)b ? a : b);
		return r ^ (u32)(((u64)a * b) >> 32);
	}

	DEVICE u64 wides(u32 a, u32 b) {
		u64 x = (u64)a << 32 | b;
		u64 y = (u64)b << 29 ^ a;
		u64 r = x * y + (x >> (b & 63)) - (y << (a & 63));
		r ^= x / (y | 1) + (u64)((long)x >> 9);
		return r + (x < y) + ((long)x < (long)y ? 5 : 9);
	}

	DEVICE u32 shorts(u32 a, u32 b) {
		unsigned short x = (unsigned short)a;
		unsigned short y = (unsigned short)(b >> 16);
		short z = (short)(a >> 8);
		x = (unsigned short)(x * y + (x >> (y & 15)));
		z = (short)(z < (short)y ? z + 3 : z - (short)x);
		return x | (u32)(unsigned short)z << 16;
	}

	DEVICE float floats(float x, float y) {
		float r = x * y + 0.25f;
		r = __builtin_fmaf(r, x, y) / (y + 3.0f);
		r = __builtin_sqrtf(__builtin_fabsf(r)) + __builtin_floorf(x) - __builtin_truncf(y * 0.5f);
		return r < x ? r - (float)(int)x : r + (float)(unsigned)(y + 1.0f);
	}

	DEVICE double doubles(double x, double y) {
		double r = x * y - 0.125;
		r = __builtin_fma(r, x, y) / (y + 3.0);
		return __builtin_sqrt(__builtin_fabs(r)) + __builtin_floor(x) + (double)(float)r;
	})

static const char source[] =
	"#define KERNEL extern \"C\" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 1024)))\n"
	"#define shared __attribute__((shared))\n"
	"#define X __builtin_amdgcn_workitem_id_x()\n"
	"#define Y __builtin_amdgcn_workitem_id_y()\n"
	"#define Z __builtin_amdgcn_workitem_id_z()\n"
	"#define GX __builtin_amdgcn_workgroup_id_x()\n"
	"#define GY __builtin_amdgcn_workgroup_id_y()\n"
	"#define GZ __builtin_amdgcn_workgroup_id_z()\n"
	"KERNEL void mix(const u32 *a, const u32 *b, u32 *out) {\n"
	"  u32 i = GX * 64 + X; u64 w = wides(a[i], b[i]);\n"
	"  float f = floats((float)(int)a[i] * 0x1p-20f, (float)(b[i] >> 8));\n"
	"  double d = doubles((double)(int)a[i] * 0x1p-20, (double)(b[i] >> 8));\n"
	"  out[i * 8] = integers(a[i], b[i]); out[i * 8 + 1] = (u32)w; out[i * 8 + 2] = (u32)(w >> 32);\n"
	"  out[i * 8 + 3] = shorts(a[i], b[i]); __builtin_memcpy(&out[i * 8 + 4], &f, 4);\n"
	"  __builtin_memcpy(&out[i * 8 + 6], &d, 8); }\n"
	"KERNEL void reduce(const unsigned *in, unsigned *out) {\n"
	"  shared unsigned sum[1024]; sum[X] = in[GX * 1024 + X];\n"
	"  for (unsigned n = 512; n; n /= 2) { __builtin_amdgcn_fence(5, \"workgroup\"); __builtin_amdgcn_s_barrier();\n"
	"    if (X < n) sum[X] += sum[X + n]; }\n"
	"  if (!X) out[GX] = sum[0]; }\n"
	"KERNEL void count(unsigned *n, unsigned long *wide) {\n"
	"  __atomic_fetch_add(n, 1, 0); __atomic_fetch_add(wide, X, 0); }\n"
	"KERNEL void ids(unsigned *out, unsigned w, unsigned h) {\n" /* groups of 8 x 4 x 2 */
	"  unsigned x = GX * 8 + X, y = GY * 4 + Y, z = GZ * 2 + Z;\n"
	"  __atomic_fetch_add(&out[(z * h + y) * w + x], 1 + x + 100 * y + 10000 * z, 0); }\n"
	"__attribute__((device)) __attribute__((noinline)) unsigned walk(volatile unsigned *p, unsigned n) {\n"
	"  unsigned s = 0; for (unsigned i = 0; i < n; i++) s += p[i] * (i + 1); return s; }\n"
	"KERNEL void stack(unsigned *out) {\n"
	"  volatile unsigned own[16]; for (unsigned i = 0; i < 16; i++) own[i] = GX * 64 + X + i;\n"
	"  volatile unsigned char tiny[7]; for (unsigned i = 0; i < 7; i++) tiny[i] = X + i;\n"
	"  out[GX * 64 + X] = walk(own, 16) + tiny[X % 7]; }\n"
	"#ifndef GFX9\n"
	"KERNEL void cross(unsigned *out) {\n" /* a word for each lane and question */
	"  unsigned *o = out + X * 8, v = X * 3 + 1;\n"
	"  o[0] = (unsigned)__builtin_amdgcn_ds_bpermute((X ^ 5) * 4, v);\n"
	"  o[1] = __builtin_amdgcn_readlane(v, 7) + __builtin_amdgcn_readfirstlane(v);\n"
	"  o[2] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));\n"
	"  o[3] = __builtin_amdgcn_update_dpp(99, v, 0x111, 0xf, 0xf, false);\n" /* row_shr:1 */
	"  o[4] = __builtin_amdgcn_update_dpp(99, v, 0x155, 0xf, 0xf, true);\n"  /* row_share:5 */
	"  o[5] = __builtin_amdgcn_permlane16(v, v, 0x76543210, 0x89abcdef, false, true);\n"
	"  o[6] = __builtin_amdgcn_ds_swizzle(v, 0x801b);\n" /* quad 3, 2, 1, 0 */
	"  if (X & 1) o[7] = __builtin_popcountll(__builtin_amdgcn_read_exec()); }\n"
	"#endif\n"
	"typedef _Float16 half2 __attribute__((ext_vector_type(2))); typedef short short2 __attribute__((ext_vector_type(2)));\n"
	"KERNEL void various(const u32 *a, const u32 *b, u32 *out) {\n" /* what has other encodings everywhere */
	"  u32 i = GX * 64 + X, x = a[i], y = b[i]; u32 *o = out + i * 16;\n"
	"  float f = (float)(int)x * 0x1p-24f, g = (float)(y & 0xffff) * 0x1p-8f + 0.5f;\n"
	"  _Float16 h = (_Float16)f, k = (_Float16)(g * 0.125f); half2 p = {h, k}, q = {k, h};\n"
	"  short2 s = {(short)x, (short)y}, t = {(short)(y >> 16), (short)(x >> 16)};\n"
	"  h = h * k + (_Float16)0.25f; h = h < k ? h : k; p = p * q + p; s = s * t + s; t = t >> 3;\n"
	"  o[0] = (u32)(int)(float)h; __builtin_memcpy(&o[1], &p, 4); __builtin_memcpy(&o[2], &s, 4);\n"
	"  __builtin_memcpy(&o[3], &t, 4); o[4] = __builtin_amdgcn_perm(x, y, 0x05020c07) + __builtin_amdgcn_alignbit(x, y, x);\n"
	"  o[5] = __builtin_amdgcn_sad_u8(x, y, 5) + __builtin_amdgcn_ubfe(x, y & 31, 7) + __builtin_amdgcn_sbfe(y, 3, x & 31);\n"
	"  float e = __builtin_amdgcn_sqrtf(g) + __builtin_amdgcn_rcpf(g) + __builtin_amdgcn_fractf(f);\n"
	"  e += __builtin_amdgcn_sinf(f) + __builtin_amdgcn_cosf(f) + __builtin_amdgcn_fmed3f(f, g, 1.0f);\n"
	"  __builtin_memcpy(&o[6], &e, 4); o[7] = __builtin_amdgcn_frexp_expf(g) + (u32)(h > k) * 2 + (u32)(f < g);\n"
	"  float l = __builtin_amdgcn_ldexpf(g, (int)(x & 7) - 3); __builtin_memcpy(&o[8], &l, 4);\n"
	"  auto z = __builtin_amdgcn_cvt_pkrtz(f, g); __builtin_memcpy(&o[9], &z, 4);\n"
	"  shared u32 n[64]; shared unsigned char c[256]; n[X] = x; c[X] = (unsigned char)y; c[255 - X] = (unsigned char)(y >> 9);\n"
	"  __builtin_amdgcn_fence(5, \"workgroup\"); __builtin_amdgcn_s_barrier();\n"
	"  o[10] = n[X ^ 21] + c[X ^ 3] + (u32)(signed char)c[255 - X] * 5;\n"
	"  __builtin_amdgcn_fence(5, \"workgroup\"); __builtin_amdgcn_s_barrier();\n"
	"  __atomic_fetch_add(&n[X / 4], y, 0); __atomic_fetch_min(&n[X / 4 + 16], y, 0); __atomic_fetch_xor(&n[X / 4 + 32], y, 0);\n"
	"  u32 was = 5; if (!(X % 4)) __atomic_compare_exchange_n(&n[X / 4 + 48], &was, y, 0, 0, 0);\n"
	"  __builtin_amdgcn_fence(5, \"workgroup\"); __builtin_amdgcn_s_barrier(); o[11] = n[X];\n"
	"  o[12] = ((const unsigned short *)a)[i * 2 + 1] + (u32)((const signed char *)b)[i * 4 + 3];\n"
	"  ((unsigned short *)o)[26] = (unsigned short)(x >> 3); ((unsigned char *)o)[54] = (unsigned char)y;\n"
	"  ((unsigned char *)o)[55] = 7; u64 m = (u64)x * y + ((u64)y << 32); o[14] = (u32)(m >> 17); o[15] = (u32)(m % 1000003); }\n"
	"KERNEL void wild(unsigned *p, unsigned *out) { out[X] = 5 + *(volatile unsigned *)(p + X); p[X] = 9; }\n";

static u32 next_random(u64 *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*seed >> 32);
}

static void host_mix(u32 a, u32 b, u32 out[8])
{
	u64 w = wides(a, b);
	float f = floats((float)(int)a * 0x1p-20f, (float)(b >> 8));
	double d = doubles((double)(int)a * 0x1p-20, (double)(b >> 8));

	out[0] = integers(a, b);
	out[1] = (u32)w;
	out[2] = (u32)(w >> 32);
	out[3] = shorts(a, b);
	memcpy(&out[4], &f, 4);
	memcpy(&out[6], &d, 8);
}

static void test_mix(struct test_gpu *t)
{
	u32 *a = (u32 *)(void *)t->data, *b = a + 1024, *out = b + 1024;
	unsigned bad[8] = {0};
	u64 seed = 7;

	for (unsigned n = 0; n < 1024; n++) {
		a[n] = next_random(&seed) >> n % 31;
		b[n] = next_random(&seed) >> n % 29;
	}
	EXPECT(LAUNCH("mix", {16}, {64}, .args = {D, D + 4096, D + 8192}), ENGINE_DONE, 0, NULL);
	for (unsigned n = 0; n < 1024; n++) {
		u32 want[8] = {0};

		host_mix(a[n], b[n], want);
		for (unsigned k = 0; k < 8; k++)
			bad[k] += k != 5 && out[8 * n + k] != want[k];
	}
	for (unsigned k = 0; k < 8; k++)
		if (!CHECK_EQ(bad[k], 0))
			printf("  word %u of mix\n", k);
}

/* What GFX9 computes, whose results have tests of their own. */
static u32 reference[1024 * 16];

static void test_various(struct test_gpu *t, bool is_reference)
{
	u32 *a = (u32 *)(void *)t->data, *b = a + 1024, *out = b + 1024;
	unsigned bad[16] = {0};
	u64 seed = 3;

	for (unsigned n = 0; n < 1024; n++) {
		a[n] = next_random(&seed) >> n % 31;
		b[n] = next_random(&seed) >> n % 29;
	}
	memset(out, 0, sizeof(reference));
	EXPECT(LAUNCH("various", {16}, {64}, .args = {D, D + 4096, D + 8192}, .waves = 48), ENGINE_DONE, 0, NULL);
	if (is_reference)
		memcpy(reference, out, sizeof(reference));
	for (unsigned n = 0; n < 1024 * 16; n++)
		bad[n % 16] += out[n] != reference[n];
	for (unsigned k = 0; k < 16; k++)
		if (!CHECK_EQ(bad[k], 0))
			printf("  word %u of various\n", k);
}

/* 32 waves of 32 lanes in a workgroup. */
static void test_reduce(struct test_gpu *t)
{
	u32 *in = (u32 *)(void *)t->data, *out = in + 65536, bad = 0;

	for (unsigned n = 0; n < 65536; n++)
		in[n] = n;
	EXPECT(LAUNCH("reduce", {64}, {1024}, .args = {D, D + 262144}), ENGINE_DONE, 0, NULL);
	for (unsigned group = 0; group < 64; group++)
		bad += out[group] != 1024 * (1024 * group) + 1023 * 512;
	CHECK_EQ(bad, 0);
}

static void test_count(struct test_gpu *t)
{
	set64(t, 0, 0);
	set64(t, 8, 0);
	EXPECT(LAUNCH("count", {100}, {200}, .args = {D, D + 8}), ENGINE_DONE, 0, NULL);
	CHECK_EQ(data32(t, 0), 20000);
	CHECK_EQ(data64(t, 8), 100 * 199 * 100);
}

static void test_ids(struct test_gpu *t)
{
	unsigned bad = 0;

	memset(t->data, 0, 65536);
	EXPECT(LAUNCH("ids", {3, 3, 2}, {8, 4, 2}, {5, 2, 1}, 7, .args = {D, 21 | 10ull << 32}), ENGINE_DONE, 0,
	       NULL);
	for (unsigned z = 0; z < 4; z++)
		for (unsigned y = 0; y < 10; y++)
			for (unsigned x = 0; x < 21; x++)
				bad += data32(t, 4 * ((z * 10 + y) * 21 + x)) !=
				       (z < 3 ? 1 + x + 100 * y + 10000 * z : 0);
	CHECK_EQ(bad, 0);
}

static void test_stack(struct test_gpu *t)
{
	unsigned bad = 0;

	EXPECT(LAUNCH("stack", {50}, {64}, .args = {D}, .waves = 96), ENGINE_DONE, 0, NULL);
	for (unsigned n = 0; n < 50 * 64; n++)
		bad += data32(t, 4 * n) != n * 136 + 1360 + n % 64 + n % 64 % 7;
	CHECK_EQ(bad, 0);
}

/* GFX12's slots may be 64 MiB each: the second workgroup's, in another shader engine, is 8 GiB further on. */
static void test_far_stack(struct test_gpu *t)
{
	const uint32_t wavesize = (1u << 18) - 1, waves = 128;
	const uint64_t far = (uint64_t)waves * wavesize * 256;
	unsigned bad = 0;

	if (chip_row->gc_version[0] < 12)
		return;
	test_region(t, D + SCRATCH + far, 1 << 20, t->data + SCRATCH + (2u << 20), GPUVM_R | GPUVM_W);
	memset(t->data, 0, 4 * 96);
	EXPECT(LAUNCH("stack", {2}, {32}, .args = {D}, .waves = waves * chip_row->engines, .wavesize = wavesize),
	       ENGINE_DONE, 1, NULL); /* all of it is not mapped */
	CHECK_EQ(t->faults, 0);
	for (unsigned n = 0; n < 96; n += n == 31 ? 33 : 1)
		bad += data32(t, 4 * n) != n * 136 + 1360 + n % 64 + n % 64 % 7;
	CHECK_EQ(bad, 0);
	t->view.count--;
}

/* From GFX11 on WAVES is of one shader engine: the third one's first slot is above what 12 bits count. */
static void test_far_slots(struct test_gpu *t)
{
	const struct kernel k = find("stack");
	const uint32_t waves = 4095;
	unsigned bad = 0;

	if (chip_row->gc_version[0] < 11 || chip_row->engines < 3)
		return;
	for (unsigned engine = 1; engine < 3; engine++)
		test_region(t, D + SCRATCH + (uint64_t)engine * waves * wave_B(&k), 1 << 20,
			    t->data + SCRATCH + (engine << 20), GPUVM_R | GPUVM_W);
	memset(t->data, 0, 4 * 96);
	EXPECT(LAUNCH("stack", {3}, {32}, .args = {D}, .waves = waves * chip_row->engines), ENGINE_DONE, 1,
	       NULL); /* all of it is not mapped */
	CHECK_EQ(t->faults, 0);
	for (unsigned group = 0; group < 3; group++)
		for (unsigned lane = 0; lane < 32; lane++) {
			unsigned n = 64 * group + lane;

			bad += data32(t, 4 * n) != n * 136 + 1360 + n % 64 + n % 64 % 7;
		}
	CHECK_EQ(bad, 0);
	t->view.count -= 2;
}

static u32 cross_value(unsigned question, unsigned lane, unsigned lanes)
{
	unsigned row = lane & ~15u, in_row = lane & 15, first = lane & ~(lanes - 1);
	static const u64 select = 0x89abcdef76543210ull;

	switch (question) {
	case 0:
		return (lane ^ 5) * 3 + 1;
	case 1:
		return (first + 7) * 3 + 1 + first * 3 + 1;
	case 2:
		return lane % lanes;
	case 3:
		return in_row ? (lane - 1) * 3 + 1 : 99;
	case 4:
		return (row + 5) * 3 + 1;
	case 5:
		return (row + (unsigned)(select >> 4 * in_row & 15)) * 3 + 1;
	case 6:
		return (lane ^ 3) * 3 + 1;
	default:
		return lane & 1 ? lanes / 2 : 0;
	}
}

static void test_cross(struct test_gpu *t, unsigned lanes)
{
	unsigned bad[8] = {0};

	memset(t->data, 0, 8192);
	EXPECT(LAUNCH("cross", {1}, {128}, .args = {D}), ENGINE_DONE, 0, NULL);
	for (unsigned lane = 0; lane < 128; lane++)
		for (unsigned k = 0; k < 8; k++)
			bad[k] += data32(t, 32 * lane + 4 * k) != cross_value(k, lane, lanes);
	for (unsigned k = 0; k < 8; k++)
		if (!CHECK_EQ(bad[k], 0))
			printf("  question %u of cross\n", k);
}

static void test_wild(struct test_gpu *t)
{
	EXPECT(LAUNCH("wild", {1}, {64}, .args = {TEST_HOLE_VA, D}), ENGINE_DONE, 0, NULL);
	CHECK(t->faults);
	CHECK_EQ(data32(t, 0), 5);
}

static bool init_chip(struct test_gpu *t, const char *chip, unsigned lanes, const char *optimise)
{
	static char text[16384];
	char options[128];

	printf(" %s wave%u %s\n", chip, lanes, optimise);
	snprintf(options, sizeof(options), "-ffp-contract=off %s %s", optimise,
		 lanes == 64 ? "-mwavefrontsize64" : "");
	snprintf(text, sizeof(text),
		 "#define DEVICE static __attribute__((device)) inline\ntypedef unsigned u32;\n"
		 "typedef unsigned long u64;\n%s\n%s",
		 both, source);
	if (!CHECK(test_compile_hip(chip, options, text, &elf)))
		return false;
	chip_row = vgpu_chip_find(chip);
	test_init(t, chip, ENGINE_COMPUTE, false, 0);
	test_load(&elf, (uint8_t *)t->code);
	return true;
}

static void test_chip(const char *chip, unsigned lanes, const char *optimise)
{
	struct test_gpu gpu, *t = &gpu;

	if (!init_chip(t, chip, lanes, optimise))
		return;
	test_various(t, false);
	test_mix(t);
	test_reduce(t);
	test_count(t);
	test_ids(t);
	test_stack(t);
	if (lanes == 32)
		test_far_stack(t);
	if (lanes == 32)
		test_far_slots(t);
	test_cross(t, lanes);
	test_wild(t);
	test_fini(t);
	free(elf.data);
}

/* Without the kernels that GFX9 has no instructions for. */
static void make_reference(void)
{
	struct test_gpu gpu, *t = &gpu;

	if (!init_chip(t, "gfx906", 64, "-O2 -DGFX9"))
		return;
	test_various(t, true);
	test_fini(t);
	free(elf.data);
}

int main(void)
{
	static const char *const chips[] = {"gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1201"};

	vgpu_strict_set(VGPU_STRICT_REPORT);
	make_reference();
	for (unsigned n = 0; n < sizeof(chips) / sizeof(chips[0]); n++) {
		test_chip(chips[n], 32, "-O2");
		test_chip(chips[n], 64, "-O2");
		test_chip(chips[n], 32, "-O0");
		test_chip(chips[n], 64, "-O0");
	}
	return check_done("dispatches on GFX10 and later");
}
