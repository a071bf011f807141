/* Copies of a graph from or to pageable memory: when the stream gets there, the host's thread copies. Registering
 * the memory would not do: the program may give it back as soon as the copy has ended, and the kernel refuses jobs
 * that list memory that is gone. */
#include <stdlib.h>

#include "api/exec/op.h"

struct job {
	struct hip_device *device;
	struct hip_box box; /* with the GPU's addresses where there are some */
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

/* On the device's thread. No caller waits for an answer: an error is the device's. */
static void run(void *data, hipError_t error, bool dropped)
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
	r = hip_host_put(s, &(struct hip_host){.own = run, .data = job});
	if (r)
		free(job);
	return r;
}
