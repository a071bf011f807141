/* The registers of operand_use.c, compared with execution: random instructions run
 * from random registers, and again with all registers changed that are not touched. What is not written stays, and
 * what is written is the same. Scalar registers that s_movrel finds through M0 are not known at decode. */
#include <stdlib.h>

#include "tests/check.h"
#include "tests/random.h"
#include "vgpu/isa/check/operand_use.h"
#include "vgpu/report.h"

#define CODE_VA  0x100000ull
#define ROWS     24u
#define AGPRS    8u
#define LDS_B    4096u
#define SMALL    16u /* registers as addresses: 0x10 to 0x1f in both halves */
#define DATA_B   65536u
#define END      0xbf810000u
#define PER_CHIP 40000u

/* All that an instruction sees. */
struct state {
	uint32_t v[2 * ROWS][ISA_LANES] __attribute__((aligned(64)));
	uint32_t s[sizeof(((struct isa_wave *)0)->s) / 4];
};

static struct {
	struct isa_machine machine;
	struct gpuvm_region region[1 + SMALL];
	struct gpuvm_view view;
	struct isa_group group;
	struct isa_wave wave;
	struct isa_cache *cache;
	uint32_t code[4096 / 4];
	uint8_t *data, *lds;
	struct state state;
} rig;

static void no_fault(void *user, const struct gpuvm_fault *fault, uint64_t pc)
{
	(void)user;
	(void)fault;
	(void)pc;
}

static uint64_t no_clock(void *user)
{
	(void)user;
	return 1;
}

static void rig_init(const char *chip)
{
	static uint8_t data[DATA_B], lds[LDS_B] __attribute__((aligned(64)));

	memset(&rig, 0, sizeof(rig));
	rig.data = data;
	rig.lds = lds;
	rig.region[0] = (struct gpuvm_region){CODE_VA, CODE_VA + sizeof(rig.code), (uint8_t *)rig.code,
					      GPUVM_R | GPUVM_X, 1};
	for (uint64_t n = 0; n < SMALL; n++)
		rig.region[1 + n] = (struct gpuvm_region){(SMALL + n) << 32, ((SMALL + n) << 32) + DATA_B, data,
							  GPUVM_R | GPUVM_W, 2};
	rig.view = (struct gpuvm_view){1 + SMALL, rig.region};
	rig.machine = (struct isa_machine){
		.chip = vgpu_chip_find(chip),
		.view = &rig.view,
		.fault = no_fault,
		.clock = no_clock,
		.vgpr_count = ROWS,
		.accum_offset = ROWS - AGPRS,
	};
	rig.group = (struct isa_group){.lds = lds, .lds_B = LDS_B, .waves = 1};
	rig.wave.v = rig.state.v;
	rig.wave.group = &rig.group;
	rig.wave.machine = &rig.machine;
	rig.cache = isa_cache_create();
}

/* From `before` to rig.state; memory and LDS are the same each time. */
static enum isa_stop execute(const struct state *before)
{
	struct isa_wave *w = &rig.wave;
	char why[512];

	for (unsigned n = 0; n < DATA_B; n++)
		rig.data[n] = (uint8_t)(n * 7 + 1);
	for (unsigned n = 0; n < LDS_B; n++)
		rig.lds[n] = (uint8_t)(n * 5 + 3);
	rig.state = *before;
	memcpy(w->s, before->s, sizeof(w->s));
	w->scc = false;
	w->pc = CODE_VA;
	w->mode = 0x3f0;
	w->last_region = NULL;
	w->program = isa_program_get(rig.cache, &rig.machine, CODE_VA, why, sizeof(why));
	isa_run(w, 1);
	memcpy(rig.state.s, w->s, sizeof(w->s));
	return w->stop;
}

static uint32_t *reg(struct state *st, unsigned n, unsigned lane)
{
	return n >= ISA_SCALAR_BASE ? &st->s[n - ISA_SCALAR_BASE] : &st->v[n][lane];
}

static bool touches(const struct isa_operand_use *t, unsigned n, bool only_written)
{
	for (unsigned k = 0; k < t->count; k++)
		if (n >= t->range[k].first && n < t->range[k].first + (unsigned)t->range[k].count &&
		    (t->range[k].written || !only_written))
			return true;
	return false;
}

#define FOR_REGISTERS(n)                                                                                           \
	for (unsigned n = 0; n < ISA_SCALAR_BASE + 128; n = n + 1 == 2 * ROWS ? ISA_SCALAR_BASE : n + 1)

static void randomise(struct state *st, uint64_t *seed, bool small)
{
	FOR_REGISTERS(n)
		for (unsigned lane = 0; lane < ISA_LANES; lane++)
			*reg(st, n, lane) = small ? SMALL + (uint32_t)(test_random(seed) >> 32) % SMALL
						  : (uint32_t)(test_random(seed) >> 32);
}

/* Registers that the instruction does not touch get other values. EXEC stays: every vector instruction reads it. */
static void change_others(struct state *st, const struct state *from, const struct isa_operand_use *t)
{
	FOR_REGISTERS(n)
		if (!touches(t, n, false) && n < ISA_SCALAR_BASE + ISA_EXEC)
			for (unsigned lane = 0; lane < ISA_LANES; lane++)
				*reg(st, n, lane) = *reg((struct state *)from, n, lane);
}

