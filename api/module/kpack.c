/* Reading archives of code objects. */
#include "drv/cancel.h"
#include "api/module/kpack.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cs/msgpack.h"
#include "drv/file.h"
#include "api/base/file.h"
#include "api/module/compressed.h"

#define MAGIC      "KPAK"
#define HEADER_B   16u
#define VERSION    1u
#define TABLE_B    (256u << 20)
#define CODE_MAX_B (1ull << 32)

/* --- references ------------------------------------------------------------------------------- */

hipError_t hip_kpack_reference_read(const void *bytes, size_t size_B, struct hip_kpack_reference *r)
{
	const struct cs_msgpack map = {bytes, (const uint8_t *)bytes + size_B};
	struct cs_msgpack paths;
	struct cs_item item;

	*r = (struct hip_kpack_reference){0};
	if (!cs_msgpack_text(map, "kernel_name", &item) || !cs_msgpack_find(map, "kpack_search_paths", &paths))
		return hipErrorInvalidImage;
	r->name = (struct hip_kpack_text){item.text, item.n};
	if (!cs_msgpack_read(&paths, &item) || item.kind != CS_ITEM_ARRAY || item.n > HIP_KPACK_PATHS_MAX)
		return hipErrorInvalidImage;
	for (uint64_t left = item.n; left; left--) {
		if (!cs_msgpack_read(&paths, &item) || item.kind != CS_ITEM_TEXT)
			return hipErrorInvalidImage;
		r->path[r->paths++] = (struct hip_kpack_text){item.text, item.n};
	}
	return r->paths ? hipSuccess : hipErrorInvalidImage;
}

/* --- files ------------------------------------------------------------------------------------ */

/* A file that another process shortens is damaged. */
static bool bytes_read(const struct hip_kpack_archive *a, void *to, uint64_t size_B, uint64_t offset_B)
{
	return offset_B <= a->size_B && size_B <= a->size_B - offset_B &&
	       drv_file_pread(a->fd, to, size_B, offset_B);
}

static hipError_t table_read(struct hip_kpack_archive *a)
{
	uint8_t header[HEADER_B];
	uint32_t version;
	uint64_t offset_B;

	if (!bytes_read(a, header, HEADER_B, 0) || memcmp(header, MAGIC, 4) != 0)
		return hipErrorInvalidImage;
	memcpy(&version, header + 4, sizeof(version));
	memcpy(&offset_B, header + 8, sizeof(offset_B));
	if (version != VERSION || offset_B < HEADER_B || offset_B >= a->size_B || a->size_B - offset_B > TABLE_B)
		return hipErrorInvalidImage;
	a->table_B = a->size_B - offset_B;
	a->table = malloc(a->table_B);
	if (!a->table)
		return hipErrorOutOfMemory;
	return bytes_read(a, a->table, a->table_B, offset_B) ? hipSuccess : hipErrorInvalidImage;
}

hipError_t hip_kpack_open(const char *path, struct hip_kpack_archive *a)
{
	hipError_t r;

	*a = (struct hip_kpack_archive){.fd = -1};
	r = hip_file_open(path, &a->fd, &a->size_B);
	if (r)
		return r == hipErrorFileNotFound ? r : hipErrorInvalidImage;
	r = table_read(a);
	if (r)
		hip_kpack_close(a);
	return r;
}

void hip_kpack_close(struct hip_kpack_archive *a)
{
	DRV_HOLD_CANCEL;

	free(a->table);
	a->table = NULL;
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
}

/* --- code objects ----------------------------------------------------------------------------- */

/* The part of the file that holds a code object. */
struct place {
	uint64_t offset_B, stored_B;
	uint64_t plain_B; /* 0: it is stored as it is */
};

static bool number_find(struct cs_msgpack map, const char *key, uint64_t *n)
{
	struct cs_msgpack value;
	struct cs_item item;

	if (!cs_msgpack_find(map, key, &value) || !cs_msgpack_read(&value, &item) || item.kind != CS_ITEM_NUMBER)
		return false;
	*n = item.n;
	return true;
}

