/* Decoded code of a kernel: straight runs of instructions, found by address, decoded when first reached.
 *
 *   isa_cache    programs by entry; one thread
 *   isa_program  everything reached from one entry: runs, index by address, broadcast constants
 *   run          instructions from one address to a jump; keeps a copy of its code for validation
 *
 * A program never moves: when its code has changed in memory it is emptied, and waves, which hold only a pc between
 * two isa_run calls, go on in the new code. Waves of several machines may take turns in one program; each finds the
 * code that its own memory holds. */
#include "vgpu/isa/exec/program.h"

#include <stdio.h>
#include <stdlib.h>

#include "vgpu/isa/check/waitcnt_check.h"
#include "vgpu/isa/decode/access.h"
#include "vgpu/memory/cache.h"
#include "vgpu/report.h"

#define VA_MASK 0xffffffffffffull
/* Images of GFX10 have most: two dwords, and three of addresses. */
#define MAX_DWORDS 5
/* A run ends here at the latest, so that a jump into zeroed memory decodes little. */
#define MAX_RUN 4096
/* Decoded code that a cache holds: a million instructions, more than a program has that is not made to fill memory.
 * One that jumps through all places where its code is mapped would need some 40 bytes for each of its bytes. */
#define CACHE_B (256u << 20)

/* Code that was decoded: its address and its bytes then. */
struct run {
	uint64_t va;
	size_t size_B;
	uint8_t *copy;               /* owned */
	struct isa_inst *inst;       /* owned */
	struct isa_operand_use *use; /* owned; one an instruction, or NULL: code is not checked */
};

struct constant {
	uint64_t value;
	uint32_t *rows; /* owned: two rows of 64 lanes */
};

struct slot {
	uint64_t pc; /* 0: empty */
	const struct isa_inst *inst;
};

struct isa_program {
	struct isa_program *next; /* in the cache */
	struct isa_cache *cache;  /* immutable */
	uint64_t entry;
	struct isa_decoder dec;
	/* Of the machine that ran or got the program last; view and caches are borrowed from it. */
	uint64_t vmid;
	const struct gpuvm_view *view;
	struct mem_cache *caches;
	bool refused;     /* some fetch was refused: a later view may allow it */
	struct run *runs; /* owned */
	size_t run_count;
	struct constant *constants; /* owned */
	size_t constant_count;
	struct slot *slots; /* owned; power of two, at most half full */
	size_t slot_count, slots_used;
	size_t decoded_B; /* about: what the runs take */
};

struct isa_cache {
	struct isa_program *programs; /* owned */
	isa_bind_fn bind;             /* immutable */
	size_t decoded_B;             /* of all programs */
};

/* Grants of a dispatch. */
static struct isa_decoder decoder_of(const struct isa_machine *m)
{
	struct isa_decoder dec = {
		.gfx = m->chip->gfx,
		.vgprs = m->vgpr_count,
		.sgprs = isa_sgprs(m),
		.wave32 = m->wave32,
		.shared = m->wave32 ? 0 : m->shared_vgprs,
		.checked = m->checked,
	};

	if (dec.gfx == VGPU_GFX908) {
		dec.first_agpr = m->vgpr_count;
		dec.agprs = m->vgpr_count;
	} else if (vgpu_gfx_unified(dec.gfx)) {
		dec.first_agpr = m->accum_offset;
		dec.agprs = m->vgpr_count > m->accum_offset ? m->vgpr_count - m->accum_offset : 0;
	}
	return dec;
}

/* --- fetching --- */

static const struct gpuvm_region *executable_region(const struct gpuvm_view *view, uint64_t va)
{
	const struct gpuvm_region *r = gpuvm_find(view, va & VA_MASK);

	return r && r->host && r->flags & GPUVM_X && !(r->flags & GPUVM_REFUSED) ? r : NULL;
}

