/* The functions of HSA as rows that draw arguments and call, on two virtual GPUs, and packets with any content in queues; what
 * an input begins and ends with. */
#ifndef TESTS_FUZZ_HSA_TABLE_H
#define TESTS_FUZZ_HSA_TABLE_H

#include "shaders/blob.h"
#include "tests/fuzz/call.h"
#include "tests/fuzz/hsa_draw.h"
#include "tests/fuzz/hsa_structs.h"
#include "tests/hsa_find.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob test_blobs[];
static struct hsa_find found;

/* --- functions that leave something behind ------------------------------------------------------ */

static hsa_status_t queue_destroy(hsa_queue_t *queue)
{
	hsa_status_t status = queue == spare_queue ? HSA_STATUS_ERROR : hsa_queue_destroy(queue);

	for (unsigned i = 0; i < draw.queues && !status; i++)
		if (draw.queue[i] == queue)
			draw.queue[i--] = draw.queue[--draw.queues];
	return status;
}

static hsa_status_t range_reserve_align(void **at, size_t size_B, uint64_t hint, uint64_t align_B, uint64_t flags)
{
	hsa_status_t status = draw.ranges == REMEMBERED
				      ? HSA_STATUS_ERROR
				      : hsa_amd_vmem_address_reserve_align(at, size_B, hint, align_B, flags);

	if (!status)
		draw_range_note(draw.range, &draw.ranges, *at, size_B);
	return status;
}

static hsa_status_t range_reserve(void **at, size_t size_B, uint64_t hint, uint64_t flags)
{
	return range_reserve_align(at, size_B, hint, 0, flags);
}

static hsa_status_t range_map(void *at, size_t size_B, size_t offset_B, hsa_amd_vmem_alloc_handle_t memory,
			      uint64_t flags)
{
	hsa_status_t status =
		draw.maps == REMEMBERED ? HSA_STATUS_ERROR : hsa_amd_vmem_map(at, size_B, offset_B, memory, flags);

	if (!status)
		draw_range_note(draw.map, &draw.maps, at, size_B);
	return status;
}

static void lock_note(void *at, hsa_status_t status)
{
	if (!status && draw.locks < REMEMBERED)
		draw.locked[draw.locks++] = at;
}

static hsa_status_t memory_lock(void *at, size_t size_B, hsa_agent_t *agents, int count, void **out)
{
	hsa_status_t status = hsa_amd_memory_lock(at, size_B, agents, count, out);

	lock_note(at, status);
	return status;
}

static hsa_status_t memory_lock_to_pool(void *at, size_t size_B, hsa_agent_t *agents, int count,
					hsa_amd_memory_pool_t pool, uint32_t flags, void **out)
{
	hsa_status_t status = hsa_amd_memory_lock_to_pool(at, size_B, agents, count, pool, flags, out);

	lock_note(at, status);
	return status;
}

static hsa_status_t fd_keep(const int *fd, hsa_status_t status)
{
	if (!status)
		draw_fd_keep(*fd);
	return status;
}

static hsa_status_t memory_export(const void *at, size_t size_B, int *fd, uint64_t *offset_B)
{
	return fd_keep(fd, hsa_amd_portable_export_dmabuf(at, size_B, fd, offset_B));
}

static hsa_status_t memory_export_v2(const void *at, size_t size_B, int *fd, uint64_t *offset_B, uint64_t flags)
{
	return fd_keep(fd, hsa_amd_portable_export_dmabuf_v2(at, size_B, fd, offset_B, flags));
}

static hsa_status_t vmem_export(int *fd, hsa_amd_vmem_alloc_handle_t memory, uint64_t flags)
{
	return fd_keep(fd, hsa_amd_vmem_export_shareable_handle(fd, memory, flags));
}

static hsa_status_t dmabuf_close(int fd)
{
	for (unsigned i = 0; i < 4; i++)
		if (draw.fds[i] == fd)
			draw.fds[i] = -1;
	return hsa_amd_portable_close_dmabuf(fd);
}

