/* Extensions of HSA. */
#ifndef HSA_EXTENSION_H
#define HSA_EXTENSION_H

#include "hsa/core/core.h"

/* Sets the extension bits of the system and of each GPU. Returns 0. */
DRV_MUST_CHECK int rt_extensions_init(struct rt *rt);

#endif
