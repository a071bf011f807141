/* For tests: pieces of assembly for chips from GFX10 on, in both wave sizes. */
#ifndef VGPU_ISA_TEST_LATER_H
#define VGPU_ISA_TEST_LATER_H

#include "vgpu/isa/test_pieces.h"
#include "vgpu/isa/wave/wave.h"

/* A piece, and the chips and wave sizes that it is for. */
struct later_piece {
	const char *name;
	void (*check)(void);
	const char *code;
	const char *first, *last; /* chips, by name; NULL: any */
	unsigned lanes;           /* 0: both */
	unsigned findings;
};

/* A piece for GFX10 and GFX11, and the same for GFX12 with another wait in its middle. */
#define BOTH(name, check, before, wait, wait12, after, findings)                                                   \
	{name, check, before wait after, NULL, "gfx1199", 0, findings},                                            \
	{                                                                                                          \
		name, check, before wait12 after, "gfx1200", NULL, 0, findings                                     \
	}

static inline bool applies(const struct later_piece *p, const char *chip)
{
	return (!p->first || strcmp(chip, p->first) >= 0) && (!p->last || strcmp(chip, p->last) <= 0) &&
	       (!p->lanes || p->lanes == LANES);
}

static inline bool assemble_later(const char *chip, const struct later_piece *pieces, unsigned count)
{
	const char *codes[MAX_PIECES];

	for (unsigned n = 0; n < count; n++)
		codes[n] = applies(&pieces[n], chip) ? pieces[n].code : "";
	return assemble_codes(chip, codes, count);
}

/* Buffers of the registers that test_wave.h sets, in this generation's words: raw, and records of 16 bytes. MODE of GFX12
 * has no IEEE. */
static inline void later_state(const char *chip)
{
	bool gfx10 = strcmp(chip, "gfx11") < 0;

	S(7) = 20u << 12 | 3u << 28 | 0xfac;       /* 32 bits, UINT */
	S(11) = (gfx10 ? 75u : 61u) << 12 | 0xfac; /* 4 x 32 bits, UINT; structured */
	if (strcmp(chip, "gfx12") > 0)
		test.wave.mode &= ~(uint32_t)ISA_MODE_IEEE;
}

static inline void init_later(const char *chip, bool wave32, bool checked)
{
	init(chip, checked);
	test.machine.wave32 = wave32;
	test.machine.sgpr_count = 0;
	test.machine.shared_vgprs = strcmp(chip, "gfx11") < 0 ? 2 : 0;
}

static inline void test_later_piece(const char *chip, const struct later_piece *piece, unsigned number)
{
	unsigned failed = check_failed_;
	unsigned long before = vgpu_findings();

	test.wave.flat_scratch = D + SCRATCH;
	test.group.signals = test.group.phase = test.wave.signal_phase = 0;
	if (CHECK(run_prepared(number, later_state, chip)) && piece->check)
		piece->check();
	CHECK_EQ(vgpu_findings() - before, piece->findings);
	if (check_failed_ != failed)
		printf("  in \"%s\" on %s, wave%u%s\n", piece->name, chip, LANES,
		       test.stepwise ? ", stepwise" : "");
}

/* checked: with the checks of machine code, which forget the code before a budget's end; so that is not stepwise. */
static inline void test_later(const char *chip, bool wave32, bool checked, const struct later_piece *pieces,
			      unsigned count)
{
	init_later(chip, wave32, checked);
	if (!CHECK(assemble_later(chip, pieces, count)))
		return;
	for (unsigned n = 0; n < count; n++) {
		if (!applies(&pieces[n], chip))
			continue;
		test_later_piece(chip, &pieces[n], n);
		test.stepwise = !checked;
		if (test.stepwise)
			test_later_piece(chip, &pieces[n], n);
		test.stepwise = false;
	}
	fini();
}

#endif
