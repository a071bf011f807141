/* The opcode table of opcodes.def, and its index by chip, encoding and number. */
#include <pthread.h>

#include "vgpu/isa/decode/decode.h"

/* The widest number field is VOP3's, 10 bits; promoted numbers are those of their own encoding. */
#define NUMBERS 1024
#define NO      ISA_NO

/* Chips of a row, of the generations that it has numbers for. A name restricts the chips of one generation and
 * contains all others, so that names combine with "&". */
enum {
	ALL = (1 << VGPU_GFX_COUNT) - 1,
	LATER = ALL & ~((1 << VGPU_GFX10_1) - 1),
	FROM_906 = ALL & ~(1 << VGPU_GFX900),
	ONLY_900 = LATER | 1 << VGPU_GFX900,
	ONLY_90A = LATER | 1 << VGPU_GFX90A,
	ONLY_942 = LATER | 1 << VGPU_GFX942,
	FROM_90A = ONLY_90A | ONLY_942,
	ON_908_90A = LATER | 1 << VGPU_GFX908 | 1 << VGPU_GFX90A,
	FROM_908 = ON_908_90A | ONLY_942,
	TO_90A = ALL & ~(1 << VGPU_GFX942),
	TO_908 = TO_90A & ~(1 << VGPU_GFX90A),
	FROM_1011 = ALL & ~(1 << VGPU_GFX10_1),
	NOT_10_1 = FROM_1011 & ~(1 << VGPU_GFX10_1_DOT),
	NOT_10_3 = ALL & ~(1 << VGPU_GFX10_3),
	NOT_11_0 = ALL & ~(1 << VGPU_GFX11),
	CARRY_OUT = ISA_ROW_CARRY_OUT,
	CARRY_IN = ISA_ROW_CARRY_IN,
	ACCUMULATE = ISA_ROW_ACCUMULATE,
	MATRIX = ISA_ROW_MATRIX,
	SPARSE = ISA_ROW_SPARSE,
	CMPX = ISA_ROW_CMPX,
};

static const struct isa_row rows[] = {
#define ISA_OP(enc, n9, n10, n11, n12, chips, id, name, dst, src0, src1, src2, flags)                              \
	{ISA_##enc,   chips,       {n9, n10, n11, n12},                                                            \
	 ISA_OP_##id, ISA_T_##dst, {ISA_T_##src0, ISA_T_##src1, ISA_T_##src2},                                     \
	 flags,       #name},
#define ISA_ALSO ISA_OP
#include "vgpu/isa/decode/opcodes.def"
#undef ISA_OP
#undef ISA_ALSO
};

static const char *const names[ISA_OP_COUNT] = {
#define ISA_OP(enc, n9, n10, n11, n12, chips, id, name, ...) [ISA_OP_##id] = #name,
#define ISA_ALSO(...)
#include "vgpu/isa/decode/opcodes.def"
#undef ISA_OP
#undef ISA_ALSO
};

/* New names from a generation on, older ones first. */
static const struct rename {
	uint8_t from; /* enum isa_column */
	uint16_t op;
	const char *name;
} renames[] = {
#define ISA_RENAME(from, id, name) {ISA_COLUMN_##from, ISA_OP_##id, #name},
#include "vgpu/isa/decode/renames.def"
#undef ISA_RENAME
};

/* Row number + 1; 0: none. Written once by index_rows, as the names. */
static uint16_t row_index[VGPU_GFX_COUNT][ISA_ENC_COUNT][NUMBERS];
static const char *renamed[ISA_COLUMN_COUNT][ISA_OP_COUNT]; /* NULL: the row's name */
static pthread_once_t indexed = PTHREAD_ONCE_INIT;

static void index_row(unsigned r)
{
	for (unsigned chip = 0; chip < VGPU_GFX_COUNT; chip++) {
		unsigned number = rows[r].number[isa_generation_of((enum vgpu_gfx)chip)->column];

		if (number != ISA_NO && rows[r].chips >> chip & 1)
			row_index[chip][rows[r].enc][number] = (uint16_t)(r + 1);
	}
}

static void index_rows(void)
{
	for (unsigned r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
		index_row(r);
	for (unsigned n = 0; n < sizeof(renames) / sizeof(renames[0]); n++)
		for (unsigned column = renames[n].from; column < ISA_COLUMN_COUNT; column++)
			renamed[column][renames[n].op] = renames[n].name;
}

const char *isa_op_name(enum isa_op op)
{
	return op < ISA_OP_COUNT && names[op] ? names[op] : "?";
}

const char *isa_row_name(enum vgpu_gfx gfx, const struct isa_row *row)
{
	const char *name;

	pthread_once(&indexed, index_rows);
	name = renamed[isa_generation_of(gfx)->column][row->op];
	return name ? name : row->name;
}

const struct isa_row *isa_row_find(enum vgpu_gfx gfx, enum isa_enc enc, unsigned number)
{
	unsigned vop1 = isa_generation_of(gfx)->vop3_vop1, row;

	pthread_once(&indexed, index_rows);
	if (enc == ISA_VOP3) {
		if (number < 0x100)
			enc = ISA_VOPC;
		else if (number < 0x140)
			enc = ISA_VOP2, number -= 0x100;
		else if (number >= vop1 && number < vop1 + 0x80)
			enc = ISA_VOP1, number -= vop1;
	}
	row = number < NUMBERS ? row_index[gfx][enc][number] : 0;
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
