/* Machine code of GFX9 to GFX12: decoding and execution of one wave. Interface of isa/ for engine/.
 *
 *   isa_program  decoded code of one kernel (cached by address, checked against memory)
 *   isa_wave     the architectural state of one wave of 64 lanes, or of 32 from GFX10 on
 *   isa_group    state that the waves of a workgroup share: LDS, barrier
 *
 * Thread rule: all waves of a group run on one thread; groups are independent. */
#ifndef VGPU_ISA_ISA_H
#define VGPU_ISA_ISA_H

#include "vgpu/chip.h"
#include "vgpu/gpuvm.h"
#include "vgpu/isa/gws.h"
#include "vgpu/memory/order.h"

#define ISA_LANES 64

/* Flat apertures of DRM VMIDs (SH_MEM_BASES 0x2000_1000), 4 GiB each. */
#define ISA_PRIVATE_BASE 0x1000000000000000ull
#define ISA_SHARED_BASE  0x2000000000000000ull

enum isa_sgpr {                         /* scalar operand codes: GFX10's, to which decoding brings all others */
		ISA_FLAT_SCRATCH = 102, /* before GFX10 */
		ISA_XNACK_MASK = 104,
		ISA_VCC = 106,
		ISA_TTMP0 = 108,
		ISA_M0 = 124,
		ISA_NULL = 125, /* in disassembly alone */
		ISA_EXEC = 126,
		ISA_ZERO = 128,  /* as a source: the constant 0 */
		ISA_TRASH = 128, /* as a result: isa_wave::s has room for 16 that are lost */
};

/* Why isa_run returned. */
enum isa_stop {
	ISA_BUDGET,  /* the budget is spent; call again */
	ISA_BARRIER, /* waits at s_barrier; call again when the group has arrived */
	ISA_SIGNALS, /* waits at s_barrier_wait; call again when isa_barrier_passed() */
	ISA_SYNC,    /* waits for waves of other groups; call again when isa_gws_passed() */
	ISA_ENDED,   /* s_endpgm */
	ISA_STOPPED, /* illegal or unimplemented instruction, fetch fault: isa_wave::why has the reason */
};

/* State that the waves of a workgroup share. Owned by engine/. */
struct isa_races;
struct isa_group {
	uint8_t *lds; /* lds_B bytes, 64-byte aligned */
	uint32_t lds_B;
	uint32_t waves, at_barrier, ended; /* counts; engine/ steps the barrier */
	/* GFX12: waves that have signalled, and how often all had. isa_barrier_step() after a wave has ended. */
	uint32_t signals, phase;
	/* isa/'s own; false at first: one of the waves invalidated its compute unit's caches. */
	bool past_l1, past_scalar;
	bool past_gl1; /* GFX10 and 11: of the shader array's cache, which L1 includes here */
	/* Accesses of LDS since the last barrier; NULL: LDS is not checked. */
	struct isa_races *races;
};

/* State that the waves of a dispatch share. Owned by engine/; immutable while waves run, but for the callback's
 * own state. */
struct isa_machine {
	const struct vgpu_chip *chip;
	const struct gpuvm_view *view;
	void (*fault)(void *user, const struct gpuvm_fault *fault,
		      uint64_t pc);    /* reports a refused access; the wave continues (noretry) */
	uint64_t (*clock)(void *user); /* s_memrealtime, s_memtime */
	void *user;
	/* Rows of isa_wave::v that hold VGPRs, and SGPRs, as RSRC1 grants; on gfx90a vgpr_count is of the unified
	 * file. A register above them is a finding, reads register 0 and is not written. sgpr_count 0: all 102. */
	uint32_t vgpr_count, sgpr_count;
	/* The last of the VGPRs that both halves of a wave of 64 have in common, as RSRC3 of GFX10 grants. */
	uint32_t shared_vgprs;
	/* Row of the first AGPR. gfx90a: from RSRC3. gfx908: vgpr_count, and v has 2 * vgpr_count rows. Else
	 * ignored. */
	uint32_t accum_offset;
	bool wave32;         /* waves have 32 lanes; GFX10 and later */
	bool sramecc;        /* loads of 16 bits clear the other half of their register */
	bool atomics_shared; /* other threads may touch memory: always true but in tests */
	/* The device's caches (vgpu/memory/cache.h), and the L1 of the dispatch, enum mem_layer. NULL: memory is
	 * always current. A caller of isa_run or isa_program_get has entered the caches. */
	struct mem_cache *cache;
	uint64_t vmid; /* names lines of the scalar and the instruction cache, with their address */
	unsigned l1;
	/* XCC that the dispatch runs on, and whether its partition has others, with an L2 each. */
	unsigned xcc;
	bool several_l2;
	/* Code is checked for waits that are missing; all waves have isa_wave::waitcnt then. */
	bool checked;
	/* Actor of the dispatch in the order checker; NULL: accesses are not checked. Borrowed. */
	struct mem_actor *order;
	struct isa_gws_part gws;
};