/* Memory through the instruction cache: up to *size_B bytes at va; reduces *size_B to the contiguous part. */
static const uint8_t *code_at(const struct isa_program *p, const struct gpuvm_region *r, uint64_t va,
			      size_t *size_B)
{
	uint8_t *host = r->host + (va - r->lo);
	const struct mem_page *page;

	if (*size_B > r->hi - va)
		*size_B = r->hi - va;
	if (!p->caches)
		return host;
	if (*size_B > MEM_PAGE_B - mem_page_offset(host))
		*size_B = MEM_PAGE_B - mem_page_offset(host);
	page = mem_cache_page(p->caches, MEM_CODE, p->vmid, r, host, (unsigned)*size_B);
	return page ? page->data + mem_page_offset(host) : host;
}

/* Copies up to `words` dwords at va, as far as memory may be executed; returns how many. */
static unsigned fetch_words(const struct isa_program *p, uint64_t va, uint32_t *code, unsigned words)
{
	unsigned n = 0;

	for (; n < words; n++, va += 4) {
		const struct gpuvm_region *r = executable_region(p->view, va);
		size_t size_B = 4;

		if (!r || r->hi - (va & VA_MASK) < 4)
			break;
		memcpy(&code[n], code_at(p, r, va & VA_MASK, &size_B), 4);
	}
	return n;
}

/* Whether memory still holds the code of a run. */
static bool run_is_current(const struct isa_program *p, const struct run *run)
{
	uint64_t va = run->va & VA_MASK, end = va + run->size_B;
	const uint8_t *copy = run->copy;

	while (va < end) {
		const struct gpuvm_region *r = executable_region(p->view, va);
		size_t chunk_B = end - va;
		const uint8_t *now = r ? code_at(p, r, va, &chunk_B) : NULL;

		if (!now || memcmp(copy, now, chunk_B))
			return false;
		copy += chunk_B;
		va += chunk_B;
	}
	return true;
}

/* --- instructions that only say why --- */

static const struct isa_inst *run_refuse(struct isa_wave *w, const struct isa_inst *i)
{
	return isa_stop_wave(w, i, "%s", i->refusal);
}

static const struct isa_inst *fetch_fault(struct isa_wave *w, const struct isa_inst *i)
{
	struct gpuvm_fault fault = {
		.va = i->pc & VA_MASK,
		.access = GPUVM_X,
		.client = GPUVM_SQI,
		.mapped = gpuvm_find(w->machine->view, i->pc & VA_MASK) != NULL,
	};

	w->machine->fault(w->machine->user, &fault, i->pc);
	return isa_stop_wave(w, i, "instruction fetch fault");
}

static const struct isa_inst *report_beyond(struct isa_wave *w, const struct isa_inst *i)
{
	isa_report_beyond(w, i->pc);
	return i + 1;
}

/* Function of an instruction that only the checks need. */
static const struct isa_inst *run_pass(struct isa_wave *w, const struct isa_inst *i)
{
	(void)w;
	return i + 1;
}

/* Ends a run whose next instruction is in another run. */
static const struct isa_inst *run_follow(struct isa_wave *w, const struct isa_inst *i)
{
	return isa_goto(w, i->pc);
}

const struct isa_generation *isa_program_generation(const struct isa_program *p)
{
	return isa_generation_of(p->dec.gfx);
}

bool isa_program_wave32(const struct isa_program *p)
{
	return p->dec.wave32;
}

/* --- the index by address --- */

static size_t slot_of(const struct isa_program *p, uint64_t pc)
{
	size_t at = (size_t)((pc >> 2) * 0x9e3779b97f4a7c15ull >> 20) & (p->slot_count - 1);

	while (p->slots[at].pc && p->slots[at].pc != pc)
		at = (at + 1) & (p->slot_count - 1);
	return at;
}

static const struct isa_inst *find_inst(const struct isa_program *p, uint64_t pc)
{
	return p->slot_count ? p->slots[slot_of(p, pc)].inst : NULL;
}