/* Without a signal, the handler is a function for hsa_amd_async_function(). */
static hsa_status_t handler_add(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t value,
				hsa_amd_signal_handler handler, void *arg)
{
	if (!signal.handle && handler)
		handler = (hsa_amd_signal_handler)(void *)draw_async_fn;
	return hsa_amd_signal_async_handler(signal, condition, value, handler, arg);
}

/* --- packets --------------------------------------------------------------------------------------- */

static uint64_t draw_kernel_object(void)
{
	unsigned b = draw_byte();

	if (b < 176)
		return kernel_objects[b % 3];
	return b < 200 ? (uintptr_t)draw.home[b % HOMES] : b < 224 ? draw_handle(K_SYMBOL) : draw_made_up();
}

static void draw_dispatch(hsa_kernel_dispatch_packet_t *p)
{
	static const uint16_t groups[] = {64, 64, 1, 256, 0, 1024, 1025, 65535};
	static const uint32_t grids[] = {64, 64, 1, 100, 0, 1024};
	static const uint32_t sizes[] = {0, 0, 0, 256, 65536, 0xffffffff};

	p->setup = draw_byte() < 200 ? 1 : (uint16_t)draw_int();
	p->workgroup_size_x = DRAW(groups);
	p->workgroup_size_y = draw_byte() < 230 ? 1 : DRAW(groups);
	p->workgroup_size_z = draw_byte() < 230 ? 1 : DRAW(groups);
	p->grid_size_x = DRAW(grids);
	p->grid_size_y = draw_byte() < 230 ? 1 : draw_byte() % 4;
	p->grid_size_z = draw_byte() < 230 ? 1 : draw_byte() % 4;
	p->private_segment_size = DRAW(sizes);
	p->group_segment_size = DRAW(sizes);
	p->kernel_object = draw_kernel_object();
	p->kernarg_address = draw_byte() < 200 ? draw.home[2] : draw_address();
	p->completion_signal = draw_SIGNAL();
}

static void draw_barrier(hsa_barrier_and_packet_t *p)
{
	for (unsigned i = 0; i < 5; i++)
		p->dep_signal[i].handle = i > 1 && draw_byte() < 200 ? 0 : draw_handle(K_SIGNAL);
	p->completion_signal = draw_SIGNAL();
}

/* PM4 as a client of AMD's puts it into a queue, and the barrier that waits for a value. */
static void draw_vendor(uint8_t *p)
{
	p[2] = (uint8_t)(draw_byte() % 4);
	for (unsigned i = 4; i < 56; i += 4)
		*(uint32_t *)(void *)(p + i) = draw_int();
	if (p[2] == 2) {
		*(uint64_t *)(void *)(p + 8) = draw_handle(K_SIGNAL);
		*(int64_t *)(void *)(p + 16) = draw_value_64();
		*(int64_t *)(void *)(p + 24) = draw_byte() & 1 ? -1 : draw_value_64();
		*(uint32_t *)(void *)(p + 32) = (uint32_t)draw_enum(3);
	}
	*(uint64_t *)(void *)(p + 56) = draw_handle(K_SIGNAL);
}

static uint16_t draw_packet(uint8_t *p)
{
	static const uint8_t types[] = {HSA_PACKET_TYPE_KERNEL_DISPATCH,
					HSA_PACKET_TYPE_KERNEL_DISPATCH,
					HSA_PACKET_TYPE_BARRIER_AND,
					HSA_PACKET_TYPE_BARRIER_OR,
					HSA_PACKET_TYPE_VENDOR_SPECIFIC,
					HSA_PACKET_TYPE_AGENT_DISPATCH,
					HSA_PACKET_TYPE_INVALID,
					6,
					255};
	uint8_t type = DRAW(types);

	memset(p, 0, 64);
	switch (type) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		draw_dispatch((void *)p);
		break;
	case HSA_PACKET_TYPE_BARRIER_AND:
	case HSA_PACKET_TYPE_BARRIER_OR:
		draw_barrier((void *)p);
		break;
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		draw_vendor(p);
		break;
	default:
		break;
	}
	return (uint16_t)(type | draw_byte() << 8);
}

