/* Two processes that share a pool, by thousands of blocks: one has it, marks blocks and lends them; the other imports them,
 * looks, marks them anew, frees them and tells. In some rounds one is killed: the other goes on, and no memory stays.
 *
 *   TUFF_TEST_LONG=1   many rounds */
#include <errno.h>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hip/pool_pattern.h"
#include "tests/hip/pools.h"
#include "tests/hip/wire.h"
#include "tests/random.h"

#define STEPS    1000u
#define LENT_MAX 8u
#define BLOCKS   24u

struct letter {
	hipMemPoolPtrExportData data;
	size_t size;
	unsigned pattern, number;
};

struct answer {
	unsigned pattern, number;
};

struct block {
	void *ptr;
	size_t size;
	unsigned pattern;
	bool lent;
};

static hipError_t heard(hipError_t error)
{
	(void)hipGetLastError();
	return error;
}

static void put_mark(const block &b, hipStream_t s)
{
	mark<<<1, LANES, 0, s>>>((unsigned *)b.ptr, b.size / 4, b.pattern);
	HIP_LAUNCHED();
}

static void put_look(const block &b, unsigned *errors, hipStream_t s)
{
	look<<<1, LANES, 0, s>>>((unsigned *)b.ptr, b.size / 4, b.pattern, errors);
	HIP_LAUNCHED();
}

static unsigned *make_errors()
{
	unsigned *errors;

	HIP(hipMalloc((void **)&errors, 16));
	HIP(hipMemset(errors, 0, 16));
	return errors;
}

static void check_errors(unsigned *errors)
{
	unsigned got[4];

	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy(got, errors, sizeof(got), hipMemcpyDeviceToHost));
	if (!CHECK_EQ(got[0], 0))
		printf("  pattern 0x%x became 0x%x\n", got[1], got[2]);
	HIP(hipFree(errors));
}

/* --- who has the pool ------------------------------------------------------------------------- */

struct owner {
	int wire, progress; /* a byte for each block that came back */
	uint64_t random;
	pool p;
	std::vector<stream> streams;
	std::vector<block> blocks;
	unsigned *errors, next_pattern = LANES, lent = 0, answers = 0;
	bool alone = false; /* the other is gone */

	static hipMemPoolProps shared()
	{
		hipMemPoolProps props = pool_props();

		props.handleTypes = hipMemHandleTypePosixFileDescriptor;
		return props;
	}
	owner(int wire, int progress, uint64_t seed) : wire(wire), progress(progress), random(seed), p(true, shared()), streams(3), errors(make_errors())
	{
		p.keep(below(2) * 16 * MIB);
	}
	unsigned below(unsigned count)
	{
		return test_random(&random) % count;
	}
	hipStream_t any()
	{
		return streams[below(streams.size())];
	}
	void take()
	{
		size_t size = below(6) ? 512 * (1 + below(64)) - below(100) : (1 + below(5)) * MIB;
		hipStream_t s = any();
		block b = {p.take(size, s), size, next_pattern += LANES, false};

		put_mark(b, s);
		HIP(hipStreamSynchronize(s)); /* any stream, and the other process, may use it from now on */
		blocks.push_back(b);
	}
	void drop(unsigned i)
	{
		hipStream_t s = any();

		put_look(blocks[i], errors, s);
		give(blocks[i].ptr, s);
		blocks[i] = blocks.back();
		blocks.pop_back();
	}
	void lend(block &b)
	{
		letter l = {{}, b.size, b.pattern, (unsigned)((uintptr_t)b.ptr >> 9)};

		if (alone || b.lent || lent == LENT_MAX)
			return;
		HIP(hipMemPoolExportPointer(&l.data, b.ptr));
		b.lent = true;
		lent++;
		if (!wire_send(wire, &l, sizeof(l)))
			widow();
	}
	void hear(int flags)
	{
		answer a;
		int fd;

		errno = 0; /* the end of the other is none */
		if (!wire_receive(wire, &a, sizeof(a), &fd, flags)) {
			if (!flags || errno != EAGAIN)
				widow();
			return;
		}
		for (block &b : blocks)
			if (b.lent && (unsigned)((uintptr_t)b.ptr >> 9) == a.number) {
				b.pattern = a.pattern;
				b.lent = false;
				lent--;
				answers++;
				(void)!write(progress, "", 1);
				return;
			}
		CHECK(!"an answer is for a block that was lent");
	}
	/* What the other had may hold either pattern: it is marked anew. Its work has ended with it. */
	void widow()
	{
		alone = true;
		lent = 0;
		for (block &b : blocks)
			if (b.lent) {
				b.lent = false;
				b.pattern = next_pattern += LANES;
				put_mark(b, nullptr);
			}
		HIP(hipStreamSynchronize(nullptr));
	}
	int run()
	{
		int fd = -1;

		HIP(hipMemPoolExportToShareableHandle(&fd, p.at, hipMemHandleTypePosixFileDescriptor, 0));
		if (!wire_send(wire, "", 1, fd))
			alone = true;
		close(fd);
		for (unsigned i = 0; i < STEPS && !check_failed_; i++) {
			unsigned which = blocks.empty() ? 0 : below(blocks.size());

			if (blocks.size() < BLOCKS && (blocks.empty() || below(2)))
				take();
			else if (!blocks[which].lent && below(2))
				drop(which);
			else
				lend(blocks[which]);
			if (!alone)
				hear(MSG_DONTWAIT);
		}
		while (lent)
			hear(0);
		while (!blocks.empty())
			drop(blocks.size() - 1);
		printf("  %u lent%s\n", answers, alone ? ", until the other was gone" : "");
		check_errors(errors);
		CHECK_EQ(p.used(), 0);
		p.keep(0);
		HIP(hipDeviceSynchronize());
		CHECK_EQ(p.reserved(), 0);
		return check_failed_ != 0;
	}
};

