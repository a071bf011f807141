#include <linux/capability.h>
#include "vgpu/kernel/sched/ctx.h"
#include "vgpu/kernel/base/inode.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/kernel/sync/fence.h"

const uint32_t kern_ip_max_ibs[KERN_IP_TYPES] = {192, 125, 49, 49, 49, 49, 49, 49, 16, 49};

unsigned kern_ip_entities(uint32_t ip)
{
	static const uint8_t entities[KERN_IP_TYPES] = {1, 4, 2, 1, 1, 1, 1, 1, 1, 1};

	return ip < KERN_IP_TYPES ? entities[ip] : 0;
}

unsigned kern_ip_hw_rings(const struct kern_device *dev, uint32_t ip)
{
	const struct vgpu_chip *chip = kern_local.chip[dev->index];

	switch (ip) {
	case AMDGPU_HW_IP_GFX:
		return chip->gfx_rings;
	case AMDGPU_HW_IP_COMPUTE:
		return KERN_XCC_RINGS * dev->xccs;
	case AMDGPU_HW_IP_DMA:
		return chip->sdma_instances * dev->xccs;
	default:
		return 0;
	}
}

/* Linux has GFX and DMA, too. */
uint32_t kern_ip_userqs(const struct kern_device *dev)
{
	return dev->userq ? 1u << AMDGPU_HW_IP_COMPUTE : 0;
}

/* compute_hqd_mask of amdgpu_mes_init(): the last two of four queues of each of four pipes, or all. */
unsigned kern_ip_userq_slots(const struct kern_device *dev, uint32_t ip)
{
	if (!(kern_ip_userqs(dev) >> ip & 1))
		return 0;
	return dev->userq == KERN_USERQ_ONLY ? 16 : 8;
}

static void entity_init(struct kern_ctx *ctx, struct kern_entity *entity, uint8_t ip, uint8_t ring)
{
	entity->ctx = ctx;
	entity->ip = ip;
	entity->ring = ring;
	entity->hw = -1;
	entity->seq = 1;
	entity->fence_context = kern->next_context++;
}

static void entity_fini(struct kern_entity *entity)
{
	if (entity->counted)
		entity->ctx->dev->users[entity->ctx->partition]--;
	for (unsigned i = 0; i < KERN_SCHED_JOBS; i++)
		kern_fence_put(entity->fence[i]);
	kern_sched_detach(entity);
}

int kern_ctx_entity(struct kern_ctx *ctx, uint32_t ip, uint32_t instance, uint32_t ring,
		    struct kern_entity **entity)
{
	if (instance || ring >= kern_ip_entities(ip))
		return -EINVAL;
	*entity = ip < KERN_IPS ? &ctx->entity[ip][ring] : &ctx->absent;
	if (ip < KERN_IPS && kern_ip_hw_rings(ctx->dev, ip) && !(*entity)->counted) {
		if (!kern_sched_has_ring(*entity))
			return -ENOENT;
		(*entity)->counted = true;
		ctx->dev->users[ctx->partition]++;
	}
	return kern_profile_of(ctx->dev)->sticky_errors ? (*entity)->error : 0;
}

int kern_entity_fence(struct kern_entity *entity, uint64_t seq, struct kern_fence **fence)
{
	*fence = NULL;
	if (seq == UINT64_MAX)
		seq = entity->seq - 1;
	if (seq >= entity->seq)
		return -EINVAL;
	if (seq + KERN_SCHED_JOBS >= entity->seq)
		*fence = kern_fence_get(entity->fence[seq % KERN_SCHED_JOBS]);
	return 0;
}

/* --- the ioctl --- */

static bool capable_nice(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	if (sys_call6(SYS_capget, (long)&header, (long)data, 0, 0, 0, 0))
		return false;
	return data[CAP_SYS_NICE / 32].effective & 1u << CAP_SYS_NICE % 32;
}

