/* Descriptors, names and memory as a client sees them: copies, fork, messages, PRIME, discovery, preloading. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <xf86drm.h>
#include "tests/check.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

static int open_node(void)
{
	return open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
}

static uint32_t create(int fd, uint64_t domains)
{
	union drm_amdgpu_gem_create args = {.in = {8192, 0, domains, 0}};

	return ioctl(fd, DRM_IOCTL_AMDGPU_GEM_CREATE, &args) ? 0 : args.out.handle;
}

static uint32_t *map(int fd, uint32_t handle)
{
	union drm_amdgpu_gem_mmap args = {.in = {handle, 0}};

	if (ioctl(fd, DRM_IOCTL_AMDGPU_GEM_MMAP, &args))
		return MAP_FAILED;
	return mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)args.out.addr_ptr);
}

/* As programs do that replace libc's mmap by their own. */
static uint32_t *map_by_syscall(int fd, uint32_t handle)
{
	union drm_amdgpu_gem_mmap args = {.in = {handle, 0}};

	if (ioctl(fd, DRM_IOCTL_AMDGPU_GEM_MMAP, &args))
		return MAP_FAILED;
	return (uint32_t *)syscall(SYS_mmap, NULL, 8192L, (long)(PROT_READ | PROT_WRITE), (long)MAP_SHARED,
				   (long)fd, (long)args.out.addr_ptr);
}

static unsigned long bos(void)
{
	struct vgpu_live live;

	vgpu_live(&live);
	return live.bos;
}

static unsigned long files(void)
{
	struct vgpu_live live;

	vgpu_live(&live);
	return live.files;
}

/* The path that /proc/self/maps has for an address, by open() or by fopen(). */
static const char *mapped_path(const void *at, bool stream)
{
	static char path[256];
	FILE *f = stream ? fopen("/proc/self/maps", "re")
			 : fdopen(open("/proc/self/maps", O_RDONLY | O_CLOEXEC), "r");
	unsigned long lo, hi;
	char line[512];

	strcpy(path, "nothing");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %255s", &lo, &hi, path) >= 2 && lo == (unsigned long)at)
			break;
	if (f)
		fclose(f);
	return path;
}

/* row 176 */
static void mappings_are_the_nodes(void)
{
	int fd[2], files_before;
	uint32_t *at[2], *other = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK_EQ(vgpu_start("gfx906,gfx908"), 0);
	fd[0] = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	fd[1] = open("/dev/dri/renderD129", O_RDWR | O_CLOEXEC);
	files_before = files();
	for (int i = 0; i < 2; i++) {
		at[i] = map(fd[i], create(fd[i], AMDGPU_GEM_DOMAIN_VRAM));
		CHECK(at[i] != MAP_FAILED);
	}
	CHECK_STR(mapped_path(at[0], false), "/dev/dri/renderD128");
	CHECK_STR(mapped_path(at[1], true), "/dev/dri/renderD129");
	CHECK(strncmp(mapped_path(other, false), "/dev/dri", 8));
	munmap(at[1], 8192);
	CHECK(strcmp(mapped_path(at[1], false), "/dev/dri/renderD129"));
	CHECK_EQ(files(), files_before);
	munmap(at[0], 8192);
	munmap(other, 4096);
	close(fd[0]);
	close(fd[1]);
	vgpu_stop();
}

