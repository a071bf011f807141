/* The facts of one device, in sections. A device that cannot be used has fewer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/info.h"

/* Sources of facts, as the output names them. */
#define SRC_DEV    "AMDGPU_INFO DEV_INFO"
#define SRC_MEMORY "AMDGPU_INFO MEMORY"
#define SRC_IP     "AMDGPU_INFO HW_IP_INFO"
#define SRC_COUNT  "AMDGPU_INFO HW_IP_COUNT"
#define SRC_FW     "AMDGPU_INFO FW_VERSION"
#define SRC_SENSOR "AMDGPU_INFO SENSOR"
#define SRC_USAGE  "AMDGPU_INFO VRAM_USAGE, GTT_USAGE"
#define SRC_MOVED  "AMDGPU_INFO NUM_EVICTIONS, NUM_BYTES_MOVED"
#define SRC_TABLE  "chip table"
#define SRC_DRM    "DRM_IOCTL_VERSION"
#define SRC_IDS    "/usr/share/libdrm/amdgpu.ids"
#define SRC_SYS    "/sys"

static const char *memory_type(uint32_t type)
{
	static const char *const names[] = {"?",    "GDDR1", "DDR2",  "GDDR3", "GDDR4",  "GDDR5",  "HBM",
					    "DDR3", "DDR4",  "GDDR6", "DDR5",  "LPDDR4", "LPDDR5", "HBM3E"};

	return names[type < sizeof(names) / sizeof(names[0]) ? type : 0];
}

static const char *feature_word(enum drv_feature feature)
{
	static const char *const words[] = {"the chip has none", "off", "on", "either: the kernel does not tell"};

	return words[feature];
}

static void put_chip(struct sheet *s, const struct drv_device *dev)
{
	const struct drv_chip *c = dev->chip;

	sheet_text(s, "target", "target", *dev->overridden ? "HSA_OVERRIDE_GFX_VERSION" : SRC_TABLE, "%s",
		   c->target);
	if (*dev->overridden)
		sheet_text(s, "real_target", "what it really is", "HW_IP_INFO, " SRC_TABLE, "%s", dev->overridden);
	sheet_text(s, "generic", "generic target", SRC_TABLE, "%s", c->generic ? c->generic->name : "none");
	sheet_text(s, "product", "family", SRC_TABLE, "%s", c->product);
}

static void put_identity(struct sheet *s, const struct info_device *d)
{
	const struct drv_device *dev = d->dev;
	const struct drv_facts *f = &dev->facts;

	sheet_section(s, "identity", "identity");
	if (f->device_id)
		sheet_text(s, "name", "name", SRC_IDS, "%s", dev->name);
	if (dev->chip)
		put_chip(s, dev);
	if (f->device_id)
		sheet_text(s, "pci_id", "PCI id", SRC_DEV, "1002:%04x rev %02x", f->device_id, f->pci_rev);
	if (f->family)
		sheet_text(s, "family_revision", "family, external revision", SRC_DEV, "%u, 0x%02x", f->family,
			   f->external_rev);
	if (d->place.unique_id[0])
		sheet_text(s, "unique_id", "unique id", SRC_SYS, "%s", d->place.unique_id);
	if (d->place.vbios[0])
		sheet_text(s, "vbios", "VBIOS", SRC_SYS, "%s", d->place.vbios);
	if (dev->drm_minor)
		sheet_text(s, "drm", "kernel driver", SRC_DRM, "amdgpu DRM 3.%u", dev->drm_minor);
}

/* Formats "now 500 MHz, 300 to 1725 MHz". */
static void put_clock(struct sheet *s, const char *key, const char *label, const struct drv_reading *now,
		      uint32_t min_kHz, uint32_t max_kHz)
{
	char text[96] = "";
	int n = 0;

	if (now->known)
		n = snprintf(text, sizeof(text), "now %u MHz, ", now->value);
	if (min_kHz)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%u to ", min_kHz / 1000);
	else
		n += snprintf(text + n, sizeof(text) - (size_t)n, "up to ");
	snprintf(text + n, sizeof(text) - (size_t)n, "%u MHz", max_kHz / 1000);
	sheet_text(s, key, label, now->known ? SRC_SENSOR ", DEV_INFO" : SRC_DEV, "%s", text);
}

