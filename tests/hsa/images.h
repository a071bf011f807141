/* What the tests of images share: the agents, the extension's functions, memory for an image. Test programs only. */
#ifndef TESTS_HSA_IMAGES_H
#define TESTS_HSA_IMAGES_H

#include <hsa/hsa_ext_image.h>

#include "tests/hsa_run.h"
#include "vgpu/vgpu.h"

static struct hsa_find t;
static hsa_ext_images_1_pfn_t image;

#define WIDTH  40u
#define HEIGHT 12u
#define DEPTH  3u

static const hsa_ext_image_format_t rgba8 = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8,
					     HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA};

static inline hsa_agent_t gpu(void)
{
	return t.gpu[0].agent;
}

static inline void *memory(size_t size_B)
{
	void *p = NULL;

	CHECK_EQ(hsa_amd_memory_pool_allocate(t.gpu[0].coarse, size_B, 0, &p), 0);
	return p;
}

#define WRONG(call)       CHECK_EQ(call, HSA_STATUS_ERROR_INVALID_ARGUMENT)
#define UNSUPPORTED(what) ((hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_##what##_UNSUPPORTED)

static inline void images_end(void)
{
	CHECK_EQ(hsa_shut_down(), 0);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
}

/* A virtual GPU, and HSA on it. False: there is none. */
static inline bool images_begin(const char *spec)
{
	if (!CHECK_EQ(vgpu_start(spec), 0))
		return false;
	CHECK_EQ(hsa_init(), 0);
	CHECK_EQ(hsa_system_get_major_extension_table(HSA_EXTENSION_IMAGES, 1, sizeof(image), &image), 0);
	if (hsa_find_all(&t))
		return true;
	images_end();
	return false;
}

#endif
