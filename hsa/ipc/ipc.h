/* Memory and signals across processes: what its files share.
 *
 * A handle names an export of a process. Who attaches asks that process for a dma-buf, over a socket with an
 * abstract name, which nobody has to remove; a thread answers there, from the first export to the end of the
 * runtime. Both ends look at the other's user id. docs/hsa.md says more. */
#ifndef HSA_IPC_H
#define HSA_IPC_H

#include "hsa/core/core.h"

enum rt_ipc_kind { RT_IPC_MEMORY = 1, RT_IPC_SIGNAL, RT_IPC_MAPPINGS };

/* What is in the client's 32 bytes. */
struct rt_ipc_handle {
	uint32_t magic, pid;
	uint64_t server; /* a random number of the runtime's; with the pid, its socket's name */
	uint64_t item;   /* a random number of the export's */
	uint32_t kind;
	uint32_t zero;
};
_Static_assert(sizeof(struct rt_ipc_handle) == 32 && sizeof(hsa_amd_ipc_memory_t) == 32, "as the client has it");
#define RT_IPC_MAGIC 0x74756666u

/* What somebody asks for: of an export, one of its BOs. */
struct rt_ipc_question {
	uint64_t item, piece; /* pieces are counted from 0 */
};

/* What is exported: that piece of it. */
struct rt_ipc_item {
	uint64_t size_B;
	uint32_t kind;     /* enum rt_ipc_kind */
	uint32_t uncached; /* the GPU's caches must not have it */
};

struct rt_ipc {
	pthread_mutex_t lock;         /* guards what follows; never held over an ioctl or while somebody is asked */
	struct export *exports;       /* owned; ipc.c */
	_Atomic unsigned count;       /* of them; written under lock */
	struct rt_ipc_server *server; /* owned; NULL: nothing was exported yet */
	uint64_t server_id;
};

struct rt_ipc_piece {
	struct vm_bo *bo; /* a reference; NULL: it is a file */
	uint64_t size_B;
	int file; /* owned by the export */
};

/* ipc.c */
/* Mappings that begin at va and lie side by side, until rt_ipc_forget(); takes references of its own. */
DRV_MUST_CHECK int rt_ipc_share(struct rt *rt, uint64_t va, const struct rt_ipc_piece *piece, unsigned pieces,
				void *client_handle);
/* A descriptor of one of those, the caller's, from the process that shared them. */
DRV_MUST_CHECK int rt_ipc_fetch(const void *client_handle, uint64_t piece, int *fd, uint64_t *size_B);

/* ipc.c; on the server's thread */
/* A descriptor of an export, the caller's. -ENOENT: there is none (any more). */
DRV_MUST_CHECK int rt_ipc_give(struct rt *rt, const struct rt_ipc_question *question, struct rt_ipc_item *what,
			       int *fd);

/* ipc_socket.c */
DRV_MUST_CHECK int rt_ipc_serve(struct rt *rt, uint64_t id, struct rt_ipc_server **server);
/* Ends the thread. Accepts NULL. */
void rt_ipc_unserve(struct rt_ipc_server *server);
/* In a child: nobody who asks may take it for the server. */
void rt_ipc_abandon(struct rt_ipc_server *server);
/* Asks the process that made the handle. -ENOENT: it is gone, or has no such export; -EPERM: it is another user's.
 */
DRV_MUST_CHECK int rt_ipc_query(const struct rt_ipc_handle *handle, uint64_t piece, struct rt_ipc_item *what,
				int *fd);

DRV_MUST_CHECK int rt_ipc_init(struct rt *rt);
void rt_ipc_fini(struct rt *rt);
/* What has any of these addresses is about to be freed, and exported no more. One load when nothing is. */
void rt_ipc_forget(struct rt *rt, uint64_t address, uint64_t size_B);
/* In a child of fork: what it inherited answers nobody. */
void rt_ipc_forked(struct rt *rt);

/* share.c; of rt_interface.share() */
DRV_MUST_CHECK int rt_vmm_share(void *va, size_t size_B, hsa_amd_ipc_memory_t *handle);

#endif