/* Makes room for `more` entries. */
static bool reserve_slots(struct isa_program *p, size_t more)
{
	struct slot *old = p->slots;
	size_t old_count = p->slot_count, count = old_count ? old_count : 256;

	while (count < 2 * (p->slots_used + more))
		count *= 2;
	if (count == old_count)
		return true;
	p->slots = calloc(count, sizeof(*p->slots));
	if (!p->slots) {
		p->slots = old;
		return false;
	}
	p->slot_count = count;
	for (size_t i = 0; i < old_count; i++)
		if (old[i].pc)
			p->slots[slot_of(p, old[i].pc)] = old[i];
	free(old);
	return true;
}

static void enter_slot(struct isa_program *p, uint64_t pc, const struct isa_inst *inst)
{
	size_t at = slot_of(p, pc);

	if (!p->slots[at].pc)
		p->slots_used++;
	p->slots[at] = (struct slot){pc, inst};
}

/* --- decoding a run --- */

/* Instructions without effect here: waits (memory operations complete at once), priorities, traces, and prefetch
 * and performance hints. */
static bool without_effect(enum isa_op op)
{
	switch (op) {
	case ISA_OP_S_NOP:
	case ISA_OP_S_WAITCNT:
	case ISA_OP_S_SETPRIO:
	case ISA_OP_S_INCPERFLEVEL:
	case ISA_OP_S_DECPERFLEVEL:
	case ISA_OP_S_TTRACEDATA:
	case ISA_OP_S_TTRACEDATA_IMM:
	case ISA_OP_S_VERSION:
	case ISA_OP_S_INST_PREFETCH:
	case ISA_OP_S_CLAUSE:
	case ISA_OP_S_DELAY_ALU:
	case ISA_OP_S_SINGLEUSE_VDST:
	case ISA_OP_S_WAITCNT_VSCNT:
	case ISA_OP_S_WAITCNT_VMCNT:
	case ISA_OP_S_WAITCNT_EXPCNT:
	case ISA_OP_S_WAITCNT_LGKMCNT:
	case ISA_OP_S_WAITCNT_DEPCTR:
	case ISA_OP_S_WAIT_IDLE:
	case ISA_OP_S_WAIT_EVENT:
	case ISA_OP_S_WAIT_LOADCNT:
	case ISA_OP_S_WAIT_STORECNT:
	case ISA_OP_S_WAIT_SAMPLECNT:
	case ISA_OP_S_WAIT_BVHCNT:
	case ISA_OP_S_WAIT_EXPCNT:
	case ISA_OP_S_WAIT_DSCNT:
	case ISA_OP_S_WAIT_KMCNT:
	case ISA_OP_S_WAIT_LOADCNT_DSCNT:
	case ISA_OP_S_WAIT_STORECNT_DSCNT:
	case ISA_OP_S_PREFETCH_INST:
	case ISA_OP_S_PREFETCH_INST_PC_REL:
	case ISA_OP_S_PREFETCH_DATA:
	case ISA_OP_S_PREFETCH_DATA_PC_REL:
	case ISA_OP_S_BUFFER_PREFETCH_DATA:
	case ISA_OP_V_NOP:
	case ISA_OP_V_CLREXCP:
	case ISA_OP_V_PIPEFLUSH:
		return true;
	default:
		return false;
	}
}

static bool ends_run(const struct isa_inst *inst)
{
	switch (inst->op) {
	case ISA_OP_S_ENDPGM:
	case ISA_OP_S_BRANCH:
	case ISA_OP_S_SETPC_B64:
	case ISA_OP_S_SWAPPC_B64:
	case ISA_OP_S_CALL_B64:
		return true;
	default:
		return inst->fn == run_refuse || inst->fn == fetch_fault;
	}
}

/* Decodes one instruction of the code at pc into inst and returns its size; one that cannot run gets a function that
 * reports the reason. */
static unsigned decode_one(struct isa_program *p, uint64_t pc, const uint32_t *code, unsigned words,
			   struct isa_inst *inst)
{
	const char *why;
	unsigned dwords = isa_decode(&p->dec, code, words, pc, inst, &why);

	if (dwords)
		return dwords;
	inst->fn = words ? run_refuse : fetch_fault;
	inst->refusal = why;
	p->refused = true;
	return words ? 1 : 0;
}

