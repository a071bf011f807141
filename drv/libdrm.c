/* libdrm_amdgpu, which reads a device's facts, firmware, sensors and product name.
 *
 * libdrm_amdgpu keeps one device for each GPU of a process, and gives it to every library that passes a descriptor
 * of that GPU: Mesa, for example. Therefore it gets a file description of its own, never the one that has our
 * memory and contexts, and its device is closed after the queries: no other library finds a device of ours in it
 * later. Where /sys is masked, as in some containers, it cannot be used; then the same queries use our own
 * descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <xf86drm.h>

#include "drv/cancel.h"
#include "drv/process.h"
#include "drv/internal.h"
#include "drv/lock.h"

/* Held from drv_libdrm_open() to drv_libdrm_close(). Where /sys is masked, libdrm_amdgpu takes every descriptor for
 * the GPU that it has already, so no second GPU may be queried meanwhile. A fork waits for the lock, because it
 * would leave libdrm's own lock taken in the child. */
static struct drv_lock in_use = DRV_LOCK(DRV_RANK_LIBDRM);

static void lock_for_fork(void)
{
	drv_lock(&in_use);
}

static void unlock_after_fork(void)
{
	drv_unlock(&in_use);
}

__attribute__((constructor(DRV_FORK_LIBDRM))) static void watch_forks(void)
{
	/* Without memory for the handlers, a fork may find libdrm's lock taken; nothing else can be done about
	 * that. */
	(void)!pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork);
}

static int check_version(const struct drv_device *dev, uint32_t *drm_minor)
{
	drmVersionPtr version = drmGetVersion(dev->fd);
	int r = 0;

	if (!version)
		return drv_fail(-ENODEV, "%s is not a DRM node", dev->node.path);
	*drm_minor = version->version_minor;
	if (strcmp(version->name, "amdgpu"))
		r = drv_fail(-ENODEV, "%s is driven by %s, not by amdgpu%s", dev->node.path, version->name,
			     strcmp(version->name, "radeon")
				     ? ""
				     : ": its chip is older than GFX9 (Vega), where tuff begins");
	else if (version->version_major != 3 || version->version_minor < DRV_DRM_MINOR_MIN)
		r = drv_fail(-ENOTSUP,
			     "the kernel is too old: amdgpu DRM %d.%d, tuff needs 3.%d (Linux 6.1) or newer",
			     version->version_major, version->version_minor, DRV_DRM_MINOR_MIN);
	drmFreeVersion(version);
	return r;
}

static bool same_node(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_rdev == y.st_rdev;
}

/* Leaves handle NULL where /sys is masked: libdrm_amdgpu then finds no render node, or finds the GPU of another
 * library of this process. */
static int device_initialize(struct drv_libdrm *lib, int fd)
{
	const struct drv_device *dev = lib->dev;
	uint32_t major, minor;
	int r;

	if (drmGetNodeTypeFromFd(fd) != DRM_NODE_RENDER)
		return 0;
	r = amdgpu_device_initialize(fd, &major, &minor, &lib->handle);
	if (r == -EBADF)
		return drv_fail(-EIO, "amdgpu found that %s does not work when it was loaded: see dmesg",
				dev->node.path);
	if (r)
		return drv_fail(r, "libdrm_amdgpu cannot ask %s", dev->node.path);
	if (!same_node(amdgpu_device_get_fd(lib->handle), dev->fd)) {
		amdgpu_device_deinitialize(lib->handle);
		lib->handle = NULL;
	}
	return 0;
}

int drv_libdrm_open(const struct drv_device *dev, uint32_t *drm_minor, struct drv_libdrm *lib)
{
	DRV_HOLD_CANCEL;
	int fd, r = drv_check_process(dev);

	*lib = (struct drv_libdrm){.dev = dev};
	/* libdrm_amdgpu 2.4.114 crashes when the VERSION ioctl fails. */
	r = r ? r : check_version(dev, drm_minor);
	if (r)
		return r;
	fd = open(dev->node.path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return drv_fail(-errno, "cannot open %s a second time, for libdrm_amdgpu", dev->node.path);
	drv_lock(&in_use);
	r = device_initialize(lib, fd);
	if (r)
		drv_unlock(&in_use);
	close(fd); /* libdrm_amdgpu has a duplicate */
	return r;
}

void drv_libdrm_close(struct drv_libdrm *lib)
{
	if (lib->handle)
		amdgpu_device_deinitialize(lib->handle);
	drv_unlock(&in_use);
}

/* --- queries ----------------------------------------------------------------------------------*/

static int query_directly(const struct drv_libdrm *lib, struct drm_amdgpu_info *request, void *data,
			  uint32_t size_B)
{
	request->return_pointer = (uintptr_t)data;
	request->return_size = size_B;
	return drv_ioctl(lib->dev, DRM_IOCTL_AMDGPU_INFO, request);
}

int drv_libdrm_info(const struct drv_libdrm *lib, unsigned query, void *data, uint32_t size_B)
{
	return lib->handle ? amdgpu_query_info(lib->handle, query, size_B, data)
			   : query_directly(lib, &(struct drm_amdgpu_info){.query = query}, data, size_B);
}

int drv_libdrm_ip(const struct drv_libdrm *lib, unsigned type, struct drm_amdgpu_info_hw_ip *ip)
{
	if (lib->handle)
		return amdgpu_query_hw_ip_info(lib->handle, type, 0, ip);
	return query_directly(lib,
			      &(struct drm_amdgpu_info){.query = AMDGPU_INFO_HW_IP_INFO, .query_hw_ip.type = type},
			      ip, sizeof(*ip));
}

int drv_libdrm_ip_count(const struct drv_libdrm *lib, unsigned type, uint32_t *count)
{
	if (lib->handle)
		return amdgpu_query_hw_ip_count(lib->handle, type, count);
	return query_directly(lib,
			      &(struct drm_amdgpu_info){.query = AMDGPU_INFO_HW_IP_COUNT, .query_hw_ip.type = type},
			      count, sizeof(*count));
}

int drv_libdrm_firmware(const struct drv_libdrm *lib, unsigned type, unsigned index, uint32_t *version,
			uint32_t *feature)
{
	struct drm_amdgpu_info request = {.query = AMDGPU_INFO_FW_VERSION,
					  .query_fw = {.fw_type = type, .index = index}};
	struct drm_amdgpu_info_firmware answer = {0};
	int r;

	if (lib->handle)
		return amdgpu_query_firmware_version(lib->handle, type, 0, index, version, feature);
	r = query_directly(lib, &request, &answer, sizeof(answer));
	*version = answer.ver;
	*feature = answer.feature;
	return r;
}

int drv_libdrm_sensor(const struct drv_libdrm *lib, unsigned type, uint32_t *value)
{
	if (lib->handle)
		return amdgpu_query_sensor_info(lib->handle, type, sizeof(*value), value);
	return query_directly(lib, &(struct drm_amdgpu_info){.query = AMDGPU_INFO_SENSOR, .sensor_info.type = type},
			      value, sizeof(*value));
}

const char *drv_libdrm_name(const struct drv_libdrm *lib)
{
	return lib->handle ? amdgpu_get_marketing_name(lib->handle) : NULL;
}
