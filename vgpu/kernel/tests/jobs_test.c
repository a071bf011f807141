/* Jobs, fences, syncobjs, resets, death of a process: through libdrm, on null devices whose jobs take their time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <amdgpu.h>
#include <xf86drm.h>
#include "tests/check.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#ifdef __SANITIZE_THREAD__ /* has no threads after the fork of a threaded process */
#define THREAD_SANITIZER 1
#else
#define THREAD_SANITIZER 0
#endif

#define IB_VA   0x200000ull
#define DATA_VA 0x201000ull

static int fd;
static uint32_t ib_bo, data_bo, fence_bo, bo_list, ctx;
static uint32_t *ib, *fence_map;
static uint64_t ib_at = IB_VA; /* what jobs run */

static int call(unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

static uint32_t gtt(uint64_t flags)
{
	union drm_amdgpu_gem_create args = {.in = {4096, 0, AMDGPU_GEM_DOMAIN_GTT, flags}};

	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_CREATE, &args), 0);
	return args.out.handle;
}

static void *map(uint32_t handle)
{
	union drm_amdgpu_gem_mmap args = {.in = {handle, 0}};

	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_MMAP, &args), 0);
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)args.out.addr_ptr);
}

static void bind(uint32_t handle, uint64_t at)
{
	struct drm_amdgpu_gem_va args = {handle, 0, AMDGPU_VA_OP_MAP, 0xe, at, 0, 4096};

	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_VA, &args), 0);
}

static uint32_t ctx_create(void)
{
	union drm_amdgpu_ctx args = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};

	CHECK_EQ(call(DRM_IOCTL_AMDGPU_CTX, &args), 0);
	return args.out.alloc.ctx_id;
}

static void ctx_free(uint32_t id)
{
	union drm_amdgpu_ctx args = {.in = {.op = AMDGPU_CTX_OP_FREE_CTX, .ctx_id = id}};

	CHECK_EQ(call(DRM_IOCTL_AMDGPU_CTX, &args), 0);
}

static uint32_t list_of(const uint32_t *handles, unsigned count)
{
	struct drm_amdgpu_bo_list_entry entry[8] = {{0}};
	union drm_amdgpu_bo_list args = {.in = {AMDGPU_BO_LIST_OP_CREATE, 0, count, 8, (uintptr_t)entry}};

	for (unsigned i = 0; i < count; i++)
		entry[i].bo_handle = handles[i];
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_BO_LIST, &args), 0);
	return args.out.list_handle;
}

struct more { /* a chunk besides the IB */
	uint32_t id, bytes;
	const void *data;
};

static int submit_on(uint32_t in_ctx, uint32_t ip, uint32_t ring, const struct more *more, unsigned count,
		     uint64_t *seq)
{
	uint64_t at = ip == AMDGPU_HW_IP_DMA ? ib_at + 64 : ib_at; /* where zeros are: SDMA's NOPs */
	struct drm_amdgpu_cs_chunk_ib chunk_ib = {0, 0, at, 64, ip, 0, ring};
	struct drm_amdgpu_cs_chunk chunk[8] = {{AMDGPU_CHUNK_ID_IB, sizeof(chunk_ib) / 4, (uintptr_t)&chunk_ib}};
	uint64_t pointer[8] = {(uintptr_t)&chunk[0]};
	union drm_amdgpu_cs args = {.in = {in_ctx, bo_list, count + 1, 0, (uintptr_t)pointer}};
	int r;

	for (unsigned i = 0; i < count; i++) {
		chunk[i + 1] = (struct drm_amdgpu_cs_chunk){more[i].id, more[i].bytes / 4, (uintptr_t)more[i].data};
		pointer[i + 1] = (uintptr_t)&chunk[i + 1];
	}
	r = call(DRM_IOCTL_AMDGPU_CS, &args);
	if (!r && seq)
		*seq = args.out.handle;
	return r;
}

static int submit(const struct more *more, unsigned count, uint64_t *seq)
{
	return submit_on(ctx, AMDGPU_HW_IP_COMPUTE, 0, more, count, seq);
}

