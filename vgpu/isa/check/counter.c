/* Counters of operations under way (counter.h). */
#include "vgpu/isa/check/counter.h"

#define IN_ORDER(name)      .counter = ISA_COUNTER_##name, .queue = ISA_COUNTER_##name, .ordered = true
#define IN_NO_ORDER(name)   .counter = ISA_COUNTER_##name, .queue = ISA_COUNTER_##name
#define MESSAGE_AMONG(name) .counter = ISA_COUNTER_##name, .queue = ISA_COUNTER_KM, .ordered = true

static const struct isa_count counts[ISA_COLUMN_COUNT][ISA_OPERATIONS] =
	{
		[ISA_COLUMN_9] =
			{
				[ISA_OPERATION_LOAD] = {IN_ORDER(LOAD), .max = 63},
				[ISA_OPERATION_SAMPLE] = {IN_ORDER(LOAD), .max = 63},
				[ISA_OPERATION_STORE] = {IN_ORDER(LOAD), .max = 63},
				[ISA_OPERATION_FLAT_LOAD] = {IN_NO_ORDER(LOAD), .also_ds = true, .max = 63},
				[ISA_OPERATION_FLAT_STORE] = {IN_NO_ORDER(LOAD), .also_ds = true, .max = 63},
				[ISA_OPERATION_SMEM] = {IN_NO_ORDER(DS), .max = 15},
				[ISA_OPERATION_DS] = {IN_ORDER(DS), .max = 15},
			},
		[ISA_COLUMN_10] =
			{
				[ISA_OPERATION_LOAD] = {IN_ORDER(LOAD), .max = 63},
				[ISA_OPERATION_SAMPLE] = {IN_ORDER(LOAD), .max = 63},
				[ISA_OPERATION_STORE] = {IN_ORDER(STORE), .max = 63},
				[ISA_OPERATION_FLAT_LOAD] = {IN_ORDER(LOAD), .also_ds = true, .max = 63},
				[ISA_OPERATION_FLAT_STORE] = {IN_ORDER(STORE), .also_ds = true, .max = 63},
				[ISA_OPERATION_SMEM] = {IN_NO_ORDER(DS), .max = 63},
				[ISA_OPERATION_DS] = {IN_ORDER(DS), .max = 63},
			},
		[ISA_COLUMN_11] =
			{
				[ISA_OPERATION_LOAD] = {IN_ORDER(LOAD), .max = 63},
				[ISA_OPERATION_SAMPLE] = {IN_ORDER(LOAD), .max = 63},
				[ISA_OPERATION_STORE] = {IN_ORDER(STORE), .max = 63},
				[ISA_OPERATION_FLAT_LOAD] = {IN_ORDER(LOAD), .also_ds = true, .max = 63},
				[ISA_OPERATION_FLAT_STORE] = {IN_ORDER(STORE), .also_ds = true, .max = 63},
				[ISA_OPERATION_SMEM] = {IN_NO_ORDER(DS), .max = 63},
				[ISA_OPERATION_DS] = {IN_ORDER(DS), .max = 63},
				[ISA_OPERATION_MESSAGE] = {MESSAGE_AMONG(DS), .max = 63},
			},
		[ISA_COLUMN_12] =
			{
				[ISA_OPERATION_LOAD] = {IN_ORDER(LOAD), .writes_late = true, .max = 63},
				[ISA_OPERATION_SAMPLE] = {IN_ORDER(SAMPLE), .writes_late = true, .max = 63},
				[ISA_OPERATION_STORE] = {IN_ORDER(STORE), .max = 63},
				[ISA_OPERATION_FLAT_LOAD] = {IN_ORDER(LOAD), .also_ds = true, .writes_late = true,
							     .max = 63},
				[ISA_OPERATION_FLAT_STORE] = {IN_ORDER(STORE), .also_ds = true, .max = 63},
				[ISA_OPERATION_SMEM] = {IN_NO_ORDER(KM), .max = 31},
				[ISA_OPERATION_DS] = {IN_ORDER(DS), .max = 63},
				[ISA_OPERATION_MESSAGE] = {MESSAGE_AMONG(KM), .max = 31},
			},
};

