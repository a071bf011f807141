/* Tools that watch a program (roctracer, rocprofiler): they are told of calls, and of what the GPU did.
 *
 * A tool gives one function (hipRegisterTracerCallback). Before a call it is asked whether it wants to be told; it
 * names the functions that are to run before and after the call, and a number for it, which what the GPU does
 * because of the call carries (the correlation). Asked likewise for work: it gets a record when that has ended.
 * libamdhip64.so.5 has the older way of HIP 5.2 as well: functions for each kind of call.
 *
 * The records' layouts are AMD's (prof_protocol.h, hip_prof_str.h). */
#ifndef API_TOOL_H
#define API_TOOL_H

#include "api/stream/stream.h"

/* --- calls (tool.c) --------------------------------------------------------------------------- */

#if TUFF_HIP_ABI == 5
#define HIP_TOOL_ARGS_B 824 /* sizeof(hip_api_data_t) - 16, of HIP 5.7 */
#else
#define HIP_TOOL_ARGS_B 1504 /* ... of 6.4 */
#endif

enum hip_tool_domain { HIP_TOOL_WORK = 2, HIP_TOOL_CALLS = 3 };
enum hip_tool_phase { HIP_TOOL_ENTER, HIP_TOOL_EXIT };

/* hip_api_data_t */
struct hip_tool_data {
	uint64_t correlation;
	uint32_t phase;
	_Alignas(8) char args[HIP_TOOL_ARGS_B];
};

void hip_tool_enter(const char *function, const struct hip_arg *args);
void hip_tool_exit(const char *function);

/* --- work (tool_work.c) ----------------------------------------------------------------------- */

enum hip_tool_work_op { HIP_TOOL_DISPATCH, HIP_TOOL_COPY, HIP_TOOL_BARRIER, HIP_TOOL_WORK_OPS };

/* As OpenCL numbers commands. */
enum hip_tool_kind {
	HIP_TOOL_KERNEL = 0x11f0,
	HIP_TOOL_TO_HOST = 0x11f3,
	HIP_TOOL_FROM_HOST = 0x11f4,
	HIP_TOOL_ON_DEVICE = 0x11f5,
	HIP_TOOL_MARKER = 0x11fe,
	HIP_TOOL_BOX_TO_HOST = 0x1201,
	HIP_TOOL_BOX_FROM_HOST = 0x1202,
	HIP_TOOL_BOX_ON_DEVICE = 0x1203,
	HIP_TOOL_FILL = 0x1207,
};

/* activity_record_t */
struct hip_tool_record {
	uint32_t domain, kind, op;
	uint64_t correlation;
	uint64_t begin_ns, end_ns; /* HSA's system time */
	int device;                /* as HSA numbers agents */
	uint64_t queue;
	union {
		uint64_t bytes;
		const char *kernel; /* borrowed, while the tool is told */
	};
};

struct hip_tool_work {
	enum hip_tool_work_op op;
	enum hip_tool_kind kind;
	uint64_t bytes;
	const char *kernel; /* of a dispatch */
	bool by_kernel;     /* a copy or fill that is a dispatch */
};

/* The completion signal of the stream's next operation. 0: no tool wants to know. The stream's lock is held. */
hsa_signal_t hip_tool_watch_work(struct hip_stream *stream, const struct hip_tool_work *work);
static inline hsa_signal_t hip_tool_watch(struct hip_stream *stream, const struct hip_tool_work *work)
{
	return hip_traced() ? hip_tool_watch_work(stream, work) : (hsa_signal_t){0};
}
/* It will not be done after all. */
void hip_tool_forget(hsa_signal_t signal);
/* What the host did, from then (HSA's system time; 0: nobody wants to know) until now. */
uint64_t hip_tool_host_begin(enum hip_tool_work_op op);
void hip_tool_host_end(uint64_t begin_ns, const struct hip_device *device, const struct hip_tool_work *work);
void hip_tool_report_ended(void);
/* The device's work will not end. */
void hip_tool_reset(struct hip_device *device);

/* What the calling thread's call is known by; 0: not at all. Of the old way: a number of the work's own. */
uint64_t hip_tool_correlation(void);
/* Whether the tool that was asked when the thread's call began wants such work. */
bool hip_tool_wants(enum hip_tool_work_op op);
void hip_tool_report(const struct hip_tool_record *record);

#endif
