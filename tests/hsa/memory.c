/* Memory through HSA: allocation, fills, copies, pointer information, callbacks, dma-bufs; and invalid calls give a
 * status. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/hsa_find.h"
#include "vgpu/vgpu.h"

#define KIB 1024u
#define MIB (1024u * KIB)

static struct hsa_find f;

static void *allocate(hsa_amd_memory_pool_t pool, size_t size_B)
{
	void *ptr = NULL;

	CHECK_EQ(hsa_amd_memory_pool_allocate(pool, size_B, 0, &ptr), HSA_STATUS_SUCCESS);
	return ptr;
}

/* How many of the dwords at a device's address are not `value`. */
static unsigned differ(const void *device, unsigned count, uint32_t value)
{
	uint32_t *host = malloc(count * 4);
	unsigned wrong = 0;

	CHECK_EQ(hsa_memory_copy(host, device, count * 4), HSA_STATUS_SUCCESS);
	for (unsigned i = 0; i < count; i++)
		wrong += host[i] != value;
	free(host);
	return wrong;
}

/* Filled are `count` dwords from the second on, and not their neighbours. */
static void filled(hsa_amd_memory_pool_t pool, unsigned count)
{
	uint32_t *data = allocate(pool, (count + 2) * 4);

	CHECK_EQ(hsa_amd_memory_fill(data, 7, count + 2), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_fill(data + 1, 0x12345678, count), HSA_STATUS_SUCCESS);
	CHECK_EQ(differ(data, 1, 7), 0);
	CHECK_EQ(differ(data + 1, count, 0x12345678), 0);
	CHECK_EQ(differ(data + 1 + count, 1, 7), 0);
	CHECK_EQ(hsa_amd_memory_fill(data, 0, 0), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_fill((char *)data + 2, 0, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_memory_fill(data, 0, SIZE_MAX / 4), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_memory_fill(data, 0, SIZE_MAX / 2), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_memory_fill(data, 0, count + 8 * MIB), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_fill(data, 0, 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static void fills(void)
{
	static uint32_t host[3000];
	uint32_t *locked;

	filled(f.cpu[0].fine, 10);
	filled(f.cpu[0].coarse, 100 * KIB);
	filled(f.gpu[0].coarse, 10);
	filled(f.gpu[0].coarse, 100 * KIB + 3);
	CHECK_EQ(hsa_amd_memory_fill(NULL, 0, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_memory_fill(host, 0, 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_memory_lock(host, sizeof(host), NULL, 0, (void **)&locked), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_fill(locked, 1, 3000), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_fill(host + 1, 2, 1), HSA_STATUS_SUCCESS);
	CHECK(host[0] == 1 && host[1] == 2 && host[2] == 1 && host[2999] == 1);
	CHECK_EQ(hsa_amd_memory_unlock(host), HSA_STATUS_SUCCESS);
}

/* --- what a pointer tells --------------------------------------------------------------------- */

static hsa_amd_pointer_info_t ask(const void *ptr)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};

	CHECK_EQ(hsa_amd_pointer_info(ptr, &info, NULL, NULL, NULL), HSA_STATUS_SUCCESS);
	return info;
}

static void userdata(void)
{
	char *ptr = allocate(f.gpu[0].coarse, 8 * KIB);
	static char host[64];
	void *locked;

	CHECK(!ask(ptr).userData);
	CHECK_EQ(hsa_amd_pointer_info_set_userdata(ptr, &f), HSA_STATUS_SUCCESS);
	CHECK(ask(ptr + 5000).userData == &f);
	CHECK_EQ(hsa_amd_pointer_info_set_userdata(ptr, NULL), HSA_STATUS_SUCCESS);
	CHECK(!ask(ptr).userData);
	CHECK_EQ(hsa_amd_pointer_info_set_userdata(ptr, &f), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_pointer_info_set_userdata(ptr + 4, &f), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_pointer_info_set_userdata(NULL, &f), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_pointer_info_set_userdata(host, &f), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_memory_pool_free(ptr), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_pointer_info_set_userdata(ptr, &f), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	/* It went with its memory: who gets the address finds nothing. */
	ptr = allocate(f.gpu[0].coarse, 8 * KIB);
	CHECK(!ask(ptr).userData);
	CHECK_EQ(hsa_amd_memory_pool_free(ptr), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_lock(host, 64, NULL, 0, &locked), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_pointer_info_set_userdata(host, &f), HSA_STATUS_SUCCESS);
	CHECK(ask(host).userData == &f && ask(host).type == HSA_EXT_POINTER_TYPE_LOCKED);
	CHECK_EQ(hsa_amd_memory_unlock(host), HSA_STATUS_SUCCESS);
}

static void *called_with;
static unsigned calls;

static void on_free(void *ptr, void *data)
{
	called_with = ptr;
	calls += *(unsigned *)data;
	/* It still is there, and functions of HSA may be called. */
	CHECK_EQ(ask(ptr).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
}

static void on_free_too(void *ptr, void *data)
{
	on_free(ptr, data);
}

static void callbacks(void)
{
	char *ptr = allocate(f.gpu[0].coarse, 8 * KIB);
	unsigned one = 1, ten = 10, hundred = 100;

	CHECK_EQ(hsa_amd_register_deallocation_callback(ptr, on_free, &one), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_register_deallocation_callback(ptr, on_free_too, &ten), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_register_deallocation_callback(ptr + 64, on_free, &hundred), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_deregister_deallocation_callback(ptr, on_free_too), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_deregister_deallocation_callback(ptr, on_free_too), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_deregister_deallocation_callback(&one, on_free), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_deregister_deallocation_callback(NULL, on_free), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_register_deallocation_callback(ptr, NULL, &one), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_register_deallocation_callback(NULL, on_free, &one), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_register_deallocation_callback(&one, on_free, &one), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(calls, 0);
	CHECK_EQ(hsa_amd_memory_pool_free(ptr), HSA_STATUS_SUCCESS);
	CHECK_EQ(calls, 101);
	CHECK(called_with == ptr || called_with == ptr + 64);
	CHECK_EQ(hsa_amd_register_deallocation_callback(ptr, on_free, &one), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_memory_pool_free(ptr), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(calls, 101);
}

/* --- dma-bufs --------------------------------------------------------------------------------- */

/* What the CPU sees through a dma-buf is the memory, at the offset that was told; and a dma-buf has nothing of the
 * neighbours. */
static void exported(size_t size_B)
{
	uint32_t *data = allocate(f.gpu[0].coarse, size_B), *seen;
	uint32_t *neighbour = allocate(f.gpu[0].coarse, size_B);
	uint64_t offset_B = 1;
	int fd = -1, again = -1;

	CHECK_EQ(hsa_amd_memory_fill(data, 5, size_B / 4), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_portable_export_dmabuf((char *)data + 64, size_B - 64, &fd, &offset_B),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(offset_B, 64);
	CHECK_EQ(differ(data, size_B / 4, 5), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_END), (off_t)((size_B + 4095) & ~4095ull));
	seen = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (CHECK(seen != MAP_FAILED)) {
		CHECK_EQ(seen[16], 5);
		CHECK_EQ(hsa_amd_memory_fill(data, 6, size_B / 4), HSA_STATUS_SUCCESS);
		CHECK_EQ(seen[size_B / 4 - 1], 6);
		CHECK_EQ(munmap(seen, size_B), 0);
	}
	CHECK_EQ(hsa_amd_portable_export_dmabuf_v2(data, 4, &again, &offset_B, HSA_AMD_DMABUF_MAPPING_TYPE_PCIE),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(offset_B, 0);
	CHECK_EQ(hsa_amd_portable_close_dmabuf(again), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_portable_close_dmabuf(again), HSA_STATUS_ERROR_RESOURCE_FREE);
	CHECK_EQ(hsa_amd_portable_export_dmabuf_v2(data, 4, &again, &offset_B, 2),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_portable_export_dmabuf(data, size_B + 4096, &again, &offset_B),
		 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_portable_export_dmabuf(data, SIZE_MAX - 8, &again, &offset_B),
		 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_memory_pool_free(neighbour), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_portable_export_dmabuf(data, 4, &again, &offset_B), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_portable_close_dmabuf(fd), HSA_STATUS_SUCCESS);
}

static void dmabufs(void)
{
	void *host = allocate(f.cpu[0].fine, 64);
	bool supported = false;
	uint64_t offset_B;
	int fd;

	CHECK_EQ(hsa_system_get_info((hsa_system_info_t)HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED, &supported), 0);
	CHECK(supported);
	exported(8 * KIB);
	exported(3 * MIB);
	CHECK_EQ(hsa_amd_portable_export_dmabuf(host, 4, &fd, &offset_B), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_portable_export_dmabuf(NULL, 4, &fd, &offset_B), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_portable_export_dmabuf(host, 0, &fd, &offset_B), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_portable_export_dmabuf(host, 4, NULL, &offset_B), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_portable_export_dmabuf(host, 4, &fd, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_portable_export_dmabuf(&fd, 4, &fd, &offset_B), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_memory_pool_free(host), HSA_STATUS_SUCCESS);
}

/* A buffer that comes as a dma-buf, as from a graphics driver: the same memory at another address. */
static void interop(void)
{
	uint32_t *data = allocate(f.gpu[0].coarse, 3 * MIB), *seen = NULL;
	hsa_agent_t gpu = f.gpu[0].agent, cpu = f.cpu[0].agent;
	const void *metadata = &f;
	size_t size_B = 0, metadata_B = 9;
	uint64_t offset_B;
	int fd = -1;

	CHECK_EQ(hsa_amd_portable_export_dmabuf(data, 3 * MIB, &fd, &offset_B), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_interop_map_buffer(1, &gpu, fd, 0, &size_B, (void **)&seen, &metadata_B, &metadata),
		 HSA_STATUS_SUCCESS);
	CHECK(seen && seen != data && size_B == 3 * MIB && !metadata_B && !metadata);
	CHECK_EQ(ask(seen + 9).type, HSA_EXT_POINTER_TYPE_GRAPHICS);
	CHECK_EQ(ask(seen + 9).sizeInBytes, 3 * MIB);
	CHECK_EQ(hsa_amd_memory_fill(seen, 8, 3 * MIB / 4), HSA_STATUS_SUCCESS);
	CHECK_EQ(differ(data, 3 * MIB / 4, 8), 0);
	/* It outlives where it came from. */
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_portable_close_dmabuf(fd), HSA_STATUS_SUCCESS);
	CHECK_EQ(differ(seen, 3 * MIB / 4, 8), 0);
	CHECK_EQ(hsa_amd_vmem_unmap(seen, 3 * MIB), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_memory_pool_free(seen), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_interop_unmap_buffer(seen), HSA_STATUS_SUCCESS);
	CHECK_EQ(ask(seen).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
	CHECK_EQ(hsa_amd_interop_unmap_buffer(seen), HSA_STATUS_SUCCESS); /* ROCr minds neither this */
	CHECK_EQ(hsa_amd_interop_unmap_buffer(NULL), HSA_STATUS_SUCCESS); /* nor this */
	CHECK_EQ(hsa_amd_interop_map_buffer(1, &gpu, 9999, 0, &size_B, (void **)&seen, NULL, NULL),
		 HSA_STATUS_ERROR);
	CHECK_EQ(hsa_amd_interop_map_buffer(1, &cpu, fd, 0, &size_B, (void **)&seen, NULL, NULL),
		 HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_interop_map_buffer(0, &gpu, fd, 0, &size_B, (void **)&seen, NULL, NULL),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_interop_map_buffer(1, &gpu, fd, 1, &size_B, (void **)&seen, NULL, NULL),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_interop_map_buffer(1, NULL, fd, 0, &size_B, (void **)&seen, NULL, NULL),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_interop_map_buffer(1, &gpu, fd, 0, NULL, (void **)&seen, NULL, NULL),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

/* --- relics ----------------------------------------------------------------------------------- */

static void relics(void)
{
	hsa_amd_coherency_type_t type = HSA_AMD_COHERENCY_TYPE_NONCOHERENT;
	hsa_agent_t cpu = f.cpu[0].agent, gpu = f.gpu[0].agent, none = {1};
	bool can;

	CHECK_EQ(hsa_memory_assign_agent(&can, gpu, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_memory_assign_agent(&can, none, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_memory_assign_agent(NULL, gpu, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_memory_assign_agent(&can, gpu, HSA_ACCESS_PERMISSION_NONE), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_coherency_get_type(gpu, &type), HSA_STATUS_SUCCESS);
	CHECK_EQ(type, HSA_AMD_COHERENCY_TYPE_COHERENT);
	CHECK_EQ(hsa_amd_coherency_set_type(gpu, HSA_AMD_COHERENCY_TYPE_NONCOHERENT), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_coherency_get_type(gpu, &type), HSA_STATUS_SUCCESS);
	CHECK_EQ(type, HSA_AMD_COHERENCY_TYPE_NONCOHERENT);
	CHECK_EQ(hsa_amd_coherency_set_type(gpu, (hsa_amd_coherency_type_t)2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_coherency_set_type(cpu, HSA_AMD_COHERENCY_TYPE_COHERENT), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_coherency_get_type(cpu, &type), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_coherency_get_type(gpu, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_memory_pool_can_migrate(f.cpu[0].fine, f.gpu[0].coarse, &can),
		 HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	CHECK_EQ((int)hsa_amd_memory_pool_can_migrate((hsa_amd_memory_pool_t){5}, f.gpu[0].coarse, &can),
		 HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
	CHECK_EQ(hsa_amd_memory_pool_can_migrate(f.cpu[0].fine, f.gpu[0].coarse, NULL),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_memory_migrate(&can, f.gpu[0].coarse, 0), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	CHECK_EQ(hsa_amd_memory_migrate(&can, f.gpu[0].coarse, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_memory_migrate(NULL, f.gpu[0].coarse, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
	if (!CHECK_EQ(vgpu_start("gfx908"), 0))
		return check_done("memory through HSA");
	CHECK_EQ(hsa_amd_memory_fill(&f, 0, 1), HSA_STATUS_ERROR_NOT_INITIALIZED);
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	if (hsa_find_all(&f)) {
		fills();
		userdata();
		callbacks();
		dmabufs();
		interop();
		relics();
		/* left to the end: whoever shuts down frees it, and calls nobody */
		CHECK_EQ(hsa_amd_pointer_info_set_userdata(allocate(f.gpu[0].coarse, 64), &f), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
	return check_done("memory through HSA");
}
