/* printf in a kernel: each lane's line, once, with its arguments. CLR carries them to a thread of the process while
 * the kernel waits (its "hostcall"), so CPU and GPU must see one another's writes in the middle of a kernel.
 *
 * Compiled by Debian's hipcc: clang 19 leaves OpenCL's hidden arguments in such a kernel, for which CLR 5.2 starts
 * a scheduler that HIP has not (docs/support.md). */
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define LANES 70u

__global__ void say(unsigned base)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	printf("lane %u of %s: %.3f %lld\n", base + i, i % 2 ? "odd" : "even", i * 0.125, -(long long)i << 33);
}

/* What the kernels print, through a file in the place of stdout. */
static std::vector<char> printed()
{
	FILE *file = tmpfile();
	int real;

	fflush(stdout);
	real = dup(1);
	dup2(fileno(file), 1);
	say<<<2, LANES / 2>>>(0);
	say<<<1, LANES>>>(LANES);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	fflush(stdout);
	dup2(real, 1);
	close(real);
	std::vector<char> text((size_t)lseek(fileno(file), 0, SEEK_END) + 1);
	CHECK_EQ(pread(fileno(file), text.data(), text.size() - 1, 0), text.size() - 1);
	fclose(file);
	return text;
}

int main()
{
	std::vector<char> text = printed();
	unsigned lines = 0, missing = 0;

	for (unsigned n = 0; n < 2 * LANES; n++) {
		unsigned i = n % LANES;
		char line[80];

		snprintf(line, sizeof(line), "lane %u of %s: %.3f %lld\n", n, i % 2 ? "odd" : "even", i * 0.125,
			 -(long long)i << 33);
		missing += !strstr(text.data(), line);
	}
	for (char c : text)
		lines += c == '\n';
	CHECK_EQ(missing, 0);
	CHECK_EQ(lines, 2 * LANES);
	return check_done("printf in kernels");
}
