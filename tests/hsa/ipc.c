/* Memory and signals of one process in another: an export of 32 bytes is attached there, used by its GPU, and
 * survives the end of either process; and no process gets another one's memory without an export. */
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hsa_find.h"
#include "tests/rest.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define KIB 1024u
#define MIB (1024u * KIB)

#ifdef __SANITIZE_THREAD__
/* The virtual GPU's fork() holds a lock of its own while the library's fork handler takes the runtime's, which
 * holds it the other way round when it maps memory. No thread does so while this program forks, and a kernel has no
 * such lock. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "detect_deadlocks=0:die_after_fork=0";
}
#endif

static struct hsa_find f;

/* What one process tells another to begin with. */
#define BUFFERS 4
struct hello {
	hsa_amd_ipc_memory_t memory[BUFFERS];
	uint64_t size_B[BUFFERS];
	hsa_amd_ipc_signal_t go, done;
};

struct exported {
	struct hello hello;
	uint32_t *data[BUFFERS];
	hsa_signal_t go, done;
};

static bool begin(void)
{
	return CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS) && hsa_find_all(&f);
}

static unsigned differ(const void *device, uint64_t size_B, uint32_t value)
{
	uint32_t *host = malloc(size_B);
	unsigned wrong = 0;

	CHECK_EQ(hsa_memory_copy(host, device, size_B), HSA_STATUS_SUCCESS);
	for (uint64_t i = 0; i < size_B / 4; i++)
		wrong += host[i] != value;
	free(host);
	return wrong;
}

static hsa_signal_t shared_signal(hsa_signal_value_t value, hsa_amd_ipc_signal_t *handle)
{
	hsa_signal_t signal = {0};

	CHECK_EQ(hsa_amd_signal_create(value, 0, NULL, HSA_AMD_SIGNAL_IPC, &signal), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_ipc_signal_create(signal, handle), HSA_STATUS_SUCCESS);
	return signal;
}

/* A piece of a slab, a buffer of its own, and both kinds of host memory, filled with 10, 11, 12, 13. */
static void export_all(struct exported *e)
{
	const struct {
		hsa_amd_memory_pool_t pool;
		uint64_t size_B;
	} what[BUFFERS] = {{f.gpu[0].coarse, 8 * KIB},
			   {f.gpu[0].coarse, 3 * MIB},
			   {f.cpu[0].fine, 4 * KIB},
			   {f.cpu[0].coarse, 1 * MIB}};

	for (unsigned i = 0; i < BUFFERS; i++) {
		e->hello.size_B[i] = what[i].size_B;
		CHECK_EQ(hsa_amd_memory_pool_allocate(what[i].pool, what[i].size_B, 0, (void **)&e->data[i]),
			 HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_memory_fill(e->data[i], 10 + i, what[i].size_B / 4), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_ipc_memory_create(e->data[i], what[i].size_B, &e->hello.memory[i]),
			 HSA_STATUS_SUCCESS);
		CHECK_EQ(differ(e->data[i], what[i].size_B, 10 + i), 0);
	}
	e->go = shared_signal(1, &e->hello.go);
	e->done = shared_signal(BUFFERS, &e->hello.done);
}

static void free_all(struct exported *e)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		CHECK_EQ(hsa_amd_memory_pool_free(e->data[i]), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(e->go), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(e->done), HSA_STATUS_SUCCESS);
}

static void wait_for(hsa_signal_t signal, hsa_signal_value_t value)
{
	CHECK_EQ(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, value, UINT64_MAX,
					   HSA_WAIT_STATE_BLOCKED),
		 value);
}

/* --- the other process ------------------------------------------------------------------------ */

static pid_t start(int *socket, int (*run)(int socket))
{
	int ends[2];
	pid_t pid;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		_exit(run(ends[1]));
	}
	close(ends[1]);
	*socket = ends[0];
	return pid;
}

