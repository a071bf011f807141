/* Stream capture: operations that a program gives to streams become nodes of a graph.
 *
 *   hip_capture         a capture: begins in one stream (its origin), and spreads to each stream that waits for an
 *                       event of a stream in it; in hip_captures_list, which owns it
 *   hip_stream_capture  the part of one stream in a capture; owned by the capture
 *   hip_recorded        the state of an event that was recorded in a capture; owned by the event
 *
 * Lock: hip_captures_lock guards all of them. It is inside the locks of events, of
 * instances, of streams and of devices, none of which is taken under it.
 */
#ifndef API_CAPTURE_H
#define API_CAPTURE_H

#include "drv/lock.h"
#include "api/stream/stream.h"

struct hip_op;

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

/* A stream in a capture: `tails` are the nodes after which the stream's next node comes. */
struct hip_stream_capture {
	struct hip_stream_capture *next; /* in the capture's list */
	struct hip_capture *capture;
	struct hip_stream *stream; /* a reference */
	hipGraphNode_t *tails;     /* owned */
	size_t count, room;
};

/* The nodes after which the work comes that waits for an event recorded in a capture. */
struct hip_recorded {
	uint64_t capture;      /* id of the capture; 0: the event was not recorded in a capture */
	hipGraphNode_t *tails; /* owned */
	size_t count;
};

static inline bool hip_stream_captures(const struct hip_stream *s)
{
	return __builtin_expect(atomic_load_explicit(&s->capture, memory_order_relaxed) != NULL, 0);
}

/* Operations of graph/ on captures, as a table, since graph/ is above this folder. */
struct hip_capture_ops {
	hipError_t (*op)(struct hip_stream *stream, const struct hip_op *op);
	hipError_t (*event)(struct hip_stream *stream, hipEvent_t event);
	hipError_t (*allocate)(struct hip_stream *stream, size_t size_B, void **out);
	hipError_t (*free)(struct hip_stream *stream, void *ptr);
	void (*destroy_graph)(hipGraph_t graph);
};
/* Set before the first capture begins. */
extern DRV_OWN const struct hip_capture_ops *_Atomic hip_capture_ops;

/* Guards every capture and every stream's part in it. */
extern DRV_OWN struct drv_mutex hip_captures_lock;
extern DRV_OWN struct hip_capture *hip_captures_list; /* owned */

static inline struct hip_stream_capture *hip_capture_of(const struct hip_stream *s)
{
	return atomic_load_explicit(&s->capture, memory_order_relaxed);
}
/* Makes room for a list of `count` tails, whose entries stay as they are. Errors: OutOfMemory. */
hipError_t hip_capture_reserve(struct hip_stream_capture *p, size_t count);
/* Errors: OutOfMemory, and the list is unchanged. */
hipError_t hip_capture_add_tails(struct hip_stream_capture *p, const hipGraphNode_t *nodes, size_t count);
/* Errors: IllegalState, when the stream is in a capture; ContextIsDestroyed, when a thread closes it. */
hipError_t hip_capture_begin_locked(struct hip_stream *stream, hipStreamCaptureMode mode, hipGraph_t graph,
				    bool own, const hipGraphNode_t *tails, size_t count);
void hip_capture_end_locked(struct hip_capture *capture);

/* Replaces *recorded by the stream's present tails. */
hipError_t hip_capture_record(struct hip_stream *stream, struct hip_recorded *recorded);
/* Adds the recorded nodes to the stream's tails; the stream joins the capture if it is not in it yet. *joined: the
 * capture is still active. */
hipError_t hip_capture_wait(struct hip_stream *stream, const struct hip_recorded *recorded, bool *joined);
/* Invalidates the capture of the event, if it is still active: a captured event has no status to query. True: it
 * was active. */
bool hip_capture_invalidate_query(const struct hip_recorded *recorded);

/* Refuses a call that is unsafe during captures: returns `error` and invalidates the captures that forbid the call
 * to this thread; 0 when there is none. */
enum hip_unsafe {
	HIP_UNSAFE,
	HIP_UNSAFE_SETTING, /* the captures stay as they are */
	HIP_UNSAFE_ALWAYS,  /* for the thread's own captures in relaxed mode, too */
};
hipError_t hip_capture_refuses_slow(hipError_t error, enum hip_unsafe unsafe);
static inline bool hip_captures(void)
{
	return __builtin_expect(hip_slow_path_flags() & HIP_SLOW_CAPTURE, 0);
}
static inline hipError_t hip_capture_refuses(hipError_t error)
{
	return hip_captures() ? hip_capture_refuses_slow(error, HIP_UNSAFE) : hipSuccess;
}
/* The same for calls that are unsafe since HIP 7, and for its settings. */
static inline hipError_t hip_capture_refuses_since_7(void)
{
	return TUFF_HIP_ABI >= 7 ? hip_capture_refuses(hipErrorStreamCaptureUnsupported) : hipSuccess;
}
static inline hipError_t hip_capture_refuses_setting(void)
{
	return TUFF_HIP_ABI >= 7 && hip_captures()
		       ? hip_capture_refuses_slow(hipErrorStreamCaptureUnsupported, HIP_UNSAFE_SETTING)
		       : hipSuccess;
}
/* The same for settings that before HIP 7 were as unsafe as other calls. */
static inline hipError_t hip_capture_refuses_old_setting(void)
{
	return TUFF_HIP_ABI >= 7 ? hip_capture_refuses_setting()
				 : hip_capture_refuses(hipErrorStreamCaptureUnsupported);
}
/* The same for a copy or a fill, which is unsafe only if the host waits for it. */
static inline hipError_t hip_capture_refuses_wait(bool wait)
{
	return wait && hip_captures() ? hip_capture_refuses_slow(hipErrorStreamCaptureImplicit,
								 TUFF_HIP_ABI >= 7 ? HIP_UNSAFE_ALWAYS : HIP_UNSAFE)
				      : hipSuccess;
}
/* Refuses a wait for the device while one of its streams captures. */
hipError_t hip_capture_refuses_device(const struct hip_device *device);
/* Returns `error` and invalidates the stream's capture, if there is one: a stream that captures cannot be waited
 * for. */
hipError_t hip_capture_lost(struct hip_stream *stream, hipError_t error);
/* Takes a stream that ends out of its capture. */
void hip_capture_remove_stream(struct hip_stream *stream);

#endif
