#include "drv/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drv/file.h"
#include "drv/log.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct word {
	const char *name;
	unsigned value;
};

static const struct word log_words[] = {
	{"error", DRV_LOG_ERROR},   {"device", DRV_LOG_DEVICE}, {"mem", DRV_LOG_MEM},
	{"submit", DRV_LOG_SUBMIT}, {"ib", DRV_LOG_IB},         {"code", DRV_LOG_CODE},
	{"copy", DRV_LOG_COPY},     {"hsa", DRV_LOG_HSA},       {"all", ~0u},
};

static const struct word copy_words[] = {
	{"auto", DRV_COPY_AUTO},
	{"sdma", DRV_COPY_SDMA},
	{"shader", DRV_COPY_SHADER},
	{"cpu", DRV_COPY_CPU},
};

static struct drv_config config = {
	.log_fd = STDERR_FILENO,
	.spin_us = 50,
	.staging_KiB = 1024,
	.split_ms = 250,
};

static const struct word *find_word(const struct word *words, size_t count, const char *text, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i].name) == length && !memcmp(words[i].name, text, length))
			return &words[i];
	return NULL;
}

static bool parse_number(const char *text, uint32_t lo, uint32_t hi, uint32_t *value)
{
	char *end;
	unsigned long n;

	/* strtoul() takes a sign, too, and negates. */
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *end || n < lo || n > hi)
		return false;
	*value = n;
	return true;
}

static bool parse_log(const char *text)
{
	bool ok = true;

	while (*text) {
		size_t length = strcspn(text, ",");
		const struct word *word = find_word(log_words, COUNT(log_words), text, length);

		if (word)
			config.log |= word->value;
		else if (length)
			ok = false;
		text += length + (text[length] == ',');
	}
	return ok;
}

/* A level includes those below it. HIP's library prints its own lines by the same level: api/base/trace.c. */
static bool parse_amd_log(const char *text)
{
	static const unsigned levels[] = {0, DRV_LOG_ERROR, DRV_LOG_HSA, DRV_LOG_DEVICE | DRV_LOG_CODE,
					  DRV_LOG_MEM | DRV_LOG_SUBMIT | DRV_LOG_COPY};

	if (!parse_number(text, 0, 255, &config.amd_log_level))
		return false;
	for (unsigned i = 0; i < COUNT(levels) && i <= config.amd_log_level; i++)
		config.log |= levels[i];
	return true;
}

static bool parse_log_file(const char *text)
{
	int fd = drv_file_create(text, O_APPEND, 0600);
	struct stat is = {0};

	if (fd < 0)
		return false;
	(void)!fstat(fd, &is); /* of a descriptor that was just opened */
	config.log_fd = fd;
	config.log_device = is.st_dev;
	config.log_inode = is.st_ino;
	return true;
}

static bool parse_copy(const char *text)
{
	const struct word *word = find_word(copy_words, COUNT(copy_words), text, strlen(text));

	if (word)
		config.copy = word->value;
	return word;
}

static bool parse_switch(const char *text, bool *value)
{
	uint32_t on = 0;
	bool ok = parse_number(text, 0, 1, &on);

	*value = on;
	return ok;
}

static bool parse_spin(const char *text)
{
	return parse_number(text, 0, 1000000, &config.spin_us);
}

static bool parse_staging(const char *text)
{
	return parse_number(text, 64, 65536, &config.staging_KiB);
}

static bool parse_split(const char *text)
{
	return parse_number(text, 0, 60000, &config.split_ms);
}

static bool parse_peer_access(const char *text)
{
	return parse_switch(text, &config.peer_access);
}

static bool parse_user_queues(const char *text)
{
	return parse_switch(text, &config.user_queues);
}

static bool parse_poll(const char *text)
{
	return parse_switch(text, &config.poll);
}

static bool parse_whole(const char *text)
{
	if (strlen(text) >= sizeof(config.whole))
		return false;
	strcpy(config.whole, text);
	return true;
}

static bool parse_fine_vram(const char *text)
{
	return parse_switch(text, &config.fine_vram);
}

/* Copies a text for the life of the process. */
static bool copy_text(const char *text, const char **to)
{
	*to = strdup(text);
	return *to;
}

static bool parse_tools(const char *text)
{
	return copy_text(text, &config.tools);
}

/* Alternative names of one list, from HIP, CUDA and OpenCL; the first that is set counts. */
static bool parse_hip_visible(const char *text)
{
	return config.hip_visible || copy_text(text, &config.hip_visible);
}

static bool parse_hip_include(const char *text)
{
	return copy_text(text, &config.hip_include);
}

static bool parse_clang_folder(const char *text)
{
	return copy_text(text, &config.clang_folder);
}

static bool parse_hiprtc(const char *text)
{
	if (strcmp(text, "comgr") != 0 && strcmp(text, "clang") != 0)
		return false;
	return copy_text(text, &config.hiprtc);
}

static bool parse_rocm_path(const char *text)
{
	return copy_text(text, &config.rocm_path);
}

static bool parse_device_libraries(const char *text)
{
	return copy_text(text, &config.device_libraries);
}

static bool parse_kpack_path(const char *text)
{
	return copy_text(text, &config.kpack_path);
}

static bool parse_kpack_prefix(const char *text)
{
	return copy_text(text, &config.kpack_prefix);
}

/* ROCm's rule for these two: what does not begin with 0 is yes. */
static bool parse_kpack_disable(const char *text)
{
	config.kpack_disable = *text != '0';
	return true;
}

static bool parse_kpack_debug(const char *text)
{
	if (*text != '0')
		config.log |= DRV_LOG_CODE;
	return true;
}

