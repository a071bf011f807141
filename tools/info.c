/* tuff info: what a person wants to know of each device, and where each fact came from. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "drv/drv.h"
#include "tools/tool.h"

/* Where facts come from, as the output says it. */
#define SRC_DEV    "AMDGPU_INFO DEV_INFO"
#define SRC_MEMORY "AMDGPU_INFO MEMORY"
#define SRC_IP     "AMDGPU_INFO HW_IP_INFO"
#define SRC_TABLE  "chip table"
#define SRC_DRM    "DRM_IOCTL_VERSION"
#define SRC_IDS    "/usr/share/libdrm/amdgpu.ids"
#define SRC_SYS    "/sys"

/* Collects one device's facts, as lines and as JSON at once. */
struct sheet {
	bool json;
	json_object *object; /* owned by the caller's array; NULL without json */
};

static void put(struct sheet *s, const char *key, const char *label, const char *source, const char *text,
		json_object *value)
{
	json_object *fact;

	if (!s->json) {
		printf("  %-22s %-44s %s\n", label, text, source);
		json_object_put(value);
		return;
	}
	fact = json_object_new_object();
	json_object_object_add(fact, "value", value);
	json_object_object_add(fact, "source", json_object_new_string(source));
	json_object_object_add(s->object, key, fact);
}

static void put_text(struct sheet *s, const char *key, const char *label, const char *source, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
static void put_text(struct sheet *s, const char *key, const char *label, const char *source, const char *fmt, ...)
{
	char text[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	put(s, key, label, source, text, json_object_new_string(text));
}

static void put_number(struct sheet *s, const char *key, const char *label, const char *source, uint64_t number,
		       const char *unit)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 "%s%s", number, *unit ? " " : "", unit);
	put(s, key, label, source, text, json_object_new_uint64(number));
}

static void put_size(struct sheet *s, const char *key, const char *label, const char *source, uint64_t size_B)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
	unsigned unit = 0;
	double value = size_B;
	char text[64];

	for (; unit < 3 && value >= 1024; unit++)
		value /= 1024;
	snprintf(text, sizeof(text), "%.*f %s", value == (uint64_t)value ? 0 : 1, value, units[unit]);
	put(s, key, label, source, text, json_object_new_uint64(size_B));
}

static const char *memory_type(uint32_t type)
{
	static const char *const names[] = {"?",    "GDDR1", "DDR2",  "GDDR3", "GDDR4",  "GDDR5", "HBM",
					    "DDR3", "DDR4",  "GDDR6", "DDR5",  "LPDDR4", "LPDDR5"};

	return names[type < sizeof(names) / sizeof(names[0]) ? type : 0];
}

static void put_identity(struct sheet *s, const struct drv_device *dev)
{
	const struct drv_facts *f = &dev->facts;

	put_text(s, "name", "name", SRC_IDS, "%s", dev->name);
	put_text(s, "target", "target", SRC_TABLE, "%s", dev->chip->target);
	put_text(s, "product", "family", SRC_TABLE, "%s", dev->chip->product);
	put_text(s, "pci_id", "PCI id", SRC_DEV, "1002:%04x rev %02x", f->device_id, f->pci_rev);
	if (dev->node.pci[0])
		put_text(s, "pci_address", "PCI address", SRC_SYS, "%s", dev->node.pci);
	else
		put_text(s, "pci_address", "PCI address", "/sys is masked", "unknown");
	put_text(s, "drm", "kernel driver", SRC_DRM, "amdgpu DRM 3.%u", dev->drm_minor);
}

static void put_compute(struct sheet *s, const struct drv_device *dev)
{
	const struct drv_facts *f = &dev->facts;
	const struct drv_chip *c = dev->chip;

	put_number(s, "compute_units", "compute units", SRC_DEV, f->cus, "");
	put_text(s, "layout", "layout", SRC_DEV, "%u shader engines x %u arrays", f->engines, f->arrays_per_engine);
	put_number(s, "wave_lanes", "lanes of a wave", SRC_TABLE, c->wave_lanes, "");
	put_number(s, "waves_per_cu", "waves per CU", SRC_TABLE, c->waves_per_cu, "");
	put_size(s, "lds_B", "LDS per workgroup", SRC_TABLE, c->lds_B);
	put_number(s, "workgroup_max", "workgroup, at most", SRC_TABLE, c->max_group_threads, "work-items");
	put_number(s, "clock_kHz", "engine clock", SRC_DEV, f->engine_clock_kHz, "kHz");
	put_number(s, "counter_kHz", "timestamp clock", SRC_DEV, f->counter_kHz, "kHz");
}