/* 0 done, 1 busy, or -errno. */
static int wait_cs(uint32_t in_ctx, uint32_t ip, uint32_t ring, uint64_t seq, uint64_t timeout)
{
	union drm_amdgpu_wait_cs args = {.in = {seq, timeout, ip, 0, ring, in_ctx}};
	int r = call(DRM_IOCTL_AMDGPU_WAIT_CS, &args);

	return r ? r : (int)args.out.status;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void start(const char *spec)
{
	CHECK_EQ(vgpu_start(spec), 0);
	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	ib_bo = gtt(AMDGPU_GEM_CREATE_EXPLICIT_SYNC);
	data_bo = gtt(AMDGPU_GEM_CREATE_EXPLICIT_SYNC);
	fence_bo = gtt(AMDGPU_GEM_CREATE_EXPLICIT_SYNC);
	ib = map(ib_bo);
	fence_map = map(fence_bo);
	for (unsigned i = 0; i < 16; i++)
		ib[i] = 0xffff1000; /* one-dword NOPs */
	bind(ib_bo, IB_VA);
	bind(data_bo, DATA_VA);
	bo_list = list_of((uint32_t[]){ib_bo, data_bo}, 2);
	ctx = ctx_create();
}

static void stop(void)
{
	munmap(ib, 4096);
	munmap(fence_map, 4096);
	close(fd);
	for (unsigned i = 0; i < 2000 && vgpu_live_objects(); i++)
		usleep(1000);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
}

/* A CS of this chunk alone. */
static int submit_alone(struct more more)
{
	struct drm_amdgpu_cs_chunk chunk = {more.id, more.bytes / 4, (uintptr_t)more.data};
	uint64_t pointer = (uintptr_t)&chunk;
	union drm_amdgpu_cs args = {.in = {ctx, bo_list, 1, 0, (uintptr_t)&pointer}};

	return call(DRM_IOCTL_AMDGPU_CS, &args);
}

/* row 25 */
static void sequence_numbers_and_errors(void)
{
	struct drm_amdgpu_cs_chunk_fence uf = {fence_bo, 8};
	struct more fence = {AMDGPU_CHUNK_ID_FENCE, sizeof(uf), &uf}, twice[2] = {fence, fence};
	struct more shorter = {AMDGPU_CHUNK_ID_FENCE, 4, &uf};
	struct drm_amdgpu_cs_chunk_dep dep = {AMDGPU_HW_IP_COMPUTE, 0, 0, ctx, 2};
	struct more needs = {AMDGPU_CHUNK_ID_DEPENDENCIES, sizeof(dep), &dep}, odd = {99, 4, &dep};
	uint64_t seq = 0;

	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, 1, 0), -EINVAL);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, UINT64_MAX, 0), 0);
	CHECK_EQ(submit(&fence, 1, &seq), 0);
	CHECK_EQ(seq, 1);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, 1, UINT64_MAX), 0);
	CHECK_EQ(__atomic_load_n(&((uint64_t *)fence_map)[1], __ATOMIC_ACQUIRE), 1);
	CHECK_EQ(submit(&needs, 1, NULL), -EINVAL); /* row 73: its own number */
	CHECK_EQ(submit(&odd, 1, NULL), -EINVAL);   /* row 56 */
	CHECK_EQ(submit(&shorter, 1, NULL), -EINVAL);
	CHECK_EQ(submit_alone(fence), -EINVAL);
	uf.offset = 4092;
	CHECK_EQ(submit(twice, 1, NULL), -EINVAL); /* row 71 */
	uf.handle = 999;
	CHECK_EQ(submit(&fence, 1, NULL), -EINVAL);
	CHECK_EQ(submit_on(999, AMDGPU_HW_IP_COMPUTE, 0, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(submit_on(ctx, AMDGPU_HW_IP_COMPUTE, 4, NULL, 0, NULL), -EINVAL); /* row 63 */
	CHECK_EQ(submit_on(ctx, AMDGPU_HW_IP_GFX, 0, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_GFX, 0, 0, 0), 0);
	bo_list += 7;
	CHECK_EQ(submit(NULL, 0, NULL), -ENOENT);
	bo_list -= 7;
}

static void bo_handles_chunk(void)
{
	struct drm_amdgpu_bo_list_entry entry[2] = {{ib_bo, 0}, {data_bo, 0}};
	struct drm_amdgpu_bo_list_in in = {~0u, ~0u, 2, 8, (uintptr_t)entry};
	struct more chunk[2] = {{AMDGPU_CHUNK_ID_BO_HANDLES, sizeof(in), &in},
				{AMDGPU_CHUNK_ID_BO_HANDLES, sizeof(in), &in}};
	uint32_t list = bo_list;

	CHECK_EQ(submit(chunk, 1, NULL), -EINVAL); /* row 72: list and chunk */
	bo_list = 0;
	CHECK_EQ(submit(chunk, 2, NULL), -EINVAL);
	for (unsigned i = 0; i < 5; i++)
		CHECK_EQ(submit(chunk, 1, NULL), 0);
	entry[1].bo_handle = 4711;
	CHECK_EQ(submit(chunk, 1, NULL), -ENOENT);
	bo_list = list;
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, UINT64_MAX, UINT64_MAX), 0);
}

