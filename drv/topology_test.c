/* Places and links, from a file tree in place of /sys: four cards on two sockets, two of them in a hive. */
#include "drv/topology.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static char root[] = "/tmp/tuff-sys-XXXXXX";

/* Makes the directories of a path below the root, without the last component. */
static void place(char *path, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void place(char *path, const char *fmt, ...)
{
	int n = snprintf(path, PATH_MAX, "%s/", root);
	va_list args;

	va_start(args, fmt);
	vsnprintf(path + n, PATH_MAX - n, fmt, args);
	va_end(args);
	for (char *slash = path + n; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		mkdir(path, 0755);
	}
}

static void put(const char *device, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	place(path, "bus/pci/devices/%s/%s", device, name);
	file = fopen(path, "w");
	if (CHECK(file)) {
		fprintf(file, "%s\n", text);
		fclose(file);
	}
}

static void join_hive(const char *device, const char *hops)
{
	char path[PATH_MAX];

	put(device, "xgmi_hive_info/xgmi_hive_id", "81985529216486895");
	put(device, "xgmi_num_hops", hops);
	place(path, "bus/pci/devices/%s/xgmi_hive_info/node1", device);
	CHECK_EQ(symlink("../../0000:03:00.0", path), 0);
	place(path, "bus/pci/devices/%s/xgmi_hive_info/node2", device);
	CHECK_EQ(symlink("../../0000:0a:1f.1", path), 0);
}

static const char *const devices[] = {"0000:03:00.0", "0000:0a:1f.1", "0000:43:00.0", "0001:83:00.0"};

/* Configuration space of 256 bytes with a capability list: power management at 0x48, PCI Express at 0x64. */
static void put_config(const char *device, bool atomics, size_t size_B)
{
	uint8_t config[256] = {0};
	char path[PATH_MAX];
	FILE *file;

	config[0x06] = 0x10;
	config[0x34] = 0x48;
	config[0x48] = 0x01;
	config[0x49] = 0x64;
	config[0x64] = 0x10;
	config[0x64 + 0x28] = atomics ? 0x4f : 0x0f;
	place(path, "bus/pci/devices/%s/config", device);
	file = fopen(path, "w");
	if (CHECK(file)) {
		CHECK_EQ(fwrite(config, 1, size_B, file), size_B);
		fclose(file);
	}
}

static void make_sys(void)
{
	char path[PATH_MAX];

	CHECK(mkdtemp(root));
	put(devices[0], "numa_node", "0");
	put(devices[1], "numa_node", "0");
	put(devices[2], "numa_node", "-1");
	put(devices[2], "local_cpulist", "12-23,36-47");
	for (unsigned i = 0; i < 3; i++) {
		put(devices[i], "current_link_speed", i ? "16.0 GT/s PCIe" : "2.5 GT/s PCIe");
		put(devices[i], "max_link_speed", "16.0 GT/s PCIe");
		put(devices[i], "current_link_width", "16");
		put(devices[i], "max_link_width", i == 2 ? "8" : "16");
	}
	put(devices[0], "resource", "0x0000080000000000 0x00000803ffffffff 0x000000000014220c");
	put(devices[0], "iommu_group/type", "DMA-FQ");
	put(devices[0], "unique_id", "d0b1c2a300112233");
	put(devices[0], "vbios_version", "113-D1631400-X11");
	put(devices[3], "numa_node", "");
	join_hive(devices[0], "00 02 ");
	join_hive(devices[1], "02 00 ");
	place(path, "devices/system/cpu/cpu12/node1/x");
}

/* Two sockets, 21 apart. */
static const struct drv_host two_sockets = {
	.count = 2, .node = {{.id = 0, .distance = {10, 21}}, {.id = 1, .distance = {21, 10}}}};

static struct drv_place read_place(const char *device)
{
	struct drv_place p;
	struct drv_node node = {0};

	snprintf(node.pci, sizeof(node.pci), "%s", device);
	drv_place_read(root, &node, &p);
	return p;
}

static void atomics_are_what_the_kernel_enabled(void)
{
	CHECK_EQ(read_place(devices[0]).pcie.atomics, DRV_PCIE_ATOMICS_UNKNOWN); /* no such file */
	put_config(devices[0], true, 64);
	CHECK_EQ(read_place(devices[0]).pcie.atomics, DRV_PCIE_ATOMICS_UNKNOWN); /* a read without privileges */
	put_config(devices[0], true, 256);
	CHECK_EQ(read_place(devices[0]).pcie.atomics, DRV_PCIE_ATOMICS_YES);
	put_config(devices[0], false, 256);
	CHECK_EQ(read_place(devices[0]).pcie.atomics, DRV_PCIE_ATOMICS_NO);
}

static void a_place_is_read(void)
{
	struct drv_place p = read_place(devices[1]);

	CHECK(p.pcie.known && p.pcie.domain == 0 && p.pcie.bus == 0x0a && p.pcie.device == 0x1f &&
	      p.pcie.function == 1);
	p = read_place(devices[0]);
	CHECK_EQ(p.pcie.speed_MTps, 2500);
	CHECK_EQ(p.pcie.speed_max_MTps, 16000);
	CHECK(p.pcie.lanes == 16 && p.pcie.lanes_max == 16);
	CHECK_STR(p.unique_id, "d0b1c2a300112233");
	CHECK_EQ(p.pcie.bar_B, 16ull << 30);
	CHECK_STR(p.pcie.iommu, "DMA-FQ");
	CHECK_STR(read_place(devices[1]).pcie.iommu, "none");
	CHECK_EQ(read_place(devices[1]).pcie.bar_B, 0);
	CHECK_STR(p.vbios, "113-D1631400-X11");
	CHECK_EQ(p.numa_node, 0);
	CHECK_STR(p.numa_source, "/sys numa_node");
	CHECK_EQ(p.hive.id, 81985529216486895);
	CHECK_EQ(p.hive.peers, 1);
	CHECK_STR(p.hive.peer[0].pci, devices[1]);
	CHECK_EQ(p.hive.peer[0].hops, 2);
}

static void a_node_that_sys_does_not_tell_is_found_or_said_to_be_assumed(void)
{
	struct drv_place p = read_place(devices[2]);

	CHECK_EQ(p.numa_node, 1); /* the node of CPU 12 */
	CHECK_STR(p.numa_source, "/sys local_cpulist");
	CHECK_EQ(p.hive.id, 0);
	p = read_place(devices[3]);
	CHECK_EQ(p.numa_node, 0);
	CHECK(strstr(p.numa_source, "assumed"));
	p = read_place("");
	CHECK(!p.pcie.known && p.numa_node == 0);
	CHECK(strstr(p.numa_source, "masked"));
}

static void link_is(struct drv_link link, enum drv_link_type type, unsigned hops, unsigned weight, uint32_t MBps)
{
	CHECK_EQ(link.type, type);
	CHECK_EQ(link.hops, hops);
	CHECK_EQ(link.weight, weight);
	CHECK_EQ(link.bandwidth_MBps, MBps);
}

static void links_are_counted_as_kfd_does(void)
{
	struct drv_place p[4];

	for (unsigned i = 0; i < 4; i++)
		p[i] = read_place(devices[i]);
	link_is(drv_link_devices(&two_sockets, &p[0], &p[0]), DRV_LINK_SELF, 0, 0, 0);
	link_is(drv_link_devices(&two_sockets, &p[0], &p[1]), DRV_LINK_XGMI, 2, 30, 0);
	link_is(drv_link_devices(&two_sockets, &p[1], &p[0]), DRV_LINK_XGMI, 2, 30, 0);
	/* 16 GT/s on 8 lanes, across the other socket. */
	link_is(drv_link_devices(&two_sockets, &p[0], &p[2]), DRV_LINK_PCIE, 3, 61, 15753);
	link_is(drv_link_devices(&two_sockets, &p[0], &p[3]), DRV_LINK_PCIE, 2, 40, 0);
	link_is(drv_link_numa(&two_sockets, &p[0], 0), DRV_LINK_PCIE, 1, 20, 31507);
	link_is(drv_link_numa(&two_sockets, &p[0], 1), DRV_LINK_PCIE, 2, 41, 31507);
	link_is(drv_link_sockets(&two_sockets, 1, 0), DRV_LINK_SOCKET, 1, 21, 0);
	link_is(drv_link_sockets(&two_sockets, 1, 1), DRV_LINK_SELF, 0, 0, 0);
	/* A node that the host does not have: the distance of firmware without a SLIT. */
	link_is(drv_link_numa(&two_sockets, &p[0], 7), DRV_LINK_PCIE, 2, 40, 31507);
}

static void text_is_parsed_with_care(void)
{
	CHECK_EQ(drv_parse_speed("8.0 GT/s PCIe"), 8000);
	CHECK_EQ(drv_parse_speed("2.5 GT/s"), 2500);
	CHECK_EQ(drv_parse_speed("Unknown"), 0);
	CHECK_EQ(drv_parse_speed("-3 GT/s"), 0);
	CHECK_EQ(drv_parse_first_cpu("0-3,8"), 0);
	CHECK_EQ(drv_parse_first_cpu("96"), 96);
	CHECK_EQ(drv_parse_first_cpu(""), -1);
	CHECK_EQ(drv_parse_first_cpu("99999999"), -1);
	CHECK_EQ(drv_pcie_MBps(2500, 16), 4000);
	CHECK_EQ(drv_pcie_MBps(8000, 16), 15753);
	CHECK_EQ(drv_pcie_MBps(64000, 16), 128000);
	CHECK_EQ(drv_pcie_MBps(0, 16), 0);
}

static void the_host_has_nodes(void)
{
	static struct drv_host host;
	unsigned cpus = 0;

	drv_host_read(&host);
	CHECK(host.count >= 1 && host.source);
	for (unsigned i = 0; i < host.count; i++) {
		cpus += host.node[i].cpus;
		CHECK(host.node[i].free_B <= host.node[i].total_B);
		CHECK_EQ(drv_host_find(&host, host.node[i].id), i);
	}
	CHECK_EQ(cpus, sysconf(_SC_NPROCESSORS_CONF));
	CHECK(host.node[0].total_B > 0);
	CHECK_EQ(drv_host_find(&host, 12345), -1);
}

int main(void)
{
	char command[64];

	make_sys();
	a_place_is_read();
	atomics_are_what_the_kernel_enabled();
	a_node_that_sys_does_not_tell_is_found_or_said_to_be_assumed();
	links_are_counted_as_kfd_does();
	text_is_parsed_with_care();
	the_host_has_nodes();
	snprintf(command, sizeof(command), "rm -r %s", root);
	CHECK_EQ(system(command), 0);
	return check_done("topology");
}