static bool place_stored(struct cs_msgpack table, uint64_t ordinal, struct place *place)
{
	struct cs_msgpack blobs;
	struct cs_item item;

	if (!cs_msgpack_find(table, "blobs", &blobs) || !cs_msgpack_read(&blobs, &item) ||
	    item.kind != CS_ITEM_ARRAY || ordinal >= item.n)
		return false;
	while (ordinal--)
		if (!cs_msgpack_skip(&blobs))
			return false;
	return number_find(blobs, "offset", &place->offset_B) && number_find(blobs, "size", &place->stored_B);
}

/* The sizes before the frames lead from one to the next. */
static bool place_frame(const struct hip_kpack_archive *a, struct cs_msgpack table, uint64_t ordinal,
			struct place *place)
{
	uint64_t region_B, at;
	uint32_t n;

	if (!number_find(table, "zstd_offset", &at) || !number_find(table, "zstd_size", &region_B) ||
	    at > a->size_B || region_B > a->size_B - at || region_B < sizeof(n) ||
	    !bytes_read(a, &n, sizeof(n), at) || ordinal >= n)
		return false;
	region_B += at;
	at += sizeof(n);
	for (;; at += n) {
		if (region_B - at < sizeof(n) || !bytes_read(a, &n, sizeof(n), at))
			return false;
		at += sizeof(n);
		if (n > region_B - at)
			return false;
		if (!ordinal--)
			break;
	}
	place->offset_B = at;
	place->stored_B = n;
	return true;
}

/* entry: the map that the table of contents has for key and target. */
static bool place_find(const struct hip_kpack_archive *a, struct cs_msgpack table, struct cs_msgpack entry,
		       struct place *place)
{
	struct cs_item scheme;
	uint64_t ordinal;

	if (!number_find(entry, "ordinal", &ordinal))
		return false;
	if (!cs_msgpack_text(table, "compression_scheme", &scheme) || cs_msgpack_is(&scheme, "none"))
		return place_stored(table, ordinal, place);
	return cs_msgpack_is(&scheme, "zstd-per-kernel") && place_frame(a, table, ordinal, place) &&
	       number_find(entry, "original_size", &place->plain_B) && place->plain_B &&
	       place->plain_B <= CODE_MAX_B;
}

/* Reads the stored bytes. */
static hipError_t place_read(const struct hip_kpack_archive *a, const struct place *place, void **bytes)
{
	if (!place->stored_B || place->stored_B > CODE_MAX_B || place->offset_B > a->size_B ||
	    place->stored_B > a->size_B - place->offset_B)
		return hipErrorInvalidImage;
	*bytes = malloc(place->stored_B);
	if (!*bytes)
		return hipErrorOutOfMemory;
	if (bytes_read(a, *bytes, place->stored_B, place->offset_B))
		return hipSuccess;
	free(*bytes);
	return hipErrorInvalidImage;
}

/* Takes over the stored bytes, even after an error. */
static hipError_t code_unpack(void *stored, const struct place *place, void **code, size_t *code_B)
{
	hipError_t r = hipSuccess;

	*code = stored;
	*code_B = place->stored_B;
	if (!place->plain_B)
		return hipSuccess;
	*code = malloc(place->plain_B);
	*code_B = place->plain_B;
	if (!*code)
		r = hipErrorOutOfMemory;
	else if (!hip_zstd(*code, *code_B, stored, place->stored_B))
		r = hipErrorInvalidImage;
	free(stored);
	if (r)
		free(*code);
	return r;
}

hipError_t hip_kpack_read(const struct hip_kpack_archive *a, const char *key, const char *target, void **code,
			  size_t *code_B)
{
	const struct cs_msgpack table = {a->table, a->table + a->table_B};
	struct cs_msgpack contents, targets, entry, check = table;
	struct place place = {0};
	void *stored;
	hipError_t r;

	if (!cs_msgpack_skip(&check) || !cs_msgpack_find(table, "toc", &contents))
		return hipErrorInvalidImage;
	if (!cs_msgpack_find(contents, key, &targets) || !cs_msgpack_find(targets, target, &entry))
		return hipErrorNoBinaryForGpu;
	if (!place_find(a, table, entry, &place))
		return hipErrorInvalidImage;
	r = place_read(a, &place, &stored);
	return r ? r : code_unpack(stored, &place, code, code_B);
}
