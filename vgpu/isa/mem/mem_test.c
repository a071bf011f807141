/* Vector and scalar memory instructions, one addressing mode at a time (test_wave.h has the registers). */
#include "vgpu/isa/test_pieces.h"

static void smem_loads(void)
{
	CHECK_EQ(S(24), was(4));
	CHECK_EQ(S(26), was(64));
	CHECK_EQ(S(27), was(68));
	for (unsigned n = 0; n < 4; n++)
		CHECK_EQ(S(28 + n), was(72 + 4 * n));
	for (unsigned n = 0; n < 8; n++)
		CHECK_EQ(S(32 + n), was(0x2000 - 16 + 4 * n));
	for (unsigned n = 0; n < 16; n++)
		CHECK_EQ(S(40 + n), was(4 * n));
}

static void smem_short(void)
{
	CHECK_EQ(S(25), (uint16_t)(D >> 32));
	CHECK_EQ(S(26), was(4));
}

static void smem_buffer(void)
{
	CHECK_EQ(S(24), was(16));
	CHECK_EQ(S(26), was(64));
	CHECK_EQ(S(28), was(4088)); /* two of four are in range */
	CHECK_EQ(S(29), was(4092));
	CHECK_EQ(S(30), 0);
	CHECK_EQ(S(31), 0);
	CHECK_EQ(S(56), was(120)); /* 8 records of 16 bytes */
	CHECK_EQ(S(57), was(124));
	CHECK_EQ(S(58), 0);
	CHECK_EQ(test.faults, 0);
}

static void smem_store(void)
{
	CHECK_EQ(d32(8), 0x12345678);
	CHECK_EQ(d64(16), 0x9abcdef012345678);
	CHECK_EQ(d32(1024), 0x12345678);
	CHECK_EQ(d32(36), 0x12345678 + was(36));
	CHECK_EQ(S(24), was(36));
}

static void smem_time(void)
{
	CHECK_EQ(S(24) | (uint64_t)S(25) << 32, 0x123456789ab);
	CHECK_EQ(S(26) | (uint64_t)S(27) << 32, 0x123456789ab);
}

static void smem_fault(void)
{
	CHECK_EQ(S(24), 0);
	CHECK_EQ(test.faults, 1);
	CHECK_EQ(test.fault_va >> 12, (D_48 + DATA_B) >> 12);
}

static void global_loads(void)
{
	ALL(20, was(4 * l));
	ALL(21, was(16 + 4 * l));
	ALL(22, was(0));
	ALL(23, was(4 * l + 64));
	ALL(26, was(0x2000 - 8 + 4 * l));
}

static void global_wide(void)
{
	ALL(20, was(16 * l));
	ALL(21, was(16 * l + 4));
	ALL(22, was(16 * l + 8));
	ALL(23, was(16 * l + 12));
	ALL(26, was(16 * l + 1));
	ALL(27, was(16 * l + 5));
	ALL(28, was(16 * l + 9));
	ALL(30, was(8));
	ALL(31, was(12));
}

/* row 174: the half that a load does not write */
static void global_sub(void)
{
	ALL(20, was(4 * l) & 0xff);
	ALL(21, (int8_t)was(4 * l));
	ALL(22, was(4 * l + 1) & 0xffff);
	ALL(23, (int16_t)was(4 * l));
	ALL(26, (OTHER_HALF(26) & 0xffff0000) | (was(4 * l) & 0xffff));
	ALL(27, was(4 * l) << 16 | (OTHER_HALF(27) & 0xffff));
	ALL(28, (OTHER_HALF(28) & 0xffff0000) | (uint16_t)(int8_t)was(4 * l));
	ALL(29, (was(4 * l) & 0xff) << 16 | (OTHER_HALF(29) & 0xffff));
}

