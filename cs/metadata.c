/* Kernel metadata: the MessagePack map in a code object's AMDGPU notes (LLVM AMDGPUUsage, "Code Object V3 Metadata").
 *
 * It comes from whoever made the code object: every type and number is checked before use. */
#include "cs/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

#define KERNARG_MAX_B CS_DATA_MAX_B
#define NOTE_MAX_B    (64u << 20)

static const struct {
	const char *name;
	enum cs_hidden_kind kind;
} hidden_kinds[] = {
	{"hidden_block_count_x", CS_HIDDEN_BLOCK_COUNT_X},
	{"hidden_block_count_y", CS_HIDDEN_BLOCK_COUNT_Y},
	{"hidden_block_count_z", CS_HIDDEN_BLOCK_COUNT_Z},
	{"hidden_group_size_x", CS_HIDDEN_GROUP_SIZE_X},
	{"hidden_group_size_y", CS_HIDDEN_GROUP_SIZE_Y},
	{"hidden_group_size_z", CS_HIDDEN_GROUP_SIZE_Z},
	{"hidden_remainder_x", CS_HIDDEN_REMAINDER_X},
	{"hidden_remainder_y", CS_HIDDEN_REMAINDER_Y},
	{"hidden_remainder_z", CS_HIDDEN_REMAINDER_Z},
	{"hidden_grid_dims", CS_HIDDEN_GRID_DIMS},
	{"hidden_dynamic_lds_size", CS_HIDDEN_DYNAMIC_LDS_SIZE},
	{"hidden_private_base", CS_HIDDEN_PRIVATE_BASE},
	{"hidden_shared_base", CS_HIDDEN_SHARED_BASE},
	{"hidden_queue_ptr", CS_HIDDEN_QUEUE_PTR},
};

static bool is_text(const msgpack_object *o, const char *text)
{
	return o->type == MSGPACK_OBJECT_STR && o->via.str.size == strlen(text) &&
	       !memcmp(o->via.str.ptr, text, o->via.str.size);
}

/* The value of a key, or NULL. */
static const msgpack_object *get(const msgpack_object *map, const char *key)
{
	if (map->type != MSGPACK_OBJECT_MAP)
		return NULL;
	for (uint32_t i = 0; i < map->via.map.size; i++)
		if (is_text(&map->via.map.ptr[i].key, key))
			return &map->via.map.ptr[i].val;
	return NULL;
}

/* An absent number counts as 0; one beyond max, or something else, as broken. */
static bool get_number(const msgpack_object *map, const char *key, uint64_t max, uint32_t *value)
{
	const msgpack_object *o = get(map, key);

	*value = 0;
	if (!o)
		return true;
	if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER || o->via.u64 > max)
		return false;
	*value = o->via.u64;
	return true;
}

static enum cs_hidden_kind hidden_kind(const msgpack_object *kind)
{
	for (size_t i = 0; i < sizeof(hidden_kinds) / sizeof(hidden_kinds[0]); i++)
		if (is_text(kind, hidden_kinds[i].name))
			return hidden_kinds[i].kind;
	return CS_HIDDEN_NONE;
}

static bool is_hidden(const msgpack_object *kind)
{
	return kind->type == MSGPACK_OBJECT_STR && kind->via.str.size >= 7 &&
	       !memcmp(kind->via.str.ptr, "hidden_", 7);
}

static bool read_arg(const msgpack_object *arg, struct cs_meta_kernel *k)
{
	const msgpack_object *kind = get(arg, ".value_kind");
	uint32_t offset_B, size_B;

	if (!kind || !get_number(arg, ".offset", KERNARG_MAX_B, &offset_B) ||
	    !get_number(arg, ".size", KERNARG_MAX_B, &size_B) || offset_B + size_B > k->kernarg_B)
		return false;
	if (!is_hidden(kind)) {
		if (offset_B + size_B > k->explicit_B)
			k->explicit_B = offset_B + size_B;
		return true;
	}
	if (hidden_kind(kind) != CS_HIDDEN_NONE)
		k->hidden[k->hidden_count++] =
			(struct cs_hidden_arg){.kind = hidden_kind(kind), .size_B = size_B, .offset_B = offset_B};
	return true;
}

