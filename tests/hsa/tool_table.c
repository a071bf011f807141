/* A tool that keeps the table: for tests of functions that only the table has. */
#include <hsa/hsa_api_trace.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT AmdExtTable tool_amd_ext; /* as the library filled it */

EXPORT bool OnLoad(HsaApiTable *table, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
bool OnLoad(HsaApiTable *table, uint64_t runtime_version, uint64_t failed_count, const char *const *failed_names)
{
	(void)failed_count, (void)failed_names;
	if (runtime_version != HSA_API_TABLE_MAJOR_VERSION)
		return false;
	tool_amd_ext = *table->amd_ext_;
	return true;
}
