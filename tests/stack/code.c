/* Code objects that were cut short or damaged: refused or loaded, they leave no memory and no address behind. */
#include <errno.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

static void bad_code_objects_leave_nothing(void)
{
	struct stack s;
	struct vm_stats before, after;
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", "gfx906");
	uint8_t *copy = malloc(blob->size_B);
	struct cs_code *code;
	unsigned refused = 0;
	uint64_t seed = 3;

	if (!CHECK_EQ(stack_open(&s), 0))
		return;
	vm_stats(s.vm, &before);
	CHECK_EQ(cs_code_load(s.vm, NULL, 0, &code), -ENOEXEC);
	for (unsigned i = 0; i < 600; i++) {
		size_t size_B = i < 200 ? blob->size_B * i / 200 : blob->size_B;

		memcpy(copy, blob->image, blob->size_B);
		if (i >= 200)
			for (unsigned k = 0; k < 8; k++)
				copy[test_random(&seed) % (i & 1 ? 8192 : blob->size_B)] = test_random(&seed);
		if (cs_code_load(s.vm, copy, size_B, &code))
			refused++;
		else
			cs_code_unload(code);
	}
	CHECK(refused > 250);
	vm_stats(s.vm, &after);
	CHECK_EQ(after.bos, before.bos);
	CHECK_EQ(after.ranges, before.ranges);
	free(copy);
	stack_close(&s);
}

int main(void)
{
	CHECK_EQ(vgpu_start("gfx906"), 0);
	bad_code_objects_leave_nothing();
	vgpu_stop();
	return check_done("damaged code objects");
}
