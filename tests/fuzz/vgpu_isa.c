/* Machine code of all generations: printed, decoded and executed by a wave with registers of the exact number that is
 * granted. The input is words, or instructions: of GFX9 numbers of the opcode table with fields, later an encoding with all
 * else. */
#include <stdlib.h>

#include "vgpu/isa/decode/decode.h"
#include "vgpu/memory/cache.h"
#include "vgpu/report.h"

#define CODE_VA 0x20000000ull
#define DATA_VA 0xffff923400000000ull /* in the upper half, as an instruction has it */
#define RO_VA   0x30000000ull
#define PRT_VA  0x40000000ull
#define FINE_VA 0x50000000ull
#define CODE_B  4096u
#define DATA_B  16384u
#define LDS_B   1024u
#define VA_MASK 0xffffffffffffull
#define ENCODED (sizeof(encodings) / sizeof(*encodings))
#define RUNS    6u
#define BUDGET  64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

/* Bits of the second byte of the input. */
enum {
	STRUCTURED = 1,
	CHECKED = 2,
	CACHED = 4,
	FEW_REGISTERS = 8,
	SOME_LANES = 16,
	INDEXED = 32,
	NO_DUMMY = 64,
	LATER = 128
};

/* Bits of the first byte, beside the chip. */
enum { WAVE32 = 64, SEVERAL_L2 = 128 };

/* The memory of all runs. Each piece is an allocation of its own, with a sanitizer's red zone behind it. */
static struct memory {
	uint8_t *code, *data, *ro, *fine, *dummy, *lds;
	struct isa_gws *gws;
} mem;

/* Where an encoding has its number, and the bits that name it. */
static const struct encoding {
	uint8_t enc, shift, width;
	uint32_t prefix, fixed;
} encodings[] = {
	{ISA_SOP1, 8, 8, 0x17du << 23, 0x1ffu << 23},
	{ISA_SOP2, 23, 7, 2u << 30, 3u << 30},
	{ISA_SOPK, 23, 5, 0xbu << 28, 0xfu << 28},
	{ISA_SOPC, 16, 7, 0x17eu << 23, 0x1ffu << 23},
	{ISA_SOPP, 16, 7, 0x17fu << 23, 0x1ffu << 23},
	{ISA_VOP1, 9, 8, 0x3fu << 25, 0x7fu << 25},
	{ISA_VOP2, 25, 6, 0, 1u << 31},
	{ISA_VOPC, 17, 8, 0x3eu << 25, 0x7fu << 25},
	{ISA_VOP3, 16, 10, 0x34u << 26, 0x3fu << 26},
	{ISA_VOP3P, 16, 7, 0x1a7u << 23, 0x1ffu << 23},
	{ISA_SMEM, 18, 8, 0x30u << 26, 0x3fu << 26},
	{ISA_DS, 17, 8, 0x36u << 26, 0x3fu << 26},
	{ISA_FLAT, 18, 7, 0x37u << 26, 0x3fu << 26 | 3u << 14},
	{ISA_SCRATCH, 18, 7, 0x37u << 26 | 1u << 14, 0x3fu << 26 | 3u << 14},
	{ISA_GLOBAL, 18, 7, 0x37u << 26 | 2u << 14, 0x3fu << 26 | 3u << 14},
	{ISA_MUBUF, 18, 7, 0x38u << 26, 0x3fu << 26},
	{ISA_MTBUF, 15, 4, 0x3au << 26, 0x3fu << 26},
	{ISA_MIMG, 18, 7, 0x3cu << 26, 0x3fu << 26},
};

static const char *const chips[] = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"};
static const char *const later[] = {"gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200"};

/* --- code --- */

/* The first instruction of the encoding from a number on, with the other fields of the word. */
static uint32_t encode_word(enum vgpu_gfx gfx, const struct encoding *e, unsigned number, uint32_t word)
{
	unsigned numbers = 1u << e->width;

	for (unsigned n = 0; n < numbers && !isa_row_find(gfx, e->enc, number % numbers); n++)
		number++;
	word &= ~(e->fixed | (numbers - 1) << e->shift);
	return word | e->prefix | (number % numbers) << e->shift;
}