static void *copy_of(const void *data, size_t size_B)
{
	void *copy = malloc(size_B ? size_B : 1);

	if (copy)
		memcpy(copy, data, size_B);
	return copy;
}

/* Code of a run being collected. */
struct collector {
	struct isa_inst inst[MAX_RUN + 4];
	uint64_t pc_of[2 * MAX_RUN]; /* each decoded address, and its instruction */
	uint32_t inst_of[2 * MAX_RUN];
	uint32_t code[2 * MAX_RUN * MAX_DWORDS];
	size_t count, addresses, code_dw;
};

/* Puts a report before the instruction, which is left out if it does nothing. */
static struct isa_inst *report_before(struct collector *c, struct isa_inst *inst)
{
	inst[1] = *inst;
	inst[1].continues = true;
	*inst = (struct isa_inst){.fn = report_beyond, .pc = inst->pc};
	c->count++;
	return inst[1].beyond & ISA_BEYOND_RESULT ? NULL : inst + 1;
}

static bool reads_row(const struct isa_inst *inst, unsigned row)
{
	for (unsigned n = 0; n < 3; n++)
		if (inst->valu.kind[n] == ISA_FROM_ROW && inst->valu.row[n] == row)
			return true;
	return false;
}

/* Two instructions each of which overwrites a source of the other. */
static const struct isa_inst *run_crossed(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_inst *x = i + 1, *y = i + 2;
	uint32_t *row = w->v[x->valu.vdst], old[ISA_LANES], new[ISA_LANES];

	if (w->waitcnt) {
		isa_waitcnt_step(w, x);
		isa_waitcnt_step(w, y);
	}
	memcpy(old, row, sizeof(old));
	x->fn(w, x);
	memcpy(new, row, sizeof(new));
	memcpy(row, old, sizeof(old));
	y->fn(w, y);
	memcpy(row, new, sizeof(new));
	return i + 3;
}

/* Appends the halves of a dual instruction, x decoded already, in an order in which none overwrites the other's
 * sources; a half that does nothing is left out. */
static bool collect_dual(struct isa_program *p, struct collector *c, const uint32_t *code, unsigned words)
{
	struct isa_inst *at = &c->inst[c->count], x = *at, y;

	isa_decode_second(&p->dec, code, words, x.pc, &y);
	if (!p->cache->bind(p, &x) || !p->cache->bind(p, &y))
		return false;
	if (x.beyond || y.beyond) {
		*at++ = (struct isa_inst){.fn = report_beyond, .pc = x.pc};
	} else if (reads_row(&x, y.valu.vdst) && reads_row(&y, x.valu.vdst)) {
		*at++ = (struct isa_inst){.fn = run_crossed, .pc = x.pc};
	} else if (reads_row(&y, x.valu.vdst)) {
		struct isa_inst swap = x;

		x = y;
		y = swap;
	}
	if (!(x.beyond & ISA_BEYOND_RESULT))
		*at++ = x;
	if (!(y.beyond & ISA_BEYOND_RESULT))
		*at++ = y;
	for (struct isa_inst *part = &c->inst[c->count] + 1; part < at; part++)
		part->continues = true;
	c->count = (size_t)(at - c->inst);
	return true;
}

/* Whether a memory instruction writes VGPRs: else its field for them names none, and was not checked. */
static bool writes_vgprs(const struct isa_inst *inst)
{
	bool atomic = isa_access_of(inst->op)->class == ISA_ACCESS_ATOMIC;

	return inst->mem.dst_dw && !(inst->flags & ISA_LDS) && (!atomic || inst->flags & ISA_GLC);
}

/* Whether the instruction writes a VGPR that both halves of the wave share. */
static bool writes_shared(const struct isa_program *p, const struct isa_inst *inst)
{
	unsigned first = p->dec.vgprs - p->dec.shared;

	if (!p->dec.shared || !inst->row || inst->fn == run_refuse)
		return false;
	if (inst->enc >= ISA_VOP1 && inst->enc <= ISA_VOP3P)
		return inst->row->dst && inst->row->dst != ISA_T_M64 && !isa_result_is_scalar(inst->op) &&
		       inst->valu.vdst >= first;
	return inst->enc >= ISA_DS && inst->enc <= ISA_MTBUF && writes_vgprs(inst) && inst->mem.vdst >= first;
}