static void names(void)
{
	char text[PATH_MAX], link[64];
	struct stat st;
	struct statx stx;
	DIR *dir = opendir("/dev/dri");
	struct dirent *entry;
	unsigned long findings;
	unsigned found = 0;
	int fd;

	while (dir && (entry = readdir(dir)))
		found += !strcmp(entry->d_name, "renderD129") || !strcmp(entry->d_name, "card1");
	CHECK_EQ(found, 2);
	fd = openat(dirfd(dir), "renderD128", O_RDWR);
	CHECK(fd >= 0 && drmGetNodeTypeFromFd(fd) == DRM_NODE_RENDER);
	closedir(dir);
	CHECK_EQ(stat("/dev/dri/renderD129", &st), 0);
	CHECK(S_ISCHR(st.st_mode));
	CHECK_EQ(st.st_rdev, makedev(226, 129));
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_rdev, makedev(226, 128));
	CHECK_EQ(statx(AT_FDCWD, "/dev/dri/by-path/pci-0000:03:00.0-render", 0, STATX_ALL, &stx), 0);
	CHECK_EQ(stx.stx_rdev_minor, 128);
	CHECK_EQ(access("/dev/dri/card0", R_OK | W_OK), 0);
	CHECK_EQ(access("/dev/dri/card7", F_OK), -1);
	CHECK(realpath("/sys/dev/char/226:128/device", text) != NULL);
	CHECK_STR(text, "/sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0");
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	link[readlink(text, link, sizeof(link) - 1)] = 0;
	CHECK_STR(link, "/dev/dri/renderD128");
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	CHECK_EQ(files(), 1);
	found = (unsigned)open(text, O_RDWR); /* a new file, not a copy of the descriptor */
	CHECK_EQ(files(), 2);
	close((int)found);
	findings = vgpu_findings();
	CHECK_EQ(access("/dev/kfd", F_OK), -1); /* row 10 */
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(open("/dev/kfd", O_RDWR), -1);
	CHECK_EQ(vgpu_findings() - findings, 2);
	CHECK_EQ(access("/sys/class/kfd/kfd/topology", R_OK), 0); /* reading it is no use of KFD */
	CHECK_EQ(vgpu_findings() - findings, 2);
	close(fd);
	CHECK_EQ(files(), 0);
	CHECK_EQ(open("/etc/passwd-is-not-there", O_RDONLY), -1);
	CHECK_EQ(errno, ENOENT);
}

static void devices_through_libdrm(void)
{
	drmDevicePtr devices[4];
	amdgpu_device_handle dev[2];
	uint32_t major, minor;
	int fd[2], count = drmGetDevices2(0, devices, 4);

	CHECK_EQ(count, 2);
	CHECK_EQ(devices[0]->deviceinfo.pci->vendor_id, 0x1002);
	CHECK_EQ(devices[0]->available_nodes, 1 << DRM_NODE_PRIMARY | 1 << DRM_NODE_RENDER);
	for (int i = 0; i < 2; i++) {
		fd[i] = open(devices[i]->nodes[DRM_NODE_RENDER], O_RDWR | O_CLOEXEC);
		CHECK_EQ(amdgpu_device_initialize(fd[i], &major, &minor, &dev[i]), 0);
		CHECK_EQ(minor, 61);
	}
	CHECK(dev[0] != dev[1]); /* libdrm tells them apart by their primary nodes */
	for (int i = 0; i < 2; i++) {
		amdgpu_device_deinitialize(dev[i]);
		close(fd[i]);
	}
	drmFreeDevices(devices, count);
	CHECK_EQ(files(), 0);
}

/* row 12 */
static void the_last_descriptor_closes(void)
{
	int fd = open_node(), two = dup(fd), three = fcntl(fd, F_DUPFD_CLOEXEC, 100),
	    four = open("/dev/null", O_RDONLY);

	CHECK_EQ(dup2(fd, four), four);
	CHECK_EQ(files(), 1);
	create(fd, AMDGPU_GEM_DOMAIN_GTT);
	close(fd);
	close(two);
	close(three);
	CHECK_EQ(files(), 1);
	CHECK_EQ(create(four, AMDGPU_GEM_DOMAIN_GTT), 2);
	CHECK_EQ(bos(), 2);
	CHECK_EQ(close_range((unsigned)four, (unsigned)four, 0), 0);
	CHECK_EQ(files(), 0);
	CHECK_EQ(bos(), 0);
}

