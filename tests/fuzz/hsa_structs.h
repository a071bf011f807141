/* Structures that HSA's functions read, drawn from an input. Each is one for the whole thread, good for one call. */
#ifndef TESTS_FUZZ_HSA_STRUCTS_H
#define TESTS_FUZZ_HSA_STRUCTS_H

#include "tests/fuzz/hsa_draw.h"

static void *draw_format(void)
{
	DRAW_STATIC hsa_ext_image_format_t f;

	f = (hsa_ext_image_format_t){HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA};
	if (draw_byte() & 1)
		f.channel_type = (uint32_t)draw_enum(15);
	if (draw_byte() & 1)
		f.channel_order = (uint32_t)draw_enum(19);
	return DRAW_NULL_OR(&f);
}
#define FORMAT draw_format()

/* An image fits into the memory that it gets, unless its size is refused. */
static void *draw_image_desc(void)
{
	DRAW_STATIC hsa_ext_image_descriptor_t d;
	static const size_t widths[] = {16, 64, 1, 0, 17}, heights[] = {0, 1, 4, 8}, depths[] = {0, 1, 2};

	d = (hsa_ext_image_descriptor_t){.geometry = (hsa_ext_image_geometry_t)draw_enum(7)};
	d.width = draw_size(widths, 5);
	d.height = draw_size(heights, 4);
	d.depth = draw_size(depths, 3);
	d.array_size = draw_size(depths, 3);
	d.format = *(hsa_ext_image_format_t *)(draw_format() ?: scratch);
	return DRAW_NULL_OR(&d);
}
#define IMAGE_DESC draw_image_desc()

static void *draw_image_layout(void)
{
	memset(draw.words, 0, sizeof(draw.words));
	((uint32_t *)draw.words)[0] = draw_byte() % 3;
	((uint32_t *)draw.words)[1] = draw_byte() < 200 ? 0x1002738c : draw_int();
	for (unsigned i = 2; i < 12; i++)
		((uint32_t *)draw.words)[i] = (uint32_t)input_draw(&draw.in, 4);
	return DRAW_NULL_OR(draw.words);
}
#define IMAGE_LAYOUT draw_image_layout()

static hsa_dim3_t draw_small_dim(void)
{
	static const uint32_t some[] = {0, 1, 2, 4, 16};
	hsa_dim3_t d = {.x = DRAW(some)};

	d.y = draw_byte() % 4;
	d.z = draw_byte() % 3;
	if (draw_byte() >= 232 && !draw.host)
		d.x = draw_int();
	return d;
}

static void *draw_image_region(void)
{
	DRAW_STATIC hsa_ext_image_region_t r;

	r.offset = draw_small_dim();
	r.range = draw_small_dim();
	return DRAW_NULL_OR(&r);
}
#define IMAGE_REGION draw_image_region()

static void *draw_dim(void)
{
	DRAW_STATIC hsa_dim3_t dims[3];
	DRAW_STATIC unsigned next;
	hsa_dim3_t *d = &dims[next++ % 3];

	*d = draw_small_dim();
	return DRAW_NULL_OR(d);
}
#define DIM draw_dim()

static void *draw_pitched(hsa_pitched_ptr_t *p)
{
	p->base = draw_data();
	p->pitch = draw_pitch();
	p->slice = draw_pitch() * 2;
	return DRAW_NULL_OR(p);
}
DRAW_STATIC hsa_pitched_ptr_t pitched[2];
#define PITCHED   draw_pitched(&pitched[0])
#define PITCHED_2 draw_pitched(&pitched[1])

static void *draw_sampler_desc(void)
{
	DRAW_STATIC hsa_ext_sampler_descriptor_v2_t d;

	d.coordinate_mode = (uint32_t)draw_enum(1);
	d.filter_mode = (uint32_t)draw_enum(1);
	for (unsigned i = 0; i < 3; i++)
		d.address_modes[i] = (uint32_t)draw_enum(4);
	return DRAW_NULL_OR(&d);
}
#define SAMPLER_DESC   draw_sampler_desc()
#define SAMPLER_DESC_2 draw_sampler_desc()

static void *draw_pointer_info(void)
{
	static const uint32_t sizes[] = {sizeof(hsa_amd_pointer_info_t), sizeof(hsa_amd_pointer_info_t) - 8, 40, 4,
					 0};
	DRAW_STATIC hsa_amd_pointer_info_t info;

	info = (hsa_amd_pointer_info_t){.size = DRAW(sizes)};
	return DRAW_NULL_OR(&info);
}
#define POINTER_INFO draw_pointer_info()

static void *draw_svm(void)
{
	static const uint64_t kinds[] = {0, 1, 2, 3, 4, 5, 6, 7, 0x200, 0x201, 0x202, 0x203, 0x204, UINT64_MAX};
	DRAW_STATIC hsa_amd_svm_attribute_pair_t list[SLOTS];

	for (unsigned i = 0; i < 3; i++) {
		list[i].attribute = DRAW(kinds);
		list[i].value = draw_byte() & 1 ? draw_handle(K_AGENT) : draw_int();
	}
	return DRAW_NULL_OR(list);
}
#define SVM draw_svm()

static void *draw_access(void)
{
	DRAW_STATIC hsa_amd_memory_access_desc_t list[SLOTS];

	for (unsigned i = 0; i < SLOTS; i++) {
		list[i].permissions = (hsa_access_permission_t)(i ? 3 : draw_enum(3));
		list[i].agent_handle.handle = i ? draw_slot(K_AGENT, i) : draw_handle(K_AGENT);
	}
	return DRAW_NULL_OR(list);
}
#define ACCESS draw_access()

static void draw_spoil(void *bytes, size_t size_B)
{
	unsigned b = draw_byte();

	if (b & 128)
		((uint8_t *)bytes)[b % size_B] ^= (uint8_t)draw_byte();
}

static void *draw_ipc_memory(void)
{
	draw_spoil(&draw.ipc_memory, sizeof(draw.ipc_memory));
	return DRAW_NULL_OR(&draw.ipc_memory);
}
#define IPC_MEMORY     draw_ipc_memory()
#define NEW_IPC_MEMORY DRAW_NULL_OR(&draw.ipc_memory)

static void *draw_ipc_signal(void)
{
	draw_spoil(&draw.ipc_signal, sizeof(draw.ipc_signal));
	return DRAW_NULL_OR(&draw.ipc_signal);
}
#define IPC_SIGNAL     draw_ipc_signal()
#define NEW_IPC_SIGNAL DRAW_NULL_OR(&draw.ipc_signal)

#endif
