/* printf of kernels: formatting (print.c), and the buffer of kernels that store their messages (print_buffer.c). */
#ifndef API_PRINT_H
#define API_PRINT_H

#include <stdio.h>

#include "api/exec/launch.h"

/* Prints the arguments as the format says. Returns the number of characters; negative: an error. A zero word
 * follows the last one. */
int hip_print(FILE *to, const char *format, const uint64_t *words, const uint64_t *end);
/* The same; the words begin with the format. */
int hip_print_words(FILE *to, const uint64_t *words, const uint64_t *end);

/* The same as hip_launch_put(), for a kernel that stores messages in a buffer: they are printed when the kernel has
 * ended. */
hipError_t hip_print_put(struct hip_stream *stream, const struct hip_launch *launch);
void hip_print_reset(struct hip_device *device);

#endif
