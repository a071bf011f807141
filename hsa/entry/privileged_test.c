/* A program that has more rights than its caller ignores variables that name files, libraries or programs, and those of
 * the virtual GPU. Copies of this program run as another user, with set-user-ID, set-group-ID or a file capability. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "drv/config.h"
#include "hsa/core/table.h"
#include "tests/check.h"
#include "vgpu/vgpu.h"

#define NOBODY  65534
#define SKIPPED 77

static char folder[] = "/tmp/tuff-privileged-XXXXXX";
static char program[64], tool[64];

/* --- the copy, as another user ---------------------------------------------------------------- */

static bool is_loaded(const char *library)
{
	return dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
}

static void files_are_ignored(void)
{
	const struct drv_config *c = drv_config();

	CHECK(c->privileged);
	CHECK(!c->tools && !c->hip_include && !c->clang_folder);
	CHECK_EQ(c->log_fd, STDERR_FILENO);
	CHECK_STR(c->path, "/usr/bin:/bin");
	CHECK_EQ(c->spin_us, 7);
	CHECK_EQ(hsa_tools_load(), 0);
	CHECK(!is_loaded(getenv("HSA_TOOLS_LIB")));
	hsa_tools_unload();
}

static void the_virtual_gpu_is_not_started(void)
{
	CHECK_STR(getenv("TUFF_VGPU_RUN"), "/nowhere");
	CHECK_EQ(vgpu_start("gfx908"), 0); /* not -EBUSY: nothing has started it before */
	vgpu_stop();
}

static void files_are_used(void)
{
	const struct drv_config *c = drv_config();

	CHECK(!c->privileged);
	CHECK_STR(c->tools, getenv("HSA_TOOLS_LIB"));
	CHECK_STR(c->path, "/nowhere");
	CHECK(c->hip_include && c->clang_folder);
	CHECK(c->log_fd != STDERR_FILENO);
	CHECK_EQ(hsa_tools_load(), 0);
	CHECK(is_loaded(getenv("HSA_TOOLS_LIB")));
	hsa_tools_unload();
	CHECK_EQ(vgpu_start("gfx908"), -EBUSY);
}

/* LeakSanitizer cannot examine a process that the kernel protects from its user: no destructor runs. */
static void run_copy(const char *kind)
{
	bool plain = !strcmp(kind, "plain");
	int status;

	if (!plain && !getauxval(AT_SECURE))
		_exit(SKIPPED);
	if (plain) {
		files_are_used();
	} else {
		files_are_ignored();
		the_virtual_gpu_is_not_started();
	}
	status = check_done(kind);
	fflush(NULL);
	_exit(status);
}

/* --- copies ----------------------------------------------------------------------------------- */

static void file_copy(const char *from, const char *to, unsigned mode)
{
	static char part[1 << 16];
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ssize_t n;

	CHECK(in >= 0 && out >= 0);
	while ((n = read(in, part, sizeof(part))) > 0)
		CHECK_EQ(write(out, part, (size_t)n), n);
	CHECK_EQ(fchmod(out, mode), 0);
	close(in);
	close(out);
}

static void set_environment(void)
{
	char log[64], trace[64], log_of_gpu[64];

	snprintf(log, sizeof(log), "%s/public/log", folder);
	snprintf(trace, sizeof(trace), "%s/public/trace", folder);
	snprintf(log_of_gpu, sizeof(log_of_gpu), "%s/public/vgpu", folder);
	setenv("HSA_TOOLS_LIB", tool, 1);
	setenv("TUFF_LOG", "all", 1);
	setenv("TUFF_LOG_FILE", log, 1);
	setenv("TUFF_HIP_INCLUDE", "/nowhere", 1);
	setenv("HIP_CLANG_PATH", "/nowhere", 1);
	setenv("PATH", "/nowhere", 1);
	setenv("TUFF_SPIN_US", "7", 1);
	setenv("TUFF_VGPU", "gfx908", 1);
	setenv("TUFF_VGPU_RUN", "/nowhere", 1);
	setenv("TUFF_VGPU_LOG", log_of_gpu, 1);
	setenv("TUFF_VGPU_TRACE", trace, 1);
	unsetenv("XDG_RUNTIME_DIR");
}

/* Runs the copy as another user; gives its exit status. */
static int run_as_nobody(const char *kind)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		set_environment();
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
			_exit(1);
		execl(program, program, kind, (char *)NULL);
		_exit(1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool public_is_empty(void)
{
	char public[64];

	snprintf(public, sizeof(public), "%s/public", folder);
	return !rmdir(public) && !mkdir(public, 0777) && !chmod(public, 0777);
}

static void it_ignores_files(const char *kind)
{
	int status = run_as_nobody(kind);

	if (status == SKIPPED)
		printf("%s: this kernel or file system gives no rights\n", kind);
	else
		CHECK_EQ(status, 0);
	CHECK(public_is_empty());
}

static void a_capability_counts(void)
{
	struct vfs_cap_data capability = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE};

	capability.data[0].permitted = 1u << CAP_NET_RAW;
	CHECK_EQ(chmod(program, 0755), 0);
	if (setxattr(program, "security.capability", &capability, sizeof(capability), 0))
		printf("a capability: %s\n", strerror(errno));
	else
		it_ignores_files("a capability");
	(void)!removexattr(program, "security.capability");
}

static void remove_files(void)
{
	static const char *const names[] = {"log", "trace", "vgpu"};
	char path[96];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/public/%s", folder, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/public", folder);
	rmdir(path);
	unlink(program);
	unlink(tool);
	CHECK_EQ(rmdir(folder), 0);
}

static void make_files(void)
{
	const char *build = getenv("O");
	char path[400], public[64];

	CHECK(mkdtemp(folder) && !chmod(folder, 0755));
	snprintf(public, sizeof(public), "%s/public", folder);
	CHECK(!mkdir(public, 0777) && !chmod(public, 0777));
	snprintf(program, sizeof(program), "%s/program", folder);
	snprintf(tool, sizeof(tool), "%s/tool.so", folder);
	snprintf(path, sizeof(path), "%.300s/lib/tests/tool_count.so", build ? build : "build/release");
	file_copy("/proc/self/exe", program, 0755);
	file_copy(path, tool, 0755);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		run_copy(argv[1]);
	if (geteuid()) {
		printf("needs root, to make programs that have more rights than their callers\n");
		return SKIPPED;
	}
	make_files();
	CHECK_EQ(chmod(program, 04755), 0);
	it_ignores_files("set-user-ID");
	CHECK_EQ(chmod(program, 02755), 0);
	it_ignores_files("set-group-ID");
	a_capability_counts();
	CHECK_EQ(run_as_nobody("plain"), 0);
	remove_files();
	return check_done("programs with more rights than their callers");
}
