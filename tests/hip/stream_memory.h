/* The memory of streams_random.hip: cells on each device and on the host, of each kind; it serves one program after
 * the other. */
#ifndef TESTS_HIP_STREAM_MEMORY_H
#define TESTS_HIP_STREAM_MEMORY_H

#include "tests/hip/stream_operations.h"

#define DEVICES 2
#define WORDS   12u  /* that streams write and wait for */
#define STEPS   110u /* of a program, each with one gate at most */

static int devices;
static bool reaches[DEVICES][DEVICES]; /* whether kernels of the first access memory of the second */
static std::vector<cell> all_cells;
static unsigned *moved; /* in host memory: ROWS words for each cell */
static unsigned *gate_words;
static uint64_t *value_words[WORDS];

static const unsigned small_row = 16, medium_row = 1040, large_row = 17408; /* words: cells of 1, 65, 1088 KiB */

static void add_cells(home_kind home, int device, std::vector<unsigned> rows)
{
	for (unsigned row_words : rows) {
		cell c = {nullptr, row_words, home, device, home != POOL, false, {}};
		void *at = nullptr;

		if (home == DEVICE)
			HIP(hipMalloc(&at, c.size_B()));
		else if (home == PINNED)
			HIP(hipHostMalloc(&at, c.size_B(), hipHostMallocPortable));
		else if (home == NON_COHERENT)
			HIP(hipHostMalloc(&at, c.size_B(), hipHostMallocPortable | hipHostMallocNonCoherent));
		else if (home == MANAGED)
			HIP(hipMallocManaged(&at, c.size_B(), hipMemAttachGlobal));
		else if (home != POOL)
			at = aligned_alloc(4096, (c.size_B() + 4095) & ~(size_t)4095);
		if (home == REGISTERED)
			HIP(hipHostRegister(at, c.size_B(), hipHostRegisterPortable));
		c.at = (unsigned *)at;
		all_cells.push_back(c);
	}
}

static void let_peers_in()
{
	for (int d = 0; d < devices; d++) {
		int can = 0;

		reaches[d][d] = true;
		HIP(hipSetDevice(d));
		if (devices == 1)
			continue;
		HIP(hipDeviceCanAccessPeer(&can, d, 1 - d));
		if (!can)
			continue;
		HIP(hipDeviceEnablePeerAccess(1 - d, 0));
		hipMemAccessDesc desc = {{hipMemLocationTypeDevice, d}, hipMemAccessFlagsProtReadWrite};
		hipMemPool_t pool;
		HIP(hipDeviceGetDefaultMemPool(&pool, 1 - d));
		HIP(hipMemPoolSetAccess(pool, &desc, 1));
		reaches[d][1 - d] = true;
	}
}

static void make_memory()
{
	int managed = 1, one;

	for (int d = 0; d < devices; d++) {
		HIP(hipSetDevice(d));
		HIP(hipDeviceGetAttribute(&one, hipDeviceAttributeConcurrentManagedAccess, d));
		managed = managed && one;
		add_cells(
			DEVICE, d,
			{small_row, small_row, small_row, small_row, medium_row, medium_row, large_row, large_row});
		add_cells(POOL, d, {small_row, medium_row, large_row});
	}
	HIP(hipSetDevice(0));
	add_cells(PINNED, 0, {small_row, small_row, medium_row, large_row, large_row});
	add_cells(NON_COHERENT, 0, {small_row, medium_row, large_row});
	add_cells(REGISTERED, 0, {small_row, medium_row, large_row});
	add_cells(PAGEABLE, 0, {small_row, small_row, medium_row, large_row});
	if (managed)
		add_cells(MANAGED, 0, {small_row, small_row, medium_row});
	HIP(hipHostMalloc((void **)&moved, all_cells.size() * ROWS * 4, hipHostMallocPortable));
	HIP(hipHostMalloc((void **)&gate_words, STEPS * 4, hipHostMallocPortable));
	for (unsigned i = 0; i < WORDS; i++)
		if (i % 2)
			HIP(hipHostMalloc((void **)&value_words[i], 8, hipHostMallocPortable));
		else
			HIP(hipExtMallocWithFlags((void **)&value_words[i], 8, hipMallocSignalMemory));
	let_peers_in();
}

static void free_memory()
{
	for (unsigned i = 0; i < WORDS; i++)
		HIP(i % 2 ? hipHostFree(value_words[i]) : hipFree(value_words[i]));
	HIP(hipHostFree(gate_words));
	HIP(hipHostFree(moved));
	for (const cell &c : all_cells) {
		if (c.home == DEVICE || c.home == MANAGED)
			HIP(hipFree(c.at));
		else if (c.home == PINNED || c.home == NON_COHERENT)
			HIP(hipHostFree(c.at));
		if (c.home == REGISTERED)
			HIP(hipHostUnregister(c.at));
		if (c.home == REGISTERED || c.home == PAGEABLE)
			free(c.at);
	}
}

#endif
