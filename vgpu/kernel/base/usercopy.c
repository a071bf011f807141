/* Copies from and to the client's memory that answer -EFAULT instead of crashing. */
#include <sys/uio.h>
#include "vgpu/kernel/base/core.h"
#include "vgpu/sys.h"

extern void *__libc_stack_end; /* ld.so's: the top of the first thread's stack */

static _Thread_local uintptr_t stack_top; /* 0: not read yet */

static pid_t thread_id(void)
{
	return (pid_t)sys_call6(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static uintptr_t thread_stack_top(void)
{
	pthread_attr_t attr;
	void *base;
	size_t size_B;

	if (kern_local.pid == thread_id())
		return (uintptr_t)__libc_stack_end;
	if (pthread_getattr_np(pthread_self(), &attr))
		return 1;
	pthread_attr_getstack(&attr, &base, &size_B);
	pthread_attr_destroy(&attr);
	return (uintptr_t)base + size_B;
}

/* Memory of this thread's own stack, above the caller's frame, is certainly there: ioctl arguments usually are, and
 * this saves them a system call. A frame far from the top may be on another stack (a signal's, a coroutine's). */
#define STACK_NEAR_B (1u << 20)

static bool on_stack(uint64_t user, size_t size_B)
{
	uint64_t here = (uintptr_t)__builtin_frame_address(0);

	if (!stack_top)
		stack_top = thread_stack_top();
	return stack_top - here < STACK_NEAR_B && user >= here && user < stack_top && size_B <= stack_top - user;
}

static bool ranges_meet(uint64_t at, uint64_t size_B, uint64_t lo, uint64_t lo_B)
{
	return at < lo ? size_B > lo - at : at - lo < lo_B;
}

bool kern_is_own(uint64_t at, uint64_t size_B)
{
	return ranges_meet(at, size_B, KERN_SEGMENT_ADDR, KERN_SEGMENT_B) ||
	       ranges_meet(at, size_B, (uintptr_t)kern_local.phys, kern->phys.size_B);
}

static int transfer_spans(long nr, const struct iovec *local, const struct iovec *user, unsigned count,
			  size_t size_B)
{
	/* The process by this thread: a main thread that has ended has no memory. */
	long r = sys_call6(nr, thread_id(), (long)local, count, (long)user, count, 0);

	if (r == -ENOSYS || r == -EPERM) { /* a sandbox forbids the call: trust the pointer, as the last resort */
		for (unsigned i = 0; i < count; i++)
			if (nr == SYS_process_vm_readv)
				memcpy(local[i].iov_base, user[i].iov_base, local[i].iov_len);
			else
				memcpy(user[i].iov_base, local[i].iov_base, local[i].iov_len);
		return 0;
	}
	return r == (long)size_B ? 0 : -EFAULT;
}

int kern_copy_in(void *to, uint64_t user, size_t size_B)
{
	struct iovec local = {to, size_B}, remote = {(void *)user, size_B};

	if (!size_B)
		return 0;
	if (on_stack(user, size_B)) {
		memcpy(to, (const void *)user, size_B);
		return 0;
	}
	if (kern_is_own(user, size_B))
		return -EFAULT;
	return transfer_spans(SYS_process_vm_readv, &local, &remote, 1, size_B);
}

int kern_copy_out(uint64_t user, const void *from, size_t size_B)
{
	struct iovec local = {(void *)from, size_B}, remote = {(void *)user, size_B};

	if (!size_B)
		return 0;
	if (on_stack(user, size_B)) {
		memcpy((void *)user, from, size_B);
		return 0;
	}
	if (kern_is_own(user, size_B))
		return -EFAULT;
	return transfer_spans(SYS_process_vm_writev, &local, &remote, 1, size_B);
}

#define GATHER_MAX 64 /* spans per system call; more take several */

int kern_gather(const struct kern_span *span, unsigned count)
{
	struct iovec local[GATHER_MAX], remote[GATHER_MAX];
	size_t size_B = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < count; i++) {
		if (!span[i].size_B)
			continue;
		if (on_stack(span[i].user, span[i].size_B)) {
			memcpy(span[i].kernel, (const void *)span[i].user, span[i].size_B);
			continue;
		}
		if (kern_is_own(span[i].user, span[i].size_B))
			return -EFAULT;
		local[n] = (struct iovec){span[i].kernel, span[i].size_B};
		remote[n++] = (struct iovec){(void *)span[i].user, span[i].size_B};
		size_B += span[i].size_B;
		if (n == GATHER_MAX) {
			if (transfer_spans(SYS_process_vm_readv, local, remote, n, size_B))
				return -EFAULT;
			n = 0;
			size_B = 0;
		}
	}
	return n ? transfer_spans(SYS_process_vm_readv, local, remote, n, size_B) : 0;
}
