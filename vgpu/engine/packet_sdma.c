/* SDMA packets, form by form (packet.h). */
#include "vgpu/engine/packet_fields.h"
#include "vgpu/engine/regs.h"
#include "vgpu/engine/sdma.h"

/* Cache bits of a header: 4.x has none, 7.0 other ones. */
#define POLICY(hi, lo)       GDEC(P_SDMA526, "policy", 0, hi, lo), GFLAG(P_SDMA526, "cpv", 0, 28)
#define MALL(dw, hi, lo)     GDEC(P_SDMA70, "mall", dw, hi, lo)
#define TMZ                  FLAG("tmz", 0, 18)
#define LOOSE(g, dw, hi, lo) {"", dw, hi, lo, FIELD_RESERVED, g, NULL}

static const char *const function[] = {"always", "<", "<=", "==", "!=", ">=", ">", "7", NULL};
static const char *const fillsize[] = {"bytes", "halfwords", "dwords", "3", NULL};
static const char *const element[] = {"1", "2", "4", "8", "16", "5", "6", "7", NULL};

static const struct packet_field nop[] = {
	DATA("", 1),
	LOOSE(0, 0, 29, 16),
	END,
};
#define COPY_HEADER                                                                                                \
	TMZ, GFLAG(P_SDMA40 | P_SDMA50, "encrypt", 0, 16), GFLAG(P_SDMA526, "cpv", 0, 19),                         \
		GFLAG(P_SDMA5U, "backwards", 0, 25)
#define COPY_PARAMETER                                                                                             \
	DEC("dst_swap", 2, 17, 16), DEC("src_swap", 2, 25, 24), GDEC(P_SDMA526, "dst_policy", 2, 20, 18),          \
		GDEC(P_SDMA526, "src_policy", 2, 28, 26), GDEC(P_SDMA70, "dst_mall", 2, 21, 20),                   \
		GDEC(P_SDMA70, "src_mall", 2, 29, 28)
#define LESS1(n, dw, hi, lo) {n, dw, hi, lo, FIELD_LESS1, 0, NULL}
static const struct packet_field copy_linear[] = {
	VA("src", 3), VA("dst", 5), LESS1("size", 1, 31, 0), COPY_HEADER, COPY_PARAMETER, END,
};
static const struct packet_field copy_linear_dcc[] = {
	VA("src", 3),       VA("dst", 5),   LESS1("size", 1, 31, 0), COPY_HEADER,
	FLAG("dcc", 0, 19), COPY_PARAMETER, HEX("meta", 7, 31, 0),   END,
};
static const struct packet_field copy_broadcast[] = {
	VA("src", 3),
	VA("dst", 5),
	VA("dst2", 7),
	LESS1("size", 1, 31, 0),
	LOOSE(0, 0, 27, 27),
	COPY_HEADER,
	COPY_PARAMETER,
	DEC("dst2_swap", 2, 9, 8),
	GDEC(P_SDMA526, "dst2_policy", 2, 12, 10),
	GDEC(P_SDMA70, "dst2_mall", 2, 13, 12),
	END,
};
#define G(g, n, dw, hi, lo, kind) {n, dw, hi, lo, kind, g, NULL}
#define WINDOW(n, at)                                                                                              \
	VA(n, at), G(P_SDMA40 | P_SDMA56, "x", at + 2, 13, 0, FIELD_COUNT),                                        \
		G(P_SDMA40 | P_SDMA56, "y", at + 2, 29, 16, FIELD_COUNT),                                          \
		G(P_SDMA70, "x", at + 2, 15, 0, FIELD_COUNT), G(P_SDMA70, "y", at + 2, 31, 16, FIELD_COUNT),       \
		G(P_SDMA40, "z", at + 3, 10, 0, FIELD_COUNT), G(P_SDMA56, "z", at + 3, 12, 0, FIELD_COUNT),        \
		G(P_SDMA70, "z", at + 3, 13, 0, FIELD_COUNT),                                                      \
		G(P_SDMA40 | P_SDMA56, "pitch", at + 3, 31, 13, FIELD_LESS1),                                      \
		G(P_SDMA70, "pitch", at + 3, 31, 16, FIELD_LESS1),                                                 \
		G(P_SDMA40 | P_SDMA56, "slice", at + 4, 27, 0, FIELD_LESS1),                                       \
		G(P_SDMA70, "slice", at + 4, 31, 0, FIELD_LESS1)
