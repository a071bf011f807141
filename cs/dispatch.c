/* A dispatch of an HSA kernel without an AQL packet processor: this file does with the kernel descriptor what the
 * firmware of an AQL queue would do.
 *
 * Source of the ABI: LLVM AMDGPUUsage, "Initial Kernel Execution State", "Kernel Descriptor", code object V5 hidden
 * arguments; values as in ROCr and CLR. */
#include "cs/internal.h"

#include <errno.h>
#include <string.h>

#include "cs/code.h"
#include "cs/pm4.h"
#include "vm/suballoc.h"

/* kernel_code_properties */
enum {
	WANTS_PRIVATE_BUFFER = 1 << 0,
	/* CS_WANTS_DISPATCH_PTR is 1 << 1. */
	WANTS_QUEUE_PTR = 1 << 2,
	WANTS_KERNARG_PTR = 1 << 3,
	WANTS_DISPATCH_ID = 1 << 4,
	WANTS_FLAT_SCRATCH = 1 << 5,
	WANTS_PRIVATE_SIZE = 1 << 6,
	HAS_DYNAMIC_STACK = 1 << 11,
};

_Static_assert(RSRC2_SCRATCH_EN == 1, "cs_kernel_has_scratch() reads it");
#define USER_SGPRS_MAX 16
/* A C struct of the arguments ends at a multiple of its alignment; the kernel's size does not include that
 * padding. */
#define ARGS_TAIL_B     16
#define KERNARG_ALIGN_B 64

/* hsa_kernel_dispatch_packet_t */
struct aql_dispatch {
	uint16_t header, setup;
	uint16_t group[3], reserved0;
	uint32_t grid[3];
	uint32_t private_B, lds_B;
	uint64_t kernel_object, kernarg, reserved1, completion;
};
_Static_assert(sizeof(struct aql_dispatch) == 64, "an AQL packet");
#define AQL_KERNEL_DISPATCH 2

/* Members of amd_queue_t that kernels read: the addresses of the flat apertures, which differ between DRM's VMIDs
 * and KFD's. */
#define QUEUE_B                   2304
#define QUEUE_GROUP_APERTURE_HI   64
#define QUEUE_PRIVATE_APERTURE_HI 68
#define GROUP_APERTURE_HI         0x20000000u
#define PRIVATE_APERTURE_HI       0x10000000u

/* The derived geometry of one dispatch. */
struct geometry {
	uint32_t start[3], end[3]; /* workgroups to run, in each dimension */
	uint32_t partial[3];       /* work-items of the last workgroup, if it is smaller; else 0 */
	bool ragged;               /* a member of partial is not 0 */
	bool offset;               /* a member of start is not 0 */
};

/* Restricts the grid to the requested part. */
__attribute__((noinline)) static int geometry_narrow(const struct cs_launch *l, struct geometry *g)
{
	g->ragged = false;
	for (unsigned i = 0; i < 3; i++) {
		uint32_t groups = g->end[i], first = l->first_group[i], count = l->group_count[i];

		if (!count || first > groups || count > groups - first)
			return drv_fail(-EINVAL, "%s: workgroups %u + %u of %u", l->kernel->name, first, count,
					groups);
		g->start[i] = first;
		g->end[i] = first + count;
		/* The hardware applies the partial size to the last workgroup that it starts. */
		g->partial[i] = g->end[i] == groups ? g->partial[i] : 0;
		g->ragged |= g->partial[i];
		g->offset |= first;
	}
	return 0;
}