static int read_args(const msgpack_object *args, struct cs_meta_kernel *k)
{
	if (!args) { /* no argument at all */
		k->explicit_B = 0;
		return 0;
	}
	if (args->type != MSGPACK_OBJECT_ARRAY)
		return -ENOEXEC;
	k->hidden = calloc(args->via.array.size + 1, sizeof(*k->hidden));
	if (!k->hidden)
		return -ENOMEM;
	for (uint32_t i = 0; i < args->via.array.size; i++)
		if (!read_arg(&args->via.array.ptr[i], k))
			return -ENOEXEC;
	return 0;
}

static int read_kernel(const msgpack_object *o, struct cs_meta_kernel *k)
{
	const msgpack_object *symbol = get(o, ".symbol");

	if (!symbol || symbol->type != MSGPACK_OBJECT_STR ||
	    !get_number(o, ".kernarg_segment_size", KERNARG_MAX_B, &k->kernarg_B) ||
	    !get_number(o, ".max_flat_workgroup_size", UINT32_MAX, &k->max_threads))
		return -ENOEXEC;
	k->symbol = strndup(symbol->via.str.ptr, symbol->via.str.size);
	return k->symbol ? read_args(get(o, ".args"), k) : -ENOMEM;
}

static int read_kernels(struct cs_meta *meta, const msgpack_object *kernels)
{
	int r = 0;

	if (!kernels)
		return 0;
	if (kernels->type != MSGPACK_OBJECT_ARRAY)
		return -ENOEXEC;
	for (uint32_t i = 0; !r && i < kernels->via.array.size; i++) {
		if (meta->count == meta->max) {
			unsigned max = meta->max ? meta->max * 2 : 16;
			void *grown = realloc(meta->kernel, max * sizeof(*meta->kernel));

			if (!grown)
				return -ENOMEM;
			meta->kernel = grown;
			meta->max = max;
		}
		meta->kernel[meta->count] = (struct cs_meta_kernel){0};
		r = read_kernel(&kernels->via.array.ptr[i], &meta->kernel[meta->count++]);
	}
	return r;
}

int cs_meta_add(struct cs_meta *meta, const void *note, size_t size_B)
{
	msgpack_unpacked unpacked;
	size_t offset = 0;
	int r;

	if (size_B > NOTE_MAX_B)
		return drv_fail(-ENOEXEC, "a metadata note of %zu bytes", size_B);
	msgpack_unpacked_init(&unpacked);
	if (msgpack_unpack_next(&unpacked, note, size_B, &offset) != MSGPACK_UNPACK_SUCCESS)
		r = drv_fail(-ENOEXEC, "the metadata note is no MessagePack");
	else if (unpacked.data.type != MSGPACK_OBJECT_MAP)
		r = drv_fail(-ENOEXEC, "the metadata note is no map");
	else
		r = read_kernels(meta, get(&unpacked.data, "amdhsa.kernels"));
	msgpack_unpacked_destroy(&unpacked);
	if (r)
		return drv_fail(r, "the metadata of kernel %u", meta->count);
	return 0;
}

const struct cs_meta_kernel *cs_meta_find(const struct cs_meta *meta, const char *symbol)
{
	for (unsigned i = 0; i < meta->count; i++)
		if (meta->kernel[i].symbol && !strcmp(meta->kernel[i].symbol, symbol))
			return &meta->kernel[i];
	return NULL;
}

void cs_meta_fini(struct cs_meta *meta)
{
	for (unsigned i = 0; i < meta->count; i++) {
		free(meta->kernel[i].symbol);
		free(meta->kernel[i].hidden);
	}
	free(meta->kernel);
	*meta = (struct cs_meta){0};
}
