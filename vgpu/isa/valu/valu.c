/* Vector ALU instructions: sources and modifiers in, a lane function, modifiers and EXEC out.
 *
 * Most instructions have no modifiers: run_plain gives the lane function the registers themselves. All others go
 * through copies of their sources in run_general. */
#include "vgpu/isa/valu/rows.h"

#include <immintrin.h>

#include "vgpu/isa/half.h"

/* v_mqsad_u32_u8 has the widest operands: 4 dwords. Matrices have a function of their own. */
#define MAX_DW 4

/* Operands of an instruction, beside its lanes. */
struct work {
	struct isa_wave *w;
	const struct isa_inst *i;
	uint64_t exec; /* lanes to write: EXEC without those that DPP disables */
	struct isa_lanes x;
	uint32_t source[3][MAX_DW * ISA_LANES] __attribute__((aligned(64)));
	uint32_t result[MAX_DW * ISA_LANES] __attribute__((aligned(64)));
};

/* --- EXEC --- */

bool isa_host_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

enum isa_build isa_host_build(bool wave32)
{
	if (!isa_host_avx2())
		return ISA_BUILD_BASE;
	return wave32 ? ISA_BUILD_HALF : ISA_BUILD_AVX2;
}

/* --- sources --- */

/* A source that is not there gets the first one's rows, so that lane functions of two operands may be written as ones
 * of three. */
static inline __attribute__((always_inline)) void find_sources(struct work *k)
{
	for (unsigned n = 0; n < 3; n++) {
		const uint32_t *rows = isa_source_rows(k->w, &k->i->valu, n, k->source[n]);

		k->x.s[n] = rows ? rows : k->x.s[0];
	}
}

/* --- DPP --- */

/* The lane that lane l reads, or -1 when there is none. */
static int dpp_lane(unsigned ctrl, int l)
{
	int row = l & ~15, in_row = l & 15, n = (int)ctrl & 15;

	if (ctrl <= 0xff)
		return (l & ~3) | (ctrl >> 2 * (l & 3) & 3);
	switch (ctrl & 0x1f0) {
	case 0x100: /* row_shl */
		return in_row + n < 16 ? l + n : -1;
	case 0x110: /* row_shr */
		return in_row >= n ? l - n : -1;
	case 0x120: /* row_ror */
		return row | ((in_row - n) & 15);
	}
	switch (ctrl) {
	case 0x130: /* wave_shl:1 */
		return l < 63 ? l + 1 : -1;
	case 0x134: /* wave_rol:1 */
		return (l + 1) & 63;
	case 0x138: /* wave_shr:1 */
		return l - 1;
	case 0x13c: /* wave_ror:1 */
		return (l - 1) & 63;
	case 0x140: /* row_mirror */
		return row | (15 - in_row);
	case 0x141: /* row_half_mirror */
		return (l & ~7) | (7 - (l & 7));
	case 0x142: /* row_bcast:15, the last lane of the row before */
		return row ? row - 1 : -1;
	case 0x143: /* row_bcast:31 */
		return l >= 32 ? 31 : -1;
	default: /* row_xmask; row_newbcast or row_share, one lane of the row for all of it */
		return ctrl >= 0x160 ? l ^ n : row + n;
	}
}

/* Source 0 from other lanes. A lane that reads none, or, without FI, one that EXEC disables, reads 0 under BOUND_CTRL
 * and is not written otherwise; lanes outside of the row and bank masks are not written. */
static void apply_dpp(struct work *k)
{
	const struct isa_valu *v = &k->i->valu;
	const uint32_t *from = k->x.s[0];
	uint64_t exec = isa_exec(k->w);

	unsigned dw = isa_type_dw(v->type[0]);

	for (int l = 0; l < ISA_LANES; l++) {
		int other = v->dpp_ctrl == ISA_DPP8 ? (l & ~7) | (int)(v->dpp8 >> 3 * (l & 7) & 7)
						    : dpp_lane(v->dpp_ctrl, l);
		bool there = other >= 0 && (v->dpp_fetch || exec >> other & 1);
		bool masked = !(v->row_mask >> (l >> 4) & 1) || !(v->bank_mask >> (l >> 2 & 3) & 1);

		for (unsigned n = 0; n < dw; n++)
			k->source[0][n * ISA_LANES + (unsigned)l] =
				there ? from[n * ISA_LANES + (unsigned)other] : 0;
		if (masked || (!there && !v->bound_ctrl))
			k->exec &= ~(1ull << l);
	}
	k->x.s[0] = k->source[0];
}

