/* AMD's comgr as the compiler of hiprtc: a library that compiles in the process. It is loaded when it is first needed, and stays.
 *
 * Of its interface only what is used here is declared. The numbers of languages and actions are those of its major version; sources:
 * amd_comgr.h of Debian's 2.4 and ROCm's llvm-project (amd/comgr/include), and the bindings of ZLUDA and tinygrad, of 2 and 3. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/rtc/rtc_compiler.h"
#include "drv/config.h"

struct object {
	uint64_t handle;
};

enum { KIND_SOURCE = 1, KIND_LOG = 5, KIND_BITCODE = 6, KIND_EXECUTABLE = 8 };

/* The functions, in the order of `function_names`. Each returns 0, or an error. */
static struct {
	void (*get_version)(size_t *major, size_t *minor);
	int (*create_data)(int kind, struct object *data);
	int (*release_data)(struct object data);
	int (*set_data)(struct object data, size_t size_B, const char *bytes);
	int (*set_data_name)(struct object data, const char *name);
	int (*get_data)(struct object data, size_t *size_B, char *bytes);
	int (*create_data_set)(struct object *set);
	int (*destroy_data_set)(struct object set);
	int (*data_set_add)(struct object set, struct object data);
	int (*action_data_count)(struct object set, int kind, size_t *count);
	int (*action_data_get_data)(struct object set, int kind, size_t index, struct object *data);
	int (*create_action_info)(struct object *info);
	int (*destroy_action_info)(struct object info);
	int (*action_info_set_isa_name)(struct object info, const char *name);
	int (*action_info_set_language)(struct object info, int language);
	int (*action_info_set_option_list)(struct object info, const char *const *options, size_t count);
	int (*action_info_set_logging)(struct object info, bool on);
	int (*do_action)(int action, struct object info, struct object input, struct object result);
} comgr;

static const char *const function_names[] = {
	"get_version",
	"create_data",
	"release_data",
	"set_data",
	"set_data_name",
	"get_data",
	"create_data_set",
	"destroy_data_set",
	"data_set_add",
	"action_data_count",
	"action_data_get_data",
	"create_action_info",
	"destroy_action_info",
	"action_info_set_isa_name",
	"action_info_set_language",
	"action_info_set_option_list",
	"action_info_set_logging",
	"do_action",
};
#define FUNCTIONS (sizeof(function_names) / sizeof(function_names[0]))
_Static_assert(sizeof(comgr) == FUNCTIONS * sizeof(void *), "a name for each function");

/* Differences between comgr's major versions. */
struct edition {
	size_t major;
	int language_hip;
	int compile; /* source to bitcode; with device libraries, if it brings them */
	int link_bitcode, make_object, link_object;
	bool brings_libraries;
};
static const struct edition editions[] = {
	{.major = 2, .language_hip = 4, .compile = 2, .link_bitcode = 4, .make_object = 6, .link_object = 9},
	{.major = 3,
	 .language_hip = 3,
	 .compile = 12,
	 .link_bitcode = 3,
	 .make_object = 4,
	 .link_object = 7,
	 .brings_libraries = true},
};

/* --- loading ------------------------------------------------------------------------------------ */

static struct {
	struct drv_mutex
		lock;     /* guards the members below; held while comgr works: LLVM's options are the process's */
	bool tried, torn; /* torn: the parent of this process was in comgr when it forked */
	const struct edition *edition; /* NULL: there is no comgr, or it is unknown */
} comgr_state = {.lock = DRV_MUTEX(DRV_RANK_HIP_COMPILER)};

static bool functions_find(void *library)
{
	for (size_t i = 0; i < FUNCTIONS; i++) {
		char name[64];
		void *function;

		snprintf(name, sizeof(name), "amd_comgr_%s", function_names[i]);
		function = dlsym(library, name);
		if (!function)
			return false;
		memcpy((char *)&comgr + i * sizeof(function), &function, sizeof(function));
	}
	return true;
}