/* row 75 */
static void the_33rd_job_blocks(void)
{
	double before = now();
	uint64_t seq;

	for (unsigned i = 0; i < 32; i++)
		CHECK_EQ(submit(NULL, 0, &seq), 0);
	CHECK(now() - before < 0.019); /* 32 jobs of 20 ms wait */
	CHECK_EQ(submit(NULL, 0, &seq), 0);
	CHECK(now() - before >= 0.018);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, seq, 0), 1);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, seq, UINT64_MAX), 0);
	CHECK(now() - before >= 0.6);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, seq - 32, 0), 0); /* long over */
}

static void timelines(void)
{
	uint32_t sync;
	uint64_t seq, point = 0, want = 5;
	struct drm_amdgpu_cs_chunk_syncobj out = {0, 0, 5}, in = {0, 0, 5};
	struct more signals = {AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, sizeof(out), &out};
	struct more waits = {AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, sizeof(in), &in}, both[2] = {signals, signals};

	CHECK_EQ(drmSyncobjCreate(fd, 0, &sync), 0);
	out.handle = in.handle = sync;
	CHECK_EQ(submit(&waits, 1, NULL), -EINVAL); /* nothing there */
	CHECK_EQ(submit(both, 2, NULL), -EINVAL);
	CHECK_EQ(drmSyncobjTimelineWait(fd, &sync, &want, 1, 0, 0, NULL), -EINVAL);
	CHECK_EQ(submit(&signals, 1, &seq), 0);
	CHECK_EQ(drmSyncobjTimelineWait(fd, &sync, &want, 1, 0, 0, NULL), -ETIME);
	CHECK_EQ(drmSyncobjTimelineWait(fd, &sync, &want, 1, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE, NULL), 0);
	CHECK_EQ(submit_on(ctx, AMDGPU_HW_IP_COMPUTE, 1, &waits, 1, &seq), 0);
	CHECK_EQ(drmSyncobjQuery(fd, &sync, &point, 1), 0);
	CHECK_EQ(point, 0);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 1, seq, UINT64_MAX), 0);
	CHECK_EQ(drmSyncobjQuery(fd, &sync, &point, 1), 0);
	CHECK_EQ(point, 5);
	want = 9;
	CHECK_EQ(drmSyncobjTimelineSignal(fd, &sync, &want, 1), 0);
	CHECK_EQ(drmSyncobjTimelineWait(fd, &sync, &want, 1, 0, 0, NULL), 0);
	CHECK_EQ(drmSyncobjReset(fd, &sync, 1), 0);
	CHECK_EQ(drmSyncobjWait(fd, &sync, 1, 0, 0, NULL), -EINVAL);
	CHECK_EQ(drmSyncobjSignal(fd, &sync, 1), 0);
	CHECK_EQ(drmSyncobjWait(fd, &sync, 1, 0, 0, NULL), 0);
	CHECK_EQ(drmSyncobjDestroy(fd, sync), 0);
	CHECK(drmSyncobjDestroy(fd, sync) && errno == EINVAL);
}

/* The file closed, its job still runs; another's jobs do not care. */
static void closing_buffers_under_jobs(void)
{
	union drm_amdgpu_gem_wait_idle idle = {.in = {data_bo, 0, 0}};
	uint64_t seq;

	CHECK_EQ(submit(NULL, 0, &seq), 0);
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE, &idle), 0);
	CHECK_EQ(idle.out.status, 1);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, seq, UINT64_MAX), 0);
	idle = (union drm_amdgpu_gem_wait_idle){.in = {data_bo, 0, UINT64_MAX}};
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE, &idle), 0);
	CHECK_EQ(idle.out.status, 0);
}

