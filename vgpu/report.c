/* Strict findings and the log (vgpu/report.h). */
#include "vgpu/report.h"
#include "vgpu/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic int level = VGPU_STRICT_REPORT;
enum choice { BY_DEFAULT, OFF, ON };
static struct part {
	const char *variable;
	bool always; /* default value: on, or on if the level is fatal */
	_Atomic enum choice choice;
} parts[VGPU_PARTS] = {
	[VGPU_CACHES] = {"TUFF_VGPU_CACHES", false, BY_DEFAULT},
	[VGPU_ORDER] = {"TUFF_VGPU_ORDER", false, BY_DEFAULT},
	[VGPU_WAITS] = {"TUFF_VGPU_WAITS", false, BY_DEFAULT},
	[VGPU_OVERLAP] = {"TUFF_VGPU_OVERLAP", true, BY_DEFAULT},
};
static atomic_ulong findings, remarks;
/* Immutable after `once`; stdio locks each line. */
static FILE *log_file;

/* NULL: errno says why not. */
static FILE *log_open(const char *path)
{
	int fd = sys_create(path, O_APPEND);

	if (fd >= 0)
		return fdopen(fd, "ae");
	errno = -fd;
	return NULL;
}

static void read_choice(struct part *part)
{
	const char *value = secure_getenv(part->variable);

	if (!value || !*value)
		return;
	if (strcmp(value, "on") && strcmp(value, "off"))
		fprintf(stderr, "vgpu: %s=%s is neither on nor off; taking the default\n", part->variable, value);
	else
		part->choice = strcmp(value, "on") ? OFF : ON;
}

static void read_environment(void)
{
	const char *strict = secure_getenv("TUFF_VGPU_STRICT");
	const char *log = secure_getenv("TUFF_VGPU_LOG");

	if (strict && !strcmp(strict, "off"))
		level = VGPU_STRICT_OFF;
	else if (strict && !strcmp(strict, "fatal"))
		level = VGPU_STRICT_FATAL;
	else if (strict && *strict && strcmp(strict, "report"))
		fprintf(stderr, "vgpu: TUFF_VGPU_STRICT=%s is none of off, report, fatal; taking report\n", strict);
	for (unsigned i = 0; i < VGPU_PARTS; i++)
		read_choice(&parts[i]);
	if (!log || !*log)
		return;
	log_file = strcmp(log, "-") ? log_open(log) : stderr;
	if (!log_file)
		fprintf(stderr, "vgpu: cannot open TUFF_VGPU_LOG=%s: %m\n", log);
	else
		setvbuf(log_file, NULL, _IOLBF, 0);
}

enum vgpu_strict vgpu_strict(void)
{
	pthread_once(&once, read_environment);
	return atomic_load_explicit(&level, memory_order_relaxed);
}

void vgpu_strict_set(enum vgpu_strict new_level)
{
	pthread_once(&once, read_environment); /* else the environment would win later */
	atomic_store_explicit(&level, new_level, memory_order_relaxed);
}

bool vgpu_has(enum vgpu_part part)
{
	enum vgpu_strict strict = vgpu_strict();

	if (parts[part].choice == BY_DEFAULT)
		return parts[part].always || strict == VGPU_STRICT_FATAL;
	return parts[part].choice == ON;
}

void vgpu_set(enum vgpu_part part, bool on)
{
	pthread_once(&once, read_environment);
	parts[part].choice = on ? ON : OFF;
}

unsigned long vgpu_findings(void)
{
	return atomic_load(&findings);
}

void vgpu_finding(enum contract_row row, const char *fmt, ...)
{
	enum vgpu_strict strict = vgpu_strict();
	char text[1024];
	va_list args;

	atomic_fetch_add(&findings, 1);
	if (strict == VGPU_STRICT_OFF && !vgpu_logs())
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	vgpu_log("finding, row %u: %s", row, text);
	if (strict == VGPU_STRICT_OFF)
		return;
	if (log_file != stderr) /* the log has just shown it there */
		fprintf(stderr, "vgpu: finding, row %u: %s\n", row, text);
	if (strict == VGPU_STRICT_FATAL)
		abort();
}

/* A bit for each row of which there was a remark. */
static bool remark_is_new(enum contract_row row)
{
	static atomic_ulong seen[4];
	unsigned long bit = 1ul << row % 64;

	return !(atomic_fetch_or(&seen[row / 64 % 4], bit) & bit);
}

void vgpu_remark(enum contract_row row, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	if (!remark_is_new(row))
		return;
	atomic_fetch_add(&remarks, 1);
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	vgpu_log("remark, row %u: %s", row, text);
	if (vgpu_strict() != VGPU_STRICT_OFF && log_file != stderr)
		fprintf(stderr, "vgpu: remark, row %u: %s; once is said for all\n", row, text);
}

unsigned long vgpu_remarks(void)
{
	return atomic_load(&remarks);
}

bool vgpu_logs(void)
{
	pthread_once(&once, read_environment);
	return log_file;
}

void vgpu_log(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	if (!vgpu_logs())
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(log_file, "vgpu: %s\n", text);
}
