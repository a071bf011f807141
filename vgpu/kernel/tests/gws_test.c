/* Buffers of global wave sync: who has which of a device's 64 resources. On null devices: row 127. */
#include <stdlib.h>
#include "vgpu/kernel/tests/test_rig.h"

static uint32_t gws(unsigned count)
{
	uint32_t handle;

	CHECK_EQ(rig_create(count, AMDGPU_GEM_DOMAIN_GWS, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &handle), 0);
	return handle;
}

static int use(uint32_t handle, uint64_t *seq)
{
	uint32_t list = rig_list(&handle, 1);
	int r = rig_submit(list, seq);

	CHECK_EQ(rig_list_free(list), 0);
	return r;
}

/* How many resources are somebody's. */
static unsigned taken(void)
{
	unsigned count = 0;

	kern_lock();
	for (unsigned i = 0; i < KERN_GWS; i++)
		count += kern->device[0].gws[i] != NULL;
	kern_unlock();
	return count;
}

static void it_is_no_memory(void)
{
	union drm_amdgpu_gem_mmap map = {0};
	struct drm_amdgpu_info_gds info;
	uint32_t handle;

	rig_start("null:gfx906");
	CHECK_EQ(rig_info(AMDGPU_INFO_GDS_CONFIG, &info, sizeof(info)), 0);
	CHECK_EQ(info.gws_per_compute_partition, 64);
	CHECK_EQ(rig_create(1, AMDGPU_GEM_DOMAIN_GWS, AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, &handle), -EINVAL);
	map.in.handle = handle = gws(1);
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_MMAP, &map), -EPERM);
	CHECK_EQ(rig_count(AMDGPU_INFO_GTT_USAGE) / 4096, 2); /* the rig's own */
	CHECK_EQ(taken(), 0);
	CHECK_EQ(use(handle, NULL), 0);
	CHECK_EQ(taken(), 1);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(taken(), 1);
	CHECK_EQ(rig_close(handle), 0);
	CHECK_EQ(taken(), 0);
	rig_stop();
}

static void there_are_64(void)
{
	uint32_t all, more, half[2], list;

	rig_start("null:gfx90a");
	all = gws(64);
	more = gws(65);
	half[0] = gws(40);
	half[1] = gws(40);
	CHECK_EQ(use(more, NULL), -ENOMEM);
	CHECK_EQ(use(all, NULL), 0);
	CHECK_EQ(taken(), 64);
	list = rig_list(half, 2);
	CHECK_EQ(rig_submit(list, NULL), -ENOMEM);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(all), 0);
	CHECK_EQ(rig_close(more), 0);
	CHECK_EQ(rig_close(half[0]), 0);
	CHECK_EQ(rig_close(half[1]), 0);
	CHECK_EQ(taken(), 0);
	rig_stop();
	rig_start("null:gfx1200"); /* has none */
	all = gws(1);
	CHECK_EQ(use(all, NULL), -ENOMEM);
	CHECK_EQ(rig_close(all), 0);
	rig_stop();
}

/* The one that was used longest ago gives its own away; jobs that use it are waited for. */
static void they_change_hands(void)
{
	uint32_t first, second, third;
	uint64_t seq;

	rig_start("null:gfx908:service_us=50000");
	first = gws(30);
	second = gws(30);
	third = gws(20);
	CHECK_EQ(use(second, NULL), 0);
	CHECK_EQ(use(first, NULL), 0);
	CHECK_EQ(use(second, &seq), 0);
	CHECK_EQ(taken(), 60);
	CHECK_EQ(rig_wait_ctx(rig.ctx, seq - 1, 0), 1);
	CHECK_EQ(use(third, NULL), 0);
	CHECK_EQ(rig_wait_ctx(rig.ctx, seq - 1, 0), 0);
	CHECK_EQ(taken(), 50);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(rig_close(second), 0);
	CHECK_EQ(taken(), 20);
	CHECK_EQ(use(first, NULL), 0);
	CHECK_EQ(taken(), 50);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(rig_close(first), 0);
	CHECK_EQ(rig_close(third), 0);
	rig_stop();
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_REPORT);
	it_is_no_memory();
	there_are_64();
	they_change_hands();
	return check_done("global wave sync");
}
