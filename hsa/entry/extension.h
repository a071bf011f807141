/* Extensions of HSA. */
#ifndef HSA_EXTENSION_H
#define HSA_EXTENSION_H

#include "hsa/core/core.h"

/* Fills in which extensions the system and each GPU have. 0. */
DRV_MUST_CHECK int rt_extensions_init(struct rt *rt);

#endif
