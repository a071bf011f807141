/* Text from kernels: printf with every kind of argument, from lanes that take different ways. */
#include <unistd.h>

#include <string>

#include "tests/clients/hip/hip.h"

#define LANES 6u

struct pair {
	int a, b;
};

__global__ void say(const char *word, pair p)
{
	unsigned i = threadIdx.x;
	int length = printf("%d %u %x %c %s %s|%5.2f|%-6d|%lld %% %p\n", -static_cast<int>(i), i, i + 250,
			    'a' + static_cast<int>(i), i % 2 ? "odd" : "even", word, i / 4.0, p.a, -(1ll << 40) * i,
			    nullptr);

	if (i % 3 == 1)
		printf("length is known: %d, %d\n", length > 0, p.b);
	if (!i)
		printf("no argument\n");
}

/* What run() prints, through a file in the place of stdout. */
template <typename F> static std::string printed(F run)
{
	FILE *file = tmpfile();
	int real;

	fflush(stdout);
	real = dup(1);
	dup2(fileno(file), 1);
	run();
	fflush(stdout);
	dup2(real, 1);
	close(real);
	std::string text(static_cast<size_t>(lseek(fileno(file), 0, SEEK_END)), 0);

	CHECK_EQ(pread(fileno(file), &text[0], text.size(), 0), text.size());
	fclose(file);
	return text;
}

int main()
{
	gpu_array<char> word(std::vector<char>{'w', 'o', 'r', 'd', 0});
	unsigned missing = 0, lines = 0;
	std::string text = printed([&] {
		say<<<1, LANES>>>(word.at, pair{17, 23});
		HIP_LAUNCHED();
		HIP(hipDeviceSynchronize());
	});

	for (unsigned i = 0; i < LANES; i++) {
		char line[160];

		snprintf(line, sizeof(line), "%d %u %x %c %s %s|%5.2f|%-6d|%lld %% ", -static_cast<int>(i), i,
			 i + 250, 'a' + static_cast<int>(i), i % 2 ? "odd" : "even", "word", i / 4.0, 17,
			 -(1ll << 40) * i);
		missing += text.find(line) == std::string::npos;
	}
	for (char c : text)
		lines += c == '\n';
	CHECK_EQ(missing, 0);
	CHECK_EQ(lines, LANES + 2 + 1);
	CHECK(text.find("length is known: 1, 23\n") != std::string::npos);
	CHECK(text.find("no argument\n") != std::string::npos);
	return check_done("text from kernels");
}
