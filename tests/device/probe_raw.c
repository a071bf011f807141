/* Submission without tuff, and the probes of the kernel's side of a job that need it. */
#include "tests/device/probe_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <amdgpu_drm.h>
#include <xf86drm.h>

#define FIRST_VA 0x200000000ull

/* --- a client ----------------------------------------------------------------------------------- */

static void ask(const struct raw *raw, unsigned long number, void *args, const char *what)
{
	if (drmIoctl(raw->fd, number, args))
		test_fail("the ioctl %s: %s", what, strerror(errno));
}

void raw_open(struct raw *raw)
{
	union drm_amdgpu_ctx ctx = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};

	*raw = (struct raw){.fd = open(test_info()->path, O_RDWR | O_CLOEXEC)};
	if (raw->fd < 0)
		test_fail("%s cannot be opened once more", test_info()->path);
	ask(raw, DRM_IOCTL_AMDGPU_CTX, &ctx, "AMDGPU_CTX");
	raw->ctx = ctx.out.alloc.ctx_id;
}

void raw_close(struct raw *raw)
{
	union drm_amdgpu_ctx ctx = {.in = {.op = AMDGPU_CTX_OP_FREE_CTX, .ctx_id = raw->ctx}};

	ask(raw, DRM_IOCTL_AMDGPU_CTX, &ctx, "AMDGPU_CTX");
	while (raw->count--) {
		struct raw_memory *m = &raw->memory[raw->count];

		munmap(m->map, RAW_MEMORY_B);
		ask(raw, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){.handle = m->handle}, "GEM_CLOSE");
	}
	close(raw->fd);
}

struct raw_memory raw_memory(struct raw *raw, uint64_t va_flags)
{
	union drm_amdgpu_gem_create create = {.in = {.bo_size = RAW_MEMORY_B,
						     .alignment = 4096,
						     .domains = AMDGPU_GEM_DOMAIN_GTT,
						     .domain_flags = AMDGPU_GEM_CREATE_VM_ALWAYS_VALID}};
	struct drm_amdgpu_gem_va va = {.operation = AMDGPU_VA_OP_MAP, .map_size = RAW_MEMORY_B};
	struct raw_memory *m = &raw->memory[raw->count];
	union drm_amdgpu_gem_mmap map = {0};

	if (raw->count == RAW_MEMORY_MAX)
		test_fail("more than %u memories of a raw client", RAW_MEMORY_MAX);
	ask(raw, DRM_IOCTL_AMDGPU_GEM_CREATE, &create, "AMDGPU_GEM_CREATE");
	va.handle = map.in.handle = m->handle = create.out.handle;
	va.va_address = m->va = FIRST_VA + raw->count * (uint64_t)RAW_MEMORY_B;
	va.flags = (uint32_t)va_flags;
	ask(raw, DRM_IOCTL_AMDGPU_GEM_VA, &va, "AMDGPU_GEM_VA");
	ask(raw, DRM_IOCTL_AMDGPU_GEM_MMAP, &map, "AMDGPU_GEM_MMAP");
	m->map = mmap(NULL, RAW_MEMORY_B, PROT_READ | PROT_WRITE, MAP_SHARED, raw->fd, (off_t)map.out.addr_ptr);
	if (m->map == MAP_FAILED)
		test_fail("no mapping of a raw client's memory");
	raw->count++;
	return *m;
}

uint32_t raw_shader_engines(const struct raw *raw)
{
	struct drm_amdgpu_info_device info = {0};
	struct drm_amdgpu_info request = {
		.return_pointer = (uintptr_t)&info, .return_size = sizeof(info), .query = AMDGPU_INFO_DEV_INFO};

	ask(raw, DRM_IOCTL_AMDGPU_INFO, &request, "AMDGPU_INFO");
	return info.num_shader_engines;
}

/* Whether the context was reset, which the kernel tells once the ring works again. */
static bool was_reset(const struct raw *raw)
{
	union drm_amdgpu_ctx ctx = {.in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = raw->ctx}};

	ask(raw, DRM_IOCTL_AMDGPU_CTX, &ctx, "AMDGPU_CTX");
	if (ctx.out.state.flags & AMDGPU_CTX_QUERY2_FLAGS_RESET)
		probe_lose(ctx.out.state.flags & AMDGPU_CTX_QUERY2_FLAGS_VRAMLOST);
	return ctx.out.state.flags & (AMDGPU_CTX_QUERY2_FLAGS_RESET | AMDGPU_CTX_QUERY2_FLAGS_GUILTY);
}

static uint64_t deadline(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + PROBE_WATCHDOG_NS;
}

