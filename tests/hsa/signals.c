/* Signals of HSA without a GPU: every operation, waits for one, any and all, handlers, and invalid handles. */
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/hsa_rig.h"

#define ONE_MS 1000000u /* the clock of HSA counts nanoseconds */

/* --- operations ------------------------------------------------------------------------------- */

#define EACH_ORDER(call) call(relaxed) call(scacquire) call(screlease) call(scacq_screl)

/* From a known value, by each order; what comes out is the same. */
static void operations(void)
{
	hsa_signal_t s = rig_signal(0);

#define TRY(order, op, by, from, to)                                                                               \
	hsa_signal_store_relaxed(s, from);                                                                         \
	hsa_signal_##op##_##order(s, by);                                                                          \
	CHECK_EQ(hsa_signal_load_scacquire(s), to);
#define ALL(order)                                                                                                 \
	TRY(order, add, 5, 10, 15)                                                                                 \
	TRY(order, subtract, 5, 10, 5)                                                                             \
	TRY(order, and, 6, 12, 4)                                                                                  \
	TRY(order, or, 6, 12, 14)                                                                                  \
	TRY(order, xor, 6, 12, 10)                                                                                 \
	TRY(order, add, 1, INT64_MAX, INT64_MIN)                                                                   \
	hsa_signal_store_screlease(s, 7);                                                                          \
	CHECK_EQ(hsa_signal_exchange_##order(s, 8), 7);                                                            \
	CHECK_EQ(hsa_signal_cas_##order(s, 7, 9), 8);                                                              \
	CHECK_EQ(hsa_signal_load_relaxed(s), 8);                                                                   \
	CHECK_EQ(hsa_signal_cas_##order(s, 8, 9), 8);                                                              \
	CHECK_EQ(hsa_signal_load_relaxed(s), 9);
	EACH_ORDER(ALL)
	hsa_signal_silent_store_relaxed(s, 3);
	CHECK_EQ(hsa_signal_load_relaxed(s), 3);
	hsa_signal_silent_store_screlease(s, 4);
	CHECK_EQ(hsa_signal_load_relaxed(s), 4);
	CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_SUCCESS);
}

/* --- waits ------------------------------------------------------------------------------------ */

struct later {
	pthread_t thread;
	hsa_signal_t signal;
	hsa_signal_value_t value;
};

static void *store_later(void *arg)
{
	struct later *l = arg;

	usleep(3000);
	hsa_signal_store_screlease(l->signal, l->value);
	return NULL;
}

static void in_3_ms(struct later *l, hsa_signal_t signal, hsa_signal_value_t value)
{
	l->signal = signal;
	l->value = value;
	CHECK_EQ(pthread_create(&l->thread, NULL, store_later, l), 0);
}

static void conditions(void)
{
	static const struct {
		hsa_signal_condition_t condition;
		hsa_signal_value_t value, compare;
		bool met;
	} row[] = {
		{HSA_SIGNAL_CONDITION_EQ, 4, 4, true},
		{HSA_SIGNAL_CONDITION_EQ, 4, 5, false},
		{HSA_SIGNAL_CONDITION_NE, 4, 5, true},
		{HSA_SIGNAL_CONDITION_NE, 4, 4, false},
		{HSA_SIGNAL_CONDITION_LT, -1, 0, true},
		{HSA_SIGNAL_CONDITION_LT, 0, 0, false},
		{HSA_SIGNAL_CONDITION_GTE, 0, 0, true},
		{HSA_SIGNAL_CONDITION_GTE, -1, 0, false},
		{HSA_SIGNAL_CONDITION_LT, INT64_MIN, INT64_MAX, true},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		hsa_signal_t s = rig_signal(row[i].value);
		uint64_t before, after;

		hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before);
		CHECK_EQ(hsa_signal_wait_scacquire(s, row[i].condition, row[i].compare, 2 * ONE_MS,
						   i % 2 ? HSA_WAIT_STATE_ACTIVE : HSA_WAIT_STATE_BLOCKED),
			 row[i].value);
		hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after);
		/* A wait that is not met ends by its time, and not before. */
		CHECK(row[i].met || after - before >= 2 * ONE_MS);
		CHECK_EQ(hsa_signal_wait_relaxed(s, row[i].condition, row[i].compare, 0, HSA_WAIT_STATE_BLOCKED),
			 row[i].value);
		CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_SUCCESS);
	}
}

