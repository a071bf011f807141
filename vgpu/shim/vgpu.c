/* vgpu/vgpu.h: starting and stopping, in-process and preloaded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vgpu/chip.h"
#include "vgpu/kernel/base/state.h"
#include "vgpu/shim/shim.h"
#include "vgpu/vgpu.h"

static bool attached;

/* Advice to the user about an error. */
static const char *error_advice(int r)
{
	switch (r) {
	case -EACCES:
		return "; none of $XDG_RUNTIME_DIR, $TMPDIR and /tmp can be written";
	case -ENOMEM:
		return "; it maps more than 16 GiB of addresses, is `ulimit -v` smaller?";
	default:
		return "";
	}
}

static int create_run(const char *spec)
{
	struct shim_config config;
	int r = attached ? -EBUSY : shim_spec_parse(spec, &config);

	if (r)
		return r;
	r = shim_run_create(spec, &config);
	if (r)
		fprintf(stderr, "vgpu: no run for \"%s\": %s%s\n", spec, strerror(-r), error_advice(r));
	attached = !r;
	return r;
}

static void activate(void)
{
	shim_sanitizer_find();
	atomic_store_explicit(&shim_is_active, true, memory_order_release);
}

SHIM_EXPORT int vgpu_start(const char *spec)
{
	int r = create_run(spec);

	if (!r)
		activate();
	return r;
}

static void leave_run(void)
{
	if (!attached)
		return;
	attached = false;
	atomic_store_explicit(&shim_is_active, false, memory_order_release);
	shim_run_leave();
	shim_fd_clear();
	shim_map_clear();
}

SHIM_EXPORT void vgpu_stop(void)
{
	leave_run();
}

/* --- for children --- */

static bool find_preload(char *path, size_t room)
{
	static const char *const places[] = {"lib/libtuff-vgpu.so", "libtuff-vgpu.so",
					     "../lib/tuff/libtuff-vgpu.so", "../lib/libtuff-vgpu.so"};
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/thread-self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n <= 0)
		return false;
	exe[n] = 0;
	slash = strrchr(exe, '/');
	if (slash)
		*slash = 0;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (snprintf(path, room, "%s/%s", exe, places[i]) >= (int)room)
			continue;
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

SHIM_EXPORT int vgpu_run_create(const char *spec, struct vgpu_env *env)
{
	int r = strlen(spec) < sizeof(env->spec) ? create_run(spec) : -ENAMETOOLONG;

	if (r)
		return r;
	memset(env, 0, sizeof(*env));
	strcpy(env->spec, spec);
	snprintf(env->run, sizeof(env->run), "%s", shim_root());
	if (!find_preload(env->preload, sizeof(env->preload)))
		env->preload[0] = 0;
	return 0;
}

SHIM_EXPORT const char *vgpu_chip_name(unsigned n)
{
	const struct vgpu_chip *chip = vgpu_chip_at(n);

	return chip ? chip->name : NULL;
}

/* --- preloaded --- */

static int join_or_create(const char *spec, const char *run)
{
	int r = run && *run ? shim_run_join(run) : -ENOENT;

	if (!r) {
		attached = true;
		return 0;
	}
	r = create_run(spec); /* the run has ended, or there was none */
	if (!r)
		setenv("TUFF_VGPU_RUN", shim_root(), 1);
	return r;
}

/* A program that carries the virtual GPU inside may run with the library preloaded too. Then the program's copy
 * comes first in the symbol order, and must be the one to join: own_start always names this copy's function,
 * vgpu_start the first copy's. */
extern __typeof__(vgpu_start) own_start __attribute__((alias("vgpu_start"), visibility("hidden")));

/* True when this copy is to join a run by itself: when it was preloaded, or `tuff run` named a run. */
static bool joins_by_itself(void)
{
	Dl_info info;

	if (dlsym(RTLD_DEFAULT, "vgpu_start") != (void *)(uintptr_t)own_start)
		return false;
	if (secure_getenv("TUFF_VGPU_RUN"))
		return true;
	return dladdr((void *)(uintptr_t)own_start, &info) && info.dli_fname &&
	       strstr(info.dli_fname, "libtuff-vgpu");
}

static bool stops_late;

static void stop_late(int status, void *arg)
{
	(void)status;
	(void)arg;
	shim_run_leave_in_haste();
}

__attribute__((constructor)) static void start_preloaded(void)
{
	const char *spec = secure_getenv("TUFF_VGPU");

	if (!spec || !*spec || !joins_by_itself())
		return;
	if (join_or_create(spec, secure_getenv("TUFF_VGPU_RUN"))) {
		fprintf(stderr, "vgpu: the program runs without virtual devices\n");
		return;
	}
	activate();
	shim_fd_adopt_all();
	/* Leaves the run after the destructors of all libraries, while other threads still run: only then no code
	 * is left to use the devices. The dynamic linker registers those destructors after this constructor, and
	 * exit handlers run in reverse order. */
	stops_late = !on_exit(stop_late, NULL);
}

/* A program that carries the virtual GPU: its other threads, and destructors of libraries, use the devices until the process
 * ends. */
__attribute__((destructor)) static void stop_at_exit(void)
{
	if (!stops_late)
		shim_run_leave_in_haste();
}

/* --- for tests --- */

SHIM_EXPORT unsigned long vgpu_ioctl_count(void)
{
	return kern_ioctl_count();
}

SHIM_EXPORT unsigned long vgpu_userptr_pages(void)
{
	return kern_userptr_pages();
}

SHIM_EXPORT unsigned long vgpu_ioctl_count_nr(unsigned nr)
{
	return kern_ioctl_count_nr(nr);
}

SHIM_EXPORT void vgpu_inject_ioctl(unsigned long n, int error)
{
	kern_inject(-1, n, error);
}

SHIM_EXPORT void vgpu_inject_ioctl_nr(unsigned nr, unsigned long n, int error)
{
	kern_inject((int)nr, n, error);
}

SHIM_EXPORT void vgpu_inject_ioctl_chance(int nr, unsigned ppm, int error)
{
	kern_inject_chance(nr, ppm, error);
}

SHIM_EXPORT void vgpu_quiet_seconds(void)
{
	kern_quiet_seconds();
}

SHIM_EXPORT int vgpu_inject_reset(unsigned device)
{
	return kern_inject_reset(device);
}

SHIM_EXPORT int vgpu_inject_unplug(unsigned device)
{
	return kern_inject_unplug(device);
}

SHIM_EXPORT void vgpu_live(struct vgpu_live *live)
{
	*live = (struct vgpu_live){
		.bos = kern_live_count(KERN_BOS),
		.mappings = kern_live_count(KERN_MAPPINGS),
		.contexts = kern_live_count(KERN_CONTEXTS),
		.files = kern_live_count(KERN_FILES),
		.fences = kern_live_count(KERN_FENCES),
		.syncobjs = kern_live_count(KERN_SYNCOBJS),
		.bo_lists = kern_live_count(KERN_BO_LISTS),
		.jobs = kern_live_count(KERN_JOBS),
	};
}

SHIM_EXPORT unsigned long vgpu_live_objects(void)
{
	struct vgpu_live live;

	vgpu_live(&live);
	return live.bos + live.mappings + live.contexts + live.files + live.syncobjs + live.bo_lists + live.jobs;
}
