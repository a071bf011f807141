/* A library of HSA that is not ours: it exports what AMD's does, initialises, and has none of our private interface. */
#define STUB(name)                                                                                                 \
	int name(void);                                                                                            \
	int name(void)                                                                                             \
	{                                                                                                          \
		return __builtin_strcmp(#name, "hsa_init") ? 0x1000 : 0; /* HSA_STATUS_ERROR */                    \
	}
#define HSA_IMPL(table, name)                STUB(name)
#define HSA_UNSUPPORTED(table, name, status) STUB(name)
#define HSA_ALIAS(name, table, target)       STUB(name)
#define HSA_LATER(name, status)              STUB(name)
#include "hsa/names.h"

char _amdgpu_r_debug[64];
