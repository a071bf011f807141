#include <stdio.h>
#include <stdlib.h>
#include <linux/capability.h>
#include "vgpu/kernel/base/proc.h"

bool kern_capable(unsigned capability)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return !sys_call6(SYS_capget, (long)&header, (long)data, 0, 0, 0, 0) &&
	       data[capability / 32].effective >> capability % 32 & 1;
}

bool kern_proc_stat(pid_t pid, struct kern_proc_stat *stat)
{
	char path[32], buf[1024], *p;
	long n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	n = sys_read_file(path, buf, sizeof(buf) - 1);
	if (n <= 0)
		return false;
	buf[n] = 0;
	p = strrchr(buf, ')'); /* the name may hold anything, blanks and brackets too */
	*stat = (struct kern_proc_stat){0};
	if (!p || sscanf(p + 1, " %c", &stat->state) != 1)
		return false;
	for (int field = 2; field < 22 && p; field++) {
		p = strchr(p + 1, ' ');
		if (p && field + 1 == 20)
			stat->threads = (unsigned)strtoul(p, NULL, 10);
	}
	stat->start_time = p ? strtoull(p, NULL, 10) : 0;
	return true;
}

char *kern_read_proc(const char *path)
{
	size_t room = 1 << 16, size_B = 0;
	char *text = malloc(room), *bigger;
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC);
	long n = 1;

	while (text && fd >= 0 && n > 0) {
		if (room - size_B < 8192) {
			bigger = realloc(text, room *= 2);
			if (!bigger)
				break;
			text = bigger;
		}
		n = sys_read(fd, text + size_B, room - size_B - 1);
		size_B += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		sys_close(fd);
	if (text)
		text[size_B] = 0;
	return text;
}

/* Beyond the segment: no byte that has a content. */
static struct flock guard_of(unsigned slot)
{
	return (struct flock){
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 40 | slot, .l_len = 1};
}

int kern_guard_open(unsigned slot)
{
	struct flock lock = guard_of(slot);
	char path[40];
	int fd, r;

	/* An open file of its own: the lock belongs to it, and is shared with the child. */
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", kern_local.segment_fd);
	fd = sys_open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return fd;
	r = (int)sys_call6(SYS_fcntl, fd, F_OFD_SETLK, (long)&lock, 0, 0, 0);
	if (r)
		sys_close(fd);
	return r ? r : fd;
}

static bool guard_is_open(unsigned slot)
{
	struct flock lock = guard_of(slot);

	return !sys_call6(SYS_fcntl, kern_local.segment_fd, F_OFD_GETLK, (long)&lock, 0, 0, 0) &&
	       lock.l_type != F_UNLCK;
}

bool kern_tenant_alive(const struct kern_proc *proc)
{
	struct kern_proc_stat stat;

	if (proc->serial == kern_local.serial)
		return true;
	if (!proc->pid)
		return guard_is_open((unsigned)(proc - kern->proc));
	/* What a living process has must not be freed: without a descriptor for the file, and without /proc, any process with
	 * that id counts. */
	if (!kern_proc_stat(proc->pid, &stat))
		return sys_call6(SYS_kill, proc->pid, 0, 0, 0, 0, 0) != -ESRCH;
	/* The leader may be a zombie before the other threads have ended. */
	return (!proc->start_time || stat.start_time == proc->start_time) &&
	       ((stat.state != 'Z' && stat.state != 'X') || stat.threads > 1);
}

bool kern_proc_alive(uint32_t serial)
{
	for (unsigned i = 0; i < KERN_PROCS; i++)
		if (kern->proc[i].serial == serial)
			return kern_tenant_alive(&kern->proc[i]);
	return false;
}
