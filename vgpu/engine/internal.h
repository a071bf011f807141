/* Nouns of the engine. Private to vgpu/engine/.
 *
 *   engine_device  a pool of workers (compute units) that take workgroups from the grids of all rings
 *   engine_ring    a hardware queue: registers, scratch slots, jobs
 *   engine_run     a job on its ring: status, reason of its end, modelled time; used by its engine_execute()'s
 * thread engine_grid    a dispatch: decoded registers, workgroups handed out, workgroups ended engine_group   a
 * resident workgroup with the storage of its waves; belongs to one worker engine_worker  runs workgroups: a pool
 * thread, or a job's thread while it waits for waves
 *
 * Lock order: engine_device::lock, then engine_ring::lock. engine_run::why_lock is innermost. */
#ifndef VGPU_ENGINE_INTERNAL_H
#define VGPU_ENGINE_INTERNAL_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vgpu/engine/engine.h"
#include "vgpu/engine/regs.h"
#include "vgpu/isa/isa.h"
#include "vgpu/memory/cache.h"
#include "vgpu/report.h"
#include "vgpu/trace.h"

#define ENGINE_WAVES_PER_GROUP 32 /* 1,024 work-items in waves of 32 */
/* COMPUTE_TMPRING_SIZE.WAVES has 12 bits, from GFX11 on for each of at most eight shader engines. */
#define ENGINE_SCRATCH_SLOTS (8 * 4096)

/* --- one job (run.c; job.c executes it) --- */

struct engine_run {
	struct engine_ring *ring;     /* immutable */
	struct engine_worker *helper; /* owned, its thread's: runs workgroups while it waits for waves */
	const struct engine_job *job; /* borrowed until it leaves; NULL: the place is free. Guarded by ring->lock */
	uint64_t place;               /* from 1, in order of lining up; immutable until it leaves */
	bool finished;                /* written by its thread alone: its last execution is over */
	_Atomic bool oldest;          /* on its ring: the watchdog's clock runs. Release: progress_ns is set */
	_Atomic int status;           /* enum engine_status; ENGINE_DONE while it runs. Release: why is written */
	_Atomic bool waves_killed;    /* ENGINE_WAVES ended its waves; the CP continues after them. Release: why is
					 written */
	_Atomic uint64_t recovery_ns; /* modelled GPU time since then */
	_Atomic uint64_t model_ns;    /* modelled GPU time of what has ended since it is the oldest */
	_Atomic uint64_t progress_ns; /* vgpu_host_time_ns() when a grid was last published or a workgroup ended */
	_Atomic uint32_t timer;       /* the job's timer when its clock was started */
	_Atomic uint32_t faults;      /* faults that were handed to the kernel */
	struct mem_order_job order;   /* slot -1: not checked */
	pthread_mutex_t why_lock;     /* guards why */
	char why[1024];
};

static inline bool engine_run_stopped(const struct engine_run *run)
{
	return atomic_load_explicit(&run->status, memory_order_acquire) != ENGINE_DONE;
}

/* Whether the job's waves, living and future ones, must end. */
static inline bool engine_run_waves_end(const struct engine_run *run)
{
	return atomic_load_explicit(&run->waves_killed, memory_order_acquire) || engine_run_stopped(run);
}

/* Ends the job with status and reason. The first call wins, except that ENGINE_KILLED replaces ENGINE_RESET.
 * ENGINE_WAVES ends the job's waves only, and those of other jobs of its VM: the packet processor continues,
 * within RECOVERY_NS. Any thread. */
