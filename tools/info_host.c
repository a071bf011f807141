/* The host's NUMA nodes, and the links between devices and nodes. */
#include <stdio.h>
#include <string.h>

#include "tools/info.h"

/* Formats a CPU list: "0-3,8". */
static void format_cpus(char *text, size_t text_B, const struct drv_numa *node)
{
	size_t n = 0;

	*text = 0;
	for (unsigned cpu = 0, first; cpu < DRV_CPUS_MAX && n + 24 < text_B; cpu++) {
		if (!(node->cpu_mask[cpu / 64] >> cpu % 64 & 1))
			continue;
		for (first = cpu; cpu + 1 < DRV_CPUS_MAX && node->cpu_mask[(cpu + 1) / 64] >> (cpu + 1) % 64 & 1;)
			cpu++;
		n += (size_t)snprintf(text + n, text_B - n, first == cpu ? "%s%u" : "%s%u-%u", n ? "," : "", first,
				      cpu);
	}
}

static void print_node(const struct drv_host *host, const struct drv_numa *node, const char *cpus)
{
	char total[32], unused[32];

	sheet_format_size(total, sizeof(total), node->total_B);
	sheet_format_size(unused, sizeof(unused), node->free_B);
	printf("  NUMA node %-3d %s, %s free; %u CPUs: %s; distances", node->id, total, unused, node->cpus,
	       *cpus ? cpus : "none");
	for (unsigned i = 0; i < host->count; i++)
		printf(" %u", node->distance[i]);
	printf("\n");
}

static json_object *node_json(const struct drv_host *host, const struct drv_numa *node, const char *cpus)
{
	json_object *o = json_object_new_object(), *distances = json_object_new_array();

	json_object_object_add(o, "node", json_object_new_int(node->id));
	json_object_object_add(o, "memory_B", json_object_new_uint64(node->total_B));
	json_object_object_add(o, "free_B", json_object_new_uint64(node->free_B));
	json_object_object_add(o, "cpus", json_object_new_string(cpus));
	for (unsigned i = 0; i < host->count; i++)
		json_object_array_add(distances, json_object_new_int(node->distance[i]));
	json_object_object_add(o, "distances", distances);
	return o;
}

void info_put_host(const struct drv_host *host, json_object *object)
{
	json_object *nodes = object ? json_object_new_array() : NULL, *o;
	char cpus[512];

	if (!object)
		printf("host (%s)\n", host->source);
	for (unsigned i = 0; i < host->count; i++) {
		format_cpus(cpus, sizeof(cpus), &host->node[i]);
		if (object)
			json_object_array_add(nodes, node_json(host, &host->node[i], cpus));
		else
			print_node(host, &host->node[i], cpus);
	}
	if (!object)
		return;
	o = json_object_new_object();
	json_object_object_add(o, "source", json_object_new_string(host->source));
	json_object_object_add(o, "numa_nodes", nodes);
	json_object_object_add(object, "host", o);
}

/* --- links -------------------------------------------------------------------------------------- */

/* Rows and columns of the table: devices, then NUMA nodes. */
static const char *short_name(const struct info_device *d)
{
	const char *name = strstr(d->dev->node.path, "renderD");

	return name ? name : d->dev->node.path;
}

static void add_link(json_object *array, const char *from, const char *to, const struct drv_link *link)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "from", json_object_new_string(from));
	json_object_object_add(o, "to", json_object_new_string(to));
	json_object_object_add(o, "type", json_object_new_string(drv_link_name(link->type)));
	json_object_object_add(o, "hops", json_object_new_int((int)link->hops));
	json_object_object_add(o, "weight", json_object_new_int((int)link->weight));
	json_object_object_add(o, "bandwidth_MBps", json_object_new_uint64(link->bandwidth_MBps));
	json_object_array_add(array, o);
}

static void print_link(const struct drv_link *link)
{
	char text[32];

	if (link->type == DRV_LINK_SELF)
		snprintf(text, sizeof(text), "-");
	else
		snprintf(text, sizeof(text), "%s %u, %u", drv_link_name(link->type), link->hops, link->weight);
	printf(" %-12s", text);
}

static void print_header(const struct drv_host *host, const struct info_device *devices, unsigned count)
{
	printf("links: type and hops, weight as ROCm counts\n  %-12s", "");
	for (unsigned i = 0; i < count; i++)
		printf(" %-12s", short_name(&devices[i]));
	for (unsigned i = 0; i < host->count; i++) {
		char name[24];

		snprintf(name, sizeof(name), "NUMA %d", host->node[i].id);
		printf(" %-12s", name);
	}
	printf("\n");
}

static void put_row(const struct drv_host *host, const struct info_device *devices, unsigned count, unsigned row,
		    json_object *array)
{
	const struct info_device *d = &devices[row];

	if (!array)
		printf("  %-12s", short_name(d));
	for (unsigned i = 0; i < count; i++) {
		struct drv_link link = drv_link_devices(host, &d->place, &devices[i].place);

		if (!array)
			print_link(&link);
		else if (i != row)
			add_link(array, d->dev->node.path, devices[i].dev->node.path, &link);
	}
	for (unsigned i = 0; i < host->count; i++) {
		struct drv_link link = drv_link_numa(host, &d->place, host->node[i].id);
		char name[24];

		snprintf(name, sizeof(name), "NUMA %d", host->node[i].id);
		if (array)
			add_link(array, d->dev->node.path, name, &link);
		else
			print_link(&link);
	}
	if (!array)
		printf("\n");
}

/* Adds links between the host's own nodes, for JSON only: people read the distances. */
static void add_sockets(const struct drv_host *host, json_object *array)
{
	for (unsigned i = 0; i < host->count * host->count; i++) {
		int a = host->node[i / host->count].id, b = host->node[i % host->count].id;
		struct drv_link link = drv_link_sockets(host, a, b);
		char from[24], to[24];

		snprintf(from, sizeof(from), "NUMA %d", a);
		snprintf(to, sizeof(to), "NUMA %d", b);
		if (a != b)
			add_link(array, from, to, &link);
	}
}

void info_put_links(const struct drv_host *host, const struct info_device *devices, unsigned count,
		    json_object *object)
{
	json_object *array = object ? json_object_new_array() : NULL;

	if (object)
		json_object_object_add(object, "links", array);
	else if (count > 1)
		print_header(host, devices, count);
	for (unsigned i = 0; i < count && (object || count > 1); i++)
		put_row(host, devices, count, i, array);
	if (object)
		add_sockets(host, array);
}
