/* Decodes the COMPUTE_* registers into a dispatch, and checks for values that hang hardware, give wrong results,
 * or depend on another job's registers. */
#include "vgpu/engine/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vgpu/engine/mem.h"
#include "vgpu/engine/packet.h"
#include "vgpu/isa/decode/generation.h"

#define GROUP_ITEMS_MAX 1024
#define LDS_GRANULE_B   512

/* Differences of generations. Sources: Mesa registers/gfx9.json to gfx12.json, ac_cmdbuf.c. */
struct layout {
	uint16_t gens;
	uint16_t rsrc3;        /* 0: none */
	uint16_t se4;          /* STATIC_THREAD_MGMT of engine 4, then 5 to 7; 0: none has more than 4 */
	uint8_t wavesize_hi;   /* TMPRING_SIZE: highest bit of WAVESIZE */
	bool waves_per_engine; /* WAVES is the number per engine */
	uint8_t simds;         /* SIMDs of a compute unit */
	uint16_t wavesize_unit_B;
	uint32_t initiator; /* bits that DISPATCH_INITIATOR has */
};

#define INITIATOR_9                                                                                                \
	(INITIATOR_COMPUTE_SHADER_EN | INITIATOR_PARTIAL_TG_EN | INITIATOR_FORCE_START_AT_000 |                    \
	 INITIATOR_ORDERED_APPEND_ENBL | INITIATOR_ORDERED_APPEND_MODE | INITIATOR_USE_THREAD_DIMENSIONS |         \
	 INITIATOR_ORDER_MODE | INITIATOR_SCALAR_L1_INV_VOL | INITIATOR_VECTOR_L1_INV_VOL | INITIATOR_RESTORE |    \
	 INITIATOR_TTRACE)
#define INITIATOR_10 (INITIATOR_9 | INITIATOR_TUNNEL_ENABLE | INITIATOR_CS_W32_EN | INITIATOR_AMP_SHADER_EN)
#define INITIATOR_11 (INITIATOR_10 | INITIATOR_DISABLE_DISP_PREMPT_EN)

static const struct layout layouts[] = {
	{P_GFX9, COMPUTE_PGM_RSRC3, COMPUTE_STATIC_THREAD_MGMT_SE4, 24, false, 4, 1024, INITIATOR_9},
	{P_GFX940, COMPUTE_PGM_RSRC3, 0, 24, false, 4, 1024, INITIATOR_9 & ~(uint32_t)INITIATOR_ORDER_MODE},
	{P_ALL10, COMPUTE_PGM_RSRC3_GFX10, 0, 24, false, 2, 1024, INITIATOR_10},
	{P_GFX11, COMPUTE_PGM_RSRC3_GFX10, COMPUTE_STATIC_THREAD_MGMT_SE4_GFX11, 26, true, 2, 256, INITIATOR_11},
	{P_GFX12, COMPUTE_PGM_RSRC3_GFX10, COMPUTE_STATIC_THREAD_MGMT_SE4_GFX11, 29, true, 2, 256,
	 INITIATOR_11 | INITIATOR_PING_PONG_EN | INITIATOR_INTERLEAVE_2D_EN},
};

static const struct layout *layout_of(const struct vgpu_chip *chip)
{
	unsigned gen = packet_gfx_gen(chip), i = 0;

	while (!(layouts[i].gens & gen))
		i++;
	return &layouts[i];
}

unsigned engine_cu_mask_reg(const struct vgpu_chip *chip, unsigned engine)
{
	static const uint16_t first[4] = {COMPUTE_STATIC_THREAD_MGMT_SE0, COMPUTE_STATIC_THREAD_MGMT_SE1,
					  COMPUTE_STATIC_THREAD_MGMT_SE2, COMPUTE_STATIC_THREAD_MGMT_SE3};

	return engine < 4 ? first[engine] : layout_of(chip)->se4 + engine - 4;
}

