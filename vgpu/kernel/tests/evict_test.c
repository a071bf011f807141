/* VRAM that is full: who goes, who stays, who comes back. On null devices with 1 GiB of VRAM. */
#include <stdlib.h>
#include <sys/wait.h>
#include <xf86drm.h>
#include "vgpu/kernel/tests/test_rig.h"

#define MiB      (1ull << 20)
#define EXPLICIT AMDGPU_GEM_CREATE_EXPLICIT_SYNC

static uint32_t vram(uint64_t mib, uint64_t flags)
{
	uint32_t handle;

	CHECK_EQ(rig_create(mib * MiB, AMDGPU_GEM_DOMAIN_VRAM, EXPLICIT | flags, &handle), 0);
	return handle;
}

static uint64_t vram_mib(void)
{
	return rig_count(AMDGPU_INFO_VRAM_USAGE) / MiB;
}

static uint64_t gtt_mib(void)
{
	return rig_count(AMDGPU_INFO_GTT_USAGE) / MiB;
}

static uint64_t evictions(void)
{
	return rig_count(AMDGPU_INFO_NUM_EVICTIONS);
}

static uint64_t moved_mib(void)
{
	return rig_count(AMDGPU_INFO_NUM_BYTES_MOVED) / MiB;
}

/* Runs a job that lists it, to the end. */
static int use(uint32_t handle)
{
	uint32_t list = rig_list(&handle, 1);
	int r = rig_submit(list, NULL);

	if (!r)
		r = rig_wait(UINT64_MAX);
	CHECK_EQ(rig_list_free(list), 0);
	return r;
}

/* Is it in VRAM? Then closing it gives VRAM back. */
static bool was_in_vram(uint32_t handle)
{
	uint64_t before = vram_mib();

	CHECK_EQ(rig_close(handle), 0);
	return vram_mib() < before;
}

static void the_least_recently_used_goes(void)
{
	uint32_t bo[5], late;

	rig_start("null:gfx908:vram=1G");
	for (unsigned i = 0; i < 5; i++)
		bo[i] = vram(200, 0);
	CHECK_EQ(use(bo[2]), 0);
	CHECK_EQ(use(bo[0]), 0);
	CHECK_EQ(evictions(), 0);
	late = vram(300, 0);
	CHECK_EQ(evictions(), 2); /* 1 and 3 */
	CHECK_EQ(moved_mib(), 400);
	CHECK_EQ(vram_mib(), 900);
	CHECK_EQ(gtt_mib(), 400);
	CHECK_EQ(rig_close(vram(500, 0)), 0);
	CHECK_EQ(evictions(), 4); /* 4, then 2, which was used before 0 */
	CHECK(!was_in_vram(bo[1]));
	CHECK(!was_in_vram(bo[2]));
	CHECK(!was_in_vram(bo[3]));
	CHECK(!was_in_vram(bo[4]));
	CHECK(was_in_vram(bo[0]));
	CHECK(was_in_vram(late));
	rig_stop();
}

/* What a CPU mapping shows, and what the GPU writes, is one memory wherever the buffer is. */
static void it_comes_back_when_a_job_lists_it(void)
{
	uint32_t first, second, list, *map;

	rig_start("gfx908:vram=1G:bar=1G");
	first = vram(600, 0);
	map = rig_map(first, 4096);
	map[0] = 1;
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, first, RIG_HOLE_VA, 4096, RIG_RWX), 0);
	list = rig_list(&first, 1);
	CHECK_EQ(rig_try_write(list, RIG_HOLE_VA, 2), 0);
	CHECK_EQ(map[0], 2);
	second = vram(600, 0);
	CHECK_EQ(evictions(), 1);
	CHECK_EQ(gtt_mib(), 600);
	map[0] = 3;
	CHECK_EQ(rig_try_write(list, RIG_HOLE_VA + 4, 4), 0);
	CHECK_EQ(map[0], 3);
	CHECK_EQ(map[1], 4);
	CHECK_EQ(evictions(), 2); /* the second had to go for it */
	CHECK_EQ(moved_mib(), 1800);
	CHECK(!was_in_vram(second));
	CHECK_EQ(rig_list_free(list), 0);
	munmap(map, 4096);
	CHECK(was_in_vram(first));
	rig_stop();
}

