/* Code object images: valid ones of every target, and broken ones. Runs without a GPU: the loader's target is a
 * host buffer. */
#include "cs/elf.h"

#include <errno.h>
#include <stdlib.h>

#include "cs/code.h"
#include "shaders/blob.h"
#include "tests/check.h"
#include "tests/code/code.h"

static int take_note(void *user, const void *note, size_t size_B)
{
	return cs_meta_add(user, note, size_B);
}

/* Runs all steps of loading that need no GPU. */
static int parse(const void *image, size_t size_B, const char *target, struct cs_meta *meta)
{
	struct cs_elf elf;
	uint8_t *placed;
	int r = cs_bundle_pick(&image, &size_B, drv_chip_by_target(target));

	r = r ? r : cs_elf_open(&elf, image, size_B, drv_chip_by_target(target));
	if (r)
		return r;
	r = cs_elf_notes(&elf, take_note, meta);
	if (!r)
		cs_meta_sort(meta);
	placed = calloc(1, elf.span_B);
	if (!r && placed)
		r = cs_elf_place(&elf, placed, 0x10000, NULL);
	for (size_t i = 0; i < elf.syms; i++) {
		GElf_Sym sym;

		(void)!cs_elf_symbol(&elf, i, &sym);
	}
	free(placed);
	cs_elf_close(&elf);
	return r;
}

static void sound_objects_load(void)
{
	for (const struct shader_blob *b = shaders_blobs; b->target; b++) {
		struct cs_meta meta = {0};
		const struct cs_meta_kernel *k;

		CHECK_EQ(parse(b->image, b->size_B, b->target, &meta), 0);
		CHECK_EQ(meta.count, 6);
		k = cs_meta_find(&meta, "copy16.kd");
		CHECK(k && k->explicit_B == 24 && k->max_threads == 256);
		cs_meta_fini(&meta);
	}
}

/* Builds the output of `clang -x hip --offload-device-only` for two targets, with an empty entry for the host
 * first. */
static size_t make_bundle(uint8_t *to, const struct shader_blob *a, const struct shader_blob *b)
{
	static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
	/* The second is for the right chip, but requires a feature that the chip lacks. */
	const struct shader_blob *blobs[] = {NULL, a, a, b};
	static const char *const names[] = {"host-x86_64--", "hipv4-amdgcn-amd-amdhsa--gfx900",
					    "hipv4-amdgcn-amd-amdhsa--gfx908:xnack+",
					    "hipv4-amdgcn-amd-amdhsa--gfx908:sramecc+:xnack-"};
	uint64_t count = 4, at_B = 4096;
	uint8_t *p = to;

	memset(to, 0, at_B);
	memcpy(p, magic, sizeof(magic) - 1);
	memcpy(p + sizeof(magic) - 1, &count, sizeof(count));
	p += sizeof(magic) - 1 + sizeof(count);
	for (unsigned i = 0; i < count; i++) {
		uint64_t entry[3] = {at_B, blobs[i] ? blobs[i]->size_B : 0, strlen(names[i])};

		memcpy(p, entry, sizeof(entry));
		memcpy(p + sizeof(entry), names[i], entry[2]);
		p += sizeof(entry) + entry[2];
		if (blobs[i])
			memcpy(to + at_B, blobs[i]->image, blobs[i]->size_B);
		at_B += entry[1];
	}
	return at_B;
}

static void other_chips_are_refused(void)
{
	const struct shader_blob *b = shader_find(shaders_blobs, "blit.O3", "gfx900");
	struct cs_elf elf;

	CHECK_EQ(cs_elf_open(&elf, b->image, b->size_B, drv_chip_by_target("gfx90a")), -ENOEXEC);
	CHECK(strstr(drv_error_last()->text, "is for gfx900"));
	CHECK_EQ(cs_elf_open(&elf, "\177ELF", 4, drv_chip_by_target("gfx90a")), -ENOEXEC);
	CHECK_EQ(cs_elf_open(&elf, NULL, 0, drv_chip_by_target("gfx90a")), -ENOEXEC);
}