/* Executes the next instruction for the lanes of one half, and copies its result to the other half. */
static void run_half(struct isa_wave *w, const struct isa_inst *i, uint64_t lanes, unsigned from, unsigned to)
{
	bool valu = i->enc <= ISA_VOP3P;
	unsigned row = valu ? i->valu.vdst : i->mem.vdst;
	unsigned dw = valu ? isa_type_dw((enum isa_type)i->valu.dst_type) : i->mem.dst_dw;

	if (!lanes)
		return;
	isa_set_exec(w, lanes);
	i->fn(w, i);
	for (unsigned n = 0; n < dw; n++)
		memcpy(&w->v[row + n][to], &w->v[row + n][from], 32 * sizeof(uint32_t));
}

/* A wave of 64 executes its halves one after the other (RDNA ISA, 3.6.2): the second finds what the first has written to
 * shared VGPRs. */
static const struct isa_inst *run_shared(struct isa_wave *w, const struct isa_inst *i)
{
	uint64_t exec = isa_exec(w), low = 0xffffffff;

	if (w->waitcnt)
		isa_waitcnt_step(w, i + 1);
	run_half(w, i + 1, exec & low, 0, 32);
	run_half(w, i + 1, exec & ~low, 32, 0);
	isa_set_exec(w, exec);
	return i + 2;
}

/* Fills the collector from pc to a jump, to known code, or to its end. */
static bool collect_run(struct isa_program *p, struct collector *c, uint64_t pc)
{
	for (;;) {
		struct isa_inst *inst = &c->inst[c->count];
		uint32_t *code = &c->code[c->code_dw];
		unsigned words, dwords;

		if (find_inst(p, pc) || c->count >= MAX_RUN || c->addresses == 2 * MAX_RUN) {
			*inst = (struct isa_inst){.fn = run_follow, .pc = pc};
			c->count++;
			return true;
		}
		/* Fetched once: other waves may write here meanwhile, and the copy is what was decoded. */
		words = fetch_words(p, pc, code, MAX_DWORDS);
		dwords = decode_one(p, pc, code, words, inst);
		c->pc_of[c->addresses] = pc;
		c->inst_of[c->addresses++] = (uint32_t)c->count;
		c->code_dw += dwords;
		pc += 4 * dwords;
		if (inst->dual) {
			if (!collect_dual(p, c, code, dwords))
				return false;
			continue;
		}
		if (!inst->fn && without_effect(inst->op)) {
			if (!p->dec.checked)
				continue;
			inst->fn = run_pass;
		}
		if (inst->beyond) {
			inst = report_before(c, inst);
			if (!inst)
				continue;
		}
		if (!inst->fn && !p->cache->bind(p, inst))
			return false;
		if (writes_shared(p, inst)) {
			inst[1] = *inst;
			*inst = (struct isa_inst){.fn = run_shared, .pc = inst[1].pc};
			inst++;
			c->count++;
		}
		c->count++;
		if (ends_run(inst))
			return true;
	}
}

static void free_run(struct run *run)
{
	free(run->copy);
	free(run->inst);
	free(run->use);
}

/* Operand uses of a run's instructions, for the checks. */
static bool add_uses(const struct isa_program *p, struct run *run, size_t count)
{
	if (!p->dec.checked)
		return true;
	run->use = calloc(count, sizeof(*run->use));
	if (!run->use)
		return false;
	for (size_t n = 0; n < count; n++) {
		isa_operand_use_of(&run->inst[n], p->dec.gfx, p->dec.wave32, &run->use[n]);
		run->inst[n].use = &run->use[n];
		isa_hazard_of(&run->inst[n], p->dec.gfx, &run->use[n]);
		isa_hazard_later_of(&run->inst[n], p->dec.gfx, p->dec.wave32, &run->use[n]);
	}
	return true;
}

