/* --device: selects one of the machine's GPUs by its number, its PCI address or its render node. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

/* True when the node has this name: a number ("1"), a node ("/dev/dri/renderD128", "renderD128") or an address
 * ("3:00.0", "0000:03:00.0"). */
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

/* Records that no GPU has that name, with the names of the existing ones. */
static int fail_name(const char *name, const struct drv_node *nodes, size_t count)
{
	char list[300] = "";
	size_t n = 0;

	for (size_t i = 0; i < count && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%u (%s, %s)", i ? ", " : "", nodes[i].index,
				      nodes[i].path, nodes[i].pci[0] ? nodes[i].pci : "PCI unknown");
	return drv_fail(-ENOENT, "no GPU is called %.40s; there %s %s", name, count == 1 ? "is" : "are", list);
}

int tool_scan(const char *command, const char *name, struct drv_node *nodes, size_t *count)
{
	int r = drv_scan(nodes, DRV_NODES_MAX, count);
	char begin[32];

	for (size_t i = 0; !r && name && i < *count; i++)
		if (is_named(&nodes[i], name)) {
			nodes[0] = nodes[i];
			*count = 1;
			return 0;
		}
	if (!r && name)
		r = fail_name(name, nodes, *count);
	if (r) {
		snprintf(begin, sizeof(begin), "tuff %s: ", command);
		tool_wrap(stderr, begin, drv_error_last()->why);
	}
	return r;
}

int tool_find_device(const char *command, const char *name, struct drv_node *node)
{
	struct drv_node nodes[DRV_NODES_MAX];
	size_t count;
	int r = tool_scan(command, name, nodes, &count);

	*node = nodes[0];
	return r;
}