/* --- source modifiers --- */

static void select_field(uint32_t *row, enum isa_sdwa sel, bool sext)
{
	bool byte = sel <= ISA_SEL_BYTE3;
	unsigned lowest = byte ? 8u * sel : 16u * (sel - ISA_SEL_WORD0), width = byte ? 8 : 16;

	if (sel != ISA_SEL_DWORD)
		isa_tools()->extract(row, 32 - lowest - width, 32 - width, sext);
}

/* |x| and -x of 16, 32 or 64 bits: `row` is where the sign is. */
static void apply_sign(uint32_t *row, uint32_t sign, bool abs, bool neg)
{
	if (abs || neg)
		isa_tools()->sign(row, abs ? ~sign : ~0u, neg ? sign : 0);
}

static void modify_packed16(uint32_t *row, const struct isa_valu *v, unsigned n)
{
	uint32_t flip = (v->neg >> n & 1 ? 0x8000u : 0) | (v->abs >> n & 1 ? 0x80000000u : 0);

	isa_tools()->pair16(row, v->opsel >> n & 1 ? 16 : 0, v->opsel_hi >> n & 1 ? 16 : 0, flip);
}

/* Whether the high result takes the high half of source n. v_pk_mov_b32 has one result of each source, and op_sel alone
 * picks both (LLVM SIInstrInfo::copyPhysReg() writes op_sel:[0,1] to copy a pair). */
static bool high_is_high(const struct isa_valu *v, unsigned n)
{
	return (v->type[n] == ISA_T_PB32 ? v->opsel : v->opsel_hi) >> n & 1;
}

static void modify_packed32(uint32_t *rows, const struct isa_valu *v, unsigned n)
{
	isa_tools()->pair32(rows, v->opsel >> n & 1 ? ISA_LANES : 0, high_is_high(v, n) ? ISA_LANES : 0,
			    v->neg >> n & 1 ? 0x80000000 : 0, v->abs >> n & 1 ? 0x80000000 : 0);
}

/* f16 sources of mixed-precision instructions become f32. */
static void modify_mix(uint32_t *row, const struct isa_valu *v, unsigned n)
{
	if (v->type[n] == ISA_T_F16)
		isa_tools()->widen_half(row, v->opsel >> n & 1 ? 16 : 0);
	apply_sign(row, 0x80000000, v->abs >> n & 1, v->neg >> n & 1);
}

static void modify_plain(uint32_t *rows, const struct isa_valu *v, unsigned n, unsigned dw)
{
	bool half = v->type[n] == ISA_T_F16 || v->type[n] == ISA_T_B16;

	if (half && v->opsel >> n & 1)
		isa_tools()->extract(rows, 0, 16, false);
	if (v->is_sdwa && n < 2)
		select_field(rows, v->sel[n], v->sext >> n & 1);
	apply_sign(rows + (dw - 1) * ISA_LANES, half ? 0x8000 : 0x80000000, v->abs >> n & 1, v->neg >> n & 1);
}

/* Whether source n needs a copy that the modifiers may change. */
static bool source_is_modified(const struct isa_inst *i, unsigned n)
{
	const struct isa_valu *v = &i->valu;
	enum isa_type type = v->type[n];
	bool packed = type == ISA_T_P16 || type == ISA_T_PF16 || type == ISA_T_PF32 || type == ISA_T_PB32;

	if (i->row->src[n] == ISA_T_MIX || (v->neg | v->abs | v->opsel) >> n & 1)
		return true;
	return packed ? !high_is_high(v, n) : v->is_sdwa && n < 2 && v->sel[n] != ISA_SEL_DWORD;
}

