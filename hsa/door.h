/* What our HIP library asks of our HSA library beyond HSA: a table of functions, as of an extension that no other
 * program knows. Both libraries are built together; a table of another build is refused by its size.
 *
 * Progress. The packets of a queue are counted from 0, as HSA counts them. Those below rt_door.completed() have
 * ended, all that they wrote is visible at the scope that they release, and so has what they waited for. */
#ifndef HSA_DOOR_H
#define HSA_DOOR_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "cs/cs.h"

/* Behind AMD's extensions, which begin at 0x200, and within the 128 bytes that agents have for them. */
#define RT_EXTENSION_DOOR 0x3e7

struct rt_queue;

/* A vendor packet: those behind it begin when the packets of another queue below `index` have ended. Only queues
 * that came through this door take it. A queue that is gone has nothing to wait for. */
#define RT_FORMAT_AFTER 0x74
struct rt_after_packet {
	uint16_t header; /* HSA_PACKET_TYPE_VENDOR_SPECIFIC */
	uint8_t format, zero;
	uint32_t reserved;
	uint64_t queue; /* rt_door.id() */
	uint64_t index;
	uint64_t more[5];
};

/* Another: when those before it have ended, those behind it wait until memory holds what it asks for. The CPU
 * looks: no ring of the GPU is kept by it, and no watchdog ends it. Memory that the CPU does not see, or that is
 * freed meanwhile, fails the queue. */
#define RT_FORMAT_UNTIL 0x75
enum rt_until { RT_UNTIL_GTE, RT_UNTIL_EQ, RT_UNTIL_ANY, RT_UNTIL_NOT_ALL };
struct rt_until_packet {
	uint16_t header; /* HSA_PACKET_TYPE_VENDOR_SPECIFIC */
	uint8_t format;
	uint8_t until;   /* enum rt_until: what the value at address, and mask, shall be. Unsigned */
	uint32_t size_B; /* 4, 8; the address is a multiple of it */
	uint64_t address;
	uint64_t value, mask;
	uint32_t process; /* when that has ended, nobody waits any more; 0: any may write the value */
	uint32_t zero;
	uint64_t more[3];
};

/* And a sequence: many dispatches at once, as if each had been a packet of its own, without a signal, whose header
 * and setup it has. The same one may be given to several queues, each behind the packets of the one before. It
 * stays until the packet has ended. */
#define RT_FORMAT_SEQUENCE 0x76
struct rt_sequence;
struct rt_sequence_packet {
	uint16_t header; /* HSA_PACKET_TYPE_VENDOR_SPECIFIC */
	uint8_t format, zero;
	uint32_t reserved;
	struct rt_sequence *sequence; /* borrowed */
	uint64_t more[6];
};
/* Of those packets, which stay what they are and are borrowed as long as it lives. -EINVAL, -ENOMEM. */
int rt_sequence_create(hsa_agent_t agent, const hsa_kernel_dispatch_packet_t *packets, uint32_t count,
		       struct rt_sequence **sequence);
/* NULL is accepted. */
void rt_sequence_destroy(struct rt_sequence *sequence);

/* And a syncobj of another driver: it is signaled when those before have ended, or those behind it begin when it is
 * signaled. One that nothing submitted signals yet stops the queue. A sync that is gone is passed over. */
#define RT_FORMAT_SYNC 0x77
struct rt_sync_packet {
	uint16_t header; /* HSA_PACKET_TYPE_VENDOR_SPECIFIC */
	uint8_t format;
	uint8_t signal; /* 1; 0: wait */
	uint32_t reserved;
	uint64_t sync;  /* rt_door.import_sync(), on the queue's agent */
	uint64_t value; /* of its timeline; 0: it has none, and who waits for it takes its fence away */
	uint64_t more[5];
};

struct rt_door {
	uint64_t size_B; /* sizeof(struct rt_door) */
	/* A queue of this library that understands the packet above; NULL: it is none. Borrowed while the queue
	 * lives. */
	struct rt_queue *(*queue)(const hsa_queue_t *queue);
	/* Of one that lives or lived. */
	uint64_t (*id)(const struct rt_queue *queue);
	/* The doorbell. */
	void (*ring)(struct rt_queue *queue);
	/* Packets that were written so far go to the GPU now, and those behind them in a job of their own. */
	void (*flush)(struct rt_queue *queue);
	/* Two loads, when all work has ended. */
	uint64_t (*completed)(const struct rt_queue *queue);
	/* Waits until the packets below index have ended, and asks the kernel what it knows of faults. 0;
	 * -ETIMEDOUT; -ECANCELED, -ENODEV: they never will, or the queue has failed; -EFAULT: a kernel of the GPU
	 * reached what it may not, since the queue came through this door. */
	int (*wait)(struct rt_queue *queue, uint64_t index, int64_t timeout_ns);
	/* 0, or what the queue failed with. */
	int (*state)(const struct rt_queue *queue);
	/* Nothing more of the queue is given to the GPU; its state is -ECANCELED from then on. What the GPU has
	 * goes on. */
	void (*abandon)(struct rt_queue *queue);
	/* Waits until all that the agent, a GPU, was given so far has ended, well or not, and asks the kernel what
	 * it knows of faults. What waits for signals that were destroyed does not begin any more. */
	void (*settle)(hsa_agent_t agent);
	/* Has everything go on that can, and gives how many packets of the agent's queues were read so far; *busy
	 * becomes true if the GPU works. Takes a few milliseconds. */
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
	int (*sequence_create)(hsa_agent_t agent, const hsa_kernel_dispatch_packet_t *packets, uint32_t count,
			       struct rt_sequence **sequence);
	void (*sequence_destroy)(struct rt_sequence *sequence);
	/* Exports the memory that is mapped there (hsa_amd_vmem_map), by whole mappings side by side, until one of
	 * them is unmapped. -EINVAL: none are; -ENOMEM. */
	int (*share)(void *va, size_t size_B, hsa_amd_ipc_memory_t *handle);
	/* Of what a process shares the index-th mapping: its dma-buf, the caller's, and its size. -ENOENT: there is
	 * no such, or none any more; -EINVAL: that is no such handle; -EPERM: another user's. */
	int (*fetch)(const hsa_amd_ipc_memory_t *handle, uint64_t index, int *fd, uint64_t *size_B);
	/* A syncobj's descriptor, which stays the caller's; *sync is no other's. -EINVAL: it is none; -ENOMEM. */
	int (*import_sync)(hsa_agent_t agent, int fd, uint64_t *sync);
	/* Packets that name it do nothing from now on. */
	void (*drop_sync)(uint64_t sync);
	/* Memory that is locked there cannot be written: neither by the process nor by GPUs. */
	bool (*read_only)(const void *ptr);
	/* Why this thread's last call failed, for people. */
	const char *(*reason)(void);
};

extern const struct rt_door rt_door;

#endif
