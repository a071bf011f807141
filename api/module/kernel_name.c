/* Kernel names for tools, and further functions that AMD's library exports for compilers and hiprtc. */
#include <string.h>

#include "api/base/entry.h"
#include "api/module/module.h"
#include "api/stream/stream.h"
#include <hip/api/profile.h>

/* The name is valid while the module is loaded. NULL: no such function. */
const char *hipKernelNameRef(const hipFunction_t function)
{
	const struct hip_kernel *k;
	const char *name;

	hip_call_begin();
	name = hip_function_of(function, &k) ? NULL : k->cs->name;
	hip_call_end();
	return name;
}

const char *hipKernelNameRefByPtr(const void *function, hipStream_t stream)
{
	const struct hip_kernel *k;
	const char *name = NULL;
	struct hip_stream *s;

	hip_call_begin();
	if (!hip_init() && !hip_stream_of(stream, &s) && !hip_kernel_of(function, s->device, &k))
		name = k->cs->name;
	hip_call_end();
	return name;
}

/* HIP's precompiled header for hiprtc: this library's hiprtc needs none. */
void __hipGetPCH(const char **pch, unsigned int *size_B)
{
	if (pch)
		*pch = NULL;
	if (size_B)
		*size_B = 0;
}

/* --- functions that compilers call for half ----------------------------------------------------- */

float __gnu_h2f_ieee(unsigned short bits)
{
	_Float16 half;

	memcpy(&half, &bits, sizeof(half));
	return (float)half;
}

unsigned short __gnu_f2h_ieee(float value)
{
	_Float16 half = (_Float16)value;
	unsigned short bits;

	memcpy(&bits, &half, sizeof(bits));
	return bits;
}
