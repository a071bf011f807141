/* The commands of a job. Each function checks what the packet cannot, and leaves the rest to the emitters. */
#include "embed/internal.h"

#include <errno.h>
#include <string.h>

/* Most dwords of data in one write; the packet's header comes on top. */
#define WRITE_MAX_DW 60

/* Finds the queue of a job that the thread writes. engine: the one that the command needs, or -1 for either. */
static int cmd_queue(const struct tuff_cmd *cmd, int engine, struct embed_queue **queue)
{
	int r = embed_cmd(cmd, queue);

	if (!r && engine >= 0 && (*queue)->copy != (engine == TUFF_COPY))
		r = drv_fail(-EINVAL, "a command for %s queues", engine == TUFF_COPY ? "copy" : "compute");
	return r;
}

static int check_target(uint64_t va, uint64_t size_B, unsigned align_B)
{
	if (!va || va % align_B || !size_B || va + size_B < va)
		return drv_fail(-EINVAL, "%llu bytes at 0x%llx, which must be a multiple of %u",
				(unsigned long long)size_B, (unsigned long long)va, align_B);
	return 0;
}

/* Launches from a struct of another size. */
__attribute__((cold, noinline)) static int dispatch_resized(struct tuff_cmd *cmd, const void *dispatch,
							    size_t dispatch_B)
{
	struct tuff_dispatch own;
	int r = embed_struct_take(&own, sizeof(own), dispatch, dispatch_B);

	return r ? r : tuff_cmd_dispatch_sized(cmd, &own, sizeof(own));
}

int tuff_cmd_dispatch_sized(struct tuff_cmd *cmd, const struct tuff_dispatch *d, size_t d_B)
{
	struct cs_launch launch;
	struct embed_kernel *kernel;
	struct embed_queue *queue;
	int r;

	if (__builtin_expect(d_B != sizeof(*d), 0) && d)
		return dispatch_resized(cmd, d, d_B);
	r = cmd_queue(cmd, TUFF_COMPUTE, &queue);
	if (r)
		return r;
	if (!d || (d->args_B && !d->args))
		return drv_fail(-EINVAL, "no %s", d ? "arguments" : "dispatch");
	r = embed_get(EMBED_KERNEL, d->kernel, &kernel);
	if (r)
		return r;
	if (kernel->base.device != queue->base.device)
		return drv_fail(-EXDEV, "%s was loaded for another device", kernel->kernel->name);
	if (d->dynamic_lds_B > UINT32_MAX - kernel->kernel->lds_B)
		return drv_fail(-EINVAL, "%s: %u bytes of dynamic LDS", kernel->kernel->name, d->dynamic_lds_B);
	launch = (struct cs_launch){.kernel = kernel->kernel, .lds_B = kernel->kernel->lds_B + d->dynamic_lds_B};
	for (unsigned i = 0; i < 3; i++) {
		launch.grid[i] = d->grid[i] ? d->grid[i] : 1;
		launch.group[i] = d->group[i] ? d->group[i] : 1;
		launch.first_group[i] = d->first_group[i];
		launch.group_count[i] = d->group_count[i];
	}
	return cs_ib_dispatch(queue->ib, &launch, d->args, d->args_B);
}

int tuff_cmd_barrier(struct tuff_cmd *cmd)
{
	struct embed_queue *queue;
	int r = cmd_queue(cmd, -1, &queue);

	if (r)
		return r;
	if (queue->copy)
		sdma_barrier(queue->ib);
	else
		cs_ib_barrier(queue->ib, true, CS_SCOPE_AGENT);
	return 0;
}

int tuff_cmd_signal(struct tuff_cmd *cmd, uint64_t va, uint64_t value)
{
	struct embed_queue *queue;
	int r = cmd_queue(cmd, -1, &queue);

	r = r ? r : check_target(va, 8, 8);
	if (r)
		return r;
	if (queue->copy) {
		sdma_fence(queue->ib, va + 4, value >> 32);
		sdma_fence(queue->ib, va, (uint32_t)value);
	} else {
		cs_ib_release_value(queue->ib, CS_SCOPE_SYSTEM, va, value);
	}
	return 0;
}

