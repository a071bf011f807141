/* What comes from other processes, as a hostile one would send it: handles of memory, signals, events and pools; replies and
 * descriptors from the socket that a handle names; questions to this process's server. The other process is a thread. */
#define HIP_DEPRECATED
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <hip/hip_runtime_api.h>

#include "hsa/ipc/ipc.h"
#include "tests/fuzz/input.h"
#include "tests/hsa_find.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define ROUNDS_MAX 16u
#define SERVER     0x66757a7au
#define SIZE_B     (2u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static struct input in;
static struct hsa_find found;
static hipMemPool_t own_pool;
static hsa_amd_ipc_memory_t own_memory; /* true handles, of objects that stay */
static hsa_amd_ipc_signal_t own_signal;
static hipMemPoolPtrExportData own_address;
static hipIpcEventHandle_t own_event;
static int own_files[4]; /* a dma-buf, a pool, a file that cannot shrink, one that can */
static pthread_barrier_t began;
static pid_t other_id; /* the thread's: the files of a process are also those of each thread */

/* --- the other process ------------------------------------------------------------------------------ */

/* Written before a request, read by the thread behind it. */
static struct {
	struct rt_ipc_reply reply;
	size_t reply_B;
	int fds[2];
	unsigned fd_count;
} next;

static void reply_send(int to)
{
	char room[CMSG_SPACE(sizeof(next.fds))] __attribute__((aligned(8))) = {0};
	struct iovec part = {.iov_base = &next.reply, .iov_len = next.reply_B};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	const size_t fds_B = next.fd_count * sizeof(int);

	if (next.fd_count) {
		message.msg_control = room;
		message.msg_controllen = CMSG_SPACE(fds_B);
		*CMSG_FIRSTHDR(&message) = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(fds_B), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), next.fds, fds_B);
	}
	(void)!sendmsg(to, &message, MSG_NOSIGNAL);
}

static void *other_run(void *arg)
{
	const int listener = *(const int *)arg;
	struct rt_ipc_question question;
	int client;

	other_id = gettid();
	pthread_barrier_wait(&began);
	while ((client = accept(listener, NULL, NULL)) >= 0) {
		if (recv(client, &question, sizeof(question), 0) == sizeof(question))
			reply_send(client);
		close(client);
	}
	return NULL;
}

static int socket_at(uint64_t id, bool listens)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "tuff-hsa-%u-%016llx",
			      (unsigned)getpid(), (unsigned long long)id);
	socklen_t size_B = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);

	if (listens ? bind(fd, (struct sockaddr *)&address, size_B) || listen(fd, 8)
		    : connect(fd, (struct sockaddr *)&address, size_B)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* --- once -------------------------------------------------------------------------------------------- */

static void must(bool ok)
{
	if (!ok)
		abort();
}

static int file_make(size_t size_B, int seals)
{
	int fd = memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	must(fd >= 0 && !ftruncate(fd, (off_t)size_B) && !fcntl(fd, F_ADD_SEALS, seals));
	return fd;
}

static void exports_make(void)
{
	hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
				 .handleTypes = hipMemHandleTypePosixFileDescriptor,
				 .location = {.type = hipMemLocationTypeDevice}};
	void *memory, *block;
	hsa_signal_t signal;
	hipEvent_t event;
	uint64_t offset_B;

	must(!hsa_amd_memory_pool_allocate(found.gpu[0].coarse, SIZE_B, 0, &memory));
	must(!hsa_amd_ipc_memory_create(memory, SIZE_B, &own_memory));
	must(!hsa_amd_portable_export_dmabuf(memory, SIZE_B, &own_files[0], &offset_B));
	must(!hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &signal));
	must(!hsa_amd_ipc_signal_create(signal, &own_signal));
	must(!hipMemPoolCreate(&own_pool, &props));
	must(!hipMallocFromPoolAsync(&block, 65536, own_pool, NULL));
	must(!hipMemPoolExportPointer(&own_address, block));
	must(!hipMemPoolExportToShareableHandle(&own_files[1], own_pool, hipMemHandleTypePosixFileDescriptor, 0));
	must(!hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
	must(!hipIpcGetEventHandle(&own_event, event));
	own_files[2] = file_make(4096, F_SEAL_SHRINK);
	own_files[3] = file_make(SIZE_B, 0);
}

