/* Graph copies from or to pageable memory: the device's host thread copies when the stream reaches the operation.
 * Registering the memory for the GPU was rejected: the program may free it as soon as the copy has ended, and the
 * kernel refuses jobs that list freed memory. */
#include <stdlib.h>

#include "api/exec/op.h"

struct job {
	struct hip_device *device;
	struct hip_box box; /* GPU addresses where they exist */
};

static hsa_status_t copy_rows(const struct hip_box *b)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	for (size_t z = 0; z < b->depth; z++)
		for (size_t y = 0; y < b->height && !status; y++)
			status = hsa_memory_copy(b->dst.base + z * b->dst.slice_B + y * b->dst.pitch_B,
						 b->src.base + z * b->src.slice_B + y * b->src.pitch_B, b->width_B);
	return status;
}

/* Runs on the device's host thread. Copy errors become the device's error, since no caller waits for the result. */
static void job_run(void *data, hipError_t error, bool dropped)
{
	struct job *job = data;

	if (!error && !dropped)
		error = hip_of_hsa(copy_rows(&job->box));
	if (error && !dropped)
		hip_device_fail(job->device, error);
	free(job);
}

hipError_t hip_box_put_by_host(struct hip_stream *s, const struct hip_box *box)
{
	struct job *job = malloc(sizeof(*job));
	hipError_t r;

	if (!job)
		return hipErrorOutOfMemory;
	*job = (struct job){s->device, *box};
	r = hip_host_put(s, &(struct hip_host){.own = job_run, .data = job});
	if (r)
		free(job);
	return r;
}
