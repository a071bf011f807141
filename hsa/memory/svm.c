/* Shared virtual memory (hsa_amd_svm_*) on registered host memory: attributes of the process's own pages. Pages
 * that an agent may access are registered at the host's own address. Attributes that would migrate pages are stored
 * and returned, but have no effect: DRM has no interface that migrates host memory. docs/support.md lists the
 * limits.
 *
 * Addresses with attributes are divided into disjoint segments; all other addresses have the attributes of
 * `plain`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "drv/lock.h"
#include "hsa/core/table.h"
#include "hsa/memory/memory.h"
#include "hsa/signal/signal.h"
#include "vm/host.h"
#include "vm/segments.h"

#define GRANULARITY     9  /* log2 of pages: KFD's default, 2 MiB */
#define GRANULARITY_MAX 18 /* like ROCr: 1 GiB */

struct attributes {
	uint64_t preferred, prefetch; /* handles of agents; 0: none */
	uint32_t granularity;
	bool coarse, read_only, hive_local, read_mostly, executable, host;
	uint32_t reach, in_place; /* masks of GPUs with access; of those from which it must not migrate */
};
struct segment {
	struct vm_node at; /* in rt_svm.segments */
	struct attributes a;
	struct vm_mem *mem[RT_GPUS_MAX]; /* owned; NULL: that GPU has no access */
};
static const struct segment plain = {.a = {.granularity = GRANULARITY, .host = true}};

/* A prefetch that waits for its dependencies, one after the other. */
struct prefetch {
	LIST_ENTRY(prefetch) in_svm;
	struct rt *rt; /* borrowed */
	hsa_signal_t completion;
	uint32_t left;
	hsa_signal_t dep[];
};

struct rt_svm {
	struct drv_mutex lock; /* guards the members below; held over ioctls */
	struct vm_segments segments;
	LIST_HEAD(, prefetch) prefetches; /* owned */
};

static void segment_unregister(struct segment *s)
{
	for (unsigned i = 0; i < RT_GPUS_MAX; i++) {
		vm_mem_destroy(s->mem[i]);
		s->mem[i] = NULL;
	}
}

/* svm_segments_cover() registers the two parts. */
static void segment_split(void *left, void *right)
{
	struct segment *r = right;

	segment_unregister(left);
	memset(r->mem, 0, sizeof(r->mem));
}

int rt_svm_init(struct rt *rt)
{
	struct rt_svm *svm = calloc(1, sizeof(*svm));

	if (!svm)
		return drv_fail(-ENOMEM, "no host memory for shared virtual memory");
	svm->segments = (struct vm_segments){.size_B = sizeof(struct segment), .split = segment_split};
	drv_mutex_init(&svm->lock, DRV_RANK_RT_SVM);
	rt->memory->svm = svm;
	return 0;
}

static void prefetch_end(struct rt_svm *svm, struct prefetch *p)
{
	drv_mutex_lock(&svm->lock);
	LIST_REMOVE(p, in_svm);
	drv_mutex_unlock(&svm->lock);
	free(p);
}

void rt_svm_fini(struct rt *rt)
{
	struct rt_svm *svm = rt->memory->svm;
	struct prefetch *p;
	struct segment *s;

	if (!svm)
		return;
	while ((s = vm_segment_first(&svm->segments, 0, UINT64_MAX))) {
		vm_segment_remove(&svm->segments, s);
		segment_unregister(s);
		free(s);
	}
	while ((p = LIST_FIRST(&svm->prefetches))) /* their dependencies were never met */
		prefetch_end(svm, p);
	drv_mutex_destroy(&svm->lock);
	free(svm);
	rt->memory->svm = NULL;
}

/* --- segments; lock held ---------------------------------------------------------------------- */

