/* Memory between handles, devices and processes: dma-bufs exported and imported, peers, one buffer
 * at one address on two GPUs, a partner that is killed in the middle. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/rest.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"
#include "vm/host.h"
#include "vm/peer.h"

#define PAGE 4096ull

static struct stack s[2];
static struct cs_code *code[2];

static bool open_device(struct stack *k, struct cs_code **c, unsigned index, struct vm *beside)
{
	return !stack_open_at(k, index, beside) && !stack_load(k, "group", 3, c);
}

static void open_both(const char *spec)
{
	CHECK_EQ(vgpu_start(spec), 0);
	CHECK(open_device(&s[0], &code[0], 0, NULL));
	CHECK(open_device(&s[1], &code[1], 1, s[0].vm));
}

/* exact: nothing may be left. Who is killed inside the virtual GPU, at any instruction, leaves what it was about to
 * free; a kernel would have finished that. */
static void close_both(bool exact)
{
	for (unsigned i = 2; i--;) {
		cs_code_unload(code[i]);
		stack_close(&s[i]);
	}
	/* what the dead had is found out in time */
	for (unsigned i = 0; i < 2000 && exact && vgpu_live_objects(); i++)
		usleep(1000);
	CHECK(!exact || !vgpu_live_objects());
	vgpu_stop();
}

/* GPU i does data[k] = data[k] * 3 + value for 64 dwords. */
static int gpu_add(unsigned i, uint64_t va, uint32_t value)
{
	struct {
		uint64_t data;
		uint32_t value;
	} args = {va, value};

	return stack_run(&s[i], &(struct stack_launch){.code = code[i],
						       .kernel = "k_add",
						       .grid = {64},
						       .group = {64},
						       .args = &args,
						       .args_B = 12});
}

static int copy_on(unsigned i, uint64_t dst, uint64_t src, uint64_t size_B)
{
	struct sdma_job job = {.size_B = size_B, .src = {src, SDMA_VRAM, false}, .dst = {dst, SDMA_GTT, false}};
	int r = sdma_copier_copy(s[i].copier, &job);

	return r ? r : cs_fence_wait(job.fence, CS_FOREVER);
}

/* The first dword at va, as the GPU sees it. */
static uint32_t peek(unsigned i, uint64_t va)
{
	struct vm_mem *out = stack_gtt(&s[i], PAGE);
	uint32_t value;

	*(uint32_t *)out->map = 0xdead;
	CHECK_EQ(copy_on(i, out->va, va, 256), 0);
	value = *(uint32_t *)out->map;
	vm_mem_destroy(out);
	return value;
}

static void poke(unsigned i, uint64_t va, uint32_t value)
{
	struct vm_mem *in = stack_gtt(&s[i], PAGE);

	for (unsigned k = 0; k < 64; k++)
		((uint32_t *)in->map)[k] = value;
	CHECK_EQ(copy_on(i, va, in->va, 256), 0);
	vm_mem_destroy(in);
}

/* --- handles ---------------------------------------------------------------------------------- */

static void importing_gives_the_same_bo(void)
{
	struct vm_mem *mem = stack_gtt(&s[0], 3 * PAGE), *again, *more;
	struct vm_stats before, after;
	struct vm_bo *bo[3];
	int fd[2];

	vm_stats(s[0].vm, &before);
	CHECK_EQ(vm_bo_export(mem->bo, &fd[0]), 0);
	CHECK_EQ(vm_bo_export(mem->bo, &fd[1]), 0);
	CHECK(fcntl(fd[0], F_GETFD) & FD_CLOEXEC);
	CHECK_EQ(lseek(fd[0], 0, SEEK_END), 3 * PAGE);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(vm_bo_import(s[0].vm, fd[i & 1], &bo[i]), 0);
		CHECK(bo[i] == mem->bo);
	}
	for (unsigned i = 0; i < 3; i++)
		vm_bo_put(bo[i]);
	CHECK_EQ(vm_mem_import(s[0].vm, fd[0], &again), 0);
	CHECK_EQ(vm_mem_import(s[0].vm, fd[1], &more), 0);
	close(fd[0]);
	close(fd[1]);
	((uint32_t *)mem->map)[0] = 1;
	CHECK_EQ(((uint32_t *)more->map)[0], 1);
	vm_mem_destroy(again);
	vm_mem_destroy(mem); /* the exporter's first: the buffer lives */
	CHECK_EQ(gpu_add(0, more->va, 1), 0);
	CHECK_EQ(((uint32_t *)more->map)[0], 4);
	vm_mem_destroy(more);
	vm_stats(s[0].vm, &after);
	CHECK_EQ(after.bos, before.bos - 1);
	CHECK_EQ(after.mappings, before.mappings - 1);
}

