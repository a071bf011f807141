/* The type of clock(). */
#include <stddef.h>
typedef long clock_t;