/* Bytes that gfx90a and gfx942 may prefetch after the end of code: LLVM pads with 16 lines of 64 bytes. No
 * prefetch of older chips of GFX9 is known. */
#define PREFETCH_B 1024u

static void look_behind(const struct isa_program *p, const struct run *run)
{
	uint64_t end = (run->va & VA_MASK) + run->size_B;

	if (run->size_B && vgpu_gfx_unified(p->dec.gfx) && !gpuvm_find(p->view, end + PREFETCH_B - 1))
		vgpu_finding(
			CONTRACT_CODE_PREFETCH,
			"code ends at 0x%llx, less than the %u bytes that are fetched ahead before memory that is not mapped",
			(unsigned long long)end, PREFETCH_B);
}

/* About what a run takes, with its part of the index. */
static size_t run_B(const struct isa_program *p, const struct collector *c)
{
	size_t inst_B = sizeof(struct isa_inst) + (p->dec.checked ? sizeof(struct isa_operand_use) : 0);

	return 4 * c->code_dw + c->count * inst_B + 4 * c->addresses * sizeof(struct slot);
}

static bool keep_run(struct isa_program *p, const struct collector *c, uint64_t pc)
{
	struct run run = {.va = pc, .size_B = c->code_dw * 4};
	struct run *runs = realloc(p->runs, (p->run_count + 1) * sizeof(*runs));

	if (!runs)
		return false;
	p->runs = runs;
	run.copy = copy_of(c->code, run.size_B);
	run.inst = copy_of(c->inst, c->count * sizeof(*c->inst));
	if (!run.copy || !run.inst || !add_uses(p, &run, c->count) || !reserve_slots(p, c->addresses)) {
		free_run(&run);
		return false;
	}
	runs[p->run_count++] = run;
	p->decoded_B += run_B(p, c);
	p->cache->decoded_B += run_B(p, c);
	look_behind(p, &run);
	for (size_t n = 0; n < c->addresses; n++)
		enter_slot(p, c->pc_of[n], &run.inst[c->inst_of[n]]);
	return true;
}

static const struct isa_inst *decode_run(struct isa_program *p, uint64_t pc)
{
	struct collector *c = malloc(sizeof(*c));
	bool ok;

	if (!c)
		return NULL;
	c->count = c->addresses = c->code_dw = 0;
	ok = collect_run(p, c, pc) && keep_run(p, c, pc);
	free(c);
	return ok ? find_inst(p, pc) : NULL;
}