void engine_run_stop(struct engine_run *run, enum engine_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A finding about the packet that `where` names; any status but ENGINE_DONE ends the job with it. */
void engine_run_blame(struct engine_run *run, enum engine_status status, enum contract_row row, const char *where,
		      const char *fmt, va_list args) __attribute__((format(printf, 5, 0)));
/* Adds modelled time that passed for the job, and stops it when the watchdog's limit is over: as ENGINE_HANG, or as
 * ENGINE_WAVES when waves are what takes so long. Any thread. */
void engine_run_elapse(struct engine_run *run, uint64_t ns, enum engine_status over, const char *what);
/* Limit of the job's modelled time that is in force; 0: none. Ends a job whose timer says so. Any thread. */
uint64_t engine_run_limit(struct engine_run *run);
/* Stops the job if what has ended plus `live_ns` of something that still runs is over the limit. Any thread. */
void engine_run_check(struct engine_run *run, uint64_t live_ns, enum engine_status over, const char *what);
/* A packet under execution, for the log and the record of the run. */
struct engine_record {
	uint64_t begin_ns; /* 0: none */
	char text[256];
};
/* Logs the packet of `dw` dwords in ring->packet, which begins at offset_B of its buffer, before its execution. */
void engine_packet_begins(struct engine_record *record, const struct engine_run *run, unsigned dw, unsigned ib,
			  uint64_t offset_B);
void engine_packet_ends(const struct engine_record *record, const struct engine_run *run, const char *name);
/* The job invalidated caches of its XCC, MEM_DROP_* of vgpu/memory/cache.h. */
void engine_run_cleaned(const struct engine_run *run, unsigned what);
/* The ring's row in the record. */
uint32_t engine_run_row(const struct engine_run *run);
/* Reports a refused access to the kernel. Any thread. */
void engine_run_fault(struct engine_run *run, const struct gpuvm_fault *fault);

/* CLOCK_MONOTONIC. */
uint64_t engine_now_ns(void);

/* --- a ring --- */

struct engine_ring {
	struct engine_device *dev; /* borrowed; outlives the ring */
	enum engine_ip ip;
	unsigned xcc, index;
	struct mem_cache *cache; /* borrowed: of its XCC; immutable; NULL: memory is always current */

	/* Used only by the thread whose job has its turn. */
	uint32_t sh[SH_COUNT];
	uint32_t sh_job[SH_COUNT]; /* number of the job that wrote the register last */
	uint32_t uconfig[UCONFIG_COUNT];
	uint32_t job_number;      /* from 1 */
	uint32_t dispatches;      /* number of dispatches; they alternate between the two vector L1 */
	uint64_t indirect_base;   /* SET_BASE index 1 */
	uint64_t cs_invocations;  /* launched while counts_invocations: what SAMPLE_PIPELINESTAT writes */
	bool counts_invocations;  /* between PIPELINESTAT_START and STOP */
	uint64_t atomic_return;   /* result of the last ATOMIC_MEM with return */
	uint32_t *packet;         /* owned: a packet, header and PM4_MAX_BODY_dw; of SDMA up to a whole IB */
	uint64_t sdma_clock_base; /* SDMA TIMESTAMP SET: added to the clock */
	uint64_t scratch_tag;     /* scratch base of the youngest dispatch that used scratch */
	uint32_t scratch_wave_B;  /* WAVESIZE of that dispatch in bytes */

	pthread_mutex_t lock;
	pthread_cond_t turn;                     /* `read` or `left` has grown */
	uint64_t lined_up, read, left;           /* guarded by lock: places given, read to their end, left */
	struct engine_run run[ENGINE_RING_JOBS]; /* job guarded by lock; by place */
	uint64_t scratch_busy[ENGINE_SCRATCH_SLOTS / 64]; /* guarded by lock */

	struct engine_grid *grids; /* guarded by dev->lock: live grids, oldest first */
	unsigned live_grids;       /* guarded by dev->lock */
	struct engine_ring *next;  /* guarded by dev->lock: ring of dev->rings */
};

/* Executes one IB after another (cp.c, sdma.c). */
void engine_cp_execute(struct engine_run *run);
void engine_sdma_execute(struct engine_run *run);

/* --- compute units --- */

struct engine_device {
	const struct vgpu_chip *chip; /* immutable after creation, as are the next seven */
	bool null_device, f8_fnuz, sramecc;
	uint64_t service_ns;
	unsigned worker_max;
	unsigned xccs, partition_xccs;
	struct mem_cache *cache[ENGINE_XCCS]; /* owned; immutable after creation; NULL: memory is always current */
	/* engine_job::vmid_epoch of the last job that invalidated these caches of an XCC. */
	_Atomic uint64_t code_clean[ENGINE_XCCS], scalar_clean[ENGINE_XCCS];
	struct isa_gws *gws; /* owned; immutable after creation */
	bool order;          /* immutable after creation: accesses are checked (vgpu/memory/order.h) */
	_Atomic uint64_t
		hdp_flushes; /* flushes of the host data path: each job begins with one (Linux amdgpu_ib.c) */
	bool checked;        /* immutable after creation: vgpu_has(VGPU_WAITS) */

	pthread_mutex_t lock;
	pthread_cond_t work;    /* a grid was added, a scratch slot is free, or the device is being destroyed */
	pthread_cond_t retired; /* a grid has ended */
	struct engine_ring *rings, *turn; /* guarded by lock: all rings; the first ring to take a workgroup from */
	struct engine_worker **workers;   /* guarded by lock; owned */
	unsigned worker_count;            /* guarded by lock */
	unsigned sleepers;                /* guarded by lock: workers that wait for `work` */
	uint64_t grid_serial;             /* guarded by lock */
	bool going;                       /* guarded by lock: workers shall end */
	_Atomic unsigned busy;            /* rings that execute something else than a wait, plus live grids */
};

/* A dispatch. Lives from publication until its last workgroup has ended; a worker that has claimed a workgroup
 * keeps it alive. */
struct engine_grid {
	struct engine_run *run; /* borrowed: engine_execute() waits for all grids of its job */
	_Atomic bool killed;    /* waves end where they are, although the job continues */
	struct engine_ring *ring;
	struct engine_grid *next; /* guarded by dev->lock */
	uint64_t handed,
		unfinished;       /* guarded by dev->lock: workgroups handed out; workgroups that have not ended */
	_Atomic bool fetch_fault; /* an instruction fetch was refused */

	/* Immutable once the grid is published. */
	struct isa_machine machine;
	struct mem_actor actor; /* the order checker's own */
	uint64_t serial;        /* unique in the device */
	uint64_t entry;
	char where[96];     /* packet and IB offset, for reports */
	uint32_t origin[3]; /* first workgroup id */
	uint32_t count[3];  /* workgroups */
	uint32_t size[3];   /* work-items of a full group */
	uint32_t last[3];   /* work-items of the last group in each dimension */
	uint64_t total;     /* workgroups in all */
	uint32_t rsrc1, rsrc2;
	uint32_t user_sgprs;
	uint32_t user_data[COMPUTE_USER_DATA_COUNT];
	uint32_t unset; /* user SGPRs that the job did not set, a bit each */
	uint32_t lds_B;
	uint32_t waves_per_group; /* waves of a full group */
	bool ids_in_ttmp;         /* GFX12: waves find the workgroup's id in trap temporaries */
	uint32_t group_units;     /* share of a compute unit that a group takes, in 1/ENGINE_CU_UNITS */
	uint64_t concurrency;     /* workgroups that the chip holds at once */
	uint32_t scratch_wave_B, scratch_slots; /* 0: no scratch */
	uint32_t engine_slots;                  /* scratch slots of one shader engine */
	uint32_t engines;                       /* shader engines with compute units that are on: a bit each */
	uint64_t scratch_base;                  /* scratch base that hardware passes to waves (gfx942) */
	bool poison;                            /* fill registers and LDS that hardware leaves undefined */
	uint64_t traced_ns;                     /* time of publication, for the record; 0: not recorded */
};

#define ENGINE_CU_UNITS        65536u
#define ENGINE_GROUP_UNITS_MAX (2 * ENGINE_CU_UNITS) /* of a group: both compute units of a pair */

/* Whether its waves end where they are. */
static inline bool engine_grid_ends(const struct engine_grid *grid)
{
	return atomic_load_explicit(&grid->killed, memory_order_relaxed) || engine_run_waves_end(grid->run);
}

/* Decodes the ring's registers into a new grid. Returns NULL when there is nothing to run: no workgroups (the job
 * continues), or an invalid dispatch (the job was stopped). */
struct engine_grid *engine_grid_create(struct engine_run *run, const uint32_t dim[3], uint32_t initiator,
				       const char *where);
/* Work-items of all its groups. */
uint64_t engine_grid_items(const struct engine_grid *grid);
/* SH register with the compute units that a shader engine may use. */
unsigned engine_cu_mask_reg(const struct vgpu_chip *chip, unsigned engine);
/* Hands the grid to the compute units; takes it over. */
void engine_grid_publish(struct engine_grid *grid);

/* Makes pool threads work on what was published. */
void engine_device_wake(struct engine_device *dev);
/* Waits until all grids of the run's ring have ended, or only the job's grids, and runs workgroups meanwhile. The
 * run's thread only. */
void engine_ring_drain(struct engine_run *run);
void engine_run_drain(struct engine_run *run);
/* Whether waves of the ring live. */
bool engine_ring_busy(struct engine_ring *ring);

/* A workgroup to run, with the scratch slots of its waves. */
struct engine_claim {
	struct engine_grid *grid;
	uint64_t index;
	unsigned engine; /* shader engine that it runs in */
	uint16_t slot[ENGINE_WAVES_PER_GROUP];
};

/* Claims a workgroup that takes at most `units`, in dispatch order: of ring `only`, or (NULL) of all rings in turn;
 * of run `of` only, unless that is NULL. False if there is none, or its scratch slots are busy. */
bool engine_device_claim(struct engine_device *dev, struct engine_ring *only, const struct engine_run *of,
			 uint64_t units, struct engine_claim *claim);
/* Waits for a workgroup of any ring. False when the device is being destroyed. */
bool engine_device_await(struct engine_device *dev, uint64_t units, struct engine_claim *claim);
/* Ends a claimed workgroup, executed or not. The grid may be freed. */
void engine_grid_group_ended(struct engine_grid *grid);

/* --- workers (worker.c) --- */

struct engine_worker *engine_worker_create(struct engine_device *dev, struct engine_ring *only);
void engine_worker_destroy(struct engine_worker *worker);
/* Starts the thread of a pool worker; false if it cannot be. */
bool engine_worker_start(struct engine_worker *worker);
void engine_worker_join(struct engine_worker *worker);
/* Takes workgroups, of run `of` only unless that is NULL, and runs each resident one for a turn. False when there
 * was nothing to do. */
bool engine_worker_step(struct engine_worker *worker, const struct engine_run *of);

/* --- one resident workgroup (group.c) --- */

struct engine_group {
	struct engine_group *next; /* in the worker's list of resident or of free ones */
	struct engine_grid *grid;  /* claimed while resident */
	uint64_t index;            /* number of the workgroup in its grid */
	struct isa_group shared;
	struct isa_wave *waves;               /* owned: ENGINE_WAVES_PER_GROUP */
	uint8_t done[ENGINE_WAVES_PER_GROUP]; /* enum isa_stop of the last run, ISA_BUDGET if it can go on */
	uint32_t (*v)[ISA_LANES];             /* owned */
	size_t v_rows;
	uint8_t *lds; /* owned */
	size_t lds_room_B;
	struct isa_races *races;               /* owned; NULL until a group of several waves is checked */
	uint16_t slot[ENGINE_WAVES_PER_GROUP]; /* scratch slots, one a wave */
	uint64_t excused_ns;                   /* modelled time that the watchdog does not count */
	bool parked;                           /* at its last turn all waves waited for other groups */
};

struct engine_group *engine_group_create(void);
void engine_group_destroy(struct engine_group *group);
/* Sets up the claimed workgroup in the group's storage. False without memory. */
bool engine_group_load(struct engine_group *group, const struct engine_claim *claim, struct isa_program *program);
/* Runs each wave for at most about `budget` instructions. True when the group has ended, or the job was stopped. */
bool engine_group_run(struct engine_group *group, uint64_t budget);
/* Modelled time of the group so far. */
uint64_t engine_group_ns(const struct engine_group *group);
/* Workgroup id of the group in the kernel's registers. */
void engine_group_id(const struct engine_grid *grid, uint64_t index, uint32_t id[3]);

/* Shader engine of a workgroup without scratch. */
unsigned engine_grid_engine(const struct engine_grid *grid, uint64_t index);
/* Takes a scratch slot for each wave of the claimed workgroup, all of them in one shader engine, which becomes the
 * claim's. False and nothing taken when no engine has enough. Any thread. */
bool engine_scratch_take(struct engine_ring *ring, struct engine_claim *claim);
void engine_scratch_give(struct engine_ring *ring, unsigned n, const uint16_t *slot);

#endif
