/* The page of an interprocess event, which another process has written over: no call waits for ever. */
#include "api/exec/event_shared.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"
#include "vgpu/vgpu.h"

/* As event_shared.c has it; the page has the key before the number of records, and behind it a slot's number and maker. */
struct handle {
	uint32_t point;
	int32_t process, fd;
};
#define RECORDS_AT 1
#define REACHED_AT 2
#define MAKERS_AT  34
#define SLOTS      32
#define PID_BITS   22
#define PAGE_B     4096

static uint64_t *page_map(const struct hip_shared *shared)
{
	hipIpcEventHandle_t handle;
	struct handle inside;

	CHECK_EQ(hip_shared_handle(shared, &handle), hipSuccess);
	memcpy(&inside, &handle, sizeof(inside));
	return mmap(NULL, PAGE_B, PROT_READ | PROT_WRITE, MAP_SHARED, inside.fd, 0);
}

static void numbers_beyond_all_records_are_refused(struct hip_shared *shared, uint64_t *page)
{
	static const uint64_t records[] = {UINT64_MAX, UINT64_MAX - 1, 1ull << 63, (1ull << 42) - 1};
	uint64_t number;

	for (unsigned i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		page[RECORDS_AT] = records[i];
		CHECK_EQ(hip_shared_next(shared, &number), hipErrorIllegalState);
	}
	page[RECORDS_AT] = 0;
	CHECK_EQ(hip_shared_next(shared, &number), hipSuccess);
	CHECK_EQ(number, 1);
	hip_shared_refuse(shared, number);
}

/* A slot has a record that is far behind the last one. */
static void records_that_nobody_made_are_refused(struct hip_shared *shared, uint64_t *page)
{
	const uint64_t before = page[MAKERS_AT + 2];
	uint64_t number;

	page[MAKERS_AT + 2] = 34ull << PID_BITS | 1;
	CHECK_EQ(hip_shared_next(shared, &number), hipErrorIllegalState);
	CHECK(hip_shared_reached(shared));
	CHECK_EQ(hip_shared_wait(shared), hipSuccess);
	page[MAKERS_AT + 2] = before;
}

/* The last record is in no slot. */
static void a_record_without_a_slot_is_not_waited_for(struct hip_shared *shared, uint64_t *page)
{
	uint64_t number;

	memset(page + REACHED_AT, 0, 2 * SLOTS * sizeof(*page));
	page[RECORDS_AT] = 1000;
	CHECK(hip_shared_reached(shared));
	CHECK_EQ(hip_shared_wait(shared), hipSuccess);
	CHECK_EQ(hip_shared_next(shared, &number), hipSuccess);
	CHECK_EQ(number, 1001);
	CHECK(!hip_shared_reached(shared));
}

int main(void)
{
	struct hip_shared *shared;
	uint64_t *page;

	alarm(60);
	if (vgpu_start("gfx908:vram=128M") || hip_init() || hip_shared_make(&shared))
		return 1;
	page = page_map(shared);
	if (CHECK(page != MAP_FAILED)) {
		numbers_beyond_all_records_are_refused(shared, page);
		records_that_nobody_made_are_refused(shared, page);
		a_record_without_a_slot_is_not_waited_for(shared, page);
	}
	hip_shared_free(shared);
	return check_done("events that others write over");
}
