/* Topology: the position of devices, the host's NUMA nodes, and the links between them.
 *
 *   drv_place  position of a device: PCI address and link, NUMA node, xGMI hive
 *   drv_host   the NUMA nodes of the host
 *   drv_link   connection between two of them
 *
 * All structs are plain data of the caller, without locks; a call reads them, opening a device does not. Thread
 * safe. */
#ifndef DRV_TOPOLOGY_H
#define DRV_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/device.h"

#define DRV_SYSFS            "/sys"
#define DRV_HIVE_MAX         16 /* devices of one xGMI hive; today's largest has 8 */
#define DRV_NUMA_MAX         64
#define DRV_CPUS_MAX         2048
#define DRV_DISTANCE_UNKNOWN 0

/* Whether the device may send atomic operations over PCIe. The kernel allows it where every bridge up to the root
 * port forwards them (amdgpu tests it when it starts), and stores the result in the device's configuration space.
 * Only CAP_SYS_ADMIN reads that in full. */
enum drv_pcie_atomics { DRV_PCIE_ATOMICS_UNKNOWN, DRV_PCIE_ATOMICS_NO, DRV_PCIE_ATOMICS_YES };

struct drv_pcie {
	bool known; /* the PCI address is valid; false where /sys is masked */
	uint32_t domain;
	uint8_t bus, device, function;
	uint32_t speed_MTps, lanes;         /* current; a sleeping card lowers its link speed. 0: unknown */
	uint32_t speed_max_MTps, lanes_max; /* best that card and slot support */
	enum drv_pcie_atomics atomics;
	uint64_t bar_B; /* size of the window on VRAM; 0: unknown */
	char iommu[16]; /* type of the device's IOMMU domain ("DMA", "identity"), "none", or "" if unknown */
};

struct drv_hive_peer {
	char pci[16];
	uint32_t hops; /* 0: unknown to this kernel (before Linux 5.14), or the device itself */
};

struct drv_hive {
	uint64_t id; /* 0: the device is in no hive */
	uint64_t device_id;
	unsigned peers; /* number of peers, without the device itself */
	struct drv_hive_peer peer[DRV_HIVE_MAX];
};

struct drv_place {
	struct drv_pcie pcie;
	int numa_node;           /* nearest to the device; never negative */
	const char *numa_source; /* source of numa_node; static */
	bool numa_told;          /* the kernel reported it, and takes its own memory for the device from there */
	struct drv_hive hive;
	/* unique number of the chip, hexadecimal; "" where the kernel gives none (consumer boards) */
	char unique_id[32];
	char vbios[64]; /* "113-D1631400-X11"; "" if unknown */
};

/* Reads the place of a node below a root of /sys (DRV_SYSFS). Unreadable values stay 0 or "": masked files are
 * common. Enters the kernel. */
void drv_place_read(const char *sysfs, const struct drv_node *node, struct drv_place *place);

struct drv_numa {
	int id;
	uint64_t total_B, free_B; /* memory; 0: the node has none */
	unsigned cpus;
	uint64_t cpu_mask[DRV_CPUS_MAX / 64];
	uint8_t distance[DRV_NUMA_MAX]; /* distance to node[i], from the firmware's SLIT: 10 is local. 0: unknown */
};

struct drv_host {
	unsigned count; /* at least 1 */
	const char *source;
	struct drv_numa node[DRV_NUMA_MAX];
};

/* Reads the host's NUMA nodes through libnuma; without NUMA in the kernel, one node with all CPUs and memory. */
void drv_host_read(struct drv_host *host);
/* Position of the NUMA node in host->node, or -1. */
int drv_host_find(const struct drv_host *host, int numa_node);

enum drv_link_type { DRV_LINK_SELF, DRV_LINK_PCIE, DRV_LINK_XGMI, DRV_LINK_SOCKET };
const char *drv_link_name(enum drv_link_type type);

/* A path between devices or nodes. `type` is the weakest type on the path; SOCKET is the connection between the
 * host's NUMA nodes, of any kind. `hops` and `weight` follow ROCm: KFD counts 20 for a PCIe link, 15 per hop for
 * xGMI, the SLIT distance between sockets (kfd_crat.c), and adds them up along the path (kfd_topology.c). */
struct drv_link {
	enum drv_link_type type;
	unsigned hops;
	unsigned weight;
	uint32_t bandwidth_MBps; /* best rate of the narrowest PCIe link on the path, one direction; 0: unknown */
};

/* Links between two devices; between a device and a NUMA node; between two NUMA nodes. */
struct drv_link drv_link_devices(const struct drv_host *host, const struct drv_place *a, const struct drv_place *b);
struct drv_link drv_link_numa(const struct drv_host *host, const struct drv_place *a, int numa_node);
struct drv_link drv_link_sockets(const struct drv_host *host, int a, int b);

/* --- for topology_test.c ------------------------------------------------------------------------ */

/* Parses a link speed: "16.0 GT/s PCIe" gives 16000; 0 for anything else. */
uint32_t drv_parse_speed(const char *text);
/* Parses a CPU list: "0-3,8" gives its first CPU; -1: none. */
int drv_parse_first_cpu(const char *text);
/* Bytes that a link transfers in one direction, in MB/s, before packet overhead. */
uint32_t drv_pcie_MBps(uint32_t speed_MTps, uint32_t lanes);

#endif
