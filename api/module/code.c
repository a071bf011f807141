/* Code objects on devices, loaded through HSA's public interface. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/memory/memory.h"
#include "api/module/compressed.h"
#include "api/module/kpack.h"
#include "api/module/module.h"
#include "api/stream/stream.h"

#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"

/* Sizes of images: a fat binary carries no size, only its headers do. They describe the range that is read, and are
 * checked against each other; whether the program has that memory is not known. 0: the headers contradict themselves. */

/* The table of entries is in front of all code objects. */
static size_t bundle_size(const char *image)
{
	size_t header_B = sizeof(BUNDLE_MAGIC) - 1, size_B = 0;
	uint64_t count, entry[3]; /* offset and size of a code object, length of the name behind the entry */

	memcpy(&count, image + header_B, sizeof(count));
	header_B += sizeof(count);
	for (uint64_t i = 0; i < count; i++) {
		memcpy(entry, image + header_B, sizeof(entry));
		if (entry[0] > SIZE_MAX / 2 || entry[1] > SIZE_MAX / 2 || entry[0] < header_B + sizeof(entry) ||
		    entry[2] > entry[0] - header_B - sizeof(entry))
			return 0;
		header_B += sizeof(entry) + entry[2];
		if (entry[0] + entry[1] > size_B)
			size_B = entry[0] + entry[1];
	}
	return size_B > header_B ? size_B : header_B;
}

/* The table of sections is the last part of a code object. */
static size_t elf_size(const char *image)
{
	Elf64_Ehdr header;

	memcpy(&header, image, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_AMDGPU ||
	    header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff < sizeof(header) ||
	    header.e_shoff > SIZE_MAX / 2)
		return 0;
	return header.e_shoff + (size_t)header.e_shnum * sizeof(Elf64_Shdr);
}

size_t hip_image_size(const void *image)
{
	if (hip_is_compressed(image, 0))
		return hip_compressed_size(image);
	if (!memcmp(image, BUNDLE_MAGIC, sizeof(BUNDLE_MAGIC) - 1))
		return bundle_size(image);
	return memcmp(image, ELFMAG, SELFMAG) ? 0 : elf_size(image);
}

struct hip_unloader {
	struct drv_retired retired;
	hsa_executable_t executable; /* owned */
};

static void executable_destroy(struct drv_retired *retired)
{
	struct hip_unloader *u = vm_container(retired, struct hip_unloader, retired);

	hsa_executable_destroy(u->executable);
	free(u);
}

static hipError_t executable_load(struct hip_device *device, const void *image, size_t size_B,
				  struct hip_code *code)
{
	hsa_code_object_reader_t reader;
	hsa_status_t status = hsa_code_object_reader_create_from_memory(image, size_B, &reader);

	if (status)
		return status == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? hipErrorOutOfMemory : hipErrorInvalidImage;
	status = hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
					   &code->executable);
	if (!status) {
		status = hsa_executable_load_agent_code_object(code->executable, device->agent, reader, NULL, NULL);
		if (!status)
			status = hsa_executable_freeze(code->executable, NULL);
		if (status)
			hsa_executable_destroy(code->executable);
	}
	hsa_code_object_reader_destroy(reader);
	return hip_of_hsa(status);
}

static hipError_t code_load(struct hip_device *device, const void *image, size_t size_B, struct hip_code *code)
{
	hipError_t r;

	code->unloader = calloc(1, sizeof(*code->unloader));
	if (!code->unloader)
		return hipErrorOutOfMemory;
	r = executable_load(device, image, size_B, code);
	if (r)
		free(code->unloader);
	else
		code->unloader->executable = code->executable;
	return r;
}

/* Loads what was unpacked, which the function frees. Nothing is packed twice. */
static hipError_t load_unpacked(struct hip_device *device, void *plain, size_t plain_B, struct hip_code *code)
{
	hipError_t r = hip_is_compressed(plain, plain_B) ? hipErrorInvalidImage
							 : hip_code_load(device, plain, plain_B, code);

	free(plain);
	return r;
}