/* row 23 */
static void mappings_keep_buffers(void)
{
	int fd = open_node();
	struct drm_gem_close args = {.handle = create(fd, AMDGPU_GEM_DOMAIN_VRAM)};
	uint32_t *p = map(fd, args.handle), *moved;

	p[0] = 1;
	p[1024] = 2;
	CHECK_EQ(ioctl(fd, DRM_IOCTL_GEM_CLOSE, &args), 0);
	close(fd);
	CHECK_EQ(bos(), 1);
	CHECK_EQ(munmap(p, 4096), 0);
	CHECK_EQ(bos(), 1);
	CHECK_EQ(p[1024], 2);
	moved = mremap(p + 1024, 4096, 8192, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED && moved[0] == 2);
	CHECK_EQ(bos(), 1);
	CHECK(mmap(moved, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == moved);
	CHECK_EQ(moved[0], 0);
	CHECK_EQ(bos(), 0);
	munmap(moved, 8192);
	fd = open_node();
	p = map(fd, create(fd, AMDGPU_GEM_DOMAIN_VRAM));
	CHECK_EQ(p[0], 0); /* memory comes back empty */
	munmap(p, 8192);
	close(fd);
	CHECK_EQ(bos(), 0);
}

static int make_list(int fd, uint32_t handle)
{
	struct drm_amdgpu_bo_list_entry entry = {handle, 0};
	union drm_amdgpu_bo_list args = {.in = {AMDGPU_BO_LIST_OP_CREATE, 0, 1, sizeof(entry), (uintptr_t)&entry}};

	return ioctl(fd, DRM_IOCTL_AMDGPU_BO_LIST, &args) ? -errno : 0;
}

/* row 11 */
static void syscalls_map_buffers(void)
{
	int fd = open_node();
	uint32_t handle = create(fd, AMDGPU_GEM_DOMAIN_GTT);
	uint32_t *by_name = map(fd, handle), *at = map_by_syscall(fd, handle), *moved;
	struct drm_gem_close gone = {.handle = handle};
	unsigned long before = bos();

	if (!CHECK(at != MAP_FAILED && by_name != MAP_FAILED))
		return;
	*by_name = 7;
	CHECK_EQ(*at, 7);
	CHECK_EQ(munmap(by_name, 8192), 0);
	CHECK_EQ(syscall(SYS_mprotect, at, 8192L, (long)PROT_READ), 0);
	moved = (uint32_t *)syscall(SYS_mremap, at, 8192L, 8192L, (long)(MREMAP_MAYMOVE | MREMAP_FIXED),
				    mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	CHECK(moved != MAP_FAILED);
	CHECK_EQ(ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gone), 0);
	CHECK_EQ(bos(), before); /* the mapping keeps it */
	CHECK_EQ(*moved, 7);
	CHECK_EQ(syscall(SYS_munmap, moved, 8192L), 0);
	CHECK_EQ(bos(), before - 1);
	CHECK_EQ(syscall(SYS_close, -1L), -1);
	CHECK_EQ(errno, EBADF);
	close(fd);
}

static void fork_shares(void)
{
	int fd = open_node(), status;
	uint32_t *p = map(fd, create(fd, AMDGPU_GEM_DOMAIN_GTT)), second;
	void *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_amdgpu_gem_userptr user = {(uintptr_t)own, 4096, AMDGPU_GEM_USERPTR_REGISTER, 0};
	pid_t pid;

	CHECK_EQ(ioctl(fd, DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	pid = fork();
	if (!pid) {
		uint32_t *q = map(fd, create(fd, AMDGPU_GEM_DOMAIN_GTT));

		if (make_list(fd, user.handle) != -EPERM)
			_exit(9);
		p[0] = 42;
		q[0] = 43;
		close(fd);
		_exit(files() == 1 ? 7 : 8);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(WEXITSTATUS(status), 7);
	CHECK_EQ(p[0], 42);
	CHECK_EQ(make_list(fd, user.handle), 0);
	second = map(fd, 3)[0]; /* handles are the file's */
	CHECK_EQ(second, 43);
	close(fd);
	munmap(p, 8192);
	munmap(own, 4096);
}

static void close_one(int fd)
{
	close(fd);
}

static void close_all(int fd)
{
	close_range((unsigned)fd, ~0u, 0);
}

static void copy_over(int fd)
{
	dup2(STDIN_FILENO, fd);
}

static void copy_and_close(int fd)
{
	close(dup(fd));
	close(fd);
	close(open("/dev/null", O_RDONLY));
}

/* As subprocess of Python does before exec. The child has the parent's memory. */
static pid_t vfork_and(void (*act)(int fd), int fd)
{
	pid_t pid = vfork();

	if (!pid) {
		act(fd);
		_exit(0);
	}
	return pid;
}

/* The child has a copy of it, and no handlers run. */
static pid_t plain_fork_and(void (*act)(int fd), int fd)
{
	pid_t pid = _Fork();

	if (!pid) {
		act(fd);
		_exit(0);
	}
	return pid;
}

static void closing_before_exec_is_the_childs(void)
{
	static void (*const acts[])(int fd) = {close_one, close_all, copy_over, copy_and_close};
	int fd = open_node(), status;
	uint32_t handle = create(fd, AMDGPU_GEM_DOMAIN_GTT), *p;

	for (unsigned i = 0; i < 8; i++) {
		CHECK((i & 1 ? vfork_and : plain_fork_and)(acts[i / 2], fd) > 0);
		CHECK(wait(&status) > 0 && !status);
		CHECK_EQ(files(), 1);
		p = map(fd, handle);
		if (!CHECK(p != MAP_FAILED))
			break;
		p[0] = i;
		munmap(p, 8192);
	}
	close(fd);
	CHECK_EQ(files(), 0);
}

/* The node that fork handlers use; -1: they do nothing. */
static int handlers_fd = -1;
static unsigned handlers_mapped;

static void map_in_handler(void)
{
	uint32_t *p = handlers_fd < 0 ? MAP_FAILED : map(handlers_fd, create(handlers_fd, AMDGPU_GEM_DOMAIN_GTT));

	if (p == MAP_FAILED)
		return;
	p[0] = handlers_mapped++;
	munmap(p, 8192);
}

/* A library's fork handlers take locks under which it maps memory: no lock of the virtual GPU is held while they
 * run, before the fork, after it, and in the child. */
static void fork_handlers_map_memory(void)
{
	static bool registered;
	unsigned long before = bos();
	int status;
	pid_t pid;

	if (!registered)
		CHECK_EQ(pthread_atfork(map_in_handler, map_in_handler, map_in_handler), 0);
	registered = true;
	handlers_fd = open_node();
	handlers_mapped = 0;
	alarm(60); /* a deadlock ends the test */
	pid = fork();
	if (!pid)
		_exit(handlers_mapped == 2 ? 7 : 8);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(WEXITSTATUS(status), 7);
	alarm(0);
	CHECK_EQ(handlers_mapped, 2);
	close(handlers_fd);
	handlers_fd = -1;
	CHECK_EQ(bos(), before);
}

/* A library that registers its handlers before main() and maps memory under the lock that they take. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool library_stops;

static void library_take(void)
{
	pthread_mutex_lock(&library_lock);
}

static void library_give(void)
{
	pthread_mutex_unlock(&library_lock);
}

__attribute__((constructor(101))) static void library_begins(void)
{
	(void)!pthread_atfork(library_take, library_give, library_give);
}

static void *map_under_lock(void *fd)
{
	uint32_t handle = create(*(int *)fd, AMDGPU_GEM_DOMAIN_GTT);

	while (!library_stops) {
		void *p;

		pthread_mutex_lock(&library_lock);
		p = map(*(int *)fd, handle);
		if (p != MAP_FAILED)
			munmap(p, 8192);
		pthread_mutex_unlock(&library_lock);
	}
	return NULL;
}

static void handlers_of_before_are_outside(void)
{
	int status, fd = open_node();
	pthread_t thread;

	library_stops = false;
	alarm(120); /* a deadlock ends the test */
	CHECK_EQ(pthread_create(&thread, NULL, map_under_lock, &fd), 0);
	for (unsigned i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
	}
	library_stops = true;
	pthread_join(thread, NULL);
	alarm(0);
	close(fd);
}

static void send_fd(int socket, int fd)
{
	char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	CHECK_EQ(sendmsg(socket, &msg, 0), 1);
}

static int receive_fd_by(int socket, int flags)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int fd = -1;

	if (recvmsg(socket, &msg, flags) == 1)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

static int receive_fd(int socket)
{
	return receive_fd_by(socket, 0);
}

/* A length that cannot be is the kernel's to refuse. */
static void messages_of_wrong_lengths(void)
{
	static const size_t wrong[] = {0, 1, CMSG_LEN(0) - 1, CMSG_LEN(sizeof(int)) + 4096, SIZE_MAX};
	char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int pair[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		c->cmsg_len = wrong[i];
		CHECK_EQ(sendmsg(pair[0], &msg, 0), -1);
		CHECK_EQ(errno, EINVAL);
	}
	close(pair[0]);
	close(pair[1]);
}

/* A look at a message takes nothing out of it. */
static void message_that_is_looked_at(void)
{
	int fd = open_node(), pair[2], dmabuf = -1;
	uint32_t handle = create(fd, AMDGPU_GEM_DOMAIN_VRAM), again = 0;

	CHECK_EQ(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	send_fd(pair[0], dmabuf);
	close(dmabuf);
	CHECK_EQ(drmCloseBufferHandle(fd, handle), 0);
	close(receive_fd_by(pair[1], MSG_PEEK));
	dmabuf = receive_fd(pair[1]);
	CHECK_EQ(drmPrimeFDToHandle(fd, dmabuf, &again), 0);
	close(dmabuf);
	CHECK_EQ(drmCloseBufferHandle(fd, again), 0);
	close(pair[0]);
	close(pair[1]);
	close(fd);
}

/* Several messages in a call, of which the kernel refuses the last: the others carry their buffers. */
static void messages_in_a_call(void)
{
	char byte[3], control[3][CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov[3];
	struct mmsghdr msgs[3] = {0};
	int fd = open_node(), pair[2], dmabuf[3];
	unsigned long before = bos();

	CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t handle = create(fd, AMDGPU_GEM_DOMAIN_VRAM);
		struct cmsghdr *c;

		CHECK_EQ(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf[i]), 0);
		CHECK_EQ(drmCloseBufferHandle(fd, handle), 0);
		iov[i] = (struct iovec){&byte[i], i < 2 ? 1 : 1u << 30}; /* too long for a message */
		msgs[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i],
						  .msg_iovlen = 1,
						  .msg_control = control[i],
						  .msg_controllen = sizeof(control[i])};
		c = CMSG_FIRSTHDR(&msgs[i].msg_hdr);
		*c = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(c), &dmabuf[i], sizeof(int));
	}
	CHECK_EQ(sendmmsg(pair[0], msgs, 3, 0), 2);
	for (unsigned i = 0; i < 3; i++)
		close(dmabuf[i]);
	CHECK_EQ(bos(), before + 2); /* in messages */
	memset(control, 0, sizeof(control));
	CHECK_EQ(recvmmsg(pair[1], msgs, 3, MSG_DONTWAIT, NULL), 2);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t handle = 0;

		memcpy(&dmabuf[i], CMSG_DATA(CMSG_FIRSTHDR(&msgs[i].msg_hdr)), sizeof(int));
		CHECK_EQ(drmPrimeFDToHandle(fd, dmabuf[i], &handle), 0);
		CHECK_EQ(drmCloseBufferHandle(fd, handle), 0);
		close(dmabuf[i]);
	}
	CHECK_EQ(bos(), before);
	close(pair[0]);
	close(pair[1]);
	close(fd);
}

