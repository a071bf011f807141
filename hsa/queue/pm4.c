/* PM4 commands of clients. An IB of a compute ring cannot call another one and return, so the commands are copied,
 * packet by packet. Their effect is the client's responsibility; the kernel driver protects registers from user
 * IBs. */
#include <errno.h>
#include <string.h>

#include "hsa/queue/queue.h"

/* PM4 headers (Mesa sid.h, Linux soc15d.h): 31:30 type, 29:16 dwords after the header less one, 15:8 opcode. */
#define TYPE_2          0x80000000u /* a filler of one dword */
#define NOP_ONE         0xffff1000u /* a type-3 NOP whose count means one dword */
#define INDIRECT        0x3f
#define IB_SIZE_MASK    0xfffffu
#define COMMANDS_MAX_DW 4096

static unsigned client_packet_dw(uint32_t header)
{
	if (header == TYPE_2 || header == NOP_ONE)
		return 1;
	return header >> 30 == 3 ? (header >> 16 & 0x3fff) + 2 : 0;
}

/* True for complete packets, none of which is an INDIRECT_BUFFER. */
static bool are_packets(const uint32_t *at, uint32_t count)
{
	uint32_t dw = 0;

	for (uint32_t i = 0; i < count; i += dw) {
		dw = client_packet_dw(at[i]);
		if (!dw || dw > CS_ROOM_MAX || dw > count - i || (at[i] >> 8 & 0xff) == INDIRECT)
			return false;
	}
	return count;
}

static void pm4_append(struct cs_ib *ib, const uint32_t *at, uint32_t count)
{
	for (uint32_t i = 0, dw; i < count; i += dw) {
		uint32_t *room = cs_ib_room(ib, dw = client_packet_dw(at[i]));

		memcpy(room, at + i, dw * 4ull);
		cs_ib_wrote(ib, room + dw);
	}
	ib->regs = NULL;
}

int rt_pm4_append(struct rt_queue *q, struct cs_ib *ib, const uint32_t *jump)
{
	uint64_t va = (jump[1] & ~3u) | (uint64_t)(jump[2] & 0xffff) << 32;
	uint32_t count = jump[3] & IB_SIZE_MASK, copy[COMMANDS_MAX_DW];
	struct rt_alloc_info info;

	if (jump[0] >> 30 != 3 || (jump[0] >> 8 & 0xff) != INDIRECT || count > COMMANDS_MAX_DW ||
	    !rt_alloc_info_find(q->base.rt, va, &info) || !info.host_base ||
	    va - info.base + count * 4ull > info.size_B)
		return drv_fail(-EINVAL, "no PM4 commands that the CPU sees at 0x%llx", (unsigned long long)va);
	/* Copied before the check: the client may change them at any time. */
	memcpy(copy, (const void *)(uintptr_t)(info.host_base + (va - info.base)), count * 4ull);
	if (!are_packets(copy, count))
		return drv_fail(-EINVAL, "what lies at 0x%llx is no PM4", (unsigned long long)va);
	pm4_append(ib, copy, count);
	return 0;
}