static void put_sensors(struct sheet *s, const struct drv_usage *u)
{
	const struct drv_reading *r = u->sensor;

	if (r[DRV_SENSOR_TEMPERATURE_MDEG].known)
		sheet_text(s, "temperature", "temperature", SRC_SENSOR, "%d C",
			   (int)r[DRV_SENSOR_TEMPERATURE_MDEG].value / 1000);
	if (r[DRV_SENSOR_LOAD_PERCENT].known)
		sheet_number(s, "load_percent", "load", SRC_SENSOR, r[DRV_SENSOR_LOAD_PERCENT].value, "%");
	if (r[DRV_SENSOR_POWER_W].known)
		sheet_number(s, "power_W", "power", SRC_SENSOR, r[DRV_SENSOR_POWER_W].value, "W");
	if (r[DRV_SENSOR_VOLTAGE_MV].known)
		sheet_number(s, "voltage_mV", "voltage", SRC_SENSOR, r[DRV_SENSOR_VOLTAGE_MV].value, "mV");
}

static void put_limits(struct sheet *s, const struct drv_chip *c)
{
	sheet_number(s, "waves_per_cu", "waves per CU", SRC_TABLE, c->waves_per_cu, "");
	sheet_size(s, "lds_B", "LDS per workgroup", SRC_TABLE, c->lds_B);
	sheet_number(s, "workgroup_max", "workgroup, at most", SRC_TABLE, c->max_group_threads, "work-items");
	sheet_text(s, "pm4", "packets", SRC_TABLE, "%s, %s", drv_pm4_name(c->pm4), drv_sdma_name(c->sdma));
	sheet_text(s, "xnack", "xnack", SRC_TABLE, "%s", feature_word(c->xnack));
	sheet_text(s, "sramecc", "sramecc", SRC_TABLE, "%s", feature_word(c->sramecc));
}

static void put_compute(struct sheet *s, const struct drv_device *dev, const struct drv_usage *u)
{
	const struct drv_facts *f = &dev->facts;

	sheet_section(s, "compute", "compute");
	if (f->cus) {
		sheet_number(s, "compute_units", "compute units", SRC_DEV, f->cus, "");
		sheet_text(s, "layout", "layout", SRC_DEV, "%u shader engines x %u arrays", f->engines,
			   f->arrays_per_engine);
		sheet_number(s, "wave_lanes", "lanes of a wave", SRC_DEV, f->wave_lanes, "");
		sheet_number(s, "vgprs", "VGPRs of a SIMD", SRC_DEV, f->vgprs, "");
	}
	if (dev->chip)
		put_limits(s, dev->chip);
	if (f->engine_clock_kHz)
		put_clock(s, "engine_clock", "engine clock", &u->sensor[DRV_SENSOR_ENGINE_MHZ], f->engine_min_kHz,
			  f->engine_clock_kHz);
	if (f->counter_kHz)
		sheet_number(s, "counter_kHz", "timestamp clock", SRC_DEV, f->counter_kHz, "kHz");
	put_sensors(s, u);
}

static void put_sizes(struct sheet *s, const struct drv_facts *f)
{
	bool large = f->visible_vram.total_B >= f->vram.total_B;

	sheet_size(s, "vram_B", f->apu ? "VRAM (carve-out)" : "VRAM", SRC_MEMORY, f->vram.total_B);
	sheet_size(s, "vram_visible_B", "VRAM that the CPU sees", SRC_MEMORY, f->visible_vram.total_B);
	sheet_text(s, "bar", "BAR", SRC_MEMORY, "%s", large ? "large: all of VRAM" : "small: a window");
	sheet_size(s, "gtt_B", "GTT (system memory)", SRC_MEMORY, f->gtt.total_B);
}