static void put_memory(struct sheet *s, const struct drv_device *dev)
{
	const struct drv_facts *f = &dev->facts;

	put_size(s, "vram_B", "VRAM", SRC_MEMORY, f->vram.total_B);
	put_size(s, "vram_used_B", "VRAM in use", SRC_MEMORY, f->vram.used_B);
	put_size(s, "vram_visible_B", "VRAM that the CPU sees", SRC_MEMORY, f->visible_vram.total_B);
	put_size(s, "gtt_B", "GTT (system memory)", SRC_MEMORY, f->gtt.total_B);
	put_text(s, "memory", "memory", SRC_DEV, "%s, %u bits, %u kHz", memory_type(f->vram_type), f->vram_bits,
		 f->memory_clock_kHz);
	put_number(s, "l2_banks", "L2 banks", SRC_DEV, f->l2_banks, "");
	put_text(s, "va", "GPU addresses", SRC_DEV, "0x%" PRIx64 " to 0x%" PRIx64, f->va_lo, f->va_hi);
}

static void put_rings(struct sheet *s, const struct drv_device *dev)
{
	static const char *const labels[DRV_IP_COUNT] = {"graphics rings", "compute rings", "SDMA rings"};
	static const char *const keys[DRV_IP_COUNT] = {"gfx", "compute", "sdma"};

	for (unsigned i = 0; i < DRV_IP_COUNT; i++) {
		const struct drv_ip *ip = &dev->facts.ip[i];

		if (ip->version)
			put_text(s, keys[i], labels[i], SRC_IP, "%d, IP version %u.%u.%u",
				 __builtin_popcount(ip->rings), ip->version >> 16, ip->version >> 8 & 0xff,
				 ip->version & 0xff);
		else
			put_text(s, keys[i], labels[i], SRC_IP, "%d", __builtin_popcount(ip->rings));
	}
}

static void put_device(struct sheet *s, const struct drv_device *dev)
{
	put_identity(s, dev);
	put_compute(s, dev);
	put_memory(s, dev);
	put_rings(s, dev);
}

/* One node: its facts, or why they cannot be had. True when tuff can use it. */
static bool show(const struct drv_node *node, bool json, json_object *array)
{
	struct sheet sheet = {.json = json, .object = json ? json_object_new_object() : NULL};
	struct drv_device *dev;
	int r = drv_device_open(node, &dev);

	if (json) {
		json_object_object_add(sheet.object, "node", json_object_new_string(node->path));
		json_object_array_add(array, sheet.object);
		if (r)
			json_object_object_add(sheet.object, "error",
					       json_object_new_string(drv_error_last()->text));
	} else {
		printf("%s\n", node->path);
		if (r)
			printf("  cannot be used: %s\n", drv_error_last()->text);
	}
	if (r)
		return false;
	put_device(&sheet, dev);
	drv_device_close(dev);
	return true;
}

static int show_all(bool json)
{
	struct drv_node nodes[DRV_NODES_MAX];
	json_object *array = json ? json_object_new_array() : NULL;
	unsigned usable = 0;
	size_t count;
	int r = drv_scan(nodes, DRV_NODES_MAX, &count);

	if (r)
		fprintf(stderr, "tuff info: %s\n", drv_error_last()->text);
	for (size_t i = 0; !r && i < count; i++)
		usable += show(&nodes[i], json, array);
	if (json) {
		puts(json_object_to_json_string_ext(array, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
								   JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(array);
	}
	if (drv_config()->problem[0])
		fprintf(stderr, "tuff info: %s\n", drv_config()->problem);
	return usable ? 0 : 1;
}

int tool_info(int argc, char **argv)
{
	const char *spec = NULL;
	bool json = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			json = true;
		else if (i + 1 < argc && !strcmp(argv[i], "--gpu"))
			spec = argv[++i];
		else {
			fprintf(stderr, "usage: tuff info [--json] [--gpu SPEC]\n");
			return 2;
		}
	}
	return tool_start_gpu(spec) ? 1 : show_all(json);
}