/* From GFX10 on: one of the encodings that all generations have in one place, or one of the generation's. */
static uint32_t later_word(enum vgpu_gfx gfx, unsigned which, uint32_t word)
{
	const struct isa_generation *gen = isa_generation_of(gfx);
	unsigned prefix = which / 2 % 64;

	if (which % 2) {
		const struct encoding *e = &encodings[which / 2 % (ISA_VOPC - ISA_SOP1 + 1)];

		return (word & ~e->fixed) | e->prefix;
	}
	while (gen->prefix[prefix] == ISA_FORMAT_NONE)
		prefix = (prefix + 1) % 64;
	return (word & 0x03ffffff) | prefix << 26;
}

/* Appends one instruction of 11 bytes of input: encoding, number, and the words of its fields. */
static unsigned put_instruction(enum vgpu_gfx gfx, const uint8_t *in, uint32_t *code)
{
	struct isa_decoder any = isa_decoder_any(gfx);
	bool gfx9 = isa_generation_of(gfx)->column == ISA_COLUMN_9;
	uint32_t word[3];
	struct isa_inst inst;
	const char *why;
	unsigned used;

	memcpy(&word[0], in + 3, 4);
	memcpy(&word[1], in + 7, 4);
	word[2] = word[1];
	word[0] = gfx9 ? encode_word(gfx, &encodings[in[0] % ENCODED], in[1] | (unsigned)in[2] << 8, word[0])
		       : later_word(gfx, in[0], word[0] ^ (uint32_t)in[1] << 8 ^ (uint32_t)in[2] << 16);
	used = isa_decode(&any, word, 3, CODE_VA, &inst, &why);
	used = used ? used : 2;
	memcpy(code, word, 4 * used);
	return used;
}

static void put_code(enum vgpu_gfx gfx, bool structured, const uint8_t *in, size_t size_B)
{
	uint32_t *code = (uint32_t *)mem.code;
	unsigned dw = 0;

	for (unsigned n = 0; n < CODE_B / 4; n++)
		code[n] = isa_generation_of(gfx)->column < ISA_COLUMN_11 ? 0xbf810000 : 0xbfb00000; /* s_endpgm */
	if (!structured) {
		memcpy(code, in, size_B < CODE_B - 8 ? size_B & ~(size_t)3 : CODE_B - 8);
		return;
	}
	for (; size_B >= 11 && dw + 4 < CODE_B / 4; in += 11, size_B -= 11)
		dw += put_instruction(gfx, in, code + dw);
}

static void print_code(enum vgpu_gfx gfx, size_t size_B)
{
	uint32_t code[CODE_B / 4];
	unsigned words = (unsigned)(size_B / 4 + 1 < 256 ? size_B / 4 + 1 : 256);
	char text[160], little[20];

	memcpy(code, mem.code, sizeof(code));
	for (unsigned n = 0; n < words; n++) {
		unsigned used = isa_disassemble(gfx, code + n, CODE_B / 4 - n, CODE_VA + 4 * n, text, sizeof(text));

		if (isa_disassemble(gfx, code + n, CODE_B / 4 - n, CODE_VA, little, sizeof(little)) != used ||
		    strnlen(little, sizeof(little)) == sizeof(little))
			__builtin_trap();
	}
}

/* --- the wave --- */

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8 ^ *state << 13;
}

/* Addresses that make sense in the first pairs, and buffer, image and sampler descriptors in the first SGPRs. */
static void set_sgprs(struct isa_wave *w, uint32_t seed)
{
	static const uint32_t first[] = {
		(uint32_t)DATA_VA,
		(uint32_t)(DATA_VA >> 32),
		64,
		0, /* an address */
		(uint32_t)DATA_VA,
		(uint16_t)(DATA_VA >> 32),
		4096,
		0x00024fac, /* raw */
		(uint32_t)DATA_VA,
		(uint16_t)(DATA_VA >> 32) | 16u << 16,
		8,
		0x00074fac, /* structured */
		(uint32_t)DATA_VA,
		(uint16_t)(DATA_VA >> 32) | 1u << 31,
		DATA_B,
		0x00ea4fac, /* swizzled */
		(uint32_t)(DATA_VA >> 8),
		(uint8_t)(DATA_VA >> 40) | 10u << 20,
		15u << 14 | 15,
		9u << 28 | 0xfac,
		15u << 13 | 3,
		0,
		0,
		0, /* an image of two axes */
		0,
		0,
		1u << 20,
		0, /* a sampler */
		(uint32_t)RO_VA,
		0,
		(uint32_t)PRT_VA,
		0,
		(uint32_t)FINE_VA,
		0,
		0x66666666,
		0x10000000,
	};

	for (unsigned n = 0; n < 128; n++)
		w->s[n] = next_random(&seed);
	memcpy(w->s, first, sizeof(first));
	memcpy(&w->s[ISA_FLAT_SCRATCH], &(uint64_t){DATA_VA}, 8);
	memcpy(&w->s[ISA_EXEC], &(uint64_t){~(uint64_t)0}, 8);
	w->s[ISA_M0] = seed & 8 ? seed >> 8 : 16;
}

