/* Structures that functions of version 7 alone read, drawn from an input. Each is one for the whole thread, good for one call. */
#ifndef TESTS_FUZZ_HIP_SEVEN_H
#define TESTS_FUZZ_HIP_SEVEN_H

#include "tests/fuzz/hip_structs.h"

/* --- launches --------------------------------------------------------------------------------- */

static hipLaunchAttribute *draw_attributes(void)
{
	DRAW_STATIC hipLaunchAttribute list[SLOTS];

	memset(list, 0, sizeof(list));
	for (unsigned i = 0; i < 3; i++) {
		list[i].id =
			(hipLaunchAttributeID)(draw_byte() < 128 ? hipLaunchAttributeCooperative : draw_enum(11));
		list[i].value.cooperative = (int)draw_int();
	}
	return DRAW_NULL_OR(list);
}

static unsigned draw_attribute_count(void)
{
	return draw_byte() < 160 ? 0 : draw_few();
}

static void *draw_config(void)
{
	DRAW_STATIC hipLaunchConfig_t c;

	c = (hipLaunchConfig_t){.gridDim = draw_dim()};
	c.blockDim = (dim3){draw_block(), 1, 1};
	c.dynamicSmemBytes = draw_lds();
	c.stream = draw_handle(K_STREAM);
	c.attrs = draw_attributes();
	c.numAttrs = draw_attribute_count();
	return DRAW_NULL_OR(&c);
}
#define CONFIG draw_config()

static void *draw_drv_config(void)
{
	DRAW_STATIC HIP_LAUNCH_CONFIG c;

	c = (HIP_LAUNCH_CONFIG){.gridDimX = draw_grid()};
	c.gridDimY = draw_grid();
	c.gridDimZ = draw_grid();
	c.blockDimX = draw_block();
	c.blockDimY = draw_block_yz();
	c.blockDimZ = draw_block_yz();
	c.sharedMemBytes = draw_lds();
	c.hStream = draw_handle(K_STREAM);
	c.attrs = draw_attributes();
	c.numAttrs = draw_attribute_count();
	return DRAW_NULL_OR(&c);
}
#define DRV_CONFIG draw_drv_config()

/* --- copies ----------------------------------------------------------------------------------- */

static hipMemcpy3DOperand draw_operand(void)
{
	unsigned b = draw_byte();
	hipMemcpy3DOperand o = {.type = (hipMemcpy3DOperandType)(b < 240 ? 1 + (int)b % 2 : draw_enum(3))};

	if (o.type == hipMemcpyOperandTypeArray) {
		hipPos p = b & 4 ? draw_pos() : (hipPos){0};

		o.op.array.array = draw_handle(K_ARRAY);
		o.op.array.offset = (hipOffset3D){p.x, p.y, p.z};
	} else {
		o.op.ptr.ptr = draw_data();
		if (b & 4)
			o.op.ptr.rowLength = draw_pitch();
		if (b & 8)
			o.op.ptr.layerHeight = draw_height();
	}
	return o;
}

static void *draw_boxes(void)
{
	DRAW_STATIC hipMemcpy3DBatchOp list[SLOTS];

	memset(list, 0, sizeof(list));
	for (unsigned i = 0; i < 2; i++) {
		list[i].src = draw_operand();
		list[i].dst = draw_operand();
		list[i].extent = draw_extent();
		list[i].srcAccessOrder = (hipMemcpySrcAccessOrder)draw_enum(3);
		list[i].flags = FLAGS;
	}
	for (unsigned i = 2; i < SLOTS; i++)
		list[i] = list[i % 2];
	return DRAW_NULL_OR(list);
}
#define BOXES draw_boxes()

static void *draw_peer_box(void)
{
	DRAW_STATIC hipMemcpy3DPeerParms p;
	hipMemcpy3DParms c = draw_copy();

	p = (hipMemcpy3DPeerParms){.srcArray = c.srcArray,
				   .srcPos = c.srcPos,
				   .srcPtr = c.srcPtr,
				   .dstArray = c.dstArray,
				   .dstPos = c.dstPos,
				   .dstPtr = c.dstPtr,
				   .extent = c.extent};
	p.srcDevice = draw_device();
	p.dstDevice = draw_device();
	return DRAW_NULL_OR(&p);
}
#define PEER_BOX draw_peer_box()

static void *draw_data_list(unsigned which)
{
	DRAW_STATIC void *list[2][SLOTS];

	for (unsigned i = 0; i < SLOTS; i++)
		list[which][i] = i < 3 ? draw_data() : list[which][i % 3];
	return DRAW_NULL_OR(list[which]);
}
#define DATA_LIST(which) draw_data_list(which)

static void *draw_size_list(void)
{
	DRAW_STATIC size_t list[SLOTS];

	for (unsigned i = 0; i < SLOTS; i++)
		list[i] = i < 3 ? draw_length() : list[i % 3];
	return DRAW_NULL_OR(list);
}
#define SIZE_LIST draw_size_list()

static hipMemLocation draw_place(void)
{
	hipMemLocation l = {.type = draw_byte() < 160 ? hipMemLocationTypeDevice : draw_enum(4)};

	l.id = draw_device();
	return l;
}
#define PLACE draw_place()

/* --- nodes of semaphores ------------------------------------------------------------------------ */

#define DRAW_FENCES_NODE(name, type, fences)                                                                       \
	static void *name(void)                                                                                    \
	{                                                                                                          \
		DRAW_STATIC type p;                                                                                \
                                                                                                                   \
		p = (type){.extSemArray = draw_list(K_EXTSEM)};                                                    \
		p.paramsArray = fences();                                                                          \
		p.numExtSems = draw_few();                                                                         \
		return DRAW_NULL_OR(&p);                                                                           \
	}
DRAW_FENCES_NODE(draw_signal_node, hipExternalSemaphoreSignalNodeParams, draw_signals)
#define SIGNAL_NODE draw_signal_node()
DRAW_FENCES_NODE(draw_wait_node, hipExternalSemaphoreWaitNodeParams, draw_waits)
#define WAIT_NODE draw_wait_node()

#endif
