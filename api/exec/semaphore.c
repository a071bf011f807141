/* External semaphores: DRM syncobjs that other drivers, such as Mesa's for Vulkan, have exported. Waits and
 * signals are operations of the stream (hsa/interface.h). A binary semaphore stands for one signal, which a wait
 * consumes. */
#include <stdlib.h>
#include <unistd.h>

#include "drv/cancel.h"
#include "drv/lock.h"
#include "api/exec/event.h"
#include "api/exec/op.h"
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
	DRV_HOLD_CANCEL;
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

/* Takes a reference for the step. device NULL: any. */
static hipError_t step_of(hipExternalSemaphore_t handle, uint64_t value, bool signal,
			  const struct hip_device *device, struct step *step)
{
	hipError_t r = hipSuccess;
	struct semaphore *s;

	drv_mutex_lock(&semaphore_list.lock);
	s = hip_find(HIP_SEMAPHORE, handle);
	if (!s || (device && s->device != device) || (s->values && signal && !value)) {
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

static hipError_t step_read(const struct hip_semaphores *list, unsigned i, const struct hip_device *device,
			    struct step *step)
{
	unsigned flags = list->signal ? list->signal[i].flags : list->wait[i].flags;
	uint64_t value = list->signal ? list->signal[i].params.fence.value : list->wait[i].params.fence.value;

	return flags ? hipErrorInvalidValue : step_of(list->at[i], value, list->signal, device, step);
}

/* All semaphores are of one device. */
static hipError_t check_op(const struct hip_op *op)
{
	const struct hip_semaphores *list = &op->semaphores;
	const struct hip_device *device = NULL;
	hipError_t r = list->at && (list->signal || list->wait) ? hipSuccess : hipErrorInvalidValue;

	for (unsigned i = 0; i < list->count && !r; i++) {
		struct step step;

		r = step_read(list, i, device, &step);
		if (r)
			break;
		device = step.semaphore->device;
		semaphore_put(step.semaphore);
	}
	return r;
}

/* Either all operations are submitted, or none if one is wrong: a semaphore may have been destroyed since the operation was
 * stored. */
static hipError_t put_op(struct hip_stream *s, const struct hip_op *op)
{
	const struct hip_semaphores *list = &op->semaphores;
	struct step *steps = calloc(list->count ? list->count : 1, sizeof(*steps));
	hipError_t r = steps ? hipSuccess : hipErrorOutOfMemory;

	for (unsigned i = 0; i < list->count && !r; i++)
		r = step_read(list, i, s->device, &steps[i]);
	for (unsigned i = 0; i < list->count && !r; i++)
		r = step_put(s, &steps[i], list->signal);
	for (unsigned i = 0; steps && i < list->count; i++)
		if (steps[i].semaphore)
			semaphore_put(steps[i].semaphore);
	free(steps);
	return r;
}

static struct hip_device *device_of_op(const struct hip_op *op)
{
	const struct semaphore *s;
	struct hip_device *device;

	if (!op->semaphores.count)
		return NULL;
	drv_mutex_lock(&semaphore_list.lock);
	s = hip_find(HIP_SEMAPHORE, op->semaphores.at[0]);
	device = s ? s->device : NULL;
	drv_mutex_unlock(&semaphore_list.lock);
	return device;
}

const struct hip_op_kind hip_op_signal = {hipGraphNodeTypeExtSemaphoreSignal, check_op, put_op, NULL, device_of_op};
const struct hip_op_kind hip_op_wait = {hipGraphNodeTypeExtSemaphoreWait, check_op, put_op, NULL, device_of_op};

static hipError_t op_run(const struct hip_op *op, hipStream_t handle)
{
	struct hip_stream *s;
	hipError_t r = op->semaphores.at && (op->semaphores.signal || op->semaphores.wait)
			       ? hip_launch_stream(handle, &s)
			       : hipErrorInvalidValue;

	if (!r)
		r = check_op(op);
	if (r)
		return r;
	return hip_stream_captures(s) ? atomic_load(&hip_capture_ops)->op(s, op) : hip_op_submit(s, op);
}

HIP_PUBLIC(hipSignalExternalSemaphoresAsync,
	   (const hipExternalSemaphore_t *semaphores, const hipExternalSemaphoreSignalParams *params,
	    unsigned int count, hipStream_t stream),
	   (semaphores, params, count, stream))
{
	return op_run(&(struct hip_op){.kind = &hip_op_signal, .semaphores = {semaphores, params, NULL, count}},
		      stream);
}

HIP_PUBLIC(hipWaitExternalSemaphoresAsync,
	   (const hipExternalSemaphore_t *semaphores, const hipExternalSemaphoreWaitParams *params,
	    unsigned int count, hipStream_t stream),
	   (semaphores, params, count, stream))
{
	return op_run(&(struct hip_op){.kind = &hip_op_wait, .semaphores = {semaphores, NULL, params, count}},
		      stream);
}
