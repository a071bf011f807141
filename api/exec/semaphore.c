/* External semaphores: DRM syncobjs that other drivers, such as Mesa's for Vulkan, have exported. Waits and
 * signals are operations of the stream (hsa/interface.h). A binary semaphore stands for one signal, which a wait
 * consumes. */
#include <stdlib.h>
#include <unistd.h>

#include "drv/lock.h"
#include "api/exec/event.h"
#include "api/exec/launch.h"
#include "api/stream/capture.h"

struct semaphore {
	struct semaphore *next;
	_Atomic unsigned refs; /* the program's reference, and those of calls that use the semaphore */
	uint64_t handle;
	struct hip_device *device;
	struct rt_sync *sync; /* owned */
	bool values;
};

static struct {
	struct drv_mutex lock; /* guards the members below */
	struct semaphore *first;
} semaphore_list = {.lock = DRV_MUTEX(DRV_RANK_HIP_SEMAPHORES)};

static void semaphore_put(struct semaphore *s)
{
	if (atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	if (s->sync)
		hip.hsa->drop_sync(s->sync);
	free(s);
}

/* A semaphore that has a handle is in the list. */
static hipError_t semaphore_enlist(struct semaphore *s)
{
	int r;

	drv_mutex_lock(&semaphore_list.lock);
	r = drv_handle_create(&hip_handles, HIP_KIND(HIP_SEMAPHORE), s, &s->handle);
	if (!r) {
		s->next = semaphore_list.first;
		semaphore_list.first = s;
	}
	drv_mutex_unlock(&semaphore_list.lock);
	return r ? hipErrorOutOfMemory : hipSuccess;
}

static hipError_t semaphore_import(hipExternalSemaphore_t *out, const hipExternalSemaphoreHandleDesc *desc)
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
	s->refs = 1;
	s->device = hip_current();
	s->values = desc->type == hipExternalSemaphoreHandleTypeTimelineSemaphoreFd;
	r = hip_of_errno(hip.hsa->import_sync(s->device->agent, desc->handle.fd, &s->sync));
	if (!r)
		r = semaphore_enlist(s);
	if (r) {
		semaphore_put(s);
		return r == hipErrorOutOfMemory ? r : hipErrorInvalidValue;
	}
	close(desc->handle.fd);
	*out = (hipExternalSemaphore_t)(uintptr_t)s->handle;
	return hipSuccess;
}

HIP_PUBLIC(hipImportExternalSemaphore,
	   (hipExternalSemaphore_t *semaphore, const hipExternalSemaphoreHandleDesc *desc), (semaphore, desc))
{
	return semaphore_import(semaphore, desc);
}

/* Waits and signals that streams have not reached yet are skipped. */
static hipError_t semaphore_destroy(hipExternalSemaphore_t handle)
{
	struct semaphore **at = &semaphore_list.first, *s;

	drv_mutex_lock(&semaphore_list.lock);
	s = hip_find(HIP_SEMAPHORE, handle);
	while (s && *at != s)
		at = &(*at)->next;
	if (s) {
		*at = s->next;
		drv_handle_destroy(&hip_handles, s->handle);
	}
	drv_mutex_unlock(&semaphore_list.lock);
	if (!s)
		return hipErrorInvalidValue;
	semaphore_put(s);
	return hipSuccess;
}

HIP_PUBLIC(hipDestroyExternalSemaphore, (hipExternalSemaphore_t semaphore), (semaphore))
{
	return semaphore_destroy(semaphore);
}

void hip_semaphores_reset(struct hip_device *device)
{
	struct semaphore **at = &semaphore_list.first;

	drv_mutex_lock(&semaphore_list.lock);
	while (*at) {
		struct semaphore *s = *at;

		if (s->device != device) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		drv_handle_destroy(&hip_handles, s->handle);
		semaphore_put(s);
	}
	drv_mutex_unlock(&semaphore_list.lock);
}

/* --- waits and signals ------------------------------------------------------------------------ */

struct step {
	struct semaphore *semaphore; /* a reference */
	uint64_t value;
	bool nothing; /* the operation has no effect: a timeline begins at 0 */
};

static hipError_t step_of(hipExternalSemaphore_t handle, uint64_t value, bool signal,
			  const struct hip_stream *stream, struct step *step)
{
	hipError_t r = hipSuccess;
	struct semaphore *s;

	drv_mutex_lock(&semaphore_list.lock);
	s = hip_find(HIP_SEMAPHORE, handle);
	if (!s || s->device != stream->device || (s->values && signal && !value)) {
		r = hipErrorInvalidValue;
	} else {
		atomic_fetch_add(&s->refs, 1);
		*step = (struct step){s, s->values ? value : 0, s->values && !value};
	}
	drv_mutex_unlock(&semaphore_list.lock);
	return r;
}

static hipError_t step_put(struct hip_stream *s, const struct step *step, bool signal)
{
	if (step->nothing)
		return hipSuccess;
	return hip_stream_result(s, hip.hsa->syncobj(s->flow, step->semaphore->sync, step->value, signal));
}

static hipError_t steps_put(struct hip_stream *s, const struct step *steps, unsigned count, bool signal)
{
	hipError_t r = hip_stream_begin(s);

	if (r)
		return r;
	for (unsigned i = 0; i < count && !r; i++)
		r = step_put(s, &steps[i], signal);
	hip_stream_done(s);
	return r;
}

/* One of the two is set: the parameters of the signals, or of the waits. Either all operations are submitted, or
 * none if one is wrong. */
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

static hipError_t steps_run(const hipExternalSemaphore_t *semaphores, const struct params *p, unsigned count,
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
		r = steps_put(s, steps, count, p->signal);
	for (unsigned i = 0; i < count; i++)
		if (steps[i].semaphore)
			semaphore_put(steps[i].semaphore);
	free(steps);
	return r;
}

HIP_PUBLIC(hipSignalExternalSemaphoresAsync,
	   (const hipExternalSemaphore_t *semaphores, const hipExternalSemaphoreSignalParams *params,
	    unsigned int count, hipStream_t stream),
	   (semaphores, params, count, stream))
{
	return steps_run(semaphores, &(struct params){.signal = params}, count, stream);
}

HIP_PUBLIC(hipWaitExternalSemaphoresAsync,
	   (const hipExternalSemaphore_t *semaphores, const hipExternalSemaphoreWaitParams *params,
	    unsigned int count, hipStream_t stream),
	   (semaphores, params, count, stream))
{
	return steps_run(semaphores, &(struct params){.wait = params}, count, stream);
}
