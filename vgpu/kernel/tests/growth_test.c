/* What a job sees of mappings that are made while it runs: a wave waits for an address and writes there. */
#include <xf86drm.h>
#include "vgpu/kernel/tests/test_packets.h"

#define UC_VA   0x300000ull /* the data page once more, past L2 */
#define CODE_VA (UC_VA + 0x100)
#define NEW_VA  RIG_HOLE_VA
#define MAIL    2    /* dwords of the data page: where the wave finds the address */
#define OTHER   128u /* dwords: where the other job's IB begins */
#define ANSWER  0x600du

/* s3 times: waits for an address at s[0:1], and eight bytes further for the next one, and writes s2 there. */
static const uint32_t writer[] = {
	0x7e000280,             /* v_mov_b32 v0, 0 */
	0xdc558000, 0x01000000, /* global_load_dwordx2 v[1:2], v0, s[0:1] glc */
	0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
	0x7e080501,             /* v_readfirstlane_b32 s4, v1 */
	0xbf068004,             /* s_cmp_eq_u32 s4, 0 */
	0xbf85fffa,             /* s_cbranch_scc1 -6 */
	0x7e060202,             /* v_mov_b32 v3, s2 */
	0xdc708000, 0x007f0301, /* global_store_dword v[1:2], v3, off */
	0x80008800,             /* s_add_u32 s0, s0, 8 */
	0x80838103,             /* s_sub_u32 s3, s3, 1 */
	0xbf078003,             /* s_cmp_lg_u32 s3, 0 */
	0xbf85fff3,             /* s_cbranch_scc1 -13 */
	0xbf810000,             /* s_endpgm */
};

static unsigned long new_findings(void)
{
	static unsigned long seen;
	unsigned long before = seen;

	seen = vgpu_findings();
	return seen - before;
}

static uint64_t submit(uint32_t list, uint32_t ip_ring, uint32_t from)
{
	struct drm_amdgpu_cs_chunk_ib ib = {
		0, 0, RIG_IB_VA + 4 * from, 4 * (rig.ib_dw - from), AMDGPU_HW_IP_COMPUTE, 0, ip_ring};
	struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib};
	uint64_t pointer = (uintptr_t)&chunk;
	union drm_amdgpu_cs args = {.in = {rig.ctx, list, 1, 0, (uintptr_t)&pointer}};

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), 0);
	return args.out.handle;
}

static void align_ib(void)
{
	while (rig.ib_dw % 8)
		emit(RIG_NOP);
}

static uint64_t submit_writer(uint32_t list, uint32_t turns)
{
	rig_nops();
	memset(rig.data, 0, 4096);
	memcpy(rig.data + 0x100 / 4, writer, sizeof(writer));
	rig.ib_dw = 0;
	set_sh(0x240, (uint32_t)(UC_VA + 4 * MAIL));
	set_sh(0x241, 0);
	set_sh(0x242, ANSWER);
	set_sh(0x243, turns);
	emit_dispatch_with(CODE_VA, 4);
	align_ib();
	return submit(list, 0, 0);
}

/* A job on another ring, from its submission to its end: it has waited for the page tables. */
static void run_another(void)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA + 4 * OTHER, 64, AMDGPU_HW_IP_COMPUTE, 0, 1};
	union drm_amdgpu_wait_cs wait = {.in = {0, UINT64_MAX, AMDGPU_HW_IP_COMPUTE, 0, 1, rig.ctx}};

	rig.ib_dw = OTHER;
	for (unsigned i = 0; i < ib.ib_bytes / 4; i++)
		emit(RIG_NOP);
	wait.in.handle = submit(rig.list, 1, OTHER);
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_WAIT_CS, &wait), 0);
}

/* For the writer's turn of that number. */
static void tell(unsigned turn, uint64_t va)
{
	__atomic_store_n((uint64_t *)&rig.data[MAIL + 2 * turn], va, __ATOMIC_RELEASE);
}

/* What the writer leaves in a buffer, made with `flags`, that is mapped under it; in its list, if `listed`; behind
 * the removal of another mapping, if `cut`; told of when another job has run, if `proven`; once it has been seen,
 * unmapped again, if `gone`. */
struct growth {
	uint64_t flags;
	bool listed, cut, proven, gone;
};

static void unmap(uint32_t bo, uint64_t va)
{
	CHECK_EQ(rig_va(AMDGPU_VA_OP_UNMAP, bo, va, 4096, 0), 0);
}

