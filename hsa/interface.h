/* The functions of our HSA library that our HIP library calls beyond HSA: a table, as of an extension that no
 * other program knows. Both libraries are built together; a table of another build is refused by its size.
 *
 * Streams are flows (flow/flow.h), whose fields our HIP library reads and whose lock it takes; their functions it
 * reaches by this table, since the flows' state is in the HSA library. */
#ifndef HSA_INTERFACE_H
#define HSA_INTERFACE_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "flow/flow.h"

/* An extension number behind AMD's, which begin at 0x200, and within the 128 bytes that agents have for them. */
#define RT_EXTENSION_INTERFACE 0x3e7

struct rt_sync;

struct rt_flow_info {
	enum cs_priority priority;
	/* The flow has failed: nothing more of it will be done. On the thread for HSA's callbacks. */
	void (*failed)(hsa_status_t status, void *user);
	void *user;
};

/* A copy by the DMA engines in a flow's order, between any two addresses that HSA knows and GPUs reach. */
struct rt_copy {
	uint64_t dst, src;
	uint64_t size_B;       /* bytes in a row; 0: a rectangle */
	struct sdma_rect rect; /* dst and src are not read */
	hsa_agent_t agent;     /* the GPU whose engine copies a rectangle */
	hsa_signal_t
		completion; /* 0: none. It gets the times of the copy (hsa_amd_profiling_get_async_copy_time) */
};

struct rt_interface {
	uint64_t size_B; /* sizeof(struct rt_interface) */

	/* --- flows ------------------------------------------------------------------------------------ */

	/* -ENOMEM. One reference is the caller's: destroy() takes it. */
	int (*create)(hsa_agent_t agent, const struct rt_flow_info *info, struct flow **flow);
	/* Ends it: what the GPU has not got is dropped. The memory stays until flow_get()'s references are put. */
	void (*destroy)(struct flow *flow);
	void (*put)(struct flow *flow);
	/* Locked, as in flow.h. */
	int (*dispatch)(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet);
	int (*submit)(struct flow *flow, const struct flow_op *op);
	struct flow_again (*again_of)(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet);
	int (*again)(struct flow *flow, const struct flow_again *again, void *kernarg);
	/* Locked. -EXDEV: no GPU reaches both ends; -ENOMEM; as flow_submit(). */
	int (*copy)(struct flow *flow, const struct rt_copy *copy);
	/* Any thread. */
	uint64_t (*completed)(const struct flow *flow);
	bool (*reached)(struct flow *flow, uint64_t value);
	void (*flush)(struct flow *flow);
	void (*call_ended)(struct flow *flow);
	/* flow_wait(), and queries the kernel about faults. 0; -ETIMEDOUT; -ECANCELED, -ENODEV: they never will, or
	 * the flow has failed; -EFAULT: a kernel of the GPU reached what it may not, since the flow was made. */
	int (*wait)(struct flow *flow, uint64_t value, int64_t timeout_ns);
	/* 0, or what the flow failed with. */
	int (*state)(const struct flow *flow);
	/* Nothing more of the flow is given to the GPU; its state is -ECANCELED from then on. What the GPU has
	 * goes on. */
	void (*abandon)(struct flow *flow);
	/* The same as hsa_amd_queue_cu_set_mask() and hsa_amd_queue_cu_get_mask(). */
	hsa_status_t (*set_cus)(struct flow *flow, uint32_t bits, const uint32_t *cus);
	hsa_status_t (*get_cus)(const struct flow *flow, uint32_t bits, uint32_t *cus);
	/* The flow of the agent's cooperative queue, which is made for it and destroyed with HSA: its grids are on
	 * the GPU one at a time. As create(): destroy() takes the reference. failed() is called for it, too. */
	int (*cooperative)(hsa_agent_t agent, const struct rt_flow_info *info, struct flow **flow);
	/* A time of FLOW_STAMP in ticks of HSA_SYSTEM_INFO_TIMESTAMP. */
	uint64_t (*ticks)(hsa_agent_t agent, uint64_t stamp);
	int (*segment_create)(hsa_agent_t agent, const hsa_kernel_dispatch_packet_t *packets, uint32_t count,
			      struct flow_segment **segment);
	void (*segment_destroy)(struct flow_segment *segment);
	/* A syncobj's descriptor, which stays the caller's. -EINVAL: it is none; -ENOMEM. */
	int (*import_sync)(hsa_agent_t agent, int fd, struct rt_sync **sync);
	/* Operations that name it do nothing from now on. */
	void (*drop_sync)(struct rt_sync *sync);
	/* Locked. What follows begins when it is signaled, or it is signaled when all before has ended. */
	int (*syncobj)(struct flow *flow, struct rt_sync *sync, uint64_t value, bool signal);

	/* --- the GPU ------------------------------------------------------------------------------------ */

	/* Waits until all that the agent, a GPU, was given so far has ended, well or not, and asks the kernel what
	 * it knows of faults. What waits for signals that were destroyed does not begin any more. */
	void (*retire)(hsa_agent_t agent);
	/* Has everything go on that can, and gives how many operations of the agent's flows were executed so far;
	 * *busy becomes true if the GPU works. Takes a few milliseconds. */
	uint64_t (*steps)(hsa_agent_t agent, bool *busy);
	/* How many faults of the agent's kernels were heard of. */
	unsigned (*faults)(hsa_agent_t agent);
	/* The code object for that agent in a bundle, or the image itself when it is none. -ENOEXEC. */
	int (*pick)(hsa_agent_t agent, const void **image, size_t *size_B);
	/* Memory of the agent, a GPU, for kernel arguments, which the CPU only writes; handle 0: the host's is the
	 * place for them. */
	hsa_amd_memory_pool_t (*args_pool)(hsa_agent_t agent);
	/* How many workgroups of so many work-items the agent, a GPU, can run at a time when they need scratch,
	 * whatever else would allow. */
	uint32_t (*scratch_groups_max)(hsa_agent_t agent, uint32_t group_threads);
	/* NULL: no such kernel was loaded. */
	const struct cs_kernel *(*kernel)(hsa_agent_t agent, uint64_t kernel_object);
	/* Exports the memory that is mapped there (hsa_amd_vmem_map), by whole mappings side by side, until one of
	 * them is unmapped. -EINVAL: none are; -ENOMEM. */
	int (*share)(void *va, size_t size_B, hsa_amd_ipc_memory_t *handle);
	/* The index-th mapping that a process shares by the handle: its dma-buf, which the caller gets, and its
	 * size. -ENOENT: there is none with that index, or the process has gone; -EINVAL: not a handle of
	 * memory; -EPERM: another user's. */
	int (*fetch)(const hsa_amd_ipc_memory_t *handle, uint64_t index, int *fd, uint64_t *size_B);
	/* Memory that is locked there cannot be written: neither by the process nor by GPUs. */
	bool (*read_only)(const void *ptr);
	/* Why this thread's last call failed, for people. */
	const char *(*reason)(void);
	/* The value that this thread sets struct flow.holder to while it holds a flow's lock and calls
	 * functions that may flush flows. */
	void *(*thread)(void);
};

extern const struct rt_interface rt_interface;

#endif
