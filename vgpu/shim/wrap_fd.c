/* Functions on descriptors: ioctl, close, copies, and messages that carry them. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"

/* The letters of DRM, dma-buf and sync file; other ioctls pass. */
static bool type_is_ours(unsigned long request)
{
	unsigned type = _IOC_TYPE(request);

	return type == 'd' || type == 'b' || type == '>';
}

SHIM_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	bool ours;
	long r;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (!shim_active() || !type_is_ours(request))
		return SHIM_REAL(ioctl)(fd, request, arg);
	SHIM_HOLD_CANCEL;
	r = kern_ioctl(fd, request, arg, &ours);
	if (!ours)
		return SHIM_REAL(ioctl)(fd, request, arg);
	if (__builtin_expect(!shim_fd_hold(fd),
			     0)) /* a descriptor that came past the shim: pidfd_getfd, a raw dup */
		shim_fd_adopt(fd);
	if (r >= 0)
		return (int)r;
	errno = (int)-r;
	return -1;
}

/* --- closing --- */

SHIM_EXPORT int close(int fd)
{
	struct kern_hold *hold;
	int r, error;

	if (!shim_active())
		return SHIM_REAL(close)(fd);
	if (shim_run_owns(fd)) {
		errno = EBADF;
		return -1;
	}
	pthread_testcancel();
	SHIM_HOLD_CANCEL;
	hold = shim_fd_take(fd);
	r = SHIM_REAL(close)(fd);
	if (hold) {
		error = errno;
		kern_hold_release(hold);
		errno = error;
	}
	return r;
}

/* Everything but the run's own descriptors. */
static int close_around(unsigned first, unsigned last, int flags)
{
	for (;;) {
		unsigned owned = shim_run_next_owned(first);
		int r = 0;

		if (owned > last)
			return SHIM_REAL(close_range)(first, last, flags);
		if (owned > first)
			r = SHIM_REAL(close_range)(first, owned - 1, flags);
		if (r || owned == last)
			return r;
		first = owned + 1;
	}
}

SHIM_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	if (!shim_active() || first > last || (flags & ~0xfu))
		return SHIM_REAL(close_range)(first, last, flags);
	SHIM_HOLD_CANCEL;
	if (!(flags & CLOSE_RANGE_CLOEXEC))
		shim_fd_forget_range(first, last);
	return close_around(first, last, flags);
}

SHIM_EXPORT void closefrom(int first)
{
	if (shim_active())
		close_range(first < 0 ? 0 : (unsigned)first, ~0u, 0);
	else
		SHIM_REAL(closefrom)(first);
}

/* --- copies --- */

SHIM_EXPORT int dup(int fd)
{
	SHIM_HOLD_CANCEL;
	int copy = SHIM_REAL(dup)(fd);

	if (copy >= 0 && shim_active())
		shim_fd_copied(fd, copy);
	return copy;
}

static int dup_onto(int fd, int to, int flags, bool three)
{
	SHIM_HOLD_CANCEL;
	struct kern_hold *closed;
	int r;

	if (shim_run_owns(to)) {
		errno = EBUSY;
		return -1;
	}
	if (fd == to)
		return three ? SHIM_REAL(dup3)(fd, to, flags) : SHIM_REAL(dup2)(fd, to);
	closed = shim_fd_take(to);
	r = three ? SHIM_REAL(dup3)(fd, to, flags) : SHIM_REAL(dup2)(fd, to);
	if (r < 0 && closed) {
		int error = errno;

		shim_fd_adopt(to); /* the descriptor stays open */
		errno = error;
	}
	if (closed)
		kern_hold_release(closed);
	if (r >= 0)
		shim_fd_copied(fd, to);
	return r;
}

SHIM_EXPORT int dup2(int fd, int to)
{
	return shim_active() ? dup_onto(fd, to, 0, false) : SHIM_REAL(dup2)(fd, to);
}

SHIM_EXPORT int dup3(int fd, int to, int flags)
{
	return shim_active() ? dup_onto(fd, to, flags, true) : SHIM_REAL(dup3)(fd, to, flags);
}

#define FCNTL(name)                                                                                                \
	SHIM_EXPORT int name(int fd, int command, ...)                                                             \
	{                                                                                                          \
		va_list args;                                                                                      \
		void *arg;                                                                                         \
		int r;                                                                                             \
                                                                                                                   \
		va_start(args, command);                                                                           \
		arg = va_arg(args, void *);                                                                        \
		va_end(args);                                                                                      \
		r = SHIM_REAL(name)(fd, command, arg);                                                             \
		if (r >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC) && shim_active()) {               \
			SHIM_HOLD_CANCEL;                                                                          \
			shim_fd_copied(fd, r);                                                                     \
		}                                                                                                  \
		return r;                                                                                          \
	}
