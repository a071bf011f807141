/* Common parts of whole-stack tests: a device with queue, copier and code, over the driver's rooms only. */
#ifndef TESTS_STACK_H
#define TESTS_STACK_H

#include "cs/dispatch.h"
#include "sdma/sdma.h"
#include "shaders/blob.h"
#include "tests/random.h"

extern const struct shader_blob test_blobs[];

struct stack {
	struct drv_device *dev;
	struct vm *vm;
	struct cs_ctx *ctx;
	struct cs_ring *ring;
	struct sdma_copier *copier;
};

/* Opens the first device with all of it; 0 or -errno with nothing left behind. */
int stack_open(struct stack *s);
/* The same with the index-th device; its address space is made beside that one, if given. -ENODEV: there is none.
 */
int stack_open_at(struct stack *s, unsigned index, struct vm *beside);
void stack_close(struct stack *s);

/* Loads a test's code object ("group", "battery") as compiled at -O<level>. */
int stack_load(struct stack *s, const char *name, int level, struct cs_code **code);

/* Memory that CPU and GPU see. NULL when it cannot be had. */
struct vm_mem *stack_gtt(struct stack *s, uint64_t size_B);
/* Memory of the GPU that only it sees. */
struct vm_mem *stack_vram(struct stack *s, uint64_t size_B);

struct stack_launch {
	struct cs_code *code;
	const char *kernel;
	uint32_t grid[3], group[3]; /* zeros count as 1 */
	uint32_t dynamic_lds_B;
	const void *args;
	uint32_t args_B;
};

/* Submits one launch; *point tells when it is done. */
int stack_submit(struct stack *s, const struct stack_launch *launch, struct cs_fence *point);
/* Submits, waits, and asks for faults. */
int stack_run(struct stack *s, const struct stack_launch *launch);
/* Runs k_add of the "group" code on the 64 dwords at va: data[i] = data[i] * 3 + value. */
int stack_add(struct stack *s, struct cs_code *code, uint64_t va, uint32_t value);

#endif
