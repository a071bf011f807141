#include "hsa/core/table.h"

#include <errno.h>

/* Functions without a status get this body, too: a client calls one of them only if it ignored the failed creation
 * of the object. */
#define UNSUPPORTED(status)                                                                                        \
	hsa_status_t rt_unsupported_##status(void) __attribute__((visibility("hidden")));                          \
	hsa_status_t rt_unsupported_##status(void)                                                                 \
	{                                                                                                          \
		(void)drv_fail(-ENOTSUP, "this function of HSA is not supported; docs/support.md lists them");     \
		return status;                                                                                     \
	}
UNSUPPORTED(HSA_STATUS_ERROR)
UNSUPPORTED(HSA_STATUS_ERROR_NOT_INITIALIZED)
UNSUPPORTED(HSA_STATUS_ERROR_OUT_OF_RESOURCES)

/* The minor version is the table's size, by which tools know which entries exist. */
#define VERSION(table, member)                                                                                     \
	{.major_id = HSA_##table##_MAJOR_VERSION,                                                                  \
	 .minor_id = sizeof(rt_tables.member),                                                                     \
	 .step_id = HSA_##table##_STEP_VERSION}

struct rt_tables rt_tables = {
	.root = {.version = VERSION(API_TABLE, root),
		 .core_ = &rt_tables.core,
		 .amd_ext_ = &rt_tables.amd_ext,
		 .finalizer_ext_ = &rt_tables.finalizer,
		 .image_ext_ = &rt_tables.image,
		 .tools_ = &rt_tables.tools,
		 .pc_sampling_ext_ = &rt_tables.pc_sampling},
	.core.version = VERSION(CORE_API_TABLE, core),
	.amd_ext.version = VERSION(AMD_EXT_API_TABLE, amd_ext),
	.finalizer.version = VERSION(FINALIZER_API_TABLE, finalizer),
	.image.version = VERSION(IMAGE_API_TABLE, image),
	.tools.version = VERSION(TOOLS_API_TABLE, tools),
	.pc_sampling.version = VERSION(PC_SAMPLING_API_TABLE, pc_sampling),
#define HSA_IMPL(table, name)                .table.name##_fn = impl_##name,
#define HSA_UNSUPPORTED(table, name, status) .table.name##_fn = (void *)rt_unsupported_##status,
#include "hsa/names.h"
};

/* The sizes are ROCr's, for which tools are compiled. */
_Static_assert(sizeof(CoreApiTable) == 1016, "ROCr 5.2 to 7.0");
_Static_assert(sizeof(AmdExtTable) == 608, "ROCr 7.0, step 7");
_Static_assert(sizeof(ImageExtTable) == 128, "ROCr 6.4, step 1");
_Static_assert(sizeof(FinalizerExtTable) == 64, "ROCr 5.2 to 7.0");
_Static_assert(sizeof(ToolsApiTable) == 64, "ROCr 6.1 to 7.0");
_Static_assert(sizeof(PcSamplingExtTable) == 72, "ROCr 6.3 to 7.0");

/* The exported functions. The C name differs from the exported one, so that the compiler does not compare the
 * functions with the header's prototypes. */
#define JUMP(name, ...)                                                                                            \
	void jump_##name(void) __asm__(#name) __attribute__((naked, visibility("default")));                       \
	void jump_##name(void)                                                                                     \
	{                                                                                                          \
		__asm__(__VA_ARGS__);                                                                              \
	}
#define THROUGH(name, table, target)                                                                               \
	JUMP(name, "jmp *rt_tables+%c0(%%rip)" ::"i"(offsetof(struct rt_tables, table.target##_fn)))

#define HSA_IMPL(table, name)                THROUGH(name, table, name)
#define HSA_UNSUPPORTED(table, name, status) THROUGH(name, table, name)
#define HSA_ALIAS(name, table, target)       THROUGH(name, table, target)
#define HSA_LATER(name, status)              JUMP(name, "jmp rt_unsupported_" #status)
#include "hsa/names.h"
