/* Processes that share a device and die: killed while a kernel runs, while they hold memory, again and again. The
 * others work on, and nothing of the dead stays. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

/* What the child does until it is killed; it says when it is ready. */
static void occupy(int ready, bool endless)
{
	struct stack s;
	struct cs_code *code;
	struct cs_fence point;
	struct vm_mem *m, *more[20];
	uint64_t arg;

	if (stack_open(&s) || stack_load(&s, "group", 1, &code))
		_exit(1);
	m = stack_gtt(&s, 4096);
	for (unsigned i = 0; i < 20; i++)
		more[i] = i & 1 ? stack_vram(&s, 1 << 20) : stack_gtt(&s, 5000);
	memset(m->map, 0, 4096);
	arg = m->va;
	if (!more[19] ||
	    (endless &&
	     stack_submit(&s,
			  &(struct stack_launch){.code = code, .kernel = "k_endless", .args = &arg, .args_B = 8},
			  &point)))
		_exit(1);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* row 115 */
static bool one_death(bool endless)
{
	int ready[2], status;
	char byte;
	pid_t pid;

	if (pipe(ready))
		return false;
	pid = fork();
	if (!pid)
		occupy(ready[1], endless);
	if (!CHECK_EQ(read(ready[0], &byte, 1), 1))
		return false;
	kill(pid, SIGKILL);
	close(ready[0]);
	close(ready[1]);
	return CHECK_EQ(waitpid(pid, &status, 0), pid);
}

static void work(void)
{
	struct stack s;
	struct cs_code *code;
	struct vm_mem *m;
	struct {
		uint64_t data;
		uint32_t value;
	} args = {0, 4};

	if (!CHECK_EQ(stack_open(&s), 0) || !CHECK_EQ(stack_load(&s, "group", 3, &code), 0))
		return;
	m = stack_gtt(&s, 4096);
	*(uint32_t *)m->map = 2;
	args.data = m->va;
	CHECK_EQ(
		stack_run(&s, &(struct stack_launch){.code = code, .kernel = "k_add", .args = &args, .args_B = 12}),
		0);
	CHECK_EQ(*(uint32_t *)m->map, 10);
	vm_mem_destroy(m);
	cs_code_unload(code);
	stack_close(&s);
}

int main(void)
{
	/* The dead leave buffers behind, which is a finding: row 38. */
	vgpu_strict_set(VGPU_STRICT_OFF);
	CHECK_EQ(vgpu_start("gfx908"), 0);
	work();
	for (unsigned i = 0; i < 6; i++) {
		if (!one_death(i & 1))
			break;
		work();
	}
	for (unsigned i = 0; i < 3000 && vgpu_live_objects(); i++)
		usleep(1000);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
	return check_done("killed processes");
}
