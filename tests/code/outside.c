/* Defines the symbols that variables.c leaves undefined. */
#include "tests/code/gpu.h"

GLOBAL u32 outside[2] = {40, 41};
