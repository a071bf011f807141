/* GCR_CNTL: cache maintenance by packets of GFX10 and later (ACQUIRE_MEM, RELEASE_MEM, SDMA's GCR_REQ).
 *
 * Sources: PAL gfx9CmdUtil.cpp, Mesa radv_cs.c and sid.h (S_586_*). */
#include "vgpu/engine/cp.h"

struct engine_cache_work engine_gcr_work(unsigned gen, uint32_t gcr, uint64_t lo, uint64_t hi)
{
	unsigned range = bits(gcr, 12, 11);
	struct engine_cache_work work = {.what = 0, .lo = 0, .hi = ~(uint64_t)0};

	/* GL1 is between GL0 and GL2: a line that it keeps returns to GL0. GFX12's GL1 keeps no lines. */
	bool l1 = gcr & GCR_GLV_INV && (gen == P_GFX12 || gcr & GCR_GL1_INV);

	work.what |= gcr & GCR_GL2_WB ? MEM_WRITE_BACK : 0;
	work.what |= gcr & (GCR_GL2_INV | GCR_GL2_DISCARD) ? MEM_DROP_L2 : 0;
	work.what |= l1 ? MEM_DROP_L1 : 0;
	work.what |= gcr & GCR_GLK_INV ? MEM_DROP_SCALAR : 0;
	work.what |= bits(gcr, 1, 0) ? MEM_DROP_CODE : 0;
	if (range == GCR_GL2_RANGE || range == GCR_GL2_FIRST_LAST) {
		work.lo = lo;
		work.hi = hi;
	}
	return work;
}

const char *engine_gcr_fault(unsigned gen, uint32_t gcr)
{
	if (gcr & GCR_GL2_DISCARD)
		return "GL2_DISCARD: dirty lines of everybody are lost";
	if (gcr & GCR_GL2_INV && !(gcr & GCR_GL2_WB))
		return "invalidates L2 without writing it back: other queues' dirty lines are lost";
	if (gen != P_GFX12 && gcr & GCR_GLM_WB && !(gcr & GCR_GLM_INV))
		return "GLM_WB goes with GLM_INV";
	if (gcr & GCR_GLK_WB && gcr & GCR_GL2_WB && bits(gcr, 17, 16) != 1)
		return "GLK_WB and GL2_WB without SEQ forward: what the scalar cache writes may stay in L2";
	return NULL;
}