FCNTL(fcntl)
FCNTL(fcntl64)

/* --- messages --- */

/* Calls visit for every descriptor of the virtual GPU in a message. The kernel refuses a length that does not fit. */
static void rights_each(const struct msghdr *msg, void (*visit)(int fd, const struct stat *st))
{
	const char *end = (const char *)msg->msg_control + msg->msg_controllen;
	SHIM_HOLD_CANCEL;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR((struct msghdr *)msg, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_len < CMSG_LEN(0) || c->cmsg_len > (size_t)(end - (const char *)c))
			return;
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			struct stat st;
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (!sys_fstat(fd, &st) && shim_dev_is_ours(st.st_dev))
				visit(fd, &st);
		}
	}
}

/* Process that connected to a socket with a name. Both ends of a socket pair name its creator, which may have
 * passed one on. */
static pid_t peer_of(int socket)
{
	struct sockaddr_un name;
	socklen_t size_B = sizeof(name), cred_B = sizeof(struct ucred);
	struct ucred peer;

	if (getsockname(socket, (struct sockaddr *)&name, &size_B) || name.sun_family != AF_UNIX ||
	    size_B <= sizeof(name.sun_family) || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &cred_B))
		return 0;
	return peer.pid;
}

static _Thread_local pid_t receiver; /* receiver of the message that is being read */

static void fd_sent(int fd, const struct stat *st)
{
	(void)fd;
	kern_fd_sent(st->st_dev, st->st_ino, receiver);
}

static void fd_not_sent(int fd, const struct stat *st)
{
	(void)fd;
	kern_fd_arrived(st->st_dev, st->st_ino);
}

/* The message stays in the socket, with what it carries. */
static void fd_peeked(int fd, const struct stat *st)
{
	(void)st;
	shim_fd_adopt(fd);
}

static void fd_received(int fd, const struct stat *st)
{
	shim_fd_adopt(fd);
	kern_fd_arrived(st->st_dev, st->st_ino);
}

static bool has_control(const struct msghdr *msg)
{
	return msg->msg_control && msg->msg_controllen;
}

static void rights_send(int socket, const struct msghdr *msg)
{
	if (!has_control(msg))
		return;
	receiver = peer_of(socket);
	rights_each(msg, fd_sent);
}

static void rights_take_back(const struct msghdr *msg)
{
	int error = errno;

	if (has_control(msg))
		rights_each(msg, fd_not_sent);
	errno = error;
}

static void rights_receive(const struct msghdr *msg, int flags)
{
	if (has_control(msg))
		rights_each(msg, flags & MSG_PEEK ? fd_peeked : fd_received);
}

SHIM_EXPORT ssize_t sendmsg(int socket, const struct msghdr *msg, int flags)
{
	bool active = shim_active() && msg;
	ssize_t n;

	if (active)
		rights_send(socket, msg);
	n = SHIM_REAL(sendmsg)(socket, msg, flags);
	if (n < 0 && active)
		rights_take_back(msg);
	return n;
}

SHIM_EXPORT ssize_t recvmsg(int socket, struct msghdr *msg, int flags)
{
	ssize_t n = SHIM_REAL(recvmsg)(socket, msg, flags);

	if (n >= 0 && shim_active())
		rights_receive(msg, flags);
	return n;
}

SHIM_EXPORT int sendmmsg(int socket, struct mmsghdr *msgs, unsigned count, int flags)
{
	bool active = shim_active() && msgs;
	unsigned sent;
	int n;

	count = count < UIO_MAXIOV ? count : UIO_MAXIOV; /* as Linux */
	for (unsigned i = 0; i < count && active; i++)
		rights_send(socket, &msgs[i].msg_hdr);
	n = SHIM_REAL(sendmmsg)(socket, msgs, count, flags);
	sent = n < 0 ? 0 : (unsigned)n;
	for (unsigned i = sent; i < count && active; i++)
		rights_take_back(&msgs[i].msg_hdr);
	return n;
}

SHIM_EXPORT int recvmmsg(int socket, struct mmsghdr *msgs, unsigned count, int flags, struct timespec *timeout)
{
	int n = SHIM_REAL(recvmmsg)(socket, msgs, count, flags, timeout);

	for (int i = 0; i < n && shim_active(); i++)
		rights_receive(&msgs[i].msg_hdr, flags);
	return n;
}
