/* Compressed bundles, made by clang with --offload-compress: a header, then a bundle compressed by zlib or
 * Zstandard. The libraries are loaded when needed (LLVM ClangOffloadBundler.rst, "Compression and
 * Decompression"). */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "api/module/compressed.h"

#define MAGIC       "CCOB"
#define PLAIN_MAX_B (1ull << 32)

enum method { METHOD_ZLIB = 0, METHOD_ZSTD = 1 };

/* The header before the compressed bytes, of any version. */
struct header {
	size_t header_B, plain_B;
	size_t packed_B; /* 0: neither the header nor the caller knows where the compressed bytes end */
	unsigned method;
};

/* Sizes of headers, and of each size in them, by version. Version 1 has no total size. */
static const struct layout {
	size_t header_B, total_B, plain_B;
} layouts[] = {[1] = {20, 0, 4}, [2] = {24, 4, 4}, [3] = {32, 8, 8}};

#define BEFORE_SIZES_B 8 /* magic, version and method */

static uint64_t number_read(const char *at, size_t size_B)
{
	uint64_t value = 0;

	memcpy(&value, at, size_B);
	return value;
}

bool hip_is_compressed(const void *image, size_t size_B)
{
	const size_t magic_B = sizeof(MAGIC) - 1;

	return (!size_B || size_B >= magic_B) && !memcmp(image, MAGIC, magic_B);
}

static const struct layout *layout_find(const char *image, size_t size_B)
{
	size_t version;

	if (size_B && size_B < BEFORE_SIZES_B)
		return NULL;
	version = number_read(image + 4, 2);
	if (!version || version >= sizeof(layouts) / sizeof(layouts[0]))
		return NULL;
	return size_B && size_B <= layouts[version].header_B ? NULL : &layouts[version];
}

/* Layout after the magic: version and method, 16 bits each; total size, from version 2 on; uncompressed size; a
 * hash of 64 bits. The image must have the total size. False: the header is damaged. */
static bool read_header(const char *image, size_t size_B, struct header *h)
{
	const struct layout *l = layout_find(image, size_B);
	size_t total_B = size_B;

	if (!l)
		return false;
	if (l->total_B) {
		total_B = number_read(image + BEFORE_SIZES_B, l->total_B);
		if (total_B <= l->header_B || (size_B && total_B > size_B))
			return false;
	}
	*h = (struct header){.header_B = l->header_B,
			     .plain_B = number_read(image + BEFORE_SIZES_B + l->total_B, l->plain_B),
			     .packed_B = total_B ? total_B - l->header_B : 0,
			     .method = (unsigned)number_read(image + 6, 2)};
	return h->plain_B && h->plain_B <= PLAIN_MAX_B;
}

/* Each library's functions, with the types of its own header; loaded once and kept. */
bool hip_zstd(void *to, size_t to_B, const void *from, size_t from_B)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
	size_t (*decompress)(void *, size_t, const void *, size_t) = NULL;
	size_t (*frame_size)(const void *, size_t) = NULL;
	size_t frame_B, max_B = from_B ? from_B : SIZE_MAX / 2;

	if (library) {
		*(void **)&decompress = dlsym(library, "ZSTD_decompress");
		*(void **)&frame_size = dlsym(library, "ZSTD_findFrameCompressedSize");
	}
	if (!decompress || !frame_size)
		return false;
	/* The frame says where it ends. An error of frame_size() is larger than any size. */
	frame_B = frame_size(from, max_B);
	return frame_B <= max_B && decompress(to, to_B, from, frame_B) == to_B;
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

size_t hip_compressed_size(const void *image)
{
	struct header h;

	return read_header(image, 0, &h) && h.packed_B ? h.header_B + h.packed_B : 0;
}

hipError_t hip_decompress(const void *image, size_t size_B, void **plain, size_t *plain_B)
{
	const char *at = image;
	struct header h;
	bool ok;

	if (!read_header(at, size_B, &h))
		return hipErrorInvalidImage;
	*plain = malloc(h.plain_B);
	if (!*plain)
		return hipErrorOutOfMemory;
	ok = h.method == METHOD_ZSTD   ? hip_zstd(*plain, h.plain_B, at + h.header_B, h.packed_B)
	     : h.method == METHOD_ZLIB ? by_zlib(*plain, h.plain_B, at + h.header_B, h.packed_B)
				       : false;
	*plain_B = h.plain_B;
	if (!ok)
		free(*plain);
	return ok ? hipSuccess : hipErrorInvalidImage;
}