static int end(pid_t pid, int socket)
{
	int status;

	close(socket);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

/* How a child ends: what it has checked is its exit status. */
static int child_done(void)
{
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	return check_done("the other process");
}

static uint32_t *attach(const struct hello *hello, unsigned i)
{
	uint32_t *data = NULL;

	CHECK_EQ(hsa_amd_ipc_memory_attach(&hello->memory[i], hello->size_B[i], 1, &f.gpu[0].agent, (void **)&data),
		 HSA_STATUS_SUCCESS);
	return data;
}

/* Attaches all, waits for `go`, adds 100 to each buffer, each by a copy that counts `done` down. */
static int use_all(int socket)
{
	uint32_t *data[BUFFERS];
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	static uint32_t host[3 * MIB / 4];
	hsa_signal_t go, done;
	struct hello hello;

	if (read(socket, &hello, sizeof(hello)) != sizeof(hello) || !begin())
		return 9;
	CHECK_EQ(hsa_amd_ipc_signal_attach(&hello.go, &go), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_ipc_signal_attach(&hello.done, &done), HSA_STATUS_SUCCESS);
	wait_for(go, 0);
	for (unsigned i = 0; i < BUFFERS; i++) {
		data[i] = attach(&hello, i);
		CHECK_EQ(hsa_amd_pointer_info(data[i] + 5, &info, NULL, NULL, NULL), HSA_STATUS_SUCCESS);
		CHECK(info.type == HSA_EXT_POINTER_TYPE_IPC && info.agentBaseAddress == data[i] &&
		      info.sizeInBytes == hello.size_B[i]);
		CHECK_EQ(info.agentOwner.handle, (i < 2 ? f.gpu[0] : f.cpu[0]).agent.handle);
		CHECK_EQ(differ(data[i], hello.size_B[i], 10 + i), 0);
		for (uint64_t k = 0; k < hello.size_B[i] / 4; k++)
			host[k] = 110 + i;
		CHECK_EQ(hsa_amd_memory_async_copy(data[i], f.gpu[0].agent, host, f.cpu[0].agent, hello.size_B[i],
						   0, NULL, done),
			 HSA_STATUS_SUCCESS);
		/* host is written again */
		CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, BUFFERS - i, UINT64_MAX,
						HSA_WAIT_STATE_BLOCKED) < BUFFERS - i);
	}
	for (unsigned i = 0; i < BUFFERS; i++) {
		CHECK_EQ(hsa_amd_memory_pool_free(data[i]), HSA_STATUS_ERROR_INVALID_ALLOCATION);
		CHECK_EQ(hsa_amd_ipc_memory_detach(data[i]), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_ipc_memory_detach(data[i]), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	}
	CHECK_EQ(hsa_signal_destroy(go), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
	return child_done();
}

static hsa_signal_value_t handled = -1;
static hsa_signal_t heard;

static bool on_done(hsa_signal_value_t value, void *unused)
{
	(void)unused;
	handled = value;
	hsa_signal_store_screlease(heard, 0);
	return false;
}

static void shared(void)
{
	struct exported e;
	int socket;
	pid_t pid = start(&socket, use_all); /* before the runtime is there */

	if (!begin())
		return;
	export_all(&e);
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &heard), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_signal_async_handler(e.done, HSA_SIGNAL_CONDITION_EQ, 0, on_done, NULL),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(write(socket, &e.hello, sizeof(e.hello)), (ssize_t)sizeof(e.hello));
	hsa_signal_store_screlease(e.go, 0);
	wait_for(e.done, 0);
	for (unsigned i = 0; i < BUFFERS; i++)
		CHECK_EQ(differ(e.data[i], e.hello.size_B[i], 110 + i), 0);
	wait_for(heard, 0); /* a change elsewhere calls handlers here */
	CHECK_EQ(handled, 0);
	CHECK_EQ(end(pid, socket), 0);
	free_all(&e);
	CHECK_EQ(hsa_signal_destroy(heard), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
}

/* --- in one process --------------------------------------------------------------------------- */

#define ARGUMENT HSA_STATUS_ERROR_INVALID_ARGUMENT

static void alone(void)
{
	struct exported e;
	hsa_amd_ipc_memory_t again, stale;
	hsa_signal_t twin;
	uint32_t *seen;

	export_all(&e);
	CHECK_EQ(hsa_amd_ipc_memory_create(e.data[0], e.hello.size_B[0], &again), HSA_STATUS_SUCCESS);
	CHECK(!memcmp(&again, &e.hello.memory[0], sizeof(again))); /* one export, one handle */
	for (unsigned i = 0; i < BUFFERS; i++) {
		seen = attach(&e.hello, i);
		CHECK(seen != e.data[i] && !differ(seen, e.hello.size_B[i], 10 + i));
		CHECK_EQ(hsa_amd_agents_allow_access(1, &f.gpu[0].agent, NULL, seen), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_memory_fill(seen, 20, e.hello.size_B[i] / 4), HSA_STATUS_SUCCESS);
		CHECK_EQ(differ(e.data[i], e.hello.size_B[i], 20), 0);
		/* What was attached outlives what it was attached to; the handle does not. */
		CHECK_EQ(hsa_amd_memory_pool_free(e.data[i]), HSA_STATUS_SUCCESS);
		CHECK_EQ(differ(seen, e.hello.size_B[i], 20), 0);
		CHECK_EQ(hsa_amd_ipc_memory_attach(&e.hello.memory[i], e.hello.size_B[i], 0, NULL, (void **)&seen),
			 ARGUMENT);
		CHECK_EQ(hsa_amd_ipc_memory_detach(seen), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ(hsa_amd_ipc_signal_attach(&e.hello.go, &twin), HSA_STATUS_SUCCESS);
	hsa_signal_store_screlease(twin, 55);
	CHECK_EQ(hsa_signal_load_scacquire(e.go), 55);
	hsa_signal_add_scacq_screl(e.go, 5);
	stale = e.hello.go;
	CHECK_EQ(hsa_signal_destroy(e.go), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_load_scacquire(twin), 60);
	CHECK_EQ(hsa_amd_ipc_signal_attach(&stale, &e.go), ARGUMENT);
	CHECK_EQ(hsa_signal_destroy(twin), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(e.done), HSA_STATUS_SUCCESS);
}

static void misused(void)
{
	hsa_agent_t none = {1}, gpu = f.gpu[0].agent;
	hsa_amd_ipc_memory_t handle, broken;
	hsa_amd_ipc_signal_t signal_handle;
	hsa_signal_t signal;
	char *data;
	void *ptr;

	CHECK_EQ(hsa_amd_memory_pool_allocate(f.gpu[0].coarse, 8 * KIB, 0, (void **)&data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_ipc_memory_create(NULL, 64, &handle), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_create(data, 8 * KIB, NULL), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_create(data, 4 * KIB, &handle), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_create(data, 0, &handle), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_create(data, SIZE_MAX, &handle), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_create(data + 4 * KIB, 4 * KIB, &handle), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_create(&data, 8 * KIB, &handle), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_create(data, 8 * KIB, &handle), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_ipc_memory_attach(NULL, 8 * KIB, 0, NULL, &ptr), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_attach(&handle, 8 * KIB, 0, NULL, NULL), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_attach(&handle, 8 * KIB, 1, NULL, &ptr), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_attach(&handle, 8 * KIB, 1, &none, &ptr), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_ipc_memory_attach(&handle, 4 * KIB, 1, &gpu, &ptr), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_attach(&handle, 0, 1, &gpu, &ptr), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_attach(&handle, SIZE_MAX, 1, &gpu, &ptr), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_signal_attach(&handle, &signal), ARGUMENT);
	for (unsigned i = 0; i < 8; i++) {
		broken = handle;
		broken.handle[i] ^= 0x10;
		if (i < 7) /* the last word has no meaning yet */
			CHECK_EQ(hsa_amd_ipc_memory_attach(&broken, 8 * KIB, 1, &gpu, &ptr), ARGUMENT);
	}
	CHECK_EQ(hsa_amd_ipc_memory_detach(NULL), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_detach(data), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_detach((void *)UINTPTR_MAX), ARGUMENT);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &signal), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_ipc_signal_create(signal, &signal_handle), ARGUMENT); /* it was not made for that */
	CHECK_EQ(hsa_amd_ipc_signal_create(signal, NULL), ARGUMENT);
	CHECK_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_ipc_signal_create(signal, &signal_handle), HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(hsa_amd_ipc_signal_create((hsa_signal_t){0}, &signal_handle), HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(hsa_amd_ipc_signal_attach(NULL, &signal), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_signal_attach(&handle, NULL), ARGUMENT);
}

static bool descriptor_is(int fd, const char *kind)
{
	char path[64], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = 0;
	return strstr(target, kind);
}

static nlink_t threads(void)
{
	struct stat st;

	return CHECK_EQ(stat("/proc/self/task", &st), 0) ? st.st_nlink : 0;
}

/* The program closes what the thread that answers other processes waits for, and the runtime can end; without its socket, for which
 * the kernel has no wait then, the thread ends. */
static void ends_without_its(const char *kind)
{
	hsa_amd_ipc_memory_t handle;
	unsigned closed = 0;
	bool before[256];
	nlink_t others;
	char *data;

	if (!begin())
		return;
	CHECK_EQ(hsa_amd_memory_pool_allocate(f.gpu[0].coarse, 8 * KIB, 0, (void **)&data), HSA_STATUS_SUCCESS);
	for (int fd = 0; fd < 256; fd++)
		before[fd] = descriptor_is(fd, kind);
	others = threads();
	CHECK_EQ(hsa_amd_ipc_memory_create(data, 8 * KIB, &handle), HSA_STATUS_SUCCESS);
	CHECK_EQ(threads(), others + 1);
	usleep(50000); /* the thread waits then */
	for (int fd = 0; fd < 256; fd++)
		if (descriptor_is(fd, kind) && !before[fd])
			closed += !close(fd);
	CHECK_EQ(closed, 1);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
	alarm(60);
	while (!strcmp(kind, "socket") && threads() > others)
		usleep(1000);
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	alarm(0);
}

/* --- death, and other users ------------------------------------------------------------------- */

/* Exports, tells, and lives until it is killed. It has a child, which inherited all and must answer nobody. */
static int export_and_wait(int socket)
{
	struct exported e;

	if (!begin())
		return 9;
	export_all(&e);
	if (!fork()) {
		char byte;

		/* Until the test closes the other end. */
		_exit(read(socket, &byte, 1) != 0);
	}
	if (write(socket, &e.hello, sizeof(e.hello)) != sizeof(e.hello))
		return 8;
	for (;;)
		pause();
}

static void exporter_killed(void)
{
	struct hello hello;
	hsa_signal_t go;
	uint32_t *data;
	void *ptr;
	int socket;
	pid_t pid = start(&socket, export_and_wait);

	CHECK_EQ(read(socket, &hello, sizeof(hello)), (ssize_t)sizeof(hello));
	data = attach(&hello, 1);
	CHECK_EQ(hsa_amd_ipc_signal_attach(&hello.go, &go), HSA_STATUS_SUCCESS);
	kill_at_rest(pid);
	CHECK(WIFSIGNALED(end(pid, socket)));
	CHECK_EQ(differ(data, hello.size_B[1], 11), 0);
	CHECK_EQ(hsa_signal_load_scacquire(go), 1);
	hsa_signal_store_screlease(go, 7);
	CHECK_EQ(hsa_signal_load_scacquire(go), 7);
	CHECK_EQ(hsa_amd_ipc_memory_attach(&hello.memory[1], hello.size_B[1], 0, NULL, &ptr), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_memory_detach(data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(go), HSA_STATUS_SUCCESS);
}

static int attach_and_wait(int socket)
{
	struct hello hello;

	if (!begin() || read(socket, &hello, sizeof(hello)) != sizeof(hello))
		return 9;
	attach(&hello, 0);
	if (write(socket, "", 1) != 1)
		return 8;
	for (;;)
		pause();
}

static void importer_killed(void)
{
	struct exported e;
	char byte;
	int socket;
	pid_t pid = start(&socket, attach_and_wait);

	export_all(&e);
	CHECK_EQ(write(socket, &e.hello, sizeof(e.hello)), (ssize_t)sizeof(e.hello));
	CHECK_EQ(read(socket, &byte, 1), 1);
	kill_at_rest(pid);
	CHECK(WIFSIGNALED(end(pid, socket)));
	CHECK_EQ(differ(e.data[0], e.hello.size_B[0], 10), 0);
	free_all(&e);
}

/* Another user's process: knowing the handle is not enough. */
static int attach_as_nobody(int socket)
{
	struct hello hello;
	hsa_signal_t signal;
	void *ptr;

	if (!begin() || read(socket, &hello, sizeof(hello)) != sizeof(hello))
		return 9;
	CHECK_EQ(seteuid(65534), 0);
	CHECK_EQ(hsa_amd_ipc_memory_attach(&hello.memory[0], hello.size_B[0], 0, NULL, &ptr), ARGUMENT);
	CHECK_EQ(hsa_amd_ipc_signal_attach(&hello.go, &signal), ARGUMENT);
	CHECK_EQ(seteuid(0), 0);
	CHECK_EQ(hsa_amd_ipc_memory_attach(&hello.memory[0], hello.size_B[0], 0, NULL, &ptr), HSA_STATUS_SUCCESS);
	return child_done();
}

static void other_user(void)
{
	struct exported e;
	int socket;
	pid_t pid;

	if (geteuid()) {
		printf("not root: that other users are refused was not tried\n");
		return;
	}
	pid = start(&socket, attach_as_nobody);
	export_all(&e);
	CHECK_EQ(write(socket, &e.hello, sizeof(e.hello)), (ssize_t)sizeof(e.hello));
	CHECK_EQ(end(pid, socket), 0);
	free_all(&e);
}

int main(void)
{
	enum vgpu_strict level = vgpu_strict();

	if (!CHECK_EQ(vgpu_start("gfx908"), 0))
		return check_done("memory and signals across processes");
	shared();
	CHECK_EQ(vgpu_live_objects(), 0);
	ends_without_its("timerfd");
	ends_without_its("socket");
	if (begin()) {
		alone();
		misused();
		other_user();
		vgpu_strict_set(VGPU_STRICT_OFF); /* who is killed leaves its buffers behind, which is a finding */
		for (unsigned i = 0; i < 3; i++) {
			exporter_killed();
			importer_killed();
		}
		vgpu_strict_set(level);
	}
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	/* what the dead had is found out in time */
	for (unsigned i = 0; i < 2000 && vgpu_live_objects(); i++)
		usleep(1000);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
	return check_done("memory and signals across processes");
}
