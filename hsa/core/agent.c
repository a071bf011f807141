/* Agents: the host's NUMA nodes and the usable GPUs. A device that cannot be used is logged and hidden; it never
 * fails hsa_init(). */
#include "hsa/core/core.h"
#include "hsa/core/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- which GPUs ------------------------------------------------------------------------------- */

static void read_uuid(const struct drv_place *place, char *uuid, size_t size_B)
{
	/* ROCm's form: 16 digits of the chip's unique ID; all boards without an ID share one name. */
	if (strlen(place->unique_id) == 16)
		snprintf(uuid, size_B, "GPU-%s", place->unique_id);
	else
		snprintf(uuid, size_B, "GPU-XX");
}

/* The position of a device in ROCR_VISIBLE_DEVICES, or -1: it is hidden. An entry is an index, a UUID or the
 * beginning of a UUID; the first invalid entry ends the list. */
static int visible_place(unsigned index, const char *uuid, unsigned devices)
{
	const char *text = drv_config()->visible;
	int place = 0;

	if (!drv_config()->visible_set)
		return (int)index;
	for (; *text; place++) {
		size_t length = strcspn(text, ",");
		char *end;
		unsigned long n = strtoul(text, &end, 10);

		if (length > 4 && !strncmp(text, "GPU-", 4)) {
			if (length <= strlen(uuid) && !strncmp(text, uuid, length))
				return place;
		} else if (!length || end != text + length || n >= devices) {
			break;
		} else if (n == index) {
			return place;
		}
		text += length + (text[length] == ',');
	}
	return -1;
}

/* --- opening a GPU ---------------------------------------------------------------------------- */

static void close_gpu(struct rt_gpu *gpu)
{
	if (!gpu)
		return;
	sdma_copier_destroy(gpu->copier);
	if (gpu->vm)
		vm_destroy(gpu->vm);
	if (gpu->clock.dev)
		drv_clock_fini(&gpu->clock);
	drv_device_close(gpu->dev);
	free(gpu);
}

/* Opens a device without its address space, which is created later: the order of visible devices decides which
 * GPU's is the first. */
static int open_gpu(const struct drv_node *node, struct rt_gpu **out)
{
	struct rt_gpu *gpu = calloc(1, sizeof(*gpu));
	int r;

	*out = NULL;
	if (!gpu)
		return drv_fail(-ENOMEM, "no host memory for a device");
	r = drv_device_open(node, &gpu->dev);
	if (!r)
		r = drv_clock_init(&gpu->clock, gpu->dev);
	if (r) {
		close_gpu(gpu);
		return r;
	}
	drv_place_read(DRV_SYSFS, node, &gpu->place);
	gpu->large_bar = gpu->dev->facts.visible_vram.total_B >= gpu->dev->facts.vram.total_B;
	*out = gpu;
	return 0;
}

static int give_memory(struct rt *rt, struct rt_gpu *gpu)
{
	int r = rt->gpus ? vm_create_shared(rt->gpu[0]->vm, gpu->dev, &gpu->vm) : vm_create(gpu->dev, &gpu->vm);

	return r ? r : sdma_copier_create(gpu->vm, &gpu->copier);
}

static void log_hidden(const struct drv_node *node, const char *why)
{
	drv_log(DRV_LOG_HSA, "%s is no agent: %s", node->path, why);
}

/* The reason why the first node that failed cannot be used. */
struct refusal {
	char why[sizeof(((struct drv_error *)0)->why)]; /* "": none */
};

static void record_refusal(const struct drv_node *node, struct refusal *refusal)
{
	log_hidden(node, drv_error_last()->why);
	if (!refusal->why[0])
		snprintf(refusal->why, sizeof(refusal->why), "%s", drv_error_last()->why);
}

/* Prints, once in a process, why no GPU can be used although one exists. */
static void print_unusable(const char *why)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&said))
		fprintf(stderr, "tuff: no GPU can be used: %s (see `tuff info`)\n", why);
}

/* Opens the nodes, and stores each at its position in the visible order. */
static void open_visible(const struct drv_node *nodes, size_t count, struct rt_gpu **slot, struct refusal *refusal)
{
	struct rt_gpu *gpu;
	char uuid[24];
	int place;

	for (size_t i = 0; i < count; i++) {
		if (open_gpu(&nodes[i], &gpu)) {
			record_refusal(&nodes[i], refusal);
			continue;
		}
		read_uuid(&gpu->place, uuid, sizeof(uuid));
		place = visible_place(i, uuid, count);
		if (place < 0 || place >= RT_GPUS_MAX || slot[place]) {
			log_hidden(&nodes[i],
				   place < 0 ? "ROCR_VISIBLE_DEVICES does not name it" : "its place is taken");
			close_gpu(gpu);
		} else {
			slot[place] = gpu;
		}
	}
}

/* Prints the reason if no GPU accepts work. A GPU that opens is an agent and can be queried even if it accepts no
 * work. */
