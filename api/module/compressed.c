/* Compressed bundles, made by clang with --offload-compress: a header, then a bundle compressed by zlib or
 * Zstandard. The libraries are loaded when needed (LLVM ClangOffloadBundler.rst, "Compression and
 * Decompression"). */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "api/module/compressed.h"

#define MAGIC "CCOB"

enum method { METHOD_ZLIB = 0, METHOD_ZSTD = 1 };

/* The header before the compressed bytes, of any version. */
struct header {
	size_t header_B, total_B, plain_B; /* total_B 0: not given */
	unsigned method;
};

static uint64_t number_read(const char *at, size_t size_B)
{
	uint64_t value = 0;

	memcpy(&value, at, size_B);
	return value;
}

bool hip_is_compressed(const void *image)
{
	return !memcmp(image, MAGIC, sizeof(MAGIC) - 1);
}

/* Layout after the magic: version and method, 16 bits each; total size, from version 2 on; uncompressed size; a
 * hash of 64 bits. */
static bool read_header(const char *image, struct header *h)
{
	unsigned version = (unsigned)number_read(image + 4, 2);

	h->method = (unsigned)number_read(image + 6, 2);
	switch (version) {
	case 1:
		*h = (struct header){20, 0, number_read(image + 8, 4), h->method};
		return true;
	case 2:
		*h = (struct header){24, number_read(image + 8, 4), number_read(image + 12, 4), h->method};
		return true;
	case 3:
		*h = (struct header){32, number_read(image + 8, 8), number_read(image + 16, 8), h->method};
		return true;
	}
	return false;
}

/* Each library's functions, with the types of its own header; loaded once and kept. */
static bool by_zstd(void *to, size_t to_B, const void *from, size_t from_B)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
	size_t (*decompress)(void *, size_t, const void *, size_t) = NULL;
	size_t (*frame_size)(const void *, size_t) = NULL;

	if (library) {
		*(void **)&decompress = dlsym(library, "ZSTD_decompress");
		*(void **)&frame_size = dlsym(library, "ZSTD_findFrameCompressedSize");
	}
	if (!decompress || !frame_size)
		return false;
	/* Version 1 gives no total size; a Zstandard frame contains its own. */
	if (!from_B)
		from_B = frame_size(from, SIZE_MAX / 2);
	return decompress(to, to_B, from, from_B) == to_B;
}

static bool by_zlib(void *to, size_t to_B, const void *from, size_t from_B)
{
	void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*uncompress)(unsigned char *, unsigned long *, const unsigned char *, unsigned long) = NULL;
	unsigned long got_B = to_B;

	if (library)
		*(void **)&uncompress = dlsym(library, "uncompress");
	/* A zlib stream marks its own end, so a length beyond it is harmless. */
	return uncompress && !uncompress(to, &got_B, from, from_B ? from_B : 2 * to_B + 1024) && got_B == to_B;
}

hipError_t hip_decompress(const void *image, void **plain, size_t *size_B)
{
	const char *at = image;
	struct header h;
	size_t packed_B;
	bool ok;

	if (!read_header(at, &h) || (h.total_B && h.total_B <= h.header_B) || !h.plain_B || h.plain_B > 1ull << 32)
		return hipErrorInvalidImage;
	packed_B = h.total_B ? h.total_B - h.header_B : 0;
	*plain = malloc(h.plain_B);
	if (!*plain)
		return hipErrorOutOfMemory;
	ok = h.method == METHOD_ZSTD   ? by_zstd(*plain, h.plain_B, at + h.header_B, packed_B)
	     : h.method == METHOD_ZLIB ? by_zlib(*plain, h.plain_B, at + h.header_B, packed_B)
				       : false;
	*size_B = h.plain_B;
	if (!ok)
		free(*plain);
	return ok ? hipSuccess : hipErrorInvalidImage;
}
