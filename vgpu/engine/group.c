/* A resident workgroup: initial state of its waves, and turns in which they run. */
#include "vgpu/engine/internal.h"
#include "vgpu/isa/decode/generation.h"

#include <stdlib.h>
#include <string.h>

/* Modelled time. A wave is charged as on a full chip: its SIMD issues for it every 40 cycles (10 waves, 4 cycles
 * each), some 25 ns at 1.6 GHz; a memory instruction takes the latency of HBM besides, some 500 ns. All waves of a
 * group, and as many groups as the chip holds, run abreast. So an endless loop of one wave is over a limit of 60 s
 * after 2.4e9 instructions or 1.2e8 accesses, which the interpreter does in seconds, while a naive SGEMM of 1024^3
 * costs some 10 ms and libdrm's busy loop of 1e7 turns less than a second. */
#define INSTRUCTION_NS 25
#define ACCESS_NS      500
/* Passes of a turn over the waves of a group: a group that waits at barriers ends its turn after so many. */
#define PASSES_PER_TURN 64

#define POISON_BYTE 0xd5 /* 0xd5d5d5d5: no pointer, a large negative number, -2.9e13 as f32 */

struct engine_group *engine_group_create(void)
{
	struct engine_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->waves = aligned_alloc(64, ENGINE_WAVES_PER_GROUP * ((sizeof(*group->waves) + 63) & ~(size_t)63));
	if (!group->waves) {
		free(group);
		return NULL;
	}
	memset(group->waves, 0, ENGINE_WAVES_PER_GROUP * sizeof(*group->waves));
	return group;
}

void engine_group_destroy(struct engine_group *group)
{
	if (!group)
		return;
	for (unsigned number = 0; number < ENGINE_WAVES_PER_GROUP; number++)
		isa_waitcnt_destroy(group->waves[number].waitcnt);
	isa_races_destroy(group->races);
	free(group->waves);
	free(group->v);
	free(group->lds);
	free(group);
}

/* Storage for checks of machine code. A workgroup of one wave has no races in LDS. */
static bool reserve_checks(struct engine_group *group, unsigned waves, uint32_t unset)
{
	for (unsigned number = 0; number < waves; number++) {
		struct isa_wave *wave = &group->waves[number];

		if (!wave->waitcnt)
			wave->waitcnt = isa_waitcnt_create();
		if (!wave->waitcnt)
			return false;
		isa_waitcnt_reset(wave->waitcnt);
		isa_waitcnt_unset(wave->waitcnt, unset);
	}
	if (waves == 1 || !group->shared.lds_B)
		return true;
	if (!isa_races_fit(group->races, group->shared.lds_B, waves)) {
		isa_races_destroy(group->races);
		group->races = isa_races_create(group->shared.lds_B, waves);
	}
	group->shared.races = group->races;
	if (group->races)
		isa_races_reset(group->races, waves);
	return group->races;
}

/* Storage grows, and is freed when the worker ends. */
static bool reserve_storage(struct engine_group *group, size_t v_rows, size_t lds_B)
{
	if (group->v_rows < v_rows) {
		free(group->v);
		group->v = aligned_alloc(64, v_rows * sizeof(*group->v));
		group->v_rows = group->v ? v_rows : 0;
		if (group->v)
			memset(group->v, 0, v_rows * sizeof(*group->v));
	}
	if (group->lds_room_B < lds_B) {
		free(group->lds);
		group->lds = aligned_alloc(64, lds_B);
		group->lds_room_B = group->lds ? lds_B : 0;
		if (group->lds)
			memset(group->lds, 0, lds_B);
	}
	return group->v_rows >= v_rows && group->lds_room_B >= lds_B;
}

void engine_group_id(const struct engine_grid *grid, uint64_t index, uint32_t id[3])
{
	id[0] = grid->origin[0] + (uint32_t)(index % grid->count[0]);
	index /= grid->count[0];
	id[1] = grid->origin[1] + (uint32_t)(index % grid->count[1]);
	id[2] = grid->origin[2] + (uint32_t)(index / grid->count[1]);
}