struct mem_page;
/* A page of a cache that a wave used last. Valid as long as the caches' generation is the same. */
struct isa_page_memo {
	struct mem_page *page;
	uint64_t generation;
};

struct isa_program;

/* In isa_wave::mode, of no instruction's: SH_MEM_CONFIG.F8_MODE of the VMID is set, and 8-bit floats are FNUZ. */
#define ISA_MODE_F8_FNUZ (1u << 31)

/* Wave state. engine/ fills s, v and the rest before the first isa_run. Reading v[reg][lane] and s[] between runs
 * is allowed. One thread at a time. */
struct isa_wave {
	uint32_t s[144]; /* SGPRs by operand code: ordinary ones, FLAT_SCRATCH, VCC, TTMP, M0, EXEC, trash */
	bool scc;
	uint64_t pc;              /* address of the next instruction */
	uint32_t mode;            /* FLOAT_MODE in 7:0, DX10_CLAMP 8, IEEE 9, as HW_REG_MODE */
	uint32_t (*v)[ISA_LANES]; /* VGPRs, then AGPRs; 64-byte aligned; owned by engine/ */
	struct isa_group *group;
	const struct isa_machine *machine;
	struct isa_program *program;
	uint64_t executed;                      /* instructions, for modelled time */
	uint64_t accesses;                      /* memory instructions among them, which take longer */
	uint64_t refused_pc, refused_page;      /* place of the last refused access: a page is reported once */
	const struct gpuvm_region *last_region; /* region of the last memory access */
	uint32_t wave_in_group, hw_id;
	uint32_t signal_phase;       /* isa_group::phase at the wave's last s_barrier_signal; 0 at first */
	uint64_t flat_scratch;       /* from GFX10 on: base of the wave's scratch; before, an SGPR pair */
	struct isa_gws_wait sync;    /* after ISA_SYNC */
	struct isa_waitcnt *waitcnt; /* loads under way; set when isa_machine::checked is. Owned by engine/ */
	char why[512];               /* after ISA_STOPPED */

	/* isa/'s own; zero before the first run. */
	enum isa_stop stop; /* why the run in progress ends */
	uint64_t full;      /* a bit for each lane */
	uint64_t
		lanes_exec; /* EXEC that lanes_mask was made from, complemented so that zero means "not made yet" */
	uint32_t lanes_mask[ISA_LANES] __attribute__((aligned(64))); /* ~0 for active lanes */
	struct isa_page_memo
		memo[4]; /* pages used last, by enum mem_layer: layers that waves read and write data in */
	struct mem_order_memo order;
};

/* The decoded program at entry, made or re-validated against memory now. NULL with why filled when the entry cannot
 * be fetched. A machine code cache belongs to one thread. */
struct isa_cache;
struct isa_cache *isa_cache_create(void);
void isa_cache_destroy(struct isa_cache *cache);
struct isa_program *isa_program_get(struct isa_cache *cache, const struct isa_machine *machine, uint64_t entry,
				    char *why, size_t why_B);

/* Makes the record of a wave's loads under way. Reset it before the wave's first run. NULL without memory. */
struct isa_waitcnt *isa_waitcnt_create(void);
void isa_waitcnt_reset(struct isa_waitcnt *waitcnt);
/* Marks user SGPRs that no packet of the job has set, a bit each: the first read is reported (row 67). After a
 * reset. */
void isa_waitcnt_unset(struct isa_waitcnt *waitcnt, uint32_t sgprs);
void isa_waitcnt_destroy(struct isa_waitcnt *waitcnt);

/* Makes the record of LDS accesses, for workgroups of up to lds_B bytes and waves waves, one workgroup after the
 * other. NULL without memory. */
struct isa_races *isa_races_create(uint32_t lds_B, uint32_t waves);
/* Whether the storage is large enough for a group; false for NULL. */
bool isa_races_fit(const struct isa_races *races, uint32_t lds_B, uint32_t waves);
void isa_races_destroy(struct isa_races *races);
/* Before a group's first run. */
void isa_races_reset(struct isa_races *races, uint32_t waves);
/* Forgets the accesses before a barrier at which all waves of the group have arrived. */
void isa_races_barrier(struct isa_races *races);

/* Completes the barrier of a group whose waves have all signalled or ended. */
void isa_barrier_step(struct isa_group *group);
/* After ISA_SIGNALS. */
bool isa_barrier_passed(const struct isa_wave *wave);

/* Runs a wave for at most about `budget` instructions. */
enum isa_stop isa_run(struct isa_wave *wave, uint64_t budget);

/* Writes the disassembly of the instruction at code (words available) into text; returns its length in dwords, 0 if
 * it is no instruction of this chip. */
unsigned isa_disassemble(enum vgpu_gfx gfx, const uint32_t *code, unsigned words, uint64_t pc, char *text,
			 size_t text_B);

#endif
