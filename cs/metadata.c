/* Kernel metadata: the MessagePack map in a code object's AMDGPU notes (LLVM AMDGPUUsage, "Code Object V3
 * Metadata").
 *
 * The metadata is untrusted. It is read in place, by a cursor that never leaves the note: Debian's MessagePack
 * library allocates the size in an array's header before it reads the content, gigabytes for five bytes. */
#include "cs/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KERNARG_MAX_B CS_DATA_MAX_B

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
	{"hidden_hostcall_buffer", CS_HIDDEN_HOSTCALL},
	{"hidden_printf_buffer", CS_HIDDEN_PRINTF},
	{"hidden_heap_v1", CS_HIDDEN_HEAP},
	{"hidden_multigrid_sync_arg", CS_HIDDEN_MULTIGRID_SYNC},
};

/* --- MessagePack ------------------------------------------------------------------------------ */

struct cursor {
	const uint8_t *p, *end;
};

enum item_kind { ITEM_OTHER, ITEM_NUMBER, ITEM_TEXT, ITEM_ARRAY, ITEM_MAP };

/* A header with its payload: a number's value, a text, or the number of following elements. */
struct item {
	enum item_kind kind;
	uint64_t n; /* value, length or count */
	const char *text;
};

/* Formats 0xc4 to 0xdf: width of the number after the first byte, and size of the payload when that is fixed. */
static const struct {
	uint8_t kind, width_B, fixed_B;
	bool data; /* the number is the length of the payload */
} formats[] = {
	{ITEM_OTHER, 1, 0, true},   {ITEM_OTHER, 2, 0, true},   {ITEM_OTHER, 4, 0, true}, /* bin */
	{ITEM_OTHER, 1, 1, true},   {ITEM_OTHER, 2, 1, true},   {ITEM_OTHER, 4, 1, true}, /* ext */
	{ITEM_OTHER, 4, 0, false},  {ITEM_OTHER, 8, 0, false},                            /* float */
	{ITEM_NUMBER, 1, 0, false}, {ITEM_NUMBER, 2, 0, false},                           /* unsigned */
	{ITEM_NUMBER, 4, 0, false}, {ITEM_NUMBER, 8, 0, false}, {ITEM_OTHER, 1, 0, false},
	{ITEM_OTHER, 2, 0, false}, /* signed */
	{ITEM_OTHER, 4, 0, false},  {ITEM_OTHER, 8, 0, false},  {ITEM_OTHER, 0, 2, false},
	{ITEM_OTHER, 0, 3, false},  {ITEM_OTHER, 0, 5, false}, /* fixext */
	{ITEM_OTHER, 0, 9, false},  {ITEM_OTHER, 0, 17, false}, {ITEM_TEXT, 1, 0, true},
	{ITEM_TEXT, 2, 0, true},    {ITEM_TEXT, 4, 0, true},    {ITEM_ARRAY, 2, 0, false},
	{ITEM_ARRAY, 4, 0, false},  {ITEM_MAP, 2, 0, false},    {ITEM_MAP, 4, 0, false},
};

static bool take_bytes(struct cursor *c, uint64_t size_B)
{
	if (size_B > (uint64_t)(c->end - c->p))
		return false;
	c->p += size_B;
	return true;
}

static struct item small_item(uint8_t first)
{
	if (first < 0x80)
		return (struct item){.kind = ITEM_NUMBER, .n = first};
	if (first < 0x90)
		return (struct item){.kind = ITEM_MAP, .n = first & 0xf};
	if (first < 0xa0)
		return (struct item){.kind = ITEM_ARRAY, .n = first & 0xf};
	if (first < 0xc0)
		return (struct item){.kind = ITEM_TEXT, .n = first & 0x1f};
	return (struct item){.kind = ITEM_OTHER}; /* nil, booleans, small negative numbers */
}

/* Reads one item; false at the end or beyond it. */
static bool item_read(struct cursor *c, struct item *item)
{
	uint8_t first;
	uint64_t data_B;

	if (c->p == c->end)
		return false;
	first = *c->p++;
	if (first < 0xc4 || first >= 0xe0) {
		*item = small_item(first);
		data_B = item->kind == ITEM_TEXT ? item->n : 0;
	} else {
		unsigned width_B = formats[first - 0xc4].width_B;

		*item = (struct item){.kind = formats[first - 0xc4].kind};
		if (!take_bytes(c, width_B))
			return false;
		for (unsigned i = 0; i < width_B; i++)
			item->n = item->n << 8 | c->p[(int)i - (int)width_B];
		data_B = formats[first - 0xc4].fixed_B + (formats[first - 0xc4].data ? item->n : 0);
	}
	item->text = (const char *)c->p;
	return take_bytes(c, data_B);
}

