/* Compiling and linking while the program runs (rtc.c, rtc_link.c, rtc_clang.c, rtc_names.c). */
#ifndef API_RTC_H
#define API_RTC_H

#include "api/base/base.h"

#include <hip/hiprtc.h>

/* Bytes that grow; all zero: empty. */
struct hip_bytes {
	char *at; /* owned; ends with a 0 behind size_B bytes */
	size_t size_B, max_B;
};
bool hip_bytes_add(struct hip_bytes *bytes, const void *from, size_t size_B);
bool hip_bytes_add_text(struct hip_bytes *bytes, const char *text);
void hip_bytes_fini(struct hip_bytes *bytes);
bool hip_read_file(const char *path, struct hip_bytes *to);

/* No one of them is NULL. */
bool hip_rtc_are_texts(const char *const *text, unsigned count);

/* Both run an installed clang, on files in a folder that is made for it. code: what it made; log: what it said. */
struct hip_source {
	const char *text;
	unsigned headers;
	char **header, **header_name;
	int options;
	const char *const *option;
	bool bitcode; /* instead of code, to be linked */
};
hiprtcResult hip_clang(const struct hip_source *source, struct hip_bytes *code, struct hip_bytes *log);
/* Bitcode becomes code for the current device. */
struct hip_link {
	const struct hip_bytes *part;
	unsigned parts, options;
	const char *const *option; /* clang's */
};
hiprtcResult hip_clang_link(const struct hip_link *link, struct hip_bytes *code, struct hip_bytes *log);

/* A line of source that has the address of an expression end up where hip_rtc_name() finds it. */
bool hip_rtc_query(struct hip_bytes *source, unsigned index, const char *expression);
/* The name in the code object that the index's expression stands for: a copy, or NULL. */
char *hip_rtc_name(const struct hip_bytes *code, unsigned index);

#endif
