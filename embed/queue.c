/* Queues, and beginning and submission of jobs; cmd.c has the commands, wait.c the waiting. */
#include "embed/internal.h"

#include <errno.h>
#include <stdlib.h>

/* The address of this variable identifies the thread. */
static _Thread_local char thread_mark;

static const enum cs_priority priorities[] = {
	[TUFF_PRIORITY_NORMAL] = CS_PRIORITY_NORMAL,
	[TUFF_PRIORITY_LOW] = CS_PRIORITY_LOW,
	[TUFF_PRIORITY_HIGH] = CS_PRIORITY_HIGH,
	[TUFF_PRIORITY_REALTIME] = CS_PRIORITY_VERY_HIGH,
};

static int check_info(const struct embed_device *device, const struct tuff_queue_create_info *info)
{
	const struct drv_facts *f = &vm_device(device->vm)->facts;

	if ((unsigned)info->engine > TUFF_COPY)
		return drv_fail(-EINVAL, "engine %u", info->engine);
	/* A user queue has no ring of the kernel; the caller's rings are checked all the same. */
	if (info->ring >=
	    (unsigned)__builtin_popcount(f->ip[info->engine == TUFF_COPY ? DRV_IP_DMA : DRV_IP_COMPUTE].rings))
		return drv_fail(-EINVAL, "the chip has no ring %u of engine %u", info->ring, info->engine);
	if ((unsigned)info->priority >= sizeof(priorities) / sizeof(priorities[0]))
		return drv_fail(-EINVAL, "priority %u", info->priority);
	return 0;
}

static int queue_init(struct embed_queue *queue, const struct tuff_queue_create_info *info)
{
	enum drv_ip_type ip = queue->copy ? DRV_IP_DMA : DRV_IP_COMPUTE;
	int r = cs_ctx_create(queue->base.device->vm, priorities[info->priority], &queue->ctx);

	if (r)
		return r;
	r = !queue->copy && drv_uses_user_queues(vm_device(queue->base.device->vm))
		    ? cs_ring_create_user(queue->ctx, cs_pm4_print, &queue->ring)
		    : cs_ring_create(queue->ctx, ip, info->ring, queue->copy ? sdma_print : cs_pm4_print,
				     &queue->ring);
	if (r)
		goto fail_ring;
	r = -ENOMEM;
	queue->cmd = embed_slot_create(EMBED_CMD);
	if (!queue->cmd)
		goto fail_slot;
	r = embed_publish(EMBED_QUEUE, &queue->base);
	if (r)
		goto fail_publish;
	return 0;

fail_publish:
	embed_slot_destroy(queue->cmd);
fail_slot:
	cs_ring_destroy(queue->ring);
fail_ring:
	cs_ctx_destroy(queue->ctx);
	return r;
}

int tuff_queue_create_sized(struct tuff_device *handle, const struct tuff_queue_create_info *info, size_t info_B,
			    struct tuff_queue **out)
{
	struct tuff_queue_create_info own;
	struct embed_device *device;
	struct embed_queue *queue;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	r = r ? r : embed_struct_take(&own, sizeof(own), info, info_B);
	r = r ? r : check_info(device, &own);
	if (r)
		return r;
	if (!out)
		return drv_fail(-EINVAL, "no place for the queue");
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return drv_fail(-ENOMEM, "no host memory for a queue");
	queue->base.device = device;
	queue->copy = own.engine == TUFF_COPY;
	r = queue_init(queue, &own);
	if (r) {
		free(queue);
		return r;
	}
	*out = queue->base.handle;
	return 0;
}

int tuff_queue_destroy(struct tuff_queue *handle)
{
	struct embed_queue *queue;
	int r = handle ? embed_get(EMBED_QUEUE, handle, &queue) : 0;

	if (r || !handle)
		return r;
	if (!queue->ctx)
		return drv_fail(-EBADF, "the queue of the device's copies is the device's own");
	if (queue->writer)
		return drv_fail(-EBUSY, "a job of the queue is being written");
	embed_retire(EMBED_QUEUE, &queue->base);
	embed_slot_destroy(queue->cmd);
	cs_ring_destroy(queue->ring);
	cs_ctx_destroy(queue->ctx);
	free(queue);
	return 0;
}

int tuff_queue_query_sized(struct tuff_queue *handle, struct tuff_queue_status *status, size_t status_B)
{
	struct tuff_queue_status own;
	struct embed_queue *queue;
	struct cs_reset reset;
	struct cs_ctx *ctx;
	int r = embed_get(EMBED_QUEUE, handle, &queue);

	if (r)
		return r;
	if (!status || !status_B)
		return drv_fail(-EINVAL, "no place for the status");
	ctx = cs_ring_ctx(queue->ring);
	/* The result is in the context's state. */
	(void)!cs_ctx_check_reset(ctx);
	r = cs_ctx_reset_status(ctx, &reset);
	if (r)
		return r;
	own = (struct tuff_queue_status){
		.lost = cs_ctx_lost(ctx), .guilty = reset.guilty, .vram_lost = reset.vram_lost};
	embed_struct_give(status, status_B, &own, sizeof(own));
	return 0;
}

/* --- jobs ------------------------------------------------------------------------------------- */