enum probe_end raw_run(struct raw *raw, enum tuff_engine engine, uint64_t ib_va, uint32_t count_dw)
{
	struct drm_amdgpu_cs_chunk_ib ib = {.va_start = ib_va,
					    .ib_bytes = count_dw * 4,
					    .ip_type =
						    engine == TUFF_COPY ? AMDGPU_HW_IP_DMA : AMDGPU_HW_IP_COMPUTE};
	struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib};
	uint64_t chunks = (uintptr_t)&chunk;
	union drm_amdgpu_cs cs = {.in = {.ctx_id = raw->ctx,
					 .bo_list_handle = raw->list,
					 .num_chunks = 1,
					 .chunks = (uintptr_t)&chunks}};
	union drm_amdgpu_wait_cs wait = {.in = {.ctx_id = raw->ctx, .ip_type = ib.ip_type, .timeout = deadline()}};
	int r;

	ask(raw, DRM_IOCTL_AMDGPU_CS, &cs, "AMDGPU_CS");
	wait.in.handle = cs.out.handle;
	r = drmIoctl(raw->fd, DRM_IOCTL_AMDGPU_WAIT_CS, &wait);
	if (!r && wait.out.status)
		test_fail("after %lld s the job is neither done nor reset", PROBE_WATCHDOG_NS / 1000000000);
	return was_reset(raw) || r ? PROBE_LOST : PROBE_DONE;
}

/* --- 25: execute permission of IBs -------------------------------------------------------------- */

#define MAPPED_RW  (AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE)
#define MAPPED_RX  (AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_EXECUTABLE)
#define IB_DW      16 /* a multiple of 8, as both rings want it */
#define SDMA_FENCE 5

enum fetch { FETCH_COMPUTE, FETCH_CHAINED, FETCH_SDMA };

/* Fills an IB that writes a word and has NOPs behind. */
static void put_mark(uint32_t *ib, enum tuff_engine engine, uint64_t va, uint32_t value)
{
	const uint32_t write[] = {PM4(0x37, 4), 5 << 8 | 1 << 20, LO(va), HI(va), value};
	const uint32_t fence[] = {SDMA_FENCE, LO(va), HI(va), value};

	for (unsigned i = 0; i < IB_DW; i++)
		ib[i] = engine == TUFF_COPY ? 0 : 0xffff1000; /* NOP of one dword */
	if (engine == TUFF_COPY)
		memcpy(ib, fence, sizeof(fence));
	else
		memcpy(ib, write, sizeof(write));
}

/* Runs the IB, or one behind a chain, out of memory with those rights. True: its word was written. */
static bool fetch(enum fetch kind, uint64_t rights, enum probe_end *end)
{
	enum tuff_engine engine = kind == FETCH_SDMA ? TUFF_COPY : TUFF_COMPUTE;
	struct raw_memory out, ib, first;
	struct raw raw;
	bool written;

	raw_open(&raw);
	out = raw_memory(&raw, MAPPED_RW | AMDGPU_VM_MTYPE_UC);
	ib = raw_memory(&raw, rights | AMDGPU_VM_MTYPE_UC);
	first = raw_memory(&raw, MAPPED_RX | AMDGPU_VM_MTYPE_UC);
	put_mark(ib.map, engine, out.va, 1);
	if (kind == FETCH_CHAINED) {
		const uint32_t chain[] = {PM4(0x3f, 3), LO(ib.va), HI(ib.va), 1 << 23 | 1 << 20 | IB_DW};

		for (unsigned i = 0; i < IB_DW - 4; i++)
			first.map[i] = 0xffff1000;
		memcpy(first.map + IB_DW - 4, chain, sizeof(chain));
	}
	*end = raw_run(&raw, engine, kind == FETCH_CHAINED ? first.va : ib.va, IB_DW);
	written = out.map[0] == 1;
	raw_close(&raw);
	return written;
}

static void ib_rights(enum fetch kind, const char *what)
{
	enum probe_end with, without;
	bool written;

	probe_open();
	written = fetch(kind, MAPPED_RX, &with);
	test_note("%s, mapped readable and executable: %s; word written %u", what, probe_says(with), written);
	CHECK(with == PROBE_DONE && written);
	written = fetch(kind, AMDGPU_VM_PAGE_READABLE, &without);
	test_note("%s, mapped readable only: %s; word written %u", what, probe_says(without), written);
	test_note("ANSWER 25: %s: %s %s", test_info()->target, what,
		  without == PROBE_DONE && written ? "needs no execute permission"
		  : without == PROBE_DONE ? "without execute permission is not what is run, yet the job ends"
					  : "without execute permission costs the ring");
	probe_close();
}

