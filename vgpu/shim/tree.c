/* The directory tree that stands for /dev/dri and for the parts of /sys that tell about GPUs, as Linux lays them
 * out: directories under sys/devices, relative links from sys/dev/char, sys/class/drm and sys/bus/pci. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vgpu/chip.h"
#include "vgpu/kernel/sys.h"
#include "vgpu/shim/shim.h"

/* Errors are collected: the first one is what shim_tree_build() answers. */
struct tree {
	const char *root;
	int error;
};

static void tree_fail(struct tree *t, long r)
{
	if (r < 0 && !t->error)
		t->error = (int)r;
}

__attribute__((format(printf, 2, 3))) static void make_dirs(struct tree *t, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	int n = snprintf(path, sizeof(path), "%s/", t->root);

	va_start(args, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, args);
	va_end(args);
	for (char *slash = path + n; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		sys_call6(SYS_mkdir, (long)path, 0755, 0, 0, 0, 0);
	}
	tree_fail(t, sys_call6(SYS_mkdir, (long)path, 0755, 0, 0, 0, 0));
	if (t->error == -EEXIST)
		t->error = 0;
}

__attribute__((format(printf, 3, 4))) static void make_link(struct tree *t, const char *to, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	int n = snprintf(path, sizeof(path), "%s/", t->root);

	va_start(args, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, args);
	va_end(args);
	tree_fail(t, sys_call6(SYS_symlink, (long)to, (long)path, 0, 0, 0, 0));
}

static void write_file(struct tree *t, const char *dir, const char *name, const void *data, size_t size_B)
{
	char path[PATH_MAX];
	long fd;

	snprintf(path, sizeof(path), "%s/%s/%s", t->root, dir, name);
	fd = sys_call6(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0444, 0, 0);
	tree_fail(t, fd);
	if (fd < 0)
		return;
	tree_fail(t, sys_call6(SYS_write, fd, (long)data, (long)size_B, 0, 0, 0));
	sys_close((int)fd);
}

