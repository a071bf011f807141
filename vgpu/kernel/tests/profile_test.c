/* What the kernel releases answer in different ways (reference: the kernel contract, marks [6.1] to [6.18]). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/check.h"
#include "vgpu/kernel/base/core.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

static int fd;

/* A release as this test knows it, apart from the table. */
struct release {
	const char *name;
	int minor;
	uint64_t va_bottom, high_va_max;
	int wipe, coherent, dcc, discardable; /* GEM_CREATE flags */
	int fault_query, max_ibs, video_caps, peak_clock;
	uint32_t dev_info_B, hw_ip_B;
	bool pcie, cleared;
	int userq;
	unsigned compute_s, other_s; /* before a job is a hang */
	int mixed_domains, two_user_fences, delayed_timeline;
};

static const struct release releases[] = {
	{"5.10", 40, 2 << 20, 0xffffffffffe00000, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL,
	 -EINVAL, 368, 32, false, false, -EINVAL, 60, 10},
	{"6.1", 49, 2 << 20, 0xffffffffffe00000, -EINVAL, -EINVAL, -EINVAL, 0, -EINVAL, -EINVAL, 0, -EINVAL, 368,
	 32, false, false, -EINVAL, 60, 10},
	{"6.6", 54, 2 << 20, 0xffffffffffe00000, -EINVAL, -EINVAL, -EINVAL, 0, -EINVAL, 0, 0, 0, 440, 32, true,
	 false, -EINVAL, 60, 10},
	{"6.12",  61, 64 << 10, 0xffffffffffbf0000,      -EINVAL, -EINVAL, 0, 0, 0, 0, 0, 0, 440, 32, true, true,
	 -EINVAL, 60, 10,       .mixed_domains = -EINVAL},
	{"6.16", 64, 64 << 10, 0xffffffffffbfe000, -EINVAL, -EINVAL, 0, 0, 0, 0, 0, 0, 448, 40, true, true, -524,
	 60, 10},
	{"6.18", 64, 64 << 10, 0xffffffffffbf0000, 0, 0, 0, 0, 0, 0, 0, 0, 448, 40, true, true, -524, 10, 10},
	{"7.0", 64, 64 << 10, 0xffffffffffbfe000, 0, 0, 0, 0, 0, 0, 0, 0, 448, 40, true, true, -524, 2, 2},
	{"7.2",   64,      64 << 10, 0xffffffffffbf0000, 0, 0, 0, 0, 0, 0, 0, 0, 440, 40, true, true, -524, 2, 2,
	 -EINVAL, -EINVAL, -EINVAL},
};

static int call(unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

static int create(uint64_t flags, uint32_t *handle)
{
	union drm_amdgpu_gem_create args = {.in = {4096, 0, AMDGPU_GEM_DOMAIN_VRAM, flags}};
	int r = call(DRM_IOCTL_AMDGPU_GEM_CREATE, &args);

	*handle = args.out.handle;
	return r;
}

static int create_and_close(uint64_t flags)
{
	struct drm_gem_close args = {0};
	int r = create(flags, &args.handle);

	if (!r)
		CHECK_EQ(call(DRM_IOCTL_GEM_CLOSE, &args), 0);
	return r;
}

static int info(uint32_t query, void *to, uint32_t size_B)
{
	struct drm_amdgpu_info args = {.return_pointer = (uintptr_t)to, .return_size = size_B, .query = query};

	return call(DRM_IOCTL_AMDGPU_INFO, &args);
}

/* How many bytes of an answer the kernel writes. */
static uint32_t written(const uint8_t *answer, uint32_t room)
{
	while (room && answer[room - 1] == 0xee)
		room--;
	return room;
}

/* row 13 */
static void flags_are_taken(const struct release *k)
{
	CHECK_EQ(create_and_close(0), 0);
	CHECK_EQ(create_and_close(AMDGPU_GEM_CREATE_VRAM_WIPE_ON_RELEASE), k->wipe);
	CHECK_EQ(create_and_close(AMDGPU_GEM_CREATE_COHERENT), k->coherent);
	CHECK_EQ(create_and_close(AMDGPU_GEM_CREATE_UNCACHED), k->coherent);
	CHECK_EQ(create_and_close(AMDGPU_GEM_CREATE_EXT_COHERENT), k->coherent);
	CHECK_EQ(create_and_close(AMDGPU_GEM_CREATE_GFX12_DCC), k->dcc);
	CHECK_EQ(create_and_close(AMDGPU_GEM_CREATE_DISCARDABLE), k->discardable);
}

/* row 39 */
static void addresses_are_bounded(const struct release *k)
{
	struct drm_amdgpu_gem_va va = {
		.operation = AMDGPU_VA_OP_MAP, .flags = AMDGPU_VM_PAGE_READABLE, .map_size = 4096};
	uint64_t at[4] = {k->va_bottom - 4096, k->va_bottom, k->high_va_max - 4096, k->high_va_max};
	int expected[4] = {-EINVAL, 0, 0, -EINVAL};

	CHECK_EQ(create(0, &va.handle), 0);
	for (unsigned n = 0; n < 4; n++) {
		va.va_address = at[n];
		CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_VA, &va), expected[n]);
	}
}