static void always_valid_ones_come_back_with_any_job(void)
{
	uint32_t always, other;

	rig_start("null:gfx908:vram=1G");
	always = vram(600, AMDGPU_GEM_CREATE_VM_ALWAYS_VALID);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, always, RIG_HOLE_VA, 4096, RIG_RWX), 0);
	other = vram(600, 0);
	CHECK_EQ(gtt_mib(), 600);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(evictions(), 2);
	CHECK(!was_in_vram(other));
	CHECK(was_in_vram(always));
	rig_stop();
}

/* row 17: what jobs use stays, listed or always valid, and so the new one has no room */
static void what_cannot_be_evicted_makes_the_new_one_spill(void)
{
	uint32_t listed, always, late, list;
	unsigned long findings = vgpu_findings();

	rig_start("null:gfx908:vram=1G:service_us=100000");
	listed = vram(500, 0);
	always = vram(500, AMDGPU_GEM_CREATE_VM_ALWAYS_VALID);
	list = rig_list(&listed, 1);
	CHECK_EQ(rig_submit(list, NULL), 0);
	late = vram(300, 0);
	CHECK_EQ(rig_wait_ctx(rig.ctx, UINT64_MAX, 0), 1); /* the job still runs */
	CHECK_EQ(evictions(), 0);
	CHECK_EQ(gtt_mib(), 300);
	CHECK_EQ(vgpu_findings() - findings, 1);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(use(late), 0); /* GTT was what it was made for in the end: it does not move */
	CHECK(!was_in_vram(late));
	CHECK(was_in_vram(listed));
	CHECK(was_in_vram(always));
	rig_stop();
}

/* Where GTT is as good, VRAM that is full moves nobody. */
static void a_buffer_for_either_evicts_nobody(void)
{
	uint32_t first, second;

	rig_start("null:gfx908:vram=1G");
	first = vram(600, 0);
	CHECK_EQ(rig_create(600 * MiB, AMDGPU_GEM_DOMAIN_VRAM | AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &second), 0);
	CHECK_EQ(evictions(), 0);
	CHECK(!was_in_vram(second));
	CHECK(was_in_vram(first));
	rig_stop();
}

/* Discardable memory has no other place: a job that lists more of it than fits gets -ENOMEM. */
static void a_job_whose_memory_does_not_fit_is_refused(void)
{
	uint32_t bo[2], list;

	rig_start("null:gfx908:vram=1G");
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(rig_create(600 * MiB, AMDGPU_GEM_DOMAIN_VRAM, EXPLICIT | AMDGPU_GEM_CREATE_DISCARDABLE,
				    &bo[i]),
			 0);
	CHECK_EQ(evictions(), 1);
	CHECK_EQ(gtt_mib(), 0);
	list = rig_list(bo, 2);
	CHECK_EQ(rig_submit(list, NULL), -ENOMEM);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(use(bo[0]), 0); /* each by itself is fine */
	CHECK_EQ(use(bo[1]), 0);
	CHECK_EQ(use(bo[0]), 0);
	CHECK(!was_in_vram(bo[1]));
	CHECK(was_in_vram(bo[0]));
	rig_stop();
}

