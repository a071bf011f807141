/* Names of the registers that packets set, by generation.
 *
 * Sources: Mesa registers/gfx9.json to gfx12.json, Linux asic_reg/gc. */
#include "vgpu/engine/packet.h"
#include "vgpu/engine/pm4_body.h"
#include "vgpu/engine/regs.h"

struct reg_name {
	uint16_t offset; /* from the window's start, in dwords */
	uint16_t gens;
	const char *name;
};

#define B(byte) ((0x##byte - 0xb000) / 4)
#define U(byte) ((0x##byte - 0x30000) / 4)

static const struct reg_name sh_names[] = {
	{B(b800), 0, "COMPUTE_DISPATCH_INITIATOR"},
	{B(b804), 0, "COMPUTE_DIM_X"},
	{B(b808), 0, "COMPUTE_DIM_Y"},
	{B(b80c), 0, "COMPUTE_DIM_Z"},
	{B(b810), 0, "COMPUTE_START_X"},
	{B(b814), 0, "COMPUTE_START_Y"},
	{B(b818), 0, "COMPUTE_START_Z"},
	{B(b81c), 0, "COMPUTE_NUM_THREAD_X"},
	{B(b820), 0, "COMPUTE_NUM_THREAD_Y"},
	{B(b824), 0, "COMPUTE_NUM_THREAD_Z"},
	{B(b828), 0, "COMPUTE_PIPELINESTAT_ENABLE"},
	{B(b82c), 0, "COMPUTE_PERFCOUNT_ENABLE"},
	{B(b830), 0, "COMPUTE_PGM_LO"},
	{B(b834), 0, "COMPUTE_PGM_HI"},
	{B(b838), 0, "COMPUTE_DISPATCH_PKT_ADDR_LO"},
	{B(b83c), 0, "COMPUTE_DISPATCH_PKT_ADDR_HI"},
	{B(b840), 0, "COMPUTE_DISPATCH_SCRATCH_BASE_LO"},
	{B(b844), 0, "COMPUTE_DISPATCH_SCRATCH_BASE_HI"},
	{B(b848), 0, "COMPUTE_PGM_RSRC1"},
	{B(b84c), 0, "COMPUTE_PGM_RSRC2"},
	{B(b850), 0, "COMPUTE_VMID"},
	{B(b854), 0, "COMPUTE_RESOURCE_LIMITS"},
	{B(b858), 0, "COMPUTE_STATIC_THREAD_MGMT_SE0"},
	{B(b85c), 0, "COMPUTE_STATIC_THREAD_MGMT_SE1"},
	{B(b860), 0, "COMPUTE_TMPRING_SIZE"},
	{B(b864), 0, "COMPUTE_STATIC_THREAD_MGMT_SE2"},
	{B(b868), 0, "COMPUTE_STATIC_THREAD_MGMT_SE3"},
	{B(b86c), 0, "COMPUTE_RESTART_X"},
	{B(b870), 0, "COMPUTE_RESTART_Y"},
	{B(b874), 0, "COMPUTE_RESTART_Z"},
	{B(b878), 0, "COMPUTE_THREAD_TRACE_ENABLE"},
	{B(b87c), 0, "COMPUTE_MISC_RESERVED"},
	{B(b880), 0, "COMPUTE_DISPATCH_ID"},
	{B(b884), 0, "COMPUTE_THREADGROUP_ID"},
	{B(b888), P_ALL9, "COMPUTE_RELAUNCH"},
	{B(b888), P_10UP, "COMPUTE_REQ_CTRL"},
	{B(b88c), P_ALL9, "COMPUTE_WAVE_RESTORE_ADDR_LO"},
	{B(b88c), P_GFX12, "COMPUTE_STATIC_THREAD_MGMT_SE8"},
	{B(b890), P_ALL9, "COMPUTE_WAVE_RESTORE_ADDR_HI"},
	{B(b890), P_10UP, "COMPUTE_USER_ACCUM_0"},
	{B(b894), P_GFX9, "COMPUTE_STATIC_THREAD_MGMT_SE4"},
	{B(b894), P_10UP, "COMPUTE_USER_ACCUM_1"},
	{B(b898), P_GFX9, "COMPUTE_STATIC_THREAD_MGMT_SE5"},
	{B(b898), P_10UP, "COMPUTE_USER_ACCUM_2"},
	{B(b89c), P_GFX9, "COMPUTE_STATIC_THREAD_MGMT_SE6"},
	{B(b89c), P_GFX940, "COMPUTE_TG_CHUNK_SIZE"},
	{B(b89c), P_10UP, "COMPUTE_USER_ACCUM_3"},
	{B(b8a0), P_GFX9, "COMPUTE_STATIC_THREAD_MGMT_SE7"},
	{B(b8a0), P_10UP, "COMPUTE_PGM_RSRC3"},
	{B(b8a4), P_10UP, "COMPUTE_DDID_INDEX"},
	{B(b8a8), P_10UP, "COMPUTE_SHADER_CHKSUM"},
	{B(b8ac), P_ALL10, "COMPUTE_RELAUNCH"},
	{B(b8ac), P_11UP, "COMPUTE_STATIC_THREAD_MGMT_SE4"},
	{B(b8b0), P_ALL9, "COMPUTE_SHADER_CHKSUM"},
	{B(b8b0), P_ALL10, "COMPUTE_WAVE_RESTORE_ADDR_LO"},
	{B(b8b0), P_11UP, "COMPUTE_STATIC_THREAD_MGMT_SE5"},
	{B(b8b4), P_ALL9, "COMPUTE_PGM_RSRC3"},
	{B(b8b4), P_ALL10, "COMPUTE_WAVE_RESTORE_ADDR_HI"},
	{B(b8b4), P_11UP, "COMPUTE_STATIC_THREAD_MGMT_SE6"},
	{B(b8b8), P_11UP, "COMPUTE_STATIC_THREAD_MGMT_SE7"},
	{B(b8bc), P_11UP, "COMPUTE_DISPATCH_INTERLEAVE"},
	{B(b8c0), P_11UP, "COMPUTE_RELAUNCH"},
	{B(b8c4), P_11UP, "COMPUTE_WAVE_RESTORE_ADDR_LO"},
	{B(b8c8), P_11UP, "COMPUTE_WAVE_RESTORE_ADDR_HI"},
	{B(b8d4), P_GFX12, "COMPUTE_PRESCALED_DIM_X"},
	{B(b8d8), P_GFX12, "COMPUTE_PRESCALED_DIM_Y"},
	{B(b8dc), P_GFX12, "COMPUTE_PRESCALED_DIM_Z"},
	{B(b900), 0, "COMPUTE_USER_DATA_0"},
	{B(b904), 0, "COMPUTE_USER_DATA_1"},
	{B(b908), 0, "COMPUTE_USER_DATA_2"},
	{B(b90c), 0, "COMPUTE_USER_DATA_3"},
	{B(b910), 0, "COMPUTE_USER_DATA_4"},
	{B(b914), 0, "COMPUTE_USER_DATA_5"},
	{B(b918), 0, "COMPUTE_USER_DATA_6"},
	{B(b91c), 0, "COMPUTE_USER_DATA_7"},
	{B(b920), 0, "COMPUTE_USER_DATA_8"},
	{B(b924), 0, "COMPUTE_USER_DATA_9"},
	{B(b928), 0, "COMPUTE_USER_DATA_10"},
	{B(b92c), 0, "COMPUTE_USER_DATA_11"},
	{B(b930), 0, "COMPUTE_USER_DATA_12"},
	{B(b934), 0, "COMPUTE_USER_DATA_13"},
	{B(b938), 0, "COMPUTE_USER_DATA_14"},
	{B(b93c), 0, "COMPUTE_USER_DATA_15"},
	{B(b9f4), P_10UP, "COMPUTE_DISPATCH_TUNNEL"},
	{B(b9f8), 0, "COMPUTE_DISPATCH_END"},
	{B(b9fc), 0, "COMPUTE_NOWHERE"},
};

static const struct reg_name uconfig_names[] = {
	{U(30100), 0, "SCRATCH_REG0"},          {U(301ec), P_TO10, "CP_COHER_START_DELAY"},
	{U(30800), 0, "GRBM_GFX_INDEX"},        {U(30e00), 0, "TA_CS_BC_BASE_ADDR"},
	{U(30e04), 0, "TA_CS_BC_BASE_ADDR_HI"},
};

const char *packet_register(unsigned gen, enum packet_window window, unsigned offset)
{
	const struct reg_name *names = window == WINDOW_SH ? sh_names : uconfig_names;
	size_t count = window == WINDOW_SH        ? sizeof(sh_names) / sizeof(sh_names[0])
		       : window == WINDOW_UCONFIG ? sizeof(uconfig_names) / sizeof(uconfig_names[0])
						  : 0;

	for (size_t i = 0; i < count; i++)
		if (names[i].offset == offset && packet_in(names[i].gens, gen))
			return names[i].name;
	return NULL;
}