/* Marks a code object as clang does for --offload-arch=gfx9-generic: version 6 of the ABI, the generic machine, and
 * the version of the generic target in the highest byte. */
static uint8_t *make_generic(const struct shader_blob *b, unsigned mach, unsigned version)
{
	uint8_t *image = malloc(b->size_B);
	Elf64_Ehdr ehdr;

	memcpy(image, b->image, b->size_B);
	memcpy(&ehdr, image, sizeof(ehdr));
	ehdr.e_ident[EI_ABIVERSION] = 4;
	ehdr.e_flags = mach | version << 24;
	memcpy(image, &ehdr, sizeof(ehdr));
	return image;
}

static int open_generic(unsigned mach, unsigned version, const char *target)
{
	const struct shader_blob *b = shader_find(shaders_blobs, "blit.O3", "gfx900");
	uint8_t *image = make_generic(b, mach, version);
	struct cs_elf elf;
	int r = cs_elf_open(&elf, image, b->size_B, drv_chip_by_target(target));

	if (!r)
		cs_elf_close(&elf);
	free(image);
	return r;
}

static void generic_code_runs_on_the_chips_it_covers(void)
{
	CHECK_EQ(open_generic(0x51, 1, "gfx900"), 0);
	CHECK_EQ(open_generic(0x51, 1, "gfx906"), 0);
	CHECK_EQ(open_generic(0x51, 2, "gfx90c"), 0);
	CHECK_EQ(open_generic(0x5f, 1, "gfx942"), 0);
	CHECK_EQ(open_generic(0x54, 1, "gfx1153"), 0);
	CHECK_EQ(open_generic(0x51, 0, "gfx900"), -ENOEXEC);
	CHECK(strstr(drv_error_last()->text, "version 0 of gfx9-generic"));
	CHECK_EQ(open_generic(0x51, 1, "gfx908"), -ENOEXEC);
	CHECK(strstr(drv_error_last()->text, "is for gfx9-generic"));
	CHECK_EQ(open_generic(0x51, 1, "gfx942"), -ENOEXEC);
	CHECK_EQ(open_generic(0x52, 1, "gfx1030"), -ENOEXEC);
	CHECK_EQ(open_generic(0x53, 1, "gfx1010"), -ENOEXEC);
	CHECK_EQ(open_generic(0x59, 1, "gfx1100"), -ENOEXEC);
}

static bool fits(const char *made_for, const char *target)
{
	const struct shader_blob *b = shader_find(code_blobs, "variables.v5", made_for);
	struct cs_target t;

	return b && !cs_code_target(b->image, b->size_B, NULL, &t) && !strcmp(t.isa, made_for) && t.version == 5 &&
	       cs_target_fits(&t, drv_chip_by_target(target));
}

