/* Cooperative grids: their blocks run all at a time, and may wait for one another. */
#ifndef API_GRID_H
#define API_GRID_H

#include "api/exec/op.h"

/* A grid's place among those of several devices, which meet, too. */
struct hip_grid_group {
	void *grid_sync; /* borrowed: of all; memory that all devices see */
	uint32_t rank, grids;
	uint64_t threads_before, threads;
};

/* LaunchFailure: the device has no such launches. CooperativeLaunchTooLarge: it does not hold all blocks. */
hipError_t hip_grid_check(const struct hip_launch *launch);
/* As hip_launch_put(). */
hipError_t hip_grid_put(struct hip_stream *stream, const struct hip_launch *launch);

/* For hipDeviceReset(). Grids that the GPU has not got do not begin any more: their arguments are freed with their
 * streams. */
void hip_grids_abandon(struct hip_device *device);
void hip_grids_reset(struct hip_device *device);
#endif
