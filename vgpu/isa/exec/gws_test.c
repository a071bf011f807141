/* ds_gws_*: which resource, which value, who waits and who goes on. Waves share one set of registers; each piece is
 * a wave's whole program. */
#include "vgpu/isa/test_pieces.h"

enum { INIT, BARRIER, UP, UP_BY, DOWN, RELEASE, NO_LANE, BEYOND, NOT_GDS };

/* Resource 2 is number 5 of the device. v0 is the lane: the first active one says 2, or 0. */
#define FROM_M0 "s_mov_b32 m0, 0x20000\n s_nop 0\n"
#define VALUE_2 "s_mov_b64 exec, 0x34\n"
#define DONE    "\n s_waitcnt lgkmcnt(0)\n"

static const struct piece pieces[] = {
	[INIT] = {"init", NULL, FROM_M0 VALUE_2 "ds_gws_init v0 gds" DONE},
	[BARRIER] = {"barrier", NULL, "s_mov_b32 m0, 0x10000\n" VALUE_2 "ds_gws_barrier v0 offset:1 gds" DONE},
	[UP] = {"v", NULL, FROM_M0 "ds_gws_sema_v gds" DONE},
	[UP_BY] = {"br", NULL, FROM_M0 VALUE_2 "ds_gws_sema_br v0 gds" DONE},
	[DOWN] = {"p", NULL, FROM_M0 "ds_gws_sema_p gds" DONE},
	[RELEASE] = {"release all", NULL, FROM_M0 "ds_gws_sema_release_all gds" DONE},
	[NO_LANE] = {"no lane", NULL, FROM_M0 "s_mov_b64 exec, 0\n ds_gws_init v0 gds" DONE},
	[BEYOND] = {"beyond", NULL, "s_mov_b32 m0, 0x20000\n s_nop 0\n ds_gws_barrier v0 offset:2 gds" DONE},
	/* The same without its bit 16. */
	[NOT_GDS] = {"not GDS", NULL, FROM_M0 ".long 0xd9320000, 0"},
};
#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

static enum isa_stop start(struct isa_wave *w, unsigned piece)
{
	char why[512] = "";

	set_sgprs();
	*w = test.wave;
	w->pc = CODE + (uint64_t)piece * PIECE_B;
	w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
	return w->program ? isa_run(w, 100) : ISA_STOPPED;
}

#define ENDS(piece)     CHECK_EQ(start(&w[0], piece), ISA_ENDED)
#define WAITS(n, piece) CHECK_EQ(start(&w[n], piece), ISA_SYNC)
/* It goes on behind the instruction. */
#define GOES_ON(n) CHECK(isa_gws_passed(&w[n]) && isa_run(&w[n], 100) == ISA_ENDED)

static struct isa_wave w[4];

/* Three meet, and then, as the last of them said, three again. */
static void barriers(void)
{
	ENDS(INIT);
	for (unsigned round = 0; round < 3; round++) {
		WAITS(1, BARRIER);
		WAITS(2, BARRIER);
		CHECK(!isa_gws_passed(&w[1]) && !isa_gws_passed(&w[2]));
		ENDS(BARRIER);
		GOES_ON(2);
		GOES_ON(1);
	}
	ENDS(NO_LANE); /* lane 0's value: nobody is waited for */
	ENDS(BARRIER);
	WAITS(1, BARRIER);
	ENDS(INIT);
}

static void semaphores(void)
{
	ENDS(NO_LANE);
	WAITS(1, DOWN);
	WAITS(2, DOWN);
	ENDS(UP);
	GOES_ON(2);
	CHECK(!isa_gws_passed(&w[1]));
	ENDS(UP_BY);
	GOES_ON(1);
	ENDS(DOWN);
	WAITS(1, DOWN);
	WAITS(2, DOWN);
	WAITS(3, DOWN);
	ENDS(RELEASE);
	for (unsigned n = 1; n < 4; n++)
		GOES_ON(n);
	WAITS(1, DOWN);
}

static void on(const char *chip)
{
	unsigned long before = vgpu_findings();

	init(chip, true);
	set_vgprs();
	test.machine.gws = (struct isa_gws_part){isa_gws_create(), 3, 3, 7, 100, 100};
	if (!CHECK(assemble(chip, pieces, PIECES)))
		return;
	barriers();
	semaphores();
	CHECK_EQ(vgpu_findings() - before, 0);
	ENDS(BEYOND);
	CHECK_EQ(vgpu_findings() - before, 1);
	CHECK_EQ(start(&w[0], NOT_GDS), ISA_STOPPED);
	CHECK(strstr(w[0].why, "GDS bit") != NULL);
	isa_gws_destroy(test.machine.gws.gws);
	fini();
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_REPORT);
	on("gfx906");
	on("gfx908");
	on("gfx90a");
	on("gfx942");
	return check_done("global wave sync of waves");
}
