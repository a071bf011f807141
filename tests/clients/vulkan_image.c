/* A Vulkan program that loads, stores and samples images of several formats, on Mesa's RADV: an independent check of
 * descriptors and image instructions. The host works out every result itself. Images are linear, in memory of the
 * host. `make check-clients`. Returns 0 when all is right; 1 with the mistakes; 77 when there is no such device. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#include "vulkan_device.h"
#include "vulkan_formats.h"

static unsigned mistakes, checks;

/* --- images --- */

struct image {
	const struct format *format;
	VkImageType type;
	unsigned width, height, depth, layers, levels;
	VkImage image;
	VkImageView view;
	VkDeviceMemory memory;
	unsigned char *map;
};

static bool is_possible(const struct image *m, VkImageUsageFlags usage, VkImageCreateFlags flags)
{
	VkImageFormatProperties limits;

	return !vkGetPhysicalDeviceImageFormatProperties(card, m->format->format, m->type, VK_IMAGE_TILING_LINEAR,
							 usage, flags, &limits) &&
	       limits.maxMipLevels >= m->levels && limits.maxArrayLayers >= m->layers;
}

/* False where the driver has no such linear image. */
static bool image_create(struct image *m, VkImageViewType view, VkImageUsageFlags usage)
{
	VkImageCreateFlags flags = view == VK_IMAGE_VIEW_TYPE_CUBE ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0;
	VkMemoryRequirements need;

	if (!is_possible(m, usage, flags))
		return false;
	MUST(vkCreateImage(dev,
			   &(VkImageCreateInfo){
				   .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
				   .flags = flags,
				   .imageType = m->type,
				   .format = m->format->format,
				   .extent = {m->width, m->height, m->depth},
				   .mipLevels = m->levels,
				   .arrayLayers = m->layers,
				   .samples = VK_SAMPLE_COUNT_1_BIT,
				   .tiling = VK_IMAGE_TILING_LINEAR,
				   .usage = usage,
				   .initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED,
			   },
			   NULL, &m->image));
	vkGetImageMemoryRequirements(dev, m->image, &need);
	m->memory = allocate(&need, (void **)&m->map);
	MUST(vkBindImageMemory(dev, m->image, m->memory, 0));
	MUST(vkCreateImageView(dev,
			       &(VkImageViewCreateInfo){
				       .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
				       .image = m->image,
				       .viewType = view,
				       .format = m->format->format,
				       .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, m->levels, 0, m->layers},
			       },
			       NULL, &m->view));
	return true;
}

static void image_destroy(struct image *m)
{
	vkDestroyImageView(dev, m->view, NULL);
	vkDestroyImage(dev, m->image, NULL);
	vkFreeMemory(dev, m->memory, NULL);
}

static unsigned at_level(unsigned size, unsigned level)
{
	return size >> level ? size >> level : 1;
}

static void *texel_of(const struct image *m, unsigned level, unsigned x, unsigned y, unsigned z)
{
	VkSubresourceLayout place;
	bool is_volume = m->type == VK_IMAGE_TYPE_3D;

	vkGetImageSubresourceLayout(
		dev, m->image, &(VkImageSubresource){VK_IMAGE_ASPECT_COLOR_BIT, level, is_volume ? 0 : z}, &place);
	return m->map + place.offset + y * place.rowPitch + (is_volume ? z * place.depthPitch : 0) +
	       x * m->format->size_B;
}

/* Values from 0 to 1 that differ from texel to texel. */
static void pattern(unsigned level, unsigned x, unsigned y, unsigned z, float c[4])
{
	for (unsigned n = 0; n < 4; n++)
		c[n] = (float)((x * (3 + n) + y * (7 + 2 * n) + z * 13 + level * 29 + n) % 64) / 64;
}

static void image_fill(const struct image *m)
{
	for (unsigned level = 0; level < m->levels; level++)
		for (unsigned z = 0; z < (m->type == VK_IMAGE_TYPE_3D ? at_level(m->depth, level) : m->layers); z++)
			for (unsigned y = 0; y < at_level(m->height, level); y++)
				for (unsigned x = 0; x < at_level(m->width, level); x++) {
					float c[4];

					pattern(level, x, y, z, c);
					m->format->encode(c, texel_of(m, level, x, y, z));
				}
}

