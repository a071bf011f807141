/* The private interface: functions of our HSA library that our HIP library calls beyond HSA, as a table of an
 * extension that no other program knows. Both libraries are built together; the HIP library refuses a table of
 * another size.
 *
 * Streams are flows (flow/flow.h), owned by their creator until destroy(). Our HIP library reads their fields and
 * takes their lock ("Locked" below); it calls their functions through this table, since the flows' state is in the
 * HSA library. */
#ifndef HSA_INTERFACE_H
#define HSA_INTERFACE_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>

#include "flow/flow.h"

/* An extension number above AMD's, which begin at 0x200, and within the 128 bytes of bits that agents have. */
#define RT_EXTENSION_INTERFACE 0x3e7

struct rt_sync;

struct rt_flow_info {
	enum cs_priority priority;
	/* The flow failed: none of its unfinished operations will be executed. Called on the handler thread. */
	void (*failed)(hsa_status_t status, void *user);
	void *user;
};

/* A copy by the DMA engines in a flow's order, between any two addresses that HSA knows and GPUs can access. */
struct rt_copy {
	uint64_t dst, src;
	uint64_t size_B;         /* bytes of a linear copy; 0: a rectangle */
	struct sdma_rect rect;   /* members dst and src are ignored */
	hsa_agent_t agent;       /* the GPU whose engine copies a rectangle */
	hsa_signal_t completion; /* 0: none. Gets the times of the copy (hsa_amd_profiling_get_async_copy_time) */
};

/* Distances of rows and slices of a linear image, and the size of all. */
struct rt_image_layout {
	uint64_t row_B, slice_B, size_B;
};

struct rt_interface {
	uint64_t size_B; /* sizeof(struct rt_interface) */

	/* --- flows ------------------------------------------------------------------------------------ */

	/* Creates a flow. The caller owns one reference, which destroy() takes. -ENOMEM. */
	int (*create)(hsa_agent_t agent, const struct rt_flow_info *info, struct flow **flow);
	/* Ends the flow: operations that are not submitted are dropped. Its memory lives until the references of
	 * flow_get() are released. */
	void (*destroy)(struct flow *flow);
	void (*put)(struct flow *flow);
	/* Locked, as in flow.h. */
	int (*dispatch)(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet);
	int (*submit)(struct flow *flow, const struct flow_op *op);
	struct flow_again (*again_of)(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet);
	int (*again)(struct flow *flow, const struct flow_again *again, void *kernarg);
	/* Locked. -EXDEV: no GPU can access both ends; -ENOMEM; those of flow_submit(). */
	int (*copy)(struct flow *flow, const struct rt_copy *copy);
	/* Any thread. */
	uint64_t (*completed)(const struct flow *flow);
	bool (*reached)(struct flow *flow, uint64_t value);
	/* flow_flush(), and from time to time a query of the kernel for faults: for callers that poll. */
	void (*flush)(struct flow *flow);
	void (*call_ended)(struct flow *flow);
	/* flow_wait(), and queries the kernel for faults. 0; -ETIMEDOUT; -ECANCELED, -ENODEV: the operations will
	 * never complete, or the flow failed; -EFAULT: a kernel of the GPU had a memory fault since the flow was
	 * created. */
	int (*wait)(struct flow *flow, uint64_t value, int64_t timeout_ns);
	/* 0, or the error of the failed flow. */
	int (*state)(const struct flow *flow);
	/* Drops all operations that are not submitted; the state is -ECANCELED from then on. Submitted work
	 * continues. */
	void (*abandon)(struct flow *flow);
	/* The same as hsa_amd_queue_cu_set_mask() and hsa_amd_queue_cu_get_mask(). */
	hsa_status_t (*set_cus)(struct flow *flow, uint32_t bits, const uint32_t *cus);
	hsa_status_t (*get_cus)(const struct flow *flow, uint32_t bits, uint32_t *cus);
	/* Returns the flow of the agent's cooperative queue, which is created on demand and destroyed with HSA: its
	 * grids run one at a time. The reference and failed() are as for create(). */
	int (*cooperative)(hsa_agent_t agent, const struct rt_flow_info *info, struct flow **flow);
	/* Converts a time of FLOW_STAMP to ticks of HSA_SYSTEM_INFO_TIMESTAMP. */
	uint64_t (*ticks)(hsa_agent_t agent, uint64_t stamp);
	int (*segment_create)(hsa_agent_t agent, const hsa_kernel_dispatch_packet_t *packets, uint32_t count,
			      struct flow_segment **segment);
	void (*segment_destroy)(struct flow_segment *segment);
	/* Imports a syncobj's descriptor, which stays the caller's. -EINVAL: not a syncobj; -ENOMEM. */
	int (*import_sync)(hsa_agent_t agent, int fd, struct rt_sync **sync);
	/* Drops the syncobj: pending operations on it do nothing. */
	void (*drop_sync)(struct rt_sync *sync);
	/* Locked. The operations after it wait for the syncobj, or it is signaled when all before have ended. */
	int (*syncobj)(struct flow *flow, struct rt_sync *sync, uint64_t value, bool signal);

