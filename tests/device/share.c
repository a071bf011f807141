/* Memory between handles, devices and processes: dma-bufs exported and imported, one buffer for two devices, a
 * partner that is killed during use. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/descriptors.h"
#include "tests/device/device.h"

#define PAGE 4096ull

static struct tuff_mem_info import(struct tuff_device *device, int fd, unsigned flags, struct tuff_mem **mem)
{
	struct tuff_mem_info info = {0};

	*mem = NULL;
	if (CHECK_OK(tuff_mem_import(device, fd, flags, mem)))
		CHECK_OK(tuff_mem_query(*mem, &info));
	return info;
}

/* --- handles ---------------------------------------------------------------------------------- */

/* One buffer three times; each of the three goes first, second and last. */
static void any_order(void)
{
	static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	struct test_gpu gpu = test_gpu_open(test_device());

	for (unsigned n = 0; n < 12; n++) {
		struct tuff_mem_create_info want = {.size_B = 3 * PAGE,
						    .place = n < 6 ? TUFF_GTT : TUFF_VRAM,
						    .flags = n < 6 ? TUFF_MEM_CPU : 0};
		struct tuff_mem_info info[3];
		struct tuff_mem *mem[3];
		uint32_t value = 1;
		int fd = -1;

		if (!CHECK_OK(tuff_mem_create(test_device(), &want, &mem[0])) ||
		    !CHECK_OK(tuff_mem_query(mem[0], &info[0])) || !CHECK_OK(tuff_mem_export(mem[0], &fd)))
			break;
		CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		CHECK_EQ(lseek(fd, 0, SEEK_END), 3 * PAGE);
		for (unsigned i = 1; i < 3; i++) {
			info[i] = import(test_device(), fd, 0, &mem[i]);
			CHECK(mem[i] && info[i].va && info[i].size_B == 3 * PAGE);
			CHECK_EQ(info[i].place, TUFF_FOREIGN);
		}
		close(fd);
		CHECK(info[1].va != info[2].va && info[0].va != info[1].va);
		for (unsigned i = 0; i < 3; i++) {
			unsigned at = orders[n % 6][2];

			test_poke(test_device(), info[orders[n % 6][i]].va + PAGE, value);
			CHECK_OK(test_gpu_add(&gpu, info[at].va + PAGE, 1));
			value = value * 3 + 1;
			CHECK_EQ(test_peek(test_device(), info[orders[n % 6][i]].va + PAGE), value);
			if (info[at].map)
				CHECK_EQ(((volatile uint32_t *)info[at].map)[1024], value);
			CHECK_OK(tuff_mem_destroy(mem[orders[n % 6][i]]));
		}
	}
	test_gpu_close(&gpu);
}

static void a_descriptor_keeps_the_memory(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	struct test_memory m = test_gtt(PAGE);
	struct tuff_mem_info info;
	struct tuff_mem *back, *more;
	int fd = -1, again = -1;

	*(uint32_t *)m.map = 1234;
	CHECK_OK(tuff_mem_export(m.mem, &fd));
	test_free(&m);
	info = import(test_device(), fd, TUFF_MEM_CPU, &back);
	close(fd);
	CHECK(info.flags & TUFF_MEM_CPU && info.map);
	CHECK_EQ(*(volatile uint32_t *)info.map, 1234);
	CHECK_OK(test_gpu_add(&gpu, info.va, 1));
	CHECK_EQ(*(volatile uint32_t *)info.map, 3703);
	/* what was imported is exported like any other */
	CHECK_OK(tuff_mem_export(back, &again));
	info = import(test_device(), again, 0, &more);
	close(again);
	CHECK_OK(tuff_mem_destroy(back));
	CHECK_EQ(test_peek(test_device(), info.va), 3703);
	CHECK_OK(tuff_mem_destroy(more));
	test_gpu_close(&gpu);
}