static int geometry_derive(const struct drv_chip *chip, const struct cs_launch *l, struct geometry *g)
{
	const struct cs_kernel *k = l->kernel;
	uint64_t threads = 1;
	uint32_t part = 0;

	for (unsigned i = 0; i < 3; i++) {
		if (!l->grid[i] || !l->group[i])
			return drv_fail(-EINVAL, "%s: a dimension of 0", k->name);
		threads *= l->group[i];
		if (threads > chip->max_group_threads)
			return drv_fail(-EINVAL, "%s: workgroup %u x %u x %u has over %u work-items", k->name,
					l->group[0], l->group[1], l->group[2], chip->max_group_threads);
		g->end[i] = (l->grid[i] - 1) / l->group[i] + 1;
		if (i && g->end[i] > chip->groups_yz_max)
			return drv_fail(-EINVAL, "%s: %u workgroups in y or z, the chip counts to %u", k->name,
					g->end[i], chip->groups_yz_max);
		g->partial[i] = l->grid[i] % l->group[i];
		g->ragged |= g->partial[i];
		part |= l->first_group[i] | l->group_count[i];
	}
	if (threads > k->fit_threads)
		return drv_fail(-EINVAL, "%s: the registers of %u work-items do not fit %s", k->name,
				(unsigned)threads, chip->target);
	if (l->lds_B > chip->lds_B)
		return drv_fail(-EINVAL, "%s: %u bytes of LDS, the chip has %u", k->name, l->lds_B, chip->lds_B);
	return __builtin_expect(part, 0) ? geometry_narrow(l, g) : 0;
}

/* Checks a dispatch against the limits that the kernel was compiled for. */
static int dispatch_check(const struct cs_launch *d, uint32_t args_B)
{
	const struct cs_kernel *k = d->kernel;
	uint64_t threads = (uint64_t)d->group[0] * d->group[1] * d->group[2];

	if (!threads) /* hidden arguments divide by it */
		return drv_fail(-EINVAL, "%s: a dimension of 0", k->name);
	if (k->max_threads && threads > k->max_threads)
		return drv_fail(-EINVAL, "%s: %llu work-items per workgroup, compiled for at most %u", k->name,
				(unsigned long long)threads, k->max_threads);
	if (d->lds_B < k->lds_B)
		return drv_fail(-EINVAL, "%s: %u bytes of LDS, it has %u", k->name, d->lds_B, k->lds_B);
	if (args_B > (k->explicit_B + ARGS_TAIL_B - 1) / ARGS_TAIL_B * ARGS_TAIL_B)
		return drv_fail(-EINVAL, "%s: %u bytes of arguments, it takes %u", k->name, args_B, k->explicit_B);
	return 0;
}

/* --- kernel arguments ------------------------------------------------------------------------- */