static void code_for_one_chip_runs_on_those_with_its_instructions(void)
{
	static const char *const same[] = {"gfx900", "gfx902", "gfx909", "gfx90c"};
	static const char *const other[] = {"gfx904", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030"};

	for (unsigned i = 0; i < 4; i++)
		CHECK(fits("gfx900", same[i]));
	for (unsigned i = 0; i < 6; i++)
		CHECK(!fits("gfx900", other[i]));
	CHECK(fits("gfx906", "gfx906") && !fits("gfx906", "gfx900") && !fits("gfx906", "gfx902"));
}

static void code_is_read_without_its_gpu(void)
{
	for (const struct shader_blob *b = code_blobs; b->target; b++) {
		bool variables = !strncmp(b->name, "variables", 9);
		const struct cs_variable *v;
		const struct cs_kernel *k;
		struct cs_code *code;
		uint64_t va, size_B;

		if (!CHECK_EQ(cs_code_read(b->image, b->size_B, &code), 0))
			continue;
		cs_code_extent(code, &va, &size_B);
		CHECK(!va && size_B);
		CHECK_EQ(cs_code_kernel(code, "bump", &k), variables ? 0 : -ENOENT);
		CHECK_EQ(cs_code_variable(code, "outside", &v), !strncmp(b->name, "outside", 7) ? 0 : -ENOENT);
		cs_code_unload(code);
	}
}

#define BASE    0x7f1200340000ull /* load address of the image */
#define OUTSIDE 0x7f1200345679ull /* address of the symbol that it does not define */

static int resolve_outside(void *user, const char *name, uint64_t *va)
{
	(void)user;
	*va = OUTSIDE;
	return strcmp(name, "outside") ? -ENOENT : 0;
}

/* Gives the first relocation, against "outside", that type; loads the image; reads the relocated value, 0xa5
 * before, and its offset in the image. */
static int place_as(unsigned type, int64_t addend, uint64_t *at, uint64_t *value)
{
	static const struct cs_code_hooks hooks = {.resolve = resolve_outside};
	const struct shader_blob *b = shader_find(code_blobs, "variables.v5", "gfx906");
	uint8_t *image = malloc(b->size_B), *placed;
	Elf64_Ehdr ehdr;
	Elf64_Shdr shdr = {0};
	Elf64_Rela rela;
	struct cs_elf elf;
	int r;

	memcpy(image, b->image, b->size_B);
	memcpy(&ehdr, image, sizeof(ehdr));
	for (unsigned i = 0; i < ehdr.e_shnum && shdr.sh_type != SHT_RELA; i++)
		memcpy(&shdr, image + ehdr.e_shoff + i * sizeof(shdr), sizeof(shdr));
	memcpy(&rela, image + shdr.sh_offset, sizeof(rela));
	*at = rela.r_offset;
	rela.r_info = ELF64_R_INFO(ELF64_R_SYM(rela.r_info), type);
	rela.r_addend = addend;
	memcpy(image + shdr.sh_offset, &rela, sizeof(rela));
	memset(image + shdr.sh_offset + sizeof(rela), 0, shdr.sh_size - sizeof(rela)); /* R_AMDGPU_NONE */
	r = cs_elf_open(&elf, image, b->size_B, NULL);
	placed = calloc(1, elf.span_B);
	r = r ? r : cs_elf_place(&elf, placed, BASE, &hooks);
	memcpy(value, placed + *at, sizeof(*value));
	free(placed);
	cs_elf_close(&elf);
	free(image);
	return r;
}

static void every_relocation_is_computed(void)
{
	uint64_t at, value;

	CHECK(!place_as(1, 4, &at, &value) && value == (uint32_t)(OUTSIDE + 4));             /* ABS32_LO */
	CHECK(!place_as(2, 4, &at, &value) && value == OUTSIDE >> 32);                       /* ABS32_HI */
	CHECK(!place_as(3, 4, &at, &value) && value == OUTSIDE + 4);                         /* ABS64 */
	CHECK(!place_as(4, 4, &at, &value) && value == (uint32_t)(OUTSIDE + 4 - BASE - at)); /* REL32 */
	CHECK(!place_as(5, -8, &at, &value) && value == OUTSIDE - 8 - BASE - at);            /* REL64 */
	CHECK(!place_as(6, 0, &at, &value) && value == (uint32_t)OUTSIDE);                   /* ABS32 */
	CHECK(!place_as(10, 0, &at, &value) && value == (uint32_t)(OUTSIDE - BASE - at));    /* REL32_LO */
	CHECK(!place_as(11, 0, &at, &value) && value == (OUTSIDE - BASE - at) >> 32);        /* REL32_HI */
	CHECK(!place_as(13, 96, &at, &value) && value == BASE + 96);                         /* RELATIVE64 */
	/* REL16: dwords from the instruction after the branch, 64 bytes ahead; and too far away */
	CHECK(!place_as(14, (int64_t)(BASE + at + 64 - OUTSIDE), &at, &value) && value == 15);
	CHECK_EQ(place_as(14, 1 << 20, &at, &value), -ENOEXEC);
	for (unsigned type = 7; type <= 9; type++) /* GOTPCREL: left to the linker */
		CHECK_EQ(place_as(type, 0, &at, &value), -ENOTSUP);
	CHECK_EQ(place_as(15, 0, &at, &value), -ENOTSUP);
}

/* A bundle of two entries; the image of each is one byte long and is its number. */
static const void *picked(const char *first, const char *second, const char *target)
{
	static uint8_t bundle[512];
	const char *const names[] = {first, second};
	uint64_t count = 2;
	const void *image = bundle;
	size_t size_B = sizeof(bundle);
	uint8_t *p = bundle;

	memset(bundle, 0, sizeof(bundle));
	memcpy(p, "__CLANG_OFFLOAD_BUNDLE__", 24);
	memcpy(p + 24, &count, sizeof(count));
	p += 32;
	for (unsigned i = 0; i < count; i++) {
		uint64_t entry[3] = {500 + i, 1, strlen(names[i])};

		memcpy(p, entry, sizeof(entry));
		memcpy(p + sizeof(entry), names[i], entry[2]);
		p += sizeof(entry) + entry[2];
		bundle[500 + i] = (uint8_t)(i + 1);
	}
	return cs_bundle_pick(&image, &size_B, drv_chip_by_target(target)) ? NULL : image;
}

static void a_bundle_prefers_the_chip_to_its_generic_target(void)
{
	static const char generic[] = "hipv4-amdgcn-amd-amdhsa--gfx9-generic:xnack-";
	static const char own[] = "hipv4-amdgcn-amd-amdhsa--gfx906";
	const uint8_t *image = picked(generic, own, "gfx906");

	if (CHECK(image))
		CHECK_EQ(*image, 2);
	image = picked(own, generic, "gfx900");
	if (CHECK(image))
		CHECK_EQ(*image, 2);
	CHECK(!picked(own, generic, "gfx908"));
	/* "gfx9-generic" must not be found in another generic target's name, nor the reverse */
	CHECK(!picked("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", own, "gfx900"));
	CHECK(!picked(generic, own, "gfx942"));
}

static void target_ids_are_in_order(void)
{
	const struct drv_chip *chip = drv_chip_by_target("gfx90a");
	char id[CS_TARGET_ID_B], last[CS_TARGET_ID_B] = "";
	unsigned count = 0;

	CHECK(cs_target_id(chip, 0, id, sizeof(id)) && !strncmp(id, "gfx90a:", 7));
	while (cs_target_id(chip, count, id, sizeof(id))) {
		CHECK(!strstr(id, "xnack+")); /* DRM queues never resolve a fault */
		strcpy(last, id);
		count++;
	}
	CHECK(!strcmp(last, "gfx90a") && count > 1);
	chip = drv_chip_by_target("gfx1031");
	for (count = 0; cs_target_id(chip, count, id, sizeof(id)); count++)
		strcpy(last, id);
	CHECK(!strcmp(last, "gfx1030"));
}

static void bundles_are_searched(const uint8_t *bundle, size_t bundle_B, const struct shader_blob *b)
{
	const void *image = bundle;
	size_t size_B = bundle_B;

	CHECK_EQ(cs_bundle_pick(&image, &size_B, drv_chip_by_target("gfx908")), 0);
	CHECK_EQ(size_B, b->size_B);
	CHECK(!memcmp(image, b->image, b->size_B));
	image = bundle;
	size_B = bundle_B;
	CHECK_EQ(cs_bundle_pick(&image, &size_B, drv_chip_by_target("gfx90a")), -ENOEXEC);
	CHECK(strstr(drv_error_last()->text, "no code object for gfx90a"));
	CHECK_EQ(cs_bundle_pick(&(const void *){"CCOB...."}, &(size_t){8}, drv_chip_by_target("gfx900")), -ENOTSUP);
}

static void truncation_is_an_error_at_every_length(const uint8_t *image, size_t size_B)
{
	uint8_t *copy;

	for (size_t n = 0; n < size_B; n += n < 4096 ? 1 : 61) {
		struct cs_meta meta = {0};

		/* A buffer of the exact size, so that a sanitizer sees the first byte too far. */
		copy = malloc(n ? n : 1);
		memcpy(copy, image, n);
		(void)!parse(copy, n, "gfx908", &meta);
		cs_meta_fini(&meta);
		free(copy);
	}
	CHECK(1);
}

/* Replaces any byte or word by a random value. The result may be an error or not, but no read or write may leave
 * the buffers. */
static void damage_is_survived(const uint8_t *image, size_t size_B)
{
	static const uint64_t evil[] = {0, 1, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, ~0ull, 0x40000000};
	uint8_t *copy = malloc(size_B);
	uint32_t seed = 7;
	unsigned refused = 0, rounds = 20000;

	for (unsigned i = 0; i < rounds; i++) {
		struct cs_meta meta = {0};
		size_t at;

		memcpy(copy, image, size_B);
		for (unsigned hits = 1 + i % 3; hits; hits--) {
			seed = seed * 1664525 + 1013904223;
			/* Mostly headers and tables, which are at the front. */
			at = (seed >> 8) % (i % 4 ? 2048 : size_B - 8);
			if (seed & 1)
				copy[at] ^= 1 << (seed >> 1 & 7);
			else
				memcpy(copy + at, &evil[(seed >> 1) % 7], 1 << (seed >> 4) % 4);
		}
		refused += !!parse(copy, size_B, "gfx908", &meta);
		cs_meta_fini(&meta);
	}
	CHECK(refused > rounds / 50);
	free(copy);
}

static void metadata_that_lies_is_refused(void)
{
	/* {"amdhsa.kernels": [{".symbol": "a", ".kernarg_segment_size": 8, ".args": [{".offset": 4, ".size": 8,
	 * ".value_kind": "by_value"}]}]}: the argument ends after the segment. */
	static const char beyond[] =
		"\x81\xae"
		"amdhsa.kernels\x91\x83\xa7.symbol\xa1"
		"a\xb5.kernarg_segment_size\x08\xa5.args\x91\x83\xa7.offset\x04\xa5.size\x08\xab"
		".value_kind\xa8"
		"by_value";
	/* The same with a hidden argument at 0 before one at 8: users of hidden arguments count from the end of all
	 * others. */
	static const char hidden_first[] = "\x81\xae"
					   "amdhsa.kernels\x91\x83\xa7.symbol\xa1"
					   "a\xb5.kernarg_segment_size\x18\xa5.args\x92"
					   "\x83\xa7.offset\x00\xa5.size\x04\xab"
					   ".value_kind\xb4"
					   "hidden_block_count_x"
					   "\x83\xa7.offset\x08\xa5.size\x08\xab"
					   ".value_kind\xa8"
					   "by_value";
	/* {"amdhsa.kernels": [{".symbol": "a", ".sgpr_count": 0xfffffff8}]} */
	static const char registers[] = "\x81\xae"
					"amdhsa.kernels\x91\x82\xa7.symbol\xa1"
					"a\xab"
					".sgpr_count\xce\xff\xff\xff\xf8";
	static const char array_of_4g[] = "\xdd\xff\xff\xff\xff\x01\x02";
	static const char not_a_map[] = "\x93\x01\x02\x03";
	struct cs_meta meta = {0};

	CHECK_EQ(cs_meta_add(&meta, beyond, sizeof(beyond) - 1), -ENOEXEC);
	CHECK_EQ(cs_meta_add(&meta, hidden_first, sizeof(hidden_first) - 1), -ENOEXEC);
	CHECK_EQ(cs_meta_add(&meta, registers, sizeof(registers) - 1), -ENOEXEC);
	CHECK_EQ(cs_meta_add(&meta, array_of_4g, sizeof(array_of_4g) - 1), -ENOEXEC);
	CHECK_EQ(cs_meta_add(&meta, not_a_map, sizeof(not_a_map) - 1), -ENOEXEC);
	CHECK_EQ(cs_meta_add(&meta, "", 0), -ENOEXEC);
	cs_meta_fini(&meta);
}

/* The bytes of a kernel's descriptor in the image. */
static uint8_t *descriptor_find(uint8_t *image, size_t size_B, const char *symbol)
{
	struct cs_elf elf;
	uint64_t at = 0;
	GElf_Sym sym;
	GElf_Phdr p;

	CHECK_EQ(cs_elf_open(&elf, image, size_B, NULL), 0);
	for (size_t i = 0; i < elf.syms; i++) {
		const char *name = cs_elf_symbol(&elf, i, &sym);

		at = name && !strcmp(name, symbol) ? sym.st_value : at;
	}
	for (size_t i = 0; i < elf.segments; i++)
		if (gelf_getphdr(elf.elf, (int)i, &p) && p.p_type == PT_LOAD && at - p.p_vaddr < p.p_filesz)
			break;
	cs_elf_close(&elf);
	return image + p.p_offset + (at - p.p_vaddr);
}

static int read_with(uint8_t *image, size_t size_B, uint8_t *descriptor, unsigned sgprs, uint16_t properties)
{
	struct cs_code *code;
	uint32_t rsrc2;
	int r;

	memcpy(&rsrc2, descriptor + 52, sizeof(rsrc2));
	rsrc2 = (rsrc2 & ~0x3eu) | sgprs << 1;
	memcpy(descriptor + 52, &rsrc2, sizeof(rsrc2));
	memcpy(descriptor + 56, &properties, sizeof(properties));
	r = cs_code_read(image, size_B, &code);
	if (!r)
		cs_code_unload(code);
	return r;
}

/* A dispatch writes the values behind one another into a row of registers that has room for the declared ones. */
static void descriptors_declare_the_sgprs_that_they_require(const struct shader_blob *b)
{
	uint8_t *image = malloc(b->size_B), *descriptor;

	memcpy(image, b->image, b->size_B);
	descriptor = descriptor_find(image, b->size_B, "copy16.kd");
	CHECK_EQ(read_with(image, b->size_B, descriptor, 2, 1 << 3), 0);
	CHECK_EQ(read_with(image, b->size_B, descriptor, 1, 1 << 3), -ENOEXEC);
	CHECK_EQ(read_with(image, b->size_B, descriptor, 0, 1 << 6), -ENOEXEC);
	CHECK_EQ(read_with(image, b->size_B, descriptor, 15, 0x7f), 0);
	CHECK_EQ(read_with(image, b->size_B, descriptor, 14, 0x7f), -ENOEXEC);
	free(image);
}

int main(void)
{
	const struct shader_blob *other = shader_find(shaders_blobs, "blit.O3", "gfx900");
	const struct shader_blob *b = shader_find(shaders_blobs, "blit.O3", "gfx908");
	uint8_t *bundle = malloc(4096 + 2 * other->size_B + b->size_B);
	size_t bundle_B = make_bundle(bundle, other, b);

	sound_objects_load();
	other_chips_are_refused();
	generic_code_runs_on_the_chips_it_covers();
	code_for_one_chip_runs_on_those_with_its_instructions();
	code_is_read_without_its_gpu();
	every_relocation_is_computed();
	a_bundle_prefers_the_chip_to_its_generic_target();
	target_ids_are_in_order();
	bundles_are_searched(bundle, bundle_B, b);
	metadata_that_lies_is_refused();
	descriptors_declare_the_sgprs_that_they_require(b);
	truncation_is_an_error_at_every_length(b->image, b->size_B);
	damage_is_survived(b->image, b->size_B);
	truncation_is_an_error_at_every_length(bundle, bundle_B);
	damage_is_survived(bundle, bundle_B);
	free(bundle);
	return check_done("code object images");
}