static void modify_sources(struct work *k)
{
	const struct isa_valu *v = &k->i->valu;

	for (unsigned n = 0; n < 3 && v->kind[n]; n++) {
		unsigned dw = isa_type_dw(v->type[n]);
		uint32_t *rows = k->source[n];

		if (!source_is_modified(k->i, n))
			continue;
		if (k->x.s[n] != rows)
			memcpy(rows, k->x.s[n], dw * ISA_LANES * sizeof(*rows));
		if (k->i->row->src[n] == ISA_T_MIX)
			modify_mix(rows, v, n);
		else if (v->type[n] == ISA_T_P16 || v->type[n] == ISA_T_PF16)
			modify_packed16(rows, v, n);
		else if (v->type[n] == ISA_T_PF32 || v->type[n] == ISA_T_PB32)
			modify_packed32(rows, v, n);
		else
			modify_plain(rows, v, n, dw);
		k->x.s[n] = rows;
	}
}

/* --- result modifiers --- */

/* OMOD works only without IEEE mode and where denormal results are flushed: it cannot make them. */
static bool omod_works(const struct work *k)
{
	unsigned shift = k->i->valu.dst_type == ISA_T_F32 ? ISA_MODE_DENORM32 : ISA_MODE_DENORM64;

	return k->i->valu.omod && !(k->w->mode & ISA_MODE_IEEE) && !(k->w->mode >> (shift + 1) & 1);
}

static float clamp_float(float v, bool dx10)
{
	if (v != v)
		return dx10 ? 0 : v;
	return v > 0 ? v > 1 ? 1 : v : 0;
}

static double clamp_double(double v, bool dx10)
{
	if (v != v)
		return dx10 ? 0 : v;
	return v > 0 ? v > 1 ? 1 : v : 0;
}

static const float omod_factor[4] = {1, 2, 4, 0.5f};

