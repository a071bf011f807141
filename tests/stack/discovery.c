/* Finding and opening devices: several of them, /sys masked as in containers, none at all, no permission, chips and
 * kernels that are not supported. What a person reads says what to do. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

static void several_devices_are_found_in_order(void)
{
	struct drv_node nodes[DRV_NODES_MAX];
	struct drv_device *dev;
	size_t count;
	static const char *const chips[] = {"gfx906", "gfx90a", "gfx900"};

	CHECK_EQ(vgpu_start("gfx906,gfx90a,gfx900:vram=1G"), 0);
	CHECK_EQ(drv_scan(nodes, DRV_NODES_MAX, &count), 0);
	CHECK_EQ(count, 3);
	for (unsigned i = 0; i < count; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/dri/renderD%u", 128 + i);
		CHECK_STR(nodes[i].path, path);
		CHECK_EQ(strlen(nodes[i].pci), 12);
		CHECK_EQ(drv_device_open(&nodes[i], &dev), 0);
		CHECK_STR(dev->chip->target, chips[i]);
		drv_device_close(dev);
	}
	CHECK_EQ(drv_scan(nodes, 2, &count), 0);
	CHECK_EQ(count, 2);
	vgpu_stop();
}

static void nothing_there_is_said(void)
{
	struct drv_node nodes[1];
	size_t count;

	if (!access("/dev/dri", F_OK))
		return; /* this machine has one */
	CHECK_EQ(drv_scan(nodes, 1, &count), -ENODEV);
	CHECK(strstr(drv_error_last()->text, "no /dev/dri"));
	CHECK(strstr(drv_error_last()->text, "tuff run --gpu"));
}

static void strange_nodes_are_refused(void)
{
	struct drv_node node = {.path = "/dev/null"};
	struct drv_device *dev;

	CHECK_EQ(drv_device_open(&node, &dev), -ENODEV);
	CHECK(strstr(drv_error_last()->text, "/dev/null is not a DRM node"));
	snprintf(node.path, sizeof(node.path), "/dev/no-such-node");
	CHECK_EQ(drv_device_open(&node, &dev), -ENOENT);
}

/* Root may open anything, so the check runs as somebody else. */
static void no_permission_names_the_group(void)
{
	struct drv_node node = {.path = "/tmp/tuff-no-permission"};
	struct drv_device *dev;
	int fd = open(node.path, O_CREAT | O_RDWR, 0600);

	CHECK(fd >= 0);
	close(fd);
	if (geteuid() == 0 && !seteuid(65534)) {
		CHECK_EQ(drv_device_open(&node, &dev), -EACCES);
		CHECK(strstr(drv_error_last()->text, "join group root"));
		CHECK(strstr(drv_error_last()->text, "mode 600"));
		if (seteuid(0))
			CHECK(!"root again");
	}
	unlink(node.path);
}

static void failing_facts_are_errors(void)
{
	struct drv_node nodes[1];
	struct drv_device *dev;
	size_t count;

	CHECK_EQ(vgpu_start("gfx908"), 0);
	CHECK_EQ(drv_scan(nodes, 1, &count), 0);
	/* VERSION, twice; then one call for each fact. The injection counts VERSION only by its number, 0. */
	for (unsigned n = 1; n <= 7; n++) {
		int r;

		if (n <= 2)
			vgpu_inject_ioctl_nr(0, n, EIO);
		else
			vgpu_inject_ioctl(n - 2, EIO);
		r = drv_device_open(&nodes[0], &dev);
		vgpu_inject_ioctl_nr(0, 0, 0);
		vgpu_inject_ioctl(0, 0);
		if (!CHECK(r < 0))
			printf("  ioctl %u\n", n);
		if (!r)
			drv_device_close(dev);
	}
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
}

int main(void)
{
	nothing_there_is_said();
	several_devices_are_found_in_order();
	strange_nodes_are_refused();
	no_permission_names_the_group();
	failing_facts_are_errors();
	return check_done("discovery");
}
