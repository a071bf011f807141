/* Serialization, to find faults: HIP_LAUNCH_BLOCKING, AMD_SERIALIZE_KERNEL and AMD_SERIALIZE_COPY. A call waits for
 * its stream before it submits a kernel or copy, after it, or both, so that an error belongs to that call. A graph
 * counts as a kernel. */
#include "api/stream/point.h"
#include "api/stream/serial.h"
#include "drv/config.h"

#define BEFORE 1u
#define AFTER  2u

static unsigned wait_times(enum hip_serial what)
{
	return what == HIP_SERIAL_KERNEL ? drv_config()->serialize_kernel : drv_config()->serialize_copy;
}

hipError_t hip_serial_wait_before(struct hip_stream *s, enum hip_serial what)
{
	return wait_times(what) & BEFORE ? hip_stream_wait(s) : hipSuccess;
}

hipError_t hip_serial_wait_after(struct hip_stream *s, enum hip_serial what)
{
	return wait_times(what) & AFTER ? hip_stream_wait(s) : hipSuccess;
}
