/* Copies and fills by compute kernels: those of shaders/blit.hip. */
#include <errno.h>

#include "cs/dispatch.h"
#include "sdma/internal.h"
#include "shaders/blob.h"

#define GROUP 256 /* BLIT_GROUP */
/* Most elements of one dispatch: a grid is counted in 32 bits. */
#define ELEMENTS_MAX (1ull << 31)

static const struct {
	const char *name;
	unsigned element_B;
} kernels[BLIT_KERNELS] = {
	[BLIT_COPY1] = {"copy1", 1}, [BLIT_COPY4] = {"copy4", 4}, [BLIT_COPY16] = {"copy16", 16},
	[BLIT_FILL1] = {"fill1", 1}, [BLIT_FILL4] = {"fill4", 4}, [BLIT_FILL16] = {"fill16", 16},
};

int sdma_blit_load(struct sdma_queues *q)
{
	struct vm *vm = cs_ring_vm(q->compute);
	const struct drv_chip *chip = vm_device(vm)->chip;
	const struct shader_blob *blob = shader_for(shaders_blobs, "blit.O3", chip);
	struct cs_code *code;
	int r;

	if (q->blit)
		return 0;
	if (!blob)
		return drv_fail(-ENOTSUP, "no built-in kernels for %s", chip->target);
	r = cs_code_load(vm, blob->image, blob->size_B, NULL, &code);
	if (r)
		return r;
	for (unsigned i = 0; !r && i < BLIT_KERNELS; i++)
		r = cs_code_kernel(code, kernels[i].name, &q->kernel[i]);
	if (r)
		cs_code_unload(code);
	else
		q->blit = code;
	return r;
}

/* Appends dispatches for the part [from, to) of op, in elements of one size. */
static int blit_dispatch(const struct sdma_queues *q, struct cs_ib *ib, const struct sdma_op *op,
			 enum sdma_blit_kernel which, uint64_t from_B, uint64_t to_B)
{
	const unsigned element_B = kernels[which].element_B;
	int r = 0;

	while (!r && from_B < to_B) {
		uint64_t count = (to_B - from_B) / element_B;
		struct {
			uint64_t dst, src, count;
		} copy = {op->dst + from_B, op->src + from_B, count};
		struct {
			uint64_t dst, count;
			uint32_t value;
		} fill = {op->dst + from_B, count, op->value};
		const struct cs_kernel *kernel = q->kernel[which];
		struct cs_launch l = {
			.kernel = kernel, .grid = {0, 1, 1}, .group = {GROUP, 1, 1}, .lds_B = kernel->lds_B};

		if (count > ELEMENTS_MAX)
			copy.count = fill.count = count = ELEMENTS_MAX;
		l.grid[0] = (count + GROUP - 1) / GROUP * GROUP;
		r = op->fill ? cs_ib_dispatch(ib, &l, &fill, offsetof(__typeof__(fill), value) + sizeof(fill.value))
			     : cs_ib_dispatch(ib, &l, &copy, sizeof(copy));
		from_B += count * element_B;
	}
	return r;
}

/* Finds the widest element for which source and destination have the same alignment. */
static enum sdma_blit_kernel widest_kernel(const struct sdma_op *op)
{
	uint64_t differ = op->fill ? 0 : op->dst ^ op->src;
	enum sdma_blit_kernel first = op->fill ? BLIT_FILL1 : BLIT_COPY1;

	return first + (differ % 16 == 0 ? 2 : differ % 4 == 0 ? 1 : 0);
}

/* Finds the kernel for the bytes before and after the widest elements: bytes, or dwords where all edges are
 * multiples of one. */
static enum sdma_blit_kernel edge_kernel(const struct sdma_op *op, enum sdma_blit_kernel body)
{
	enum sdma_blit_kernel first = op->fill ? BLIT_FILL1 : BLIT_COPY1;

	return body > first && (op->dst | op->size_B) % 4 == 0 ? first + 1 : first;
}

int sdma_blit(const struct sdma_queues *q, struct cs_ib *ib, const struct sdma_op *op)
{
	enum sdma_blit_kernel body = widest_kernel(op), ends = edge_kernel(op, body);
	uint64_t align_B = kernels[body].element_B, head_B = -op->dst & (align_B - 1), tail_B;
	int r;

	if (head_B > op->size_B)
		head_B = op->size_B;
	tail_B = head_B + ((op->size_B - head_B) & ~(align_B - 1));
	r = blit_dispatch(q, ib, op, ends, 0, head_B);
	if (!r)
		r = blit_dispatch(q, ib, op, body, head_B, tail_B);
	if (!r)
		r = blit_dispatch(q, ib, op, ends, tail_B, op->size_B);
	return r;
}
