/* Hand-written launches: for experiments that need another state than tuff's own. Sources: LLVM AMDGPUUsage
 * (kernel descriptor, user SGPRs); Mesa registers JSON, and ac_build_buffer_descriptor.c for the scratch resource. */
#include "tests/device/probe.h"

#include <stdlib.h>

#define DESCRIPTOR_B 64
/* kernel_code_properties, and how many user SGPRs each brings, in their order */
enum {
	WANTS_PRIVATE_BUFFER = 1 << 0,
	WANTS_KERNARG = 1 << 3,
	WANTS_FLAT_SCRATCH = 1 << 5,
	WANTS_KNOWN = WANTS_PRIVATE_BUFFER | WANTS_KERNARG | WANTS_FLAT_SCRATCH,
	WANTS_ANY = 0x7f,
	WAVE32 = 1 << 10, /* brings none */
};

/* Registers: dwords from byte address 0xB000 */
enum {
	START_X = 0x204,
	NUM_THREAD_X = 0x207,
	PIPELINESTAT_ENABLE = 0x20a,
	PGM_LO = 0x20c,
	DISPATCH_PKT_ADDR_LO = 0x20e,
	RSRC1 = 0x212,
	RESOURCE_LIMITS = 0x215,
	TMPRING_SIZE = 0x218,
	RESTART_X = 0x21b,
	RSRC3 = 0x22d, /* gfx90a, gfx942 */
	RSRC3_GFX10 = 0x228,
	USER_DATA_0 = 0x240,
};

static bool is(const char *target)
{
	return !strcmp(test_info()->target, target);
}

unsigned probe_generation(void)
{
	return (unsigned)(strtoul(test_info()->target + 3, NULL, 16) >> 8);
}

unsigned probe_lanes(const struct probe_program *program)
{
	return program->properties & WAVE32 ? 32 : 64;
}

uint32_t probe_tmpring(uint32_t waves, uint32_t wave_KiB, uint32_t engines)
{
	return probe_generation() >= 0x11 ? waves / engines | wave_KiB * 4 << 12 : waves | wave_KiB << 12;
}

void probe_program(const char *name, struct probe_program *program)
{
	struct tuff_kernel_info info;
	uint32_t d[DESCRIPTOR_B / 4];
	int r = tuff_kernel_query(test_kernel("probe", 3, name), &info);

	r = r ? r : tuff_copy(test_device(), d, (void *)(uintptr_t)info.descriptor_va, DESCRIPTOR_B, NULL, 0, NULL);
	if (r)
		test_fail("the descriptor of %s cannot be read (%d)", name, r);
	*program = (struct probe_program){
		.rsrc3 = d[11],
		.rsrc1 = d[12],
		.rsrc2 = d[13] & ~(1u << 6), /* TRAP_PRESENT */
		.properties = d[14] & 0xffff,
		.private_B = d[1],
		.entry = info.descriptor_va + ((uint64_t)d[5] << 32 | d[4]),
	};
	if (program->properties & WANTS_ANY & ~WANTS_KNOWN)
		test_fail("%s wants user SGPRs that a launch by hand does not have (0x%x)", name,
			  program->properties);
}

static void set_registers(struct tuff_cmd *cmd, uint32_t reg, const uint32_t *values, unsigned count)
{
	uint32_t dw[32] = {PM4(0x76, 1 + count), reg};

	memcpy(dw + 2, values, count * sizeof(*dw));
	probe_packet(cmd, dw, 2 + count);
}

void probe_prepare(struct tuff_cmd *cmd)
{
	struct tuff_dispatch nothing = {.kernel = test_kernel("probe", 3, "k_probe_nothing")};

	if (tuff_cmd_dispatch(cmd, &nothing) || tuff_cmd_barrier(cmd))
		test_fail("the code cannot be brought into view");
}

