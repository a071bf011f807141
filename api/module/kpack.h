/* Archives of code objects, .kpack files, into which AMD's packages move the code of their libraries since 7.13. Sources:
 * shared/kpack of ROCm's rocm-systems (runtime/ and python/rocm_kpack/kpack.py), and ROCm's TheRock (build_tools), which writes
 * archives by code of its own.
 *
 *   reference  what a library has in place of its fat binary: the library's name in the archives, and their paths
 *   key        a fat binary's name in archives: "NAME#i" for the i-th of its library
 *   target     a chip's name, as LLVM writes it: "gfx90a:xnack-"
 *
 * An archive: "KPAK", version 1 (32 bits), offset of the table (64 bits); code objects; the table, a MessagePack map up to the
 * end of the file. Its "toc" leads from key and target to a number; "blobs" has offset and size of that code object, or the
 * region from "zstd_offset" on has frames: a count, then a size before each (32 bits). Everything read is untrusted.
 */
#ifndef API_KPACK_H
#define API_KPACK_H

#include "api/base/base.h"

#define HIP_KPACK_PATHS_MAX 64
#define HIP_KPACK_TEXT_B    (64u << 10) /* bytes of a reference that are read: ROCm's limit */

/* Borrowed from the reference; texts have no terminating 0. */
struct hip_kpack_reference {
	struct hip_kpack_text {
		const char *text;
		size_t length;
	} name, path[HIP_KPACK_PATHS_MAX];
	unsigned paths;
};

/* Errors: InvalidImage. */
hipError_t hip_kpack_reference_read(const void *bytes, size_t size_B, struct hip_kpack_reference *reference);

struct hip_kpack_archive {
	int fd;          /* owned */
	uint64_t size_B; /* of the file */
	uint8_t *table;  /* owned */
	size_t table_B;
};

/* Errors: FileNotFound; InvalidImage, when the file is no archive, or a damaged one; OutOfMemory. */
hipError_t hip_kpack_open(const char *path, struct hip_kpack_archive *archive);
void hip_kpack_close(struct hip_kpack_archive *archive);
/* Reads the code object, which the caller frees. Errors: NoBinaryForGpu, when the archive has no such code; InvalidImage, when it
 * is damaged, or libzstd is not installed; OutOfMemory. */
hipError_t hip_kpack_read(const struct hip_kpack_archive *archive, const char *key, const char *target, void **code,
			  size_t *code_B);

/* Finds the device's code in the archives that a wrapper of magic "HIPK" refers to, by those targets and archives that come
 * first; the caller frees it. Errors: NotSupported, when variables forbid it; FileNotFound, when no archive is there; else as
 * above. */
hipError_t hip_kpack_find(const struct hip_fat_binary_wrapper *wrapper, const struct hip_device *device,
			  void **code, size_t *code_B);

#endif