static int queue_descriptor(struct cs_ring *ring, uint64_t *va)
{
	struct vm_info info = {.size_B = QUEUE_B, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	uint32_t *queue;
	int r;

	if (!ring->queue.map) {
		r = vm_suballoc_create(ring->ctx->vm, &info, &ring->queue);
		if (r)
			return r;
		queue = ring->queue.map;
		memset(queue, 0, QUEUE_B);
		queue[QUEUE_GROUP_APERTURE_HI / 4] = GROUP_APERTURE_HI;
		queue[QUEUE_PRIVATE_APERTURE_HI / 4] = PRIVATE_APERTURE_HI;
	}
	*va = ring->queue.va;
	return 0;
}

/* Computes the value of a hidden argument; false: the argument stays zero. */
static bool hidden_value(const struct cs_launch *d, unsigned kind, uint64_t *value)
{
	unsigned dim = kind % 3;

	switch (kind - dim) {
	case CS_HIDDEN_BLOCK_COUNT_X: /* complete workgroups only */
		*value = d->grid[dim] / d->group[dim];
		return true;
	case CS_HIDDEN_GROUP_SIZE_X:
		*value = d->group[dim];
		return true;
	case CS_HIDDEN_REMAINDER_X:
		*value = d->grid[dim] % d->group[dim];
		return true;
	}
	switch (kind) {
	case CS_HIDDEN_GRID_DIMS:
		*value = 3;
		return true;
	case CS_HIDDEN_DYNAMIC_LDS_SIZE:
		*value = d->lds_B - d->kernel->lds_B;
		return true;
	case CS_HIDDEN_PRIVATE_BASE:
		*value = PRIVATE_APERTURE_HI;
		return true;
	case CS_HIDDEN_SHARED_BASE:
		*value = GROUP_APERTURE_HI;
		return true;
	}
	return false;
}

static int fill_kernarg(struct cs_ib *ib, const struct cs_launch *d, const void *args, uint32_t args_B,
			uint64_t *va)
{
	const struct cs_kernel *k = d->kernel;
	char *block;

	*va = 0;
	if (!k->kernarg_B)
		return 0;
	block = cs_ib_data(ib, k->kernarg_B, KERNARG_ALIGN_B, va);
	if (!block)
		return ib->error;
	args_B = args_B < k->explicit_B ? args_B : k->explicit_B;
	if (args_B) /* args may be NULL then */
		memcpy(block, args, args_B);
	memset(block + args_B, 0, k->kernarg_B - args_B);
	for (unsigned i = 0; i < k->hidden_count; i++) {
		const struct cs_arg *h = &k->hidden[i];
		uint64_t value;
		int r;

		if (h->kind == CS_HIDDEN_QUEUE_PTR) {
			r = queue_descriptor(ib->ring, &value);
			if (r)
				return r;
		} else if (!hidden_value(d, h->kind, &value)) {
			continue;
		}
		memcpy(block + h->offset_B, &value, h->size_B < sizeof(value) ? h->size_B : sizeof(value));
	}
	return 0;
}

static int fill_packet(struct cs_ib *ib, struct cs_launch *l)
{
	struct aql_dispatch *packet = cs_ib_data(ib, sizeof(*packet), 64, &l->packet_va);

	if (!packet)
		return ib->error;
	*packet = (struct aql_dispatch){
		.header = AQL_KERNEL_DISPATCH,
		.setup = 3,
		.group = {l->group[0], l->group[1], l->group[2]},
		.grid = {l->grid[0], l->grid[1], l->grid[2]},
		.private_B = l->private_B,
		.lds_B = l->lds_B,
		.kernel_object = l->kernel->descriptor_va,
		.kernarg = l->kernarg_va,
	};
	return 0;
}

/* Fills in the pointers that the kernel requires besides its arguments: AQL packet and queue. */
static int fill_pointers(struct cs_ib *ib, struct cs_launch *l)
{
	int r = 0;

	if (cs_kernel_wants_packet(l->kernel))
		r = fill_packet(ib, l);
	if (!r && l->kernel->properties & WANTS_QUEUE_PTR)
		r = queue_descriptor(ib->ring, &l->queue_va);
	return r;
}

/* --- user SGPRs ------------------------------------------------------------------------------- */

struct user_sgprs {
	uint32_t value[USER_SGPRS_MAX]; /* the properties can require 15 at most */
	unsigned count;
	uint8_t packet, queue, kernarg, id; /* position of each, plus 1; 0: not required */
};

static void sgpr_push(struct user_sgprs *u, uint64_t value)
{
	u->value[u->count++] = cs_lo(value);
	u->value[u->count++] = cs_hi(value);
}

static void push_named(struct user_sgprs *u, uint64_t value, uint8_t *where)
{
	*where = (uint8_t)(u->count + 1);
	sgpr_push(u, value);
}

/* Pushes the buffer resource by which kernels of GFX9 and GFX10 address scratch: the lanes' dwords are
 * interleaved. */
static void push_scratch_resource(struct user_sgprs *u, const struct cs_ring *ring, unsigned lanes)
{
	const struct cs_scratch *s = &ring->scratch;
	uint64_t va = s->mem ? s->mem->va : 0;
	uint32_t size_B = s->mem ? s->mem->bo->size_B : 0;

	sgpr_push(u, va | 1ull << 63); /* swizzle enable */
	u->value[u->count++] = size_B;
	/* INDEX_STRIDE: 32 or 64 lanes */
	u->value[u->count++] = ring->ib.pm4->scratch_word3 | (lanes == 32 ? 2 : 3) << 21;
}

static void fill_user_sgprs(const struct cs_ring *ring, const struct cs_launch *l, struct user_sgprs *u)
{
	const struct cs_scratch *scratch = &ring->scratch;
	unsigned wants = l->kernel->properties;

	if (wants & WANTS_PRIVATE_BUFFER)
		push_scratch_resource(u, ring, cs_kernel_wave_lanes(l->kernel));
	if (wants & CS_WANTS_DISPATCH_PTR)
		push_named(u, l->packet_va, &u->packet);
	if (wants & WANTS_QUEUE_PTR)
		push_named(u, l->queue_va, &u->queue);
	if (wants & WANTS_KERNARG_PTR)
		push_named(u, l->kernarg_va, &u->kernarg);
	if (wants & WANTS_DISPATCH_ID)
		push_named(u, l->dispatch_id, &u->id);
	if (wants & WANTS_FLAT_SCRATCH)
		sgpr_push(u, scratch->mem ? scratch->mem->va : 0);
	if (wants & WANTS_PRIVATE_SIZE)
		u->value[u->count++] = l->private_B;
}

/* --- registers -------------------------------------------------------------------------------- */

#define SET_DW      2 /* header of SET_SH_REG, before the values */
#define DISPATCH_DW 5
_Static_assert(SET_DW + USER_SGPRS_MAX + DISPATCH_DW < CS_TAIL_MAX, "a tail fits");

static uint32_t *put_regs(uint32_t *p, unsigned reg, unsigned count)
{
	*p++ = PM4_HEADER(PM4_SET_SH_REG, 1 + count);
	*p++ = reg;
	return p;
}

/* Writes START_X to RSRC2: start and size of the grid, program and its resources. */
static uint32_t *put_program(uint32_t *p, const struct drv_chip *chip, const struct cs_launch *l,
			     const struct geometry *g, uint64_t scratch_va)
{
	const struct cs_kernel *k = l->kernel;
	uint32_t lds_units = (l->lds_B + chip->lds_granule_B - 1) / chip->lds_granule_B;
	/* On other chips the kernel itself sets FLAT_SCRATCH, from user SGPRs. */
	uint64_t scratch_base = chip->flat_scratch_hw ? scratch_va >> 8 : 0;

	p = put_regs(p, COMPUTE_START_X, 16);
	for (unsigned i = 0; i < 3; i++)
		*p++ = g->start[i];
	for (unsigned i = 0; i < 3; i++) /* NUM_THREAD; a partial size of 0 would mean an empty group */
		*p++ = l->group[i] | (g->ragged ? (g->partial[i] ? g->partial[i] : l->group[i]) << 16 : 0);
	*p++ = 0; /* PIPELINESTAT_ENABLE */
	*p++ = 0; /* PERFCOUNT_ENABLE */
	*p++ = cs_lo(k->entry_va >> 8);
	*p++ = cs_hi(k->entry_va >> 8);
	*p++ = 0; /* DISPATCH_PKT_ADDR */
	*p++ = 0;
	*p++ = cs_lo(scratch_base);
	*p++ = cs_hi(scratch_base);
	*p++ = k->rsrc1;
	*p++ = k->rsrc2 | lds_units << RSRC2_LDS_SIZE_SHIFT;
	return p;
}

/* Writes RESOURCE_LIMITS to RESTART_Z, and the registers that are not in that row: another process may have left a
 * value in any of them. */
static uint32_t *put_limits(uint32_t *p, const struct cs_ring *ring, const struct cs_launch *l, uint32_t tmpring)
{
	const struct drv_device *dev = ring->dev;
	static const uint32_t all[CS_ENGINES_MAX] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
	const uint32_t *cus = l->cu_mask ? l->cu_mask : all; /* STATIC_THREAD_MGMT, by shader engine */

	p = put_regs(p, COMPUTE_RESOURCE_LIMITS, 9);
	/* WAVES_PER_SH: all waves that a shader array can hold, or 0, no limit */
	*p++ = ring->ib.pm4->limits_waves ? dev->facts.array_cus * dev->chip->waves_per_cu : 0;
	*p++ = cus[0];
	*p++ = cus[1];
	*p++ = tmpring;
	*p++ = cus[2];
	*p++ = cus[3];
	for (unsigned i = 0; i < 3; i++)
		*p++ = 0; /* RESTART */
	if (dev->chip->se4_mask_reg && dev->facts.engines > 4) {
		p = put_regs(p, dev->chip->se4_mask_reg, 4);
		for (unsigned i = 4; i < CS_ENGINES_MAX; i++)
			*p++ = cus[i];
	}
	if (dev->chip->tg_chunk_reg) {
		p = put_regs(p, dev->chip->tg_chunk_reg, 1);
		*p++ = 0; /* the ring has one XCC: it runs all workgroups */
	}
	if (dev->chip->rsrc3_reg) {
		p = put_regs(p, dev->chip->rsrc3_reg, 1);
		*p++ = l->kernel->rsrc3;
	}
	return p;
}

static uint32_t *put_dispatch(uint32_t *p, const struct geometry *g, const struct cs_kernel *k)
{
	*p++ = PM4_HEADER(PM4_DISPATCH_DIRECT, 4);
	for (unsigned i = 0; i < 3; i++)
		*p++ = g->end[i]; /* end position, not a count */
	*p++ = INITIATOR_COMPUTE_SHADER_EN | (g->offset ? 0 : INITIATOR_FORCE_START_AT_000) |
	       (g->ragged ? INITIATOR_PARTIAL_TG_EN : 0) | (k->properties & CS_WAVE32 ? INITIATOR_CS_W32_EN : 0);
	return p;
}

/* Writes all registers and the dispatch, at most CS_ROOM_MAX dwords. *data: position of the user SGPRs, if there
 * are any. */
static uint32_t *put_launch(uint32_t *p, const struct cs_ring *ring, const struct cs_launch *l,
			    const struct geometry *g, const struct user_sgprs *user, uint32_t **data)
{
	const struct cs_scratch *s = &ring->scratch;
	bool scratch = cs_kernel_has_scratch(l->kernel);
	unsigned sgprs = RSRC2_USER_SGPR(l->kernel->rsrc2) - l->kernel->preload_dw;

	p = put_program(p, ring->dev->chip, l, g, scratch && s->mem ? s->mem->va : 0);
	p = put_limits(p, ring, l, scratch ? s->size_reg : 0);
	if (sgprs) {
		/* Sets all user SGPRs that the descriptor declares, unused ones too: otherwise another process's
		 * values would be visible. */
		*data = p = put_regs(p, COMPUTE_USER_DATA_0, sgprs);
		memcpy(p, user->value, sgprs * sizeof(*p));
		p += sgprs;
	}
	return put_dispatch(p, g, l->kernel);
}

/* Loads the preloaded kernel arguments from memory into the user SGPRs after those that the properties require.
 * put_launch() writes only the SGPRs before these. */
static void args_preload(struct cs_ib *ib, const struct cs_launch *l)
{
	const struct cs_kernel *k = l->kernel;
	unsigned first = RSRC2_USER_SGPR(k->rsrc2) - k->preload_dw;

	for (unsigned i = 0; i < k->preload_dw; i++) {
		uint64_t from = l->kernarg_va + (k->preload_at + i) * 4ull;
		uint32_t *p = cs_ib_room(ib, 6);

		*p++ = PM4_HEADER(PM4_COPY_DATA, 5);
		*p++ = COPY_DATA_L2_TO_REGISTER;
		*p++ = cs_lo(from);
		*p++ = cs_hi(from);
		*p++ = SH_REG_BASE + COMPUTE_USER_DATA_0 + first + i;
		*p++ = 0;
		cs_ib_wrote(ib, p);
	}
}

static uint32_t group_waves(const struct cs_kernel *k, uint32_t threads)
{
	return (threads + cs_kernel_wave_lanes(k) - 1) / cs_kernel_wave_lanes(k);
}

uint32_t cs_scratch_groups_max(const struct drv_device *dev, const struct cs_kernel *kernel, uint32_t group_threads)
{
	uint32_t engines = dev->facts.engines;

	return cs_scratch_waves_max(dev) / engines / group_waves(kernel, group_threads) * engines;
}

/* The hardware divides the slots evenly among the shader engines, and starts a workgroup in one engine when there
 * are slots for all its waves; with fewer it never starts (Mesa ac_gpu_info.c, ROCr calc_dispatch_groups).
 * Workgroups that wait for one another need all their slots at the same time. */
static int ensure_scratch(struct cs_ib *ib, const struct cs_launch *l, const struct geometry *g)
{
	const struct drv_device *dev = ib->ring->dev;
	uint32_t engines = dev->facts.engines, threads = l->group[0] * l->group[1] * l->group[2];
	uint64_t groups = 1, most = cs_scratch_groups_max(dev, l->kernel, threads);

	for (unsigned i = 0; l->cooperative && i < 3; i++) {
		groups *= g->end[i] - g->start[i];
		if (groups > most)
			return drv_fail(-EINVAL, "%s: more than %llu workgroups with scratch cannot run at a time",
					l->kernel->name, (unsigned long long)most);
	}
	return cs_scratch_ensure(ib, l->private_B ? l->private_B : 4, cs_kernel_wave_lanes(l->kernel),
				 (uint32_t)((groups + engines - 1) / engines * engines) *
					 group_waves(l->kernel, threads));
}

int cs_ib_launch(struct cs_ib *ib, const struct cs_launch *l)
{
	struct user_sgprs user = {0};
	struct geometry g = {0};
	uint32_t *data;
	int r = geometry_derive(ib->ring->dev->chip, l, &g);

	if (!r && cs_kernel_has_scratch(l->kernel))
		r = ensure_scratch(ib, l, &g);
	if (r)
		return r;
	fill_user_sgprs(ib->ring, l, &user);
	args_preload(ib, l);
	cs_ib_wrote(ib, put_launch(cs_ib_room(ib, CS_ROOM_MAX), ib->ring, l, &g, &user, &data));
	ib->regs = NULL;
	return ib->error;
}

bool cs_dispatch_template_init(const struct cs_ring *ring, const struct cs_launch *l,
			       struct cs_dispatch_template *out)
{
	struct user_sgprs user = {0};
	struct geometry g = {0};
	uint32_t *data = NULL;
	unsigned first;

	/* Scratch moves when it grows; preloaded arguments differ between launches. */
	if (cs_kernel_has_scratch(l->kernel) || l->kernel->preload_dw || geometry_derive(ring->dev->chip, l, &g))
		return false;
	fill_user_sgprs(ring, l, &user);
	out->count = (uint8_t)(put_launch(out->dw, ring, l, &g, &user, &data) - out->dw);
	out->tail_at = (uint8_t)(data ? data - out->dw - SET_DW : out->count - DISPATCH_DW);
	/* The positions in `user` are plus 1. */
	first = (unsigned)out->tail_at + SET_DW - 1;
	/* Values that are not required are written after the end, where the template has spare room. */
	out->packet_at = (uint8_t)(user.packet ? first + user.packet : out->count);
	out->queue_at = (uint8_t)(user.queue ? first + user.queue : out->count);
	out->kernarg_at = (uint8_t)(user.kernarg ? first + user.kernarg : out->count);
	out->id_at = (uint8_t)(user.id ? first + user.id : out->count);
	return out->count + 2 <= CS_ROOM_MAX;
}

int cs_ib_dispatch(struct cs_ib *ib, const struct cs_launch *launch, const void *args, uint32_t args_B)
{
	const struct cs_kernel *k = launch->kernel;
	bool deep = k->properties & HAS_DYNAMIC_STACK && k->private_B < CS_DYNAMIC_STACK_B;
	struct cs_launch l = *launch;
	int r = dispatch_check(&l, args_B);

	l.private_B = deep ? CS_DYNAMIC_STACK_B : k->private_B;
	l.dispatch_id = ib->ring->dispatches;
	if (!r)
		r = fill_kernarg(ib, &l, args, args_B, &l.kernarg_va);
	if (!r)
		r = fill_pointers(ib, &l);
	if (!r)
		r = cs_ib_launch(ib, &l);
	ib->ring->dispatches += !r;
	return r;
}
