/* Compressed bundles: each version of the header, each method; no byte behind the image is read, whatever its header claims.
 * Images end at a page that cannot be read. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api/module/compressed.h"
#include "tests/check.h"

#define PLAIN_B  20000
#define PAGES_B  (1u << 17)
#define GUARD_B  4096
#define VERSIONS 3
#define METHODS  2
#define SIZES_AT 8
#define NAME(m)  ((m) ? "zstd" : "zlib")
#define FAR_AWAY (1ull << 31)

static const size_t header_B[] = {0, 20, 24, 32}, size_B_of[] = {0, 4, 4, 8};

static char plain[PLAIN_B], *end; /* where the page begins that cannot be read */

/* --- images ----------------------------------------------------------------------------------- */

/* Half of it has to be stored as it is: random bytes. */
static void plain_fill(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < PLAIN_B / 2; i++) {
		x = x * 1664525 + 1013904223;
		plain[i] = (char)(x >> 24);
	}
}

static size_t by_zlib(void *to, size_t to_B)
{
	void *library = dlopen("libz.so.1", RTLD_NOW);
	int (*compress)(unsigned char *, unsigned long *, const unsigned char *, unsigned long) = NULL;
	unsigned long got_B = to_B;

	if (library)
		*(void **)&compress = dlsym(library, "compress");
	return compress && !compress(to, &got_B, (void *)plain, PLAIN_B) ? got_B : 0;
}

static size_t by_zstd(void *to, size_t to_B)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW);
	size_t (*compress)(void *, size_t, const void *, size_t, int) = NULL;

	if (library)
		*(void **)&compress = dlsym(library, "ZSTD_compress");
	return compress ? compress(to, to_B, plain, PLAIN_B, 3) : 0;
}

struct image {
	unsigned version, method;
	uint64_t total_B, plain_B; /* in the header */
	size_t packed_B;
	char packed[2 * PLAIN_B];
};

static void image_make(struct image *m, unsigned version, unsigned method)
{
	m->version = version;
	m->method = method;
	m->packed_B = method ? by_zstd(m->packed, sizeof(m->packed)) : by_zlib(m->packed, sizeof(m->packed));
	m->total_B = header_B[version] + m->packed_B;
	m->plain_B = PLAIN_B;
}

/* Writes the first size_B bytes of the image before the page that cannot be read. */
static const char *image_place(const struct image *m, size_t size_B)
{
	char whole[sizeof(m->packed) + 32] = "CCOB";
	const uint16_t words[2] = {(uint16_t)m->version, (uint16_t)m->method};
	size_t at = SIZES_AT, each_B = size_B_of[m->version];

	memcpy(whole + 4, words, sizeof(words));
	if (m->version > 1) {
		memcpy(whole + at, &m->total_B, each_B);
		at += each_B;
	}
	memcpy(whole + at, &m->plain_B, each_B);
	memcpy(whole + header_B[m->version], m->packed, m->packed_B);
	return memcpy(end - size_B, whole, size_B);
}

static size_t image_size(const struct image *m)
{
	return header_B[m->version] + m->packed_B;
}

/* Decompresses what is placed. */
static hipError_t image_read(const struct image *m, size_t size_B, size_t told_B)
{
	const char *image = image_place(m, size_B);
	void *got = NULL;
	size_t got_B = 0;
	hipError_t r = hip_decompress(image, told_B, &got, &got_B);

	if (!r) {
		CHECK(got_B == PLAIN_B && !memcmp(got, plain, PLAIN_B));
		free(got);
	}
	return r;
}

/* --- checks ----------------------------------------------------------------------------------- */

static void whole_images_are_read(const struct image *m)
{
	size_t size_B = image_size(m);
	char longer[4] = "";

	CHECK(hip_is_compressed(image_place(m, size_B), size_B));
	CHECK_EQ(image_read(m, size_B, size_B), hipSuccess);
	CHECK_EQ(image_read(m, size_B, 0), hipSuccess);
	CHECK(!hip_is_compressed(memcpy(end - 4, "CCO", 4), 3));
	CHECK(!hip_is_compressed(longer, sizeof(longer)));
}

static void shorter_images_are_refused(const struct image *m)
{
	size_t size_B = image_size(m);

	for (size_t i = 4; i < size_B; i += i < 64 ? 1 : 97)
		if (!CHECK_EQ(image_read(m, i, i), hipErrorInvalidImage))
			printf("  %s, version %u, %zu bytes of %zu\n", NAME(m->method), m->version, i, size_B);
}

static void other_totals_are_refused(struct image *m)
{
	const uint64_t totals[] = {0,        1,         header_B[m->version], m->total_B - 1, m->total_B + 1,
				   FAR_AWAY, UINT64_MAX};
	uint64_t right = m->total_B;

	for (unsigned i = 0; m->version > 1 && i < sizeof(totals) / sizeof(totals[0]); i++) {
		m->total_B = totals[i];
		if (!CHECK_EQ(image_read(m, image_size(m), image_size(m)), hipErrorInvalidImage))
			printf("  %s, version %u, total %llu\n", NAME(m->method), m->version,
			       (unsigned long long)totals[i]);
	}
	m->total_B = right;
}

static void other_plain_sizes_are_refused(struct image *m)
{
	const uint64_t sizes[] = {0, 1, PLAIN_B - 1, PLAIN_B + 1, FAR_AWAY};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		m->plain_B = sizes[i];
		if (!CHECK_EQ(image_read(m, image_size(m), image_size(m)), hipErrorInvalidImage))
			printf("  %s, version %u, plain %llu\n", NAME(m->method), m->version,
			       (unsigned long long)sizes[i]);
	}
	m->plain_B = UINT64_MAX; /* 4 GiB less a byte in 32 bits */
	if (m->version == 3)
		CHECK_EQ(image_read(m, image_size(m), image_size(m)), hipErrorInvalidImage);
	m->plain_B = PLAIN_B;
}

static void unknown_kinds_are_refused(struct image *m)
{
	size_t size_B = image_size(m);
	unsigned method = m->method;

	m->method = METHODS;
	CHECK_EQ(image_read(m, size_B, size_B), hipErrorInvalidImage);
	m->method = method;
	(void)image_place(m, size_B);
	for (unsigned version = 0; version <= VERSIONS + 1; version += VERSIONS + 1) {
		uint16_t word = (uint16_t)version;
		void *got;
		size_t got_B;

		memcpy(end - size_B + 4, &word, sizeof(word));
		CHECK_EQ(hip_decompress(end - size_B, size_B, &got, &got_B), hipErrorInvalidImage);
	}
}

int main(void)
{
	static struct image image;
	char *pages = mmap(NULL, PAGES_B + GUARD_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED && !mprotect(pages + PAGES_B, GUARD_B, PROT_NONE));
	end = pages + PAGES_B;
	plain_fill();
	for (unsigned method = 0; method < METHODS; method++)
		for (unsigned version = 1; version <= VERSIONS; version++) {
			image_make(&image, version, method);
			if (!image.packed_B) {
				printf("%s is not installed\n", NAME(method));
				break;
			}
			whole_images_are_read(&image);
			shorter_images_are_refused(&image);
			other_totals_are_refused(&image);
			other_plain_sizes_are_refused(&image);
			unknown_kinds_are_refused(&image);
		}
	return check_done("compressed bundles");
}
