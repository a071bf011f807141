/* A tool that counts the calls of one function, as profilers do: it keeps the table's entry and puts its own there.
 */
#include <string.h>

#include <hsa/hsa_api_trace.h>

#define EXPORT __attribute__((visibility("default")))

/* For the test, by dlsym(). */
EXPORT unsigned tool_calls, tool_loads, tool_unloads;
EXPORT char tool_failed[256]; /* the first that failed before this one */

static CoreApiTable before;

static hsa_status_t counted(hsa_status_t status, const char **text)
{
	tool_calls++;
	return before.hsa_status_string_fn(status, text);
}

EXPORT bool OnLoad(HsaApiTable *table, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
bool OnLoad(HsaApiTable *table, uint64_t runtime_version, uint64_t failed_count, const char *const *failed_names)
{
	if (runtime_version != HSA_API_TABLE_MAJOR_VERSION ||
	    table->core_->version.minor_id != sizeof(CoreApiTable))
		return false;
	if (failed_count)
		strncpy(tool_failed, failed_names[0], sizeof(tool_failed) - 1);
	before = *table->core_;
	table->core_->hsa_status_string_fn = counted;
	tool_loads++;
	return true;
}

EXPORT void OnUnload(void);
void OnUnload(void)
{
	tool_unloads++;
}