static void set_vgprs(struct isa_wave *w, unsigned rows, uint32_t seed)
{
	static const uint64_t base[8] = {
		DATA_VA, RO_VA, PRT_VA, FINE_VA, DATA_VA + DATA_B - 64, ISA_SHARED_BASE, ISA_PRIVATE_BASE, 0,
	};

	for (unsigned row = 0; row < rows && row < 32; row++)
		for (unsigned lane = 0; lane < ISA_LANES; lane++) {
			uint64_t va = base[row / 2 % 8] + 4 * lane;

			w->v[row][lane] = row >= 16 ? next_random(&seed) : (uint32_t)(row % 2 ? va >> 32 : va);
		}
	for (unsigned row = 32; row < rows; row++)
		memcpy(w->v[row], w->v[row % 32], sizeof(w->v[0]));
	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		w->v[0][lane] = lane;
}

static void on_fault(void *user, const struct gpuvm_fault *fault, uint64_t pc)
{
	(void)user;
	(void)fault;
	(void)pc;
}

static uint64_t on_clock(void *user)
{
	(void)user;
	return 0x123456789abull;
}

static const struct gpuvm_region regions[] = {
	{CODE_VA, CODE_VA + CODE_B, NULL, GPUVM_R | GPUVM_X, 1},
	{RO_VA, RO_VA + 4096, NULL, GPUVM_R, 2},
	{PRT_VA, PRT_VA + 4096, NULL, GPUVM_PRT, 3},
	{FINE_VA, FINE_VA + 4096, NULL,
	 GPUVM_R | GPUVM_W | GPUVM_SYSTEM | GPUVM_TOLERATED | GPUVM_UC << GPUVM_MTYPE_SHIFT, 4},
	{DATA_VA & VA_MASK, (DATA_VA & VA_MASK) + DATA_B, NULL, GPUVM_R | GPUVM_W, 5},
};

static void make_memory(void)
{
	mem.code = aligned_alloc(4096, CODE_B);
	mem.data = aligned_alloc(4096, DATA_B);
	mem.ro = aligned_alloc(4096, 4096);
	mem.fine = aligned_alloc(4096, 4096);
	mem.dummy = aligned_alloc(4096, 4096);
	mem.lds = aligned_alloc(64, LDS_B);
	mem.gws = isa_gws_create();
	if (!mem.code || !mem.data || !mem.ro || !mem.fine || !mem.dummy || !mem.lds || !mem.gws)
		abort();
	memset(mem.ro, 0x3f, 4096);
	memset(mem.fine, 0, 4096);
	memset(mem.dummy, 0, 4096);
}

/* Runs the wave to its end, a few times the budget, or a wait that another wave would have to end. */
static void run_wave(struct isa_wave *w)
{
	for (unsigned n = 0; n < RUNS; n++) {
		enum isa_stop stop;

		if (w->machine->cache)
			mem_cache_enter(w->machine->cache);
		stop = isa_run(w, BUDGET);
		if (w->machine->cache)
			mem_cache_leave(w->machine->cache);
		if (stop == ISA_STOPPED && !w->why[0])
			__builtin_trap();
		if (stop == ISA_ENDED || stop == ISA_STOPPED || (stop == ISA_SYNC && !isa_gws_passed(w)) ||
		    (stop == ISA_SIGNALS && !isa_barrier_passed(w)))
			return;
		if (stop == ISA_BARRIER && w->group->races)
			isa_races_barrier(w->group->races);
	}
}

