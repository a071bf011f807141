/* Signals shared with other processes: each has a page, a file in memory, which every GPU of every process accesses
 * as registered host memory. A GPU's BO would not do: Linux makes jobs of other devices wait for the exporter's
 * jobs (vm.h, vm_mem_share()). Processes change the value by atomic operations; waiting threads poll it every
 * millisecond, since a change in another process wakes no thread here. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drv/cancel.h"
#include "drv/file.h"
#include "hsa/core/table.h"
#include "hsa/signal/signals.h"

/* Creates a page that no process can shrink. */
static int create_file(int *file)
{
	DRV_HOLD_CANCEL;
	int fd = drv_file_memory("tuff signal", RT_PAGE_B), r;

	if (fd < 0)
		return drv_fail(fd, "a file in memory for a signal");
	if (!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)) {
		*file = fd;
		return 0;
	}
	r = drv_fail(-errno, "memory for a signal");
	close(fd);
	return r;
}

/* Checks a descriptor from another process, which may be any file. A file of large pages, which has more than a page, would be
 * mapped as a whole, over other signals. */
static int check_file(int file)
{
	DRV_HOLD_CANCEL;
	int seals = fcntl(file, F_GET_SEALS);
	struct stat stat;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(file, &stat) || stat.st_size != (off_t)RT_PAGE_B)
		return drv_fail(-EINVAL, "what another process gave is no signal");
	return 0;
}

/* Creates a signal on the file, and takes over the file; *value is stored in it, NULL: it has a value. */
static int shared_create(struct rt *rt, int file, const hsa_signal_value_t *value, hsa_signal_t *handle)
{
	DRV_HOLD_CANCEL;
	struct rt_signal *signal;
	int r = rt_signals_take_page(rt, &signal);

	if (!r) {
		r = rt_signals_bind_host(rt, file, (uint64_t)(signal - rt->signals->beside) * RT_SIGNAL_B,
					 RT_PAGE_B);
		if (r)
			rt_signals_put_page(rt, signal);
	}
	if (r) {
		close(file);
		return r;
	}
	drv_lock(&rt->signals->lock);
	signal->file = (unsigned)file + 1;
	drv_unlock(&rt->signals->lock);
	*handle = rt_signal_handle(rt, signal);
	rt_signal_begin(signal, value ? rt_signal_memory(*handle) : NULL, value ? *value : 0, RT_SIGNAL_IPC);
	return 0;
}

int rt_signal_create_shared(struct rt *rt, hsa_signal_value_t value, hsa_signal_t *handle)
{
	int file = -1, r = create_file(&file);

	return r ? r : shared_create(rt, file, &value, handle);
}

int rt_signal_attach(struct rt *rt, int fd, hsa_signal_t *handle)
{
	DRV_HOLD_CANCEL;
	int file, r = check_file(fd);

	if (r)
		return r;
	file = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return file < 0 ? drv_fail(-errno, "a descriptor of a signal") : shared_create(rt, file, NULL, handle);
}

int rt_signal_file(struct rt *rt, const struct rt_signal *signal)
{
	DRV_HOLD_CANCEL;
	int file;

	/* Another thread may destroy the signal, and then close the file. */
	drv_lock(&rt->signals->lock);
	file = fcntl((int)signal->file - 1, F_DUPFD_CLOEXEC, 0);
	drv_unlock(&rt->signals->lock);
	return file < 0 ? drv_fail(-errno, "a descriptor of a signal") : file;
}

void rt_signal_end_shared(struct rt *rt, struct rt_signal *signal)
{
	DRV_HOLD_CANCEL;

	drv_lock(&rt->signals->lock);
	if (signal->file)
		close((int)signal->file - 1);
	signal->file = 0;
	drv_unlock(&rt->signals->lock);
}

bool rt_signals_shared(const struct rt *rt)
{
	return atomic_load_explicit(&rt->signals->pages, memory_order_relaxed);
}
