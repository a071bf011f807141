/* The compiler of hiprtc: runs an installed clang on files in a temporary folder. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/rtc/rtc.h"
#include "drv/config.h"

extern char **environ;

#define ARGS_MAX 256

/* --- buffers ---------------------------------------------------------------------------------- */

bool hip_bytes_add(struct hip_bytes *b, const void *from, size_t size_B)
{
	if (b->size_B + size_B + 1 > b->max_B) {
		size_t max_B = 2 * (b->size_B + size_B) + 64;
		char *at = realloc(b->at, max_B);

		if (!at)
			return false;
		b->at = at;
		b->max_B = max_B;
	}
	memcpy(b->at + b->size_B, from, size_B);
	b->size_B += size_B;
	b->at[b->size_B] = 0;
	return true;
}

bool hip_bytes_add_text(struct hip_bytes *b, const char *text)
{
	return hip_bytes_add(b, text, strlen(text));
}

void hip_bytes_fini(struct hip_bytes *b)
{
	free(b->at);
	*b = (struct hip_bytes){0};
}

bool hip_read_file(const char *path, struct hip_bytes *to)
{
	char part[4096];
	FILE *file = fopen(path, "rb");
	size_t n;
	bool ok = file;

	while (ok && (n = fread(part, 1, sizeof(part), file)))
		ok = hip_bytes_add(to, part, n);
	if (file)
		fclose(file);
	return ok;
}

#define HEADERS "headers" /* folder of the program's headers, in the temporary folder */

/* --- the temporary folder --------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
	(void)stat, (void)kind, (void)place;
	return remove(path);
}

/* Makes the folders of a header's path. False: the path leaves the temporary folder. */
static bool make_folders(char *path)
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			return false;
		*at = '/';
	}
	return true;
}

static bool write_file(const char *folder, const char *name, const void *from, size_t size_B)
{
	char path[PATH_MAX];
	FILE *file;
	bool ok;

	if (*name == '/' || strstr(name, "..") ||
	    snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) || !make_folders(path))
		return false;
	file = fopen(path, "wb");
	ok = file && fwrite(from, 1, size_B, file) == size_B;
	return (file && fclose(file)) ? false : ok;
}

static bool write_text(const char *folder, const char *name, const char *text)
{
	return write_file(folder, name, text, strlen(text));
}

/* The source's path in the temporary folder. It has a random name in a folder of its own, which the compiler searches
 * first: the source includes no file that a header of the program does not name. */
static void source_name(const char *folder, char *name, size_t name_B)
{
	snprintf(name, name_B, "source/%s.hip", strrchr(folder, '-') + 1);
}

static bool write_source(const char *folder, const struct hip_source *source)
{
	char name[64], headers[PATH_MAX];
	bool ok;

	source_name(folder, name, sizeof(name));
	ok = write_text(folder, name, source->text);
	snprintf(headers, sizeof(headers), "%s/" HEADERS, folder);
	for (unsigned i = 0; ok && i < source->headers; i++)
		ok = write_text(headers, source->header_name[i], source->header[i]);
	return ok;
}

/* --- compiler and headers --------------------------------------------------------------------- */

/* Finds this project's headers: by the environment variable, or relative to the library, in a build or an
 * installation. */
static bool find_headers(char *path, size_t path_B)
{
	const char *set = drv_config()->hip_include;
	char probe[PATH_MAX + 32];
	Dl_info self;

	if (set) {
		snprintf(path, path_B, "%s", set);
		return true;
	}
	if (!dladdr(&hip, &self) || !strrchr(self.dli_fname, '/'))
		return false;
	snprintf(path, path_B, "%.*s/include", (int)(strrchr(self.dli_fname, '/') - self.dli_fname),
		 self.dli_fname);
	snprintf(probe, sizeof(probe), "%s/hip/api/launch.h", path);
	return !access(probe, R_OK);
}

/* Finds clang: by HIP's environment variable, or in PATH; NULL: not found. */
static const char *find_clang(char *path, size_t path_B)
{
	static const char *const names[] = {"clang-19", "clang-20", "clang-21", "clang-18", "clang"};
	const char *folder = drv_config()->clang_folder, *list = drv_config()->path;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, path_B, "%s/%s", folder ? folder : "", names[i]);
		if (folder && !access(path, X_OK))
			return path;
		for (const char *at = list; at && *at; at += strcspn(at, ":"), at += *at == ':') {
			snprintf(path, path_B, "%.*s/%s", (int)strcspn(at, ":"), at, names[i]);
			if (!access(path, X_OK))
				return path;
		}
	}
	return NULL;
}