/* Work-items of this group in each dimension: the last one may be smaller. */
static void group_size(const struct engine_grid *grid, const uint32_t id[3], uint32_t size[3])
{
	for (unsigned d = 0; d < 3; d++)
		size[d] = id[d] - grid->origin[d] == grid->count[d] - 1 ? grid->last[d] : grid->size[d];
}

/* GFX12 has the workgroup's place in trap temporaries: x in 9, y in 7 15:0, z above; 8 29:25 has the wave's number. */
static void set_temporaries(struct isa_wave *wave, const uint32_t id[3])
{
	wave->s[ISA_TTMP0 + 9] = id[0];
	wave->s[ISA_TTMP0 + 7] = (id[1] & 0xffff) | id[2] << 16;
	wave->s[ISA_TTMP0 + 8] = wave->wave_in_group << 25;
}

/* Sets user SGPRs, then those that RSRC2 enables, in hardware's order. */
static void set_sgprs(struct isa_wave *wave, const struct engine_grid *grid, const uint32_t id[3], unsigned waves,
		      uint64_t scratch_offset)
{
	uint32_t *s = wave->s;

	if (grid->poison)
		memset(s, POISON_BYTE, sizeof(wave->s));
	else
		memset(s, 0, sizeof(wave->s));
	memcpy(s, grid->user_data, grid->user_sgprs * sizeof(*s));
	s += grid->user_sgprs;
	if (grid->ids_in_ttmp) {
		set_temporaries(wave, id);
		wave->flat_scratch = grid->scratch_base + scratch_offset;
		return;
	}
	if (grid->rsrc2 & RSRC2_TGID_X_EN)
		*s++ = id[0];
	if (grid->rsrc2 & RSRC2_TGID_Y_EN)
		*s++ = id[1];
	if (grid->rsrc2 & RSRC2_TGID_Z_EN)
		*s++ = id[2];
	if (grid->rsrc2 & RSRC2_TG_SIZE_EN)
		*s++ = waves | (wave->wave_in_group ? 0 : 1u << 31); /* first wave of the group */
	if (grid->rsrc2 & RSRC2_SCRATCH_EN && grid->machine.chip->flat_scratch_given) {
		uint64_t base = grid->scratch_base + scratch_offset;

		memcpy(&wave->s[ISA_FLAT_SCRATCH], &base, sizeof(base));
	} else if (grid->rsrc2 & RSRC2_SCRATCH_EN && grid->scratch_base) {
		wave->flat_scratch = grid->scratch_base + scratch_offset;
	} else if (grid->rsrc2 & RSRC2_SCRATCH_EN) {
		*s++ = (uint32_t)scratch_offset;
	}
}

static uint32_t grid_lanes(const struct engine_grid *grid)
{
	return grid->machine.wave32 ? 32 : 64;
}

/* v0..v2: the work-item's place in its group, x running fastest. */
static void set_work_items(struct isa_wave *wave, const struct engine_grid *grid, const uint32_t size[3],
			   unsigned lanes)
{
	unsigned components = bits(grid->rsrc2, 12, 11);
	uint32_t first = wave->wave_in_group * grid_lanes(grid);
	uint32_t x = first % size[0], y = first / size[0] % size[1], z = first / size[0] / size[1];

	for (unsigned lane = 0; lane < lanes; lane++) {
		if (grid->machine.chip->packed_tid) {
			wave->v[0][lane] = x | (components > 0 ? y << 10 : 0) | (components > 1 ? z << 20 : 0);
		} else {
			wave->v[0][lane] = x;
			if (components > 0)
				wave->v[1][lane] = y;
			if (components > 1)
				wave->v[2][lane] = z;
		}
		if (++x == size[0]) {
			x = 0;
			if (++y == size[1]) {
				y = 0;
				z++;
			}
		}
	}
}

/* HW_ID of GFX9: WAVE 3:0, SIMD 5:4, CU 11:8, SE 15:13 (on chips of four, 15 is zero). HW_ID1 of GFX10 and later:
 * WAVE 4:0, SIMD 9:8, WGP 13:10, SA 16, SE from 18. Workgroups are distributed
 * over the shader engines in turn, then over their active CUs, which vgpu_chip_cu_bitmap() puts first, with more
 * in the first engines. */
