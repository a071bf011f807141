/* ds_gws_* with the state machines of the Vega ISA ("DS_GWS_INIT" and following). A waiting wave leaves isa_run
 * with ISA_SYNC. Hardware admits waves to a semaphore in the order of their arrival; here the first wave that runs
 * again is admitted. */
#include "vgpu/isa/gws.h"

#include <pthread.h>
#include <stdlib.h>

#include "vgpu/isa/valu/valu.h"
#include "vgpu/rank.h"
#include "vgpu/report.h"

struct unit {
	uint32_t counter;
	bool flag;      /* changes whenever a barrier opens */
	bool semaphore; /* else a barrier */
	uint32_t queue; /* waves that wait */
	uint64_t given; /* isa_gws_part::given of the job that set it up */
};

struct isa_gws {
	pthread_mutex_t lock; /* guards the rest */
	struct unit unit[ISA_GWS_UNITS];
};

struct isa_gws *isa_gws_create(void)
{
	struct isa_gws *gws = calloc(1, sizeof(*gws));

	if (gws)
		pthread_mutex_init(&gws->lock, NULL);
	return gws;
}

void isa_gws_destroy(struct isa_gws *gws)
{
	if (!gws)
		return;
	pthread_mutex_destroy(&gws->lock);
	free(gws);
}

/* --- what each does; true: the wave goes on --- */

static bool unit_init(struct unit *u, uint32_t value)
{
	u->counter = value;
	u->flag = u->semaphore = false;
	u->queue = 0;
	return true;
}

/* The last wave to arrive opens the barrier, and its value is the number of waves of the next round. */
static bool barrier_arrive(struct unit *u, uint32_t value)
{
	u->semaphore = false;
	if (u->counter) {
		u->counter--;
		return false;
	}
	u->flag = !u->flag;
	u->counter = value;
	return true;
}

static bool sema_br(struct unit *u, uint32_t value)
{
	u->semaphore = true;
	u->counter += value;
	return true;
}

static bool sema_v(struct unit *u, uint32_t value)
{
	(void)value;
	return sema_br(u, 1);
}

static bool sema_release_all(struct unit *u, uint32_t value)
{
	(void)value;
	u->counter = 0;
	return sema_br(u, u->queue);
}

static bool sema_p(struct unit *u, uint32_t value)
{
	(void)value;
	u->semaphore = true;
	if (!u->counter)
		return false;
	u->counter--;
	return true;
}

/* --- which one --- */

/* False: none of the job's. */
static bool may_use(const struct isa_wave *w, const struct isa_inst *i, unsigned resource)
{
	if (resource < w->machine->gws.count)
		return true;
	vgpu_finding(CONTRACT_GWS, "%s at 0x%llx names resource %u of global wave sync, but the job has %u",
		     isa_op_name(i->op), (unsigned long long)i->pc, resource, w->machine->gws.count);
	return false;
}

/* Reports an operation on a resource in an undefined state, and a wait that cannot end. */
static void check_unit(const struct isa_wave *w, const struct isa_inst *i, const struct unit *u, uint32_t value)
{
	const struct isa_gws_part *part = &w->machine->gws;

	if (u->given != part->given)
		vgpu_finding(CONTRACT_GWS,
			     "%s at 0x%llx: nothing has set the resource up since this process was given it",
			     isa_op_name(i->op), (unsigned long long)i->pc);
	if (i->op == ISA_OP_DS_GWS_BARRIER && part->groups > part->resident && value + 1ull >= part->groups)
		vgpu_finding(CONTRACT_GWS,
			     "%s at 0x%llx waits for %u waves, but the chip holds %llu of %llu workgroups at once",
			     isa_op_name(i->op), (unsigned long long)i->pc, value + 1,
			     (unsigned long long)part->resident, (unsigned long long)part->groups);
}

/* The first active lane's value; without active lanes the instruction still has its effect, by LLVM
 * (hasUnwantedEffectsWhenEXECEmpty). */
static uint32_t value_of(const struct isa_wave *w, const struct isa_inst *i)
{
	uint64_t exec = isa_exec(w);

	return i->row->src[0] ? w->v[i->mem.vaddr][exec ? __builtin_ctzll(exec) : 0] : 0;
}

/* M0 21:16 and the offset name the resource, modulo 64. */
static const struct isa_inst *run_gws(struct isa_wave *w, const struct isa_inst *i,
				      bool fn(struct unit *, uint32_t))
{
	const struct isa_gws_part *part = &w->machine->gws;
	unsigned resource = ((w->s[ISA_M0] >> 16) + (uint32_t)i->mem.offset) % ISA_GWS_UNITS;
	uint32_t value = value_of(w, i);
	struct unit *u;
	bool goes_on;

	if (!(i->flags & ISA_GDS))
		return isa_stop_wave(w, i, "global wave sync without the GDS bit");
	w->accesses++;
	if (!may_use(w, i, resource))
		return i + 1;
	w->sync.unit = (uint8_t)((part->base + resource) % ISA_GWS_UNITS);
	u = &part->gws->unit[w->sync.unit];
	vgpu_lock(&part->gws->lock, VGPU_RANK_GWS);
	if (fn == unit_init)
		u->given = part->given;
	check_unit(w, i, u, value);
	w->sync.flag = u->flag;
	goes_on = fn(u, value);
	u->queue += !goes_on;
	vgpu_unlock(&part->gws->lock, VGPU_RANK_GWS);
	return goes_on ? i + 1 : isa_leave(w, ISA_SYNC, i->pc + 4u * i->dwords);
}

bool isa_gws_passed(struct isa_wave *w)
{
	struct isa_gws *all = w->machine->gws.gws;
	struct unit *u = &all->unit[w->sync.unit];
	bool passed;

	vgpu_lock(&all->lock, VGPU_RANK_GWS);
	passed = u->semaphore ? u->counter : u->flag != w->sync.flag;
	if (passed) {
		u->queue--;
		u->counter -= u->semaphore;
	}
	vgpu_unlock(&all->lock, VGPU_RANK_GWS);
	return passed;
}

#define GWS_FN(name, act)                                                                                          \
	static const struct isa_inst *gws_##name(struct isa_wave *w, const struct isa_inst *i)                     \
	{                                                                                                          \
		return run_gws(w, i, act);                                                                         \
	}
GWS_FN(init, unit_init)
GWS_FN(barrier, barrier_arrive)
GWS_FN(sema_v, sema_v)
GWS_FN(sema_br, sema_br)
GWS_FN(sema_p, sema_p)
GWS_FN(sema_release_all, sema_release_all)

const struct isa_handler isa_gws_handlers[] = {
	{ISA_OP_DS_GWS_INIT, gws_init},
	{ISA_OP_DS_GWS_BARRIER, gws_barrier},
	{ISA_OP_DS_GWS_SEMA_V, gws_sema_v},
	{ISA_OP_DS_GWS_SEMA_BR, gws_sema_br},
	{ISA_OP_DS_GWS_SEMA_P, gws_sema_p},
	{ISA_OP_DS_GWS_SEMA_RELEASE_ALL, gws_sema_release_all},
	{ISA_OP_NONE, NULL},
};