/* Skips one item with all its elements. */
static bool item_skip(struct cursor *c)
{
	uint64_t left = 1;

	while (left--) {
		struct item item;

		if (!item_read(c, &item))
			return false;
		left += item.kind == ITEM_ARRAY ? item.n : item.kind == ITEM_MAP ? 2 * item.n : 0;
	}
	return true;
}

static bool is_text(const struct item *item, const char *text)
{
	return item->kind == ITEM_TEXT && item->n == strlen(text) && !memcmp(item->text, text, item->n);
}

/* Finds a key of the map that begins at c; *value then points to its value. */
static bool map_find(struct cursor c, const char *key, struct cursor *value)
{
	struct item map, name;

	if (!item_read(&c, &map) || map.kind != ITEM_MAP)
		return false;
	for (uint64_t i = 0; i < map.n; i++) {
		if (!item_read(&c, &name))
			return false;
		*value = c;
		if (is_text(&name, key))
			return true;
		if (!item_skip(&c))
			return false;
	}
	return false;
}

/* --- kernels ---------------------------------------------------------------------------------- */

static bool find_text(struct cursor map, const char *key, struct item *text)
{
	struct cursor value;

	return map_find(map, key, &value) && item_read(&value, text) && text->kind == ITEM_TEXT;
}

/* Reads a number: an absent one is 0; a number beyond max or another type is an error. */
static bool find_number(struct cursor map, const char *key, uint64_t max, uint32_t *number)
{
	struct cursor value;
	struct item item;

	*number = 0;
	if (!map_find(map, key, &value))
		return true;
	if (!item_read(&value, &item) || item.kind != ITEM_NUMBER || item.n > max)
		return false;
	*number = item.n;
	return true;
}

static enum cs_hidden_kind hidden_kind(const struct item *kind)
{
	for (size_t i = 0; i < sizeof(hidden_kinds) / sizeof(hidden_kinds[0]); i++)
		if (is_text(kind, hidden_kinds[i].name))
			return hidden_kinds[i].kind;
	return CS_HIDDEN_NONE;
}

static bool read_arg(struct cursor arg, struct cs_meta_kernel *k)
{
	uint32_t offset_B, size_B;
	struct item kind;

	if (!find_text(arg, ".value_kind", &kind) || !find_number(arg, ".offset", KERNARG_MAX_B, &offset_B) ||
	    !find_number(arg, ".size", KERNARG_MAX_B, &size_B) || offset_B + size_B > k->kernarg_B)
		return false;
	if (kind.n < 7 || memcmp(kind.text, "hidden_", 7)) {
		if (offset_B + size_B > k->explicit_B)
			k->explicit_B = offset_B + size_B;
		k->arg[k->arg_count++] = (struct cs_arg){.size_B = size_B, .offset_B = offset_B};
		return true;
	}
	if (!is_text(&kind, "hidden_none") && offset_B + size_B > k->hidden_end_B)
		k->hidden_end_B = offset_B + size_B;
	if (hidden_kind(&kind) != CS_HIDDEN_NONE) {
		*--k->hidden = (struct cs_arg){.kind = hidden_kind(&kind), .size_B = size_B, .offset_B = offset_B};
		k->hidden_count++;
	}
	return true;
}

static int read_args(struct cursor kernel, struct cs_meta_kernel *k)
{
	struct cursor args;
	struct item array;

	if (!map_find(kernel, ".args", &args)) /* no arguments */
		return 0;
	/* Each element takes a byte at least. */
	if (!item_read(&args, &array) || array.kind != ITEM_ARRAY || array.n > (uint64_t)(args.end - args.p))
		return -ENOEXEC;
	k->arg = calloc(array.n + 1, sizeof(*k->arg));
	if (!k->arg)
		return -ENOMEM;
	k->hidden = k->arg + array.n;
	for (uint64_t i = 0; i < array.n; i++)
		if (!read_arg(args, k) || !item_skip(&args))
			return -ENOEXEC;
	return 0;
}

