/* Decodes memory instructions, by the fields of the generation. */
#include "vgpu/isa/decode/state.h"

static void flag_if(struct isa_inst *inst, bool set, enum isa_flag flag)
{
	if (set)
		inst->flags |= flag;
}

static void mem_widths(struct isa_inst *inst)
{
	inst->mem.dst_dw = (uint8_t)isa_type_dw(inst->row->dst);
	inst->mem.data_dw = (uint8_t)isa_type_dw(inst->row->src[1]);
}

static int32_t signed_field(const struct decode_state *st, struct isa_field f)
{
	return sign_extend(field_of(st, f), f.width);
}

/* Cache bits of a load, store or atomic. Which loads the L1 may serve: before GFX10 those without GLC; GFX10 has DLC
 * for the L1 of the shader array, which is not modelled apart; GFX12 names the scope (LLVM's AMDGPUUsage, memory
 * models). */
static void coherence(struct isa_inst *inst, bool glc, bool slc, bool dlc, unsigned scope, unsigned th,
		      const struct isa_generation *gen)
{
	bool returns = gen->glc_returns ? glc : th & 1 && inst->row->dst && inst->row->src[1];

	flag_if(inst, returns, ISA_GLC);
	flag_if(inst, slc, ISA_SLC);
	flag_if(inst, dlc, ISA_DLC);
	inst->mem.scope = (uint8_t)scope;
	inst->mem.th = (uint8_t)th;
	flag_if(inst, gen->glc_returns ? glc && (dlc || !gen->dlc_bypasses) : scope != 0, ISA_PAST_L1);
}

/* --- scalar memory --- */

/* GFX9: without an immediate and without SOFFSET_EN, the offset field itself names the SGPR. */
static void smem_offset_9(struct decode_state *st)
{
	const struct isa_smem_format *f = &st->gen->smem;
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;

	flag_if(inst, field_of(st, f->soffset_en), ISA_SOFFSET);
	flag_if(inst, field_of(st, f->imm_en), ISA_SOE_IMM);
	if (inst->flags & ISA_SOE_IMM)
		m->offset = signed_field(st, f->offset);
	if (inst->flags & ISA_SOFFSET) {
		m->soffset = decode_sgpr(st, field_of(st, f->soffset), 1);
	} else if (!(inst->flags & ISA_SOE_IMM) && inst->row->src[0]) {
		m->soffset = decode_sgpr(st, bits_of(field_of(st, f->offset), 6, 0), 1);
		inst->flags |= ISA_SOFFSET;
	}
}

static void smem_offset(struct decode_state *st)
{
	const struct isa_smem_format *f = &st->gen->smem;
	unsigned code = field_of(st, f->soffset);

	if (!st->inst->row->src[0])
		return;
	st->inst->mem.offset = signed_field(st, f->offset);
	flag_if(st->inst, st->inst->mem.offset || code == st->gen->codes.null, ISA_SOE_IMM);
	if (code == st->gen->codes.null)
		return;
	st->inst->flags |= ISA_SOFFSET;
	st->inst->mem.soffset = decode_sgpr(st, code, 1);
}

void decode_smem(struct decode_state *st, uint32_t w)
{
	const struct isa_smem_format *f = &st->gen->smem;
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;
	unsigned dw, data;

	(void)w;
	decode_next_word(st);
	decode_row(st, ISA_SMEM, field_of(st, f->op));
	if (st->why)
		return;
	mem_widths(inst);
	coherence(inst, field_of(st, f->glc), false, field_of(st, f->dlc), field_of(st, f->scope),
		  field_of(st, f->th), st->gen);
	flag_if(inst, field_of(st, f->nv), ISA_NV);
	dw = m->dst_dw > m->data_dw ? m->dst_dw : m->data_dw;
	data = field_of(st, f->sdst);
	m->sdst = m->dst_dw ? decode_sgpr_result(st, data, dw) : decode_sgpr(st, data, dw);
	m->sbase = decode_sgpr(st, field_of(st, f->sbase) * 2, isa_type_dw(inst->row->src[0]));
	if (f->imm_en.width)
		smem_offset_9(st);
	else
		smem_offset(st);
}

