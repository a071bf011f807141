/* State of a wave: scalar operands, EXEC, MODE, and the end of a run.
 *
 * Thread rule: a wave belongs to one thread at a time. */
#ifndef VGPU_ISA_WAVE_WAVE_H
#define VGPU_ISA_WAVE_WAVE_H

#include "vgpu/isa/decode/decode.h"

/* --- scalar operands --- */

/* SGPRs that the dispatch grants, without the special ones that the generation puts behind them. */
static inline uint32_t isa_sgprs(const struct isa_machine *m)
{
	uint32_t all = isa_generation_of(m->chip->gfx)->sgprs;

	return m->sgpr_count && m->sgpr_count < all ? m->sgpr_count : all;
}

/* A bit for each lane of the dispatch's waves. */
static inline uint64_t isa_full(const struct isa_machine *m)
{
	return m->wave32 ? 0xffffffff : ~(uint64_t)0;
}

static inline unsigned isa_lanes(const struct isa_wave *w)
{
	return w->machine->wave32 ? 32 : 64;
}

static inline uint64_t isa_exec(const struct isa_wave *w)
{
	uint64_t exec;

	memcpy(&exec, &w->s[ISA_EXEC], sizeof(exec));
	return exec & w->full;
}

/* Writes a mask with a bit for each lane: an SGPR in wave32, else a pair. */
static inline void isa_mask_write(struct isa_wave *w, unsigned code, uint64_t mask)
{
	memcpy(&w->s[code], &mask, w->machine->wave32 ? 4 : 8);
}

static inline void isa_set_exec(struct isa_wave *w, uint64_t exec)
{
	isa_mask_write(w, ISA_EXEC, exec);
}

/* Sources that test whether a register is zero. */
enum { ISA_VCCZ = 251, ISA_EXECZ = 252 };

/* Scalar sources by operand code: SGPRs, VCC, EXEC, M0, apertures, inline constants as 32-bit integers and floats,
 * VCCZ, EXECZ, SCC. code 255 (literal) and 256 on are not for these. A 64-bit read of an inline integer extends its
 * sign; of an inline float gives the f64. */
uint32_t isa_sread32_slow(const struct isa_wave *w, unsigned code);
uint64_t isa_sread64_slow(const struct isa_wave *w, unsigned code);

static inline uint32_t isa_sread32(const struct isa_wave *w, unsigned code)
{
	return code < 128 ? w->s[code] : isa_sread32_slow(w, code);
}

static inline uint64_t isa_sread64(const struct isa_wave *w, unsigned code)
{
	uint64_t value;

	if (code >= 127)
		return isa_sread64_slow(w, code);
	memcpy(&value, &w->s[code], sizeof(value));
	return value;
}

static inline void isa_swrite64(struct isa_wave *w, unsigned code, uint64_t value)
{
	memcpy(&w->s[code], &value, sizeof(value));
}

/* A mask with a bit for each lane. */
static inline uint64_t isa_mask_read(const struct isa_wave *w, unsigned code)
{
	return w->machine->wave32 ? isa_sread32(w, code) : isa_sread64(w, code);
}

/* Address of lane 0's first dword of scratch. */
static inline uint64_t isa_scratch_base(const struct isa_wave *w)
{
	return isa_generation_of(w->machine->chip->gfx)->column == ISA_COLUMN_9 ? isa_sread64(w, ISA_FLAT_SCRATCH)
										: w->flat_scratch;
}

/* --- MODE --- */

/* MODE fields (HW_REG_MODE). */
enum {
	ISA_MODE_ROUND32 = 0,  /* 2 bits: 0 nearest even, 1 up, 2 down, 3 to zero */
	ISA_MODE_ROUND64 = 2,  /* f64 and f16 */
	ISA_MODE_DENORM32 = 4, /* bit 0: inputs kept, bit 1: results kept */
	ISA_MODE_DENORM64 = 6,
	ISA_MODE_DX10_CLAMP = 1 << 8,
	ISA_MODE_IEEE = 1 << 9,
	ISA_MODE_GPR_IDX = 1 << 27,
};

/* MXCSR that a function over lanes expects. */
enum isa_fp {
	ISA_FP_NONE,  /* none */
	ISA_FP_32,    /* rounding and denormals of f32 in MODE: what isa_run sets */
	ISA_FP_64,    /* rounding and denormals of f64 and f16 in MODE */
	ISA_FP_FLUSH, /* f32's rounding, denormals flushed in every MODE: v_mad, v_mac */
	ISA_FP_EXACT, /* nearest even, denormals kept: functions that do MODE's work themselves */
};

/* MXCSR for a class of lane functions under a MODE. */
unsigned isa_mxcsr(uint32_t mode, enum isa_fp fp);

/* After a write to MODE. */
void isa_mode_changed(const struct isa_wave *w);
/* --- reports and the end of a run --- */

/* The disassembly of the code at pc in current memory. */
void isa_text_at(const struct isa_wave *w, uint64_t pc, char *text, size_t text_B);
/* For isa_leave: returns to the loop of isa_run, which reads MODE again and finds pc, and not to isa_run's caller.
 */
#define ISA_RESUME ((enum isa_stop)100)

/* Ends isa_run with `stop`; the next isa_run starts at pc. Returns NULL for the caller to return. */
const struct isa_inst *isa_leave(struct isa_wave *w, enum isa_stop stop, uint64_t pc);
/* A finding of row 93. */
void isa_report_beyond(const struct isa_wave *w, uint64_t pc);
/* Ends isa_run with ISA_STOPPED: wave->why gets the reason, address, words and disassembly. Returns NULL. */
const struct isa_inst *isa_stop_wave(struct isa_wave *w, const struct isa_inst *i, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
