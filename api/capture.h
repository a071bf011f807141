/* Capture: what streams are given becomes nodes of a graph.
 *
 * A capture begins in one stream, and spreads to those that wait for events of streams that take part in it. One
 * lock, of capture.c, guards all captures, and the streams' part in them. It comes before a graph's users, and
 * behind events' and instances' locks; none is taken while it is held. */
#ifndef API_CAPTURE_H
#define API_CAPTURE_H

#include "api/op.h"

struct hip_graph;
struct hip_work;

/* A stream's part in a capture: behind what its next node comes. */
struct hip_stream_capture {
	struct hip_stream_capture *next; /* in the capture's list */
	struct hip_capture *capture;
	struct hip_stream *stream; /* a reference */
	hipGraphNode_t *tails;     /* owned */
	size_t count, room;
};

/* What an event that was recorded in a capture stands for. */
struct hip_recorded {
	uint64_t capture;      /* id; 0: it was recorded as usual */
	hipGraphNode_t *tails; /* owned */
	size_t count;
};

static inline bool hip_stream_captures(const struct hip_stream *s)
{
	return __builtin_expect(atomic_load_explicit(&s->capture, memory_order_relaxed) != NULL, 0);
}

/* Of streams that capture: a node instead. InvalidatedCapture when that was lost. */
hipError_t hip_capture_op(struct hip_stream *stream, const struct hip_op *op);
/* The node takes over what *work owns, whatever the answer is. */
hipError_t hip_capture_work(struct hip_stream *stream, struct hip_work *work);
hipError_t hip_capture_graph(struct hip_stream *stream, const struct hip_graph *graph);
/* What the stream has so far; *recorded is replaced. */
hipError_t hip_capture_record(struct hip_stream *stream, struct hip_recorded *recorded);
/* The stream joins the capture, or goes on behind those nodes, too. *joined: the capture is still on. */
hipError_t hip_capture_wait(struct hip_stream *stream, const struct hip_recorded *recorded, bool *joined);
/* The event's capture is still on, so that it cannot be asked: it is lost. */
bool hip_capture_invalidate_query(const struct hip_recorded *recorded);

/* What no capture stands: 0, or `error`, and the captures that this thread had to leave alone are lost. */
hipError_t hip_capture_refuses_slow(hipError_t error);
static inline bool hip_captures(void)
{
	return __builtin_expect(hip_slow_path_flags() & HIP_SLOW_CAPTURE, 0);
}
static inline hipError_t hip_capture_refuses(hipError_t error)
{
	return hip_captures() ? hip_capture_refuses_slow(error) : hipSuccess;
}
/* A copy or a fill, that waits or not. */
static inline hipError_t hip_capture_refuses_wait(bool wait)
{
	return wait ? hip_capture_refuses(hipErrorStreamCaptureImplicit) : hipSuccess;
}
/* The device cannot be waited for while a stream of it captures. */
hipError_t hip_capture_refuses_device(const struct hip_device *device);
/* The stream cannot be waited for while it captures: its capture is lost. */
hipError_t hip_capture_lost(struct hip_stream *stream, hipError_t error);
/* The stream ends. */
void hip_capture_leave(struct hip_stream *stream);

#endif
