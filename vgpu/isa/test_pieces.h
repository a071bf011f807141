/* For tests: pieces of assembly with the checks that follow each. */
#ifndef VGPU_ISA_TEST_PIECES_H
#define VGPU_ISA_TEST_PIECES_H

#include "vgpu/isa/test_wave.h"

/* A piece of code and what is checked after it ran, if anything. */
struct piece {
	const char *name;
	void (*check)(void);
	const char *code;
	unsigned findings;
	const char *only; /* chip */
};

static inline bool is_for(const struct piece *piece, const char *chip)
{
	return !piece->only || !strcmp(piece->only, chip);
}

/* As many as the memory of the code holds. */
#define MAX_PIECES (65536 / PIECE_B)

/* Assembles codes for waves of LANES lanes; each starts at a multiple of PIECE_B. */
static inline bool assemble_codes(const char *chip, const char *const codes[], unsigned count)
{
	static char source[65536];
	const Elf64_Shdr *text;
	struct test_elf elf;
	char mcpu[64];
	size_t used = 0;

	for (unsigned n = 0; n < count; n++)
		used += (size_t)snprintf(source + used, sizeof(source) - used, ".p2align 8\n%s\ns_endpgm\n",
					 codes[n]);
	if (!strcmp(chip, "gfx942"))
		test_spell_for_gfx942(source);
	snprintf(mcpu, sizeof(mcpu), "%s%s", chip, LANES == 32 ? "" : " -mwavefrontsize64");
	if (!test_assemble(mcpu, source, &elf))
		return false;
	text = test_section(&elf, ".text");
	memcpy(test.code, elf.data + text->sh_offset, text->sh_size);
	free(elf.data);
	return true;
}

/* Those for another chip are empty. */
static inline bool assemble(const char *chip, const struct piece *pieces, unsigned count)
{
	const char *codes[MAX_PIECES];

	for (unsigned n = 0; n < count; n++)
		codes[n] = is_for(&pieces[n], chip) ? pieces[n].code : "";
	return assemble_codes(chip, codes, count);
}

/* checked: with the checks of machine code. */
static inline void init(const char *chip, bool checked)
{
	memset(&test, 0, sizeof(test));
	test.code = aligned_alloc(4096, 65536);
	test.data = aligned_alloc(4096, DATA_B);
	test.lds = aligned_alloc(64, 4096);
	test.v = aligned_alloc(64, 2 * ROWS * sizeof(*test.v));
	memset(test.code, 0, 65536);
	memset(test.v, 0, 2 * ROWS * sizeof(*test.v));
	test.region[0] = (struct gpuvm_region){CODE, CODE + 65536, test.code, GPUVM_R | GPUVM_X, 1};
	test.region[1] = (struct gpuvm_region){FINE, FINE + 4096, test.data,
					       GPUVM_R | GPUVM_W | GPUVM_UC << GPUVM_MTYPE_SHIFT, 3};
	test.region[2] = (struct gpuvm_region){PRT, PRT + 4096, NULL, GPUVM_PRT | GPUVM_R | GPUVM_W, 0};
	test.region[3] = (struct gpuvm_region){D_48, D_48 + DATA_B, test.data, GPUVM_R | GPUVM_W, 2};
	test.view = (struct gpuvm_view){4, test.region};
	test.machine = (struct isa_machine){
		.chip = vgpu_chip_find(chip),
		.view = &test.view,
		.fault = on_fault,
		.clock = on_clock,
		.vgpr_count = ROWS,
		.sgpr_count = 96,
		.accum_offset = ROWS,
		.sramecc = vgpu_chip_find(chip)->sramecc == CHIP_ECC_ON,
	};
	test.group = (struct isa_group){.lds = test.lds, .lds_B = 4096, .waves = 1};
	test.machine.checked = checked;
	test.wave.waitcnt = checked ? isa_waitcnt_create() : NULL;
	test.cache = isa_cache_create();
	test.wave.v = test.v;
	test.wave.group = &test.group;
	test.wave.machine = &test.machine;
}

static inline void fini(void)
{
	isa_cache_destroy(test.cache);
	isa_waitcnt_destroy(test.wave.waitcnt);
	free(test.code);
	free(test.data);
	free(test.lds);
	free(test.v);
}

static inline void test_pieces(const char *chip, bool checked, const struct piece *pieces, unsigned count)
{
	init(chip, checked);
	if (!CHECK(assemble(chip, pieces, count)))
		return;
	for (unsigned n = 0; n < count; n++) {
		unsigned long before = vgpu_findings();
		unsigned failed = check_failed_;

		if (!is_for(&pieces[n], chip))
			continue;
		if (CHECK(run(n)) && pieces[n].check)
			pieces[n].check();
		CHECK_EQ(vgpu_findings() - before, pieces[n].findings);
		if (check_failed_ != failed)
			printf("  in \"%s\" on %s\n", pieces[n].name, chip);
	}
	fini();
}

#endif
