/* Values that a stream writes, or waits for. */
#ifndef API_VALUE_H
#define API_VALUE_H

#include "api/stream/stream.h"

struct hip_value {
	char *address; /* the GPU's */
	uint64_t value, mask;
	unsigned size_B; /* 4, 8; the address is a multiple of it */
	unsigned flags;  /* of a wait: hipStreamWaitValueGte and its kin */
	bool wait;
	pid_t process;   /* of a wait: when that has ended, the wait ends; 0: any may write the value */
	const void *cpu; /* of a wait: where the CPU reads it */
};
/* Between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_value_put(struct hip_stream *stream, const struct hip_value *value);

#endif
