/* State of a wave: the end of a run with its reason, scalar operands, MODE. */
#include "vgpu/isa/wave/wave.h"

#include <immintrin.h>
#include <stdarg.h>
#include <stdio.h>

#include "vgpu/report.h"

/* --- how a run ends --- */

const struct isa_inst *isa_leave(struct isa_wave *w, enum isa_stop stop, uint64_t pc)
{
	w->stop = stop;
	w->pc = pc;
	return NULL;
}

bool isa_barrier_passed(const struct isa_wave *w)
{
	return w->group->phase != w->signal_phase;
}

/* The longest instruction. */
#define REPORT_WORDS 5

/* The words at pc, for the report; the code was readable when it was decoded. */
static unsigned report_words(const struct isa_wave *w, uint64_t pc, uint32_t code[REPORT_WORDS])
{
	uint64_t va = pc & 0xffffffffffffull;
	const struct gpuvm_region *r = gpuvm_find(w->machine->view, va);
	unsigned words =
		r && r->host ? (unsigned)((r->hi - va) / 4 < REPORT_WORDS ? (r->hi - va) / 4 : REPORT_WORDS) : 0;

	if (words)
		memcpy(code, r->host + (va - r->lo), words * 4);
	return words;
}

void isa_text_at(const struct isa_wave *w, uint64_t pc, char *text, size_t text_B)
{
	uint32_t code[REPORT_WORDS] = {0};
	unsigned words = report_words(w, pc, code);

	if (!words || !isa_disassemble(w->machine->chip->gfx, code, words, pc, text, text_B))
		snprintf(text, text_B, "?");
}

void isa_report_beyond(const struct isa_wave *w, uint64_t pc)
{
	char text[160];

	isa_text_at(w, pc, text, sizeof(text));
	vgpu_finding(CONTRACT_REGISTER_COUNT,
		     "\"%s\" at 0x%llx names a register above those that the dispatch grants: %u VGPRs, %u SGPRs",
		     text, (unsigned long long)pc, w->machine->vgpr_count, isa_sgprs(w->machine));
}

const struct isa_inst *isa_stop_wave(struct isa_wave *w, const struct isa_inst *i, const char *fmt, ...)
{
	char text[160] = "", reason[200];
	uint32_t code[REPORT_WORDS] = {0};
	unsigned words = report_words(w, i->pc, code), used = 0;
	va_list ap;
	int n;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	if (words)
		used = isa_disassemble(w->machine->chip->gfx, code, words, i->pc, text, sizeof(text));
	n = snprintf(w->why, sizeof(w->why), "%s: at 0x%llx:", reason, (unsigned long long)i->pc);
	for (unsigned k = 0; k < (used ? used : words ? 1 : 0); k++)
		n += snprintf(w->why + n, sizeof(w->why) - (size_t)n, " %08x", code[k]);
	snprintf(w->why + n, sizeof(w->why) - (size_t)n, "  %s", text);
	return isa_leave(w, ISA_STOPPED, i->pc);
}

/* --- scalar operands --- */

/* Codes of what is no register and no constant. */
enum {
	SHARED_BASE = 235,
	SHARED_LIMIT,
	PRIVATE_BASE,
	PRIVATE_LIMIT,
	POPS_WAVE_ID,
	SCC = 253,
};

static uint64_t special_value(const struct isa_wave *w, unsigned code)
{
	switch (code) {
	case SHARED_BASE:
		return ISA_SHARED_BASE;
	case SHARED_LIMIT:
		return ISA_SHARED_BASE | 0xffffffff;
	case PRIVATE_BASE:
		return ISA_PRIVATE_BASE;
	case PRIVATE_LIMIT:
		return ISA_PRIVATE_BASE | 0xffffffff;
	case ISA_VCCZ:
		return isa_mask_read(w, ISA_VCC) == 0;
	case ISA_EXECZ:
		return isa_exec(w) == 0;
	case SCC:
		return w->scc;
	default: /* POPS_WAVE_ID: no primitive ordering in compute */
		return 0;
	}
}

static bool is_inline_constant(unsigned code)
{
	return (code >= 128 && code <= 208) || (code >= 240 && code <= 248);
}

/* A 32-bit read of an aperture gives its high dword: the low one is constant. */
uint32_t isa_sread32_slow(const struct isa_wave *w, unsigned code)
{
	if (is_inline_constant(code))
		return (uint32_t)isa_constant_value(code, ISA_T_B32, 0);
	if (code >= SHARED_BASE && code <= PRIVATE_LIMIT)
		return (uint32_t)(special_value(w, code) >> 32);
	return (uint32_t)special_value(w, code);
}

uint64_t isa_sread64_slow(const struct isa_wave *w, unsigned code)
{
	if (is_inline_constant(code))
		return isa_constant_value(code, ISA_T_B64, 0);
	if (code < 128) /* the high half of EXEC with nothing behind it: decoding refuses it */
		return w->s[code];
	return special_value(w, code);
}

/* --- MODE --- */

unsigned isa_mxcsr(uint32_t mode, enum isa_fp fp)
{
	/* MXCSR rounding: 0 nearest, 1 down, 2 up, 3 to zero. */
	static const unsigned rounding[4] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN,
					     _MM_ROUND_TOWARD_ZERO};
	unsigned csr = _MM_MASK_MASK, denorm;

	if (fp == ISA_FP_EXACT)
		return csr;
	csr |= rounding[mode >> (fp == ISA_FP_64 ? ISA_MODE_ROUND64 : ISA_MODE_ROUND32) & 3];
	denorm = mode >> (fp == ISA_FP_64 ? ISA_MODE_DENORM64 : ISA_MODE_DENORM32) & 3;
	if (fp == ISA_FP_FLUSH)
		denorm = 0;
	if (!(denorm & 1))
		csr |= _MM_DENORMALS_ZERO_ON;
	if (!(denorm & 2))
		csr |= _MM_FLUSH_ZERO_ON;
	return csr;
}

void isa_mode_changed(const struct isa_wave *w)
{
	_mm_setcsr(isa_mxcsr(w->mode, ISA_FP_32));
}