/* --- LDS --- */

/* ds_read2, ds_write2, ds_wrxchg2 and their st64 forms have two 8-bit offsets instead of one of 16 bits. */
static bool ds_two_addresses(enum isa_op op)
{
	const char *name = isa_op_name(op);

	return !strncmp(name, "ds_read2", 8) || !strncmp(name, "ds_write2", 9) || !strncmp(name, "ds_wrxchg2", 10);
}

void decode_ds(struct decode_state *st, uint32_t w)
{
	const struct isa_ds_format *f = &st->gen->ds;
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;
	uint32_t w1 = decode_next_word(st);
	bool acc = field_of(st, f->acc);

	decode_row(st, ISA_DS, field_of(st, f->op));
	if (st->why)
		return;
	mem_widths(inst);
	flag_if(inst, field_of(st, f->gds), ISA_GDS);
	m->vaddr = decode_vgpr(st, bits_of(w1, 7, 0), isa_type_dw(inst->row->src[0]));
	m->vdata = decode_data(st, bits_of(w1, 15, 8), m->data_dw, acc, false);
	m->vdata1 = decode_data(st, bits_of(w1, 23, 16), isa_type_dw(inst->row->src[2]), acc, false);
	m->vdst = decode_data(st, bits_of(w1, 31, 24), m->dst_dw, acc, true);
	if (ds_two_addresses(inst->op)) {
		m->offset = (int32_t)bits_of(w, 7, 0);
		m->offset1 = bits_of(w, 15, 8);
	} else {
		m->offset = (int32_t)bits_of(w, 15, 0);
	}
}

/* --- FLAT, GLOBAL, SCRATCH --- */

/* Whether there is a scalar address: before GFX10 code 0x7f means none; later NULL does, and 0x7f is a SCRATCH
 * instruction without any address. */
static bool flat_has_saddr(const struct decode_state *st, enum isa_enc enc, unsigned code)
{
	if (enc == ISA_FLAT || code == 0x7f)
		return false;
	return st->gen->codes.no_null || code != st->gen->codes.null;
}

static bool scratch_has_vaddr(const struct decode_state *st)
{
	const struct isa_flat_format *f = &st->gen->flat;

	if (f->sve)
		return field_of(st, f->vaddr_en);
	return !(st->inst->flags & ISA_SADDR) && (st->gen->codes.no_null || field_of(st, f->saddr) != 0x7f);
}

static unsigned flat_address_dw(const struct isa_inst *inst)
{
	if (inst->enc == ISA_SCRATCH)
		return !!(inst->flags & ISA_VADDR);
	if (!inst->row->src[0]) /* the lane's number, or no address at all */
		return 0;
	return inst->flags & ISA_SADDR ? 1 : 2; /* GLOBAL with SADDR takes a 32-bit VGPR offset */
}

static void flat_flags(struct decode_state *st, enum isa_enc enc)
{
	const struct isa_flat_format *f = &st->gen->flat;
	struct isa_inst *inst = st->inst;

	coherence(inst, field_of(st, f->glc), field_of(st, f->slc), field_of(st, f->dlc), field_of(st, f->scope),
		  field_of(st, f->th), st->gen);
	flag_if(inst, field_of(st, f->lds), ISA_LDS);
	flag_if(inst, field_of(st, f->scc), ISA_SCC_BIT | ISA_PAST_L1);
	flag_if(inst, flat_has_saddr(st, enc, field_of(st, f->saddr)), ISA_SADDR);
	flag_if(inst, enc == ISA_SCRATCH && scratch_has_vaddr(st), ISA_VADDR);
}

/* Registers of a data field that must be granted; of a block M0 says which. */
static unsigned flat_file_dw(const struct decode_state *st, struct isa_field field, unsigned dw)
{
	return isa_op_is_block(st->inst->op) && field_of(st, field) + dw <= 256 ? !!dw : dw;
}

