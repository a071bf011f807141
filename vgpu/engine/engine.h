/* The hardware: executes the jobs of rings. Interface of engine/ for kernel/.
 *
 * kernel/ owns queues, fences, time-outs and threads. A job takes a place on its ring, is executed, and leaves; the
 * packets of a ring's jobs are read in the order of the places, and jobs end in that order. The next job's packets
 * are read while waves of the job before still run, if both jobs have a thread that executes them. The engine owns
 * packet processors, register state, caches, compute units and modelled time. */
#ifndef VGPU_ENGINE_ENGINE_H
#define VGPU_ENGINE_ENGINE_H

#include "vgpu/chip.h"
#include "vgpu/gpuvm.h"
#include "vgpu/memory/order.h"

enum engine_ip { ENGINE_GFX = 0, ENGINE_COMPUTE = 1, ENGINE_DMA = 2 }; /* numbered as AMDGPU_HW_IP_* */

/* Why a job stopped before its end. Anything but DONE leads to the kernel's time-out path. */
enum engine_status {
	ENGINE_DONE,
	ENGINE_HANG,    /* modelled GPU time is over the limit, or no progress is possible */
	ENGINE_WAVES,   /* waves that did not end were killed, and the packets behind them were executed */
	ENGINE_ILLEGAL, /* opcode, register or instruction that raises an interrupt: reset at once */
	ENGINE_KILLED,  /* engine_kill() */
	ENGINE_RESET,   /* an earlier job stopped, and the ring with it: this one cannot end */
};

/* Places of a ring: jobs between engine_line_up() and engine_leave(). */
#define ENGINE_RING_JOBS 2

struct engine_ib {
	uint64_t va; /* address from the client, not masked */
	uint32_t size_B;
	uint32_t flags; /* AMDGPU_IB_FLAG_* */
};

/* The ring of a user queue: packets in GPU memory that no job of the kernel wraps. Positions count dwords since the queue
 * was made. Borrowed until engine_leave(). The functions are called by the thread that executes. */
struct engine_user_ring {
	uint64_t va, size_B; /* size_B: a power of two */
	uint64_t begin, end; /* the packets to read */
	/* The packets before `position` were read. */
	void (*progress)(void *user, uint64_t position);
	/* PROTECTED_FENCE_SIGNAL, which ends at `position`: the work before it is done. */
	void (*signal)(void *user, uint64_t position);
};

/* Value of engine_job::timer that ends the job with ENGINE_KILLED soon. */
#define ENGINE_TIMER_KILL UINT32_MAX

/* Description of a job. Borrowed from kernel/ until engine_leave(). */
struct engine_job {
	const struct gpuvm_view *view;
	const struct engine_ib *ib;
	unsigned ib_count;
	const struct engine_user_ring *user_ring; /* instead of IBs; NULL: none */
	uint64_t watchdog_ns;                     /* modelled GPU time; 0: none */
	/* Number of the time limit in force; 0: none is. A new number starts the job's clock anew. NULL: the limit holds from
	 * the start. Any thread and process may write it. */
	const _Atomic uint32_t *timer;
	uint64_t seq; /* for reports, with ctx */
	uint32_t ctx, pid;
	uint32_t device; /* device number in the run, for the record */
	uint64_t vmid;   /* tags lines of the instruction and scalar caches, which no change of hands drops */
	/* vmid_foreign: vmid_epoch when the VMID was last used by another process. vmid_epoch: number of such
	 * changes of any VMID until now. Older lines of an XCC's caches may be another process's, unless they were
	 * invalidated since. */
	uint64_t vmid_foreign, vmid_epoch;
	bool pipeline_sync; /* the kernel has the ring wait for the end of the job before */
	bool waves_stay;    /* the kernel does not kill waves that hang: they are ENGINE_HANG, not ENGINE_WAVES */
	/* Global wave sync: the resources that its VMID may use, and the stamp of their assignment. */
	uint32_t gws_base, gws_count;
	uint64_t gws_given;
	/* For the order checker: queue whose jobs start in order (0: the ring's), jobs that this job waited for,
	 * and work whose results the CPU may have seen at submission (NULL: all that has ended). */
	uint64_t queue;
	const struct mem_after *after;
	unsigned after_count;
	struct mem_clock *seen;
	/* Called by any engine thread, once per refused access; kernel/ records it for the fault query. */
	void (*fault)(void *user, const struct gpuvm_fault *fault);
	void *user;
};

/* A device's compute units and caches in this process; rings of one device share it. Thread safe. */
struct engine_device;
/* A hardware ring. Its registers survive from job to job as on hardware (under the strict levels they are poisoned
 * between jobs). */
struct engine_ring;
/* A job's place on its ring. */
struct engine_run;

/* XCCs of a device at most. An XCC is a complex of shader engines with caches of its own; the chip's row describes
 * one. */
#define ENGINE_XCCS 8

struct engine_config {
	unsigned xccs, partitions; /* XCCs of the device; partitions that share them */
	bool null_device;          /* ends waits, skips dispatches and copies, each job taking service_ns */
	uint64_t service_ns;
	bool f8_fnuz; /* SH_MEM_CONFIG.F8_MODE of all VMIDs */
	bool sramecc; /* registers have ECC */
};

/* Return NULL without memory. */
struct engine_device *engine_device_create(const struct vgpu_chip *chip, const struct engine_config *config);
void engine_device_destroy(struct engine_device *dev);
/* A compute ring belongs to one XCC of the device, and its jobs run there. */
struct engine_ring *engine_ring_create(struct engine_device *dev, enum engine_ip ip, unsigned xcc, unsigned index);
void engine_ring_destroy(struct engine_ring *ring);

/* Takes the next place on the ring, of ENGINE_RING_JOBS. A job with a place must be executed and must leave.
 * Thread safe, never blocks; the order of the calls is the order of the jobs. */
struct engine_run *engine_line_up(struct engine_ring *ring, const struct engine_job *job);
/* Waits for the job's turn and runs it to its end, its waves included; waits for the end of earlier jobs of the
 * ring, and makes its memory writes visible. A job without IBs only waits. After ENGINE_RESET it may be called
 * again. Blocks; one thread at a time per job. */
enum engine_status engine_execute(struct engine_run *run);
/* Why it was anything but ENGINE_DONE: IB offset and packet, or code address, encoding and disassembly. Owned by
 * the run; good until it leaves. */
const char *engine_why(const struct engine_run *run);
/* Ends the job on the ring, after the kernel has finished it: the next one may end. run is invalid afterwards. */
void engine_leave(struct engine_run *run);
/* Makes the jobs that have lined up at the ring end with ENGINE_KILLED soon. Any thread. */
void engine_kill(struct engine_ring *ring);

/* Name of an IP in logs and records. */
const char *engine_ip_name(enum engine_ip ip);
/* Snapshot of the work whose results the CPU may have seen until now, for engine_job::seen; free with
 * engine_forget(). NULL where accesses are not checked. */
struct mem_clock *engine_seen(void);
void engine_forget(struct mem_clock *seen); /* NULL is fine */
/* Forgets the parent's engines in a forked child. */
void engine_forked(void);

/* The GPU clock counter, ticks of chip->counter_khz since an origin that all processes of the machine share. */
uint64_t engine_clock(const struct vgpu_chip *chip);

#endif
