/* For vulkan_image.c: the card, its one pipeline, and buffers of points and results. */
#ifndef TESTS_CLIENTS_VULKAN_DEVICE_H
#define TESTS_CLIENTS_VULKAN_DEVICE_H

#include "vulkan_card.h"

#define POINTS 512u

enum mode {
	FETCH,
	PLANE,
	LAYERS,
	VOLUME,
	STORE,
	ATOMIC,
	GATHER,
	SIZE,
	GRADIENTS,
	OFFSET,
	IMPLICIT,
	FACES,
	TYPED,
	TYPED_OUT
};
enum {
	BIND_PLANE,
	BIND_LAYERS,
	BIND_VOLUME,
	BIND_STORED,
	BIND_COUNTERS,
	BIND_POINTS,
	BIND_RESULTS,
	BIND_FACES,
	BIND_TYPED,
	BIND_TYPED_OUT,
	BINDINGS
};

static VkQueue queue;
static VkCommandPool commands;
static VkDescriptorSetLayout set_layout;
static VkDescriptorPool sets;
static VkDescriptorSet set;
static VkPipelineLayout layout;
static VkPipeline pipeline;
static VkBuffer point_buffer[2]; /* of points and results */
static VkDeviceMemory point_memory[2];
static float (*point)[4], (*result)[4];

static uint32_t compute_family(void)
{
	VkQueueFamilyProperties family[8];
	uint32_t count = 8, n = 0;

	vkGetPhysicalDeviceQueueFamilyProperties(card, &count, family);
	while (n + 1 < count &&
	       (family[n].queueFlags & VK_QUEUE_GRAPHICS_BIT || !(family[n].queueFlags & VK_QUEUE_COMPUTE_BIT)))
		n++;
	return n;
}

static void open_device(void)
{
	const float one = 1;
	uint32_t family = compute_family();
	VkPhysicalDeviceFeatures features = {
		.shaderStorageImageWriteWithoutFormat = VK_TRUE,
	};
	VkPhysicalDeviceVulkan12Features features12 = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
		.descriptorBindingPartiallyBound = VK_TRUE,
	};
	VkDeviceQueueCreateInfo queues = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueFamilyIndex = family,
		.queueCount = 1,
		.pQueuePriorities = &one,
	};

	MUST(vkCreateDevice(card,
			    &(VkDeviceCreateInfo){
				    .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
				    .pNext = &features12,
				    .queueCreateInfoCount = 1,
				    .pQueueCreateInfos = &queues,
				    .pEnabledFeatures = &features,
			    },
			    NULL, &dev));
	vkGetDeviceQueue(dev, family, 0, &queue);
	MUST(vkCreateCommandPool(dev,
				 &(VkCommandPoolCreateInfo){
					 .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
					 .queueFamilyIndex = family,
				 },
				 NULL, &commands));
}

static VkDescriptorType type_of(uint32_t binding)
{
	static const VkDescriptorType types[] = {
		[BIND_PLANE] = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
		[BIND_LAYERS] = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
		[BIND_VOLUME] = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
		[BIND_STORED] = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
		[BIND_COUNTERS] = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
		[BIND_POINTS] = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
		[BIND_RESULTS] = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
		[BIND_FACES] = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
		[BIND_TYPED] = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
		[BIND_TYPED_OUT] = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
	};

	return types[binding];
}

struct push {
	uint32_t mode, count, width;
	float lod;
};

static void create_pipeline(const char *path)
{
	VkDescriptorSetLayoutBinding binding[BINDINGS];
	VkDescriptorBindingFlags flags[BINDINGS]; /* a run needs the bindings of its mode */
	VkDescriptorSetLayoutBindingFlagsCreateInfo partial = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
		.bindingCount = BINDINGS,
		.pBindingFlags = flags,
	};
	VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct push)};
	VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 4},
					{VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 2},
					{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2},
					{VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1},
					{VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, 1}};
	VkShaderModule shader = load_shader(path);

	for (uint32_t n = 0; n < BINDINGS; n++) {
		binding[n] = (VkDescriptorSetLayoutBinding){n, type_of(n), 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
		flags[n] = VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT;
	}
	MUST(vkCreateDescriptorSetLayout(
		dev,
		&(VkDescriptorSetLayoutCreateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
						   .pNext = &partial,
						   .bindingCount = BINDINGS,
						   .pBindings = binding},
		NULL, &set_layout));
	MUST(vkCreatePipelineLayout(dev,
				    &(VkPipelineLayoutCreateInfo){
					    .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
					    .setLayoutCount = 1,
					    .pSetLayouts = &set_layout,
					    .pushConstantRangeCount = 1,
					    .pPushConstantRanges = &push,
				    },
				    NULL, &layout));
	pipeline = pipeline_create(layout, shader);
	vkDestroyShaderModule(dev, shader, NULL);
	set = set_create(set_layout, sizes, 5, &sets);
}

static VkDeviceMemory allocate(const VkMemoryRequirements *need, void **map)
{
	const VkMemoryPropertyFlags want =
		VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	VkPhysicalDeviceMemoryProperties types;
	VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = need->size};
	VkDeviceMemory memory;

	vkGetPhysicalDeviceMemoryProperties(card, &types);
	while (info.memoryTypeIndex + 1 < types.memoryTypeCount &&
	       (!(need->memoryTypeBits >> info.memoryTypeIndex & 1) ||
		(types.memoryTypes[info.memoryTypeIndex].propertyFlags & want) != want))
		info.memoryTypeIndex++;
	MUST(vkAllocateMemory(dev, &info, NULL, &memory));
	MUST(vkMapMemory(dev, memory, 0, VK_WHOLE_SIZE, 0, map));
	return memory;
}

static VkBuffer create_points(uint32_t binding, VkDeviceMemory *memory, void **map)
{
	VkMemoryRequirements need;
	VkBuffer buffer;
	VkDescriptorBufferInfo info = {.range = VK_WHOLE_SIZE};

	MUST(vkCreateBuffer(dev,
			    &(VkBufferCreateInfo){
				    .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
				    .size = POINTS * 16,
				    .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
			    },
			    NULL, &buffer));
	vkGetBufferMemoryRequirements(dev, buffer, &need);
	*memory = allocate(&need, map);
	MUST(vkBindBufferMemory(dev, buffer, *memory, 0));
	info.buffer = buffer;
	vkUpdateDescriptorSets(dev, 1,
			       &(VkWriteDescriptorSet){
				       .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
				       .dstSet = set,
				       .dstBinding = binding,
				       .descriptorCount = 1,
				       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
				       .pBufferInfo = &info,
			       },
			       0, NULL);
	return buffer;
}

#endif
