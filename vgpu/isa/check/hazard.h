/* Properties of instructions for both checks of hazards: hazard_check.c of GFX9, hazard_later.c from GFX10 on. Private to
 * check/. */
#ifndef VGPU_ISA_CHECK_HAZARD_H
#define VGPU_ISA_CHECK_HAZARD_H

#include "vgpu/isa/check/waitcnt_check.h"

static inline bool isa_is_valu(const struct isa_inst *i)
{
	return i->enc >= ISA_VOP1 && i->enc <= ISA_VOP3P;
}

static inline bool isa_is_salu(const struct isa_inst *i)
{
	return i->enc >= ISA_SOP1 && i->enc <= ISA_SOPP;
}

static inline bool isa_is_vmem(const struct isa_inst *i)
{
	return i->enc >= ISA_FLAT && i->enc <= ISA_MIMG;
}

/* Whether the unit for transcendental functions executes it. */
bool isa_is_trans(const struct isa_inst *i);

static inline bool isa_range_overlaps(const struct isa_range *a, unsigned first, unsigned count)
{
	return a->first < first + count && first < a->first + (unsigned)a->count;
}

/* Whether `before` writes one of these registers. */
bool isa_wrote(const struct isa_inst *before, unsigned first, unsigned count);

#endif