static void edition_find(const char *name)
{
	size_t major = 0, minor = 0;

	comgr.get_version(&major, &minor);
	for (size_t i = 0; i < sizeof(editions) / sizeof(editions[0]); i++)
		if (editions[i].major == major)
			comgr_state.edition = &editions[i];
	if (!comgr_state.edition)
		fprintf(stderr, "tuff: %s has version %zu.%zu, which hiprtc does not know; clang is used\n", name,
			major, minor);
}

/* In a child of fork(): what a thread was doing in comgr never ends. */
static void comgr_forked(void)
{
	if (drv_mutex_try(&comgr_state.lock)) {
		drv_mutex_unlock(&comgr_state.lock);
	} else {
		drv_mutex_init(&comgr_state.lock, DRV_RANK_HIP_COMPILER);
		comgr_state.torn = true;
		comgr_state.edition = NULL;
	}
}

/* The library of a known version comes first. A name without one is that of developers, and of versions to come. */
static void load_locked(void)
{
	static const char *const names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};

	drv_rank_assert(DRV_RANK_HIP_COMPILER);
	if (comgr_state.tried)
		return;
	comgr_state.tried = true;
	(void)!pthread_atfork(NULL, NULL, comgr_forked);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

		if (!library || !functions_find(library))
			continue;
		edition_find(names[i]);
		return;
	}
}

/* --- data --------------------------------------------------------------------------------------- */

/* Adds a copy of the bytes to the set. */
static bool data_add(struct object set, int kind, const char *name, const void *bytes, size_t size_B)
{
	struct object data;
	bool ok;

	if (comgr.create_data(kind, &data))
		return false;
	ok = !comgr.set_data(data, size_B, bytes) && !comgr.set_data_name(data, name) &&
	     !comgr.data_set_add(set, data);
	comgr.release_data(data);
	return ok;
}

/* Appends the contents of a datum. */
static bool data_read(struct object set, int kind, size_t index, struct hip_bytes *to)
{
	struct object data;
	size_t size_B = 0;
	char *bytes = NULL;
	bool ok;

	if (comgr.action_data_get_data(set, kind, index, &data))
		return false;
	ok = !comgr.get_data(data, &size_B, NULL) && (bytes = malloc(size_B + 1)) &&
	     !comgr.get_data(data, &size_B, bytes) && hip_bytes_add(to, bytes, size_B);
	free(bytes);
	comgr.release_data(data);
	return ok;
}

static void logs_read(struct object set, struct hip_bytes *log)
{
	size_t count = 0;

	(void)comgr.action_data_count(set, KIND_LOG, &count);
	for (size_t i = 0; i < count; i++)
		(void)!data_read(set, KIND_LOG, i, log);
}

/* --- actions ------------------------------------------------------------------------------------ */

struct job {
	struct object info;
	struct object set; /* result of the last action */
	struct hip_bytes *log;
	bool ok;
};

static void isa_name(const char *target, char *name, size_t name_B)
{
	snprintf(name, name_B, "amdgcn-amd-amdhsa--%s", target);
}

static void job_begin(struct job *j, const char *target, struct hip_bytes *log)
{
	char name[HIP_RTC_TARGET_B + 32];

	*j = (struct job){.log = log};
	isa_name(target, name, sizeof(name));
	if (comgr.create_action_info(&j->info))
		return;
	j->ok = !comgr.create_data_set(&j->set) &&
		!comgr.action_info_set_language(j->info, comgr_state.edition->language_hip) &&
		!comgr.action_info_set_isa_name(j->info, name) && !comgr.action_info_set_logging(j->info, true);
}

/* Replaces the set by what the action makes of it. */
static void job_act(struct job *j, int action, const char *const *options, size_t count)
{
	struct object result;

	if (!j->ok || comgr.create_data_set(&result)) {
		j->ok = false;
		return;
	}
	j->ok = !comgr.action_info_set_option_list(j->info, options, count) &&
		!comgr.do_action(action, j->info, j->set, result);
	logs_read(result, j->log);
	comgr.destroy_data_set(j->set);
	j->set = result;
}

