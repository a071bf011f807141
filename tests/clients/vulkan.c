/* A Vulkan program that computes, copies, fills, waits and reads timestamps on every queue family, on Mesa's RADV:
 * an independent check of the virtual GPU by a driver that others wrote for real cards. `make check-clients`.
 * Returns 0 when all is right; 1 with the mistakes; 77 when there is no such device. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "vulkan_card.h"

#define N        100000u
#define FAMILIES 8

static VkQueueFamilyProperties family[FAMILIES];
static uint32_t families = FAMILIES;
static VkPipeline pipeline;
static VkPipelineLayout layout;
static VkDescriptorSet set;
static VkQueryPool times;
static VkDescriptorSetLayout set_layout;
static VkDescriptorPool sets;
static VkShaderModule shader;
static VkCommandPool commands[FAMILIES];

/* a and b go up from `in`, c comes back in `out`: items, sum, 2 unused words, then N numbers. */
struct memory {
	VkBuffer buffer;
	VkDeviceMemory memory;
	void *map;
};
static struct memory in, out, a, b, c, indirect;
#define OUT_B (16 + 4 * N)

static struct memory memory_create(VkDeviceSize size, VkMemoryPropertyFlags want)
{
	VkPhysicalDeviceMemoryProperties types;
	VkMemoryRequirements need;
	struct memory m = {0};
	VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};

	MUST(vkCreateBuffer(dev,
			    &(VkBufferCreateInfo){
				    .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
				    .size = size,
				    .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
					     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT,
			    },
			    NULL, &m.buffer));
	vkGetBufferMemoryRequirements(dev, m.buffer, &need);
	vkGetPhysicalDeviceMemoryProperties(card, &types);
	info.allocationSize = need.size;
	while (info.memoryTypeIndex < types.memoryTypeCount &&
	       (!(need.memoryTypeBits >> info.memoryTypeIndex & 1) ||
		(types.memoryTypes[info.memoryTypeIndex].propertyFlags & want) != want))
		info.memoryTypeIndex++;
	MUST(vkAllocateMemory(dev, &info, NULL, &m.memory));
	MUST(vkBindBufferMemory(dev, m.buffer, m.memory, 0));
	if (want & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
		MUST(vkMapMemory(dev, m.memory, 0, size, 0, &m.map));
	return m;
}

static void memory_destroy(struct memory *m)
{
	vkDestroyBuffer(dev, m->buffer, NULL);
	vkFreeMemory(dev, m->memory, NULL);
}

static void open_device(void)
{
	const float one = 1;
	VkDeviceQueueCreateInfo queue[FAMILIES];
	VkPhysicalDeviceVulkan12Features features = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
		.timelineSemaphore = VK_TRUE,
	};

	vkGetPhysicalDeviceQueueFamilyProperties(card, &families, family);
	for (uint32_t i = 0; i < families; i++)
		queue[i] = (VkDeviceQueueCreateInfo){
			.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
			.queueFamilyIndex = i,
			.queueCount = 1,
			.pQueuePriorities = &one,
		};
	MUST(vkCreateDevice(card,
			    &(VkDeviceCreateInfo){
				    .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
				    .pNext = &features,
				    .queueCreateInfoCount = families,
				    .pQueueCreateInfos = queue,
			    },
			    NULL, &dev));
}

static void create_pipeline(const char *path)
{
	VkDescriptorSetLayoutBinding binding[3];
	VkDescriptorSetLayoutCreateInfo set_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = 3,
		.pBindings = binding,
	};
	VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
	VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 3};

	shader = load_shader(path);
	for (uint32_t i = 0; i < 3; i++)
		binding[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
							    VK_SHADER_STAGE_COMPUTE_BIT, NULL};
	MUST(vkCreateDescriptorSetLayout(dev, &set_info, NULL, &set_layout));
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
	set = set_create(set_layout, &size, 1, &sets);
}

static void bind(uint32_t binding, const struct memory *m)
{
	VkDescriptorBufferInfo info = {m->buffer, 0, VK_WHOLE_SIZE};

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
}

/* --- commands --- */

static void barrier(VkCommandBuffer cmd, VkPipelineStageFlags from, VkAccessFlags wrote, VkPipelineStageFlags to,
		    VkAccessFlags uses)
{
	VkMemoryBarrier both = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = wrote,
		.dstAccessMask = uses,
	};

	vkCmdPipelineBarrier(cmd, from, to, 0, 1, &both, 0, NULL, 0, NULL);
}

