/* The topology that amdgpu's KFD shows in sysfs: /sys/class/kfd/kfd/topology. A card is in it whoever uses it; programs that
 * monitor or enumerate GPUs read it without /dev/kfd.
 *
 * The tree gets it when a process first looks up one of its names: the caches of a large GPU are hundreds of files. The layout and
 * the values are those of Linux 6.12 (kfd_topology.c, kfd_crat.c, kfd_device.c; 6.1 agrees on all that is here); rocm-smi,
 * rocm_agent_enumerator and RCCL were run on it. Not shown: what debuggers and creators of KFD's queues
 * need (debug_prop, cwsr_size, ctl_stack_size), the kernel being one without /dev/kfd; links through a second CPU, and
 * peers on PCIe (CONFIG_HSA_AMD_P2P). */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_sysfs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vgpu/chip.h"
#include "vgpu/shim/shim.h"
#include "vgpu/shim/tree.h"
#include "vgpu/sys.h"

#define NODES_MAX 256
#define CPUS_MAX  64 /* nodes of the host */

/* A node of the topology. */
struct kfd_node {
	bool gpu;
	unsigned device;          /* GPU: its number in the run */
	unsigned partition;       /* GPU: the partition, 0 for the whole of a card that has none */
	unsigned cpus, first_cpu; /* CPU: those of the host's node, and the lowest */
	unsigned minor;           /* GPU: of its render node */
	unsigned gpu_id;
	unsigned simd_id_base;
	unsigned links, caches; /* counts, while they are written */
};

/* While the topology is built. */
struct kfd {
	struct tree tree;
	char at[PATH_MAX]; /* path of the topology below the root */
	const struct shim_config *config;
	unsigned count, cpu_count;
	struct kfd_node node[NODES_MAX];
};

/* The text of a file of properties. */
struct properties {
	char text[4096]; /* a page, as sysfs */
	size_t size_B;
};

__attribute__((format(printf, 2, 3))) static void properties_add(struct properties *p, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(p->text + p->size_B, sizeof(p->text) - p->size_B, fmt, args);
	va_end(args);
	p->size_B += n > 0 && (size_t)n < sizeof(p->text) - p->size_B ? (size_t)n : 0;
}

/* A line of a name and a number for each member. */
struct property {
	const char *name;
	unsigned long long value;
};

static void properties_list(struct properties *p, const struct property *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		properties_add(p, "%s %llu\n", list[i].name, list[i].value);
}
#define LIST(p, list) properties_list(p, list, sizeof(list) / sizeof(list[0]))

/* --- facts of the chips --- */

/* Linux's names (amdgpu_asic_name), and the caches that KFD has in tables of its own, in KiB; where l2_KiB is 0 they come from the IP
 * discovery, and are the chip's. */
struct kfd_chip {
	const char *name, *asic;
	unsigned target; /* gfx_target_version of kfd_device.c */
	unsigned l2_KiB;
	unsigned line_B, sqc_cus; /* line of L2; compute units that share a scalar cache */
};

static const struct kfd_chip chips[] = {
	{"gfx900", "vega10", 90000, 4096, 64, 3},
	{"gfx902", "raven", 90002, 1024, 64, 3},
	{"gfx906", "vega20", 90006, 8192, 64, 3},
	{"gfx908", "arcturus", 90008, 8192, 64, 3},
	{"gfx909", "raven", 90002, 1024, 64, 3},
	{"gfx90a", "aldebaran", 90010, 8192, 128, 2},
	{"gfx90c", "renoir", 90012, 1024, 64, 3},
	{"gfx942", "ip discovery", 90402, 0, 128, 2},
	{"gfx1010", "navi10", 100100, 4096, 128, 2},
	{"gfx1011", "navi12", 100101, 4096, 128, 2},
	{"gfx1012", "navi14", 100102, 2048, 128, 2},
	{"gfx1013", "cyan_skillfish", 100103, 4096, 128, 2},
	{"gfx1030", "sienna_cichlid", 100300, 4096, 128, 2},
	{"gfx1031", "navy_flounder", 100301, 3072, 128, 2},
	{"gfx1032", "dimgrey_cavefish", 100302, 2048, 128, 2},
	{"gfx1033", "vangogh", 100303, 1024, 128, 2},
	{"gfx1034", "beige_goby", 100304, 1024, 128, 2},
	{"gfx1035", "yellow_carp", 100305, 2048, 128, 2},
};

