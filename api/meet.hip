/* How many blocks meet, before a cooperative grid that does so by global wave sync (grid.c). */
#include "shaders/device.h"

extern "C" __global__ __launch_bounds__(1) void meet(u32 others)
{
	__builtin_amdgcn_ds_gws_init(others, 0);
}
