#include "drv/cancel.h"
#include "drv/process.h"

#include <errno.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <unistd.h>

bool drv_process_gone(pid_t pid)
{
	DRV_HOLD_CANCEL;
	struct pollfd ended = {.fd = pidfd_open(pid, 0), .events = POLLIN};
	bool gone;

	if (ended.fd < 0)
		return errno == ESRCH;
	gone = poll(&ended, 1, 0) == 1;
	close(ended.fd);
	return gone;
}
