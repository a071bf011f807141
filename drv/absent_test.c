/* Reasons for a missing node, in file trees like those of real machines; reasons for missing permission. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drv/device.h"
#include "tests/check.h"

static char root[] = "/tmp/tuff-absent-XXXXXX";

static void make_file(const char *name, const char *text)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "mkdir -p $(dirname %s/%s) && echo '%s' >%s/%s", root, name, text, root,
		 name);
	CHECK_EQ(system(command), 0);
}

static void make_link(const char *name, const char *to)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "mkdir -p $(dirname %s/%s) && ln -sfn %s %s/%s", root, name, to, root,
		 name);
	CHECK_EQ(system(command), 0);
}

static void make_card(const char *address, const char *vendor, const char *class, const char *driver)
{
	char name[128];

	snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/vendor", address);
	make_file(name, vendor);
	snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/device", address);
	make_file(name, "0x67df");
	snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/class", address);
	make_file(name, class);
	snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/driver", address);
	if (driver)
		make_link(name, driver);
}

static void clear(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf %s/*", root);
	CHECK_EQ(system(command), 0);
}

/* Checks that the reason contains the words; removes the tree. */
static void says(const char *words)
{
	char sys[64], dev[64], proc[64], why[320];

	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(dev, sizeof(dev), "%s/dev", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	drv_explain_absence(sys, dev, proc, why, sizeof(why));
	if (!CHECK(strstr(why, words)))
		printf("  \"%s\" is not in: %s\n", words, why);
	clear();
}

static void cards_are_named_with_their_driver(void)
{
	make_card("0000:01:00.0", "0x10de", "0x030000", "../../../bus/pci/drivers/nouveau");
	says("no AMD GPU: the GPU at PCI 0000:01:00.0 is 10de:67df (driver nouveau)");
	make_card("0000:00:02.0", "0x8086", "0x030000", "../drivers/i915");
	make_card("0000:03:00.0", "0x1002", "0x030000", "../drivers/radeon");
	says("PCI 0000:03:00.0 (1002:67df, driver radeon) is driven by radeon: it is older than GFX9");
	make_card("0000:03:00.0", "0x1002", "0x038000", "../drivers/vfio-pci");
	says("is bound to vfio-pci");
	make_card("0000:03:00.0", "0x1002", "0x030000", NULL);
	says("(1002:67df) has no driver: modprobe amdgpu");
	make_card("0000:03:00.0", "0x1002", "0x030000", NULL);
	make_file("proc/cmdline", "quiet nomodeset");
	says("started with nomodeset");
	make_card("0000:03:00.0", "0x1002", "0x120000", "../drivers/amdgpu");
	says("--device /dev/dri");
	make_card("0000:03:00.0", "0x1002", "0x120000", "../drivers/amdgpu");
	make_file("dev/dri/card0", "");
	says("has no render node");
	/* AMD's bridges and sound devices are no GPUs. */
	make_card("0000:03:00.1", "0x1002", "0x040300", "../drivers/snd_hda_intel");
	says("no /dev/dri: load the amdgpu kernel module");
}

static void machines_without_cards_are_named(void)
{
	make_file("dev/dxg", "");
	says("this is WSL");
	make_file("dev/dri/card0", "");
	says("no AMD render node in /dev/dri");
	says("no /dev/dri");
}

static void fails_to_open(const char *path, const char *words, const char * not)
{
	CHECK_EQ(drv_fail_access(path), -EACCES);
	if (!CHECK(strstr(drv_error_last()->why, words)) || !CHECK(!not|| !strstr(drv_error_last()->why, not)))
		printf("  it says: %s\n", drv_error_last()->why);
}

/* Only root can give files away; and root itself may open every file. */
static void groups_are_named(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/node", root);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	close(fd);
	fails_to_open(path, "though its mode allows it: start the container with --device", "group");
	if (geteuid() || chmod(root, 0755) || chown(path, 0, 65534) || seteuid(65533))
		return;
	fails_to_open(path, "--group-add keep-groups", "usermod");
	CHECK_EQ(seteuid(0), 0);
	if (CHECK_EQ(chown(path, 0, 54321), 0) && !seteuid(65533)) {
		fails_to_open(path, "group 54321, which has no name here", NULL);
		CHECK_EQ(seteuid(0), 0);
	}
}

int main(void)
{
	if (!CHECK(mkdtemp(root)))
		return 1;
	cards_are_named_with_their_driver();
	machines_without_cards_are_named();
	groups_are_named();
	clear();
	CHECK(!rmdir(root));
	return check_done("reasons for a GPU that cannot be reached");
}