static uint32_t finish_f32(uint32_t bits, float factor, bool omod, bool clamp, bool dx10)
{
	float v;

	memcpy(&v, &bits, sizeof(v));
	if (omod)
		v = bits & 0x7f800000 ? v * factor : 0;
	if (clamp)
		v = clamp_float(v, dx10);
	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static uint32_t finish_f16(uint32_t half, float factor, bool omod, bool clamp, bool dx10)
{
	float v = half_to_float(half & 0xffff);

	if (omod)
		v = half & 0x7c00 ? v * factor : 0;
	if (clamp)
		v = clamp_float(v, dx10);
	half = half_from_float(v, HALF_NEAREST);
	return omod && !(half & 0x7c00) ? half & 0x8000 : half;
}

static uint64_t finish_f64(uint64_t bits, double factor, bool omod, bool clamp, bool dx10)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	if (omod)
		v = bits & 0x7ff0000000000000ull ? v * factor : 0;
	if (clamp)
		v = clamp_double(v, dx10);
	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* OMOD, then CLAMP to [0, 1]; NaN becomes 0 under DX10_CLAMP. */
static void modify_float_result(struct work *k)
{
	const bool omod = omod_works(k), clamp = k->i->valu.clamp, dx10 = k->w->mode & ISA_MODE_DX10_CLAMP;
	const float factor = omod_factor[k->i->valu.omod];
	uint32_t *r = k->result;

	if (!omod && !clamp)
		return;
	for (unsigned l = 0; l < ISA_LANES; l++) {
		uint64_t wide = r[l] | (uint64_t)r[ISA_LANES + l] << 32;

		switch (k->i->valu.dst_type) {
		case ISA_T_PF32:
			r[ISA_LANES + l] = finish_f32(r[ISA_LANES + l], factor, omod, clamp, dx10);
			r[l] = finish_f32(r[l], factor, omod, clamp, dx10);
			break;
		case ISA_T_F32:
			r[l] = finish_f32(r[l], factor, omod, clamp, dx10);
			break;
		case ISA_T_F64:
			wide = finish_f64(wide, factor, omod, clamp, dx10);
			r[l] = (uint32_t)wide;
			r[ISA_LANES + l] = (uint32_t)(wide >> 32);
			break;
		case ISA_T_PF16:
			r[l] = finish_f16(r[l], factor, omod, clamp, dx10) |
			       finish_f16(r[l] >> 16, factor, omod, clamp, dx10) << 16;
			break;
		case ISA_T_F16:
			r[l] = finish_f16(r[l], factor, omod, clamp, dx10);
			break;
		default: /* integers saturate in their lane functions */
			break;
		}
	}
}

static void put_sdwa(struct work *k, const uint32_t *old)
{
	const struct isa_valu *v = &k->i->valu;
	bool byte = v->dst_sel <= ISA_SEL_BYTE3;
	unsigned shift = byte ? 8u * v->dst_sel : 16u * (v->dst_sel - ISA_SEL_WORD0);
	uint32_t mask = byte ? 255 : 0xffff;

	if (v->dst_sel != ISA_SEL_DWORD)
		isa_tools()->insert(k->result, v->dst_unused == ISA_UNUSED_PRESERVE ? old : NULL, mask, shift,
				    v->dst_unused == ISA_UNUSED_SEXT ? ~(mask >> 1) : 0);
}

/* GFX9 clears the high half for 16-bit results, but for the instructions that it introduced, which keep the half
 * that they do not write: mixed precision, and 16-bit VOP3 with op_sel. Later generations always keep it. */
static bool keeps_other_half(const struct isa_inst *i, const struct isa_generation *gen)
{
	unsigned number = i->row->number[ISA_COLUMN_9];

	if (i->row->enc == ISA_VOP3P)
		return i->row->dst == ISA_T_F16;
	if (i->row->dst != ISA_T_F16 && i->row->dst != ISA_T_B16)
		return false;
	if (gen->keeps_halves)
		return true;
	if (i->row->enc != ISA_VOP3)
		return false;
	return (number >= 0x1f4 && number <= 0x1fc) || (number >= 0x203 && number <= 0x207) || number == 0x29e ||
	       number == 0x29f;
}

static bool writes_high_half(const struct isa_inst *i)
{
	bool half = i->valu.dst_type == ISA_T_F16 || i->valu.dst_type == ISA_T_B16;

	if (i->op == ISA_OP_V_MAD_MIXHI_F16 || i->op == ISA_OP_V_FMA_MIXHI_F16)
		return true;
	return i->enc != ISA_VOP3P && half && i->valu.opsel & 8;
}

static void put_half(struct work *k, const uint32_t *old)
{
	bool high = writes_high_half(k->i);

	if (!high && !k->i->valu.keeps_half)
		return;
	isa_tools()->insert(k->result, old, 0xffff, high ? 16 : 0, 0);
}

/* --- running --- */

static void call_lane(struct work *k, const struct isa_lane_op *lane)
{
	unsigned have = isa_mxcsr(k->w->mode, ISA_FP_32), want = isa_mxcsr(k->w->mode, lane->fp);
	bool change = lane->fp > ISA_FP_32 && have != want;

	if (change)
		_mm_setcsr(want);
	lane->fn(&k->x);
	if (change)
		_mm_setcsr(have);
}

/* The bits of lanes that are not written are 0, not preserved. */
static void write_mask(struct work *k)
{
	uint64_t bits = k->x.carry & k->exec;

	isa_mask_write(k->w, k->i->valu.sdst, bits);
	if (k->i->row->flags & ISA_ROW_CMPX)
		isa_set_exec(k->w, bits);
}

/* Fills a work that may read or write a mask; the result goes to a room of its own. */
static inline void begin_masked(struct work *k, struct isa_wave *w, const struct isa_inst *i)
{
	k->w = w;
	k->i = i;
	k->exec = isa_exec(w);
	k->x.d = k->result;
	k->x.carry = i->row->flags & ISA_ROW_CARRY_IN ? isa_mask_read(w, i->valu.scarry) : 0;
	k->x.mode = w->mode;
	k->x.clamp = i->valu.clamp;
	k->x.inst = &i->valu;
	k->x.exec = k->exec;
	find_sources(k);
}

static const struct isa_inst *run_general(struct isa_wave *w, const struct isa_inst *i)
{
	struct work k;
	unsigned dw = isa_type_dw(i->valu.dst_type);

	begin_masked(&k, w, i);
	if (i->valu.is_dpp)
		apply_dpp(&k);
	modify_sources(&k);
	call_lane(&k, i->valu.lane);
	if (isa_result_is_scalar(i->op)) {
		modify_float_result(&k);
		w->s[i->valu.sdst] = k.result[0];
	} else if (i->valu.dst_type != ISA_T_M64) {
		modify_float_result(&k);
		if (i->valu.is_sdwa)
			put_sdwa(&k, w->v[i->valu.vdst]);
		else
			put_half(&k, w->v[i->valu.vdst]);
		isa_write_rows(w, i->valu.vdst, k.result, dw, k.exec);
	}
	if (i->valu.dst_type == ISA_T_M64 || i->row->flags & ISA_ROW_CARRY_OUT)
		write_mask(&k);
	return i + 1;
}

/* No modifiers, no carries. */
static const struct isa_inst *run_plain(struct isa_wave *w, const struct isa_inst *i)
{
	struct work k;
	bool all;

	k.w = w;
	k.i = i;
	k.exec = isa_exec(w);
	all = k.exec == w->full;
	k.x.d = all ? w->v[i->valu.vdst] : k.result;
	k.x.mode = w->mode;
	k.x.clamp = i->valu.clamp;
	k.x.inst = &i->valu;
	k.x.exec = k.exec;
	find_sources(&k);
	if (i->valu.lane->fp <= ISA_FP_32)
		i->valu.lane->fn(&k.x);
	else
		call_lane(&k, i->valu.lane);
	if (!all)
		isa_write_rows(w, i->valu.vdst, k.result, isa_type_dw(i->valu.dst_type), k.exec);
	return i + 1;
}

/* Compares and carries without modifiers. */
static const struct isa_inst *run_masked(struct isa_wave *w, const struct isa_inst *i)
{
	struct work k;

	begin_masked(&k, w, i);
	call_lane(&k, i->valu.lane);
	if (i->valu.dst_type != ISA_T_M64)
		isa_write_rows(w, i->valu.vdst, k.result, isa_type_dw(i->valu.dst_type), k.exec);
	if (i->valu.dst_type == ISA_T_M64 || i->row->flags & ISA_ROW_CARRY_OUT)
		write_mask(&k);
	return i + 1;
}

static bool is_matrix_f64(const struct isa_inst *i)
{
	return i->op == ISA_OP_V_MFMA_F64_16X16X4F64 || i->op == ISA_OP_V_MFMA_F64_4X4X4F64;
}

static bool has_half_result(const struct isa_inst *i)
{
	return i->op == ISA_OP_V_WMMA_F16_16X16X16_F16 || i->op == ISA_OP_V_WMMA_BF16_16X16X16_BF16;
}

/* Writes one half of each lane. */
static void merge_half(uint32_t *d, const uint32_t *from, bool high)
{
	for (unsigned l = 0; l < ISA_LANES; l++)
		d[l] = high ? (d[l] & 0xffff) | (from[l] & 0xffff0000) : (d[l] & 0xffff0000) | (from[l] & 0xffff);
}

/* Matrices: the addend is copied to the result's rows; EXEC has no effect. */
static const struct isa_inst *run_matrix(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_valu *v = &i->valu;
	uint32_t sum[32 * ISA_LANES] __attribute__((aligned(64)));
	unsigned dw = isa_type_dw(v->dst_type);
	struct work k;

	k.w = w;
	k.i = i;
	k.x.d = sum;
	k.x.inst = v;
	k.x.mode = w->mode;
	k.x.clamp = v->clamp;
	k.x.lanes = (uint8_t)isa_lanes(w);
	k.x.wmma_doubled = isa_generation_of(w->machine->chip->gfx)->column == ISA_COLUMN_11;
	k.x.flush_half = w->machine->chip->gfx == VGPU_GFX90A;
	find_sources(&k);
	if (i->row->flags & ISA_ROW_SPARSE)
		memcpy(sum, w->v[v->vdst], dw * sizeof(w->v[0]));
	else if (v->kind[2] == ISA_FROM_ROW)
		memcpy(sum, w->v[v->row[2]], dw * sizeof(w->v[0]));
	else
		for (unsigned n = 0; n < dw; n++)
			memcpy(sum + n * ISA_LANES, k.x.s[2] + (is_matrix_f64(i) ? n % 2 : 0) * ISA_LANES,
			       sizeof(w->v[0]));
	call_lane(&k, v->lane);
	if (k.x.wmma_doubled && has_half_result(i))
		for (unsigned n = 0; n < dw; n++)
			merge_half(w->v[v->vdst + n], sum + n * ISA_LANES, v->opsel & 4);
	else
		memcpy(w->v[v->vdst], sum, dw * sizeof(w->v[0]));
	return i + 1;
}

/* --- binding --- */

#define TABLE_BASE(name) isa_lanes_##name##_base,
#define TABLE_AVX2(name) isa_lanes_##name##_avx2,
#define TABLE_HALF(name) isa_lanes_##name##_half,

static const struct isa_lane_op *find_in(const struct isa_lane_op *const *tables, enum isa_op op)
{
	for (; *tables; tables++)
		for (const struct isa_lane_op *o = *tables; o->op; o++)
			if (o->op == op)
				return o;
	return NULL;
}

const struct isa_lane_op *isa_lane_find(enum isa_op op, enum isa_build build)
{
	static const struct isa_lane_op *const base[] = {ISA_LANE_TABLES(TABLE_BASE) NULL};
	static const struct isa_lane_op *const avx2[] = {ISA_LANE_TABLES(TABLE_AVX2) NULL};
	static const struct isa_lane_op *const half[] = {ISA_HALF_TABLES(TABLE_HALF) NULL};
	const struct isa_lane_op *found = build == ISA_BUILD_HALF ? find_in(half, op) : NULL;

	return found ? found : find_in(build == ISA_BUILD_BASE ? base : avx2, op);
}

/* op_sel_hi picks high halves for high results by default; sources that are not there do not count. */
static bool default_packing(const struct isa_valu *v)
{
	for (unsigned n = 0; n < 3; n++) {
		bool packed = v->type[n] == ISA_T_P16 || v->type[n] == ISA_T_PF16 || v->type[n] == ISA_T_PF32 ||
			      v->type[n] == ISA_T_PB32;

		if (v->kind[n] && packed && (v->opsel >> n & 1 || !high_is_high(v, n)))
			return false;
	}
	return true;
}

static bool is_float(enum isa_type type)
{
	return type == ISA_T_F16 || type == ISA_T_F32 || type == ISA_T_F64 || type == ISA_T_PF16 ||
	       type == ISA_T_PF32;
}

static bool is_modified(const struct isa_inst *i)
{
	const struct isa_valu *v = &i->valu;
	bool halves = i->enc != ISA_VOP3P && v->opsel;

	return v->neg || v->abs || v->omod || v->is_sdwa || v->is_dpp || halves || i->row->src[0] == ISA_T_MIX ||
	       (v->clamp && is_float(v->dst_type)) || v->keeps_half || !default_packing(v) ||
	       isa_result_is_scalar(i->op);
}

bool isa_valu_bind(struct isa_inst *i, const struct isa_generation *gen, bool wave32)
{
	bool masked = i->valu.dst_type == ISA_T_M64 || i->row->flags & (ISA_ROW_CARRY_OUT | ISA_ROW_CARRY_IN);

	i->valu.keeps_half = keeps_other_half(i, gen);
	i->valu.lane = isa_lane_find(i->op, isa_host_build(wave32));
	if (!i->valu.lane)
		return false;
	if (i->row->flags & ISA_ROW_MATRIX) {
		i->fn = run_matrix;
		return true;
	}
	i->fn = is_modified(i) ? run_general : masked ? run_masked : run_plain;
	return true;
}
