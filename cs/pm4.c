/* The PM4 emitter for compute rings, and its packets by generation: everything except dispatches. */
#include "cs/internal.h"
#include "cs/pm4.h"

/* The whole address space, in units of 256 bytes, and a poll interval. */
#define WHOLE_RANGE 0xffffffff, 0x00ffffff, 0, 0, 10
#define BARRIER_DW  2
#define BARRIER     PM4_HEADER(PM4_EVENT_WRITE, 1), EVENT_CS_PARTIAL_FLUSH

/* Three scopes, without and with a barrier. HSA's reserved fourth scope means the third. */
#define BARRIERS(name, launch, agent, system)                                                                      \
	{                                                                                                          \
		{{0}, 0},                                                                                          \
		{{BARRIER, name(launch)}, BARRIER_DW + name##_DW},                                                 \
		{{name(agent)}, name##_DW},                                                                        \
		{{BARRIER, name(agent)}, BARRIER_DW + name##_DW},                                                  \
		{{name(system)}, name##_DW},                                                                       \
		{{BARRIER, name(system)}, BARRIER_DW + name##_DW},                                                 \
		{{name(system)}, name##_DW},                                                                       \
		{{BARRIER, name(system)}, BARRIER_DW + name##_DW},                                                 \
	}

/* --- GFX9 --------------------------------------------------------------------------------------- */

#define COHER_DW    7
#define COHER(cntl) PM4_HEADER(PM4_ACQUIRE_MEM, COHER_DW - 1), cntl, WHOLE_RANGE

/* Caches that every dispatch after a barrier needs invalidated: AMD's packet processor invalidates both caches at
 * the start of a kernel, whatever the packet's acquire scope (LLVM AMDGPUUsage, memory model of GFX9: "the CP
 * invalidates the L1 cache at the start of each kernel dispatch"; its scalar caches hold data that no store of the
 * kernel changes). */
#define COHER_LAUNCH (COHER_SH_KCACHE | COHER_TCL1)
/* Instructions, too: AMD's agent acquire includes them, and programs that write code rely on it. */
#define COHER_AGENT (COHER_LAUNCH | COHER_SH_ICACHE)
/* L2 is never invalidated without a write-back: it holds other queues' dirty lines. */
#define COHER_SYSTEM (COHER_AGENT | COHER_TC | COHER_TC_WB)

/* TC_WB alone does nothing on GFX9; with TC_NC it writes back MTYPE NC and RW lines: all memory that we map cached.
 * Vector stores write through to L2, so data for the agent alone is already there, if it has one L2. */
#define RELEASE_SYSTEM_GFX9 (EVENT_CACHE_FLUSH_AND_INV_TS | RELEASE_TC_WB | RELEASE_TC_NC)

/* xyzw as they are, UINT of 32 bits, elements of 4 bytes, add the thread's id (ROCr FillBufRsrcWord3_*) */
#define SCRATCH_WORD3_GFX9 (4 | 5 << 3 | 6 << 6 | 7 << 9 | 4 << 12 | 4 << 15 | 1 << 19 | 1 << 23)
#define GFX9                                                                                                       \
	.scratch_word3 = SCRATCH_WORD3_GFX9, .clock = COPY_DATA_CLOCK_TO_MEMORY, .write = WRITE_DATA_L2,           \
	.limits_waves =                                                                                            \
		true /* no limit would let queues of high priority starve (Mesa                            \
			      * ac_get_compute_resource_limits()) */

/* --- GFX10 and later ------------------------------------------------------------------------------ */

/* Sources: Linux gfx_v10_0.c, gfx_v11_0.c and gfx_v12_0.c (emit_mem_sync, emit_fence); Mesa radv_cs.c; LLVM's memory
 * models. L0, GL1 (up to GFX11) and K$ are a launch's caches, as on GFX9. */
#define GCR_DW    8
#define GCR(cntl) PM4_HEADER(PM4_ACQUIRE_MEM, GCR_DW - 1), 0, WHOLE_RANGE, cntl

#define GCR_LAUNCH_GFX12 (GCR_GLK_INV | GCR_GLV_INV)
#define GCR_AGENT_GFX12  (GCR_LAUNCH_GFX12 | GCR_GLI_INV)
#define GCR_SYSTEM_GFX12 (GCR_AGENT_GFX12 | GCR_GL2_INV | GCR_GL2_WB)
#define GCR_LAUNCH_GFX10 (GCR_LAUNCH_GFX12 | GCR_GL1_INV)
#define GCR_AGENT_GFX10  (GCR_AGENT_GFX12 | GCR_GL1_INV)
#define GCR_SYSTEM_GFX10 (GCR_SYSTEM_GFX12 | GCR_GL1_INV | GCR_GLM_WB | GCR_GLM_INV)

#define RELEASE_SYSTEM_GFX12 (EVENT_CACHE_FLUSH_AND_INV_TS | RELEASE_GL2_WB | RELEASE_SEQ_FORWARD)
#define RELEASE_SYSTEM_GFX10 (RELEASE_SYSTEM_GFX12 | RELEASE_GLM_WB | RELEASE_GLM_INV)

/* As GFX9's, with 32_UINT as one format, resource level 1, and no check of bounds in the swizzled range */
#define SCRATCH_WORD3_GFX10 (4 | 5 << 3 | 6 << 6 | 7 << 9 | 0x14 << 12 | 1 << 23 | 1 << 24 | 2 << 28)

/* Constant registers and their values are those of Mesa's compute preamble (ac_init_compute_preamble_state(),
 * radv_emit_compute()). */
#define SET_SH(reg, count) PM4_HEADER(PM4_SET_SH_REG, 1 + (count)), reg
#define NO_ACCUM           SET_SH(COMPUTE_USER_ACCUM_0, 4), 0, 0, 0, 0
#define NO_TUNNEL          SET_SH(COMPUTE_DISPATCH_TUNNEL, 1), 0
/* Work-items that go to one engine before the next engine's turn */
#define INTERLEAVE SET_SH(COMPUTE_DISPATCH_INTERLEAVE, 1), 64

/* An agent with several XCCs has several L2s, and no hardware keeps them coherent: its scope is as wide as the
 * system's (LLVM AMDGPUUsage, memory model of gfx942: an agent's release writes L2 back, its acquire invalidates
 * the non-coherent lines). */
const struct cs_pm4 cs_pm4_rows[] = {
	[DRV_PM4_GFX9] = {BARRIERS(COHER, COHER_LAUNCH, COHER_AGENT, COHER_SYSTEM),
			  .release = {EVENT_BOTTOM_OF_PIPE_TS, EVENT_BOTTOM_OF_PIPE_TS, RELEASE_SYSTEM_GFX9}, GFX9},
	[CS_PM4_XCCS] = {BARRIERS(COHER, COHER_LAUNCH, COHER_SYSTEM, COHER_SYSTEM),
			 .release = {RELEASE_SYSTEM_GFX9, RELEASE_SYSTEM_GFX9, RELEASE_SYSTEM_GFX9}, GFX9},
	[DRV_PM4_GFX10] = {BARRIERS(GCR, GCR_LAUNCH_GFX10, GCR_AGENT_GFX10, GCR_SYSTEM_GFX10),
			   .constants = {NO_ACCUM, NO_TUNNEL, PM4_HEADER(PM4_SET_UCONFIG_REG, 2),
					 CP_COHER_START_DELAY, 0x20},
			   .constants_dw = 12,
			   .release = {EVENT_BOTTOM_OF_PIPE_TS, EVENT_BOTTOM_OF_PIPE_TS, RELEASE_SYSTEM_GFX10},
			   .clock = COPY_DATA_CLOCK_GFX10, .write = WRITE_DATA_L2,
			   .scratch_word3 = SCRATCH_WORD3_GFX10},
	[DRV_PM4_GFX11] = {BARRIERS(GCR, GCR_LAUNCH_GFX10, GCR_AGENT_GFX10, GCR_SYSTEM_GFX10),
			   .constants = {NO_ACCUM, NO_TUNNEL, INTERLEAVE}, .constants_dw = 12,
			   .release = {EVENT_BOTTOM_OF_PIPE_TS, EVENT_BOTTOM_OF_PIPE_TS, RELEASE_SYSTEM_GFX10},
			   .clock = COPY_DATA_CLOCK_GFX10, .write = WRITE_DATA_L2, .engine_waves = true},
	[DRV_PM4_GFX12] = {BARRIERS(GCR, GCR_LAUNCH_GFX12, GCR_AGENT_GFX12, GCR_SYSTEM_GFX12),
			   /* All units of the engine after SE7, and no ACCUM behind it */
			   .constants = {SET_SH(COMPUTE_STATIC_THREAD_MGMT_SE8_GFX12, 5), ~0u, 0, 0, 0, 0,
					 NO_TUNNEL, INTERLEAVE},
			   .constants_dw = 13,
			   .release = {EVENT_BOTTOM_OF_PIPE_TS, EVENT_BOTTOM_OF_PIPE_TS, RELEASE_SYSTEM_GFX12},
			   .clock = COPY_DATA_CLOCK_GFX10, .write = WRITE_DATA_MEMORY, .writes_past_l2 = true,
			   .engine_waves = true},
};

/* --- packets ------------------------------------------------------------------------------------ */

/* Invalidates the caches as a whole: another process may have used the job's VMID before, with instructions at the
 * same addresses, and the kernel's TLB flush does not invalidate these (Linux amdgpu_vm_flush(); Mesa and the
 * kernel's own emit_mem_sync include the instruction cache, too). Code that is loaded while the IB is written is
 * covered: the job begins later. */
void cs_ib_prologue(struct cs_ib *ib)
{
	const struct cs_ring *ring = ib->ring;

	cs_ib_barrier(ib, ib->flags & CS_ORDERED && ring->last > cs_completed_seq(ring), CS_SCOPE_SYSTEM);
	if (ib->pm4->constants_dw)
		cs_ib_wrote(ib, cs_put_constants(cs_ib_room(ib, CS_CONSTANTS_DW_MAX), ib->pm4));
}

static void release_emit(struct cs_ib *ib, uint32_t event, uint32_t select, uint64_t va, uint64_t value)
{
	uint32_t *p = cs_ib_room(ib, 8);

	*p++ = PM4_HEADER(PM4_RELEASE_MEM, 7);
	*p++ = event;
	*p++ = select;
	*p++ = cs_lo(va);
	*p++ = cs_hi(va);
	*p++ = cs_lo(value);
	*p++ = cs_hi(value);
	*p++ = 0;
	cs_ib_wrote(ib, p);
}

void cs_ib_release_value(struct cs_ib *ib, enum cs_scope scope, uint64_t va, uint64_t value)
{
	release_emit(ib, ib->pm4->release[scope], RELEASE_DATA_64 | RELEASE_INT_AFTER_WRITE_CONFIRM, va, value);
}

void cs_ib_release_clock(struct cs_ib *ib, uint64_t va)
{
	release_emit(ib, EVENT_BOTTOM_OF_PIPE_TS, RELEASE_DATA_CLOCK, va, 0);
}

void cs_ib_clock(struct cs_ib *ib, uint64_t va)
{
	uint32_t *p = cs_ib_room(ib, 6);

	*p++ = PM4_HEADER(PM4_COPY_DATA, 5);
	*p++ = ib->pm4->clock;
	*p++ = 0;
	*p++ = 0;
	*p++ = cs_lo(va);
	*p++ = cs_hi(va);
	cs_ib_wrote(ib, p);
}

void cs_ib_wait_word(struct cs_ib *ib, uint64_t va, uint32_t value)
{
	uint32_t *p = cs_ib_room(ib, 7);

	*p++ = PM4_HEADER(PM4_WAIT_REG_MEM, 6);
	*p++ = WAIT_MEMORY_GE;
	*p++ = cs_lo(va);
	*p++ = cs_hi(va);
	*p++ = value;
	*p++ = 0xffffffff;
	*p++ = WAIT_POLL_CLOCKS;
	cs_ib_wrote(ib, p);
}

void cs_ib_write(struct cs_ib *ib, uint64_t va, const uint32_t *data, unsigned count)
{
	const unsigned most = CS_ROOM_MAX - 4;

	/* Dirty lines in L2 would overwrite the data later, and lines that waves read meanwhile would hide it. */
	if (ib->pm4->writes_past_l2)
		cs_ib_barrier(ib, false, CS_SCOPE_SYSTEM);
	while (count) {
		unsigned now = count < most ? count : most;
		uint32_t *p = cs_ib_room(ib, 4 + now);

		*p++ = PM4_HEADER(PM4_WRITE_DATA, 3 + now);
		*p++ = ib->pm4->write;
		*p++ = cs_lo(va);
		*p++ = cs_hi(va);
		for (unsigned i = 0; i < now; i++)
			*p++ = data[i];
		cs_ib_wrote(ib, p);
		data += now;
		va += now * 4;
		count -= now;
	}
	if (ib->pm4->writes_past_l2)
		cs_ib_barrier(ib, false, CS_SCOPE_SYSTEM);
}