static void one_is_woken(void)
{
	hsa_signal_t s = rig_signal(1);
	struct later l;

	in_3_ms(&l, s, 0);
	CHECK_EQ(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
	pthread_join(l.thread, NULL);
	CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_SUCCESS);
}

static void any_and_all(void)
{
	hsa_signal_t s[4] = {rig_signal(1), rig_signal(1), rig_signal(1), rig_signal(1)};
	hsa_signal_condition_t eq[4] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ,
					HSA_SIGNAL_CONDITION_EQ};
	hsa_signal_value_t zero[4] = {0}, got[4] = {9, 9, 9, 9};
	struct later l[4];

	CHECK_EQ(hsa_amd_signal_wait_any(4, s, eq, zero, ONE_MS, HSA_WAIT_STATE_BLOCKED, got), UINT32_MAX);
	in_3_ms(&l[0], s[2], 0);
	CHECK_EQ(hsa_amd_signal_wait_any(4, s, eq, zero, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, got), 2);
	CHECK_EQ(got[0], 0);
	pthread_join(l[0].thread, NULL);
	CHECK_EQ(hsa_amd_signal_wait_all(4, s, eq, zero, ONE_MS, HSA_WAIT_STATE_BLOCKED, got), UINT32_MAX);
	for (unsigned i = 0; i < 4; i++)
		in_3_ms(&l[i], s[i], 0);
	CHECK_EQ(hsa_amd_signal_wait_all(4, s, eq, zero, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, got), 0);
	for (unsigned i = 0; i < 4; i++) {
		CHECK_EQ(got[i], 0);
		pthread_join(l[i].thread, NULL);
		CHECK_EQ(hsa_signal_destroy(s[i]), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ(hsa_amd_signal_wait_any(0, s, eq, zero, 0, HSA_WAIT_STATE_BLOCKED, got), UINT32_MAX);
	CHECK_EQ(hsa_amd_signal_wait_any(4, s, eq, zero, 0, HSA_WAIT_STATE_BLOCKED, got), UINT32_MAX); /* gone */
}

/* --- handlers --------------------------------------------------------------------------------- */

struct handled {
	unsigned calls, stay; /* stay: how many calls it wants */
	hsa_signal_value_t last;
	hsa_signal_t over;
};

static bool handle(hsa_signal_value_t value, void *arg)
{
	struct handled *h = arg;

	h->calls++;
	h->last = value;
	if (h->calls < h->stay)
		return true;
	hsa_signal_store_screlease(h->over, 0);
	return false;
}

static void later_on(void *arg)
{
	hsa_signal_store_screlease(((struct handled *)arg)->over, 0);
}

static void handlers(void)
{
	hsa_signal_t s = rig_signal(5);
	struct handled once = {.stay = 1, .over = rig_signal(1)}, thrice = {.stay = 3, .over = rig_signal(1)};
	struct handled function = {.over = rig_signal(1)};

	CHECK_EQ(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_LT, 5, handle, &once), HSA_STATUS_SUCCESS);
	/* True at once: one that wants to stay is called again and again. */
	CHECK_EQ(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_GTE, 1, handle, &thrice), HSA_STATUS_SUCCESS);
	CHECK_EQ(rig_wait(thrice.over), 0);
	CHECK_EQ(thrice.calls, 3);
	CHECK_EQ(hsa_signal_load_relaxed(once.over), 1);
	hsa_signal_subtract_screlease(s, 1);
	CHECK_EQ(rig_wait(once.over), 0);
	CHECK_EQ(once.calls, 1);
	CHECK_EQ(once.last, 4);
	CHECK_EQ(hsa_amd_async_function(later_on, &function), HSA_STATUS_SUCCESS);
	CHECK_EQ(rig_wait(function.over), 0);
	CHECK_EQ(hsa_amd_async_function(NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_LT, 5, NULL, NULL),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_signal_async_handler(s, (hsa_signal_condition_t)9, 5, handle, &once),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	/* One whose signal goes is never called. */
	once.calls = 0;
	CHECK_EQ(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_LT, -100, handle, &once), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_LT, 5, handle, &once),
		 HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(once.calls, 0);
	hsa_signal_destroy(once.over);
	hsa_signal_destroy(thrice.over);
	hsa_signal_destroy(function.over);
}

