/* The virtual GPU for the tuff command: for this process, or for a program that it runs. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/build.h"
#include "tools/tool.h"
#include "vgpu/vgpu.h"

int tool_start_gpu(const char *spec)
{
	int r = spec ? vgpu_start(spec) : 0;

	if (!r && spec)
		atexit(vgpu_stop);
	if (r)
		fprintf(stderr, "tuff: no virtual GPU \"%s\": %s\n", spec, strerror(-r));
	return r;
}

/* Prepends text to a variable that is a colon-separated list. */
static void list_prepend(const char *variable, const char *text)
{
	const char *old = getenv(variable);
	char *both;

	if (!*text || asprintf(&both, "%s%s%s", text, old && *old ? ":" : "", old && *old ? old : "") < 0)
		return;
	setenv(variable, both, 1);
	free(both);
}

/* Finds the folder of tuff's libraries: beside the command in a build tree, at BUILD_LIBRARIES relative to an
 * installed command. Follows a symbolic link to the command. */
static int find_libraries(char *path, size_t path_B)
{
	static const char *const places[] = {"lib", BUILD_LIBRARIES};
	char self[PATH_MAX - sizeof("/" BUILD_LIBRARIES)];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = 0;
	for (unsigned i = 0; n > 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, path_B, "%.*s/%s", (int)(strrchr(self, '/') - self), self, places[i]);
		if (!access(path, X_OK))
			return 0;
	}
	fprintf(stderr, "tuff run: tuff's libraries are not where they should be, in lib or %s from this command\n",
		BUILD_LIBRARIES);
	return -ENOENT;
}

/* Preloads libtuff-gate.so before other libraries: programs that test for ROCm's kernel driver themselves then find
 * it. Without the library, or where its path cannot be preloaded, such programs find no GPU; others are not affected. */
static void preload_gate(const char *libraries)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/libtuff-gate.so", libraries);
	if (!access(path, R_OK) && !strpbrk(path, " :"))
		list_prepend("LD_PRELOAD", path);
}

/* Makes programs that this process starts use the GPUs of the run. libraries: folder of libtuff-vgpu.so. */
static int set_environment(const struct vgpu_env *env, const char *libraries)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/libtuff-vgpu.so", libraries);
	if (access(path, R_OK)) {
		fprintf(stderr, "tuff run: there is no %s\n", path);
		return -ENOENT;
	}
	/* The dynamic linker has no quoting for these. */
	if (strpbrk(path, " :")) {
		fprintf(stderr, "tuff run: %s cannot be preloaded: a space or colon in its path\n", path);
		return -EINVAL;
	}
	setenv("TUFF_VGPU", env->spec, 1);
	setenv("TUFF_VGPU_RUN", env->run, 1);
	list_prepend("LD_PRELOAD", path);
	return 0;
}

/* Runs the program and passes on its exit status, or 128 and the signal, as a shell does. */
static int run_and_wait(char **argv)
{
	int status;
	pid_t pid;

	/* The program handles an interrupt; the run is cleaned up after it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	pid = fork();
	if (!pid) {
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		execvp(argv[0], argv);
		fprintf(stderr, "tuff run: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		fprintf(stderr, "tuff run: %s\n", strerror(errno));
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int list_chips(void)
{
	const char *name;

	for (unsigned n = 0; (name = vgpu_chip_name(n)); n++)
		printf("%s\n", name);
	return 0;
}

static const char usage_text[] =
	"usage: tuff run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"Runs a program with tuff's libraries before others of their names, and gives its exit status. SPEC is\n"
	"[null:]CHIP[:KEY=VALUE]..., several with commas: gfx908, or gfx906:vram=8G,gfx906; tuff-run(1) has the keys.\n"
	"  --gpu SPEC      give it virtual GPUs, and hide those of the machine\n"
	"  --device NAME   of HSA and HIP it sees this GPU alone: number, PCI address or render node\n"
	"  --list          print the chips that SPEC may name\n"
	"  --help          print this\n";

/* ROCR_VISIBLE_DEVICES counts GPUs in the order of the scan. */
static int show_one(const char *name)
{
	struct drv_node node;
	char index[16];

	if (tool_find_device("run", name, &node))
		return -ENOENT;
	snprintf(index, sizeof(index), "%u", node.index);
	return setenv("ROCR_VISIBLE_DEVICES", index, 1);
}

static int run_on_virtual(const char *spec, const char *libraries, char **argv)
{
	struct vgpu_env env;
	int status;

	if (vgpu_run_create(spec, &env))
		return 2;
	status = set_environment(&env, libraries);
	preload_gate(libraries);
	status = status ? 2 : run_and_wait(argv);
	vgpu_stop();
	return status;
}

int tool_run(int argc, char **argv)
{
	const char *spec = NULL, *name = NULL;
	char libraries[PATH_MAX];
	bool list = false;
	const struct tool_option options[] = {
		{"--gpu", .value = &spec}, {"--device", .value = &name}, {"--list", .flag = &list}, {NULL}};
	int status, i = tool_options(argc, argv, options, usage_text, &status);

	if (i < 0)
		return status;
	if (list)
		return list_chips();
	if (i >= argc)
		return tool_mistake(usage_text, "run", "which program?");
	if (spec && name)
		return tool_mistake(usage_text, "run",
				    "--device is for GPUs of this machine, --gpu gives those of SPEC");
	if (find_libraries(libraries, sizeof(libraries)))
		return 2;
	list_prepend("LD_LIBRARY_PATH", libraries);
	tool_warn_of_preload(argv[i]);
	if (!spec) {
		if (name && show_one(name))
			return TOOL_UNUSABLE;
		preload_gate(libraries);
		return run_and_wait(argv + i);
	}
	return run_on_virtual(spec, libraries, argv + i);
}