/* Programs whose code is in archives have a reference in place of the fat binary. */
static bool is_reference(const void *image, size_t size_B)
{
	uint32_t magic;

	if (size_B)
		return false;
	memcpy(&magic, image, sizeof(magic));
	return magic == HIP_KPACK_MAGIC;
}

/* Unpacks the image if it is packed. *plain: NULL if it is not. */
static hipError_t image_unpack(const struct hip_device *device, const void *image, size_t size_B, void **plain,
			       size_t *plain_B)
{
	*plain = NULL;
	if (hip_is_compressed(image, size_B))
		return hip_decompress(image, size_B, plain, plain_B);
	return is_reference(image, size_B) ? hip_kpack_find(image, device, plain, plain_B) : hipSuccess;
}

hipError_t hip_code_load(struct hip_device *device, const void *image, size_t size_B, struct hip_code *code)
{
	hipError_t r = hip_fault(device);
	void *plain = NULL;
	size_t plain_B;

	code->device = device;
	code->losses = atomic_load(&device->losses);
	code->variables = NULL;
	if (!r)
		r = image_unpack(device, image, size_B, &plain, &plain_B);
	if (plain && !r)
		return load_unpacked(device, plain, plain_B, code);
	if (!r && !size_B)
		size_B = hip_image_size(image);
	if (!r && !size_B)
		return hipErrorInvalidImage;
	if (!r)
		r = hip_of_errno(hip.hsa->pick(device->agent, &image, &size_B));
	return r ? r : code_load(device, image, size_B, code);
}

/* --- variables --------------------------------------------------------------------------------- */

struct hip_variable {
	struct hip_variable *next;
	void *address;
};
static struct drv_mutex variables_lock = DRV_MUTEX(DRV_RANK_HIP_VARIABLES);

static hipError_t add_variable(struct hip_code *code, void *address, size_t size_B)
{
	struct hip_variable *v;
	hipError_t r;

	for (v = code->variables; v; v = v->next)
		if (v->address == address)
			return hipSuccess;
	v = malloc(sizeof(*v));
	if (!v)
		return hipErrorOutOfMemory;
	r = hip_memory_add_ours(HIP_MEMORY_DEVICE, code->device->index, address, size_B);
	if (r) {
		free(v);
		return r;
	}
	*v = (struct hip_variable){code->variables, address};
	code->variables = v;
	return hipSuccess;
}

DRV_OWN _Atomic unsigned hip_codes;

/* A call that begins behind the increment looks its kernels up again; others are waited for. */
void hip_kernel_retire(struct hip_kernel *kernel, void (*end)(struct drv_retired *retired))
{
	atomic_fetch_add(&hip_codes, 1);
	drv_retire(&hip_calls, &kernel->retired, end);
}

void hip_code_unload(struct hip_code *code)
{
	atomic_fetch_add(&hip_codes, 1);
	while (code->variables) {
		struct hip_variable *v = code->variables;

		code->variables = v->next;
		hip_memory_remove_ours(v->address);
		free(v);
	}
	drv_retire(&hip_calls, &code->unloader->retired, executable_destroy);
}

static hipError_t find_symbol(const struct hip_code *code, const char *name, hsa_symbol_kind_t kind,
			      hsa_executable_symbol_t *symbol)
{
	hsa_symbol_kind_t found;

	if (hsa_executable_get_symbol_by_name(code->executable, name, &code->device->agent, symbol) ||
	    hsa_executable_symbol_get_info(*symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &found) || found != kind)
		return hipErrorNotFound;
	return hipSuccess;
}

static bool has_hidden(const struct cs_kernel *k, enum cs_hidden_kind kind)
{
	for (unsigned i = 0; i < k->hidden_count; i++)
		if (k->hidden[i].kind == kind)
			return true;
	return false;
}

/* Copies of hidden arguments end with a whole block. */
static uint32_t args_size(const struct hip_kernel *kernel)
{
	uint32_t size_B = kernel->cs->kernarg_B,
		 hidden_B = (kernel->hidden_B + HIP_HIDDEN_BLOCK_B - 1) & -HIP_HIDDEN_BLOCK_B;

	if (hidden_B && kernel->cs->explicit_B + hidden_B > size_B)
		size_B = kernel->cs->explicit_B + hidden_B;
	return hip_args_size(size_B);
}

