/* Code objects: validation, loading into executable VRAM, unloading.
 *
 * The loader assembles the image in host memory and writes it to VRAM in one pass: reading VRAM back is slow. Where
 * the CPU maps all of VRAM, or the caller has no copy engine, it writes through its own mapping. Elsewhere it
 * leaves the visible window (256 MiB, commonly) to long-lived users: the code goes to any VRAM through the caller's
 * upload hook, and the host keeps a copy of the image for readers. */
#include "cs/code.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cs/elf.h"
#include "cs/internal.h"

static int take_note(void *user, const void *note, size_t size_B)
{
	return cs_meta_add(user, note, size_B);
}

/* Opens the ELF, in a bundle or not, and reads everything that does not depend on the load address, before memory
 * is allocated. */
static int open_code(const void *image, size_t size_B, const struct drv_chip *chip, struct cs_elf *elf,
		     struct cs_code **out)
{
	struct cs_code *code;
	int r = chip ? cs_bundle_pick(&image, &size_B, chip) : 0;

	if (!r)
		r = cs_elf_open(elf, image, size_B, chip);
	if (r)
		return r;
	code = calloc(1, sizeof(*code));
	r = code ? cs_elf_notes(elf, take_note, &code->meta)
		 : drv_fail(-ENOMEM, "no host memory for a code object");
	if (r) {
		cs_code_unload(code);
		cs_elf_close(elf);
		return r;
	}
	cs_meta_sort(&code->meta);
	code->span_B = elf->span_B;
	*out = code;
	return 0;
}

/* Assembles the image for code->va, with its symbols. The caller frees *placed. */
static int image_assemble(struct cs_code *code, const struct cs_elf *e, const struct drv_chip *chip,
			  const struct cs_code_hooks *hooks, uint8_t **placed)
{
	int r;

	*placed = calloc(1, e->span_B);
	if (!*placed)
		return drv_fail(-ENOMEM, "no host memory for an image of %llu bytes",
				(unsigned long long)e->span_B);
	r = cs_elf_place(e, *placed, code->va, hooks);
	return r ? r : cs_code_add_symbols(code, e, *placed, chip);
}

/* --- loading ---------------------------------------------------------------------------------- */

static bool sees_all(const struct drv_device *dev)
{
	return dev->facts.visible_vram.total_B >= dev->facts.vram.total_B;
}

static int image_allocate(struct vm *vm, struct cs_code *code, bool visible)
{
	/* The instruction prefetcher reads beyond the last instruction. */
	struct vm_info info = {
		.size_B = code->span_B + vm_device(vm)->chip->code_pad_B,
		.kind = VM_VRAM,
		.flags = VM_EXEC | VM_RESIDENT | (visible ? VM_CPU : 0),
	};
	int r = vm_mem_create(vm, &info, &code->mem);

	if (!r)
		code->va = code->mem->va;
	return r;
}

static int code_load(struct vm *vm, const struct cs_elf *e, const struct cs_code_hooks *hooks, struct cs_code *code)
{
	bool visible = !hooks || !hooks->upload || sees_all(vm_device(vm));
	uint8_t *placed = NULL;
	int r = image_allocate(vm, code, visible);

	if (!r)
		r = image_assemble(code, e, vm_device(vm)->chip, hooks, &placed);
	if (!r && visible)
		memcpy(code->mem->map, placed, e->span_B);
	else if (!r)
		r = hooks->upload(hooks->user, code->va, placed, e->span_B);
	if (!r && !visible)
		code->copy = placed;
	else
		free(placed);
	return r;
}

int cs_code_load(struct vm *vm, const void *image, size_t size_B, const struct cs_code_hooks *hooks,
		 struct cs_code **out)
{
	struct cs_code *code = NULL;
	struct cs_elf elf;
	int r = open_code(image, size_B, vm_device(vm)->chip, &elf, &code);

	if (r)
		return r;
	r = code_load(vm, &elf, hooks, code);
	cs_elf_close(&elf);
	if (r) {
		cs_code_unload(code);
		return r;
	}
	drv_log(DRV_LOG_CODE, "code object of %zu bytes at 0x%llx: %u kernels, %u variables", size_B,
		(unsigned long long)code->va, code->kernels, code->variables);
	*out = code;
	return 0;
}

void cs_code_unload(struct cs_code *code)
{
	if (!code)
		return;
	cs_code_drop_symbols(code);
	cs_meta_fini(&code->meta);
	vm_mem_destroy(code->mem);
	free(code->copy);
	free(code);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Finds a chip that runs code of that machine. */
static const struct drv_chip *chip_of(unsigned mach)
{
	const struct drv_chip *chip = drv_chip_by_mach(mach);

	for (unsigned i = 0; !chip && drv_chip_at(i); i++)
		if (drv_chip_at(i)->generic && drv_chip_at(i)->generic->elf_mach == mach)
			chip = drv_chip_at(i);
	return chip;
}

static int resolve_nothing(void *user, const char *name, uint64_t *va)
{
	(void)user;
	(void)name;
	*va = 0;
	return 0;
}

int cs_code_read(const void *image, size_t size_B, struct cs_code **out)
{
	static const struct cs_code_hooks hooks = {.resolve = resolve_nothing};
	const struct drv_chip *chip;
	struct cs_code *code = NULL;
	struct cs_elf elf;
	int r = open_code(image, size_B, NULL, &elf, &code);

	if (r)
		return r;
	chip = chip_of(elf.target.mach);
	r = chip ? image_assemble(code, &elf, chip, &hooks, &code->copy)
		 : drv_fail(-ENOEXEC, "a code object for an unknown chip (machine 0x%02x)", elf.target.mach);
	cs_elf_close(&elf);
	if (r)
		cs_code_unload(code);
	else
		*out = code;
	return r;
}

int cs_code_target(const void *image, size_t size_B, const struct drv_chip *chip, struct cs_target *target)
{
	struct cs_elf elf;
	int r = chip ? cs_bundle_pick(&image, &size_B, chip) : 0;

	if (!r)
		r = cs_elf_open(&elf, image, size_B, NULL);
	if (r)
		return r;
	*target = elf.target;
	cs_elf_close(&elf);
	return 0;
}

void cs_code_extent(const struct cs_code *code, uint64_t *va, uint64_t *size_B)
{
	*va = code->va;
	*size_B = code->span_B;
}

const void *cs_code_map(const struct cs_code *code, uint64_t va)
{
	const uint8_t *from = code->copy ? code->copy : code->mem->map;

	return va - code->va < code->span_B ? from + (va - code->va) : NULL;
}
