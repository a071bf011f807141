/* Sources of code objects: memory and files, and the clients' readers of them. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drv/file.h"
#include "hsa/code/code.h"
#include "hsa/core/table.h"

/* --- URIs: as in LLVM AMDGPUUsage, "Loaded Code Object Path URI" --------------------------------- */

/* A URI of "file://", the path with special characters as %XX, and the range in the file unless it is all of it. */
static char *file_uri(const char *path, uint64_t offset_B, uint64_t size_B, bool whole)
{
	static const char hex[] = "0123456789ABCDEF";
	char *uri = malloc(strlen("file://") + 3 * strlen(path) + 64), *to = uri;

	if (!uri)
		return NULL;
	to = stpcpy(to, "file://");
	for (const unsigned char *c = (const unsigned char *)path; *c; c++) {
		if (isalnum(*c) || strchr("/-_.~", *c)) {
			*to++ = (char)*c;
			continue;
		}
		*to++ = '%';
		*to++ = hex[*c >> 4];
		*to++ = hex[*c & 15];
	}
	*to = 0;
	if (!whole)
		sprintf(to, "#offset=%llu&size=%llu", (unsigned long long)offset_B, (unsigned long long)size_B);
	return uri;
}

struct part {
	uintptr_t address;
	char path[PATH_MAX];
	uint64_t offset_B;
};

/* Checks whether the address is in a loaded segment of a program or library. */
static int find_in_segments(struct dl_phdr_info *info, size_t size_B, void *user)
{
	struct part *part = user;

	(void)size_B;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t at = part->address - (info->dlpi_addr + p->p_vaddr);

		if (p->p_type != PT_LOAD || at >= p->p_filesz)
			continue;
		part->offset_B = p->p_offset + at;
		snprintf(part->path, sizeof(part->path), "%s", info->dlpi_name);
		/* The program itself has no name; nor has the vDSO, which contains no code object. */
		if (!*part->path && readlink("/proc/thread-self/exe", part->path, sizeof(part->path) - 1) < 0)
			return 0;
		return 1;
	}
	return 0;
}

/* Like ROCr: a file URI if a program or library contains the image, else a URI of this process's memory. */
static char *memory_uri(const void *image, size_t size_B)
{
	struct part part = {.address = (uintptr_t)image};
	char *uri;

	if (dl_iterate_phdr(find_in_segments, &part))
		return file_uri(part.path, part.offset_B, size_B, false);
	uri = malloc(96);
	if (uri)
		sprintf(uri, "memory://%d#offset=0x%llx&size=%zu", (int)getpid(),
			(unsigned long long)(uintptr_t)image, size_B);
	return uri;
}

/* --- sources ---------------------------------------------------------------------------------- */

static int create_source(const struct rt_source *what, struct rt_source **out)
{
	struct rt_source *source = malloc(sizeof(*source));

	if (!source || !what->uri) {
		free(source);
		return drv_fail(-ENOMEM, "no host memory for a code object");
	}
	*source = *what;
	atomic_init(&source->refs, 1);
	*out = source;
	return 0;
}

int rt_source_create(const void *image, size_t size_B, struct rt_source **source)
{
	struct rt_source what = {.image = image, .size_B = size_B, .uri = memory_uri(image, size_B)};
	int r = create_source(&what, source);

	if (r)
		free(what.uri);
	return r;
}

int rt_source_create_copy(const void *image, size_t size_B, struct rt_source **source)
{
	void *copy = malloc(size_B);
	int r;

	if (!copy)
		return drv_fail(-ENOMEM, "no host memory for a code object of %zu bytes", size_B);
	memcpy(copy, image, size_B);
	r = rt_source_create(copy, size_B, source);
	if (r)
		free(copy);
	else
		(*source)->copy = copy;
	return r;
}

struct rt_source *rt_source_get(struct rt_source *source)
{
	atomic_fetch_add_explicit(&source->refs, 1, memory_order_relaxed);
	return source;
}

void rt_source_put(struct rt_source *source)
{
	if (!source || atomic_fetch_sub_explicit(&source->refs, 1, memory_order_acq_rel) != 1)
		return;
	free(source->copy);
	free(source->uri);
	free(source);
}

static char *part_uri(int file, const void *image, size_t offset_B, size_t size_B, bool whole)
{
	char link[64], path[PATH_MAX] = "";

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", file);
	return readlink(link, path, sizeof(path) - 1) > 0 ? file_uri(path, offset_B, size_B, whole)
							  : memory_uri(image, size_B);
}

