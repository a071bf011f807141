/* An installed clang as the compiler of hiprtc: it runs on files in a temporary folder. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/rtc/rtc_compiler.h"
#include "drv/config.h"

extern char **environ;

#define TESTED 19 /* the version that HIP's headers are tested with: it is preferred to all others */

/* --- finding clang ------------------------------------------------------------------------------ */

/* The version in a program's name: "clang-19"; "clang" is 1. 0: the name is another. */
static unsigned name_version(const char *name)
{
	char *end;
	unsigned long version;

	if (strncmp(name, "clang", 5) != 0)
		return 0;
	if (!name[5])
		return 1;
	if (name[5] != '-' || !isdigit((unsigned char)name[6]))
		return 0;
	version = strtoul(name + 6, &end, 10);
	return *end || version > 999 ? 0 : (unsigned)version;
}

static unsigned preference(unsigned version)
{
	return version == TESTED ? UINT_MAX : version;
}

static bool is_program(const char *path)
{
	struct stat s;

	return !stat(path, &s) && S_ISREG(s.st_mode) && !access(path, X_OK);
}

/* Finds the folder's best clang, if it is better than `best`. */
static void folder_search(const char *folder, size_t length, unsigned *best, char *path)
{
	char where[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(where, sizeof(where), "%.*s", (int)length, folder);
	d = opendir(where);
	while (d && (e = readdir(d))) {
		unsigned version = name_version(e->d_name);
		char candidate[PATH_MAX + 256];

		if (!version || preference(version) <= *best)
			continue;
		snprintf(candidate, sizeof(candidate), "%s/%s", where, e->d_name);
		if (strlen(candidate) < PATH_MAX && is_program(candidate)) {
			strcpy(path, candidate);
			*best = preference(version);
		}
	}
	if (d)
		closedir(d);
}

/* The first of these that has a clang: HIP's variable; ROCm's; the folders of PATH together; ROCm's usual folders. */
static bool find_clang(char *path)
{
	static const char *const usual[] = {"/opt/rocm/lib/llvm/bin", "/opt/rocm/llvm/bin"};
	const char *rocm = drv_config()->rocm_path, *set = drv_config()->clang_folder, *list = drv_config()->path;
	char folder[PATH_MAX];
	unsigned best = 0;

	if (set)
		folder_search(set, strlen(set), &best, path);
	for (unsigned i = 0; i < 2 && !best && rocm; i++) {
		snprintf(folder, sizeof(folder), "%s%s/bin", rocm, i ? "/llvm" : "/lib/llvm");
		folder_search(folder, strlen(folder), &best, path);
	}
	if (!best)
		for (const char *at = list; at && *at; at += strcspn(at, ":"), at += *at == ':')
			folder_search(at, strcspn(at, ":"), &best, path);
	for (unsigned i = 0; i < 2 && !best; i++)
		folder_search(usual[i], strlen(usual[i]), &best, path);
	return best;
}

static bool clang_is_there(const char *target, struct hip_bytes *notes)
{
	char path[PATH_MAX];

	(void)target;
	if (find_clang(path))
		return true;
	hip_rtc_note(notes, "no clang that compiles for AMD's GPUs was found in HIP_CLANG_PATH, ROCM_PATH or PATH");
	return false;
}

/* --- running it --------------------------------------------------------------------------------- */

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

/* The status of the child, or 0 if it is not known: the program ignores the end of its children, or waits for all of them. The
 * child has ended then, too. */
static int child_wait(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return status;
}

/* The child has the default action of SIGCHLD: a compiler that inherits that it is ignored cannot wait for children of its own. */
static bool child_signals(posix_spawnattr_t *how)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	return !posix_spawnattr_setsigdefault(how, &signals) &&
	       !posix_spawnattr_setflags(how, POSIX_SPAWN_SETSIGDEF);
}

