/* Decodes VOPD: two vector instructions in one, which read their sources before either writes its result.
 *
 *   dword 0   prefix 31:26, OPX 25:22, OPY 21:17, VSRC1X 16:9, SRC0X 8:0
 *   dword 1   VDSTX 31:24, VDSTY 23:17, VSRC1Y 16:9, SRC0Y 8:0
 *
 * The low bit of VDSTY is not encoded: it is not VDSTX's. A literal that both may use follows. */
#include "vgpu/isa/decode/state.h"

/* Place of an operation among VOP1 and VOP2 of GFX11, and of GFX12 where it differs. */
struct dual_op {
	uint8_t enc, number, number_12;
};

static const struct dual_op dual_ops[32] = {
	{ISA_VOP2, 0x2b, 0x2b},        /* fmac_f32 */
	{ISA_VOP2, 0x2d, 0x2d},        /* fmaak_f32 */
	{ISA_VOP2, 0x2c, 0x2c},        /* fmamk_f32 */
	{ISA_VOP2, 0x08, 0x08},        /* mul_f32 */
	{ISA_VOP2, 0x03, 0x03},        /* add_f32 */
	{ISA_VOP2, 0x04, 0x04},        /* sub_f32 */
	{ISA_VOP2, 0x05, 0x05},        /* subrev_f32 */
	{ISA_VOP2, 0x07, 0x07},        /* mul_dx9_zero_f32 */
	{ISA_VOP1, 0x01, 0x01},        /* mov_b32 */
	{ISA_VOP2, 0x01, 0x01},        /* cndmask_b32 */
	{ISA_VOP2, 0x10, 0x16},        /* max_f32 */
	{ISA_VOP2, 0x0f, 0x15},        /* min_f32 */
	{ISA_VOP2, 0x02, 0x02},        /* dot2acc_f32_f16 */
	[16] = {ISA_VOP2, 0x25, 0x25}, /* add_nc_u32; from here on of Y alone */
	[17] = {ISA_VOP2, 0x18, 0x18}, /* lshlrev_b32 */
	[18] = {ISA_VOP2, 0x1b, 0x1b}, /* and_b32 */
};

/* Fields of one half. */
struct half {
	unsigned op, src0, vsrc1, vdst;
};

static bool takes_literal(const struct half *h)
{
	return h->src0 == CODE_LITERAL || h->op == 1 || h->op == 2;
}

static struct half half_of(uint32_t w, uint32_t w1, bool second)
{
	unsigned x = bits_of(w1, 31, 24);

	if (second)
		return (struct half){bits_of(w, 21, 17), bits_of(w1, 8, 0), bits_of(w1, 16, 9),
				     bits_of(w1, 23, 17) << 1 | !(x & 1)};
	return (struct half){bits_of(w, 25, 22), bits_of(w, 8, 0), bits_of(w, 16, 9), x};
}

static void decode_half(struct decode_state *st, const struct half *h, uint32_t literal)
{
	const struct dual_op *op = &dual_ops[h->op];
	bool mk = h->op == 2, ak = h->op == 1;

	if (!op->enc) {
		st->why = "no dual instruction";
		return;
	}
	decode_row(st, (enum isa_enc)op->enc, st->gen->column == ISA_COLUMN_12 ? op->number_12 : op->number);
	if (st->why)
		return;
	decode_valu_types(st->inst);
	decode_valu_result(st, h->vdst);
	st->inst->valu.literal = literal;
	decode_valu_source(st, 0, h->src0);
	if (op->enc == ISA_VOP2)
		decode_valu_source(st, mk ? 2 : 1, CODE_VGPR + h->vsrc1);
	if (mk || ak)
		decode_valu_source(st, mk ? 1 : 2, CODE_LITERAL);
}

void decode_vopd_second(struct decode_state *st, uint32_t w)
{
	uint32_t w1 = decode_next_word(st);
	struct half x = half_of(w, w1, false), y = half_of(w, w1, true);
	bool literal = takes_literal(&x) || takes_literal(&y);

	decode_half(st, &y, literal ? decode_next_word(st) : 0);
}

void decode_vopd(struct decode_state *st, uint32_t w)
{
	uint32_t w1 = decode_next_word(st);
	struct half x = half_of(w, w1, false), y = half_of(w, w1, true);
	bool literal = takes_literal(&x) || takes_literal(&y);

	decode_half(st, &y, literal ? decode_next_word(st) : 0);
	if (st->why)
		return;
	*st->inst = (struct isa_inst){.pc = st->inst->pc, .beyond = st->inst->beyond, .dual = true};
	decode_half(st, &x, literal ? st->code[2] : 0);
}
