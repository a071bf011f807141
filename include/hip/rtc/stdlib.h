/* Nothing of C's <stdlib.h> is for kernels but what HIP's own headers declare. */
#include <stddef.h>
