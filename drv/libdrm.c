/* libdrm_amdgpu, which answers what is asked of a device: facts, firmware, sensors, the board's name.
 *
 * It keeps one device for each GPU of a process, and gives it to everybody who comes with a descriptor of that GPU:
 * Mesa, for example. Therefore it gets a file description of its own, never the one that our memory and contexts
 * are made on, and it is left again once it has answered: nobody finds a device of ours in it later. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <amdgpu.h>
#include <xf86drm.h>

#include "drv/internal.h"
#include "drv/lock.h"

/* From drv_libdrm_open() to drv_libdrm_close(). Where /sys is masked, libdrm_amdgpu takes every descriptor for the
 * GPU that it has already, so no second GPU may be asked meanwhile; and a fork in between would leave libdrm's own
 * lock taken in the child. */
static struct drv_lock in_use;

static void lock_for_fork(void)
{
	drv_lock(&in_use);
}

static void unlock_after_fork(void)
{
	drv_unlock(&in_use);
}

static void watch_forks(void)
{
	/* Without memory for the handlers a fork is as dangerous as libdrm alone makes it. */
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
		r = drv_fail(-ENODEV, "%s is driven by %s, not by amdgpu", dev->node.path, version->name);
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

static int initialize(const struct drv_device *dev, int fd, amdgpu_device_handle *lib)
{
	uint32_t major, minor;
	int r = amdgpu_device_initialize(fd, &major, &minor, lib);

	if (r == -EBADF)
		return drv_fail(-EIO, "amdgpu found that %s does not work when it was loaded: see dmesg",
				dev->node.path);
	if (r)
		return drv_fail(r, "libdrm_amdgpu cannot ask %s", dev->node.path);
	if (same_node(amdgpu_device_get_fd(*lib), dev->fd))
		return 0;
	amdgpu_device_deinitialize(*lib);
	return drv_fail(-ENODEV,
			"libdrm_amdgpu takes %s for a GPU that another library of this process has opened: "
			"/sys is masked",
			dev->node.path);
}

int drv_libdrm_open(const struct drv_device *dev, uint32_t *drm_minor, amdgpu_device_handle *lib)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int fd, r = drv_check_process(dev);

	/* libdrm_amdgpu 2.4.114 does not survive a VERSION that fails. */
	r = r ? r : check_version(dev, drm_minor);
	if (r)
		return r;
	fd = open(dev->node.path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return drv_fail(-errno, "cannot open %s a second time, for libdrm_amdgpu", dev->node.path);
	pthread_once(&once, watch_forks);
	drv_lock(&in_use);
	r = initialize(dev, fd, lib);
	if (r)
		drv_unlock(&in_use);
	close(fd); /* libdrm_amdgpu has a duplicate */
	return r;
}

void drv_libdrm_close(amdgpu_device_handle lib)
{
	amdgpu_device_deinitialize(lib);
	drv_unlock(&in_use);
}
