/* Memory and signals across processes: declarations that the files of ipc/ share.
 *
 *   rt_ipc         the exports of this process, and the server. Owned by rt
 *   rt_ipc_handle  the content of a client's handle, which names an export of a process
 *   rt_ipc_server  the thread that sends descriptors to other processes. Owned by rt_ipc
 *
 * A process that attaches connects to a socket of the exporter with an abstract name, which needs no clean-up, and
 * gets a dma-buf. The server thread answers there, from the first export to the end of the runtime. Both processes
 * check the other's user id. docs/hsa.md has more.
 *
 * rt_ipc.lock guards the exports. It is taken with rt_vmm.lock held (share.c), and never held over an ioctl or a
 * request to another process. */
#ifndef HSA_IPC_H
#define HSA_IPC_H

#include "drv/lock.h"
#include "hsa/core/core.h"

enum rt_ipc_kind { RT_IPC_MEMORY = 1, RT_IPC_SIGNAL, RT_IPC_MAPPINGS };

/* The client's 32 bytes. */
struct rt_ipc_handle {
	uint32_t magic, pid;
	uint64_t server; /* a random number of the runtime; with the pid, its socket's name */
	uint64_t item;   /* a random number of the export */
	uint32_t kind;
	uint32_t zero;
};
_Static_assert(sizeof(struct rt_ipc_handle) == 32 && sizeof(hsa_amd_ipc_memory_t) == 32, "as the client has it");
#define RT_IPC_MAGIC 0x74756666u

/* A request for one BO or file of an export. */
struct rt_ipc_question {
	uint64_t item, piece; /* pieces are counted from 0 */
};

/* The reply: properties of that piece. */
struct rt_ipc_item {
	uint64_t size_B;
	uint32_t kind;     /* enum rt_ipc_kind */
	uint32_t uncached; /* the GPUs' caches must not contain it */
};
struct rt_ipc_reply {
	int32_t error; /* 0 or -errno; with 0 the message has a descriptor */
	uint32_t zero;
	struct rt_ipc_item item;
};

struct rt_ipc {
	struct drv_mutex lock;        /* guards the members below */
	struct export *exports;       /* owned; ipc.c */
	_Atomic unsigned count;       /* number of exports; written under lock */
	struct rt_ipc_server *server; /* owned; NULL: nothing was exported yet */
	uint64_t server_id;
};

struct rt_ipc_piece {
	struct vm_bo *bo; /* a reference; NULL: it is a file */
	uint64_t size_B;
	int file; /* owned by the export */
};

/* ipc.c */
/* Exports adjacent mappings that begin at va, until rt_ipc_forget(); takes references of its own. */
DRV_MUST_CHECK int rt_ipc_share(struct rt *rt, uint64_t va, const struct rt_ipc_piece *piece, unsigned pieces,
				void *client_handle);
/* Gets a descriptor of one of them from the process that shared them; the caller owns it. */
DRV_MUST_CHECK int rt_ipc_fetch(const void *client_handle, uint64_t piece, int *fd, uint64_t *size_B);

/* ipc.c; called on the server's thread */
/* Returns a descriptor of an export, owned by the caller. -ENOENT: no such export (any more). */
DRV_MUST_CHECK int rt_ipc_give(struct rt *rt, const struct rt_ipc_question *question, struct rt_ipc_item *what,
			       int *fd);

/* ipc_socket.c */
DRV_MUST_CHECK int rt_ipc_serve(struct rt *rt, uint64_t id, struct rt_ipc_server **server);
/* Stops the thread. Accepts NULL. */
void rt_ipc_unserve(struct rt_ipc_server *server);
/* Closes the server's descriptors in a child of fork, so that no process takes it for the server. */
void rt_ipc_abandon(struct rt_ipc_server *server);
/* Requests a descriptor from the process that made the handle. -ENOENT: the process or the export does not exist
 * any more; -EPERM: the process is another user's. */
DRV_MUST_CHECK int rt_ipc_query(const struct rt_ipc_handle *handle, uint64_t piece, struct rt_ipc_item *what,
				int *fd);

DRV_MUST_CHECK int rt_ipc_init(struct rt *rt);
void rt_ipc_fini(struct rt *rt);
/* Ends the exports of memory at these addresses, which is about to be freed. One load when nothing is exported. */
void rt_ipc_forget(struct rt *rt, uint64_t address, uint64_t size_B);
/* Called in a child of fork: closes the inherited server. */
void rt_ipc_forked(struct rt *rt);

/* share.c; rt_interface.share() */
DRV_MUST_CHECK int rt_vmm_share(void *va, size_t size_B, hsa_amd_ipc_memory_t *handle);

#endif
