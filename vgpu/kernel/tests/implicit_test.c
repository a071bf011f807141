/* Implicit synchronisation: which jobs wait for which others because both list a BO (Linux amdgpu_sync.c). Two or
 * three opens of nodes, each with a rig of its own; a job waits for a word that the CPU writes, so that nothing
 * here depends on how long something takes. */
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <pthread.h>
#include <xf86drm.h>
#include "vgpu/kernel/tests/test_packets.h"

#define NOPS 128 /* dwords: where the IB of the jobs that wait for nothing begins */

static void open_side(struct rig *side, const char *node)
{
	rig_init(node);
	*side = rig;
}

static void close_side(const struct rig *side)
{
	rig = *side;
	rig_fini();
}

/* A job of the rig's context `ctx`, from dword `from` of its IB on. user_fence: a BO for its user fence, or 0. */
static uint64_t submit(uint32_t ctx, uint32_t list, uint32_t from, uint32_t user_fence)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA + 4 * from, 4 * 16, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk_fence fence = {user_fence, 0};
	struct drm_amdgpu_cs_chunk chunk[2] = {{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
					       {AMDGPU_CHUNK_ID_FENCE, sizeof(fence) / 4, (uintptr_t)&fence}};
	uint64_t pointer[2] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {ctx, list, user_fence ? 2 : 1, 0, (uintptr_t)pointer}};

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), 0);
	return args.out.handle;
}

/* A job that ends when release() is called for the side. */
static uint64_t submit_waiting(const struct rig *side, uint32_t list)
{
	rig = *side;
	rig.ib_dw = 0;
	emit_wait_for(RIG_DATA_VA, 1);
	while (rig.ib_dw < 16)
		emit(RIG_NOP);
	__atomic_store_n(&rig.data[0], 0, __ATOMIC_RELEASE);
	return submit(rig.ctx, list, 0, 0);
}

static void release(const struct rig *side)
{
	__atomic_store_n(&side->data[0], 1, __ATOMIC_RELEASE);
}

static uint64_t submit_nops(const struct rig *side, uint32_t ctx, uint32_t list, uint32_t user_fence)
{
	rig = *side;
	for (unsigned i = 0; i < 16; i++)
		rig.ib[NOPS + i] = RIG_NOP;
	return submit(ctx, list, NOPS, user_fence);
}

static int wait_of(const struct rig *side, uint32_t ctx, uint64_t seq, uint64_t timeout)
{
	rig = *side;
	return rig_wait_ctx(ctx, seq, timeout);
}

/* A page of `owner` with these flags, which `user` has imported. */
static void share(const struct rig *owner, const struct rig *user, uint64_t flags, uint32_t bo[2])
{
	int dmabuf = -1;

	rig = *owner;
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, flags, &bo[0]), 0);
	CHECK_EQ(drmPrimeHandleToFD(owner->fd, bo[0], DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	CHECK_EQ(drmPrimeFDToHandle(user->fd, dmabuf, &bo[1]), 0);
	close(dmabuf);
}

/* Both sides list the page, `first` with a job that ends when the test says so: does the job of `second` wait for
 * it? They are of one page, or of two handles for it. */
static bool waits(const struct rig *first, uint32_t first_bo, const struct rig *second, uint32_t second_ctx,
		  uint32_t second_bo, bool as_user_fence)
{
	uint32_t list[2];
	uint64_t seq[2];
	bool waited;

	rig = *first;
	list[0] = rig_list((uint32_t[]){first->data_bo, first_bo}, 2);
	rig = *second;
	list[1] = rig_list((uint32_t[]){second->data_bo, second_bo}, as_user_fence ? 1 : 2);
	seq[0] = submit_waiting(first, list[0]);
	seq[1] = submit_nops(second, second_ctx, list[1], as_user_fence ? second_bo : 0);
	usleep(20000);
	waited = wait_of(second, second_ctx, seq[1], 0);
	if (!waited)
		CHECK_EQ(wait_of(first, first->ctx, seq[0], 0), 1);
	release(first);
	CHECK_EQ(wait_of(first, first->ctx, seq[0], UINT64_MAX), 0);
	CHECK_EQ(wait_of(second, second_ctx, seq[1], UINT64_MAX), 0);
	rig = *first;
	CHECK_EQ(rig_list_free(list[0]), 0);
	rig = *second;
	CHECK_EQ(rig_list_free(list[1]), 0);
	return waited;
}

/* As waits(), where it must not, though `second` lists a BO without EXPLICIT_SYNC besides: its job ends while that
 * of `first` still runs. Where the rule is broken the watchdog ends both. */
static bool must_not_wait(const struct rig *first, uint32_t first_bo, const struct rig *second, uint32_t second_bo)
{
	uint32_t list[2], own;
	uint64_t seq[2];
	int r;

	rig = *first;
	list[0] = rig_list((uint32_t[]){first->data_bo, first_bo}, 2);
	rig = *second;
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &own), 0);
	list[1] = rig_list((uint32_t[]){second->data_bo, second_bo, own}, 3);
	seq[0] = submit_waiting(first, list[0]);
	seq[1] = submit_nops(second, second->ctx, list[1], 0);
	CHECK_EQ(wait_of(second, second->ctx, seq[1], UINT64_MAX), 0);
	r = wait_of(first, first->ctx, seq[0], 0); /* 1: still busy */
	release(first);
	CHECK_EQ(wait_of(first, first->ctx, seq[0], UINT64_MAX), 0);
	rig = *first;
	CHECK_EQ(rig_list_free(list[0]), 0);
	rig = *second;
	CHECK_EQ(rig_list_free(list[1]), 0);
	CHECK_EQ(rig_close(own), 0);
	return r == 1;
}

