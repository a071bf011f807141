/* Every number of every encoding of every chip, with several operand patterns: LLVM's disassembler, where
 * installed, and ours must agree on what is an instruction, on its name, its length and, where our syntax is
 * LLVM's, its operands.
 */
#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"
#include "vgpu/isa/decode/decode.h"

#define TOOL "llvm-mc-19"

/* One asked-for instruction. */
struct probe {
	uint32_t code[3];
	unsigned words;
};

static struct probe probes[60000];
static unsigned probe_count;

static void add(uint32_t w0, uint32_t w1, unsigned words)
{
	probes[probe_count++] = (struct probe){{w0, w1, 0x12345678}, words};
}

/* Operands: even registers, so that gfx90a's alignment rule holds; VGPRs 2, 4, 8 as sources, 6 or 32 as result. */
static void scalar_probes(void)
{
	for (uint32_t n = 0; n < 96; n++)
		add(2u << 30 | n << 23 | 32 << 16 | 16 << 8 | 8, 0, 1);
	for (uint32_t n = 0; n < 28; n++)
		add(0xbu << 28 | n << 23 | 32 << 16 | 0x1234, 0x55, n == 20 ? 2 : 1);
	for (uint32_t n = 0; n < 256; n++) {
		add(0x17du << 23 | 32 << 16 | n << 8 | 8, 0, 1);
		if (n != 0x1c) /* s_getpc has no source that could be a literal */
			add(0x17du << 23 | 106 << 16 | n << 8 | 255, 0x80000001, 2);
		add(0x17du << 23 | n << 8, 0, 1);
	}
	for (uint32_t n = 0; n < 128; n++) {
		add(0x17eu << 23 | n << 16 | 16 << 8 | 8, 0, 1);
		add(0x17eu << 23 | n << 16 | 193 << 8 | 126, 0, 1);
		add(0x17fu << 23 | n << 16, 0, 1);
		add(0x17fu << 23 | n << 16 | 2, 0, 1);
	}
}

static bool has_literal(uint32_t vop2)
{
	return vop2 == 0x17 || vop2 == 0x18 || vop2 == 0x24 || vop2 == 0x25;
}

static void vector_probes(void)
{
	static const uint32_t src0[] = {256 + 2, 10, 129, 242, 106};

	for (uint32_t k = 0; k < 5; k++) {
		for (uint32_t n = 0; n < 62; n++)
			add(n << 25 | 6 << 17 | 4 << 9 | src0[k], 0x12345678, has_literal(n) ? 2 : 1);
		for (uint32_t n = 0; n < 256; n++) {
			add(0x3fu << 25 | 6 << 17 | n << 9 | src0[k], 0, 1);
			add(0x3eu << 25 | n << 17 | 4 << 9 | src0[k], 0, 1);
		}
	}
	for (uint32_t n = 0; n < 256; n++) { /* literals, SDWA, DPP */
		add(0x3fu << 25 | 6 << 17 | n << 9 | 255, 0x12345678, 2);
		add(0x3fu << 25 | 6 << 17 | n << 9 | 249, 0x00061505, 2);
		add(0x3fu << 25 | 6 << 17 | n << 9 | 250, 0xff00e402, 2);
		add(0x3eu << 25 | n << 17 | 4 << 9 | 249, 0x06050002, 2);
	}
	for (uint32_t n = 0; n < 1024; n++) {
		uint32_t w = 0x34u << 26 | n << 16;

		add(w | 6, 258 | 260 << 9 | 264 << 18, 2);
		add(w | 6, 258 | 260 << 9, 2);
		add(w | 6, 258, 2);
		add(w | 6, 258 | 10 << 9, 2);
		add(w | 20 << 8 | 6, 258 | 260 << 9 | 264 << 18, 2);
		add(w | 20 << 8 | 6, 258 | 260 << 9 | 30 << 18, 2);
		add(w | 6, 10 | 129 << 9 | 264 << 18, 2);
		add(w | 6 | 1 << 8, 258 | 260 << 9 | 264 << 18 | 1u << 30, 2);
		add(w | 0x8006, 258 | 260 << 9 | 264 << 18 | 1u << 27, 2);
		add(w, 0, 2);
	}
	for (uint32_t n = 0; n < 128; n++) {
		uint32_t w = 0x1a7u << 23 | n << 16;

		add(w | 6 | 1 << 14, 258 | 260 << 9 | 264 << 18 | 3 << 27, 2);
		add(w | 6, 258 | 260 << 9 | 264 << 18, 2);
		add(w | 6 | 1 << 14, 258 | 260 << 9 | 3 << 27, 2);
		add(w | 32, 258 | 260 << 9 | (256 + 64) << 18, 2);
		add(w | 32, 258 | 1 << 27, 2);
		add(w | 32, 258, 2);
	}
}

