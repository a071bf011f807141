/* Syncobjs of other drivers, for our HIP library (interface.h). Operations of flows reference them until they were
 * executed; a dropped syncobj is freed with the last reference. */
#include <errno.h>
#include <stdlib.h>

#include "hsa/ipc/syncs.h"
#include "hsa/queue/queue.h"

struct rt_sync {
	_Atomic unsigned refs; /* the holder's, and one for each operation */
	_Atomic bool dropped;
	const struct rt_gpu *gpu; /* borrowed */
	struct cs_syncobj sync;   /* owned */
};

int rt_sync_import(const struct rt_gpu *gpu, int fd, struct rt_sync **out)
{
	struct rt_sync *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return drv_fail(-ENOMEM, "no host memory for a syncobj");
	r = cs_syncobj_import(gpu->vm, fd, false, &s->sync);
	if (r) {
		free(s);
		return r;
	}
	s->refs = 1;
	s->gpu = gpu;
	*out = s;
	return 0;
}

static void sync_put(void *sync)
{
	struct rt_sync *s = sync;

	if (atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	cs_syncobj_fini(&s->sync);
	free(s);
}

void rt_sync_drop(struct rt_sync *s)
{
	atomic_store(&s->dropped, true);
	sync_put(s);
}

int rt_sync_submit(struct flow *flow, struct rt_sync *s, uint64_t value, bool signal)
{
	const struct flow_op op = {
		.kind = FLOW_SYNCOBJ,
		.end = sync_put,
		.user = s,
		.syncobj = {&s->sync, &s->dropped, value, signal},
	};

	if (s->gpu != rt_flow_of(flow)->gpu)
		return drv_fail(-EINVAL, "a syncobj of another GPU");
	atomic_fetch_add(&s->refs, 1);
	return flow_submit(flow, &op);
}
