/* The virtual kernel: every ioctl on two render nodes and a primary one, with structs of the input. Fields get handles of
 * either file, addresses that the kernel can and cannot read, and times that are over soon. After each input no object may
 * be left, and the counts of those that are shared have to be right. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vgpu/kernel/base/core.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/repair.h"
#include "vgpu/kernel/kernel.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

#define PAGE  4096u
#define POOL  16u
#define CALLS 24u /* of an input at most */
#define ARG_B 512u
#define MMAPS 4u

/* What a field holds. Handles of a kind are kept in a pool of that kind. */
enum kind {
	BO,
	CTX,
	LIST,
	SYNCOBJ,
	FD,
	NAME,
	POOLS,
	POINTER = POOLS,
	VA,
	SIZE,
	SMALL,
	TIME,
	TIME_SIGNED,
	CHUNKS,
	WAIT_FLAGS
};

#define FIELDS 11 /* of an argument at most */

struct field {
	uint8_t offset, size_B, kind;
};

#define F(type, member, kind) {offsetof(type, member), sizeof(((type *)0)->member), kind}

/* An ioctl: the fields of its argument, and where the answer has a new handle. */
struct call {
	unsigned long request;
	struct field field[FIELDS];
	uint8_t made_at, made; /* enum kind; made_at 255: nothing is made */
};

#define NOTHING 255, 0
#define SEQ     SMALL