static void global_stores(void)
{
	ALL_DATA(4 * l, 1000 + l);
	ALL_DATA(2048 + 16 * l, 0xa00 + l);
	ALL_DATA(2048 + 16 * l + 12, 0xd00 + l);
	ALL_DATA(0x2000 + 4 * l, (was(0x2000 + 4 * l) & 0xffff0000) | (0xa00 + l));
	ALL_DATA(0x2000 + 256 + 4 * l, (was(0x2000 + 256 + 4 * l) & 0xffffff00) | l);
	ALL_DATA(0x2000 + 512 + 4 * l, (was(0x2000 + 512 + 4 * l) & 0xffff0000) | 0xd5d5);
	ALL_DATA(0x2000 + 768 + 4 * l, (was(0x2000 + 768 + 4 * l) & 0xffffff00) | 0xd5);
}

static void global_partial(void)
{
	ALL(20, l & 1 ? was(4 * l) : OLD(20));
	ALL_DATA(1024 + 4 * l, l & 1 ? 1000 + l : was(1024 + 4 * l));
}

static void global_fault(void)
{
	ALL(20, 0);
	CHECK_EQ(test.faults, 2); /* a read and a write */
	CHECK_EQ(test.fault_va >> 12, HOLE >> 12);
}

/* Lane 2's two dwords are the last of the mapping, lane 3 and on are beyond. */
/* row 51: bit 47 and those above it must be the same */
static void not_canonical(void)
{
	CHECK_EQ(test.faults, 4);
	ALL(20, 0);
	ALL(21, 0);
	ALL(22, was(4 * l)); /* sixteen bits of it make no other address */
	CHECK_EQ(d32(0), was(0));
}

/* row 53 */
static void prt_pages(void)
{
	CHECK_EQ(test.faults, 0);
	ALL(20, 0);
	ALL(21, 0);
	ALL(22, 0);
}

static void global_straddle(void)
{
	CHECK_EQ(test.v[20][0], was(DATA_B - 16));
	CHECK_EQ(test.v[21][2], was(DATA_B - 4));
	CHECK_EQ(test.v[20][3], was(DATA_B - 4));
	CHECK_EQ(test.v[21][3], 0);
	CHECK_EQ(test.v[20][4], 0);
	CHECK(test.faults);
}

static void global_lds(void)
{
	ALL_LDS(256 + 4 * l, was(4 * l));
	ALL_LDS(512 + 4 * l, 500 + 128 + l);
}

static void atomic_each(void)
{
	ALL(20, was(4 * l));
	ALL_DATA(4 * l, was(4 * l) + 1000 + l);
	ALL_DATA(1024 + 4 * l, was(1024 + 4 * l) & (1000 + l));
	ALL_DATA(2048 + 4 * l, 1000 + l);
	ALL(21, was(2048 + 4 * l));
}

static void atomic_one(void)
{
	uint64_t wide = was(8) | (uint64_t)was(12) << 32;

	EACH wide += (0xa00 + l) | (uint64_t)(0xb00 + l) << 32;
	CHECK_EQ(d32(0), was(0) + 64 * 1000 + 63 * 32);
	CHECK_EQ(d64(8), wide);
	CHECK_EQ(d32(16), 1063);
	CHECK_EQ(test.faults, 0);
}

/* v10 is new, v11 is compared; nobody's word holds what is asked for but where v0 is. */
static void atomic_cmpswap(void)
{
	ALL(20, was(4 * l));
	ALL_DATA(4 * l, was(4 * l));
	ALL(22, was(16 * l));
	ALL_DATA(1024 + 4 * l, 1000 + l);
}

static void atomic_float(void)
{
	ALL_DATA(4 * l, f32_bits(3.0f + 2 * (float)l));
	ALL_DATA(1024 + 4 * l, 0x45004200); /* 5 and 3 */
}

static void atomic_f64(void)
{
	double sum = 0.5;

	EACH sum += l;
	CHECK_EQ(d64(0), f64_bits(sum));
	CHECK_EQ(d64(8), f64_bits(63));
	CHECK_EQ(d64(16), f64_bits(0));
}

/* row 128: floating point past L2 is lost, integers are not */
static void atomic_fine(void)
{
	ALL(20, 0);
	ALL_DATA(4 * l, was(4 * l));
	ALL_DATA(1024 + 4 * l, was(1024 + 4 * l));
	ALL_DATA(2048 + 4 * l, was(2048 + 4 * l) + 1000 + l);
	ALL(21, was(2048 + 4 * l));
}