/* A buffer goes to a child as a dma-buf in a message, and the sender lets go of everything before it arrives. */
static void prime_in_a_message(void)
{
	int fd = open_node(), pair[2], status, dmabuf = -1;
	uint32_t handle = create(fd, AMDGPU_GEM_DOMAIN_VRAM), *p = map(fd, handle), again = 0;
	pid_t pid;

	p[7] = 1234;
	CHECK_EQ(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	CHECK_EQ(lseek(dmabuf, 0, SEEK_END), 8192);
	CHECK_EQ(drmPrimeFDToHandle(fd, dmabuf, &again), 0);
	CHECK_EQ(again, handle);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	pid = fork();
	if (!pid) {
		uint32_t mine = 0, *q;

		close(fd);
		close(dmabuf);
		munmap(p, 8192);
		usleep(50000);
		fd = open_node();
		dmabuf = receive_fd(pair[1]);
		if (drmPrimeFDToHandle(fd, dmabuf, &mine) || mine != 1)
			_exit(1);
		q = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
		close(dmabuf);
		_exit(q != MAP_FAILED && q[7] == 1234 && map(fd, mine)[7] == 1234 ? 7 : 2);
	}
	send_fd(pair[0], dmabuf);
	close(dmabuf);
	munmap(p, 8192);
	close(fd);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(WEXITSTATUS(status), 7);
	close(pair[0]);
	close(pair[1]);
	fd = open_node(); /* looks at who has died */
	close(fd);
}

/* Who was to get a dma-buf dies before it has read the message: the kernel drops that with the socket. */
static void message_that_nobody_reads(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	socklen_t size_B = sizeof(name);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd = open_node(), dmabuf = -1, other, status;
	unsigned long before = bos();
	char byte;
	pid_t pid;

	CHECK_EQ(bind(listener, (struct sockaddr *)&name, sizeof(name.sun_family)), 0); /* a name that is free */
	CHECK_EQ(getsockname(listener, (struct sockaddr *)&name, &size_B), 0);
	CHECK_EQ(listen(listener, 1), 0);
	pid = fork();
	if (!pid) {
		close(fd);
		fd = open_node();
		other = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(other, (struct sockaddr *)&name, size_B) || write(other, "x", 1) != 1)
			_exit(1);
		pause();
	}
	other = accept(listener, NULL, NULL);
	CHECK_EQ(read(other, &byte, 1), 1);
	CHECK_EQ(drmPrimeHandleToFD(fd, create(fd, AMDGPU_GEM_DOMAIN_VRAM), DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	send_fd(other, dmabuf);
	close(dmabuf);
	close(fd);
	CHECK_EQ(bos(), before + 1);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	close(other);
	close(listener);
	fd = open_node(); /* looks at who has died */
	CHECK_EQ(bos(), before);
	close(fd);
}

/* A dma-buf is a file of the buffer's size here, and the kernel's answer to one that is too large is SIGXFSZ. */
static void limit_of_files(void)
{
	int fd = open_node(), dmabuf = -1;
	uint32_t handle = create(fd, AMDGPU_GEM_DOMAIN_VRAM);
	struct rlimit old, small;
	int status = -1;
	pid_t pid;

	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){4096, old.rlim_max};
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
	CHECK(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf));
	small.rlim_cur = 0;
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
	pid = fork(); /* which publishes the child by a file */
	if (!pid)
		_exit(map(fd, handle) == MAP_FAILED);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK_EQ(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	close(dmabuf);
	close(fd);
}

/* The other device sees the memory, as system memory. */
static void prime_between_devices(void)
{
	int a = open_node(), b = open("/dev/dri/renderD129", O_RDWR | O_CLOEXEC), dmabuf = -1;
	uint32_t handle = create(a, AMDGPU_GEM_DOMAIN_VRAM), there = 0, *p = map(a, handle), *q;
	struct drm_amdgpu_gem_op op = {.op = AMDGPU_GEM_OP_SET_PLACEMENT, .value = AMDGPU_GEM_DOMAIN_VRAM};

	p[0] = 5;
	CHECK_EQ(drmPrimeHandleToFD(a, handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	CHECK_EQ(drmPrimeFDToHandle(b, dmabuf, &there), 0);
	q = map(b, there);
	CHECK_EQ(q[0], 5);
	op.handle = there;
	CHECK_EQ(ioctl(b, DRM_IOCTL_AMDGPU_GEM_OP, &op), -1); /* row 36 */
	CHECK_EQ(errno, EINVAL);
	munmap(p, 8192);
	munmap(q, 8192);
	close(dmabuf);
	close(a);
	close(b);
}

/* A program that knows nothing of us, under the preload library. */
static void preloaded_programs(void)
{
	struct vgpu_env env;
	char command[3 * PATH_MAX];

	CHECK_EQ(vgpu_run_create("gfx906,gfx90a", &env), 0);
	CHECK_STR(env.spec, "gfx906,gfx90a");
	if (!env.preload[0]) {
		const char *o = getenv("O"); /* the runner's output directory */

		snprintf(env.preload, sizeof(env.preload), "%.1000s/lib/libtuff-vgpu.so", o ? o : ".");
	}
#ifdef __SANITIZE_ADDRESS__
	env.preload[0] = 0; /* programs without the sanitizer cannot load what is built with it */
#endif
	if (access(env.preload, R_OK)) {
		printf("no libtuff-vgpu.so here: preloading is not tested\n");
		vgpu_stop();
		return;
	}
	snprintf(
		command, sizeof(command),
		"TUFF_VGPU_STRICT=off TUFF_VGPU=%s TUFF_VGPU_RUN=%s LD_PRELOAD=%s sh -c 'test -c /dev/dri/renderD129 && "
		"test \"$(cat /sys/class/drm/renderD128/device/device)\" = 0x66a1 && test ! -e /dev/kfd'",
		env.spec, env.run, env.preload);
	CHECK_EQ(system(command), 0);
	CHECK_EQ(access("/dev/dri/renderD129", F_OK), -1); /* not in front of us */
	CHECK_EQ(access(env.run, F_OK), 0);
	vgpu_stop();
	CHECK_EQ(access(env.run, F_OK), -1);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	CHECK_EQ(vgpu_start("gfx908:bad=1"), -EINVAL);
	CHECK_EQ(vgpu_start("gfx9999"), -EINVAL);
	CHECK_EQ(vgpu_start(""), -EINVAL);
	for (int round = 0; round < 2; round++) {
		CHECK_EQ(vgpu_start("null:gfx908:vram=1G:bar=1G,null:gfx906"), 0);
		CHECK_EQ(vgpu_start("gfx908"), -EBUSY);
		names();
		devices_through_libdrm();
		the_last_descriptor_closes();
		mappings_keep_buffers();
		syscalls_map_buffers();
		fork_shares();
		closing_before_exec_is_the_childs();
		handlers_of_before_are_outside();
		fork_handlers_map_memory();
		prime_in_a_message();
		message_that_nobody_reads();
		messages_of_wrong_lengths();
		message_that_is_looked_at();
		messages_in_a_call();
		prime_between_devices();
		limit_of_files();
		CHECK_EQ(files(), 0);
		vgpu_stop();
		CHECK_EQ(access("/dev/dri/renderD129", F_OK), -1);
	}
	mappings_are_the_nodes();
	preloaded_programs();
	return check_done("descriptors, names, memory");
}
