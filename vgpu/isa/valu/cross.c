/* Vector instructions that read other lanes, or registers found through M0: handlers beside those of valu.c. */
#include "vgpu/isa/valu/rows.h"

/* --- v_permlane --- */

/* The lanes of a wave in rows of 16; sources 1 and 2 have a selection of 4 bits for each lane of the row. op_sel: bit
 * 0 also fetches from lanes that EXEC disables, bit 1 gives 0 where there is nothing to fetch, and the lane is not
 * written otherwise (RDNA ISA, V_PERMLANE16_B32). */
static void permlane_rows(struct isa_wave *w, const struct isa_inst *i, const uint8_t from[ISA_LANES])
{
	uint32_t room[2 * ISA_LANES], result[ISA_LANES] __attribute__((aligned(64)));
	const uint32_t *row = isa_source_rows(w, &i->valu, 0, room);
	uint64_t exec = isa_exec(w), written = 0;

	for (unsigned lane = 0; lane < ISA_LANES; lane++) {
		bool there = i->valu.opsel & 1 || exec >> from[lane] & 1;

		result[lane] = there ? row[from[lane]] : 0;
		if (there || i->valu.opsel & 2)
			written |= (uint64_t)1 << lane;
	}
	isa_write_rows(w, i->valu.vdst, result, 1, exec & written);
}

static const struct isa_inst *permlane(struct isa_wave *w, const struct isa_inst *i, unsigned flip)
{
	uint64_t select = isa_lane_scalar(w, &i->valu, 1) | (uint64_t)isa_lane_scalar(w, &i->valu, 2) << 32;
	uint8_t from[ISA_LANES];

	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		from[lane] = (uint8_t)(((lane & ~15u) ^ flip) | (select >> 4 * (lane & 15) & 15));
	permlane_rows(w, i, from);
	return i + 1;
}

static const struct isa_inst *v_permlane16(struct isa_wave *w, const struct isa_inst *i)
{
	return permlane(w, i, 0);
}

/* From the other row of each pair. */
static const struct isa_inst *v_permlanex16(struct isa_wave *w, const struct isa_inst *i)
{
	return permlane(w, i, 16);
}

/* Each lane selects for itself. */
static const struct isa_inst *permlane_var(struct isa_wave *w, const struct isa_inst *i, unsigned flip)
{
	uint32_t room[2 * ISA_LANES];
	const uint32_t *select = isa_source_rows(w, &i->valu, 1, room);
	uint8_t from[ISA_LANES];

	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		from[lane] = (uint8_t)(((lane & ~15u) ^ flip) | (select[lane] & 15));
	permlane_rows(w, i, from);
	return i + 1;
}

static const struct isa_inst *v_permlane16_var(struct isa_wave *w, const struct isa_inst *i)
{
	return permlane_var(w, i, 0);
}

static const struct isa_inst *v_permlanex16_var(struct isa_wave *w, const struct isa_inst *i)
{
	return permlane_var(w, i, 16);
}

/* Swaps the halves of wave64, whatever EXEC has for the source; nothing in wave32. */
static const struct isa_inst *v_permlane64(struct isa_wave *w, const struct isa_inst *i)
{
	uint32_t room[2 * ISA_LANES], result[ISA_LANES] __attribute__((aligned(64)));
	const uint32_t *row = isa_source_rows(w, &i->valu, 0, room);

	if (isa_lanes(w) == 32)
		return i + 1;
	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		result[lane] = row[lane ^ 32];
	isa_write_rows(w, i->valu.vdst, result, 1, isa_exec(w));
	return i + 1;
}

/* --- registers relative to M0 --- */

/* The row at `row` + `by`; above the granted ones there is a report, and *ok is false. */
static unsigned moved_row(struct isa_wave *w, const struct isa_inst *i, unsigned row, unsigned by, bool *ok)
{
	if (row + by < w->machine->vgpr_count)
		return row + by;
	isa_report_beyond(w, i->pc);
	*ok = false;
	return 0;
}

/* A source above the granted registers reads v0, a result there is lost. */
static const struct isa_inst *move_row(struct isa_wave *w, const struct isa_inst *i, unsigned source_by,
				       unsigned result_by)
{
	uint32_t room[2 * ISA_LANES];
	bool result_ok = true, source_ok = true;
	unsigned to = moved_row(w, i, i->valu.vdst, result_by, &result_ok);
	const uint32_t *from = isa_source_rows(w, &i->valu, 0, room);

	if (source_by)
		from = w->v[moved_row(w, i, i->valu.row[0], source_by, &source_ok)];
	if (result_ok)
		isa_write_rows(w, to, from, 1, isa_exec(w));
	return i + 1;
}

static const struct isa_inst *v_movreld(struct isa_wave *w, const struct isa_inst *i)
{
	return move_row(w, i, 0, w->s[ISA_M0]);
}

