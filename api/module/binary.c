/* Fat binaries that a program was linked with, and the kernels and variables in them, which host code names by
 * addresses of its own (host stubs and shadow variables). Registration only stores names: a program may have
 * hundreds of binaries, and there may be no GPU. A binary is loaded on a device when one of its kernels or
 * variables is first used there. Several binaries may register the same kernel, an instance of a template: the
 * first one counts. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "drv/lock.h"
#include "api/memory/memory.h"
#include "api/module/module.h"
#include "api/stream/stream.h"

struct hip_binary {
	struct drv_retired retired;                   /* used when the binary is unregistered */
	const struct hip_fat_binary_wrapper *wrapper; /* borrowed until the binary is unregistered */
	struct hip_code *code[HIP_DEVICES_MAX];       /* owned; guarded by kernel_names.lock */
	/* Bytes of its __constant__ variables; complete when all are registered. */
	size_t constant_B;
};

/* A kernel or a variable, by its address in host code. */
struct name {
	const void *host;
	struct hip_binary *binary; /* borrowed; NULL: unregistered */
	const char *device_name;   /* borrowed from the binary */
	size_t size_B;             /* bytes of a variable, as host code declares it; 0: a kernel */
	void *managed;             /* owned, mapped: memory of a managed variable; NULL: not managed */
	bool locked;               /* mapped for the GPUs; guarded by kernel_names.lock */
	struct hip_kernel *_Atomic kernel[HIP_DEVICES_MAX]; /* owned; made at the first launch */
};

/* A hash table with open addressing, read without a lock. A table that has become too small is kept for threads
 * that still read it. */
struct table {
	struct table *old; /* owned */
	size_t mask;
	struct name *_Atomic slot[];
};

static struct {
	struct drv_mutex lock; /* guards changes */
	struct table *_Atomic table;
	size_t count;
} kernel_names = {.lock = DRV_MUTEX(DRV_RANK_HIP_BINARIES)};

/* --- the table of names ----------------------------------------------------------------------- */

static size_t place_of(const void *host, size_t mask)
{
	return ((uintptr_t)host * 0x9e3779b97f4a7c15u >> 20) & mask;
}

/* The first name of the address, or, if asked, the first that an unloaded library has left. */
static inline struct name *find_in(struct table *t, const void *host, bool unused)
{
	struct name *name;

	if (!t)
		return NULL;
	for (size_t i = place_of(host, t->mask);; i = (i + 1) & t->mask) {
		name = atomic_load_explicit(&t->slot[i], memory_order_acquire);
		if (!name || (name->host == host && !(unused && name->binary)))
			return name;
	}
}

static struct name *name_find(const void *host)
{
	return find_in(atomic_load_explicit(&kernel_names.table, memory_order_acquire), host, false);
}

static void put_locked(struct table *t, struct name *name)
{
	size_t i = place_of(name->host, t->mask);

	drv_rank_assert(DRV_RANK_HIP_BINARIES);
	while (atomic_load_explicit(&t->slot[i], memory_order_relaxed))
		i = (i + 1) & t->mask;
	atomic_store_explicit(&t->slot[i], name, memory_order_release);
}

