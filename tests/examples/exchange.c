/* Two processes share one buffer and use it in turn: the parent creates it and sends it to its child as a dma-buf,
 * with a syncobj that signals when the buffer may be used; each side's GPU work waits for the other's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tuff/tuff.h>

#define TURNS 10

static const char *who;

static void must(int r)
{
	if (r) {
		fprintf(stderr, "%s: %s\n", who, tuff_error());
		exit(1);
	}
}

static void must_be(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

/* Two descriptors over a socket. */
static void send_fds(int to, const int fds[2])
{
	char room[CMSG_SPACE(2 * sizeof(int))] = {0}, byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(c), fds, 2 * sizeof(int));
	must_be(sendmsg(to, &message, 0) == 1, "sendmsg");
}

static void receive_fds(int from, int fds[2])
{
	char room[CMSG_SPACE(2 * sizeof(int))], byte;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};

	must_be(recvmsg(from, &message, 0) == 1 && CMSG_FIRSTHDR(&message), "recvmsg");
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), 2 * sizeof(int));
}

/* Adds turn after turn: writes word `turn` when the timeline is at it, and moves the timeline on. */
static void take_turns(struct tuff_device *gpu, uint64_t va, struct tuff_sync *sync, unsigned first)
{
	struct tuff_queue *queue;

	must(tuff_queue_create(gpu, &(struct tuff_queue_create_info){.engine = TUFF_COMPUTE}, &queue));
	for (unsigned turn = first; turn < TURNS; turn += 2) {
		struct tuff_sync_point now = {sync, turn + 1}, next = {sync, turn + 2};
		struct tuff_order order = {.wait = &now, .wait_count = 1, .signal = &next, .signal_count = 1};
		struct tuff_cmd *cmd;

		/* A job may only wait for what has been submitted: wait until the other side has taken its turn. */
		must(tuff_sync_wait(sync, turn + 1, TUFF_FOREVER));
		must(tuff_begin(queue, 0, &cmd));
		must(tuff_cmd_write(cmd, va + turn * 4, &(uint32_t){getpid()}, 1));
		must(tuff_submit(cmd, &order, NULL));
	}
	must(tuff_queue_destroy(queue));
}

static int child(int parent)
{
	struct tuff_device *gpu;
	struct tuff_sync *sync;
	struct tuff_mem *mem;
	struct tuff_mem_info info;
	int fds[2];

	who = "child";
	receive_fds(parent, fds);
	must(tuff_device_open(NULL, &gpu));
	must(tuff_mem_import(gpu, fds[0], 0, &mem));
	must(tuff_mem_query(mem, &info));
	must(tuff_sync_import(gpu, fds[1], &sync));
	take_turns(gpu, info.va, sync, 1);
	must(tuff_sync_destroy(sync));
	must(tuff_mem_destroy(mem));
	must(tuff_device_close(gpu));
	return 0;
}

int main(void)
{
	struct tuff_device *gpu;
	struct tuff_sync *sync;
	struct tuff_mem *mem;
	struct tuff_mem_info info;
	int sockets[2], fds[2], status;
	const uint32_t *word;
	unsigned right = 0;
	pid_t pid;

	who = "parent";
	must_be(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), "socketpair");
	pid = fork();
	must_be(pid >= 0, "fork");
	if (!pid)
		return child(sockets[1]);

	must(tuff_device_open(NULL, &gpu));
	must(tuff_mem_create(gpu, &(struct tuff_mem_create_info){4096, TUFF_GTT, TUFF_MEM_CPU}, &mem));
	must(tuff_mem_query(mem, &info));
	must(tuff_sync_create(gpu, false, &sync));
	must(tuff_mem_export(mem, &fds[0]));
	must(tuff_sync_export(sync, &fds[1]));
	send_fds(sockets[0], fds);
	must(tuff_sync_signal(sync, 1));
	take_turns(gpu, info.va, sync, 0);
	must(tuff_sync_wait(sync, TURNS + 1, TUFF_FOREVER));

	word = info.map;
	for (unsigned i = 0; i < TURNS; i++)
		right += word[i] == (uint32_t)(i % 2 ? pid : getpid());
	printf("%u of %u turns are right\n", right, TURNS);
	must_be(waitpid(pid, &status, 0) == pid && !status, "the child");
	must(tuff_sync_destroy(sync));
	must(tuff_mem_destroy(mem));
	must(tuff_device_close(gpu));
	return right != TURNS;
}
