#include "vgpu/kernel/gem/handle.h"

struct kern_handle *kern_handle_must(struct kern_file *file, uint32_t id, const char *what)
{
	struct kern_handle *handle = kern_handle_find(file, id);

	if (!handle)
		vgpu_finding(CONTRACT_HANDLE_CLOSED, "%s: no buffer has handle %u", what, id);
	return handle;
}
