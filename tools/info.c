/* tuff info: what a person wants to know of each device and of the host, and where each fact came from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/info.h"
#include "tools/tool.h"

/* One device: its facts, and why it cannot be used if so. */
static void show(const struct info_device *d, json_object *array)
{
	const struct drv_device *dev = d->dev;
	struct sheet sheet = {.json = array, .object = array ? json_object_new_object() : NULL};

	if (array) {
		json_object_object_add(sheet.object, "node", json_object_new_string(dev->node.path));
		json_object_array_add(array, sheet.object);
		if (dev->refusal)
			json_object_object_add(sheet.object, "error", json_object_new_string(dev->refusal_text));
	} else {
		printf("%s\n", dev->node.path);
		if (dev->refusal)
			printf("  cannot be used: %s\n", dev->refusal_text);
	}
	info_put_device(&sheet, d);
}

/* Opens what there is; gives how many. */
static unsigned look_at_all(struct info_device *devices)
{
	struct drv_node nodes[DRV_NODES_MAX];
	unsigned looked = 0;
	size_t count;

	if (drv_scan(nodes, DRV_NODES_MAX, &count)) {
		fprintf(stderr, "tuff info: %s\n", drv_error_last()->text);
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		if (drv_device_examine(&nodes[i], &devices[looked].dev)) {
			fprintf(stderr, "tuff info: %s\n", drv_error_last()->text);
			continue;
		}
		drv_place_read(DRV_SYSFS, &nodes[i], &devices[looked++].place);
	}
	return looked;
}

static void print_json(json_object *root)
{
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
}

static int show_all(bool json)
{
	static struct info_device devices[DRV_NODES_MAX];
	static struct drv_host host;
	json_object *root = json ? json_object_new_object() : NULL, *array = NULL;
	unsigned count = look_at_all(devices), usable = 0;

	if (json) {
		array = json_object_new_array();
		json_object_object_add(root, "devices", array);
	}
	for (unsigned i = 0; i < count; i++) {
		show(&devices[i], array);
		usable += !devices[i].dev->refusal;
	}
	drv_host_read(&host);
	info_put_host(&host, root);
	info_put_links(&host, devices, count, root);
	if (json) {
		print_json(root);
		json_object_put(root);
	}
	for (unsigned i = 0; i < count; i++)
		drv_device_close(devices[i].dev);
	if (drv_config()->problem[0])
		fprintf(stderr, "tuff info: %s\n", drv_config()->problem);
	return usable ? 0 : 1;
}

static const char usage_text[] = "usage: tuff info [OPTION]...\n"
				 "Shows what GPUs there are, what they can do, and where each fact comes from.\n"
				 "  --gpu SPEC      show virtual GPUs instead; tuff run --list has the chips\n"
				 "  --json          print JSON\n"
				 "  --help          print this\n";

int tool_info(int argc, char **argv)
{
	const char *spec = NULL;
	bool json = false;
	const struct tool_option options[] = {{"--gpu", .value = &spec}, {"--json", .flag = &json}, {NULL}};
	int status, i = tool_options(argc, argv, options, usage_text, &status);

	if (i < 0)
		return status;
	if (i < argc)
		return tool_mistake(usage_text, "info", "no use for %s", argv[i]);
	return tool_start_gpu(spec) ? 1 : show_all(json);
}
