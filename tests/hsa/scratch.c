/* Scratch: slots of waves are divided among the shader engines, and a workgroup starts in one of them. So there are
 * enough for the largest workgroup, and for a cooperative grid, also when little memory is left. */
#include <errno.h>

#include "tests/hsa_rig.h"

/* 2.5 MiB a wave: of 256 MiB, what is wished for, 102 waves. */
#define LANE_B     40960u
#define GEM_CREATE 0x40         /* of the ioctls */
#define WAIT_NS    60000000000u /* after which a workgroup is taken for one that never starts */

static struct hsa_rig_kernel scratch, meet;

static void start(const char *spec, const char *chip)
{
	CHECK(rig_start(spec, chip, "group.O1"));
	scratch = rig_kernel("k_scratch.kd");
	meet = rig_kernel("k_meet.kd");
}

/* A workgroup of `threads`, whose lanes have LANE_B each. */
static hsa_signal_value_t run_group(hsa_queue_t *queue, uint32_t *out, uint16_t threads)
{
	const struct {
		uint32_t *out;
		uint32_t count, pad;
	} args = {out, 1, 0};
	hsa_signal_t done = rig_signal(1);
	hsa_kernel_dispatch_packet_t packet =
		rig_packet(&scratch, threads, rig_args(0, threads, &args, sizeof(args)), done);
	hsa_signal_value_t value;

	packet.workgroup_size_x = threads;
	packet.private_segment_size = LANE_B;
	rig_publish(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH | RIG_BARRIER, 1);
	value = hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, WAIT_NS, HSA_WAIT_STATE_BLOCKED);
	hsa_signal_destroy(done);
	return value;
}

/* In growing order too: the buffer of the smaller workgroup has the units, but not the waves. */
static void the_largest_workgroup_starts(const char *chip)
{
	hsa_queue_t *queue;
	uint32_t *out;

	start(chip, chip);
	queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	out = rig_host(4096);
	CHECK_EQ(run_group(queue, out, 64), 0);
	CHECK_EQ(run_group(queue, out, 1024), 0);
	CHECK_EQ(run_group(queue, out, 64), 0);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(out), HSA_STATUS_SUCCESS);
	rig_stop();
}

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	(void)queue;
	*(hsa_status_t *)data = status;
}

/* Where memory for the workgroup's waves cannot be had, the dispatch ends with an error, not with a hang. */
static void without_memory_it_is_an_error(void)
{
	hsa_status_t failure = HSA_STATUS_SUCCESS;
	hsa_queue_t *queue = NULL;
	uint32_t *out;

	start("gfx908", "gfx908");
	CHECK_EQ(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_MULTI, on_error, &failure, 0, 0, &queue),
		 HSA_STATUS_SUCCESS);
	out = rig_host(4096);
	CHECK_EQ(run_group(queue, out, 64), 0);
	vgpu_inject_ioctl_chance(GEM_CREATE, 1000000, ENOMEM);
	CHECK_EQ(run_group(queue, out, 1024), 1);
	vgpu_inject_ioctl_chance(GEM_CREATE, 0, ENOMEM);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(failure, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	CHECK_EQ(hsa_amd_memory_pool_free(out), HSA_STATUS_SUCCESS);
	rig_stop();
}

#define GROUPS 128u /* more than there are waves by wish */

static void all_groups_of_a_cooperative_grid_start(void)
{
	struct {
		uint32_t *arrived;
		uint32_t groups, pad;
	} args = {.groups = GROUPS};
	hsa_kernel_dispatch_packet_t packet;
	hsa_signal_t done;
	hsa_queue_t *queue;

	start("gfx908:watchdog_ms=2000", "gfx908");
	queue = rig_queue(64, HSA_QUEUE_TYPE_COOPERATIVE);
	args.arrived = rig_host(4096);
	done = rig_signal(1);
	packet = rig_packet(&meet, GROUPS * 64, rig_args(0, GROUPS * 64, &args, sizeof(args)), done);
	packet.private_segment_size = LANE_B;
	rig_publish(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH | RIG_BARRIER, 1);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(*args.arrived, GROUPS);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(args.arrived), HSA_STATUS_SUCCESS);
	rig_stop();
}

int main(void)
{
	the_largest_workgroup_starts("gfx908");
	the_largest_workgroup_starts("gfx906");
	the_largest_workgroup_starts("gfx942");
	without_memory_it_is_an_error();
	all_groups_of_a_cooperative_grid_start();
	return check_done("scratch");
}
