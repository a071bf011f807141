/* PM4 packets, form by form (packet.h). */
#include "vgpu/engine/packet_fields.h"
#include "vgpu/engine/pm4_body.h"

static const char *const function[] = {"always", "<", "<=", "==", "!=", ">=", ">", "7", NULL};
static const char *const event[] = {
	[0] = "",
	[1] = "SAMPLE_STREAMOUTSTATS1",
	[2] = "SAMPLE_STREAMOUTSTATS2",
	[3] = "SAMPLE_STREAMOUTSTATS3",
	[4] = "CACHE_FLUSH_TS",
	[5] = "CONTEXT_DONE",
	[6] = "CACHE_FLUSH",
	[7] = "CS_PARTIAL_FLUSH",
	[8] = "VGT_STREAMOUT_SYNC",
	[9] = "",
	[10] = "VGT_STREAMOUT_RESET",
	[11] = "END_OF_PIPE_INCR_DE",
	[12] = "END_OF_PIPE_IB_END",
	[13] = "RST_PIX_CNT",
	[14] = "BREAK_BATCH",
	[15] = "VS_PARTIAL_FLUSH",
	[16] = "PS_PARTIAL_FLUSH",
	[17] = "FLUSH_HS_OUTPUT",
	[18] = "FLUSH_DFSM",
	[19] = "RESET_TO_LOWEST_VGT",
	[20] = "CACHE_FLUSH_AND_INV_TS",
	[21] = "ZPASS_DONE",
	[22] = "CACHE_FLUSH_AND_INV",
	[23] = "PERFCOUNTER_START",
	[24] = "PERFCOUNTER_STOP",
	[25] = "PIPELINESTAT_START",
	[26] = "PIPELINESTAT_STOP",
	[27] = "PERFCOUNTER_SAMPLE",
	[28] = "",
	[29] = "",
	[30] = "SAMPLE_PIPELINESTAT",
	[31] = "SO_VGTSTREAMOUT_FLUSH",
	[32] = "SAMPLE_STREAMOUTSTATS",
	[33] = "RESET_VTX_CNT",
	[34] = "BLOCK_CONTEXT_DONE",
	[35] = "CS_CONTEXT_DONE",
	[36] = "VGT_FLUSH",
	[37] = "TGID_ROLLOVER",
	[38] = "SQ_NON_EVENT",
	[39] = "SC_SEND_DB_VPZ",
	[40] = "BOTTOM_OF_PIPE_TS",
	[41] = "FLUSH_SX_TS",
	[42] = "DB_CACHE_FLUSH_AND_INV",
	[43] = "FLUSH_AND_INV_DB_DATA_TS",
	[44] = "FLUSH_AND_INV_DB_META",
	[45] = "FLUSH_AND_INV_CB_DATA_TS",
	[46] = "FLUSH_AND_INV_CB_META",
	[47] = "CS_DONE",
	[48] = "PS_DONE",
	[49] = "FLUSH_AND_INV_CB_PIXEL_DATA",
	[50] = "SX_CB_RAT_ACK_REQUEST",
	[51] = "THREAD_TRACE_START",
	[52] = "THREAD_TRACE_STOP",
	[53] = "THREAD_TRACE_MARKER",
	[54] = "THREAD_TRACE_DRAW",
	[55] = "THREAD_TRACE_FINISH",
	[56] = "PIXEL_PIPE_STAT_CONTROL",
	[57] = "PIXEL_PIPE_STAT_DUMP",
	[58] = "PIXEL_PIPE_STAT_RESET",
	NULL,
};
static const char *const engine[] = {"", "pfp", "ce", "3", NULL};

static const struct packet_field nop[] = {
	DATA("", 1),
	END,
};
static const struct packet_field set_base[] = {
	COUNT("index", 1, 3, 0),
	VA("base", 2),
	END,
};
static const struct packet_field dispatch_direct[] = {
	COUNT("x", 1, 31, 0), COUNT("y", 2, 31, 0), COUNT("z", 3, 31, 0), WORD("initiator", 4), END,
};
static const struct packet_field dispatch_indirect_mec[] = {
	VA("args", 1),
	WORD("initiator", 3),
	END,
};
static const struct packet_field dispatch_indirect_gfx[] = {
	WORD("offset", 1),
	WORD("initiator", 2),
	END,
};

