/* tuff info: whether each device can be used; all known facts of the devices and the host, each with its source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/info.h"
#include "tools/tool.h"

/* Shows one device: its facts and, if it cannot be used, the reason. */
static void show_devices(const struct info_device *d, json_object *array)
{
	const struct drv_device *dev = d->dev;
	const char *verdict = drv_device_verdict(dev);
	struct sheet sheet = {.json = array, .object = array ? json_object_new_object() : NULL};

	if (array) {
		json_object_object_add(sheet.object, "node", json_object_new_string(dev->node.path));
		json_object_array_add(array, sheet.object);
		json_object_object_add(sheet.object, "opens", json_object_new_boolean(!dev->refusal));
		json_object_object_add(sheet.object, "usable", json_object_new_boolean(!verdict));
		if (verdict)
			json_object_object_add(sheet.object, "error", json_object_new_string(verdict));
	} else {
		printf("%s\n", dev->node.path);
		if (verdict)
			printf("  cannot be used: %s\n", verdict);
	}
	info_put_device(&sheet, d);
}

/* Opens all devices, or the one called name; gives their number. */
static unsigned examine_all(struct info_device *devices, const char *name)
{
	struct drv_node nodes[DRV_NODES_MAX];
	unsigned looked = 0;
	size_t count;

	if (tool_scan("info", name, nodes, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (drv_device_examine(&nodes[i], &devices[looked].dev)) {
			fprintf(stderr, "tuff info: %s\n", drv_error_last()->why);
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

/* Prints each device briefly, and a hint at more. */
static void show_brief(const struct info_device *devices, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (i)
			printf("\n");
		info_print_brief(&devices[i]);
	}
	if (count)
		printf("\nAll facts and their sources: tuff info -v. Does it work? tuff test\n");
}

/* Prints everything, with the links between devices; json NULL: for people. */
static void show_full(const struct info_device *devices, unsigned count, json_object *json)
{
	json_object *array = json ? json_object_new_array() : NULL;
	static struct drv_host host;

	if (json)
		json_object_object_add(json, "devices", array);
	for (unsigned i = 0; i < count; i++)
		show_devices(&devices[i], array);
	drv_host_read(&host);
	info_put_host(&host, json);
	info_put_links(&host, devices, count, json);
}

static int show_all(const char *name, bool full, bool json)
{
	static struct info_device devices[DRV_NODES_MAX];
	json_object *root = json ? json_object_new_object() : NULL;
	unsigned count = examine_all(devices, name), usable = 0;

	if (json && !count)
		json_object_object_add(root, "error", json_object_new_string(drv_error_last()->why));
	if (full || json)
		show_full(devices, count, root);
	else
		show_brief(devices, count);
	if (json) {
		print_json(root);
		json_object_put(root);
	}
	for (unsigned i = 0; i < count; i++) {
		usable += !drv_device_verdict(devices[i].dev);
		drv_device_close(devices[i].dev);
	}
	if (drv_config()->problem[0])
		fprintf(stderr, "tuff info: %s\n", drv_config()->problem);
	return usable ? 0 : TOOL_UNUSABLE;
}

static const char usage_text[] =
	"usage: tuff info [OPTION]...\n"
	"Shows what GPUs there are, and whether they can be used. The exit status is 3 when none can.\n"
	"  --gpu SPEC      show virtual GPUs instead; tuff run --list has the chips\n"
	"  --device NAME   only this GPU: its number, PCI address or render node\n"
	"  --verbose       all facts, and where each is from; -v is the same\n"
	"  --json          all facts as JSON\n"
	"  --help          print this\n";

int tool_info(int argc, char **argv)
{
	const char *spec = NULL, *name = NULL;
	bool json = false, full = false;
	const struct tool_option options[] = {{"--gpu", .value = &spec},    {"--device", .value = &name},
					      {"--verbose", .flag = &full}, {"-v", .flag = &full},
					      {"--json", .flag = &json},    {NULL}};
	int status, i = tool_options(argc, argv, options, usage_text, &status);

	if (i < 0)
		return status;
	if (i < argc)
		return tool_mistake(usage_text, "info", "no use for %s", argv[i]);
	return tool_start_gpu(spec) ? 1 : show_all(name, full, json);
}
