/* Calls of the functions of include/tuff/, a sequence of them from each input, on two virtual GPUs. No call may crash or block,
 * whatever handles and numbers it gets; each that fails says why; at the end of each input all can be destroyed, and nothing is
 * left in the kernel. */
#include "tests/fuzz/tuff_draw.h"
#include "tests/check.h"
#include "tests/fuzz/call.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);
void replay_check(void); /* replay.c */

static void wrong(const char *what, int status)
{
	fprintf(stderr, "ERROR: %s: %d, %s\n", what, status, tuff_error());
	__builtin_trap();
}

/* --- the table ---------------------------------------------------------------------------------- */

/* Before a call's arguments are drawn, and behind the call. */
static void call_begin(void)
{
	draw.takes_point = draw.takes_fd = false;
	draw.va_room_B = UINT64_MAX;
}

static void call_end(const char *name, int status)
{
	if (status > 1 || status < -4095 || (status < 0 && !tuff_error()[0]))
		wrong(name, status);
	if (!status && draw.takes_point)
		draw.points[draw.point_next++ % SLOTS] = draw.point_out;
	if (!status && draw.takes_fd)
		draw_fd_keep(draw.fd_out);
	draw_keep_all(status);
	for (unsigned i = 0; is_other && i < SLOTS; i++)
		if (draw.handle[K_CMD][i])
			tuff_abandon(draw.handle[K_CMD][i]);
}

#define CALL(name, ...)                                                                                            \
	static void call_##name(void)                                                                              \
	{                                                                                                          \
		call_begin();                                                                                      \
		CALL_DRAW(__VA_ARGS__)                                                                             \
		call_end(#name, CALL_WITH(name, __VA_ARGS__));                                                     \
	}
#define CALL_0(name)                                                                                               \
	static void call_##name(void)                                                                              \
	{                                                                                                          \
		if (!name())                                                                                       \
			wrong(#name, 0);                                                                           \
	}
#include "tests/fuzz/tuff_rows.h"
#undef CALL
#undef CALL_0

static const struct draw_row rows[] = {
#define CALL(name, ...) {#name, call_##name},
#define CALL_0(name)    {#name, call_##name},
#include "tests/fuzz/tuff_rows.h"
#undef CALL
#undef CALL_0
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct draw_row *row_pick(void)
{
	unsigned which = draw_byte();

	return which < ROWS * 3 ? &rows[which % ROWS] : NULL;
}

/* --- an input ------------------------------------------------------------------------------------- */

#define MAKE(kind, call)                                                                                           \
	do {                                                                                                       \
		void *made = NULL;                                                                                 \
		int r = call;                                                                                      \
                                                                                                                   \
		if (r)                                                                                             \
			wrong("an input begins without a " #kind, r);                                              \
		draw_keep(K_##kind, made);                                                                         \
	} while (0)

static void device_objects_make(struct tuff_device *device)
{
	const struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE}, copy = {.engine = TUFF_COPY};
	const struct tuff_mem_create_info vram = {65536, TUFF_VRAM, 0}, gtt = {65536, TUFF_GTT, TUFF_MEM_CPU};
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", "gfx908");

	MAKE(MEM, tuff_mem_create(device, &vram, (struct tuff_mem **)&made));
	MAKE(MEM, tuff_mem_create(device, &gtt, (struct tuff_mem **)&made));
	MAKE(QUEUE, tuff_queue_create(device, &copy, (struct tuff_queue **)&made));
	MAKE(QUEUE, tuff_queue_create(device, &compute, (struct tuff_queue **)&made));
	MAKE(SYNC, tuff_sync_create(device, true, (struct tuff_sync **)&made));
	MAKE(CODE, tuff_code_load(device, blob->image, blob->size_B, (struct tuff_code **)&made));
	MAKE(KERNEL, tuff_code_kernel(draw_slot(K_CODE, 0), "k_store", (struct tuff_kernel **)&made));
}

static void objects_make(void)
{
	MAKE(DEVICE, tuff_device_open("/dev/dri/renderD129", (struct tuff_device **)&made));
	MAKE(DEVICE, tuff_device_open(NULL, (struct tuff_device **)&made));
	device_objects_make(draw.handle[K_DEVICE][0]);
	device_objects_make(draw.handle[K_DEVICE][1]);
}

/* False: it is busy, or gone. */
static bool destroy(unsigned kind, draw_handle_t handle)
{
	return handle && kind != K_KERNEL && !draw_destroy_now((enum draw_kind)kind, handle);
}

static bool destroy_some(void)
{
	bool any = false;

	for (unsigned k = 0; k < KINDS; k++) {
		for (unsigned i = 0; i < SLOTS; i++)
			any |= destroy(k, draw.handle[k][i]);
		for (unsigned i = 0; i < draw.busy_count && i < CALLS_MAX; i++)
			any |= destroy(k, draw.busy[i]);
	}
	return any;
}

static void input_end(void)
{
	/* Memory that other memory shares is busy, and so on. */
	while (destroy_some())
		;
	draw_fds_close();
	if (vgpu_live_objects())
		wrong("objects are left in the kernel", (int)vgpu_live_objects());
}

static void calls_start(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF); /* what the GPU is told is the input's */
	if (vgpu_start("gfx908:p2p=1:vram=512M:gtt=1G:watchdog_ms=20,gfx908:p2p=1:vram=512M:gtt=1G:watchdog_ms=20"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	static bool started;

	if (!started)
		calls_start();
	started = true;
	draw_begin();
	objects_make();
	draw_calls(data, size_B, row_pick);
	input_end();
	return 0;
}

/* --- behind the corpus ------------------------------------------------------------------------------ */

static void thread_begin(void)
{
	is_other = true;
}
#include "tests/fuzz/canceled.h"

static bool has_row(const char *name)
{
	for (unsigned i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return true;
	return false;
}

/* Each function that the library exports has a row. */
static void rows_check(void)
{
	FILE *map = fopen("embed/exports.map", "re");
	char line[128], name[128];
	unsigned names = 0;

	if (!CHECK(map))
		return;
	while (fgets(line, sizeof(line), map)) {
		if (sscanf(line, "\t%127[a-z_];", name) != 1 || strncmp(name, "tuff_", 5) != 0)
			continue;
		names++;
		if (!CHECK(has_row(name)))
			printf("  %s has no row\n", name);
	}
	CHECK_EQ(names, ROWS);
	fclose(map);
}

void replay_check(void)
{
	rows_check();
	canceled_check();
}
