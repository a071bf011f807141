/* Failure injection: every ioctl and every allocation of a program that uses memory in all ways fails in turn; the
 * program continues as far as it can, and leaks nothing. The rooms below are covered, too: their allocations are
 * renamed with ours. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/hsa_find.h"
#include "tests/inject.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define PAGE 4096u
#define MIB  (1ull << 20)

static hsa_status_t first_failure;

/* Continues after a failure, so that every error path is run. */
static bool ok(hsa_status_t status)
{
	if (status && !first_failure)
		first_failure = status;
	return !status;
}

static void blocks(const struct hsa_find *f, hsa_amd_memory_pool_t pool, size_t size_B)
{
	hsa_agent_t gpus[] = {f->gpu[0].agent, f->gpu[1].agent};
	hsa_amd_ipc_memory_t handle;
	uint64_t offset_B;
	void *data, *seen;
	size_t got_B;
	int fd;

	if (!ok(hsa_amd_memory_pool_allocate(pool, size_B, 0, &data)))
		return;
	ok(hsa_amd_agents_allow_access(2, gpus, NULL, data));
	ok(hsa_amd_memory_fill(data, 3, size_B / 4));
	ok(hsa_amd_pointer_info_set_userdata(data, data));
	if (!hsa_amd_portable_export_dmabuf(data, size_B, &fd, &offset_B)) {
		if (ok(hsa_amd_interop_map_buffer(2, gpus, fd, 0, &got_B, &seen, NULL, NULL)))
			ok(hsa_amd_interop_unmap_buffer(seen));
		ok(hsa_amd_portable_close_dmabuf(fd));
	}
	/* Host memory of several GPUs is no BO, and has no IPC handle. */
	if (pool.handle != f->cpu[0].fine.handle && ok(hsa_amd_ipc_memory_create(data, size_B, &handle)) &&
	    ok(hsa_amd_ipc_memory_attach(&handle, size_B, 1, gpus, &seen)))
		ok(hsa_amd_ipc_memory_detach(seen));
	ok(hsa_amd_memory_pool_free(data));
}

static void mappings(const struct hsa_find *f, hsa_amd_memory_pool_t pool)
{
	const hsa_amd_memory_access_desc_t all[] = {{HSA_ACCESS_PERMISSION_RW, f->gpu[0].agent},
						    {HSA_ACCESS_PERMISSION_RO, f->gpu[1].agent},
						    {HSA_ACCESS_PERMISSION_RW, f->cpu[0].agent}};
	hsa_amd_vmem_alloc_handle_t handle, same;
	void *va;
	int fd;

	if (!ok(hsa_amd_vmem_address_reserve(&va, 4 * PAGE, 0, 0)))
		return;
	if (ok(hsa_amd_vmem_handle_create(pool, 2 * PAGE, MEMORY_TYPE_NONE, 0, &handle))) {
		if (ok(hsa_amd_vmem_map(va, PAGE, PAGE, handle, 0)))
			ok(hsa_amd_vmem_set_access(va, PAGE, all, 3));
		if (ok(hsa_amd_vmem_export_shareable_handle(&fd, handle, 0))) {
			if (ok(hsa_amd_vmem_import_shareable_handle(fd, &same)))
				ok(hsa_amd_vmem_handle_release(same));
			close(fd);
		}
		ok(hsa_amd_vmem_unmap(va, PAGE)); /* an unmapping that fails is left to hsa_shut_down() */
		ok(hsa_amd_vmem_handle_release(handle));
	}
	ok(hsa_amd_vmem_address_free(va, 4 * PAGE));
}

static void host(const struct hsa_find *f)
{
	static char memory[5 * PAGE] __attribute__((aligned(4096)));
	hsa_amd_svm_attribute_pair_t may = {HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, f->gpu[1].agent.handle},
				     may_not = {HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, f->gpu[1].agent.handle};
	void *locked;

	if (ok(hsa_amd_memory_lock(memory + 9, PAGE, NULL, 0, &locked)))
		ok(hsa_amd_memory_unlock(memory + 9));
	ok(hsa_amd_svm_attributes_set(memory, 4 * PAGE, &may, 1));
	ok(hsa_amd_svm_attributes_set(memory + PAGE, PAGE, &may_not, 1));
	ok(hsa_amd_svm_attributes_set(memory, 4 * PAGE, &may_not, 1));
}

static void signals(void)
{
	hsa_amd_ipc_signal_t handle;
	hsa_signal_t signal, twin;

	if (!ok(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &signal)))
		return;
	if (ok(hsa_amd_ipc_signal_create(signal, &handle)) && ok(hsa_amd_ipc_signal_attach(&handle, &twin)))
		ok(hsa_signal_destroy(twin));
	ok(hsa_signal_destroy(signal));
}

static hsa_status_t count_gpus(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	*(unsigned *)data += type == HSA_DEVICE_TYPE_GPU;
	return HSA_STATUS_SUCCESS;
}

static int program(void)
{
	struct hsa_find f = {0};
	unsigned gpus = 0;

	first_failure = HSA_STATUS_SUCCESS;
	if (hsa_init())
		return -ENOMEM;
	hsa_iterate_agents(count_gpus, &gpus);
	if (gpus == 2 && hsa_find_all(&f)) { /* a GPU that failed is hidden */
		blocks(&f, f.gpu[1].coarse, 2 * PAGE);
		blocks(&f, f.gpu[0].coarse, MIB);
		blocks(&f, f.cpu[0].fine, PAGE);
		mappings(&f, f.gpu[0].coarse);
		mappings(&f, f.gpu[1].coarse);
		host(&f);
		signals();
	}
	hsa_shut_down();
	return first_failure || gpus < 2 ? -ENOMEM : 0;
}

int main(void)
{
	/* A failed unmap leaves a mapping that the kernel removes when the file is closed: the virtual GPU reports
	 * a violation, but not one of this library. */
	vgpu_strict_set(VGPU_STRICT_OFF);
	setenv("TUFF_PEER_ACCESS", "1", 1);
	CHECK_EQ(vgpu_start("gfx908:p2p=1,gfx908:p2p=1"), 0);
	inject_every_failure(program);
	vgpu_stop();
	return check_done("every failure is survived by the memory of HSA");
}