static const struct packet_field copy_sub_window[] = {
	{"element", 0, 31, 29, FIELD_NAME, 0, element},
	WINDOW("src", 1),
	WINDOW("dst", 6),
	G(P_SDMA40 | P_SDMA56, "w", 11, 13, 0, FIELD_LESS1),
	G(P_SDMA40 | P_SDMA56, "h", 11, 29, 16, FIELD_LESS1),
	G(P_SDMA70, "w", 11, 15, 0, FIELD_LESS1),
	G(P_SDMA70, "h", 11, 31, 16, FIELD_LESS1),
	G(P_SDMA40, "d", 12, 10, 0, FIELD_LESS1),
	G(P_SDMA56, "d", 12, 12, 0, FIELD_LESS1),
	G(P_SDMA70, "d", 12, 13, 0, FIELD_LESS1),
	TMZ,
	GFLAG(P_SDMA526, "cpv", 0, 19),
	DEC("dst_swap", 12, 17, 16),
	DEC("src_swap", 12, 25, 24),
	GDEC(P_SDMA526, "dst_policy", 12, 20, 18),
	GDEC(P_SDMA526, "src_policy", 12, 28, 26),
	GDEC(P_SDMA70, "dst_mall", 12, 21, 20),
	GDEC(P_SDMA70, "src_mall", 12, 29, 28),
	END,
};
#define LARGE(n, at)                                                                                               \
	VA(n, at), COUNT("x", at + 2, 31, 0), COUNT("y", at + 3, 31, 0), COUNT("z", at + 4, 31, 0),                \
		LESS1("pitch", at + 5, 31, 0), LESS1("slice", at + 6, 31, 0), HEX("slice_hi", at + 7, 15, 0)