static bool priority_valid(int32_t priority)
{
	return priority == AMDGPU_CTX_PRIORITY_VERY_LOW || priority == AMDGPU_CTX_PRIORITY_LOW ||
	       priority == AMDGPU_CTX_PRIORITY_NORMAL || priority == AMDGPU_CTX_PRIORITY_HIGH ||
	       priority == AMDGPU_CTX_PRIORITY_VERY_HIGH;
}

/* A file of no partition gets the one with the fewest users, for good (Linux amdgpu_xcp_select_scheds, which does
 * so for the first job). */
static uint8_t file_partition(struct kern_file *file)
{
	const struct kern_device *dev = file->dev;
	unsigned least = 0;

	for (unsigned i = 1; i < dev->partitions; i++)
		if (dev->users[i] < dev->users[least])
			least = i;
	if (file->partition < 0)
		file->partition = (int8_t)least;
	return (uint8_t)file->partition;
}

static int ctx_alloc(struct kern_file *file, int32_t priority, uint32_t *id)
{
	struct kern_device *dev = file->dev;
	struct kern_ctx *ctx;
	int r;

	if (!priority_valid(priority))
		priority = AMDGPU_CTX_PRIORITY_NORMAL;
	if (priority > AMDGPU_CTX_PRIORITY_NORMAL && dev->master != file && !capable_nice())
		return -EACCES;
	ctx = kern_alloc(sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->refs = 1;
	ctx->dev = dev;
	ctx->partition = file_partition(file);
	ctx->priority = priority;
	ctx->generation = dev->generation;
	ctx->reset_count = ctx->reset_query = dev->resets;
	for (uint8_t ip = 0; ip < KERN_IPS; ip++)
		for (uint8_t ring = 0; ring < kern_ip_entities(ip); ring++)
			entity_init(ctx, &ctx->entity[ip][ring], ip, ring);
	ctx->absent.seq = 1;
	ctx->id = kern_idr_add(&file->contexts, ctx, &r);
	if (!ctx->id) {
		kern_free(ctx);
		return r;
	}
	kern_live(KERN_CONTEXTS, 1);
	*id = ctx->id;
	return 0;
}

void kern_ctx_put(struct kern_ctx *ctx)
{
	if (!ctx || --ctx->refs)
		return;
	for (unsigned ip = 0; ip < KERN_IPS; ip++)
		for (unsigned ring = 0; ring < kern_ip_entities(ip); ring++)
			entity_fini(&ctx->entity[ip][ring]);
	if (ctx->dev->pstate_owner == ctx)
		ctx->dev->pstate_owner = NULL;
	kern_live(KERN_CONTEXTS, -1);
	kern_free(ctx);
}

static int ctx_free(struct kern_file *file, uint32_t id)
{
	struct kern_ctx *ctx = kern_idr_remove(&file->contexts, id);

	if (!ctx)
		return -EINVAL;
	kern_sched_ctx_closed(ctx);
	kern_ctx_put(ctx);
	return 0;
}

static void ctx_query(struct kern_ctx *ctx, union drm_amdgpu_ctx_out *out)
{
	memset(out, 0, sizeof(*out));
	out->state.reset_status =
		ctx->reset_query == ctx->dev->resets ? AMDGPU_CTX_NO_RESET : AMDGPU_CTX_UNKNOWN_RESET;
	ctx->reset_query = ctx->dev->resets;
}

static bool ctx_guilty(const struct kern_ctx *ctx)
{
	if (!kern_profile_of(ctx->dev)->error_is_guilt)
		return ctx->guilty;
	for (unsigned ip = 0; ip < KERN_IPS; ip++)
		for (unsigned i = 0; i < kern_ip_entities(ip); i++)
			if (ctx->entity[ip][i].error == -ETIME)
				return true;
	return false;
}

static void ctx_query2(struct kern_ctx *ctx, union drm_amdgpu_ctx_out *out)
{
	memset(out, 0, sizeof(*out));
	if (ctx->reset_count != ctx->dev->resets)
		out->state.flags |= AMDGPU_CTX_QUERY2_FLAGS_RESET;
	if (ctx->generation != ctx->dev->generation)
		out->state.flags |= AMDGPU_CTX_QUERY2_FLAGS_VRAMLOST;
	if (ctx_guilty(ctx))
		out->state.flags |= AMDGPU_CTX_QUERY2_FLAGS_GUILTY;
}

static int pstate_set(struct kern_ctx *ctx, uint32_t level)
{
	struct kern_device *dev = ctx->dev;

	if (dev->pstate_owner && dev->pstate_owner != ctx)
		return -EBUSY;
	ctx->pstate = level;
	dev->pstate_owner = level == AMDGPU_CTX_STABLE_PSTATE_NONE ? NULL : ctx;
	return 0;
}

static int ctx_pstate(struct kern_ctx *ctx, union drm_amdgpu_ctx *args)
{
	uint32_t flags = args->in.flags;

	if (args->in.op == AMDGPU_CTX_OP_GET_STABLE_PSTATE) {
		if (flags)
			return -EINVAL;
		memset(args, 0, sizeof(*args));
		args->out.pstate.flags = ctx->pstate;
		return 0;
	}
	if ((flags & ~AMDGPU_CTX_STABLE_PSTATE_FLAGS_MASK) || flags > AMDGPU_CTX_STABLE_PSTATE_PEAK)
		return -EINVAL;
	return pstate_set(ctx, flags);
}

static int ctx_alloc_op(struct kern_file *file, union drm_amdgpu_ctx *args)
{
	uint32_t id = 0;
	int r;

	if (args->in.flags)
		return -EINVAL;
	r = ctx_alloc(file, args->in.priority, &id);
	if (!r) {
		memset(args, 0, sizeof(*args));
		args->out.alloc.ctx_id = id;
	}
	return r;
}

int kern_ctx_ioctl(struct kern_file *file, void *arg)
{
	union drm_amdgpu_ctx *args = arg;
	struct kern_ctx *ctx = kern_ctx_find(file, args->in.ctx_id);
	bool pstate =
		args->in.op == AMDGPU_CTX_OP_GET_STABLE_PSTATE || args->in.op == AMDGPU_CTX_OP_SET_STABLE_PSTATE;

	if (args->in.op == AMDGPU_CTX_OP_ALLOC_CTX)
		return ctx_alloc_op(file, args);
	if (!ctx || (args->in.flags && !pstate))
		return -EINVAL;
	switch (args->in.op) {
	case AMDGPU_CTX_OP_FREE_CTX:
		return ctx_free(file, args->in.ctx_id);
	case AMDGPU_CTX_OP_QUERY_STATE:
		ctx_query(ctx, &args->out);
		return 0;
	case AMDGPU_CTX_OP_QUERY_STATE2:
		ctx_query2(ctx, &args->out);
		return 0;
	default:
		return pstate ? ctx_pstate(ctx, args) : -EINVAL;
	}
}

/* For the master of a primary node only; dispatch has checked that. A descriptor's contexts get another priority.
 */
int kern_sched_ioctl(struct kern_file *file, void *arg)
{
	union drm_amdgpu_sched *args = arg;
	bool process = args->in.op == AMDGPU_SCHED_OP_PROCESS_PRIORITY_OVERRIDE;
	struct kern_inode *inode;
	struct kern_file *target;
	struct kern_ctx *ctx;

	if (!priority_valid(args->in.priority))
		return -EINVAL;
	if (!process && args->in.op != AMDGPU_SCHED_OP_CONTEXT_PRIORITY_OVERRIDE)
		return -EINVAL;
	inode = kern_inode_of_fd((int)args->in.fd);
	if (!inode || inode->kind != KERN_INODE_FILE)
		return -EINVAL;
	target = inode->object;
	if (target->dev != file->dev)
		return -EINVAL;
	ctx = kern_ctx_find(target, args->in.ctx_id);
	if (!process && !ctx)
		return -EINVAL;
	for (uint32_t id = 1; process && id < target->contexts.room; id++)
		if (kern_ctx_find(target, id))
			kern_ctx_find(target, id)->priority = args->in.priority;
	if (!process)
		ctx->priority = args->in.priority;
	return 0;
}
