/* Run-time compilation and linking (rtc.c, rtc_link.c, rtc_names.c), by a compiler that is found when it is needed
 * (rtc_compile.c).
 *
 *   hip_bytes       a growing buffer; owned by the caller
 *   hip_rtc_object  what programs and linkers have in common
 *   hip_source      a program to compile; borrowed
 *   hip_link        bitcode to link; borrowed
 *
 * Programs and linkers have a lock each, and are retired (retire.h). Texts that their functions give stay theirs. A child of fork()
 * finds no program or linker of its parent: a thread that the child does not have may have locked it.
 */
#ifndef API_RTC_H
#define API_RTC_H

#include "drv/lock.h"
#include "api/base/entry.h"

#include <hip/hiprtc.h>

/* Defines a public function, counted as a call (retire.h). */
#define HIPRTC_PUBLIC(name, parameters, arguments)                                                                 \
	static hiprtcResult name##_body parameters;                                                                \
	hiprtcResult name parameters                                                                               \
	{                                                                                                          \
		DRV_HOLD_CANCEL;                                                                                   \
		hiprtcResult r;                                                                                    \
                                                                                                                   \
		hip_call_begin();                                                                                  \
		r = name##_body arguments;                                                                         \
		hip_call_end();                                                                                    \
		return r;                                                                                          \
	}                                                                                                          \
	static hiprtcResult name##_body parameters
/* The same for a function whose first parameter is a handle: the body gets the object that `find` gives, locked. */
#define HIPRTC_PUBLIC_ON(type, find, object, name, parameters, arguments)                                          \
	static hiprtcResult name##_locked(object, HIP_UNPACK parameters);                                          \
	HIPRTC_PUBLIC(name, (type handle, HIP_UNPACK parameters), (handle, HIP_UNPACK arguments))                  \
	{                                                                                                          \
		__typeof__(find(handle)) o = find(handle);                                                         \
		hiprtcResult r;                                                                                    \
                                                                                                                   \
		if (o)                                                                                             \
			drv_mutex_lock(&o->rtc.lock);                                                              \
		r = name##_locked(o, HIP_UNPACK arguments);                                                        \
		if (o)                                                                                             \
			drv_mutex_unlock(&o->rtc.lock);                                                            \
		return r;                                                                                          \
	}                                                                                                          \
	static hiprtcResult name##_locked(object, HIP_UNPACK parameters)

/* A growing buffer; all zero: empty. */
struct hip_bytes {
	char *at; /* owned; a 0 follows the size_B bytes */
	size_t size_B, max_B;
};
bool hip_bytes_add(struct hip_bytes *bytes, const void *from, size_t size_B);
bool hip_bytes_add_text(struct hip_bytes *bytes, const char *text);
void hip_bytes_fini(struct hip_bytes *bytes);
bool hip_read_file(const char *path, struct hip_bytes *to);

/* The first member of programs and linkers. */
struct hip_rtc_object {
	struct drv_retired retired; /* used when the object is destroyed */
	uint64_t handle;
	unsigned forks;        /* hip_forks() at its creation */
	struct drv_mutex lock; /* guards the rest of the object; held while it is compiled or linked */
};
/* Makes the lock; the caller creates the handle. */
void hip_rtc_object_init(struct hip_rtc_object *o);
/* The object of that type that the handle names; NULL: none that this process has made. */
void *hip_rtc_find(enum hip_type type, const void *handle);

/* True when no entry is NULL. */
bool hip_rtc_are_texts(const char *const *text, unsigned count);

/* Compiling and linking by the best compiler that is there. code: the result; log: the compiler's messages, and why there is no
 * other. */
struct hip_source {
	const char *text;
	unsigned headers;
	char **header, **header_name;
	int options;
	const char *const *option;
	bool bitcode; /* makes bitcode, to be linked, instead of code */
};
hiprtcResult hip_rtc_compile(const struct hip_source *source, struct hip_bytes *code, struct hip_bytes *log);
/* Links bitcode to code for the current device. */
struct hip_link {
	const struct hip_bytes *part;
	unsigned parts, options;
	const char *const *option; /* options of clang */
};
hiprtcResult hip_rtc_link(const struct hip_link *link, struct hip_bytes *code, struct hip_bytes *log);

/* Appends source that stores the address of an expression where hip_rtc_name() finds it. */
bool hip_rtc_query(struct hip_bytes *source, unsigned index, const char *expression);
/* Returns the lowered name of the expression with that index: a copy, or NULL. */
char *hip_rtc_name(const struct hip_bytes *code, unsigned index);

#endif