static void memory_probes(void)
{
	for (uint32_t n = 0; n < 256; n++) {
		uint32_t s = 0x30u << 26 | n << 18, d = 0x36u << 26 | n << 17;

		add(s | 1 << 17 | 16 << 6 | 4, 0x40, 2);
		add(s | 1 << 16 | 1 << 17 | 16 << 6 | 4, 0x40, 2);
		add(s | 16 << 6 | 4, 30, 2);
		add(s, 0, 2);
		for (uint32_t gds = 0; gds < 2; gds++) {
			add(d | gds << 16 | 0x0102, 8u << 24 | 6 << 16 | 4 << 8 | 2, 2);
			add(d | gds << 16 | 2, 8u << 24 | 4 << 8 | 2, 2);
			add(d | gds << 16 | 2, 8u << 24 | 2, 2);
			add(d | gds << 16 | 2, 4 << 8 | 2, 2);
			add(d | gds << 16 | 2, 6 << 16 | 4 << 8 | 2, 2);
			add(d | gds << 16 | 2, 2, 2);
			add(d | gds << 16 | 2, 8u << 24, 2);
			add(d | gds << 16, 0, 2);
		}
	}
	for (uint32_t n = 0; n < 128; n++) {
		for (uint32_t glc = 0; glc < 2; glc++) {
			uint32_t f = 0x37u << 26 | n << 18 | glc << 16 | 8, m = 0x38u << 26 | n << 18 | glc << 14;

			add(f, 8u << 24 | 4 << 8 | 2, 2);
			add(f, 8u << 24 | 2, 2);
			add(f, 4 << 8 | 2, 2);
			for (uint32_t seg = 1; seg < 3; seg++) {
				add(f | seg << 14, 8u << 24 | 0x7f << 16 | 4 << 8 | 2, 2);
				add(f | seg << 14 | 0x1ff0, 8u << 24 | 20 << 16 | 4 << 8 | 2, 2);
				/* Bits of gfx942: SVE, nt, sc1. */
				add(f | seg << 14 | 0x2000, 8u << 24 | 20 << 16 | 4 << 8 | 2, 2);
				add(f | seg << 14 | 1 << 25 | 1 << 17, 8u << 24 | 0x7f << 16 | 4 << 8 | 2, 2);
			}
			add(m | 1 << 12 | 8, 16u << 24 | 2 << 16 | 4 << 8 | 2, 2);
			add(m | 3 << 12 | 8, 128u << 24 | 2 << 16 | 4 << 8 | 2, 2);
			add(m | 9, 16u << 24 | 2 << 16 | 4 << 8, 2);
		}
		add(0x38u << 26 | n << 18, 0x80u << 24, 2);
		add(0x3cu << 26 | n << 18 | 1 << 8 | 1 << 12, 2 << 16 | 4 << 8 | 2 | 4 << 21, 2);
	}
	for (uint32_t n = 0; n < 16; n++)
		add(0x3au << 26 | 4 << 23 | 4 << 19 | n << 15 | 1 << 12 | 8, 16u << 24 | 2 << 16 | 4 << 8 | 2, 2);
}

