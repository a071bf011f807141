/* Extensions of HSA, and what stands over it. */
#ifndef HSA_EXTENSION_H
#define HSA_EXTENSION_H

#include "hsa/core/core.h"

/* Sets the extension bits of the system and of each GPU. Returns 0. */
DRV_MUST_CHECK int rt_extensions_init(struct rt *rt);
/* Prints a line when the process uses another HIP library than the one beside this library. */
void rt_beside_report(void);

#endif