/* Chips of IP discovery alone: the target is what the name says. */
static struct kfd_chip kfd_chip_of(const struct vgpu_chip *chip)
{
	unsigned long digits = strtoul(chip->name + 3, NULL, 16);

	for (unsigned i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
		if (!strcmp(chips[i].name, chip->name))
			return chips[i];
	return (struct kfd_chip){chip->name,
				 "ip discovery",
				 (unsigned)((digits >> 12) * 100000 + (digits >> 8 & 15) * 10000 +
					    (digits >> 4 & 15) * 100 + (digits & 15)),
				 0,
				 128,
				 2};
}

static unsigned xccs_of(const struct vgpu_chip *chip, const struct kern_device_config *config)
{
	return config->partitions ? chip->xccs / config->partitions : 1;
}

static unsigned simds_per_cu(const struct vgpu_chip *chip)
{
	return chip->gc_version[0] < 10 ? 4 : 2;
}

/* kfd_gws_init(), with the firmware version that INFO reports: 300. It is too old for gfx900 to gfx906, and for GFX11. */
static unsigned gws_of(const struct vgpu_chip *chip)
{
	const uint16_t *gc = chip->gc_version;
	bool newer_9 = gc[0] == 9 && gc[1] == 4 && gc[2] > 0;

	return newer_9 || (gc[0] == 10 && gc[1] == 3) ? vgpu_chip_gws(chip) : 0;
}

/* kfd_device_info_set_sdma_info(): APUs and Vega 10 have two queues an engine, others eight, of which SDMA 6 and 7 keep two. */
static unsigned sdma_queues_of(const struct vgpu_chip *chip)
{
	bool apu = vgpu_chip_is_apu(chip) && chip->sdma_version[0] < 6 && chip->sdma_version[0] != 5;
	bool apu_5 = vgpu_chip_is_apu(chip) && chip->sdma_version[0] == 5 && chip->sdma_version[1] == 2;

	if (apu || apu_5 || (chip->sdma_version[0] == 4 && !chip->sdma_version[1]))
		return 2;
	return chip->sdma_version[0] >= 6 ? 6 : 8;
}

/* Of the first MEC's queues DRM has eight. It has 32, from GFX10.3 on 16 (gfx_v9_0.c to gfx_v12_0.c). */
static unsigned cp_queues_of(const struct vgpu_chip *chip)
{
	const uint16_t *gc = chip->gc_version;

	return gc[0] < 10 || (gc[0] == 10 && gc[1] < 3) ? 24 : 8;
}

static unsigned capability_of(const struct vgpu_chip *chip, const struct kern_device_config *config)
{
	bool ecc = chip->sramecc == CHIP_ECC_ON || config->sramecc;
	unsigned bits = HSA_CAP_WATCH_POINTS_SUPPORTED | 2 << HSA_CAP_WATCH_POINTS_TOTALBITS_SHIFT |
			HSA_CAP_DOORBELL_TYPE_2_0 << HSA_CAP_DOORBELL_TYPE_TOTALBITS_SHIFT |
			(chip->chip_rev << HSA_CAP_ASIC_REVISION_SHIFT & HSA_CAP_ASIC_REVISION_MASK);

	if (ecc)
		bits |= HSA_CAP_SRAM_EDCSUPPORTED | HSA_CAP_MEM_EDCSUPPORTED | HSA_CAP_RASEVENTNOTIFY;
	if (!vgpu_chip_is_apu(chip))
		bits |= HSA_CAP_SVMAPI_SUPPORTED;
	return bits;
}

/* MB/s of a PCIe link. */
static unsigned pcie_MBps(unsigned gen, unsigned lanes)
{
	static const unsigned mbits[] = {[1] = 2500, [2] = 5000, [3] = 8000, [4] = 16000, [5] = 32000};

	return lanes * mbits[gen] / 8;
}

/* --- files of a node --- */

static void node_path(const struct kfd *k, unsigned number, const char *sub, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/nodes/%u%s", k->at, number, sub);

	path[n < PATH_MAX ? n : 0] = 0;
}

/* Writes `sub`/`index`/properties of a node. */
static void write_properties(struct kfd *k, unsigned number, const char *sub, unsigned index,
			     const struct properties *p)
{
	char name[32], path[PATH_MAX];

	snprintf(name, sizeof(name), "/%s/%u", sub, index);
	node_path(k, number, name, path);
	tree_make_dirs(&k->tree, "%s", path);
	tree_write_file(&k->tree, path, "properties", p->text, p->size_B);
}

static void write_bank(struct kfd *k, unsigned number, unsigned heap, uint64_t size_B, unsigned width, unsigned mhz)
{
	struct properties p = {.size_B = 0};
	const struct property list[] = {
		{"heap_type", heap}, {"size_in_bytes", size_B}, {"flags", 0},
		{"width", width},    {"mem_clk_max", mhz},
	};

	LIST(&p, list);
	write_properties(k, number, "mem_banks", 0, &p);
}

/* --- caches --- */

struct kfd_cache {
	unsigned level, size_KiB, line_B, type, cus; /* cus: compute units that share it */
};

static void write_cache(struct kfd *k, unsigned number, const struct kfd_cache *cache, unsigned processor,
			const uint32_t *map, unsigned words)
{
	struct properties p = {.size_B = 0};
	const struct property list[] = {
		{"processor_id_low", processor},
		{"level", cache->level},
		{"size", cache->size_KiB},
		{"cache_line_size", cache->line_B},
		{"cache_lines_per_tag", 0},
		{"association", 0},
		{"latency", 0},
		{"type", cache->type | HSA_CACHE_TYPE_HSACU},
	};

	LIST(&p, list);
	properties_add(&p, "sibling_map ");
	for (unsigned i = 0; i < words * 32; i++)
		properties_add(&p, "%u%c", map[i / 32] >> i % 32 & 1, i + 1 < words * 32 ? ',' : '\n');
	write_properties(k, number, "caches", k->node[number].caches++, &p);
}

/* A cache for every `cus` units of each array that has an active one (fill_in_l1_pcache). */
static void write_l1(struct kfd *k, unsigned number, const struct kfd_cache *cache, const struct vgpu_chip *chip,
		     unsigned arrays, uint32_t (*bits)(const struct vgpu_chip *, unsigned))
{
	unsigned processor = k->node[number].simd_id_base;

	for (unsigned a = 0; a < arrays; a++)
		for (unsigned cu = 0; cu < chip->cus_per_array; cu += cache->cus) {
			unsigned left = chip->cus_per_array - cu;
			uint32_t map = bits(chip, a) >> cu & (uint32_t)((1ull << cache->cus) - 1);
			unsigned first = map ? (unsigned)__builtin_ctz(map) : 0;

			map >>= first;
			if (map)
				write_cache(k, number, cache, processor + first, &map, 1);
			processor += left < cache->cus ? left : cache->cus;
		}
}

/* Active units of the n-th array of an XCC: engine by engine, those above the fourth as further arrays of the first. */
static uint32_t array_bits(const struct vgpu_chip *chip, unsigned n)
{
	unsigned engine = n / chip->arrays_per_engine % chip->engines, array = n % chip->arrays_per_engine;
	uint32_t bitmap[4][4];

	vgpu_chip_cu_bitmap(chip, bitmap);
	return bitmap[engine % 4][array + engine / 4];
}

/* A cache of the whole GPU (fill_in_l2_l3_pcache): only the first array's map begins at its first active unit. */
static void write_l2(struct kfd *k, unsigned number, const struct kfd_cache *cache, const struct vgpu_chip *chip,
		     unsigned arrays)
{
	unsigned first = (unsigned)__builtin_ctz(array_bits(chip, 0));
	uint32_t map[128];

	for (unsigned a = 0; a < arrays && a < 128; a++)
		map[a] = array_bits(chip, a);
	map[0] >>= first;
	/* A page has room for some 1,900 bits: Linux's map has 128 bytes. */
	write_cache(k, number, cache, k->node[number].simd_id_base + first, map, arrays < 32 ? arrays : 32);
}

static void write_caches(struct kfd *k, unsigned number, const struct vgpu_chip *chip,
			 const struct kern_device_config *config)
{
	struct kfd_chip facts = kfd_chip_of(chip);
	bool gfx9 = chip->gc_version[0] < 10, mi300 = facts.target == 90402;
	unsigned arrays = chip->engines * chip->arrays_per_engine * xccs_of(chip, config);
	unsigned l2_KiB = facts.l2_KiB ? facts.l2_KiB : chip->l2_B / 1024;
	const struct kfd_cache caches[] = {
		{1, chip->l1_B / 1024, gfx9 && !mi300 ? 64 : 128, HSA_CACHE_TYPE_DATA, 1},
		{1, mi300 ? 64 : 32, gfx9 || facts.l2_KiB ? 64 : 128, HSA_CACHE_TYPE_INSTRUCTION, facts.sqc_cus},
		{1, 16, 64, HSA_CACHE_TYPE_DATA, facts.sqc_cus},
		{1, chip->gl1_B / 1024, 128, HSA_CACHE_TYPE_DATA, chip->cus_per_array},
		{2, l2_KiB, facts.line_B, HSA_CACHE_TYPE_DATA, chip->cus_per_array},
		{3, (unsigned)(chip->mall_B / 1024), 64, HSA_CACHE_TYPE_DATA, chip->cus_per_array},
	};

	for (unsigned i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		if (!caches[i].size_KiB)
			continue;
		if (caches[i].level == 1)
			write_l1(k, number, &caches[i], chip, arrays, array_bits);
		else
			write_l2(k, number, &caches[i], chip, arrays);
	}
}

/* --- the host --- */

/* Reads a text; false, with an empty one, where there is none. */
static bool read_text(const char *path, char *text, size_t room)
{
	long n = sys_read_file(path, text, room - 1);

	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* Reads a file of the host's node. */
static bool read_host(unsigned node, const char *name, char *text, size_t room)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/%s", node, name);
	return read_text(path, text, room);
}

/* --- links --- */

struct kfd_link {
	unsigned type, weight, least_MBps, most_MBps, flags;
};

static void write_link(struct kfd *k, unsigned from, unsigned to, const struct kfd_link *link)
{
	struct properties p = {.size_B = 0};
	const struct property list[] = {
		{"type", link->type},
		{"version_major", 0},
		{"version_minor", 0},
		{"node_from", from},
		{"node_to", to},
		{"weight", link->weight},
		{"min_latency", 0},
		{"max_latency", 0},
		{"min_bandwidth", link->least_MBps},
		{"max_bandwidth", link->most_MBps},
		{"recommended_transfer_size", 0},
		{"flags", link->flags},
	};

	LIST(&p, list);
	write_properties(k, from, "io_links", k->node[from].links++, &p);
}

/* Between the host's nodes: by the distances of the firmware, as the host's sysfs has them. */
static void link_cpus(struct kfd *k)
{
	for (unsigned from = 0; from < k->cpu_count; from++) {
		char text[512], *at = text;

		read_host(from, "distance", text, sizeof(text));
		for (unsigned to = 0; to < k->cpu_count; to++) {
			struct kfd_link link = {.type = HSA_IOLINK_TYPE_HYPERTRANSPORT};

			link.weight = (unsigned)strtoul(at, &at, 10);
			if (to != from)
				write_link(k, from, to, &link);
		}
	}
}

/* To the CPU's node, and back where the CPU reaches all of the memory; non-coherent in that direction. */
static void link_to_cpu(struct kfd *k, unsigned number, const struct vgpu_chip *chip,
			const struct kern_device_config *config)
{
	unsigned cpu = config->numa_node > 0 && (unsigned)config->numa_node < k->cpu_count
			       ? (unsigned)config->numa_node
			       : 0;
	struct kfd_link link = {.type = HSA_IOLINK_TYPE_PCIEXPRESS,
				.weight = 20,
				.least_MBps = pcie_MBps(1, 1),
				.most_MBps = pcie_MBps(vgpu_chip_pcie_gen(chip), vgpu_chip_pcie_lanes(chip)),
				.flags = HSA_IOLINK_FLAGS_ENABLED};

	write_link(k, number, cpu, &link);
	link.flags |= HSA_IOLINK_FLAGS_NON_COHERENT;
	if (kern_config_visible_B(chip, config) == kern_config_vram_B(chip, config))
		write_link(k, cpu, number, &link);
}

/* Within a hive, with the earlier members, both ways: one hop of two links (xgmi_num_links in tree.c). GFX9 before gfx90a tells
 * no bandwidth, and Vega 20 is not coherent. */
static void link_hive(struct kfd *k, unsigned number, const struct vgpu_chip *chip)
{
	bool tells = chip->gfx >= VGPU_GFX90A;
	struct kfd_link link = {.type = HSA_IOLINK_TYPE_XGMI,
				.weight = 15,
				.least_MBps = tells ? 50000 : 0,
				.most_MBps = tells ? 100000 : 0,
				.flags = HSA_IOLINK_FLAGS_ENABLED};
	uint64_t hive = k->config->device[k->node[number].device].hive;

	if (chip->gfx == VGPU_GFX906)
		link.flags |= HSA_IOLINK_FLAGS_NON_COHERENT;
	for (unsigned n = k->cpu_count; hive && n < number; n++)
		if (k->config->device[k->node[n].device].hive == hive) {
			write_link(k, number, n, &link);
			write_link(k, n, number, &link);
		}
}

/* --- nodes --- */

/* CRC-16 of Linux's lib/crc16.c: polynomial 0x8005, bits reversed. */
static unsigned crc16(const void *data, size_t size_B)
{
	const uint8_t *byte = data;
	unsigned crc = 0;

	for (size_t i = 0; i < size_B; i++) {
		crc ^= byte[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xa001 : 0);
	}
	return crc;
}

/* kfd_generate_gpu_id(): a hash of what the card is and where, moved on while it is another's. */
static unsigned gpu_id(const struct kfd *k, const struct kfd_node *node, const struct vgpu_chip *chip,
		       const struct kern_device_config *config)
{
	uint64_t vram_B = kern_config_vram_B(chip, config);
	unsigned xccs = xccs_of(chip, config);
	const uint32_t facts[8] = {0,
				   0x0c341002, /* tree.c's subsystem */
				   0,
				   chip->device_id,
				   TREE_PCI_BUS(node->device),
				   (uint32_t)vram_B,
				   (uint32_t)(vram_B >> 32),
				   node->partition * xccs | xccs << 16};
	unsigned id = crc16(facts, sizeof(facts));

	for (unsigned n = k->cpu_count; n < k->count; n++)
		if (!id || k->node[n].gpu_id == id) {
			id = id ? (id + 1) & 0xffff : 1;
			n = k->cpu_count - 1;
		}
	return id ? id : 1;
}

/* MHz that the host's first CPU reaches; 0 where nobody tells, as in most virtual machines. */
static unsigned cpu_MHz(void)
{
	char text[32];

	read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", text, sizeof(text));
	return (unsigned)(strtoul(text, NULL, 10) / 1000);
}

/* Properties of every node: those of the units of a GPU are 0 on a CPU, and the other way round. */
static void add_units(struct properties *p, const struct kfd_node *node, const struct vgpu_chip *chip,
		      const struct kern_device_config *config)
{
	unsigned arrays = chip ? chip->engines * chip->arrays_per_engine : 0, simds = chip ? simds_per_cu(chip) : 0;
	const struct property list[] = {
		{"cpu_cores_count", node->cpus},
		{"simd_count", chip ? simds * chip->cus_active * xccs_of(chip, config) : 0},
		{"mem_banks_count", 1},
		{"caches_count", node->caches},
		{"io_links_count", node->links},
		{"p2p_links_count", 0},
		{"cpu_core_id_base", node->first_cpu},
		{"simd_id_base", node->simd_id_base},
		{"max_waves_per_simd", chip ? chip->max_waves_per_cu / simds : 0},
		{"lds_size_in_kb", chip ? chip->lds_B / 1024 : 0},
		{"gds_size_in_kb", 0},
		{"num_gws", chip ? gws_of(chip) : 0},
		{"wave_front_size", chip ? chip->wave_lanes : 0},
		{"array_count", arrays},
		{"simd_arrays_per_engine", chip ? chip->arrays_per_engine : 0},
		{"cu_per_simd_array", chip ? chip->cus_per_array : 0},
		{"simd_per_cu", simds},
		{"max_slots_scratch_cu", chip ? 32 : 0},
	};

	LIST(p, list);
}

static void add_device(struct properties *p, const struct kfd_node *node, const struct vgpu_chip *chip,
		       const struct kern_device_config *config)
{
	unsigned engines = chip ? chip->sdma_instances * xccs_of(chip, config) : 0;
	unsigned pcie = chip && chip->xgmi && engines > 2 ? 2 : engines;
	unsigned location = chip ? TREE_PCI_BUS(node->device) << 8 | node->partition : 0;
	const struct property list[] = {
		{"gfx_target_version", chip ? kfd_chip_of(chip).target : 0},
		{"vendor_id", chip ? 0x1002 : 0},
		{"device_id", chip ? chip->device_id : 0},
		{"location_id", location},
		{"domain", 0},
		{"drm_render_minor", node->minor},
		{"hive_id", chip ? config->hive : 0},
		{"num_sdma_engines", pcie},
		{"num_sdma_xgmi_engines", engines - pcie},
		{"num_sdma_queues_per_engine", chip ? sdma_queues_of(chip) : 0},
		{"num_cp_queues", chip ? cp_queues_of(chip) : 0},
	};

	LIST(p, list);
}

static void add_clocks(struct properties *p, const struct kfd_node *node, const struct vgpu_chip *chip,
		       const struct kern_device_config *config)
{
	if (chip) {
		/* Firmware: what INFO reports. */
		const struct property list[] = {
			{"max_engine_clk_fcompute", chip->engine_khz / 1000},
			{"local_mem_size", 0},
			{"fw_version", 300},
			{"capability", capability_of(chip, config)},
			{"sdma_fw_version", 300},
			{"unique_id", tree_unique_id(node->device)},
			{"num_xcc", xccs_of(chip, config)},
		};

		LIST(p, list);
	}
	properties_add(p, "max_engine_clk_ccompute %u\n", cpu_MHz());
}

static void write_node(struct kfd *k, unsigned number)
{
	const struct kfd_node *node = &k->node[number];
	const struct kern_device_config *config = node->gpu ? &k->config->device[node->device] : NULL;
	const struct vgpu_chip *chip = config ? vgpu_chip_find(config->chip) : NULL;
	struct properties p = {.size_B = 0};
	char path[PATH_MAX];

	add_units(&p, node, chip, config);
	add_device(&p, node, chip, config);
	add_clocks(&p, node, chip, config);
	node_path(k, number, "", path);
	tree_write_file(&k->tree, path, "properties", p.text, p.size_B);
	tree_write_text(&k->tree, path, "gpu_id", "%u\n", node->gpu_id);
	tree_write_text(&k->tree, path, "name", "%s\n", chip ? kfd_chip_of(chip).asic : "");
}

static void make_node(struct kfd *k, unsigned number)
{
	static const char *const subs[] = {"/mem_banks", "/caches", "/io_links", "/p2p_links", "/perf"};
	char path[PATH_MAX];

	for (unsigned i = 0; i < sizeof(subs) / sizeof(subs[0]); i++) {
		node_path(k, number, subs[i], path);
		tree_make_dirs(&k->tree, "%s", path);
	}
}

/* Counts the CPUs of a list as "0-3,8": those of a node, and the lowest. */
static void count_cpus(const char *list, struct kfd_node *node)
{
	node->first_cpu = (unsigned)strtoul(list, NULL, 10);
	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		node->cpus += (unsigned)(last - first + 1);
		list = *end == ',' ? end + 1 : end;
	}
}