/* --- asking LLVM --- */

/* Line numbers of the probes that the tool complains about: "file:LINE:COLUMN: warning: invalid ...". */
static void read_refused(const char *path, bool *refused)
{
	char line[512];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');
		unsigned long n = colon ? strtoul(colon + 1, NULL, 10) : 0;

		if (n && n <= probe_count && (strstr(line, ": warning:") || strstr(line, ": error:")))
			refused[n - 1] = true;
	}
	if (f)
		fclose(f);
}

static void write_probes(FILE *f)
{
	for (unsigned p = 0; p < probe_count; p++) {
		for (unsigned b = 0; b < probes[p].words * 4; b++)
			fprintf(f, "%s0x%02x", b ? "," : "[", probes[p].code[b / 4] >> b % 4 * 8 & 255);
		fputs("]\n", f);
	}
}

/* The text of an output line without directives' and comments' clutter; false: no instruction. */
static bool instruction_text(char *line, char *out, size_t out_B)
{
	char *text = line + strspn(line, " \t");
	size_t len = strcspn(text, "\n;");

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	snprintf(out, out_B, "%.*s", (int)len, text);
	return len && text[0] != '.';
}

/* Runs the tool over all probes; fills answer[n] with its line, or leaves it empty where it refused. */
static bool ask(const char *chip, char (*answer)[128])
{
	char in[] = "/tmp/isa_decode_XXXXXX", err[64], command[256], line[256], text[128];
	static bool refused[sizeof(probes) / sizeof(probes[0])];
	int fd = mkstemp(in);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	unsigned n = 0;

	if (!f)
		return false;
	write_probes(f);
	fclose(f);
	snprintf(err, sizeof(err), "%s.err", in);
	snprintf(command, sizeof(command), TOOL " --disassemble --triple=amdgcn --mcpu=%s %s 2>%s >%s.out", chip,
		 in, err, in);
	if (system(command) > 1 << 8) /* 1: it refused some */
		printf("%s: " TOOL " crashed\n", chip);
	memset(refused, 0, sizeof(refused));
	read_refused(err, refused);
	memset(answer, 0, sizeof(*answer) * probe_count);
	snprintf(command, sizeof(command), "%s.out", in);
	f = fopen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (!instruction_text(line, text, sizeof(text)))
			continue;
		while (n < probe_count && refused[n])
			n++;
		if (n < probe_count)
			memcpy(answer[n++], text, sizeof(text));
	}
	while (n < probe_count && refused[n])
		n++;
	if (f)
		fclose(f);
	unlink(command);
	unlink(err);
	unlink(in);
	return n == probe_count;
}

/* --- comparing --- */

/* "v_add_f32_e32 v1, v2, v3" to "v_add_f32 v1, v2, v3". */
static void strip_suffix(char *text)
{
	static const char *const suffix[] = {"_e32", "_e64", "_sdwa", "_dpp"};
	size_t name = strcspn(text, " ");

	for (unsigned n = 0; n < 4; n++) {
		size_t len = strlen(suffix[n]);

		if (name > len && !strncmp(text + name - len, suffix[n], len)) {
			memmove(text + name - len, text + name, strlen(text + name) + 1);
			return;
		}
	}
}

/* Encodings whose operands we spell as LLVM does. */
static bool same_syntax(const struct isa_inst *i, const char *llvm)
{
	if (i->enc == ISA_SOPP || i->enc == ISA_SOPK || i->enc == ISA_MTBUF || i->enc >= ISA_MIMG)
		return false;
	if (strstr(llvm, "_sdwa") || strstr(llvm, "_dpp") || strstr(llvm, "swizzle") || strstr(llvm, "gpr_idx"))
		return false;
	return !(i->enc >= ISA_VOP1 && i->enc <= ISA_VOP3P) || !(i->valu.is_sdwa || i->valu.is_dpp);
}