/* An import without an address of its own, in two ranges. */
static void unbound_import(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	struct test_memory m = test_vram(4 * PAGE);
	struct tuff_range_create_info want = {.size_B = 4 * PAGE};
	struct tuff_range *range;
	struct tuff_mem_info info;
	struct tuff_mem *mem;
	uint64_t va = 0;
	int fd = -1;

	CHECK_OK(tuff_mem_export(m.mem, &fd));
	info = import(test_device(), fd, TUFF_MEM_UNBOUND, &mem);
	close(fd);
	CHECK(!info.va && !info.map && info.flags & TUFF_MEM_UNBOUND);
	if (CHECK_OK(tuff_range_create(test_device(), &want, &range, &va))) {
		CHECK_OK(tuff_range_bind(range, PAGE, mem, 3 * PAGE, PAGE, TUFF_ACCESS_READ_WRITE));
		CHECK_OK(test_gpu_add(&gpu, va + PAGE, 6));
		CHECK_EQ(test_peek(test_device(), m.va + 3 * PAGE), 6);
		CHECK_OK(tuff_range_destroy(range));
	}
	CHECK_OK(tuff_mem_destroy(mem));
	test_gpu_close(&gpu);
}

static void refused(void)
{
	struct test_memory own = test_memory(PAGE, TUFF_GTT, TUFF_MEM_CPU | TUFF_MEM_PRIVATE), gtt = test_gtt(PAGE),
			   hidden = test_vram(PAGE);
	struct tuff_mem *mem, *host;
	void *p = malloc(10);
	int fd = -1;

	CHECK_OK(tuff_mem_register(test_device(), p, 10, 0, &host));
	CHECK_EQ(tuff_mem_export(own.mem, &fd), -EPERM);
	CHECK_EQ(tuff_mem_export(host, &fd), -EPERM);
	CHECK_EQ(fd, -1);
	CHECK_OK(tuff_mem_destroy(host));
	free(p);
	CHECK_OK(tuff_mem_export(gtt.mem, &fd));
	CHECK_EQ(tuff_mem_import(test_device(), fd, TUFF_MEM_PRIVATE, &mem), -EINVAL);
	close(fd);
	/* for the CPU only what the CPU reaches */
	CHECK_OK(tuff_mem_export(hidden.mem, &fd));
	CHECK_EQ(tuff_mem_import(test_device(), fd, TUFF_MEM_CPU, &mem), -EACCES);
	close(fd);
}

/* --- two devices ------------------------------------------------------------------------------ */

static const char *const peer_names[] = {"not at all", "through system memory", "directly"};

static void on_two_devices(enum tuff_place place, unsigned flags)
{
	struct tuff_device *other = test_other_device();
	struct test_gpu gpu[] = {test_gpu_open(test_device()), test_gpu_open(other)};
	struct test_memory m = test_memory(5 << 20, place, flags);
	uint64_t at = m.va + (3 << 20), offset_B = 0;
	struct tuff_mem *shared, *found;
	struct tuff_mem_info info = {0};
	enum tuff_peer peer = TUFF_PEER_DIRECT;

	if (place == TUFF_VRAM)
		CHECK_OK(tuff_peer_access(test_device(), other, &peer));
	if (peer != TUFF_PEER_NONE && CHECK_OK(tuff_mem_share(m.mem, other, &shared))) {
		CHECK_OK(tuff_mem_query(shared, &info));
		CHECK(info.va == m.va && info.map == m.map && info.place == TUFF_FOREIGN);
		CHECK_OK(tuff_mem_find(other, (void *)(uintptr_t)at, &found, &offset_B));
		CHECK(found == shared && offset_B == 3 << 20);
		test_poke(test_device(), at, 1);
		CHECK_OK(test_gpu_add(&gpu[1], at, 2));
		CHECK_OK(test_gpu_add(&gpu[0], at, 3));
		CHECK_EQ(test_peek(other, at), 18);
		CHECK_EQ(test_peek(test_device(), at), 18);
		if (m.map)
			CHECK_EQ(*(volatile uint32_t *)((char *)m.map + (3 << 20)), 18);
		CHECK_EQ(tuff_mem_destroy(m.mem), -EBUSY);
		CHECK_OK(tuff_mem_destroy(shared));
		CHECK_OK(test_gpu_add(&gpu[0], at, 0));
		CHECK_EQ(test_peek(test_device(), at), 54);
	}
	test_free(&m);
	test_gpu_close(&gpu[0]);
	test_gpu_close(&gpu[1]);
}

