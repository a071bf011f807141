/* The compilers of hiprtc: what a program gets from each that is there, and the log's reasons where there is none.
 *
 *   rtc [MODE]    MODE: what the environment has; the test starts itself so */
#include "tests/clients/hip/hip.h"

#include <dlfcn.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <hip/hiprtc.h>

static const char *const source =
	"#include \"folder/twice.h\"\n"
	"#include <hip/hip_runtime.h>\n"
	"#include <stdint.h>\n"
	"template <typename T> __global__ void work(T *p)\n"
	"{\n"
	"	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	switch (i) {\n"
	"	case 0: p[i] = sinf(p[i]); break;\n"
	"	case 1: p[i] = pow(p[i], 3); break;\n"
	"	case 2: p[i] = max(3, (int)p[i]) + min(2.5f, 4.0f); break;\n"
	"	case 3: p[i] = __half2float(hsqrt(__float2half(p[i]))); break;\n"
	"	case 4: { int e; float s, c; sincosf(p[i], &s, &c); p[i] = frexpf(s + c, &e); } break;\n"
	"	case 5: p[i] = twice((float)sqrt((double)p[i])); break;\n"
	"	case 6: p[i] = rint(p[i]) + abs(-2) + fabs(-0.5f) + sqrt(4); break;\n"
	"	case 7: p[i] = gridDim.x * blockDim.x + atan2(0.0f, p[i]) + exp2f(3); break;\n"
	"	default: p[i] = INT_MAX == 2147483647 && sizeof(size_t) == 8 ? (float)(uint8_t)257 : 0;\n"
	"	}\n"
	"}\n";
static const char *const header = "__device__ inline float twice(float x) { return 2 * x; }\n";

static std::string log_of(hiprtcProgram program)
{
	size_t size = 0;
	std::string log;

	/* The text alone is written, without a terminating 0. */
	CHECK_EQ(hiprtcGetProgramLogSize(program, &size), HIPRTC_SUCCESS);
	log.resize(size + 1, '#');
	CHECK_EQ(hiprtcGetProgramLog(program, &log[0]), HIPRTC_SUCCESS);
	CHECK(log[size] == '#' && log.find('\0') == std::string::npos);
	log.resize(size);
	return log;
}

/* --- programs -------------------------------------------------------------------------------------- */

static void run(const std::vector<char> &code, const char *name)
{
	float in[9] = {0.5f, 2, 7, 9, 0.25f, 16, 2.5f, 1, 0}, out[9], *at;
	const float want[9] = {sinf(0.5f), 8, 9.5f, 3, 0, 8, 6.5f, 17, 1};
	hipFunction_t function;
	hipModule_t module;
	void *args[] = {&at};

	HIP(hipMalloc((void **)&at, sizeof(in)));
	HIP(hipMemcpy(at, in, sizeof(in), hipMemcpyHostToDevice));
	HIP(hipModuleLoadData(&module, code.data()));
	HIP(hipModuleGetFunction(&function, module, name));
	HIP(hipModuleLaunchKernel(function, 1, 1, 1, 9, 1, 1, 0, nullptr, args, nullptr));
	HIP(hipMemcpy(out, at, sizeof(out), hipMemcpyDeviceToHost));
	for (int i = 0; i < 9; i++)
		if (i == 4) /* sine and cosine of a quarter, in [0.5, 1) */
			CHECK(fabsf(out[i] - (sinf(0.25f) + cosf(0.25f)) / 2) < 1e-5f);
		else if (i != 7 && !CHECK(fabsf(out[i] - want[i]) < 1e-5f))
			printf("  %d: got %g, want %g\n", i, out[i], want[i]);
	CHECK_EQ((int)out[7], 9 + 8);
	HIP(hipModuleUnload(module));
	HIP(hipFree(at));
}