static void ib_compute(void)
{
	ib_rights(FETCH_COMPUTE, "an IB of a compute ring");
}

static void ib_chained(void)
{
	ib_rights(FETCH_CHAINED, "an IB behind a chaining packet");
}

static void ib_sdma(void)
{
	ib_rights(FETCH_SDMA, "an IB of a copy ring");
}

/* --- 36: copy IBs of any size ------------------------------------------------------------------- */

/* One IB of count dwords, a FENCE and NOPs or NOPs alone, then one of a proper size. False: the ring hung. */
static bool short_ib(unsigned count)
{
	struct raw_memory out, ib;
	enum probe_end end, next = PROBE_LOST;
	struct raw raw;

	raw_open(&raw);
	out = raw_memory(&raw, MAPPED_RW | AMDGPU_VM_MTYPE_UC);
	ib = raw_memory(&raw, MAPPED_RX | AMDGPU_VM_MTYPE_UC);
	if (count >= 4)
		put_mark(ib.map, TUFF_COPY, out.va, count);
	put_mark(ib.map + 64, TUFF_COPY, out.va + 4, 1);
	end = raw_run(&raw, TUFF_COPY, ib.va, count);
	if (end == PROBE_DONE)
		next = raw_run(&raw, TUFF_COPY, ib.va + 256, IB_DW);
	test_note("ANSWER 36: %s: a copy IB of %u dwords%s: %s; its word: %u; the job after it: %s, its word: %u",
		  test_info()->target, count, count < 4 ? ", NOPs" : "", probe_says(end), out.map[0],
		  end == PROBE_DONE ? probe_says(next) : "not tried", out.map[1]);
	raw_close(&raw);
	return next == PROBE_DONE;
}

/* Each hang takes a watchdog's time: the first ends it. */
static void short_ibs(void)
{
	unsigned count = 7;

	probe_open();
	while (count && short_ib(count))
		count--;
	test_note("%u of 7 sizes went well", 7 - count);
	probe_close();
}

/* --- launches of programs of a few words --------------------------------------------------------- */

/* Instructions of a generation, as llvm-mc encodes them. Those before the table are alike in all. */
#define V_MOV_ADDRESS 0x7e000200, 0x7e020201 /* v_mov_b32 v0, s0; v_mov_b32 v1, s1 */
#define V_MOV_V2(n)   (0x7e040280 + (n))     /* v_mov_b32 v2, n */
#define S_NOP         0xbf800004
#define CODE_AT_DW    1024 /* behind the IB, in the same memory */
#define CODE_DW_MAX   32

struct words {
	unsigned access_dw;
	uint32_t store[3], add[3]; /* v2 to v[0:1]: store, and atomic add */
	uint32_t clear_m0, gws_init[2], gws_barrier[2];
	uint32_t wait_all, end;
};

static const struct words *words(void)
{
	static const struct words gfx9 = {2,
					  {0xdc708000, 0x007f0200},
					  {0xdd088000, 0x007f0200},
					  0xbefc0080,
					  {0xd9330000, 2},
					  {0xd93b0000, 2},
					  0xbf8c0000,
					  0xbf810000};
	static const struct words gfx10 = {2,
					   {0xdc708000, 0x007d0200},
					   {0xdcc88000, 0x007d0200},
					   0xbefc0380,
					   {0xd8660000, 2},
					   {0xd8760000, 2},
					   0xbf8c0000,
					   0xbf810000};
	static const struct words gfx11 = {2,
					   {0xdc6a0000, 0x007c0200},
					   {0xdcd60000, 0x007c0200},
					   0xbefd0080,
					   {0xd8660000, 2},
					   {0xd8760000, 2},
					   0xbf890000,
					   0xbfb00000};
	static const struct words gfx12 = {.access_dw = 3,
					   .store = {0xee06807c, 0x01000000, 0},
					   .add = {0xee0d407c, 0x01000000, 0},
					   .end = 0xbfb00000};
	static const struct words *const of[] = {&gfx10, &gfx11, &gfx12};

	return probe_generation() == 9 ? &gfx9 : of[probe_generation() - 0x10];
}

/* A program; s[0:1]: where to write. */
struct program {
	uint32_t dw[CODE_DW_MAX];
	unsigned count;
};

static void add_words(struct program *p, const uint32_t *dw, unsigned count)
{
	memcpy(p->dw + p->count, dw, count * sizeof(*dw));
	p->count += count;
}

static void add_word(struct program *p, uint32_t dw)
{
	add_words(p, &dw, 1);
}

