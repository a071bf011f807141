/* tuff info without -v: a dozen lines for each device, the verdict first. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "tools/info.h"
#include "tools/tool.h"

static void put(const char *label, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *label, const char *fmt, ...)
{
	char begin[16], text[400];
	va_list args;

	snprintf(begin, sizeof(begin), "  %-9s", label);
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	tool_wrap(stdout, begin, text);
}

static void put_verdict(const struct drv_device *dev)
{
	const char *refusal = drv_device_verdict(dev);

	if (refusal)
		put("verdict", "cannot be used: %s", refusal);
	else
		put("verdict", "can be used for compute%s",
		    dev->can[DRV_CAN_COPY].yes ? " and copies" : ", not SDMA copies");
}

static void put_compute(const struct drv_device *dev)
{
	const struct drv_facts *f = &dev->facts;

	put("compute", "%u compute units, waves of %u lanes, up to %u MHz", f->cus, f->wave_lanes,
	    f->engine_clock_kHz / 1000);
}

static void put_memory(const struct drv_facts *f, const struct drv_usage *u)
{
	char total[32], used[32], visible[32], gtt[32];
	bool large = f->visible_vram.total_B >= f->vram.total_B;

	sheet_format_size(total, sizeof(total), f->vram.total_B);
	sheet_format_size(used, sizeof(used), u->vram_B);
	sheet_format_size(visible, sizeof(visible), f->visible_vram.total_B);
	sheet_format_size(gtt, sizeof(gtt), f->gtt.total_B);
	put("memory", "%s of %s, %s in use; the CPU sees %s%s", total, f->apu ? "the host's, set apart" : "its own",
	    used, large ? "all of it" : visible, large ? "" : " of it (a small BAR)");
	put("host", "up to %s of the host's memory", gtt);
}

static void put_link(const struct drv_place *p)
{
	const struct drv_pcie *e = &p->pcie;
	char link[64] = "";

	if (!e->known)
		return put("link", "unknown: /sys is masked");
	if (e->speed_max_MTps && e->lanes_max)
		snprintf(link, sizeof(link), "PCIe %.1f GT/s x %u (now %.1f x %u), ", e->speed_max_MTps / 1e3,
			 e->lanes_max, e->speed_MTps / 1e3, e->lanes);
	put("link", "%sNUMA node %d%s", link, p->numa_node, p->hive.peers ? ", xGMI" : "");
}

static void put_sensors(const struct drv_usage *u)
{
	static const struct {
		enum drv_sensor sensor;
		const char *unit;
		unsigned divisor;
	} rows[] = {
		{DRV_SENSOR_ENGINE_MHZ, "MHz", 1},
		{DRV_SENSOR_TEMPERATURE_MDEG, "C", 1000},
		{DRV_SENSOR_POWER_W, "W", 1},
		{DRV_SENSOR_LOAD_PERCENT, "% busy", 1},
	};
	char text[96] = "";
	size_t n = 0;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (u->sensor[rows[i].sensor].known)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u %s", n ? ", " : "",
					      u->sensor[rows[i].sensor].value / rows[i].divisor, rows[i].unit);
	if (n)
		put("now", "%s", text);
}

static void put_missing(const struct drv_device *dev)
{
	char text[300] = "";
	size_t n = 0;

	for (unsigned i = 0; i < DRV_ABILITIES; i++)
		if (!dev->can[i].yes)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "",
					      drv_ability_name(i));
	if (n)
		put("lacks", "%s", text);
}

void info_print_brief(const struct info_device *d)
{
	const struct drv_device *dev = d->dev;
	struct drv_usage usage = {0};
	struct utsname uts;

	printf("GPU %u: %s%s%s%s\n", dev->node.index, dev->name, dev->chip ? " (" : "",
	       dev->chip ? dev->chip->target : "", dev->chip ? ")" : "");
	put_verdict(dev);
	if (dev->chip && *dev->overridden)
		put("chip", "%s, by HSA_OVERRIDE_GFX_VERSION in place of %s", dev->chip->target, dev->overridden);
	else if (dev->chip)
		put("chip", "%s, %s", dev->chip->target, dev->chip->product);
	put("node", "%s%s%s", dev->node.path, dev->node.pci[0] ? ", PCI " : "", dev->node.pci);
	if (dev->drm_minor && !uname(&uts))
		put("kernel", "amdgpu DRM 3.%u, Linux %s", dev->drm_minor, uts.release);
	if (!dev->facts.cus || !dev->facts.gtt.total_B)
		return;
	(void)!drv_usage(dev, &usage); /* unread values are 0 or unknown */
	put_compute(dev);
	put_memory(&dev->facts, &usage);
	put_link(&d->place);
	put_sensors(&usage);
	if (!drv_device_verdict(dev))
		put_missing(dev);
}
