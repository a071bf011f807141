/* For the engine's tests: kernels of a code object that clang made, launched by hand-written PM4. */
#ifndef VGPU_ENGINE_TEST_LAUNCH_H
#define VGPU_ENGINE_TEST_LAUNCH_H

#include "vgpu/engine/regs.h"
#include "vgpu/engine/test_gpu.h"
#include "vgpu/isa/test_code.h"

#define D         TEST_DATA_VA
#define KERNARG   (8u << 20) /* offsets in the data */
#define SCRATCH   (12u << 20)
#define SCRATCH_B (4u << 20)

struct kernel {
	uint64_t entry;
	uint32_t rsrc1, rsrc2, rsrc3, lds_B, private_B;
	uint16_t properties;
};

struct launch {
	const char *kernel;
	uint32_t dim[3], size[3], partial[3];
	uint32_t initiator;
	uint64_t args[6]; /* kernarg, 8 bytes each; `ids`, `meet` and `gemm` pack their own */
	bool no_wait;
	uint32_t waves;    /* TMPRING_SIZE */
	uint32_t wavesize; /* the same; 0: what the kernel needs */
	uint32_t skip;     /* leave out this SH register group, for row 67 */
};

enum { SKIP_NOTHING, SKIP_USER_DATA, SKIP_MASKS, ZERO_MASKS };

static struct test_elf elf;
static const struct vgpu_chip *chip_row;

static inline struct kernel find(const char *name)
{
	char symbol[64];
	const uint8_t *kd;
	int64_t entry;
	uint64_t va;
	struct kernel k;

	snprintf(symbol, sizeof(symbol), "%s.kd", name);
	va = test_symbol(&elf, symbol);
	kd = elf.data;
	for (unsigned n = 0; n < ((const Elf64_Ehdr *)(const void *)elf.data)->e_phnum; n++) {
		const Elf64_Phdr *ph = (const Elf64_Phdr *)(const void *)(elf.data + 64) + n;

		if (ph->p_type == PT_LOAD && va >= ph->p_vaddr && va < ph->p_vaddr + ph->p_filesz)
			kd = elf.data + ph->p_offset + (va - ph->p_vaddr);
	}
	memcpy(&entry, kd + 16, 8);
	k.entry = TEST_CODE_VA + va + (uint64_t)entry;
	memcpy(&k.lds_B, kd, 4);
	memcpy(&k.private_B, kd + 4, 4);
	memcpy(&k.rsrc3, kd + 44, 4);
	memcpy(&k.rsrc1, kd + 48, 4);
	memcpy(&k.rsrc2, kd + 52, 4);
	memcpy(&k.properties, kd + 56, 2);
	return k;
}

static inline void set_sh(struct test_gpu *t, uint32_t reg, unsigned count, const uint32_t *value)
{
	EMIT(t, PM4(PM4_SET_SH_REG, 1 + count), reg);
	for (unsigned n = 0; n < count; n++)
		t->ib[t->dw++] = value[n];
}

#define SET(t, reg, ...) set_sh(t, reg, COUNT_(__VA_ARGS__), (const uint32_t[]){__VA_ARGS__})

static inline bool is_later(void)
{
	return chip_row->gc_version[0] >= 10;
}

/* ENABLE_WAVEFRONT_SIZE32 of the kernel's descriptor. */
static inline unsigned kernel_lanes(const struct kernel *k)
{
	return k->properties & 1 << 10 ? 32 : 64;
}

static inline uint32_t wave_B(const struct kernel *k)
{
	return (k->private_B * kernel_lanes(k) + 1023) & ~1023u;
}