static void atomic_fine_f32(void)
{
	ALL_DATA(4 * l, was(4 * l));
	ALL_DATA(1024 + 4 * l, was(1024 + 4 * l));
}

static void atomic_fine_f64(void)
{
	CHECK_EQ(d64(0), was(0) | (uint64_t)was(4) << 32);
	CHECK_EQ(d64(8), was(8) | (uint64_t)was(12) << 32);
	CHECK_EQ(d64(16), was(16) | (uint64_t)was(20) << 32);
	ALL(22, 0);
	ALL(23, 0);
}

/* The fabric of this chip adds. */
static void atomic_fine_gfx942(void)
{
	double sum = 0.5;

	EACH sum += l;
	CHECK_EQ(d64(0), f64_bits(sum));
}

/* What a compiler makes of an addition that must be safe: a loop of integer compare and swap. */
static void atomic_fine_cas(void)
{
	ALL_DATA(4 * l, f32_bits(2.0f + 2 * (float)l));
}

static void flat_apertures(void)
{
	ALL(20, 500 + l);                                /* LDS */
	ALL_OF(d32(scratch(l, 8)), 1000 + l);            /* scratch, written */
	ALL(21, 1000 + l);                               /* and read back */
	ALL_LDS(1024 + 4 * l, 500 + 256 + l + 1000 + l); /* atomic on LDS */
	ALL(22, was(4 * l));                             /* memory */
	ALL(23, l & 1 ? was(4 * l) : 500 + l);           /* lanes in both */
	CHECK_EQ(test.faults, 0);
}

/* row 52 */
static void global_aperture(void)
{
	CHECK(test.faults);
	ALL(20, 0);
}

static void scratch_instructions(void)
{
	ALL_OF(d32(scratch(l, 16)), 0xa00 + l);
	ALL_OF(d32(scratch(l, 28)), 0xd00 + l);
	ALL(20, 0xa00 + l);
	ALL(21, 0xb00 + l);
	ALL(22, was(scratch(l, 64 + 8)));
	ALL(23,
	    l / 4 == 1 ? 10 + l - 4 : was(scratch(l, 4 * l)) >> 8 & 0xff); /* lanes 4 to 7 see what was stored */
	ALL_OF(d32(scratch(l, 6)) & 0xffff, 0xa00 + l); /* crosses no dword, but is not aligned to one */
	CHECK_EQ(test.faults, 0);
}

static void buffer_raw(void)
{
	ALL(20, was(8));
	ALL(21, was(4 * l + 64 + 4));
	ALL(22, 4 * l + 3840 + 4 <= 4096 ? was(4 * l + 3840) : 0);
	ALL(23, 4 * l + 3972 + 4 <= 4096 ? was(4 * l + 3972) : 0);
	ALL_DATA(128 + 4 * l, 1000 + l);
	ALL_DATA(4032 + 4 * l, 4 * l + 4032 < 4096 ? 1000 + l : was(4032 + 4 * l)); /* beyond: dropped */
	CHECK_EQ(test.faults, 0);
}

static void buffer_structured(void)
{
	ALL(20, l < 8 ? was(16 * l + 4) : 0);
	ALL(22, l < 8 ? was(16 * l + (l & 3) * 0 + 4 * l) : 0); /* index v26, offset v27: lane and 4 * lane */
	ALL_DATA(16 * l + 8, l < 8 ? 1000 + l : was(16 * l + 8));
}

static void buffer_scratch(void)
{
	ALL_OF(d32(scratch(l, 8)), 0xa00 + l);
	ALL_OF(d32(scratch(l, 12)), 0xb00 + l);
	ALL_OF(d32(scratch(l, 16)), 0xc00 + l);
	ALL_OF(d32(scratch(l, 20)), 0xd00 + l);
	ALL(20, 0xb00 + l);
	ALL(21, 0xc00 + l);
	ALL(22, was(scratch(l, 4 * l)));
	ALL(23, (was(scratch(l, 33)) & 0xff));
}