/* Inputs of a dispatch while its registers are decoded. */
struct dispatch {
	struct engine_run *run;
	struct engine_ring *ring;
	const struct vgpu_chip *chip;
	const struct layout *layout;
	unsigned gen; /* enum packet_gen */
	uint32_t dim[3];
	uint32_t initiator;
	const char *where;
	bool scratch_known; /* the ring's scratch_tag is this dispatch's */
	bool ok;            /* false: the job was stopped, or nothing is to run */
};

static uint32_t dispatch_reg(const struct dispatch *d, unsigned offset)
{
	return d->ring->sh[offset];
}

static void dispatch_hang(struct dispatch *d, enum contract_row row, const char *why)
{
	vgpu_finding(row, "%s; %s", why, d->where);
	engine_run_stop(d->run, ENGINE_HANG, "%s; %s", why, d->where);
	d->ok = false;
}

/* --- row 67: nothing persists between jobs --- */

static void rely_on(const struct dispatch *d, unsigned first, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (d->ring->sh_job[first + i] != d->ring->job_number)
			vgpu_finding(CONTRACT_REGISTER_STALE,
				     "dispatch relies on %s[%u] (SH offset 0x%x), which this job did not set; %s",
				     name, i, first + i, d->where);
}

static bool has_rsrc3(const struct dispatch *d)
{
	return !(d->gen & P_ALL9) || vgpu_gfx_unified(d->chip->gfx);
}

/* Whether a register has the scratch base; otherwise a descriptor in the user data has it. */
static bool has_scratch_base(const struct dispatch *d)
{
	return d->chip->flat_scratch_given || d->gen & P_11UP;
}