static void close_both(const struct rig *owner, const struct rig *user, const uint32_t bo[2])
{
	rig = *owner;
	CHECK_EQ(rig_close(bo[0]), 0);
	rig = *user;
	CHECK_EQ(rig_close(bo[1]), 0);
}

/* row 129: the flag is the exporter's own; an import has none. */
static void devices_share_the_reservation(const struct rig *a, const struct rig *b)
{
	uint32_t bo[2];

	share(a, b, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, bo);
	CHECK(waits(a, bo[0], b, b->ctx, bo[1], false));
	CHECK(waits(a, bo[0], b, b->ctx, bo[1], true));
	CHECK(must_not_wait(b, bo[1], a, bo[0]));
	close_both(a, b, bo);
	share(a, b, 0, bo);
	CHECK(waits(a, bo[0], b, b->ctx, bo[1], false));
	CHECK(waits(b, bo[1], a, a->ctx, bo[0], false));
	close_both(a, b, bo);
}

/* row 129: two imports of one exporter are as much one buffer as exporter and import are. */
static void imports_share_with_one_another(const struct rig *a, const struct rig *b, const struct rig *c)
{
	uint32_t bo[2], third;
	int dmabuf = -1;

	share(a, b, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, bo);
	CHECK_EQ(drmPrimeHandleToFD(b->fd, bo[1], DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	CHECK_EQ(drmPrimeFDToHandle(c->fd, dmabuf, &third), 0);
	close(dmabuf);
	CHECK(waits(b, bo[1], c, c->ctx, third, false));
	CHECK(waits(c, third, b, b->ctx, bo[1], false));
	rig = *c;
	CHECK_EQ(rig_close(third), 0);
	close_both(a, b, bo);
}

/* row 130: on one device there is one buffer with one set of flags, and a VM never waits for its own jobs. */
static void files_of_a_device(const struct rig *a, const struct rig *b)
{
	uint32_t bo[2], other_ctx;

	rig = *a;
	other_ctx = rig_ctx();
	share(a, b, 0, bo);
	CHECK(waits(a, bo[0], b, b->ctx, bo[1], false));
	CHECK(waits(b, bo[1], a, a->ctx, bo[0], false));
	CHECK(!waits(a, bo[0], a, other_ctx, bo[0], false));
	close_both(a, b, bo);
	share(a, b, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, bo);
	CHECK(must_not_wait(a, bo[0], b, bo[1]));
	CHECK(must_not_wait(b, bo[1], a, bo[0]));
	close_both(a, b, bo);
	rig = *a;
	CHECK_EQ(rig_ctx_free(other_ctx), 0);
}

static int sync_file_of(const struct rig *side, uint64_t seq)
{
	union drm_amdgpu_fence_to_handle args = {
		.in = {.fence = {.ctx_id = side->ctx, .ip_type = AMDGPU_HW_IP_COMPUTE, .seq_no = seq},
		       .what = AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD}};

	rig = *side;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &args), 0);
	return (int)args.out.handle;
}

/* row 131: of a sync file that was put into a buffer, what is the VM's own does not hold its jobs back, and the
 * rest does. */