/* Registers the segment with the GPUs that get access, and unregisters it from those that lose it. */
static int segment_register(struct rt *rt, struct segment *s)
{
	const struct vm_register what = {.host = (void *)(uintptr_t)s->at.lo,
					 .size_B = s->at.hi - s->at.lo,
					 .flags = (s->a.read_only ? VM_REGISTER_READ : 0) |
						  (s->a.coarse ? 0 : VM_REGISTER_UNCACHED)};

	for (unsigned i = 0; i < rt->gpus; i++) {
		int r = 0;

		if (!(s->a.reach & 1u << i)) {
			vm_mem_destroy(s->mem[i]);
			s->mem[i] = NULL;
		} else if (!s->mem[i]) {
			r = vm_mem_register(rt->gpu[i]->vm, &what, &s->mem[i]);
		}
		if (r)
			return r;
		if (s->mem[i] && s->mem[i]->va != s->at.lo)
			return drv_fail(-ENOTSUP, "GPU %u does not reach 0x%llx as the host does", i,
					(unsigned long long)s->at.lo);
	}
	return 0;
}

/* Takes the access of all GPUs away. */
static void segment_close(struct segment *s)
{
	segment_unregister(s);
	s->a.reach = s->a.in_place = 0;
}

/* Makes segments for all of [lo, hi), and splits those that cross its ends. A part that cannot be registered anew loses its access. */
static int svm_segments_cover(struct rt *rt, struct rt_svm *svm, uint64_t lo, uint64_t hi)
{
	struct segment *s = NULL;
	int r = vm_segments_cover(&svm->segments, lo, hi, &plain);

	/* A part that was cut off begins or ends there; it may be cut although a new segment had no memory. */
	while ((s = vm_segment_next(&svm->segments, s, lo - 1, hi + 1))) {
		int failed = segment_register(rt, s);

		if (failed)
			segment_close(s);
		r = r ? r : failed;
	}
	return r;
}

/* --- setting ---------------------------------------------------------------------------------- */

/* The changes of a list of attributes. */
struct change {
	uint32_t set; /* bit i: attribute i is set, i < 32 */
	struct attributes to;
	bool host_set;
	uint32_t grant, in_place, deny; /* masks of GPUs */
};

