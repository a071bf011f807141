/* Managed variables of modules (managed.c). */
#ifndef API_MANAGED_H
#define API_MANAGED_H

#include "api/module/module.h"

struct hip_managed;

/* All that the code has, in memory that the host and every device reach. */
hipError_t hip_managed_load(struct hip_code *code, struct hip_managed **list);
/* Kernels that use them have ended. */
void hip_managed_unload(struct hip_managed **list);
bool hip_managed_find(const struct hip_managed *list, const char *name, void **address, size_t *size_B);

#endif
