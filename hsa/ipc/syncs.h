/* Syncobjs of other drivers in flows (sync.c). */
#ifndef HSA_SYNCS_H
#define HSA_SYNCS_H

#include "hsa/interface.h"
#include "hsa/core/core.h"

DRV_MUST_CHECK int rt_sync_import(const struct rt_gpu *gpu, int fd, struct rt_sync **sync);
void rt_sync_drop(struct rt_sync *sync);
DRV_MUST_CHECK int rt_sync_submit(struct flow *flow, struct rt_sync *sync, uint64_t value, bool signal);

#endif
