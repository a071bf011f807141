/* Messages between two processes, with an optional file descriptor. */
#ifndef TESTS_HIP_WIRE_H
#define TESTS_HIP_WIRE_H

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* False: the other is gone. fd -1: none goes along. */
static inline bool wire_send(int to, const void *what, size_t size, int fd = -1)
{
	alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
	iovec part = {(void *)what, size};
	msghdr message = {};

	message.msg_iov = &part;
	message.msg_iovlen = 1;
	if (fd >= 0) {
		message.msg_control = room;
		message.msg_controllen = sizeof(room);
		cmsghdr *c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)size;
}

/* False: the other is gone. *fd is -1 when none came. flags: as recvmsg() has them. */
static inline bool wire_receive(int from, void *what, size_t size, int *fd, int flags = 0)
{
	alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
	iovec part = {what, size};
	msghdr message = {};

	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = room;
	message.msg_controllen = sizeof(room);
	*fd = -1;
	if (recvmsg(from, &message, MSG_CMSG_CLOEXEC | flags) != (ssize_t)size)
		return false;
	if (CMSG_FIRSTHDR(&message))
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(*fd));
	return true;
}

#endif