static void answers_have_their_size(const struct release *k)
{
	uint8_t answer[512];
	struct uapi_dev_info dev;
	struct drm_amdgpu_info args = {.return_pointer = (uintptr_t)answer,
				       .return_size = sizeof(answer),
				       .query = AMDGPU_INFO_HW_IP_INFO};

	memset(answer, 0xee, sizeof(answer));
	CHECK_EQ(info(AMDGPU_INFO_DEV_INFO, answer, sizeof(answer)), 0);
	CHECK_EQ(written(answer, sizeof(answer)), k->dev_info_B);
	memset(&dev, 0, sizeof(dev));
	CHECK_EQ(info(AMDGPU_INFO_DEV_INFO, &dev, sizeof(dev)), 0);
	CHECK_EQ(dev.virtual_address_offset, k->va_bottom);
	CHECK(dev.high_va_max == k->high_va_max);
	CHECK_EQ(dev.pcie_gen, k->pcie ? 4 : 0);
	CHECK_EQ(dev.pcie_num_lanes, k->pcie ? 16 : 0);
	CHECK_EQ(dev.gc_double_offchip_lds_buf, 1);
	args.query_hw_ip.type = AMDGPU_HW_IP_COMPUTE;
	memset(answer, 0xee, sizeof(answer));
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &args), 0);
	CHECK_EQ(written(answer, sizeof(answer)), k->hw_ip_B);
	CHECK_EQ(answer[30], k->minor >= 48 ? 9 : 0); /* ip_discovery_version, major */
}

/* rows 1, 103 */
static void queries_are_known(const struct release *k)
{
	struct drm_amdgpu_info args = {0};
	uint8_t answer[512];

	CHECK_EQ(info(AMDGPU_INFO_GPUVM_FAULT, answer, 16), k->fault_query);
	CHECK_EQ(info(AMDGPU_INFO_MAX_IBS, answer, 40), k->max_ibs);
	CHECK_EQ(info(AMDGPU_INFO_VIDEO_CAPS, answer, 512), k->video_caps);
	args.return_pointer = (uintptr_t)answer;
	args.return_size = 4;
	args.query = AMDGPU_INFO_SENSOR;
	args.sensor_info.type = AMDGPU_INFO_SENSOR_PEAK_PSTATE_GFX_SCLK;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &args), k->peak_clock);
	args.sensor_info.type = AMDGPU_INFO_SENSOR_GFX_SCLK;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_INFO, &args), 0);
	CHECK_EQ(call(UAPI_IOCTL_USERQ, (uint8_t[72]){0}), k->userq);
}

/* The first word of a new buffer in VRAM. */
static uint32_t first_word(uint64_t flags)
{
	union drm_amdgpu_gem_mmap args = {0};
	uint32_t *map, word;

	CHECK_EQ(create(flags, &args.in.handle), 0);
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_MMAP, &args), 0);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)args.out.addr_ptr);
	if (!CHECK(map != MAP_FAILED))
		return 0;
	word = *map;
	munmap(map, 4096);
	return word;
}

/* row 19 */
static void vram_is_cleared(const struct release *k)
{
	CHECK_EQ(first_word(AMDGPU_GEM_CREATE_VRAM_CLEARED), 0);
	CHECK_EQ(first_word(0) == 0, k->cleared);
}

/* row 138 */
static int mixed_domains(void)
{
	union drm_amdgpu_gem_create args = {.in = {64, 0, AMDGPU_GEM_DOMAIN_GDS | AMDGPU_GEM_DOMAIN_GTT, 0}};
	int r = call(DRM_IOCTL_AMDGPU_GEM_CREATE, &args);

	if (!r)
		CHECK_EQ(call(DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){.handle = args.out.handle}), 0);
	return r;
}

