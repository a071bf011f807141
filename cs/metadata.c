/* Kernel metadata: the MessagePack map in a code object's AMDGPU notes (LLVM AMDGPUUsage, "Code Object V3
 * Metadata"). It is untrusted. */
#include "cs/code.h"
#include "cs/msgpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KERNARG_MAX_B CS_DATA_MAX_B
/* More than any chip has, and few enough that sums do not overflow. */
#define REGISTERS_MAX UINT16_MAX

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

/* --- kernels ---------------------------------------------------------------------------------- */

/* Reads a number: an absent one is 0; a number beyond max or another type is an error. */
static bool find_number(struct cs_msgpack map, const char *key, uint64_t max, uint32_t *number)
{
	struct cs_msgpack value;
	struct cs_item item;

	*number = 0;
	if (!cs_msgpack_find(map, key, &value))
		return true;
	if (!cs_msgpack_read(&value, &item) || item.kind != CS_ITEM_NUMBER || item.n > max)
		return false;
	*number = item.n;
	return true;
}

static enum cs_hidden_kind hidden_kind(const struct cs_item *kind)
{
	for (size_t i = 0; i < sizeof(hidden_kinds) / sizeof(hidden_kinds[0]); i++)
		if (cs_msgpack_is(kind, hidden_kinds[i].name))
			return hidden_kinds[i].kind;
	return CS_HIDDEN_NONE;
}

static bool read_arg(struct cs_msgpack arg, struct cs_meta_kernel *k)
{
	uint32_t offset_B, size_B;
	struct cs_item kind;

	if (!cs_msgpack_text(arg, ".value_kind", &kind) || !find_number(arg, ".offset", KERNARG_MAX_B, &offset_B) ||
	    !find_number(arg, ".size", KERNARG_MAX_B, &size_B) || offset_B + size_B > k->kernarg_B)
		return false;
	if (kind.n < 7 || memcmp(kind.text, "hidden_", 7)) {
		if (offset_B + size_B > k->explicit_B)
			k->explicit_B = offset_B + size_B;
		k->arg[k->arg_count++] = (struct cs_arg){.size_B = size_B, .offset_B = offset_B};
		return true;
	}
	if (!cs_msgpack_is(&kind, "hidden_none") && offset_B + size_B > k->hidden_end_B)
		k->hidden_end_B = offset_B + size_B;
	if (hidden_kind(&kind) != CS_HIDDEN_NONE) {
		*--k->hidden = (struct cs_arg){.kind = hidden_kind(&kind), .size_B = size_B, .offset_B = offset_B};
		k->hidden_count++;
	}
	return true;
}

/* Compilers add the hidden arguments behind all others: users of the metadata count their bytes from there. */
static bool hidden_come_last(const struct cs_meta_kernel *k)
{
	for (unsigned i = 0; i < k->hidden_count; i++)
		if (k->hidden[i].offset_B < k->explicit_B)
			return false;
	return true;
}

static int read_args(struct cs_msgpack kernel, struct cs_meta_kernel *k)
{
	struct cs_msgpack args;
	struct cs_item array;

	if (!cs_msgpack_find(kernel, ".args", &args)) /* no arguments */
		return 0;
	/* Each element takes a byte at least. */
	if (!cs_msgpack_read(&args, &array) || array.kind != CS_ITEM_ARRAY ||
	    array.n > (uint64_t)(args.end - args.p))
		return -ENOEXEC;
	k->arg = calloc(array.n + 1, sizeof(*k->arg));
	if (!k->arg)
		return -ENOMEM;
	k->hidden = k->arg + array.n;
	for (uint64_t i = 0; i < array.n; i++)
		if (!read_arg(args, k) || !cs_msgpack_skip(&args))
			return -ENOEXEC;
	return hidden_come_last(k) ? 0 : -ENOEXEC;
}

static int read_kernel(struct cs_msgpack kernel, struct cs_meta_kernel *k)
{
	struct cs_item symbol;

	if (!cs_msgpack_text(kernel, ".symbol", &symbol) ||
	    !find_number(kernel, ".kernarg_segment_size", KERNARG_MAX_B, &k->kernarg_B) ||
	    !find_number(kernel, ".kernarg_segment_align", KERNARG_MAX_B, &k->args_align_B) ||
	    !find_number(kernel, ".max_flat_workgroup_size", UINT32_MAX, &k->max_threads) ||
	    !find_number(kernel, ".uniform_work_group_size", 1, &k->uniform) ||
	    !find_number(kernel, ".vgpr_count", REGISTERS_MAX, &k->vgprs) ||
	    !find_number(kernel, ".sgpr_count", REGISTERS_MAX, &k->sgprs))
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

static int read_kernels(struct cs_meta *meta, struct cs_msgpack note)
{
	struct cs_msgpack kernels;
	struct cs_item array;
	int r = 0;

	if (!cs_msgpack_find(note, "amdhsa.kernels", &kernels))
		return 0;
	if (!cs_msgpack_read(&kernels, &array) || array.kind != CS_ITEM_ARRAY)
		return -ENOEXEC;
	for (uint64_t i = 0; !r && i < array.n; i++) {
		if (meta->count == meta->max)
			r = array_grow(meta);
		if (r)
			break;
		meta->kernel[meta->count] = (struct cs_meta_kernel){0};
		r = read_kernel(kernels, &meta->kernel[meta->count++]);
		if (!r && !cs_msgpack_skip(&kernels))
			r = -ENOEXEC;
	}
	return r;
}

/* --- formats of printf ------------------------------------------------------------------------ */

static int read_formats(struct cs_meta *meta, struct cs_msgpack note)
{
	struct cs_msgpack list;
	struct cs_item array, text;
	char **grown;

	if (!cs_msgpack_find(note, "amdhsa.printf", &list))
		return 0;
	/* Each element takes a byte at least. */
	if (!cs_msgpack_read(&list, &array) || array.kind != CS_ITEM_ARRAY ||
	    array.n > (uint64_t)(list.end - list.p))
		return -ENOEXEC;
	grown = realloc(meta->format, (meta->formats + array.n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	meta->format = grown;
	for (uint64_t i = 0; i < array.n; i++) {
		meta->format[meta->formats] = NULL;
		if (!cs_msgpack_read(&list, &text) || text.kind != CS_ITEM_TEXT)
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
	struct cs_msgpack c = {note, (const uint8_t *)note + size_B}, check = c;
	struct cs_item map;
	int r;

	if (!cs_msgpack_read(&check, &map) || map.kind != CS_ITEM_MAP)
		return drv_fail(-ENOEXEC, "the metadata note is no MessagePack map");
	check = c;
	if (!cs_msgpack_skip(&check))
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
