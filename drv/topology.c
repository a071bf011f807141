/* Places and links. Sources for the layout of /sys: Linux Documentation/ABI/testing/sysfs-bus-pci; amdgpu_xgmi.c
 * for hives. */
#include "drv/cancel.h"
#include "drv/topology.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- files -------------------------------------------------------------------------------------- */

/* Reads the first line of DIR/NAME without its newline; "" when it cannot be read. */
static void read_line(const char *dir, const char *name, char *text, size_t text_B)
{
	DRV_HOLD_CANCEL;
	char path[PATH_MAX];
	FILE *file;

	*text = 0;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(text, (int)text_B, file))
		text[strcspn(text, "\n")] = 0;
	fclose(file);
}

static uint64_t read_number(const char *dir, const char *name)
{
	char text[64];

	read_line(dir, name, text, sizeof(text));
	return strtoull(text, NULL, 0);
}

uint32_t drv_parse_speed(const char *text)
{
	double GTps;

	if (sscanf(text, "%lf GT/s", &GTps) != 1 || GTps <= 0 || GTps > 1024)
		return 0;
	return (uint32_t)(GTps * 1000 + 0.5);
}

int drv_parse_first_cpu(const char *text)
{
	int cpu;

	return sscanf(text, "%d", &cpu) == 1 && cpu >= 0 && cpu < DRV_CPUS_MAX ? cpu : -1;
}

uint32_t drv_pcie_MBps(uint32_t speed_MTps, uint32_t lanes)
{
	/* PCIe 1 and 2 use 8b/10b, 3 to 5 use 128b/130b, 6 has no line code. */
	uint64_t num = speed_MTps <= 5000 ? 8 : speed_MTps <= 32000 ? 128 : 1;
	uint64_t den = speed_MTps <= 5000 ? 10 : speed_MTps <= 32000 ? 130 : 1;

	return (uint32_t)((uint64_t)speed_MTps * lanes * num / den / 8);
}

/* --- places ------------------------------------------------------------------------------------- */

/* Configuration space, PCI and PCI Express base specifications. */
#define PCI_STATUS        0x06
#define PCI_STATUS_CAPS   0x10
#define PCI_CAPS          0x34
#define PCI_CAP_EXPRESS   0x10
#define EXPRESS_CONTROL_2 0x28 /* offset in the capability */
#define CONTROL_2_ATOMICS 0x40 /* AtomicOp Requester Enable */
#define PCI_CONFIG_B      256

static enum drv_pcie_atomics read_atomics(const char *dir)
{
	DRV_HOLD_CANCEL;
	uint8_t config[PCI_CONFIG_B] = {0};
	char path[PATH_MAX + 16];
	size_t size_B;
	FILE *file;

	snprintf(path, sizeof(path), "%s/config", dir);
	file = fopen(path, "re");
	size_B = file ? fread(config, 1, sizeof(config), file) : 0;
	if (file)
		fclose(file);
	/* A process without CAP_SYS_ADMIN gets the first 64 bytes. */
	if (size_B < sizeof(config) || !(config[PCI_STATUS] & PCI_STATUS_CAPS))
		return DRV_PCIE_ATOMICS_UNKNOWN;
	for (unsigned at = config[PCI_CAPS] & ~3u, steps = 0; at >= 64 && steps < 48;
	     at = config[at + 1] & ~3u, steps++)
		if (config[at] == PCI_CAP_EXPRESS && at + EXPRESS_CONTROL_2 < sizeof(config))
			return config[at + EXPRESS_CONTROL_2] & CONTROL_2_ATOMICS ? DRV_PCIE_ATOMICS_YES
										  : DRV_PCIE_ATOMICS_NO;
	return DRV_PCIE_ATOMICS_UNKNOWN;
}

/* Line 0 of "resource" is BAR 0 (first address, last, flags), the window on VRAM of AMD's cards. */
static uint64_t read_bar(const char *dir)
{
	unsigned long long first = 0, last = 0;
	char text[128];

	read_line(dir, "resource", text, sizeof(text));
	return sscanf(text, "%llx %llx", &first, &last) == 2 && last > first ? last - first + 1 : 0;
}

