/* Ranks of locks: the order in which a thread takes them. A thread that has a lock may wait for locks of higher ranks
 * only. Debug and sanitizer builds assert it (drv_rank_take()); other builds have no trace of it. */
#ifndef DRV_RANK_H
#define DRV_RANK_H

#include <stdbool.h>

#include "drv/error.h"

#define DRV_RANKS(RANK)                                                                                            \
	/* held while a program is compiled or linked, for the current device */                                   \
	RANK(HIP_RTC)                                                                                              \
	RANK(HIP_COMPILER)                                                                                         \
	/* making and ending */                                                                                    \
	RANK(HIP_RESET)                                                                                            \
	RANK(HIP_INIT)                                                                                             \
	RANK(RT_INIT)                                                                                              \
	RANK(HIP_CONTEXTS)                                                                                         \
	RANK(EMBED_DEVICES)                                                                                        \
	/* api/, outside of a stream */                                                                            \
	RANK(HIP_GRID_GROUPS)                                                                                      \
	RANK(HIP_REFERENCES)                                                                                       \
	RANK(HIP_EXEC)                                                                                             \
	RANK(HIP_GRAPHS)                                                                                           \
	RANK(HIP_LIBRARY)                                                                                          \
	RANK(HIP_MODULE)                                                                                           \
	RANK(HIP_REGISTER)                                                                                         \
	RANK(HIP_EXTERNALS)                                                                                        \
	RANK(HIP_BINARIES)                                                                                         \
	RANK(HIP_LINKED)                                                                                           \
	RANK(HIP_VARIABLES)                                                                                        \
	RANK(HIP_PLANS)                                                                                            \
	RANK(HIP_EVENT)                                                                                            \
	RANK(HIP_OBJECTS)                                                                                          \
	/* a stream or a queue */                                                                                  \
	RANK(FLOW)                                                                                                 \
	/* api/, inside of a stream */                                                                             \
	RANK(HIP_HOSTCALLS)                                                                                        \
	RANK(HIP_GRANTS)                                                                                           \
	RANK(HIP_GRIDS)                                                                                            \
	RANK(HIP_BUILT_INS)                                                                                        \
	RANK(HIP_PRINT)                                                                                            \
	RANK(HIP_EVENT_SHARED)                                                                                     \
	RANK(HIP_SEMAPHORES)                                                                                       \
	RANK(HIP_EVENTS_FREED)                                                                                     \
	RANK(HIP_WATCHED)                                                                                          \
	RANK(HIP_TOOL)                                                                                             \
	RANK(HIP_CALLER)                                                                                           \
	RANK(HIP_DEVICE)                                                                                           \
	RANK(HIP_CAPTURES)                                                                                         \
	RANK(HIP_POOLS)                                                                                            \
	RANK(HIP_CACHES)                                                                                           \
	RANK(HIP_POOL_ACCESS)                                                                                      \
	RANK(HIP_POOL)                                                                                             \
	RANK(HIP_CACHE)                                                                                            \
	RANK(HIP_IMPORTS)                                                                                          \
	RANK(HIP_IPC)                                                                                              \
	RANK(HIP_DEFERRALS)                                                                                        \
	RANK(HIP_ADVICE)                                                                                           \
	RANK(HIP_MEMORY)                                                                                           \
	RANK(HIP_PEERS)                                                                                            \
	RANK(HIP_GRAPH_MEMORY)                                                                                     \
	RANK(HIP_ARRAYS)                                                                                           \
	RANK(HIP_TEXTURES)                                                                                         \
	RANK(HIP_FRONTIER)                                                                                         \
	RANK(HIP_TIMESTAMPS)                                                                                       \
	/* hsa/ */                                                                                                 \
	RANK(RT_INTERCEPT)                                                                                         \
	RANK(RT_FAULT)                                                                                             \
	RANK(RT_QUEUES)                                                                                            \
	RANK(RT_LOADER)                                                                                            \
	RANK(RT_COPIES)                                                                                            \
	RANK(RT_IMAGES)                                                                                            \
	RANK(RT_VMM)                                                                                               \
	RANK(RT_SVM)                                                                                               \
	RANK(RT_IPC)                                                                                               \
	RANK(RT_PT_SYNC)                                                                                           \
	RANK(RT_FREE)                                                                                              \
	RANK(RT_VA_REGION)                                                                                         \
	RANK(RT_SIGNAL_GROUPS)                                                                                     \
	RANK(RT_SIGNALS)                                                                                           \
	RANK(RT_RETIRE)                                                                                            \
	RANK(RT_DEBUG)                                                                                             \
	/* held while jobs are submitted to find out whether devices are peers */                                  \
	RANK(VM_PEER)                                                                                              \
	/* pool/, flow/, sdma/, cs/ */                                                                             \
	RANK(POOL_SHARE)                                                                                           \
	RANK(POOL_WAIT)                                                                                            \
	RANK(POOL)                                                                                                 \
	RANK(FLOW_GPU)                                                                                             \
	RANK(RT_LOOP)                                                                                              \
	RANK(SDMA_SLOT)                                                                                            \
	RANK(SDMA_COPIER)                                                                                          \
	RANK(CS_RING)                                                                                              \
	/* a ring of the kernel's beside a user queue */                                                           \
	RANK(CS_GATE)                                                                                              \
	RANK(EMBED_DEVICE)                                                                                         \
	RANK(CS_CTX)                                                                                               \
	RANK(CS_USER_QUEUE)                                                                                        \
	/* vm/ */                                                                                                  \
	RANK(VM_SLAB)                                                                                              \
	RANK(VM_STRICT)                                                                                            \
	RANK(VM_USER)                                                                                              \
	RANK(VM_MAP)                                                                                               \
	RANK(VM_UPDATE)                                                                                            \
	RANK(VM_SHARE)                                                                                             \
	RANK(VM_INDEX)                                                                                             \
	RANK(VM_PROCESS)                                                                                           \
	RANK(VM_LIST)                                                                                              \
	RANK(VM_FAULT)                                                                                             \
	/* drv/ */                                                                                                 \
	RANK(CLOCK_SAMPLING)                                                                                       \
	RANK(CLOCK)                                                                                                \
	RANK(LIBDRM)                                                                                               \
	RANK(HANDLES)                                                                                              \
	RANK(RETIRE)

enum drv_rank {
	DRV_RANK_NONE, /* not asserted */
#define RANK(name) DRV_RANK_##name,
	DRV_RANKS(RANK)
#undef RANK
};

#ifdef TUFF_DEBUG
/* The calling thread takes a lock; waits: it waits while another has it. Ends the process when the thread has a lock
 * of that rank or a higher one. */
void drv_rank_take(enum drv_rank rank, bool waits);
/* The calling thread gives it back. A lock that another library of the process took is none of this one's. */
void drv_rank_give(enum drv_rank rank);
/* For _locked functions: the calling thread has a lock of that rank. */
void drv_rank_assert(enum drv_rank rank);
#else
static inline void drv_rank_take(enum drv_rank rank, bool waits)
{
	(void)rank, (void)waits;
}
static inline void drv_rank_give(enum drv_rank rank)
{
	(void)rank;
}
static inline void drv_rank_assert(enum drv_rank rank)
{
	(void)rank;
}
#endif

#endif
