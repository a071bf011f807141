/* Libraries with kernels of their own, which come and go: loaded again, they begin anew. */
#include <dlfcn.h>
#include <malloc.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "hip/api/registration.h"
#include "tests/clients/hip/hip.h"

struct plugin {
	void *library;
	hipError_t (*run)(unsigned *, long long, hipStream_t);
	hipError_t (*function)(hipFunction_t *);
	unsigned *(*total)();
	hipError_t (*step)(unsigned);

	explicit plugin(const std::string &path)
	{
		library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
		if (!CHECK(library)) {
			printf("  %s\n", dlerror());
			exit(1);
		}
		run = (decltype(run))dlsym(library, "plugin_run");
		function = (decltype(function))dlsym(library, "plugin_function");
		total = (decltype(total))dlsym(library, "plugin_total");
		step = (decltype(step))dlsym(library, "plugin_step");
	}
	~plugin()
	{
		CHECK_EQ(dlclose(library), 0);
	}
};

static std::string path;

static void begins_anew()
{
	gpu_array<unsigned> out(std::vector<unsigned>(4, 0));

	for (unsigned round = 0; round < 4; round++) {
		plugin p(path);

		CHECK_EQ(*p.total(), 1000);
		for (unsigned i = 0; i < 3; i++)
			HIP(p.run(out.at + i, 0, nullptr));
		HIP(p.step(20));
		HIP(p.run(out.at + 3, 0, nullptr));
		HIP(hipDeviceSynchronize());
		std::vector<unsigned> got = out.read();
		CHECK(got[0] == 107 && got[1] == 114 && got[2] == 121 && got[3] == 141);
		CHECK_EQ(*p.total(), 1041);
	}
}

/* So do the handles of its kernels: an old one is none any more. */
static void handles()
{
	gpu_array<unsigned> out(std::vector<unsigned>(1, 0));
	hipFunction_t function, old = nullptr;
	long long clocks = 0;
	void *args[] = {&out.at, &clocks};

	for (unsigned round = 0; round < 4; round++) {
		plugin p(path);

		HIP(p.function(&function));
		if (round)
			CHECK_EQ(hipModuleLaunchKernel(old, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr),
				 hipErrorInvalidHandle);
		HIP(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
		CHECK_EQ(out.read()[0], 107);
		old = function;
	}
}

/* Work that runs ends before its code goes. */
static void unloaded_under_work()
{
	gpu_array<unsigned> out(std::vector<unsigned>(64, 0));
	hipStream_t stream;

	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	for (unsigned round = 0; round < 4; round++) {
		plugin p(path);

		for (unsigned i = 0; i < 64; i++)
			HIP(p.run(out.at + i, 2000, stream));
	}
	std::vector<unsigned> got = out.read();
	for (unsigned i = 0; i < 64; i++)
		CHECK_EQ(got[i], 100 + 7 * (i + 1));
	HIP(hipStreamDestroy(stream));
}

/* Each thread has a copy of the library, and loads and unloads it while the others' work. */
static void thread(std::string copy)
{
	gpu_array<unsigned> out(std::vector<unsigned>(8, 0));
	hipStream_t stream;

	HIP(hipStreamCreate(&stream));
	for (unsigned round = 0; round < 8; round++) {
		plugin p(copy);

		for (unsigned i = 0; i < 8; i++)
			HIP(p.run(out.at + i, 0, stream));
		HIP(hipStreamSynchronize(stream));
		CHECK_EQ(*p.total(), 1000 + 8 * 7);
		std::vector<unsigned> got = out.read();
		for (unsigned i = 0; i < 8; i++)
			CHECK_EQ(got[i], 100 + 7 * (i + 1));
	}
	HIP(hipStreamDestroy(stream));
}

static void threads()
{
	std::vector<std::thread> all;
	std::vector<std::string> copies;
	char folder[] = "/tmp/tuff-plugin-XXXXXX";

	if (!CHECK(mkdtemp(folder)))
		return;
	for (unsigned i = 0; i < 4; i++) {
		copies.push_back(std::string(folder) + "/" + std::to_string(i) + ".so");
		CHECK_EQ(system(("cp " + path + " " + copies[i]).c_str()), 0);
		all.emplace_back(thread, copies[i]);
	}
	for (std::thread &t : all)
		t.join();
	for (const std::string &copy : copies)
		unlink(copy.c_str());
	rmdir(folder);
}

/* Two binaries that share a managed variable, again and again: they leave no memory behind. */
static void pairs()
{
	static const hip_fat_binary_wrapper wrapper = {HIP_FAT_BINARY_MAGIC, 1, "", nullptr};
	static void *variable;
	static int init = 5;
	size_t used = 0;

	for (unsigned i = 0; i < 2000; i++) {
		void **binary[2];

		if (i == 100)
			used = mallinfo2().uordblks;
		for (void **&b : binary) {
			b = __hipRegisterFatBinary(&wrapper);
			__hipRegisterManagedVar(b, &variable, &init, "variable", sizeof(init), sizeof(init));
			CHECK_EQ(*(int *)variable, 5);
		}
		for (void **b : binary)
			__hipUnregisterFatBinary(b);
	}
	CHECK(mallinfo2().uordblks < used + 65536);
}

int main(int argc, char **argv)
{
	(void)argc;
	path = std::string(argv[0]) + ".so";
	begins_anew();
	handles();
	unloaded_under_work();
	threads();
	pairs();
	return check_done("libraries that come and go");
}