/* An image, or a typed buffer: the other is NULL. */
static void resource_bind(uint32_t binding, const VkDescriptorImageInfo *image, const VkBufferView *view)
{
	vkUpdateDescriptorSets(dev, 1,
			       &(VkWriteDescriptorSet){
				       .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
				       .dstSet = set,
				       .dstBinding = binding,
				       .descriptorCount = 1,
				       .descriptorType = type_of(binding),
				       .pImageInfo = image,
				       .pTexelBufferView = view,
			       },
			       0, NULL);
}

static void image_bind(uint32_t binding, const struct image *m, VkSampler sampler)
{
	resource_bind(binding, &(VkDescriptorImageInfo){sampler, m->view, VK_IMAGE_LAYOUT_GENERAL}, NULL);
}

/* --- samplers, and what they should give --- */

struct mode_of_sampler {
	const char *name;
	VkFilter filter;
	VkSamplerMipmapMode mip;
	VkSamplerAddressMode address;
	VkBorderColor border;
};

static VkSampler sampler_create(const struct mode_of_sampler *s)
{
	VkSampler sampler;

	MUST(vkCreateSampler(dev,
			     &(VkSamplerCreateInfo){
				     .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
				     .magFilter = s->filter,
				     .minFilter = s->filter,
				     .mipmapMode = s->mip,
				     .addressModeU = s->address,
				     .addressModeV = s->address,
				     .addressModeW = s->address,
				     .maxLod = 15,
				     .borderColor = s->border,
			     },
			     NULL, &sampler));
	return sampler;
}

static int wrap(const struct mode_of_sampler *s, int x, int size)
{
	switch (s->address) {
	case VK_SAMPLER_ADDRESS_MODE_REPEAT:
		return (x % size + size) % size;
	case VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT:
		x = (x % (2 * size) + 2 * size) % (2 * size);
		return x < size ? x : 2 * size - 1 - x;
	case VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE:
		return x < 0 ? 0 : x < size ? x : size - 1;
	default:
		return x < 0 || x >= size ? -1 : x;
	}
}

static void texel_value(const struct image *m, const struct mode_of_sampler *s, unsigned level, const int at[3],
			float c[4])
{
	if (at[0] >= 0 && at[1] >= 0 && at[2] >= 0) {
		m->format->decode(texel_of(m, level, (unsigned)at[0], (unsigned)at[1], (unsigned)at[2]), c);
		return;
	}
	/* Channels that the format lacks are 0, 0, 0, 1 in the border, too. */
	for (unsigned n = 0; n < 4; n++)
		c[n] = n >= m->format->channels ? n == 3
		       : s->border == VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE
			       ? 1
			       : n == 3 && s->border == VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK;
}

/* axes: 2 or 3; a layer comes behind two. offset: of texels. */
static void sample_level(const struct image *m, const struct mode_of_sampler *s, const float p[4],
			 const int offset[2], unsigned level, float c[4])
{
	bool linear = s->filter == VK_FILTER_LINEAR, is_volume = m->type == VK_IMAGE_TYPE_3D;
	const unsigned size[3] = {at_level(m->width, level), at_level(m->height, level), at_level(m->depth, level)};
	int first[3] = {0}, at[3];
	float weight[3] = {0};

	for (unsigned n = 0; n < (is_volume ? 3u : 2u); n++) {
		float x = p[n] * (float)size[n] - (linear ? 0.5f : 0);

		first[n] = (int)floorf(x) + (n < 2 ? offset[n] : 0);
		weight[n] = linear ? x - floorf(x) : 0;
	}
	memset(c, 0, 4 * sizeof(*c));
	for (unsigned corner = 0; corner < 8; corner++) {
		float part = 1, value[4];

		for (unsigned n = 0; n < 3; n++) {
			part *= corner >> n & 1 ? weight[n] : 1 - weight[n];
			at[n] = wrap(s, first[n] + (int)(corner >> n & 1), (int)size[n]);
		}
		if (part == 0)
			continue;
		if (!is_volume)
			at[2] = m->layers > 1 ? (int)lrintf(p[2]) : 0;
		texel_value(m, s, level, at, value);
		for (unsigned n = 0; n < 4; n++)
			c[n] += part * value[n];
	}
}

