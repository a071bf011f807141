/* The hardware: executes one job of one ring. This is engine/'s door for kernel/.
 *
 * kernel/ owns queues, fences, time-outs and threads; for each hardware ring that a process uses it runs one
 * thread, which calls engine_execute() for job after job. The engine owns packet processors, register state,
 * caches, compute units and modelled time. */
#ifndef VGPU_ENGINE_H
#define VGPU_ENGINE_H

#include "vgpu/chip.h"
#include "vgpu/gpuvm.h"

enum engine_ip { ENGINE_GFX = 0, ENGINE_COMPUTE = 1, ENGINE_DMA = 2 }; /* as AMDGPU_HW_IP_* */

/* Why a job stopped before its end. Anything but DONE leads to the kernel's time-out path. */
enum engine_status {
	ENGINE_DONE,
	ENGINE_HANG,    /* watchdog: modelled GPU time of the job is over its limit, or nothing can ever go on */
	ENGINE_WAVES,   /* waves that did not end were killed, and the packets behind them were executed */
	ENGINE_ILLEGAL, /* opcode, register or instruction that raises an interrupt: reset at once */
	ENGINE_KILLED,  /* engine_kill() */
};

struct engine_ib {
	uint64_t va; /* as the client gave it */
	uint32_t size_B;
	uint32_t flags; /* AMDGPU_IB_FLAG_* */
};

/* What one job is. Borrowed from kernel/ until engine_execute() returns. */
struct engine_job {
	const struct gpuvm_view *view;
	const struct engine_ib *ib;
	unsigned ib_count;
	uint64_t watchdog_ns; /* modelled GPU time; 0: none */
	uint64_t seq;         /* for reports, with ctx */
	uint32_t ctx, pid;
	uint32_t device; /* its number in the run, for the record */
	/* Called by any engine thread, once per refused access; kernel/ records it for the fault query. */
	void (*fault)(void *user, const struct gpuvm_fault *fault);
	void *user;
};

/* A device's compute units and caches in this process; rings of one device share it. Thread safe. */
struct engine_device;
/* One hardware ring with its registers, which survive from job to job as on hardware (and are poisoned between them
 * under the strict levels). One thread at a time. */
struct engine_ring;

/* null_device: end waits, skip dispatches and copies, each job taking service_ns. Return NULL without memory. */
struct engine_device *engine_device_create(const struct vgpu_chip *chip, bool null_device, uint64_t service_ns);
void engine_device_destroy(struct engine_device *dev);
struct engine_ring *engine_ring_create(struct engine_device *dev, enum engine_ip ip, unsigned index);
void engine_ring_destroy(struct engine_ring *ring);

/* Runs a job to its end, its waves included, and makes its memory writes visible. On anything but ENGINE_DONE, why
 * (at least 512 bytes) tells the reason with IB offset and packet, or code address, encoding and disassembly. */
enum engine_status engine_execute(struct engine_ring *ring, const struct engine_job *job, char *why, size_t why_B);
/* Makes the ring's current job, if any, end with ENGINE_KILLED soon. Any thread. */
void engine_kill(struct engine_ring *ring);

/* As logs and records call it. */
const char *engine_ip_name(enum engine_ip ip);
/* The GPU clock counter, ticks of chip->counter_khz since an origin that all processes of the machine share. */
uint64_t engine_clock(const struct vgpu_chip *chip);

#endif
