/* Vulkan and HIP share memory and semaphores: RADV fills a buffer and signals a timeline, HIP waits for it, reads
 * and changes what is there, and signals back with a timeline and with a semaphore without values, for which RADV
 * waits. Each does so in turn. `make check-clients`.
 *
 * It returns 0 when all is right; 1 with what is wrong; 77 when there is no such device. */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "vulkan_card.h"

#define SIZE_B (1u << 20)
#define HALF_B (SIZE_B / 2)
#define ROUNDS 4u

static VkQueue queue;
static VkCommandPool commands;

static void open_device(void)
{
	const char *const extensions[] = {"VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd"};
	const float one = 1;
	VkDeviceQueueCreateInfo queues = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueFamilyIndex = 0,
		.queueCount = 1,
		.pQueuePriorities = &one,
	};
	VkPhysicalDeviceVulkan12Features features = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
		.timelineSemaphore = VK_TRUE,
	};
	VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};

	MUST(vkCreateDevice(card,
			    &(VkDeviceCreateInfo){
				    .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
				    .pNext = &features,
				    .queueCreateInfoCount = 1,
				    .pQueueCreateInfos = &queues,
				    .enabledExtensionCount = 2,
				    .ppEnabledExtensionNames = extensions,
			    },
			    NULL, &dev));
	vkGetDeviceQueue(dev, 0, 0, &queue);
	MUST(vkCreateCommandPool(dev, &pool, NULL, &commands));
}

/* --- what both have --------------------------------------------------------------------------- */

static VkBuffer buffer_create(VkMemoryPropertyFlags want, const void *create_next, const void *allocate_next,
			      VkDeviceMemory *memory)
{
	VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.pNext = create_next,
		.size = SIZE_B,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = allocate_next};
	VkPhysicalDeviceMemoryProperties types;
	VkMemoryRequirements need;
	VkBuffer buffer;

	MUST(vkCreateBuffer(dev, &info, NULL, &buffer));
	vkGetBufferMemoryRequirements(dev, buffer, &need);
	vkGetPhysicalDeviceMemoryProperties(card, &types);
	allocate.allocationSize = need.size;
	while (allocate.memoryTypeIndex < types.memoryTypeCount &&
	       (!(need.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
		(types.memoryTypes[allocate.memoryTypeIndex].propertyFlags & want) != want))
		allocate.memoryTypeIndex++;
	MUST(vkAllocateMemory(dev, &allocate, NULL, memory));
	MUST(vkBindBufferMemory(dev, buffer, *memory, 0));
	return buffer;
}

/* Vulkan's buffer, and the address of the same memory for HIP. */
static VkBuffer shared_buffer(uint32_t **hip)
{
	const VkExternalMemoryBufferCreateInfo create = {
		.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
		.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
	};
	const VkExportMemoryAllocateInfo export = {
		.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
		.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
	};
	VkMemoryGetFdInfoKHR get = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
		.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
	};
	hipExternalMemoryHandleDesc desc = {.type = hipExternalMemoryHandleTypeOpaqueFd, .size = SIZE_B};
	hipExternalMemoryBufferDesc whole = {.size = SIZE_B};
	VkBuffer buffer = buffer_create(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &create, &export, &get.memory);
	hipExternalMemory_t memory;

	MUST(((PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(dev, "vkGetMemoryFdKHR"))(dev, &get, &desc.handle.fd));
	MUST(hipImportExternalMemory(&memory, &desc));
	MUST(hipExternalMemoryGetMappedBuffer((void **)hip, memory, &whole));
	return buffer;
}

static VkSemaphore shared_semaphore(VkSemaphoreType type, hipExternalSemaphore_t *hip)
{
	const VkSemaphoreTypeCreateInfo with_type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = type,
	};
	const VkExportSemaphoreCreateInfo export = {
		.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
		.pNext = &with_type,
		.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
	};
	VkSemaphoreGetFdInfoKHR get = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
		.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
	};
	hipExternalSemaphoreHandleDesc desc = {
		.type = type == VK_SEMAPHORE_TYPE_TIMELINE ? hipExternalSemaphoreHandleTypeTimelineSemaphoreFd
							   : hipExternalSemaphoreHandleTypeOpaqueFd,
	};

	MUST(vkCreateSemaphore(
		dev, &(VkSemaphoreCreateInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &export},
		NULL, &get.semaphore));
	MUST(((PFN_vkGetSemaphoreFdKHR)vkGetDeviceProcAddr(dev, "vkGetSemaphoreFdKHR"))(dev, &get,
											&desc.handle.fd));
	MUST(hipImportExternalSemaphore(hip, &desc));
	return get.semaphore;
}

/* --- what Vulkan does ------------------------------------------------------------------------- */