static const char *const atomic_command[] = {"", "loop", "confirm", "send", NULL};
static const struct packet_field atomic_mem[] = {
	{"", 1, 6, 0, FIELD_ATOMIC, 0, NULL},
	NAME("", 1, 11, 8, atomic_command),
	SPARE(1, 31, 30), /* engine of the graphics ring */
	DEC("policy", 1, 26, 25),
	VA("va", 2),
	N64("src", 4),
	N64("cmp", 6),
	DEC("interval", 8, 12, 0),
	END,
};
static const char *const pred_op[] = {"clear", "zpass", "primcount", "64", "32", "5", "6", "7", NULL};
static const struct packet_field set_predication[] = {
	{"", 1, 18, 16, FIELD_NAME, 0, pred_op},
	FLAG("if_set", 1, 8),
	FLAG("no_wait", 1, 12),
	FLAG("continue", 1, 31),
	VA("va", 2),
	END,
};
static const struct packet_field cond_exec[] = {
	VA("va", 1), DEC("policy", 3, 26, 25), DEC("command", 3, 31, 28), COUNT("dw", 4, 13, 0), END,
};
static const struct packet_field pred_exec[] = {
	COUNT("dw", 1, 13, 0),
	HEX("dies", 1, 31, 24),
	END,
};
static const char *const write_dst[] = {"register", "sync", "l2", "gds", "4",  "mem", "6",  "7", "8",
					"9",        "10",   "11", "12",  "13", "14",  "15", NULL};
static const struct packet_field write_data[] = {
	{"to", 1, 11, 8, FIELD_NAME, 0, write_dst},
	FLAG("one_address", 1, 16),
	FLAG("confirm", 1, 20),
	GDEC(P_GFX12, "mode", 1, 21, 21),
	GDEC(P_GFX12, "aid", 1, 24, 23),
	DEC("policy", 1, 26, 25),
	NAME("", 1, 31, 30, engine),
	VA("va", 2),
	DATA("", 4),
	END,
};
static const char *const poll_space[] = {"register", "memory", "2", "3", NULL};
static const char *const wait_operation[] = {"", "write_wait_write", "2", "preemptable", NULL};
#define WAIT_CONTROL                                                                                               \
	NAME("", 1, 5, 4, poll_space), NAME("", 1, 7, 6, wait_operation), FLAG("pfp", 1, 8),                       \
		GDEC(P_10UP, "mes_pipe", 1, 23, 22), GDEC(P_10UP, "mes_action", 1, 24, 24),                        \
		DEC("policy", 1, 26, 25), VA("va", 2),                                                             \
	{                                                                                                          \
		"", 1, 2, 0, FIELD_NAME, 0, function                                                               \
	}
static const struct packet_field wait_reg_mem[] = {
	WAIT_CONTROL, WORD("ref", 4), WORD("mask", 5), DEC("interval", 6, 15, 0), GFLAG(P_10UP, "offload", 6, 31),
	END,
};
static const struct packet_field wait_reg_mem64[] = {
	WAIT_CONTROL, N64("ref", 4), N64("mask", 6), DEC("interval", 8, 15, 0), FLAG("offload", 8, 31), END,
};
static const struct packet_field indirect_buffer[] = {
	VA("va", 1),
	COUNT("dw", 3, 19, 0),
	FLAG("chain", 3, 20),
	FLAG("pre_ena", 3, 21),
	FLAG("ce", 3, 22),
	FLAG("valid", 3, 23),
	DEC("vmid", 3, 27, 24),
	DEC("policy", 3, 29, 28),
	FLAG("inherit_vmid", 3, 30),
	FLAG("priv", 3, 31),
	END,
};
static const char *const cond_mode[] = {"", "if_then", "if_then_else", "3", NULL};
static const struct packet_field cond_indirect_buffer[] = {
	NAME("", 1, 1, 0, cond_mode),
	VA("va", 2),
	{"", 1, 10, 8, FIELD_NAME, 0, function},
	N64("ref", 6),
	N64("mask", 4),
	VA("then", 8),
	COUNT("dw", 10, 19, 0),
	HEX("control", 10, 31, 20),
	VA("else", 11),
	COUNT("dw", 13, 19, 0),
	HEX("control", 13, 31, 20),
	END,
};
static const char *const copy_src[] = {
	"register",  "mem",          "l2", "gds", "perfcounter", "imm", "atomic", "gds0", "gds1",
	"gpu_clock", "system_clock", "11", "12",  "13",          "14",  "15",     NULL};
static const char *const copy_dst[] = {"register", "sync", "l2", "gds", "perfcounter", "mem", "reg_dc", "7", "8",
				       "9",        "10",   "11", "12",  "13",          "14",  "15",     NULL};
static const struct packet_field copy_data[] = {
	NAME("from", 1, 3, 0, copy_src),
	NAME("to", 1, 11, 8, copy_dst),
	{"64", 1, 16, 16, FIELD_FLAG, 0, NULL},
	FLAG("confirm", 1, 20),
	DEC("src_policy", 1, 14, 13),
	DEC("dst_policy", 1, 26, 25),
	GDEC(P_GFX12, "mode", 1, 21, 21),
	GDEC(P_GFX12, "aid", 1, 24, 23),
	FLAG("pq_exe", 1, 29),
	SPARE(1, 31, 30),
	VA("src", 2),
	VA("dst", 4),
	END,
};
static const char *const pfp_or_me[] = {"", "1", NULL};
static const struct packet_field cond_write[] = {
	NAME("", 1, 4, 4, poll_space),
	NAME("to", 1, 9, 8, write_dst),
	FLAG("confirm", 1, 20),
	VA("va", 2),
	{"", 1, 2, 0, FIELD_NAME, 0, function},
	WORD("ref", 4),
	WORD("mask", 5),
	VA("dst", 6),
	WORD("data", 8),
	END,
};
static const struct packet_field event_write[] = {
	NAME("", 1, 5, 0, event),
	DEC("index", 1, 11, 8),
	GDEC(P_10UP, "counter_mode", 1, 30, 29),
	FLAG("offload", 1, 31),
	VA("va", 2),
	END,
};