/* The size of the part; the statuses are ROCr's. size_B 0: all behind the offset. */
static hsa_status_t part_size(int file, size_t offset_B, size_t *size_B, bool *whole)
{
	struct stat st;

	if (fstat(file, &st) || st.st_size < 0)
		return HSA_STATUS_ERROR_INVALID_FILE;
	if (offset_B >= (size_t)st.st_size)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	if (!*size_B)
		*size_B = (size_t)st.st_size - offset_B;
	*whole = *size_B == (size_t)st.st_size;
	return *size_B > (size_t)st.st_size - offset_B ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT : HSA_STATUS_SUCCESS;
}

/* Reads a part of a file. A mapping, as in ROCr, was rejected: another process that shortens the file would end
 * this one by SIGBUS. */
static hsa_status_t read_file(int file, size_t offset_B, size_t size_B, struct rt_source **out)
{
	struct rt_source what = {.size_B = size_B};
	hsa_status_t status;
	bool whole;
	int r;

	status = part_size(file, offset_B, &what.size_B, &whole);
	if (status)
		return status;
	what.image = what.copy = malloc(what.size_B);
	if (!what.copy)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (!drv_file_pread(file, what.copy, what.size_B, offset_B)) {
		free(what.copy);
		return HSA_STATUS_ERROR_INVALID_FILE;
	}
	what.uri = part_uri(file, what.image, offset_B, what.size_B, whole);
	r = create_source(&what, out);
	if (r) {
		free(what.copy);
		free(what.uri);
	}
	return hsa_status_of(r);
}

/* --- readers ---------------------------------------------------------------------------------- */

/* Creates a reader's handle, which names the source. Takes over the source. */
static hsa_status_t open_reader(struct rt_source *source, hsa_code_object_reader_t *handle)
{
	uint64_t value;
	int r = drv_handle_create(&rt_handles, RT_KIND(RT_READER), source, &value);

	if (r)
		rt_source_put(source);
	else
		handle->handle = value;
	return hsa_status_of(r);
}

static struct rt_source *reader_source(hsa_code_object_reader_t handle)
{
	return drv_handle_find(&rt_handles, RT_KIND(RT_READER), handle.handle);
}

struct rt_source *rt_reader_source(struct rt *rt, hsa_code_object_reader_t handle)
{
	struct rt_source *source;

	drv_rwlock_rdlock(&rt->loader->lock);
	source = reader_source(handle);
	if (source)
		rt_source_get(source);
	drv_rwlock_unlock(&rt->loader->lock);
	return source;
}

RT_IMPL(hsa_code_object_reader_create_from_memory,
	(const void *image, size_t size_B, hsa_code_object_reader_t *handle), (image, size_B, handle))
{
	struct rt_source *source;
	int r;

	(void)rt;
	if (!image || !size_B || !handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	r = rt_source_create(image, size_B, &source);
	return r ? hsa_status_of(r) : open_reader(source, handle);
}

static hsa_status_t reader_create_from_part(hsa_file_t file, size_t offset_B, size_t size_B,
					    hsa_code_object_reader_t *handle)
{
	struct rt_source *source;
	hsa_status_t status;

	if (!handle || file == -1)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = read_file(file, offset_B, size_B, &source);
	return status ? status : open_reader(source, handle);
}

RT_IMPL(hsa_code_object_reader_create_from_file, (hsa_file_t file, hsa_code_object_reader_t *handle),
	(file, handle))
{
	(void)rt;
	return reader_create_from_part(file, 0, 0, handle);
}

RT_IMPL(hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size,
	(hsa_file_t file, size_t offset_B, size_t size_B, hsa_code_object_reader_t *handle),
	(file, offset_B, size_B, handle))
{
	(void)rt;
	if (!handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return size_B ? reader_create_from_part(file, offset_B, size_B, handle)
		      : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

RT_IMPL(hsa_code_object_reader_destroy, (hsa_code_object_reader_t handle), (handle))
{
	struct rt_source *source;

	drv_rwlock_wrlock(&rt->loader->lock);
	source = reader_source(handle);
	if (source)
		drv_handle_destroy(&rt_handles, handle.handle);
	drv_rwlock_unlock(&rt->loader->lock);
	rt_source_put(source);
	return source ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
}
