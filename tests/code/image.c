/* Kernels that read and write images by their descriptors, which the image's handle points to. C has no names for
 * these instructions, but the compiler accepts the intrinsics' own names. */
#include "tests/code/gpu.h"

typedef int v4i __attribute__((ext_vector_type(4)));
typedef int v8i __attribute__((ext_vector_type(8)));
typedef float v4f __attribute__((ext_vector_type(4)));
#define CONST __attribute__((address_space(4)))

v4f buffer_load(v4i words, int index, int offset, int scalar_offset,
		int policy) __asm("llvm.amdgcn.struct.buffer.load.format.v4f32");
void buffer_store(v4f value, v4i words, int index, int offset, int scalar_offset,
		  int policy) __asm("llvm.amdgcn.struct.buffer.store.format.v4f32");
v4f image_load(int mask, int x, int y, v8i words, int fail,
	       int policy) __asm("llvm.amdgcn.image.load.2d.v4f32.i32");
void image_store(v4f value, int mask, int x, int y, v8i words, int fail,
		 int policy) __asm("llvm.amdgcn.image.store.2d.v4f32.i32");
v4f image_load_3d(int mask, int x, int y, int z, v8i words, int fail,
		  int policy) __asm("llvm.amdgcn.image.load.3d.v4f32.i32");
v4f image_sample(int mask, float x, float y, v8i words, v4i sampler, _Bool unnormalized, int fail,
		 int policy) __asm("llvm.amdgcn.image.sample.lz.2d.v4f32.f32");

#define X __builtin_amdgcn_workitem_id_x()

KERNEL read_1db(const CONST v4i *image, GLOBAL v4f *out)
{
	out[X] = buffer_load(*image, X, 0, 0, 0);
}

/* Turns R, G, B, A round. */
KERNEL write_1db(const CONST v4i *image, GLOBAL v4f *in)
{
	buffer_store(in[X].wzyx, *image, X, 0, 0, 0);
}

KERNEL read_2d(const CONST v8i *image, GLOBAL v4f *out, u32 width)
{
	out[X] = image_load(15, X % width, X / width, *image, 0, 0);
}

KERNEL write_2d(const CONST v8i *image, GLOBAL v4f *in, u32 width)
{
	image_store(in[X].wzyx, 15, X % width, X / width, *image, 0, 0);
}

KERNEL read_3d(const CONST v8i *image, GLOBAL v4f *out, u32 width, u32 height)
{
	out[X] = image_load_3d(15, X % width, X / width % height, X / width / height, *image, 0, 0);
}

KERNEL sample_2d(const CONST v8i *image, GLOBAL v4f *out, const CONST v4i *sampler, GLOBAL float *at)
{
	out[X] = image_sample(15, at[2 * X], at[2 * X + 1], *image, *sampler, 0, 0, 0);
}