enum {
	ON_9 = 1 << ISA_COLUMN_9,
	ON_10 = 1 << ISA_COLUMN_10,
	ON_11 = 1 << ISA_COLUMN_11,
	ON_12 = 1 << ISA_COLUMN_12
};

#define FIELD(name, hi, lo)           {ISA_COUNTER_##name, lo, (hi) - (lo) + 1, 0, 0}
#define SPLIT(name, hi, lo, hi2, lo2) {ISA_COUNTER_##name, lo, (hi) - (lo) + 1, lo2, (hi2) - (lo2) + 1}

/* expcnt, of exports and GDS, has no waits here: nothing that is executed counts on it. */
static const struct isa_wait waits[] = {
	{ISA_OP_S_WAITCNT, ON_9, false, {SPLIT(LOAD, 3, 0, 15, 14), FIELD(DS, 11, 8)}},
	{ISA_OP_S_WAITCNT, ON_10, false, {SPLIT(LOAD, 3, 0, 15, 14), FIELD(DS, 13, 8)}},
	{ISA_OP_S_WAITCNT, ON_11, false, {FIELD(LOAD, 15, 10), FIELD(DS, 9, 4)}},
	{ISA_OP_S_WAITCNT_VSCNT, ON_10 | ON_11, false, {FIELD(STORE, 5, 0)}},
	{ISA_OP_S_WAITCNT_VMCNT, ON_10 | ON_11, false, {FIELD(LOAD, 5, 0)}},
	{ISA_OP_S_WAITCNT_LGKMCNT, ON_10 | ON_11, false, {FIELD(DS, 5, 0)}},
	{ISA_OP_S_WAIT_IDLE, ON_10 | ON_11 | ON_12, true, {{0}}},
	{ISA_OP_S_WAIT_LOADCNT, ON_12, false, {FIELD(LOAD, 5, 0)}},
	{ISA_OP_S_WAIT_STORECNT, ON_12, false, {FIELD(STORE, 5, 0)}},
	{ISA_OP_S_WAIT_SAMPLECNT, ON_12, false, {FIELD(SAMPLE, 5, 0)}},
	{ISA_OP_S_WAIT_BVHCNT, ON_12, false, {FIELD(BVH, 2, 0)}},
	{ISA_OP_S_WAIT_DSCNT, ON_12, false, {FIELD(DS, 5, 0)}},
	{ISA_OP_S_WAIT_KMCNT, ON_12, false, {FIELD(KM, 4, 0)}},
	{ISA_OP_S_WAIT_LOADCNT_DSCNT, ON_12, false, {FIELD(LOAD, 13, 8), FIELD(DS, 5, 0)}},
	{ISA_OP_S_WAIT_STORECNT_DSCNT, ON_12, false, {FIELD(STORE, 13, 8), FIELD(DS, 5, 0)}},
};

const struct isa_count *isa_count_of(enum vgpu_gfx gfx, enum isa_operation operation)
{
	const struct isa_count *count = &counts[isa_generation_of(gfx)->column][operation];

	return count->max ? count : NULL;
}

const struct isa_wait *isa_wait_of(enum vgpu_gfx gfx, enum isa_op op)
{
	for (unsigned n = 0; n < sizeof(waits) / sizeof(*waits); n++)
		if (waits[n].op == op && waits[n].columns >> isa_generation_of(gfx)->column & 1)
			return &waits[n];
	return NULL;
}

uint32_t isa_wait_left(const struct isa_wait_field *f, uint32_t simm)
{
	return (simm >> f->lo & ((1u << f->width) - 1)) | (simm >> f->lo2 & ((1u << f->width2) - 1)) << f->width;
}
