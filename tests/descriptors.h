/* Passes file descriptors over a Unix socket, for tests of two processes. */
#ifndef TESTS_DESCRIPTORS_H
#define TESTS_DESCRIPTORS_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A descriptor and a word; 0, or -1 when the other end is gone. */
static inline int send_fd(int to, int fd, uint32_t word)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec part = {&word, sizeof(word)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.room,
				 .msg_controllen = sizeof(control.room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return TEMP_FAILURE_RETRY(sendmsg(to, &message, MSG_NOSIGNAL)) == sizeof(word) ? 0 : -1;
}

/* The descriptor, or -1 when the other end is gone. */
static inline int receive_fd(int from, uint32_t *word)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = {word, sizeof(*word)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.room,
				 .msg_controllen = sizeof(control.room)};
	struct cmsghdr *c;
	int fd;

	if (TEMP_FAILURE_RETRY(recvmsg(from, &message, MSG_CMSG_CLOEXEC)) != sizeof(*word))
		return -1;
	c = CMSG_FIRSTHDR(&message);
	if (!c)
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

#endif
