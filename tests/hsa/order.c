/* The order of a queue's packets: after a kernel, a barrier packet and a change of the queue's priority, and before
 * a wait for another queue. A long kernel writes what the next one changes: the virtual GPU ends the program when
 * nothing orders the two. */
#include "tests/hsa_rig.h"

#define LANES     64
#define TURNS     400000 /* 10 ms */
#define UNORDERED RIG_FENCES
#define STOP      512 /* the word that ends the endless kernel */

static struct hsa_rig_kernel add, work, endless;
static uint32_t worked[LANES]; /* what `work` leaves */

static void put_work(hsa_queue_t *queue, uint32_t *words)
{
	const struct {
		uint32_t *words;
		uint32_t turns, pad;
	} args = {words, TURNS, 0};

	rig_launch(queue, &work, LANES, 0, &args, sizeof(args), (hsa_signal_t){0});
}

static void put_add(hsa_queue_t *queue, uint32_t *words, uint32_t value, uint16_t order, hsa_signal_t done)
{
	const struct {
		uint32_t *words;
		uint32_t value, pad;
	} args = {words, value, 0};
	const hsa_kernel_dispatch_packet_t packet =
		rig_packet(&add, LANES, rig_args(1 + value, LANES, &args, sizeof(args)), done);

	rig_publish(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH | order, 1);
}

static void put_barrier(hsa_queue_t *queue, hsa_signal_t dep, hsa_signal_t done)
{
	const hsa_barrier_and_packet_t packet = {.dep_signal = {dep}, .completion_signal = done};

	rig_publish(queue, &packet, HSA_PACKET_TYPE_BARRIER_AND | RIG_BARRIER, 0);
}

static void finish(hsa_queue_t *queue)
{
	hsa_signal_t done = rig_signal(1);

	put_barrier(queue, (hsa_signal_t){0}, done);
	CHECK_EQ(rig_wait(done), 0);
	hsa_signal_destroy(done);
}

static void check_worked(const uint32_t *words, uint32_t added)
{
	for (unsigned i = 0; i < LANES; i++)
		if (!CHECK_EQ(words[i], worked[i] * 3 + added))
			break;
}

/* Both kernels are known from now on, and take the shortest way. */
static void warm_up(hsa_queue_t *queue, uint32_t *words)
{
	put_work(queue, words);
	finish(queue);
	for (unsigned i = 0; i < LANES; i++)
		worked[i] = words[i];
	put_add(queue, words, 7, RIG_BARRIER, (hsa_signal_t){0});
	finish(queue);
	check_worked(words, 7);
}

static void behind_a_kernel(hsa_queue_t *queue, uint32_t *words)
{
	put_work(queue, words);
	put_add(queue, words, 1, RIG_BARRIER, (hsa_signal_t){0});
	finish(queue);
	check_worked(words, 1);
}

/* A dispatch without the barrier bit is behind a barrier packet that has it, though that packet is no job. */
static void behind_a_barrier_packet(hsa_queue_t *queue, uint32_t *words, hsa_signal_t done)
{
	put_work(queue, words);
	put_barrier(queue, (hsa_signal_t){0}, (hsa_signal_t){0});
	put_add(queue, words, 2, UNORDERED, done);
	finish(queue);
	check_worked(words, 2);
}

/* A queue of another priority has another ring: what is behind the kernel that runs stays behind it. */
static void behind_another_priority(hsa_queue_t *queue, uint32_t *words)
{
	put_work(queue, words);
	CHECK_EQ(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_LOW), HSA_STATUS_SUCCESS);
	put_add(queue, words, 3, RIG_BARRIER, (hsa_signal_t){0});
	finish(queue);
	check_worked(words, 3);
	CHECK_EQ(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_NORMAL), HSA_STATUS_SUCCESS);
}

/* A kernel that is collected while two others run does not wait for what only the packets behind it wait for. */
static void in_front_of_a_wait(hsa_queue_t *queue, uint32_t *words)
{
	hsa_queue_t *other = rig_queue(64, HSA_QUEUE_TYPE_SINGLE);
	hsa_signal_t held = rig_signal(1), before = rig_signal(1), behind = rig_signal(1);
	const uint32_t *stop = &words[STOP];

	rig_launch(other, &endless, LANES, 100, &stop, sizeof(stop), held);
	put_work(queue, words);
	put_work(queue, words);
	put_add(queue, words, 4, RIG_BARRIER, before);
	put_barrier(queue, held, behind);
	CHECK_EQ(rig_wait(before), 0);
	CHECK_EQ(hsa_signal_load_relaxed(behind), 1);
	__atomic_store_n(&words[STOP], 1, __ATOMIC_RELEASE);
	CHECK_EQ(rig_wait(behind), 0);
	check_worked(words, 4);
	CHECK_EQ(hsa_queue_destroy(other), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(held);
	hsa_signal_destroy(before);
	hsa_signal_destroy(behind);
}

int main(void)
{
	hsa_queue_t *queue;
	hsa_signal_t done;
	uint32_t *words;

	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return check_done("order of packets");
	add = rig_kernel("k_add.kd");
	work = rig_kernel("k_work.kd");
	endless = rig_kernel("k_endless.kd");
	queue = rig_queue(64, HSA_QUEUE_TYPE_SINGLE);
	words = rig_host(4096);
	done = rig_signal(1);
	warm_up(queue, words);
	behind_a_kernel(queue, words);
	behind_a_barrier_packet(queue, words, done);
	behind_a_barrier_packet(queue, words, (hsa_signal_t){0});
	behind_another_priority(queue, words);
	in_front_of_a_wait(queue, words);
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
	rig_stop();
	return check_done("order of packets");
}
