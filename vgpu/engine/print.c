/* Packets as text (print.h), and the bits that a packet has no field for. */
#include "vgpu/engine/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "vgpu/engine/atomic.h"
#include "vgpu/engine/packet.h"
#include "vgpu/engine/pm4.h"
#include "vgpu/engine/regs.h"

/* Dwords and registers of one packet that a line names; the rest is counted. */
#define DWORDS_SHOWN    4
#define REGISTERS_SHOWN 20

struct line {
	char *text;
	size_t text_B, used_B;
	unsigned gen;
	const uint32_t *dw;
	unsigned count;
};

__attribute__((format(printf, 2, 3))) static void add_text(struct line *line, const char *fmt, ...)
{
	size_t left_B = line->text_B - line->used_B;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line->text + line->used_B, left_B, fmt, args);
	va_end(args);
	if (n > 0)
		line->used_B += (size_t)n < left_B ? (size_t)n : left_B - 1;
}

static uint64_t read_pair(const struct line *line, unsigned dw)
{
	return line->dw[dw] | (dw + 1 < line->count ? (uint64_t)line->dw[dw + 1] << 32 : 0);
}

/* " name=" or " ". */
static void add_name(struct line *line, const char *name)
{
	add_text(line, name[0] ? " %s=" : " ", name);
}

static const char *name_at(const char *const *names, unsigned value)
{
	for (unsigned i = 0; i <= value; i++)
		if (!names[i])
			return NULL;
	return names[value];
}

static void add_enum(struct line *line, const struct packet_field *f, uint32_t value)
{
	const char *name = f->kind == FIELD_ATOMIC ? engine_atomic_name(value) : name_at(f->names, value);

	if (name && !name[0] && !value)
		return;
	add_name(line, f->name);
	if (!name || !name[0])
		add_text(line, "%u", value);
	else if (f->kind == FIELD_ATOMIC)
		add_text(line, "%s%s%s", name, engine_atomic_is_64(value) ? "_64" : "_32",
			 engine_atomic_returns(value) ? "_rtn" : "");
	else
		add_text(line, "%s", name);
}

static void add_dwords(struct line *line, unsigned first)
{
	for (unsigned i = first; i < line->count && i < first + DWORDS_SHOWN; i++)
		add_text(line, " 0x%x", line->dw[i]);
	if (line->count > first + DWORDS_SHOWN)
		add_text(line, " ... %u dwords", line->count - first);
}

static void add_register(struct line *line, enum packet_window window, unsigned offset, uint32_t value)
{
	const char *name = packet_register(line->gen, window, offset);

	if (name)
		add_text(line, " %s=0x%x", name, value);
	else
		add_text(line, " 0x%x=0x%x", offset, value);
}

static void add_more(struct line *line, unsigned registers)
{
	if (registers > REGISTERS_SHOWN)
		add_text(line, " ... %u registers", registers);
}

static void add_run(struct line *line, const struct packet_field *f)
{
	unsigned first = line->dw[f->dw] & 0xffff, count = line->count - f->dw - 1;

	for (unsigned i = 0; i < count && i < REGISTERS_SHOWN; i++)
		add_register(line, f->lo, first + i, line->dw[f->dw + 1 + i]);
	add_more(line, count);
}

static void add_pairs(struct line *line, const struct packet_field *f)
{
	unsigned count = (line->count - f->dw) / 2;

	for (unsigned i = 0; i < count && i < REGISTERS_SHOWN; i++)
		add_register(line, f->lo, line->dw[f->dw + 2 * i] & 0xffff, line->dw[f->dw + 2 * i + 1]);
	add_more(line, count);
}

static void add_packed(struct line *line, const struct packet_field *f)
{
	unsigned count = (line->count - f->dw) / 3;

	for (unsigned i = 0; i < count && i < REGISTERS_SHOWN / 2; i++) {
		const uint32_t *at = &line->dw[f->dw + 3 * i];

		add_register(line, f->lo, at[0] & 0xffff, at[1]);
		add_register(line, f->lo, at[0] >> 16, at[2]);
	}
	add_more(line, 2 * count);
}

static void add_number(struct line *line, const struct packet_field *f, uint32_t value)
{
	bool decimal = f->kind == FIELD_DEC || f->kind == FIELD_COUNT || f->kind == FIELD_LESS1;

	if (!value && (f->kind == FIELD_HEX || f->kind == FIELD_DEC))
		return;
	add_name(line, f->name);
	if (f->kind == FIELD_LESS1)
		add_text(line, "%llu", value + 1ull);
	else
		add_text(line, decimal ? "%u" : "0x%x", value);
}