static void run_program(struct isa_wave *w, struct isa_cache *cache)
{
	if (w->machine->cache)
		mem_cache_enter(w->machine->cache);
	w->program = isa_program_get(cache, w->machine, CODE_VA, w->why, sizeof(w->why));
	if (w->machine->cache)
		mem_cache_leave(w->machine->cache);
	if (w->program)
		run_wave(w);
}

/* Registers as granted: on gfx908 as many AGPRs follow, elsewhere they are a part. */
static void set_grants(struct isa_machine *m, bool few)
{
	m->vgpr_count = few ? 24 : vgpu_gfx_unified(m->chip->gfx) ? 512 : 256;
	m->sgpr_count = few ? 32 : 0;
	m->accum_offset = few ? 16 : 256;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	uint8_t chip = size_B > 2 ? data[0] : 0, options = size_B > 2 ? data[1] : 0,
		seed = size_B > 2 ? data[2] : 0;
	struct gpuvm_region region[5];
	struct gpuvm_view view = {.count = 5, .region = region};
	struct isa_machine machine = {
		.chip = vgpu_chip_find((options & LATER ? later : chips)[chip % 5]),
		.view = &view,
		.fault = on_fault,
		.clock = on_clock,
		.atomics_shared = true,
		.l1 = MEM_L1_EVEN,
		.vmid = 7,
		.several_l2 = options & CACHED && chip & SEVERAL_L2,
		.wave32 = options & LATER && chip & WAVE32,
		.checked = options & CHECKED,
		.gws = {.base = 60, .count = 3, .groups = 1, .resident = 1},
	};
	struct isa_group group = {.lds_B = LDS_B, .waves = 1};
	struct isa_cache *cache = isa_cache_create();
	struct isa_wave *w = aligned_alloc(64, sizeof(*w));
	unsigned rows;

	vgpu_strict_set(VGPU_STRICT_OFF);
	if (!mem.code)
		make_memory();
	if (!cache || !w)
		abort();
	memcpy(region, regions, sizeof(region));
	region[0].host = mem.code;
	region[1].host = mem.ro;
	region[3].host = mem.fine;
	region[4].host = mem.data;
	view.dummy = (struct gpuvm_region){.host = options & NO_DUMMY ? NULL : mem.dummy,
					   .flags = GPUVM_R | GPUVM_W | GPUVM_DUMMY};
	machine.gws.gws = mem.gws;
	group.lds = mem.lds;
	set_grants(&machine, options & FEW_REGISTERS);
	put_code(machine.chip->gfx, options & STRUCTURED, data + 3, size_B > 3 ? size_B - 3 : 0);
	print_code(machine.chip->gfx, size_B);
	memset(mem.data, seed, DATA_B);
	memset(mem.lds, seed, LDS_B);
	memset(w, 0, sizeof(*w));
	rows = machine.vgpr_count * (machine.chip->gfx == VGPU_GFX908 ? 2 : 1);
	w->v = aligned_alloc(64, rows * sizeof(*w->v));
	w->machine = &machine;
	w->group = &group;
	w->pc = CODE_VA;
	w->mode = 0x3f0 | (options & INDEXED && !(options & LATER) ? 1u << 27 : 0) | (uint32_t)(seed & 3) * 5;
	w->flat_scratch = DATA_VA;
	set_sgprs(w, seed);
	set_vgprs(w, rows, seed);
	if (options & SOME_LANES)
		memcpy(&w->s[ISA_EXEC], &(uint64_t){0x8000000180000001ull}, 8);
	machine.cache = options & CACHED ? mem_cache_create() : NULL;
	w->waitcnt = options & CHECKED ? isa_waitcnt_create() : NULL;
	group.races = options & CHECKED ? isa_races_create(LDS_B, 1) : NULL;
	if (group.races)
		isa_races_reset(group.races, 1);
	run_program(w, cache);
	isa_races_destroy(group.races);
	isa_waitcnt_destroy(w->waitcnt);
	mem_cache_destroy(machine.cache);
	free(w->v);
	free(w);
	isa_cache_destroy(cache);
	return 0;
}