/* bitcode: it is linked, else code. */
static void a_program(std::vector<const char *> options, bool bitcode)
{
	const char *name = "folder/twice.h", *lowered = nullptr;
	std::vector<char> code;
	hiprtcProgram program;
	hiprtcLinkState state;
	size_t size = 0;
	void *linked;

	CHECK_EQ(hiprtcCreateProgram(&program, source, "rtc", 1, (const char **)&header, &name), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcAddNameExpression(program, "work<float>"), HIPRTC_SUCCESS);
	if (!CHECK_EQ(hiprtcCompileProgram(program, (int)options.size(), options.data()), HIPRTC_SUCCESS))
		printf("%s\n", log_of(program).c_str());
	CHECK_EQ(hiprtcGetLoweredName(program, "work<float>", &lowered), HIPRTC_SUCCESS);
	CHECK_EQ(bitcode ? hiprtcGetBitcodeSize(program, &size) : hiprtcGetCodeSize(program, &size), HIPRTC_SUCCESS);
	code.resize(size);
	CHECK_EQ(bitcode ? hiprtcGetBitcode(program, code.data()) : hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
	if (bitcode) {
		CHECK_EQ(hiprtcLinkCreate(0, nullptr, nullptr, &state), HIPRTC_SUCCESS);
		CHECK_EQ(hiprtcLinkAddData(state, HIPRTC_JIT_INPUT_LLVM_BITCODE, code.data(), size, "rtc", 0, nullptr, nullptr),
			 HIPRTC_SUCCESS);
		CHECK_EQ(hiprtcLinkComplete(state, &linked, &size), HIPRTC_SUCCESS);
		code.assign((char *)linked, (char *)linked + size);
		CHECK_EQ(hiprtcLinkDestroy(state), HIPRTC_SUCCESS);
	}
	if (lowered && size)
		run(code, lowered);
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
}

/* The program cannot be compiled, and the log says why. */
static void fails(const char *text, std::vector<const char *> options, std::vector<const char *> reasons)
{
	hiprtcProgram program;
	std::string log;

	CHECK_EQ(hiprtcCreateProgram(&program, text, "rtc", 0, nullptr, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcCompileProgram(program, (int)options.size(), options.data()), HIPRTC_ERROR_COMPILATION);
	log = log_of(program);
	for (const char *reason : reasons)
		if (!CHECK(log.find(reason) != std::string::npos))
			printf("  no \"%s\" in: %s\n", reason, log.c_str());
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
}

#define SINE "extern \"C\" __global__ void k(float *p) { *p = sinf(*p); }\n"

/* --- modes ----------------------------------------------------------------------------------------- */

static void compiler()
{
	const std::string others = std::string("-I") + getenv("ROCM_PATH") + "/include";

	a_program({}, false);
	a_program({"-fgpu-rdc"}, true);
	a_program({others.c_str(), "-Wall", "-Wextra", "-Werror"}, false);
	a_program(std::vector<const char *>(1000, "-DMANY=1"), false);
	fails("extern \"C\" __global__ void k(int *p) { *p = unknown_here; }", {}, {"unknown_here"});
	fails("#include \"absent.h\"\n", {}, {"absent.h"});
}

static void no_libraries()
{
	fails(SINE, {}, {"__ocml_sin_f32", "hiprtc: no device libraries"});
}

static void no_compiler()
{
	fails(SINE, {}, {"hiprtc: no clang that compiles for AMD's GPUs was found"});
}

/* The program ignores the end of its children, so that it can wait for none; its compiler waits for children of its own. */
static void children_ignored()
{
	signal(SIGCHLD, SIG_IGN);
	a_program({}, false);
	fails("extern \"C\" __global__ void k() { nonsense(); }\n", {}, {"nonsense"});
}

/* Whether the system's device library knows gfx1200: Debian 12's does not. */
static bool library_knows_later_chip()
{
	static const char *const patterns[] = {"/usr/lib/*/amdgcn/bitcode/oclc_isa_version_1200.bc",
					       "/usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode/oclc_isa_version_1200.bc"};
	bool known = false;

	for (const char *pattern : patterns) {
		glob_t found = {};

		known |= !glob(pattern, 0, nullptr, &found);
		globfree(&found);
	}
	return known;
}

/* comgr 2.4 ends at gfx1036: clang compiles for the others. */
static void later_chip()
{
	const char *option = "--offload-arch=gfx1200";
	hiprtcProgram program;

	CHECK_EQ(hiprtcCreateProgram(&program, "extern \"C\" __global__ void k(int *p) { *p = 1; }", "rtc", 0, nullptr, nullptr),
		 HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcCompileProgram(program, 1, &option), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
	if (!library_knows_later_chip()) {
		fails(SINE, {"--offload-arch=gfx1200", "-DX"}, {"__ocml_sin_f32"});
		return;
	}
	CHECK_EQ(hiprtcCreateProgram(&program, SINE, "rtc", 0, nullptr, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcCompileProgram(program, 1, &option), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
}

/* --- a child of fork(), while the parent compiles --- */

#define CHILD_S 60 /* after which a child is taken for blocked */

static hiprtcProgram compiled;
static std::atomic<bool> compiling, ended;

static void compile_long()
{
	std::string text = "#include <hip/hip_runtime.h>\n";

	for (int i = 0; i < 200; i++)
		text += "extern \"C\" __global__ void k" + std::to_string(i) + "(float *p) { *p = sinf(*p) + pow(*p, 3); }\n";
	CHECK_EQ(hiprtcCreateProgram(&compiled, text.c_str(), "rtc", 0, nullptr, nullptr), HIPRTC_SUCCESS);
	compiling = true;
	CHECK_EQ(hiprtcCompileProgram(compiled, 0, nullptr), HIPRTC_SUCCESS);
	ended = true;
}

static void child_compile()
{
	hiprtcProgram program;
	size_t size;
	int status;

	alarm(CHILD_S);
	CHECK_EQ(hiprtcGetProgramLogSize(compiled, &size), HIPRTC_ERROR_INVALID_PROGRAM);
	CHECK_EQ(hiprtcCreateProgram(&program, SINE, "rtc", 0, nullptr, nullptr), HIPRTC_SUCCESS);
	if (!CHECK_EQ(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_SUCCESS))
		printf("%s\n", log_of(program).c_str());
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
	status = check_done("a child");
	fflush(stdout);
	_exit(status);
}

/* The child is made while the compiler works. */
static void forked()
{
	std::thread thread(compile_long);
	int status = -1;
	pid_t pid;

	while (!compiling)
		usleep(1000);
	usleep(100000);
	CHECK(!ended);
	pid = fork();
	if (!pid)
		child_compile();
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
	thread.join();
	CHECK_EQ(hiprtcDestroyProgram(&compiled), HIPRTC_SUCCESS);
}

static const struct mode {
	const char *name;
	void (*run)();
	const char *variable[4]; /* with their values */
	bool needs_comgr;
	const char *prints; /* on stderr */
} modes[] = {
	{"clang", compiler, {"TUFF_HIPRTC", "clang"}, false, nullptr},
	{"comgr", compiler, {"TUFF_HIPRTC", "comgr"}, true, nullptr},
	{"clang_forked", forked, {"TUFF_HIPRTC", "clang"}, false, nullptr},
	{"clang_children_ignored", children_ignored, {"TUFF_HIPRTC", "clang"}, false, nullptr},
	{"comgr_forked", forked, {}, true, nullptr},
	{"clang_no_libraries", no_libraries, {"TUFF_HIPRTC", "clang", "HIP_DEVICE_LIB_PATH", "/nowhere"}, false, nullptr},
	{"comgr_no_libraries", no_libraries, {"TUFF_HIPRTC", "comgr", "HIP_DEVICE_LIB_PATH", "/nowhere"}, true, nullptr},
	{"no_compiler", no_compiler, {"TUFF_HIPRTC", "clang", "PATH", "/nowhere"}, false, nullptr},
	{"later_chip", later_chip, {}, true, nullptr},
	{"later_comgr", later_chip, {"LD_LIBRARY_PATH", nullptr}, false, "which hiprtc does not know; clang is used"},
};

static std::string folder;

/* Another HIP's headers, and C's, where comgr looks for ROCm's: hiprtc's own go before them. A folder that has a compiler's name. */
static const char *const others[] = {"/include", "/include/hip", "/include/hip/hip_runtime.h", "/hip", "/hip/include",
				     "/hip/include/stdint.h", "/llvm", "/llvm/bin", "/llvm/bin/clang"};
#define OTHERS (sizeof(others) / sizeof(others[0]))

static void make_others()
{
	for (const char *name : others) {
		const std::string path = folder + name;
		FILE *file = strstr(name, ".h") ? fopen(path.c_str(), "w") : nullptr;

		CHECK(file ? fputs("#error a header of another HIP\n", file) > 0 && !fclose(file) : !mkdir(path.c_str(), 0700));
	}
	CHECK(!setenv("ROCM_PATH", folder.c_str(), 1));
}

static void remove_others()
{
	for (size_t i = OTHERS; i--;)
		CHECK(!remove((folder + others[i]).c_str()));
}

/* A library that says to be comgr 9. False: there is no C compiler. */
static bool make_later_comgr()
{
	static const char *const names[] = {"create_data", "release_data", "set_data", "set_data_name", "get_data", "create_data_set",
					    "destroy_data_set", "data_set_add", "action_data_count", "action_data_get_data",
					    "create_action_info", "destroy_action_info", "action_info_set_isa_name",
					    "action_info_set_language", "action_info_set_option_list", "action_info_set_logging",
					    "do_action"};
	std::string path = folder + "/libamd_comgr.so.3";
	FILE *cc = popen(("env -u LD_PRELOAD cc -shared -fPIC -x c -o " + path + " - 2>/dev/null").c_str(), "w");

	if (!cc)
		return false;
	fprintf(cc, "void amd_comgr_get_version(unsigned long *a, unsigned long *b) { *a = 9; *b = 1; }\n");
	for (const char *name : names)
		fprintf(cc, "int amd_comgr_%s(void) { return 1; }\n", name);
	return !pclose(cc);
}

static std::string output; /* of the last child, on stderr */

static int child(const struct mode *m)
{
	std::string path = folder + "/output", libraries;
	char exe[4096], part[4096];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	int status = -1;
	pid_t pid;

	exe[length > 0 ? length : 0] = '\0';
	fflush(stdout);
	pid = fork();
	if (!pid) {
		libraries = folder + ":" + (getenv("LD_LIBRARY_PATH") ? getenv("LD_LIBRARY_PATH") : "");
		for (int i = 0; i < 4 && m->variable[i]; i += 2)
			setenv(m->variable[i], m->variable[i + 1] ? m->variable[i + 1] : libraries.c_str(), 1);
		if (m->prints && !freopen(path.c_str(), "w", stderr))
			_exit(1);
		execl(exe, exe, m->name, nullptr);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	output.clear();
	if (FILE *file = m->prints ? fopen(path.c_str(), "r") : nullptr) {
		while (fgets(part, sizeof(part), file))
			output += part;
		fclose(file);
		unlink(path.c_str());
	}
	return status;
}

static bool there_is_comgr()
{
	return dlopen("libamd_comgr.so.2", RTLD_NOW) || dlopen("libamd_comgr.so.3", RTLD_NOW);
}

int main(int, char **argv)
{
	char path[] = "/tmp/rtc.XXXXXX";

	if (argv[1]) {
		for (const struct mode &m : modes)
			if (!strcmp(argv[1], m.name))
				m.run();
		return check_done(argv[1]);
	}
	if (CHECK(mkdtemp(path)))
		folder = path;
	make_others();
	for (const struct mode &m : modes) {
		if ((m.needs_comgr && !there_is_comgr()) || (m.prints && !make_later_comgr())) {
			printf("not tested, since its library is not there: %s\n", m.name);
			continue;
		}
		CHECK_EQ(child(&m), 0);
		if (m.prints) { /* once */
			CHECK(output.find(m.prints) != std::string::npos && output.find(m.prints) == output.rfind(m.prints));
			unlink((folder + "/libamd_comgr.so.3").c_str());
		}
	}
	remove_others();
	CHECK(!rmdir(folder.c_str()));
	return check_done("compilers of hiprtc");
}
