/* The virtual GPU for the tuff command: in front of this process, or of a program that it runs. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Puts text in front of a variable that lists things with colons. */
static void prepend(const char *variable, const char *text)
{
	const char *old = getenv(variable);
	char *both;

	if (!*text || asprintf(&both, "%s%s%s", text, old && *old ? ":" : "", old && *old ? old : "") < 0)
		return;
	setenv(variable, both, 1);
	free(both);
}

/* tuff's libraries: beside the command in a build tree, under lib/tuff when it is installed. */
static void find_libraries(char *path, size_t path_B)
{
	static const char *const places[] = {"lib", "../lib/tuff"};
	char self[PATH_MAX - sizeof("/../lib/tuff")];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	*path = 0;
	if (n < 0)
		return;
	self[n] = 0;
	*strrchr(self, '/') = 0;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, path_B, "%s/%s", self, places[i]);
		if (!access(path, X_OK))
			return;
	}
	*path = 0;
}

static int join_run(const struct vgpu_env *env)
{
	if (!env->preload[0]) {
		fprintf(stderr, "tuff run: libtuff-vgpu.so is not where it should be, beside this command\n");
		return -ENOENT;
	}
	setenv("TUFF_VGPU", env->spec, 1);
	setenv("TUFF_VGPU_RUN", env->run, 1);
	prepend("LD_PRELOAD", env->preload);
	return 0;
}

/* Runs the program and passes its end on: its status, or 128 and the signal, as a shell does. */
static int run_and_wait(char **argv)
{
	int status;
	pid_t pid;

	/* An interrupt is for the program; the run is cleaned up after it. */
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

int tool_run(int argc, char **argv)
{
	char libraries[PATH_MAX];
	const char *spec = NULL;
	struct vgpu_env env;
	int i = 1, status;

	if (argc > 2 && !strcmp(argv[1], "--gpu")) {
		spec = argv[2];
		i = 3;
	}
	if (i < argc && !strcmp(argv[i], "--"))
		i++;
	else if (i < argc && argv[i][0] == '-')
		i = argc;
	if (i >= argc) {
		fprintf(stderr, "usage: tuff run [--gpu SPEC] -- PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	find_libraries(libraries, sizeof(libraries));
	prepend("LD_LIBRARY_PATH", libraries);
	if (!spec)
		return run_and_wait(argv + i);
	if (vgpu_run_create(spec, &env) || join_run(&env))
		return 2;
	status = run_and_wait(argv + i);
	vgpu_stop();
	return status;
}