static const char *const release_dst[] = {"", "l2", "queue", "queue3", NULL};
static const char *const release_int[] = {"", "1", "2", "3", "4", "5", "6", "7", NULL};
static const char *const release_data[] = {"",    "data32", "data64",       "gpu_clock", "system_clock",
					   "gds", "6",      "atomic_add32", NULL};
static const char *const gl2_range[] = {"", "volatile", "range", "first_last", NULL};
static const char *const seq[] = {"", "forward", "reverse", "3", NULL};
static const char *const gli[] = {"", "gli_inv", "gli_range", "gli_first_last", NULL};
#define RELEASE_TAIL                                                                                               \
	NAME("", 2, 31, 29, release_data), VA("va", 3), {"data", 5, 31, 0, FIELD_64, 0, NULL},                     \
		NAME("int", 2, 26, 24, release_int), NAME("to", 2, 17, 16, release_dst), HEX("ctx", 7, 31, 0)
static const struct packet_field release_mem_9[] = {
	NAME("", 1, 5, 0, event),
	DEC("index", 1, 11, 8),
	RELEASE_TAIL,
	FLAG("tcl1_vol", 1, 12),
	FLAG("tc_vol", 1, 13),
	FLAG("tc_wb", 1, 15),
	FLAG("tcl1", 1, 16),
	FLAG("tc", 1, 17),
	FLAG("tc_nc", 1, 19),
	FLAG("tc_wc", 1, 20),
	FLAG("tc_md", 1, 21),
	DEC("policy", 1, 26, 25),
	FLAG("execute", 1, 28),
	END,
};
static const struct packet_field release_mem_10[] = {
	NAME("", 1, 5, 0, event),
	DEC("index", 1, 11, 8),
	RELEASE_TAIL,
	GFLAG(P_TO11, "glm_wb", 1, 12),
	GFLAG(P_TO11, "glm_inv", 1, 13),
	FLAG("glv_inv", 1, 14),
	GFLAG(P_TO11, "gl1_inv", 1, 15),
	FLAG("gl2_us", 1, 16),
	NAME("gl2", 1, 18, 17, gl2_range),
	FLAG("gl2_discard", 1, 19),
	FLAG("gl2_inv", 1, 20),
	FLAG("gl2_wb", 1, 21),
	NAME("seq", 1, 23, 22, seq),
	GFLAG(P_11UP, "glk_wb", 1, 24),
	GFLAG(P_11UP, "glk_inv", 1, 30),
	GFLAG(P_11UP, "wait_sync", 1, 7),
	DEC("policy", 1, 26, 25),
	FLAG("pq_exe", 1, 28),
	GDEC(P_11UP, "mes_pipe", 2, 21, 20),
	GDEC(P_11UP, "mes_action", 2, 23, 22),
	/* gfx12 has neither GLM nor GL1; a client that sends one packet to all generations sets these bits
	 * (tinygrad ops_amd.py). */
	{"", 1, 13, 12, FIELD_RESERVED, P_GFX12, NULL},
	{"", 1, 15, 15, FIELD_RESERVED, P_GFX12, NULL},
	/* GFX11's pixel wait: PWS_STAGE and counter of the graphics ring. */
	{"", 1, 31, 31, FIELD_RESERVED, P_11UP, NULL},
	END,
};

static const char *const dma_dst[] = {"", "gds", "nowhere", "l2", NULL};
static const char *const dma_src[] = {"", "gds", "data", "l2", NULL};
static const struct packet_field dma_data[] = {
	FLAG("pfp", 1, 0),
	DEC("src_policy", 1, 14, 13),
	NAME("to", 1, 21, 20, dma_dst),
	DEC("dst_policy", 1, 26, 25),
	NAME("from", 1, 30, 29, dma_src),
	FLAG("sync", 1, 31),
	VA("src", 2),
	VA("dst", 4),
	COUNT("size", 6, 25, 0),
	FLAG("sas", 6, 26),
	FLAG("das", 6, 27),
	FLAG("saic", 6, 28),
	FLAG("daic", 6, 29),
	FLAG("raw_wait", 6, 30),
	FLAG("no_confirm", 6, 31),
	END,
};
static const struct packet_field dma_data_fill_multi[] = {
	FLAG("memlog_clear", 1, 10),
	NAME("to", 1, 21, 20, dma_dst),
	DEC("policy", 1, 26, 25),
	NAME("from", 1, 30, 29, dma_src),
	COUNT("stride", 2, 31, 0),
	COUNT("times", 3, 31, 0),
	VA("dst", 4),
	COUNT("size", 6, 25, 0),
	END,
};

