/* The host's NUMA nodes, through libnuma. */
#include "drv/cancel.h"
#include "drv/topology.h"

#include <string.h>
#include <unistd.h>

#include <numa.h>

static void read_cpus(struct drv_numa *node)
{
	struct bitmask *mask = numa_allocate_cpumask();

	if (!mask)
		return;
	if (!numa_node_to_cpus(node->id, mask))
		for (unsigned cpu = 0; cpu < mask->size && cpu < DRV_CPUS_MAX; cpu++)
			if (numa_bitmask_isbitset(mask, cpu)) {
				node->cpu_mask[cpu / 64] |= 1ull << cpu % 64;
				node->cpus++;
			}
	numa_free_cpumask(mask);
}

static void read_memory(struct drv_numa *node)
{
	long long free_B = 0, total_B = numa_node_size64(node->id, &free_B);

	node->total_B = total_B > 0 ? (uint64_t)total_B : 0;
	node->free_B = free_B > 0 ? (uint64_t)free_B : 0;
}

static void read_distances(struct drv_host *host)
{
	for (unsigned a = 0; a < host->count; a++)
		for (unsigned b = 0; b < host->count; b++) {
			int d = numa_distance(host->node[a].id, host->node[b].id);

			host->node[a].distance[b] = d > 0 && d < 256 ? (uint8_t)d : DRV_DISTANCE_UNKNOWN;
		}
}

/* A kernel without NUMA, or a sandbox that forbids its system calls. */
static void read_single_node(struct drv_host *host)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), page_B = sysconf(_SC_PAGESIZE);
	struct drv_numa *node = &host->node[0];

	host->count = 1;
	host->source = "sysconf: no NUMA here";
	node->cpus = cpus > 0 ? (unsigned)cpus : 1;
	for (unsigned cpu = 0; cpu < node->cpus && cpu < DRV_CPUS_MAX; cpu++)
		node->cpu_mask[cpu / 64] |= 1ull << cpu % 64;
	node->total_B = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)page_B;
	node->free_B = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)page_B;
	node->distance[0] = 10;
}

void drv_host_read(struct drv_host *host)
{
	DRV_HOLD_CANCEL;

	*host = (struct drv_host){.source = "libnuma"};
	if (numa_available() >= 0)
		for (int id = 0; id <= numa_max_node() && host->count < DRV_NUMA_MAX; id++) {
			struct drv_numa *node = &host->node[host->count];

			if (!numa_bitmask_isbitset(numa_nodes_ptr, (unsigned)id))
				continue;
			node->id = id;
			read_cpus(node);
			read_memory(node);
			host->count++;
		}
	if (host->count)
		read_distances(host);
	else
		read_single_node(host);
}