/* --- misuse ----------------------------------------------------------------------------------- */

static void misuse(void)
{
	hsa_signal_t s = rig_signal(6), none = {0}, wild = {s.handle + 8}, far = {UINT64_MAX - 63};
	hsa_agent_t agents[3] = {rig.cpu, rig.gpu, rig.gpu};
	volatile hsa_signal_value_t *value;

	CHECK_EQ(hsa_signal_create(1, 0, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_signal_create(1, 3, agents, &none), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_signal_create(1, 2, NULL, &none), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	agents[1].handle = 77;
	CHECK_EQ(hsa_signal_create(1, 2, agents, &none), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_signal_create(1, 0, NULL, 1ull << 40, &none), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	none.handle = 0;
	CHECK_EQ(hsa_signal_destroy(none), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_signal_destroy(wild), HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(hsa_signal_destroy(far), HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(hsa_amd_signal_value_pointer(s, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_signal_value_pointer(s, &value), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	/* What cannot answer does nothing. */
	hsa_signal_store_relaxed(none, 1);
	hsa_signal_add_relaxed(wild, 1);
	CHECK_EQ(hsa_signal_exchange_relaxed(far, 1), 0);
	CHECK_EQ(hsa_signal_load_relaxed(far), 0);
	CHECK_EQ(hsa_signal_wait_relaxed(wild, HSA_SIGNAL_CONDITION_EQ, 9, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
	CHECK_EQ(hsa_signal_load_relaxed(s), 6);
	CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(hsa_amd_signal_create(4, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &s), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_signal_value_pointer(s, &value), HSA_STATUS_SUCCESS);
	CHECK_EQ(*value, 4);
	hsa_signal_store_screlease(s, 5);
	CHECK_EQ(*value, 5);
	CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_SUCCESS);
}

/* More than one of our blocks of them, all alive. */
static void many(void)
{
	static hsa_signal_t s[5000];
	unsigned wrong = 0;

	for (unsigned i = 0; i < 5000; i++)
		s[i] = rig_signal(i);
	for (unsigned i = 0; i < 5000; i++)
		wrong += hsa_signal_load_relaxed(s[i]) != (hsa_signal_value_t)i;
	CHECK_EQ(wrong, 0);
	for (unsigned i = 0; i < 5000; i++)
		CHECK_EQ(hsa_signal_destroy(s[i]), HSA_STATUS_SUCCESS);
}

/* A completion takes 1 from any value. */
static void the_least_value_wraps(void)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	hsa_signal_t s = rig_signal(INT64_MIN), gate = rig_signal(1);
	hsa_barrier_and_packet_t barrier = {.completion_signal = s}, gated = {.dep_signal = {gate}};

	rig_publish(queue, &barrier, HSA_PACKET_TYPE_BARRIER_AND | RIG_BARRIER, 0);
	CHECK_EQ(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, INT64_MAX, UINT64_MAX,
					   HSA_WAIT_STATE_BLOCKED),
		 INT64_MAX);
	/* And from a value that the CPU changes meanwhile. */
	gated.completion_signal = s;
	rig_publish(queue, &gated, HSA_PACKET_TYPE_BARRIER_AND | RIG_BARRIER, 0);
	hsa_signal_store_screlease(s, INT64_MIN);
	hsa_signal_store_screlease(gate, 0);
	CHECK_EQ(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, INT64_MAX, UINT64_MAX,
					   HSA_WAIT_STATE_BLOCKED),
		 INT64_MAX);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(gate);
	hsa_signal_destroy(s);
}

/* A shared signal is a file, and the kernel's answer to one that is too large is SIGXFSZ. */
static void a_limit_of_files_is_an_error(void)
{
	struct rlimit old, none;
	hsa_signal_t s;

	getrlimit(RLIMIT_FSIZE, &old);
	none = (struct rlimit){0, old.rlim_max};
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
	CHECK_EQ(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &s), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
	CHECK_EQ(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &s), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(s), HSA_STATUS_SUCCESS);
}

int main(void)
{
	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return check_done("signals of HSA");
	operations();
	conditions();
	one_is_woken();
	any_and_all();
	handlers();
	misuse();
	the_least_value_wraps();
	a_limit_of_files_is_an_error();
	many();
	rig_stop();
	return check_done("signals of HSA");
}
