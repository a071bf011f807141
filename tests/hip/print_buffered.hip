/* Text that kernels leave in a buffer (-mprintf-kind=buffered): formats by their hash, and as text; it comes out in
 * the stream's order, when the kernel has ended. */
#include <unistd.h>

#include <string>

#include "tests/clients/hip/hip.h"

__global__ void say(const char *word, int value)
{
	int i = static_cast<int>(threadIdx.x);
	int failed = printf("%d: a:b %s %d%% \\n %5.2f %c %s|%llx\n", i, word, value, i / 4.0, 'a' + i, "end",
			    0x123456789abull);

	if (failed)
		printf("does not come\n");
}

__global__ void say_given(const char *format, int value)
{
	printf(format, value, 2.5);
}

__global__ void fill(unsigned lines)
{
	for (unsigned i = 0; i < lines; i++)
		if (printf("%u %u %u %u\n", blockIdx.x, threadIdx.x, i, 0xffffffffu))
			return;
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

static std::string line(int i, const char *word, int value)
{
	char text[160];

	snprintf(text, sizeof(text), "%d: a:b %s %d%% \\n %5.2f %c %s|%llx\n", i, word, value, i / 4.0, 'a' + i,
		 "end", 0x123456789abull);
	return text;
}

static void arguments()
{
	gpu_array<char> word(std::vector<char>{'s', 'o', 'm', 'e', ' ', 'w', 'o', 'r', 'd', 's', 0});
	gpu_array<char> format(std::vector<char>{'<', '%', 'x', '|', '%', 'g', '>', '\n', 0});
	std::string text = printed([&] {
		say<<<1, 5>>>(word.at, -7);
		say_given<<<1, 1>>>(format.at, 255);
		HIP_LAUNCHED();
		HIP(hipDeviceSynchronize());
	});
	size_t all = 0;

	for (int i = 0; i < 5; i++) {
		CHECK(text.find(line(i, "some words", -7)) != std::string::npos);
		all += line(i, "some words", -7).size();
	}
	CHECK(text.size() == all + 9 && text.substr(all) == "<ff|2.5>\n");
}

/* Launches of a stream one after the other, and a graph's. */
static void in_order()
{
	gpu_array<char> word(std::vector<char>{'x', 0});
	hipStream_t stream;
	hipGraph_t graph;
	hipGraphExec_t exec;
	std::string text, expected;

	HIP(hipStreamCreate(&stream));
	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	say<<<1, 1, 0, stream>>>(word.at, 100);
	say<<<1, 1, 0, stream>>>(word.at, 101);
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	text = printed([&] {
		for (int i = 0; i < 20; i++)
			say<<<1, 1, 0, stream>>>(word.at, i);
		for (int i = 0; i < 2; i++)
			HIP(hipGraphLaunch(exec, stream));
		HIP_LAUNCHED();
		HIP(hipStreamSynchronize(stream));
	});
	for (int i = 0; i < 20; i++)
		expected += line(0, "x", i);
	for (int i = 0; i < 4; i++)
		expected += line(0, "x", 100 + i % 2);
	CHECK(text == expected);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipStreamDestroy(stream));
}

/* Streams side by side do not mix: each has a buffer. */
static void streams()
{
	hipStream_t stream[3];
	std::string text;
	size_t lines = 0;

	for (hipStream_t &s : stream)
		HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	text = printed([&] {
		for (int i = 0; i < 4; i++)
			for (hipStream_t s : stream)
				fill<<<4, 64, 0, s>>>(2);
		HIP_LAUNCHED();
		HIP(hipDeviceSynchronize());
	});
	for (size_t at = 0; (at = text.find(" 4294967295\n", at)) != std::string::npos; at++)
		lines++;
	CHECK_EQ(lines, 4 * 3 * 4 * 64 * 2);
	for (hipStream_t s : stream)
		HIP(hipStreamDestroy(s));
}

/* A buffer that is full ends the text, and the next launch has a new beginning. */
static void full()
{
	const size_t message_B = 4 + 8 + 4 * 8;
	size_t size_B = 0, lines = 0;
	std::string text;

	HIP(hipDeviceGetLimit(&size_B, hipLimitPrintfFifoSize));
	text = printed([&] {
		fill<<<256, 64>>>(size_B / message_B / (256 * 64) + 2);
		HIP_LAUNCHED();
		HIP(hipDeviceSynchronize());
	});
	for (char c : text)
		lines += c == '\n';
	CHECK_EQ(lines, (size_B - 8) / message_B);
	text = printed([&] {
		fill<<<1, 1>>>(1);
		HIP_LAUNCHED();
		HIP(hipDeviceSynchronize());
	});
	CHECK_STR(text.c_str(), "0 0 0 4294967295\n");
}

int main()
{
	arguments();
	in_order();
	streams();
	full();
	return check_done("text in buffers");
}
