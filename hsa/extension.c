/* Extensions. The loader's table can be had, since clients keep it without asking whether it is supported; it is
 * not complete, so no extension is called supported. */
#include <string.h>

#include "hsa/internal.h"
#include "hsa/table.h"

static hsa_status_t is_supported(bool *result)
{
	RT_ENTER(rt);

	(void)rt;
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = false;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor, bool *result)
{
	(void)extension, (void)major, (void)minor;
	return is_supported(result);
}

hsa_status_t impl_hsa_system_major_extension_supported(uint16_t extension, uint16_t major, uint16_t *minor,
						       bool *result)
{
	(void)extension, (void)major;
	return minor ? is_supported(result) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t agent_supports(hsa_agent_t agent, bool *result)
{
	RT_ENTER(rt);

	return rt_agent_of(rt, agent) ? is_supported(result) : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t impl_hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
						uint16_t minor, bool *result)
{
	(void)extension, (void)major, (void)minor;
	return agent_supports(agent, result);
}

hsa_status_t impl_hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
						      uint16_t *minor, bool *result)
{
	(void)extension, (void)major;
	return minor ? agent_supports(agent, result) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* As ROCr: the first `size_B` bytes of the table; what lies behind its end stays as it is. */
hsa_status_t impl_hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t size_B,
						       void *table)
{
	RT_ENTER(rt);

	(void)rt;
	if (!table || !size_B)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (extension != HSA_EXTENSION_AMD_LOADER || major != 1)
		return HSA_STATUS_ERROR;
	memcpy(table, &rt_tables.loader, size_B < sizeof(rt_tables.loader) ? size_B : sizeof(rt_tables.loader));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor, void *table)
{
	/* By minor version: 3, 5, 6 and 7 functions. */
	static const uint8_t functions[] = {3, 5, 6, 7};

	if (minor >= sizeof(functions))
		return HSA_STATUS_ERROR;
	return impl_hsa_system_get_major_extension_table(extension, major, functions[minor] * sizeof(void *),
							 table);
}