/* Puts a packet into a queue and rings its doorbell. */
static void call_packet(void)
{
	hsa_queue_t *q = draw_live_queue();
	uint64_t at = hsa_queue_load_write_index_relaxed(q);
	uint8_t packet[64] __attribute__((aligned(64)));
	uint16_t header = draw_packet(packet);
	uint8_t *slot = (uint8_t *)q->base_address + at % q->size * 64;

	if (at - hsa_queue_load_read_index_scacquire(q) >= q->size)
		return;
	memcpy(slot + 2, packet + 2, 62);
	__atomic_store_n((uint16_t *)(void *)slot, header, __ATOMIC_RELEASE);
	hsa_queue_store_write_index_screlease(q, at + 1);
	hsa_signal_store_screlease(q->doorbell_signal, draw_byte() < 250 ? (int64_t)at : draw_value_64());
}

/* --- the table ---------------------------------------------------------------------------------- */

#define CALL            CALL_STATUS
#define VALUE           CALL_OTHER
#define VOID(name, ...) VALUE(name, __VA_ARGS__)
#define ABSENT(name)
#define hsa_queue_destroy                    queue_destroy
#define hsa_amd_vmem_address_reserve         range_reserve
#define hsa_amd_vmem_address_reserve_align   range_reserve_align
#define hsa_amd_vmem_map                     range_map
#define hsa_amd_memory_lock                  memory_lock
#define hsa_amd_memory_lock_to_pool          memory_lock_to_pool
#define hsa_amd_portable_export_dmabuf       memory_export
#define hsa_amd_portable_export_dmabuf_v2    memory_export_v2
#define hsa_amd_portable_close_dmabuf        dmabuf_close
#define hsa_amd_vmem_export_shareable_handle vmem_export
#define hsa_amd_signal_async_handler         handler_add
#include "tests/fuzz/hsa_rows.h"
#undef hsa_queue_destroy
#undef hsa_amd_vmem_address_reserve
#undef hsa_amd_vmem_address_reserve_align
#undef hsa_amd_vmem_map
#undef hsa_amd_memory_lock
#undef hsa_amd_memory_lock_to_pool
#undef hsa_amd_portable_export_dmabuf
#undef hsa_amd_portable_export_dmabuf_v2
#undef hsa_amd_portable_close_dmabuf
#undef hsa_amd_vmem_export_shareable_handle
#undef hsa_amd_signal_async_handler
#undef CALL
#undef VALUE
#undef ABSENT

static const struct draw_row rows[] = {
#define CALL(name, ...)  {#name, call_##name},
#define VALUE(name, ...) {#name, call_##name},
#define ABSENT(name)
#include "tests/fuzz/hsa_rows.h"
#undef CALL
#undef VALUE
#undef ABSENT
	{"packet", call_packet},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(ROWS <= 240, "the number of a row is a byte; those that are none stand for the last, a packet");

/* A function without a row has no such name. */
enum {
#define CALL(name, ...)  HAS_##name,
#define VALUE(name, ...) HAS_##name,
#define ABSENT(name)     HAS_##name,
#include "tests/fuzz/hsa_rows.h"
#undef CALL
#undef VALUE
#undef ABSENT
};
static const int all_have_rows[] = {
#define HSA_IMPL(table, name) HAS_##name,
#include "hsa/names.h"
};

/* --- an input ------------------------------------------------------------------------------------- */

static hsa_status_t region_first(hsa_region_t region, void *data)
{
	*(hsa_region_t *)data = region;
	return HSA_STATUS_INFO_BREAK;
}

static void calls_start(void)
{
	hsa_region_t region = {0};
	hsa_signal_t doorbell;
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", "gfx908");

	(void)all_have_rows;
	vgpu_strict_set(VGPU_STRICT_OFF); /* packets that make no sense are findings */
	if (vgpu_start("gfx908:vram=512M,gfx908:vram=512M") || hsa_init() || !hsa_find_all(&found) ||
	    found.gpus != 2)
		abort();
	image = blob->image;
	image_B = blob->size_B;
	hsa_agent_iterate_regions(found.cpu[0].agent, region_first, &region);
	if (hsa_signal_create(0, 0, NULL, &doorbell) ||
	    hsa_soft_queue_create(region, 64, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_KERNEL_DISPATCH, doorbell,
				  &spare_queue))
		abort();
}

static void *memory_make(hsa_amd_memory_pool_t pool)
{
	const hsa_agent_t gpus[] = {found.gpu[0].agent, found.gpu[1].agent};
	void *memory = NULL;

	if (!hsa_amd_memory_pool_allocate(pool, HOME_B, 0, &memory))
		hsa_amd_agents_allow_access(2, gpus, NULL, memory);
	return memory;
}

static void code_make(hsa_executable_t *executable, hsa_code_object_reader_t *reader)
{
	static const char *const names[] = {"k_store.kd", "k_empty.kd", "k_store.kd"};
	hsa_executable_symbol_t symbol;

	if (hsa_code_object_reader_create_from_memory(image, image_B, reader) ||
	    hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
				      executable) ||
	    hsa_executable_load_agent_code_object(*executable, found.gpu[0].agent, *reader, NULL, NULL) ||
	    hsa_executable_freeze(*executable, NULL))
		return;
	for (unsigned i = 0; i < 3; i++)
		if (!hsa_executable_get_symbol_by_name(*executable, names[i], &found.gpu[0].agent, &symbol)) {
			hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
						       &kernel_objects[i]);
			draw_keep(K_SYMBOL, symbol.handle);
		}
}

