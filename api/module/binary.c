/* What a program was linked with: fat binaries, and the kernels and variables in them that the host's code
 * kernel_names by addresses of its own.
 *
 * Registering only remembers: a program may carry hundreds of binaries, and there may be no GPU. A binary is loaded
 * on a device when something of it is first used there. The same kernel, a template's, may be registered by
 * several: the first stays. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api/memory/memory.h"
#include "api/module/module.h"
#include "api/stream/stream.h"

struct hip_binary {
	const struct hip_fat_binary_wrapper *wrapper; /* borrowed until it is unregistered */
	struct hip_code *code[HIP_DEVICES_MAX];       /* owned; guarded by kernel_names.lock, as is: */
	struct hip_code
		*before[HIP_DEVICES_MAX]; /* owned: what it was until the last reset, for who launches meanwhile */
	size_t constant_B;                /* of its __constant__ variables; complete once it is registered */
};

/* A kernel or a variable, by the host's address of it. */
struct name {
	const void *host;
	struct hip_binary *binary; /* borrowed; NULL: it was unregistered */
	const char *device_name;   /* borrowed, as the binary's */
	size_t size_B;             /* of a variable, as the host has it; 0: a kernel */
	void *managed;             /* owned, not NULL: a managed variable's memory, mapped */
	bool locked;               /* GPUs reach it; guarded by kernel_names.lock */
	struct hip_kernel *_Atomic kernel[HIP_DEVICES_MAX]; /* owned; filled when it is first launched */
};

/* Open addressing; a table that has become too small is left to those who still read it. */
struct table {
	struct table *old; /* owned */
	size_t mask;
	struct name *_Atomic slot[];
};

static struct {
	pthread_mutex_t lock; /* guards changes */
	struct table *_Atomic table;
	size_t count;
} kernel_names = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the table -------------------------------------------------------------------------------- */

static size_t place_of(const void *host, size_t mask)
{
	return ((uintptr_t)host * 0x9e3779b97f4a7c15u >> 20) & mask;
}

static struct name *find(const void *host)
{
	struct table *t = atomic_load_explicit(&kernel_names.table, memory_order_acquire);
	struct name *name;

	if (!t)
		return NULL;
	for (size_t i = place_of(host, t->mask);; i = (i + 1) & t->mask) {
		name = atomic_load_explicit(&t->slot[i], memory_order_acquire);
		if (!name || name->host == host)
			return name;
	}
}

static void put_locked(struct table *t, struct name *name)
{
	size_t i = place_of(name->host, t->mask);

	while (atomic_load_explicit(&t->slot[i], memory_order_relaxed))
		i = (i + 1) & t->mask;
	atomic_store_explicit(&t->slot[i], name, memory_order_release);
}

static bool grow_locked(void)
{
	struct table *old = kernel_names.table;
	size_t size = old ? 2 * (old->mask + 1) : 256;
	struct table *t = calloc(1, sizeof(*t) + size * sizeof(t->slot[0]));

	if (!t)
		return false;
	t->old = old;
	t->mask = size - 1;
	for (size_t i = 0; old && i <= old->mask; i++)
		if (old->slot[i])
			put_locked(t, old->slot[i]);
	atomic_store_explicit(&kernel_names.table, t, memory_order_release);
	return true;
}

/* Without memory the name is unknown, and its launch says so. */
static void add(const struct name *like)
{
	struct name *name;

	if (hip.child)
		return;
	pthread_mutex_lock(&kernel_names.lock);
	name = find(like->host);
	if (name && !name->binary) { /* of a library that was unloaded and came back */
		name->binary = like->binary;
		name->device_name = like->device_name;
		name->size_B = like->size_B;
		name->managed = like->managed;
	} else if (name && !like->managed) {
		/* another binary's: the first stays, but for the pointers that each one's kernels have */
	} else if ((kernel_names.table && kernel_names.count < kernel_names.table->mask / 2) || grow_locked()) {
		name = calloc(1, sizeof(*name));
		if (name) {
			*name = *like;
			put_locked(kernel_names.table, name);
			kernel_names.count++;
		}
	}
	pthread_mutex_unlock(&kernel_names.lock);
}

/* --- registering ------------------------------------------------------------------------------ */

void **__hipRegisterFatBinary(const void *data)
{
	const struct hip_fat_binary_wrapper *wrapper = data;
	struct hip_binary *binary = wrapper ? calloc(1, sizeof(*binary)) : NULL;

	if (binary && wrapper->magic == HIP_FAT_BINARY_MAGIC && wrapper->version == 1)
		binary->wrapper = wrapper;
	return (void **)(void *)binary;
}

void __hipRegisterFunction(void **binary, const void *host, char *device_name, const char *name, int thread_limit,
			   void *tid, void *bid, dim3 *block, dim3 *grid, int *warp_size)
{
	(void)name, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
	if (binary && device_name)
		add(&(struct name){.host = host, .binary = (void *)binary, .device_name = device_name});
}