static bool job_end(struct job *j, int kind, struct hip_bytes *out)
{
	bool ok = j->ok && data_read(j->set, kind, 0, out);

	if (j->set.handle)
		comgr.destroy_data_set(j->set);
	if (j->info.handle)
		comgr.destroy_action_info(j->info);
	return ok;
}

/* Makes code of bitcode. The options are clang's, for the linker. */
static void job_generate(struct job *j, const char *const *options, size_t count)
{
	static const char *const optimize[] = {"-O3", "-mcode-object-version=5"};

	job_act(j, comgr_state.edition->make_object, optimize, 2);
	job_act(j, comgr_state.edition->link_object, options, count);
}

/* --- compiling and linking ----------------------------------------------------------------------- */

/* The parts of the device libraries that clang links by default; the wave's size is the chip's default. */
static void add_libraries(struct hip_rtc_args *a, const char *libraries, const char *target,
			  const struct hip_source *source)
{
	static const char *const parts[] = {"ocml", "ockl", "oclc_daz_opt_off", "oclc_correctly_rounded_sqrt_on",
					    "oclc_abi_version_500"};
	const bool fast = hip_rtc_has_option(source, "-ffast-math");
	const bool wide = !strncmp(target, "gfx9", 4) || hip_rtc_has_option(source, "-mwavefrontsize64");
	char isa[HIP_RTC_TARGET_B + 32];
	const char *more[] = {fast ? "oclc_unsafe_math_on" : "oclc_unsafe_math_off",
			      fast ? "oclc_finite_only_on" : "oclc_finite_only_off",
			      wide ? "oclc_wavefrontsize64_on" : "oclc_wavefrontsize64_off", isa};

	snprintf(isa, sizeof(isa), "oclc_isa_version_%.*s", (int)strcspn(target + 3, ":"), target + 3);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) + sizeof(more) / sizeof(more[0]); i++) {
		const size_t own = sizeof(parts) / sizeof(parts[0]);

		hip_rtc_arg(a, "-Xclang");
		hip_rtc_arg(a, "-mlink-builtin-bitcode");
		hip_rtc_arg(a, "-Xclang");
		hip_rtc_arg(a, "%s/%s.bc", libraries, i < own ? parts[i] : more[i - own]);
	}
}

static void build_compile(struct hip_rtc_args *a, const char *folder, const struct hip_source *source,
			  const char *target, struct hip_bytes *notes)
{
	char libraries[PATH_MAX];

	hip_rtc_arg(a, "-nogpuinc");
	hip_rtc_arg(a, "-std=c++17");
	hip_rtc_arg(a, "-O3");
	hip_rtc_arg(a, "-D__HIPCC_RTC__");
	hip_rtc_arg(a, "-mcode-object-version=5");
	hip_rtc_arg(a, "-I%s/" HIP_RTC_HEADERS, folder);
	hip_rtc_add_headers(a);
	hip_rtc_add_options(a, source);
	hip_rtc_add_language(a);
	if (comgr_state.edition->brings_libraries)
		return;
	if (hip_rtc_find_libraries(NULL, libraries) && hip_rtc_libraries_know(libraries, target))
		add_libraries(a, libraries, target, source);
	else
		hip_rtc_note(notes, "no device libraries for %s were found: mathematical functions are undefined",
			     target);
}

static bool is_header(const struct hip_source *source, const char *name)
{
	for (unsigned i = 0; i < source->headers; i++)
		if (!strcmp(source->header_name[i], name))
			return true;
	return false;
}

/* The program's file is where quotation marks look first: it must not be taken for a header. */
static void program_name(const struct hip_source *source, char *name, size_t name_B)
{
	snprintf(name, name_B, "program.hip");
	for (unsigned other = 0; is_header(source, name); other++)
		snprintf(name, name_B, "program_%u.hip", other);
}

