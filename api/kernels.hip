/* Kernels of the library's own (built_in.c); each is one thread. */
#include "shaders/device.h"

/* How many blocks meet, before a cooperative grid that does so by global wave sync (grid.c). */
extern "C" __global__ __launch_bounds__(1) void meet(u32 others)
{
	__builtin_amdgcn_ds_gws_init(others, 0);
}

/* Values that a stream writes (value.c): at once, for whoever polls them. */
extern "C" __global__ __launch_bounds__(1) void write4(u32 *to, u32 value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

extern "C" __global__ __launch_bounds__(1) void write8(u64 *to, u64 value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}
