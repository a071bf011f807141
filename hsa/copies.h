/* Copies that are part of a flow (copy.c). */
#ifndef HSA_COPIES_H
#define HSA_COPIES_H

#include "hsa/door.h"

DRV_MUST_CHECK int rt_flow_copy(struct flow *flow, const struct rt_copy *copy);

#endif