	/* --- the GPU ------------------------------------------------------------------------------------ */

	/* Waits until all work submitted to the agent, a GPU, has ended or failed, and queries the kernel for
	 * faults. Work that waits for destroyed signals is not started any more. */
	void (*retire)(hsa_agent_t agent);
	/* Advances all deferred work, and returns the number of operations of the agent's flows that were executed
	 * so far; *busy becomes true if the GPU works. Takes a few milliseconds. */
	uint64_t (*steps)(hsa_agent_t agent, bool *busy);
	/* The number of the agent's faults that were reported. */
	unsigned (*faults)(hsa_agent_t agent);
	/* Finds the code object for that agent in a bundle; an image that is no bundle is the result itself.
	 * -ENOEXEC. */
	int (*pick)(hsa_agent_t agent, const void **image, size_t *size_B);
	/* True for the first caller: of several libraries of HIP one warns of the others. */
	bool (*first_warning)(void);
	/* The index-th of the targets whose code the agent runs, best first (cs_target_id()). False after the last. */
	bool (*target)(hsa_agent_t agent, unsigned index, char *id, size_t size_B);
	/* A pool of the agent's, a GPU's, memory for kernel arguments, which the CPU only writes; handle 0:
	 * arguments belong in host memory. */
	hsa_amd_memory_pool_t (*args_pool)(hsa_agent_t agent);
	/* The number of workgroups of that many work-items that the agent, a GPU, can run at a time when they need
	 * scratch, if nothing else limits it. */
	uint32_t (*scratch_groups_max)(hsa_agent_t agent, const struct cs_kernel *kernel, uint32_t group_threads);
	/* The kernel of a kernel object; NULL: no such kernel is loaded. */
	const struct cs_kernel *(*kernel)(hsa_agent_t agent, uint64_t kernel_object);
	/* Exports memory that is mapped there (hsa_amd_vmem_map), as whole adjacent mappings, until one of them is
	 * unmapped. -EINVAL: they do not cover it; -ENOMEM. */
	int (*share)(void *va, size_t size_B, hsa_amd_ipc_memory_t *handle);
	/* Gets the dma-buf, which the caller owns, and the size of the index-th mapping that a process shares by
	 * the handle. -ENOENT: no mapping has that index, or the process has ended; -EINVAL: not a handle of
	 * memory; -EPERM: another user's process. */
	int (*fetch)(const hsa_amd_ipc_memory_t *handle, uint64_t index, int *fd, uint64_t *size_B);
	/* The layout in memory of an image with the agent's own pitches. hsa_ext_image_data_get_info()'s errors. */
	hsa_status_t (*image_layout)(hsa_agent_t agent, const hsa_ext_image_descriptor_t *image,
				     struct rt_image_layout *layout);
	/* True for locked memory that neither the process nor GPUs may write. */
	bool (*read_only)(const void *ptr);
	/* The error text of this thread's last failed call. */
	const char *(*reason)(void);
	/* The value of struct flow.holder while this thread holds a flow's lock and calls functions that may flush
	 * flows. */
	void *(*thread)(void);
};

extern const struct rt_interface rt_interface;

#endif
