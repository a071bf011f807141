/* Functions of HIP that this library does not support: each returns hipErrorNotSupported. Their arguments do not
 * matter, so the stubs need no prototypes, and HIP's headers must not be included here. */
#include "api/base/unsupported.h"

#if TUFF_HIP_ABI == 7
#define STUB_5(name)
#define STUB_7(name) STUB_567(name)
#elif TUFF_HIP_ABI >= 6
#define STUB_5(name)
#define STUB_7(name)
#else
#define STUB_5(name) STUB_567(name)
#define STUB_7(name)
#endif
#define STUB_567(name)                                                                                             \
	__attribute__((visibility("default"))) int name(void);                                                     \
	int name(void)                                                                                             \
	{                                                                                                          \
		return hip_unsupported(#name);                                                                     \
	}

#define HIP_UNSUPPORTED(libraries, node, name) STUB_##libraries(name)
#include "api/names.h"
