/* The transfer of descriptors between processes. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "drv/cancel.h"
#include "hsa/core/waker.h"
#include "hsa/ipc/ipc.h"

/* Timeouts: of a client whose server may be busy, and of the server for a client that sends no request. */
#define ASK_S   10 /* as in ROCr */
#define SERVE_S 1
/* How often the server looks whether it ends: a program may have closed the waker that tells it, or forbid its calls. */
#define LOOK_MS 1000

struct rt_ipc_server {
	struct rt *rt; /* borrowed */
	pthread_t thread;
	uint32_t pid; /* of the process that it serves */
	uint64_t id;
	int listener, stop; /* owned; stop: a waker */
	_Atomic bool ends;
};

static socklen_t name_of(uint32_t pid, uint64_t id, struct sockaddr_un *address)
{
	int length;

	*address = (struct sockaddr_un){
		.sun_family = AF_UNIX}; /* an abstract name begins with 0, and is in no file system */
	length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "tuff-hsa-%u-%016llx", pid,
			  (unsigned long long)id);
	return offsetof(struct sockaddr_un, sun_path) + 1 + length;
}

static bool is_same_user(int fd)
{
	struct ucred peer;
	socklen_t size_B = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size_B) && peer.uid == geteuid();
}

static void limit_waits(int fd, time_t seconds)
{
	const struct timeval limit = {.tv_sec = seconds};

	(void)!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	(void)!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

/* --- messages --------------------------------------------------------------------------------- */

union control {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void send_reply(int to, const struct rt_ipc_reply *reply, int fd)
{
	union control control = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)reply, .iov_len = sizeof(*reply)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (!reply->error) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof(control.room);
		*CMSG_FIRSTHDR(&message) = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof(fd));
	}
	(void)!TEMP_FAILURE_RETRY(
		sendmsg(to, &message, MSG_NOSIGNAL)); /* a client that has disconnected needs no reply */
}

static int receive_reply(int from, struct rt_ipc_reply *reply, int *fd)
{
	union control control;
	struct iovec part = {.iov_base = reply, .iov_len = sizeof(*reply)};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		/* Not its alignment, too, where a second descriptor would fit that nobody closes. */
		.msg_controllen = CMSG_LEN(sizeof(int))};
	const struct cmsghdr *c;
	ssize_t got;

	*fd = -1;
	got = TEMP_FAILURE_RETRY(recvmsg(from, &message, MSG_CMSG_CLOEXEC));
	if (got < 0)
		return drv_fail(-ENOENT, "the process that exported it does not answer");
	c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	if (got == sizeof(*reply) && !reply->error && *fd >= 0 && !(message.msg_flags & MSG_CTRUNC))
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return drv_fail(-ENOENT, "the process that exported it has it no more");
}

/* --- the server ------------------------------------------------------------------------------- */

static void serve_client(struct rt *rt, int client)
{
	struct rt_ipc_reply reply = {0};
	struct rt_ipc_question question;
	int fd = -1;

	limit_waits(client, SERVE_S);
	if (!is_same_user(client) ||
	    TEMP_FAILURE_RETRY(recv(client, &question, sizeof(question), 0)) != sizeof(question))
		return;
	reply.error = rt_ipc_give(rt, &question, &reply.item, &fd);
	send_reply(client, &reply, fd);
	if (!reply.error)
		close(fd);
}

/* When the program has closed descriptors that it does not know, the number may be of a socket of its own. */
static bool is_own_listener(const struct rt_ipc_server *server)
{
	struct sockaddr_un mine, address;
	socklen_t mine_B = name_of(server->pid, server->id, &mine), size_B = sizeof(address);

	return !getsockname(server->listener, (struct sockaddr *)&address, &size_B) && size_B == mine_B &&
	       !memcmp(&address, &mine, size_B);
}

