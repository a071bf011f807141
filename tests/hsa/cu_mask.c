/* HSA_CU_MASK: the compute units of new queues, and that programs get no others. Each case is a process of its own,
 * because the environment is read once. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hsa_rig.h"

#define ALL 0xfffffffffffffffull /* of a gfx906: 60 */

/* What queues of three GPUs have, of the first 64 units. */
static const struct mask_case {
	const char *text;
	uint64_t cus[3];
} cases[] = {
	{"0:0-15", {0xffff, ALL, ALL}},
	{" 1, 2 : 0x337F ", {ALL, 0x337f, 0x337f}},
	{"0-1:0,2-4,63; 2:0Xff00000000000000", {0x1d, 0x1d, 0xf00000000000000}},
	{"0:0x0", {ALL, ALL, ALL}},
	{"0:5;0:6;1:7", {0x20, ALL, ALL}},
	{"1:3,3", {ALL, ALL, ALL}},
	{"2:1;1:4-2;0:1", {ALL, ALL, 2}},
	{"7:1", {ALL, ALL, ALL}},
	{"0,9:60-70", {ALL, ALL, ALL}},
	{"0:1-", {ALL, ALL, ALL}},
	{"0:0xfg", {ALL, ALL, ALL}},
	{"1", {ALL, ALL, ALL}},
	{"2:99999999999999999999;", {ALL, ALL, ALL}},
};

static uint64_t mask_of(const hsa_queue_t *queue)
{
	uint32_t cus[2] = {0};

	CHECK_EQ(hsa_amd_queue_cu_get_mask(queue, 64, cus), HSA_STATUS_SUCCESS);
	return cus[0] | (uint64_t)cus[1] << 32;
}

static void new_queues(const struct mask_case *c)
{
	for (unsigned g = 0; g < 3; g++) {
		hsa_queue_t *queue = NULL;

		CHECK_EQ(hsa_queue_create(rig.found.gpu[g].agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0,
					  &queue),
			 HSA_STATUS_SUCCESS);
		if (!CHECK_EQ(mask_of(queue), c->cus[g]))
			printf("  of GPU %u by \"%s\"\n", g, c->text);
		CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	}
}

/* Of 0 to 15. */
static void programs_get_no_others(void)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	struct hsa_rig_kernel add = rig_kernel("k_add.kd");
	const uint32_t more = 0x1ff00, others = 0xff0000;
	uint32_t *words = rig_host(4096);
	hsa_signal_t done = rig_signal(1);

	CHECK_EQ(hsa_amd_queue_cu_set_mask(queue, 32, &more), HSA_STATUS_CU_MASK_REDUCED);
	CHECK_EQ(mask_of(queue), 0xff00);
	CHECK_EQ(hsa_amd_queue_cu_set_mask(queue, 32, &others), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	rig_launch_add(queue, &add, words, 1024, 7, 0, done);
	CHECK_EQ(rig_wait(done), 0);
	CHECK_EQ(words[1023], 7);
	CHECK_EQ(hsa_amd_queue_cu_set_mask(queue, 0, NULL), HSA_STATUS_CU_MASK_REDUCED);
	CHECK_EQ(mask_of(queue), 0xffff);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
}

static void later_only(void)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);

	CHECK_EQ(mask_of(queue), ALL);
	CHECK_EQ(hsa_amd_queue_cu_set_mask(queue, 0, NULL), HSA_STATUS_CU_MASK_REDUCED);
	CHECK_EQ(mask_of(queue), 0xffff);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
}

static void in_a_child(const struct mask_case *c, bool later)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		setenv("HSA_CU_MASK", c->text, 1);
		setenv("HSA_CU_MASK_SKIP_INIT", later ? "1" : "0", 1);
		if (!rig_start("gfx906,gfx906,gfx906", "gfx906", "group.O1"))
			exit(1);
		if (later)
			later_only();
		else
			new_queues(c);
		if (c == cases && !later)
			programs_get_no_others();
		rig_stop();
		exit(check_done(c->text));
	}
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
}

int main(void)
{
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		in_a_child(&cases[i], false);
	in_a_child(&cases[0], true);
	return check_done("compute units by the environment");
}
