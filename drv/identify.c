/* Identifies the chip of a device, and applies HSA_OVERRIDE_GFX_VERSION. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <amdgpu_drm.h>

#include "drv/config.h"
#include "drv/internal.h"
#include "drv/topology.h"

#define VARIABLE "HSA_OVERRIDE_GFX_VERSION"

/* A compute-only chip has no GFX ring, and an empty GFX block on some kernels. */
static uint32_t gc_version(const struct drv_facts *f)
{
	return f->ip[DRV_IP_GFX].version ? f->ip[DRV_IP_GFX].version : f->ip[DRV_IP_COMPUTE].version;
}

/* Chips that amdgpu drives, and whose packets and address spaces tuff does not support. */
static const struct {
	unsigned family;
	const char *generation, *names;
} old_chips[] = {
	{AMDGPU_FAMILY_SI, "GFX6", "Tahiti, Pitcairn, Verde, Oland, Hainan"},
	{AMDGPU_FAMILY_CI, "GFX7", "Bonaire, Hawaii"},
	{AMDGPU_FAMILY_KV, "GFX7", "Kaveri, Kabini, Mullins"},
	{AMDGPU_FAMILY_VI, "GFX8", "Tonga, Fiji, Polaris, Vega M"},
	{AMDGPU_FAMILY_CZ, "GFX8", "Carrizo, Stoney"},
};

static int fail_unknown(const struct drv_device *dev)
{
	const struct drv_facts *f = &dev->facts;
	uint32_t gc = gc_version(f);

	for (unsigned i = 0; i < sizeof(old_chips) / sizeof(old_chips[0]); i++)
		if (f->family == old_chips[i].family)
			return drv_fail(-ENOTSUP, "%s has a %s chip (one of %s), and tuff begins with GFX9 (Vega)",
					dev->node.path, old_chips[i].generation, old_chips[i].names);
	return drv_fail(-ENOTSUP,
			"%s has a chip that tuff does not know: GC %u.%u.%u, family %u, external revision 0x%x",
			dev->node.path, gc >> 16, gc >> 8 & 0xff, gc & 0xff, f->family, f->external_rev);
}

/* Makes the device run the code of the named chip. The hardware is driven as the real chip, where that is known. */
static void use_code_of(struct drv_device *dev, const struct drv_chip *real, const struct drv_chip *named)
{
	uint32_t gc = gc_version(&dev->facts);

	if (!real) {
		snprintf(dev->overridden, sizeof(dev->overridden), "an unknown chip, GC %u.%u.%u", gc >> 16,
			 gc >> 8 & 0xff, gc & 0xff);
		dev->chip = named;
		return;
	}
	snprintf(dev->overridden, sizeof(dev->overridden), "%s", real->target);
	dev->own_chip = *real;
	dev->own_chip.target = named->target;
	dev->own_chip.elf_mach = named->elf_mach;
	dev->own_chip.generic = named->generic;
	dev->own_chip.generic_version = named->generic_version;
	dev->own_chip.xnack = named->xnack;
	dev->own_chip.sramecc = named->sramecc;
	dev->chip = &dev->own_chip;
}

static int apply_override(struct drv_device *dev, const struct drv_chip *real, const struct drv_override *o)
{
	const struct drv_chip *named;
	uint32_t gc = gc_version(&dev->facts);
	char target[16];

	snprintf(target, sizeof(target), "gfx%u%x%x", o->major, o->minor, o->stepping);
	named = drv_chip_by_target(target);
	if (!named)
		return drv_fail(-ENOTSUP, VARIABLE "=%u.%u.%u for %s: tuff knows no %s", o->major, o->minor,
				o->stepping, dev->node.path, target);
	if (real ? named->pm4 != real->pm4 : named->id[0].gc_version >> 16 != gc >> 16)
		return drv_fail(-ENOTSUP,
				VARIABLE "=%u.%u.%u: %s takes %s packets, and %s is GC %u.%u.%u: it would hang",
				o->major, o->minor, o->stepping, target, drv_pm4_name(named->pm4), dev->node.path,
				gc >> 16, gc >> 8 & 0xff, gc & 0xff);
	if (named != real)
		use_code_of(dev, real, named);
	return 0;
}

int drv_choose_chip(struct drv_device *dev, const struct drv_override *override)
{
	const struct drv_facts *f = &dev->facts;
	const struct drv_chip *real = drv_chip_find(gc_version(f), f->family, f->external_rev);
	int r = 0;

	dev->chip = real;
	if (override)
		r = apply_override(dev, real, override);
	if (r)
		return r;
	if (!dev->chip)
		return fail_unknown(dev);
	if (!f->ip[DRV_IP_COMPUTE].rings)
		return drv_fail(-ENOTSUP, "%s offers no compute ring (amdgpu.num_kcq=0 or user_queue=2?)",
				dev->node.path);
	return 0;
}

/* An override for this device's node has precedence over the one for all. */
static const struct drv_override *find_override(const struct drv_device *dev)
{
	const struct drv_config *config = drv_config();
	const struct drv_override *found = NULL;
	struct drv_host host;
	int node;

	if (!config->overrides)
		return NULL;
	drv_host_read(&host);
	node = (int)(host.count + dev->node.index);
	for (unsigned i = 0; i < config->overrides; i++) {
		const struct drv_override *o = &config->override[i];

		if (o->node == node || (o->node < 0 && !found))
			found = o;
	}
	return found;
}

int drv_find_chip(struct drv_device *dev)
{
	return drv_choose_chip(dev, find_override(dev));
}