static void write_text(struct tree *t, const char *dir, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void write_text(struct tree *t, const char *dir, const char *name, const char *fmt, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	write_file(t, dir, name, text, (size_t)n);
}

/* --- one device --- */

#define PCI_BUS(i) (3 + (i))

/* 64 bytes of configuration space: ids, a display controller's class, subsystem as the board vendor's. */
static void write_config(struct tree *t, const char *dir, const struct vgpu_chip *chip)
{
	uint8_t config[256] = {
		[0x00] = 0x02,
		0x10,
		(uint8_t)chip->device_id,
		(uint8_t)(chip->device_id >> 8),
		[0x04] = 0x06,
		0x00,
		[0x08] = chip->pci_rev,
		0x00,
		0x80,
		0x03,
		[0x2c] = 0x02,
		0x10,
		0x34,
		0x0c,
	};

	write_file(t, dir, "config", config, sizeof(config));
}

static void write_memory(struct tree *t, const char *dir, const struct vgpu_chip *chip,
			 const struct kern_device_config *config)
{
	uint64_t vram_B = config->vram_B ? config->vram_B : chip->vram_B;
	uint64_t visible_B = config->visible_B ? config->visible_B : chip->visible_vram_B;

	if (visible_B > vram_B)
		visible_B = vram_B;
	write_text(t, dir, "mem_info_vram_total", "%llu\n", (unsigned long long)vram_B);
	write_text(t, dir, "mem_info_vram_used", "0\n");
	write_text(t, dir, "mem_info_vis_vram_total", "%llu\n", (unsigned long long)visible_B);
	write_text(t, dir, "mem_info_vis_vram_used", "0\n");
	write_text(t, dir, "resource", "0x%016llx 0x%016llx 0x000000000014220c\n", 0x80000000000ull,
		   0x80000000000ull + (unsigned long long)visible_B - 1);
}

static void write_attributes(struct tree *t, const char *dir, unsigned i, const struct vgpu_chip *chip)
{
	write_text(t, dir, "vendor", "0x1002\n");
	write_text(t, dir, "device", "0x%04x\n", chip->device_id);
	write_text(t, dir, "subsystem_vendor", "0x1002\n");
	write_text(t, dir, "subsystem_device", "0x0c34\n");
	write_text(t, dir, "revision", "0x%02x\n", chip->pci_rev);
	write_text(t, dir, "class", "0x038000\n");
	write_text(t, dir, "numa_node", "-1\n");
	write_text(t, dir, "local_cpulist", "0-%ld\n", sysconf(_SC_NPROCESSORS_CONF) - 1);
	write_text(t, dir, "current_link_speed", "16.0 GT/s PCIe\n");
	write_text(t, dir, "current_link_width", "16\n");
	write_text(t, dir, "unique_id", "74756666%08x\n", i + 1);
	write_text(t, dir, "uevent",
		   "DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=1002:%04X\nPCI_SUBSYS_ID=1002:0C34\n"
		   "PCI_SLOT_NAME=0000:%02x:00.0\nMODALIAS=pci:v00001002d%08Xsv00001002sd00000C34bc03sc80i00\n",
		   chip->device_id, PCI_BUS(i), chip->device_id);
	write_config(t, dir, chip);
}

static void make_minor(struct tree *t, const char *dir, const char *name, unsigned minor)
{
	char sub[300];

	snprintf(sub, sizeof(sub), "%s/drm/%s", dir, name);
	make_dirs(t, "%s", sub);
	write_text(t, sub, "dev", "226:%u\n", minor);
	write_text(t, sub, "uevent", "MAJOR=226\nMINOR=%u\nDEVNAME=dri/%s\nDEVTYPE=drm_minor\n", minor, name);
}

static void make_device(struct tree *t, unsigned i, const struct kern_device_config *config)
{
	const struct vgpu_chip *chip = vgpu_chip_find(config->chip);
	char slot[16], dir[128];

	snprintf(slot, sizeof(slot), "0000:%02x:00.0", PCI_BUS(i));
	snprintf(dir, sizeof(dir), "sys/devices/pci0000:00/0000:00:%02x.0/%s", i + 1, slot);
	make_dirs(t, "%s/drm", dir);
	write_attributes(t, dir, i, chip);
	write_memory(t, dir, chip, config);
	make_link(t, "../../../../bus/pci", "%s/subsystem", dir);
	make_link(t, "../../../../bus/pci/drivers/amdgpu", "%s/driver", dir);
	for (unsigned primary = 0; primary < 2; primary++) {
		unsigned minor = primary ? i : 128 + i;
		char name[16], to[192];

		snprintf(name, sizeof(name), primary ? "card%u" : "renderD%u", minor);
		make_minor(t, dir, name, minor);
		snprintf(to, sizeof(to), "../../../%s", slot);
		make_link(t, to, "%s/drm/%s/device", dir, name);
		make_link(t, "../../../../../../class/drm", "%s/drm/%s/subsystem", dir, name);
		snprintf(to, sizeof(to), "../../%s/drm/%s", dir + 4, name);
		make_link(t, to, "sys/dev/char/226:%u", minor);
		make_link(t, to, "sys/class/drm/%s", name);
		write_text(t, "dev/dri", name, "%s of the virtual GPU\n", name);
		snprintf(to, sizeof(to), "../%s", name);
		make_link(t, to, "dev/dri/by-path/pci-%s-%s", slot, primary ? "card" : "render");
	}
	snprintf(dir, sizeof(dir), "../../../devices/pci0000:00/0000:00:%02x.0/%s", i + 1, slot);
	make_link(t, dir, "sys/bus/pci/devices/%s", slot);
	snprintf(dir, sizeof(dir), "../../../../devices/pci0000:00/0000:00:%02x.0/%s", i + 1, slot);
	make_link(t, dir, "sys/bus/pci/drivers/amdgpu/%s", slot);
}

int shim_tree_build(const char *root, const struct shim_config *config)
{
	struct tree t = {.root = root};

	make_dirs(&t, "procs");
	make_dirs(&t, "dev/dri/by-path");
	make_dirs(&t, "sys/dev/char");
	make_dirs(&t, "sys/class/drm");
	make_dirs(&t, "sys/bus/pci/devices");
	make_dirs(&t, "sys/bus/pci/drivers/amdgpu");
	make_dirs(&t, "sys/module/amdgpu");
	write_text(&t, "sys/class/drm", "version", "drm 1.1.0 20060810\n");
	for (unsigned i = 0; i < config->count; i++)
		make_device(&t, i, &config->device[i]);
	return t.error;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path); /* what cannot go stays; the rest still goes */
	return 0;
}

void shim_tree_remove(const char *root)
{
	nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
