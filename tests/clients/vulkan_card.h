/* For the programs of Vulkan: the first card that RADV drives, shaders, pipelines, sets of descriptors. */
#ifndef TESTS_CLIENTS_VULKAN_CARD_H
#define TESTS_CLIENTS_VULKAN_CARD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define TIMEOUT_NS 60000000000ull
#define MUST(call)                                                                                                 \
	do {                                                                                                       \
		int result_ = (int)(call);                                                                         \
		if (result_)                                                                                       \
			exit((printf("%s: %d\n", #call, result_), 1));                                             \
	} while (0)

static VkPhysicalDevice card;
static VkDevice dev;

/* Exits when RADV drives no card. */
static inline VkInstance open_card(void)
{
	VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
	VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
	VkPhysicalDevice cards[8];
	uint32_t count = 8;
	VkInstance instance;

	MUST(vkCreateInstance(&info, NULL, &instance));
	if (vkEnumeratePhysicalDevices(instance, &count, cards) < 0)
		count = 0;
	for (uint32_t i = 0; i < count && !card; i++) {
		VkPhysicalDeviceProperties about;

		vkGetPhysicalDeviceProperties(cards[i], &about);
		if (strstr(about.deviceName, "RADV")) {
			card = cards[i];
			printf("%s\n", about.deviceName);
		}
	}
	if (!card)
		exit((printf("no card with RADV\n"), 77));
	return instance;
}

static inline VkShaderModule load_shader(const char *path)
{
	static uint32_t code[16384];
	FILE *file = fopen(path, "rb");
	VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .pCode = code};
	VkShaderModule module;

	info.codeSize = file ? fread(code, 1, sizeof(code), file) : 0;
	if (!info.codeSize)
		exit((printf("cannot read %s\n", path), 1));
	fclose(file);
	MUST(vkCreateShaderModule(dev, &info, NULL, &module));
	return module;
}

static inline VkPipeline pipeline_create(VkPipelineLayout layout, VkShaderModule shader)
{
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
			  .module = shader,
			  .pName = "main"},
		.layout = layout,
	};
	VkPipeline pipeline;

	MUST(vkCreateComputePipelines(dev, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
	return pipeline;
}

/* A set, and a pool that has room for it alone. */
static inline VkDescriptorSet set_create(VkDescriptorSetLayout layout, const VkDescriptorPoolSize *sizes,
					 uint32_t count, VkDescriptorPool *pool)
{
	VkDescriptorPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = 1,
		.poolSizeCount = count,
		.pPoolSizes = sizes,
	};
	VkDescriptorSetAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorSetCount = 1,
		.pSetLayouts = &layout,
	};
	VkDescriptorSet set;

	MUST(vkCreateDescriptorPool(dev, &pool_info, NULL, pool));
	info.descriptorPool = *pool;
	MUST(vkAllocateDescriptorSets(dev, &info, &set));
	return set;
}

#endif