static void a_descriptor_keeps_the_memory(void)
{
	struct vm_mem *mem = stack_gtt(&s[0], PAGE), *back;
	int fd;

	*(uint32_t *)mem->map = 1234;
	CHECK_EQ(vm_bo_export(mem->bo, &fd), 0);
	vm_mem_destroy(mem);
	CHECK_EQ(vm_mem_import(s[0].vm, fd, &back), 0);
	close(fd);
	CHECK_EQ(*(uint32_t *)back->map, 1234);
	CHECK_EQ(back->bo->origin, VM_IMPORTED);
	CHECK_EQ(back->bo->kind, VM_GTT);
	CHECK_EQ(gpu_add(0, back->va, 1), 0);
	CHECK_EQ(*(uint32_t *)back->map, 3703);
	vm_mem_destroy(back);
}

static void what_cannot_be_shared_is_refused(void)
{
	struct vm_info info = {.size_B = PAGE, .kind = VM_GTT, .flags = VM_CPU | VM_RESIDENT};
	struct vm_mem *resident, *user, *mem;
	void *host = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vm_register what = {.host = host, .size_B = 10};
	int fd = memfd_create("no", 0), ends[2], out;
	unsigned long ioctls;
	struct vm_bo *bo;

	CHECK_EQ(vm_mem_create(s[0].vm, &info, &resident), 0);
	CHECK_EQ(vm_mem_register(s[0].vm, &what, &user), 0);
	ioctls = vgpu_ioctl_count();
	CHECK_EQ(vm_bo_export(resident->bo, &out), -EPERM);
	CHECK_EQ(vm_bo_export(user->bo, &out), -EPERM);
	CHECK_EQ(vm_mem_share(s[1].vm, user, &mem), -EPERM);
	CHECK_EQ(vgpu_ioctl_count(), ioctls);
	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(vm_bo_import(s[0].vm, -1, &bo), -EBADF);
	CHECK_EQ(vm_bo_import(s[0].vm, fd, &bo), -EINVAL);
	CHECK_EQ(vm_bo_import(s[0].vm, ends[0], &bo), -EINVAL);
	CHECK_EQ(vm_bo_import(s[0].vm, s[0].dev->fd, &bo), -EINVAL);
	CHECK_EQ(vm_mem_import(s[0].vm, 9999, &mem), -EBADF);
	close(fd);
	close(ends[0]);
	close(ends[1]);
	vm_mem_destroy(user);
	vm_mem_destroy(resident);
	munmap(host, PAGE);
}

static void no_descriptor_left_is_an_error(void)
{
	struct vm_mem *mem = stack_gtt(&s[0], PAGE);
	struct rlimit old, tight;
	int fd[64], n = 0, r = 0, probe = dup(0);

	close(probe);
	getrlimit(RLIMIT_NOFILE, &old);
	tight = old;
	tight.rlim_cur = probe + 10;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
	while (n < 64 && !(r = vm_bo_export(mem->bo, &fd[n])))
		n++;
	CHECK_EQ(r, -EMFILE);
	CHECK(n > 0 && n <= 10);
	while (n)
		close(fd[--n]);
	CHECK_EQ(vm_bo_export(mem->bo, &fd[0]), 0);
	close(fd[0]);
	setrlimit(RLIMIT_NOFILE, &old);
	vm_mem_destroy(mem);
}

/* --- two devices ------------------------------------------------------------------------------ */