static void fuzzer_start(void)
{
	static int listener;
	pthread_t other;

	vgpu_strict_set(VGPU_STRICT_OFF);
	must(!vgpu_start("gfx908:vram=512M,gfx908:vram=512M") && !hsa_init() && hsa_find_all(&found));
	exports_make();
	listener = socket_at(SERVER, true);
	must(listener >= 0 && !pthread_barrier_init(&began, NULL, 2));
	must(!pthread_create(&other, NULL, other_run, &listener));
	pthread_detach(other);
	pthread_barrier_wait(&began);
}

/* --- what is sent --------------------------------------------------------------------------------------- */

static uint64_t number_draw(void)
{
	static const uint64_t some[] = {0,          1,          100,       4096, 65536, SIZE_B, SIZE_B + 4096,
					2 * SIZE_B, UINT64_MAX, 1ull << 40};
	unsigned b = input_byte(&in);

	return b < 200 ? some[b % 10] : input_draw(&in, 8);
}

static void reply_draw(void)
{
	next.reply = (struct rt_ipc_reply){.item = {.size_B = number_draw()}};
	next.reply.error = input_byte(&in) < 230 ? 0 : -(int)input_byte(&in);
	next.reply.item.kind = input_byte(&in) % 5;
	next.reply.item.uncached = input_byte(&in) & 1;
	next.reply_B = input_byte(&in) < 230 ? sizeof(next.reply) : input_byte(&in) % sizeof(next.reply);
	next.fd_count = input_byte(&in) < 200 ? 1 : input_byte(&in) % 3;
	next.fds[0] = own_files[input_byte(&in) % 4];
	next.fds[1] = own_files[input_byte(&in) % 4];
}

static void bytes_spoil(void *bytes, size_t size_B)
{
	for (unsigned i = input_byte(&in) % 4; i; i--)
		((uint8_t *)bytes)[input_byte(&in) % size_B] = (uint8_t)input_byte(&in);
}

/* A true handle, with another server, or with other bytes. */
static void handle_draw(void *bytes, const void *own, size_t size_B)
{
	struct rt_ipc_handle *handle = bytes;
	unsigned b = input_byte(&in);

	memcpy(bytes, own, size_B);
	if (b & 1)
		handle->server = SERVER;
	if (b & 2)
		handle->kind = input_byte(&in) % 5;
	if (b & 4)
		bytes_spoil(bytes, size_B);
}

/* --- what is done with it ------------------------------------------------------------------------------- */

static void memory_attach(void)
{
	const hsa_agent_t agents[] = {found.gpu[0].agent, found.gpu[1].agent};
	hsa_amd_ipc_memory_t handle;
	void *at;

	handle_draw(&handle, &own_memory, sizeof(handle));
	if (hsa_amd_ipc_memory_attach(&handle, number_draw(), input_byte(&in) % 3, agents, &at))
		return;
	if (hsa_memory_copy(&(uint64_t){0}, at, 8) || hsa_amd_ipc_memory_detach(at))
		__builtin_trap();
}

static void signal_attach(void)
{
	hsa_amd_ipc_signal_t handle;
	hsa_signal_t signal;

	handle_draw(&handle, &own_signal, sizeof(handle));
	if (hsa_amd_ipc_signal_attach(&handle, &signal))
		return;
	hsa_signal_add_relaxed(signal, 1);
	hsa_signal_subtract_relaxed(signal, 1);
	if (hsa_signal_destroy(signal))
		__builtin_trap();
}

/* As hipIpcGetMemHandle() writes it. */
static void hip_memory_open(void)
{
	struct {
		hsa_amd_ipc_memory_t whole;
		uint64_t size_B, offset_B;
		int32_t process, device;
	} content = {.process = 1};
	hipIpcMemHandle_t handle = {0};
	char *at, word[8];

	handle_draw(&content.whole, &own_memory, sizeof(content.whole));
	content.size_B = number_draw();
	content.offset_B = number_draw();
	memcpy(&handle, &content, sizeof(content));
	bytes_spoil(&handle, input_byte(&in) < 200 ? 1 : sizeof(handle));
	if (hipIpcOpenMemHandle((void **)&at, handle, hipIpcMemLazyEnablePeerAccess))
		return;
	/* The address is one of the memory's. */
	if (hipMemcpy(word, at, 1, hipMemcpyDeviceToHost) || hipIpcCloseMemHandle(at))
		__builtin_trap();
}