static void sample(const struct image *m, const struct mode_of_sampler *s, const float p[4], const int offset[2],
		   float lod, float c[4])
{
	float top = (float)(m->levels - 1), second[4];

	lod = lod < 0 ? 0 : lod > top ? top : lod;
	if (s->mip == VK_SAMPLER_MIPMAP_MODE_NEAREST) {
		sample_level(m, s, p, offset, (unsigned)floorf(lod + 0.5f), c);
		return;
	}
	sample_level(m, s, p, offset, (unsigned)lod, c);
	if (lod == floorf(lod))
		return;
	sample_level(m, s, p, offset, (unsigned)lod + 1, second);
	for (unsigned n = 0; n < 4; n++)
		c[n] += (lod - floorf(lod)) * (second[n] - c[n]);
}

/* --- runs --- */

static void run(enum mode mode, uint32_t count, uint32_t width, float lod)
{
	const struct push push = {mode, count, width, lod};
	VkMemoryBarrier done = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_HOST_READ_BIT,
	};
	VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = commands,
		.commandBufferCount = 1,
	};
	VkCommandBuffer cmd;
	VkFence fence;

	memset(result, 0xcc, POINTS * 16);
	MUST(vkAllocateCommandBuffers(dev, &info, &cmd));
	MUST(vkBeginCommandBuffer(
		cmd, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}));
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), &push);
	vkCmdDispatch(cmd, (count + 63) / 64, 1, 1);
	vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &done, 0,
			     NULL, 0, NULL);
	MUST(vkEndCommandBuffer(cmd));
	MUST(vkCreateFence(dev, &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}, NULL, &fence));
	MUST(vkQueueSubmit(queue, 1,
			   &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
					   .commandBufferCount = 1,
					   .pCommandBuffers = &cmd},
			   fence));
	MUST(vkWaitForFences(dev, 1, &fence, VK_TRUE, TIMEOUT_NS));
	vkDestroyFence(dev, fence, NULL);
	vkFreeCommandBuffers(dev, commands, 1, &cmd);
}

static void check(const char *what, const char *format, unsigned i, const float got[4], const float want[4],
		  float tolerance)
{
	checks++;
	for (unsigned n = 0; n < 4; n++)
		if (!(fabsf(got[n] - want[n]) <= tolerance)) {
			if (mistakes++ < 20)
				printf("%s %s, point %u: %g %g %g %g, want %g %g %g %g\n", format, what, i,
				       (double)got[0], (double)got[1], (double)got[2], (double)got[3],
				       (double)want[0], (double)want[1], (double)want[2], (double)want[3]);
			return;
		}
}

/* Points in and around the image, at steps of 1/16 texel of level 0 but for the edges of texels. */
static void put_points(const struct image *m)
{
	const unsigned size[3] = {m->width, m->height, m->depth};

	for (unsigned i = 0; i < POINTS; i++)
		for (unsigned n = 0; n < 3; n++) {
			unsigned step = i * (7 + 6 * n) + 3 * n;

			point[i][n] = ((float)(step % (24 * size[n])) / 16 + 1.0f / 32) / (float)size[n] - 0.25f;
			if (n == 2 && m->type != VK_IMAGE_TYPE_3D)
				point[i][n] = (float)(i % m->layers);
		}
}

static const struct mode_of_sampler samplers[] = {
	{"nearest, repeat", VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST, VK_SAMPLER_ADDRESS_MODE_REPEAT,
	 VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK},
	{"nearest, mirror", VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST,
	 VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT, VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK},
	{"nearest, border", VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST,
	 VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK},
	{"linear, edge", VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
	 VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK},
	{"linear, repeat", VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_NEAREST, VK_SAMPLER_ADDRESS_MODE_REPEAT,
	 VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK},
	{"linear, border", VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
	 VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE},
};
#define SAMPLERS (sizeof(samplers) / sizeof(samplers[0]))

static void check_samples(const struct image *m, const struct mode_of_sampler *s, enum mode mode, float lod,
			  const char *what)
{
	const int offset[2] = {mode == OFFSET ? 1 : 0, mode == OFFSET ? -2 : 0};

	put_points(m);
	run(mode, POINTS, m->width, mode == GRADIENTS ? exp2f(lod) / 16 : lod);
	for (unsigned i = 0; i < POINTS; i++) {
		float want[4];

		sample(m, s, point[i], offset, lod, want);
		check(what, m->format->name, i, result[i], want, 1.0f / 128);
	}
}