static const char *find_device_libraries(void)
{
	static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
					     "/opt/rocm/amdgcn/bitcode"};

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!access(places[i], R_OK))
			return places[i];
	return NULL;
}

/* --- the command line ------------------------------------------------------------------------- */

struct command {
	char *argv[ARGS_MAX + 1]; /* owned */
	unsigned argc;
	bool failed;
};

__attribute__((format(printf, 2, 3))) static void command_add(struct command *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (c->failed || c->argc == ARGS_MAX || vasprintf(&c->argv[c->argc], format, args) < 0)
		c->failed = true;
	else
		c->argc++;
	va_end(args);
}

/* The target that an option names, in CUDA's words or HIP's; NULL: the option is no target. */
static const char *option_target(const char *option)
{
	static const char *const names[] = {"--gpu-architecture=", "-arch=", "--offload-arch="};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(option, names[i], strlen(names[i])))
			return option + strlen(names[i]);
	return NULL;
}

/* Translates HIP's option for the type of ptrdiff_t (since 6.1): clang's headers read it from this macro. */
static void add_ptrdiff(struct command *c, const char *option)
{
	if (strcmp(option, "-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__=1") != 0)
		return;
	command_add(c, "-Wno-builtin-macro-redefined");
	command_add(c, "-U__PTRDIFF_TYPE__");
	command_add(c, "-D__PTRDIFF_TYPE__=long long int");
}

/* Whether the libraries have the part for the target: Debian 12's end at gfx1036, and clang then refuses all code. */
static bool libraries_know(const char *libraries, const char *target)
{
	char path[PATH_MAX];

	if (strncmp(target, "gfx", 3) != 0)
		return true;
	snprintf(path, sizeof(path), "%s/oclc_isa_version_%.*s.bc", libraries, (int)strcspn(target + 3, ":"),
		 target + 3);
	return !access(path, R_OK);
}

/* Code that calls a mathematical function has an undefined symbol without the libraries. */
static void add_libraries(struct command *c, const char *target)
{
	const char *libraries = find_device_libraries();

	if (libraries && libraries_know(libraries, target))
		command_add(c, "--rocm-device-lib-path=%s", libraries);
	else
		command_add(c, "-nogpulib");
}

static void add_options(struct command *c, const struct hip_source *source)
{
	hipDeviceProp_tR0600 device = {0};
	const char *target = NULL, *named;
	bool has_libraries = false;

	for (int i = 0; i < source->options; i++) {
		named = option_target(source->option[i]);
		target = named ? named : target;
		has_libraries |= strstr(source->option[i], "-device-lib-path=") != NULL;
		if (named)
			command_add(c, "--offload-arch=%s", named);
		else
			command_add(c, "%s", source->option[i]);
		add_ptrdiff(c, source->option[i]);
	}
	if (!target && !hipGetDevicePropertiesR0600(&device, hip_thread.device)) {
		target = device.gcnArchName;
		command_add(c, "--offload-arch=%s", target);
	}
	if (!has_libraries)
		add_libraries(c, target ? target : "");
}

static void command_begin(struct command *c)
{
	char path[PATH_MAX];

	if (find_clang(path, sizeof(path)))
		command_add(c, "%s", path);
	else
		c->failed = true;
}

static void add_output(struct command *c, const char *folder)
{
	command_add(c, "-o");
	command_add(c, "%s/program.co", folder);
}

/* Headers that are included implicitly, as in AMD's hiprtc. */
static const char *const built_in[] = {"hip_runtime.h", "hip_fp16.h", "hip_bfloat16.h", "hip_complex.h",
				       "hip_math_constants.h"};

static void build_compile(struct command *c, const char *folder, const struct hip_source *source)
{
	char path[PATH_MAX], name[64];

	command_begin(c);
	command_add(c, "-x");
	command_add(c, "hip");
	command_add(c, "--offload-device-only");
	command_add(c, "--no-gpu-bundle-output");
	command_add(c, "-nogpuinc");
	command_add(c, "-std=c++17");
	command_add(c, "-O3");
	command_add(c, "-D__HIPCC_RTC__");
	command_add(c, "-I%s/" HEADERS, folder);
	if (find_headers(path, sizeof(path))) {
		command_add(c, "-isystem%s", path);
		for (unsigned i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++) {
			command_add(c, "-include");
			command_add(c, "hip/%s", built_in[i]);
		}
	}
	add_options(c, source);
	if (source->bitcode) {
		command_add(c, "-emit-llvm");
		command_add(c, "-c");
	}
	add_output(c, folder);
	source_name(folder, name, sizeof(name));
	command_add(c, "%s/%s", folder, name);
}

