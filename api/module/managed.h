/* Managed variables of modules (managed.c). Each list belongs to a module. */
#ifndef API_MANAGED_H
#define API_MANAGED_H

#include "api/module/module.h"

struct hip_managed;

/* Makes memory for all managed variables of the code, which the host and every device can access. */
hipError_t hip_managed_load(struct hip_code *code, struct hip_managed **list);
/* Frees it. Kernels that use it must have ended. */
void hip_managed_unload(struct hip_managed **list);
bool hip_managed_find(const struct hip_managed *list, const char *name, void **address, size_t *size_B);

#endif
