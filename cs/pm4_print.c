/* Prints IBs of compute rings, one line per packet (TUFF_LOG=ib). */
#include <stdarg.h>
#include <stdio.h>

#include "cs/internal.h"
#include "cs/pm4.h"

struct text {
	const struct drv_chip *chip;
	char line[400];
	unsigned length;
};

static void print_line(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void print_line(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->line + t->length, sizeof(t->line) - t->length, fmt, args);
	va_end(args);
	if (n > 0)
		t->length +=
			(unsigned)n < sizeof(t->line) - t->length ? (unsigned)n : sizeof(t->line) - t->length - 1;
}

static const struct {
	uint16_t reg;
	const char *name;
} reg_names[] = {
	{COMPUTE_START_X, "START_X"},
	{COMPUTE_START_X + 1, "START_Y"},
	{COMPUTE_START_X + 2, "START_Z"},
	{COMPUTE_NUM_THREAD_X, "NUM_THREAD_X"},
	{COMPUTE_NUM_THREAD_X + 1, "NUM_THREAD_Y"},
	{COMPUTE_NUM_THREAD_X + 2, "NUM_THREAD_Z"},
	{COMPUTE_PIPELINESTAT_ENABLE, "PIPELINESTAT"},
	{COMPUTE_PIPELINESTAT_ENABLE + 1, "PERFCOUNT"},
	{COMPUTE_PGM_LO, "PGM_LO"},
	{COMPUTE_PGM_LO + 1, "PGM_HI"},
	{COMPUTE_DISPATCH_PKT_ADDR_LO, "PKT_ADDR_LO"},
	{COMPUTE_DISPATCH_PKT_ADDR_LO + 1, "PKT_ADDR_HI"},
	{COMPUTE_DISPATCH_SCRATCH_BASE_LO, "SCRATCH_LO"},
	{COMPUTE_DISPATCH_SCRATCH_BASE_LO + 1, "SCRATCH_HI"},
	{COMPUTE_PGM_RSRC1, "RSRC1"},
	{COMPUTE_PGM_RSRC2, "RSRC2"},
	{COMPUTE_RESOURCE_LIMITS, "LIMITS"},
	{COMPUTE_STATIC_THREAD_MGMT_SE0, "CU_SE0"},
	{COMPUTE_STATIC_THREAD_MGMT_SE1, "CU_SE1"},
	{COMPUTE_TMPRING_SIZE, "TMPRING"},
	{COMPUTE_STATIC_THREAD_MGMT_SE2, "CU_SE2"},
	{COMPUTE_STATIC_THREAD_MGMT_SE3, "CU_SE3"},
	{COMPUTE_RESTART_X, "RESTART_X"},
	{COMPUTE_RESTART_X + 1, "RESTART_Y"},
	{COMPUTE_RESTART_X + 2, "RESTART_Z"},
	{COMPUTE_STATIC_THREAD_MGMT_SE8_GFX12, "CU_SE8"},
	{COMPUTE_USER_ACCUM_0, "ACCUM_0"},
	{COMPUTE_USER_ACCUM_0 + 1, "ACCUM_1"},
	{COMPUTE_USER_ACCUM_0 + 2, "ACCUM_2"},
	{COMPUTE_USER_ACCUM_0 + 3, "ACCUM_3"},
	{COMPUTE_DISPATCH_INTERLEAVE, "INTERLEAVE"},
	{COMPUTE_DISPATCH_TUNNEL, "TUNNEL"},
};

/* A register's name; NULL: unknown. Those of some chips have others' places. */
static const char *reg_name(const struct drv_chip *chip, unsigned reg)
{
	static const char *const se4[] = {"CU_SE4", "CU_SE5", "CU_SE6", "CU_SE7"};

	if (reg == chip->rsrc3_reg)
		return "RSRC3";
	if (reg == chip->tg_chunk_reg)
		return "TG_CHUNK";
	if (chip->se4_mask_reg && reg - chip->se4_mask_reg < 4)
		return se4[reg - chip->se4_mask_reg];
	for (size_t i = 0; i < sizeof(reg_names) / sizeof(reg_names[0]); i++)
		if (reg_names[i].reg == reg)
			return reg_names[i].name;
	return NULL;
}

