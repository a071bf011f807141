/* Compiled twice, as C++: with include/ first, and with /usr/include alone. ABI_LIST names the result. */
#include <hsa/amd_hsa_common.h>
#include <hsa/amd_hsa_elf.h>
#include <hsa/amd_hsa_kernel_code.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>
#include <hsa/hsa_ven_amd_loader.h>
#define AMD_INTERNAL_BUILD /* how ROCr's own programs find the other headers beside it */
#include <hsa/hsa_api_trace.h>

#include "list.h"

/* The type in the name of the function that it makes. */
template <typename Type> static const char *spell()
{
	return __PRETTY_FUNCTION__;
}

#define VALUE(name)          {#name, (long long)(name), 0},
#define SIZE(type)           {"size of " #type, (long long)sizeof(type), 0}, {"alignment of " #type, (long long)alignof(type), 0},
#define MEMBER(type, member)                                                                                       \
	{"offset of " #type "::" #member, (long long)__builtin_offsetof(type, member), 0},                         \
		{"size of " #type "::" #member, (long long)sizeof(((type *)0)->member), 0},
#define FUNCTION(name) {#name, 0, spell<decltype(name)>()},

static const struct abi_row rows[] = {
#include "rows.h"
	{0, 0, 0}};

const struct abi_row *const ABI_LIST = rows;