static void explain_unusable(const struct rt *rt, const struct refusal *refusal)
{
	const char *why = refusal->why;

	for (unsigned i = 0; i < rt->gpus; i++) {
		const char *verdict = drv_device_verdict(rt->gpu[i]->dev);

		if (!verdict)
			return;
		why = *why ? why : verdict;
	}
	if (*why)
		print_unusable(why);
}

static int open_gpus(struct rt *rt)
{
	struct rt_gpu *slot[RT_GPUS_MAX] = {0};
	struct drv_node nodes[DRV_NODES_MAX];
	struct refusal refusal = {.why = ""};
	size_t count;
	int r = drv_scan(nodes, DRV_NODES_MAX, &count);

	if (r == -EACCES)
		print_unusable(drv_error_last()->why);
	if (r)
		return r;
	open_visible(nodes, count, slot, &refusal);
	for (unsigned i = 0; i < RT_GPUS_MAX; i++) {
		if (!slot[i])
			continue;
		if (give_memory(rt, slot[i])) {
			record_refusal(&slot[i]->dev->node, &refusal);
			close_gpu(slot[i]);
			continue;
		}
		slot[i]->index = rt->gpus;
		rt->gpu[rt->gpus++] = slot[i];
	}
	explain_unusable(rt, &refusal);
	return rt->gpus ? 0 : drv_fail(-ENODEV, "none of %zu GPUs can be used", count);
}

/* --- agents ----------------------------------------------------------------------------------- */

static void add_pool(struct rt_agent *agent, enum rt_pool_kind kind, uint64_t size_B)
{
	agent->pool[agent->pools++] = (struct rt_pool){.agent = agent, .kind = kind, .size_B = size_B};
}

/* The part of a node's memory that the kernel gives to GPUs: GTT ends at half of the machine's memory, unless a
 * module parameter says otherwise, and registered memory counts in it (Linux ttm_tt_pages_limit,
 * amdgpu_gtt_mgr.c). */
static uint64_t host_size_B(const struct rt *rt, const struct drv_numa *numa)
{
	uint64_t size_B = numa->total_B;

	for (unsigned i = 0; i < rt->gpus; i++) {
		uint64_t gtt_B = rt->gpu[i]->dev->facts.gtt.usable_B;

		size_B = gtt_B < size_B ? gtt_B : size_B;
	}
	return size_B;
}

static void make_cpu(struct rt *rt, struct rt_agent *agent, const struct drv_numa *numa)
{
	const uint64_t size_B = host_size_B(rt, numa);

	agent->node = agent - rt->agent;
	agent->numa = numa;
	agent->nearest_cpu = agent;
	/* Fine-grained first: clients take the first pool that fits. */
	add_pool(agent, RT_POOL_FINE, size_B);
	add_pool(agent, RT_POOL_KERNARG, size_B);
	add_pool(agent, RT_POOL_COARSE, size_B);
	rt_info_cpu(rt, agent);
}

/* Like ROCr: fine-grained VRAM is offered inside an XGMI hive, and elsewhere if HSA_FORCE_FINE_GRAIN_PCIE is
 * set. */
static bool offers_fine_vram(const struct rt_gpu *gpu)
{
	return gpu->dev->can[DRV_CAN_FINE_VRAM].yes && (gpu->place.hive.id || drv_config()->fine_vram);
}

/* On an APU, "VRAM" is a part of the host's memory and GTT the rest: coarse-grained memory comes from both. */
static uint64_t coarse_size_B(const struct drv_facts *facts)
{
	return facts->vram.total_B + (facts->apu ? facts->gtt.total_B : 0);
}

static void make_gpu(struct rt *rt, struct rt_agent *agent, struct rt_gpu *gpu)
{
	int numa = drv_host_find(&rt->host, gpu->place.numa_node);

	agent->is_gpu = true;
	agent->node = agent - rt->agent;
	agent->gpu = gpu;
	gpu->agent = agent;
	agent->nearest_cpu = &rt->agent[numa < 0 ? 0 : numa];
	add_pool(agent, RT_POOL_COARSE, coarse_size_B(&gpu->dev->facts));
	if (offers_fine_vram(gpu))
		add_pool(agent, RT_POOL_FINE, gpu->dev->facts.vram.total_B);
	add_pool(agent, RT_POOL_GROUP, gpu->dev->chip->lds_B);
	if (drv_writes_vram(gpu->dev)) {
		add_pool(agent, RT_POOL_KERNARG, gpu->dev->facts.vram.total_B);
		agent->hidden++;
	}
	read_uuid(&gpu->place, agent->info.uuid, sizeof(agent->info.uuid));
	rt_info_gpu(rt, agent);
	drv_log(DRV_LOG_HSA, "agent %u: %s, %s, %s", agent->node, agent->isa, agent->info.product,
		agent->info.uuid);
}