static void say_reg(struct text *t, unsigned reg, uint32_t value)
{
	const char *name = reg_name(t->chip, reg);

	if (reg >= COMPUTE_USER_DATA_0 && reg < COMPUTE_USER_DATA_0 + 16) {
		print_line(t, " s%u=%x", reg - COMPUTE_USER_DATA_0, value);
		return;
	}
	if (name)
		print_line(t, " %s=%x", name, value);
	else
		print_line(t, " reg%x=%x", reg, value);
}

static uint64_t print_address(const uint32_t *lo)
{
	return lo[0] | (uint64_t)lo[1] << 32;
}

static void print_set_sh_reg(struct text *t, const uint32_t *body, unsigned dw)
{
	print_line(t, "SET_SH_REG");
	for (unsigned i = 1; i < dw; i++)
		say_reg(t, body[0] + i - 1, body[i]);
}

static void print_dispatch(struct text *t, const uint32_t *body, unsigned dw)
{
	(void)dw;
	print_line(t, "DISPATCH_DIRECT %u x %u x %u initiator %x%s", body[0], body[1], body[2], body[3],
		   body[3] & INITIATOR_PARTIAL_TG_EN ? " partial" : "");
}

struct bit_name {
	uint32_t bit;
	const char *name;
};

static void print_bits(struct text *t, uint32_t value, const struct bit_name *bits)
{
	for (; bits->bit; bits++)
		if (value & bits->bit)
			print_line(t, " %s", bits->name);
}

static void print_acquire(struct text *t, const uint32_t *body, unsigned dw)
{
	static const struct bit_name coher[] = {
		{COHER_TC_WB, "L2 write-back"}, {COHER_TC, "L2"},        {COHER_TCL1, "L1"},
		{COHER_SH_KCACHE, "K$"},        {COHER_SH_ICACHE, "I$"}, {0, NULL}};
	static const struct bit_name gcr[] = {{GCR_GL2_WB, "L2 write-back"},
					      {GCR_GL2_INV, "L2"},
					      {GCR_GL1_INV, "L1"},
					      {GCR_GLV_INV, "L0"},
					      {GCR_GLK_INV, "K$"},
					      {GCR_GLI_INV, "I$"},
					      {0, NULL}};
	bool has_gcr = dw > 6;

	print_line(t, "ACQUIRE_MEM %08x:", body[has_gcr ? 6 : 0]);
	print_bits(t, body[has_gcr ? 6 : 0], has_gcr ? gcr : coher);
}

static void print_release(struct text *t, const uint32_t *body, unsigned dw)
{
	uint32_t write_back = t->chip->pm4 == DRV_PM4_GFX9 ? RELEASE_TC_WB : RELEASE_GL2_WB;

	(void)dw;
	print_line(t, "RELEASE_MEM event %02x%s to %llx: ", body[0] & 0x3f,
		   body[0] & write_back ? " L2 write-back" : "", (unsigned long long)print_address(body + 2));
	if (body[1] >> 29 == 3)
		print_line(t, "clock");
	else
		print_line(t, "%llx", (unsigned long long)print_address(body + 4));
}

static void print_set_uconfig_reg(struct text *t, const uint32_t *body, unsigned dw)
{
	print_line(t, "SET_UCONFIG_REG");
	for (unsigned i = 1; i < dw; i++)
		print_line(t, " reg%x=%x", body[0] + i - 1, body[i]);
}

static void print_event(struct text *t, const uint32_t *body, unsigned dw)
{
	(void)dw;
	print_line(t, "EVENT_WRITE %s", body[0] == EVENT_CS_PARTIAL_FLUSH ? "CS_PARTIAL_FLUSH" : "?");
}