/* The descriptor's number and the process are the handle's, the contents those of a file. */
static void event_open(void)
{
	struct {
		uint32_t point;
		int32_t process, fd;
		uint32_t zero;
		uint64_t key;
	} content;
	hipIpcEventHandle_t handle = own_event;
	hipEvent_t event;

	memcpy(&content, &handle, sizeof(content));
	content.process = input_byte(&in) & 1 ? other_id : (int)number_draw();
	if (input_byte(&in) & 1)
		content.fd = input_byte(&in) & 1 ? own_files[input_byte(&in) % 4] : (int)number_draw();
	memcpy(&handle, &content, sizeof(content));
	bytes_spoil(&handle, sizeof(handle));
	if (hipIpcOpenEventHandle(&event, handle))
		return;
	(void)!hipEventQuery(event);
	(void)!hipEventRecord(event, NULL);
	(void)!hipStreamWaitEvent(NULL, event, 0);
	(void)!hipDeviceSynchronize();
	if (hipEventDestroy(event))
		__builtin_trap();
}

/* A pool's file is sealed, with any content. */
static int pool_file(void)
{
	uint8_t content[64] = {0};
	int fd = memfd_create("pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ssize_t got = pread(own_files[1], content, sizeof(content), 0);

	bytes_spoil(content, 24);
	must(fd >= 0 && got > 0);
	if (input_byte(&in) < 230 && write(fd, content, (size_t)got) == got)
		must(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL));
	return fd;
}

static void pool_import(void)
{
	int own = input_byte(&in) & 1 ? pool_file() : -1;
	int fd = own >= 0 ? own : own_files[input_byte(&in) % 4];
	hipMemPoolPtrExportData data;
	hipMemPool_t pool;
	void *at;

	if (!hipMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)fd, hipMemHandleTypePosixFileDescriptor,
						 0)) {
		handle_draw(&data, &own_address, sizeof(data));
		if (!hipMemPoolImportPointer(&at, pool, &data) &&
		    (hipMemcpy(&(uint64_t){0}, at, 8, hipMemcpyDeviceToHost) || hipFree(at)))
			__builtin_trap();
		if (hipMemPoolDestroy(pool))
			__builtin_trap();
	}
	if (own >= 0)
		close(own);
}

static void file_import(void)
{
	int fd = own_files[input_byte(&in) % 4];
	hsa_amd_vmem_alloc_handle_t memory;
	size_t size_B, metadata_B;
	const void *metadata;
	void *at;

	if (!hsa_amd_vmem_import_shareable_handle(fd, &memory))
		hsa_amd_vmem_handle_release(memory);
	if (!hsa_amd_interop_map_buffer(1, &found.gpu[input_byte(&in) & 1].agent, fd, 0, &size_B, &at, &metadata_B,
					&metadata))
		hsa_amd_interop_unmap_buffer(at);
}

/* To this process's own server. */
static void question_send(void)
{
	struct rt_ipc_handle handle;
	struct rt_ipc_question question[2] = {0};
	uint8_t reply[64];
	int fd;

	memcpy(&handle, &own_memory, sizeof(handle));
	fd = socket_at(handle.server, false);
	must(fd >= 0);
	question[0] = (struct rt_ipc_question){.item = handle.item, .piece = number_draw()};
	bytes_spoil(&question[0], sizeof(question[0]));
	(void)!send(fd, question, input_byte(&in) < 200 ? sizeof(question[0]) : input_byte(&in) % sizeof(question),
		    MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	(void)!recv(fd, reply, sizeof(reply), 0);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	static void (*const rounds[])(void) = {memory_attach, signal_attach, hip_memory_open, event_open,
					       pool_import,   file_import,   question_send};
	static bool started;

	if (!started)
		fuzzer_start();
	started = true;
	in = (struct input){data, data + size_B};
	for (unsigned i = 0; i < ROUNDS_MAX && !input_ended(&in); i++) {
		unsigned which = input_byte(&in) % 7;

		reply_draw();
		rounds[which]();
	}
	return 0;
}
