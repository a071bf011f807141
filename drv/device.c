#include "drv/cancel.h"
#include "drv/lock.h"
#include "drv/device.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <amdgpu_drm.h>
#include <xf86drm.h>

#include "drv/internal.h"
#include "drv/log.h"

unsigned drv_forks;

static void count_fork(void)
{
	drv_forks++;
}

static void watch_forks(void)
{
	/* Without memory for the handler, a child is not recognized as one; there is no other way to recognize
	 * it. */
	(void)!pthread_atfork(NULL, NULL, count_fork);
}

int drv_fail_inherited(const struct drv_device *dev)
{
	return drv_fail(-ENODEV, "%s was opened before this process was forked; open it anew", dev->node.path);
}

int drv_ioctl(const struct drv_device *dev, unsigned long request, void *arg)
{
	if (__builtin_expect(dev->generation != drv_generation(), 0))
		return -ENODEV;
	atomic_fetch_add_explicit(dev->ioctls, 1, memory_order_relaxed);
	return drmIoctl(dev->fd, request, arg) ? -errno : 0;
}

#define INSIST_TRIES                                                                                               \
	20 /* a millisecond apart: the time in which a kernel that is short of memory may reclaim some */
#define INSIST_MAX_B 64

static bool is_final(int r)
{
	return !r || r == -ENODEV || r == -ETIME || r == -ENODATA || r == -ECANCELED || r == -EHWPOISON;
}

int drv_ioctl_insist(const struct drv_device *dev, unsigned long request, void *arg)
{
	const size_t size_B = _IOC_SIZE(request) < INSIST_MAX_B ? _IOC_SIZE(request) : INSIST_MAX_B;
	char input[INSIST_MAX_B];
	int r;

	memcpy(input, arg, size_B);
	r = drv_ioctl(dev, request, arg);
	for (unsigned tries = 1; __builtin_expect(!is_final(r), 0) && tries < INSIST_TRIES; tries++) {
		drv_nap(1000000);
		/* The kernel writes its output over the input, even when the ioctl fails. */
		memcpy(arg, input, size_B);
		r = drv_ioctl(dev, request, arg);
	}
	return r;
}

int drv_info(const struct drv_device *dev, unsigned query, void *data, uint32_t size_B)
{
	struct drm_amdgpu_info request = {.return_pointer = (uintptr_t)data, .return_size = size_B, .query = query};

	/* A kernel with a shorter version of the struct does not write the tail. */
	memset(data, 0, size_B);
	return drv_ioctl(dev, DRM_IOCTL_AMDGPU_INFO, &request);
}

int drv_timestamp(const struct drv_device *dev, uint64_t *ticks)
{
	int r = drv_info(dev, AMDGPU_INFO_TIMESTAMP, ticks, sizeof(*ticks));

	return r ? drv_fail(r, "AMDGPU_INFO TIMESTAMP on %s", dev->node.path) : 0;
}

static int open_node(struct drv_device *dev)
{
	DRV_HOLD_CANCEL;

	dev->fd = open(dev->node.path, O_RDWR | O_CLOEXEC);
	if (dev->fd >= 0)
		return 0;
	if (errno == EACCES || errno == EPERM)
		return drv_fail_access(dev->node.path);
	return drv_fail(-errno, "%s cannot be opened", dev->node.path);
}

static struct drv_device *device_create(const struct drv_node *node)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct drv_device *dev = calloc(1, sizeof(*dev));

	if (!dev)
		return NULL;
	dev->ioctls = calloc(1, sizeof(*dev->ioctls));
	if (!dev->ioctls) {
		free(dev);
		return NULL;
	}
	pthread_once(&once, watch_forks);
	dev->generation = drv_generation();
	dev->node = *node;
	dev->fd = -1;
	snprintf(dev->name, sizeof(dev->name), "AMD GPU");
	return dev;
}

/* Reads the board's product name from libdrm's table. */
static void read_name(struct drv_device *dev, const struct drv_libdrm *lib)
{
	const char *name = drv_libdrm_name(lib);

	if (name)
		snprintf(dev->name, sizeof(dev->name), "%s", name);
}

/* Reads all facts through libdrm_amdgpu; stops at the first failure. */
static int facts_read(struct drv_device *dev, const struct drv_libdrm *lib)
{
	int r = drv_read_device(dev, lib);

	read_name(dev, lib);
	r = r ? r : drv_read_memory(dev, lib);
	r = r ? r : drv_read_ips(dev, lib);
	return r ? r : drv_read_firmware(dev, lib);
}

static int read_all(struct drv_device *dev)
{
	struct drv_libdrm lib;
	int r = open_node(dev);

	r = r ? r : drv_libdrm_open(dev, &dev->drm_minor, &lib);
	if (r)
		return r;
	r = facts_read(dev, &lib);
	drv_libdrm_close(&lib);
	r = r ? r : drv_find_chip(dev);
	return r ? r : drv_count_xccs(dev);
}

int drv_device_examine(const struct drv_node *node, struct drv_device **out)
{
	struct drv_device *dev = device_create(node);

	if (!dev)
		return drv_fail(-ENOMEM, "no host memory for a device");
	dev->refusal = read_all(dev);
	if (dev->refusal)
		snprintf(dev->refusal_text, sizeof(dev->refusal_text), "%s", drv_error_last()->why);
	drv_read_caches(dev);
	drv_read_abilities(dev);
	*out = dev;
	return 0;
}

const char *drv_device_verdict(const struct drv_device *dev)
{
	if (dev->refusal)
		return dev->refusal_text;
	return dev->can[DRV_CAN_SUBMIT].yes ? NULL : dev->can[DRV_CAN_SUBMIT].why;
}

int drv_device_open(const struct drv_node *node, struct drv_device **out)
{
	DRV_HOLD_CANCEL; /* libdrm opens files, too */
	struct drv_device *dev;
	int r = drv_device_examine(node, &dev);

	if (r)
		return r;
	if (dev->refusal) {
		r = dev->refusal;
		drv_device_close(dev);
		return r;
	}
	drv_log(DRV_LOG_DEVICE, "%s: %s, %s%s%s, %u CUs, DRM 3.%u", dev->node.path, dev->name, dev->chip->target,
		*dev->overridden ? " by HSA_OVERRIDE_GFX_VERSION in place of " : "", dev->overridden,
		dev->facts.cus, dev->drm_minor);
	*out = dev;
	return 0;
}

void drv_device_close(struct drv_device *dev)
{
	DRV_HOLD_CANCEL;

	if (!dev)
		return;
	if (dev->fd >= 0)
		close(dev->fd);
	free(dev->ioctls);
	free(dev);
}
