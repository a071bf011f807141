/* Abilities: what chip and kernel can do together, each with its reason. Source for kernel releases: the change log
 * in amdgpu_drv.c. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <amdgpu_drm.h>
#include <linux/capability.h>

#include "drv/config.h"
#include "drv/internal.h"

#ifndef AMDGPU_GEM_CREATE_COHERENT
#define AMDGPU_GEM_CREATE_COHERENT (1 << 13)
#endif

/* The DRM minor version that introduced each ability, and the first Linux release with it where that is known. */
static const struct {
	enum drv_ability ability;
	uint16_t minor;
	const char *release;
} since[] = {
	{DRV_CAN_TIMELINE, 32, ""},
	{DRV_CAN_DISCARD, 47, ""},
	{DRV_CAN_SEE_RESET, 54, " (Linux 6.6)"},
	{DRV_CAN_QUERY_FAULT, 55, ""},
	{DRV_CAN_RELY_ON_ZERO, 59, " (Linux 6.12)"},
	{DRV_CAN_VA_TIMELINE, 64, " (Linux 6.16)"},
};

/* Linux 6.18 added the coherence flags of GEM_CREATE without a new minor version. */
#define COHERENT_MINOR_MIN 64

const char *drv_ability_name(enum drv_ability ability)
{
	static const char *const names[DRV_ABILITIES] = {
		[DRV_CAN_SUBMIT] = "compute",
		[DRV_CAN_COPY] = "SDMA copies",
		[DRV_CAN_FINE_VRAM] = "fine-grained VRAM",
		[DRV_CAN_FINE_SYSTEM] = "fine-grained system memory",
		[DRV_CAN_QUERY_FAULT] = "fault address",
		[DRV_CAN_TIMELINE] = "timeline syncobjs",
		[DRV_CAN_VA_TIMELINE] = "timelines in GEM_VA",
		[DRV_CAN_SEE_RESET] = "reset in progress",
		[DRV_CAN_PRIORITIZE] = "high priority",
		[DRV_CAN_RELY_ON_ZERO] = "VRAM arrives cleared",
		[DRV_CAN_MAP_READ_ONLY] = "read-only host memory",
		[DRV_CAN_DISCARD] = "discardable buffers",
		[DRV_CAN_USER_QUEUES] = "user queues",
	};

	return names[ability];
}