/* Adds the arguments of that size behind the first `count` moves; gives the number of all. */
static uint8_t add_moves(struct hip_kernel *kernel, uint16_t size_B, unsigned count)
{
	const struct cs_kernel *k = kernel->cs;

	for (unsigned i = 0; i < k->arg_count; i++)
		if (k->arg[i].size_B == size_B) {
			kernel->move[count].arg = (uint16_t)i;
			kernel->move[count++].offset_B = (uint16_t)k->arg[i].offset_B;
		}
	return (uint8_t)count;
}

/* Argument memory has at most 16 KiB (cs/metadata.c), so offsets have 16 bits. */
static void plan_moves(struct hip_kernel *kernel)
{
	const struct cs_kernel *k = kernel->cs;

	if (k->arg_count > HIP_MOVES_MAX)
		return;
	for (unsigned i = 0; i < k->arg_count; i++)
		if (k->arg[i].size_B != 8 && k->arg[i].size_B != 4)
			return;
	kernel->eights = add_moves(kernel, 8, 0);
	kernel->moves = add_moves(kernel, 4, kernel->eights);
	kernel->moved = true;
}

static _Atomic unsigned kernels; /* looked up so far */

hipError_t hip_code_kernel(const struct hip_code *code, const char *name, struct hip_kernel *kernel)
{
	hsa_executable_symbol_t symbol;
	char *descriptor = malloc(strlen(name) + sizeof(".kd"));
	hipError_t r;

	if (!descriptor)
		return hipErrorOutOfMemory;
	strcpy(descriptor, name);
	strcat(descriptor, ".kd");
	r = find_symbol(code, descriptor, HSA_SYMBOL_KIND_KERNEL, &symbol);
	free(descriptor);
	if (r)
		return r;
	*kernel = (struct hip_kernel){.device = code->device, .losses = code->losses};
	kernel->number = atomic_fetch_add_explicit(&kernels, 1, memory_order_relaxed);
	if (hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel->object) ||
	    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK,
					   &kernel->calls))
		return hipErrorUnknown;
	kernel->cs = hip.hsa->kernel(code->device->agent, kernel->object);
	if (!kernel->cs)
		return hipErrorNotFound;
	kernel->group_B = kernel->cs->lds_B;
	kernel->private_B = kernel->cs->private_B;
	kernel->dynamic_max_B = kernel->device->lds_B - kernel->group_B;
	kernel->prints = has_hidden(kernel->cs, CS_HIDDEN_PRINTF);
	if (kernel->cs->hidden_end_B > kernel->cs->explicit_B)
		kernel->hidden_B = kernel->cs->hidden_end_B - kernel->cs->explicit_B;
	kernel->args_B = args_size(kernel);
	plan_moves(kernel);
	kernel->plain = !kernel->calls && !kernel->prints && kernel->hidden_B <= HIP_HIDDEN_MAX_B;
	/* The metadata may say more than a workgroup can have, or than the registers of its waves leave room for. */
	kernel->threads_max = kernel->cs->fit_threads < HIP_THREADS_MAX ? kernel->cs->fit_threads : HIP_THREADS_MAX;
	if (kernel->cs->max_threads && kernel->cs->max_threads < kernel->threads_max)
		kernel->threads_max = kernel->cs->max_threads;
	return hipSuccess;
}

hipError_t hip_code_variable(struct hip_code *code, const char *name, void **address, size_t *size_B)
{
	hsa_executable_symbol_t symbol;
	uint64_t va;
	uint32_t bytes;
	hipError_t r = find_symbol(code, name, HSA_SYMBOL_KIND_VARIABLE, &symbol);

	if (r)
		return r;
	if (hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &va) ||
	    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &bytes))
		return hipErrorUnknown;
	*address = (void *)(uintptr_t)va;
	*size_B = bytes;
	if (bytes) {
		drv_mutex_lock(&variables_lock);
		r = add_variable(code, *address, bytes);
		drv_mutex_unlock(&variables_lock);
	}
	return r;
}