static void check_sampled(struct image *m, uint32_t binding, enum mode mode)
{
	for (unsigned n = 0; n < SAMPLERS; n++) {
		VkSampler sampler = sampler_create(&samplers[n]);

		image_bind(binding, m, sampler);
		for (unsigned level = 0; level < 2 * m->levels; level++)
			check_samples(m, &samplers[n], mode, (float)level * 0.75f, samplers[n].name);
		for (unsigned level = 0; level < m->levels && mode == PLANE && m->width == 16; level++)
			check_samples(m, &samplers[n], GRADIENTS, (float)level, "gradients");
		if (mode == PLANE) {
			check_samples(m, &samplers[n], OFFSET, 0, "offset");
			check_samples(m, &samplers[n], IMPLICIT, 0, "without a level");
		}
		vkDestroySampler(dev, sampler, NULL);
	}
}

static void check_fetch(const struct image *m)
{
	for (unsigned level = 0; level < m->levels; level++) {
		unsigned width = at_level(m->width, level), count = width * at_level(m->height, level);

		run(FETCH, count, width, (float)level);
		for (unsigned i = 0; i < count; i++) {
			float want[4];

			m->format->decode(texel_of(m, level, i % width, i / width, 0), want);
			check("fetched", m->format->name, i, result[i], want, 1e-6f);
		}
	}
}

/* Vulkan's order: lower left, lower right, upper right, upper left. */
static void check_gather(struct image *m)
{
	static const int column[] = {0, 1, 1, 0}, row[] = {1, 1, 0, 0};
	const struct mode_of_sampler *s = &samplers[3];
	put_points(m);
	run(GATHER, POINTS, m->width, 0);
	for (unsigned i = 0; i < POINTS; i++) {
		int x = (int)floorf(point[i][0] * (float)m->width - 0.5f),
		    y = (int)floorf(point[i][1] * (float)m->height - 0.5f);
		float want[4];

		for (unsigned n = 0; n < 4; n++) {
			const int at[3] = {wrap(s, x + column[n], (int)m->width),
					   wrap(s, y + row[n], (int)m->height), 0};
			float c[4];

			texel_value(m, s, 0, at, c);
			want[n] = c[0];
		}
		check("gathered", m->format->name, i, result[i], want, 1e-6f);
	}
}

static void check_store(struct image *m)
{
	unsigned count = m->width * m->height;

	image_bind(BIND_STORED, m, VK_NULL_HANDLE);
	for (unsigned i = 0; i < count; i++)
		pattern(5, i % m->width, i / m->width, 0, point[i]);
	run(STORE, count, m->width, 0);
	for (unsigned i = 0; i < count; i++) {
		float got[4], want[4];

		m->format->decode(texel_of(m, 0, i % m->width, i / m->width, 0), got);
		for (unsigned n = 0; n < 4; n++)
			want[n] = n < m->format->channels ? point[i][n] : n == 3;
		check("stored", m->format->name, i, got, want, m->format->step);
	}
}

static void check_format(const struct format *f)
{
	VkImageUsageFlags usage = VK_IMAGE_USAGE_SAMPLED_BIT | (f->stores ? VK_IMAGE_USAGE_STORAGE_BIT : 0);
	struct image m = {.format = f,
			  .type = VK_IMAGE_TYPE_2D,
			  .width = 19,
			  .height = 11,
			  .depth = 1,
			  .layers = 1,
			  .levels = 1};

	VkSampler sampler;

	if (!image_create(&m, VK_IMAGE_VIEW_TYPE_2D, usage)) {
		printf("%s: no such linear image\n", f->name);
		return;
	}
	image_fill(&m);
	check_sampled(&m, BIND_PLANE, PLANE);
	sampler = sampler_create(&samplers[3]);
	image_bind(BIND_PLANE, &m, sampler);
	check_gather(&m);
	check_fetch(&m);
	if (f->stores)
		check_store(&m);
	vkDestroySampler(dev, sampler, NULL);
	image_destroy(&m);
}

static void check_shape(struct image m, VkImageViewType view, uint32_t binding, enum mode mode, const char *name)
{
	if (!image_create(&m, view, VK_IMAGE_USAGE_SAMPLED_BIT)) {
		printf("%s: no such linear image\n", name);
		return;
	}
	image_fill(&m);
	check_sampled(&m, binding, mode);
	if (mode == LAYERS) {
		const float want[4] = {(float)m.width, (float)m.height, (float)m.layers, (float)m.levels};

		run(SIZE, 1, 1, 0);
		check("size", m.format->name, 0, result[0], want, 0);
	}
	printf("%s: checked\n", name);
	image_destroy(&m);
}