static const struct call calls[] = {
	{DRM_IOCTL_VERSION,
	 {F(struct drm_version, name_len, SMALL), F(struct drm_version, name, POINTER),
	  F(struct drm_version, desc, POINTER)},
	 NOTHING},
	{DRM_IOCTL_GET_UNIQUE,
	 {F(struct drm_unique, unique_len, SMALL), F(struct drm_unique, unique, POINTER)},
	 NOTHING},
	{DRM_IOCTL_GET_MAGIC, {{0}}, NOTHING},
	{DRM_IOCTL_GET_CLIENT, {F(struct drm_client, idx, SMALL)}, NOTHING},
	{DRM_IOCTL_SET_VERSION, {{0}}, NOTHING},
	{DRM_IOCTL_AUTH_MAGIC, {F(struct drm_auth, magic, SMALL)}, NOTHING},
	{DRM_IOCTL_SET_MASTER, {{0}}, NOTHING},
	{DRM_IOCTL_DROP_MASTER, {{0}}, NOTHING},
	{DRM_IOCTL_GET_CAP, {F(struct drm_get_cap, capability, SMALL)}, NOTHING},
	{DRM_IOCTL_SET_CLIENT_CAP, {{0}}, NOTHING},
	{DRM_IOCTL_GEM_CLOSE, {F(struct drm_gem_close, handle, BO)}, NOTHING},
	{DRM_IOCTL_GEM_FLINK, {F(struct drm_gem_flink, handle, BO)}, offsetof(struct drm_gem_flink, name), NAME},
	{DRM_IOCTL_GEM_OPEN, {F(struct drm_gem_open, name, NAME)}, offsetof(struct drm_gem_open, handle), BO},
	{DRM_IOCTL_PRIME_HANDLE_TO_FD,
	 {F(struct drm_prime_handle, handle, BO), F(struct drm_prime_handle, flags, SMALL)},
	 offsetof(struct drm_prime_handle, fd),
	 FD},
	{DRM_IOCTL_PRIME_FD_TO_HANDLE,
	 {F(struct drm_prime_handle, fd, FD)},
	 offsetof(struct drm_prime_handle, handle),
	 BO},
	{DRM_IOCTL_MODE_GETRESOURCES, {{0}}, NOTHING},
	{DRM_IOCTL_SYNCOBJ_CREATE,
	 {F(struct drm_syncobj_create, flags, SMALL)},
	 offsetof(struct drm_syncobj_create, handle),
	 SYNCOBJ},
	{DRM_IOCTL_SYNCOBJ_DESTROY, {F(struct drm_syncobj_destroy, handle, SYNCOBJ)}, NOTHING},
	{UAPI_IOCTL_SYNCOBJ_HANDLE_TO_FD,
	 {F(struct uapi_syncobj_handle, handle, SYNCOBJ), F(struct uapi_syncobj_handle, flags, SMALL),
	  F(struct uapi_syncobj_handle, point, SMALL)},
	 offsetof(struct uapi_syncobj_handle, fd),
	 FD},
	{UAPI_IOCTL_SYNCOBJ_FD_TO_HANDLE,
	 {F(struct uapi_syncobj_handle, fd, FD), F(struct uapi_syncobj_handle, flags, SMALL),
	  F(struct uapi_syncobj_handle, handle, SYNCOBJ)},
	 offsetof(struct uapi_syncobj_handle, handle),
	 SYNCOBJ},
	{DRM_IOWR(0xc3, struct uapi_syncobj_wait),
	 {F(struct uapi_syncobj_wait, handles, POINTER), F(struct uapi_syncobj_wait, count, SMALL),
	  F(struct uapi_syncobj_wait, flags, WAIT_FLAGS), F(struct uapi_syncobj_wait, timeout_ns, TIME_SIGNED)},
	 NOTHING},
	{DRM_IOCTL_SYNCOBJ_RESET,
	 {F(struct drm_syncobj_array, handles, POINTER), F(struct drm_syncobj_array, count_handles, SMALL)},
	 NOTHING},
	{DRM_IOCTL_SYNCOBJ_SIGNAL,
	 {F(struct drm_syncobj_array, handles, POINTER), F(struct drm_syncobj_array, count_handles, SMALL)},
	 NOTHING},
	{DRM_IOWR(0xca, struct uapi_syncobj_timeline_wait),
	 {F(struct uapi_syncobj_timeline_wait, handles, POINTER),
	  F(struct uapi_syncobj_timeline_wait, points, POINTER), F(struct uapi_syncobj_timeline_wait, count, SMALL),
	  F(struct uapi_syncobj_timeline_wait, flags, WAIT_FLAGS),
	  F(struct uapi_syncobj_timeline_wait, timeout_ns, TIME_SIGNED)},
	 NOTHING},
	{DRM_IOCTL_SYNCOBJ_QUERY,
	 {F(struct drm_syncobj_timeline_array, handles, POINTER),
	  F(struct drm_syncobj_timeline_array, points, POINTER),
	  F(struct drm_syncobj_timeline_array, count_handles, SMALL),
	  F(struct drm_syncobj_timeline_array, flags, SMALL)},
	 NOTHING},
	{DRM_IOCTL_SYNCOBJ_TRANSFER,
	 {F(struct drm_syncobj_transfer, src_handle, SYNCOBJ), F(struct drm_syncobj_transfer, dst_handle, SYNCOBJ),
	  F(struct drm_syncobj_transfer, src_point, SMALL), F(struct drm_syncobj_transfer, dst_point, SMALL),
	  F(struct drm_syncobj_transfer, flags, WAIT_FLAGS)},
	 NOTHING},
	{DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL,
	 {F(struct drm_syncobj_timeline_array, handles, POINTER),
	  F(struct drm_syncobj_timeline_array, points, POINTER),
	  F(struct drm_syncobj_timeline_array, count_handles, SMALL),
	  F(struct drm_syncobj_timeline_array, flags, SMALL)},
	 NOTHING},
	{UAPI_IOCTL_SYNCOBJ_EVENTFD,
	 {F(struct uapi_syncobj_eventfd, handle, SYNCOBJ), F(struct uapi_syncobj_eventfd, flags, SMALL),
	  F(struct uapi_syncobj_eventfd, point, SMALL), F(struct uapi_syncobj_eventfd, fd, FD)},
	 NOTHING},
	{DRM_IOCTL_AMDGPU_GEM_CREATE,
	 {F(struct drm_amdgpu_gem_create_in, bo_size, SIZE), F(struct drm_amdgpu_gem_create_in, alignment, SIZE),
	  F(struct drm_amdgpu_gem_create_in, domains, SMALL),
	  F(struct drm_amdgpu_gem_create_in, domain_flags, SMALL)},
	 0,
	 BO},
	{DRM_IOCTL_AMDGPU_GEM_MMAP, {{0, 4, BO}}, NOTHING},
	{DRM_IOCTL_AMDGPU_CTX,
	 {F(struct drm_amdgpu_ctx_in, op, SMALL), F(struct drm_amdgpu_ctx_in, flags, SMALL),
	  F(struct drm_amdgpu_ctx_in, ctx_id, CTX), F(struct drm_amdgpu_ctx_in, priority, SMALL)},
	 0,
	 CTX},
	{DRM_IOCTL_AMDGPU_BO_LIST,
	 {F(struct drm_amdgpu_bo_list_in, operation, SMALL), F(struct drm_amdgpu_bo_list_in, list_handle, LIST),
	  F(struct drm_amdgpu_bo_list_in, bo_number, SMALL), F(struct drm_amdgpu_bo_list_in, bo_info_size, SMALL),
	  F(struct drm_amdgpu_bo_list_in, bo_info_ptr, POINTER)},
	 0,
	 LIST},
	{DRM_IOCTL_AMDGPU_CS,
	 {F(struct drm_amdgpu_cs_in, ctx_id, CTX), F(struct drm_amdgpu_cs_in, bo_list_handle, LIST),
	  F(struct drm_amdgpu_cs_in, num_chunks, SMALL), F(struct drm_amdgpu_cs_in, chunks, CHUNKS)},
	 NOTHING},
	{DRM_IOCTL_AMDGPU_INFO,
	 {F(struct drm_amdgpu_info, return_pointer, POINTER), F(struct drm_amdgpu_info, return_size, SMALL),
	  F(struct drm_amdgpu_info, query, SMALL)},
	 NOTHING},
	{DRM_IOCTL_AMDGPU_GEM_METADATA,
	 {F(struct drm_amdgpu_gem_metadata, handle, BO), F(struct drm_amdgpu_gem_metadata, op, SMALL),
	  F(struct drm_amdgpu_gem_metadata, data.data_size_bytes, SMALL)},
	 NOTHING},
	{DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE,
	 {F(struct drm_amdgpu_gem_wait_idle_in, handle, BO), F(struct drm_amdgpu_gem_wait_idle_in, timeout, TIME)},
	 NOTHING},
	{UAPI_IOCTL_GEM_VA,
	 {F(struct uapi_gem_va, handle, BO), F(struct uapi_gem_va, operation, SMALL),
	  F(struct uapi_gem_va, flags, SMALL), F(struct uapi_gem_va, va_address, VA),
	  F(struct uapi_gem_va, offset_in_bo, SIZE), F(struct uapi_gem_va, map_size, SIZE),
	  F(struct uapi_gem_va, vm_timeline_syncobj_out, SYNCOBJ),
	  F(struct uapi_gem_va, num_syncobj_handles, SMALL),
	  F(struct uapi_gem_va, input_fence_syncobj_handles, POINTER)},
	 NOTHING},
	{DRM_IOCTL_AMDGPU_WAIT_CS,
	 {F(struct drm_amdgpu_wait_cs_in, handle, SEQ), F(struct drm_amdgpu_wait_cs_in, timeout, TIME),
	  F(struct drm_amdgpu_wait_cs_in, ip_type, SMALL), F(struct drm_amdgpu_wait_cs_in, ip_instance, SMALL),
	  F(struct drm_amdgpu_wait_cs_in, ring, SMALL), F(struct drm_amdgpu_wait_cs_in, ctx_id, CTX)},
	 NOTHING},
	{UAPI_IOCTL_GEM_OP,
	 {F(struct uapi_gem_op, handle, BO), F(struct uapi_gem_op, op, SMALL),
	  F(struct uapi_gem_op, value, POINTER), F(struct uapi_gem_op, num_entries, SMALL)},
	 NOTHING},
	{DRM_IOCTL_AMDGPU_GEM_USERPTR,
	 {F(struct drm_amdgpu_gem_userptr, addr, POINTER), F(struct drm_amdgpu_gem_userptr, size, SIZE),
	  F(struct drm_amdgpu_gem_userptr, flags, SMALL)},
	 offsetof(struct drm_amdgpu_gem_userptr, handle),
	 BO},
	{DRM_IOCTL_AMDGPU_WAIT_FENCES,
	 {F(struct drm_amdgpu_wait_fences_in, fences, POINTER),
	  F(struct drm_amdgpu_wait_fences_in, fence_count, SMALL),
	  F(struct drm_amdgpu_wait_fences_in, wait_all, SMALL),
	  F(struct drm_amdgpu_wait_fences_in, timeout_ns, TIME)},
	 NOTHING},
	{DRM_IOCTL_AMDGPU_VM,
	 {F(struct drm_amdgpu_vm_in, op, SMALL), F(struct drm_amdgpu_vm_in, flags, SMALL)},
	 NOTHING},
	{DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE,
	 {F(struct drm_amdgpu_fence, ctx_id, CTX),
	  F(struct drm_amdgpu_fence, ip_type, SMALL),
	  F(struct drm_amdgpu_fence, ip_instance, SMALL),
	  F(struct drm_amdgpu_fence, ring, SMALL),
	  F(struct drm_amdgpu_fence, seq_no, SEQ),
	  {sizeof(struct drm_amdgpu_fence), 4, SMALL}},
	 0,
	 FD},
	{DRM_IOCTL_AMDGPU_SCHED,
	 {F(struct drm_amdgpu_sched_in, op, SMALL), F(struct drm_amdgpu_sched_in, fd, FD),
	  F(struct drm_amdgpu_sched_in, priority, SMALL), F(struct drm_amdgpu_sched_in, ctx_id, CTX)},
	 NOTHING},
	{UAPI_IOCTL_GEM_LIST_HANDLES,
	 {F(struct uapi_gem_list_handles, entries, POINTER), F(struct uapi_gem_list_handles, num_entries, SMALL)},
	 NOTHING},
	{UAPI_IOCTL_USERQ,
	 {F(struct uapi_userq, op, SMALL), F(struct uapi_userq, queue_id, SMALL),
	  F(struct uapi_userq, ip_type, SMALL), F(struct uapi_userq, doorbell_handle, BO),
	  F(struct uapi_userq, doorbell_offset, SMALL), F(struct uapi_userq, queue_va, VA),
	  F(struct uapi_userq, queue_size, SIZE), F(struct uapi_userq, rptr_va, VA),
	  F(struct uapi_userq, wptr_va, VA), F(struct uapi_userq, mqd, POINTER),
	  F(struct uapi_userq, mqd_size, SMALL)},
	 NOTHING},
	{UAPI_IOCTL_USERQ_SIGNAL,
	 {F(struct uapi_userq_signal, queue_id, SMALL), F(struct uapi_userq_signal, syncobj_handles, POINTER),
	  F(struct uapi_userq_signal, num_syncobj_handles, SMALL),
	  F(struct uapi_userq_signal, bo_read_handles, POINTER),
	  F(struct uapi_userq_signal, bo_write_handles, POINTER),
	  F(struct uapi_userq_signal, num_bo_read_handles, SMALL),
	  F(struct uapi_userq_signal, num_bo_write_handles, SMALL)},
	 NOTHING},
	/* Without syncobjs: a wait for a submission that never comes takes five seconds. */
	{UAPI_IOCTL_USERQ_WAIT,
	 {F(struct uapi_userq_wait, waitq_id, SMALL), F(struct uapi_userq_wait, num_fences, SMALL),
	  F(struct uapi_userq_wait, bo_read_handles, POINTER), F(struct uapi_userq_wait, bo_write_handles, POINTER),
	  F(struct uapi_userq_wait, num_bo_read_handles, SMALL),
	  F(struct uapi_userq_wait, num_bo_write_handles, SMALL), F(struct uapi_userq_wait, out_fences, POINTER)},
	 NOTHING},
};
#define CALLS_KNOWN (sizeof(calls) / sizeof(*calls))

