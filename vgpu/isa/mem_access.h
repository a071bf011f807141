/* Memory as waves see it: every access of vector and scalar memory instructions ends here, so that a model of the
 * shader's caches has one place to stand.
 *
 * Memory is shared with the client's threads, which poll words and set them while kernels run: words of up to 8
 * bytes are accessed whole. Two waves (or a wave and the client) may race as on hardware; ThreadSanitizer is kept
 * out of these accesses, because a racy kernel is not our bug. What the client must see in order comes after a
 * fence, which is synchronised for real.
 *
 * A refused access is reported through isa_machine::fault and goes to the dummy page of the view, the wave goes on.
 */
#ifndef VGPU_ISA_MEM_ACCESS_H
#define VGPU_ISA_MEM_ACCESS_H

#include "vgpu/isa/decode.h"

#define ISA_RACY __attribute__((no_sanitize("thread")))

#define ISA_VA_MASK (((uint64_t)1 << 48) - 1)

/* Where the lanes of one instruction go. Lanes outside mask have no address. */
struct isa_addresses {
	uint64_t mask;
	uint64_t va[ISA_LANES];
};

/* The 48 bits of an address, where hardware looks at no more: bit 47 is repeated above. */
static inline uint64_t isa_sign_48(uint64_t va)
{
	return va >> 47 & 1 ? va | ~ISA_VA_MASK : va & ISA_VA_MASK;
}

static inline uint64_t isa_buffer_base(const uint32_t *resource)
{
	return isa_sign_48(resource[0] | (uint64_t)resource[1] << 32);
}

/* What a memory instruction does with each lane's address. */
enum isa_access_class {
	ISA_ACCESS_NONE,
	ISA_ACCESS_LOAD,     /* dwords */
	ISA_ACCESS_LOAD_SUB, /* a byte or two, extended to a dword */
	ISA_ACCESS_LOAD_D16, /* a byte or two, extended to half a dword; the other half stays */
	ISA_ACCESS_STORE,
	ISA_ACCESS_STORE_SUB,
	ISA_ACCESS_ATOMIC,
};

struct isa_access {
	uint8_t class;  /* enum isa_access_class */
	uint8_t bytes;  /* LOAD_SUB, LOAD_D16, STORE_SUB: 1 or 2; ATOMIC: 4 or 8 */
	uint8_t atomic; /* enum isa_atomic */
	bool extend;    /* sign */
	bool high;      /* the upper half of the register */
};

enum isa_atomic {
	ISA_ATOMIC_SWAP,
	ISA_ATOMIC_CMPSWAP, /* data: new value, then compared value */
	ISA_ATOMIC_ADD,
	ISA_ATOMIC_SUB,
	ISA_ATOMIC_SMIN,
	ISA_ATOMIC_UMIN,
	ISA_ATOMIC_SMAX,
	ISA_ATOMIC_UMAX,
	ISA_ATOMIC_AND,
	ISA_ATOMIC_OR,
	ISA_ATOMIC_XOR,
	ISA_ATOMIC_INC,
	ISA_ATOMIC_DEC,
	/* From here on LDS, or floating point. */
	ISA_ATOMIC_RSUB,
	ISA_ATOMIC_MSKOR, /* data: mask, then value */
	ISA_ATOMIC_WRAP,  /* data: limit, then addend */
	ISA_ATOMIC_CMPSWAP_F,
	ISA_ATOMIC_ADD_F,
	ISA_ATOMIC_MIN_F,
	ISA_ATOMIC_MAX_F,
	ISA_ATOMIC_PK_ADD_F16,
	ISA_ATOMIC_PK_ADD_BF16,
};

/* What op does (LOAD, STORE: dwords come from the instruction); class NONE: not an access of vector memory. */
const struct isa_access *isa_access_of(enum isa_op op);

/* Performs the access for all lanes of a: vdst and vdata are wave->v rows, dw the dwords of LOAD and STORE.
 * `returns`: an atomic gives back what was there. */
void isa_access_lanes(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
		      const struct isa_addresses *a, unsigned vdata, unsigned vdst, unsigned dw, bool returns);

/* One lane's bytes, however they lie. */
void isa_mem_read(struct isa_wave *w, const struct isa_inst *i, uint64_t va, void *dst, unsigned size_B);
void isa_mem_write(struct isa_wave *w, const struct isa_inst *i, uint64_t va, const void *src, unsigned size_B);
/* Makes the device's L2 write back, drop or both (MEM_*), with all that this implies for waves that run. */
void isa_cache_maintain(const struct isa_wave *w, unsigned what);
/* Reports a refused access. */
void isa_mem_refuse(struct isa_wave *w, const struct isa_inst *i, uint64_t va, unsigned access);
/* An atomic on memory; data and compare as 64 bits. Refused: returns 0. */
uint64_t isa_mem_atomic(struct isa_wave *w, const struct isa_inst *i, enum isa_atomic op, unsigned size_B,
			uint64_t va, uint64_t data, uint64_t compare);

/* New value of an atomic on 4 or 8 bytes (mem_atomic.c). Floating point in the caller's MXCSR. */
uint64_t isa_atomic_apply(enum isa_atomic op, unsigned size_B, uint64_t old, uint64_t data, uint64_t data1);
/* The same on host memory, indivisibly; returns what was there. */
uint64_t isa_atomic_host(enum isa_atomic op, unsigned size_B, void *host, uint64_t data, uint64_t data1);
/* Floating-point atomics of the L2 know no MODE: nearest even; f32 flushes denormals before gfx942, all else keeps
 * them. */
unsigned isa_atomic_enter(enum vgpu_gfx gfx, enum isa_atomic op, unsigned size_B);
void isa_atomic_leave(unsigned saved);

/* Lanes of a mask, lowest first. */
#define ISA_FOR_LANES(lane, mask)                                                                                  \
	for (uint64_t rest_ = (mask); rest_; rest_ &= rest_ - 1)                                                   \
		for (unsigned lane = (unsigned)__builtin_ctzll(rest_), once_ = 1; once_; once_ = 0)

/* Sub-dword values to and from registers. */
static inline uint32_t isa_extend(uint32_t value, const struct isa_access *access)
{
	if (!access->extend)
		return value;
	return access->bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
}

static inline void isa_set_half(uint32_t *reg, uint32_t value, bool high)
{
	*reg = high ? (*reg & 0xffff) | value << 16 : (*reg & 0xffff0000) | (value & 0xffff);
}

/* Data that a load or store moves between memory and LDS starts here in LDS, for lane 0. */
static inline uint32_t isa_lds_dma_base(const struct isa_wave *w, const struct isa_inst *i)
{
	return (w->s[ISA_M0] & 0xffff) + (uint32_t)i->mem.offset;
}

/* LDS: out of range reads give 0 and writes vanish, with a finding (mem_ds.c). */
void isa_lds_read(struct isa_wave *w, const struct isa_inst *i, uint32_t offset, void *dst, unsigned size_B);
void isa_lds_write(struct isa_wave *w, const struct isa_inst *i, uint32_t offset, const void *src, unsigned size_B);
uint64_t isa_lds_atomic(struct isa_wave *w, const struct isa_inst *i, enum isa_atomic op, unsigned size_B,
			uint32_t offset, uint64_t data, uint64_t data1);

#endif