/* Directions to the middle of a texel's quarters, by Vulkan's table of faces. */
static void put_directions(const struct image *m)
{
	for (unsigned i = 0; i < POINTS; i++) {
		float s = ((float)(i / 6 % m->width) + 0.375f) / (float)m->width * 2 - 1,
		      t = ((float)(i / 6 / m->width % m->height) + 0.375f) / (float)m->height * 2 - 1;
		const float direction[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t},
					       {s, -1, -t}, {s, -t, 1},  {-s, -t, -1}};

		for (unsigned n = 0; n < 3; n++)
			point[i][n] = direction[i % 6][n] * 1.5f;
	}
}

static void check_faces(struct image m)
{
	VkSampler sampler = sampler_create(&samplers[0]);

	if (!image_create(&m, VK_IMAGE_VIEW_TYPE_CUBE, VK_IMAGE_USAGE_SAMPLED_BIT)) {
		printf("faces: no such linear image\n");
		return;
	}
	image_fill(&m);
	image_bind(BIND_FACES, &m, sampler);
	put_directions(&m);
	run(FACES, POINTS, 1, 0);
	for (unsigned i = 0; i < POINTS; i++) {
		float want[4];

		m.format->decode(texel_of(&m, 0, i / 6 % m.width, i / 6 / m.width % m.height, i % 6), want);
		check("faces", m.format->name, i, result[i], want, 1e-6f);
	}
	printf("faces: checked\n");
	image_destroy(&m);
	vkDestroySampler(dev, sampler, NULL);
}

/* --- typed buffers --- */

static bool typed_is_possible(const struct format *f, VkFormatFeatureFlags feature)
{
	VkFormatProperties properties;

	vkGetPhysicalDeviceFormatProperties(card, f->format, &properties);
	return properties.bufferFeatures & feature;
}

/* Elements behind the view's end read as zeroes, and as 1 in a fourth channel that the format lacks. */
static void check_typed_loads(const struct format *f, const unsigned char *map, unsigned count)
{
	run(TYPED, count + 8, 1, 0);
	for (unsigned i = 0; i < count; i++) {
		float want[4];

		f->decode(map + i * f->size_B, want);
		check("typed load", f->name, i, result[i], want, 1e-6f);
	}
	for (unsigned i = count; i < count + 8; i++) {
		const float want[4] = {0, 0, 0, f->channels < 4};

		check("typed load behind the end", f->name, i, result[i], want, 0);
	}
}

static void check_typed(const struct format *f)
{
	const unsigned count = 200;
	VkMemoryRequirements need;
	VkDeviceMemory memory;
	VkBufferView view;
	VkBuffer buffer;
	unsigned char *map;

	if (!typed_is_possible(f, VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT))
		return;
	MUST(vkCreateBuffer(dev,
			    &(VkBufferCreateInfo){
				    .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
				    .size = 16 * (count + 8),
				    .usage = VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
					     VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT,
			    },
			    NULL, &buffer));
	vkGetBufferMemoryRequirements(dev, buffer, &need);
	memory = allocate(&need, (void **)&map);
	MUST(vkBindBufferMemory(dev, buffer, memory, 0));
	MUST(vkCreateBufferView(dev,
				&(VkBufferViewCreateInfo){
					.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
					.buffer = buffer,
					.format = f->format,
					.range = count * f->size_B,
				},
				NULL, &view));
	memset(map, 0x55, 16 * (count + 8));
	for (unsigned i = 0; i < count; i++) {
		pattern(3, i, i / 7, 0, point[i]);
		f->encode(point[i], map + i * f->size_B);
	}
	resource_bind(BIND_TYPED, NULL, &view);
	check_typed_loads(f, map, count);
	if (f->stores && typed_is_possible(f, VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT)) {
		resource_bind(BIND_TYPED_OUT, NULL, &view);
		memset(map, 0x55, 16 * (count + 8));
		run(TYPED_OUT, count + 8, 1, 0);
		for (unsigned i = 0; i < count; i++) {
			float got[4], want[4];

			f->decode(map + i * f->size_B, got);
			for (unsigned n = 0; n < 4; n++)
				want[n] = n < f->channels ? point[i][n] : n == 3;
			check("typed store", f->name, i, got, want, f->step);
		}
		checks++;
		mistakes += map[count * f->size_B] != 0x55;
	}
	vkDestroyBufferView(dev, view, NULL);
	vkDestroyBuffer(dev, buffer, NULL);
	vkFreeMemory(dev, memory, NULL);
}

