/* What a launch of an instance puts into a stream: pieces, each of them kernels in a row, all in one packet, or
 * another operation. Kernels' packets and arguments are written once, and read by every launch.
 *
 * A kernel waits for those before it only if it is behind one that has not been waited for: branches run at the
 * same time. Other operations wait for all before them, and all behind them wait.
 *
 * What runs on another device than the stream's goes into a stream of that device that the plan has: behind all
 * before it, and before all behind it. */
#include <stdlib.h>
#include <string.h>

#include "api/graph_plan.h"
#include "api/tool.h"

struct piece {
	uint32_t first, count;        /* packets; count 0: an operation */
	struct rt_sequence *sequence; /* owned: of them */
	const struct hip_work *work;
};

struct hip_plan {
	struct hip_plan *next;                 /* among those that are retired */
	struct hip_mark last;                  /* owned: once it is retired, behind what was launched */
	hsa_kernel_dispatch_packet_t *packets; /* owned */
	char *args;                            /* owned: of all kernels */
	size_t args_B;
	struct piece *pieces; /* owned */
	size_t count;
	uint32_t kernels;
	struct hip_device *device; /* of kernels in a row: the first kernel's; NULL: there are none */
	/* A reference, and the handle: for what runs on that device; NULL: nothing has. Who launches has them. */
	struct hip_stream *branch[HIP_DEVICES_MAX];
};

/* Those that the GPU may still read. */
static struct {
	pthread_mutex_t lock;
	struct hip_plan *list;
} retired = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* One that can stand in a row with others. */
static bool is_kernel(const struct hip_plan *p, const struct hip_work *w)
{
	return w->type == hipGraphNodeTypeKernel && !w->op.launch.cooperative && !w->op.launch.kernel->prints &&
	       w->op.launch.kernel->device == p->device;
}

static size_t args_size(const struct hip_launch *l)
{
	return hip_args_size(l->kernel->cs->kernarg_B);
}

/* --- making and ending ------------------------------------------------------------------------ */

static void free_branch(struct hip_stream *branch)
{
	if (branch)
		(void)!hip_stream_destroy((hipStream_t)(uintptr_t)branch->handle);
	hip_stream_put(branch);
}

static void free_plan(struct hip_plan *p)
{
	hip_mark_put(&p->last);
	for (unsigned i = 0; i < hip.devices; i++)
		free_branch(p->branch[i]);
	for (size_t i = 0; i < p->count; i++)
		hip.door->sequence_destroy(p->pieces[i].sequence);
	if (p->args)
		hsa_amd_memory_pool_free(p->args);
	free(p->packets);
	free(p->pieces);
	free(p);
}

static void reap(void)
{
	struct hip_plan **at = &retired.list, *p;

	pthread_mutex_lock(&retired.lock);
	while ((p = *at))
		if (hip_mark_reached(&p->last)) {
			*at = p->next;
			free_plan(p);
		} else {
			at = &p->next;
		}
	pthread_mutex_unlock(&retired.lock);
}

void hip_plan_retire(struct hip_plan *p, const struct hip_mark *last)
{
	if (p) {
		p->last = hip_mark_get(last);
		pthread_mutex_lock(&retired.lock);
		p->next = retired.list;
		retired.list = p;
		pthread_mutex_unlock(&retired.lock);
	}
	reap();
}

/* Counts; and finds where they run. */
static hipError_t count_kernels(struct hip_plan *p, const struct hip_step *steps, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct hip_work *w = &steps[i].node->work;

		if (!hip_work_lives(w))
			return hipErrorContextIsDestroyed;
		if (w->type != hipGraphNodeTypeKernel)
			continue;
		if (!p->device)
			p->device = w->op.launch.kernel->device;
		if (is_kernel(p, w)) {
			p->kernels++;
			p->args_B += args_size(&w->op.launch);
		}
	}
	return hipSuccess;
}

static hipError_t allocate(struct hip_plan *p, size_t count)
{
	p->pieces = calloc(count + 1, sizeof(p->pieces[0]));
	p->packets = calloc(p->kernels + 1, sizeof(p->packets[0]));
	p->args = p->args_B ? hip_args_allocate(p->device, p->args_B) : NULL;
	return !p->pieces || !p->packets || (p->args_B && !p->args) ? hipErrorOutOfMemory : hipSuccess;
}