/* Another process's idle memory goes as well. */
static void processes_share_the_vram(void)
{
	int ready[2], go[2], status;
	uint32_t mine;
	char byte;
	pid_t pid;

	rig_start("null:gfx908:vram=1G");
	CHECK_EQ(pipe(ready), 0);
	CHECK_EQ(pipe(go), 0);
	pid = fork();
	if (!pid) {
		uint32_t its, list;

		rig.fd = rig_open("/dev/dri/renderD128"); /* a VM of its own */
		if (rig_create(600 * MiB, AMDGPU_GEM_DOMAIN_VRAM, EXPLICIT, &its) || write(ready[1], "", 1) != 1 ||
		    read(go[0], &byte, 1) != 1)
			_exit(1);
		rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, EXPLICIT, &rig.ib_bo);
		rig_va(AMDGPU_VA_OP_MAP, rig.ib_bo, RIG_IB_VA, 4096, RIG_RWX);
		rig.ib = rig_map(rig.ib_bo, 4096);
		rig_nops();
		rig.ctx = rig_ctx();
		list = rig_list(&its, 1);
		if (gtt_mib() != 600 || rig_submit(list, NULL) || rig_wait(UINT64_MAX))
			_exit(2);
		rig_list_free(list);
		_exit(was_in_vram(its) ? 7 : 3);
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	mine = vram(600, 0);
	CHECK_EQ(evictions(), 1);
	CHECK_EQ(write(go[1], "", 1), 1);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	CHECK_EQ(evictions(), 2);
	CHECK(!was_in_vram(mine));
	rig_stop();
}

/* The importer's job keeps the exporter's memory in its place. */
static void an_importers_job_holds_the_memory(void)
{
	int dmabuf, other, mine;
	uint32_t exported, here = 0, list, late;

	rig_start("null:gfx906:vram=1G:bar=1G:p2p=1:service_us=100000,"
		  "null:gfx906:vram=1G:bar=1G:p2p=1");
	mine = rig.fd;
	rig.fd = other = rig_open("/dev/dri/renderD129");
	exported = vram(600, 0);
	CHECK_EQ(drmPrimeHandleToFD(other, exported, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	CHECK_EQ(drmPrimeFDToHandle(mine, dmabuf, &here), 0);
	rig.fd = mine;
	list = rig_list(&here, 1);
	CHECK_EQ(rig_submit(list, NULL), 0);
	rig.fd = other;
	CHECK_EQ(rig_create(600 * MiB, AMDGPU_GEM_DOMAIN_VRAM, EXPLICIT, &late), 0);
	CHECK_EQ(evictions(), 0);
	CHECK_EQ(rig_close(late), 0);
	rig.fd = mine;
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	rig.fd = other;
	late = vram(600, 0);
	CHECK_EQ(evictions(), 1);
	CHECK(was_in_vram(late));
	CHECK_EQ(rig_close(exported), 0);
	close(other);
	rig.fd = mine;
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(here), 0);
	close(dmabuf);
	rig_stop();
}

/* row 111 */
static void evictions_can_be_injected(void)
{
	uint32_t bo, list, *map;

	setenv("TUFF_VGPU_INJECT", "evict,seed=1", 1);
	rig_start("gfx908:vram=1G");
	unsetenv("TUFF_VGPU_INJECT");
	bo = vram(16, 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, RIG_HOLE_VA, 16 * MiB, RIG_RWX), 0);
	list = rig_list(&bo, 1);
	for (uint32_t i = 0; i < 20; i++)
		CHECK_EQ(rig_try_write(list, RIG_HOLE_VA + 4 * i, i), 0); /* it goes, and comes back at once */
	map = rig_map(bo, 4096);
	for (uint32_t i = 0; i < 20; i++)
		CHECK_EQ(map[i], i);
	munmap(map, 4096);
	CHECK_EQ(evictions(), 20);
	CHECK_EQ(moved_mib(), 640);
	CHECK_EQ(rig_submit(rig.list, NULL), 0); /* this one has no need of it */
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(gtt_mib(), 16);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(bo), 0);
	rig_stop();
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	the_least_recently_used_goes();
	it_comes_back_when_a_job_lists_it();
	always_valid_ones_come_back_with_any_job();
	what_cannot_be_evicted_makes_the_new_one_spill();
	a_buffer_for_either_evicts_nobody();
	a_job_whose_memory_does_not_fit_is_refused();
	processes_share_the_vram();
	an_importers_job_holds_the_memory();
	evictions_can_be_injected();
	return check_done("eviction");
}
