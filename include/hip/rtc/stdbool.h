/* C++ has what C's <stdbool.h> defines. */