unsigned engine_grid_engine(const struct engine_grid *grid, uint64_t index)
{
	const struct vgpu_chip *chip = grid->machine.chip;

	return (unsigned)(index % chip->cus_active) % chip->engines;
}

static uint32_t hardware_id(const struct vgpu_chip *chip, const struct engine_claim *claim, unsigned wave)
{
	uint32_t cu = (uint32_t)(claim->index % chip->cus_active) / chip->engines, se = claim->engine;

	if (chip->gc_version[0] >= 10)
		return wave / 4 | (wave % 4) << 8 | cu / 2 % 16 << 10 | se << 18;
	return wave / 4 | (wave % 4) << 4 | cu << 8 | se << 13;
}

/* GFX12 has no IEEE and DX10_CLAMP: it behaves as without the one and with the other. */
static uint32_t wave_mode(const struct vgpu_chip *chip, uint32_t rsrc1)
{
	uint32_t mode = bits(rsrc1, 19, 12) | (rsrc1 & RSRC1_FP16_OVFL ? 1 << 23 : 0);

	if (!isa_generation_of(chip->gfx)->ieee)
		return mode | 1 << 8;
	return mode | (rsrc1 & RSRC1_DX10_CLAMP ? 1 << 8 : 0) | (rsrc1 & RSRC1_IEEE_MODE ? 1 << 9 : 0);
}

/* Rows of wave->v: on gfx908 each wave has as many accumulation registers as VGPRs; gfx90a has one file. */
static size_t rows_per_wave(const struct isa_machine *machine)
{
	return machine->vgpr_count * (machine->chip->gfx == VGPU_GFX908 ? 2u : 1u);
}

static void load_wave(struct engine_group *group, const struct engine_claim *claim, struct isa_program *program,
		      unsigned number, const uint32_t id[3], const uint32_t size[3])
{
	struct engine_grid *grid = claim->grid;
	struct isa_wave *wave = &group->waves[number];
	uint32_t items = size[0] * size[1] * size[2], lanes = items - number * grid_lanes(grid);
	size_t rows = rows_per_wave(&grid->machine);
	uint64_t exec;

	if (lanes > grid_lanes(grid))
		lanes = grid_lanes(grid);
	exec = ~(uint64_t)0 >> (ISA_LANES - lanes);
	wave->scc = false;
	wave->pc = grid->entry;
	wave->mode = wave_mode(grid->machine.chip, grid->rsrc1) | (grid->ring->dev->f8_fnuz ? ISA_MODE_F8_FNUZ : 0);
	wave->v = group->v + number * rows;
	wave->group = &group->shared;
	wave->machine = &grid->machine;
	wave->program = program;
	wave->executed = wave->accesses = 0;
	wave->refused_pc = wave->refused_page = 0;
	wave->last_region = NULL;
	memset(wave->memo, 0, sizeof(wave->memo)); /* pages of another XCC's caches, perhaps */
	wave->wave_in_group = number;
	wave->flat_scratch = 0;
	wave->signal_phase = 0;
	wave->hw_id = hardware_id(grid->machine.chip, claim, number);
	wave->why[0] = 0;
	set_sgprs(wave, grid, id, group->shared.waves, (uint64_t)claim->slot[number] * grid->scratch_wave_B);
	memcpy(&wave->s[ISA_EXEC], &exec, sizeof(exec));
	if (grid->poison)
		memset(wave->v, POISON_BYTE, rows * sizeof(*wave->v));
	set_work_items(wave, grid, size, lanes);
	group->done[number] = ISA_BUDGET;
}

bool engine_group_load(struct engine_group *group, const struct engine_claim *claim, struct isa_program *program)
{
	struct engine_grid *grid = claim->grid;
	uint32_t id[3], size[3], waves;

	engine_group_id(grid, claim->index, id);
	group_size(grid, id, size);
	waves = (size[0] * size[1] * size[2] + grid_lanes(grid) - 1) / grid_lanes(grid);
	if (!reserve_storage(group, waves * rows_per_wave(&grid->machine), grid->lds_B))
		return false;
	group->grid = grid;
	group->index = claim->index;
	group->excused_ns = 0;
	group->shared = (struct isa_group){.lds = group->lds, .lds_B = grid->lds_B, .waves = waves};
	memcpy(group->slot, claim->slot, sizeof(group->slot));
	if (grid->machine.checked && !reserve_checks(group, waves, grid->unset))
		return false;
	if (grid->poison && grid->lds_B)
		memset(group->lds, POISON_BYTE, grid->lds_B);
	for (unsigned number = 0; number < waves; number++)
		load_wave(group, claim, program, number, id, size);
	return true;
}