static void support_set(struct drv_support *a, bool yes, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void support_set(struct drv_support *a, bool yes, const char *fmt, ...)
{
	va_list args;

	a->yes = yes;
	va_start(args, fmt);
	vsnprintf(a->why, sizeof(a->why), fmt, args);
	va_end(args);
}

static void judge_kernel(struct drv_device *dev)
{
	for (unsigned i = 0; i < sizeof(since) / sizeof(since[0]); i++)
		support_set(&dev->can[since[i].ability], dev->drm_minor >= since[i].minor,
			    "since DRM 3.%u%s; this is 3.%u", since[i].minor, since[i].release, dev->drm_minor);
	support_set(&dev->can[DRV_CAN_MAP_READ_ONLY], true,
		    "GEM_USERPTR takes READONLY in every kernel that tuff takes");
}

static void judge_engines(struct drv_device *dev)
{
	support_set(&dev->can[DRV_CAN_SUBMIT], dev->facts.ip[DRV_IP_COMPUTE].rings,
		    dev->facts.ip[DRV_IP_COMPUTE].rings ? "tuff makes %s packets"
							: "the kernel offers no compute ring",
		    drv_pm4_name(dev->chip->pm4));
	support_set(&dev->can[DRV_CAN_COPY], dev->facts.ip[DRV_IP_DMA].rings,
		    dev->facts.ip[DRV_IP_DMA].rings ? "tuff makes %s packets" : "the kernel offers no SDMA ring",
		    drv_sdma_name(dev->chip->sdma));
}

/* Beside the kernel's rings only: copies, and waits for what other drivers submit, are the kernel's. */
static void judge_user_queues(struct drv_device *dev)
{
	bool made = dev->facts.user_queue_ips >> DRV_IP_COMPUTE & 1;

	support_set(&dev->can[DRV_CAN_USER_QUEUES], made && dev->facts.ip[DRV_IP_COMPUTE].rings,
		    made ? "the kernel has them on; TUFF_USERQ=1 uses them"
			 : "amdgpu.user_queue=1 turns them on: GFX11 and GFX12 cards, Linux 6.16 or newer");
}

static void judge_fine(struct drv_device *dev, int gem_trial)
{
	const struct drv_chip *c = dev->chip;
	struct drv_support *vram = &dev->can[DRV_CAN_FINE_VRAM], *system = &dev->can[DRV_CAN_FINE_SYSTEM];

	if (c->uncached == DRV_UNCACHED_LATER && dev->drm_minor < 61) {
		support_set(system, false,
			    "%s: kernels before DRM 3.61 keep system memory cached in L2; this is 3.%u", c->target,
			    dev->drm_minor);
	} else {
		support_set(system, true, "mapped MTYPE_UC");
		dev->fine_system.va_flags = AMDGPU_VM_MTYPE_UC;
	}
	if (c->uncached != DRV_UNCACHED_SYSTEM) {
		support_set(vram, true, "mapped MTYPE_UC");
		dev->fine_vram.va_flags = AMDGPU_VM_MTYPE_UC;
	} else if (!gem_trial) {
		support_set(vram, true, "tried: GEM_CREATE takes COHERENT (Linux 6.18)");
		dev->fine_vram.gem_flags = AMDGPU_GEM_CREATE_COHERENT;
	} else if (gem_trial == -EINVAL) {
		support_set(
			vram, false,
			"%s caches its VRAM whatever is mapped, and GEM_CREATE takes COHERENT from Linux 6.18 on",
			c->target);
	} else {
		support_set(vram, false, "GEM_CREATE with COHERENT was tried and failed: %s", strerror(-gem_trial));
	}
}

bool drv_uses_user_queues(const struct drv_device *dev)
{
	return dev->can[DRV_CAN_USER_QUEUES].yes && drv_config()->user_queues;
}

bool drv_writes_vram(const struct drv_device *dev)
{
	const struct drv_facts *f = &dev->facts;

	return !f->apu && f->visible_vram.total_B >= f->vram.total_B && dev->can[DRV_CAN_FINE_VRAM].yes;
}

void drv_judge_abilities(struct drv_device *dev, int gem_trial, bool may_raise)
{
	bool behind;

	for (unsigned i = 0; i < DRV_ABILITIES; i++)
		support_set(&dev->can[i], false, "the chip is not known");
	judge_kernel(dev);
	/* Only the card's first partition has a compute ring of high priority (Linux amdgpu_xcp_select_scheds(): CS
	 * -ENOENT). */
	behind = dev->chip && dev->chip->ring_per_xcc && !dev->node.pci[0];
	support_set(&dev->can[DRV_CAN_PRIORITIZE], may_raise && !behind,
		    behind      ? "only a card's first partition has a ring of high priority"
		    : may_raise ? "this process has CAP_SYS_NICE"
				: "needs CAP_SYS_NICE");
	if (dev->chip) {
		judge_engines(dev);
		judge_user_queues(dev);
		judge_fine(dev, gem_trial);
	}
}

/* Creates the smallest possible buffer with the flag, and frees it. 0 or -errno. */
static int try_coherent(struct drv_device *dev)
{
	union drm_amdgpu_gem_create args = {
		.in = {.bo_size = 4096,
		       .domains = AMDGPU_GEM_DOMAIN_VRAM,
		       .domain_flags = AMDGPU_GEM_CREATE_NO_CPU_ACCESS | AMDGPU_GEM_CREATE_COHERENT}};
	struct drm_gem_close close = {0};
	int r = drv_ioctl(dev, DRM_IOCTL_AMDGPU_GEM_CREATE, &args);

	if (r)
		return r;
	close.handle = args.out.handle;
	return drv_ioctl(dev, DRM_IOCTL_GEM_CLOSE, &close);
}

/* amdgpu_ctx.c grants a priority above normal to a process with this capability. */
static bool has_cap_sys_nice(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	return !syscall(SYS_capget, &header, data) && data[0].effective >> CAP_SYS_NICE & 1;
}

void drv_read_abilities(struct drv_device *dev)
{
	bool matters = dev->chip && dev->chip->uncached == DRV_UNCACHED_SYSTEM && !dev->refusal;
	int trial = matters && dev->drm_minor >= COHERENT_MINOR_MIN ? try_coherent(dev) : -EINVAL;

	drv_judge_abilities(dev, trial, has_cap_sys_nice());
}