static const struct packet_field acquire_mem_9[] = {
	FLAG("tc_nc", 1, 3),     FLAG("tc_wc", 1, 4),       FLAG("tc_md", 1, 5),
	FLAG("tcl1_vol", 1, 15), FLAG("tc_wb", 1, 18),      FLAG("tcl1", 1, 22),
	FLAG("tc", 1, 23),       FLAG("cb", 1, 25),         FLAG("db", 1, 26),
	FLAG("k", 1, 27),        FLAG("k_vol", 1, 28),      FLAG("i", 1, 29),
	FLAG("k_wb", 1, 30),     FLAG("pfp", 1, 31),        VA("size256", 2),
	VA("base256", 4),        DEC("interval", 6, 15, 0), END,
};
static const struct packet_field acquire_mem_10[] = {
	NAME("", 7, 1, 0, gli),
	NAME("gl1", 7, 3, 2, gl2_range),
	FLAG("glm_wb", 7, 4),
	FLAG("glm_inv", 7, 5),
	FLAG("glk_wb", 7, 6),
	FLAG("glk_inv", 7, 7),
	FLAG("glv_inv", 7, 8),
	FLAG("gl1_inv", 7, 9),
	FLAG("gl2_us", 7, 10),
	NAME("gl2", 7, 12, 11, gl2_range),
	FLAG("gl2_discard", 7, 13),
	FLAG("gl2_inv", 7, 14),
	FLAG("gl2_wb", 7, 15),
	NAME("seq", 7, 17, 16, seq),
	FLAG("physical", 7, 18),
	HEX("coher", 1, 30, 0),
	FLAG("pfp", 1, 31),
	VA("size256", 2),
	VA("base256", 4),
	DEC("interval", 6, 15, 0),
	GFLAG(P_11UP, "pws", 6, 31),
	END,
};
static const struct packet_field rewind_fields[] = {
	FLAG("offload", 1, 24),
	FLAG("valid", 1, 31),
	END,
};
static const struct packet_field prime_utcl2[] = {
	HEX("cache_perm", 1, 2, 0),     FLAG("wait_for_xack", 1, 3),
	NAME("", 1, 31, 30, pfp_or_me), VA("va", 2),
	COUNT("pages", 4, 13, 0),       END,
};
static const struct packet_field set_config_reg[] = {
	REGS(1, WINDOW_CONFIG),
	END,
};
static const struct packet_field set_context_reg[] = {
	REGS(1, WINDOW_CONTEXT),
	END,
};
static const struct packet_field set_sh_reg[] = {
	DEC("index", 1, 31, 28),
	DEC("vmid_shift", 1, 27, 23),
	REGS(1, WINDOW_SH),
	END,
};
static const struct packet_field set_uconfig_reg[] = {
	DEC("index", 1, 31, 28),
	REGS(1, WINDOW_UCONFIG),
	END,
};
static const struct packet_field load_sh_reg_index[] = {
	DEC("index", 1, 1, 0),  {"va", 1, 31, 0, FIELD_VA, 0, NULL},
	HEX("first", 3, 15, 0), FLAG("offset_and_data", 3, 31),
	COUNT("dw", 4, 13, 0),  END,
};
static const struct packet_field sh_reg_pairs[] = {
	{"", 1, 15, WINDOW_SH, FIELD_PAIRS, 0, NULL},
	END,
};
static const struct packet_field uconfig_reg_pairs[] = {
	{"", 1, 15, WINDOW_UCONFIG, FIELD_PAIRS, 0, NULL},
	END,
};
static const struct packet_field context_reg_pairs[] = {
	{"", 1, 15, WINDOW_CONTEXT, FIELD_PAIRS, 0, NULL},
	END,
};
static const struct packet_field sh_reg_packed[] = {
	COUNT("count", 1, 15, 0),
	{"", 2, 31, WINDOW_SH, FIELD_PACKED, 0, NULL},
	END,
};
static const struct packet_field context_reg_packed[] = {
	COUNT("count", 1, 15, 0),
	{"", 2, 31, WINDOW_CONTEXT, FIELD_PACKED, 0, NULL},
	END,
};
static const struct packet_field zpass[] = {
	VA("va", 1),
	END,
};
static const struct packet_field timestamp[] = {
	FLAG("bottom", 1, 0), FLAG("top", 1, 1), FLAG("system_clock", 1, 2),
	VA("bottom_va", 2),   VA("top_va", 4),   END,
};
static const struct packet_field hdp_flush[] = {
	SPARE(1, 31, 0),
	END,
};
static const struct packet_field fence_wait_multi[] = {
	HEX("engine", 1, 0, 0),     FLAG("preemptable", 1, 1), HEX("policy", 1, 3, 2),
	DEC("interval", 1, 31, 16), DATA("fences", 2),         END,
};
static const struct packet_field counter[] = {
	HEX("", 1, 31, 0),
	END,
};

