/* Finds render nodes: through libdrm and /sys, or by opening the nodes where /sys is masked. */
#include "drv/device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#include "drv/cancel.h"
#include "drv/log.h"
#include "drv/topology.h"

#define DRI_DIR    "/dev/dri"
#define AMD_VENDOR 0x1002

static int by_minor(const void *a, const void *b)
{
	const struct drv_node *x = a, *y = b;
	size_t m = strlen(x->path), n = strlen(y->path);

	return m != n ? (m > n) - (m < n) : strcmp(x->path, y->path);
}

static void take_device(const drmDevice *device, struct drv_node *node)
{
	const drmPciBusInfo *bus = device->bustype == DRM_BUS_PCI ? device->businfo.pci : NULL;

	snprintf(node->path, sizeof(node->path), "%s", device->nodes[DRM_NODE_RENDER]);
	node->pci[0] = 0;
	if (!bus)
		return;
	snprintf(node->pci, sizeof(node->pci), "%04x:%02x:%02x.%u", bus->domain, bus->bus, bus->dev, bus->func);
}

/* A card of several XCCs is a PCI device for its first partition and platform devices for the others. Linux creates
 * more platform devices than partitions: opening the surplus ones fails (Linux amdgpu_xcp.c,
 * amdxcp/amdgpu_xcp_drv.c). */
static bool is_partition(const drmDevice *device)
{
	int fd;

	if (device->bustype != DRM_BUS_PLATFORM ||
	    strncmp(device->businfo.platform->fullname, "amdgpu_xcp", strlen("amdgpu_xcp")))
		return false;
	fd = open(device->nodes[DRM_NODE_RENDER], O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT && errno != ENODEV;
	close(fd);
	return true;
}

static bool is_amd_card(const drmDevice *device)
{
	return device->bustype == DRM_BUS_PCI && device->deviceinfo.pci->vendor_id == AMD_VENDOR;
}

static size_t scan_libdrm(struct drv_node *nodes, size_t max)
{
	drmDevicePtr devices[DRV_NODES_MAX];
	int found = drmGetDevices2(0, devices, DRV_NODES_MAX);
	size_t count = 0;

	for (int i = 0; i < found; i++) {
		const drmDevice *d = devices[i];

		if (d->available_nodes & 1 << DRM_NODE_RENDER && count < max && (is_amd_card(d) || is_partition(d)))
			take_device(d, &nodes[count++]);
	}
	if (found > 0)
		drmFreeDevices(devices, found);
	return count;
}

/* True when amdgpu drives the node. A node without permission counts as unknown and sets *denied. */
static bool is_amdgpu(const char *path, bool *denied)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	drmVersionPtr version;
	bool yes;

	if (fd < 0) {
		*denied |= errno == EACCES || errno == EPERM;
		return false;
	}
	version = drmGetVersion(fd);
	yes = version && !strcmp(version->name, "amdgpu");
	drmFreeVersion(version);
	close(fd);
	return yes;
}

static size_t scan_by_opening(struct drv_node *nodes, size_t max, struct drv_node *denied_node)
{
	DIR *dir = opendir(DRI_DIR);
	struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir))) {
		struct drv_node node = {0};
		bool denied = false;

		if (strncmp(entry->d_name, "renderD", 7) || strlen(entry->d_name) > 12)
			continue;
		snprintf(node.path, sizeof(node.path), DRI_DIR "/%.12s", entry->d_name);
		if (is_amdgpu(node.path, &denied) && count < max)
			nodes[count++] = node;
		if (denied)
			*denied_node = node;
	}
	if (dir)
		closedir(dir);
	return count;
}

int drv_scan(struct drv_node *nodes, size_t max, size_t *count)
{
	DRV_HOLD_CANCEL;
	struct drv_node denied = {0};
	char why[320];

	*count = scan_libdrm(nodes, max);
	if (!*count) {
		*count = scan_by_opening(nodes, max, &denied);
		drv_log(DRV_LOG_DEVICE, "/sys shows no AMD render node; opening the nodes found %zu", *count);
	}
	if (*count) {
		qsort(nodes, *count, sizeof(*nodes), by_minor);
		for (size_t i = 0; i < *count; i++)
			nodes[i].index = (unsigned)i;
		return 0;
	}
	if (denied.path[0])
		return drv_fail_access(denied.path);
	drv_explain_absence(DRV_SYSFS, "/dev", "/proc", why, sizeof(why));
	return drv_fail(-ENODEV, "%s", why);
}