/* --- who borrows ------------------------------------------------------------------------------ */

static int borrow(int wire, uint64_t seed)
{
	unsigned *errors = make_errors(), next_pattern = 1u << 30;
	hipMemPool_t pool;
	stream s;
	letter l;
	char byte;
	int fd;

	if (!wire_receive(wire, &byte, 1, &fd))
		return 0;
	HIP(hipMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)fd, hipMemHandleTypePosixFileDescriptor, 0));
	close(fd);
	while (!check_failed_ && wire_receive(wire, &l, sizeof(l), &fd)) {
		block b = {nullptr, l.size, l.pattern, false};
		answer a = {next_pattern += LANES, l.number};
		hipError_t r = heard(hipMemPoolImportPointer(&b.ptr, pool, &l.data));

		if (r == hipErrorOutOfMemory) { /* nobody has it any more; an owner that lives does not take this answer */
			a.number = ~0u;
			(void)wire_send(wire, &a, sizeof(a));
			continue;
		}
		CHECK_EQ(r, hipSuccess);
		put_look(b, errors, s);
		b.pattern = a.pattern;
		put_mark(b, s);
		HIP(hipFreeAsync(b.ptr, s));
		HIP(hipStreamSynchronize(s));
		if (!(test_random(&seed) % 16))
			usleep(500);
		if (!wire_send(wire, &a, sizeof(a)))
			break;
	}
	HIP(hipMemPoolDestroy(pool));
	check_errors(errors);
	return check_failed_ != 0;
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* A process of its own: a child of fork has no GPU. */
static pid_t begin(const char *role, uint64_t seed, int wire, int not_mine, int progress, int not_mine_too)
{
	pid_t pid = fork();

	if (!pid) {
		std::string number = std::to_string(seed), fd = std::to_string(wire), tell = std::to_string(progress);

		close(not_mine);
		close(not_mine_too);
		execl("/proc/self/exe", "pool_stress_pair", role, number.c_str(), fd.c_str(), tell.c_str(), nullptr);
		_exit(127);
	}
	return pid;
}

static size_t free_memory()
{
	size_t left, all;

	HIP(hipMemGetInfo(&left, &all));
	return left;
}

/* victim 0, 1: that one is killed; 2: nobody is. */
static void round_of(uint64_t seed, unsigned victim)
{
	size_t before = free_memory();
	uint64_t random = seed;
	int pair[2], progress[2], status;
	char byte;
	pid_t pid[2];

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) && !pipe(progress));
	pid[0] = begin("owner", seed, pair[0], pair[1], progress[1], progress[0]);
	pid[1] = begin("borrower", seed, pair[1], pair[0], progress[1], progress[0]);
	close(pair[0]);
	close(pair[1]);
	close(progress[1]);
	if (victim < 2) {
		for (unsigned n = test_random(&random) % 60; n && read(progress[0], &byte, 1) == 1; n--)
			continue;
		usleep(test_random(&random) % 3000);
		kill(pid[victim], SIGKILL);
	}
	while (read(progress[0], &byte, 1) == 1)
		continue;
	close(progress[0]);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(waitpid(pid[i], &status, 0) == pid[i]);
		if (i == victim)
			CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0); /* it may have been faster */
		else if (!CHECK_EQ(status, 0))
			printf("  seed %llu, victim %u, process %u\n", (unsigned long long)seed, victim, i);
	}
	CHECK_EQ(free_memory(), before); /* S74 */
}

int main(int argc, char **argv)
{
	const char *wish = getenv("TUFF_TEST_LONG");
	unsigned rounds = wish && *wish ? 60 : 3;

	if (argc == 5) {
		uint64_t seed = strtoull(argv[2], nullptr, 0);

		return strcmp(argv[1], "owner") ? borrow(atoi(argv[3]), seed) : owner(atoi(argv[3]), atoi(argv[4]), seed).run();
	}
	for (uint64_t seed = 1; seed <= rounds && !check_failed_; seed++)
		round_of(seed, seed % 3);
	return check_done("a pool of two processes");
}