static void two_gpus_use_one_address(bool vram)
{
	struct vm_mem *mem = vram ? stack_vram(&s[0], 5 << 20) : stack_gtt(&s[0], 5 << 20), *seen, *twice;
	uint64_t at = mem->va + (3 << 20);

	if (!CHECK_EQ(vm_mem_share(s[1].vm, mem, &seen), 0))
		printf("  %s\n", drv_error_last()->text);
	CHECK_EQ(seen->va, mem->va);
	CHECK(vm_find(s[1].vm, at) == seen);
	/* What is refused leaves alone what is bound there. */
	CHECK_EQ(vm_mem_share(s[1].vm, mem, &twice), -EEXIST);
	CHECK_EQ(vm_mem_share(s[0].vm, seen, &twice), -EEXIST);
	poke(0, at, 1);
	CHECK_EQ(gpu_add(1, at, 2), 0);
	CHECK_EQ(gpu_add(0, at, 3), 0);
	CHECK_EQ(peek(1, at), 18);
	if (mem->map)
		CHECK_EQ(*(uint32_t *)((char *)mem->map + (3 << 20)), 18);
	vm_mem_destroy(seen);
	CHECK_EQ(gpu_add(0, at, 0), 0);
	CHECK_EQ(peek(0, at), 54);
	vm_mem_destroy(mem);
}

/* What is uncached for its own GPU is so for the other, whose import does not tell. */
static void shared_stays_uncached(void)
{
	struct vm_info info = {.size_B = PAGE, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED};
	struct vm_mem *mem, *seen;
	struct vm_bound bound;

	CHECK_EQ(vm_mem_create(s[0].vm, &info, &mem), 0);
	CHECK_EQ(vm_mem_share(s[1].vm, mem, &seen), 0);
	CHECK_EQ(vm_query(s[1].vm, mem->va, &bound), 0);
	CHECK(bound.access & VM_GPU_UNCACHED && !(bound.flags & VM_UNCACHED));
	vm_mem_destroy(seen);
	vm_mem_destroy(mem);
}

static void two_gpus_register_the_same_memory(void)
{
	char *host = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vm_register what = {.host = host + 64, .size_B = 5 * PAGE, .flags = VM_REGISTER_DONTFORK};
	uint32_t *data = (uint32_t *)(host + 64);
	struct vm_register other = {.host = host + 7 * PAGE, .size_B = PAGE, .flags = VM_REGISTER_ALIAS};
	struct vm_mem *mem[2];

	CHECK_EQ(vm_mem_register(s[0].vm, &what, &mem[0]), 0);
	what.alias = other.alias = mem[0]->range.va;
	CHECK_EQ(vm_mem_register(s[0].vm, &other, &mem[1]), -EEXIST);
	what.flags |= VM_REGISTER_ALIAS;
	CHECK_EQ(vm_mem_register(s[1].vm, &what, &mem[1]), 0);
	CHECK_EQ(mem[1]->va, mem[0]->range.va + 64);
	data[7] = 1;
	CHECK_EQ(gpu_add(0, mem[0]->va, 1), 0);
	CHECK_EQ(gpu_add(1, mem[0]->va, 1), 0);
	CHECK_EQ(gpu_add(0, mem[1]->va, 1), 0);
	CHECK_EQ(gpu_add(1, mem[1]->va, 1), 0);
	CHECK_EQ(data[7], 121);
	vm_mem_destroy(mem[1]); /* before mem[0], whose alias it stands on */
	CHECK_EQ(gpu_add(0, mem[0]->range.va + 64, 0), 0);
	CHECK_EQ(data[7], 363);
	vm_mem_destroy(mem[0]);
	munmap(host, 8 * PAGE);
}

static unsigned submissions;

static int submit_nothing(struct vm *vm, void *arg)
{
	struct stack *k = arg;
	struct cs_fence point;
	struct cs_ib *ib;
	int r = cs_ring_vm(k->ring) == vm ? cs_begin(k->ring, 0, &ib) : -EINVAL;

	submissions++;
	r = r ? r : cs_submit(ib, NULL, &point);
	return r ? r : cs_fence_wait(point, CS_FOREVER);
}

