/* VMIDs: which VM has which, and what goes from process to process with one. */
#include <sys/wait.h>
#include "vgpu/kernel/tests/test_rig.h"

/* The VMID of the last job of a new file, which gets memory of its own to run an IB of NOPs. */
static int vmid_of_a_job(int fd)
{
	uint32_t ib_bo, list, ctx;
	int keep = rig.fd, id = 0;
	uint32_t *ib;

	rig.fd = fd;
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &ib_bo), 0);
	ib = rig_map(ib_bo, 4096);
	for (unsigned i = 0; i < 16; i++)
		ib[i] = RIG_NOP;
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, ib_bo, RIG_IB_VA, 4096, RIG_RWX), 0);
	rig.ib_dw = 16;
	uint32_t rig_bo = rig.ib_bo;
	rig.ib_bo = ib_bo;
	list = rig_list(NULL, 0);
	ctx = rig_ctx();
	CHECK_EQ(rig_submit_ibs(ctx, list, 0, 1, NULL), 0);
	CHECK_EQ(rig_wait_ctx(ctx, UINT64_MAX, UINT64_MAX), 0);
	munmap(ib, 4096);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(ib_bo), 0);
	kern_lock();
	for (int i = 1; i < KERN_VMIDS; i++)
		if (kern->device[0].vmid[i].used > kern->device[0].vmid[id].used)
			id = i;
	kern_unlock();
	rig.ib_bo = rig_bo;
	rig.fd = keep;
	return id;
}

/* row 169 */
static void they_go_round(const char *spec, int count)
{
	int fd[9];

	rig_start(spec);
	for (int i = 0; i <= count; i++) {
		fd[i] = rig_open("/dev/dri/renderD128");
		CHECK_EQ(vmid_of_a_job(fd[i]), i % count + 1);
	}
	for (int i = 0; i <= count; i++)
		close(fd[i]);
	rig_stop();
}

static uint64_t foreign(unsigned id)
{
	uint64_t epoch;

	kern_lock();
	epoch = kern->device[0].vmid[id].foreign;
	kern_unlock();
	return epoch;
}

/* row 168 */
static void they_go_to_other_processes(void)
{
	int fd, status;
	pid_t pid;

	rig_start("null:gfx908");
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(rig_submit(rig.list, NULL), 0);
		CHECK_EQ(rig_wait(UINT64_MAX), 0);
		CHECK_EQ(foreign(1), 0);
	}
	pid = fork();
	if (!pid) {
		for (unsigned i = 0; i < 2; i++)
			vmid_of_a_job(rig_open("/dev/dri/renderD128"));
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(foreign(1), 1); /* the child's second, behind its first on VMID 2 */
	CHECK_EQ(foreign(2), 0);
	fd = rig_open("/dev/dri/renderD128");
	CHECK_EQ(vmid_of_a_job(fd), 2);
	CHECK_EQ(foreign(2), 2);
	close(fd);
	rig_stop();
}

int main(void)
{
	they_go_round("null:gfx908", 2);
	they_go_round("null:gfx942", 2);
	they_go_round("null:gfx906", 7);
	they_go_to_other_processes();
	return check_done("VMIDs");
}