static VkCommandBuffer begin(void)
{
	VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = commands,
		.commandBufferCount = 1,
	};
	VkCommandBufferBeginInfo once = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
	};
	VkCommandBuffer cmd;

	MUST(vkAllocateCommandBuffers(dev, &info, &cmd));
	MUST(vkBeginCommandBuffer(cmd, &once));
	return cmd;
}

/* Behind the waits, before the signal; the values count for timelines. */
static void submit(VkCommandBuffer cmd, const VkSemaphore *wait, const uint64_t *wait_values, uint32_t waits,
		   const VkSemaphore *signal, uint64_t signal_value, VkFence fence)
{
	const VkPipelineStageFlags stages[] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
					       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
	const VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = waits,
		.pWaitSemaphoreValues = wait_values,
		.signalSemaphoreValueCount = signal ? 1 : 0,
		.pSignalSemaphoreValues = &signal_value,
	};
	const VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = &values,
		.waitSemaphoreCount = waits,
		.pWaitSemaphores = wait,
		.pWaitDstStageMask = stages,
		.commandBufferCount = 1,
		.pCommandBuffers = &cmd,
		.signalSemaphoreCount = signal ? 1 : 0,
		.pSignalSemaphores = signal,
	};

	MUST(vkEndCommandBuffer(cmd));
	MUST(vkQueueSubmit(queue, 1, &info, fence));
}

/* --- both ------------------------------------------------------------------------------------- */

static void hip_waits(hipExternalSemaphore_t semaphore, uint64_t value, hipStream_t stream)
{
	const hipExternalSemaphoreWaitParams params = {.params.fence.value = value};

	MUST(hipWaitExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

static void hip_signals(hipExternalSemaphore_t semaphore, uint64_t value, hipStream_t stream)
{
	const hipExternalSemaphoreSignalParams params = {.params.fence.value = value};

	MUST(hipSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

static void check(const uint32_t *words, uint32_t from, uint32_t count, uint32_t want, const char *who)
{
	for (uint32_t i = from; i < from + count; i++)
		if (words[i] != want)
			exit((printf("%s: word %u is 0x%x, not 0x%x\n", who, i, words[i], want), 1));
}

int main(void)
{
	static uint32_t seen[SIZE_B / 4];
	hipExternalSemaphore_t hip_line, hip_single;
	VkSemaphore line, single;
	VkBuffer shared, back;
	VkDeviceMemory back_memory;
	VkFence fence;
	hipStream_t stream;
	uint32_t *hip, *map;

	open_card();
	open_device();
	shared = shared_buffer(&hip);
	line = shared_semaphore(VK_SEMAPHORE_TYPE_TIMELINE, &hip_line);
	single = shared_semaphore(VK_SEMAPHORE_TYPE_BINARY, &hip_single);
	back = buffer_create(VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, NULL, NULL, &back_memory);
	MUST(vkMapMemory(dev, back_memory, 0, SIZE_B, 0, (void **)&map));
	MUST(vkCreateFence(dev, &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}, NULL, &fence));
	MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint32_t filled = 0x1000 + i, changed = 0x2000 + i;
		const VkSemaphore waits[] = {line, single};
		const uint64_t values[] = {10 * i + 2, 0};
		VkCommandBuffer fill = begin(), copy = begin();

		/* HIP is given its part first: it waits for what is not submitted yet. */
		hip_waits(hip_line, 10 * i + 1, stream);
		MUST(hipMemsetD32Async(hip + HALF_B / 4, (int)changed, HALF_B / 4, stream));
		hip_signals(hip_line, 10 * i + 2, stream);
		hip_signals(hip_single, 0, stream);
		vkCmdFillBuffer(fill, shared, 0, SIZE_B, filled);
		submit(fill, NULL, NULL, 0, &line, 10 * i + 1, VK_NULL_HANDLE);
		MUST(hipStreamSynchronize(stream));
		vkCmdCopyBuffer(copy, shared, back, 1, &(VkBufferCopy){.size = SIZE_B});
		submit(copy, waits, values, 2, NULL, 0, fence);
		MUST(vkWaitForFences(dev, 1, &fence, VK_TRUE, TIMEOUT_NS));
		MUST(vkResetFences(dev, 1, &fence));
		check(map, 0, HALF_B / 4, filled, "Vulkan");
		check(map, HALF_B / 4, HALF_B / 4, changed, "Vulkan");
		MUST(hipMemcpy(seen, hip, SIZE_B, hipMemcpyDeviceToHost));
		check(seen, 0, HALF_B / 4, filled, "HIP");
		check(seen, HALF_B / 4, HALF_B / 4, changed, "HIP");
	}
	MUST(vkDeviceWaitIdle(dev));
	printf("Vulkan and HIP: %u rounds\n", ROUNDS);
	return 0;
}
