/* Between program.c, which finds and keeps decoded code, and bind.c, which gives each instruction its function. */
#ifndef VGPU_ISA_PROGRAM_H
#define VGPU_ISA_PROGRAM_H

#include "vgpu/isa/decode.h"

/* Two rows of 64 lanes that hold value's low and high dword; owned by the program. NULL without memory. */
const uint32_t *isa_program_constant(struct isa_program *program, uint64_t value);

/* Gives a decoded instruction its function and its constants. An unimplemented one gets a function that stops the
 * wave. False without memory. */
bool isa_bind(struct isa_program *program, struct isa_inst *inst);

/* The function that stops the wave with this reason (static text). */
isa_fn isa_refuse(struct isa_inst *inst, const char *why);

#endif
