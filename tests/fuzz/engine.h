/* For the fuzzers of packets: a GPU of any chip with a little memory, and IBs made of the input. */
#ifndef TESTS_FUZZ_ENGINE_H
#define TESTS_FUZZ_ENGINE_H

#include <stdlib.h>
#include <string.h>

#include "vgpu/engine/engine.h"
#include "vgpu/engine/packet.h"
#include "vgpu/engine/pm4.h"
#include "vgpu/engine/print.h"
#include "vgpu/report.h"

#define FUZZ_IB_VA    0x10000000ull
#define FUZZ_CODE_VA  0x20000000ull
#define FUZZ_RO_VA    0x40000000ull
#define FUZZ_UNLISTED 0x50000000ull
#define FUZZ_PRT_VA   0x60000000ull
#define FUZZ_DATA_VA  0x700000000000ull
#define FUZZ_TOP_VA   0xfffffffff000ull /* the last page of the address space */
#define FUZZ_IB_dw    1024u
#define FUZZ_DATA_B   16384u

/* Options, in the second byte of the input. */
enum {
	FUZZ_STRUCTURED = 1,
	FUZZ_CACHES = 2,
	FUZZ_ORDER = 4,
	FUZZ_WAITS = 8,
	FUZZ_NULL = 16,  /* the null device */
	FUZZ_DUMMY = 32, /* refused accesses go to a dummy page */
	FUZZ_GFX = 64,   /* the graphics ring, where there is one */
	FUZZ_STAY = 128, /* waves that hang are not killed */
};

/* What is left of the input; zeros follow. */
struct fuzz_input {
	const uint8_t *at;
	size_t left_B;
};

struct fuzz_gpu {
	const struct vgpu_chip *chip;
	enum engine_ip ip;
	unsigned gen;     /* of its packets, enum packet_gen */
	unsigned options; /* FUZZ_* */
	/* Memory of all inputs, each piece with a red zone of its own. */
	uint32_t *ib, *code;
	uint8_t *data, *ro, *top, *dummy;
	unsigned dw; /* of the IB so far */
	struct gpuvm_region region[7];
	struct gpuvm_view view;
};

static inline uint8_t fuzz_u8(struct fuzz_input *in)
{
	if (!in->left_B)
		return 0;
	in->left_B--;
	return *in->at++;
}

static inline uint32_t fuzz_u32(struct fuzz_input *in)
{
	uint32_t value = 0;

	for (unsigned n = 0; n < 4; n++)
		value |= (uint32_t)fuzz_u8(in) << 8 * n;
	return value;
}

/* An address, of memory more often than not; `which` selects it. */
static inline uint64_t fuzz_va(unsigned which, uint32_t offset)
{
	static const uint64_t base[16] = {
		FUZZ_DATA_VA,
		FUZZ_DATA_VA,
		FUZZ_DATA_VA,
		FUZZ_DATA_VA,
		FUZZ_DATA_VA + FUZZ_DATA_B - 8,
		FUZZ_IB_VA,
		FUZZ_IB_VA + 4 * FUZZ_IB_dw - 4,
		FUZZ_CODE_VA,
		FUZZ_RO_VA,
		FUZZ_UNLISTED,
		FUZZ_PRT_VA,
		FUZZ_TOP_VA,
		FUZZ_TOP_VA + 4088,
		0xffffffffffffffffull,
		0,
		0x30000000,
	};

	return base[which % 16] + (offset & (which & 16 ? 0x3fff : 0x1fc));
}

static inline void *fuzz_page(size_t size_B)
{
	void *at = aligned_alloc(4096, size_B);

	if (!at)
		abort();
	return memset(at, 0, size_B);
}

static inline void fuzz_region(struct fuzz_gpu *g, uint64_t va, uint64_t size_B, void *host, uint32_t flags)
{
	g->region[g->view.count] = (struct gpuvm_region){va, va + size_B, host, flags, (uint32_t)g->view.count + 1};
	g->view.count++;
}

/* Takes chip and options from the input. */
static inline void fuzz_gpu_init(struct fuzz_gpu *g, struct fuzz_input *in, enum engine_ip ip)
{
	static uint32_t *ib, *code;
	static uint8_t *data, *ro, *top, *dummy;
	unsigned chips = 0;

	while (vgpu_chip_at(chips))
		chips++;
	if (!ib) {
		ib = fuzz_page(4 * FUZZ_IB_dw);
		code = fuzz_page(4096);
		data = fuzz_page(FUZZ_DATA_B);
		ro = fuzz_page(4096);
		top = fuzz_page(4096);
		dummy = fuzz_page(4096);
	}
	*g = (struct fuzz_gpu){.ib = ib, .code = code, .data = data, .ro = ro, .top = top, .dummy = dummy};
	g->chip = vgpu_chip_at(fuzz_u8(in) % chips);
	g->options = fuzz_u8(in);
	g->ip = ip == ENGINE_COMPUTE && g->options & FUZZ_GFX && g->chip->gfx_rings ? ENGINE_GFX : ip;
	g->gen = ip == ENGINE_DMA ? packet_sdma_gen(g->chip) : packet_gfx_gen(g->chip);
	memset(g->data, 0, FUZZ_DATA_B);
	memset(g->ib, 0, 4 * FUZZ_IB_dw);
	g->view.region = g->region;
	g->view.vm = 1;
	fuzz_region(g, FUZZ_IB_VA, 4 * FUZZ_IB_dw, g->ib, GPUVM_R | GPUVM_W | GPUVM_X | GPUVM_SYSTEM);
	fuzz_region(g, FUZZ_CODE_VA, 4096, g->code, GPUVM_R | GPUVM_X);
	fuzz_region(g, FUZZ_RO_VA, 4096, g->ro, GPUVM_R);
	fuzz_region(g, FUZZ_UNLISTED, 4096, g->ro, GPUVM_R | GPUVM_W | GPUVM_UNLISTED);
	fuzz_region(g, FUZZ_PRT_VA, 1u << 30, NULL, GPUVM_PRT);
	fuzz_region(g, FUZZ_DATA_VA, FUZZ_DATA_B, g->data, GPUVM_R | GPUVM_W);
	fuzz_region(g, FUZZ_TOP_VA, 4096, g->top, GPUVM_R | GPUVM_W | GPUVM_UC << GPUVM_MTYPE_SHIFT);
	g->view.dummy = (struct gpuvm_region){.host = g->options & FUZZ_DUMMY ? g->dummy : NULL,
					      .flags = GPUVM_R | GPUVM_W | GPUVM_DUMMY};
	vgpu_strict_set(VGPU_STRICT_OFF);
	vgpu_set(VGPU_CACHES, g->options & FUZZ_CACHES);
	vgpu_set(VGPU_ORDER, g->options & FUZZ_ORDER);
	vgpu_set(VGPU_WAITS, g->options & FUZZ_WAITS);
}

