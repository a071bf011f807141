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
#define WORDS    5u
#define PER_WAVE 12000u

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

static void rig_init(const char *chip, bool wave32)
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
		.wave32 = wave32,
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
	w->flat_scratch = SMALL << 8;
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

/* An instruction, or both halves of a dual one. */
struct subject {
	struct isa_inst inst[2];
	struct isa_operand_use use[2];
	unsigned count;
};

static bool touches(const struct subject *s, unsigned n, bool only_written)
{
	for (unsigned half = 0; half < s->count; half++)
		for (unsigned k = 0; k < s->use[half].count; k++) {
			const struct isa_range *r = &s->use[half].range[k];

			if (n >= r->first && n < r->first + (unsigned)r->count && (r->written || !only_written))
				return true;
		}
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
static void change_others(struct state *st, const struct state *from, const struct subject *s)
{
	FOR_REGISTERS(n)
		if (!touches(s, n, false) && n < ISA_SCALAR_BASE + ISA_EXEC)
			for (unsigned lane = 0; lane < ISA_LANES; lane++)
				*reg(st, n, lane) = *reg((struct state *)from, n, lane);
}

static bool same(struct state *a, struct state *b, unsigned n)
{
	return n >= ISA_SCALAR_BASE ? *reg(a, n, 0) == *reg(b, n, 0) : !memcmp(a->v[n], b->v[n], sizeof(a->v[n]));
}

static bool skipped(const struct isa_inst *i)
{
	if (isa_op_is_block(i->op))
		return true;
	switch (i->op) {
	case ISA_OP_S_MOVRELS_B32:
	case ISA_OP_S_MOVRELS_B64:
	case ISA_OP_S_MOVRELD_B32:
	case ISA_OP_S_MOVRELD_B64:
	case ISA_OP_S_MOVRELSD_2_B32:
	case ISA_OP_V_MOVRELD_B32:
	case ISA_OP_V_MOVRELS_B32:
	case ISA_OP_V_MOVRELSD_B32:
	case ISA_OP_V_MOVRELSD_2_B32:
	case ISA_OP_V_SWAPREL_B32:
	case ISA_OP_S_GETREG_B32: /* STATUS tells of VCC and EXEC */
		return true;
	default:
		return false;
	}
}

static void try_one(const struct subject *s, uint64_t *seed)
{
	static struct state before, others, after, again;
	enum isa_stop stop;
	bool small = s->inst[0].enc >= ISA_SMEM || (test_random(seed) >> 32) % 2;
	char text[128];

	randomise(&before, seed, small);
	randomise(&others, seed, small);
	if (execute(&before) == ISA_STOPPED)
		return;
	after = rig.state;
	again = before;
	change_others(&again, &others, s);
	others = again;
	stop = execute(&again);
	FOR_REGISTERS(n) {
		bool written = touches(s, n, true),
		     stays = same(&before, &after, n) && same(&others, &rig.state, n);

		if (stop != ISA_STOPPED && (written ? same(&after, &rig.state, n) : stays))
			continue;
		isa_disassemble(rig.machine.chip->gfx, rig.code, WORDS, CODE_VA, text, sizeof(text));
		printf("  %s, wave%u, %08x %08x: %s: register %u is %s\n", rig.machine.chip->name,
		       rig.machine.wave32 ? 32 : 64, rig.code[0], rig.code[1], text, n,
		       written ? "another when others are" : "not known to be written");
		CHECK(!"the registers that are touched");
		return;
	}
}

/* First bits of the encodings that all generations have in one place. */
static const struct {
	uint32_t mask, value;
} common[] = {
	{0xc0000000, 0x80000000}, {0xf0000000, 0xb0000000}, {0xff800000, 0xbe800000}, {0xff800000, 0xbf000000},
	{0x80000000, 0x00000000}, {0xfe000000, 0x7e000000}, {0xfe000000, 0x7c000000},
};

#define COMMON (sizeof(common) / sizeof(common[0]))

static uint32_t random_word(uint64_t *seed)
{
	return (uint32_t)(test_random(seed) >> 32);
}

/* The first word of an encoding, by turns. */
static uint32_t random_first(uint64_t *seed, unsigned turn)
{
	const struct isa_generation *gen = isa_generation_of(rig.machine.chip->gfx);
	uint32_t w = random_word(seed), small = w & ~0x001c1cc0u;
	unsigned prefix = (turn / 2) % 64;

	if (turn % 2) {
		unsigned n = (turn / 2) % COMMON;

		return ((n >= 4 ? small : w) & ~common[n].mask) | common[n].value;
	}
	while (gen->prefix[prefix] == ISA_FORMAT_NONE)
		prefix = (prefix + 1) % 64;
	return (w & 0x03ffffff & ~(gen->prefix[prefix] <= ISA_FORMAT_VOP3_9 ? 0xf0u : 0)) | prefix << 26;
}

/* Random words with small register numbers, so that most name registers that are there. */
static void random_code(uint64_t *seed, unsigned turn)
{
	bool vop = turn % 2 == 0 && random_word(seed) % 2;

	rig.code[0] = random_first(seed, turn);
	for (unsigned n = 1; n < WORDS; n++) {
		rig.code[n] = random_word(seed);
		if (random_word(seed) % 4)
			rig.code[n] &= 0x0f0f0f0f;
		if (vop && n == 1)
			rig.code[n] = (rig.code[n] & ~0x03c1e0f0u) | 0x00020100u;
	}
}

static struct isa_decoder decoder(void)
{
	const struct isa_machine *m = &rig.machine;
	bool unified = vgpu_gfx_unified(m->chip->gfx);

	return (struct isa_decoder){
		.gfx = m->chip->gfx,
		.vgprs = ROWS,
		.sgprs = isa_sgprs(m),
		.wave32 = m->wave32,
		.first_agpr = unified ? ROWS - AGPRS : ROWS,
		.agprs = unified                       ? AGPRS
			 : m->chip->gfx == VGPU_GFX908 ? ROWS
						       : 0,
	};
}

/* Decodes the random code, and ends it. */
static bool subject_decode(struct subject *s)
{
	struct isa_decoder dec = decoder();
	const char *why;
	unsigned dwords = isa_decode(&dec, rig.code, WORDS, CODE_VA, &s->inst[0], &why);

	if (!dwords || skipped(&s->inst[0]))
		return false;
	s->count = s->inst[0].dual ? 2 : 1;
	if (s->inst[0].dual)
		isa_decode_second(&dec, rig.code, WORDS, CODE_VA, &s->inst[1]);
	rig.code[dwords] = isa_generation_of(dec.gfx)->column < ISA_COLUMN_11 ? 0xbf810000 : 0xbfb00000;
	for (unsigned half = 0; half < s->count; half++) {
		isa_operand_use_of(&s->inst[half], dec.gfx, dec.wave32, &s->use[half]);
		CHECK(s->use[half].count <= ISA_USE_RANGES);
	}
	return true;
}

static void test_chip(const char *chip, bool wave32)
{
	static struct subject subject;
	unsigned tried = 0;
	uint64_t seed = 1;

	rig_init(chip, wave32);
	for (unsigned n = 0; n < PER_WAVE; n++) {
		random_code(&seed, n);
		if (!subject_decode(&subject))
			continue;
		try_one(&subject, &seed);
		tried++;
	}
	printf("%s, wave%u: %u instructions\n", chip, wave32 ? 32 : 64, tried);
	CHECK(tried > PER_WAVE / 8);
	isa_cache_destroy(rig.cache);
}

int main(void)
{
	static const char *const gfx9[] = {"gfx900", "gfx908", "gfx90a", "gfx942"}, *const later[] = {
											    "gfx1010", "gfx1030",
											    "gfx1100", "gfx1150",
											    "gfx1200"};

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(gfx9) / sizeof(gfx9[0]); n++)
		test_chip(gfx9[n], false);
	for (unsigned n = 0; n < sizeof(later) / sizeof(later[0]); n++)
		for (unsigned wave32 = 0; wave32 < 2; wave32++)
			test_chip(later[n], wave32);
	return check_done("registers that instructions use");
}
