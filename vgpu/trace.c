/* The record of a run (vgpu/trace.h). Each event is one write() to a file that all processes append to. */
#include "vgpu/trace.h"
#include "vgpu/sys.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_MAX   1024
#define LINE_MAX_B (TEXT_MAX + 512)

static _Atomic int file = -1; /* file that gets events; -1: none */
/* The last file, or -1. A thread may still hold its number when events end, and the number must not become another
 * file of the client's then: it is closed when the next run begins. Used by joining and leaving only. */
static int opened = -1;

static void put_line(const char *line, int length)
{
	int fd = atomic_load_explicit(&file, memory_order_relaxed);

	/* A full disk costs the record, not the run. */
	if (fd >= 0 && length > 0 && length < LINE_MAX_B && sys_write(fd, line, (size_t)length) != length)
		atomic_store(&file, -1);
}

/* Without what JSON would take for its own. */
static void clean_text(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\')
			*text = ' ';
}

__attribute__((format(printf, 2, 0))) static void write_text(char text[TEXT_MAX], const char *fmt, va_list args)
{
	vsnprintf(text, TEXT_MAX, fmt, args);
	clean_text(text);
}

static int tid_of(uint32_t row)
{
	return row == VGPU_TRACE_THREAD ? gettid() : (int)row;
}

static double ns_to_us(uint64_t ns)
{
	return (double)ns / 1e3;
}

void vgpu_trace_join(bool creates)
{
	const char *name = secure_getenv("TUFF_VGPU_TRACE");
	char line[LINE_MAX_B], program[256];
	int fd = file;

	if (!name || !*name)
		return;
	if (fd < 0 && opened >= 0)
		sys_close(opened);
	if (fd < 0)
		opened = fd = sys_create(name, O_APPEND | (creates ? O_TRUNC : 0));
	if (fd < 0) {
		fprintf(stderr, "vgpu: cannot open TUFF_VGPU_TRACE=%s: %s\n", name, strerror(-fd));
		return;
	}
	file = fd;
	snprintf(program, sizeof(program), "%s", program_invocation_short_name);
	clean_text(program);
	put_line(line, snprintf(line, sizeof(line),
				"%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"%s\"}}",
				creates ? "[\n" : ",\n", getpid(), program));
}

void vgpu_trace_leave(bool last)
{
	int fd = atomic_exchange(&file, -1);
	long r = fd >= 0 && last ? sys_write(fd, "\n]\n", 3) : 3;

	if (r != 3)
		fprintf(stderr, "vgpu: TUFF_VGPU_TRACE is not complete: %s\n", strerror(r < 0 ? (int)-r : ENOSPC));
}

uint64_t vgpu_trace_now(void)
{
	struct timespec t;

	if (atomic_load_explicit(&file, memory_order_relaxed) < 0)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void vgpu_trace_name(uint32_t row, const char *fmt, ...)
{
	char line[LINE_MAX_B], text[TEXT_MAX];
	va_list args;

	if (!vgpu_trace_now())
		return;
	va_start(args, fmt);
	write_text(text, fmt, args);
	va_end(args);
	put_line(
		line,
		snprintf(
			line, sizeof(line),
			",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
			getpid(), tid_of(row), text));
}

void vgpu_trace_span(uint32_t row, const char *name, uint64_t begin_ns, const char *fmt, ...)
{
	uint64_t now = begin_ns ? vgpu_trace_now() : 0;
	char line[LINE_MAX_B], text[TEXT_MAX];
	va_list args;

	if (!now)
		return;
	va_start(args, fmt);
	write_text(text, fmt, args);
	va_end(args);
	put_line(line, snprintf(line, sizeof(line),
				",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
				"\"args\":{\"what\":\"%s\"}}",
				name, getpid(), tid_of(row), ns_to_us(begin_ns), ns_to_us(now - begin_ns), text));
}

void vgpu_trace_overlapping(uint32_t row, const char *kind, uint64_t id, uint64_t begin_ns, const char *fmt, ...)
{
	uint64_t now = begin_ns ? vgpu_trace_now() : 0;
	char line[LINE_MAX_B], text[TEXT_MAX];
	int pid = getpid(), tid = tid_of(row);
	va_list args;

	if (!now)
		return;
	va_start(args, fmt);
	write_text(text, fmt, args);
	va_end(args);
	for (unsigned end = 0; end < 2; end++) /* id2: its own in each process */
		put_line(
			line,
			snprintf(
				line, sizeof(line),
				",\n{\"ph\":\"%c\",\"cat\":\"%s\",\"name\":\"%s\",\"id2\":{\"local\":\"0x%x.%llx\"},"
				"\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"args\":{\"what\":\"%s\"}}",
				end ? 'e' : 'b', kind, kind, row, (unsigned long long)id, pid, tid,
				ns_to_us(end ? now : begin_ns), end ? "" : text));
}

void vgpu_trace_arrow(uint32_t row, uint64_t id, bool head)
{
	uint64_t now = vgpu_trace_now();
	char line[LINE_MAX_B];

	if (now)
		put_line(line,
			 snprintf(line, sizeof(line),
				  ",\n{\"ph\":\"%c\",\"cat\":\"submission\",\"name\":\"job\",\"id\":\"0x%llx\","
				  "\"pid\":%d,\"tid\":%d,\"ts\":%.3f}",
				  head ? 'f' : 's', (unsigned long long)id, getpid(), tid_of(row), ns_to_us(now)));
}
