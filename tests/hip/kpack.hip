/* Code in archives: a program whose fat binaries were moved there, as those of AMD's packages, and what it gets where archives are
 * missing, damaged or for other GPUs.
 *
 *   kpack [MODE DIRECTORY]    MODE: what the environment has; the test starts itself so */
#include "tests/hip/statuses.h"

#include <sys/wait.h>
#include <unistd.h>
#include <string>
#include <vector>

#include <hip/hiprtc.h>

#include "hip/api/registration.h"
#include "tests/kpack.h"

static std::string folder;
static std::vector<char> one, two; /* code that stores 1, or 2 */
static int *number;		   /* in memory of the host */

static std::vector<char> compile(const char *value)
{
	std::string source = std::string("extern \"C\" __device__ int told = ") + value +
			     ";\nextern \"C\" __global__ void k(int *p) { *p = told; }\n";
	std::vector<char> code;
	hiprtcProgram program;
	size_t size = 0;

	CHECK_EQ(hiprtcCreateProgram(&program, source.c_str(), "kpack", 0, nullptr, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcGetCodeSize(program, &size), HIPRTC_SUCCESS);
	code.resize(size);
	CHECK_EQ(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
	return code;
}

/* --- archives and programs ------------------------------------------------------------------------ */

static std::vector<uint8_t> archive(std::vector<kpack_item> items, bool zstd)
{
	std::vector<uint8_t> bytes(1 << 20);

	bytes.resize(kpack_archive(bytes.data(), bytes.size(), items.data(), (unsigned)items.size(), zstd));
	return bytes;
}

static kpack_item item(const char *key, const char *target, const std::vector<char> &code)
{
	return {key, target, code.data(), code.size(), 0, 0};
}

static void save(const char *name, const std::vector<uint8_t> &bytes)
{
	FILE *file = fopen((folder + "/" + name).c_str(), "wb");

	if (CHECK(file)) {
		CHECK(fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
		fclose(file);
	}
}

/* A library, which linker and packager have made. */
struct library {
	hip_fat_binary_wrapper wrapper;
	std::vector<uint8_t> reference;
	void **binary;
	char host; /* its address names the kernel */

	library(const char *name, std::vector<std::string> paths, size_t index)
	{
		static char kernel[] = "k";
		std::vector<const char *> list;
		kpack_writer w;

		for (const std::string &path : paths)
			list.push_back(path.c_str());
		reference.resize(8192);
		w = {reference.data(), reference.size(), 0};
		kpack_reference_put(&w, name, list.data(), (unsigned)list.size());
		wrapper = {HIP_KPACK_MAGIC, 1, reference.data(), (void *)index};
		binary = __hipRegisterFatBinary(&wrapper);
		__hipRegisterFunction(binary, &host, kernel, kernel, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
	}
	~library()
	{
		__hipUnregisterFatBinary(binary);
	}
	hipError_t run()
	{
		void *args[] = {&number};
		hipError_t r;

		*number = 0;
		r = hipLaunchKernel(&host, dim3(1), dim3(1), args, 0, nullptr);
		return r ? r : hipDeviceSynchronize();
	}
};

static std::string inside(const char *name)
{
	return folder + "/" + name;
}

/* A path to the folder from the program's own. */
static std::string relative(const char *name)
{
	char exe[4096];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe));
	std::string path;

	for (ssize_t i = 1; i < length; i++)
		if (exe[i] == '/')
			path += "../";
	return path + inside(name).substr(1);
}

/* --- what is found --------------------------------------------------------------------------------- */

static void begin()
{
	char path[] = "/tmp/kpack.XXXXXX";

	one = compile("1");
	two = compile("2");
	OK(hipHostMalloc((void **)&number, 4, 0));
	if (CHECK(mkdtemp(path)))
		folder = path;
	save("frames.kpack", archive({item("lib/x.so#0", "gfx908", two), item("lib/x.so#0", "gfx90a", one),
				      item("lib/x.so#1", "gfx90a", two)},
				     true));
	save("stored.kpack", archive({item("lib/x.so#0", "gfx90a", one), item("lib/x.so#1", "gfx90a", two)}, false));
	save("own_gfx90a.kpack", archive({item("lib/x.so#0", "gfx90a", two)}, true));
	save("plain.kpack", archive({item("lib/x.so", "gfx90a", two)}, true));
	save("best.kpack", archive({item("lib/x.so#0", "gfx90a:xnack-", two)}, true));
	save("other.kpack", archive({item("lib/x.so#0", "gfx1100", one)}, true));
	std::vector<uint8_t> bytes = archive({item("lib/x.so#0", "gfx90a", one)}, true);
	bytes[200] ^= 255; /* within the frame */
	save("damaged.kpack", bytes);
	save("junk.kpack", std::vector<uint8_t>(100, 'x'));
	save("junk_code.kpack", archive({item("lib/x.so#0", "gfx90a", std::vector<char>(100, 'x'))}, true));
}

static void found()
{
	for (const char *name : {"frames.kpack", "stored.kpack"})
		for (size_t index = 0; index < 2; index++) {
			library x("lib/x.so", {inside(name)}, index);

			OK(x.run());
			CHECK_EQ(*number, (int)index + 1);
			OK(x.run());
		}
	{
		/* A target in the path; archives that are not there; and one that is named from the program's own folder, which
		 * is known for memory of the program only. */
		static uint8_t reference[8192];
		library x("lib/x.so", {"/nowhere/a.kpack", inside("own_@GFXARCH@.kpack")}, 0);
		OK(x.run());
		CHECK_EQ(*number, 2);

		library y("lib/x.so", {relative("frames.kpack")}, 0);
		memcpy(reference, y.reference.data(), sizeof(reference));
		y.wrapper.bundle = reference;
		OK(y.run());
		CHECK_EQ(*number, 1);
	}
	library plain("lib/x.so", {inside("plain.kpack")}, 0);
	OK(plain.run());
	CHECK_EQ(*number, 2);
	/* The better target is in the later archive. Archives without the code, and damaged ones, do not matter. */
	library best("lib/x.so", {inside("junk.kpack"), inside("damaged.kpack"), inside("other.kpack"), inside("frames.kpack"),
				  inside("best.kpack")},
		     0);
	OK(best.run());
	CHECK_EQ(*number, 2);
}

/* Functions that load a module take such a wrapper as well. */
static void modules()
{
	library x("lib/x.so", {inside("frames.kpack")}, 1);
	hipFunction_t function;
	hipLibrary_t loaded;
	hipKernel_t kernel;
	hipModule_t module;
	int *told;

	OK(hipModuleLoadFatBinary(&module, &x.wrapper));
	OK(hipModuleGetFunction(&function, module, "k"));
	OK(hipModuleGetGlobal((hipDeviceptr_t *)&told, nullptr, module, "told"));
	OK(hipMemcpy(number, told, 4, hipMemcpyDeviceToHost));
	CHECK_EQ(*number, 2);
	OK(hipModuleUnload(module));
	OK(hipModuleLoadData(&module, &x.wrapper));
	OK(hipModuleUnload(module));
	OK(hipLibraryLoadData(&loaded, &x.wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0));
	OK(hipLibraryGetKernel(&kernel, loaded, "k"));
	OK(hipLibraryUnload(loaded));
	x.wrapper.bundle = number;
	*number = -1; /* no map */
	IS(hipErrorInvalidImage, hipModuleLoadFatBinary(&module, &x.wrapper));
	hipGetLastError();
}

/* A wrapper without a fat binary. */
static void empty()
{
	static const hip_fat_binary_wrapper wrapper = {HIP_FAT_BINARY_MAGIC, 1, nullptr, nullptr};
	static char host, kernel[] = "k";
	void **binary = __hipRegisterFatBinary(&wrapper);

	__hipRegisterFunction(binary, &host, kernel, kernel, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
	IS(hipErrorInvalidImage, hipLaunchKernel(&host, dim3(1), dim3(1), nullptr, 0, nullptr));
	hipGetLastError();
	__hipUnregisterFatBinary(binary);
}

static void not_found()
{
	library none("lib/x.so", {"/nowhere/a.kpack", inside("none_@GFXARCH@.kpack")}, 0);
	library other("lib/x.so", {inside("other.kpack")}, 0), name("lib/y.so", {inside("frames.kpack")}, 0);
	library index("lib/x.so", {inside("frames.kpack")}, 2), damaged("lib/x.so", {inside("damaged.kpack")}, 0);
	library junk("lib/x.so", {inside("junk.kpack")}, 0), code("lib/x.so", {inside("junk_code.kpack")}, 0);
	library nowhere("lib/x.so", {}, 0);

	IS(hipErrorFileNotFound, none.run());
	IS(hipErrorNoBinaryForGpu, other.run());
	IS(hipErrorNoBinaryForGpu, name.run());
	IS(hipErrorNoBinaryForGpu, index.run());
	IS(hipErrorInvalidImage, damaged.run());
	IS(hipErrorInvalidImage, junk.run());
	IS(hipErrorInvalidImage, code.run());
	IS(hipErrorInvalidImage, nowhere.run());
	memset(nowhere.reference.data(), 0xff, nowhere.reference.size());
	IS(hipErrorInvalidImage, nowhere.run());
	nowhere.wrapper.bundle = nullptr;
	IS(hipErrorInvalidImage, nowhere.run());
	hipGetLastError();
}

/* --- variables ------------------------------------------------------------------------------------- */

static void child(const char *mode)
{
	char exe[4096];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	int status = -1;
	pid_t pid;

	exe[length > 0 ? length : 0] = '\0';
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!strcmp(mode, "path"))
			setenv("ROCM_KPACK_PATH", ("/nowhere.kpack::" + inside("stored.kpack")).c_str(), 1);
		else if (!strcmp(mode, "prefix"))
			setenv("ROCM_KPACK_PATH_PREFIX", inside("own_gfx90a.kpack").c_str(), 1);
		else
			setenv("ROCM_KPACK_DISABLE", "1", 1);
		execl(exe, exe, mode, folder.c_str(), nullptr);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static int in_mode(const char *mode)
{
	library x("lib/x.so", {inside("frames.kpack")}, 0), y("lib/x.so", {"/nowhere"}, 1);

	OK(hipHostMalloc((void **)&number, 4, 0));
	if (!strcmp(mode, "disable")) {
		IS(hipErrorNotSupported, x.run());
	} else if (!strcmp(mode, "path")) {
		OK(y.run());
		CHECK_EQ(*number, 2);
	} else { /* the one before is preferred, and the others are searched still */
		OK(x.run());
		CHECK_EQ(*number, 2);
		IS(hipErrorNoBinaryForGpu, y.run());
	}
	return check_done(mode);
}

static void variables()
{
	child("path");
	child("prefix");
	child("disable");
}

static void end()
{
	for (const char *name : {"frames.kpack", "stored.kpack", "own_gfx90a.kpack", "plain.kpack", "best.kpack", "other.kpack",
				 "damaged.kpack", "junk.kpack", "junk_code.kpack"})
		unlink(inside(name).c_str());
	CHECK(!rmdir(folder.c_str()));
}

int main(int argc, char **argv)
{
	void (*const parts[])() = {begin, found, modules, empty, not_found, variables, end};

	if (argc == 3) {
		folder = argv[2];
		return in_mode(argv[1]);
	}
	return statuses_done("code in archives", argc, argv, parts, sizeof(parts) / sizeof(parts[0]));
}
