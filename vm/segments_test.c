/* Interval maps against an array with one value for each address. */
#include <stdlib.h>

#include "tests/check.h"
#include "tests/random.h"
#include "vm/segments.h"

#define ADDRESSES 200u

struct segment {
	struct vm_node at;
	unsigned value;
	uint64_t origin; /* of the value: moves with a cut, as an offset in a BO does */
};

static void segment_move(void *left, void *right)
{
	const struct segment *l = left;
	struct segment *r = right;

	r->origin += r->at.lo - l->at.lo;
}

static struct vm_segments map = {.size_B = sizeof(struct segment), .split = segment_move};
static struct {
	unsigned value; /* 0: in no segment */
	uint64_t origin;
} model[ADDRESSES];

static void compare(void)
{
	uint64_t end = 0;

	for (uint64_t a = 0; a < ADDRESSES; a++) {
		const struct segment *s = vm_segment_first(&map, a, a + 1);

		CHECK_EQ(s ? s->value : 0, model[a].value);
		if (s)
			CHECK_EQ(s->origin + (a - s->at.lo), model[a].origin);
	}
	for (const struct segment *s = NULL; (s = vm_segment_next(&map, s, 0, ADDRESSES)); end = s->at.hi)
		CHECK(s->at.lo >= end && s->at.hi > s->at.lo);
}

static void range_set(uint64_t lo, uint64_t hi, unsigned value)
{
	static const struct segment plain = {.value = 1};

	CHECK_EQ(vm_segments_cover(&map, lo, hi, &plain), 0);
	for (struct segment *s = NULL; (s = vm_segment_next(&map, s, lo, hi));) {
		CHECK(s->at.lo >= lo && s->at.hi <= hi);
		s->value = value;
		s->origin = s->at.lo * 1000;
	}
	for (uint64_t a = lo; a < hi; a++)
		model[a].value = value;
	for (const struct segment *s = NULL; (s = vm_segment_next(&map, s, lo, hi));)
		for (uint64_t a = s->at.lo; a < s->at.hi; a++)
			model[a].origin = s->at.lo * 1000 + (a - s->at.lo);
}

static void range_remove(uint64_t lo, uint64_t hi)
{
	struct vm_cut cut;
	struct segment *s;

	CHECK_EQ(vm_cut_prepare(&map, lo, hi, &cut), 0);
	vm_cut_commit(&map, lo, hi, &cut);
	while ((s = vm_segment_first(&map, lo, hi))) {
		CHECK(s->at.lo >= lo && s->at.hi <= hi);
		vm_segment_remove(&map, s);
		free(s);
	}
	for (uint64_t a = lo; a < hi; a++)
		model[a].value = 0;
}

static void a_prepared_cut_changes_nothing(void)
{
	struct vm_cut cut;

	range_set(10, 20, 7);
	CHECK_EQ(vm_cut_prepare(&map, 12, 15, &cut), 0);
	CHECK(cut.right[0] && cut.right[1]);
	vm_cut_cancel(&cut);
	compare();
	CHECK_EQ(vm_cut_prepare(&map, 10, 20, &cut), 0); /* at its ends there is nothing to cut */
	CHECK(!cut.right[0] && !cut.right[1]);
	range_remove(0, ADDRESSES);
}

int main(void)
{
	uint64_t random = 5;

	a_prepared_cut_changes_nothing();
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t lo = test_random(&random) % ADDRESSES,
			 hi = lo + 1 + test_random(&random) % (ADDRESSES - lo);

		if (test_random(&random) % 3)
			range_set(lo, hi, 2 + (unsigned)(test_random(&random) % 9));
		else
			range_remove(lo, hi);
		if (i % 16 == 0)
			compare();
	}
	range_remove(0, ADDRESSES);
	return check_done("interval maps");
}
