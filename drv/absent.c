/* The reasons why a GPU cannot be reached: missing permission for its node, or no node. The texts address the owner
 * of the machine, who may see it for the first time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drv/cancel.h"
#include "drv/device.h"

/* --- permission ------------------------------------------------------------------------------- */

/* Group that replaces all groups that a user namespace does not map, as in rootless containers
 * (/proc/sys/kernel/overflowgid). */
#define OVERFLOW_GROUP 65534

static bool is_overflow(gid_t group)
{
	DRV_HOLD_CANCEL;
	unsigned overflow = OVERFLOW_GROUP;
	FILE *file = fopen("/proc/sys/kernel/overflowgid", "re");

	if (file && fscanf(file, "%u", &overflow) != 1)
		overflow = OVERFLOW_GROUP;
	if (file)
		fclose(file);
	return group == overflow;
}

int drv_fail_access(const char *path)
{
	struct group group, *found = NULL;
	char buffer[1024];
	struct stat st;

	if (stat(path, &st))
		return drv_fail(-EACCES, "there is no permission to open %s", path);
	/* The mode allows opening, so a container's device rules forbid it. */
	if (!faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS))
		return drv_fail(
			-EACCES,
			"there is no permission to open %s, though its mode allows it: start the container with "
			"--device %s",
			path, path);
	if (is_overflow(st.st_gid))
		return drv_fail(
			-EACCES,
			"there is no permission to open %s (mode %03o): its group is not mapped into this container. Be in "
			"that group on the host (often \"render\"), and start the container with --group-add "
			"keep-groups; no group inside the container helps",
			path, st.st_mode & 0777);
	getgrgid_r(st.st_gid, &group, buffer, sizeof(buffer), &found);
	if (found)
		return drv_fail(
			-EACCES,
			"there is no permission to open %s (mode %03o): join group %s (`usermod -aG %s USER`, then log in "
			"again; in a container keep the group: --group-add %u)",
			path, st.st_mode & 0777, found->gr_name, found->gr_name, st.st_gid);
	return drv_fail(
		-EACCES,
		"there is no permission to open %s (mode %03o): it belongs to group %u, which has no name here; a "
		"container needs --group-add %u, rootless --group-add keep-groups",
		path, st.st_mode & 0777, st.st_gid, st.st_gid);
}

/* --- no node ---------------------------------------------------------------------------------- */

/* A display controller or accelerator of the PCI bus. */
struct card {
	unsigned vendor, device;
	char address[16];
	char driver[32]; /* "": none */
};

#define VENDOR_AMD 0x1002
/* Base classes of the PCI Code and ID Assignment Specification. */
#define CLASS_DISPLAY     0x03
#define CLASS_ACCELERATOR 0x12

static unsigned read_hex(const char *dir, const char *name)
{
	DRV_HOLD_CANCEL;
	char path[PATH_MAX];
	unsigned value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "re");
	if (file && fscanf(file, "%x", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

static bool read_card(const char *bus, const char *address, struct card *card)
{
	char dir[PATH_MAX - 16], path[PATH_MAX], to[PATH_MAX];
	unsigned class;
	ssize_t n;

	snprintf(dir, sizeof(dir), "%s/%s", bus, address);
	class = read_hex(dir, "class") >> 16;
	*card = (struct card){.vendor = read_hex(dir, "vendor"), .device = read_hex(dir, "device")};
	snprintf(card->address, sizeof(card->address), "%.15s", address);
	snprintf(path, sizeof(path), "%s/driver", dir);
	n = readlink(path, to, sizeof(to) - 1);
	if (n > 0) {
		to[n] = 0;
		snprintf(card->driver, sizeof(card->driver), "%.31s", strrchr(to, '/') ? strrchr(to, '/') + 1 : to);
	}
	return class == CLASS_DISPLAY || class == CLASS_ACCELERATOR;
}

/* Finds the first AMD card, or without one the first card of another maker. vendor 0: there is none, or /sys is
 * masked. */
static struct card find_card(const char *sys)
{
	DRV_HOLD_CANCEL;
	struct card best = {0}, card;
	char bus[PATH_MAX / 2];
	struct dirent *entry;
	DIR *dir;

	snprintf(bus, sizeof(bus), "%s/bus/pci/devices", sys);
	dir = opendir(bus);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && read_card(bus, entry->d_name, &card) &&
		    (!best.vendor || (card.vendor == VENDOR_AMD && best.vendor != VENDOR_AMD)))
			best = card;
	if (dir)
		closedir(dir);
	return best;
}

static bool file_exists(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !access(path, F_OK);
}

static bool command_line_has(const char *proc, const char *word)
{
	DRV_HOLD_CANCEL;
	char path[PATH_MAX], line[4096] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/cmdline", proc);
	file = fopen(path, "re");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = 0;
	if (file)
		fclose(file);
	return strstr(line, word);
}

/* Advice for an AMD card that has no render node, by the driver that is bound to it. */
static const char *advice_for(const struct card *card, const char *dev, const char *proc)
{
	if (!card->driver[0])
		return command_line_has(proc, "nomodeset")
			       ? "has no driver: the kernel was started with nomodeset, which "
				 "keeps amdgpu away"
			       : "has no driver: modprobe amdgpu, and see dmesg";
	if (!strcmp(card->driver, "radeon"))
		return "is driven by radeon: it is older than GFX9 (Vega), where tuff begins";
	if (!strcmp(card->driver, "vfio-pci"))
		return "is bound to vfio-pci, for a virtual machine: bind it to amdgpu";
	if (strcmp(card->driver, "amdgpu"))
		return "is not driven by amdgpu, which tuff needs";
	if (!file_exists(dev, "dri"))
		return "is driven by amdgpu, but there is no /dev/dri: in a container pass --device /dev/dri";
	return "is driven by amdgpu, but has no render node in /dev/dri: see dmesg";
}

#define NO_GPU_NEEDED "; `tuff run --gpu gfx908` needs no GPU"

void drv_explain_absence(const char *sys, const char *dev, const char *proc, char *why, size_t why_B)
{
	struct card card = find_card(sys);

	if (card.vendor == VENDOR_AMD)
		snprintf(why, why_B, "the AMD GPU at PCI %s (1002:%04x%s%s) %s", card.address, card.device,
			 card.driver[0] ? ", driver " : "", card.driver, advice_for(&card, dev, proc));
	else if (file_exists(dev, "dxg"))
		snprintf(
			why, why_B,
			"this is WSL: its GPU is behind /dev/dxg, which amdgpu does not drive; boot Linux itself" NO_GPU_NEEDED);
	else if (card.vendor)
		snprintf(why, why_B,
			 "there is no AMD GPU: the GPU at PCI %s is %04x:%04x (driver %s)" NO_GPU_NEEDED,
			 card.address, card.vendor, card.device, card.driver[0] ? card.driver : "none");
	else if (file_exists(dev, "dri"))
		snprintf(why, why_B, "there is no AMD render node in /dev/dri" NO_GPU_NEEDED);
	else
		snprintf(
			why, why_B,
			"there is no /dev/dri: load the amdgpu kernel module, or in a container pass --device /dev/dri" NO_GPU_NEEDED);
}
