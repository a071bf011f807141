/* Scalar sources for salu.c and control.c. */
#ifndef VGPU_ISA_EXEC_SALU_H
#define VGPU_ISA_EXEC_SALU_H

#include "vgpu/isa/wave/wave.h"

static inline uint32_t isa_salu_src32(const struct isa_wave *w, const struct isa_inst *i, unsigned n)
{
	if (i->salu.constants >> n & 1)
		return (uint32_t)i->salu.value[n];
	return isa_sread32(w, i->salu.src[n]);
}

static inline uint64_t isa_salu_src64(const struct isa_wave *w, const struct isa_inst *i, unsigned n)
{
	if (i->salu.constants >> n & 1)
		return i->salu.value[n];
	return isa_sread64(w, i->salu.src[n]);
}

#endif