static int read_kernel(struct cursor kernel, struct cs_meta_kernel *k)
{
	struct item symbol;

	if (!find_text(kernel, ".symbol", &symbol) ||
	    !find_number(kernel, ".kernarg_segment_size", KERNARG_MAX_B, &k->kernarg_B) ||
	    !find_number(kernel, ".kernarg_segment_align", KERNARG_MAX_B, &k->args_align_B) ||
	    !find_number(kernel, ".max_flat_workgroup_size", UINT32_MAX, &k->max_threads) ||
	    !find_number(kernel, ".uniform_work_group_size", 1, &k->uniform) ||
	    !find_number(kernel, ".vgpr_count", UINT32_MAX, &k->vgprs) ||
	    !find_number(kernel, ".sgpr_count", UINT32_MAX, &k->sgprs))
		return -ENOEXEC;
	k->symbol = strndup(symbol.text, symbol.n);
	return k->symbol ? read_args(kernel, k) : -ENOMEM;
}

static int array_grow(struct cs_meta *meta)
{
	unsigned max = meta->max ? meta->max * 2 : 16;
	void *grown = realloc(meta->kernel, max * sizeof(*meta->kernel));

	if (!grown)
		return -ENOMEM;
	meta->kernel = grown;
	meta->max = max;
	return 0;
}

static int read_kernels(struct cs_meta *meta, struct cursor note)
{
	struct cursor kernels;
	struct item array;
	int r = 0;

	if (!map_find(note, "amdhsa.kernels", &kernels))
		return 0;
	if (!item_read(&kernels, &array) || array.kind != ITEM_ARRAY)
		return -ENOEXEC;
	for (uint64_t i = 0; !r && i < array.n; i++) {
		if (meta->count == meta->max)
			r = array_grow(meta);
		if (r)
			break;
		meta->kernel[meta->count] = (struct cs_meta_kernel){0};
		r = read_kernel(kernels, &meta->kernel[meta->count++]);
		if (!r && !item_skip(&kernels))
			r = -ENOEXEC;
	}
	return r;
}

/* --- formats of printf ------------------------------------------------------------------------ */

static int read_formats(struct cs_meta *meta, struct cursor note)
{
	struct cursor list;
	struct item array, text;
	char **grown;

	if (!map_find(note, "amdhsa.printf", &list))
		return 0;
	/* Each element takes a byte at least. */
	if (!item_read(&list, &array) || array.kind != ITEM_ARRAY || array.n > (uint64_t)(list.end - list.p))
		return -ENOEXEC;
	grown = realloc(meta->format, (meta->formats + array.n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	meta->format = grown;
	for (uint64_t i = 0; i < array.n; i++) {
		meta->format[meta->formats] = NULL;
		if (!item_read(&list, &text) || text.kind != ITEM_TEXT)
			return -ENOEXEC;
		meta->format[meta->formats] = strndup(text.text, text.n);
		if (!meta->format[meta->formats])
			return -ENOMEM;
		meta->format[++meta->formats] = NULL;
	}
	return 0;
}

int cs_meta_add(struct cs_meta *meta, const void *note, size_t size_B)
{
	struct cursor c = {note, (const uint8_t *)note + size_B}, check = c;
	struct item map;
	int r;

	if (!item_read(&check, &map) || map.kind != ITEM_MAP)
		return drv_fail(-ENOEXEC, "the metadata note is no MessagePack map");
	check = c;
	if (!item_skip(&check))
		return drv_fail(-ENOEXEC, "the metadata note is cut off");
	r = read_kernels(meta, c);
	if (r)
		return drv_fail(r, "the metadata of kernel %u", meta->count);
	r = read_formats(meta, c);
	return r ? drv_fail(r, "the metadata of printf's format %u", meta->formats) : 0;
}

static int by_symbol(const void *a, const void *b)
{
	return strcmp(((const struct cs_meta_kernel *)a)->symbol, ((const struct cs_meta_kernel *)b)->symbol);
}

void cs_meta_sort(struct cs_meta *meta)
{
	if (meta->count)
		qsort(meta->kernel, meta->count, sizeof(*meta->kernel), by_symbol);
}

const struct cs_meta_kernel *cs_meta_find(const struct cs_meta *meta, const char *symbol)
{
	const struct cs_meta_kernel key = {.symbol = (char *)(uintptr_t)symbol};

	return meta->count ? bsearch(&key, meta->kernel, meta->count, sizeof(key), by_symbol) : NULL;
}

void cs_meta_fini(struct cs_meta *meta)
{
	for (unsigned i = 0; i < meta->count; i++) {
		free(meta->kernel[i].symbol);
		free(meta->kernel[i].arg);
	}
	free(meta->kernel);
	for (unsigned i = 0; i < meta->formats; i++)
		free(meta->format[i]);
	free(meta->format);
	*meta = (struct cs_meta){0};
}
