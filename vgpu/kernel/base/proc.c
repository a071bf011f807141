#include <stdio.h>
#include <stdlib.h>
#include "vgpu/kernel/base/proc.h"

bool kern_proc_stat(pid_t pid, char *state, uint64_t *start_time)
{
	char path[32], buf[1024], *p;
	long n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = sys_read(fd, buf, sizeof(buf) - 1);
	sys_close(fd);
	if (n <= 0)
		return false;
	buf[n] = 0;
	p = strrchr(buf, ')'); /* the name may hold anything, blanks and brackets too */
	if (!p || sscanf(p + 1, " %c", state) != 1)
		return false;
	for (int field = 2; field < 22 && p; field++)
		p = strchr(p + 1, ' ');
	*start_time = p ? strtoull(p, NULL, 10) : 0;
	return true;
}

bool kern_tenant_alive(const struct kern_proc *proc)
{
	uint64_t start_time;
	char state;

	if (proc->serial == kern_local.serial)
		return true;
	return kern_proc_stat(proc->pid, &state, &start_time) && start_time == proc->start_time && state != 'Z' &&
	       state != 'X';
}

bool kern_proc_alive(uint32_t serial)
{
	for (unsigned i = 0; i < KERN_PROCS; i++)
		if (kern->proc[i].serial == serial)
			return kern_tenant_alive(&kern->proc[i]);
	return false;
}
