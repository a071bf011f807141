/* Tools that watch a program (roctracer, rocprofiler): they get reports of calls, and of the work that the GPU did
 * for them.
 *
 * A tool registers one function (hipRegisterTracerCallback). The library calls it before a call: the tool says
 * whether it wants a report, which functions are to run before and after the call, and a number for it, the
 * correlation, which the records of the GPU's work for that call carry. The same function says whether the tool
 * wants records of a kind of work; a record is delivered when the work has ended. libamdhip64.so.5 has the older
 * interface of HIP 5.2, too: a function for each kind of call. The layouts of the records are AMD's
 * (prof_protocol.h, hip_prof_str.h).
 *
 * Locks: a tool's function never runs with a lock of this folder held. tool_work.c's lock is inside a stream's.
 */
#ifndef API_TOOL_H
#define API_TOOL_H

#include "api/stream/stream.h"

/* --- calls (tool.c) --------------------------------------------------------------------------- */

#if TUFF_HIP_ABI == 5
#define HIP_TOOL_ARGS_B 824 /* bytes: sizeof(hip_api_data_t) - 16 in HIP 5.7 */
#else
#define HIP_TOOL_ARGS_B 1504 /* bytes: the same in 6.4 */
#endif

enum hip_tool_domain { HIP_TOOL_WORK = 2, HIP_TOOL_CALLS = 3 };
enum hip_tool_phase { HIP_TOOL_ENTER, HIP_TOOL_EXIT };

/* layout: AMD's hip_api_data_t */
struct hip_tool_data {
	uint64_t correlation;
	uint32_t phase;
	_Alignas(8) char args[HIP_TOOL_ARGS_B];
};

void hip_tool_enter(const char *function, const struct hip_arg *args);
void hip_tool_exit(const char *function);

/* --- work (tool_work.c) ----------------------------------------------------------------------- */

enum hip_tool_work_op { HIP_TOOL_DISPATCH, HIP_TOOL_COPY, HIP_TOOL_BARRIER, HIP_TOOL_WORK_OPS };

/* The numbers of OpenCL's command types. */
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

/* layout: AMD's activity_record_t */
struct hip_tool_record {
	uint32_t domain, kind, op;
	uint64_t correlation;
	uint64_t begin_ns, end_ns; /* HSA's system time */
	int device;                /* HSA's index of the agent */
	uint64_t queue;
	union {
		uint64_t bytes;
		const char *kernel; /* borrowed, until the tool's function returns */
	};
};

struct hip_tool_work {
	enum hip_tool_work_op op;
	enum hip_tool_kind kind;
	uint64_t bytes;
	const char *kernel; /* name; of a dispatch only */
	bool by_kernel;     /* a copy or fill that a kernel does */
};

/* Returns the completion signal for the stream's next operation, whose end is reported. 0: no tool wants a report.
 * The caller holds the stream's lock. */
hsa_signal_t hip_tool_watch_work(struct hip_stream *stream, const struct hip_tool_work *work);
static inline hsa_signal_t hip_tool_watch(struct hip_stream *stream, const struct hip_tool_work *work)
{
	return hip_traced() ? hip_tool_watch_work(stream, work) : (hsa_signal_t){0};
}
/* Cancels the report: the operation was not submitted. */
void hip_tool_forget(hsa_signal_t signal);
/* Reports work that the host did itself, from hip_tool_host_begin() to hip_tool_host_end(). Times are HSA's system
 * time; 0: no tool wants a report. */
uint64_t hip_tool_host_begin(enum hip_tool_work_op op);
void hip_tool_host_end(uint64_t begin_ns, const struct hip_device *device, const struct hip_tool_work *work);
void hip_tool_report_ended(void);
/* Drops the reports of a device whose work will not end. */
void hip_tool_reset(struct hip_device *device);

/* The correlation of the calling thread's call; 0: none. With the older interface, a number of its own for each
 * operation. */
uint64_t hip_tool_correlation(void);
/* True when the tool wants reports of such work, as it said when the thread's call began. */
bool hip_tool_is_enabled(enum hip_tool_work_op op);
void hip_tool_report(const struct hip_tool_record *record);

#endif
