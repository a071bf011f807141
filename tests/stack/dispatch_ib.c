/* The IB of a dispatch, dword by dword, as Mesa and IREE emit it, on each chip. Runs on the null device: nothing is
 * executed, the test reads the IB back. */
#include "cs/internal.h"

#include <errno.h>
#include <stdlib.h>

#include "cs/pm4.h"
#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

/* Finds the next SET_SH_REG of `reg`; gives its values, or NULL. */
static const uint32_t *find_regs(const uint32_t *ib, const uint32_t *end, uint32_t reg, unsigned count)
{
	for (; ib < end; ib += 1 + PM4_HEADER_BODY_DW(*ib))
		if (ib[0] == (0xC0007600u | count << 16) && ib[1] == reg)
			return ib + 2;
	return NULL;
}

/* What differs between chips: the acquire at the start of an IB, registers (0: not written), the initiator. */
struct image {
	const char *chip;
	uint32_t acquire_dw, acquire;
	uint32_t se4_reg, rsrc3_reg, initiator;
};

static void check_registers(const struct cs_kernel *k, const uint32_t *ib, const uint32_t *end,
			    const struct image *want)
{
	const uint32_t *a = find_regs(ib, end, 0x204, 16), *b = find_regs(ib, end, 0x215, 9);
	const uint32_t *r3 = find_regs(ib, end, want->rsrc3_reg, 1);
	const uint32_t *user = find_regs(ib, end, 0x240, RSRC2_USER_SGPR(k->rsrc2));

	if (!CHECK(a && b && user))
		return;
	CHECK(!a[0] && !a[1] && !a[2]);
	/* 100 x 7 x 1 work-items in groups of 64 x 2 x 1: 36 and 1 in the last ones, 1 in z where nothing is left
	 * over */
	CHECK_EQ(a[3], 64 | 36 << 16);
	CHECK_EQ(a[4], 2 | 1 << 16);
	CHECK_EQ(a[5], 1 | 1 << 16);
	CHECK_EQ(a[8] | (uint64_t)a[9] << 32, k->entry_va >> 8);
	CHECK_EQ(a[14], k->rsrc1);
	CHECK_EQ(a[15], k->rsrc2 | 5 << 15); /* 2,100 bytes of LDS: 5 units of 512 */
	CHECK(b[1] == ~0u && b[2] == ~0u && b[4] == ~0u && b[5] == ~0u);
	CHECK_EQ(b[3], 0); /* no scratch */
	for (uint32_t reg = 0x225; reg <= 0x22b; reg++)
		CHECK_EQ(!!find_regs(ib, end, reg, 4), reg == want->se4_reg);
	CHECK_EQ(!!r3, !!want->rsrc3_reg);
	if (r3)
		CHECK_EQ(r3[0], k->rsrc3);
}

static void check_chip(const struct image *want)
{
	struct stack s;
	struct cs_code *code;
	uint64_t args = 0x1234567890;
	struct cs_launch d = {.grid = {100, 7, 1}, .group = {64, 2, 1}};
	char spec[32];
	struct cs_ib *ib;
	const uint32_t *start;

	snprintf(spec, sizeof(spec), "null:%s", want->chip);
	if (!CHECK_EQ(vgpu_start(spec), 0) || !CHECK_EQ(stack_open(&s), 0) ||
	    !CHECK_EQ(stack_load(&s, "group", 3, &code), 0) ||
	    !CHECK_EQ(cs_code_kernel(code, "k_reverse", &d.kernel), 0) || !CHECK_EQ(cs_begin(s.ring, 0, &ib), 0))
		return;
	start = ib->segment[0].map;
	d.lds_B = d.kernel->lds_B + 2100;
	CHECK_EQ(cs_ib_dispatch(ib, &d, &args, sizeof(args)), 0);
	/* the prologue: acquire at system scope, and the instruction cache after a load of code */
	CHECK_EQ(start[0], want->acquire_dw == 7 ? 0xC0055800 : 0xC0065800);
	CHECK_EQ(start[want->acquire_dw == 7 ? 1 : 7], want->acquire);
	check_registers(d.kernel, start, ib->cur, want);
	CHECK_EQ(ib->cur[-5], 0xC0031500);
	CHECK(ib->cur[-4] == 2 && ib->cur[-3] == 4 && ib->cur[-2] == 1);
	CHECK_EQ(ib->cur[-1], want->initiator);
	CHECK_EQ(cs_submit(ib, NULL, NULL), 0);
	CHECK_EQ(ib->segment[0].dw % 8, 0);
	CHECK_EQ(cs_fence_wait(cs_ring_last(s.ring), CS_FOREVER), 0);

	CHECK_EQ(cs_begin(s.ring, 0, &ib), 0);
	CHECK_EQ(ib->segment[0].map[want->acquire_dw == 7 ? 1 : 7], want->acquire);
	cs_abandon(ib);
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
}

