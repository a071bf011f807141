/* Cooperative grids: grids whose blocks are all resident at a time, so that they can wait for one another (grid
 * sync).
 *
 *   hip_grid_group  a grid's place in a multi-device launch; a value
 *
 * grid.c has the cooperative flow of each device, and a lock for it, inside a stream's.
 */
#ifndef API_GRID_H
#define API_GRID_H

#include "api/exec/op.h"

/* A grid's place in a multi-device launch, whose grids can synchronize. */
struct hip_grid_group {
	void *grid_sync; /* borrowed: shared by the group, in memory that all devices can access */
	uint32_t rank, grids;
	uint64_t threads_before, threads;
};

/* Errors: LaunchFailure, when the device has no cooperative launches; CooperativeLaunchTooLarge, when not all
 * blocks can be resident. */
hipError_t hip_grid_check(const struct hip_launch *launch);
/* The same as hip_launch_put(), for cooperative launches. */
hipError_t hip_grid_put(struct hip_stream *stream, const struct hip_launch *launch);
/* Finds whether the grid would be refused, and makes what its submission needs. Not between hip_stream_begin() and
 * hip_stream_done(). */
hipError_t hip_grid_reserve(struct hip_stream *stream, const struct hip_launch *launch);

/* For hipDeviceReset(): drops grids that were not submitted to the GPU. Their arguments are freed with their
 * streams. */
void hip_grids_abandon(struct hip_device *device);
void hip_grids_reset(struct hip_device *device);
#endif