static void add_move(struct program *p, uint32_t value)
{
	add_words(p, (const uint32_t[]){V_MOV_ADDRESS, V_MOV_V2(value)}, 3);
}

static bool is(const char *target)
{
	return !strcmp(test_info()->target, target);
}

static uint32_t *set_sh(uint32_t *ib, uint32_t reg, unsigned count, const uint32_t *values)
{
	*ib++ = PM4(0x76, 1 + count);
	*ib++ = reg;
	memcpy(ib, values, count * 4);
	return ib + count;
}

static const uint32_t all_units[4] = {~0u, ~0u, ~0u, ~0u}, zeros[4];

static uint32_t *set_chip_registers(uint32_t *at)
{
	const bool gfx942 = is("gfx942");

	if (gfx942 || is("gfx90a"))
		at = set_sh(at, 0x22d, 1, zeros); /* RSRC3 */
	if (gfx942)
		at = set_sh(at, 0x227, 1, zeros); /* TG_CHUNK_SIZE */
	if (is("gfx908") || is("gfx90a"))
		at = set_sh(at, 0x225, 4, all_units); /* STATIC_THREAD_MGMT of engines 4 to 7 */
	return at;
}

/* GFX10 and later: Mesa's preamble of compute (ac_init_compute_preamble_state()), and RSRC3. */
static uint32_t *set_later_registers(uint32_t *at)
{
	const uint32_t interleave = 64;

	at = set_sh(at, 0x228, 1, zeros); /* RSRC3 */
	at = set_sh(at, 0x27d, 1, zeros); /* DISPATCH_TUNNEL */
	if (probe_generation() == 0x12)
		at = set_sh(at, 0x223, 1, all_units); /* STATIC_THREAD_MGMT_SE8 */
	at = set_sh(at, 0x224, 4, zeros);             /* USER_ACCUM */
	if (probe_generation() == 0x10)
		return at;
	at = set_sh(at, 0x22b, 4, all_units); /* STATIC_THREAD_MGMT of engines 4 to 7 */
	return set_sh(at, 0x22f, 1, &interleave);
}

/* Runs the program, of one lane a workgroup. No cache is invalidated by this job. */
static enum probe_end run_program(struct raw *raw, const struct raw_memory *ib, const struct program *program,
				  uint64_t out_va, uint32_t groups)
{
	const uint64_t pgm = (ib->va + CODE_AT_DW * 4) >> 8;
	/* RSRC1: denormals of 64 and 16 bits; DX10_CLAMP before GFX12; MEM_ORDERED from GFX10 on */
	const uint32_t rsrc1 =
		3u << 18 | (probe_generation() < 0x12) << 21 | (uint32_t)(probe_generation() >= 0x10) << 30;
	const uint32_t run[16] = {0,       0,       0, 1, 1, 1, 0,     0,
				  LO(pgm), HI(pgm), 0, 0, 0, 0, rsrc1, 2u << 1}; /* RSRC2: two user SGPRs */
	const uint32_t limits[9] = {0, ~0u, ~0u, 0, ~0u, ~0u, 0, 0, 0};
	const uint32_t user[2] = {LO(out_va), HI(out_va)};
	const uint32_t end[] = {PM4(0x15, 4), groups, 1, 1, 1 | 1 << 2, PM4(0x46, 1), 7 | 4 << 8};
	uint32_t *at = ib->map;

	memcpy(ib->map + CODE_AT_DW, program->dw, program->count * 4);
	at = set_sh(at, 0x204, 16, run);
	at = set_sh(at, 0x215, 9, limits); /* RESOURCE_LIMITS to RESTART_Z */
	at = probe_generation() == 9 ? set_chip_registers(at) : set_later_registers(at);
	at = set_sh(at, 0x240, 2, user);
	memcpy(at, end, sizeof(end));
	at += sizeof(end) / 4;
	while ((at - ib->map) % 8)
		*at++ = 0xffff1000;
	return raw_run(raw, TUFF_COMPUTE, ib->va, (uint32_t)(at - ib->map));
}

/* --- 30: code of another process ----------------------------------------------------------------- */

#define VMIDS_MAX 16

/* Stores the value by programs at one address, each in an address space of its own: all VMIDs have had one. Gives
 * how many stored something else. */
