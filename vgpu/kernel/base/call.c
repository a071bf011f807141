#include "vgpu/kernel/base/call.h"

static _Thread_local struct kern_call *current, scratch;

struct kern_call *kern_call_current(void)
{
	return current ? current : &scratch;
}

void kern_call_set_current(struct kern_call *call)
{
	current = call;
}