static inline void fuzz_emit(struct fuzz_gpu *g, uint32_t dw)
{
	if (g->dw < FUZZ_IB_dw)
		g->ib[g->dw++] = dw;
}

/* The body of a packet: words of the input, with addresses where the form has them. */
static inline void fuzz_body(struct fuzz_gpu *g, struct fuzz_input *in, const struct packet_form *form, unsigned dw)
{
	unsigned first = g->dw - 1, which = fuzz_u8(in);

	for (unsigned n = 0; n < dw; n++)
		fuzz_emit(g, fuzz_u32(in));
	for (const struct packet_field *f = form ? form->fields : NULL; f && f->name; f++) {
		uint64_t va;

		if (f->kind != FIELD_VA || first + f->dw + 1 >= g->dw || !packet_in(f->gens, g->gen) || which & 128)
			continue;
		va = fuzz_va(which++, g->ib[first + f->dw]);
		g->ib[first + f->dw] = (uint32_t)va;
		g->ib[first + f->dw + 1] = (uint32_t)(va >> 32);
	}
}

/* Prints what each dword of the IB begins, and looks for stray bits. */
static inline void fuzz_print(const struct fuzz_gpu *g)
{
	char text[256], little[24];
	unsigned where;
	uint32_t stray;

	for (unsigned n = 0; n < g->dw; n++) {
		/* At its exact size, so that sanitizers see a read behind it. */
		unsigned count = g->dw - n < 40 ? g->dw - n : 40, used;
		uint32_t *copy = malloc(4 * count);
		const struct packet_form *form;

		if (!copy)
			abort();
		memcpy(copy, g->ib + n, 4 * count);
		used = engine_packet_print(g->chip, g->ip, copy, count, text, sizeof(text));
		if (!used || engine_packet_print(g->chip, g->ip, copy, count, little, sizeof(little)) != used ||
		    strnlen(little, sizeof(little)) == sizeof(little))
			__builtin_trap();
		form = g->ip == ENGINE_DMA ? packet_sdma(g->gen, copy[0]) : packet_pm4(g->gen, copy[0]);
		if (form)
			packet_stray_bits(form, g->gen, copy, count, &where, &stray);
		free(copy);
	}
}

static inline void fuzz_fault(void *user, const struct gpuvm_fault *fault)
{
	(void)user;
	(void)fault;
}

/* Runs two jobs of the ring at once: the IB, and its first part again from an odd place. */
static inline void fuzz_run(struct fuzz_gpu *g, unsigned odd)
{
	struct engine_config config = {1, 1, g->options & FUZZ_NULL, 1000, false};
	struct engine_device *dev = engine_device_create(g->chip, &config);
	struct engine_ring *ring = dev ? engine_ring_create(dev, g->ip, 0, 0) : NULL;
	struct engine_ib ib[3] = {
		{.va = FUZZ_IB_VA, .size_B = 4 * g->dw},
		{.va = FUZZ_IB_VA + 4 * (odd % 64) + odd / 128, .size_B = 4 * g->dw},
		{.va = fuzz_va(odd, odd), .size_B = odd & 8 ? 0xffffffff : 64},
	};
	struct engine_job job = {
		.view = &g->view,
		.ib = ib,
		.ib_count = odd & 7 ? 1 : 3,
		.watchdog_ns = 20000,
		.seq = 1,
		.vmid = 3,
		.vmid_foreign = 1,
		.vmid_epoch = 2,
		.waves_stay = g->options & FUZZ_STAY,
		.gws_base = 62,
		.gws_count = 2,
		.fault = fuzz_fault,
	};

	if (!ring)
		abort();
	for (unsigned n = 0; n < 2; n++) {
		struct engine_run *run = engine_line_up(ring, &job);
		enum engine_status status = engine_execute(run);

		if (status != ENGINE_DONE && !engine_why(run)[0])
			__builtin_trap();
		engine_leave(run);
		job.seq++;
	}
	engine_ring_destroy(ring);
	engine_device_destroy(dev);
}

#endif