const uint32_t *isa_program_constant(struct isa_program *p, uint64_t value)
{
	struct constant *grown;
	uint32_t *rows;

	for (size_t i = 0; i < p->constant_count; i++)
		if (p->constants[i].value == value)
			return p->constants[i].rows;
	grown = realloc(p->constants, (p->constant_count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	p->constants = grown;
	rows = aligned_alloc(64, 2 * ISA_LANES * sizeof(*rows));
	if (!rows)
		return NULL;
	for (unsigned l = 0; l < ISA_LANES; l++) {
		rows[l] = (uint32_t)value;
		rows[ISA_LANES + l] = (uint32_t)(value >> 32);
	}
	p->constants[p->constant_count++] = (struct constant){value, rows};
	return rows;
}

isa_fn isa_refuse(struct isa_inst *inst, const char *why)
{
	/* The reason takes the place of the fields: no code may look for them by the encoding. */
	*inst = (struct isa_inst){.pc = inst->pc, .dwords = inst->dwords, .refusal = why};
	return run_refuse;
}

/* --- programs and their cache --- */

/* Forgets all code; the program itself stays where it is. */
static void program_empty(struct isa_program *p)
{
	for (size_t i = 0; i < p->run_count; i++)
		free_run(&p->runs[i]);
	for (size_t i = 0; i < p->constant_count; i++)
		free(p->constants[i].rows);
	free(p->runs);
	free(p->constants);
	free(p->slots);
	p->runs = NULL;
	p->constants = NULL;
	p->slots = NULL;
	p->run_count = p->constant_count = p->slot_count = p->slots_used = 0;
	p->cache->decoded_B -= p->decoded_B;
	p->decoded_B = 0;
	p->refused = false;
}

static bool program_is_current(const struct isa_program *p)
{
	if (p->refused)
		return false;
	for (size_t i = 0; i < p->run_count; i++)
		if (!run_is_current(p, &p->runs[i]))
			return false;
	return true;
}

struct isa_cache *isa_program_cache_create(isa_bind_fn bind)
{
	struct isa_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		cache->bind = bind;
	return cache;
}

void isa_cache_destroy(struct isa_cache *cache)
{
	struct isa_program *next;

	for (struct isa_program *p = cache ? cache->programs : NULL; p; p = next) {
		next = p->next;
		program_empty(p);
		free(p);
	}
	free(cache);
}

static struct isa_program *program_at(struct isa_cache *cache, const struct isa_decoder *dec, uint64_t entry)
{
	struct isa_program *p = cache->programs;

	while (p && (p->entry != entry || memcmp(&p->dec, dec, sizeof(*dec))))
		p = p->next;
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->entry = entry;
	p->dec = *dec;
	p->cache = cache;
	p->next = cache->programs;
	cache->programs = p;
	return p;
}

/* Makes the program that of a machine's memory. */
static void program_enter(struct isa_program *p, const struct isa_machine *machine)
{
	p->view = machine->view;
	p->vmid = machine->vmid;
	p->caches = machine->cache;
	if (!program_is_current(p))
		program_empty(p);
}

void isa_program_resume(struct isa_program *p, const struct isa_machine *machine)
{
	if (p->view != machine->view || p->vmid != machine->vmid || p->caches != machine->cache)
		program_enter(p, machine);
}

struct isa_program *isa_program_get(struct isa_cache *cache, const struct isa_machine *machine, uint64_t entry,
				    char *why, size_t why_B)
{
	struct isa_decoder dec = decoder_of(machine);
	struct isa_program *p = program_at(cache, &dec, entry);

	if (!p) {
		snprintf(why, why_B, "out of memory");
		return NULL;
	}
	program_enter(p, machine);
	if (!executable_region(machine->view, entry)) {
		const struct gpuvm_region *r = gpuvm_find(machine->view, entry & VA_MASK);
		struct gpuvm_fault fault = {entry & VA_MASK, GPUVM_X, GPUVM_SQI, r != NULL};

		machine->fault(machine->user, &fault, entry);
		snprintf(why, why_B, "instruction fetch fault at 0x%llx, the entry of the kernel",
			 (unsigned long long)entry);
		return NULL;
	}
	return p;
}

const struct isa_inst *isa_goto(struct isa_wave *w, uint64_t pc)
{
	const struct isa_inst *inst = find_inst(w->program, pc);

	/* The caller is an instruction: isa_code_trim() makes room outside of it. */
	if (!inst && w->program->cache->decoded_B > CACHE_B)
		return isa_leave(w, ISA_RESUME, pc);
	if (!inst)
		inst = decode_run(w->program, pc);
	if (!inst) {
		snprintf(w->why, sizeof(w->why), "out of memory while decoding code at 0x%llx",
			 (unsigned long long)pc);
		return isa_leave(w, ISA_STOPPED, pc);
	}
	return inst;
}

void isa_code_trim(struct isa_wave *w)
{
	struct isa_cache *cache = w->program->cache;

	if (cache->decoded_B <= CACHE_B)
		return;
	for (struct isa_program *p = cache->programs; p; p = p->next)
		program_empty(p);
	if (w->waitcnt)
		isa_waitcnt_forget_code(w->waitcnt);
}

void isa_code_refresh(struct isa_wave *w)
{
	if (!program_is_current(w->program))
		program_empty(w->program);
	if (w->waitcnt)
		isa_waitcnt_forget_code(w->waitcnt);
}
