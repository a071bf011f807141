/* Defines what variables.c leaves to others. */
#include "tests/code/gpu.h"

GLOBAL u32 outside[2] = {40, 41};