/* The host's NUMA nodes; one of all CPUs and all memory where the host tells none. The type, speed and width of memory modules are in
 * tables of the firmware, which only root reads: 0. */
static void add_cpus(struct kfd *k)
{
	char text[4096];

	while (k->cpu_count < CPUS_MAX && read_host(k->cpu_count, "cpulist", text, sizeof(text)))
		count_cpus(text, &k->node[k->cpu_count++]);
	if (!k->cpu_count)
		k->node[k->cpu_count++].cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	k->count = k->cpu_count;
	for (unsigned n = 0; n < k->cpu_count; n++) {
		uint64_t memory_B = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
		const char *at = read_host(n, "meminfo", text, sizeof(text)) ? strstr(text, "MemTotal:") : NULL;

		if (at)
			memory_B = strtoull(at + strlen("MemTotal:"), NULL, 10) * 1024;
		make_node(k, n);
		write_bank(k, n, HSA_MEM_HEAP_TYPE_SYSTEM, memory_B, 0, 0);
	}
	link_cpus(k);
}

static void add_gpu(struct kfd *k, unsigned device, unsigned partition, unsigned minor, unsigned *simd_id)
{
	const struct kern_device_config *config = &k->config->device[device];
	const struct vgpu_chip *chip = vgpu_chip_find(config->chip);
	uint64_t vram_B = kern_config_vram_B(chip, config);
	bool all = kern_config_visible_B(chip, config) == vram_B;
	struct kfd_node *node = &k->node[k->count];
	unsigned number = k->count;

	*node = (struct kfd_node){.gpu = true, .device = device, .partition = partition, .minor = minor};
	node->gpu_id = gpu_id(k, node, chip, config);
	k->count++;
	node->simd_id_base = *simd_id;
	*simd_id += (unsigned)chip->engines * chip->arrays_per_engine * chip->cus_per_array;
	make_node(k, number);
	write_bank(k, number, all ? HSA_MEM_HEAP_TYPE_FB_PUBLIC : HSA_MEM_HEAP_TYPE_FB_PRIVATE,
		   vram_B / (config->partitions ? config->partitions : 1), chip->vram_bits,
		   chip->memory_khz / 1000);
	write_caches(k, number, chip, config);
	link_to_cpu(k, number, chip, config);
	link_hive(k, number, chip);
}