static void peers_are_told_from_spills(enum vm_peer want_0_1, enum vm_peer want_1_0)
{
	enum vgpu_strict level = vgpu_strict();
	enum vm_peer peer = VM_PEER_NONE;
	struct drv_usage before, after;
	uint32_t list;
	unsigned asked;

	CHECK_EQ(vm_list(s[0].vm, &list), 0); /* what it holds is freed only now */
	CHECK_EQ(drv_usage_memory(s[0].dev, &before), 0);
	vgpu_strict_set(VGPU_STRICT_REPORT); /* a spill is a finding, and what we are looking for */
	CHECK_EQ(vm_peer_probe(s[0].vm, s[1].vm, submit_nothing, &s[1], &peer), 0);
	CHECK_EQ(peer, want_0_1);
	CHECK_EQ(vm_peer_probe(s[1].vm, s[0].vm, submit_nothing, &s[0], &peer), 0);
	CHECK_EQ(peer, want_1_0);
	vgpu_strict_set(level);
	asked = submissions;
	CHECK(asked >= 4);
	CHECK_EQ(vm_peer_probe(s[0].vm, s[1].vm, submit_nothing, &s[1], &peer), 0);
	CHECK_EQ(peer, want_0_1);
	CHECK_EQ(vm_peer_probe(s[0].vm, s[0].vm, submit_nothing, &s[0], &peer), 0);
	CHECK_EQ(peer, VM_PEER_DIRECT);
	CHECK_EQ(submissions, asked);
	CHECK_EQ(vm_list(s[0].vm, &list), 0);
	CHECK_EQ(drv_usage_memory(s[0].dev, &after), 0);
	CHECK_EQ(after.vram_B, before.vram_B);
	CHECK_EQ(after.moved_B > before.moved_B, want_0_1 == VM_PEER_SYSTEM);
}

/* --- two processes ---------------------------------------------------------------------------- */

/* Sends a buffer that holds a number; takes it back and looks whether the other process's GPU has worked. 0: go on;
 * 1: the other end is gone; else a failure. */
static int hand_over(int to, uint32_t n)
{
	struct vm_mem *mem = n & 1 ? stack_vram(&s[0], PAGE) : stack_gtt(&s[0], 70000);
	int fd, r = 0;
	char byte;

	if (!mem)
		return 2;
	poke(0, mem->va, n);
	if (vm_bo_export(mem->bo, &fd))
		return 3;
	if (send_fd(to, fd, n) || read(to, &byte, 1) != 1)
		r = 1;
	else if (peek(0, mem->va) != n * 3 + 1)
		r = 4;
	close(fd);
	vm_mem_destroy(mem);
	return r;
}

static void partner(int to)
{
	int r = 0;

	if (!open_device(&s[0], &code[0], 0, NULL))
		_exit(9);
	for (uint32_t n = 1; !r; n++)
		r = hand_over(to, n);
	cs_code_unload(code[0]);
	stack_close(&s[0]);
	_exit(r == 1 ? 0 : r);
}

static unsigned exchange(int from, unsigned rounds, struct vm_mem **kept)
{
	struct vm_mem *mem;
	unsigned done = 0;
	uint32_t n;
	int fd;

	while (done < rounds && (fd = receive_fd(from, &n)) >= 0) {
		if (!CHECK_EQ(vm_mem_import(s[0].vm, fd, &mem), 0))
			printf("  %s\n", drv_error_last()->text);
		close(fd);
		CHECK_EQ(peek(0, mem->va), n);
		CHECK_EQ(gpu_add(0, mem->va, 1), 0);
		vm_mem_destroy(*kept);
		*kept = mem;
		done++;
		if (write(from, "", 1) != 1)
			break;
	}
	return done;
}

static pid_t start_partner(int *socket, void (*run)(int to))
{
	int ends[2];
	pid_t pid;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		run(ends[1]);
	}
	close(ends[1]);
	*socket = ends[0];
	return pid;
}