static void read_iommu(const char *dir, char *iommu, size_t iommu_B)
{
	char text[64], path[PATH_MAX + 16];

	read_line(dir, "iommu_group/type", text, sizeof(text));
	snprintf(path, sizeof(path), "%s/iommu_group", dir);
	snprintf(iommu, iommu_B, "%.15s", *text || !access(path, F_OK) ? text : access(dir, F_OK) ? "" : "none");
}

static void read_pcie(const char *dir, const char *address, struct drv_pcie *pcie)
{
	unsigned domain, bus, device, function;
	char text[64];

	if (sscanf(address, "%x:%x:%x.%u", &domain, &bus, &device, &function) != 4)
		return;
	pcie->known = true;
	pcie->domain = domain;
	pcie->bus = (uint8_t)bus;
	pcie->device = (uint8_t)device;
	pcie->function = (uint8_t)function;
	read_line(dir, "current_link_speed", text, sizeof(text));
	pcie->speed_MTps = drv_parse_speed(text);
	read_line(dir, "max_link_speed", text, sizeof(text));
	pcie->speed_max_MTps = drv_parse_speed(text);
	pcie->lanes = (uint32_t)read_number(dir, "current_link_width");
	pcie->lanes_max = (uint32_t)read_number(dir, "max_link_width");
	pcie->atomics = read_atomics(dir);
	pcie->bar_B = read_bar(dir);
	read_iommu(dir, pcie->iommu, sizeof(pcie->iommu));
}

/* Finds the node of a CPU: /sys/devices/system/cpu/cpuN has a link called nodeM. */
static int node_of_cpu(const char *sysfs, int cpu)
{
	DRV_HOLD_CANCEL;
	char path[PATH_MAX];
	struct dirent *entry;
	int node = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%d", sysfs, cpu);
	dir = opendir(path);
	while (dir && node < 0 && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "node%d", &node) != 1)
			node = -1;
	if (dir)
		closedir(dir);
	return node;
}

static void read_numa(const char *sysfs, const char *dir, struct drv_place *place)
{
	char text[256];
	int cpu;

	read_line(dir, "numa_node", text, sizeof(text));
	if (*text && sscanf(text, "%d", &place->numa_node) == 1 && place->numa_node >= 0) {
		place->numa_source = "/sys numa_node";
		place->numa_told = true;
		return;
	}
	read_line(dir, "local_cpulist", text, sizeof(text));
	cpu = drv_parse_first_cpu(text);
	place->numa_node = cpu >= 0 ? node_of_cpu(sysfs, cpu) : -1;
	place->numa_source = "/sys local_cpulist";
	if (place->numa_node < 0) {
		place->numa_node = 0;
		place->numa_source = "assumed: /sys does not tell";
	}
}

/* Peers are links called node1, node2, ... in the order in which the hive counts hops. */
static void read_peers(const char *dir, const char *self, struct drv_hive *hive)
{
	char hops[256], *next = hops;

	read_line(dir, "xgmi_num_hops", hops, sizeof(hops));
	for (unsigned i = 1; i <= DRV_HIVE_MAX; i++) {
		struct drv_hive_peer peer = {0};
		char path[PATH_MAX + 32], to[PATH_MAX];
		ssize_t n;

		peer.hops = (uint32_t)strtoul(next, &next, 16);
		snprintf(path, sizeof(path), "%s/xgmi_hive_info/node%u", dir, i);
		n = readlink(path, to, sizeof(to) - 1);
		if (n <= 0)
			continue;
		to[n] = 0;
		snprintf(peer.pci, sizeof(peer.pci), "%.15s", strrchr(to, '/') ? strrchr(to, '/') + 1 : to);
		if (strcmp(peer.pci, self))
			hive->peer[hive->peers++] = peer;
	}
}

static void read_hive(const char *dir, const char *self, struct drv_hive *hive)
{
	hive->id = read_number(dir, "xgmi_hive_info/xgmi_hive_id");
	hive->device_id = read_number(dir, "xgmi_device_id");
	if (hive->id)
		read_peers(dir, self, hive);
}

void drv_place_read(const char *sysfs, const struct drv_node *node, struct drv_place *place)
{
	char dir[PATH_MAX];

	*place = (struct drv_place){.numa_source = "assumed: /sys is masked"};
	if (!node->pci[0])
		return;
	snprintf(dir, sizeof(dir), "%s/bus/pci/devices/%s", sysfs, node->pci);
	read_pcie(dir, node->pci, &place->pcie);
	read_numa(sysfs, dir, place);
	read_hive(dir, node->pci, &place->hive);
	read_line(dir, "unique_id", place->unique_id, sizeof(place->unique_id));
	read_line(dir, "vbios_version", place->vbios, sizeof(place->vbios));
}