static void buffer_sub(void)
{
	ALL(20, was(4 * l + 1) & 0xff);
	ALL(21, (int16_t)was(4 * l));
	ALL(22, (OTHER_HALF(22) & 0xffff) | was(4 * l) << 16);
	ALL_DATA(1024 + 4 * l, (was(1024 + 4 * l) & 0xffffff00) | (0xe8 + l) % 256);
}

static void buffer_atomics(void)
{
	ALL_DATA(4 * l, was(4 * l) + 1000 + l);
	ALL(20, was(4 * l));
	ALL_DATA(1024 + 4 * l, was(1024 + 4 * l)); /* compared with what is not there */
	ALL(22, was(1024 + 4 * l));
}

static void buffer_lds(void)
{
	ALL_LDS(256 + 16 + 4 * l, was(4 * l + 16));
	ALL_DATA(1024 + 512 + 4 * l, 500 + (256 + 512) / 4 + l); /* the offset counts on both sides */
}

static void buffer_formats(void)
{
	/* 4 x 32 bits UINT through the resource, by index. */
	for (unsigned n = 0; n < 4; n++)
		ALL(20 + n, l < 8 ? was(16 * l + 4 * n) : 0);
	ALL_DATA(0x2000 + 16 * l, l < 8 ? 0xa00 + l : was(0x2000 + 16 * l));
	ALL_DATA(0x2000 + 16 * l + 12, l < 8 ? 0xd00 + l : was(0x2000 + 16 * l + 12));
}

/* 8 by 4 elements in rows of 256 bytes; the lower 32 lanes are inside. */
static void image_load_store(void)
{
	ALL(22, l < 32 ? was(256 * (l / 8) + 4 * (l % 8)) : 0);
	ALL_OF(l < 32 ? d32(1024 + 256 * (l / 8) + 4 * (l % 8)) : 0, l < 32 ? 1000 + l : 0);
	CHECK_EQ(d32(1024 + 256 * 4), was(1024 + 256 * 4));
	CHECK_EQ(test.faults, 0);
}

/* row 174: by FLAT in LDS and memory, from scratch, torn, out of range, typed */
static void other_halves(void)
{
	ALL(20, (OTHER_HALF(20) & 0xffff0000) | (500 + l));
	ALL(21, (OTHER_HALF(21) & 0xffff) | was(4 * l) << 16);
	ALL(22, (OTHER_HALF(22) & 0xffff0000) | (was(scratch(l, 16)) & 0xffff));
	ALL(23,
	    (OTHER_HALF(23) & 0xffff) | (was(scratch(l, 19)) & 0xff) << 16 | (was(scratch(l, 20)) & 0xff) << 24);
	ALL(26, OTHER_HALF(26) & 0xffff0000);
	ALL(27, (OTHER_HALF(27) & 0xffff0000) | (was(4 * l) & 0xffff));
	ALL(28, (OTHER_HALF(28) & 0xffff) | was(4 * l) << 16);
	ALL(29, was(4 * l)); /* both halves are of one load */
}

static void buffer_typed(void)
{
	ALL(20, f32_bits((float)((was(4 * l) & 0xff) / 255.0)));
	ALL(21, f32_bits((float)((was(4 * l) >> 8 & 0xff) / 255.0)));
	ALL(22, was(4 * l) & 0x3ff);  /* 2_10_10_10 UINT */
	ALL(26, (int16_t)was(4 * l)); /* 16_16 SINT */
	ALL(27, (int16_t)(was(4 * l) >> 16));
	ALL_DATA(1024 + 4 * l, l == 0 ? 0xff : 0xff); /* UNORM8 of 1 + lane saturates; the other components are 0 */
	CHECK_EQ(d32(2048), 0x00003c00);              /* f16 of 1 */
	CHECK_EQ(d32(2048 + 4 * 63), 0x00005400);     /* f16 of 64 */
}