static void *serve_run(void *arg)
{
	DRV_HOLD_CANCEL;
	struct rt_ipc_server *server = arg;
	struct pollfd wait[2] = {{.fd = server->listener, .events = POLLIN},
				 {.fd = server->stop, .events = POLLIN}};

	for (;;) {
		int client;

		if (poll(wait, 2, LOOK_MS) < 0 && errno != EINTR)
			return NULL;
		if (wait[1].revents || atomic_load(&server->ends))
			return NULL;
		if (!is_own_listener(server))
			return NULL;
		client = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
		if (client >= 0) {
			serve_client(server->rt, client);
			close(client);
		} else if (errno == EMFILE || errno == ENFILE) {
			/* The client waits until the process has a free descriptor. */
			(void)!poll(&wait[1], 1, 10);
		} else if (errno == EBADF || errno == ENOTSOCK || errno == EINVAL) {
			return NULL; /* the program closed it */
		}
	}
}

static int listen_at(uint64_t id)
{
	struct sockaddr_un address;
	socklen_t size_B = name_of((uint32_t)getpid(), id, &address);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r;

	if (fd < 0)
		return drv_fail(-errno, "a socket for other processes");
	if (!bind(fd, (const struct sockaddr *)&address, size_B) && !listen(fd, SOMAXCONN))
		return fd;
	r = -errno;
	close(fd);
	return drv_fail(r, "a socket for other processes");
}

static void close_all(const struct rt_ipc_server *server)
{
	if (is_own_listener(server))
		close(server->listener);
	rt_waker_close(server->stop);
}

int rt_ipc_serve(struct rt *rt, uint64_t id, struct rt_ipc_server **out)
{
	DRV_HOLD_CANCEL;
	struct rt_ipc_server *server = malloc(sizeof(*server));
	int r = 0;

	if (!server)
		return drv_fail(-ENOMEM, "no host memory to serve other processes");
	*server = (struct rt_ipc_server){.rt = rt,
					 .pid = (uint32_t)getpid(),
					 .id = id,
					 .listener = listen_at(id),
					 .stop = rt_waker_create()};
	if (server->listener < 0)
		r = server->listener;
	else if (server->stop < 0)
		r = drv_fail(-errno, "a timerfd");
	if (!r) {
		r = -pthread_create(&server->thread, NULL, serve_run, server);
		if (r)
			drv_fail(r, "no thread to serve other processes");
	}
	if (r) {
		close_all(server);
		free(server);
		return r;
	}
	*out = server;
	return 0;
}

void rt_ipc_unserve(struct rt_ipc_server *server)
{
	DRV_HOLD_CANCEL;

	if (!server)
		return;
	atomic_store(&server->ends, true);
	rt_waker_wake(server->stop);
	pthread_join(server->thread, NULL);
	close_all(server);
	free(server);
}

void rt_ipc_abandon(struct rt_ipc_server *server)
{
	DRV_HOLD_CANCEL;

	close_all(server);
}

/* --- the client ----------------------------------------------------------------------------------- */

static int send_query(int fd, const struct rt_ipc_handle *handle, uint64_t piece, struct rt_ipc_reply *reply,
		      int *got)
{
	const struct rt_ipc_question question = {.item = handle->item, .piece = piece};
	struct sockaddr_un address;
	socklen_t size_B = name_of(handle->pid, handle->server, &address);

	limit_waits(fd, ASK_S);
	if (TEMP_FAILURE_RETRY(connect(fd, (const struct sockaddr *)&address, size_B)))
		return drv_fail(-ENOENT, "process %u, which exported it, is not there", handle->pid);
	/* Another process may have taken the name. */
	if (!is_same_user(fd))
		return drv_fail(-EPERM, "process %u, which exported it, is another user's", handle->pid);
	if (TEMP_FAILURE_RETRY(send(fd, &question, sizeof(question), MSG_NOSIGNAL)) != sizeof(question))
		return drv_fail(-ENOENT, "process %u, which exported it, does not listen", handle->pid);
	return receive_reply(fd, reply, got);
}

int rt_ipc_query(const struct rt_ipc_handle *handle, uint64_t piece, struct rt_ipc_item *what, int *fd)
{
	DRV_HOLD_CANCEL;
	int asking = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), r;
	struct rt_ipc_reply reply;

	if (asking < 0)
		return drv_fail(-errno, "a socket to another process");
	r = send_query(asking, handle, piece, &reply, fd);
	close(asking);
	if (!r)
		*what = reply.item;
	return r;
}