/* row 115 */
static void a_dead_process_ends_its_fences(void)
{
	int wire[2], status, mine = fd;
	uint32_t sync;
	char byte;
	pid_t pid;

	CHECK_EQ(drmSyncobjCreate(mine, 0, &sync), 0);
	CHECK_EQ(pipe(wire), 0);
	pid = fork();
	if (!pid) {
		struct drm_amdgpu_cs_chunk_sem out = {sync};
		struct more signals = {AMDGPU_CHUNK_ID_SYNCOBJ_OUT, sizeof(out), &out};

		for (unsigned i = 0; i < 30; i++) /* 30 jobs of 20 ms */
			if (submit(i < 29 ? NULL : &signals, i == 29, NULL))
				_exit(1);
		if (write(wire[1], "x", 1) != 1)
			_exit(2);
		pause();
	}
	close(wire[1]);
	CHECK_EQ(read(wire[0], &byte, 1), 1);
	CHECK_EQ(drmSyncobjWait(fd, &sync, 1, 0, 0, NULL), -ETIME);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(drmSyncobjWait(fd, &sync, 1, INT64_MAX, 0, NULL), 0); /* with an error that a syncobj hides */
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, UINT64_MAX, 0), -ESRCH);
	CHECK_EQ(drmSyncobjDestroy(fd, sync), 0);
	ctx_free(ctx);
	ctx = ctx_create();
	CHECK_EQ(submit(NULL, 0, NULL), 0);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, UINT64_MAX, UINT64_MAX), 0);
	close(wire[0]);
}

/* One round of a thread; false when anything failed. Without CHECK, which is for one thread. */
static bool hammer_once(uint32_t my_ctx, unsigned i)
{
	union drm_amdgpu_gem_create bo = {
		.in = {4096, 0, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_VM_ALWAYS_VALID}};
	union drm_amdgpu_gem_mmap at;
	struct drm_gem_close close_args;
	uint32_t *p;
	bool good = !call(DRM_IOCTL_AMDGPU_GEM_CREATE, &bo);

	at = (union drm_amdgpu_gem_mmap){.in = {bo.out.handle, 0}};
	close_args = (struct drm_gem_close){.handle = bo.out.handle};
	good &= !call(DRM_IOCTL_AMDGPU_GEM_MMAP, &at);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at.out.addr_ptr);
	if (!good || p == MAP_FAILED)
		return false;
	p[3] = i;
	good &= !submit_on(my_ctx, i & 1 ? AMDGPU_HW_IP_COMPUTE : AMDGPU_HW_IP_DMA, i & 1, NULL, 0, NULL);
	good &= p[3] == i && !munmap(p, 4096) && !call(DRM_IOCTL_GEM_CLOSE, &close_args);
	if (i % 8 == 7)
		good &= !wait_cs(my_ctx, AMDGPU_HW_IP_COMPUTE, 1, UINT64_MAX, UINT64_MAX);
	return good;
}

static void *hammer(void *arg)
{
	union drm_amdgpu_ctx args = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};
	bool good = !call(DRM_IOCTL_AMDGPU_CTX, &args);
	uint32_t my_ctx = args.out.alloc.ctx_id;

	(void)arg;
	for (unsigned i = 0; good && i < 300; i++)
		good &= hammer_once(my_ctx, i);
	args = (union drm_amdgpu_ctx){.in = {.op = AMDGPU_CTX_OP_FREE_CTX, .ctx_id = my_ctx}};
	good &= !call(DRM_IOCTL_AMDGPU_CTX, &args);
	return good ? NULL : &fd;
}

static void many_threads(void)
{
	pthread_t thread[4];
	void *bad;

	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, hammer, NULL), 0);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(thread[i], &bad);
		CHECK(!bad);
	}
}

static void resets(void)
{
	union drm_amdgpu_ctx query = {.in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = ctx}};
	union drm_amdgpu_gem_create vram = {.in = {4096, 0, AMDGPU_GEM_DOMAIN_VRAM, 0}};
	uint32_t *in_vram;

	CHECK_EQ(call(DRM_IOCTL_AMDGPU_GEM_CREATE, &vram), 0);
	in_vram = map(vram.out.handle);
	in_vram[5] = ib[5] = 0xffff1000;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_CTX, &query), 0);
	CHECK_EQ(query.out.state.flags, 0);
	CHECK_EQ(vgpu_inject_reset(0), 0);
	CHECK_EQ(in_vram[5], 0);
	CHECK_EQ(ib[5], 0xffff1000); /* GTT */
	munmap(in_vram, 4096);
	query = (union drm_amdgpu_ctx){.in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = ctx}};
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_CTX, &query), 0);
	CHECK_EQ(query.out.state.flags, AMDGPU_CTX_QUERY2_FLAGS_RESET | AMDGPU_CTX_QUERY2_FLAGS_VRAMLOST);
	CHECK_EQ(submit(NULL, 0, NULL), -ECANCELED); /* row 113 */
	ctx_free(ctx);
	ctx = ctx_create();
	CHECK_EQ(submit(NULL, 0, NULL), 0);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, UINT64_MAX, UINT64_MAX), 0);
}

