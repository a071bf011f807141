/* Facts of the machine for a report, whose readers have never seen it. The report contains no serial number. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "tools/build.h"
#include "tools/test.h"

#define PARAMETERS "/sys/module/amdgpu/parameters"

static void add_string(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

/* Reads the first line of a file that begins with key, without key and quotes; "" when there is none. */
static void read_line(const char *path, const char *key, char *value, size_t value_B)
{
	FILE *file = fopen(path, "re");
	char line[4096];

	*value = 0;
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key))) {
			const char *from = line + strlen(key) + strspn(line + strlen(key), " \t:\"");

			snprintf(value, value_B, "%.*s", (int)strcspn(from, "\"\n"), from);
			break;
		}
	if (file)
		fclose(file);
}

/* --- without serial numbers ------------------------------------------------------------------- */

/* Facts of `tuff info --json` that identify one specimen: numbers of the chip, and of its place in a hive. */
static const char *const serial_keys[] = {"unique_id", "hive", "hive_device"};

void test_remove_serials(struct json_object *facts)
{
	if (json_object_is_type(facts, json_type_array))
		for (size_t i = 0; i < json_object_array_length(facts); i++)
			test_remove_serials(json_object_array_get_idx(facts, i));
	if (!json_object_is_type(facts, json_type_object))
		return;
	for (unsigned i = 0; i < sizeof(serial_keys) / sizeof(serial_keys[0]); i++)
		json_object_object_del(facts, serial_keys[i]);
	json_object_object_foreach(facts, key, value) {
		(void)key;
		test_remove_serials(value);
	}
}

/* Words before numbers that identify one specimen: in ROCR_VISIBLE_DEVICES, and in messages of amdgpu_xgmi.c. */
static const struct {
	const char *before;
	unsigned digits_min; /* hexadecimal; shorter numbers identify nothing */
} serials[] = {{"GPU-", 12}, {"hive 0x", 1}, {"node 0x", 1}};

/* Replaces the digits of "GPU-1234567890abcdef" by x. */
static void hide_serials(char *text)
{
	for (unsigned i = 0; i < sizeof(serials) / sizeof(serials[0]); i++)
		for (char *at = text; (at = strcasestr(at, serials[i].before));) {
			size_t n;

			at += strlen(serials[i].before);
			n = strspn(at, "0123456789abcdefABCDEF");
			if (n >= serials[i].digits_min)
				memset(at, 'x', n);
		}
}

/* --- environment ------------------------------------------------------------------------------ */

static bool is_reported(const char *name)
{
	static const char *const begin[] = {
		"TUFF_", "HIP_", "ROCR_", "HSA_", "AMD_", "GPU_", "CUDA_VISIBLE_DEVICES=", "LD_"};
	static const char *const secret[] = {"KEY", "TOKEN", "SECRET", "PASS"};
	const size_t length = strcspn(name, "=");

	for (unsigned i = 0; i < sizeof(secret) / sizeof(secret[0]); i++) {
		const char *found = strstr(name, secret[i]);

		if (found && found < name + length)
			return false;
	}
	for (unsigned i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		if (!strncmp(name, begin[i], strlen(begin[i])))
			return true;
	return false;
}

static struct json_object *put_environment(void)
{
	struct json_object *all = json_object_new_object();

	for (char **entry = environ; *entry; entry++) {
		size_t length = strcspn(*entry, "=");
		char *text = is_reported(*entry) ? strdup(*entry) : NULL;

		if (!text || !text[length])
			continue;
		text[length] = 0;
		hide_serials(text + length + 1);
		add_string(all, text, text + length + 1);
		free(text);
	}
	return all;
}

/* --- kernel ----------------------------------------------------------------------------------- */

static struct json_object *put_parameters(void)
{
	struct json_object *all = json_object_new_object();
	DIR *dir = opendir(PARAMETERS);
	struct dirent *entry;
	char path[512], value[256];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), PARAMETERS "/%s", entry->d_name);
		read_line(path, "", value, sizeof(value));
		if (*value)
			add_string(all, entry->d_name, value);
	}
	if (dir)
		closedir(dir);
	return all;
}

/* Adds the words of the kernel's command line that affect amdgpu; other words may name disks and hosts. */
static struct json_object *command_line(void)
{
	static const char *const begin[] = {"amdgpu.",     "radeon.", "iommu", "amd_iommu",
					    "intel_iommu", "pci=",    "pcie_", "nomodeset"};
	struct json_object *words = json_object_new_array();
	char line[4096], *save = NULL;

	read_line("/proc/cmdline", "", line, sizeof(line));
	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		for (unsigned i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
			if (!strncmp(word, begin[i], strlen(begin[i]))) {
				json_object_array_add(words, json_object_new_string(word));
				break;
			}
	return words;
}

#define MESSAGES_MAX 400

/* Parses a record: "6,339,5140900,-;text" and lines of facts about it. */
static void add_message(struct json_object *list, char *record)
{
	char *text = strchr(record, ';');

	if (!text || (!strstr(text, "amdgpu") && !strstr(text, "[drm") && !strstr(text, "AMD-Vi")))
		return;
	text[strcspn(text, "\n")] = 0;
	hide_serials(text);
	json_object_array_add(list, json_object_new_string(text + 1));
}

/* Reads amdgpu's latest messages, oldest first; or the reason why they cannot be read. */
static struct json_object *put_messages(void)
{
	struct json_object *list;
	char record[8192];
	ssize_t n;
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		snprintf(record, sizeof(record), "not readable (%s): run tuff test as root, or add what dmesg says",
			 strerror(errno));
		return json_object_new_string(record);
	}
	list = json_object_new_array();
	/* EPIPE: the record was overwritten meanwhile; the next one is available */
	while ((n = read(fd, record, sizeof(record) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		if (n > 0) {
			record[n] = 0;
			add_message(list, record);
		}
		if (json_object_array_length(list) > MESSAGES_MAX)
			json_object_array_del_idx(list, 0, 1);
	}
	close(fd);
	return list;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void add_programs(struct json_object *facts)
{
	char value[64];

	snprintf(value, sizeof(value), "%u.%u", TUFF_VERSION_MAJOR, TUFF_VERSION_MINOR);
	add_string(facts, "tuff", value);
	add_string(facts, "commit", BUILD_COMMIT);
	add_string(facts, "libdrm_amdgpu", BUILD_LIBDRM);
}

static void add_system(struct json_object *facts)
{
	char value[256];
	struct utsname uts;
	time_t now = time(NULL);
	struct tm tm;

	strftime(value, sizeof(value), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	add_string(facts, "date", value);
	if (!uname(&uts)) {
		add_string(facts, "kernel", uts.release);
		add_string(facts, "machine", uts.machine);
	}
	read_line("/etc/os-release", "PRETTY_NAME=", value, sizeof(value));
	add_string(facts, "system", value);
	read_line("/proc/cpuinfo", "model name", value, sizeof(value));
	add_string(facts, "cpu", value);
}

struct json_object *test_machine(void)
{
	struct json_object *facts = json_object_new_object();

	add_programs(facts);
	add_system(facts);
	json_object_object_add(facts, "kernel_command_line", command_line());
	json_object_object_add(facts, "amdgpu_parameters", put_parameters());
	json_object_object_add(facts, "environment", put_environment());
	json_object_object_add(facts, "kernel_messages", put_messages());
	return facts;
}