/* --- links -------------------------------------------------------------------------------------- */

#define WEIGHT_PCIE     20
#define WEIGHT_XGMI_HOP 15
/* Distances without a SLIT in the firmware. */
#define DISTANCE_LOCAL  10
#define DISTANCE_REMOTE 20

const char *drv_link_name(enum drv_link_type type)
{
	static const char *const names[] = {"itself", "PCIe", "xGMI", "socket"};

	return names[type];
}

int drv_host_find(const struct drv_host *host, int numa_node)
{
	for (unsigned i = 0; i < host->count; i++)
		if (host->node[i].id == numa_node)
			return (int)i;
	return -1;
}

static unsigned numa_distance_of(const struct drv_host *host, int from, int to)
{
	int a = drv_host_find(host, from), b = drv_host_find(host, to);
	unsigned d = a >= 0 && b >= 0 ? host->node[a].distance[b] : DRV_DISTANCE_UNKNOWN;

	if (d != DRV_DISTANCE_UNKNOWN)
		return d;
	return from == to ? DISTANCE_LOCAL : DISTANCE_REMOTE;
}

static uint32_t best_MBps(const struct drv_pcie *pcie)
{
	return pcie->speed_max_MTps && pcie->lanes_max ? drv_pcie_MBps(pcie->speed_max_MTps, pcie->lanes_max)
						       : drv_pcie_MBps(pcie->speed_MTps, pcie->lanes);
}

static bool same_address(const struct drv_pcie *a, const struct drv_pcie *b)
{
	return a->known && b->known && a->domain == b->domain && a->bus == b->bus && a->device == b->device &&
	       a->function == b->function;
}

/* True when b is in a's hive; *hops is then their distance. */
static bool hive_hops(const struct drv_hive *a, const struct drv_pcie *b, unsigned *hops)
{
	for (unsigned i = 0; i < a->peers; i++) {
		unsigned domain, bus, device, function;

		if (sscanf(a->peer[i].pci, "%x:%x:%x.%u", &domain, &bus, &device, &function) != 4 ||
		    domain != b->domain || bus != b->bus || device != b->device || function != b->function)
			continue;
		*hops = a->peer[i].hops ? a->peer[i].hops : 1;
		return true;
	}
	return false;
}

struct drv_link drv_link_devices(const struct drv_host *host, const struct drv_place *a, const struct drv_place *b)
{
	uint32_t x = best_MBps(&a->pcie), y = best_MBps(&b->pcie);
	struct drv_link link = {.type = DRV_LINK_PCIE, .hops = 2, .weight = 2 * WEIGHT_PCIE};
	unsigned hops;

	if (a == b || same_address(&a->pcie, &b->pcie))
		return (struct drv_link){.type = DRV_LINK_SELF};
	if (a->hive.id && a->hive.id == b->hive.id && hive_hops(&a->hive, &b->pcie, &hops))
		return (struct drv_link){.type = DRV_LINK_XGMI, .hops = hops, .weight = WEIGHT_XGMI_HOP * hops};
	if (a->numa_node != b->numa_node) {
		link.hops++;
		link.weight += numa_distance_of(host, a->numa_node, b->numa_node);
	}
	link.bandwidth_MBps = x < y ? x : y;
	return link;
}

struct drv_link drv_link_numa(const struct drv_host *host, const struct drv_place *a, int numa_node)
{
	struct drv_link link = {
		.type = DRV_LINK_PCIE, .hops = 1, .weight = WEIGHT_PCIE, .bandwidth_MBps = best_MBps(&a->pcie)};

	if (a->numa_node != numa_node) {
		link.hops++;
		link.weight += numa_distance_of(host, a->numa_node, numa_node);
	}
	return link;
}

struct drv_link drv_link_sockets(const struct drv_host *host, int a, int b)
{
	if (a == b)
		return (struct drv_link){.type = DRV_LINK_SELF};
	return (struct drv_link){.type = DRV_LINK_SOCKET, .hops = 1, .weight = numa_distance_of(host, a, b)};
}
