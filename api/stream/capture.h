/* Capture: what streams are given becomes nodes of a graph.
 *
 * A capture begins in one stream, and spreads to those that wait for events of streams that take part in it. One
 * lock, of capture.c, guards all captures, and the streams' part in them. It comes before a graph's users, and
 * behind events' and instances' locks; none is taken while it is held. */
#ifndef API_CAPTURE_H
#define API_CAPTURE_H

#include "api/stream/stream.h"

struct hip_op;

/* A capture. */
struct hip_capture {
	struct hip_capture *next; /* in hip_captures_list */
	uint64_t id;
	hipStreamCaptureMode mode;
	uint64_t thread; /* id of the thread that began it */
	bool lost;
	bool own;         /* the graph was made for it */
	hipGraph_t graph; /* a handle: the program may destroy it */
	struct hip_stream *origin;
	struct hip_stream_capture *streams; /* owned */
};

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

/* What graph/ does for captures. */
struct hip_capture_ops {
	hipError_t (*op)(struct hip_stream *stream, const struct hip_op *op);
	hipError_t (*event)(struct hip_stream *stream, hipEvent_t event);
	hipError_t (*allocate)(struct hip_stream *stream, size_t size_B, void **out);
	hipError_t (*free)(struct hip_stream *stream, void *ptr);
	void (*destroy_graph)(hipGraph_t graph);
};
/* Set before the first capture begins. */
extern DRV_OWN const struct hip_capture_ops *_Atomic hip_capture_ops;

/* Guards all captures, and the streams' part in them. */
extern DRV_OWN pthread_mutex_t hip_captures_lock;
extern DRV_OWN struct hip_capture *hip_captures_list; /* owned */

static inline struct hip_stream_capture *hip_capture_of(const struct hip_stream *s)
{
	return atomic_load_explicit(&s->capture, memory_order_relaxed);
}
/* OutOfMemory. */
hipError_t hip_capture_add_tails(struct hip_stream_capture *p, const hipGraphNode_t *nodes, size_t count);
/* IllegalState: the stream captures. */
hipError_t hip_capture_begin_locked(struct hip_stream *stream, hipStreamCaptureMode mode, hipGraph_t graph,
				    bool own, const hipGraphNode_t *tails, size_t count);
void hip_capture_end_locked(struct hip_capture *capture);

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
