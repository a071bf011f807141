/* Kernels whose metadata says more than a chip has. */
#include "api/module/module.h"

#include <stdlib.h>
#include <string.h>

#include "shaders/blob.h"
#include "tests/check.h"
#include "vgpu/vgpu.h"

#define KEY "\xb8.max_flat_workgroup_size"

/* Replaces the limit of each kernel: 256, in MessagePack's form for 16 bits. */
static void *image_with_threads(const struct shader_blob *b, unsigned threads)
{
	const size_t key_B = sizeof(KEY) - 1;
	uint8_t *image = malloc(b->size_B), *at = image;
	unsigned kernels = 0;

	memcpy(image, b->image, b->size_B);
	while ((at = memmem(at, (size_t)(image + b->size_B - at), KEY, key_B))) {
		at += key_B;
		CHECK(at[0] == 0xcd && at[1] == 1 && !at[2]);
		at[1] = (uint8_t)(threads >> 8);
		at[2] = (uint8_t)threads;
		kernels++;
	}
	CHECK(kernels);
	return image;
}

static void threads_are_limited(const struct shader_blob *b, unsigned told, unsigned want)
{
	void *image = image_with_threads(b, told);
	struct hip_kernel kernel;
	struct hip_code code;
	int value;

	if (CHECK_EQ(hip_code_load(&hip.device[0], image, b->size_B, &code), hipSuccess)) {
		CHECK_EQ(hip_code_kernel(&code, "copy16", &kernel), hipSuccess);
		CHECK_EQ(kernel.threads_max, want);
		CHECK_EQ(hip_kernel_attribute(&kernel, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &value),
			 hipSuccess);
		CHECK_EQ(value, want);
		hip_code_unload(&code);
	}
	free(image);
}

int main(void)
{
	const struct shader_blob *b = shader_find(shaders_blobs, "blit.O3", "gfx908");

	if (vgpu_start("gfx908:vram=128M") || hip_init())
		return 1;
	threads_are_limited(b, 256, 256);
	threads_are_limited(b, 1024, 1024);
	threads_are_limited(b, 1025, 1024);
	threads_are_limited(b, 65535, 1024);
	return check_done("kernels of code objects");
}
