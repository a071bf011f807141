/* Rows of a program that stops a thread inside a call (tests/step.h): a call, and what another thread does beside it. */
#ifndef TESTS_STEP_ROWS_H
#define TESTS_STEP_ROWS_H

#include <stdio.h>
#include <stdlib.h>

#include "tests/step.h"

#define STEP_STOPS 200         /* of a long call, about */
#define STEP_EACH  STEP_PLACES /* at each instruction */

struct step_row {
	const char *name;
	void (*create)(void), (*use)(void), (*beside)(void), (*finish)(void);
	unsigned stops; /* of a long call, about; 0: STEP_STOPS */
	long wait_ns;   /* the longest stop; 0: STEP_WAIT_NS */
};

static void step_row_run(const struct step_row *row, bool all)
{
	unsigned places, stops = 0, met = step_state.met;

	step_state.wait_ns = row->wait_ns ? row->wait_ns : STEP_WAIT_NS;
	/* What first calls make is there. */
	for (unsigned i = 0; i < 2; i++) {
		row->create();
		row->use();
		row->finish();
	}
	row->create();
	places = step_record(row->use);
	row->finish();
	for (unsigned i = 0; i < places; i += all ? 1 : 1 + places / (row->stops ? row->stops : STEP_STOPS)) {
		row->create();
		stops += step_at(i, row->use, row->beside);
		row->finish();
	}
	printf("%s: stopped at %u of %u instructions, %u without a lock\n", row->name, stops, places,
	       step_state.met - met);
	fflush(stdout);
	CHECK(stops > 0);
}

/* Runs one row, or (number >= count) all. Long calls are stopped at some of their instructions, unless `all` or TUFF_TEST_LONG is
 * set. */
static void step_rows_run(const struct step_row *rows, unsigned count, unsigned number, bool all)
{
	for (unsigned i = 0; i < count; i++)
		if (number >= count || number == i)
			step_row_run(&rows[i], all || getenv("TUFF_TEST_LONG"));
}

#endif
