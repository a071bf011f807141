/* Archives of code: both ways that code objects are stored, and what damage does. Damaged archives give an error, or code, and never
 * a read beyond what was read of the file, which sanitizers see. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/module/kpack.h"
#include "tests/check.h"
#include "tests/kpack.h"

#define ARCHIVE_B 16384
#define CODE_B    3000

static char first[CODE_B], second[CODE_B];
static uint8_t archive[ARCHIVE_B];

static size_t archive_make(bool zstd)
{
	struct kpack_item items[] = {
		{"lib/one.so#0", "gfx908", first, CODE_B, 0, 0},
		{"lib/one.so#0", "gfx90a:xnack-", second, CODE_B / 2, 0, 0},
		{"lib/one.so#1", "gfx908", second, CODE_B, 0, 0},
	};

	return kpack_archive(archive, sizeof(archive), items, 3, zstd);
}

/* Opens the bytes as a file and reads that code; *code is NULL after an error. */
static hipError_t code_read(size_t size_B, const char *key, const char *target, void **code, size_t *code_B)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);
	struct hip_kpack_archive a;
	char path[64];
	hipError_t r;

	*code = NULL;
	CHECK(write(fd, archive, size_B) == (ssize_t)size_B);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = hip_kpack_open(path, &a);
	if (!r) {
		r = hip_kpack_read(&a, key, target, code, code_B);
		hip_kpack_close(&a);
	}
	close(fd);
	return r;
}

static bool code_is(size_t size_B, const char *key, const char *target, const char *want, size_t want_B)
{
	size_t code_B;
	void *code;
	bool same =
		!code_read(size_B, key, target, &code, &code_B) && code_B == want_B && !memcmp(code, want, want_B);

	free(code);
	return same;
}

static hipError_t error_of(size_t size_B, const char *key, const char *target)
{
	size_t code_B;
	void *code;
	hipError_t r = code_read(size_B, key, target, &code, &code_B);

	if (!r)
		free(code);
	return r;
}

static void code_is_found_by_key_and_target(bool zstd)
{
	size_t size_B = archive_make(zstd);

	CHECK(size_B < ARCHIVE_B);
	CHECK(code_is(size_B, "lib/one.so#0", "gfx908", first, CODE_B));
	CHECK(code_is(size_B, "lib/one.so#0", "gfx90a:xnack-", second, CODE_B / 2));
	CHECK(code_is(size_B, "lib/one.so#1", "gfx908", second, CODE_B));
	CHECK_EQ(error_of(size_B, "lib/one.so#1", "gfx90a:xnack-"), hipErrorNoBinaryForGpu);
	CHECK_EQ(error_of(size_B, "lib/one.so", "gfx908"), hipErrorNoBinaryForGpu);
	CHECK_EQ(error_of(size_B, "", ""), hipErrorNoBinaryForGpu);
}

static void a_cut_archive_is_damaged(bool zstd)
{
	size_t size_B = archive_make(zstd);

	for (size_t n = 0; n < size_B; n += n < 64 || n > size_B - 400 ? 1 : 37)
		if (!CHECK_EQ(error_of(n, "lib/one.so#1", "gfx908"), hipErrorInvalidImage))
			break;
}

static void damage_is_survived(bool zstd)
{
	size_t size_B = archive_make(zstd);

	for (size_t i = 0; i < size_B; i += i < 80 || i > size_B - 400 ? 1 : 53)
		for (unsigned change = 1; change < 256; change = change * 2 + 1) {
			hipError_t r;

			archive[i] ^= (uint8_t)change;
			r = error_of(size_B, "lib/one.so#1", "gfx908");
			archive[i] ^= (uint8_t)change;
			CHECK(r == hipSuccess || r == hipErrorInvalidImage || r == hipErrorNoBinaryForGpu ||
			      r == hipErrorOutOfMemory);
		}
}

static void headers_are_checked(void)
{
	size_t size_B = archive_make(false);
	const uint64_t far = ~0ull, inside = 8;

	archive[4] = 2; /* another version */
	CHECK_EQ(error_of(size_B, "lib/one.so#0", "gfx908"), hipErrorInvalidImage);
	archive[4] = 1;
	memcpy(archive + 8, &far, sizeof(far));
	CHECK_EQ(error_of(size_B, "lib/one.so#0", "gfx908"), hipErrorInvalidImage);
	memcpy(archive + 8, &inside, sizeof(inside));
	CHECK_EQ(error_of(size_B, "lib/one.so#0", "gfx908"), hipErrorInvalidImage);
	size_B = archive_make(false);
	memcpy(memmem(archive, size_B, "none", 4), "best", 4);
	CHECK_EQ(error_of(size_B, "lib/one.so#0", "gfx908"), hipErrorInvalidImage);
}

static void files_that_are_no_archives_are_refused(void)
{
	struct hip_kpack_archive a;

	CHECK_EQ(hip_kpack_open("/nowhere/at.all", &a), hipErrorFileNotFound);
	CHECK_EQ(hip_kpack_open("/", &a), hipErrorInvalidImage);
	CHECK_EQ(hip_kpack_open("/dev/null", &a), hipErrorInvalidImage);
	CHECK_EQ(hip_kpack_open("/proc/self/exe", &a), hipErrorInvalidImage);
}

static void references_are_read(void)
{
	static const char *const paths[] = {"../.kpack/@GFXARCH@.kpack",
					    "/one/that/is/longer/than/a/short/text.kpack"};
	static uint8_t bytes[256];
	struct kpack_writer w = {bytes, sizeof(bytes), 0};
	struct hip_kpack_reference r;

	kpack_reference_put(&w, "lib/one.so", paths, 2);
	CHECK_EQ(hip_kpack_reference_read(bytes, sizeof(bytes), &r), hipSuccess); /* what follows does not matter */
	CHECK_EQ(hip_kpack_reference_read(bytes, w.at, &r), hipSuccess);
	CHECK(r.paths == 2 && r.path[1].length == strlen(paths[1]) &&
	      !memcmp(r.path[1].text, paths[1], r.path[1].length));
	CHECK(r.name.length == 10 && !memcmp(r.name.text, "lib/one.so", 10));
	for (size_t n = 0; n < w.at; n++) {
		void *copy = malloc(n ? n : 1);

		memcpy(copy, bytes, n);
		CHECK_EQ(hip_kpack_reference_read(copy, n, &r), hipErrorInvalidImage);
		free(copy);
	}
	w.at = 0;
	kpack_reference_put(&w, "lib/one.so", NULL, 0);
	CHECK_EQ(hip_kpack_reference_read(bytes, w.at, &r), hipErrorInvalidImage);
}

int main(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < CODE_B; i++) {
		x = x * 1664525 + 1013904223;
		first[i] = (char)(x >> 24);
		second[i] = (char)i;
	}
	for (int zstd = 0; zstd < 2; zstd++) {
		if (zstd && !kpack_zstd())
			break;
		code_is_found_by_key_and_target(zstd);
		a_cut_archive_is_damaged(zstd);
		damage_is_survived(zstd);
	}
	headers_are_checked();
	files_that_are_no_archives_are_refused();
	references_are_read();
	return check_done("archives of code");
}