static void rely_on_registers(const struct dispatch *d)
{
	static const struct {
		unsigned first, count;
		const char *name;
	} always[] = {
		{COMPUTE_NUM_THREAD_X, 3, "COMPUTE_NUM_THREAD"},
		{COMPUTE_PGM_LO, 2, "COMPUTE_PGM"},
		{COMPUTE_PGM_RSRC1, 2, "COMPUTE_PGM_RSRC1"},
		{COMPUTE_RESOURCE_LIMITS, 1, "COMPUTE_RESOURCE_LIMITS"},
		{COMPUTE_STATIC_THREAD_MGMT_SE0, 2, "COMPUTE_STATIC_THREAD_MGMT_SE0"},
		{COMPUTE_STATIC_THREAD_MGMT_SE2, 2, "COMPUTE_STATIC_THREAD_MGMT_SE2"},
	};

	for (unsigned i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		rely_on(d, always[i].first, always[i].count, always[i].name);
	if (d->chip->engines > 4)
		rely_on(d, d->layout->se4, d->chip->engines - 4u, "COMPUTE_STATIC_THREAD_MGMT_SE4");
	if (has_rsrc3(d))
		rely_on(d, d->layout->rsrc3, 1, "COMPUTE_PGM_RSRC3");
	if (d->gen == P_GFX940)
		rely_on(d, COMPUTE_TG_CHUNK_SIZE, 1, "COMPUTE_TG_CHUNK_SIZE");
	if (!(d->initiator & INITIATOR_FORCE_START_AT_000))
		rely_on(d, COMPUTE_START_X, 3, "COMPUTE_START");
	if (dispatch_reg(d, COMPUTE_PGM_RSRC2) & RSRC2_SCRATCH_EN)
		rely_on(d, COMPUTE_TMPRING_SIZE, 1, "COMPUTE_TMPRING_SIZE");
	if (dispatch_reg(d, COMPUTE_PGM_RSRC2) & RSRC2_SCRATCH_EN && has_scratch_base(d))
		rely_on(d, COMPUTE_DISPATCH_SCRATCH_BASE_LO, 2, "COMPUTE_DISPATCH_SCRATCH_BASE");
}

/* Reports, once for each change of hands, a cache that may hold another process's lines under the job's VMID. */
static void check_clean(const struct dispatch *d, _Atomic uint64_t *clean, const char *cache, const char *flag)
{
	const struct engine_job *job = d->run->job;

	if (!d->ring->cache || atomic_load_explicit(clean, memory_order_relaxed) >= job->vmid_foreign)
		return;
	atomic_store_explicit(clean, job->vmid_epoch, memory_order_relaxed);
	vgpu_finding(
		CONTRACT_VMID_CODE_STALE,
		"VMID %llu was another process's, and nothing has invalidated the %s cache since (%s): lines of "
		"that one may serve this one; %s",
		(unsigned long long)job->vmid, cache, flag, d->where);
}

static void check_vmid(const struct dispatch *d)
{
	check_clean(d, &d->ring->dev->code_clean[d->ring->xcc], "instruction", "SH_ICACHE");
	check_clean(d, &d->ring->dev->scalar_clean[d->ring->xcc], "scalar", "SH_KCACHE");
}

/* --- shape --- */

static void check_initiator(struct dispatch *d)
{
	uint32_t stray = d->initiator & ~d->layout->initiator;

	if (stray)
		vgpu_finding(CONTRACT_WAVE_SIZE,
			     "the initiator 0x%x sets bits 0x%x (%s), which %s does not have; %s", d->initiator,
			     stray,
			     stray & INITIATOR_CS_W32_EN    ? "CS_W32_EN"
			     : stray & INITIATOR_ORDER_MODE ? "ORDER_MODE"
							    : "reserved",
			     d->chip->name, d->where);
	if (d->initiator & (INITIATOR_RESTORE | INITIATOR_ORDERED_APPEND_ENBL))
		vgpu_finding(0, "the initiator 0x%x asks for a restore or ordered append; %s", d->initiator,
			     d->where);
	if (d->gen == P_GFX940 && dispatch_reg(d, COMPUTE_TG_CHUNK_SIZE))
		vgpu_finding(CONTRACT_GRID_SIZE,
			     "TG_CHUNK_SIZE %u leaves groups to other XCCs, which do not run this ring; %s",
			     dispatch_reg(d, COMPUTE_TG_CHUNK_SIZE), d->where);
	if (!(d->initiator & INITIATOR_COMPUTE_SHADER_EN)) {
		vgpu_finding(CONTRACT_GRID_SIZE,
			     "the initiator 0x%x lacks COMPUTE_SHADER_EN: nothing is launched; %s", d->initiator,
			     d->where);
		d->ok = false;
	}
}

static void read_sizes(struct dispatch *d, struct engine_grid *grid)
{
	uint64_t items = 1;

	for (unsigned i = 0; i < 3; i++) {
		uint32_t threads = dispatch_reg(d, COMPUTE_NUM_THREAD_X + i);

		grid->size[i] = bits(threads, d->gen == P_GFX12 ? 12 : 15, 0); /* above: INTERLEAVE_BITS */
		grid->last[i] = grid->size[i];
		items *= grid->size[i];
		if (!(d->initiator & INITIATOR_PARTIAL_TG_EN))
			continue;
		grid->last[i] = bits(threads, 31, 16);
		if (!grid->last[i] || grid->last[i] > grid->size[i]) {
			vgpu_finding(CONTRACT_GRID_SIZE,
				     "PARTIAL_TG_EN with a partial size of %u of %u in dimension %u; %s",
				     grid->last[i], grid->size[i], i, d->where);
			grid->last[i] = grid->size[i];
		}
	}
	if (!items || items > GROUP_ITEMS_MAX)
		dispatch_hang(d, CONTRACT_GRID_SIZE, "workgroup of none or over 1024 work-items");
}

/* Reads first and last workgroup of the grid. START has the unit of DIM; DIM is an end, not a length. */
static void read_grid(struct dispatch *d, struct engine_grid *grid)
{
	bool in_threads = d->initiator & INITIATOR_USE_THREAD_DIMENSIONS;
	unsigned __int128 total = 1;

	for (unsigned i = 0; i < 3; i++) {
		uint32_t start = dispatch_reg(d, COMPUTE_START_X + i), end = d->dim[i], size = grid->size[i];

		if (d->initiator & INITIATOR_FORCE_START_AT_000) {
			if (start && d->ring->sh_job[COMPUTE_START_X + i] == d->ring->job_number)
				vgpu_finding(CONTRACT_GRID_SIZE,
					     "COMPUTE_START is %u but FORCE_START_AT_000 voids it; %s", start,
					     d->where);
			start = 0;
		}
		if (in_threads) {
			if (end % size)
				grid->last[i] = end % size;
			end = end / size + (end % size != 0);
			start /= size;
		}
		grid->origin[i] = start;
		grid->count[i] = end > start ? end - start : 0;
		if (start && end <= start)
			vgpu_finding(CONTRACT_GRID_SIZE, "COMPUTE_START %u is not below the dimension's end %u; %s",
				     start, end, d->where);
		if (i && d->gen == P_GFX12 && end > UINT16_MAX)
			vgpu_finding(CONTRACT_GRID_SIZE,
				     "%u workgroups in dimension %u, but waves are told 16 bits; %s", end, i,
				     d->where);
		total *= grid->count[i];
	}
	if (!total)
		d->ok = false; /* nothing to launch, and nothing wrong */
	else if (total >> 62)
		dispatch_hang(d, CONTRACT_GRID_SIZE, "grid overflow");
	grid->total = (uint64_t)total;
}

/* --- resources --- */

/* Lanes of a wave of this dispatch. */
static unsigned wave_lanes(const struct dispatch *d)
{
	return !(d->gen & P_ALL9) && d->initiator & INITIATOR_CS_W32_EN ? 32 : 64;
}

/* VGPRs of a wave at most: the row of a GFX9 chip has it; later chips encode 256. */
static unsigned wave_vgprs(const struct dispatch *d)
{
	return d->gen & P_ALL9 ? d->chip->vgprs : 256;
}

/* A user SGPR that a dispatch declares and no packet sets is harmless as long as no instruction reads it: Mesa has
 * such dispatches. */
static void read_user_data(struct dispatch *d, struct engine_grid *grid)
{
	memcpy(grid->user_data, &d->ring->sh[COMPUTE_USER_DATA_0], 4 * grid->user_sgprs);
	for (unsigned i = 0; i < grid->user_sgprs; i++)
		if (d->ring->sh_job[COMPUTE_USER_DATA_0 + i] != d->ring->job_number)
			grid->unset |= 1u << i;
}

static void read_registers(struct dispatch *d, struct engine_grid *grid)
{
	uint32_t rsrc1 = dispatch_reg(d, COMPUTE_PGM_RSRC1), rsrc2 = dispatch_reg(d, COMPUTE_PGM_RSRC2);
	bool unified = vgpu_gfx_unified(d->chip->gfx);

	grid->rsrc1 = rsrc1;
	grid->rsrc2 = rsrc2;
	grid->entry =
		((uint64_t)bits(dispatch_reg(d, COMPUTE_PGM_HI), 7, 0) << 32 | dispatch_reg(d, COMPUTE_PGM_LO))
		<< 8;
	grid->user_sgprs = bits(rsrc2, 5, 1);
	if (rsrc1 & (RSRC1_PRIV | RSRC1_DEBUG_MODE))
		vgpu_finding(0, "RSRC1 0x%x sets PRIV or DEBUG_MODE; %s", rsrc1, d->where);
	if ((rsrc2 & RSRC2_TRAP_PRESENT && d->gen != P_GFX12) || /* GFX12: the bit is DYNAMIC_VGPR */
	    bits(rsrc2, 14, 13) || bits(rsrc2, 30, 24))
		vgpu_finding(0, "RSRC2 0x%x wants traps, but DRM's VMIDs have no handler; %s", rsrc2, d->where);
	if (grid->user_sgprs > COMPUTE_USER_DATA_COUNT)
		dispatch_hang(d, CONTRACT_REGISTER_COUNT, "RSRC2 declares over 16 user SGPRs");
	else
		read_user_data(d, grid);
	grid->machine.vgpr_count = (bits(rsrc1, 5, 0) + 1) * (unified || wave_lanes(d) == 32 ? 8 : 4);
	grid->machine.wave32 = wave_lanes(d) == 32;
	grid->ids_in_ttmp = d->gen == P_GFX12;
	/* SGPRs are allocated by 16, the field counts by 8: 0, 2, 4... From GFX10 on every wave has all. */
	grid->machine.sgpr_count = d->gen & P_ALL9 ? (bits(rsrc1, 9, 6) / 2 + 1) * 16 : 0;
	if (unified) {
		grid->machine.accum_offset = (bits(dispatch_reg(d, COMPUTE_PGM_RSRC3), 5, 0) + 1) * 4;
		if (bits(dispatch_reg(d, COMPUTE_PGM_RSRC3), 16, 16))
			vgpu_finding(0, "RSRC3 sets TG_SPLIT, which nothing here asks for; %s", d->where);
	}
	if (grid->machine.vgpr_count > wave_vgprs(d))
		dispatch_hang(d, CONTRACT_REGISTER_COUNT, "RSRC1 asks for more VGPRs than a wave can have");
	if (d->gen & P_ALL10 && wave_lanes(d) == 64) {
		grid->machine.shared_vgprs = bits(dispatch_reg(d, d->layout->rsrc3), 3, 0) * 8;
		grid->machine.vgpr_count += grid->machine.shared_vgprs;
	}
	grid->lds_B = bits(rsrc2, 23, 15) * LDS_GRANULE_B;
	if (grid->lds_B > d->chip->lds_B)
		dispatch_hang(d, CONTRACT_GRID_SIZE, "RSRC2 asks for more LDS than a compute unit has");
	grid->waves_per_group = (grid->size[0] * grid->size[1] * grid->size[2] + wave_lanes(d) - 1) / wave_lanes(d);
}

/* Compute units that STATIC_THREAD_MGMT leaves on. */
static unsigned enabled_cus(const struct dispatch *d, struct engine_grid *grid)
{
	unsigned cus = 0;

	for (unsigned se = 0; se < d->chip->engines; se++) {
		uint32_t mask = dispatch_reg(d, engine_cu_mask_reg(d->chip, se));
		unsigned before = cus;

		for (unsigned sh = 0; sh < d->chip->arrays_per_engine; sh++)
			cus += (unsigned)__builtin_popcount(bits(mask >> 16 * sh, d->chip->cus_per_array - 1u, 0));
		grid->engines |= (cus > before ? 1u : 0u) << se;
	}
	return cus < d->chip->cus_active ? cus : d->chip->cus_active;
}

static unsigned min_u(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Compute units that hold a workgroup together: both of a pair (WGP) from GFX10 on, if the kernel wants it. */
static unsigned unit_cus(const struct dispatch *d, const struct engine_grid *grid)
{
	return !(d->gen & P_ALL9) && grid->rsrc1 & RSRC1_WGP_MODE ? 2 : 1;
}

/* VGPRs of the register file, counted as the chip's row does, that a wave takes. The file of GFX10 and later holds
 * registers of 32 lanes; a wave of 64 takes two for each. */
static unsigned file_vgprs(const struct dispatch *d, const struct engine_grid *grid)
{
	unsigned granule = d->chip->vgpr_granule, vgprs = grid->machine.vgpr_count;

	if (!granule)
		return vgprs;
	vgprs *= grid->machine.wave32 ? 1 : 2;
	return (vgprs + granule - 1) / granule * granule;
}

/* Workgroups that one compute unit or pair holds at once; 0 if none fits. */
static unsigned groups_per_unit(const struct dispatch *d, const struct engine_grid *grid)
{
	unsigned simds = d->layout->simds;
	unsigned waves_per_simd = min_u(d->chip->max_waves_per_cu / simds, d->chip->vgprs / file_vgprs(d, grid));
	unsigned groups = unit_cus(d, grid) * simds * waves_per_simd / grid->waves_per_group;
	unsigned limit = bits(dispatch_reg(d, COMPUTE_RESOURCE_LIMITS), 15, 12); /* TG_PER_CU */

	if (grid->lds_B)
		groups = min_u(groups, unit_cus(d, grid) * d->chip->lds_B / grid->lds_B);
	return limit ? min_u(groups, limit * unit_cus(d, grid)) : groups;
}

static void read_occupancy(struct dispatch *d, struct engine_grid *grid)
{
	unsigned cus = enabled_cus(d, grid), groups = groups_per_unit(d, grid);
	uint32_t waves_per_sh = bits(dispatch_reg(d, COMPUTE_RESOURCE_LIMITS), 9, 0);

	if (!cus) {
		dispatch_hang(d, CONTRACT_REGISTER_STALE, "COMPUTE_STATIC_THREAD_MGMT leaves no compute unit");
		return;
	}
	if (!groups) {
		dispatch_hang(d, CONTRACT_GRID_SIZE, "the workgroup's registers or LDS exceed a compute unit");
		return;
	}
	if (cus < unit_cus(d, grid)) /* LLVM's AMDGPUUsage: a mask has both or none of a pair */
		cus = unit_cus(d, grid);
	grid->group_units = unit_cus(d, grid) * ENGINE_CU_UNITS / groups;
	grid->concurrency = (uint64_t)groups * (cus / unit_cus(d, grid));
	if (waves_per_sh) {
		uint64_t waves = (uint64_t)waves_per_sh * d->chip->engines * d->chip->arrays_per_engine;

		waves = waves / grid->waves_per_group ? waves / grid->waves_per_group : 1;
		if (waves < grid->concurrency)
			grid->concurrency = waves;
	}
}

/* --- scratch --- */

/* Scratch memory of all slots must be mapped. Its division into slots must not change while earlier waves still
 * use it. */
static void check_scratch_memory(struct dispatch *d, const struct engine_grid *grid, uint64_t base)
{
	uint64_t need_B = (uint64_t)grid->scratch_slots * grid->scratch_wave_B;
	struct engine_mem mem;

	engine_mem_init(&mem, d->run, GPUVM_CPC, GPUVM_CPC);
	if (!engine_mem_covers(&mem, base, need_B, GPUVM_R | GPUVM_W))
		vgpu_finding(CONTRACT_SCRATCH_SIZE,
			     "scratch at 0x%llx is not mapped for the %u waves of %u bytes that may run; %s",
			     (unsigned long long)base, grid->scratch_slots, grid->scratch_wave_B, d->where);
	if (engine_ring_busy(d->ring) && d->ring->scratch_tag == base && d->ring->scratch_wave_B &&
	    d->ring->scratch_wave_B != grid->scratch_wave_B)
		vgpu_finding(CONTRACT_SCRATCH_WAVESIZE,
			     "WAVESIZE changes from %u to %u bytes while waves may use the scratch at 0x%llx; %s",
			     d->ring->scratch_wave_B, grid->scratch_wave_B, (unsigned long long)base, d->where);
	d->ring->scratch_tag = base;
	d->ring->scratch_wave_B = grid->scratch_wave_B;
}

/* Swizzled, add_tid, a buffer: no other user data has these bits. GFX10 has RESOURCE_LEVEL, 24, and OOB_SELECT, 29:28,
 * above. */
static bool is_scratch_buffer(const struct dispatch *d, const uint32_t *v)
{
	if (d->gen & P_ALL10)
		return v[1] >> 31 && bits(v[3], 24, 23) == 3 && !bits(v[3], 31, 30);
	return v[1] >> 31 && bits(v[3], 31, 23) == 1;
}

/* Finds scratch by the private segment buffer that HSA kernels get in s0..s3. False: there is none. */
static bool check_scratch_buffer(struct dispatch *d, const struct engine_grid *grid)
{
	const uint32_t *v = grid->user_data;
	uint64_t need_B = (uint64_t)grid->scratch_slots * grid->scratch_wave_B;

	if (grid->user_sgprs < 4 || !is_scratch_buffer(d, v))
		return false;
	if (v[2] != 0xffffffffu && v[2] < need_B)
		vgpu_finding(CONTRACT_SCRATCH_SIZE,
			     "scratch descriptor of %u bytes, but %u waves of %u bytes may run; %s", v[2],
			     grid->scratch_slots, grid->scratch_wave_B, d->where);
	check_scratch_memory(d, grid, v[0] | (uint64_t)bits(v[1], 15, 0) << 32);
	return true;
}

/* gfx942 and, from GFX11 on, all have a register for it, and set FLAT_SCRATCH of each wave. */
static void read_scratch_base(struct dispatch *d, struct engine_grid *grid)
{
	grid->scratch_base = ((uint64_t)bits(dispatch_reg(d, COMPUTE_DISPATCH_SCRATCH_BASE_LO + 1), 7, 0) << 32 |
			      dispatch_reg(d, COMPUTE_DISPATCH_SCRATCH_BASE_LO))
			     << 8;
	check_scratch_memory(d, grid, grid->scratch_base);
}

/* WAVES is divided evenly among the shader engines, and a workgroup starts in one of them, when all its waves have
 * a slot there (ROCr's amd_aql_queue.cpp computes slots as groups of an engine by engines; Mesa's ac_gpu_info.c:
 * fewer than a group has "and the hw hangs"). False: none ever starts. */
static bool divide_slots(struct dispatch *d, struct engine_grid *grid)
{
	unsigned engines = d->gen & P_ALL9 ? (unsigned)__builtin_popcount(grid->engines) : d->chip->engines;
	uint64_t groups;
	char why[128];

	grid->engine_slots = grid->scratch_slots / d->chip->engines;
	groups = grid->engine_slots / grid->waves_per_group * engines;
	if (grid->concurrency > groups)
		grid->concurrency = groups;
	if (groups)
		return true;
	snprintf(why, sizeof(why),
		 "TMPRING_SIZE has scratch for %u waves in each shader engine, but a workgroup has %u: none starts",
		 grid->engine_slots, grid->waves_per_group);
	dispatch_hang(d, CONTRACT_SCRATCH_WAVES, why);
	return false;
}

static void read_scratch(struct dispatch *d, struct engine_grid *grid)
{
	uint32_t tmpring = dispatch_reg(d, COMPUTE_TMPRING_SIZE);

	if (!(grid->rsrc2 & RSRC2_SCRATCH_EN))
		return;
	grid->scratch_slots = bits(tmpring, 11, 0);
	grid->scratch_wave_B = bits(tmpring, d->layout->wavesize_hi, 12) * d->layout->wavesize_unit_B;
	if (d->layout->waves_per_engine)
		grid->scratch_slots *= d->chip->engines;
	else if (grid->scratch_slots % d->chip->engines)
		vgpu_finding(CONTRACT_SCRATCH_SIZE,
			     "TMPRING_SIZE has %u waves, no multiple of %u shader engines; %s", grid->scratch_slots,
			     d->chip->engines, d->where);
	if (!divide_slots(d, grid))
		return;
	if (!grid->scratch_wave_B)
		vgpu_finding(CONTRACT_SCRATCH_SIZE, "SCRATCH_EN, but TMPRING_SIZE has WAVESIZE 0; %s", d->where);
	d->scratch_known = has_scratch_base(d) || check_scratch_buffer(d, grid);
	if (has_scratch_base(d))
		read_scratch_base(d, grid);
}

/* --- the machine's callbacks --- */

static void on_fault(void *user, const struct gpuvm_fault *fault, uint64_t pc)
{
	struct engine_grid *grid = user;

	if (fault->access & GPUVM_X)
		atomic_store_explicit(&grid->fetch_fault, true, memory_order_relaxed);
	vgpu_log("refused access to 0x%llx by code at 0x%llx; %s", (unsigned long long)fault->va,
		 (unsigned long long)pc, grid->where);
	engine_run_fault(grid->run, fault);
}

static uint64_t on_clock(void *user)
{
	struct engine_grid *grid = user;

	return engine_clock(grid->machine.chip);
}

uint64_t engine_grid_items(const struct engine_grid *grid)
{
	uint64_t items = 1;

	for (unsigned i = 0; i < 3; i++)
		items *= ((uint64_t)grid->count[i] - 1) * grid->size[i] + grid->last[i];
	return items;
}

static void read_gws(const struct dispatch *d, struct engine_grid *grid)
{
	const struct engine_job *job = d->run->job;

	grid->machine.gws = (struct isa_gws_part){
		.gws = d->ring->dev->gws,
		.base = job->gws_base,
		.count = job->gws_count,
		.given = job->gws_given,
		.groups = grid->total,
		.resident = grid->concurrency,
	};
}

/* Scratch slots pass from wave to wave without an explicit order: accesses to them are not checked. RADV's shaders
 * get no descriptor from which the place of scratch can be read; their dispatches are not checked at all. */
static void launch_in_order(const struct dispatch *d, struct engine_grid *grid)
{
	if (d->run->order.slot < 0 || (grid->scratch_slots && !d->scratch_known))
		return;
	mem_order_launch(&grid->actor, &d->run->order, d->where);
	if (grid->scratch_slots) {
		grid->actor.scratch_lo = d->ring->scratch_tag;
		grid->actor.scratch_B = (uint64_t)grid->scratch_slots * grid->scratch_wave_B;
	}
	grid->machine.order = &grid->actor;
}

struct engine_grid *engine_grid_create(struct engine_run *run, const uint32_t dim[3], uint32_t initiator,
				       const char *where)
{
	struct engine_grid *grid = calloc(1, sizeof(*grid));
	struct dispatch d = {
		.run = run,
		.ring = run->ring,
		.chip = run->ring->dev->chip,
		.layout = layout_of(run->ring->dev->chip),
		.gen = packet_gfx_gen(run->ring->dev->chip),
		.dim = {dim[0], dim[1], dim[2]},
		.initiator = initiator,
		.where = where,
		.ok = true,
	};

	if (!grid) {
		engine_run_stop(run, ENGINE_HANG, "no host memory for a dispatch; %s", where);
		return NULL;
	}
	grid->run = run;
	grid->ring = run->ring;
	grid->machine = (struct isa_machine){
		.chip = d.chip,
		.view = run->job->view,
		.fault = on_fault,
		.clock = on_clock,
		.user = grid,
		.atomics_shared = true,
		.sramecc = run->ring->dev->sramecc,
		.cache = run->ring->cache,
		.vmid = run->job->vmid,
		.checked = run->ring->dev->checked,
		.xcc = run->ring->xcc,
		.several_l2 = run->ring->dev->partition_xccs > 1,
		.l1 = run->ring->dispatches++ % 2 ? MEM_L1_ODD : MEM_L1_EVEN,
	};
	grid->poison = vgpu_strict() != VGPU_STRICT_OFF;
	snprintf(grid->where, sizeof(grid->where), "%s", where);
	rely_on_registers(&d);
	check_vmid(&d);
	check_initiator(&d);
	if (d.ok)
		read_sizes(&d, grid);
	if (d.ok)
		read_grid(&d, grid);
	if (d.ok)
		read_registers(&d, grid);
	if (d.ok)
		read_occupancy(&d, grid);
	if (d.ok)
		read_scratch(&d, grid);
	if (d.ok) {
		read_gws(&d, grid);
		launch_in_order(&d, grid);
		return grid;
	}
	free(grid);
	return NULL;
}