/* What gfx942's row of the table says differs: no masks of further engines, a chunk size, scratch by register. */
static void gfx942_has_its_own_registers(void)
{
	struct stack s;
	struct cs_code *code;
	struct cs_kernel k;
	struct cs_launch d = {.grid = {64, 1, 1}, .group = {64, 1, 1}};
	const uint32_t *start, *a, *tg, *r3;
	const struct cs_kernel *found;
	uint64_t args = 0, base;
	struct cs_ib *ib;

	if (!CHECK_EQ(vgpu_start("null:gfx942"), 0) || !CHECK_EQ(stack_open(&s), 0) ||
	    !CHECK_EQ(stack_load(&s, "group", 3, &code), 0) ||
	    !CHECK_EQ(cs_code_kernel(code, "k_reverse", &found), 0) || !CHECK_EQ(cs_begin(s.ring, 0, &ib), 0))
		return;
	k = *found;
	k.rsrc2 |= RSRC2_SCRATCH_EN;
	k.private_B = 128;
	d.kernel = &k;
	d.lds_B = k.lds_B;
	start = ib->segment[0].map;
	CHECK_EQ(cs_ib_dispatch(ib, &d, &args, sizeof(args)), 0);
	a = find_regs(start, ib->cur, 0x204, 16);
	tg = find_regs(start, ib->cur, 0x227, 1);
	r3 = find_regs(start, ib->cur, 0x22d, 1);
	CHECK(!find_regs(start, ib->cur, 0x225, 4)); /* masks of SE4 to SE7: TG_CHUNK_SIZE is among them */
	if (CHECK(a && tg && r3)) {
		base = (uint64_t)a[13] << 32 | a[12];
		CHECK(s.ring->scratch.mem && base == s.ring->scratch.mem->va >> 8);
		CHECK_EQ(tg[0], 0);
	}
	cs_abandon(ib);
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
}

/* Scratch of one wave of private_B for each of its lanes: the resource's last word (0: the chip's hardware has the
 * address), and TMPRING_SIZE: its unit, whose number is odd, and waves of the whole device or of one engine. */
static void scratch_is_by_lanes(const char *spec, unsigned lanes, uint32_t word3, uint32_t unit_B, bool by_engine)
{
	struct stack s;
	struct cs_code *code;
	const struct cs_kernel *found;
	struct cs_kernel k;
	struct cs_launch l = {.kernel = &k, .grid = {64, 1, 1}, .group = {64, 1, 1}, .private_B = 1024};
	const uint32_t *start, *limits, *user;
	uint32_t units, waves;
	struct cs_ib *ib;

	if (!CHECK_EQ(vgpu_start(spec), 0) || !CHECK_EQ(stack_open(&s), 0) ||
	    !CHECK_EQ(stack_load(&s, "group", 3, &code), 0) ||
	    !CHECK_EQ(cs_code_kernel(code, "k_scratch", &found), 0) || !CHECK_EQ(cs_begin(s.ring, 0, &ib), 0))
		return;
	k = *found;
	k.properties = (k.properties & ~CS_WAVE32) | (lanes == 32 ? CS_WAVE32 : 0);
	start = ib->segment[0].map;
	CHECK_EQ(cs_ib_launch(ib, &l), 0);
	CHECK_EQ(ib->cur[-1], lanes == 32 ? 0x8005 : 0x0005);
	limits = find_regs(start, ib->cur, 0x215, 9);
	user = find_regs(start, ib->cur, 0x240, RSRC2_USER_SGPR(k.rsrc2));
	if (CHECK(limits && user)) {
		units = limits[3] >> 12;
		waves = (limits[3] & 0xfff) * (by_engine ? s.dev->facts.engines : 1);
		CHECK_EQ(units, (lanes * 1024 / unit_B) | 1);
		CHECK_EQ(waves, s.ring->scratch.waves);
		CHECK((uint64_t)waves * units * unit_B <= s.ring->scratch.mem->bo->size_B);
		if (word3)
			CHECK_EQ(user[3], word3);
	}
	cs_abandon(ib);
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
}