static const struct piece pieces[] = {
	{"s_load", smem_loads,
	 "s_load_dword s24, s[0:1], 0x4\n s_load_dwordx2 s[26:27], s[0:1], s16\n"
	 "s_load_dwordx4 s[28:31], s[0:1], s16 offset:8\n s_load_dwordx8 s[32:39], s[18:19], -0x10\n"
	 "s_load_dwordx16 s[40:55], s[0:1], 0x3"},
	{"s_load by 48 bits", smem_short,
	 "s_mov_b32 s24, s0\n s_and_b32 s25, s1, 0xffff\n s_load_dword s26, s[24:25], 0x4"},
	{"s_buffer_load", smem_buffer,
	 "s_buffer_load_dword s24, s[4:7], 0x10\n s_buffer_load_dword s26, s[4:7], s16\n"
	 "s_buffer_load_dwordx4 s[28:31], s[4:7], 0xff8\n s_buffer_load_dwordx4 s[56:59], s[8:11], 0x78"},
	{"s_store, s_atomic", smem_store,
	 "s_store_dword s20, s[0:1], 0x8\n s_store_dwordx2 s[20:21], s[0:1], 0x10\n"
	 "s_buffer_store_dword s20, s[4:7], 0x400\n s_mov_b32 s24, s20\n s_atomic_add s24, s[0:1], 0x24 glc"},
	{"s_memtime", smem_time, "s_memtime s[24:25]\n s_memrealtime s[26:27]\n s_dcache_inv\n s_dcache_wb"},
	{"s_load of nothing", smem_fault, "s_mov_b32 s24, 0x100000\n s_load_dword s24, s[0:1], s24"},
	{"global_load", global_loads,
	 "global_load_dword v20, v[2:3], off\n global_load_dword v21, v[2:3], off offset:16\n"
	 "global_load_dword v22, v[6:7], off\n global_load_dword v23, v1, s[0:1] offset:64\n"
	 "global_load_dword v26, v1, s[18:19] offset:-8"},
	{"global_load, wide", global_wide,
	 "global_load_dwordx4 v[20:23], v[4:5], off\n global_load_dwordx3 v[26:28], v[4:5], off offset:1\n"
	 "global_load_dwordx2 v[30:31], v[6:7], off offset:8"},
	{"global_load over its own address", NULL, "global_load_dwordx2 v[2:3], v[2:3], off"},
	{"global_load, parts", global_sub,
	 "global_load_ubyte v20, v[2:3], off\n global_load_sbyte v21, v[2:3], off\n"
	 "global_load_ushort v22, v[2:3], off offset:1\n global_load_sshort v23, v[2:3], off\n"
	 "global_load_short_d16 v26, v[2:3], off\n global_load_short_d16_hi v27, v[2:3], off\n"
	 "global_load_sbyte_d16 v28, v[2:3], off\n global_load_ubyte_d16_hi v29, v[2:3], off"},
	{"global_store", global_stores,
	 "global_store_dword v[2:3], v8, off\n global_store_dwordx4 v[4:5], v[10:13], off offset:2048\n"
	 "global_store_short v1, v10, s[18:19]\n global_store_byte v1, v10, s[18:19] offset:256\n"
	 "global_store_short_d16_hi v1, v20, s[18:19] offset:512\n"
	 "global_store_byte_d16_hi v1, v20, s[18:19] offset:768"},
	{"global, half of the lanes", global_partial,
	 "s_mov_b32 exec_lo, 0xaaaaaaaa\n s_mov_b32 exec_hi, 0xaaaaaaaa\n global_load_dword v20, v[2:3], off\n"
	 "global_store_dword v[2:3], v8, off offset:1024"},
	{"global, no page", global_fault,
	 "global_load_dword v20, v[24:25], off\n global_store_dword v[24:25], v8, off"},
	{"global and flat, not canonical", not_canonical,
	 "v_mov_b32 v26, v2\n v_xor_b32 v27, 0x40000000, v3\n global_load_dword v20, v[26:27], off\n"
	 "flat_load_dword v21, v[26:27]\n global_store_dword v[26:27], v8, off\n v_xor_b32 v27, 0x8000, v3\n"
	 "flat_store_dword v[26:27], v8\n global_load_dword v22, v[2:3], off"},
	{"PRT pages", prt_pages,
	 "v_mov_b32 v26, v24\n v_add_u32 v27, 2, v25\n global_store_dword v[26:27], v8, off\n"
	 "global_load_dword v20, v[26:27], off\n flat_load_dword v21, v[26:27]\n"
	 "global_atomic_add v22, v[26:27], v8, off glc"},
	{"global, over the end", global_straddle,
	 "s_add_u32 s22, s0, 0xffff0\n s_addc_u32 s23, s1, 0\n global_load_dwordx2 v[20:21], v1, s[22:23]"},
	{"global to LDS", global_lds, "global_load_dword v[2:3], off lds"},
	{"global atomics, apart", atomic_each,
	 "global_atomic_add v20, v[2:3], v8, off glc\n global_atomic_and v[2:3], v8, off offset:1024\n"
	 "global_atomic_swap v21, v[2:3], v8, off offset:2048 glc"},
	{"global atomics, on one word", atomic_one,
	 "global_atomic_add v[6:7], v8, off\n global_atomic_add_x2 v[6:7], v[10:11], off offset:8\n"
	 "global_atomic_umax v[6:7], v8, off offset:16"},
	{"global cmpswap", atomic_cmpswap,
	 "global_atomic_cmpswap v20, v[2:3], v[10:11], off glc\n global_load_dword v10, v[2:3], off offset:1024\n"
	 "v_mov_b32 v26, v8\n v_mov_b32 v27, v10\n global_atomic_cmpswap v[2:3], v[26:27], off offset:1024\n"
	 "global_load_dword v22, v[4:5], off"},
	{"global float atomics", atomic_float,
	 "global_store_dword v[2:3], v9, off\n global_store_dword v[2:3], v9, off offset:1024\n"
	 "v_add_f32 v26, 1.0, v9\n global_atomic_add_f32 v[2:3], v26, off\n v_mov_b32 v26, 0x42004000\n"
	 "global_store_dword v[2:3], v26, off offset:1024\n v_mov_b32 v26, 0x40003c00\n"
	 "global_atomic_pk_add_f16 v[2:3], v26, off offset:1024\n v_mov_b32 v26, 0",
	 0, "gfx908"},
	{"global f64 atomics", atomic_f64,
	 "v_mov_b32 v26, 0\n v_mov_b32 v27, 0x3fe00000\n global_store_dwordx2 v[6:7], v[26:27], off\n"
	 "global_store_dwordx2 v[6:7], v[26:27], off offset:8\n global_store_dwordx2 v[6:7], v[26:27], off offset:16\n"
	 "global_atomic_add_f64 v[6:7], v[14:15], off\n global_atomic_max_f64 v[6:7], v[14:15], off offset:8\n"
	 "flat_atomic_min_f64 v[6:7], v[14:15] offset:16",
	 0, "gfx90a"},
	{"float atomics past L2", atomic_fine,
	 "v_mov_b32 v26, v24\n v_add_u32 v27, 1, v25\n global_atomic_add_f32 v20, v[26:27], v9, off glc\n"
	 "global_atomic_pk_add_f16 v[26:27], v9, off offset:1024\n global_atomic_add v21, v[26:27], v8, off offset:2048 glc",
	 2, "gfx90a"},
	{"f64 atomics past L2", atomic_fine_f64,
	 "v_mov_b32 v26, v24\n v_add_u32 v27, 1, v25\n v_mov_b32 v26, 0\n"
	 "global_atomic_add_f64 v[26:27], v[14:15], off\n global_atomic_min_f64 v[26:27], v[14:15], off offset:8\n"
	 "flat_atomic_max_f64 v[22:23], v[26:27], v[14:15] offset:16 glc",
	 3, "gfx90a"},
	{"float atomics past L2", atomic_fine_f32,
	 "v_mov_b32 v26, v24\n v_add_u32 v27, 1, v25\n global_atomic_add_f32 v[26:27], v9, off\n"
	 "global_atomic_pk_add_f16 v[26:27], v9, off offset:1024",
	 2, "gfx908"},
	{"f64 atomics past L2", atomic_fine_gfx942,
	 "v_mov_b32 v26, 0\n v_add_u32 v27, 1, v25\n v_mov_b32 v30, 0\n v_mov_b32 v31, 0x3fe00000\n"
	 "global_store_dwordx2 v[26:27], v[30:31], off\n global_atomic_add_f64 v[26:27], v[14:15], off",
	 0, "gfx942"},
	{"compare and swap past L2", atomic_fine_cas,
	 "v_mov_b32 v26, v24\n v_add_u32 v27, 1, v25\n global_store_dword v[26:27], v9, off\n"
	 "global_load_dword v29, v[26:27], off glc\n s_waitcnt vmcnt(0)\n v_add_f32 v28, v29, v9\n"
	 "global_atomic_cmpswap v20, v[26:27], v[28:29], off glc"},
	{"flat", flat_apertures,
	 "flat_load_dword v20, v[16:17]\n flat_store_dword v[18:19], v8\n flat_load_dword v21, v[18:19]\n"
	 "flat_atomic_add v[16:17], v8 offset:1024\n flat_load_dword v22, v[2:3]\n"
	 "s_mov_b32 vcc_lo, 0xaaaaaaaa\n s_mov_b32 vcc_hi, vcc_lo\n v_cndmask_b32 v26, v16, v2, vcc\n"
	 "v_cndmask_b32 v27, v17, v3, vcc\n flat_load_dword v23, v[26:27]"},
	{"global in an aperture", global_aperture, "global_load_dword v20, v[16:17], off", 1},
	{"scratch", scratch_instructions,
	 "v_mov_b32 v26, 16\n scratch_store_dwordx4 v26, v[10:13], off\n scratch_load_dwordx2 v[20:21], v26, off\n"
	 "s_mov_b32 s22, 64\n scratch_load_dword v22, off, s22 offset:8\n scratch_load_ubyte v23, v1, off offset:1\n"
	 "v_mov_b32 v26, 2\n scratch_store_short v26, v10, off offset:4"},
	{"buffer, raw", buffer_raw,
	 "buffer_load_dword v20, off, s[4:7], 0 offset:8\n buffer_load_dword v21, v1, s[4:7], s16 offen offset:4\n"
	 "buffer_load_dword v22, v1, s[4:7], 0 offen offset:3840\n s_movk_i32 s22, 0xf84\n"
	 "buffer_load_dword v23, v1, s[4:7], s22 offen\n buffer_store_dword v8, v1, s[4:7], 0 offen offset:128\n"
	 "buffer_store_dword v8, v1, s[4:7], 0 offen offset:4032"},
	{"buffer, structured", buffer_structured,
	 "buffer_load_dword v20, v0, s[8:11], 0 idxen offset:4\n v_mov_b32 v26, v0\n v_mov_b32 v27, v1\n"
	 "buffer_load_dword v22, v[26:27], s[8:11], 0 idxen offen\n"
	 "buffer_store_dword v8, v0, s[8:11], 0 idxen offset:8"},
	{"buffer, scratch", buffer_scratch,
	 "v_mov_b32 v26, 8\n buffer_load_dword v22, v1, s[12:15], 0 offen\n"
	 "buffer_store_dwordx4 v[10:13], v26, s[12:15], 0 offen\n"
	 "buffer_load_dwordx2 v[20:21], off, s[12:15], 0 offset:12\n"
	 "buffer_load_ubyte v23, off, s[12:15], 0 offset:33"},
	{"buffer, parts", buffer_sub,
	 "buffer_load_ubyte v20, v1, s[4:7], 0 offen offset:1\n buffer_load_sshort v21, v1, s[4:7], 0 offen\n"
	 "buffer_load_short_d16_hi v22, v1, s[4:7], 0 offen\n buffer_store_byte v8, v1, s[4:7], 0 offen offset:1024"},
	{"buffer atomics", buffer_atomics,
	 "v_mov_b32 v20, v8\n buffer_atomic_add v20, v1, s[4:7], 0 offen glc\n v_mov_b32 v22, v8\n v_mov_b32 v23, 0\n"
	 "buffer_atomic_cmpswap v[22:23], v1, s[4:7], 0 offen offset:1024 glc"},
	{"buffer to and from LDS", buffer_lds,
	 "buffer_load_dword v1, s[4:7], 0 offen offset:16 lds\n s_or_b32 s25, s5, 0x40000\n s_add_u32 s24, s4, 1024\n"
	 "s_mov_b32 s26, 0x10000\n s_mov_b32 s27, 0x804fac\n buffer_store_lds_dword s[24:27], 0 offset:512 lds",
	 0, "gfx908"},
	{"buffer formats", buffer_formats,
	 "buffer_load_format_xyzw v[20:23], v0, s[8:11], 0 idxen\n s_movk_i32 s22, 0x2000\n"
	 "buffer_store_format_xyzw v[10:13], v0, s[8:11], s22 idxen"},
	{"image", image_load_store,
	 "s_mov_b32 s24, s4\n s_and_b32 s25, s5, 0xffff\n s_lshr_b64 s[24:25], s[24:25], 8\n"
	 "s_or_b32 s25, s25, 0x10400000\n s_mov_b32 s26, 0xc007\n s_mov_b32 s27, 0x90000fac\n"
	 "s_mov_b32 s28, 0x7e000\n s_mov_b32 s29, 0\n s_mov_b32 s30, 0\n s_mov_b32 s31, 0\n"
	 "v_and_b32 v20, 7, v0\n v_lshrrev_b32 v21, 3, v0\n"
	 "image_load v22, v[20:21], s[24:31] dmask:0x1 unorm\n s_add_u32 s24, s24, 4\n"
	 "image_store v8, v[20:21], s[24:31] dmask:0x1 unorm",
	 0, "gfx90a"},
	{"the other half", other_halves,
	 "flat_load_short_d16 v20, v[16:17]\n flat_load_short_d16_hi v21, v[2:3]\n v_mov_b32 v30, 16\n"
	 "scratch_load_short_d16 v22, v30, off\n v_mov_b32 v30, 19\n"
	 "buffer_load_short_d16_hi v23, v30, s[12:15], 0 offen\n v_mov_b32 v30, 0x1000\n"
	 "buffer_load_short_d16 v26, v30, s[4:7], 0 offen\n"
	 "tbuffer_load_format_d16_x v27, v1, s[4:7], dfmt:2, nfmt:4, 0 offen\n s_mov_b32 s24, s4\n"
	 "s_mov_b32 s25, s5\n s_mov_b32 s26, s6\n s_mov_b32 s27, 0x00014fac\n"
	 "buffer_load_format_d16_hi_x v28, v1, s[24:27], 0 offen\n"
	 "tbuffer_load_format_d16_xy v29, v1, s[4:7], dfmt:5, nfmt:4, 0 offen"},
	{"tbuffer", buffer_typed,
	 "tbuffer_load_format_xy v[20:21], v1, s[4:7], dfmt:10, nfmt:0, 0 offen\n"
	 "tbuffer_load_format_x v22, v1, s[4:7], dfmt:9, nfmt:4, 0 offen\n"
	 "tbuffer_load_format_xy v[26:27], v1, s[4:7], dfmt:5, nfmt:5, 0 offen\n"
	 "tbuffer_store_format_x v9, v1, s[4:7], dfmt:10, nfmt:0, 0 offen offset:1024 "
	 "\n"
	 "tbuffer_store_format_x v9, v1, s[4:7], dfmt:5, nfmt:7, 0 offen offset:2048 "
	 ""},
};

int main(void)
{
	static const char *const chips[] = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"};

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(*chips); n++)
		test_pieces(chips[n], false, pieces, sizeof(pieces) / sizeof(*pieces));
	return check_done("memory instructions");
}
