/* The PM4 emitter for GFX9 compute rings: everything except dispatches. */
#include "cs/internal.h"
#include "cs/pm4.h"

/* The whole address space, in units of 256 bytes. */
#define WHOLE_RANGE 0xffffffff, 0x00ffffff, 0, 0
#define ACQUIRE_DW  7
#define ACQUIRE(coher_cntl)                                                                                        \
	PM4_HEADER(PM4_ACQUIRE_MEM, ACQUIRE_DW - 1), coher_cntl, WHOLE_RANGE, 10 /* poll interval */
#define BARRIER_DW 2
#define BARRIER    PM4_HEADER(PM4_EVENT_WRITE, 1), EVENT_CS_PARTIAL_FLUSH

/* Caches that every dispatch after a barrier needs invalidated: AMD's packet processor invalidates both caches at
 * the start of a kernel, whatever the packet's acquire scope (LLVM AMDGPUUsage, memory model of GFX9: "the CP
 * invalidates the L1 cache at the start of each kernel dispatch"; its scalar caches hold data that no store of the
 * kernel changes). */
#define COHER_LAUNCH (COHER_SH_KCACHE | COHER_TCL1)
/* Instructions, too: AMD's agent acquire includes them, and programs that write code rely on it. */
#define COHER_AGENT (COHER_LAUNCH | COHER_SH_ICACHE)
/* L2 is never invalidated without a write-back: it holds other queues' dirty lines. */
#define COHER_SYSTEM (COHER_AGENT | COHER_TC | COHER_TC_WB)

#define FENCE(coher_cntl)         {{ACQUIRE(coher_cntl)}, ACQUIRE_DW}
#define FENCE_BARRIER(coher_cntl) {{BARRIER, ACQUIRE(coher_cntl)}, BARRIER_DW + ACQUIRE_DW}
#define FENCES(agent)                                                                                              \
	{                                                                                                          \
		{{0}, 0},                                                                                          \
		FENCE_BARRIER(COHER_LAUNCH),                                                                       \
		FENCE(agent),                                                                                      \
		FENCE_BARRIER(agent),                                                                              \
		FENCE(COHER_SYSTEM),                                                                               \
		FENCE_BARRIER(COHER_SYSTEM),                                                                       \
		FENCE(COHER_SYSTEM),                                                                               \
		FENCE_BARRIER(COHER_SYSTEM),                                                                       \
	}

/* An agent with several XCCs has several L2s, and no hardware keeps them coherent: its scope is as wide as the
 * system's (LLVM AMDGPUUsage, memory model of gfx942: an agent's release writes L2 back, its acquire invalidates
 * the non-coherent lines). */
const struct cs_barrier_packet cs_barrier_packets[2][8] = {FENCES(COHER_AGENT), FENCES(COHER_SYSTEM)};

/* Invalidates the caches as a whole: another process may have used the job's VMID before, with instructions at the
 * same addresses, and the kernel's TLB flush does not invalidate these (Linux amdgpu_vm_flush(); Mesa and the
 * kernel's own emit_mem_sync include the instruction cache, too). Code that is loaded while the IB is written is
 * covered: the job begins later. */
void cs_ib_prologue(struct cs_ib *ib)
{
	const struct cs_ring *ring = ib->ring;

	cs_ib_barrier(ib, ib->flags & CS_ORDERED && ring->last > cs_completed_seq(ring), CS_SCOPE_SYSTEM);
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
	/* TC_WB alone does nothing on GFX9; with TC_NC it writes back MTYPE NC and RW lines: all memory that we map
	 * cached. Vector stores write through to L2, so data for the agent alone is already there, if it has one
	 * L2. */
	bool write_back = scope == CS_SCOPE_SYSTEM || ib->barrier_packets == cs_barrier_packets[1];

	release_emit(ib,
		     write_back ? EVENT_CACHE_FLUSH_AND_INV_TS | RELEASE_TC_WB | RELEASE_TC_NC
				: EVENT_BOTTOM_OF_PIPE_TS,
		     RELEASE_DATA_64 | RELEASE_INT_AFTER_WRITE_CONFIRM, va, value);
}

void cs_ib_release_clock(struct cs_ib *ib, uint64_t va)
{
	release_emit(ib, EVENT_BOTTOM_OF_PIPE_TS, RELEASE_DATA_CLOCK, va, 0);
}

void cs_ib_clock(struct cs_ib *ib, uint64_t va)
{
	uint32_t *p = cs_ib_room(ib, 6);

	*p++ = PM4_HEADER(PM4_COPY_DATA, 5);
	*p++ = COPY_DATA_CLOCK_TO_MEMORY;
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

	while (count) {
		unsigned now = count < most ? count : most;
		uint32_t *p = cs_ib_room(ib, 4 + now);

		*p++ = PM4_HEADER(PM4_WRITE_DATA, 3 + now);
		*p++ = WRITE_DATA_L2;
		*p++ = cs_lo(va);
		*p++ = cs_hi(va);
		for (unsigned i = 0; i < now; i++)
			*p++ = data[i];
		cs_ib_wrote(ib, p);
		data += now;
		va += now * 4;
		count -= now;
	}
}