static const struct packet_field copy_large[] = {
	{"element", 0, 31, 29, FIELD_NAME, 0, element},
	LARGE("src", 1),
	LARGE("dst", 9),
	LESS1("w", 17, 31, 0),
	LESS1("h", 18, 31, 0),
	LESS1("d", 19, 31, 0),
	TMZ,
	GFLAG(P_SDMA60, "cpv", 0, 19),
	DEC("dst_swap", 16, 17, 16),
	DEC("src_swap", 16, 25, 24),
	GDEC(P_SDMA60, "dst_policy", 16, 20, 18),
	GDEC(P_SDMA60, "src_policy", 16, 28, 26),
	GDEC(P_SDMA70, "dst_mall", 16, 21, 20),
	GDEC(P_SDMA70, "src_mall", 16, 29, 28),
	END,
};
static const struct packet_field tiled[] = {
	VA("tiled", 1),
	FLAG("detile", 0, 31),
	END,
};
static const struct packet_field t2t[] = {
	VA("src", 1),
	VA("dst", 7),
	END,
};
static const struct packet_field write_linear[] = {
	VA("dst", 1),
	LESS1("dw", 3, 19, 0),
	TMZ,
	FLAG("encrypt", 0, 16),
	GFLAG(P_SDMA526, "cpv", 0, 28),
	DEC("swap", 3, 25, 24),
	GDEC(P_SDMA526, "policy", 3, 28, 26),
	LOOSE(P_SDMA70, 3, 23, 20),
	MALL(3, 29, 28),
	DATA("", 4),
	END,
};
static const struct packet_field indirect[] = {
	VA("va", 1), COUNT("dw", 3, 19, 0), VA("csa", 4), DEC("vmid", 0, 19, 16), FLAG("priv", 0, 31), END,
};
static const struct packet_field fence[] = {
	VA("va", 1),
	WORD("data", 3),
	GDEC(P_SDMA5U, "mtype", 0, 18, 16),
	GFLAG(P_SDMA56, "gcc", 0, 19),
	GFLAG(P_SDMA5U, "sys", 0, 20),
	GFLAG(P_SDMA5U, "snoop", 0, 22),
	GFLAG(P_SDMA5U, "gpa", 0, 23),
	GDEC(P_SDMA56, "policy", 0, 25, 24),
	GFLAG(P_SDMA526, "llc", 0, 26),
	MALL(0, 27, 26),
	GFLAG(P_SDMA526, "cpv", 0, 28),
	END,
};
static const struct packet_field trap[] = {
	HEX("ctx", 1, 27, 0),
	END,
};
static const struct packet_field semaphore[] = {
	VA("va", 1), FLAG("write_one", 0, 29), FLAG("signal", 0, 30), FLAG("mailbox", 0, 31), END,
};
static const struct packet_field poll_regmem[] = {
	GFLAG(P_SDMA40 | P_SDMA56, "hdp_flush", 0, 26),
	FLAG("memory", 0, 31),
	VA("va", 1),
	{"", 0, 30, 28, FIELD_NAME, 0, function},
	WORD("ref", 3),
	WORD("mask", 4),
	COUNT("interval", 5, 15, 0),
	HEX("retries", 5, 27, 16),
	GDEC(P_SDMA526, "policy", 0, 22, 20),
	GFLAG(P_SDMA526, "cpv", 0, 24),
	LOOSE(P_SDMA70, 0, 19, 16),
	MALL(0, 23, 22),
	GDEC(P_SDMA70, "mode", 0, 27, 26),
	END,
};
static const struct packet_field cond_exe[] = {
	VA("va", 1), WORD("ref", 3), COUNT("dw", 4, 13, 0), POLICY(26, 24), MALL(0, 27, 26), END,
};
static const struct packet_field atomic[] = {
	{"", 0, 31, 25, FIELD_ATOMIC, 0, NULL},
	FLAG("loop", 0, 16),
	TMZ,
	VA("va", 1),
	N64("src", 3),
	N64("cmp", 5),
	DEC("interval", 7, 12, 0),
	GDEC(P_SDMA526, "policy", 0, 22, 20),
	GFLAG(P_SDMA526, "cpv", 0, 24),
	MALL(0, 23, 22),
	END,
};
static const struct packet_field const_fill[] = {
	VA("dst", 1),
	WORD("data", 3),
	HEX("last", 4, 31, 0),
	{"", 0, 31, 30, FIELD_NAME, 0, fillsize},
	GDEC(P_SDMA40 | P_SDMA56, "swap", 0, 17, 16),
	POLICY(26, 24),
	GFLAG(P_SDMA70, "nopte_comp", 0, 16),
	LOOSE(P_SDMA70, 0, 23, 20),
	MALL(0, 27, 26),
	END,
};
static const struct packet_field fill_multi[] = {
	VA("dst", 3), COUNT("stride", 1, 31, 0), COUNT("times", 2, 31, 0), COUNT("size", 5, 25, 0), END,
};
static const struct packet_field timestamp_set[] = {
	N64("", 1),
	END,
};
static const struct packet_field timestamp_get[] = {
	VA("va", 1),
	GDEC(P_SDMA526, "policy", 0, 25, 24),
	GFLAG(P_SDMA526, "llc", 0, 26),
	GFLAG(P_SDMA526, "cpv", 0, 28),
	MALL(0, 27, 26),
	END,
};
static const struct packet_field pre_exe[] = {
	HEX("devices", 0, 23, 16),
	COUNT("dw", 1, 13, 0),
	END,
};
static const char *const gli[] = {"", "gli_inv", "gli_range", "gli_first_last", NULL};
static const char *const gl2_range[] = {"", "volatile", "range", "first_last", NULL};
static const char *const seq[] = {"", "forward", "reverse", "3", NULL};
/* GCR_CNTL is spread over two dwords, from bit 16 up. */
static const struct packet_field gcr_req[] = {
	NAME("", 2, 17, 16, gli),
	NAME("gl1", 2, 19, 18, gl2_range),
	FLAG("glm_wb", 2, 20),
	FLAG("glm_inv", 2, 21),
	FLAG("glk_wb", 2, 22),
	FLAG("glk_inv", 2, 23),
	FLAG("glv_inv", 2, 24),
	FLAG("gl1_inv", 2, 25),
	FLAG("gl2_us", 2, 26),
	NAME("gl2", 2, 28, 27, gl2_range),
	FLAG("gl2_discard", 2, 29),
	FLAG("gl2_inv", 2, 30),
	FLAG("gl2_wb", 2, 31),
	NAME("seq", 3, 1, 0, seq),
	FLAG("physical", 3, 2),
	GFLAG(P_SDMA70, "gcr19", 3, 3),
	HEX("base", 1, 31, 7),
	GFLAG(P_SDMA70, "broadcast", 1, 1),
	HEX("base_hi", 2, 15, 0),
	HEX("limit", 3, 31, 7),
	HEX("limit_hi", 4, 15, 0),
	DEC("vmid", 4, 27, 24),
	END,
};

