/* A program of HSA loses each of its allocations and ioctls in turn: it gets a status, and nothing leaks. */
#include <errno.h>
#include <stdlib.h>

#include <hsa/hsa_ext_image.h>

#include "shaders/blob.h"
#include "tests/code/code.h"
#include "tests/hsa_find.h"
#include "tests/inject.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

static struct {
	hsa_agent_t gpu;
	hsa_amd_memory_pool_t pool;
} t;

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
	uint32_t flags = 0;

	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
		*(hsa_amd_memory_pool_t *)data = pool;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type == HSA_DEVICE_TYPE_GPU)
		*(hsa_agent_t *)data = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t ignore(hsa_executable_t e, hsa_executable_symbol_t s, void *data)
{
	(void)e, (void)s, (void)data;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t load(hsa_executable_t e, const char *name)
{
	const struct shader_blob *blob = shader_find(code_blobs, name, "gfx906");
	hsa_code_object_reader_t reader;
	hsa_status_t status = hsa_code_object_reader_create_from_memory(blob->image, blob->size_B, &reader);

	if (status)
		return status;
	status = hsa_executable_load_agent_code_object(e, t.gpu, reader, NULL, NULL);
	hsa_code_object_reader_destroy(reader);
	return status;
}

static hsa_status_t use_code(void)
{
	hsa_executable_t e;
	hsa_status_t status = hsa_executable_create_alt(HSA_PROFILE_FULL, 0, NULL, &e);

	if (status)
		return status;
	status = hsa_executable_global_variable_define(e, "mine", &t);
	status = status ? status : load(e, "outside.v5");
	status = status ? status : load(e, "variables.v5");
	status = status ? status : hsa_executable_freeze(e, NULL);
	status = status ? status : hsa_executable_iterate_symbols(e, ignore, NULL);
	hsa_executable_destroy(e);
	return status;
}

static hsa_status_t use_code_object(void)
{
	const struct shader_blob *blob = shader_find(code_blobs, "outside.v5", "gfx906");
	hsa_code_object_t object;
	hsa_status_t status =
		hsa_code_object_deserialize((void *)(uintptr_t)blob->image, blob->size_B, NULL, &object);

	if (!status)
		hsa_code_object_destroy(object);
	return status;
}

static hsa_status_t use_image(void)
{
	static const hsa_ext_image_descriptor_t d = {
		HSA_EXT_IMAGE_GEOMETRY_2D,
		16,
		16,
		1,
		0,
		{HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA}};
	static const hsa_ext_image_region_t all = {{0, 0, 0}, {16, 16, 1}};
	static const float color[4] = {1, 2, 3, 4};
	hsa_ext_image_t image;
	hsa_status_t status;
	void *data;

	status = hsa_amd_memory_pool_allocate(t.pool, 16 * 256, 0, &data);
	if (status)
		return status;
	status = hsa_ext_image_create(t.gpu, &d, data, HSA_ACCESS_PERMISSION_RW, &image);
	if (!status) {
		status = hsa_ext_image_clear(t.gpu, image, color, &all);
		hsa_ext_image_destroy(t.gpu, image);
	}
	hsa_amd_memory_pool_free(data);
	return status;
}

static hsa_status_t use_queues(void)
{
	hsa_queue_t *queue, *same = NULL;
	hsa_status_t status =
		hsa_queue_create(t.gpu, 64, HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue);

	if (status)
		return status;
	status = hsa_queue_create(t.gpu, 64, HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL, UINT32_MAX, UINT32_MAX, &same);
	if (!status)
		hsa_queue_destroy(same);
	hsa_queue_destroy(queue);
	return status;
}

static int program(void)
{
	hsa_status_t status = hsa_init();

	if (status)
		return status == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? -ENOMEM : -EIO;
	hsa_iterate_agents(take_agent, &t.gpu);
	hsa_amd_agent_iterate_memory_pools(t.gpu, take_pool, &t.pool);
	status = use_code();
	status = status ? status : use_code_object();
	status = status ? status : use_image();
	status = status ? status : use_queues();
	hsa_shut_down();
	return !status ? 0 : status == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? -ENOMEM : -EIO;
}

int main(void)
{
	/* With a small BAR code is uploaded, and images are cleared by copies. */
	static const char *const specs[] = {"gfx906", "gfx906:bar=256M"};

	vgpu_strict_set(
		VGPU_STRICT_OFF); /* a buffer that the kernel refuses to close stays open, which is a finding */
	for (unsigned i = 0; i < 2; i++)
		if (CHECK_EQ(vgpu_start(specs[i]), 0)) {
			inject_every_failure(program);
			vgpu_stop();
		}
	return check_done("failures under HSA");
}
