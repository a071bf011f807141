/* The library is compatible with ROCr: the same symbols in the same version, and headers with the same
 * definitions. */
#include <stdbool.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/hsa/abi/list.h"

/* --- headers ---------------------------------------------------------------------------------- */

static void headers_define_the_same(void)
{
	const struct abi_row *ours = abi_ours, *theirs = abi_debians;
	unsigned count = 0;

	for (; ours->what && theirs->what; ours++, theirs++, count++) {
		CHECK_STR(ours->what, theirs->what);
		if (!CHECK_EQ(ours->value, theirs->value))
			printf("  %s\n", ours->what);
		if (ours->type || theirs->type)
			CHECK_STR(ours->type, theirs->type);
	}
	CHECK(!ours->what && !theirs->what);
	CHECK(count > 2000);
}

/* --- symbols ---------------------------------------------------------------------------------- */

/* ROCr exports them since 6.1, since 6.4, or later: reference lists of those releases' libraries. */
static const char *const since_5_2[] = {
	"hsa_amd_agent_set_async_scratch_limit",
	"hsa_amd_memory_async_copy_on_engine",
	"hsa_amd_memory_copy_engine_status",
	"hsa_amd_portable_close_dmabuf",
	"hsa_amd_portable_export_dmabuf",
	"hsa_amd_spm_acquire",
	"hsa_amd_spm_release",
	"hsa_amd_spm_set_dest_buffer",
	"hsa_amd_vmem_address_free",
	"hsa_amd_vmem_address_reserve",
	"hsa_amd_vmem_export_shareable_handle",
	"hsa_amd_vmem_get_access",
	"hsa_amd_vmem_get_alloc_properties_from_handle",
	"hsa_amd_vmem_handle_create",
	"hsa_amd_vmem_handle_release",
	"hsa_amd_vmem_import_shareable_handle",
	"hsa_amd_vmem_map",
	"hsa_amd_vmem_retain_alloc_handle",
	"hsa_amd_vmem_set_access",
	"hsa_amd_vmem_unmap",
	/* 6.4 */
	"hsa_amd_enable_logging",
	"hsa_amd_queue_get_info",
	"hsa_amd_signal_wait_all",
	"hsa_amd_vmem_address_reserve_align",
	"hsa_ext_sampler_create_v2",
	"hsa_ven_amd_pcs_create",
	"hsa_ven_amd_pcs_create_from_id",
	"hsa_ven_amd_pcs_destroy",
	"hsa_ven_amd_pcs_flush",
	"hsa_ven_amd_pcs_iterate_configuration",
	"hsa_ven_amd_pcs_start",
	"hsa_ven_amd_pcs_stop",
	/* 7.0 */
	"hsa_amd_memory_get_preferred_copy_engine",
	"hsa_amd_portable_export_dmabuf_v2",
};

static const char *const later[] = {
#define HSA_LATER(name, status) #name,
#include "hsa/names.h"
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct symbols {
	char name[512][96]; /* "T hsa_init@@ROCR_1" */
	unsigned count;
};

static bool has(const struct symbols *symbols, const char *name)
{
	for (unsigned i = 0; i < symbols->count; i++)
		if (!strcmp(symbols->name[i], name))
			return true;
	return false;
}

static void add(struct symbols *symbols, const char *name)
{
	if (CHECK(symbols->count < COUNT(symbols->name)) && CHECK(!has(symbols, name)))
		snprintf(symbols->name[symbols->count++], sizeof(symbols->name[0]), "%s", name);
}

/* What a library exports, with the kind that nm gives it; the name of the version itself apart. */
static void read_library(const char *path, struct symbols *symbols)
{
	char command[512], line[512], name[256], kind;
	FILE *pipe;

	snprintf(command, sizeof(command), "nm -D --defined-only '%.400s'", path);
	pipe = popen(command, "re");
	if (!CHECK(pipe))
		return;
	while (fgets(line, sizeof(line), pipe))
		if (CHECK(sscanf(line, "%*x %c %255s", &kind, name) == 2) && kind != 'A') {
			/* Zeroed data of ours, data of theirs: no program sees the difference. */
			snprintf(line, sizeof(line), "%c %s", kind == 'B' ? 'D' : kind, name);
			add(symbols, line);
		}
	CHECK_EQ(pclose(pipe), 0);
}

static void within(const struct symbols *a, const struct symbols *b, const char *complaint)
{
	for (unsigned i = 0; i < a->count; i++)
		if (!CHECK(has(b, a->name[i])))
			printf("  %s %s\n", complaint, a->name[i]);
}

static void the_library_exports_the_same(void)
{
	static struct symbols ours, want;
	const char *build = getenv("O");
	char path[512];

	snprintf(path, sizeof(path), "%.400s/lib/libhsa-runtime64.so.1", build ? build : "build/release");
	read_library(path, &ours);
	read_library("/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1", &want);
	CHECK_EQ(want.count, 225); /* 224 functions and _amdgpu_r_debug */
	for (unsigned i = 0; i < COUNT(since_5_2) + COUNT(later); i++) {
		char symbol[128];

		snprintf(symbol, sizeof(symbol), "T %s@@ROCR_1",
			 i < COUNT(since_5_2) ? since_5_2[i] : later[i - COUNT(since_5_2)]);
		add(&want, symbol);
	}
	within(&want, &ours, "the library lacks");
	within(&ours, &want, "the library should not export");
}

int main(void)
{
	headers_define_the_same();
	the_library_exports_the_same();
	return check_done("binary surface");
}