static bool grow_locked(void)
{
	struct table *old = kernel_names.table;
	size_t size = old ? 2 * (old->mask + 1) : 256;
	struct table *t = calloc(1, sizeof(*t) + size * sizeof(t->slot[0]));

	drv_rank_assert(DRV_RANK_HIP_BINARIES);
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

/* Out of memory: the name stays unknown, and a launch of it returns an error. */
static void name_add(const struct name *like)
{
	struct name *name;

	if (hip.child)
		return;
	drv_mutex_lock(&kernel_names.lock);
	name = find_in(kernel_names.table, like->host, true);
	if (name) { /* the library is loaded again */
		name->binary = like->binary;
		name->device_name = like->device_name;
		name->size_B = like->size_B;
		name->managed = like->managed;
	} else if (!like->managed && name_find(like->host)) {
		/* Another binary has registered the name: the first one counts. A managed variable's pointer is set
		 * in each binary. */
	} else if ((kernel_names.table && kernel_names.count < kernel_names.table->mask / 2) || grow_locked()) {
		name = calloc(1, sizeof(*name));
		if (name) {
			*name = *like;
			put_locked(kernel_names.table, name);
			kernel_names.count++;
		}
	}
	drv_mutex_unlock(&kernel_names.lock);
}

/* --- registration ----------------------------------------------------------------------------- */

void **__hipRegisterFatBinary(const void *data)
{
	const struct hip_fat_binary_wrapper *wrapper = data;
	struct hip_binary *binary = wrapper ? calloc(1, sizeof(*binary)) : NULL;

	if (binary && wrapper->bundle && wrapper->version == 1 &&
	    (wrapper->magic == HIP_FAT_BINARY_MAGIC || wrapper->magic == HIP_KPACK_MAGIC))
		binary->wrapper = wrapper;
	return (void **)(void *)binary;
}

void __hipRegisterFunction(void **binary, const void *host, char *device_name, const char *name, int thread_limit,
			   void *tid, void *bid, dim3 *block, dim3 *grid, int *warp_size)
{
	(void)name, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
	if (binary && device_name)
		name_add(&(struct name){.host = host, .binary = (void *)binary, .device_name = device_name});
}

void __hipRegisterVar(void **binary, void *host, char *device_name, const char *name, int external, size_t size_B,
		      int constant, int global)
{
	struct hip_binary *b = (void *)binary;

	(void)name, (void)external, (void)global;
	if (!b || !device_name)
		return;
	name_add(&(struct name){.host = host, .binary = b, .device_name = device_name, .size_B = size_B});
	if (constant)
		b->constant_B += size_B;
}

/* Allocates host memory at once; GPUs get access when the binary is loaded. */
void __hipRegisterManagedVar(void **binary, void **host, void *init, const char *name, size_t size_B,
			     unsigned align_B)
{
	void *memory;

	(void)align_B; /* a page's alignment is larger */
	if (!binary || !host || !init || !name)
		return;
	memory = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	memcpy(memory, init, size_B);
	*host = memory;
	name_add(&(struct name){
		.host = host, .binary = (void *)binary, .device_name = name, .size_B = size_B, .managed = memory});
}

/* A texture reference is a structure that host and device code both have, in the same layout; type and mode are in
 * the host's. */
void __hipRegisterTexture(void **binary, void *host, char *device_name, const char *name, int type, int normalized,
			  int external)
{
	(void)name, (void)type, (void)normalized, (void)external;
	if (binary && device_name)
		name_add(&(struct name){.host = host,
					.binary = (void *)binary,
					.device_name = device_name,
					.size_B = sizeof(textureReference)});
}

/* Surface references do not exist in HIP: surfaces are objects. */
void __hipRegisterSurface(void **binary, void *host, char *device_name, const char *name, int type, int external)
{
	(void)binary, (void)host, (void)device_name, (void)name, (void)type, (void)external;
}

static void free_kernel(struct drv_retired *retired)
{
	free(vm_container(retired, struct hip_kernel, retired));
}

static void forget_kernel(struct hip_kernel *kernel)
{
	if (!kernel)
		return;
	hip_function_drop(kernel->device, kernel->object);
	hip_kernel_retire(kernel, free_kernel);
}

static void names_forget(struct hip_binary *binary)
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

static void code_unload(struct hip_code **code)
{
	if (!*code)
		return;
	hip_code_unload(*code);
	free(*code);
	*code = NULL;
}

static void free_binary(struct drv_retired *retired)
{
	free(vm_container(retired, struct hip_binary, retired));
}

/* Called at exit, or when a library is unloaded; waits for the device's work first. Does nothing in a forked child,
 * whose handles are its parent's; a host function that ends the program does not wait, since it is work itself. */
void __hipUnregisterFatBinary(void **handle)
{
	struct hip_binary *binary = (void *)handle;

	if (!binary || hip.child || hip_thread.in_host_function)
		return;
	DRV_HOLD_CANCEL;

	hip_call_begin();
	for (unsigned d = 0; d < hip.devices; d++)
		if (binary->code[d] && !(hip_slow_path_flags() & HIP_SLOW_UNINITIALIZED))
			(void)!hip_device_wait(&hip.device[d]);
	drv_mutex_lock(&kernel_names.lock);
	names_forget(binary);
	drv_mutex_unlock(&kernel_names.lock);
	for (unsigned d = 0; d < hip.devices; d++)
		code_unload(&binary->code[d]);
	drv_retire(&hip_calls, &binary->retired, free_binary);
	hip_retire_flush();
	hip_call_end();
}

/* --- loading ---------------------------------------------------------------------------------- */

/* Maps the variable's memory for all GPUs, at the host's address. */
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

/* Stores the variable's address in the pointer by which kernels access a managed variable. */
static hipError_t managed_set(struct name *name, struct hip_code *code)
{
	void *pointer;
	size_t size_B;
	hipError_t r = name->locked ? hipSuccess : lock_managed(name);

	if (r)
		return r;
	r = hip_code_variable(code, name->device_name, &pointer, &size_B);
	/* The compiler removes variables that no kernel uses. */
	if (r || size_B != sizeof(name->managed))
		return r == hipErrorNotFound ? hipSuccess : hipErrorInvalidImage;
	return hip_of_hsa(hsa_memory_copy(pointer, &name->managed, sizeof(name->managed)));
}

static hipError_t managed_set_all_locked(const struct hip_binary *binary, struct hip_code *code)
{
	struct table *t = kernel_names.table;
	hipError_t r = hipSuccess;

	drv_rank_assert(DRV_RANK_HIP_BINARIES);
	for (size_t i = 0; !r && t && i <= t->mask; i++) {
		struct name *name = t->slot[i];

		if (name && name->binary == binary && name->managed)
			r = managed_set(name, code);
	}
	return r;
}

static hipError_t load_locked(struct hip_binary *binary, struct hip_device *device, struct hip_code *code)
{
	const struct hip_fat_binary_wrapper *wrapper = binary->wrapper;
	const bool packed = wrapper->magic == HIP_KPACK_MAGIC;
	hipError_t r = hip_code_load(device, packed ? (const void *)wrapper : wrapper->bundle, 0, code);

	drv_rank_assert(DRV_RANK_HIP_BINARIES);
	if (r)
		return r;
	r = managed_set_all_locked(binary, code);
	if (r)
		hip_code_unload(code);
	return r;
}

/* Forgets what was loaded on the device. The next use loads it again, with initial values. */
void hip_binaries_reset(struct hip_device *device)
{
	struct table *t;

	drv_mutex_lock(&kernel_names.lock);
	t = kernel_names.table;
	for (size_t i = 0; t && i <= t->mask; i++) {
		struct name *name = t->slot[i];
		struct hip_code **code = name && name->binary ? &name->binary->code[device->index] : NULL;

		if (!name)
			continue;
		forget_kernel(atomic_exchange(&name->kernel[device->index], NULL));
		if (code)
			code_unload(code);
	}
	drv_mutex_unlock(&kernel_names.lock);
}

/* --- look-up ---------------------------------------------------------------------------------- */

static hipError_t code_locked(struct hip_binary *binary, struct hip_device *device, struct hip_code **out)
{
	struct hip_code *code = binary->code[device->index];
	hipError_t r;

	drv_rank_assert(DRV_RANK_HIP_BINARIES);
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

	drv_mutex_lock(&kernel_names.lock);
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
	drv_mutex_unlock(&kernel_names.lock);
	free(kernel);
	return r == hipErrorNotFound ? hipErrorInvalidDeviceFunction : r;
}

hipError_t hip_kernel_of(const void *host, struct hip_device *device, const struct hip_kernel **kernel)
{
	struct name *name = host ? name_find(host) : NULL;

	if (!name || name->size_B)
		return hipErrorInvalidDeviceFunction;
	*kernel = atomic_load_explicit(&name->kernel[device->index], memory_order_acquire);
	if (__builtin_expect(*kernel != NULL, 1))
		return hipSuccess;
	return load_kernel(name, device, kernel);
}

size_t hip_constants_of(const void *host)
{
	const struct name *name = host ? name_find(host) : NULL;

	return name && name->binary ? name->binary->constant_B : 0;
}

hipError_t hip_variable_of(const void *host, struct hip_device *device, void **address, size_t *size_B)
{
	struct name *name = host ? name_find(host) : NULL;
	struct hip_code *code;
	hipError_t r;

	if (!name || !name->size_B)
		return hipErrorInvalidSymbol;
	if (name->managed) {
		*address = name->managed;
		*size_B = name->size_B;
		return hipSuccess;
	}
	drv_mutex_lock(&kernel_names.lock);
	r = name->binary ? code_locked(name->binary, device, &code) : hipErrorInvalidSymbol;
	if (!r)
		r = hip_code_variable(code, name->device_name, address, size_B);
	drv_mutex_unlock(&kernel_names.lock);
	return r == hipErrorNotFound ? hipErrorInvalidSymbol : r;
}
