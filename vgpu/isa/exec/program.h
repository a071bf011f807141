/* Decoded code of kernels. program.c finds, decodes and keeps it; bind.c, which includes the handlers of all
 * instructions, gives each instruction its function. */
#ifndef VGPU_ISA_EXEC_PROGRAM_H
#define VGPU_ISA_EXEC_PROGRAM_H

#include "vgpu/isa/wave/wave.h"

/* Two rows of 64 lanes that hold value's low and high dword; owned by the program. NULL without memory. */
const uint32_t *isa_program_constant(struct isa_program *program, uint64_t value);

/* The generation of its code, and whether its waves have 32 lanes. */
const struct isa_generation *isa_program_generation(const struct isa_program *program);
bool isa_program_wave32(const struct isa_program *program);

/* Before a wave of that machine goes on: another machine's may have run since. */
void isa_program_resume(struct isa_program *program, const struct isa_machine *machine);

/* Gives a decoded instruction its function and its constants. False without memory. */
typedef bool (*isa_bind_fn)(struct isa_program *program, struct isa_inst *inst);
/* A cache whose programs bind instructions with bind. NULL without memory. */
struct isa_cache *isa_program_cache_create(isa_bind_fn bind);

/* The function that stops the wave with this reason (static text). */
isa_fn isa_refuse(struct isa_inst *inst, const char *why);

/* The decoded instruction at pc, decoded at its first use. NULL, with the wave stopped, without memory; or
 * NULL with ISA_RESUME for isa_code_trim(). */
const struct isa_inst *isa_goto(struct isa_wave *w, uint64_t pc);
/* Between two instructions, outside of any: forgets all decoded code when it takes too much. */
void isa_code_trim(struct isa_wave *w);
/* After s_icache_inv: forgets decoded code that no longer matches memory. The caller must then leave isa_run or go
 * on with isa_leave(w, ISA_RESUME, pc). */
void isa_code_refresh(struct isa_wave *w);

#endif