/* --- the state of an input --- */

static struct state {
	const uint8_t *at;
	size_t left_B;
	int file[3]; /* two render nodes and a primary one */
	uint32_t pool[POOLS][POOL];
	unsigned made[POOLS];
	uint8_t *memory; /* pages: plain, plain, read-only, none; kept for all inputs */
	void *map[MMAPS];
	unsigned maps;
} st;

static uint8_t take_u8(void)
{
	if (!st.left_B)
		return 0;
	st.left_B--;
	return *st.at++;
}

static uint32_t take_u32(void)
{
	uint32_t value = take_u8();

	value |= (uint32_t)take_u8() << 8;
	value |= (uint32_t)take_u8() << 16;
	return value | (uint32_t)take_u8() << 24;
}

static void keep(enum kind kind, uint32_t value)
{
	unsigned n = st.made[kind]++ % POOL;

	st.pool[kind][n] = value;
}

/* Memory of the process: with data, behind data, without the right, and none. */
static uint64_t pick_pointer(unsigned choice)
{
	const uint64_t page = (uintptr_t)st.memory;

	switch (choice % 16) {
	case 8:
		return page + PAGE - 8 + (choice >> 4 & 7); /* into the second page */
	case 9:
		return page + 2 * PAGE - 4 * (choice >> 4); /* into the read-only one */
	case 10:
		return page + 3 * PAGE - 4 * (choice >> 4); /* into none */
	case 11:
		return page + 2 * PAGE;
	case 12:
		return 0;
	case 13:
		return choice & 128 ? 0xffffffffffff0000ull : 0x800000000000ull;
	case 14:
		return 1ull << (choice >> 2 & 63);
	case 15:
		return page + 2 * PAGE + 1;
	default:
		return page + 64 * (choice % 8) + (choice & 64 ? PAGE : 0);
	}
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t pick_value(enum kind kind);

/* Where a job's chunks are, with data of all kinds. */
static uint64_t pick_chunks(unsigned count)
{
	uint64_t *pointer = (uint64_t *)(void *)st.memory;
	uint8_t *at = st.memory + 128;

	for (unsigned n = 0; n < count && n < 16; n++) {
		struct drm_amdgpu_cs_chunk *chunk = (void *)at;
		uint32_t word[8];
		unsigned id = take_u8();

		pointer[n] = id & 128 ? pick_pointer(take_u8()) : (uintptr_t)chunk;
		*chunk = (struct drm_amdgpu_cs_chunk){id % 13, id & 64 ? take_u8() : 8, (uintptr_t)(at + 16)};
		for (unsigned i = 0; i < 8; i++)
			word[i] = take_u8();
		/* Structs begin with a context or a syncobj; an IB has an address and a size. */
		if (chunk->chunk_id == AMDGPU_CHUNK_ID_IB) {
			struct drm_amdgpu_cs_chunk_ib ib = {0,           word[0],       pick_value(VA), 4 * word[1],
							    word[2] % 4, word[3] / 128, word[4] % 6};

			memcpy(word, &ib, sizeof(ib));
		} else if (chunk->chunk_id == AMDGPU_CHUNK_ID_BO_HANDLES) {
			struct drm_amdgpu_bo_list_in in = {0, 0, word[0] % 4, word[1] & 1 ? 8 : word[2],
							   pick_value(POINTER)};

			memcpy(word, &in, sizeof(in));
		} else if (chunk->chunk_id == AMDGPU_CHUNK_ID_FENCE) {
			word[0] = (uint32_t)pick_value(BO);
			word[1] = 8 * word[1];
		} else if (chunk->chunk_id == AMDGPU_CHUNK_ID_DEPENDENCIES ||
			   chunk->chunk_id == AMDGPU_CHUNK_ID_SCHEDULED_DEPENDENCIES) {
			word[3] = (uint32_t)pick_value(CTX);
		} else {
			word[0] = (uint32_t)pick_value(SYNCOBJ);
			word[1] &= ~(uint32_t)DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT; /* that takes five seconds */
			word[5] &= ~(uint32_t)DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
		}
		memcpy(at + 16, word, sizeof(word));
		at += 64;
	}
	return (uintptr_t)st.memory;
}

/* A field's value: of its kind, or now and then anything. */
static uint64_t pick_value(enum kind kind)
{
	unsigned choice = take_u8();

	switch (kind) {
	case VA:
		return choice & 128 ? (uint64_t)take_u32() << (choice & 31)
				    : 0x200000ull + PAGE * (choice % 16) + (choice & 64 ? 4 : 0);
	case SIZE:
		return choice & 128 ? (uint64_t)take_u32() << (choice & 31)
				    : PAGE * (choice % 8ull) + (choice & 64 ? 1 : 0);
	case TIME:
	case TIME_SIGNED:
		if (choice & 1)
			return kind == TIME_SIGNED && choice & 2 ? (uint64_t)-1 : 0;
		return now_ns() + 1000ull * choice;
	case POINTER:
		return pick_pointer(choice);
	case SMALL:
		return choice < 250 ? choice % 128 : choice < 253 ? 1u << (choice & 31) : take_u32();
	case WAIT_FLAGS: /* a wait without a fence sleeps till its time is over */
		return choice % 16;
	case CHUNKS:
		return choice < 240 ? pick_chunks(16) : pick_pointer(choice);
	default:
		return choice < 224 ? st.pool[kind][choice % POOL] : choice;
	}
}

static void fill_memory(void)
{
	for (unsigned n = 0; n < 2 * PAGE; n += 64) {
		uint32_t word[16];

		for (unsigned i = 0; i < 16; i++)
			word[i] = st.pool[(n >> 6) % 4][((n >> 8) + i) & 7];
		memcpy(st.memory + n, word, 64);
	}
}

/* --- one call --- */

static void note_answer(const struct call *call, uint8_t *arg, const uint8_t *before, int fd)
{
	uint32_t value;

	if (call->request == DRM_IOCTL_AMDGPU_GEM_MMAP && st.maps < MMAPS) {
		uint64_t offset;
		void *at;

		memcpy(&offset, arg, 8);
		at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
		if (at != MAP_FAILED) {
			memset(at, 0, PAGE);
			st.map[st.maps++] = at;
		}
	}
	if (call->made_at == 255)
		return;
	memcpy(&value, arg + call->made_at, 4);
	/* A few answers name a descriptor or a syncobj by what was asked for. */
	if (call->request == DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE &&
	    before[sizeof(struct drm_amdgpu_fence)] == AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ)
		keep(SYNCOBJ, value);
	else if (value)
		keep(call->made, value);
}

/* libFuzzer puts numbers that the program compared into inputs, addresses of stacks and of variables among them: an ioctl that
 * writes there would overwrite the fuzzer itself. */
static void words_check(uint8_t *arg)
{
	unsigned char in_core;
	uint64_t word;

	for (unsigned at = 0; at + sizeof(word) <= ARG_B; at += sizeof(word)) {
		memcpy(&word, arg + at, sizeof(word));
		if (word >= PAGE && !mincore((void *)(uintptr_t)(word & -(uint64_t)PAGE), PAGE, &in_core))
			memset(arg + at, 0, sizeof(word));
	}
}

static void put_call(void)
{
	unsigned number = take_u8(), how = take_u8();
	const struct call *call = &calls[number % CALLS_KNOWN];
	uint8_t arg[ARG_B] = {0}, before[ARG_B];
	unsigned long request = call->request;
	size_t size_B = _IOC_SIZE(request);
	int fd = st.file[how % 4 == 3 ? 2 : how & 1], r;
	void *at = arg;

	for (unsigned n = 0; how & 128 && n < size_B; n++)
		arg[n] = take_u8();
	if (how & 128)
		words_check(arg);
	for (const struct field *f = call->field; f < call->field + FIELDS && f->size_B; f++) {
		uint64_t value = pick_value(f->kind);

		memcpy(arg + f->offset, &value, f->size_B);
	}
	if (how & 64) { /* another size, another number, or another place */
		unsigned odd = take_u8();

		if (odd < 64)
			request = _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request), odd * 4);
		else if (odd < 80)
			request = _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE, take_u8(), size_B);
		else if (odd < 96)
			fd = (int)st.pool[FD][odd % POOL];
		else
			at = (void *)pick_pointer(odd); /* never where chunks or handles are written meanwhile */
	}
	if (!st.pool[FD][0] && fd == 0)
		return;
	memcpy(before, arg, sizeof(before));
	r = ioctl(fd, request, at);
	if (r < 0 && (errno <= 0 || (errno > 133 && errno != UAPI_ENOTSUPP)))
		__builtin_trap();
	if (!r && at == arg && fd >= 0)
		note_answer(call, arg, before, fd);
}

