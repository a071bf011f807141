/* Stream memory operations: values that a stream writes to memory, or waits for in memory. A hip_value is a value
 * of the caller. */
#ifndef API_VALUE_H
#define API_VALUE_H

#include "api/stream/stream.h"

struct hip_value {
	char *address; /* GPU address */
	uint64_t value, mask;
	unsigned size_B; /* 4 or 8; the address is a multiple of it */
	unsigned flags;  /* wait: hipStreamWaitValueGte, hipStreamWaitValueEq, ... */
	bool wait;
	pid_t process;   /* wait: the wait ends when this process ends; 0: any process may write the value */
	const void *cpu; /* wait: the CPU's address of the memory */
};
/* Between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_value_put(struct hip_stream *stream, const struct hip_value *value);

#endif