static void parts_of_a_sync_file(const struct rig *a, const struct rig *b)
{
	uint64_t theirs = submit_waiting(b, b->list), mine = submit_waiting(a, a->list), third;
	int file[2] = {sync_file_of(b, theirs), sync_file_of(a, mine)}, dmabuf = -1;
	struct sync_merge_data merge = {.fd2 = file[1]};
	struct dma_buf_import_sync_file import = {.flags = DMA_BUF_SYNC_RW};
	uint32_t bo, list, ctx;

	rig = *a;
	ctx = rig_ctx();
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &bo), 0);
	list = rig_list((uint32_t[]){a->data_bo, bo}, 2);
	CHECK_EQ(drmPrimeHandleToFD(a->fd, bo, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	CHECK_EQ(ioctl(file[0], SYNC_IOC_MERGE, &merge), 0);
	import.fd = merge.fence;
	CHECK_EQ(ioctl(dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import), 0);
	third = submit_nops(a, ctx, list, 0);
	usleep(20000);
	CHECK_EQ(wait_of(a, ctx, third, 0), 1);
	release(b);
	CHECK_EQ(wait_of(a, ctx, third, UINT64_MAX), 0);
	CHECK_EQ(wait_of(a, a->ctx, mine, 0), 1);
	release(a);
	CHECK_EQ(wait_of(a, a->ctx, mine, UINT64_MAX), 0);
	close(merge.fence);
	close(file[0]);
	close(file[1]);
	close(dmabuf);
	rig = *a;
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_ctx_free(ctx), 0);
	CHECK_EQ(rig_close(bo), 0);
}

struct blocked {
	const struct rig *side;
	uint32_t list;
	_Atomic bool done;
};

static int submit_quietly(const struct rig *side, uint32_t list)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA + 4 * NOPS, 64, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib};
	uint64_t pointer = (uintptr_t)&chunk;
	union drm_amdgpu_cs args = {.in = {side->ctx, list, 1, 0, (uintptr_t)&pointer}};

	return ioctl(side->fd, DRM_IOCTL_AMDGPU_CS, &args);
}

static void *submit_one(void *arg)
{
	struct blocked *b = arg;

	CHECK_EQ(submit_quietly(b->side, b->list), 0);
	atomic_store(&b->done, true);
	return NULL;
}

static unsigned holders(void)
{
	unsigned count;

	kern_lock();
	count = kern->holders;
	kern_unlock();
	return count;
}

/* row 147: the 33rd job of one device blocks; a CS of the other one that lists the same BO does, too, and one that
 * does not gets through. */
static void a_blocked_cs_keeps_its_reservations(const struct rig *a, const struct rig *b)
{
	struct blocked first = {.side = a}, second = {.side = b};
	pthread_t thread[2];
	uint32_t bo[2];

	share(a, b, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, bo);
	rig = *a;
	first.list = rig_list((uint32_t[]){a->data_bo, bo[0]}, 2);
	rig = *b;
	second.list = rig_list((uint32_t[]){b->data_bo, bo[1]}, 2);
	submit_nops(b, b->ctx, b->list, 0);
	submit_nops(a, a->ctx, a->list, 0);
	CHECK_EQ(wait_of(a, a->ctx, UINT64_MAX, UINT64_MAX), 0);
	submit_waiting(a, a->list);
	for (unsigned i = 1; i < KERN_SCHED_JOBS; i++)
		CHECK_EQ(submit_quietly(a, a->list), 0);
	pthread_create(&thread[0], NULL, submit_one, &first);
	for (unsigned i = 0; i < 10000 && !holders(); i++)
		usleep(1000);
	CHECK_EQ(holders(), 1);
	pthread_create(&thread[1], NULL, submit_one, &second);
	CHECK_EQ(submit_quietly(b, b->list), 0);
	usleep(20000);
	CHECK(!atomic_load(&first.done));
	CHECK(!atomic_load(&second.done));
	release(a);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	CHECK_EQ(holders(), 0);
	CHECK_EQ(wait_of(a, a->ctx, UINT64_MAX, UINT64_MAX), 0);
	CHECK_EQ(wait_of(b, b->ctx, UINT64_MAX, UINT64_MAX), 0);
	rig = *a;
	CHECK_EQ(rig_list_free(first.list), 0);
	rig = *b;
	CHECK_EQ(rig_list_free(second.list), 0);
	close_both(a, b, bo);
}

static void on(const char *spec)
{
	struct rig a, same, b, c;

	rig_start(spec);
	a = rig;
	open_side(&same, "/dev/dri/renderD128");
	open_side(&b, "/dev/dri/renderD129");
	open_side(&c, "/dev/dri/renderD130");
	devices_share_the_reservation(&a, &b);
	imports_share_with_one_another(&a, &b, &c);
	files_of_a_device(&a, &same);
	parts_of_a_sync_file(&a, &b);
	a_blocked_cs_keeps_its_reservations(&a, &b);
	close_side(&same);
	close_side(&b);
	close_side(&c);
	rig = a;
	rig_stop();
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	on("gfx906,gfx906,gfx906");
	on("gfx906:kernel=6.1,gfx906:kernel=6.1,gfx906:kernel=6.1");
	return check_done("implicit synchronisation");
}
