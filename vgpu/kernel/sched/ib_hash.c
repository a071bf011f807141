#include "vgpu/kernel/sched/ib_hash.h"

static uint64_t hash_words(uint64_t hash, const uint32_t *word, uint64_t words)
{
	for (uint64_t i = 0; i < words; i++) /* FNV-1a, a dword at a time */
		hash = (hash ^ __atomic_load_n(&word[i], __ATOMIC_RELAXED)) * 0x100000001b3ull;
	return hash;
}

/* Never 0. An IB that is not wholly in one mapping is left to the engine. */
static uint64_t hash_job(const struct kern_job *job, const struct gpuvm_view *view)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (unsigned i = 0; i < job->ib_count; i++) {
		uint64_t va = job->ib[i].va & KERN_VA_MASK;
		const struct gpuvm_region *region = gpuvm_find(view, va);

		if (region && region->host && va % 4 == 0 && region->hi - va >= job->ib[i].size_B)
			hash = hash_words(hash, (const uint32_t *)(region->host + (va - region->lo)),
					  job->ib[i].size_B / 4);
	}
	return hash | 1;
}

void kern_ib_hash(struct kern_job *job)
{
	if (vgpu_strict() == VGPU_STRICT_FATAL)
		job->ib_hash = hash_job(job, &job->view->view);
}

void kern_ib_check(const struct kern_job *job)
{
	if (job->ib_hash && job->ib_hash != hash_job(job, &job->view->view))
		vgpu_finding(CONTRACT_IB_CHANGED,
			     "job %llu of context %u: an IB was changed between submission and execution",
			     (unsigned long long)job->seq, job->ctx->id);
}