/* Without the barrier bit nothing before it is waited for, and nothing new is there to be seen. */
#define WITHOUT_BARRIER                                                                                            \
	(HIP_LAUNCH_HEADER & ~(1u << HSA_PACKET_HEADER_BARRIER | 3u << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE))

static void write_kernel(const struct hip_plan *p, uint32_t at, const struct hip_launch *l, char *args, bool waits)
{
	hsa_kernel_dispatch_packet_t *packet = &p->packets[at];
	uint32_t header = waits ? HIP_LAUNCH_HEADER : WITHOUT_BARRIER;

	hip_launch_prepare(l, packet, args);
	memcpy(packet, &header, sizeof(header));
	packet->kernarg_address = args;
}

static void write_pieces(struct hip_plan *p, const struct hip_step *steps, size_t count)
{
	struct piece *piece = NULL; /* of kernels, open */
	size_t seen = 0;            /* the steps below are waited for by all from here on */
	uint32_t kernel = 0;
	char *args = p->args;

	for (size_t i = 0; i < count; i++) {
		const struct hip_work *w = &steps[i].node->work;
		bool waits = !piece || steps[i].behind > seen;

		if (steps[i].node->disabled)
			continue;
		if (!is_kernel(p, w)) {
			p->pieces[p->count++] = (struct piece){.work = w};
			piece = NULL;
			continue;
		}
		if (!piece) {
			piece = &p->pieces[p->count++];
			*piece = (struct piece){.first = kernel};
		}
		seen = waits ? i : seen;
		write_kernel(p, kernel++, &w->op.launch, args, waits);
		piece->count++;
		args += args_size(&w->op.launch);
	}
}

static hipError_t make_sequences(struct hip_plan *p)
{
	int r = 0;

	for (size_t i = 0; i < p->count && !r; i++)
		if (p->pieces[i].count)
			r = hip.door->sequence_create(p->device->agent, p->packets + p->pieces[i].first,
						      p->pieces[i].count, &p->pieces[i].sequence);
	return hip_of_errno(r);
}

hipError_t hip_plan_make(const struct hip_step *steps, size_t count, struct hip_plan **out)
{
	struct hip_plan *p = calloc(1, sizeof(*p));
	hipError_t r = p ? count_kernels(p, steps, count) : hipErrorOutOfMemory;

	if (!r)
		r = allocate(p, count);
	if (!r) {
		write_pieces(p, steps, count);
		r = make_sequences(p);
	}
	if (r) {
		if (p)
			free_plan(p);
		return r;
	}
	*out = p;
	return hipSuccess;
}

/* --- launches --------------------------------------------------------------------------------- */

/* Events have locks of their own, which come before a stream's: it is let go meanwhile. *held: it was taken again.
 */
static hipError_t put_event(struct hip_stream *s, const struct hip_work *w, bool *held)
{
	hipError_t r, again;

	hip_stream_ring(s);
	hip_stream_done(s);
	r = w->type == hipGraphNodeTypeEventRecord ? hip_event_record(w->event, s) : hip_event_wait(w->event, s);
	again = hip_stream_begin(s);
	*held = !again;
	return r ? r : again;
}

static hipError_t put_other(struct hip_stream *s, const struct hip_work *w, bool *held)
{
	hipError_t r;

	switch (w->type) {
	case hipGraphNodeTypeEventRecord:
	case hipGraphNodeTypeWaitEvent:
		return put_event(s, w, held);
	case hipGraphNodeTypeMemAlloc:
		hip_lease_begin(w->lease);
		return hipSuccess;
	case hipGraphNodeTypeMemFree:
		return hip_lease_free(w->freed, s, &r) ? r : hipErrorInvalidValue;
	default:
		return w->op.kind == HIP_OP_BOX ? hip_box_put_later(s, &w->op.box) : hip_op_put(s, &w->op);
	}
}