void __hipRegisterVar(void **binary, void *host, char *device_name, const char *name, int external, size_t size_B,
		      int constant, int global)
{
	struct hip_binary *b = (void *)binary;

	(void)name, (void)external, (void)global;
	if (!b || !device_name)
		return;
	add(&(struct name){.host = host, .binary = b, .device_name = device_name, .size_B = size_B});
	if (constant)
		b->constant_B += size_B;
}

/* Its memory is there at once, the host's own; GPUs come to it when the binary is loaded. */
void __hipRegisterManagedVar(void **binary, void **host, void *init, const char *name, size_t size_B,
			     unsigned align_B)
{
	void *memory;

	(void)align_B; /* a page's is more */
	if (!binary || !host || !init || !name)
		return;
	memory = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	memcpy(memory, init, size_B);
	*host = memory;
	add(&(struct name){
		.host = host, .binary = (void *)binary, .device_name = name, .size_B = size_B, .managed = memory});
}

/* A variable on both sides, of the same form; what type and mode it has is in the host's. */
void __hipRegisterTexture(void **binary, void *host, char *device_name, const char *name, int type, int normalized,
			  int external)
{
	(void)name, (void)type, (void)normalized, (void)external;
	if (binary && device_name)
		add(&(struct name){.host = host,
				   .binary = (void *)binary,
				   .device_name = device_name,
				   .size_B = sizeof(textureReference)});
}

/* Nothing binds them: surfaces are objects. */
void __hipRegisterSurface(void **binary, void *host, char *device_name, const char *name, int type, int external)
{
	(void)binary, (void)host, (void)device_name, (void)name, (void)type, (void)external;
}

static void free_kernel(struct hip_retired *retired)
{
	free(vm_container(retired, struct hip_kernel, retired));
}

static void forget_kernel(struct hip_kernel *kernel)
{
	if (!kernel)
		return;
	hip_function_drop(kernel->device, kernel->object);
	hip_retire(&kernel->retired, free_kernel);
}

static void forget(struct hip_binary *binary)
{
	struct table *t = kernel_names.table;

	for (size_t i = 0; t && i <= t->mask; i++) {
		struct name *name = t->slot[i];

		if (!name || name->binary != binary)
			continue;
		name->binary = NULL;
		if (name->locked) {
			hip_memory_remove_ours(name->managed);
			hsa_amd_memory_unlock(name->managed);
		}
		if (name->managed)
			munmap(name->managed, name->size_B);
		name->managed = NULL;
		name->locked = false;
		for (unsigned d = 0; d < hip.devices; d++)
			forget_kernel(atomic_exchange(&name->kernel[d], NULL));
	}
}

static void unload(struct hip_code **code)
{
	if (!*code)
		return;
	hip_code_unload(*code);
	free(*code);
	*code = NULL;
}

/* At exit, or when a library is unloaded; work that uses it ends first. What a child has is its parent's, and a
 * host function that ends the program is work itself. */
void __hipUnregisterFatBinary(void **handle)
{
	struct hip_binary *binary = (void *)handle;

	if (!binary || hip.child || hip_thread.in_host_function)
		return;
	for (unsigned d = 0; d < hip.devices; d++)
		if (binary->code[d] && !(hip_slow_path_flags() & HIP_SLOW_UNINITIALIZED))
			(void)!hip_device_wait(&hip.device[d]);
	pthread_mutex_lock(&kernel_names.lock);
	forget(binary);
	pthread_mutex_unlock(&kernel_names.lock);
	for (unsigned d = 0; d < hip.devices; d++) {
		unload(&binary->before[d]);
		unload(&binary->code[d]);
	}
	free(binary);
}

/* --- loading ---------------------------------------------------------------------------------- */

/* All GPUs reach it at the host's address. */
static hipError_t lock_managed(struct name *name)
{
	hsa_agent_t agents[HIP_DEVICES_MAX];
	void *alias;
	hipError_t r;

	for (unsigned i = 0; i < hip.devices; i++)
		agents[i] = hip.device[i].agent;
	if (hsa_amd_memory_lock(name->managed, name->size_B, agents, (int)hip.devices, &alias))
		return hipErrorOutOfMemory;
	r = hip_memory_add_ours(HIP_MEMORY_MANAGED, 0, name->managed, name->size_B);
	if (r)
		hsa_amd_memory_unlock(name->managed);
	name->locked = !r;
	return r;
}