/* GFX12 has 16 bits for a workgroup's number in y, and in z. */
static void groups_are_counted_in_16_bits(void)
{
	struct stack s;
	struct cs_code *code;
	struct cs_launch l = {.grid = {1 << 20, 0xffff, 1}, .group = {1, 1, 1}};
	struct cs_ib *ib;

	if (!CHECK_EQ(vgpu_start("null:gfx1201"), 0) || !CHECK_EQ(stack_open(&s), 0) ||
	    !CHECK_EQ(stack_load(&s, "group", 3, &code), 0) ||
	    !CHECK_EQ(cs_code_kernel(code, "k_empty", &l.kernel), 0) || !CHECK_EQ(cs_begin(s.ring, 0, &ib), 0))
		return;
	CHECK_EQ(cs_ib_launch(ib, &l), 0);
	l.grid[1] = 0x10000;
	CHECK_EQ(cs_ib_launch(ib, &l), -EINVAL);
	l.grid[1] = 1;
	l.grid[2] = 0x10000;
	CHECK_EQ(cs_ib_launch(ib, &l), -EINVAL);
	cs_abandon(ib);
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
}

/* A workgroup whose registers fit no unit would never start: 16 waves are four on each SIMD of `vgprs` registers. */
static void registers_must_fit(const char *spec, unsigned vgprs)
{
	static const uint32_t group = 1024;
	struct stack s;
	struct cs_code *code;
	const struct cs_kernel *found;
	struct cs_kernel k;
	struct cs_launch l = {.kernel = &k, .grid = {group, 1, 1}, .group = {group, 1, 1}};
	struct cs_ib *ib;
	unsigned unit;

	if (!CHECK_EQ(vgpu_start(spec), 0) || !CHECK_EQ(stack_open(&s), 0) ||
	    !CHECK_EQ(stack_load(&s, "group", 3, &code), 0) ||
	    !CHECK_EQ(cs_code_kernel(code, "k_empty", &found), 0) || !CHECK_EQ(cs_begin(s.ring, 0, &ib), 0))
		return;
	unit = vgprs > 256 ? 8 : 4;
	k = *found;
	k.rsrc1 = (k.rsrc1 & ~0x3fu) | (vgprs / 4 / unit - 1);
	k.fit_threads = cs_fit_threads(s.dev->chip, k.rsrc1, 64);
	CHECK_EQ(k.fit_threads, group);
	CHECK_EQ(cs_ib_launch(ib, &l), 0);
	k.fit_threads = cs_fit_threads(s.dev->chip, k.rsrc1 + 1, 64);
	CHECK_EQ(cs_ib_launch(ib, &l), -EINVAL);
	l.group[0] = group - 256;
	CHECK_EQ(cs_ib_launch(ib, &l), 0);
	cs_abandon(ib);
	cs_code_unload(code);
	stack_close(&s);
	vgpu_stop();
}

/* One L2 for a device, or several: then the barriers of agent scope are those of the system's. */
static void barriers_are_by_xccs(const char *spec, unsigned row)
{
	struct stack s;

	if (!CHECK_EQ(vgpu_start(spec), 0) || !CHECK_EQ(stack_open(&s), 0))
		return;
	CHECK(s.ring->ib.pm4 == &cs_pm4_rows[row]);
	stack_close(&s);
	vgpu_stop();
}

int main(void)
{
	static const struct image images[] = {
		{"gfx900", 7, 0x28C40000, 0, 0, 7},       {"gfx906", 7, 0x28C40000, 0, 0, 7},
		{"gfx908", 7, 0x28C40000, 0x225, 0, 7},   {"gfx90a", 7, 0x28C40000, 0x225, 0x22d, 7},
		{"gfx1010", 8, 0xC3B1, 0, 0x228, 0x8007}, {"gfx1036", 8, 0xC3B1, 0, 0x228, 0x8007},
	};

	for (unsigned i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		check_chip(&images[i]);
	gfx942_has_its_own_registers();
	/* The last words are ROCr's (FillBufRsrcWord3_*), with the stride that its firmware fills in. */
	scratch_is_by_lanes("null:gfx906", 64, 0x00EA4FAC, 1024, false);
	scratch_is_by_lanes("null:gfx1030", 32, 0x21C14FAC, 1024, false);
	scratch_is_by_lanes("null:gfx1030", 64, 0x21E14FAC, 1024, false);
	scratch_is_by_lanes("null:gfx1100", 32, 0, 256, true);
	scratch_is_by_lanes("null:gfx1201", 64, 0, 256, true);
	groups_are_counted_in_16_bits();
	registers_must_fit("null:gfx906", 256);
	registers_must_fit("null:gfx90a", 512);
	barriers_are_by_xccs("null:gfx942", DRV_PM4_GFX9);
	barriers_are_by_xccs("null:gfx942:partition=spx", CS_PM4_XCCS);
	return check_done("the IB of a dispatch");
}
