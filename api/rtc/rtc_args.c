/* Arguments for both compilers: options, target, headers, device libraries. */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/rtc/rtc_compiler.h"
#include "drv/config.h"

/* --- lists of arguments ------------------------------------------------------------------------ */

/* Makes room for an argument, and for the end of the list. */
static bool args_grow(struct hip_rtc_args *a)
{
	unsigned room = a->room ? 2 * a->room : 64;
	char **at;

	if (a->count + 1 < a->room)
		return true;
	at = realloc(a->at, room * sizeof(*at));
	if (!at)
		return false;
	a->at = at;
	a->room = room;
	return true;
}

void hip_rtc_arg(struct hip_rtc_args *a, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (a->failed || !args_grow(a) || vasprintf(&text, format, args) < 0) {
		a->failed = true;
	} else {
		a->at[a->count++] = text;
		a->at[a->count] = NULL;
	}
	va_end(args);
}

void hip_rtc_args_fini(struct hip_rtc_args *a)
{
	while (a->count)
		free(a->at[--a->count]);
	free(a->at);
	*a = (struct hip_rtc_args){0};
}

/* --- headers ----------------------------------------------------------------------------------- */

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

/* Headers that are included implicitly, as in AMD's hiprtc. */
static const char *const built_in[] = {"hip_runtime.h", "hip_fp16.h", "hip_bfloat16.h", "hip_complex.h",
				       "hip_math_constants.h"};

/* comgr and programs name folders that may have AMD's headers: -I goes before comgr's -isystem, and the first -I before
 * the program's. */
void hip_rtc_add_headers(struct hip_rtc_args *a)
{
	char path[PATH_MAX];

	if (!find_headers(path, sizeof(path)))
		return;
	hip_rtc_arg(a, "--system-header-prefix=hip/");
	hip_rtc_arg(a, "-I%s", path);
	for (unsigned i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++) {
		hip_rtc_arg(a, "-include");
		hip_rtc_arg(a, "hip/%s", built_in[i]);
	}
}

void hip_rtc_add_language(struct hip_rtc_args *a)
{
	char path[PATH_MAX];

	hip_rtc_arg(a, "-nostdinc");
	if (find_headers(path, sizeof(path)))
		hip_rtc_arg(a, "-I%s/hip/rtc", path);
}

/* --- options ------------------------------------------------------------------------------------ */

/* The target that an option names, in CUDA's words or HIP's; NULL: the option is no target. */
static const char *option_target(const char *option)
{
	static const char *const names[] = {"--gpu-architecture=", "-arch=", "--offload-arch="};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(option, names[i], strlen(names[i])))
			return option + strlen(names[i]);
	return NULL;
}

static void device_target(char *target)
{
	hipDeviceProp_tR0600 device = {0};

	if (!hipGetDevicePropertiesR0600(&device, hip_thread.device))
		snprintf(target, HIP_RTC_TARGET_B, "%s", device.gcnArchName);
}

void hip_rtc_target(const struct hip_source *source, char *target)
{
	*target = 0;
	for (int i = 0; source && i < source->options; i++) {
		const char *named = option_target(source->option[i]);

		if (named)
			snprintf(target, HIP_RTC_TARGET_B, "%s", named);
	}
	if (!*target)
		device_target(target);
}

/* Translates HIP's option for the type of ptrdiff_t (since 6.1): clang's headers read it from this macro. */
static void add_ptrdiff(struct hip_rtc_args *a, const char *option)
{
	if (strcmp(option, "-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__=1") != 0)
		return;
	hip_rtc_arg(a, "-Wno-builtin-macro-redefined");
	hip_rtc_arg(a, "-U__PTRDIFF_TYPE__");
	hip_rtc_arg(a, "-D__PTRDIFF_TYPE__=long long int");
}

void hip_rtc_add_options(struct hip_rtc_args *a, const struct hip_source *source)
{
	for (int i = 0; i < source->options; i++) {
		if (option_target(source->option[i]))
			continue;
		hip_rtc_arg(a, "%s", source->option[i]);
		add_ptrdiff(a, source->option[i]);
	}
}

bool hip_rtc_has_option(const struct hip_source *source, const char *part)
{
	for (int i = 0; i < source->options; i++)
		if (strstr(source->option[i], part))
			return true;
	return false;
}

/* --- device libraries --------------------------------------------------------------------------- */

static bool libraries_are_in(const char *folder)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/ocml.bc", folder);
	return !access(path, R_OK);
}

/* Folders of ROCm, and of distributions. %s: ROCM_PATH. */
static const char *const places[] = {"%s/amdgcn/bitcode",
				     "%s/lib/llvm/amdgcn/bitcode",
				     "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
				     "/usr/lib/amdgcn/bitcode",
				     "/usr/amdgcn/bitcode",
				     "/opt/rocm/amdgcn/bitcode",
				     "/opt/rocm/lib/llvm/amdgcn/bitcode"};

/* From Debian 13 on they are beside the LLVM that made them. A compiler reads what no newer one made: takes the newest of
 * these. compilers: the compiler's folder of resources, which its version ends, or NULL. */
static bool find_beside_llvm(const char *compilers, char *folder)
{
	static const char before[] = "/usr/lib/llvm-";
	const char *end = compilers ? strrchr(compilers, '/') : NULL;
	unsigned long newest = end ? strtoul(end + 1, NULL, 10) : ULONG_MAX, best = 0;
	glob_t found;

	if (glob("/usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode", 0, NULL, &found))
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		unsigned long version = strtoul(found.gl_pathv[i] + sizeof(before) - 1, NULL, 10);

		if (version <= newest && version > best && libraries_are_in(found.gl_pathv[i])) {
			best = version;
			snprintf(folder, PATH_MAX, "%s", found.gl_pathv[i]);
		}
	}
	globfree(&found);
	return best;
}

bool hip_rtc_find_libraries(const char *compilers, char *folder)
{
	const char *set = drv_config()->device_libraries, *rocm = drv_config()->rocm_path;

	if (set) {
		snprintf(folder, PATH_MAX, "%s", set);
		return libraries_are_in(folder);
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const bool of_rocm = *places[i] == '%';

		/* The compiler's own come behind those that the environment names. */
		if (!of_rocm && compilers &&
		    snprintf(folder, PATH_MAX, "%s/lib/amdgcn/bitcode", compilers) < PATH_MAX &&
		    libraries_are_in(folder))
			return true;
		if (of_rocm && !rocm)
			continue;
		if (of_rocm)
			snprintf(folder, PATH_MAX, "%s%s", rocm, places[i] + 2);
		else
			snprintf(folder, PATH_MAX, "%s", places[i]);
		if (libraries_are_in(folder))
			return true;
	}
	*folder = 0;
	return find_beside_llvm(compilers, folder);
}

/* Debian 12's end at gfx1036, and clang then refuses all code. */
bool hip_rtc_libraries_know(const char *libraries, const char *target)
{
	char path[PATH_MAX];

	if (strncmp(target, "gfx", 3) != 0)
		return true;
	snprintf(path, sizeof(path), "%s/oclc_isa_version_%.*s.bc", libraries, (int)strcspn(target + 3, ":"),
		 target + 3);
	return !access(path, R_OK);
}

void hip_rtc_note(struct hip_bytes *notes, const char *format, ...)
{
	char line[PATH_MAX + 256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	(void)!(hip_bytes_add_text(notes, "hiprtc: ") && hip_bytes_add_text(notes, line) &&
		hip_bytes_add_text(notes, "\n"));
}
