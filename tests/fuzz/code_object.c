/* Code objects and offload bundles, read and looked into as the loader and `tuff info` do. */
#include <stdint.h>

#include "cs/code_object.h"
#include "tests/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);
void replay_check(void); /* replay.c */

static unsigned kernels, variables; /* of all inputs */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	struct cs_target target;
	struct cs_code *code;
	const struct cs_kernel *k;

	if (!cs_code_target(data, size_B, NULL, &target) && (target.version < 3 || target.version > 6))
		__builtin_trap();
	if (cs_code_read(data, size_B, &code))
		return 0;
	for (unsigned i = 0; (k = cs_code_kernel_at(code, i)); i++, kernels++)
		(void)cs_kernel_wave_lanes(k);
	for (unsigned i = 0; cs_code_variable_at(code, i); i++)
		variables++;
	cs_code_unload(code);
	return 0;
}

/* The corpus has code objects that are read to their end. */
void replay_check(void)
{
	CHECK(kernels > 0 && variables > 0);
}
