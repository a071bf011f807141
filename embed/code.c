#include "embed/internal.h"

#include <errno.h>
#include <stdlib.h>

static void retire_kernels(struct embed_code *code, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		embed_retire(EMBED_KERNEL, &code->kernels[i].base);
	free(code->kernels);
}

/* Kernels get their handles with the code, so that finding one by name allocates nothing. */
static int publish_kernels(struct embed_code *code)
{
	int r;

	while (cs_code_kernel_at(code->code, code->count))
		code->count++;
	code->kernels = calloc(code->count + 1, sizeof(*code->kernels));
	if (!code->kernels)
		return drv_fail(-ENOMEM, "no host memory for %u kernels", code->count);
	for (unsigned i = 0; i < code->count; i++) {
		code->kernels[i].kernel = cs_code_kernel_at(code->code, i);
		code->kernels[i].base.device = code->base.device;
		r = embed_publish(EMBED_KERNEL, &code->kernels[i].base);
		if (r) {
			retire_kernels(code, i);
			return r;
		}
	}
	return 0;
}

int tuff_code_load(struct tuff_device *handle, const void *image, size_t size_B, struct tuff_code **out)
{
	struct embed_device *device;
	struct embed_code *code;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	if (r)
		return r;
	if (!image || !out)
		return drv_fail(-EINVAL, "no %s", image ? "place for the code" : "code object");
	code = calloc(1, sizeof(*code));
	if (!code)
		return drv_fail(-ENOMEM, "no host memory for a code object");
	code->base.device = device;
	/* No upload by the GPU: that submits work, and a submission may move memory that devices share. */
	r = cs_code_load(device->vm, image, size_B, NULL, &code->code);
	if (r)
		goto fail_load;
	r = publish_kernels(code);
	if (r)
		goto fail_kernels;
	r = embed_publish(EMBED_CODE, &code->base);
	if (r)
		goto fail_publish;
	*out = code->base.handle;
	return 0;

fail_publish:
	retire_kernels(code, code->count);
fail_kernels:
	cs_code_unload(code->code);
fail_load:
	free(code);
	return r;
}

int tuff_code_unload(struct tuff_code *handle)
{
	struct embed_code *code;
	int r = handle ? embed_get(EMBED_CODE, handle, &code) : 0;

	if (r || !handle)
		return r;
	embed_retire(EMBED_CODE, &code->base);
	retire_kernels(code, code->count);
	cs_code_unload(code->code);
	free(code);
	return 0;
}

int tuff_code_kernel(struct tuff_code *handle, const char *name, struct tuff_kernel **kernel)
{
	const struct cs_kernel *found;
	struct embed_code *code;
	int r = embed_get(EMBED_CODE, handle, &code);

	if (r)
		return r;
	if (!name || !kernel)
		return drv_fail(-EINVAL, "no %s", name ? "place for the kernel" : "name");
	r = cs_code_kernel(code->code, name, &found);
	for (unsigned i = 0; !r && i < code->count; i++)
		if (code->kernels[i].kernel == found)
			*kernel = code->kernels[i].base.handle;
	return r;
}

int tuff_code_kernel_at(struct tuff_code *handle, unsigned index, struct tuff_kernel **kernel)
{
	struct embed_code *code;
	int r = embed_get(EMBED_CODE, handle, &code);

	if (r)
		return r;
	if (!kernel)
		return drv_fail(-EINVAL, "no place for the kernel");
	if (index >= code->count)
		return drv_fail(-ENOENT, "kernel %u of %u", index, code->count);
	*kernel = code->kernels[index].base.handle;
	return 0;
}

int tuff_code_variable(struct tuff_code *handle, const char *name, uint64_t *va, uint64_t *size_B)
{
	const struct cs_variable *variable;
	struct embed_code *code;
	int r = embed_get(EMBED_CODE, handle, &code);

	if (r)
		return r;
	if (!name || !va || !size_B)
		return drv_fail(-EINVAL, "no %s", name ? "place for the variable" : "name");
	r = cs_code_variable(code->code, name, &variable);
	if (r)
		return r;
	*va = variable->va;
	*size_B = variable->size_B;
	return 0;
}

int tuff_kernel_query_sized(struct tuff_kernel *handle, struct tuff_kernel_info *info, size_t info_B)
{
	struct tuff_kernel_info own;
	struct embed_kernel *kernel;
	int r = embed_get(EMBED_KERNEL, handle, &kernel);

	if (r)
		return r;
	if (!info || !info_B)
		return drv_fail(-EINVAL, "no place for the facts");
	own = (struct tuff_kernel_info){
		.name = kernel->kernel->name,
		.args_B = kernel->kernel->explicit_B,
		.lds_B = kernel->kernel->lds_B,
		.private_B = kernel->kernel->private_B,
		.max_threads = kernel->kernel->max_threads,
		.descriptor_va = kernel->kernel->descriptor_va,
	};
	embed_struct_give(info, info_B, &own, sizeof(own));
	return 0;
}
