/* Every instruction of every chip runs, has no effect, or is on the list of those that are refused. */
#include "tests/check.h"
#include "vgpu/isa/valu/valu.h"

/* Dropped when code is decoded (program.c). */
static const char *const dropped[] = {
	"s_nop",
	"s_waitcnt",
	"s_setprio",
	"s_incperflevel",
	"s_decperflevel",
	"s_ttracedata",
	"s_ttracedata_imm",
	"s_version",
	"s_inst_prefetch",
	"s_clause",
	"s_delay_alu",
	"s_singleuse_vdst",
	"s_waitcnt_vscnt",
	"s_waitcnt_vmcnt",
	"s_waitcnt_expcnt",
	"s_waitcnt_lgkmcnt",
	"s_waitcnt_depctr",
	"s_wait_idle",
	"s_wait_event",
	"s_wait_loadcnt",
	"s_wait_storecnt",
	"s_wait_samplecnt",
	"s_wait_bvhcnt",
	"s_wait_expcnt",
	"s_wait_dscnt",
	"s_wait_kmcnt",
	"s_wait_loadcnt_dscnt",
	"s_wait_storecnt_dscnt",
	"s_prefetch_inst",
	"s_prefetch_inst_pc_rel",
	"s_prefetch_data",
	"s_prefetch_data_pc_rel",
	"s_buffer_prefetch_data",
	"v_nop",
	"v_clrexcp",
	"v_pipeflush",
};

/* What isa/README.md says is missing: a part of the name each. */
static const char *const missing[] = {
	"_src2_",
	"ds_condxchg32",
	"ds_ordered_count",
	"_fork",
	"s_cbranch_join",
	"s_rfe",
	"s_dcache_discard",
	"scratch_load_lds",
	"v_screen_partition",
	"s_code_end",
	"s_subvector_loop",
	"_gs_reg_rtn",
	"ds_bvh_stack",
	"ordered_add_b64",
	"s_barrier_init",
	"s_barrier_join",
	"s_barrier_leave",
	"s_wakeup_barrier",
	"_pck",
	"image_msaa_load",
	"image_gather4h",
	"image_gather4_cl",
	"image_gather4_b",
	"image_gather4_c_cl",
	"image_gather4_c_b",
};

static bool listed(const char *name, const char *const *list, size_t count, bool part)
{
	for (size_t n = 0; n < count; n++)
		if (part ? strstr(name, list[n]) != NULL : !strcmp(name, list[n]))
			return true;
	return false;
}

#define LISTED(name, list, part) listed(name, list, sizeof(list) / sizeof(list[0]), part)

int main(void)
{
	unsigned runs = 0, refused = 0;

	for (unsigned gfx = 0; gfx < VGPU_GFX_COUNT; gfx++)
		for (unsigned enc = ISA_SOP1; enc <= ISA_MIMG; enc++)
			for (unsigned number = 0; number < 1024; number++) {
				const struct isa_row *row =
					isa_row_find((enum vgpu_gfx)gfx, (enum isa_enc)enc, number);
				bool has;

				if (!row || row->enc != enc)
					continue;
				has = isa_handler_find(row->op) || isa_lane_find(row->op, ISA_BUILD_BASE);
				if (LISTED(row->name, missing, true)) {
					refused++;
					if (!CHECK(!has))
						printf("  %s is there after all\n", row->name);
				} else if (!LISTED(row->name, dropped, false)) {
					runs++;
					if (!CHECK(has))
						printf("  %s of chip %u is missing\n", row->name, gfx);
				}
			}
	printf("%u run, %u are refused\n", runs, refused);
	return check_done("instructions of each chip");
}