static unsigned user_sgprs(struct tuff_cmd *cmd, const struct probe_launch *l, uint32_t *s)
{
	uint64_t kernarg;
	unsigned n = 0;
	void *map;

	if (tuff_cmd_data(cmd, 256, 256, &map, &kernarg))
		test_fail("no room for arguments");
	memset(map, 0, 256);
	memcpy(map, l->args, l->args_B);
	if (l->program->properties & WANTS_PRIVATE_BUFFER) {
		s[n++] = LO(l->scratch);
		s[n++] = HI(l->scratch) | 1u << 31; /* swizzled */
		s[n++] = l->scratch_B;
		/* xyzw of 32-bit UINT, stride of the lanes, thread id added; on GFX9 elements of 4 bytes, on GFX10 one
		 * format, resource level 1, no check of bounds */
		s[n++] = 4 | 5 << 3 | 6 << 6 | 7 << 9 | (probe_lanes(l->program) == 32 ? 2 : 3) << 21 | 1 << 23 |
			 (probe_generation() == 9 ? 4 << 12 | 4 << 15 | 1 << 19 : 0x14 << 12 | 1 << 24 | 2 << 28);
	}
	if (l->program->properties & WANTS_KERNARG) {
		s[n++] = LO(kernarg);
		s[n++] = HI(kernarg);
	}
	if (l->program->properties & WANTS_FLAT_SCRATCH) {
		s[n++] = LO(l->scratch);
		s[n++] = HI(l->scratch);
	}
	return n;
}

/* The sixteen registers from START_X to RSRC2. */
static void set_run(struct tuff_cmd *cmd, const struct probe_launch *l)
{
	const struct probe_program *p = l->program;
	bool hardware = is("gfx942") || probe_generation() >= 0x11; /* waves find their scratch by themselves */
	uint64_t pgm = p->entry >> 8, base = hardware ? l->scratch >> 8 : 0;
	const uint32_t run[16] = {
		0,       0,       0, l->lanes[0], l->lanes[1], l->lanes[2], 0,        0,
		LO(pgm), HI(pgm), 0, 0,           LO(base),    HI(base),    p->rsrc1, p->rsrc2,
	};

	if (!l->split) {
		set_registers(cmd, START_X, run, 16);
		return;
	}
	set_registers(cmd, START_X, run, 3);
	set_registers(cmd, NUM_THREAD_X, run + 3, 3);
	set_registers(cmd, PIPELINESTAT_ENABLE, run + 6, 2);
	set_registers(cmd, PGM_LO, run + 8, 2);
	set_registers(cmd, DISPATCH_PKT_ADDR_LO, run + 10, 4);
	set_registers(cmd, RSRC1, run + 14, 2);
}

void probe_launch(struct tuff_cmd *cmd, const struct probe_launch *l)
{
	const uint32_t zero[3] = {0}, w32 = probe_lanes(l->program) == 32;
	const uint32_t dispatch[] = {PM4(0x15, 4), l->groups[0], l->groups[1], l->groups[2],
				     /* COMPUTE_SHADER_EN, FORCE_START_AT_000, CS_W32_EN */
				     1 | 1 << 2 | w32 << 15 | l->order};
	uint32_t user[16] = {0};
	unsigned declared = l->program->rsrc2 >> 1 & 0x1f;

	if (user_sgprs(cmd, l, user) > declared)
		test_fail("the program declares %u user SGPRs", declared);
	set_run(cmd, l);
	if (!l->only_run) {
		set_registers(cmd, RESOURCE_LIMITS, zero, 1);
		set_registers(cmd, TMPRING_SIZE, &l->tmpring, 1);
		set_registers(cmd, RESTART_X, zero, 3);
	}
	if (is("gfx90a") || is("gfx942") || probe_generation() >= 0x10)
		set_registers(cmd, probe_generation() == 9 ? RSRC3 : RSRC3_GFX10, &l->program->rsrc3, 1);
	set_registers(cmd, USER_DATA_0, user, declared < 16 ? declared : 16);
	probe_packet(cmd, dispatch, 5);
}
