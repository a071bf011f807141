/* The virtual GPU: interface for tools and tests.
 *
 * A *run* is a set of virtual devices that processes share. It has a directory of its own (which replaces /dev/dri
 * and parts of /sys) and the memory of its processes, and ends with the last of them. A process joins it
 *   - by carrying the virtual GPU inside (linked with -Wl,--export-dynamic) and calling vgpu_start(); or
 *   - as a child of `tuff run`, or of any process in the run, with libtuff-vgpu.so preloaded.
 *
 * SPEC: devices separated by commas, each [null:]CHIP[:key=value]*
 *   vram=SIZE bar=SIZE       VRAM, and the part that the CPU reaches; SIZE as 256M, 16G
 *   gtt=SIZE                 memory of the host that BOs may have (amdgpu.gttsize), 32M at least; default: half of the machine's
 *   service_us=N             time of a job on a null device
 *   watchdog_ms=N            limit of a job's modelled time
 *   numa=N hive=ID p2p=0     NUMA node, xGMI hive, no PCI peer access
 *   partition=spx            all XCCs of a card, in partitions: spx, dpx, qpx, cpx
 *   f8=fnuz                  8-bit floats of gfx942 as on KFD's VMIDs; else ocp
 *   sramecc=1                gfx906 with ECC of registers and LDS
 *   userq=1                  user queues, with kernel=6.16 and later; 2: in place of the kernel's rings
 *   kernel=6.12              kernel release; docs/vgpu.md has the others
 *
 * Functions return 0 or -errno and print errors of a SPEC on stderr. Thread rule: start, stop and create from one
 * thread while no other uses a device; the rest from any thread, while started. */
#ifndef VGPU_VGPU_H
#define VGPU_VGPU_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Creates a run and puts its devices in front of this process. */
int vgpu_start(const char *spec);
/* Takes them away: what is still open is closed, jobs end within a second. The creator removes the directory. */
void vgpu_stop(void);

/* Creates a run for children, without devices for this process; vgpu_stop() ends it. */
struct vgpu_env {
	char spec[512];         /* TUFF_VGPU */
	char run[PATH_MAX];     /* TUFF_VGPU_RUN */
	char preload[PATH_MAX]; /* library to put first in LD_PRELOAD; "" when libtuff-vgpu.so was not found */
};
int vgpu_run_create(const char *spec, struct vgpu_env *env);

/* The n-th chip that a SPEC may name; NULL: past the last. */
const char *vgpu_chip_name(unsigned n);

/* --- for tests --- */

/* DRM ioctls of the run so far, and those with one number. */
unsigned long vgpu_ioctl_count(void);
unsigned long vgpu_ioctl_count_nr(unsigned nr);
/* Pages of userptr BOs that CS ioctls of the run have looked up so far: a CS looks up all pages of each such BO
 * that it lists, as in Linux. */
unsigned long vgpu_userptr_pages(void);
/* The n-th ioctl from now (n = 1: the next) fails with the positive errno `error`; n = 0 forgets. _nr: of one
 * number. */
void vgpu_inject_ioctl(unsigned long n, int error);
void vgpu_inject_ioctl_nr(unsigned nr, unsigned long n, int error);
/* Each ioctl of that number (-1: any) fails with that chance, in millionths; 0: none any more. */
void vgpu_inject_ioctl_chance(int nr, unsigned ppm, int error);
/* Resets the message limit, as five quiet seconds do: the kernel prints ten messages again, and records their VM
 * faults. */
void vgpu_quiet_seconds(void);
/* A reset with loss of VRAM; removal of the device. */
int vgpu_inject_reset(unsigned device);
int vgpu_inject_unplug(unsigned device);

/* Objects that clients have left alive. */
struct vgpu_live {
	unsigned long bos, mappings, contexts, files, fences, syncobjs, bo_lists, jobs;
};
void vgpu_live(struct vgpu_live *live);
/* Their sum, without fences: unsignalled work outlives its owner for a moment. */
unsigned long vgpu_live_objects(void);

#endif
