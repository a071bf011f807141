/* Words that are no instructions: a wave stops there, in every state, and says why (test_wave.h has the registers). */
#include <pthread.h>
#include <stdatomic.h>

#include "vgpu/isa/test_later.h"

#define INDEX_ON 0xbf118f80u /* s_set_gpr_idx_on 0, 15 */
#define END      0xbf810000u

static const struct {
	const char *name, *why;
	uint32_t code[3];
	const char *only; /* chip */
} cases[] = {
	{"an opcode that nobody has", "no instruction of this chip", {0xbe80ff00}},
	{"a VOP1 opcode that nobody has", "no instruction of this chip", {0x7e01fe00}},
	/* Chips that lack it refuse it otherwise. */
	{"v_screen_partition_4se_b32", "", {0x7e006f00}},
	{"ds_add_src2_u32", "", {0xd9000000, 0x00000001}},
	{"v_readfirstlane into what is no SGPR", "no register", {0x7f000500}},
	{"v_readlane into what is no SGPR", "no register", {0xd28900ff, 0x00010100}},
	{"a compare into what is no SGPR", "no register", {0xd0ca00fe, 0x00020100}},
	{"a compare that runs over EXEC", "runs over the last one", {0xd0ca007f, 0x00020100}},
	{"a carry that is a VGPR", "no SGPR pair", {0xd11c6a05, 0x05fe0100}}, /* v_addc_co_u32 */
	{"a literal that the code ends before", "the code ends", {0xbe8000ff}},
	/* v_mfma_f64_16x16x4f64, which adds pairs: an aperture is one dword, and src_pops_exiting_wave_id nothing. */
	{"a matrix that is added to an aperture", "inline constants only", {0xd3ee0000, 0x03ae0500}, "gfx90a"},
	{"a matrix that is added to a wave's number", "inline constants only", {0xd3ee0000, 0x03be0500}, "gfx90a"},
};

/* At the end of the code, so that nothing follows. */
static void refuse(unsigned n, bool indexed)
{
	struct isa_wave *w = &test.wave;
	uint64_t at = CODE + 65536;
	char why[512];
	unsigned dw = cases[n].code[1] ? 2 : 1;

	at -= 4 * dw;
	memcpy(test.code + (at - CODE), cases[n].code, 4 * dw);
	at -= 4;
	memcpy(test.code + (at - CODE), &(uint32_t){indexed ? INDEX_ON : 0xbf800000}, 4);
	set_vgprs();
	set_sgprs();
	w->pc = at;
	w->mode = 0xf0;
	w->why[0] = 0;
	w->program = isa_program_get(test.cache, &test.machine, at, why, sizeof(why));
	if (w->waitcnt)
		isa_waitcnt_reset(w->waitcnt);
	if (!CHECK(w->program) || !CHECK_EQ(isa_run(w, 100), ISA_STOPPED) || !CHECK(strstr(w->why, cases[n].why)))
		printf("  %s%s: %s\n", cases[n].name, indexed ? ", indexed" : "", w->why);
}

/* v_dual_mov_b32 v20, v21 :: v_dual_mov_b32 v21, v20, and what it is with a second half that nobody has. */
#define DUAL        0xca100115u
#define DUAL_BROKEN 0xca3e0115u
#define RUNS        100000

static atomic_bool over;

static void *breaker(void *code)
{
	for (unsigned n = 0; !atomic_load_explicit(&over, memory_order_relaxed); n++)
		__atomic_store_n((uint32_t *)code, n & 1 ? DUAL : DUAL_BROKEN, __ATOMIC_RELAXED);
	return NULL;
}

static enum isa_stop run_dual(void)
{
	struct isa_wave *w = &test.wave;
	char why[512];

	set_sgprs();
	w->pc = CODE;
	w->program = isa_program_get(test.cache, &test.machine, CODE, why, sizeof(why));
	return w->program ? isa_run(w, 100) : ISA_BUDGET;
}

/* Other waves may write code while it is decoded: it is what was read of it at first. */
static void decode_beside_a_writer(void)
{
	static const uint32_t code[] = {DUAL, 0x14140114, 0xbfb00000};
	pthread_t thread;

	init_later("gfx1100", true, false);
	memcpy(test.code, code, sizeof(code));
	set_vgprs();
	if (!CHECK_EQ(pthread_create(&thread, NULL, breaker, test.code), 0))
		return;
	for (unsigned n = 0; n < RUNS; n++) {
		enum isa_stop stop = run_dual();

		CHECK(stop == ISA_ENDED || stop == ISA_STOPPED);
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	memcpy(test.code, code, sizeof(code));
	CHECK_EQ(run_dual(), ISA_ENDED);
	fini();
}

int main(void)
{
	static const char *const chips[] = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"};

	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned c = 0; c < sizeof(chips) / sizeof(*chips); c++)
		for (unsigned how = 0; how < 4; how++) {
			init(chips[c], how & 1);
			for (unsigned n = 0; n < sizeof(cases) / sizeof(*cases); n++)
				if (!cases[n].only || !strcmp(cases[n].only, chips[c]))
					refuse(n, how & 2);
			fini();
		}
	decode_beside_a_writer();
	return check_done("words that are no instructions");
}
