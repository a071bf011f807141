/* The opcode table of opcodes.def, and its index by chip, encoding and number. */
#include <pthread.h>

#include "vgpu/isa/decode/decode.h"

/* The widest number field is VOP3's, 10 bits; promoted numbers below 0x1c0 are those of their own encoding. */
#define NUMBERS 1024
#define CHIPS   VGPU_GFX_LATER

enum {
	ONLY_900 = 1 << VGPU_GFX900,
	ONLY_90A = 1 << VGPU_GFX90A,
	ONLY_942 = 1 << VGPU_GFX942,
	FROM_90A = ONLY_90A | ONLY_942,
	FROM_908 = 1 << VGPU_GFX908 | FROM_90A,
	ON_908_90A = FROM_908 & ~ONLY_942,
	FROM_906 = 1 << VGPU_GFX906 | FROM_908,
	ALL = ONLY_900 | FROM_906,
	TO_90A = ALL & ~ONLY_942,
	TO_908 = TO_90A & ~ONLY_90A,
	CARRY_OUT = ISA_ROW_CARRY_OUT,
	CARRY_IN = ISA_ROW_CARRY_IN,
	ACCUMULATE = ISA_ROW_ACCUMULATE,
	MATRIX = ISA_ROW_MATRIX,
	SPARSE = ISA_ROW_SPARSE,
};

static const struct isa_row rows[] = {
#define ISA_OP(enc, number, chips, id, name, dst, src0, src1, src2, flags)                                         \
	{ISA_##enc, chips, number, ISA_OP_##id, ISA_T_##dst, {ISA_T_##src0, ISA_T_##src1, ISA_T_##src2},           \
	 flags,     #name},
#define ISA_ALSO ISA_OP
#include "vgpu/isa/decode/opcodes.def"
#undef ISA_OP
#undef ISA_ALSO
};

static const char *const names[ISA_OP_COUNT] = {
#define ISA_OP(enc, number, chips, id, name, ...) [ISA_OP_##id] = #name,
#define ISA_ALSO(...)
#include "vgpu/isa/decode/opcodes.def"
#undef ISA_OP
#undef ISA_ALSO
};

/* Row number + 1; 0: none. Written once by index_rows. */
static uint16_t row_index[CHIPS][ISA_ENC_COUNT][NUMBERS];
static pthread_once_t indexed = PTHREAD_ONCE_INIT;

static void index_rows(void)
{
	for (unsigned r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
		for (unsigned chip = 0; chip < CHIPS; chip++)
			if (rows[r].chips >> chip & 1)
				row_index[chip][rows[r].enc][rows[r].number] = (uint16_t)(r + 1);
}

const char *isa_op_name(enum isa_op op)
{
	return op < ISA_OP_COUNT && names[op] ? names[op] : "?";
}

const struct isa_row *isa_row_find(enum vgpu_gfx gfx, enum isa_enc enc, unsigned number)
{
	pthread_once(&indexed, index_rows);
	if (enc == ISA_VOP3) {
		if (number < 0x100)
			enc = ISA_VOPC;
		else if (number < 0x140)
			enc = ISA_VOP2, number -= 0x100;
		else if (number < 0x1c0)
			enc = ISA_VOP1, number -= 0x140;
	}
	unsigned row = number < NUMBERS ? row_index[gfx][enc][number] : 0;
	return row ? &rows[row - 1] : NULL;
}

unsigned isa_type_dw(enum isa_type type)
{
	static const uint8_t dw[] = {
		[ISA_T_NONE] = 0, [ISA_T_B16] = 1,  [ISA_T_F16] = 1,  [ISA_T_B32] = 1,  [ISA_T_F32] = 1,
		[ISA_T_B64] = 2,  [ISA_T_F64] = 2,  [ISA_T_P16] = 1,  [ISA_T_PF16] = 1, [ISA_T_PF32] = 2,
		[ISA_T_PB32] = 2, [ISA_T_MIX] = 1,  [ISA_T_M64] = 2,  [ISA_T_W3] = 3,   [ISA_T_W4] = 4,
		[ISA_T_W8] = 8,   [ISA_T_W16] = 16, [ISA_T_W32] = 32,
	};
	return dw[type];
}