static void system_memory_of_two(void)
{
	on_two_devices(TUFF_GTT, TUFF_MEM_CPU);
	on_two_devices(TUFF_GTT, 0);
}

static void video_memory_of_two(void)
{
	on_two_devices(TUFF_VRAM, 0);
	on_two_devices(TUFF_VRAM, TUFF_MEM_CPU);
}

/* Whether VRAM stays in VRAM while the other device works on it is what tuff_peer_access() says. Other processes
 * count too: half of the buffer is enough for a verdict. */
static void one_direction(struct tuff_device *owner, struct tuff_device *other)
{
	enum { SIZE_B = 64 << 20 };
	struct tuff_mem_create_info want = {.size_B = SIZE_B, .place = TUFF_VRAM};
	enum tuff_peer peer = TUFF_PEER_NONE, again = TUFF_PEER_NONE;
	struct tuff_usage before = {0}, after = {0};
	struct tuff_mem *mem, *shared;
	struct test_gpu gpu;
	struct tuff_mem_info info;
	long long moved_B;

	if (!CHECK_OK(tuff_peer_access(owner, other, &peer)))
		return;
	CHECK_OK(tuff_peer_access(owner, other, &again));
	CHECK_EQ(peer, again);
	test_note("VRAM is reached %s", peer_names[peer]);
	if (!CHECK_OK(tuff_mem_create(owner, &want, &mem)))
		return;
	if (peer != TUFF_PEER_NONE && CHECK_OK(tuff_mem_share(mem, other, &shared))) {
		gpu = test_gpu_open(other);
		CHECK_OK(tuff_mem_query(mem, &info));
		CHECK_OK(tuff_device_usage(owner, &before));
		CHECK_OK(test_gpu_add(&gpu, info.va + SIZE_B / 2, 5));
		CHECK_OK(tuff_device_usage(owner, &after));
		moved_B = (long long)before.vram_B - (long long)after.vram_B;
		CHECK_EQ(peer == TUFF_PEER_SYSTEM, moved_B > SIZE_B / 2);
		CHECK_EQ(test_peek(owner, info.va + SIZE_B / 2), 5);
		CHECK_OK(tuff_mem_destroy(shared));
		test_gpu_close(&gpu);
	}
	CHECK_OK(tuff_mem_destroy(mem));
}

static void peers_are_what_is_said(void)
{
	one_direction(test_device(), test_other_device());
	one_direction(test_other_device(), test_device());
}

static void both_register(void)
{
	struct tuff_device *other = test_other_device();
	struct test_gpu gpu[] = {test_gpu_open(test_device()), test_gpu_open(other)};
	char *host = malloc(5 * PAGE);
	volatile uint32_t *w = (volatile uint32_t *)(host + 64);
	struct tuff_mem *mem[3];
	struct tuff_mem_info info[3];

	for (unsigned i = 0; i < 3; i++) {
		CHECK_OK(tuff_mem_register(gpu[i & 1].device, host + 64, 4 * PAGE, i == 2 ? TUFF_REGISTER_ALIAS : 0,
					   &mem[i]));
		CHECK_OK(tuff_mem_query(mem[i], &info[i]));
	}
	*w = 1;
	CHECK_OK(test_gpu_add(&gpu[0], info[0].va, 1));
	CHECK_OK(test_gpu_add(&gpu[1], info[1].va, 1));
	CHECK_OK(test_gpu_add(&gpu[0], info[2].va, 1));
	CHECK_EQ(*w, 40);
	CHECK_OK(tuff_mem_destroy(mem[0]));
	CHECK_OK(test_gpu_add(&gpu[1], info[1].va, 0));
	CHECK_EQ(*w, 120);
	CHECK_OK(tuff_mem_destroy(mem[1]));
	CHECK_OK(tuff_mem_destroy(mem[2]));
	free(host);
	test_gpu_close(&gpu[0]);
	test_gpu_close(&gpu[1]);
}

