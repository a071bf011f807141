/* Functions of HIP that this library does not support: each returns hipErrorNotSupported. Their arguments do not
 * matter, so the stubs need no prototypes, and HIP's headers must not be included here. */
#include "api/base/unsupported.h"

#if TUFF_HIP_ABI == 5
#define STUB_five(name) STUB_both(name)
#define STUB_six(name)
#else
#define STUB_five(name)
#define STUB_six(name) STUB_both(name)
#endif
#define STUB_both(name)                                                                                            \
	__attribute__((visibility("default"))) int name(void);                                                     \
	int name(void)                                                                                             \
	{                                                                                                          \
		return hip_unsupported(#name);                                                                     \
	}

#define HIP_UNSUPPORTED(library, node, name) STUB_##library(name)
#include "api/names.h"