/* --- the table --- */

#define ANY PACKET_ANY

static const struct packet_form cond_indirect = {
	"COND_INDIRECT_BUFFER", cond_indirect_buffer, 14, 14, 0, ON_BOTH, PM4_INDIRECT_BUFFER, 0, 0, NULL};
static const struct packet_form indirect_args = {
	"DISPATCH_INDIRECT", dispatch_indirect_gfx, 3, 3, 0, ON_GFX, PM4_DISPATCH_INDIRECT, 0, 0, NULL};
static const struct packet_form acquire_gcr = {"ACQUIRE_MEM", acquire_mem_10,  8, 8, P_10UP,
					       ON_BOTH,       PM4_ACQUIRE_MEM, 0, 0, NULL};
static const struct packet_form release_gcr = {"RELEASE_MEM", release_mem_10,  8, 8, P_10UP,
					       ON_BOTH,       PM4_RELEASE_MEM, 0, 0, NULL};

/* A row: fields, dwords from and to, generations, rings. */
#define ROW(opcode, name, fields, from, to, gens, flags)                                                           \
	[opcode] = {name, fields, from, to, gens, flags, opcode, 0, 0, NULL}
#define ROW2(opcode, name, fields, from, to, gens, flags, other)                                                   \
	[opcode] = {name, fields, from, to, gens, flags, opcode, 0, 0, &(other)}
#define GRAPHICS(opcode, name, gens) ROW(opcode, name, NULL, 2, ANY, gens, ON_GFX | P_UNMODELLED | P_UNKNOWN_BITS)
#define STATE(opcode, name, gens)    ROW(opcode, name, NULL, 2, ANY, gens, ON_GFX | P_IGNORED | P_UNKNOWN_BITS)
#define KERNEL(opcode, name, gens)   ROW(opcode, name, NULL, 1, ANY, gens, ON_BOTH | P_PRIVILEGED | P_UNKNOWN_BITS)