/* A dma-buf of one device imported by the other, at an address of its own. */
static void imports_of_the_other(void)
{
	struct tuff_device *other = test_other_device();
	struct test_gpu gpu = test_gpu_open(other);
	struct test_memory m = test_gtt(2 * PAGE);
	struct tuff_mem_info info;
	struct tuff_mem *mem;
	int fd = -1;

	CHECK_OK(tuff_mem_export(m.mem, &fd));
	info = import(other, fd, 0, &mem);
	close(fd);
	CHECK_EQ(info.place, TUFF_FOREIGN);
	*(volatile uint32_t *)m.map = 3;
	CHECK_OK(test_gpu_add(&gpu, info.va, 1));
	CHECK_EQ(*(volatile uint32_t *)m.map, 10);
	test_free(&m); /* the exporter's first */
	CHECK_OK(test_gpu_add(&gpu, info.va, 1));
	CHECK_EQ(test_peek(other, info.va), 31);
	CHECK_OK(tuff_mem_destroy(mem));
	test_gpu_close(&gpu);
}

/* --- two processes ---------------------------------------------------------------------------- */

/* In the partner: sends a buffer that holds a number; takes it back and looks whether the other process's GPU has
 * worked. 0: go on; 1: the other end is gone; else what failed. */
static int hand_over(struct tuff_device *device, int to, uint32_t n)
{
	struct tuff_mem_create_info want = {.size_B = n & 1 ? PAGE : 70000, .place = n & 1 ? TUFF_VRAM : TUFF_GTT};
	struct tuff_mem_info info;
	struct tuff_mem *mem;
	int fd, r = 0;
	char byte;

	if (tuff_mem_create(device, &want, &mem) || tuff_mem_query(mem, &info))
		return 2;
	test_poke(device, info.va, n);
	if (tuff_mem_export(mem, &fd))
		return 3;
	if (send_fd(to, fd, n) || read(to, &byte, 1) != 1)
		r = 1;
	else if (test_peek(device, info.va) != n * 3 + 1)
		r = 4;
	close(fd);
	return tuff_mem_destroy(mem) ? 5 : r;
}

/* A process with a device of its own, which it opens when it is told to. */
struct partner {
	pid_t pid;
	int socket; /* owned */
};

static _Noreturn void be_partner(int socket)
{
	struct tuff_device *device;
	char byte;
	int r = 0;

	if (read(socket, &byte, 1) != 1)
		_exit(0);
	if (tuff_device_open(test_path(), &device))
		_exit(9);
	for (uint32_t n = 1; !r; n++)
		r = hand_over(device, socket, n);
	if (tuff_device_close(device))
		_exit(8);
	fflush(stdout);
	_exit(r == 1 ? check_failed_ != 0 : r);
}

static struct partner fork_partner(void)
{
	struct partner p;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		test_fail("no sockets");
	fflush(stdout);
	p.pid = fork();
	if (p.pid < 0)
		test_fail("no process");
	if (!p.pid) {
		close(ends[0]);
		be_partner(ends[1]);
	}
	close(ends[1]);
	p.socket = ends[0];
	return p;
}