static int end_partner(pid_t pid, int socket)
{
	int status;

	shutdown(socket, SHUT_RDWR);
	close(socket);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

/* What the dead exported lives on. */
static void outlives(struct vm_mem *kept)
{
	uint32_t n = peek(0, kept->va);

	CHECK_EQ(gpu_add(0, kept->va, 1), 0);
	CHECK_EQ(peek(0, kept->va), n * 3 + 1);
	vm_mem_destroy(kept);
}

static void processes_exchange_memory(bool kill_it, unsigned rounds)
{
	struct vm_mem *kept = NULL;
	int socket, status, fd;
	pid_t pid = start_partner(&socket, partner);
	uint32_t n;

	CHECK_EQ(exchange(socket, rounds, &kept), rounds);
	if (kill_it) {
		kill(pid, SIGKILL);         /* wherever it is */
		exchange(socket, 2, &kept); /* what it had sent is still good */
	} else {
		/* The virtual GPU does not see what the kernel drops: a message that nobody receives. */
		fd = receive_fd(socket, &n);
		CHECK(fd >= 0);
		close(fd);
	}
	status = end_partner(pid, socket);
	CHECK(kill_it ? WIFSIGNALED(status) || !status : !status);
	outlives(kept);
}

/* The exporter dies between sending and hearing that it arrived. */
static void the_exporter_is_killed(void)
{
	struct vm_mem *mem;
	int socket, fd, status;
	pid_t pid = start_partner(&socket, partner);
	uint32_t n;

	fd = receive_fd(socket, &n);
	CHECK(fd >= 0);
	kill_at_rest(pid);
	status = end_partner(pid, socket);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(vm_mem_import(s[0].vm, fd, &mem), 0);
	close(fd);
	CHECK_EQ(peek(0, mem->va), n);
	outlives(mem);
}

static void import_and_wait(int from)
{
	struct vm_mem *mem;
	uint32_t n;
	int fd;

	if (!open_device(&s[0], &code[0], 0, NULL))
		_exit(9);
	fd = receive_fd(from, &n);
	if (fd < 0 || vm_mem_import(s[0].vm, fd, &mem) || gpu_add(0, mem->va, n) || write(from, "", 1) != 1)
		_exit(8);
	for (;;)
		pause();
}

/* The importer dies with the memory in hand. */
static void the_importer_is_killed(void)
{
	struct vm_mem *mem = stack_gtt(&s[0], PAGE);
	int socket, fd;
	pid_t pid = start_partner(&socket, import_and_wait);
	char byte;

	*(uint32_t *)mem->map = 2;
	CHECK_EQ(vm_bo_export(mem->bo, &fd), 0);
	CHECK_EQ(send_fd(socket, fd, 5), 0);
	close(fd);
	CHECK_EQ(read(socket, &byte, 1), 1);
	kill_at_rest(pid);
	CHECK(WIFSIGNALED(end_partner(pid, socket)));
	CHECK_EQ(*(uint32_t *)mem->map, 11);
	outlives(mem);
}

int main(void)
{
	enum vgpu_strict level = vgpu_strict();

	signal(SIGPIPE, SIG_IGN); /* the partner dies while we write */
	open_both("gfx906:vram=1G:p2p=1,gfx906:vram=1G:p2p=1");
	importing_gives_the_same_bo();
	a_descriptor_keeps_the_memory();
	what_cannot_be_shared_is_refused();
	no_descriptor_left_is_an_error();
	two_gpus_use_one_address(true);
	two_gpus_use_one_address(false);
	shared_stays_uncached();
	two_gpus_register_the_same_memory();
	peers_are_told_from_spills(VM_PEER_DIRECT, VM_PEER_DIRECT);
	processes_exchange_memory(false, 20);
	vgpu_strict_set(VGPU_STRICT_OFF); /* who is killed leaves its buffers behind, which is a finding */
	for (unsigned i = 0; i < 3; i++) {
		the_exporter_is_killed();
		the_importer_is_killed();
	}
	close_both(true);

	open_both("gfx906:vram=1G:p2p=1,gfx906:vram=1G:p2p=1");
	for (unsigned i = 0; i < 6; i++)
		processes_exchange_memory(true, 1 + i * 3);
	close_both(false);
	vgpu_strict_set(level);

	open_both("gfx908:vram=1G:bar=128M:p2p=1,gfx906:vram=1G:p2p=1");
	peers_are_told_from_spills(VM_PEER_SYSTEM, VM_PEER_DIRECT);
	close_both(true);
	return check_done("shared memory");
}