static void homes_make(void)
{
	for (unsigned i = 0; i < 2; i++)
		draw.home[i] = memory_make(found.gpu[i].coarse);
	draw.home[2] = memory_make(found.cpu[0].kernarg);
	draw.home[3] = memory_make(found.cpu[0].fine);
	if (draw.home[2])
		*(void **)draw.home[2] = draw.home[0];
}

static void objects_make(void)
{
	hsa_code_object_reader_t reader = {0};
	hsa_executable_t executable = {0};
	hsa_queue_t *queue;
	hsa_signal_t signal;

	for (unsigned i = 0; i < 2; i++) {
		draw.agents[i] = found.gpu[i].agent;
		draw_keep(K_AGENT, draw.agents[i].handle);
		draw_keep(K_POOL, found.gpu[i].coarse.handle);
		draw_keep(K_POOL, found.gpu[i].group.handle);
		if (!hsa_signal_create(1, 0, NULL, &signal))
			draw_keep(K_SIGNAL, signal.handle);
		if (!hsa_queue_create(draw.agents[i], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
				      &queue))
			draw_keep(K_QUEUE, (uintptr_t)queue);
	}
	draw.agents[2] = found.cpu[0].agent;
	draw_keep(K_AGENT, draw.agents[2].handle);
	draw_keep(K_POOL, found.cpu[0].fine.handle);
	draw_keep(K_POOL, found.cpu[0].coarse.handle);
	draw_keep(K_POOL, found.cpu[0].kernarg.handle);
	hsa_agent_iterate_regions(draw.agents[2], draw_found_region, NULL);
	hsa_agent_iterate_isas(draw.agents[0], draw_found_isa, NULL);
	homes_make();
	code_make(&executable, &reader);
	draw_keep(K_EXECUTABLE, executable.handle);
	draw_keep(K_READER, reader.handle);
}

/* Signals that other work waits for get the value that it waits for. */
static void input_end(void)
{
	for (unsigned i = 0; i < draw.signals; i++)
		hsa_signal_store_screlease((hsa_signal_t){draw.signal[i]}, 0);
	while (draw.queues)
		hsa_queue_destroy(draw.queue[--draw.queues]);
	draw_destroy_all();
	for (unsigned i = 0; i < draw.maps; i++)
		hsa_amd_vmem_unmap(draw.map[i].at, draw.map[i].size_B);
	for (unsigned i = 0; i < draw.ranges; i++)
		hsa_amd_vmem_address_free(draw.range[i].at, draw.range[i].size_B);
	for (unsigned i = 0; i < draw.locks; i++)
		hsa_amd_memory_unlock(draw.locked[i]);
	for (unsigned i = 0; i < HOMES; i++)
		hsa_amd_memory_pool_free(draw.home[i]);
	draw_fds_close();
}

#endif