/* Takes up to `rounds` buffers, works on each, and keeps the last. Gives how many it were. */
static unsigned exchange(const struct test_gpu *gpu, int from, unsigned rounds, struct tuff_mem **kept)
{
	unsigned done = 0;
	uint32_t n;
	int fd;

	while (done < rounds && (fd = receive_fd(from, &n)) >= 0) {
		struct tuff_mem *mem;
		struct tuff_mem_info info = import(gpu->device, fd, 0, &mem);

		close(fd);
		CHECK_EQ(test_peek(gpu->device, info.va), n);
		CHECK_OK(test_gpu_add(gpu, info.va, 1));
		CHECK_EQ(test_peek(gpu->device, info.va), n * 3 + 1);
		CHECK_OK(tuff_mem_destroy(*kept));
		*kept = mem;
		done++;
		if (write(from, "", 1) != 1)
			break;
	}
	return done;
}

/* What the other process made lives on when that is gone. */
static void outlives(const struct test_gpu *gpu, struct tuff_mem *kept)
{
	struct tuff_mem_info info;
	uint32_t n;

	if (!CHECK(kept) || !CHECK_OK(tuff_mem_query(kept, &info)))
		return;
	n = test_peek(gpu->device, info.va);
	CHECK_OK(test_gpu_add(gpu, info.va, 1));
	CHECK_EQ(test_peek(gpu->device, info.va), n * 3 + 1);
	CHECK_OK(tuff_mem_destroy(kept));
}

static void one_partner(const struct test_gpu *gpu, const struct partner *p, unsigned rounds, bool kill_it)
{
	struct tuff_mem *kept = NULL;
	uint32_t n;
	int status, fd;

	CHECK_EQ(write(p->socket, "", 1), 1);
	CHECK_EQ(exchange(gpu, p->socket, rounds, &kept), rounds);
	if (kill_it) {
		kill(p->pid, SIGKILL);              /* wherever it is */
		exchange(gpu, p->socket, 2, &kept); /* what it had sent is still good */
	} else {
		fd = receive_fd(p->socket, &n);
		CHECK(fd >= 0);
		close(fd);
	}
	shutdown(p->socket, SHUT_RDWR);
	close(p->socket);
	CHECK_EQ(waitpid(p->pid, &status, 0), p->pid);
	if (!CHECK(!status || (kill_it && WIFSIGNALED(status))))
		printf("  the partner's status is 0x%x\n", (unsigned)status);
	outlives(gpu, kept);
}

static void with_partners(unsigned count, unsigned rounds, bool kill_them)
{
	struct partner partners[8];
	struct test_gpu gpu;

	signal(SIGPIPE, SIG_IGN); /* the partner dies while we write */
	/* before this process has opened anything that they could inherit */
	for (unsigned i = 0; i < count; i++)
		partners[i] = fork_partner();
	gpu = test_gpu_open(test_device());
	for (unsigned i = 0; i < count; i++)
		one_partner(&gpu, &partners[i], rounds + i * 3, kill_them);
	test_gpu_close(&gpu);
}

static void processes_exchange_memory(void)
{
	with_partners(2, 20, false);
}

static void one_is_killed(void)
{
	with_partners(6, 1, true);
}

const struct device_test tests_share[] = {
	{"share/order", "a buffer and two imports of it, destroyed in any order", any_order, 0},
	{"share/descriptor", "a descriptor keeps the memory", a_descriptor_keeps_the_memory, 0},
	{"share/unbound", "an import is bound like other memory", unbound_import, 0},
	{"share/refused", "what cannot be shared is refused", refused, 0},
	{"share/system-memory", "two devices write one buffer of system memory", system_memory_of_two, 0},
	{"share/video-memory", "two devices write one buffer in VRAM", video_memory_of_two, TEST_LENIENT},
	{"share/peers", "VRAM is reached as tuff_peer_access() says, both ways", peers_are_what_is_said,
	 TEST_LENIENT},
	{"share/registered", "two devices register the same host memory", both_register, 0},
	{"share/imported", "one device imports the other's buffer", imports_of_the_other, 0},
	{"share/processes", "two processes hand buffers to each other", processes_exchange_memory, 0},
	{"share/killed", "the same while one is killed, six times", one_is_killed, TEST_LENIENT},
	{NULL},
};
