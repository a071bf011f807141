/* --device: one GPU of those that there are, by its number, its PCI address or its render node. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

/* "128" is no number of a GPU, "/dev/dri/renderD128" and "renderD128" are nodes, "3:00.0" and "0000:03:00.0"
 * addresses. */
static bool is_named(const struct drv_node *node, const char *name)
{
	unsigned d = 0, b, s, f, domain, bus, slot, function;
	char *end;
	unsigned long n = strtoul(name, &end, 10);

	if (*name && !*end)
		return n == node->index;
	if (!strcmp(node->path, name) || !strcmp(strrchr(node->path, '/') + 1, name))
		return true;
	if (sscanf(name, "%x:%x:%x.%u", &d, &b, &s, &f) != 4 && (d = 0, sscanf(name, "%x:%x.%u", &b, &s, &f) != 3))
		return false;
	return sscanf(node->pci, "%x:%x:%x.%u", &domain, &bus, &slot, &function) == 4 && d == domain && b == bus &&
	       s == slot && f == function;
}

int tool_scan(const char *command, const char *name, struct drv_node *nodes, size_t *count)
{
	int r = drv_scan(nodes, DRV_NODES_MAX, count);

	if (r) {
		char begin[32];

		snprintf(begin, sizeof(begin), "tuff %s: ", command);
		tool_wrap(stderr, begin, drv_error_last()->why);
		return r;
	}
	for (size_t i = 0; name && i < *count; i++)
		if (is_named(&nodes[i], name)) {
			nodes[0] = nodes[i];
			*count = 1;
			return 0;
		}
	if (!name)
		return 0;
	fprintf(stderr, "tuff %s: no GPU is called %s; there %s:\n", command, name, *count == 1 ? "is" : "are");
	for (size_t i = 0; i < *count; i++)
		fprintf(stderr, "  %u  %s  %s\n", nodes[i].index, nodes[i].path, nodes[i].pci);
	return -ENOENT;
}

int tool_find_device(const char *command, const char *name, struct drv_node *node)
{
	struct drv_node nodes[DRV_NODES_MAX];
	size_t count;
	int r = tool_scan(command, name, nodes, &count);

	*node = nodes[0];
	return r;
}