static inline void user_data(struct test_gpu *t, const struct kernel *k)
{
	uint32_t s[16] = {0};
	unsigned n = 0;

	if (k->properties & 1) {
		s[0] = LO(D + SCRATCH);
		s[1] = HI(D + SCRATCH) | 1u << 31;
		s[2] = SCRATCH_B;
		s[3] = !is_later() ? 0x00ea4fac : kernel_lanes(k) == 32 ? 0x21d14fac : 0x21f14fac;
		n = 4;
	}
	for (unsigned bit = 1; bit <= 5; bit++) {
		if (!(k->properties >> bit & 1))
			continue;
		if (bit == 3) {
			s[n] = LO(D + KERNARG);
			s[n + 1] = HI(D + KERNARG);
		} else if (bit == 5) {
			s[n] = LO(D + SCRATCH);
			s[n + 1] = HI(D + SCRATCH);
		}
		n += 2;
	}
	if (bits(k->rsrc2, 5, 1))
		set_sh(t, COMPUTE_USER_DATA_0, bits(k->rsrc2, 5, 1), s);
}

static inline void masks(struct test_gpu *t, uint32_t mask)
{
	SET(t, COMPUTE_STATIC_THREAD_MGMT_SE0, mask, mask);
	SET(t, COMPUTE_STATIC_THREAD_MGMT_SE2, mask, mask);
	if (chip_row->engines > 4)
		SET(t, chip_row->gc_version[0] >= 11 ? 0x22b : COMPUTE_STATIC_THREAD_MGMT_SE4, mask, mask, mask,
		    mask);
}

static inline void emit_launch(struct test_gpu *t, const struct launch *l)
{
	struct kernel k = find(l->kernel);
	uint32_t waves = l->waves     ? l->waves
			 : is_later() ? 32u * chip_row->engines
				      : 64,
		 y = l->dim[1] ? l->dim[1] : 1, z = l->dim[2] ? l->dim[2] : 1;
	bool fine = chip_row->gc_version[0] >= 11; /* WAVESIZE counts 256 bytes, WAVES is of an engine */
	uint32_t wavesize = l->wavesize ? l->wavesize : wave_B(&k) / (fine ? 256 : 1024);

	memcpy(t->data + KERNARG, l->args, sizeof(l->args));
	SET(t, COMPUTE_START_X, 0, 0, 0, l->size[0] | l->partial[0] << 16,
	    (l->size[1] ? l->size[1] : 1) | l->partial[1] << 16,
	    (l->size[2] ? l->size[2] : 1) | l->partial[2] << 16);
	SET(t, COMPUTE_PGM_LO, LO(k.entry >> 8), HI(k.entry >> 8));
	SET(t, COMPUTE_PGM_RSRC1, k.rsrc1, k.rsrc2 | (k.lds_B + 511) / 512 << 15);
	SET(t, COMPUTE_RESOURCE_LIMITS, 0);
	if (l->skip != SKIP_MASKS)
		masks(t, l->skip == ZERO_MASKS ? 0 : ~0u);
	if (vgpu_gfx_unified(chip_row->gfx))
		SET(t, COMPUTE_PGM_RSRC3, k.rsrc3);
	if (is_later())
		SET(t, COMPUTE_PGM_RSRC3_GFX10, k.rsrc3);
	if (chip_row->gfx == VGPU_GFX942)
		SET(t, COMPUTE_TG_CHUNK_SIZE, 0);
	if (chip_row->flat_scratch_given || fine)
		SET(t, COMPUTE_DISPATCH_SCRATCH_BASE_LO, LO((D + SCRATCH) >> 8), HI((D + SCRATCH) >> 8));
	SET(t, COMPUTE_TMPRING_SIZE, (fine ? waves / chip_row->engines : waves) | wavesize << 12);
	if (l->skip != SKIP_USER_DATA)
		user_data(t, &k);
	EMIT(t, PM4(PM4_DISPATCH_DIRECT, 4) | PM4_SHADER_TYPE, l->dim[0], y, z,
	     (l->initiator ? l->initiator : 5u) | (kernel_lanes(&k) == 32 ? INITIATOR_CS_W32_EN : 0));
	if (!l->no_wait)
		EMIT(t, PM4(PM4_EVENT_WRITE, 1), 0x00000407);
}

static inline enum engine_status run_launch(struct test_gpu *t, struct launch l)
{
	emit_launch(t, &l);
	return test_run(t);
}

#define LAUNCH(...) run_launch(t, (struct launch){__VA_ARGS__})

#endif
