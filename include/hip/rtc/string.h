/* Kernels' functions for memory are in HIP's own headers. */
#include <stddef.h>