/* A card is a node, or one for each of its partitions. */
static void add_gpus(struct kfd *k)
{
	unsigned simd_id = 0x80001000, first = 128; /* gpu_processor_id_low in kfd_crat.c */

	for (unsigned i = 0; i < k->config->count; i++) {
		const struct kern_device_config *config = &k->config->device[i];
		unsigned partitions = config->partitions ? config->partitions : 1;

		for (unsigned p = 0; p < partitions && k->count < NODES_MAX; p++)
			add_gpu(k, i, p, first + p, &simd_id);
		first += kern_config_nodes(config);
	}
}

static void build_topology(struct kfd *k, const char *base)
{
	snprintf(k->at, sizeof(k->at), "%s/kfd/topology", base);
	tree_make_dirs(&k->tree, "%s/nodes", k->at);
	add_cpus(k);
	add_gpus(k);
	for (unsigned n = 0; n < k->count; n++)
		write_node(k, n);
	/* A generation for the CPUs, and one for each GPU that came. */
	tree_write_text(&k->tree, k->at, "generation_id", "%u\n", 1 + k->count - k->cpu_count);
	tree_write_text(&k->tree, k->at, "system_properties", "platform_oem 0\nplatform_id 0\nplatform_rev 0\n");
}

/* The run's configuration, which tree.c leaves in the directory. */
static bool config_read(struct shim_config *config)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/config", shim_root());
	return sys_read_file(path, config, sizeof(*config)) == sizeof(*config);
}

