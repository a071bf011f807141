/* Work that takes longer than the watchdog allows: a grid, which completes in parts and is lost as a whole, and
 * many kernels in a row, which complete when each job has few of them. Each case is a process of its own, because
 * the environment is read once. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hsa_rig.h"

#define LONG_ITEMS (21u << 16) /* more than 64 times what a gfx90c holds */
#define TURNS      800

static uint32_t work_of(uint32_t item)
{
	uint32_t sum = item;

	for (unsigned n = 0; n < TURNS; n++)
		sum = sum * 1664525 + 1013904223;
	return sum;
}

/* Whether it ends, each item done once, or is lost to the watchdog. */
static void long_grid(bool ends)
{
	hsa_queue_t *queue;
	hsa_signal_t done;
	uint32_t *data, wrong = 0;
	struct {
		uint32_t *data;
		uint32_t turns, pad;
	} args = {0};
	struct hsa_rig_kernel work;

	if (!rig_start("gfx90c:kernel=7.0:watchdog_ms=3", "gfx90c", "group.O1"))
		return;
	queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	data = rig_memory(rig.found.cpu[0].coarse, LONG_ITEMS * 4ull);
	memset(data, 0, LONG_ITEMS * 4ull);
	work = rig_kernel("k_work.kd");
	done = rig_signal(1);
	args.data = data;
	args.turns = TURNS;
	rig_launch(queue, &work, LONG_ITEMS, 0, &args, sizeof(args), done);
	CHECK_EQ(rig_wait(done) == 0, ends);
	for (uint32_t i = 0; ends && i < LONG_ITEMS; i++)
		wrong += data[i] != work_of(i);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
	rig_stop();
}

#define KERNELS      128   /* two jobs of the most packets */
#define KERNEL_TURNS 40000 /* 5 ms by the virtual watchdog, about 1 ms by the clock */

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	(void)queue;
	*(hsa_status_t *)data = status;
}

/* Each kernel takes a part of the watchdog's time; as many as fit into a job by their number take much more. */
static void many_kernels(bool ends)
{
	hsa_status_t failure = HSA_STATUS_SUCCESS;
	hsa_queue_t *queue = NULL;
	uint32_t packets = 0;
	hsa_signal_t done;
	uint32_t *data;
	struct {
		uint32_t *data;
		uint32_t turns, pad;
	} args = {0};
	struct hsa_rig_kernel work;

	if (!rig_start("gfx90c:kernel=7.0:watchdog_ms=60", "gfx90c", "group.O1"))
		return;
	CHECK_EQ(hsa_queue_create(rig.gpu, 256, HSA_QUEUE_TYPE_MULTI, on_error, &failure, 0, 0, &queue),
		 HSA_STATUS_SUCCESS);
	data = rig_memory(rig.found.cpu[0].coarse, 4096);
	work = rig_kernel("k_work.kd");
	done = rig_signal(1);
	args.data = data;
	args.turns = KERNEL_TURNS;
	while (++packets < KERNELS)
		rig_launch(queue, &work, 64, packets % 64, &args, sizeof(args), (hsa_signal_t){0});
	rig_launch(queue, &work, 64, 0, &args, sizeof(args), done);
	rig_wait(done);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(failure == HSA_STATUS_SUCCESS, ends);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
	rig_stop();
}

static void in_a_child(void (*what)(bool ends), const char *variable, const char *value, bool ends)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		setenv(variable, value, 1);
		setenv("TUFF_SPLIT_MS", "20", 0);
		what(ends);
		_exit(check_failed_ != 0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
}

int main(void)
{
	in_a_child(long_grid, "TUFF_SPLIT_MS", "20", true);
	in_a_child(long_grid, "TUFF_SPLIT_MS", "0", false);
	in_a_child(long_grid, "TUFF_WHOLE", "k_other,k_work", false);
	in_a_child(long_grid, "TUFF_WHOLE", "k_other,k_wor,k_work2", true);
	in_a_child(many_kernels, "TUFF_SPLIT_MS", "3", true);
	in_a_child(many_kernels, "TUFF_SPLIT_MS", "0", false);
	return check_done("long grids and many kernels");
}
