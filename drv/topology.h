/* Topology: where devices sit, what the host is made of, and what lies between them.
 *
 *   drv_place  a device's seat: PCI address and link, NUMA node, xGMI hive
 *   drv_host   the NUMA nodes of the host
 *   drv_link   what lies between two of them
 *
 * All of it is plain data, read when asked for and not at opening. Thread safe. */
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
 * port passes them on (amdgpu asks at start), and keeps the answer in the device's configuration space, which only
 * CAP_SYS_ADMIN reads in full. */
enum drv_pcie_atomics { DRV_PCIE_ATOMICS_UNKNOWN, DRV_PCIE_ATOMICS_NO, DRV_PCIE_ATOMICS_YES };

struct drv_pcie {
	bool known; /* the address; /sys may be masked */
	uint32_t domain;
	uint8_t bus, device, function;
	uint32_t speed_MTps, lanes;         /* now; a sleeping card slows its link down. 0: not told */
	uint32_t speed_max_MTps, lanes_max; /* what card and slot can do */
	enum drv_pcie_atomics atomics;
	uint64_t bar_B; /* of the window on VRAM; 0: not told */
	char iommu[16]; /* how the host's IOMMU serves the device ("DMA", "identity"), "none", or "" if not told */
};

struct drv_hive_peer {
	char pci[16];
	uint32_t hops; /* 0: this kernel does not tell (before Linux 5.14), or it is the device itself */
};

struct drv_hive {
	uint64_t id; /* 0: the device is in none */
	uint64_t device_id;
	unsigned peers; /* the device itself not counted */
	struct drv_hive_peer peer[DRV_HIVE_MAX];
};

struct drv_place {
	struct drv_pcie pcie;
	int numa_node;           /* nearest to the device; never negative */
	const char *numa_source; /* how it is known; static */
	bool numa_told;          /* the kernel names it: its own memory for the device comes from there */
	struct drv_hive hive;
	char unique_id[32]; /* of the chip, hexadecimal; "" where the kernel gives none (consumer boards) */
	char vbios[64];     /* "113-D1631400-X11"; "" if not told */
};

/* Reads the place of a node below a root of /sys (DRV_SYSFS). What cannot be read stays 0 or "": masked files are
 * ordinary. Enters the kernel. */
void drv_place_read(const char *sysfs, const struct drv_node *node, struct drv_place *place);

struct drv_numa {
	int id;
	uint64_t total_B, free_B; /* memory; 0: the node has none */
	unsigned cpus;
	uint64_t cpu_mask[DRV_CPUS_MAX / 64];
	uint8_t distance[DRV_NUMA_MAX]; /* to node[i], as the firmware's SLIT has it: 10 local. 0: not told */
};

struct drv_host {
	unsigned count; /* at least 1 */
	const char *source;
	struct drv_numa node[DRV_NUMA_MAX];
};

/* Reads the host's NUMA nodes through libnuma; without NUMA in the kernel, one node with all there is. */
void drv_host_read(struct drv_host *host);
/* The position of the NUMA node in host->node, or -1. */
int drv_host_find(const struct drv_host *host, int numa_node);

enum drv_link_type { DRV_LINK_SELF, DRV_LINK_PCIE, DRV_LINK_XGMI, DRV_LINK_SOCKET };
const char *drv_link_name(enum drv_link_type type);

/* The weakest type on the way; SOCKET is whatever the host has between its NUMA nodes. hops and weight are what
 * ROCm's users know: KFD counts 20 for a PCIe link, 15 a hop for xGMI, the SLIT distance between sockets
 * (kfd_crat.c), and adds them up on the way (kfd_topology.c). */
struct drv_link {
	enum drv_link_type type;
	unsigned hops;
	unsigned weight;
	uint32_t bandwidth_MBps; /* of the narrowest PCIe link on the way, at best, one direction; 0: not known */
};

/* Between two devices; between a device and a NUMA node of the host; between two nodes. */
struct drv_link drv_link_devices(const struct drv_host *host, const struct drv_place *a, const struct drv_place *b);
struct drv_link drv_link_numa(const struct drv_host *host, const struct drv_place *a, int numa_node);
struct drv_link drv_link_sockets(const struct drv_host *host, int a, int b);

/* --- for topology_test.c ------------------------------------------------------------------------ */

/* "16.0 GT/s PCIe" -> 16000; 0 for anything else. */
uint32_t drv_parse_speed(const char *text);
/* "0-3,8" -> the first CPU, or -1. */
int drv_parse_first_cpu(const char *text);
/* Bytes that a link moves in one direction, in MB/s, before packet overhead. */
uint32_t drv_pcie_MBps(uint32_t speed_MTps, uint32_t lanes);

#endif