void shim_kfd_build(void)
{
	struct tree links = {.root = shim_root()};
	struct shim_config config;
	char path[PATH_MAX + 64], to[PATH_MAX + 64], base[32];
	struct stat st;
	struct kfd *k;

	snprintf(to, sizeof(to), "%s/sys/devices/virtual/kfd", shim_root());
	if (!sys_call6(SYS_newfstatat, AT_FDCWD, (long)to, (long)&st, AT_SYMLINK_NOFOLLOW, 0, 0) ||
	    !config_read(&config))
		return;
	k = calloc(1, sizeof(*k));
	if (!k)
		return;
	k->tree.root = shim_root();
	k->config = &config;
	snprintf(base, sizeof(base), "kfd.%ld", sys_call6(SYS_gettid, 0, 0, 0, 0, 0, 0));
	build_topology(k, base);
	tree_make_dirs(&links, "sys/devices/virtual");
	tree_make_dirs(&links, "sys/class/kfd");
	tree_make_link(&links, "../../devices/virtual/kfd/kfd", "sys/class/kfd/kfd");
	/* Whole, or not at all: another process may be as far. */
	snprintf(path, sizeof(path), "%s/%s", shim_root(), base);
	if (k->tree.error || sys_call6(SYS_rename, (long)path, (long)to, 0, 0, 0, 0) < 0)
		shim_tree_remove(path);
	free(k);
}
