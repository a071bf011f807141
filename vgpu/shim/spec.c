/* The grammar of TUFF_VGPU. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vgpu/chip.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/shim/shim.h"

/* The least gttsize that amdgpu takes. */
#define GTT_LEAST_B (32ull << 20)

static int print_error(const char *what, const char *text)
{
	const struct kern_profile *p;
	const struct vgpu_chip *c;
	char names[512] = "", releases[64] = "";

	for (unsigned n = 0; (c = vgpu_chip_at(n)); n++) {
		strncat(names, " ", sizeof(names) - strlen(names) - 1);
		strncat(names, c->name, sizeof(names) - strlen(names) - 1);
	}
	for (unsigned n = 0; (p = kern_profile_at(n)); n++) {
		strncat(releases, n ? "|" : "", sizeof(releases) - strlen(releases) - 1);
		strncat(releases, p->release, sizeof(releases) - strlen(releases) - 1);
	}
	fprintf(stderr,
		"vgpu: %s: \"%s\"\n"
		"vgpu: a SPEC is [null:]CHIP[:key=value]*, several with commas; CHIP is one of%s;\n"
		"vgpu: keys are vram=SIZE bar=SIZE gtt=SIZE service_us=N watchdog_ms=N numa=N hive=ID p2p=0|1\n"
		"vgpu: partition=spx|dpx|qpx|cpx f8=ocp|fnuz sramecc=0|1 userq=0|1|2 kernel=%s\n",
		what, text, names, releases);
	return -EINVAL;
}

static bool parse_number(const char *text, uint64_t *value, const char **end)
{
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &stop, 10);
	*end = stop;
	return !errno;
}

static bool parse_count(const char *text, uint64_t scale, uint64_t *value)
{
	const char *end;

	if (!parse_number(text, value, &end) || *end || *value > UINT64_MAX / scale)
		return false;
	*value *= scale;
	return true;
}

/* 4096, 256M, 16G; whole pages. */
static bool parse_size(const char *text, uint64_t *size_B)
{
	static const char units[] = "KMGT";
	const char *end, *unit;

	if (!parse_number(text, size_B, &end))
		return false;
	if (*end) {
		unsigned shift;

		unit = strchr(units, *end);
		if (!unit || end[1])
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
		if (*size_B > UINT64_MAX >> shift)
			return false;
		*size_B <<= shift;
	}
	return *size_B && *size_B % 4096 == 0 && *size_B <= 1ull << 40;
}

static bool parse_node(const char *text, int *node)
{
	uint64_t value;

	if (!parse_count(text, 1, &value) || value >= 1024) /* Linux's MAX_NUMNODES on x86-64 */
		return false;
	*node = (int)value;
	return true;
}

static bool parse_kernel(const char *text, unsigned *profile)
{
	int found = kern_profile_find(text);

	if (found >= 0)
		*profile = (unsigned)found;
	return found >= 0;
}

/* Compute partitions of a card, as current_compute_partition of sysfs names them. */
static bool parse_partition(const char *text, unsigned *partitions)
{
	static const struct {
		const char *name;
		unsigned partitions;
	} modes[] = {{"spx", 1}, {"dpx", 2}, {"qpx", 4}, {"cpx", 8}};

	for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(text, modes[i].name)) {
			*partitions = modes[i].partitions;
			return true;
		}
	return false;
}

static bool parse_key(struct kern_device_config *config, const char *key, const char *value)
{
	if (!strcmp(key, "vram"))
		return parse_size(value, &config->vram_B);
	if (!strcmp(key, "bar"))
		return parse_size(value, &config->visible_B);
	if (!strcmp(key, "gtt"))
		return parse_size(value, &config->gtt_B) && config->gtt_B >= GTT_LEAST_B;
	if (!strcmp(key, "service_us"))
		return parse_count(value, 1000, &config->service_ns);
	if (!strcmp(key, "watchdog_ms"))
		return parse_count(value, 1000000, &config->watchdog_ns) && config->watchdog_ns;
	if (!strcmp(key, "hive"))
		return parse_count(value, 1, &config->hive) && config->hive;
	if (!strcmp(key, "numa"))
		return parse_node(value, &config->numa_node);
	if (!strcmp(key, "partition"))
		return parse_partition(value, &config->partitions);
	if (!strcmp(key, "f8")) {
		config->f8_fnuz = !strcmp(value, "fnuz");
		return config->f8_fnuz || !strcmp(value, "ocp");
	}
	if (!strcmp(key, "sramecc")) {
		config->sramecc = !strcmp(value, "1");
		return config->sramecc || !strcmp(value, "0");
	}
	if (!strcmp(key, "userq")) {
		config->userq = (unsigned)(*value - '0');
		return config->userq <= 2 && !value[1];
	}
	if (!strcmp(key, "p2p")) {
		config->p2p = !strcmp(value, "1");
		return config->p2p || !strcmp(value, "0");
	}
	return !strcmp(key, "kernel") && parse_kernel(value, &config->profile);
}

static int parse_device(char *text, struct kern_device_config *config)
{
	char *save, *word = strtok_r(text, ":", &save), *equals;

	if (word && !strcmp(word, "null")) {
		config->null_device = true;
		word = strtok_r(NULL, ":", &save);
	}
	if (!word || !vgpu_chip_find(word))
		return print_error("no such chip", word ? word : "");
	snprintf(config->chip, sizeof(config->chip), "%s", word);
	config->numa_node = -1;
	config->p2p = -1;
	config->profile = (unsigned)kern_profile_find(KERN_PROFILE_DEFAULT);
	while ((word = strtok_r(NULL, ":", &save))) {
		equals = strchr(word, '=');
		if (!equals)
			return print_error("not key=value", word);
		*equals = 0;
		if (!parse_key(config, word, equals + 1)) {
			*equals = '=';
			return print_error("unknown key or bad value", word);
		}
	}
	if (config->service_ns && !config->null_device)
		return print_error("service_us is for null devices", config->chip);
	if (config->partitions && !vgpu_chip_find(config->chip)->xccs)
		return print_error("one XCC is all it has", config->chip);
	if (config->sramecc && vgpu_chip_find(config->chip)->sramecc == CHIP_ECC_NONE)
		return print_error("its registers have no ECC", config->chip);
	if (config->userq && !vgpu_chip_user_queues(vgpu_chip_find(config->chip)))
		return print_error("no user queues on this chip", config->chip);
	if (config->userq && !kern_profile_at(config->profile)->user_queues)
		return print_error("user queues need kernel=6.16 or later", config->chip);
	if (config->hive && !vgpu_chip_find(config->chip)->xgmi)
		return print_error("no xGMI links, so no hive", config->chip);
	return 0;
}

int shim_spec_parse(const char *spec, struct shim_config *config)
{
	char *text = strdup(spec), *save = NULL;
	int r = text ? 0 : -ENOMEM;
	unsigned nodes = 0;

	memset(config, 0, sizeof(*config));
	if (text && (!*text || strstr(text, ",,") || *text == ',' || text[strlen(text) - 1] == ','))
		r = print_error("an empty device", spec);
	for (char *word = r ? NULL : strtok_r(text, ",", &save); word && !r; word = strtok_r(NULL, ",", &save)) {
		if (config->count == SHIM_DEVICES)
			r = print_error("too many devices", spec);
		else
			r = parse_device(word, &config->device[config->count++]);
		nodes += r ? 0 : kern_config_nodes(&config->device[config->count - 1]);
	}
	if (nodes > KERN_NODES)
		r = print_error("too many nodes", spec);
	free(text);
	return r;
}