static uint32_t grow(struct growth how)
{
	uint32_t bo, list = rig.list, *map, left;
	uint64_t seq;

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC | how.flags, &bo), 0);
	map = rig_map(bo, 4096);
	if (how.listed)
		list = rig_list((uint32_t[]){rig.data_bo, bo}, 2);
	if (how.cut)
		CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, NEW_VA + 4096, 4096, RIG_RWX), 0);
	seq = submit_writer(list, how.gone ? 3 : 1);
	if (how.cut)
		unmap(bo, NEW_VA + 4096);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, NEW_VA, 4096, RIG_RWX | AMDGPU_VM_MTYPE_UC), 0);
	if (how.proven)
		run_another();
	if (how.gone) {
		tell(0, NEW_VA);
		while (!__atomic_load_n(&map[0], __ATOMIC_ACQUIRE))
			continue;
		unmap(bo, NEW_VA);
		tell(1, NEW_VA + 8192); /* a fault, for which the mappings are looked at again */
	}
	new_findings();
	tell(how.gone ? 2 : 0, NEW_VA + 4);
	CHECK_EQ(rig_wait(seq), 0);
	left = map[1];
	munmap(map, 4096);
	if (how.listed)
		CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(bo), 0);
	return left;
}

#define OWN AMDGPU_GEM_CREATE_VM_ALWAYS_VALID

/* rows 49 and 125 */
static void a_job_sees_what_is_mapped_under_it(void)
{
	CHECK_EQ(grow((struct growth){.flags = OWN, .proven = true}), ANSWER);
	CHECK_EQ(new_findings(), 0);
	CHECK_EQ(grow((struct growth){.listed = true, .proven = true}), ANSWER);
	CHECK_EQ(new_findings(), 0);
	CHECK_EQ(grow((struct growth){.flags = OWN, .proven = true, .gone = true}), ANSWER); /* it stays */
	CHECK_EQ(new_findings(), 0);
	/* It may be evicted: row 47. */
	CHECK_EQ(grow((struct growth){.proven = true}), 0);
	CHECK_EQ(new_findings(), 1);
	/* Nothing shows that the page tables are written; */
	CHECK_EQ(grow((struct growth){.flags = OWN}), 0);
	CHECK_EQ(new_findings(), 1);
	/* they are not, until the job has ended. */
	CHECK_EQ(grow((struct growth){.flags = OWN, .cut = true, .proven = true}), 0);
	CHECK_EQ(new_findings(), 1);
}

/* Since 6.16 the update has a fence of its own. */
static void its_fence_shows_that_an_update_is_done(void)
{
	struct uapi_gem_va va = {.operation = AMDGPU_VA_OP_MAP,
				 .flags = RIG_RWX,
				 .va_address = NEW_VA,
				 .map_size = 4096,
				 .vm_timeline_point = 1};
	struct drm_syncobj_create create = {0};
	uint32_t *map;
	uint64_t seq;

	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_CREATE, &create), 0);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC | OWN, &va.handle), 0);
	map = rig_map(va.handle, 4096);
	seq = submit_writer(rig.list, 1);
	va.vm_timeline_syncobj_out = create.handle;
	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &va), 0);
	CHECK_EQ(drmSyncobjTimelineWait(rig.fd, &create.handle, &va.vm_timeline_point, 1, INT64_MAX, 0, NULL), 0);
	new_findings();
	tell(0, NEW_VA + 4);
	CHECK_EQ(rig_wait(seq), 0);
	CHECK_EQ(map[1], ANSWER);
	CHECK_EQ(new_findings(), 0);
	munmap(map, 4096);
	CHECK_EQ(rig_close(va.handle), 0);
}

/* One after the other: the job finds one of the middle. */
static void a_job_sees_many_come(void)
{
	enum { MANY = 20 };
	uint32_t bo[MANY], *map;
	uint64_t seq = submit_writer(rig.list, 1);

	for (unsigned i = 0; i < MANY; i++) {
		CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC | OWN, &bo[i]), 0);
		CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo[i], NEW_VA + 8192ull * i, 4096, RIG_RWX), 0);
		run_another();
	}
	map = rig_map(bo[MANY / 2], 4096);
	new_findings();
	tell(0, NEW_VA + 8192ull * (MANY / 2) + 4);
	CHECK_EQ(rig_wait(seq), 0);
	CHECK_EQ(map[1], ANSWER);
	CHECK_EQ(new_findings(), 0);
	munmap(map, 4096);
	for (unsigned i = 0; i < MANY; i++)
		CHECK_EQ(rig_close(bo[i]), 0);
}

static void start(const char *spec)
{
	rig_start(spec);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, rig.data_bo, UC_VA, 4096, RIG_RWX | AMDGPU_VM_MTYPE_UC), 0);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	start("gfx908");
	a_job_sees_what_is_mapped_under_it();
	a_job_sees_many_come();
	rig_stop();
	start("gfx906:kernel=6.16");
	its_fence_shows_that_an_update_is_done();
	rig_stop();
	return check_done("mappings under a job");
}