static VkCommandBuffer begin(uint32_t of_family)
{
	VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = commands[of_family],
		.commandBufferCount = 1,
	};
	VkCommandBuffer cmd;

	MUST(vkAllocateCommandBuffers(dev, &info, &cmd));
	MUST(vkBeginCommandBuffer(
		cmd, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}));
	return cmd;
}

/* Input up, the kernel, with how many groups in memory or in the packet. The output stays on the card. */
static VkCommandBuffer record_kernel(uint32_t of_family, float k, bool from_memory)
{
	const uint32_t groups[3] = {(N + 127) / 128, 1, 1};
	const struct {
		uint32_t n;
		float k;
	} push = {N, k};
	VkCommandBuffer cmd = begin(of_family);

	vkCmdResetQueryPool(cmd, times, 0, 2);
	vkCmdWriteTimestamp(cmd, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, times, 0);
	vkCmdCopyBuffer(cmd, in.buffer, a.buffer, 1, &(VkBufferCopy){0, 0, 4 * N});
	vkCmdCopyBuffer(cmd, in.buffer, b.buffer, 1, &(VkBufferCopy){4 * N, 0, 4 * N});
	vkCmdFillBuffer(cmd, c.buffer, 0, VK_WHOLE_SIZE, 0);
	vkCmdUpdateBuffer(cmd, indirect.buffer, 0, sizeof(groups), groups);
	barrier(cmd, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
		VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
		VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), &push);
	if (from_memory)
		vkCmdDispatchIndirect(cmd, indirect.buffer, 0);
	else
		vkCmdDispatch(cmd, groups[0], groups[1], groups[2]);
	barrier(cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
		VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
	vkCmdWriteTimestamp(cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, times, 1);
	MUST(vkEndCommandBuffer(cmd));
	return cmd;
}

static VkCommandBuffer record_fetch(uint32_t of_family)
{
	VkCommandBuffer cmd = begin(of_family);

	vkCmdCopyBuffer(cmd, c.buffer, out.buffer, 1, &(VkBufferCopy){0, 0, OUT_B});
	barrier(cmd, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
		VK_ACCESS_HOST_READ_BIT);
	MUST(vkEndCommandBuffer(cmd));
	return cmd;
}

/* Point `from` of the timeline comes before, point `to` behind. */
static void submit(uint32_t of_family, VkCommandBuffer cmd, VkSemaphore timeline, uint64_t from, uint64_t to)
{
	const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	VkTimelineSemaphoreSubmitInfo points = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &from,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = &to,
	};
	VkQueue queue;

	vkGetDeviceQueue(dev, of_family, 0, &queue);
	MUST(vkQueueSubmit(queue, 1,
			   &(VkSubmitInfo){
				   .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
				   .pNext = &points,
				   .waitSemaphoreCount = 1,
				   .pWaitSemaphores = &timeline,
				   .pWaitDstStageMask = &all,
				   .commandBufferCount = 1,
				   .pCommandBuffers = &cmd,
				   .signalSemaphoreCount = 1,
				   .pSignalSemaphores = &timeline,
			   },
			   VK_NULL_HANDLE));
}