/* Each kernel a packet of its own, so that tools are told of it. */
static hipError_t put_singly(const struct hip_plan *p, const struct piece *piece, struct hip_stream *s)
{
	for (uint32_t i = 0; i < piece->count; i++) {
		const hsa_kernel_dispatch_packet_t *from = &p->packets[piece->first + i];
		const struct cs_kernel *k = hip.door->kernel(s->device->agent, from->kernel_object);
		hsa_kernel_dispatch_packet_t *packet = hip_stream_slot(s);
		uint32_t header;

		if (!packet)
			return hip_stream_lost(s, hip.door->state(s->door));
		memcpy(&header, from, sizeof(header));
		memcpy((char *)packet + sizeof(header), (const char *)from + sizeof(header),
		       sizeof(*packet) - sizeof(header));
		packet->completion_signal =
			hip_tool_watch(s, &(struct hip_tool_work){
						  .op = HIP_TOOL_DISPATCH,
						  .kind = HIP_TOOL_KERNEL,
						  .kernel = k ? k->name : "", /* its module may be gone */
					  });
		hip_stream_write(s, header);
	}
	return hipSuccess;
}

static hipError_t put_kernels(const struct hip_plan *p, const struct piece *piece, struct hip_stream *s)
{
	struct rt_sequence_packet *packet;

	if (hip_traced() && hip_tool_wants(HIP_TOOL_DISPATCH))
		return put_singly(p, piece, s);
	packet = hip_stream_slot(s);
	if (!packet)
		return hip_stream_lost(s, hip.door->state(s->door));
	packet->sequence = piece->sequence;
	hip_stream_write(s, HIP_HEADER(HSA_PACKET_TYPE_VENDOR_SPECIFIC) | RT_FORMAT_SEQUENCE << 16);
	return hipSuccess;
}

static hipError_t put_piece(const struct hip_plan *p, const struct piece *piece, struct hip_stream *s, bool *held)
{
	return piece->count ? put_kernels(p, piece, s) : put_other(s, piece->work, held);
}

/* --- on other devices ------------------------------------------------------------------------- */

/* Where it has to run. NULL: anywhere. */
static struct hip_device *device_of(const struct hip_plan *p, const struct piece *piece)
{
	struct hip_memory memory;

	if (piece->count)
		return p->device;
	if (piece->work->op.kind == HIP_OP_LAUNCH)
		return piece->work->op.launch.kernel->device;
	/* Other GPUs may not reach it. */
	if (piece->work->op.kind == HIP_OP_FILL && hip_memory_find(piece->work->op.fill.dst, &memory) &&
	    memory.kind == HIP_MEMORY_DEVICE)
		return &hip.device[memory.device];
	return NULL;
}

static hipError_t branch_of(struct hip_plan *p, struct hip_device *device, struct hip_stream **branch)
{
	struct hip_stream **at = &p->branch[device->index];
	hipError_t r = hipSuccess;

	if (!*at) {
		r = hip_stream_create(device, hipStreamNonBlocking, 0, at);
		if (!r)
			hip_stream_get(*at);
	}
	*branch = *at;
	return r;
}

static hipError_t put_behind(const struct hip_plan *p, const struct piece *piece, struct hip_stream *branch,
			     const struct hip_mark *mark)
{
	bool held = true;
	hipError_t r = hip_stream_begin(branch);

	if (r)
		return r;
	r = hip_stream_after(branch, mark);
	r = r ? r : put_piece(p, piece, branch, &held);
	hip_stream_ring(branch);
	hip_stream_done(branch);
	return r;
}

/* No two streams are locked at a time. *held: the first was locked again. */
static hipError_t put_elsewhere(struct hip_plan *p, const struct piece *piece, struct hip_device *device,
				struct hip_stream *s, bool *held)
{
	struct hip_mark mark = hip_stream_mark(s);
	struct hip_stream *branch;
	hipError_t r, again;

	hip_stream_ring(s);
	hip_stream_done(s);
	r = branch_of(p, device, &branch);
	r = r ? r : put_behind(p, piece, branch, &mark);
	hip_mark_put(&mark);
	again = hip_stream_begin(s);
	*held = !again;
	if (r || again)
		return r ? r : again;
	mark = hip_stream_mark(branch);
	r = hip_stream_after(s, &mark);
	hip_mark_put(&mark);
	return r;
}

hipError_t hip_plan_put(struct hip_plan *p, struct hip_stream *s, bool *held)
{
	hipError_t r = hipSuccess;

	for (size_t i = 0; i < p->count && !r; i++) {
		const struct piece *piece = &p->pieces[i];
		struct hip_device *device = device_of(p, piece);

		r = !device || device == s->device ? put_piece(p, piece, s, held)
						   : put_elsewhere(p, piece, device, s, held);
	}
	return r;
}