/* Everything is kept as it is in the program's headers folder: comgr's own is not known. */
static hiprtcResult source_compile(const char *folder, const void *what, struct hip_bytes *code,
				   struct hip_bytes *log)
{
	const struct hip_source *source = what;
	struct hip_rtc_args a = {0};
	struct hip_bytes notes = {0};
	char target[HIP_RTC_TARGET_B], name[32];
	struct job job;
	hiprtcResult r = hip_rtc_write_headers(folder, source);
	bool ok;

	if (r)
		return r;
	hip_rtc_target(source, target);
	build_compile(&a, folder, source, target, &notes);
	program_name(source, name, sizeof(name));
	job_begin(&job, target, log);
	job.ok &= !a.failed && data_add(job.set, KIND_SOURCE, name, source->text, strlen(source->text));
	job_act(&job, comgr_state.edition->compile, (const char *const *)a.at, a.count);
	if (!source->bitcode)
		job_generate(&job, NULL, 0);
	ok = job_end(&job, source->bitcode ? KIND_BITCODE : KIND_EXECUTABLE, code);
	if (!ok && notes.size_B)
		(void)!hip_bytes_add(log, notes.at, notes.size_B);
	hip_rtc_args_fini(&a);
	hip_bytes_fini(&notes);
	return ok ? HIPRTC_SUCCESS : HIPRTC_ERROR_COMPILATION;
}

static hiprtcResult comgr_compile(const struct hip_source *source, struct hip_bytes *code, struct hip_bytes *log)
{
	hiprtcResult r;

	drv_mutex_lock(&comgr_state.lock);
	r = hip_rtc_in_folder(source_compile, source, code, log);
	drv_mutex_unlock(&comgr_state.lock);
	return r;
}

static hiprtcResult comgr_link(const struct hip_link *link, struct hip_bytes *code, struct hip_bytes *log)
{
	char target[HIP_RTC_TARGET_B], name[32];
	struct job job;
	bool ok;

	hip_rtc_target(NULL, target);
	drv_mutex_lock(&comgr_state.lock);
	job_begin(&job, target, log);
	for (unsigned i = 0; i < link->parts && job.ok; i++) {
		snprintf(name, sizeof(name), "%u.bc", i);
		job.ok = data_add(job.set, KIND_BITCODE, name, link->part[i].at, link->part[i].size_B);
	}
	job_act(&job, comgr_state.edition->link_bitcode, NULL, 0);
	job_generate(&job, link->option, link->options);
	ok = job_end(&job, KIND_EXECUTABLE, code);
	drv_mutex_unlock(&comgr_state.lock);
	return ok ? HIPRTC_SUCCESS : HIPRTC_ERROR_LINKING;
}

/* A target that LLVM's comgr does not know is an error of its own, before any work. */
static bool comgr_is_there(const char *target, struct hip_bytes *notes)
{
	struct object info;
	char name[HIP_RTC_TARGET_B + 32];
	bool known = false;

	/* comgr heeds variables that name files, which a program must not write with more rights than its caller has. */
	if (drv_config()->privileged)
		return false;
	drv_mutex_lock(&comgr_state.lock);
	load_locked();
	if (comgr_state.torn)
		hip_rtc_note(notes, "AMD's comgr was at work when the process was forked");
	isa_name(target, name, sizeof(name));
	if (comgr_state.edition && *target && !comgr.create_action_info(&info)) {
		known = !comgr.action_info_set_isa_name(info, name);
		comgr.destroy_action_info(info);
		if (!known)
			hip_rtc_note(notes, "AMD's comgr does not know %s", target);
	}
	drv_mutex_unlock(&comgr_state.lock);
	return known;
}

const struct hip_compiler hip_rtc_comgr = {"comgr", comgr_is_there, comgr_compile, comgr_link};
