/* Replies of a process that is not honest: with other descriptors than one, cut off, or none. Only a whole reply with
 * one descriptor is taken, and no descriptor stays open that the caller does not get. The other process is a thread. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hsa/ipc/ipc.h"
#include "tests/check.h"
#include "tests/files.h"

#define SERVER  0x7465737453657276ull
#define FDS_MAX 8u

static struct {
	struct rt_ipc_reply reply;
	size_t reply_B;
	unsigned fds;
} next;
static unsigned asked;
static _Atomic unsigned served;

static void reply_send(int to)
{
	char room[CMSG_SPACE(FDS_MAX * sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec part = {.iov_base = &next.reply, .iov_len = next.reply_B};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	const int fd = STDERR_FILENO;

	if (next.fds) {
		message.msg_control = room;
		message.msg_controllen = CMSG_SPACE(next.fds * sizeof(int));
		*CMSG_FIRSTHDR(&message) = (struct cmsghdr){.cmsg_len = CMSG_LEN(next.fds * sizeof(int)),
							    .cmsg_level = SOL_SOCKET,
							    .cmsg_type = SCM_RIGHTS};
		for (unsigned i = 0; i < next.fds; i++)
			memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)) + i * sizeof(int), &fd, sizeof(fd));
	}
	(void)!sendmsg(to, &message, MSG_NOSIGNAL);
}

static void *server_run(void *arg)
{
	const int listener = *(const int *)arg;
	struct rt_ipc_question question;
	int client;

	while ((client = accept(listener, NULL, NULL)) >= 0) {
		if (recv(client, &question, sizeof(question), 0) == sizeof(question))
			reply_send(client);
		close(client);
		atomic_fetch_add(&served, 1);
	}
	return NULL;
}

static int server_listen(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "tuff-hsa-%u-%016llx",
			      (unsigned)getpid(), SERVER);

	CHECK(!bind(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) &&
	      !listen(fd, 8));
	return fd;
}

/* The descriptors, when the server has closed its own of all queries. */
static unsigned files_at_rest(void)
{
	while (atomic_load(&served) != asked)
		usleep(100);
	return open_files();
}

static int query(int *fd)
{
	const struct rt_ipc_handle handle = {.magic = RT_IPC_MAGIC, .pid = (uint32_t)getpid(), .server = SERVER};
	struct rt_ipc_item item;

	asked++;
	return rt_ipc_query(&handle, 0, &item, fd);
}

static void refused(int32_t error, size_t reply_B, unsigned fds)
{
	const unsigned before = files_at_rest();
	int fd;

	next.reply.error = error;
	next.reply_B = reply_B;
	next.fds = fds;
	CHECK_EQ(query(&fd), -ENOENT);
	CHECK_EQ(fd, -1);
	CHECK_EQ(files_at_rest(), before);
}

static void one_descriptor_is_taken(void)
{
	const unsigned before = files_at_rest();
	int fd = -1;

	next.reply_B = sizeof(next.reply);
	next.fds = 1;
	CHECK_EQ(query(&fd), 0);
	CHECK_EQ(files_at_rest(), before + 1);
	CHECK(!close(fd));
}

int main(void)
{
	const size_t whole_B = sizeof(struct rt_ipc_reply);
	int listener = server_listen();
	pthread_t thread;

	pthread_create(&thread, NULL, server_run, &listener);
	one_descriptor_is_taken();
	for (unsigned fds = 2; fds <= FDS_MAX; fds++)
		refused(0, whole_B, fds);
	refused(0, whole_B, 0);
	refused(0, whole_B - 1, 1);
	refused(-ENOENT, whole_B, 1);
	refused(-ENOENT, whole_B, 2);
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(listener);
	return check_done("replies of other processes");
}