static unsigned store_everywhere(uint32_t value)
{
	struct program code = {.count = 0};
	unsigned other = 0;

	add_move(&code, value);
	add_words(&code, words()->store, words()->access_dw);
	add_word(&code, words()->end);
	for (unsigned i = 0; i < VMIDS_MAX; i++) {
		struct raw_memory ib, out;
		struct raw raw;

		raw_open(&raw);
		ib = raw_memory(&raw, MAPPED_RX | AMDGPU_VM_MTYPE_UC);
		out = raw_memory(&raw, MAPPED_RW | AMDGPU_VM_MTYPE_UC);
		if (run_program(&raw, &ib, &code, out.va, 1) != PROBE_DONE)
			test_fail("a program of %u dwords was lost", code.count);
		other += out.map[0] != value;
		raw_close(&raw);
	}
	return other;
}

static void stale_code(void)
{
	unsigned old = 0, rounds = 4;
	int status;

	probe_open();
	for (unsigned i = 0; i < rounds; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(store_everywhere(1) != 0);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			test_fail("no second process");
		test_note("the other process: of %u programs %s stored what they should", VMIDS_MAX,
			  WEXITSTATUS(status) ? "not all" : "all");
		old += store_everywhere(2);
	}
	test_note("ANSWER 30: %s: of %u programs at an address where another process had other code, without an "
		  "invalidation of the instruction cache, %u did not do what they should",
		  test_info()->target, rounds * VMIDS_MAX, old);
	probe_close();
}

/* --- 31: global wave sync ------------------------------------------------------------------------ */

/* A list with one resource of global wave sync. */
static void list_gws(struct raw *raw)
{
	union drm_amdgpu_gem_create create = {
		.in = {.bo_size = 1, .alignment = 1, .domains = AMDGPU_GEM_DOMAIN_GWS}};
	struct drm_amdgpu_bo_list_entry entry = {0};
	union drm_amdgpu_bo_list list = {.in = {.operation = AMDGPU_BO_LIST_OP_CREATE,
						.bo_number = 1,
						.bo_info_size = sizeof(entry),
						.bo_info_ptr = (uintptr_t)&entry}};

	ask(raw, DRM_IOCTL_AMDGPU_GEM_CREATE, &create, "AMDGPU_GEM_CREATE");
	entry.bo_handle = create.out.handle;
	ask(raw, DRM_IOCTL_AMDGPU_BO_LIST, &list, "AMDGPU_BO_LIST");
	raw->list = list.out.list_handle;
}

/* An operation on the resource, with a value of one: one more comes, or two are to meet. */
static void add_gws(struct program *p, const uint32_t *operation)
{
	add_word(p, words()->clear_m0);
	add_move(p, 1);
	add_word(p, S_NOP);
	add_words(p, operation, 2);
	add_word(p, words()->wait_all);
}

/* Two workgroups that add one each when they have met. */
static void gws_meeting(void)
{
	struct program init = {.count = 0}, meet = {.count = 0};
	enum probe_end first, second = PROBE_LOST;
	struct raw_memory ib, out;
	struct raw raw;

	probe_open();
	if (!words()->clear_m0)
		test_skip("%s has no global wave sync", test_info()->target);
	add_gws(&init, words()->gws_init);
	add_word(&init, words()->end);
	add_gws(&meet, words()->gws_barrier);
	add_words(&meet, words()->add, words()->access_dw);
	add_word(&meet, words()->end);
	raw_open(&raw);
	ib = raw_memory(&raw, MAPPED_RX | AMDGPU_VM_MTYPE_UC);
	out = raw_memory(&raw, MAPPED_RW | AMDGPU_VM_MTYPE_UC);
	list_gws(&raw);
	first = run_program(&raw, &ib, &init, out.va, 1);
	if (first == PROBE_DONE)
		second = run_program(&raw, &ib, &meet, out.va, 2);
	test_note("ANSWER 31: %s: ds_gws_init for two: %s; ds_gws_barrier of two workgroups: %s; %u came behind it",
		  test_info()->target, probe_says(first), first == PROBE_DONE ? probe_says(second) : "not tried",
		  out.map[0]);
	raw_close(&raw);
	probe_close();
}

#define RISKY (TEST_PROBE | TEST_RESETS)

const struct device_test tests_probe_raw[] = {
	{"probe/25-ib-executable", "whether compute IBs need execute permission", ib_compute, RISKY},
	{"probe/25-ib-executable-chained", "the same for an IB behind a chaining packet", ib_chained, RISKY},
	{"probe/25-ib-executable-copy", "the same for IBs of copy rings", ib_sdma, RISKY},
	{"probe/30-stale-code", "whether code of another process at the same address is run", stale_code, RISKY},
	{"probe/31-gws", "whether two workgroups meet by global wave sync", gws_meeting, RISKY},
	{"probe/36-copy-ib-sizes", "whether copy IBs need whole multiples of 8 dwords", short_ibs, RISKY},
	{NULL, NULL, NULL, 0},
};