/* row 138: there is no such BO list, which is looked for after the chunks. */
static int two_user_fences(void)
{
	union drm_amdgpu_ctx ctx = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, 1 << 21, 64, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk_fence fence = {0};
	struct drm_amdgpu_cs_chunk chunk[2] = {{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
					       {AMDGPU_CHUNK_ID_FENCE, sizeof(fence) / 4, (uintptr_t)&fence}};
	uint64_t pointer[3] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {.bo_list_handle = 99, .num_chunks = 3, .chunks = (uintptr_t)pointer}};
	int r;

	CHECK_EQ(create(0, &fence.handle), 0);
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_CTX, &ctx), 0);
	args.in.ctx_id = ctx.out.alloc.ctx_id;
	r = call(DRM_IOCTL_AMDGPU_CS, &args);
	ctx = (union drm_amdgpu_ctx){.in = {.op = AMDGPU_CTX_OP_FREE_CTX, .ctx_id = args.in.ctx_id}};
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_CTX, &ctx), 0);
	CHECK_EQ(call(DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){.handle = fence.handle}), 0);
	return r;
}

/* row 138: of the releases that have timelines of mappings at all */
static int delayed_timeline(void)
{
	struct drm_syncobj_create syncobj = {0};
	struct uapi_gem_va args = {.operation = AMDGPU_VA_OP_MAP,
				   .flags = AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_DELAY_UPDATE,
				   .va_address = 1 << 21,
				   .map_size = 4096,
				   .vm_timeline_point = 1};
	int r;

	CHECK_EQ(create(0, &args.handle), 0);
	CHECK_EQ(call(DRM_IOCTL_SYNCOBJ_CREATE, &syncobj), 0);
	args.vm_timeline_syncobj_out = syncobj.handle;
	r = call(UAPI_IOCTL_GEM_VA, &args);
	CHECK_EQ(call(DRM_IOCTL_SYNCOBJ_DESTROY, &(struct drm_syncobj_destroy){.handle = syncobj.handle}), 0);
	CHECK_EQ(call(DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){.handle = args.handle}), 0);
	return r;
}

/* row 139: a list of as many handles; none of them is one. */
static int list_of(uint32_t count)
{
	struct drm_amdgpu_bo_list_entry *entry = calloc(count, sizeof(*entry));
	union drm_amdgpu_bo_list args = {
		.in = {AMDGPU_BO_LIST_OP_CREATE, 0, count, sizeof(*entry), (uintptr_t)entry}};
	int r = call(DRM_IOCTL_AMDGPU_BO_LIST, &args);

	free(entry);
	return r;
}

static void limits(const struct release *k)
{
	CHECK_EQ(mixed_domains(), k->mixed_domains);
	CHECK_EQ(two_user_fences(), k->two_user_fences ? k->two_user_fences : -ENOENT);
	if (k->minor >= 64)
		CHECK_EQ(delayed_timeline(), k->delayed_timeline);
	CHECK_EQ(list_of(131072), -ENOENT);
	CHECK_EQ(list_of(131073), -EINVAL);
}

static void release(const struct release *k)
{
	struct drm_version version = {0};
	char spec[64];

	printf(" %s\n", k->name);
	snprintf(spec, sizeof(spec), "gfx908:kernel=%s", k->name);
	if (!CHECK_EQ(vgpu_start(spec), 0))
		return;
	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	CHECK_EQ(call(DRM_IOCTL_VERSION, &version), 0);
	CHECK_EQ(version.version_major, 3);
	CHECK_EQ(version.version_minor, k->minor);
	flags_are_taken(k);
	addresses_are_bounded(k);
	answers_have_their_size(k);
	queries_are_known(k);
	vram_is_cleared(k);
	limits(k);
	CHECK_EQ(kern->device[0].watchdog_ns[AMDGPU_HW_IP_COMPUTE], k->compute_s * 1000000000ull);
	CHECK_EQ(kern->device[0].watchdog_ns[AMDGPU_HW_IP_DMA], k->other_s * 1000000000ull);
	close(fd);
	vgpu_stop();
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_REPORT);
	for (unsigned n = 0; n < sizeof(releases) / sizeof(releases[0]); n++)
		release(&releases[n]);
	CHECK_EQ(vgpu_start("gfx908:kernel=6.13"), -EINVAL);
	return check_done("kernel releases");
}
