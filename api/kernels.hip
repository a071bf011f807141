/* Kernels that the library itself uses (built_in.c). */
#include "shaders/device.h"

/* Kernels of one thread: */

#if !__GFX12__ /* which has no global wave sync */
/* Sets the number of blocks for the global wave sync of the cooperative grid that follows (grid.c). */
extern "C" __global__ __launch_bounds__(1) void meet(u32 others)
{
	__builtin_amdgcn_ds_gws_init(others, 0);
}
#endif

/* Writes a value of a stream (value.c) with a store of system scope, since other processors poll it. */
extern "C" __global__ __launch_bounds__(1) void write4(u32 *to, u32 value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

extern "C" __global__ __launch_bounds__(1) void write8(u64 *to, u64 value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

/* Copies and fills of rows (blit.c): a lane for each element; workgroups of 256 lanes, 1 << x_shift of them along a
 * row. */
struct blit {
	u64 dst, dst_pitch_B, dst_slice_B, src, src_pitch_B, src_slice_B, row_B;
	u32 rows, value, x_shift, zero;
};

/* The start of a lane's row, and the bytes before and after its aligned elements. */
struct row {
	u64 dst, src, x, head_B, tail_B, elements;
};

static inline __device__ bool row_of(const struct blit *b, u32 element_B, struct row *r)
{
	u64 y = (u64)GROUP_Y * (256u >> b->x_shift) + LANE_Y, z = GROUP_Z;

	r->x = ((u64)GROUP_X << b->x_shift) + LANE_X;
	r->dst = b->dst + z * b->dst_slice_B + y * b->dst_pitch_B;
	r->src = b->src + z * b->src_slice_B + y * b->src_pitch_B;
	r->head_B = -r->dst & (element_B - 1);
	if (r->head_B > b->row_B)
		r->head_B = b->row_B;
	r->elements = (b->row_B - r->head_B) / element_B;
	r->tail_B = b->row_B - r->head_B - r->elements * element_B;
	return y < b->rows;
}

static inline __device__ void copy_byte(u64 dst, u64 src)
{
	*(u8 *)dst = *(const u8 *)src;
}

#define COPY(name, type)                                                                                            \
	extern "C" __global__ __launch_bounds__(256) void name(struct blit b)                                       \
	{                                                                                                           \
		u64 behind = b.row_B;                                                                               \
		struct row r;                                                                                       \
		if (!row_of(&b, sizeof(type), &r))                                                                  \
			return;                                                                                     \
		if (r.x < r.elements)                                                                               \
			((type *)(r.dst + r.head_B))[r.x] = ((const type *)(r.src + r.head_B))[r.x];                \
		if (sizeof(type) > 1 && r.x < r.head_B)                                                             \
			copy_byte(r.dst + r.x, r.src + r.x);                                                        \
		behind -= r.tail_B;                                                                                 \
		if (sizeof(type) > 1 && r.x < r.tail_B)                                                             \
			copy_byte(r.dst + behind + r.x, r.src + behind + r.x);                                      \
	}

COPY(copy1, u8)
COPY(copy4, u32)
COPY(copy16, u32x4)

/* Writes the byte of the value that belongs to the address. */
static inline __device__ void fill_byte(u64 dst, u32 value)
{
	*(u8 *)dst = (u8)(value >> 8 * (dst & 3));
}

extern "C" __global__ __launch_bounds__(256) void fill(struct blit b)
{
	struct row r;

	if (!row_of(&b, 16, &r))
		return;
	if (r.x < r.elements)
		((u32x4 *)(r.dst + r.head_B))[r.x] = u32x4{b.value, b.value, b.value, b.value};
	if (r.x < r.head_B)
		fill_byte(r.dst + r.x, b.value);
	if (r.x < r.tail_B)
		fill_byte(r.dst + b.row_B - r.tail_B + r.x, b.value);
}