static void print_wait(struct text *t, const uint32_t *body, unsigned dw)
{
	static const char *const ops[] = {"always", "<", "<=", "==", "!=", ">=", ">", "?"};

	(void)dw;
	print_line(t, "WAIT_REG_MEM %llx & %x %s %x", (unsigned long long)print_address(body + 1), body[4],
		   ops[body[0] & 7], body[3]);
}

static void print_write(struct text *t, const uint32_t *body, unsigned dw)
{
	print_line(t, "WRITE_DATA to %llx:", (unsigned long long)print_address(body + 1));
	for (unsigned i = 3; i < dw; i++)
		print_line(t, " %x", body[i]);
}

static void print_copy(struct text *t, const uint32_t *body, unsigned dw)
{
	(void)dw;
	print_line(t, "COPY_DATA %s to %llx", (body[0] & 0xf) == 9 ? "clock" : "?",
		   (unsigned long long)print_address(body + 3));
}

static void print_ib(struct text *t, const uint32_t *body, unsigned dw)
{
	(void)dw;
	print_line(t, "INDIRECT_BUFFER%s %llx, %u dwords", body[2] & IB_CHAIN ? " chain" : "",
		   (unsigned long long)print_address(body), body[2] & IB_SIZE_MAX_DW);
}

static const struct {
	uint8_t op, body_dw; /* body_dw: least size */
	void (*print)(struct text *t, const uint32_t *body, unsigned dw);
} packets[] = {
	{PM4_SET_SH_REG, 1, print_set_sh_reg}, {PM4_DISPATCH_DIRECT, 4, print_dispatch},
	{PM4_ACQUIRE_MEM, 6, print_acquire},   {PM4_RELEASE_MEM, 7, print_release},
	{PM4_EVENT_WRITE, 1, print_event},     {PM4_WAIT_REG_MEM, 6, print_wait},
	{PM4_WRITE_DATA, 3, print_write},      {PM4_COPY_DATA, 5, print_copy},
	{PM4_INDIRECT_BUFFER, 3, print_ib},    {PM4_SET_UCONFIG_REG, 1, print_set_uconfig_reg},
};

static void print_packet(struct text *t, const uint32_t *packet, unsigned body_dw)
{
	unsigned op = PM4_HEADER_OP(packet[0]);

	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		if (packets[i].op == op && body_dw >= packets[i].body_dw) {
			packets[i].print(t, packet + 1, body_dw);
			return;
		}
	print_line(t, "packet %02x, %u dwords", op, body_dw + 1);
}

void cs_pm4_print(const struct drv_chip *chip, const uint32_t *ib, uint32_t count, uint64_t va)
{
	for (uint32_t i = 0; i < count;) {
		struct text t = {.chip = chip};
		unsigned body_dw = PM4_HEADER_BODY_DW(ib[i]);

		if (ib[i] == PM4_NOP(1)) {
			i++;
			continue;
		}
		print_line(&t, "  %llx: ", (unsigned long long)va + 4ull * i);
		if (ib[i] >> 30 != 3 || body_dw >= count - i) {
			print_line(&t, "no packet: %08x", ib[i]);
			drv_log(DRV_LOG_IB, "%s", t.line);
			return;
		}
		print_packet(&t, ib + i, body_dw);
		drv_log(DRV_LOG_IB, "%s", t.line);
		/* Our IBs have the same address on CPU and GPU, so the printer can follow a chain. */
		if (PM4_HEADER_OP(ib[i]) == PM4_INDIRECT_BUFFER && body_dw >= 3 && ib[i + 3] & IB_CHAIN) {
			va = print_address(ib + i + 1);
			count = ib[i + 3] & IB_SIZE_MAX_DW;
			ib = (const uint32_t *)(uintptr_t)va;
			i = 0;
			continue;
		}
		i += 1 + body_dw;
	}
}
