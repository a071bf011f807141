#include "tests/code/gpu.h"

extern GLOBAL u32 counter;

KERNEL bump(u32 by)
{
	counter += by;
}