/* The bitcode contains the device libraries already. */
static void build_link(struct command *c, const char *folder, const struct hip_link *link)
{
	hipDeviceProp_tR0600 device;

	command_begin(c);
	command_add(c, "--target=amdgcn-amd-amdhsa");
	if (!hipGetDevicePropertiesR0600(&device, hip_thread.device))
		command_add(c, "-mcpu=%s", device.gcnArchName);
	command_add(c, "-flto");
	command_add(c, "-nogpulib");
	command_add(c, "-O3");
	for (unsigned i = 0; i < link->options; i++)
		command_add(c, "%s", link->option[i]);
	add_output(c, folder);
	for (unsigned i = 0; i < link->parts; i++)
		command_add(c, "%s/%u.bc", folder, i);
}

/* Removes what `tuff run` has added to the environment: the compiler needs no GPU. In a privileged program all of it:
 * variables of clang name files and options. */
static char **plain_environment(void)
{
	size_t count = 0, kept = 0;
	char **env;

	while (environ[count] && !drv_config()->privileged)
		count++;
	env = calloc(count + 1, sizeof(*env));
	for (size_t i = 0; env && i < count; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11) && strncmp(environ[i], "TUFF_VGPU", 9) &&
		    strncmp(environ[i], "LD_LIBRARY_PATH=", 16))
			env[kept++] = environ[i];
	return env;
}

static int command_run(struct command *c, const char *log)
{
	posix_spawn_file_actions_t files;
	char **env = plain_environment();
	int status = -1;
	pid_t pid;

	if (!env || posix_spawn_file_actions_init(&files)) {
		free(env);
		return -1;
	}
	if (!posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600) &&
	    !posix_spawn_file_actions_adddup2(&files, 1, 2) &&
	    !posix_spawn(&pid, c->argv[0], &files, NULL, c->argv, env))
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	posix_spawn_file_actions_destroy(&files);
	free(env);
	return status;
}

/* Runs the command and frees it. */
static hiprtcResult command_finish(struct command *c, const char *folder, struct hip_bytes *code,
				   struct hip_bytes *log)
{
	char path[PATH_MAX], out[PATH_MAX];
	int status;

	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(out, sizeof(out), "%s/program.co", folder);
	status = c->failed ? -1 : command_run(c, path);
	while (c->argc)
		free(c->argv[--c->argc]);
	(void)!hip_read_file(path, log);
	if (status)
		hip_bytes_add_text(log, log->size_B ? ""
						    : "hiprtc: no clang that compiles for AMD's GPUs was found in "
						      "HIP_CLANG_PATH or PATH\n");
	return !status && hip_read_file(out, code) ? HIPRTC_SUCCESS : HIPRTC_ERROR_COMPILATION;
}

static hiprtcResult source_compile(const char *folder, const void *what, struct hip_bytes *code,
				   struct hip_bytes *log)
{
	struct command c = {0};

	if (!write_source(folder, what))
		return HIPRTC_ERROR_INVALID_INPUT;
	build_compile(&c, folder, what);
	return command_finish(&c, folder, code, log);
}

static hiprtcResult link_parts(const char *folder, const void *what, struct hip_bytes *code, struct hip_bytes *log)
{
	const struct hip_link *link = what;
	struct command c = {0};
	char name[32];

	for (unsigned i = 0; i < link->parts; i++) {
		snprintf(name, sizeof(name), "%u.bc", i);
		if (!write_file(folder, name, link->part[i].at, link->part[i].size_B))
			return HIPRTC_ERROR_INTERNAL_ERROR;
	}
	build_link(&c, folder, link);
	return command_finish(&c, folder, code, log) ? HIPRTC_ERROR_LINKING : HIPRTC_SUCCESS;
}

static hiprtcResult in_folder(hiprtcResult (*work)(const char *, const void *, struct hip_bytes *,
						   struct hip_bytes *),
			      const void *what, struct hip_bytes *code, struct hip_bytes *log)
{
	char folder[] = "/tmp/hiprtc-XXXXXX";
	hiprtcResult r;

	if (!mkdtemp(folder))
		return HIPRTC_ERROR_INTERNAL_ERROR;
	r = work(folder, what, code, log);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return r;
}

hiprtcResult hip_clang(const struct hip_source *source, struct hip_bytes *code, struct hip_bytes *log)
{
	return in_folder(source_compile, source, code, log);
}

hiprtcResult hip_clang_link(const struct hip_link *link, struct hip_bytes *code, struct hip_bytes *log)
{
	return in_folder(link_parts, link, code, log);
}