void decode_flat(struct decode_state *st, uint32_t w)
{
	static const uint8_t segment[4] = {ISA_FLAT, ISA_SCRATCH, ISA_GLOBAL, ISA_ENC_NONE};
	const struct isa_flat_format *f = &st->gen->flat;
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;
	enum isa_enc enc;
	bool acc;

	(void)w;
	while (st->used < f->dwords && !st->why)
		decode_next_word(st);
	enc = segment[field_of(st, f->segment)];
	acc = field_of(st, f->acc);
	decode_row(st, enc, field_of(st, f->op));
	if (st->why)
		return;
	mem_widths(inst);
	if (isa_op_transposes(inst->op) && !st->dec->wave32) /* twice the lanes for one matrix */
		m->dst_dw /= 2;
	flat_flags(st, enc);
	/* The sign bit of a FLAT offset must be 0 where its bits are unsigned. */
	m->offset = enc == ISA_FLAT && f->flat_width
			    ? (int32_t)(field_of(st, f->offset) & ((1u << f->flat_width) - 1))
			    : signed_field(st, f->offset);
	if (inst->flags & ISA_SADDR)
		m->saddr = decode_sgpr(st, field_of(st, f->saddr), enc == ISA_GLOBAL ? 2 : 1);
	m->vaddr = decode_vgpr(st, field_of(st, f->vaddr), flat_address_dw(inst));
	m->vdata = decode_data(st, field_of(st, f->vdata), flat_file_dw(st, f->vdata, m->data_dw), acc, false);
	/* An atomic that returns nothing leaves the field unused. */
	m->vdst = decode_data(st, field_of(st, f->vdst),
			      m->data_dw && !(inst->flags & ISA_GLC) ? 0 : flat_file_dw(st, f->vdst, m->dst_dw),
			      acc, true);
}

/* --- MUBUF, MTBUF --- */

/* The first SGPR of a resource or a sampler, whose fields of GFX12 are wider than a register's number. */
static uint8_t descriptor(struct decode_state *st, unsigned code, unsigned dw)
{
	if (code >= 128)
		st->why = "a descriptor in no SGPRs";
	return decode_sgpr(st, code, dw);
}

static void buffer_flags(struct decode_state *st, const struct isa_buffer_format *f)
{
	struct isa_inst *inst = st->inst;

	coherence(inst, field_of(st, f->glc), field_of(st, f->slc), field_of(st, f->dlc), field_of(st, f->scope),
		  field_of(st, f->th), st->gen);
	flag_if(inst, field_of(st, f->scc), ISA_SCC_BIT | ISA_PAST_L1);
	flag_if(inst, field_of(st, f->lds), ISA_LDS);
	flag_if(inst, field_of(st, f->offen), ISA_OFFEN);
	flag_if(inst, field_of(st, f->idxen), ISA_IDXEN);
	flag_if(inst, field_of(st, f->tfe), ISA_TFE);
}

/* GFX11 has opcodes for loads to LDS in place of the bit. */
static bool is_load_to_lds(enum isa_op op)
{
	return op >= ISA_OP_BUFFER_LOAD_LDS_U8 && op <= ISA_OP_BUFFER_LOAD_LDS_FORMAT_X;
}

static void buffer_fields(struct decode_state *st, const struct isa_buffer_format *f)
{
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;
	bool acc = field_of(st, f->acc), result;
	unsigned dw;

	mem_widths(inst);
	buffer_flags(st, f);
	flag_if(inst, is_load_to_lds(inst->op), ISA_LDS);
	m->offset = (int32_t)field_of(st, f->offset);
	/* TFE adds a status dword to a load's result; a load to LDS needs no register. */
	dw = m->dst_dw > m->data_dw ? m->dst_dw : m->data_dw;
	dw = inst->flags & ISA_LDS ? 0 : dw + (inst->flags & ISA_TFE ? 1 : 0);
	m->vaddr =
		decode_vgpr(st, field_of(st, f->vaddr), !!(inst->flags & ISA_OFFEN) + !!(inst->flags & ISA_IDXEN));
	/* An atomic that returns nothing has its data there alone. */
	result = m->dst_dw && (!m->data_dw || inst->flags & ISA_GLC);
	m->vdata = m->vdst = decode_data(st, field_of(st, f->vdata), dw, acc, result);
	if (inst->row->src[0] || inst->op == ISA_OP_BUFFER_STORE_LDS_DWORD) {
		m->sbase = descriptor(st, field_of(st, f->rsrc) * f->rsrc_unit, 4);
		m->soffset = decode_scalar(st, field_of(st, f->soffset), ISA_T_B32);
	}
}