int tuff_cmd_timestamp(struct tuff_cmd *cmd, uint64_t va)
{
	struct embed_queue *queue;
	int r = cmd_queue(cmd, -1, &queue);

	r = r ? r : check_target(va, 8, 8);
	if (r)
		return r;
	if (queue->copy)
		sdma_timestamp(queue->ib, va);
	else
		cs_ib_release_clock(queue->ib, va);
	return 0;
}

int tuff_cmd_write(struct tuff_cmd *cmd, uint64_t va, const uint32_t *data, unsigned count)
{
	struct embed_queue *queue;
	int r = cmd_queue(cmd, -1, &queue);

	r = r ? r : check_target(va, 4 * (uint64_t)count, 4);
	if (r)
		return r;
	if (!data || count > WRITE_MAX_DW)
		return drv_fail(-EINVAL, "%u dwords of data; 1 to %u", data ? count : 0, WRITE_MAX_DW);
	if (queue->copy)
		sdma_write(queue->ib, va, data, count);
	else
		cs_ib_write(queue->ib, va, data, count);
	return 0;
}

int tuff_cmd_wait_value(struct tuff_cmd *cmd, uint64_t va, uint32_t value)
{
	struct embed_queue *queue;
	int r = cmd_queue(cmd, TUFF_COMPUTE, &queue);

	r = r ? r : check_target(va, 4, 4);
	if (r)
		return r;
	cs_ib_wait_word(queue->ib, va, value);
	/* The value's writer may be the host, another engine or another device. */
	cs_ib_barrier(queue->ib, false, CS_SCOPE_SYSTEM);
	return 0;
}

int tuff_cmd_copy(struct tuff_cmd *cmd, uint64_t dst, uint64_t src, uint64_t size_B)
{
	struct embed_queue *queue;
	int r = cmd_queue(cmd, TUFF_COPY, &queue);

	r = r ? r : check_target(dst, size_B, 1);
	r = r ? r : check_target(src, size_B, 1);
	if (!r && dst < src + size_B && src < dst + size_B)
		r = drv_fail(-EINVAL, "source and destination overlap");
	if (!r)
		sdma_copy(queue->ib, dst, src, size_B);
	return r;
}

int tuff_cmd_fill(struct tuff_cmd *cmd, uint64_t dst, uint8_t value, uint64_t size_B)
{
	struct embed_queue *queue;
	int r = cmd_queue(cmd, TUFF_COPY, &queue);

	r = r ? r : check_target(dst, size_B, 1);
	if (!r)
		sdma_fill_bytes(queue->ib, dst, value, size_B);
	return r;
}

int tuff_cmd_packet(struct tuff_cmd *cmd, const uint32_t *dw, unsigned count)
{
	struct embed_queue *queue;
	uint32_t *room;
	int r = cmd_queue(cmd, -1, &queue);

	if (r)
		return r;
	if (!dw || !count || count > CS_ROOM_MAX)
		return drv_fail(-EINVAL, "%u dwords of packets; 1 to %u", dw ? count : 0, CS_ROOM_MAX);
	room = cs_ib_room(queue->ib, count);
	memcpy(room, dw, count * sizeof(*dw));
	cs_ib_wrote(queue->ib, room + count);
	return 0;
}

int tuff_cmd_data(struct tuff_cmd *cmd, uint32_t size_B, uint32_t align_B, void **map, uint64_t *va)
{
	struct embed_queue *queue;
	void *block;
	int r = cmd_queue(cmd, -1, &queue);

	if (r)
		return r;
	if (!map || !va || !size_B || size_B > CS_DATA_MAX_B || !align_B || align_B > 256 ||
	    align_B & (align_B - 1))
		return drv_fail(-EINVAL, "a block of %u bytes at a multiple of %u", size_B, align_B);
	block = cs_ib_data(queue->ib, size_B, align_B, va);
	if (!block)
		return drv_fail(-ENOMEM, "no room for %u bytes of data in this job", size_B);
	*map = block;
	return 0;
}