static bool parse_cu_mask(const char *text)
{
	char *to = strdup(text);

	config.cu_mask = to;
	for (; to && *text; text++)
		if (!isspace((unsigned char)*text))
			*to++ = *text;
	if (to)
		*to = 0;
	return to;
}

static bool parse_serialize_kernel(const char *text)
{
	uint32_t when;
	bool ok = parse_number(text, 0, 3, &when);

	config.serialize_kernel |= ok ? when : 0;
	return ok;
}

static bool parse_serialize_copy(const char *text)
{
	return parse_number(text, 0, 3, &config.serialize_copy);
}

static bool parse_launch_blocking(const char *text)
{
	bool on, ok = parse_switch(text, &on);

	config.serialize_kernel |= ok && on ? 3 : 0;
	return ok;
}

static bool parse_cu_mask_later(const char *text)
{
	return parse_switch(text, &config.cu_mask_later);
}

static const struct {
	const char *name;
	bool (*parse)(const char *text);
	bool names_files; /* ignored in a program that has more rights than its caller */
} variables[] = {
	{"TUFF_LOG_FILE", parse_log_file, true},
	{"TUFF_LOG", parse_log},
	{"TUFF_COPY", parse_copy},
	{"TUFF_SPIN_US", parse_spin},
	{"TUFF_STAGING_KIB", parse_staging},
	{"HSA_FORCE_FINE_GRAIN_PCIE", parse_fine_vram},
	{"HSA_TOOLS_LIB", parse_tools, true},
	{"TUFF_SPLIT_MS", parse_split},
	{"TUFF_WHOLE", parse_whole},
	{"TUFF_USERQ", parse_user_queues},
	{"TUFF_POLL", parse_poll},
	{"TUFF_PEER_ACCESS", parse_peer_access},
	{"HSA_CU_MASK", parse_cu_mask},
	{"HSA_CU_MASK_SKIP_INIT", parse_cu_mask_later},
	{"HIP_VISIBLE_DEVICES", parse_hip_visible},
	{"CUDA_VISIBLE_DEVICES", parse_hip_visible},
	{"GPU_DEVICE_ORDINAL", parse_hip_visible},
	{"TUFF_HIP_INCLUDE", parse_hip_include, true},
	{"HIP_CLANG_PATH", parse_clang_folder, true},
	{"TUFF_HIPRTC", parse_hiprtc},
	{"ROCM_PATH", parse_rocm_path, true},
	{"HIP_DEVICE_LIB_PATH", parse_device_libraries, true},
	{"ROCM_KPACK_PATH", parse_kpack_path, true},
	{"ROCM_KPACK_PATH_PREFIX", parse_kpack_prefix, true},
	{"ROCM_KPACK_DISABLE", parse_kpack_disable},
	{"ROCM_KPACK_DEBUG", parse_kpack_debug},
	{"AMD_LOG_LEVEL", parse_amd_log},
	{"AMD_SERIALIZE_KERNEL", parse_serialize_kernel},
	{"AMD_SERIALIZE_COPY", parse_serialize_copy},
	{"HIP_LAUNCH_BLOCKING", parse_launch_blocking},
};

static void record_problem(const char *name, const char *text)
{
	if (!config.problem[0])
		snprintf(config.problem, sizeof(config.problem), "%.40s=%.80s is not understood", name, text);
}

#define OVERRIDE "HSA_OVERRIDE_GFX_VERSION"

/* suffix: the end of the variable's name, "" or "_3". */
static bool parse_override(const char *suffix, const char *text)
{
	unsigned major, minor, stepping;
	uint32_t node = 0;
	char more;

	if (*suffix && (*suffix != '_' || !parse_number(suffix + 1, 0, 1023, &node)))
		return false;
	/* The bounds are those of ROCm's thunk. */
	if (sscanf(text, "%u.%u.%u%c", &major, &minor, &stepping, &more) != 3 || major > 63 || minor > 255 ||
	    stepping > 255 || config.overrides == DRV_OVERRIDES_MAX)
		return false;
	config.override[config.overrides++] =
		(struct drv_override){*suffix ? (int)node : -1, (uint8_t)major, (uint8_t)minor, (uint8_t)stepping};
	return true;
}

/* Reads one variable per node. Walking the environment finds them without guessing names. */
static void parse_overrides(void)
{
	const size_t length = strlen(OVERRIDE);

	for (char **entry = environ; entry && *entry; entry++) {
		const char *equals = strchr(*entry, '=');
		char name[64];

		if (!equals || strncmp(*entry, OVERRIDE, length) || !equals[1] ||
		    (size_t)(equals - *entry) >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(equals - *entry), *entry);
		if (!parse_override(name + length, equals + 1))
			record_problem(name, equals + 1);
	}
}

/* An empty list hides all GPUs, as in ROCm; a missing list hides none. */
static void parse_visible(void)
{
	const char *text = getenv("ROCR_VISIBLE_DEVICES");

	config.visible_set = text;
	if (text && strlen(text) < sizeof(config.visible))
		strcpy(config.visible, text);
	else if (text)
		record_problem("ROCR_VISIBLE_DEVICES", text);
}

/* A program that has more rights than its caller searches the system's folders only. */
static void parse_path(void)
{
	const char *path = config.privileged ? "/usr/bin:/bin" : getenv("PATH");

	if (path && !copy_text(path, &config.path))
		record_problem("PATH", path);
}

static void parse_environment(void)
{
	config.privileged = getauxval(AT_SECURE);
	parse_path();
	for (size_t i = 0; i < COUNT(variables); i++) {
		const char *name = variables[i].name,
			   *text = variables[i].names_files ? secure_getenv(name) : getenv(name);

		if (text && *text && !variables[i].parse(text))
			record_problem(name, text);
	}
	parse_overrides();
	parse_visible();
}

const struct drv_config *drv_config(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, parse_environment);
	return &config;
}