static bool is_right(float k)
{
	const float *first = in.map, *second = first + N, *result = (const float *)out.map + 4;
	const uint32_t *head = out.map;
	uint32_t wrong = 0, sum = 0;
	uint64_t ticks[2] = {0};

	for (uint32_t i = 0; i < N; i++) {
		wrong += result[i] != first[i] * k + second[i];
		sum += i % 64;
	}
	MUST(vkGetQueryPoolResults(dev, times, 0, 2, sizeof(ticks), ticks, 8,
				   VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
	printf("%u of %u wrong, %u items, sum %u of %u, %lld ticks\n", wrong, N, head[0], head[1], sum,
	       (long long)(ticks[1] - ticks[0]));
	return !wrong && head[0] == N && head[1] == sum && ticks[1] > ticks[0];
}

/* The kernel on one family, what it wrote fetched by another. */
static bool run(uint32_t kernel_on, uint32_t fetch_on, bool from_memory)
{
	const float k = (float)(3 + kernel_on);
	const uint64_t end = 3;
	VkSemaphoreTypeCreateInfo type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
	};
	VkSemaphore timeline;

	memset(out.map, 0xcc, OUT_B);
	MUST(vkCreateSemaphore(
		dev, &(VkSemaphoreCreateInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type},
		NULL, &timeline));
	/* The later one first, where it does not stand in the way: it waits for what is not there yet. */
	if (kernel_on != fetch_on)
		submit(fetch_on, record_fetch(fetch_on), timeline, 2, end);
	submit(kernel_on, record_kernel(kernel_on, k, from_memory), timeline, 1, 2);
	if (kernel_on == fetch_on)
		submit(fetch_on, record_fetch(fetch_on), timeline, 2, end);
	MUST(vkSignalSemaphore(dev, &(VkSemaphoreSignalInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
							     .semaphore = timeline,
							     .value = 1}));
	MUST(vkWaitSemaphores(dev,
			      &(VkSemaphoreWaitInfo){
				      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
				      .semaphoreCount = 1,
				      .pSemaphores = &timeline,
				      .pValues = &end,
			      },
			      TIMEOUT_NS));
	vkDestroySemaphore(dev, timeline, NULL);
	printf("family %u to %u, groups from %s: ", kernel_on, fetch_on, from_memory ? "memory" : "the packet");
	return is_right(k);
}

static void create_memory(void)
{
	const VkMemoryPropertyFlags host =
		VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	float *value;

	in = memory_create(8 * N, host);
	out = memory_create(OUT_B, host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
	a = memory_create(4 * N, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
	b = memory_create(4 * N, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
	c = memory_create(OUT_B, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
	indirect = memory_create(64, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
	value = in.map;
	for (uint32_t i = 0; i < N; i++) {
		value[i] = (float)i;
		value[N + i] = (float)(i % 97);
	}
}

static void create_pools(void)
{
	MUST(vkCreateQueryPool(dev,
			       &(VkQueryPoolCreateInfo){
				       .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
				       .queryType = VK_QUERY_TYPE_TIMESTAMP,
				       .queryCount = 2,
			       },
			       NULL, &times));
	for (uint32_t i = 0; i < families; i++)
		MUST(vkCreateCommandPool(dev,
					 &(VkCommandPoolCreateInfo){
						 .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
						 .queueFamilyIndex = i,
					 },
					 NULL, &commands[i]));
}

/* All of it: the virtual GPU tells what a client leaves behind. */
static void destroy(VkInstance instance)
{
	struct memory *memory[] = {&in, &out, &a, &b, &c, &indirect};

	MUST(vkDeviceWaitIdle(dev));
	for (uint32_t i = 0; i < families; i++)
		vkDestroyCommandPool(dev, commands[i], NULL);
	vkDestroyQueryPool(dev, times, NULL);
	vkDestroyPipeline(dev, pipeline, NULL);
	vkDestroyPipelineLayout(dev, layout, NULL);
	vkDestroyShaderModule(dev, shader, NULL);
	vkDestroyDescriptorPool(dev, sets, NULL);
	vkDestroyDescriptorSetLayout(dev, set_layout, NULL);
	for (unsigned i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		memory_destroy(memory[i]);
	vkDestroyDevice(dev, NULL);
	vkDestroyInstance(instance, NULL);
}

/* Arguments: the shader; "compute" for a card without graphics, of which RADV offers that family all the same. */
int main(int argc, char **argv)
{
	uint32_t first = argc > 2 && !strcmp(argv[2], "compute");
	VkInstance instance = open_card();
	bool right = true;

	open_device();
	create_memory();
	create_pipeline(argc > 1 ? argv[1] : "vulkan.spv");
	create_pools();
	bind(0, &a);
	bind(1, &b);
	bind(2, &c);
	for (uint32_t kernel_on = first; kernel_on < families; kernel_on++)
		for (uint32_t fetch_on = first; fetch_on < families; fetch_on++)
			for (int from_memory = 0; from_memory < 2; from_memory++)
				if (family[kernel_on].queueFlags & VK_QUEUE_COMPUTE_BIT)
					right &= run(kernel_on, fetch_on, from_memory);
	destroy(instance);
	printf("%s\n", right ? "right" : "WRONG");
	return !right;
}
