/* Buffers, and the temporary folder in which programs are compiled. */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/base/file.h"
#include "api/rtc/rtc_compiler.h"

/* --- buffers ---------------------------------------------------------------------------------- */

bool hip_bytes_add(struct hip_bytes *b, const void *from, size_t size_B)
{
	/* The size may be the program's: no sum below overflows. */
	if (size_B > SIZE_MAX / 4 - b->size_B)
		return false;
	if (b->size_B + size_B + 1 > b->max_B) {
		size_t max_B = 2 * (b->size_B + size_B) + 64;
		char *at = realloc(b->at, max_B);

		if (!at)
			return false;
		b->at = at;
		b->max_B = max_B;
	}
	memcpy(b->at + b->size_B, from, size_B);
	b->size_B += size_B;
	b->at[b->size_B] = 0;
	return true;
}

bool hip_bytes_add_text(struct hip_bytes *b, const char *text)
{
	return hip_bytes_add(b, text, strlen(text));
}

void hip_bytes_fini(struct hip_bytes *b)
{
	free(b->at);
	*b = (struct hip_bytes){0};
}

bool hip_read_file(const char *path, struct hip_bytes *to)
{
	size_t size_B;
	char *image;
	bool ok;

	if (hip_file_read(path, &image, &size_B))
		return false;
	ok = hip_bytes_add(to, image, size_B);
	free(image);
	return ok;
}

/* --- the temporary folder --------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
	(void)stat, (void)kind, (void)place;
	return remove(path);
}

/* Makes the folders of a header's path. */
static bool make_folders(char *path)
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			return false;
		*at = '/';
	}
	return true;
}

static hiprtcResult of_errno(void)
{
	const bool is_name = errno == ENOTDIR || errno == EISDIR || errno == ENAMETOOLONG;

	return is_name ? HIPRTC_ERROR_INVALID_INPUT : HIPRTC_ERROR_INTERNAL_ERROR;
}

hiprtcResult hip_rtc_write(const char *folder, const char *name, const void *from, size_t size_B)
{
	char path[PATH_MAX];
	FILE *file;
	bool ok;

	if (*name == '/' || strstr(name, "..") ||
	    snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return HIPRTC_ERROR_INVALID_INPUT;
	file = make_folders(path) ? fopen(path, "wb") : NULL;
	if (!file)
		return of_errno();
	ok = fwrite(from, 1, size_B, file) == size_B;
	return fclose(file) || !ok ? HIPRTC_ERROR_INTERNAL_ERROR : HIPRTC_SUCCESS;
}

hiprtcResult hip_rtc_write_headers(const char *folder, const struct hip_source *source)
{
	char headers[PATH_MAX];
	hiprtcResult r = HIPRTC_SUCCESS;

	snprintf(headers, sizeof(headers), "%s/" HIP_RTC_HEADERS, folder);
	for (unsigned i = 0; !r && i < source->headers; i++)
		r = hip_rtc_write(headers, source->header_name[i], source->header[i], strlen(source->header[i]));
	return r;
}

hiprtcResult hip_rtc_in_folder(hip_rtc_work *work, const void *what, struct hip_bytes *code, struct hip_bytes *log)
{
	char folder[] = "/tmp/hiprtc-XXXXXX";
	hiprtcResult r;

	if (!mkdtemp(folder))
		return HIPRTC_ERROR_INTERNAL_ERROR;
	r = work(folder, what, code, log);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return r;
}
