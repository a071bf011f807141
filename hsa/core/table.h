/* The table of all HSA functions. Each exported function is one jump through the table, so that a tool that
 * replaces entries by its own functions intercepts each call of the client. The library itself calls impl_<name>(),
 * which no tool intercepts. */
#ifndef HSA_TABLE_H
#define HSA_TABLE_H

#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <hsa/hsa_ven_amd_pc_sampling.h>

#include "drv/error.h"

#define HSA_IMPL(table, name) extern __typeof__(name) impl_##name __attribute__((visibility("hidden")));
#include "hsa/names.h"

/* The tables as tools get them, and the functions that tools do not get. */
struct rt_tables {
	HsaApiTable root;
	CoreApiTable core;
	AmdExtTable amd_ext;
	FinalizerExtTable finalizer;
	ImageExtTable image;
	ToolsApiTable tools;
	PcSamplingExtTable pc_sampling;
	struct {
#define LOADER(name) __typeof__(name) *name##_fn
		LOADER(hsa_ven_amd_loader_query_host_address);
		LOADER(hsa_ven_amd_loader_query_segment_descriptors);
		LOADER(hsa_ven_amd_loader_query_executable);
		LOADER(hsa_ven_amd_loader_executable_iterate_loaded_code_objects);
		LOADER(hsa_ven_amd_loader_loaded_code_object_get_info);
		LOADER(hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size);
		LOADER(hsa_ven_amd_loader_iterate_executables);
#undef LOADER
	} loader;
	struct {
		__typeof__(hsa_amd_image_get_info_max_dim) *hsa_amd_image_get_info_max_dim_fn;
	} other;
};

/* The live table, valid before hsa_init(). Only tools change entries, during the two functions below or at any
 * other time; calls on other threads use the old or the new entry. */
extern struct rt_tables rt_tables __attribute__((visibility("hidden")));

/* Loads the libraries named by HSA_TOOLS_LIB, and the libraries of the process that export a tool's entry point,
 * and lets each change the table. Called at the end of the first hsa_init(), when all else works, without a lock
 * that a public function takes. A tool that cannot be loaded or fails is reported to the tools after it and is no
 * error; -ENOMEM. */
DRV_MUST_CHECK int hsa_tools_load(void);
/* Unloads the tools, the last one first, and restores the table. Called at the beginning of the last
 * hsa_shut_down(). */
void hsa_tools_unload(void);

#endif