/* row 114: jobs of a device that is unplugged end with that; their fences are known by other means than the node.
 */
static void unplugging_ends_jobs(void)
{
	union drm_amdgpu_fence_to_handle to_file = {
		.in = {.fence = {.ctx_id = ctx, .ip_type = AMDGPU_HW_IP_COMPUTE},
		       .what = AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD}};
	struct sync_file_info info = {0};
	struct pollfd ended = {.events = POLLIN};
	uint64_t seq;

	CHECK_EQ(submit(NULL, 0, &seq), 0);
	to_file.in.fence.seq_no = seq;
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &to_file), 0);
	ended.fd = (int)to_file.out.handle;
	CHECK_EQ(vgpu_inject_unplug(0), 0);
	CHECK_EQ(poll(&ended, 1, 60000), 1);
	CHECK_EQ(ioctl(ended.fd, SYNC_IOC_FILE_INFO, &info), 0);
	CHECK_EQ(info.status, -ENODEV);
	close(ended.fd);
}

/* The error is not taken for a time-out, whose number it has. */
static void both_waits_tell_the_error(uint64_t seq)
{
	struct drm_amdgpu_fence fence = {.ctx_id = ctx, .ip_type = AMDGPU_HW_IP_COMPUTE, .seq_no = seq};

	for (unsigned all = 0; all < 2; all++) {
		union drm_amdgpu_wait_fences args = {.in = {(uintptr_t)&fence, 1, all, UINT64_MAX}};

		CHECK_EQ(call(DRM_IOCTL_AMDGPU_WAIT_FENCES, &args), -ETIME);
	}
}

/* Illegal opcode: ring reset, the entity keeps the error, another context of the process goes on. */
static void an_illegal_packet_resets_the_ring(void)
{
	union drm_amdgpu_ctx query = {.in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = ctx}};
	uint64_t seq;

	ib[0] = 0xc000ff00;
	CHECK_EQ(submit(NULL, 0, &seq), 0);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, UINT64_MAX, UINT64_MAX), -ETIME);
	both_waits_tell_the_error(seq);
	CHECK_EQ(submit(NULL, 0, NULL), -ETIME); /* row 77: it stays */
	CHECK_EQ(call(DRM_IOCTL_AMDGPU_CTX, &query), 0);
	CHECK_EQ(query.out.state.flags, AMDGPU_CTX_QUERY2_FLAGS_RESET);
	ib[0] = 0xffff1000;
	ctx_free(ctx);
	ctx = ctx_create();
	CHECK_EQ(submit(NULL, 0, NULL), 0);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, UINT64_MAX, UINT64_MAX), 0);
}

static uint64_t usage(int node, unsigned query)
{
	uint64_t used_B = 0;
	struct drm_amdgpu_info args = {.return_pointer = (uintptr_t)&used_B, .return_size = 8, .query = query};

	CHECK_EQ(ioctl(node, DRM_IOCTL_AMDGPU_INFO, &args), 0);
	return used_B;
}

/* row 120: importing moves nothing; the exporter's buffer moves when a job of the importer first lists it, unless
 * the two are peers. The importer is the first device of the SPEC. */
static void a_spill_waits_for_the_first_job(const char *spec, bool peers)
{
	union drm_amdgpu_gem_create create = {
		.in = {2 << 20, 0, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_EXPLICIT_SYNC}};
	uint64_t moved_B = peers ? 0 : 2 << 20, before;
	int other, dmabuf = -1;
	uint32_t here = 0, old;

	start(spec);
	old = bo_list;
	other = open("/dev/dri/renderD129", O_RDWR | O_CLOEXEC);
	CHECK_EQ(ioctl(other, DRM_IOCTL_AMDGPU_GEM_CREATE, &create), 0);
	before = usage(other, AMDGPU_INFO_VRAM_USAGE);
	CHECK_EQ(drmPrimeHandleToFD(other, create.out.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	CHECK_EQ(drmPrimeFDToHandle(fd, dmabuf, &here), 0);
	bo_list = list_of((uint32_t[]){ib_bo, data_bo, here}, 3);
	CHECK_EQ(usage(other, AMDGPU_INFO_VRAM_USAGE), before);
	CHECK_EQ(submit(NULL, 0, NULL), 0);
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_COMPUTE, 0, UINT64_MAX, UINT64_MAX), 0);
	CHECK_EQ(usage(other, AMDGPU_INFO_VRAM_USAGE), before - moved_B);
	CHECK_EQ(usage(other, AMDGPU_INFO_GTT_USAGE), moved_B);
	CHECK_EQ(usage(other, AMDGPU_INFO_NUM_BYTES_MOVED), moved_B);
	CHECK_EQ(usage(other, AMDGPU_INFO_NUM_EVICTIONS), 0);
	bo_list = old;
	close(dmabuf);
	close(other);
	stop();
}

