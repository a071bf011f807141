/* Scalar floating point (GFX11.5 and later): each instruction is the vector instruction of the same name for one lane,
 * whose lane function computes it. */
#include <pthread.h>

#include "vgpu/isa/exec/salu.h"
#include "vgpu/isa/valu/valu.h"

#include <immintrin.h>

/* Order of sources that differs from "source 0, source 1". */
enum sources {
	AS_THEY_ARE,
	WITH_RESULT, /* the result's old value is source 2 */
	K_LAST,      /* the literal is source 2 */
	K_BETWEEN,   /* the literal is source 1 */
	HIGH_HALF,   /* of source 0 */
};

struct scalar_float {
	uint16_t op, vector_op;
	uint8_t sources;
};

#define BOTH(name)                                                                                                 \
	{ISA_OP_S_##name##_F32, ISA_OP_V_##name##_F32, 0}, {ISA_OP_S_##name##_F16, ISA_OP_V_##name##_F16, 0}
#define CVT(name)     {ISA_OP_S_CVT_##name, ISA_OP_V_CVT_##name, 0}
#define COMPARE(name) BOTH(CMP_##name)

static const struct scalar_float floats[] = {
	BOTH(ADD),
	BOTH(SUB),
	BOTH(MUL),
	BOTH(MIN),
	BOTH(MAX),
	BOTH(MINIMUM),
	BOTH(MAXIMUM),
	BOTH(CEIL),
	BOTH(FLOOR),
	BOTH(TRUNC),
	BOTH(RNDNE),
	COMPARE(LT),
	COMPARE(EQ),
	COMPARE(LE),
	COMPARE(GT),
	COMPARE(LG),
	COMPARE(GE),
	COMPARE(O),
	COMPARE(U),
	COMPARE(NGE),
	COMPARE(NLG),
	COMPARE(NGT),
	COMPARE(NLE),
	COMPARE(NEQ),
	COMPARE(NLT),
	CVT(F32_I32),
	CVT(F32_U32),
	CVT(I32_F32),
	CVT(U32_F32),
	CVT(F16_F32),
	CVT(F32_F16),
	{ISA_OP_S_CVT_HI_F32_F16, ISA_OP_V_CVT_F32_F16, HIGH_HALF},
	{ISA_OP_S_CVT_PK_RTZ_F16_F32, ISA_OP_V_CVT_PKRTZ_F16_F32, 0},
	{ISA_OP_S_FMAC_F32, ISA_OP_V_FMA_F32, WITH_RESULT},
	{ISA_OP_S_FMAC_F16, ISA_OP_V_FMA_F16, WITH_RESULT},
	{ISA_OP_S_FMAAK_F32, ISA_OP_V_FMA_F32, K_LAST},
	{ISA_OP_S_FMAMK_F32, ISA_OP_V_FMA_F32, K_BETWEEN},
};

#define FLOATS (sizeof(floats) / sizeof(floats[0]))

/* Indexed by instruction; written once by index_floats. */
static const struct isa_lane_op *lane_of[ISA_OP_COUNT];
static uint8_t sources_of[ISA_OP_COUNT];
static pthread_once_t indexed = PTHREAD_ONCE_INIT;

static void index_floats(void)
{
	for (unsigned n = 0; n < FLOATS; n++) {
		lane_of[floats[n].op] = isa_lane_find((enum isa_op)floats[n].vector_op, isa_host_build(false));
		sources_of[floats[n].op] = floats[n].sources;
	}
}

static void read_sources(const struct isa_wave *w, const struct isa_inst *i, uint32_t source[3])
{
	source[0] = isa_salu_src32(w, i, 0);
	source[1] = i->row->src[1] ? isa_salu_src32(w, i, 1) : 0;
	source[2] = i->salu.literal;
	switch (sources_of[i->op]) {
	case WITH_RESULT:
		source[2] = w->s[i->salu.dst];
		break;
	case K_BETWEEN:
		source[2] = source[1];
		source[1] = i->salu.literal;
		break;
	case HIGH_HALF:
		source[0] >>= 16;
		break;
	default:
		break;
	}
}

static const struct isa_inst *run_float(struct isa_wave *w, const struct isa_inst *i)
{
	static const struct isa_valu plain;
	uint32_t source[3], row[3][ISA_LANES] __attribute__((aligned(64)));
	uint32_t result[ISA_LANES] __attribute__((aligned(64)));
	struct isa_lanes x = {.d = result, .exec = 1, .mode = w->mode, .inst = &plain};
	const struct isa_lane_op *lane;
	unsigned saved = _mm_getcsr();

	pthread_once(&indexed, index_floats);
	lane = lane_of[i->op];
	read_sources(w, i, source);
	for (unsigned n = 0; n < 3; n++) {
		for (unsigned l = 0; l < ISA_LANES; l++)
			row[n][l] = source[n];
		x.s[n] = row[n];
	}
	if (lane->fp > ISA_FP_32)
		_mm_setcsr(isa_mxcsr(w->mode, lane->fp));
	lane->fn(&x);
	_mm_setcsr(saved);
	if (i->row->dst)
		w->s[i->salu.dst] = result[0];
	else
		w->scc = x.carry & 1;
	return i + 1;
}

#define RUN(name)  {ISA_OP_S_##name, run_float}
#define RUN2(name) RUN(name##_F32), RUN(name##_F16)

const struct isa_handler isa_salu_float_handlers[] = {
	RUN2(ADD),           RUN2(SUB),           RUN2(MUL),
	RUN2(MIN),           RUN2(MAX),           RUN2(MINIMUM),
	RUN2(MAXIMUM),       RUN2(CEIL),          RUN2(FLOOR),
	RUN2(TRUNC),         RUN2(RNDNE),         RUN2(CMP_LT),
	RUN2(CMP_EQ),        RUN2(CMP_LE),        RUN2(CMP_GT),
	RUN2(CMP_LG),        RUN2(CMP_GE),        RUN2(CMP_O),
	RUN2(CMP_U),         RUN2(CMP_NGE),       RUN2(CMP_NLG),
	RUN2(CMP_NGT),       RUN2(CMP_NLE),       RUN2(CMP_NEQ),
	RUN2(CMP_NLT),       RUN(CVT_F32_I32),    RUN(CVT_F32_U32),
	RUN(CVT_I32_F32),    RUN(CVT_U32_F32),    RUN(CVT_F16_F32),
	RUN(CVT_F32_F16),    RUN(CVT_HI_F32_F16), RUN(CVT_PK_RTZ_F16_F32),
	RUN2(FMAC),          RUN(FMAAK_F32),      RUN(FMAMK_F32),
	{ISA_OP_NONE, NULL},
};