static hsa_status_t read_agent(const struct rt *rt, const hsa_amd_svm_attribute_pair_t *pair, struct change *c,
			       uint64_t *seen)
{
	const struct rt_agent *agent = rt_agent_of(rt, (hsa_agent_t){pair->value});
	uint32_t bit;

	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (*seen & 1ull << agent->node)
		return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	*seen |= 1ull << agent->node;
	if (!agent->gpu) { /* like ROCr: access of any CPU gives it to all */
		c->to.host |= pair->attribute != HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS;
		c->host_set = true;
		return HSA_STATUS_SUCCESS;
	}
	bit = 1u << agent->gpu->index;
	if (pair->attribute == HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS)
		c->deny |= bit;
	else
		c->grant |= bit;
	if (pair->attribute == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE)
		c->in_place |= bit;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t read_attribute(const struct rt *rt, const hsa_amd_svm_attribute_pair_t *pair, struct change *c)
{
	switch (pair->attribute) {
	case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG:
		if (pair->value > HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED)
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
		c->to.coarse = pair->value;
		break;
	case HSA_AMD_SVM_ATTRIB_READ_ONLY:
		c->to.read_only = pair->value;
		break;
	case HSA_AMD_SVM_ATTRIB_HIVE_LOCAL:
		c->to.hive_local = pair->value;
		break;
	case HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY:
		c->to.granularity = pair->value < GRANULARITY_MAX ? pair->value : GRANULARITY_MAX;
		break;
	case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
		if (pair->value && !rt_agent_of(rt, (hsa_agent_t){pair->value}))
			return HSA_STATUS_ERROR_INVALID_AGENT;
		c->to.preferred = pair->value;
		break;
	case HSA_AMD_SVM_ATTRIB_READ_MOSTLY:
		c->to.read_mostly = pair->value;
		break;
	case HSA_AMD_SVM_ATTRIB_GPU_EXEC:
		c->to.executable = pair->value;
		break;
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	if (c->set & 1u << pair->attribute)
		return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	c->set |= 1u << pair->attribute;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t read_list(const struct rt *rt, const hsa_amd_svm_attribute_pair_t *list, size_t count,
			      struct change *c)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	uint64_t seen = 0;

	for (size_t i = 0; !status && i < count; i++)
		switch (list[i].attribute) {
		case HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE:
		case HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE:
		case HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS:
			status = read_agent(rt, &list[i], c, &seen);
			break;
		default:
			status = read_attribute(rt, &list[i], c);
		}
	return status;
}

static struct attributes attributes_changed(const struct attributes *from, const struct change *c)
{
	struct attributes a = *from;

#define TAKE(attribute, member) a.member = c->set & 1u << (attribute) ? c->to.member : a.member
	TAKE(HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, coarse);
	TAKE(HSA_AMD_SVM_ATTRIB_READ_ONLY, read_only);
	TAKE(HSA_AMD_SVM_ATTRIB_HIVE_LOCAL, hive_local);
	TAKE(HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY, granularity);
	TAKE(HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, preferred);
	TAKE(HSA_AMD_SVM_ATTRIB_READ_MOSTLY, read_mostly);
	TAKE(HSA_AMD_SVM_ATTRIB_GPU_EXEC, executable);
#undef TAKE
	a.host = c->host_set ? c->to.host : a.host;
	a.reach = (a.reach & ~c->deny) | c->grant;
	a.in_place = (a.in_place & ~(c->deny | c->grant)) | c->in_place;
	return a;
}

/* Sets a segment's attributes. On failure restores the former ones, or removes all access if that fails, too. */
static int attributes_apply(struct rt *rt, struct segment *s, const struct attributes *to)
{
	const struct attributes before = s->a;
	int r;

	if (to->read_only != before.read_only || to->coarse != before.coarse)
		segment_unregister(s); /* a registration has one caching mode and one access right */
	s->a = *to;
	r = segment_register(rt, s);
	if (!r)
		return 0;
	segment_unregister(s);
	s->a = before;
	if (segment_register(rt, s))
		segment_close(s);
	return r;
}

/* The whole pages that contain [ptr, ptr + size); false: none, or beyond all addresses. */
static bool pages_of(const void *ptr, size_t size, uint64_t *lo, uint64_t *hi)
{
	const uint64_t at = (uintptr_t)ptr;

	if (!at || !size || at > UINT64_MAX - RT_PAGE_B || size > UINT64_MAX - RT_PAGE_B - at)
		return false;
	*lo = at & ~(uint64_t)(RT_PAGE_B - 1);
	*hi = (at + size + RT_PAGE_B - 1) & ~(uint64_t)(RT_PAGE_B - 1);
	return true;
}

RT_IMPL(hsa_amd_svm_attributes_set, (void *ptr, size_t size, hsa_amd_svm_attribute_pair_t *list, size_t count),
	(ptr, size, list, count))
{
	struct rt_svm *svm = rt->memory->svm;
	struct change change = {0};
	struct segment *s = NULL;
	hsa_status_t status;
	uint64_t lo, hi;
	int r;

	if (!pages_of(ptr, size, &lo, &hi) || (count && !list))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = read_list(rt, list, count, &change);
	if (status)
		return status;
	drv_mutex_lock(&svm->lock);
	r = svm_segments_cover(rt, svm, lo, hi);
	while (!r && (s = vm_segment_next(&svm->segments, s, lo, hi))) {
		const struct attributes to = attributes_changed(&s->a, &change);

		r = attributes_apply(rt, s, &to);
	}
	drv_mutex_unlock(&svm->lock);
	/* ROCr returns this status, too, when the kernel refuses. */
	return r ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
}

/* --- getting ---------------------------------------------------------------------------------- */

/* The attributes common to all pages of a range. */
struct common {
	struct attributes a;
	bool any, mixed_model;
};

/* Merges like KFD: flags that all have; locations only if all agree; the least granularity. */
static void attributes_merge(struct common *c, const struct attributes *a)
{
	if (!c->any) {
		c->a = *a;
		c->any = true;
		return;
	}
	c->mixed_model |= c->a.coarse != a->coarse;
	c->a.read_only &= a->read_only;
	c->a.hive_local &= a->hive_local;
	c->a.read_mostly &= a->read_mostly;
	c->a.executable &= a->executable;
	c->a.host &= a->host;
	c->a.reach &= a->reach;
	c->a.in_place &= a->in_place;
	c->a.preferred = c->a.preferred == a->preferred ? a->preferred : 0;
	c->a.prefetch = c->a.prefetch == a->prefetch ? a->prefetch : 0;
	c->a.granularity = c->a.granularity < a->granularity ? c->a.granularity : a->granularity;
}

static struct common attributes_merge_all(struct rt_svm *svm, uint64_t lo, uint64_t hi)
{
	const struct segment *s = NULL;
	struct common c = {0};

	drv_mutex_lock(&svm->lock);
	while ((s = vm_segment_next(&svm->segments, s, lo, hi))) {
		if (s->at.lo > lo)
			attributes_merge(&c, &plain.a);
		attributes_merge(&c, &s->a);
		lo = s->at.hi;
	}
	drv_mutex_unlock(&svm->lock);
	if (lo < hi)
		attributes_merge(&c, &plain.a);
	return c;
}

static uint64_t attributes_access_of(const struct attributes *a, const struct rt_agent *agent)
{
	const uint32_t bit = agent->gpu ? 1u << agent->gpu->index : 0;

	if (agent->gpu ? !(a->reach & bit) : !a->host)
		return HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS;
	return a->in_place & bit ? HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE
				 : HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE;
}

static hsa_status_t attribute_query(const struct rt *rt, const struct common *c, hsa_amd_svm_attribute_pair_t *pair)
{
	const struct rt_agent *agent;

	switch (pair->attribute) {
	case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG:
		return RT_GIVE(&pair->value, uint64_t,
			       c->mixed_model ? HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE
			       : c->a.coarse  ? HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED
					      : HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED);
	case HSA_AMD_SVM_ATTRIB_READ_ONLY:
		return RT_GIVE(&pair->value, uint64_t, c->a.read_only);
	case HSA_AMD_SVM_ATTRIB_HIVE_LOCAL:
		return RT_GIVE(&pair->value, uint64_t, c->a.hive_local);
	case HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY:
		return RT_GIVE(&pair->value, uint64_t, c->a.granularity);
	case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
		return RT_GIVE(&pair->value, uint64_t, c->a.preferred);
	case HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION:
		return RT_GIVE(&pair->value, uint64_t, c->a.prefetch);
	case HSA_AMD_SVM_ATTRIB_READ_MOSTLY:
		return RT_GIVE(&pair->value, uint64_t, c->a.read_mostly);
	case HSA_AMD_SVM_ATTRIB_ACCESS_QUERY: /* the result replaces the attribute; the agent stays */
		agent = rt_agent_of(rt, (hsa_agent_t){pair->value});
		if (!agent)
			return HSA_STATUS_ERROR_INVALID_AGENT;
		return RT_GIVE(&pair->attribute, uint64_t, attributes_access_of(&c->a, agent));
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

RT_IMPL(hsa_amd_svm_attributes_get, (void *ptr, size_t size, hsa_amd_svm_attribute_pair_t *list, size_t count),
	(ptr, size, list, count))
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	struct common common;
	uint64_t lo, hi;

	if (!pages_of(ptr, size, &lo, &hi) || (count && !list))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	common = attributes_merge_all(rt->memory->svm, lo, hi);
	for (size_t i = 0; !status && i < count; i++)
		status = attribute_query(rt, &common, &list[i]);
	return status;
}

/* --- prefetching ------------------------------------------------------------------------------ */

static void prefetch_enlist(struct rt_svm *svm, struct prefetch *p)
{
	drv_mutex_lock(&svm->lock);
	LIST_INSERT_HEAD(&svm->prefetches, p, in_svm);
	drv_mutex_unlock(&svm->lock);
}

static bool prefetch_step(hsa_signal_value_t value, void *arg)
{
	struct prefetch *p = arg;
	struct rt_signal *signal;
	uint32_t generation;

	(void)value;
	/* A destroyed signal is skipped. */
	while (p->left)
		if (!impl_hsa_amd_signal_async_handler(p->dep[--p->left], HSA_SIGNAL_CONDITION_EQ, 0, prefetch_step,
						       p))
			return false;
	signal = p->completion.handle ? rt_signal_find(p->rt, p->completion, &generation) : NULL;
	if (signal)
		(void)rt_signal_complete(p->rt, signal, generation, 0);
	prefetch_end(p->rt->memory->svm, p);
	return false;
}

static void prefetch_first_step(void *arg)
{
	prefetch_step(0, arg);
}

/* True if a handler can be set for the signal: others change without a notification. */
static bool can_set_handler(const struct rt *rt, hsa_signal_t handle)
{
	struct rt_signal *signal = rt_signal_of(rt, handle);
	uint32_t kind = signal ? atomic_load(&signal->kind) : RT_SIGNAL_FREE;

	return kind == RT_SIGNAL_USER || kind == RT_SIGNAL_IPC;
}

static hsa_status_t check_signals(const struct rt *rt, uint32_t count, const hsa_signal_t *signals,
				  hsa_signal_t completion)
{
	if (count && !signals)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < count; i++)
		if (!can_set_handler(rt, signals[i]))
			return HSA_STATUS_ERROR_INVALID_SIGNAL;
	return completion.handle && !rt_signal_of(rt, completion) ? HSA_STATUS_ERROR_INVALID_SIGNAL
								  : HSA_STATUS_SUCCESS;
}

/* The location is stored at once: a query returns it while the prefetch is pending, as in ROCr. */
static int set_prefetch_location(struct rt *rt, uint64_t lo, uint64_t hi, uint64_t agent)
{
	struct rt_svm *svm = rt->memory->svm;
	struct segment *s = NULL;
	int r;

	drv_mutex_lock(&svm->lock);
	r = svm_segments_cover(rt, svm, lo, hi);
	while (!r && (s = vm_segment_next(&svm->segments, s, lo, hi)))
		s->a.prefetch = agent;
	drv_mutex_unlock(&svm->lock);
	return r;
}

/* The pages are not moved; every agent with access uses them where they are. */
RT_IMPL(hsa_amd_svm_prefetch_async,
	(void *ptr, size_t size, hsa_agent_t agent, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
	 hsa_signal_t completion_signal),
	(ptr, size, agent, num_dep_signals, dep_signals, completion_signal))
{
	hsa_status_t status = check_signals(rt, num_dep_signals, dep_signals, completion_signal);
	struct prefetch *p;
	uint64_t lo, hi;
	int r;

	if (!pages_of(ptr, size, &lo, &hi))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!rt_agent_of(rt, agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (status)
		return status;
	p = malloc(sizeof(*p) + num_dep_signals * sizeof(p->dep[0]));
	if (!p)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*p = (struct prefetch){.rt = rt, .completion = completion_signal, .left = num_dep_signals};
	for (uint32_t i = 0; i < num_dep_signals; i++)
		p->dep[i] = dep_signals[i];
	prefetch_enlist(rt->memory->svm, p);
	r = set_prefetch_location(rt, lo, hi, agent.handle);
	r = r ? r : rt_callback(rt, prefetch_first_step, p);
	if (r)
		prefetch_end(rt->memory->svm, p);
	return hsa_status_of(r);
}