static const struct isa_inst *v_movrels(struct isa_wave *w, const struct isa_inst *i)
{
	return move_row(w, i, w->s[ISA_M0], 0);
}

static const struct isa_inst *v_movrelsd(struct isa_wave *w, const struct isa_inst *i)
{
	return move_row(w, i, w->s[ISA_M0], w->s[ISA_M0]);
}

static const struct isa_inst *v_movrelsd_2(struct isa_wave *w, const struct isa_inst *i)
{
	return move_row(w, i, w->s[ISA_M0] & 0x3ff, w->s[ISA_M0] >> 16 & 0x3ff);
}

static void swap_rows(struct isa_wave *w, unsigned a, unsigned b)
{
	uint32_t old[ISA_LANES] __attribute__((aligned(64)));
	uint64_t exec = isa_exec(w);

	memcpy(old, w->v[a], sizeof(old));
	isa_write_rows(w, a, w->v[b], 1, exec);
	isa_write_rows(w, b, old, 1, exec);
}

static const struct isa_inst *v_swap(struct isa_wave *w, const struct isa_inst *i)
{
	swap_rows(w, i->valu.vdst, i->valu.row[0]);
	return i + 1;
}

/* Where an operand has its half. */
static unsigned half_shift(const struct isa_valu *v, unsigned operand)
{
	return v->opsel >> operand & 1 ? 16 : 0;
}

/* Operand 3 is the result. Both halves may be of one register. */
static const struct isa_inst *v_swap_halves(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_valu *v = &i->valu;
	unsigned to = half_shift(v, 3), from = half_shift(v, 0);
	uint64_t exec = isa_exec(w);

	for (unsigned l = 0; l < ISA_LANES; l++) {
		uint32_t *a = &w->v[v->vdst][l], *b = &w->v[v->row[0]][l];
		uint32_t differ = (*a >> to ^ *b >> from) & 0xffff;

		if (!(exec >> l & 1))
			continue;
		*a ^= differ << to;
		*b ^= differ << from;
	}
	return i + 1;
}

static const struct isa_inst *v_swaprel(struct isa_wave *w, const struct isa_inst *i)
{
	bool ok = true;
	unsigned a = moved_row(w, i, i->valu.vdst, w->s[ISA_M0] >> 16 & 0x3ff, &ok);
	unsigned b = moved_row(w, i, i->valu.row[0], w->s[ISA_M0] & 0x3ff, &ok);

	if (ok)
		swap_rows(w, a, b);
	return i + 1;
}

/* --- lanes to scalars and back --- */

/* EXEC = 0 reads lane 0. */
static const struct isa_inst *v_readfirstlane(struct isa_wave *w, const struct isa_inst *i)
{
	uint64_t exec = isa_exec(w);
	uint32_t room[2 * ISA_LANES];
	const uint32_t *row = isa_source_rows(w, &i->valu, 0, room);

	w->s[i->valu.sdst] = row[exec ? __builtin_ctzll(exec) : 0];
	return i + 1;
}

/* These two ignore EXEC. */
static const struct isa_inst *v_readlane(struct isa_wave *w, const struct isa_inst *i)
{
	uint32_t room[2 * ISA_LANES];
	unsigned lane = isa_lane_scalar(w, &i->valu, 1) & (isa_lanes(w) - 1);

	w->s[i->valu.sdst] = isa_source_rows(w, &i->valu, 0, room)[lane];
	return i + 1;
}

static const struct isa_inst *v_writelane(struct isa_wave *w, const struct isa_inst *i)
{
	w->v[i->valu.vdst][isa_lane_scalar(w, &i->valu, 1) & (isa_lanes(w) - 1)] = isa_lane_scalar(w, &i->valu, 0);
	return i + 1;
}

const struct isa_handler isa_cross_handlers[] = {
	{ISA_OP_V_READFIRSTLANE_B32, v_readfirstlane},
	{ISA_OP_V_READLANE_B32, v_readlane},
	{ISA_OP_V_WRITELANE_B32, v_writelane},
	{ISA_OP_V_SWAP_B32, v_swap},
	{ISA_OP_V_SWAP_B16, v_swap_halves},
	{ISA_OP_V_SWAPREL_B32, v_swaprel},
	{ISA_OP_V_MOVRELD_B32, v_movreld},
	{ISA_OP_V_MOVRELS_B32, v_movrels},
	{ISA_OP_V_MOVRELSD_B32, v_movrelsd},
	{ISA_OP_V_MOVRELSD_2_B32, v_movrelsd_2},
	{ISA_OP_V_PERMLANE16_B32, v_permlane16},
	{ISA_OP_V_PERMLANEX16_B32, v_permlanex16},
	{ISA_OP_V_PERMLANE16_VAR_B32, v_permlane16_var},
	{ISA_OP_V_PERMLANEX16_VAR_B32, v_permlanex16_var},
	{ISA_OP_V_PERMLANE64_B32, v_permlane64},
	{ISA_OP_NONE, NULL},
};
