#ifndef API_SERIAL_H
#define API_SERIAL_H

#include "api/stream/stream.h"

/* Waits of AMD_SERIALIZE_KERNEL and AMD_SERIALIZE_COPY (serial.c), before and after a kernel or copy is submitted
 * to a stream that does not capture. They return the stream's error. */
enum hip_serial { HIP_SERIAL_KERNEL, HIP_SERIAL_COPY };
hipError_t hip_serial_wait_before(struct hip_stream *stream, enum hip_serial what);
hipError_t hip_serial_wait_after(struct hip_stream *stream, enum hip_serial what);
static inline hipError_t hip_serial_before(struct hip_stream *stream, enum hip_serial what)
{
	return __builtin_expect(hip_slow_path_flags() & HIP_SLOW_SERIAL, 0) ? hip_serial_wait_before(stream, what)
									    : hipSuccess;
}
static inline hipError_t hip_serial_after(struct hip_stream *stream, enum hip_serial what)
{
	return __builtin_expect(hip_slow_path_flags() & HIP_SLOW_SERIAL, 0) ? hip_serial_wait_after(stream, what)
									    : hipSuccess;
}

#endif
