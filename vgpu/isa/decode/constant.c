/* Values of constant operands. */
#include "vgpu/isa/decode/decode.h"

/* Codes 240 to 248: 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi). */
static const uint16_t inline_f16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
static const uint32_t inline_f32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
				      0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
static const uint64_t inline_f64[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
				      0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
				      0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

/* A literal is 32 bits: the high dword of an f64, zero-extended for 64-bit integers, twice for a pair of dwords. */
static uint64_t literal_value(enum isa_type type, uint32_t literal)
{
	switch (type) {
	case ISA_T_F64:
		return (uint64_t)literal << 32;
	case ISA_T_B16:
	case ISA_T_F16:
		return literal & 0xffff;
	default:
		return literal;
	}
}

static uint64_t inline_float(unsigned n, enum isa_type type)
{
	switch (type) {
	case ISA_T_F16:
	case ISA_T_PF16: /* the low half only; op_sel_hi = 0 repeats it */
		return inline_f16[n];
	case ISA_T_F64:
	case ISA_T_B64:
	case ISA_T_M64:
	case ISA_T_W8: /* the addend of v_mfma_f64_16x16x4f64 */
		return inline_f64[n];
	case ISA_T_B16: /* an integer operand reads the f32 pattern, cut off */
		return inline_f32[n] & 0xffff;
	default:
		return inline_f32[n];
	}
}

uint64_t isa_constant_value(unsigned code, enum isa_type type, uint32_t literal)
{
	int64_t integer;

	if (code == 255)
		return literal_value(type, literal);
	if (code >= 240)
		return inline_float(code - 240, type);
	integer = code <= 192 ? (int64_t)code - 128 : 192 - (int64_t)code;
	if (type == ISA_T_B16 || type == ISA_T_F16)
		return (uint64_t)integer & 0xffff;
	return isa_type_dw(type) == 2 || type == ISA_T_W8 ? (uint64_t)integer : (uint32_t)integer;
}