/* --- the table --- */

#define ROW(op, sub, bit, name, fields, from, to, gens, flags)                                                     \
	{name, fields, from, to, gens, flags, op, sub, bit, NULL}
#define FIXED(op, sub, name, fields, dw, gens) ROW(op, sub, 0, name, fields, dw, dw, gens, 0)
#define KERNEL(op, sub, name, dw, gens)        ROW(op, sub, 0, name, NULL, dw, dw, gens, P_PRIVILEGED | P_UNKNOWN_BITS)
#define TILED(sub, bit, name, fields, dw, gens)                                                                    \
	ROW(SDMA_COPY, sub, bit, name, fields, dw, PACKET_ANY, gens, P_UNMODELLED | P_UNKNOWN_BITS)

/* Rows by operation; among rows of the same operation a row with a bit to test comes first. */
static const struct packet_form forms[] = {
	ROW(SDMA_NOP, 0, 0, "NOP", nop, 1, PACKET_ANY, 0, P_IGNORED),
	ROW(SDMA_COPY, 0, 27, "COPY_BROADCAST", copy_broadcast, 9, 9, 0, 0),
	ROW(SDMA_COPY, 0, 19, "COPY_LINEAR", copy_linear_dcc, 8, 8, P_SDMA70, 0),
	FIXED(SDMA_COPY, 0, "COPY_LINEAR", copy_linear, 7, 0),
	FIXED(SDMA_COPY, SDMA_COPY_SUB_WINDOW, "COPY_SUB_WINDOW", copy_sub_window, 13, 0),
	FIXED(SDMA_COPY, SDMA_COPY_SUB_WINDOW_LARGE, "COPY_SUB_WINDOW_LARGE", copy_large, 20, P_SDMA60 | P_SDMA70),
	TILED(1, 27, "COPY_TILED_BROADCAST", tiled, 16, 0),
	TILED(1, 0, "COPY_TILED", tiled, 13, 0),
	TILED(3, 0, "COPY_STRUCT", NULL, 8, 0),
	TILED(5, 0, "COPY_TILED_SUB_WINDOW", tiled, 14, 0),
	TILED(6, 0, "COPY_T2T_SUB_WINDOW", t2t, 15, 0),
	TILED(17, 0, "COPY_TILED_BC", tiled, 13, P_SDMA56),
	TILED(21, 0, "COPY_TILED_SUB_WINDOW_BC", tiled, 14, P_SDMA56),
	TILED(22, 0, "COPY_T2T_SUB_WINDOW_BC", t2t, 15, P_SDMA56),
	KERNEL(SDMA_COPY, 7, "COPY_DIRTY_PAGE", 7, 0),
	KERNEL(SDMA_COPY, 8, "COPY_PHYSICAL", 7, 0),
	KERNEL(SDMA_COPY, 12, "COPY_PAGE_TRANSFER", 11, P_SDMA70),
	ROW(SDMA_WRITE, 0, 0, "WRITE", write_linear, 5, PACKET_ANY, 0, 0),
	ROW(SDMA_WRITE, 1, 0, "WRITE_TILED", tiled, 10, PACKET_ANY, 0, P_UNMODELLED | P_UNKNOWN_BITS),
	ROW(SDMA_WRITE, 17, 0, "WRITE_TILED_BC", tiled, 10, PACKET_ANY, P_SDMA56, P_UNMODELLED | P_UNKNOWN_BITS),
	ROW(SDMA_INDIRECT, 0, 0, "INDIRECT", indirect, 6, 6, 0, P_PRIVILEGED | P_UNKNOWN_BITS),
	FIXED(SDMA_FENCE, 0, "FENCE", fence, 4, 0),
	ROW(SDMA_TRAP, 0, 0, "TRAP", trap, 2, 2, 0, P_IGNORED),
	ROW(SDMA_SEM, 0, 0, "SEM", semaphore, 3, 3, 0, P_UNMODELLED | P_UNKNOWN_BITS),
	FIXED(SDMA_POLL_REGMEM, 0, "POLL_REGMEM", poll_regmem, 6, 0),
	KERNEL(SDMA_POLL_REGMEM, 1, "POLL_REG_WRITE_MEM", 4, 0),
	KERNEL(SDMA_POLL_REGMEM, 2, "POLL_DBIT_WRITE_MEM", 5, 0),
	ROW(SDMA_POLL_REGMEM, 3, 0, "POLL_MEM_VERIFY", NULL, 13, 13, 0, P_UNMODELLED | P_UNKNOWN_BITS),
	KERNEL(SDMA_POLL_REGMEM, 4, "VM_INVALIDATION", 4, P_SDMA60 | P_SDMA70),
	FIXED(SDMA_COND_EXE, 0, "COND_EXE", cond_exe, 5, 0),
	FIXED(SDMA_ATOMIC, 0, "ATOMIC", atomic, 8, 0),
	FIXED(SDMA_CONST_FILL, 0, "CONST_FILL", const_fill, 5, 0),
	ROW(SDMA_CONST_FILL, 1, 0, "DATA_FILL_MULTI", fill_multi, 6, 6, 0, P_UNMODELLED | P_UNKNOWN_BITS),
	KERNEL(SDMA_PTEPDE, 0, "WRITE_INCR", 10, 0),
	KERNEL(SDMA_PTEPDE, 1, "PTEPDE_COPY", 8, 0),
	KERNEL(SDMA_PTEPDE, 2, "PTEPDE_RMW", 7, 0),
	KERNEL(SDMA_PTEPDE, 3, "PTEPDE_COPY_BACKWARDS", 7, 0),
	FIXED(SDMA_TIMESTAMP, SDMA_TIMESTAMP_SET, "TIMESTAMP_SET", timestamp_set, 3, 0),
	FIXED(SDMA_TIMESTAMP, SDMA_TIMESTAMP_GET, "TIMESTAMP_GET", timestamp_get, 3, 0),
	FIXED(SDMA_TIMESTAMP, SDMA_TIMESTAMP_GET_GLOBAL, "TIMESTAMP_GET_GLOBAL", timestamp_get, 3, 0),
	KERNEL(SDMA_SRBM_WRITE, 0, "SRBM_WRITE", 3, 0),
	KERNEL(SDMA_SRBM_WRITE, 1, "REGISTER_RMW", 5, P_SDMA60 | P_SDMA70),
	FIXED(SDMA_PRE_EXE, 0, "PRE_EXE", pre_exe, 2, 0),
	ROW(SDMA_DUMMY_TRAP_4, 0, 0, "DUMMY_TRAP", trap, 2, 2, P_SDMA40, P_IGNORED),
	KERNEL(SDMA_GPUVM_INV, 0, "GPUVM_INV", 4, P_SDMA5U),
	FIXED(SDMA_GCR_REQ, 0, "GCR_REQ", gcr_req, 5, P_SDMA5U),
	FIXED(SDMA_GCR_REQ, 1, "GCR_REQ_USER", gcr_req, 5, P_SDMA5U),
	ROW(SDMA_DUMMY_TRAP, 0, 0, "DUMMY_TRAP", trap, 2, 2, P_SDMA5U, P_IGNORED),
};