int rt_agents_init(struct rt *rt)
{
	int r;

	drv_host_read(&rt->host);
	r = open_gpus(rt);
	if (r)
		return r;
	rt->cpus = rt->host.count;
	rt->agents = rt->cpus + rt->gpus;
	rt->agent = calloc(rt->agents, sizeof(*rt->agent));
	if (!rt->agent) {
		rt_agents_fini(rt);
		return drv_fail(-ENOMEM, "no host memory for %u agents", rt->agents);
	}
	for (unsigned i = 0; i < rt->cpus; i++)
		make_cpu(rt, &rt->agent[i], &rt->host.node[i]);
	for (unsigned i = 0; i < rt->gpus; i++)
		make_gpu(rt, &rt->agent[rt->cpus + i], rt->gpu[i]);
	rt_cus_init(rt);
	return 0;
}

void rt_agents_fini(struct rt *rt)
{
	/* Reverse order: the other GPUs adopted addresses from the first GPU's address space. */
	while (rt->gpus)
		close_gpu(rt->gpu[--rt->gpus]);
	free(rt->agent);
}

/* --- handles ---------------------------------------------------------------------------------- */

/* The agent that contains the address, and the offset in it. */
static struct rt_agent *agent_around(const struct rt *rt, uint64_t address, uint64_t *inside_B)
{
	uint64_t offset_B = address - (uintptr_t)rt->agent;

	*inside_B = offset_B % sizeof(*rt->agent);
	return offset_B / sizeof(*rt->agent) < rt->agents ? &rt->agent[offset_B / sizeof(*rt->agent)] : NULL;
}

struct rt_agent *rt_agent_of(const struct rt *rt, hsa_agent_t handle)
{
	uint64_t inside_B;
	struct rt_agent *agent = agent_around(rt, handle.handle, &inside_B);

	return inside_B ? NULL : agent;
}

struct rt_gpu *rt_gpu_of(const struct rt *rt, hsa_agent_t handle)
{
	struct rt_agent *agent = rt_agent_of(rt, handle);

	return agent ? agent->gpu : NULL;
}

/* The index of the array's element that begins inside_B into the agent; false: none of `count` does. */
static bool is_member(uint64_t inside_B, uint64_t array_B, uint64_t size_B, unsigned count, unsigned *index)
{
	uint64_t offset_B = inside_B - array_B;

	*index = offset_B / size_B;
	return offset_B % size_B == 0 && offset_B / size_B < count;
}

struct rt_pool *rt_pool_of(const struct rt *rt, uint64_t handle)
{
	uint64_t inside_B;
	struct rt_agent *agent = agent_around(rt, handle, &inside_B);
	unsigned i;

	return agent && is_member(inside_B, offsetof(struct rt_agent, pool), sizeof(struct rt_pool), agent->pools,
				  &i)
		       ? &agent->pool[i]
		       : NULL;
}

const struct rt_cache *rt_cache_of(const struct rt *rt, uint64_t handle)
{
	uint64_t inside_B;
	struct rt_agent *agent = agent_around(rt, handle, &inside_B);
	unsigned i;

	return agent && is_member(inside_B, offsetof(struct rt_agent, cache), sizeof(struct rt_cache),
				  agent->caches, &i)
		       ? &agent->cache[i]
		       : NULL;
}

RT_IMPL(hsa_iterate_agents, (hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data), (callback, data))
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; !status && i < rt->agents; i++)
		status = callback(rt_agent_handle(&rt->agent[i]), data);
	return status;
}

RT_IMPL(hsa_agent_iterate_caches,
	(hsa_agent_t handle, hsa_status_t (*callback)(hsa_cache_t cache, void *data), void *data),
	(handle, callback, data))
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	struct rt_agent *agent;

	agent = rt_agent_of(rt, handle);
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; !status && i < agent->caches; i++)
		status = callback((hsa_cache_t){(uintptr_t)&agent->cache[i]}, data);
	return status;
}

RT_IMPL(hsa_cache_get_info, (hsa_cache_t handle, hsa_cache_info_t attribute, void *value),
	(handle, attribute, value))
{
	const struct rt_cache *cache;

	cache = rt_cache_of(rt, handle.handle);
	if (!cache)
		return HSA_STATUS_ERROR_INVALID_CACHE;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_CACHE_INFO_NAME_LENGTH:
		*(uint32_t *)value = strlen(cache->name);
		return HSA_STATUS_SUCCESS;
	case HSA_CACHE_INFO_NAME: /* a pointer, as in ROCr, although the specification wants a copy */
		*(const char **)value = cache->name;
		return HSA_STATUS_SUCCESS;
	case HSA_CACHE_INFO_LEVEL:
		*(uint8_t *)value = cache->level;
		return HSA_STATUS_SUCCESS;
	case HSA_CACHE_INFO_SIZE:
		*(uint32_t *)value = cache->size_B;
		return HSA_STATUS_SUCCESS;
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