/* Both of the program's streams go to the file `log`. The program's status, as far as it is known; -1: it did not run. */
static int command_run(const struct hip_rtc_args *a, const char *log)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	char **env = plain_environment();
	int status = -1;
	pid_t pid;

	if (!env || posix_spawn_file_actions_init(&files))
		goto no_files;
	if (posix_spawnattr_init(&how))
		goto no_attributes;
	if (!posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600) &&
	    !posix_spawn_file_actions_adddup2(&files, 1, 2) && child_signals(&how) &&
	    !posix_spawn(&pid, a->at[0], &files, &how, (char *const *)a->at, env))
		status = child_wait(pid);
	posix_spawnattr_destroy(&how);
no_attributes:
	posix_spawn_file_actions_destroy(&files);
no_files:
	free(env);
	return status;
}

/* clang's own folder, which has device libraries in AMD's packages; "": unknown. */
static void resources_find(const char *clang, const char *folder, char *resources)
{
	struct hip_rtc_args a = {0};
	struct hip_bytes answer = {0};
	char path[PATH_MAX];

	*resources = 0;
	snprintf(path, sizeof(path), "%s/resources", folder);
	hip_rtc_arg(&a, "%s", clang);
	hip_rtc_arg(&a, "-print-resource-dir");
	if (!a.failed && !command_run(&a, path) && hip_read_file(path, &answer) && answer.size_B &&
	    *answer.at == '/')
		snprintf(resources, PATH_MAX, "%.*s", (int)strcspn(answer.at, "\n"), answer.at);
	hip_bytes_fini(&answer);
	hip_rtc_args_fini(&a);
}

/* Runs the command and frees it. notes: what may explain a failure. A command that failed leaves no code. */
static hiprtcResult command_finish(struct hip_rtc_args *a, const char *folder, struct hip_bytes *notes,
				   struct hip_bytes *code, struct hip_bytes *log)
{
	char path[PATH_MAX], out[PATH_MAX];
	bool ok;

	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(out, sizeof(out), "%s/program.co", folder);
	ok = !a->failed && !command_run(a, path) && hip_read_file(out, code);
	(void)!hip_read_file(path, log);
	if (!ok) {
		if (!log->size_B && a->count)
			hip_rtc_note(log, "%s did not run", a->at[0]);
		if (notes->size_B)
			(void)!hip_bytes_add(log, notes->at, notes->size_B);
	}
	hip_rtc_args_fini(a);
	hip_bytes_fini(notes);
	return ok ? HIPRTC_SUCCESS : HIPRTC_ERROR_COMPILATION;
}

/* --- compiling and linking ----------------------------------------------------------------------- */

/* The source's path in the temporary folder. It has a random name in a folder of its own, which the compiler searches
 * first: the source includes no file that a header of the program does not name. */
static void source_name(const char *folder, char *name, size_t name_B)
{
	snprintf(name, name_B, "source/%s.hip", strrchr(folder, '-') + 1);
}

/* Code that calls a mathematical function has an undefined symbol without the libraries. */
static void add_libraries(struct hip_rtc_args *a, const char *folder, const char *target, struct hip_bytes *notes)
{
	char resources[PATH_MAX], libraries[PATH_MAX];

	if (a->failed)
		return;
	resources_find(a->at[0], folder, resources);
	if (!hip_rtc_find_libraries(resources, libraries))
		hip_rtc_note(
			notes,
			"no device libraries were found in HIP_DEVICE_LIB_PATH%s%s, ROCM_PATH or the usual folders: "
			"mathematical functions are undefined",
			*libraries ? ", " : "", libraries);
	else if (!hip_rtc_libraries_know(libraries, target))
		hip_rtc_note(notes,
			     "the device libraries in %s do not know %s: mathematical functions are undefined",
			     libraries, target);
	else
		hip_rtc_arg(a, "--rocm-device-lib-path=%s", libraries);
	if (notes->size_B)
		hip_rtc_arg(a, "-nogpulib");
}

static void add_output(struct hip_rtc_args *a, const char *folder)
{
	hip_rtc_arg(a, "-o");
	hip_rtc_arg(a, "%s/program.co", folder);
}