static void add_field(struct line *line, const struct packet_field *f)
{
	uint32_t value = bits(line->dw[f->dw], f->hi, f->kind >= FIELD_REGS ? 0 : f->lo);

	switch (f->kind) {
	case FIELD_RESERVED:
		break;
	case FIELD_FLAG:
		if (value)
			add_text(line, " %s", f->name);
		break;
	case FIELD_NAME:
	case FIELD_ATOMIC:
		add_enum(line, f, value);
		break;
	case FIELD_VA:
	case FIELD_64:
		add_name(line, f->name);
		add_text(line, "0x%llx", (unsigned long long)read_pair(line, f->dw));
		break;
	case FIELD_DATA:
		add_dwords(line, f->dw);
		break;
	case FIELD_REGS:
		add_run(line, f);
		break;
	case FIELD_PAIRS:
		add_pairs(line, f);
		break;
	case FIELD_PACKED:
		add_packed(line, f);
		break;
	default:
		add_number(line, f, value);
	}
}

static void add_packet(struct line *line, const struct packet_form *form, unsigned dw)
{
	add_text(line, "%s", form->name);
	if (line->count > dw)
		line->count = dw;
	if (line->count < dw)
		add_text(line, " (%u of %u dwords)", line->count, dw);
	if (!form->fields)
		add_dwords(line, 1);
	for (const struct packet_field *f = form->fields; f && f->name; f++)
		if (f->dw < line->count && packet_in(f->gens, line->gen))
			add_field(line, f);
}

static unsigned print_pm4(struct line *line)
{
	uint32_t header = line->dw[0];
	const struct packet_form *form = pm4_type(header) == 3 ? packet_pm4(line->gen, header) : NULL;
	unsigned dw = header == PM4_NOP_1DW ? 1 : pm4_body_dw(header) + 1;

	if (pm4_type(header) != 3) {
		add_text(line, "type %u packet 0x%08x", pm4_type(header), header);
		return 1;
	}
	if (form) {
		add_packet(line, form, dw);
	} else {
		add_text(line, "opcode 0x%02x", pm4_opcode(header));
		line->count = line->count < dw ? line->count : dw;
		add_dwords(line, 1);
	}
	if (header & PM4_PREDICATE)
		add_text(line, " predicate");
	return dw;
}

static unsigned print_sdma(struct line *line)
{
	uint32_t header = line->dw[0], dw;
	const struct packet_form *form = packet_sdma(line->gen, header);

	if (!form) {
		add_text(line, "operation %u.%u (header 0x%08x)", header & 0xff, header >> 8 & 0xff, header);
		return 1;
	}
	dw = packet_sdma_dw(form, line->dw, line->count);
	if (!dw)
		dw = form->min_dw;
	add_packet(line, form, dw);
	return dw;
}

unsigned engine_packet_print(const struct vgpu_chip *chip, enum engine_ip ip, const uint32_t *dw, unsigned dw_count,
			     char *text, size_t text_B)
{
	struct line line = {.text = text, .text_B = text_B, .dw = dw, .count = dw_count};

	if (text_B)
		text[0] = 0;
	if (!text_B || !dw_count)
		return 1;
	line.gen = ip == ENGINE_DMA ? packet_sdma_gen(chip) : packet_gfx_gen(chip);
	return ip == ENGINE_DMA ? print_sdma(&line) : print_pm4(&line);
}

/* --- stray bits --- */

/* Leading dwords of a packet that are checked; registers and data follow them. */
#define LOOKED_AT_dw 24

/* Adds what one field takes. */
static void mark_field(uint32_t known[LOOKED_AT_dw + 1], const struct packet_field *f)
{
	switch (f->kind) {
	case FIELD_VA:
	case FIELD_64:
		known[f->dw] = known[f->dw + 1] = ~0u;
		break;
	case FIELD_DATA:
	case FIELD_REGS:
	case FIELD_PAIRS:
	case FIELD_PACKED:
		memset(&known[f->dw], 0xff, (LOOKED_AT_dw - f->dw) * sizeof(*known));
		break;
	default:
		known[f->dw] |= bits(~0u, f->hi, f->lo) << f->lo;
	}
}

bool packet_stray_bits(const struct packet_form *form, unsigned gen, const uint32_t *dw, unsigned count,
		       unsigned *where, uint32_t *stray)
{
	/* the operations of SDMA; the PM4 processor checks headers itself */
	uint32_t known[LOOKED_AT_dw + 1] = {gen >= P_SDMA40 ? 0x0000ffff : ~0u};

	if (form->flags & P_UNKNOWN_BITS)
		return false;
	for (const struct packet_field *f = form->fields; f && f->name; f++)
		if (packet_in(f->gens, gen))
			mark_field(known, f);
	for (unsigned n = 0; n < count && n < LOOKED_AT_dw; n++) {
		if (dw[n] & ~known[n]) {
			*where = n;
			*stray = dw[n] & ~known[n];
			return true;
		}
	}
	return false;
}