static void put_usage(struct sheet *s, const struct drv_usage *u)
{
	sheet_size(s, "vram_used_B", "VRAM in use", SRC_USAGE, u->vram_B);
	sheet_size(s, "vram_visible_used_B", "of it, where the CPU sees", SRC_USAGE, u->visible_vram_B);
	sheet_size(s, "gtt_used_B", "GTT in use", SRC_USAGE, u->gtt_B);
	sheet_number(s, "evictions", "evictions", SRC_MOVED, u->evictions, "");
	sheet_size(s, "moved_B", "moved by the kernel", SRC_MOVED, u->moved_B);
}

static void put_memory(struct sheet *s, const struct drv_device *dev, const struct drv_usage *u, bool usage)
{
	const struct drv_facts *f = &dev->facts;

	sheet_section(s, "memory", "memory");
	if (f->cus)
		sheet_text(s, "kind", "kind", SRC_DEV, "%s", f->apu ? "APU: the host's memory" : "a card's own");
	if (f->vram_bits)
		sheet_text(s, "memory", "memory", SRC_DEV, "%s, %u bits", memory_type(f->vram_type), f->vram_bits);
	if (f->memory_clock_kHz)
		put_clock(s, "memory_clock", "memory clock", &u->sensor[DRV_SENSOR_MEMORY_MHZ], f->memory_min_kHz,
			  f->memory_clock_kHz);
	if (f->vram.total_B || f->gtt.total_B)
		put_sizes(s, f);
	if (usage)
		put_usage(s, u);
	if (f->va_hi) {
		sheet_text(s, "va", "GPU addresses", SRC_DEV, "0x%" PRIx64 " to 0x%" PRIx64, f->va_lo, f->va_hi);
		sheet_text(s, "va_high", "and high ones", SRC_DEV, "0x%" PRIx64 " to 0x%" PRIx64, f->high_va_lo,
			   f->high_va_hi);
	}
}

static void put_cache(struct sheet *s, const char *key, const char *label, const struct drv_cache *c)
{
	char text[96];
	int n;

	sheet_format_size(text, sizeof(text), c->size_B);
	n = (int)strlen(text);
	if (c->line_B)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ", lines of %u bytes", c->line_B);
	if (c->cus > 1)
		snprintf(text + n, sizeof(text) - (size_t)n, ", for %u CUs", c->cus);
	sheet_text(s, key, label, c->origin == DRV_CACHE_KERNEL ? SRC_DEV "; rest: " SRC_TABLE : SRC_TABLE, "%s",
		   text);
}

static void put_caches(struct sheet *s, const struct drv_facts *f)
{
	static const char *const keys[DRV_CACHES] = {"l1", "inst", "scalar", "gl1", "l2", "mall"};

	sheet_section(s, "caches", "caches");
	for (unsigned i = 0; i < DRV_CACHES; i++)
		if (f->cache[i].size_B)
			put_cache(s, keys[i], drv_cache_name(i), &f->cache[i]);
	if (f->l2_banks)
		sheet_number(s, "l2_banks", "L2 banks", SRC_DEV, f->l2_banks, "");
}

static void put_pcie(struct sheet *s, const struct drv_place *p, const struct drv_facts *f)
{
	const struct drv_pcie *e = &p->pcie;

	if (!e->known) {
		sheet_text(s, "pci_address", "PCI address", "/sys is masked", "unknown");
		return;
	}
	sheet_text(s, "pci_address", "PCI address", SRC_SYS, "%04x:%02x:%02x.%u", e->domain, e->bus, e->device,
		   e->function);
	if (e->speed_MTps && e->lanes)
		sheet_text(s, "pcie_now", "PCIe now", SRC_SYS, "%.1f GT/s x %u, %u MB/s", e->speed_MTps / 1e3,
			   e->lanes, drv_pcie_MBps(e->speed_MTps, e->lanes));
	if (e->bar_B)
		sheet_size(s, "bar_B", "BAR 0", SRC_SYS, e->bar_B);
	if (e->iommu[0])
		sheet_text(s, "iommu", "IOMMU", SRC_SYS, "%s", e->iommu);
	if (e->speed_max_MTps && e->lanes_max)
		sheet_text(s, "pcie_max", "PCIe at best", SRC_SYS, "%.1f GT/s x %u, %u MB/s",
			   e->speed_max_MTps / 1e3, e->lanes_max, drv_pcie_MBps(e->speed_max_MTps, e->lanes_max));
	if (f->pcie_gen)
		sheet_text(s, "pcie_common", "card and slot agree on", SRC_DEV, "PCIe %u x %u", f->pcie_gen,
			   f->pcie_lanes);
}