const struct packet_form *packet_sdma(unsigned gen, uint32_t header)
{
	const unsigned count = sizeof(forms) / sizeof(forms[0]);
	unsigned op = bits(header, 7, 0), sub = op == SDMA_NOP ? 0 : bits(header, 15, 8);
	unsigned lo = 0, hi = count;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (forms[mid].op < op)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < count && forms[lo].op == op; lo++)
		if (forms[lo].sub == sub && packet_in(forms[lo].gens, gen) &&
		    (!forms[lo].bit || header >> forms[lo].bit & 1))
			return &forms[lo];
	return NULL;
}

uint32_t packet_sdma_dw(const struct packet_form *form, const uint32_t *dw, uint32_t have_dw)
{
	switch (form->op) {
	case SDMA_NOP:
		return 1 + bits(dw[0], 29, 16);
	case SDMA_WRITE:
		if (form->sub)
			return have_dw > 8 ? 9 + bits(dw[8], 19, 0) + 1 : 0;
		return have_dw > 3 ? 4 + bits(dw[3], 19, 0) + 1 : 0;
	default:
		return form->min_dw;
	}
}

unsigned packet_sdma_gen(const struct vgpu_chip *chip)
{
	switch (chip->sdma_version[0]) {
	case 4:
		return P_SDMA40;
	case 5:
		return chip->sdma_version[1] >= 2 ? P_SDMA52 : P_SDMA50;
	case 6:
		return P_SDMA60;
	default:
		return P_SDMA70;
	}
}