struct score {
	unsigned names, texts, texts_same, unknown;
};

static void compare(enum vgpu_gfx gfx, const struct probe *p, char *llvm, struct score *score)
{
	struct isa_decoder dec = isa_decoder_any(gfx);
	struct isa_inst inst;
	const char *why;
	char ours[256], full[128];
	unsigned used = isa_decode(&dec, p->code, p->words, 0, &inst, &why);

	/* Interpolation is graphics: the VOP3 forms are not in our table. */
	if (!llvm[0] || strstr(llvm, "/*Invalid") || !strncmp(llvm, "v_interp", 8)) {
		score->unknown++;
		return;
	}
	snprintf(full, sizeof(full), "%s", llvm);
	strip_suffix(llvm);
	isa_disassemble(gfx, p->code, p->words, 0, ours, sizeof(ours));
	if (used != p->words || strncmp(ours, llvm, strcspn(llvm, " ")) ||
	    strcspn(ours, " ") != strcspn(llvm, " ")) {
		printf("%08x %08x: LLVM \"%s\", we \"%s\", %u of %u dwords\n", p->code[0], p->code[1], llvm, ours,
		       used, p->words);
		CHECK(!"the same instruction");
		return;
	}
	score->names++;
	if (!same_syntax(&inst, full))
		return;
	score->texts++;
	if (!strcmp(ours, llvm))
		score->texts_same++;
	else if (getenv("ISA_TEST_VERBOSE"))
		printf("%08x %08x: LLVM \"%s\", we \"%s\"\n", p->code[0], p->code[1], llvm, ours);
}

/* Whatever the words, decoding ends, stays inside them, and names registers that were granted. */
static void random_words_are_safe(void)
{
	uint64_t seed = 1;

	for (unsigned n = 0; n < 2000000; n++) {
		struct isa_decoder dec = {(enum vgpu_gfx)(n % VGPU_GFX_LATER), 24, 32, 24, 8};
		uint32_t code[3];
		struct isa_inst inst;
		const char *why;
		char text[64];
		unsigned words = 1 + n % 3, used;

		for (unsigned k = 0; k < 3; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			code[k] = (uint32_t)(seed >> 32);
		}
		used = isa_decode(&dec, code, words, 0, &inst, &why);
		if (used > words || (!used && !why) ||
		    isa_disassemble(dec.gfx, code, words, 0, text, sizeof(text)) > words)
			CHECK(!"inside the words");
		if (used && inst.enc >= ISA_VOP1 && inst.enc <= ISA_VOP3P)
			for (unsigned s = 0; s < 3; s++)
				if (inst.valu.kind[s] == ISA_FROM_ROW && inst.valu.row[s] >= 32)
					CHECK(!"a granted register");
	}
	CHECK(1);
}

int main(void)
{
	static const char *const chips[] = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"};
	static char answer[sizeof(probes) / sizeof(probes[0])][128];

	random_words_are_safe();
	scalar_probes();
	vector_probes();
	memory_probes();
	if (system("command -v " TOOL " >/dev/null 2>&1")) {
		printf("the comparison is skipped: " TOOL " is not installed\n");
		return check_done("decoding");
	}
	for (unsigned gfx = 0; gfx < VGPU_GFX_LATER; gfx++) {
		struct score score = {0};

		if (!CHECK(ask(chips[gfx], answer)))
			continue;
		for (unsigned p = 0; p < probe_count; p++)
			compare((enum vgpu_gfx)gfx, &probes[p], answer[p], &score);
		printf("%s: %u instructions agree, %u of %u texts, %u refused by LLVM\n", chips[gfx], score.names,
		       score.texts_same, score.texts, score.unknown);
		CHECK(score.names > 5000);
		CHECK(score.texts_same * 100 > score.texts * 90);
	}
	return check_done("decoding against LLVM");
}
