/* Nothing of C's <stdio.h> is for kernels but what HIP's own headers declare. */
#include <stddef.h>
