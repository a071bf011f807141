/* Memory accesses of waves: every access of vector and scalar memory instructions ends here, so that the model of
 * the caches is in one place.
 *
 * Memory is shared with the client's threads, which poll and set words while kernels run: words of up to 16 bytes
 * are accessed as a whole where they are aligned. Two waves (or a wave and the client) may race as on hardware; ThreadSanitizer does not
 * check these accesses (GPUVM_RACY). Data that the client reads in order comes after a fence, which is
 * synchronised for real.
 *
 * A refused access is reported through isa_machine::fault and goes to the dummy page of the view; the wave
 * continues. */
#ifndef VGPU_ISA_MEM_ACCESS_H
#define VGPU_ISA_MEM_ACCESS_H

#include "vgpu/isa/decode/access.h"
#include "vgpu/isa/wave/wave.h"

#define ISA_VA_MASK (((uint64_t)1 << 48) - 1)

/* Addresses of an instruction's lanes. Lanes outside mask have no address. */
struct isa_addresses {
	uint64_t mask;
	uint64_t va[ISA_LANES];
};

/* Sign-extends an address from bit 47: hardware ignores the bits above. */
static inline uint64_t isa_sign_48(uint64_t va)
{
	return va >> 47 & 1 ? va | ~ISA_VA_MASK : va & ISA_VA_MASK;
}

static inline uint64_t isa_buffer_base(const uint32_t *resource)
{
	return isa_sign_48(resource[0] | (uint64_t)resource[1] << 32);
}

/* Performs the access for all lanes of a: vdst and vdata are wave->v rows, dw the dwords of LOAD and STORE.
 * `returns`: an atomic returns the old value. */
void isa_access_lanes(struct isa_wave *w, const struct isa_inst *i, const struct isa_access *access,
		      const struct isa_addresses *a, unsigned vdata, unsigned vdst, unsigned dw, bool returns);

/* Access of one lane, at any alignment. */
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
/* Floating-point atomics of the L2 ignore MODE: nearest even; f32 flushes denormals where the generation does, all else
 * keeps them. */
unsigned isa_atomic_enter(const struct isa_generation *gen, enum isa_atomic op, unsigned size_B);
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

/* The result of a load. With ECC the register file has no writes of less than a dword: the other half becomes 0 (LLVM
 * GCNSubtarget::d16PreservesUnusedBits(); Mesa aco_register_allocation.cpp, where such a load writes 4 bytes). */
static inline void isa_load_half(const struct isa_wave *w, uint32_t *reg, uint32_t value, bool high)
{
	if (w->machine->sramecc)
		*reg = 0;
	isa_set_half(reg, value, high);
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