int tuff_begin(struct tuff_queue *handle, unsigned flags, struct tuff_cmd **cmd)
{
	struct embed_queue *queue;
	int r = embed_get(EMBED_QUEUE, handle, &queue);

	if (r)
		return r;
	if (!cmd || flags & ~(unsigned)(TUFF_ORDERED | TUFF_NOWAIT))
		return drv_fail(-EINVAL, "flags 0x%x", flags);
	if (!queue->ctx)
		return drv_fail(-EBADF, "the queue of the device's copies is the device's own");
	if (atomic_load_explicit(&queue->writer, memory_order_relaxed) == &thread_mark)
		return drv_fail(-EDEADLK, "this thread is writing a job of the queue already");
	_Static_assert(TUFF_ORDERED == (int)CS_ORDERED && TUFF_NOWAIT == (int)CS_NOWAIT, "the same bits");
	r = cs_begin(queue->ring, flags, &queue->ib);
	if (r)
		return r;
	atomic_store_explicit(&queue->writer, &thread_mark, memory_order_relaxed);
	/* The open job keeps the ring's lock from call to call, and meanwhile the thread may call any function: only this one
	 * waits for the ring of a program's queue, and has no other lock then. */
	drv_rank_give(DRV_RANK_CS_RING);
	*cmd = embed_open(queue->cmd, queue);
	return 0;
}

int embed_cmd(const struct tuff_cmd *cmd, struct embed_queue **queue)
{
	int r;

	*queue = embed_find(EMBED_CMD, cmd);
	if (!*queue)
		return -EBADF;
	/* A child's thread has the address of the thread that forked. */
	r = drv_check_process((*queue)->base.device->drv);
	if (r)
		return r;
	if (atomic_load_explicit(&(*queue)->writer, memory_order_relaxed) != &thread_mark)
		return drv_fail(-EPERM, "another thread began this job");
	return 0;
}

/* Ends the life of a job's handle; the ring's lock stays held. */
static void end_writing(struct embed_queue *queue, struct tuff_cmd *cmd)
{
	embed_shut(cmd);
	atomic_store_explicit(&queue->writer, NULL, memory_order_relaxed);
	drv_rank_take(DRV_RANK_CS_RING, false);
}

int tuff_abandon(struct tuff_cmd *cmd)
{
	struct embed_queue *queue;
	int r = cmd ? embed_cmd(cmd, &queue) : 0;

	if (r || !cmd)
		return r;
	end_writing(queue, cmd);
	cs_abandon(queue->ib);
	return 0;
}

/* The arrays of an order, converted to the rooms' types. */
struct order_arrays {
	struct cs_fence after[EMBED_POINTS_MAX];
	struct cs_syncobj_point wait[CS_SYNCS_MAX], signal[CS_SYNCS_MAX];
};

static int convert_syncs(const struct tuff_sync_point *points, unsigned count, struct cs_syncobj_point *out)
{
	if (count > CS_SYNCS_MAX || (count && !points))
		return drv_fail(-EINVAL, "%u syncs; at most %u", count, CS_SYNCS_MAX);
	for (unsigned i = 0; i < count; i++) {
		struct embed_sync *sync;
		int r = embed_get(EMBED_SYNC, points[i].sync, &sync);

		if (r)
			return r;
		out[i] = (struct cs_syncobj_point){&sync->sync, points[i].value};
	}
	return 0;
}

static int convert_order(const struct tuff_order *order, struct order_arrays *arrays, struct cs_submit_info *out)
{
	int r = embed_fences_of(order->after, order->after_count, arrays->after);

	r = r ? r : convert_syncs(order->wait, order->wait_count, arrays->wait);
	r = r ? r : convert_syncs(order->signal, order->signal_count, arrays->signal);
	*out = (struct cs_submit_info){
		.after = arrays->after,
		.after_count = order->after_count,
		.wait = arrays->wait,
		.wait_count = order->wait_count,
		.signal = arrays->signal,
		.signal_count = order->signal_count,
	};
	return r;
}

static int submit_ordered(struct embed_queue *queue, const struct tuff_order *order, struct cs_fence *point)
{
	struct order_arrays arrays;
	struct cs_submit_info converted;
	int r = convert_order(order, &arrays, &converted);

	if (!r)
		return cs_submit(queue->ib, &converted, point);
	cs_abandon(queue->ib);
	return r;
}

/* Submits with a struct of another size. A struct that is refused drops the job, as every refusal does. */
__attribute__((cold, noinline)) static int submit_resized(struct tuff_cmd *cmd, const void *order, size_t order_B,
							  struct tuff_point *point)
{
	struct tuff_order own;
	int r = embed_struct_take(&own, sizeof(own), order, order_B), dropped;

	if (!r)
		return tuff_submit_sized(cmd, &own, sizeof(own), point);
	dropped = tuff_abandon(cmd);
	return dropped ? dropped : r;
}

int tuff_submit_sized(struct tuff_cmd *cmd, const struct tuff_order *order, size_t order_B,
		      struct tuff_point *point)
{
	struct embed_queue *queue;
	struct cs_fence end;
	int r;

	if (__builtin_expect(order_B != sizeof(*order), 0) && order)
		return submit_resized(cmd, order, order_B, point);
	r = embed_cmd(cmd, &queue);
	if (r)
		return r;
	end_writing(queue, cmd);
	r = order ? submit_ordered(queue, order, &end) : cs_submit(queue->ib, NULL, &end);
	if (!r && point)
		*point = (struct tuff_point){queue->base.handle, end.seq};
	return r;
}