static void build_compile(struct hip_rtc_args *a, const char *folder, const struct hip_source *source,
			  struct hip_bytes *notes)
{
	static const char *const options[] = {
		"-x",         "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc",
		"-std=c++17", "-O3", "-D__HIPCC_RTC__"};
	char target[HIP_RTC_TARGET_B], name[64];

	for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		hip_rtc_arg(a, "%s", options[i]);
	hip_rtc_arg(a, "-I%s/" HIP_RTC_HEADERS, folder);
	hip_rtc_add_headers(a);
	hip_rtc_add_options(a, source);
	hip_rtc_target(source, target);
	if (*target)
		hip_rtc_arg(a, "--offload-arch=%s", target);
	if (!hip_rtc_has_option(source, "-device-lib-path="))
		add_libraries(a, folder, target, notes);
	if (source->bitcode) {
		hip_rtc_arg(a, "-emit-llvm");
		hip_rtc_arg(a, "-c");
	}
	add_output(a, folder);
	source_name(folder, name, sizeof(name));
	hip_rtc_arg(a, "%s/%s", folder, name);
}

static hiprtcResult source_compile(const char *folder, const void *what, struct hip_bytes *code,
				   struct hip_bytes *log)
{
	const struct hip_source *source = what;
	struct hip_rtc_args a = {0};
	struct hip_bytes notes = {0};
	char path[PATH_MAX], name[64];
	hiprtcResult r;

	source_name(folder, name, sizeof(name));
	r = hip_rtc_write(folder, name, source->text, strlen(source->text));
	r = r ? r : hip_rtc_write_headers(folder, source);
	if (r)
		return r;
	if (!find_clang(path))
		return HIPRTC_ERROR_COMPILATION;
	hip_rtc_arg(&a, "%s", path);
	build_compile(&a, folder, source, &notes);
	return command_finish(&a, folder, &notes, code, log);
}

/* The bitcode contains the device libraries already. */
static void build_link(struct hip_rtc_args *a, const char *folder, const struct hip_link *link)
{
	char target[HIP_RTC_TARGET_B];

	hip_rtc_target(NULL, target);
	hip_rtc_arg(a, "--target=amdgcn-amd-amdhsa");
	if (*target)
		hip_rtc_arg(a, "-mcpu=%s", target);
	hip_rtc_arg(a, "-flto");
	hip_rtc_arg(a, "-nogpulib");
	hip_rtc_arg(a, "-O3");
	for (unsigned i = 0; i < link->options; i++)
		hip_rtc_arg(a, "%s", link->option[i]);
	add_output(a, folder);
	for (unsigned i = 0; i < link->parts; i++)
		hip_rtc_arg(a, "%s/%u.bc", folder, i);
}

static hiprtcResult link_parts(const char *folder, const void *what, struct hip_bytes *code, struct hip_bytes *log)
{
	const struct hip_link *link = what;
	struct hip_rtc_args a = {0};
	struct hip_bytes notes = {0};
	char path[PATH_MAX], name[32];

	for (unsigned i = 0; i < link->parts; i++) {
		snprintf(name, sizeof(name), "%u.bc", i);
		if (hip_rtc_write(folder, name, link->part[i].at, link->part[i].size_B))
			return HIPRTC_ERROR_INTERNAL_ERROR;
	}
	if (!find_clang(path))
		return HIPRTC_ERROR_LINKING;
	hip_rtc_arg(&a, "%s", path);
	build_link(&a, folder, link);
	return command_finish(&a, folder, &notes, code, log) ? HIPRTC_ERROR_LINKING : HIPRTC_SUCCESS;
}

static hiprtcResult clang_compile(const struct hip_source *source, struct hip_bytes *code, struct hip_bytes *log)
{
	return hip_rtc_in_folder(source_compile, source, code, log);
}

static hiprtcResult clang_link(const struct hip_link *link, struct hip_bytes *code, struct hip_bytes *log)
{
	return hip_rtc_in_folder(link_parts, link, code, log);
}

const struct hip_compiler hip_rtc_clang = {"clang", clang_is_there, clang_compile, clang_link};
