/* Text of kernels (print.c), and how it comes from those that leave it in a buffer (print_buffer.c). */
#ifndef API_PRINT_H
#define API_PRINT_H

#include <stdio.h>

#include "api/exec/launch.h"

/* Prints arguments as the format says; characters, or a negative number: it failed. A zero word stands behind the
 * last. */
int hip_print(FILE *to, const char *format, const uint64_t *words, const uint64_t *end);
/* The format comes first. */
int hip_print_words(FILE *to, const uint64_t *words, const uint64_t *end);

/* As hip_launch_put(), for a kernel that leaves text in a buffer: it is printed when the kernel has ended. */
hipError_t hip_print_put(struct hip_stream *stream, const struct hip_launch *launch);
void hip_print_reset(struct hip_device *device);

#endif