static const struct packet_form forms[256] = {
	ROW(PM4_NOP, "NOP", nop, 1, ANY, 0, ON_BOTH | P_IGNORED),
	/* On MEC from GFX12 on, for EXECUTE_INDIRECT. */
	ROW(PM4_SET_BASE, "SET_BASE", set_base, 4, 4, 0, ON_BOTH),
	ROW(PM4_CLEAR_STATE, "CLEAR_STATE", counter, 2, 2, 0, ON_GFX | P_IGNORED),
	STATE(0x13, "INDEX_BUFFER_SIZE", 0),
	ROW(PM4_DISPATCH_DIRECT, "DISPATCH_DIRECT", dispatch_direct, 5, 5, 0, ON_BOTH),
	ROW2(PM4_DISPATCH_INDIRECT, "DISPATCH_INDIRECT", dispatch_indirect_mec, 4, 4, 0, ON_COMPUTE, indirect_args),
	ROW(PM4_ATOMIC_GDS, "ATOMIC_GDS", NULL, 11, 11, P_TO11, ON_BOTH | P_UNKNOWN_BITS),
	ROW(PM4_ATOMIC_MEM, "ATOMIC_MEM", atomic_mem, 9, 9, 0, ON_BOTH),
	STATE(0x1f, "OCCLUSION_QUERY", 0),
	ROW(PM4_SET_PREDICATION, "SET_PREDICATION", set_predication, 4, 4, 0, ON_GFX),
	KERNEL(0x21, "REG_RMW", 0),
	ROW(PM4_COND_EXEC, "COND_EXEC", cond_exec, 5, 5, 0, ON_BOTH),
	ROW(PM4_PRED_EXEC, "PRED_EXEC", pred_exec, 2, 2, 0, ON_BOTH),
	GRAPHICS(0x24, "DRAW_INDIRECT", 0),
	GRAPHICS(0x25, "DRAW_INDEX_INDIRECT", 0),
	STATE(0x26, "INDEX_BASE", 0),
	GRAPHICS(0x27, "DRAW_INDEX_2", 0),
	ROW(PM4_CONTEXT_CONTROL, "CONTEXT_CONTROL", NULL, 3, 3, 0, ON_GFX | P_IGNORED | P_UNKNOWN_BITS),
	STATE(0x2a, "INDEX_TYPE", 0),
	GRAPHICS(0x2c, "DRAW_INDIRECT_MULTI", 0),
	GRAPHICS(0x2d, "DRAW_INDEX_AUTO", 0),
	STATE(0x2f, "NUM_INSTANCES", 0),
	GRAPHICS(0x30, "DRAW_INDEX_MULTI_AUTO", 0),
	KERNEL(0x32, "INDIRECT_BUFFER_PRIV", 0),
	ROW(PM4_INDIRECT_BUFFER_CNST, "INDIRECT_BUFFER_CNST", indirect_buffer, 4, 4, P_TO10, ON_GFX | P_UNMODELLED),
	GRAPHICS(0x34, "STRMOUT_BUFFER_UPDATE", 0),
	GRAPHICS(0x35, "DRAW_INDEX_OFFSET_2", 0),
	GRAPHICS(0x36, "DRAW_PREAMBLE", 0),
	ROW(PM4_WRITE_DATA, "WRITE_DATA", write_data, 5, ANY, 0, ON_BOTH),
	GRAPHICS(0x38, "DRAW_INDEX_INDIRECT_MULTI", 0),
	ROW(PM4_MEM_SEMAPHORE, "MEM_SEMAPHORE", NULL, 3, 4, P_TO10, ON_BOTH | P_UNMODELLED | P_UNKNOWN_BITS),
	ROW(PM4_WAIT_REG_MEM, "WAIT_REG_MEM", wait_reg_mem, 7, 7, 0, ON_BOTH),
	ROW(0x3d, "PERF_COUNTER_WINDOW", counter, 2, 2, P_11UP, ON_BOTH | P_IGNORED),
	ROW2(PM4_INDIRECT_BUFFER, "INDIRECT_BUFFER", indirect_buffer, 4, 4, 0, ON_BOTH, cond_indirect),
	ROW(PM4_COPY_DATA, "COPY_DATA", copy_data, 6, 6, 0, ON_BOTH),
	ROW(PM4_PFP_SYNC_ME, "PFP_SYNC_ME", counter, 2, 2, 0, ON_GFX | P_IGNORED),
	ROW(PM4_COND_WRITE, "COND_WRITE", cond_write, 9, 9, 0, ON_BOTH),
	ROW(PM4_EVENT_WRITE, "EVENT_WRITE", event_write, 2, 4, 0, ON_BOTH),
	ROW2(PM4_RELEASE_MEM, "RELEASE_MEM", release_mem_9, 8, 8, P_ALL9, ON_BOTH, release_gcr),
	STATE(0x4a, "PREAMBLE_CNTL", 0),
	GRAPHICS(0x4c, "DISPATCH_MESH_INDIRECT_MULTI", P_103UP),
	GRAPHICS(0x4d, "DISPATCH_TASKMESH_GFX", P_103UP),
	GRAPHICS(0x4e, "DISPATCH_MESH_DIRECT", P_11UP),
	ROW(PM4_DMA_DATA, "DMA_DATA", dma_data, 7, 7, 0, ON_BOTH),
	STATE(0x51, "CONTEXT_REG_RMW", 0),
	ROW(0x54, "PERFMON_CONTROL", NULL, 3, 3, P_103UP, ON_BOTH | P_IGNORED | P_UNKNOWN_BITS),
	ROW2(PM4_ACQUIRE_MEM, "ACQUIRE_MEM", acquire_mem_9, 7, 7, P_ALL9, ON_BOTH, acquire_gcr),
	ROW(PM4_REWIND, "REWIND", rewind_fields, 2, 2, 0, ON_BOTH),
	KERNEL(0x5a, "INTERRUPT", 0),
	KERNEL(0x5b, "GEN_PDEPTE", 0),
	KERNEL(0x5c, "INDIRECT_BUFFER_PASID", 0),
	ROW(PM4_PRIME_UTCL2, "PRIME_UTCL2", prime_utcl2, 5, 5, 0, ON_BOTH | P_IGNORED),
	ROW(PM4_LOAD_UCONFIG_REG, "LOAD_UCONFIG_REG", NULL, 5, ANY, 0, ON_GFX | P_UNKNOWN_BITS),
	ROW(PM4_LOAD_SH_REG, "LOAD_SH_REG", NULL, 5, ANY, 0, ON_GFX | P_UNKNOWN_BITS),
	KERNEL(0x60, "LOAD_CONFIG_REG", 0),
	ROW(PM4_LOAD_CONTEXT_REG, "LOAD_CONTEXT_REG", NULL, 5, ANY, 0, ON_GFX | P_UNKNOWN_BITS),
	KERNEL(0x62, "LOAD_COMPUTE_STATE", 0),
	ROW(PM4_LOAD_SH_REG_INDEX, "LOAD_SH_REG_INDEX", load_sh_reg_index, 5, 5, 0, ON_BOTH),
	ROW(0x64, "LOAD_UCONFIG_REG_INDEX", NULL, 5, 5, P_103UP, ON_GFX | P_IGNORED | P_UNKNOWN_BITS),
	ROW(PM4_SET_CONFIG_REG, "SET_CONFIG_REG", set_config_reg, 3, ANY, 0, ON_BOTH | P_PRIVILEGED),
	ROW(PM4_SET_CONTEXT_REG, "SET_CONTEXT_REG", set_context_reg, 3, ANY, 0, ON_GFX | P_UNKNOWN_BITS),
	ROW(PM4_SET_CONTEXT_REG_INDEX, "SET_CONTEXT_REG_INDEX", set_context_reg, 3, ANY, 0,
	    ON_GFX | P_UNKNOWN_BITS),
	STATE(0x71, "SET_VGPR_REG_DI_MULTI", 0),
	STATE(0x72, "SET_SH_REG_DI", 0),
	STATE(0x73, "SET_CONTEXT_REG_INDIRECT", 0),
	STATE(0x74, "SET_SH_REG_DI_MULTI", 0),
	ROW(PM4_SET_SH_REG, "SET_SH_REG", set_sh_reg, 3, ANY, 0, ON_BOTH | P_UNKNOWN_BITS),
	ROW(PM4_SET_SH_REG_OFFSET, "SET_SH_REG_OFFSET", set_sh_reg, 3, 4, 0,
	    ON_GFX | P_UNMODELLED | P_UNKNOWN_BITS),
	KERNEL(0x78, "SET_QUEUE_REG", 0),
	ROW(PM4_SET_UCONFIG_REG, "SET_UCONFIG_REG", set_uconfig_reg, 3, ANY, 0, ON_BOTH | P_UNKNOWN_BITS),
	ROW(PM4_SET_UCONFIG_REG_INDEX, "SET_UCONFIG_REG_INDEX", set_uconfig_reg, 3, ANY, 0,
	    ON_GFX | P_UNKNOWN_BITS),
	KERNEL(0x7d, "SCRATCH_RAM_WRITE", 0),
	KERNEL(0x7e, "SCRATCH_RAM_READ", 0),
	ROW(0x80, "LOAD_CONST_RAM", NULL, 5, 5, P_TO10, ON_GFX | P_IGNORED | P_UNKNOWN_BITS),
	ROW(0x81, "WRITE_CONST_RAM", NULL, 3, ANY, P_TO10, ON_GFX | P_IGNORED | P_UNKNOWN_BITS),
	ROW(0x83, "DUMP_CONST_RAM", NULL, 5, 5, P_TO10, ON_GFX | P_UNMODELLED | P_UNKNOWN_BITS),
	ROW(PM4_INCREMENT_CE_COUNTER, "INCREMENT_CE_COUNTER", counter, 2, 2, P_TO10, ON_GFX),
	ROW(PM4_INCREMENT_DE_COUNTER, "INCREMENT_DE_COUNTER", counter, 2, 2, P_TO10, ON_GFX),
	ROW(PM4_WAIT_ON_CE_COUNTER, "WAIT_ON_CE_COUNTER", counter, 2, 2, P_TO10, ON_GFX),
	ROW(PM4_WAIT_ON_DE_COUNTER_DIFF, "WAIT_ON_DE_COUNTER_DIFF", counter, 2, 2, P_TO10, ON_GFX),
	ROW(PM4_SET_CE_DE_COUNTERS, "SET_CE_DE_COUNTERS", counter, 2, 2, P_TO10, ON_GFX),
	KERNEL(0x8b, "SWITCH_BUFFER", 0),
	GRAPHICS(0x8c, "DISPATCH_DRAW_PREAMBLE", P_TO11),
	GRAPHICS(0x8d, "DISPATCH_DRAW", P_TO11),
	KERNEL(0x90, "FRAME_CONTROL", 0),
	GRAPHICS(0x91, "INDEX_ATTRIBUTES_INDIRECT", 0),
	ROW(PM4_WAIT_REG_MEM64, "WAIT_REG_MEM64", wait_reg_mem64, 9, 9, P_10UP, ON_BOTH),
	ROW(PM4_HDP_FLUSH, "HDP_FLUSH", hdp_flush, 2, 2, P_10UP, ON_COMPUTE),
	KERNEL(0x98, "INVALIDATE_TLBS", 0),
	ROW(PM4_DMA_DATA_FILL_MULTI, "DMA_DATA_FILL_MULTI", dma_data_fill_multi, 7, 7, P_10UP,
	    ON_BOTH | P_UNMODELLED),
	ROW(PM4_SET_SH_REG_INDEX, "SET_SH_REG_INDEX", set_sh_reg, 3, ANY, 0, ON_BOTH | P_UNKNOWN_BITS),
	GRAPHICS(0x9c, "DRAW_INDIRECT_COUNT_MULTI", 0),
	GRAPHICS(0x9d, "DRAW_INDEX_INDIRECT_COUNT_MULTI", 0),
	ROW(0x9f, "LOAD_CONTEXT_REG_INDEX", NULL, 5, 5, 0, ON_GFX | P_IGNORED | P_UNKNOWN_BITS),
	KERNEL(0xa0, "SET_RESOURCES", 0),
	KERNEL(0xa1, "MAP_PROCESS", 0),
	KERNEL(0xa2, "MAP_QUEUES", 0),
	KERNEL(0xa3, "UNMAP_QUEUES", 0),
	KERNEL(0xa4, "QUERY_STATUS", 0),
	KERNEL(0xa5, "RUN_LIST", 0),
	KERNEL(0xa6, "MAP_PROCESS_VM", 0),
	/* 2D interleaving, for the graphics ring. */
	ROW(PM4_DISPATCH_DIRECT_INTERLEAVED, "DISPATCH_DIRECT_INTERLEAVED", dispatch_direct, 5, 5, P_GFX12, ON_GFX),
	ROW(PM4_DISPATCH_INDIRECT_INTERLEAVED, "DISPATCH_INDIRECT_INTERLEAVED", dispatch_indirect_gfx, 3, 3,
	    P_GFX12, ON_GFX),
	/* Task shaders: they run on MEC, but belong to mesh draws. */
	ROW(0xa9, "DISPATCH_TASK_STATE_INIT", NULL, 3, 3, P_103UP, ON_BOTH | P_UNMODELLED | P_UNKNOWN_BITS),
	ROW(0xaa, "DISPATCH_TASKMESH_DIRECT_ACE", NULL, 6, 6, P_103UP, ON_BOTH | P_UNMODELLED | P_UNKNOWN_BITS),
	ROW(0xad, "DISPATCH_TASKMESH_INDIRECT_MULTI_ACE", NULL, 11, 11, P_103UP,
	    ON_BOTH | P_UNMODELLED | P_UNKNOWN_BITS),
	GRAPHICS(0xaf, "BUILD_UNTYPED_SRD", P_10UP),
	ROW(PM4_EVENT_WRITE_ZPASS, "EVENT_WRITE_ZPASS", zpass, 3, 3, P_11UP, ON_GFX),
	ROW(PM4_TIMESTAMP, "TIMESTAMP", timestamp, 6, 6, P_11UP, ON_BOTH),
	ROW(0xb4, "EXECUTE_INDIRECT_V2", NULL, 13, ANY, P_11UP, ON_BOTH | P_UNMODELLED | P_UNKNOWN_BITS),
	ROW(PM4_SET_CONTEXT_REG_PAIRS, "SET_CONTEXT_REG_PAIRS", context_reg_pairs, 3, ANY, P_11UP,
	    ON_GFX | P_IGNORED),
	ROW(PM4_SET_CONTEXT_REG_PAIRS_PACKED, "SET_CONTEXT_REG_PAIRS_PACKED", context_reg_packed, 5, ANY, P_GFX11,
	    ON_GFX | P_IGNORED),
	ROW(PM4_SET_SH_REG_PAIRS, "SET_SH_REG_PAIRS", sh_reg_pairs, 3, ANY, P_11UP, ON_BOTH),
	ROW(PM4_SET_SH_REG_PAIRS_PACKED, "SET_SH_REG_PAIRS_PACKED", sh_reg_packed, 5, ANY, P_GFX11, ON_BOTH),
	ROW(PM4_SET_SH_REG_PAIRS_PACKED_N, "SET_SH_REG_PAIRS_PACKED_N", sh_reg_packed, 5, ANY, P_GFX11, ON_BOTH),
	ROW(PM4_SET_UCONFIG_REG_PAIRS, "SET_UCONFIG_REG_PAIRS", uconfig_reg_pairs, 3, ANY, P_GFX12, ON_BOTH),
	ROW(PM4_PROTECTED_FENCE_SIGNAL, "PROTECTED_FENCE_SIGNAL", hdp_flush, 2, 2, P_11UP, ON_BOTH | P_USER_RING),
	ROW(PM4_FENCE_WAIT_MULTI, "FENCE_WAIT_MULTI", fence_wait_multi, 6, 130, P_11UP, ON_BOTH | P_USER_RING),
	KERNEL(0xd2, "RUN_CLEANER_SHADER", 0),
	KERNEL(0xd7, "RUN_CLEANER_SHADER", P_ALL9),
	KERNEL(0xf0, "SET_Q_PREEMPTION_MODE", P_10UP),
};

static bool length_fits(const struct packet_form *form, unsigned gen, unsigned dw)
{
	return form->name && packet_in(form->gens, gen) && dw >= form->min_dw && dw <= form->max_dw;
}

const struct packet_form *packet_pm4(unsigned gen, uint32_t header)
{
	const struct packet_form *first = &forms[pm4_opcode(header)], *form;
	unsigned dw = header == PM4_NOP_1DW ? 1 : pm4_body_dw(header) + 1;

	for (form = first; form; form = form->next)
		if (length_fits(form, gen, dw))
			return form;
	for (form = first; form; form = form->next)
		if (form->name && packet_in(form->gens, gen))
			return form;
	return NULL;
}

unsigned packet_gfx_gen(const struct vgpu_chip *chip)
{
	switch (chip->gc_version[0]) {
	case 9:
		return chip->gc_version[1] >= 4 && chip->gc_version[2] >= 3 ? P_GFX940 : P_GFX9;
	case 10:
		return chip->gc_version[1] >= 3 ? P_GFX103 : P_GFX101;
	case 11:
		return P_GFX11;
	default:
		return P_GFX12;
	}
}