void decode_mubuf(struct decode_state *st, uint32_t w)
{
	const struct isa_buffer_format *f = &st->gen->mubuf;

	(void)w;
	while (st->used < f->dwords && !st->why)
		decode_next_word(st);
	decode_row(st, ISA_MUBUF, field_of(st, f->op));
	if (!st->why)
		buffer_fields(st, f);
}

void decode_mtbuf(struct decode_state *st, uint32_t w)
{
	const struct isa_buffer_format *f = &st->gen->mtbuf;

	(void)w;
	while (st->used < f->dwords && !st->why)
		decode_next_word(st);
	decode_row(st, ISA_MTBUF, field_of(st, f->op) | field_of(st, f->op_hi) << f->op.width);
	if (st->why)
		return;
	st->inst->mem.dfmt = (uint8_t)field_of(st, f->dfmt);
	st->inst->mem.nfmt = (uint8_t)field_of(st, f->nfmt);
	buffer_fields(st, f);
}

/* --- images --- */

/* A part of the name after "image_", between underscores. */
static bool name_has(const char *name, const char *part)
{
	size_t len = strlen(part);

	for (const char *at = name; (at = strchr(at, '_')); at++)
		if (!strncmp(at + 1, part, len) && (at[len + 1] == '_' || !at[len + 1]))
			return true;
	return false;
}

unsigned isa_image_parts(enum isa_op op)
{
	static const struct {
		const char *name;
		unsigned parts;
	} all[] = {
		{"o", ISA_IMAGE_OFFSET},
		{"b", ISA_IMAGE_BIAS},
		{"c", ISA_IMAGE_COMPARE},
		{"d", ISA_IMAGE_GRADIENTS},
		{"cd", ISA_IMAGE_GRADIENTS},
		{"l", ISA_IMAGE_LOD},
		{"cl", ISA_IMAGE_CLAMP},
		{"mip", ISA_IMAGE_MIP},
		{"lz", ISA_IMAGE_ZERO},
		{"g16", ISA_IMAGE_G16},
		{"resinfo", ISA_IMAGE_MIP | ISA_IMAGE_SIZE},
	};
	unsigned parts = 0;

	for (unsigned n = 0; n < sizeof(all) / sizeof(all[0]); n++)
		if (name_has(isa_op_name(op), all[n].name))
			parts |= all[n].parts;
	return parts;
}

unsigned isa_image_coordinates(const struct isa_inst *i, unsigned dim)
{
	static const uint8_t coordinates[] = {1, 2, 3, 3, 2, 3, 3, 4, 1};

	return i->mem.parts & ISA_IMAGE_SIZE ? 0 : coordinates[dim];
}

unsigned isa_image_dwords(const struct isa_inst *i, unsigned dim)
{
	unsigned parts = i->mem.parts, axes = isa_dim_axes(dim), count = 0,
		 last = isa_image_coordinates(i, dim) + !!(parts & ISA_IMAGE_LEVEL);

	count += !!(parts & ISA_IMAGE_OFFSET) + !!(parts & ISA_IMAGE_BIAS) + !!(parts & ISA_IMAGE_COMPARE);
	if (parts & ISA_IMAGE_GRADIENTS)
		count += 2 * (parts & ISA_IMAGE_G16 ? (axes + 1) / 2 : axes);
	return count + (i->flags & ISA_A16 ? (last + 1) / 2 : last);
}

/* The resource has the number of coordinates before GFX10: one is checked here. */
static void image_addresses(struct decode_state *st, const struct isa_mimg_format *f)
{
	struct isa_mem *m = &st->inst->mem;
	unsigned nsa = field_of(st, f->nsa), count = 1;

	m->vaddr = decode_vgpr(st, field_of(st, f->vaddr), 1);
	m->last_is_tuple = f->last_is_tuple || !(nsa || f->more[0].width);
	m->address[0] = (uint8_t)m->vaddr;
	for (unsigned n = 0; n < 4 && f->more[n].width; n++)
		m->address[count++] = (uint8_t)field_of(st, f->more[n]);
	for (unsigned n = 0; n < 4 * nsa; n++)
		m->address[count++] = (uint8_t)(st->code[f->dwords + n / 4] >> 8 * (n % 4));
	m->addresses = (uint8_t)count;
}