/* --- an input --- */

static void stop_run(void)
{
	vgpu_stop();
}

static void start_run(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	if (vgpu_start(
		    "gfx1100:vram=32M:bar=16M:watchdog_ms=5:kernel=6.18:userq=1,gfx90a:vram=64M:watchdog_ms=5:kernel=6.1"))
		abort();
	atexit(stop_run);
	st.memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (st.memory == MAP_FAILED || mprotect(st.memory + 2 * PAGE, PAGE, PROT_READ) ||
	    munmap(st.memory + 3 * PAGE, PAGE))
		abort();
}

/* One of each, so that the first bytes of an input find something. */
static void make_first(int fd)
{
	union drm_amdgpu_gem_create bo = {.in = {2 * PAGE, 0, AMDGPU_GEM_DOMAIN_GTT, 0}};
	struct drm_amdgpu_gem_va va = {
		.operation = AMDGPU_VA_OP_MAP, .flags = 14, .va_address = 0x200000, .map_size = PAGE};
	union drm_amdgpu_ctx ctx = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};
	struct drm_syncobj_create syncobj = {.flags = 0};

	if (!ioctl(fd, DRM_IOCTL_AMDGPU_GEM_CREATE, &bo))
		keep(BO, bo.out.handle);
	va.handle = bo.out.handle;
	ioctl(fd, DRM_IOCTL_AMDGPU_GEM_VA, &va);
	if (!ioctl(fd, DRM_IOCTL_AMDGPU_CTX, &ctx))
		keep(CTX, ctx.out.alloc.ctx_id);
	if (!ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &syncobj))
		keep(SYNCOBJ, syncobj.handle);
}

