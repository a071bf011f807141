/* /proc/self/maps: programs search it for mappings of device nodes (UCX, for GPU memory of before its time). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "vgpu/kernel/base/proc.h"
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"

bool shim_proc_maps(const char *path)
{
	char own[32];

	if (!shim_map_any() || !path || strncmp(path, "/proc/", 6))
		return false;
	snprintf(own, sizeof(own), "/proc/%d/maps", getpid());
	return !strcmp(path, "/proc/self/maps") || !strcmp(path, "/proc/thread-self/maps") || !strcmp(path, own);
}

/* Writes a line: "7f00-7f10 rw-s 00000000 00:01 818319   /memfd:tuff-vgpu-memory (deleted)", or that of a node, whose device
 * number and offset are as the kernel shows them for a node; the inode is made up. */
static void write_line(FILE *to, const char *line, size_t length)
{
	unsigned long lo, hi;
	unsigned node;
	char rights[5];

	if (sscanf(line, "%lx-%lx %4s", &lo, &hi, rights) == 3 && shim_map_node(lo, &node))
		fprintf(to, "%08lx-%08lx %s %08lx 00:05 %-26u /dev/dri/renderD%u\n", lo, hi, rights, lo, 300 + node,
			128 + node);
	else
		fwrite(line, 1, length, to);
}

int shim_proc_maps_open(bool cloexec)
{
	int fd = sys_memfd("maps", cloexec ? MFD_CLOEXEC : 0);
	char *text = kern_read_proc("/proc/thread-self/maps");
	size_t size = 0;
	char *out = NULL;
	FILE *to = open_memstream(&out, &size);

	for (const char *line = text, *end; to && line && (end = strchr(line, '\n')); line = end + 1)
		write_line(to, line, (size_t)(end + 1 - line));
	if (to)
		fclose(to);
	free(text);
	for (size_t done = 0; fd >= 0 && done < size && sys_size_allowed(size);) {
		long n = sys_write(fd, out + done, size - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	free(out);
	if (fd >= 0)
		sys_call6(SYS_lseek, fd, 0, SEEK_SET, 0, 0, 0);
	return fd;
}
