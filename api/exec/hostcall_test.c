/* Hostcalls of kernels that write what they should not: the buffer is theirs to write, all of it. The test is the
 * kernel. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/exec/hostcall.h"
#include "tests/check.h"
#include "tests/hostcall.h"
#include "vgpu/vgpu.h"

#define PATIENCE 5000 /* milliseconds; a test that passes waits for one or two */

/* Where the runtime has put them. */
static struct buffer *shared, before;

/* Lane 0 of packet `index` frees nothing, which gives back the same slot: any answer shows that it was served. */
static struct header *request_prepare(uint64_t index, uint64_t next)
{
	struct header *h = &before.headers[index];

	h->next = next;
	h->active = 1;
	h->service = MEMORY;
	before.payloads[index][0][0] = 8;
	h->control = READY;
	return h;
}

static void requests_push(uint64_t top)
{
	shared->requested = top;
	hsa_signal_add_screlease(before.doorbell, 1);
}

static bool is_served(const struct header *h)
{
	for (unsigned ms = 0; ms < PATIENCE && h->control & READY; ms++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	return !(h->control & READY);
}

static bool request_is_served(uint64_t index)
{
	struct header *h = request_prepare(index, 0);

	requests_push(index);
	return is_served(h);
}

static void addresses_of_kernels_are_not_used(void)
{
	shared->headers = (void *)(uintptr_t)0x1000;
	shared->payloads = (void *)(uintptr_t)0x2000;
	shared->index_mask = UINT64_MAX;
	CHECK(request_is_served(1));
	*shared = before;
}

/* There is one between the last packet and the next power of two, unless the number of packets is one. */
static void packets_beyond_the_last_are_not_read(unsigned packets)
{
	if (packets & (packets - 1)) {
		requests_push(before.index_mask);
		CHECK(request_is_served(1));
	}
	request_prepare(2, before.index_mask);
	requests_push(2);
	CHECK(is_served(&before.headers[2]));
	CHECK(request_is_served(1));
}

static void rings_of_packets_end(void)
{
	struct header *h = request_prepare(1, 2);

	request_prepare(2, 1);
	requests_push(1);
	CHECK(is_served(h));
	CHECK(request_is_served(3));
}

int main(void)
{
	uint32_t waves = 0;

	if (vgpu_start("gfx908:vram=128M") || hip_init())
		return 1;
	(void)!hsa_agent_get_info(hip.device[0].agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU,
				  &waves);
	shared = (struct buffer *)(void *)hip_hostcall_buffer(&hip.device[0]);
	if (!CHECK(shared))
		return 1;
	before = *shared;
	CHECK(request_is_served(1));
	addresses_of_kernels_are_not_used();
	packets_beyond_the_last_are_not_read(hip.device[0].cus * waves);
	rings_of_packets_end();
	return check_done("hostcalls of hostile kernels");
}
