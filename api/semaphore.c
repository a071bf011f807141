/* Semaphores of other drivers, as Vulkan: DRM's syncobjs, as Mesa's drivers export them. A wait and a signal are
 * packets of our HSA library (hsa/door.h). Those without values stand for one signal, which who waits for it takes.
 */
#include <stdlib.h>
#include <unistd.h>

#include "api/capture.h"
#include "api/op.h"

struct semaphore {
	struct semaphore *next;
	uint64_t handle;
	struct hip_device *device;
	uint64_t sync; /* owned: hip.door->import_sync() */
	bool values;
};

static struct {
	pthread_mutex_t lock; /* guards all below */
	struct semaphore *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void semaphore_free(struct semaphore *s)
{
	if (s->handle)
		drv_handle_destroy(&hip_handles, s->handle);
	if (s->sync)
		hip.door->drop_sync(s->sync);
	free(s);
}

static hipError_t import(hipExternalSemaphore_t *out, const hipExternalSemaphoreHandleDesc *desc)
{
	struct semaphore *s;
	hipError_t r;

	if (!out || !desc || desc->flags ||
	    (desc->type != hipExternalSemaphoreHandleTypeOpaqueFd &&
	     desc->type != hipExternalSemaphoreHandleTypeTimelineSemaphoreFd))
		return hipErrorInvalidValue;
	s = calloc(1, sizeof(*s));
	if (!s)
		return hipErrorOutOfMemory;
	s->device = hip_current();
	s->values = desc->type == hipExternalSemaphoreHandleTypeTimelineSemaphoreFd;
	r = hip_of_errno(hip.door->import_sync(s->device->agent, desc->handle.fd, &s->sync));
	if (!r && drv_handle_create(&hip_handles, HIP_KIND(HIP_SEMAPHORE), s, &s->handle))
		r = hipErrorOutOfMemory;
	if (r) {
		semaphore_free(s);
		return r == hipErrorOutOfMemory ? r : hipErrorInvalidValue;
	}
	close(desc->handle.fd);
	*out = (hipExternalSemaphore_t)(uintptr_t)s->handle;
	pthread_mutex_lock(&all.lock);
	s->next = all.first;
	all.first = s;
	pthread_mutex_unlock(&all.lock);
	return hipSuccess;
}

hipError_t hipImportExternalSemaphore(hipExternalSemaphore_t *semaphore, const hipExternalSemaphoreHandleDesc *desc)
{
	HIP_ENTER();
	return hip_end(import(semaphore, desc));
}

/* Waits and signals that streams have not come to yet are passed over. */
static hipError_t destroy(hipExternalSemaphore_t handle)
{
	struct semaphore **at = &all.first, *s;

	pthread_mutex_lock(&all.lock);
	s = hip_find(HIP_SEMAPHORE, handle);
	while (s && *at != s)
		at = &(*at)->next;
	if (s)
		*at = s->next;
	pthread_mutex_unlock(&all.lock);
	if (!s)
		return hipErrorInvalidValue;
	semaphore_free(s);
	return hipSuccess;
}

hipError_t hipDestroyExternalSemaphore(hipExternalSemaphore_t semaphore)
{
	HIP_ENTER();
	return hip_end(destroy(semaphore));
}

void hip_semaphores_reset(struct hip_device *device)
{
	struct semaphore **at = &all.first;

	pthread_mutex_lock(&all.lock);
	while (*at) {
		struct semaphore *s = *at;

		if (s->device != device) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		semaphore_free(s);
	}
	pthread_mutex_unlock(&all.lock);
}

/* --- in a stream ------------------------------------------------------------------------------ */

struct step {
	uint64_t sync, value;
	bool nothing; /* a timeline begins at 0 */
};

static hipError_t step_of(hipExternalSemaphore_t handle, uint64_t value, bool signal,
			  const struct hip_stream *stream, struct step *step)
{
	const struct semaphore *s;
	hipError_t r = hipSuccess;

	pthread_mutex_lock(&all.lock);
	s = hip_find(HIP_SEMAPHORE, handle);
	if (!s || s->device != stream->device || (s->values && signal && !value))
		r = hipErrorInvalidValue;
	else
		*step = (struct step){s->sync, s->values ? value : 0, s->values && !value};
	pthread_mutex_unlock(&all.lock);
	return r;
}

static hipError_t put(struct hip_stream *s, const struct step *step, bool signal)
{
	struct rt_sync_packet *p;

	if (step->nothing)
		return hipSuccess;
	p = hip_stream_slot(s);
	if (!p)
		return hip_stream_lost(s, hip.door->state(s->door));
	p->sync = step->sync;
	p->value = step->value;
	hip_stream_publish(s, HIP_HEADER(HSA_PACKET_TYPE_VENDOR_SPECIFIC) | RT_FORMAT_SYNC << 16 |
				      (uint32_t)signal << 24);
	return hipSuccess;
}

static hipError_t put_all(struct hip_stream *s, const struct step *steps, unsigned count, bool signal)
{
	hipError_t r = hip_stream_begin(s);

	if (r)
		return r;
	for (unsigned i = 0; i < count && !r; i++)
		r = put(s, &steps[i], signal);
	hip_stream_done(s);
	return r;
}

/* One of the two: what each is signaled or waited for with. All of them, or none if one is wrong. */
struct params {
	const hipExternalSemaphoreSignalParams *signal;
	const hipExternalSemaphoreWaitParams *wait;
};

static hipError_t steps_of(const hipExternalSemaphore_t *semaphores, const struct params *p, unsigned count,
			   const struct hip_stream *s, struct step *steps)
{
	hipError_t r = hipSuccess;

	for (unsigned i = 0; i < count && !r; i++) {
		unsigned flags = p->signal ? p->signal[i].flags : p->wait[i].flags;
		uint64_t value = p->signal ? p->signal[i].params.fence.value : p->wait[i].params.fence.value;

		r = flags ? hipErrorInvalidValue : step_of(semaphores[i], value, p->signal, s, &steps[i]);
	}
	return r;
}

static hipError_t run(const hipExternalSemaphore_t *semaphores, const struct params *p, unsigned count,
		      hipStream_t handle)
{
	struct hip_stream *s;
	struct step *steps;
	hipError_t r;

	if (!semaphores || (!p->signal && !p->wait))
		return hipErrorInvalidValue;
	r = hip_launch_stream(handle, &s);
	if (!r && hip_stream_captures(s))
		r = hip_capture_lost(s, hipErrorStreamCaptureUnsupported);
	if (r)
		return r;
	steps = calloc(count ? count : 1, sizeof(*steps));
	if (!steps)
		return hipErrorOutOfMemory;
	r = steps_of(semaphores, p, count, s, steps);
	if (!r)
		r = put_all(s, steps, count, p->signal);
	free(steps);
	return r;
}

hipError_t hipSignalExternalSemaphoresAsync(const hipExternalSemaphore_t *semaphores,
					    const hipExternalSemaphoreSignalParams *params, unsigned int count,
					    hipStream_t stream)
{
	HIP_ENTER();
	return hip_end(run(semaphores, &(struct params){.signal = params}, count, stream));
}

hipError_t hipWaitExternalSemaphoresAsync(const hipExternalSemaphore_t *semaphores,
					  const hipExternalSemaphoreWaitParams *params, unsigned int count,
					  hipStream_t stream)
{
	HIP_ENTER();
	return hip_end(run(semaphores, &(struct params){.wait = params}, count, stream));
}