/* row 98: two contexts on the one GFX ring; the first one's job is illegal. What becomes of the second one's, which
 * the ring has already? */
static int neighbour_of_an_illegal_packet(const char *spec, int guilty)
{
	uint32_t other, *nops;
	int r;

	start(spec);
	other = ctx_create();
	nops = map(data_bo);
	for (unsigned i = 0; i < 16; i++)
		nops[i] = 0xffff1000;
	ib[0] = 0xc000ff00;
	ib_at = DATA_VA; /* while a first job runs the other two queue up; then the ring takes both */
	CHECK_EQ(submit_on(ctx, AMDGPU_HW_IP_GFX, 0, NULL, 0, NULL), 0);
	ib_at = IB_VA;
	CHECK_EQ(submit_on(ctx, AMDGPU_HW_IP_GFX, 0, NULL, 0, NULL), 0);
	ib_at = DATA_VA;
	CHECK_EQ(submit_on(other, AMDGPU_HW_IP_GFX, 0, NULL, 0, NULL), 0);
	ib_at = IB_VA;
	CHECK_EQ(wait_cs(ctx, AMDGPU_HW_IP_GFX, 0, UINT64_MAX, UINT64_MAX), guilty);
	r = wait_cs(other, AMDGPU_HW_IP_GFX, 0, UINT64_MAX, UINT64_MAX);
	munmap(nops, 4096);
	ctx_free(other);
	stop();
	return r;
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	start("null:gfx908:service_us=20000");
	sequence_numbers_and_errors();
	bo_handles_chunk();
	the_33rd_job_blocks();
	timelines();
	closing_buffers_under_jobs();
	if (!THREAD_SANITIZER)
		a_dead_process_ends_its_fences();
	resets();
	stop();
	start("null:gfx908");
	many_threads();
	stop();
	start("null:gfx908:service_us=20000");
	unplugging_ends_jobs();
	stop();
	start("gfx906");
	an_illegal_packet_resets_the_ring();
	stop();
	a_spill_waits_for_the_first_job("gfx906:p2p=1,gfx906:p2p=1", true);                   /* large windows */
	a_spill_waits_for_the_first_job("gfx906:p2p=1,gfx908:vram=1G:bar=256M:p2p=1", false); /* a small one */
	a_spill_waits_for_the_first_job("gfx906:bar=256M:p2p=1,gfx906:p2p=1", true); /* the importer's is its own */
	a_spill_waits_for_the_first_job("gfx908:hive=1,gfx908:bar=256M:hive=1", true);  /* links need no window */
	a_spill_waits_for_the_first_job("gfx908:hive=2,gfx908:bar=256M:hive=1", false); /* not of that hive */
	a_spill_waits_for_the_first_job("gfx906:p2p=0,gfx906:p2p=1", false); /* forbidden on either side */
	a_spill_waits_for_the_first_job("gfx906:p2p=1,gfx906:p2p=0", false);
	a_spill_waits_for_the_first_job("gfx906,gfx906", false); /* Debian builds 6.12 without PCI_P2PDMA */
	a_spill_waits_for_the_first_job("gfx906:kernel=6.1,gfx906:kernel=6.1", false);
	a_spill_waits_for_the_first_job("gfx906:kernel=7.2,gfx906:kernel=7.2", true);
	a_spill_waits_for_the_first_job("gfx908:hive=1,gfx908:hive=1:p2p=0", true); /* which is about PCI alone */
	CHECK_EQ(neighbour_of_an_illegal_packet("null:gfx906:service_us=50000", -ETIME), -ECANCELED);
	CHECK_EQ(neighbour_of_an_illegal_packet("null:gfx906:service_us=50000:kernel=6.18", -ETIME), 0);
	/* Before 6.12 nothing but the device is reset, and its VRAM is lost. */
	CHECK_EQ(neighbour_of_an_illegal_packet("null:gfx906:service_us=50000:kernel=6.1", -ECANCELED), -ECANCELED);
	return check_done("jobs, fences, syncobjs, resets");
}