static void image_flags(struct decode_state *st, const struct isa_mimg_format *f)
{
	struct isa_inst *inst = st->inst;

	coherence(inst, field_of(st, f->glc), field_of(st, f->slc), field_of(st, f->dlc), field_of(st, f->scope),
		  field_of(st, f->th), st->gen);
	flag_if(inst, field_of(st, f->unorm), ISA_UNRM);
	flag_if(inst, field_of(st, f->da), ISA_DA);
	flag_if(inst, field_of(st, f->a16), ISA_A16);
	flag_if(inst, field_of(st, f->d16), ISA_D16);
	flag_if(inst, field_of(st, f->tfe), ISA_TFE);
	flag_if(inst, field_of(st, f->lwe) || field_of(st, f->r128), ISA_UNUSUAL);
}

/* Dwords of data, without the status of TFE. */
static unsigned image_data_dw(const struct isa_inst *inst)
{
	unsigned count = (unsigned)__builtin_popcount(inst->mem.dfmt);

	/* Gathering gives one component of four texels. */
	if (isa_op_gathers(inst->op) || inst->op == ISA_OP_IMAGE_MSAA_LOAD)
		count = 4;
	if (isa_op_is_image_atomic(inst->op))
		return count;
	return inst->flags & ISA_D16 ? (count + 1) / 2 : count;
}

static void image_fields(struct decode_state *st, const struct isa_mimg_format *f)
{
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;
	bool stores = isa_op_stores_image(inst->op), atomic = isa_op_is_image_atomic(inst->op), result;
	unsigned dw;

	image_flags(st, f);
	m->dfmt = (uint8_t)field_of(st, f->dmask);
	m->dim = f->dim.width ? (uint8_t)field_of(st, f->dim) : ISA_DIM_OF_RESOURCE;
	m->parts = (uint16_t)isa_image_parts(inst->op);
	if (f->a16_gradients && inst->flags & ISA_A16)
		m->parts |= ISA_IMAGE_G16;
	image_addresses(st, f);
	dw = image_data_dw(inst);
	m->dst_dw = stores ? 0 : (uint8_t)dw;
	m->data_dw = stores || atomic ? (uint8_t)dw : 0;
	result = m->dst_dw && (!m->data_dw || inst->flags & ISA_GLC);
	m->vdata = m->vdst = decode_data(st, field_of(st, f->vdata), dw + (inst->flags & ISA_TFE ? 1 : 0),
					 field_of(st, f->acc), result);
	m->sbase = descriptor(st, field_of(st, f->rsrc) * f->rsrc_unit, 8);
	if (isa_op_samples(inst->op))
		m->soffset = descriptor(st, field_of(st, f->sampler) * f->rsrc_unit, 4);
}

static void decode_image(struct decode_state *st, const struct isa_mimg_format *f, bool samples)
{
	while (st->used < f->dwords && !st->why)
		decode_next_word(st);
	for (unsigned n = field_of(st, f->nsa); n && !st->why; n--)
		decode_next_word(st);
	decode_row(st, ISA_MIMG, field_of(st, f->op) | field_of(st, f->op_hi) << f->op.width);
	if (!st->why && st->gen->vsample.dwords &&
	    samples != (isa_op_samples(st->inst->op) || st->inst->op == ISA_OP_IMAGE_MSAA_LOAD))
		st->why = "no instruction of this chip";
	if (!st->why && field_of(st, f->nsa) > f->nsa_dwords)
		st->why = "more addresses than an image instruction has";
	if (!st->why)
		image_fields(st, f);
}

void decode_mimg(struct decode_state *st, uint32_t w)
{
	(void)w;
	decode_image(st, &st->gen->mimg, false);
}

void decode_vsample(struct decode_state *st, uint32_t w)
{
	(void)w;
	decode_image(st, &st->gen->vsample, true);
}