static bool same(struct state *a, struct state *b, unsigned n)
{
	return n >= ISA_SCALAR_BASE ? *reg(a, n, 0) == *reg(b, n, 0) : !memcmp(a->v[n], b->v[n], sizeof(a->v[n]));
}

static bool skipped(const struct isa_inst *i)
{
	switch (i->op) {
	case ISA_OP_S_MOVRELS_B32:
	case ISA_OP_S_MOVRELS_B64:
	case ISA_OP_S_MOVRELD_B32:
	case ISA_OP_S_MOVRELD_B64:
	case ISA_OP_S_GETREG_B32: /* STATUS tells of VCC and EXEC */
		return true;
	default:
		return false;
	}
}

static void try_one(const struct isa_inst *i, const struct isa_operand_use *t, uint64_t *seed)
{
	static struct state before, others, after, again;
	enum isa_stop stop;
	bool small = i->enc >= ISA_SMEM || (test_random(seed) >> 32) % 2;
	char text[128];

	randomise(&before, seed, small);
	randomise(&others, seed, small);
	if (execute(&before) == ISA_STOPPED)
		return;
	after = rig.state;
	again = before;
	change_others(&again, &others, t);
	others = again;
	stop = execute(&again);
	FOR_REGISTERS(n) {
		bool written = touches(t, n, true),
		     stays = same(&before, &after, n) && same(&others, &rig.state, n);

		if (stop != ISA_STOPPED && (written ? same(&after, &rig.state, n) : stays))
			continue;
		isa_disassemble(rig.machine.chip->gfx, rig.code, 3, CODE_VA, text, sizeof(text));
		printf("  %s %08x %08x: %s: register %u is %s\n", rig.machine.chip->name, rig.code[0], rig.code[1],
		       text, n, written ? "another when others are" : "not known to be written");
		CHECK(!"the registers that are touched");
		return;
	}
}

/* The encodings' first bits, over random ones. */
static const struct {
	uint32_t mask, value;
} encodings[] = {
	{0xc0000000, 0x80000000}, {0xf0000000, 0xb0000000}, {0xff800000, 0xbe800000}, {0xff800000, 0xbf000000},
	{0x80000000, 0x00000000}, {0xfe000000, 0x7e000000}, {0xfe000000, 0x7c000000}, {0xfc000000, 0xd0000000},
	{0xff800000, 0xd3800000}, {0xfc000000, 0xc0000000}, {0xfc000000, 0xd8000000}, {0xfc000000, 0xdc000000},
	{0xfc000000, 0xe0000000}, {0xfc000000, 0xe8000000},
};

/* Random words with small register numbers, so that most name registers that are there. */
static void random_code(uint64_t *seed, unsigned enc)
{
	uint32_t w0 = (uint32_t)(test_random(seed) >> 32), w1 = (uint32_t)(test_random(seed) >> 32);

	if ((test_random(seed) >> 32) % 4)
		w1 &= 0x0f0f0f0f;
	if (enc == 4 || enc == 5 || enc == 6)
		w0 &= ~0x001c1cc0u | 0xe0000000u;
	if (enc == 7 || enc == 8)
		w0 &= ~0x000000f0u, w1 &= ~0x03c1e0f0u | 0x00008040u;
	rig.code[0] = (w0 & ~encodings[enc].mask) | encodings[enc].value;
	rig.code[1] = w1;
	rig.code[2] = END;
	rig.code[3] = END;
}

static void test_chip(const char *chip)
{
	unsigned tried = 0;
	uint64_t seed = 1;

	rig_init(chip);
	for (unsigned n = 0; n < PER_CHIP; n++) {
		bool unified = vgpu_gfx_unified(rig.machine.chip->gfx);
		struct isa_decoder dec = {
			.gfx = rig.machine.chip->gfx,
			.vgprs = ROWS,
			.sgprs = ISA_FLAT_SCRATCH,
			.first_agpr = unified ? ROWS - AGPRS : ROWS,
			.agprs = unified                                ? AGPRS
				 : rig.machine.chip->gfx == VGPU_GFX908 ? ROWS
									: 0,
		};
		struct isa_inst inst;
		struct isa_operand_use use;
		const char *why;

		random_code(&seed, n % (sizeof(encodings) / sizeof(*encodings)));
		if (!isa_decode(&dec, rig.code, 4, CODE_VA, &inst, &why) || skipped(&inst))
			continue;
		if (inst.dwords == 1)
			rig.code[1] = END;
		isa_operand_use_of(&inst, rig.machine.chip->gfx, false, &use);
		CHECK(use.count <= ISA_USE_RANGES);
		try_one(&inst, &use, &seed);
		tried++;
	}
	printf("%s: %u instructions\n", chip, tried);
	CHECK(tried > PER_CHIP / 8);
	isa_cache_destroy(rig.cache);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	test_chip("gfx900");
	test_chip("gfx908");
	test_chip("gfx90a");
	test_chip("gfx942");
	return check_done("registers that instructions use");
}