static uint32_t counter_of(const struct image *m, unsigned i)
{
	uint32_t value;

	memcpy(&value, texel_of(m, 0, i % m->width, i / m->width, 0), 4);
	return value;
}

static void check_atomics(void)
{
	static const struct format counter = {.format = VK_FORMAT_R32_UINT, .name = "r32ui", .size_B = 4};
	struct image m = {.format = &counter,
			  .type = VK_IMAGE_TYPE_2D,
			  .width = 9,
			  .height = 9,
			  .depth = 1,
			  .layers = 1,
			  .levels = 1};
	unsigned count = m.width * m.height;

	if (!image_create(&m, VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_USAGE_STORAGE_BIT)) {
		printf("counters: no such linear image\n");
		return;
	}
	for (unsigned i = 0; i < count; i++)
		memset(texel_of(&m, 0, i % m.width, i / m.width, 0), 0, 4);
	image_bind(BIND_COUNTERS, &m, VK_NULL_HANDLE);
	for (unsigned n = 0; n < 2; n++)
		run(ATOMIC, count, m.width, 0);
	for (unsigned i = 0; i < count; i++) {
		float before = (float)(i + 5);
		const float want[4] = {before, before, before, before};

		check("atomics", "r32ui", i, result[i], want, 0);
		checks++;
		mistakes += counter_of(&m, i) != 2 * (i + 5);
	}
	image_destroy(&m);
}

static struct image shape(VkImageType type, unsigned width, unsigned height, unsigned depth, unsigned layers,
			  unsigned levels)
{
	return (struct image){.format = &formats[8],
			      .type = type,
			      .width = width,
			      .height = height,
			      .depth = depth,
			      .layers = layers,
			      .levels = levels};
}

static void check_all(void)
{
	for (unsigned n = 0; n < FORMATS; n++)
		check_format(&formats[n]);
	for (unsigned n = 0; n < FORMATS; n++)
		check_typed(&formats[n]);
	check_atomics();
	check_shape(shape(VK_IMAGE_TYPE_2D, 16, 16, 1, 1, 5), VK_IMAGE_VIEW_TYPE_2D, BIND_PLANE, PLANE, "levels");
	check_shape(shape(VK_IMAGE_TYPE_2D, 19, 7, 1, 5, 1), VK_IMAGE_VIEW_TYPE_2D_ARRAY, BIND_LAYERS, LAYERS,
		    "layers");
	check_shape(shape(VK_IMAGE_TYPE_3D, 19, 7, 6, 1, 1), VK_IMAGE_VIEW_TYPE_3D, BIND_VOLUME, VOLUME, "volume");
	check_faces(shape(VK_IMAGE_TYPE_2D, 9, 9, 1, 6, 1));
}

/* All of it: the virtual GPU tells what a client leaves behind. */
static void destroy(VkInstance instance)
{
	MUST(vkDeviceWaitIdle(dev));
	vkDestroyCommandPool(dev, commands, NULL);
	vkDestroyDescriptorPool(dev, sets, NULL);
	vkDestroyPipeline(dev, pipeline, NULL);
	vkDestroyPipelineLayout(dev, layout, NULL);
	vkDestroyDescriptorSetLayout(dev, set_layout, NULL);
	for (unsigned n = 0; n < 2; n++) {
		vkDestroyBuffer(dev, point_buffer[n], NULL);
		vkFreeMemory(dev, point_memory[n], NULL);
	}
	vkDestroyDevice(dev, NULL);
	vkDestroyInstance(instance, NULL);
}

int main(int argc, char **argv)
{
	VkInstance instance = open_card();

	if (argc < 2)
		return 1;
	open_device();
	create_pipeline(argv[1]);
	point_buffer[0] = create_points(BIND_POINTS, &point_memory[0], (void **)&point);
	point_buffer[1] = create_points(BIND_RESULTS, &point_memory[1], (void **)&result);
	check_all();
	printf("%u of %u results are wrong\n", mistakes, checks);
	destroy(instance);
	return mistakes != 0;
}
