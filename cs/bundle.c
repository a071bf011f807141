/* Clang's offload bundles: the output of `clang -x hip --offload-device-only`, and the content of fat binaries. One
 * file with a code object for each target (LLVM ClangOffloadBundler.rst). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cs/elf.h"

#define MAGIC            "__CLANG_OFFLOAD_BUNDLE__"
#define MAGIC_B          (sizeof(MAGIC) - 1)
#define MAGIC_COMPRESSED "CCOB"

/* Header of an entry, after the magic and the number of entries: offset, size, length of the name. The name
 * follows. */
struct entry {
	uint64_t offset, size_B, name_B;
};

static bool read_entry(const uint8_t *image, size_t size_B, size_t *at, struct entry *entry, const char **name)
{
	if (size_B - *at < sizeof(*entry))
		return false;
	memcpy(entry, image + *at, sizeof(*entry));
	*at += sizeof(*entry);
	if (entry->name_B > size_B - *at || entry->offset > size_B || entry->size_B > size_B - entry->offset)
		return false;
	*name = (const char *)image + *at;
	*at += entry->name_B;
	return true;
}

/* True when the features after a target's name, such as "sramecc+:xnack-", fit the chip. */
static bool features_fit(const char *text, const char *end, const struct drv_chip *chip)
{
	while (text < end) {
		const char *stop = memchr(text, ':', end - text);
		size_t length = (stop ? stop : end) - text;
		enum drv_feature wanted = length && text[length - 1] == '+' ? DRV_FEATURE_ON : DRV_FEATURE_OFF;

		if (length == sizeof("xnack") && !memcmp(text, "xnack", length - 1) &&
		    !cs_feature_fits(wanted, chip->xnack))
			return false;
		if (length == sizeof("sramecc") && !memcmp(text, "sramecc", length - 1) &&
		    !cs_feature_fits(wanted, chip->sramecc))
			return false;
		text += length + 1;
	}
	return true;
}

/* True when an entry's name, such as "hipv4-amdgcn-amd-amdhsa--gfx908:xnack-", has this target and features that
 * fit the chip. */
static bool entry_matches(const char *name, size_t name_B, const char *target, const struct drv_chip *chip)
{
	size_t target_B = strlen(target), end = 0;

	while (end < name_B && name[end] != ':')
		end++;
	return end > target_B && name[end - target_B - 1] == '-' &&
	       !memcmp(name + end - target_B, target, target_B) &&
	       features_fit(name + end + 1, name + name_B, chip);
}

/* Finds the first entry for the target: 1, 0 when there is none, or -ENOEXEC. */
static int bundle_find(const uint8_t *bundle, size_t total_B, const char *target, const struct drv_chip *chip,
		       struct entry *entry)
{
	size_t at = MAGIC_B + sizeof(uint64_t);
	uint64_t count;

	memcpy(&count, bundle + MAGIC_B, sizeof(count));
	for (uint64_t i = 0; i < count; i++) {
		const char *name;

		if (!read_entry(bundle, total_B, &at, entry, &name))
			return drv_fail(-ENOEXEC, "entry %llu of the offload bundle is broken",
					(unsigned long long)i);
		if (entry_matches(name, entry->name_B, target, chip))
			return 1;
	}
	return 0;
}

/* --- target ids ------------------------------------------------------------------------------- */

/* The features that code may demand, most demands first: sramecc and xnack, each off, on, or not demanded. */
static const struct {
	enum drv_feature sramecc, xnack;
	const char *text;
} demands[] = {
	{DRV_FEATURE_OFF, DRV_FEATURE_OFF, ":sramecc-:xnack-"},
	{DRV_FEATURE_OFF, DRV_FEATURE_ON, ":sramecc-:xnack+"},
	{DRV_FEATURE_ON, DRV_FEATURE_OFF, ":sramecc+:xnack-"},
	{DRV_FEATURE_ON, DRV_FEATURE_ON, ":sramecc+:xnack+"},
	{DRV_FEATURE_OFF, DRV_FEATURE_EITHER, ":sramecc-"},
	{DRV_FEATURE_ON, DRV_FEATURE_EITHER, ":sramecc+"},
	{DRV_FEATURE_EITHER, DRV_FEATURE_OFF, ":xnack-"},
	{DRV_FEATURE_EITHER, DRV_FEATURE_ON, ":xnack+"},
	{DRV_FEATURE_EITHER, DRV_FEATURE_EITHER, ""},
};
#define DEMANDS (sizeof(demands) / sizeof(demands[0]))

bool cs_target_id(const struct drv_chip *chip, unsigned index, char *id, size_t size_B)
{
	const char *names[] = {chip->target, chip->generic ? chip->generic->name : NULL,
			       chip->runs_mach ? drv_isa_name(chip->runs_mach) : NULL};

	for (unsigned i = 0; i < DEMANDS * sizeof(names) / sizeof(names[0]); i++) {
		const char *name = names[i / DEMANDS];

		if (!name || !cs_feature_fits(demands[i % DEMANDS].sramecc, chip->sramecc) ||
		    !cs_feature_fits(demands[i % DEMANDS].xnack, chip->xnack) || index--)
			continue;
		snprintf(id, size_B, "%s%s", name, demands[i % DEMANDS].text);
		return true;
	}
	return false;
}

/* --- bundles ---------------------------------------------------------------------------------- */

int cs_bundle_pick(const void **image, size_t *size_B, const struct drv_chip *chip)
{
	const uint8_t *bundle = *image;
	size_t total_B = *size_B;
	struct entry entry;
	int r;

	if (bundle && total_B >= 4 && !memcmp(bundle, MAGIC_COMPRESSED, 4))
		return drv_fail(-ENOTSUP, "a compressed offload bundle; compile with --no-offload-compress");
	if (!bundle || total_B < MAGIC_B + sizeof(uint64_t) || memcmp(bundle, MAGIC, MAGIC_B))
		return 0;
	/* Order of preference, whatever the order in the bundle: code for the chip itself, generic code, another
	 * chip's code. */
	r = bundle_find(bundle, total_B, chip->target, chip, &entry);
	if (!r && chip->generic)
		r = bundle_find(bundle, total_B, chip->generic->name, chip, &entry);
	if (!r && chip->runs_mach)
		r = bundle_find(bundle, total_B, drv_isa_name(chip->runs_mach), chip, &entry);
	if (r < 0)
		return r;
	if (!r)
		return drv_fail(-ENOEXEC, "the offload bundle has no code object for %s", chip->target);
	*image = bundle + entry.offset;
	*size_B = entry.size_B;
	return 0;
}
