/* hsa_status_string: each status has a text that begins with its name. Needs no hsa_init(). */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>

#include "tests/check.h"

static void is_called(int status, const char *name)
{
	const char *text = "";

	CHECK_EQ(hsa_status_string((hsa_status_t)status, &text), HSA_STATUS_SUCCESS);
	if (!CHECK(!strncmp(text, name, strlen(name)) && text[strlen(name)] == ':' && text[strlen(name) + 2]))
		printf("  %s is \"%s\"\n", name, text);
}

int main(void)
{
	const char *text = "as before";

#define IS_CALLED(status) is_called((int)(status), #status)
	IS_CALLED(HSA_STATUS_SUCCESS);
	IS_CALLED(HSA_STATUS_INFO_BREAK);
	IS_CALLED(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	IS_CALLED(HSA_STATUS_ERROR_INVALID_ISA_NAME);
	IS_CALLED(HSA_STATUS_ERROR_FATAL);
	IS_CALLED(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
	IS_CALLED(HSA_STATUS_CU_MASK_REDUCED);
	IS_CALLED(HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED);
	IS_CALLED(HSA_EXT_STATUS_ERROR_DIRECTIVE_MISMATCH);
	/* What has no hole in its numbers has none in its texts. */
	for (unsigned status = 0x1000; status <= 0x1026; status++)
		if ((status & 0xf) < 10 || status < 0x1010)
			CHECK_EQ(hsa_status_string((hsa_status_t)status, &text), HSA_STATUS_SUCCESS);
	for (unsigned status = 40; status <= 46; status++)
		CHECK_EQ(hsa_status_string((hsa_status_t)status, &text), HSA_STATUS_SUCCESS);
	for (unsigned status = 0x2000; status <= 0x2006; status++)
		CHECK_EQ(hsa_status_string((hsa_status_t)status, &text), HSA_STATUS_SUCCESS);
	for (unsigned status = 0x3000; status <= 0x3003; status++)
		CHECK_EQ(hsa_status_string((hsa_status_t)status, &text), HSA_STATUS_SUCCESS);
	text = "as before";
	CHECK_EQ(hsa_status_string((hsa_status_t)0x1027, &text), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_status_string((hsa_status_t)-1, &text), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_STR(text, "as before");
	CHECK_EQ(hsa_status_string(HSA_STATUS_SUCCESS, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	return check_done("status texts");
}