static void put_place(struct sheet *s, const struct drv_place *p, const struct drv_facts *f)
{
	char peers[DRV_HIVE_MAX * 24] = "";
	size_t n = 0;

	sheet_section(s, "links", "links");
	put_pcie(s, p, f);
	sheet_number(s, "numa_node", "NUMA node", p->numa_source, (uint64_t)p->numa_node, "");
	if (!p->hive.id)
		return;
	sheet_text(s, "hive", "xGMI hive", "/sys xgmi_hive_info", "%" PRIx64, p->hive.id);
	sheet_text(s, "hive_device", "id in the hive", "/sys xgmi_device_id", "%" PRIx64, p->hive.device_id);
	for (unsigned i = 0; i < p->hive.peers; i++)
		n += (size_t)snprintf(peers + n, sizeof(peers) - n, "%s%s", i ? ", " : "", p->hive.peer[i].pci);
	sheet_text(s, "hive_peers", "peers", "/sys xgmi_hive_info", "%s", n ? peers : "none");
}

static void put_firmware(struct sheet *s, const struct drv_device *dev)
{
	struct drv_firmware firmware[DRV_FIRMWARES_MAX];
	unsigned count = dev->fd >= 0 ? drv_firmware(dev, firmware) : 0;

	sheet_section(s, "firmware", "firmware");
	for (unsigned i = 0; i < count; i++)
		sheet_text(s, firmware[i].name, firmware[i].name, SRC_FW, "0x%08x, feature %u", firmware[i].version,
			   firmware[i].feature);
}

static void put_abilities(struct sheet *s, const struct drv_device *dev)
{
	sheet_section(s, "abilities", "abilities");
	for (unsigned i = 0; i < DRV_ABILITIES; i++)
		sheet_yes_no(s, drv_ability_name(i), drv_ability_name(i), dev->can[i].why, dev->can[i].yes);
}

static void put_rings(struct sheet *s, const struct drv_device *dev)
{
	static const char *const labels[DRV_IP_COUNT] = {"graphics rings", "compute rings", "SDMA rings"};
	static const char *const keys[DRV_IP_COUNT] = {"gfx", "compute", "sdma"};

	sheet_section(s, "rings", "rings");
	for (unsigned i = 0; i < DRV_IP_COUNT; i++) {
		const struct drv_ip *ip = &dev->facts.ip[i];
		unsigned rings = (unsigned)__builtin_popcount(ip->rings);

		if (ip->version)
			sheet_text(s, keys[i], labels[i], SRC_IP, "%u, IP version %u.%u.%u", rings,
				   ip->version >> 16, ip->version >> 8 & 0xff, ip->version & 0xff);
		else
			sheet_text(s, keys[i], labels[i], SRC_IP, "%u", rings);
	}
	sheet_number(s, "sdma_engines", "SDMA engines", SRC_COUNT, dev->facts.ip[DRV_IP_DMA].instances, "");
	if (dev->chip && dev->chip->ring_per_xcc)
		sheet_number(s, "xccs", "XCCs, each with own rings", SRC_COUNT,
			     dev->facts.ip[DRV_IP_COMPUTE].instances, "");
}

void info_put_device(struct sheet *s, const struct info_device *d)
{
	const struct drv_device *dev = d->dev;
	struct drv_usage usage = {0};
	bool amdgpu = dev->facts.cus; /* true for a device that opened and answered */
	bool live = amdgpu && !drv_usage(dev, &usage);

	put_identity(s, d);
	put_compute(s, dev, &usage);
	put_memory(s, dev, &usage, live);
	put_caches(s, &dev->facts);
	put_place(s, &d->place, &dev->facts);
	if (!amdgpu)
		return;
	put_firmware(s, dev);
	put_abilities(s, dev);
	put_rings(s, dev);
}