/* --- running --- */

static void report_stopped(struct engine_group *group, const struct isa_wave *wave)
{
	struct engine_grid *grid = group->grid;
	/* A refused fetch hangs the wave; an illegal instruction raises an interrupt (Linux gfx_v9_0.c, fault
	 * handlers). */
	bool hang = atomic_load_explicit(&grid->fetch_fault, memory_order_relaxed);
	uint32_t id[3];

	engine_group_id(grid, group->index, id);
	engine_run_stop(grid->run, hang ? ENGINE_WAVES : ENGINE_ILLEGAL, "%s; wave %u of workgroup %u,%u,%u; %s",
			wave->why, wave->wave_in_group, id[0], id[1], id[2], grid->where);
}

/* Runs one wave that is not at a barrier. Returns the reason of its stop. */
static enum isa_stop run_wave(struct engine_group *group, unsigned number, uint64_t budget)
{
	struct isa_wave *wave = &group->waves[number];
	struct mem_cache *cache = wave->machine->cache;
	enum isa_stop stop;

	if (cache)
		mem_cache_enter(cache);
	stop = isa_run(wave, budget);
	if (cache)
		mem_cache_leave(cache);
	group->done[number] = (uint8_t)stop;
	switch (stop) {
	case ISA_BUDGET:
		break;
	case ISA_BARRIER:
		group->shared.at_barrier++;
		break;
	case ISA_SIGNALS:
	case ISA_SYNC:
		break;
	case ISA_ENDED:
		group->shared.ended++;
		isa_barrier_step(&group->shared);
		break;
	case ISA_STOPPED:
		report_stopped(group, wave);
		break;
	}
	return stop;
}

/* Ended waves do not count at a barrier: hardware takes them out. */
static void step_barrier(struct engine_group *group)
{
	struct isa_group *shared = &group->shared;

	if (!shared->at_barrier || shared->at_barrier + shared->ended < shared->waves)
		return;
	for (unsigned number = 0; number < shared->waves; number++)
		if (group->done[number] == ISA_BARRIER)
			group->done[number] = ISA_BUDGET;
	shared->at_barrier = 0;
	if (shared->races)
		isa_races_barrier(shared->races);
}

static bool can_run(struct engine_group *group, unsigned number)
{
	if (group->done[number] == ISA_SYNC && isa_gws_passed(&group->waves[number]))
		group->done[number] = ISA_BUDGET;
	if (group->done[number] == ISA_SIGNALS && isa_barrier_passed(&group->waves[number]))
		group->done[number] = ISA_BUDGET;
	return group->done[number] == ISA_BUDGET;
}

bool engine_group_run(struct engine_group *group, uint64_t budget)
{
	group->parked = false;
	for (unsigned pass = 0; pass < PASSES_PER_TURN && !group->parked; pass++) {
		bool spent = false;

		group->parked = true;
		for (unsigned number = 0; number < group->shared.waves; number++) {
			if (engine_grid_ends(group->grid))
				return true;
			if (!can_run(group, number))
				continue;
			group->parked = false;
			switch (run_wave(group, number, budget)) {
			case ISA_BUDGET:
				spent = true;
				break;
			case ISA_STOPPED:
				return true;
			default:
				break;
			}
			step_barrier(group);
		}
		if (group->shared.ended == group->shared.waves)
			return true;
		if (spent)
			return false;
	}
	return false;
}

uint64_t engine_group_ns(const struct engine_group *group)
{
	uint64_t longest = 0;

	for (unsigned number = 0; number < group->shared.waves; number++) {
		const struct isa_wave *wave = &group->waves[number];
		uint64_t ns = wave->executed * INSTRUCTION_NS + wave->accesses * ACCESS_NS;

		if (ns > longest)
			longest = ns;
	}
	return longest;
}
