/* The compilers of hiprtc, and what they share.
 *
 *   hip_compiler  one of two: an installed clang (rtc_clang.c), AMD's comgr in the process (rtc_comgr.c); constant
 *   hip_rtc_args  a list of arguments; owned by the caller
 *
 * rtc_compile.c chooses. Notes are lines of a program's log, which say why a compiler was not used or may have failed.
 */
#ifndef API_RTC_COMPILER_H
#define API_RTC_COMPILER_H

#include "api/rtc/rtc.h"

struct hip_compiler {
	const char *name; /* in TUFF_HIPRTC */
	/* False: the compiler is not there, or does not know the target; a note says so. */
	bool (*is_there)(const char *target, struct hip_bytes *notes);
	hiprtcResult (*compile)(const struct hip_source *source, struct hip_bytes *code, struct hip_bytes *log);
	hiprtcResult (*link)(const struct hip_link *link, struct hip_bytes *code, struct hip_bytes *log);
};
extern DRV_OWN const struct hip_compiler hip_rtc_clang, hip_rtc_comgr;

/* --- rtc_args.c --------------------------------------------------------------------------------- */

#define HIP_RTC_TARGET_B 256       /* bytes of "gfx90a:sramecc+:xnack-", and what programs write instead */
#define HIP_RTC_HEADERS  "headers" /* folder of the program's headers, in the temporary folder */

struct hip_rtc_args {
	char **at; /* owned; NULL ends the list. NULL: it is empty */
	unsigned count, room;
	bool failed; /* no memory */
};
__attribute__((format(printf, 2, 3))) void hip_rtc_arg(struct hip_rtc_args *args, const char *format, ...);
void hip_rtc_args_fini(struct hip_rtc_args *args);
/* Adds HIP's headers, before the program's options. */
void hip_rtc_add_headers(struct hip_rtc_args *args);
/* Adds C's headers for a compiler without its own, after the program's options, which may name others. */
void hip_rtc_add_language(struct hip_rtc_args *args);
/* Adds the program's options but for the target. */
void hip_rtc_add_options(struct hip_rtc_args *args, const struct hip_source *source);
bool hip_rtc_has_option(const struct hip_source *source, const char *part);
/* The target that the program names, or the current device's; "": neither. source may be NULL. */
void hip_rtc_target(const struct hip_source *source, char *target);
/* Finds the folder of ROCm's device libraries (PATH_MAX bytes): by HIP_DEVICE_LIB_PATH, in ROCM_PATH, in the compiler's own folder
 * (NULL: it has none), where distributions have it. False: there is none; *folder is what the first variable says, or "". */
bool hip_rtc_find_libraries(const char *compilers, char *folder);
bool hip_rtc_libraries_know(const char *libraries, const char *target);
__attribute__((format(printf, 2, 3))) void hip_rtc_note(struct hip_bytes *notes, const char *format, ...);

/* --- rtc_files.c -------------------------------------------------------------------------------- */

/* Does its work in a temporary folder, which is removed. */
typedef hiprtcResult hip_rtc_work(const char *folder, const void *what, struct hip_bytes *code,
				  struct hip_bytes *log);
hiprtcResult hip_rtc_in_folder(hip_rtc_work *work, const void *what, struct hip_bytes *code, struct hip_bytes *log);
/* Writes a file and the folders before it. HIPRTC_ERROR_INVALID_INPUT: the name leaves the folder, is too long, or is one
 * that a folder or file has; HIPRTC_ERROR_INTERNAL_ERROR: it cannot be written. */
hiprtcResult hip_rtc_write(const char *folder, const char *name, const void *from, size_t size_B);
hiprtcResult hip_rtc_write_headers(const char *folder, const struct hip_source *source);

#endif
