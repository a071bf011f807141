/* For tests: words that are compared, decoded by us and by LLVM's disassembler. */
#ifndef VGPU_ISA_DECODE_TEST_LLVM_H
#define VGPU_ISA_DECODE_TEST_LLVM_H

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

static struct probe probes[80000];
static unsigned probe_count;

static inline void add3(uint32_t w0, uint32_t w1, uint32_t w2, unsigned words)
{
	if (probe_count < sizeof(probes) / sizeof(probes[0]))
		probes[probe_count++] = (struct probe){{w0, w1, w2}, words};
	else
		CHECK(!"room for the probe");
}

static inline void add(uint32_t w0, uint32_t w1, unsigned words)
{
	add3(w0, w1, 0x12345678, words);
}

/* --- asking LLVM --- */

/* Follows each probe, so that answers are found whatever the tool makes of it. */
#define MARKER       "[0x5a,0x5a,0x80,0xbf]"
#define MARKER_TEXT  "s_nop 0x5a5a"
#define ANSWER_SHORT '+' /* before an answer: it has fewer words than the probe */

static inline void write_probes(FILE *f)
{
	for (unsigned p = 0; p < probe_count; p++) {
		for (unsigned b = 0; b < probes[p].words * 4; b++)
			fprintf(f, "%s0x%02x", b ? "," : "[", probes[p].code[b / 4] >> b % 4 * 8 & 255);
		fputs("]\n" MARKER "\n", f);
	}
}

/* The text of an output line without directives' and comments' clutter; false: no instruction. */
static inline bool instruction_text(char *line, char *out, size_t out_B)
{
	char *text = line + strspn(line, " \t");
	size_t len = strcspn(text, "\n;");

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	snprintf(out, out_B, "%.*s", (int)len, text);
	for (char *at = out; (at = strstr(at, "  "));) /* behind the names of some image instructions */
		memmove(at, at + 1, strlen(at));
	return len && text[0] != '.';
}

/* Fills the answers of all probes; returns how many. */
static inline unsigned read_answers(FILE *f, char (*answer)[128])
{
	char line[256], text[127];
	unsigned n = 0;

	while (n < probe_count && fgets(line, sizeof(line), f)) {
		if (!instruction_text(line, text, sizeof(text)))
			continue;
		if (!strcmp(text, MARKER_TEXT))
			n++;
		else if (answer[n][0])
			answer[n][0] = ANSWER_SHORT;
		else
			snprintf(answer[n], sizeof(answer[n]), " %s", text);
	}
	return n;
}

/* Runs the tool over all probes; answer[n] is a blank or ANSWER_SHORT and the first line, or empty where it refused.
 */
static inline bool ask(const char *chip, char (*answer)[128])
{
	char in[] = "/tmp/isa_decode_XXXXXX", command[256];
	int fd = mkstemp(in);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	unsigned answers = 0;

	if (!f)
		return false;
	write_probes(f);
	fclose(f);
	memset(answer, 0, sizeof(*answer) * probe_count);
	snprintf(command, sizeof(command), TOOL " --disassemble --triple=amdgcn --mcpu=%s%s %s 2>/dev/null", chip,
		 strncmp(chip, "gfx9", 4) ? " --mattr=+wavefrontsize64" : "", in);
	f = popen(command, "r");
	if (f) {
		answers = read_answers(f, answer);
		pclose(f);
	}
	unlink(in);
	return answers == probe_count;
}

/* --- comparing --- */

/* "v_add_f32_e64_dpp v1, v2, v3" to "v_add_f32 v1, v2, v3". */
static inline void strip_suffix(char *text)
{
	static const char *const suffix[] = {"_dpp", "_sdwa", "_e32", "_e64"};

	for (unsigned n = 0; n < 4; n++) {
		size_t name = strcspn(text, " "), len = strlen(suffix[n]);

		if (name > len && !strncmp(text + name - len, suffix[n], len))
			memmove(text + name - len, text + name, strlen(text + name) + 1);
	}
}

/* Interpolation is graphics: the VOP3 forms are not in our table, nor are rays. v_swap takes a VGPR, and
 * LLVM prints whatever stands there. */
static inline bool is_compared(const char *llvm, unsigned used)
{
	if (!llvm[0] || strstr(llvm, "/*Invalid") || !strncmp(llvm, "v_interp", 8))
		return false;
	if (!strncmp(llvm, "image_bvh", 9))
		return false;
	return used || strncmp(llvm, "v_swap", 6) || !strstr(llvm, "null");
}

/* Encodings whose operands we spell as LLVM does. */
static inline bool same_syntax(const struct isa_inst *i, const char *llvm)
{
	if (i->enc == ISA_SOPP || i->enc == ISA_SOPK || i->enc == ISA_MTBUF || i->enc > ISA_MIMG)
		return false;
	if (strstr(llvm, "_sdwa") || strstr(llvm, "_dpp") || strstr(llvm, "swizzle") || strstr(llvm, "gpr_idx"))
		return false;
	return !(i->enc >= ISA_VOP1 && i->enc <= ISA_VOP3P) || !(i->valu.is_sdwa || i->valu.is_dpp);
}

struct score {
	unsigned names, texts, texts_same, unknown;
};

static inline void compare(enum vgpu_gfx gfx, const struct probe *p, char *llvm, struct score *score)
{
	struct isa_decoder dec = isa_decoder_any(gfx);
	struct isa_inst inst;
	const char *why;
	char ours[256], full[128];
	unsigned used = isa_decode(&dec, p->code, p->words, 0, &inst, &why);
	bool is_short = llvm[0] == ANSWER_SHORT;

	if (llvm[0])
		llvm++;
	if (!is_compared(llvm, used)) {
		score->unknown++;
		return;
	}
	snprintf(full, sizeof(full), "%s", llvm);
	strip_suffix(llvm);
	isa_disassemble(gfx, p->code, p->words, 0, ours, sizeof(ours));
	if ((is_short ? !used || used >= p->words : used != p->words) || strncmp(ours, llvm, strcspn(llvm, " ")) ||
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
}

/* Compares all probes for a chip; texts_percent of those that we spell as LLVM must be the same. */
static inline void compare_chip(enum vgpu_gfx gfx, const char *chip, unsigned names, unsigned texts_percent)
{
	static char answer[sizeof(probes) / sizeof(probes[0])][128];
	struct score score = {0};

	if (!CHECK(ask(chip, answer)))
		return;
	for (unsigned p = 0; p < probe_count; p++)
		compare(gfx, &probes[p], answer[p], &score);
	printf("%s: %u instructions agree, %u of %u texts, %u refused by LLVM\n", chip, score.names,
	       score.texts_same, score.texts, score.unknown);
	CHECK(score.names > names);
	CHECK(score.texts_same * 100 > score.texts * texts_percent);
}

#endif