/* Every descriptor of the virtual GPU, also those that an answer nobody read has named. */
static void close_all(void)
{
	for (int fd = 3; fd < 256; fd++) {
		struct stat info;
		unsigned node;
		bool primary;

		if (!fstat(fd, &info) && kern_fd_kind(info.st_dev, info.st_ino, &node, &primary) != KERN_FD_OTHER)
			close(fd);
	}
}

static void check_counts(void)
{
	kern_lock();
	if (kern_repair())
		__builtin_trap();
	kern_unlock();
}

/* Jobs that run end soon: their limit is 5 ms of modelled time. */
static void check_all_gone(void)
{
	struct vgpu_live live;

	for (unsigned n = 0; n < 5000 && vgpu_live_objects(); n++)
		usleep(n < 100 ? 20 : 1000);
	vgpu_live(&live);
	if (!vgpu_live_objects())
		return;
	fprintf(stderr, "left: %lu BOs, %lu mappings, %lu contexts, %lu files, %lu syncobjs, %lu lists, %lu jobs\n",
		live.bos, live.mappings, live.contexts, live.files, live.syncobjs, live.bo_lists, live.jobs);
	__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	static const char *const nodes[] = {"/dev/dri/renderD128", "/dev/dri/renderD129", "/dev/dri/card0"};
	bool apart;
	int event;

	if (!st.memory)
		start_run();
	st = (struct state){.at = data, .left_B = size_B, .memory = st.memory};
	memset(st.pool[FD], 0xff, sizeof(st.pool[FD]));
	event = eventfd(0, EFD_CLOEXEC);
	keep(FD, (uint32_t)event);
	apart = take_u8() & 1;
	for (unsigned n = 0; n < 3; n++)
		st.file[n] = open(nodes[n == 1 ? apart : n], O_RDWR | O_CLOEXEC);
	if (st.file[0] < 0 || st.file[1] < 0 || st.file[2] < 0)
		abort();
	make_first(st.file[0]);
	make_first(st.file[1]);
	for (unsigned n = 0; n < CALLS && st.left_B; n++) {
		fill_memory();
		put_call();
	}
	check_counts();
	for (unsigned n = 0; n < st.maps; n++)
		munmap(st.map[n], PAGE);
	close_all();
	close(event);
	check_all_gone();
	return 0;
}