/* Kernels find a managed variable by a pointer of theirs. */
static hipError_t tell_kernels(struct name *name, struct hip_code *code)
{
	void *pointer;
	size_t size_B;
	hipError_t r = name->locked ? hipSuccess : lock_managed(name);

	if (r)
		return r;
	r = hip_code_variable(code, name->device_name, &pointer, &size_B);
	/* The compiler drops what no kernel uses. */
	if (r || size_B != sizeof(name->managed))
		return r == hipErrorNotFound ? hipSuccess : hipErrorInvalidImage;
	return hip_of_hsa(hsa_memory_copy(pointer, &name->managed, sizeof(name->managed)));
}

static hipError_t tell_all_locked(const struct hip_binary *binary, struct hip_code *code)
{
	struct table *t = kernel_names.table;
	hipError_t r = hipSuccess;

	for (size_t i = 0; !r && t && i <= t->mask; i++) {
		struct name *name = t->slot[i];

		if (name && name->binary == binary && name->managed)
			r = tell_kernels(name, code);
	}
	return r;
}

static hipError_t load_locked(struct hip_binary *binary, struct hip_device *device, struct hip_code *code)
{
	hipError_t r = hip_code_load(device, binary->wrapper->bundle, 0, code);

	if (r)
		return r;
	r = tell_all_locked(binary, code);
	if (r)
		hip_code_unload(code);
	return r;
}

/* What was loaded on the device is loaded again when it is used: variables begin anew. */
void hip_binaries_reset(struct hip_device *device)
{
	struct table *t;

	pthread_mutex_lock(&kernel_names.lock);
	t = kernel_names.table;
	for (size_t i = 0; t && i <= t->mask; i++) {
		struct name *name = t->slot[i];
		struct hip_code **code = name && name->binary ? &name->binary->code[device->index] : NULL;

		if (!name)
			continue;
		forget_kernel(atomic_exchange(&name->kernel[device->index], NULL));
		if (code && *code) {
			unload(&name->binary->before[device->index]);
			name->binary->before[device->index] = *code;
			*code = NULL;
		}
	}
	pthread_mutex_unlock(&kernel_names.lock);
}

/* --- finding ---------------------------------------------------------------------------------- */

static hipError_t code_locked(struct hip_binary *binary, struct hip_device *device, struct hip_code **out)
{
	struct hip_code *code = binary->code[device->index];
	hipError_t r;

	if (!code) {
		if (!binary->wrapper)
			return hipErrorInvalidImage;
		code = calloc(1, sizeof(*code));
		r = code ? load_locked(binary, device, code) : hipErrorOutOfMemory;
		if (r) {
			free(code);
			return r;
		}
		binary->code[device->index] = code;
	}
	*out = code;
	return hipSuccess;
}

static hipError_t load_kernel(struct name *name, struct hip_device *device, const struct hip_kernel **out)
{
	struct hip_kernel *kernel = calloc(1, sizeof(*kernel));
	struct hip_code *code;
	hipError_t r = kernel ? hipSuccess : hipErrorOutOfMemory;

	pthread_mutex_lock(&kernel_names.lock);
	if (!r && !name->binary)
		r = hipErrorInvalidDeviceFunction;
	if (!r)
		r = code_locked(name->binary, device, &code);
	if (!r)
		r = hip_code_kernel(code, name->device_name, kernel);
	if (!r && !name->kernel[device->index]) {
		atomic_store_explicit(&name->kernel[device->index], kernel, memory_order_release);
		kernel = NULL;
	}
	*out = name->kernel[device->index];
	pthread_mutex_unlock(&kernel_names.lock);
	free(kernel);
	return r == hipErrorNotFound ? hipErrorInvalidDeviceFunction : r;
}

hipError_t hip_kernel_of(const void *host, struct hip_device *device, const struct hip_kernel **kernel)
{
	struct name *name = host ? find(host) : NULL;

	if (!name || name->size_B)
		return hipErrorInvalidDeviceFunction;
	*kernel = atomic_load_explicit(&name->kernel[device->index], memory_order_acquire);
	if (__builtin_expect(*kernel != NULL, 1))
		return hipSuccess;
	return load_kernel(name, device, kernel);
}

size_t hip_constants_of(const void *host)
{
	const struct name *name = host ? find(host) : NULL;

	return name && name->binary ? name->binary->constant_B : 0;
}

hipError_t hip_variable_of(const void *host, struct hip_device *device, void **address, size_t *size_B)
{
	struct name *name = host ? find(host) : NULL;
	struct hip_code *code;
	hipError_t r;

	if (!name || !name->size_B)
		return hipErrorInvalidSymbol;
	if (name->managed) {
		*address = name->managed;
		*size_B = name->size_B;
		return hipSuccess;
	}
	pthread_mutex_lock(&kernel_names.lock);
	r = name->binary ? code_locked(name->binary, device, &code) : hipErrorInvalidSymbol;
	if (!r)
		r = hip_code_variable(code, name->device_name, address, size_B);
	pthread_mutex_unlock(&kernel_names.lock);
	return r == hipErrorNotFound ? hipErrorInvalidSymbol : r;
}
