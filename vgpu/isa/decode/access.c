#include "vgpu/isa/decode/access.h"

#define LOADS(P)                                                                                                   \
	[ISA_OP_##P##_LOAD_UBYTE] = {ISA_ACCESS_LOAD_SUB, 1},                                                      \
	[ISA_OP_##P##_LOAD_SBYTE] = {ISA_ACCESS_LOAD_SUB, 1, .extend = true},                                      \
	[ISA_OP_##P##_LOAD_USHORT] = {ISA_ACCESS_LOAD_SUB, 2},                                                     \
	[ISA_OP_##P##_LOAD_SSHORT] = {ISA_ACCESS_LOAD_SUB, 2, .extend = true},                                     \
	[ISA_OP_##P##_LOAD_DWORD] = {ISA_ACCESS_LOAD}, [ISA_OP_##P##_LOAD_DWORDX2] = {ISA_ACCESS_LOAD},            \
	[ISA_OP_##P##_LOAD_DWORDX3] = {ISA_ACCESS_LOAD}, [ISA_OP_##P##_LOAD_DWORDX4] = {ISA_ACCESS_LOAD},          \
	[ISA_OP_##P##_LOAD_UBYTE_D16] = {ISA_ACCESS_LOAD_D16, 1},                                                  \
	[ISA_OP_##P##_LOAD_UBYTE_D16_HI] = {ISA_ACCESS_LOAD_D16, 1, .high = true},                                 \
	[ISA_OP_##P##_LOAD_SBYTE_D16] = {ISA_ACCESS_LOAD_D16, 1, .extend = true},                                  \
	[ISA_OP_##P##_LOAD_SBYTE_D16_HI] = {ISA_ACCESS_LOAD_D16, 1, .extend = true, .high = true},                 \
	[ISA_OP_##P##_LOAD_SHORT_D16] = {ISA_ACCESS_LOAD_D16, 2},                                                  \
	[ISA_OP_##P##_LOAD_SHORT_D16_HI] = {ISA_ACCESS_LOAD_D16, 2, .high = true}

#define STORES(P)                                                                                                  \
	[ISA_OP_##P##_STORE_BYTE] = {ISA_ACCESS_STORE_SUB, 1},                                                     \
	[ISA_OP_##P##_STORE_BYTE_D16_HI] = {ISA_ACCESS_STORE_SUB, 1, .high = true},                                \
	[ISA_OP_##P##_STORE_SHORT] = {ISA_ACCESS_STORE_SUB, 2},                                                    \
	[ISA_OP_##P##_STORE_SHORT_D16_HI] = {ISA_ACCESS_STORE_SUB, 2, .high = true},                               \
	[ISA_OP_##P##_STORE_DWORD] = {ISA_ACCESS_STORE}, [ISA_OP_##P##_STORE_DWORDX2] = {ISA_ACCESS_STORE},        \
	[ISA_OP_##P##_STORE_DWORDX3] = {ISA_ACCESS_STORE}, [ISA_OP_##P##_STORE_DWORDX4] = {ISA_ACCESS_STORE}

#define ATOMIC(P, name, kind)                                                                                      \
	[ISA_OP_##P##_ATOMIC_##name] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_##kind},                                  \
	[ISA_OP_##P##_ATOMIC_##name##_X2] = {ISA_ACCESS_ATOMIC, 8, ISA_ATOMIC_##kind}

#define ATOMICS(P)                                                                                                 \
	ATOMIC(P, SWAP, SWAP), ATOMIC(P, CMPSWAP, CMPSWAP), ATOMIC(P, ADD, ADD), ATOMIC(P, SUB, SUB),              \
		ATOMIC(P, SMIN, SMIN), ATOMIC(P, UMIN, UMIN), ATOMIC(P, SMAX, SMAX), ATOMIC(P, UMAX, UMAX),        \
		ATOMIC(P, AND, AND), ATOMIC(P, OR, OR), ATOMIC(P, XOR, XOR), ATOMIC(P, INC, INC),                  \
		ATOMIC(P, DEC, DEC)

#define ATOMICS_F32(P)                                                                                             \
	[ISA_OP_##P##_ATOMIC_ADD_F32] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_ADD_F},                                  \
	[ISA_OP_##P##_ATOMIC_PK_ADD_F16] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_PK_ADD_F16}

#define ATOMICS_F64(P)                                                                                             \
	[ISA_OP_##P##_ATOMIC_ADD_F64] = {ISA_ACCESS_ATOMIC, 8, ISA_ATOMIC_ADD_F},                                  \
	[ISA_OP_##P##_ATOMIC_MIN_F64] = {ISA_ACCESS_ATOMIC, 8, ISA_ATOMIC_MIN_F},                                  \
	[ISA_OP_##P##_ATOMIC_MAX_F64] = {ISA_ACCESS_ATOMIC, 8, ISA_ATOMIC_MAX_F}

/* Atomics that GFX10 added. */
#define ATOMICS_10(P)                                                                                              \
	[ISA_OP_##P##_ATOMIC_FCMPSWAP] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_CMPSWAP_F},                             \
	[ISA_OP_##P##_ATOMIC_FCMPSWAP_X2] = {ISA_ACCESS_ATOMIC, 8, ISA_ATOMIC_CMPSWAP_F},                          \
	[ISA_OP_##P##_ATOMIC_FMIN] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_MIN_F},                                     \
	[ISA_OP_##P##_ATOMIC_FMAX] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_MAX_F},                                     \
	[ISA_OP_##P##_ATOMIC_COND_SUB_U32] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_COND_SUB}

static const struct isa_access accesses[ISA_OP_COUNT] = {
	ATOMICS_10(FLAT),
	ATOMICS_10(GLOBAL),
	ATOMICS_10(BUFFER),
	[ISA_OP_FLAT_ATOMIC_SUB_CLAMP_U32] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_SUB_CLAMP},
	[ISA_OP_GLOBAL_ATOMIC_CSUB] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_SUB_CLAMP},
	[ISA_OP_BUFFER_ATOMIC_CSUB] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_SUB_CLAMP},
	[ISA_OP_BUFFER_ATOMIC_PK_ADD_BF16] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_PK_ADD_BF16},
	[ISA_OP_GLOBAL_LOAD_DWORD_ADDTID] = {ISA_ACCESS_LOAD},
	[ISA_OP_GLOBAL_STORE_DWORD_ADDTID] = {ISA_ACCESS_STORE},
	[ISA_OP_BUFFER_LOAD_LDS_U8] = {ISA_ACCESS_LOAD_SUB, 1},
	[ISA_OP_BUFFER_LOAD_LDS_I8] = {ISA_ACCESS_LOAD_SUB, 1, .extend = true},
	[ISA_OP_BUFFER_LOAD_LDS_U16] = {ISA_ACCESS_LOAD_SUB, 2},
	[ISA_OP_BUFFER_LOAD_LDS_I16] = {ISA_ACCESS_LOAD_SUB, 2, .extend = true},
	[ISA_OP_BUFFER_LOAD_LDS_B32] = {ISA_ACCESS_LOAD},
	[ISA_OP_S_LOAD_U8] = {ISA_ACCESS_LOAD_SUB, 1},
	[ISA_OP_S_LOAD_I8] = {ISA_ACCESS_LOAD_SUB, 1, .extend = true},
	[ISA_OP_S_LOAD_U16] = {ISA_ACCESS_LOAD_SUB, 2},
	[ISA_OP_S_LOAD_I16] = {ISA_ACCESS_LOAD_SUB, 2, .extend = true},
	[ISA_OP_S_BUFFER_LOAD_U8] = {ISA_ACCESS_LOAD_SUB, 1},
	[ISA_OP_S_BUFFER_LOAD_I8] = {ISA_ACCESS_LOAD_SUB, 1, .extend = true},
	[ISA_OP_S_BUFFER_LOAD_U16] = {ISA_ACCESS_LOAD_SUB, 2},
	[ISA_OP_S_BUFFER_LOAD_I16] = {ISA_ACCESS_LOAD_SUB, 2, .extend = true},
	ATOMICS_F32(FLAT),
	[ISA_OP_FLAT_ATOMIC_PK_ADD_BF16] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_PK_ADD_BF16},
	[ISA_OP_GLOBAL_ATOMIC_PK_ADD_BF16] = {ISA_ACCESS_ATOMIC, 4, ISA_ATOMIC_PK_ADD_BF16},
	[ISA_OP_GLOBAL_LOAD_LDS_UBYTE] = {ISA_ACCESS_LOAD_SUB, 1},
	[ISA_OP_GLOBAL_LOAD_LDS_SBYTE] = {ISA_ACCESS_LOAD_SUB, 1, .extend = true},
	[ISA_OP_GLOBAL_LOAD_LDS_USHORT] = {ISA_ACCESS_LOAD_SUB, 2},
	[ISA_OP_GLOBAL_LOAD_LDS_SSHORT] = {ISA_ACCESS_LOAD_SUB, 2, .extend = true},
	[ISA_OP_GLOBAL_LOAD_LDS_DWORD] = {ISA_ACCESS_LOAD},
	LOADS(FLAT),
	STORES(FLAT),
	ATOMICS(FLAT),
	ATOMICS_F64(FLAT),
	LOADS(GLOBAL),
	STORES(GLOBAL),
	ATOMICS(GLOBAL),
	ATOMICS_F32(GLOBAL),
	ATOMICS_F64(GLOBAL),
	LOADS(SCRATCH),
	STORES(SCRATCH),
	LOADS(BUFFER),
	STORES(BUFFER),
	ATOMICS(BUFFER),
	ATOMICS_F32(BUFFER),
	ATOMICS_F64(BUFFER),
	ATOMICS(S_BUFFER),
	ATOMICS(S),
};

const struct isa_access *isa_access_of(enum isa_op op)
{
	return &accesses[op];
}
