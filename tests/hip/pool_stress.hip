/* Stream-ordered pools against a model (pool_model.h): random streams, events, gates that keep work from ending, sizes, policies,
 * frees on other streams, trims and waits. The model judges each address; and each block has a pattern, which kernels look at
 * as long as it is used, so that memory that is given out too early shows.
 *
 *   pool_stress            a few seeds, one thread and eight
 *   pool_stress SEED       that one, with a line for each thing done; SEED threads: with eight
 *   TUFF_TEST_LONG=1       many */
#include <stdarg.h>
#include <thread>

#include "tests/hip/pool_model.h"
#include "tests/hip/pool_pattern.h"
#include "tests/random.h"

#define THREADS    8u
#define GATES_MAX  6u
#define GATE_WORDS 4096u
#define NO_POOL    ~0u /* of memory whose pool was destroyed */

/* --- the run ---------------------------------------------------------------------------------- */

struct options {
	uint64_t seed;
	unsigned steps;
	bool exact;  /* no policy, and nothing that depends on how fast the GPU is: two runs are alike */
	bool shared; /* other threads use the pools, too: what waits for the device, or changes a policy, is left out */
	bool tells;
};

struct block {
	void *ptr;
	size_t size;
	unsigned pool, pattern;
	timeline uses;
};

struct run_pool {
	hipMemPool_t at;
	pool_rules rules;
	int64_t used; /* by this run */
	const void *id() const
	{
		return at;
	}
};

struct run {
	model &m;
	options o;
	uint64_t random;
	unsigned *errors, *words;
	unsigned next_word, next_pattern, open_from = 0;
	uint64_t hash = 0; /* of the addresses that were given out */
	std::vector<unsigned> lanes; /* streams of the model */
	std::vector<run_pool> pools;
	std::vector<block> blocks;
	std::vector<std::pair<hipEvent_t, order>> events;
	std::vector<unsigned> gates; /* that may be closed */
	unsigned given = 0, refused = 0;

	run(model &m, options o, unsigned *errors, unsigned *words, unsigned first_pattern)
		: m(m), o(o), random(o.seed), errors(errors), words(words), next_word(0), next_pattern(first_pattern)
	{
	}
	unsigned below(unsigned count)
	{
		return test_random(&random) % count;
	}
	bool once_in(unsigned count)
	{
		return !below(count);
	}
	hipStream_t stream(unsigned s)
	{
		std::lock_guard<std::mutex> hold(m.lock);
		return m.streams[s].at;
	}
	unsigned lane()
	{
		return lanes[below(lanes.size())];
	}
	void say(const char *format, ...) __attribute__((format(printf, 2, 3)))
	{
		va_list list;

		if (!o.tells)
			return;
		va_start(list, format);
		vprintf(format, list);
		va_end(list);
		fflush(stdout);
	}

	/* --- order --- */

	void add_lane(unsigned flags)
	{
		hipStream_t at;

		HIP(hipStreamCreateWithFlags(&at, flags));
		lanes.push_back(m.add_stream(at, flags == hipStreamDefault, false));
	}
	void add_event()
	{
		hipEvent_t at;

		HIP(hipEventCreateWithFlags(&at, hipEventDisableTiming));
		events.push_back({at, {}});
	}
	void record(unsigned e, unsigned s)
	{
		say("event %u: record on %u\n", e, s);
		events[e].second = m.record(s);
		HIP(hipEventRecord(events[e].first, stream(s)));
	}
	void wait_event(unsigned e, unsigned s)
	{
		say("event %u: %u waits\n", e, s);
		m.wait(s, events[e].second);
		HIP(hipStreamWaitEvent(stream(s), events[e].first, 0));
	}
	/* The stream's work comes behind all that uses the block. */
	void put_behind(const block &b, unsigned s)
	{
		for (unsigned other : lanes)
			if (other != s && m.behind(s).sure.of(other) < b.uses.of(other)) {
				unsigned e = below(events.size());

				record(e, other);
				wait_event(e, s);
			}
	}
	void close_gate(unsigned s)
	{
		unsigned *word = words + next_word++ % GATE_WORDS;

		while (!gates.empty() && is_open(gates.front()))
			gates.erase(gates.begin());
		if (gates.size() >= GATES_MAX)
			return;
		__atomic_store_n(word, 0, __ATOMIC_RELEASE);
		gates.push_back(m.close_gate(s, word));
		say("gate %u: closed on %u\n", gates.back(), s);
		HIP(hipStreamWaitValue32(stream(s), word, 1, hipStreamWaitValueEq, ~0u));
	}
	bool is_open(unsigned gate)
	{
		std::lock_guard<std::mutex> hold(m.lock);
		return m.gates[gate].open;
	}
	void open_all()
	{
		for (unsigned g : gates)
			m.open(g);
		gates.clear();
	}
	/* Of own streams: all of them. */
	order everything()
	{
		order all;

		for (unsigned s : lanes)
			all.join(m.behind(s));
		return all;
	}
	void sync_stream(unsigned s)
	{
		order what = m.with(s);

		say("host: waits for %u\n", s);
		m.open_for(what);
		m.host_waits(what);
		HIP(hipStreamSynchronize(stream(s)));
	}
	void sync_event(unsigned e)
	{
		order what = events[e].second;

		say("host: waits for event %u\n", e);
		m.open_for(what);
		m.host_waits(what);
		HIP(hipEventSynchronize(events[e].first));
	}
	void sync_device()
	{
		say("host: waits for all\n");
		open_all();
		m.host_waits(everything());
		HIP(hipDeviceSynchronize());
	}

	/* --- memory --- */

	/* What blocks are rounded to, four sizes to a doubling up to 1 MiB, or a little less: so the model knows where a
	 * block ends. */
	size_t size()
	{
		switch (below(8)) {
		case 0:
			return 4 + below(508);
		case 1:
			return (1 + below(6)) * MIB - below(3) * 512;
		default:
			return ((size_t)(4 + below(4)) << below(once_in(4) ? 9 : 5)) * 512 - below(512);
		}
	}
	void allocate()
	{
		unsigned p = once_in(3) ? pools.size() - 1 : below(pools.size()), s = lane();
		block b = {nullptr, size(), p, next_pattern += LANES, {}};
		hipError_t r = hipMallocFromPoolAsync(&b.ptr, b.size, pools[p].at, stream(s));

		if (r == hipErrorOutOfMemory && pools[p].rules.most) {
			(void)hipGetLastError();
			m.step(s); /* it may have been put behind what the rules name */
			refused++;
			return;
		}
		CHECK_EQ(r, hipSuccess);
		say("pool %u: %zu bytes for %u: %p\n", p, b.size, s, b.ptr);
		judge(b, s);
		given++;
		pools[p].used += b.size;
		hash = hash * 1099511628211ull ^ ((uintptr_t)b.ptr & 0xffffffff) ^ p;
		mark<<<1, LANES, 0, stream(s)>>>((unsigned *)b.ptr, b.size / 4, b.pattern);
		HIP_LAUNCHED();
		b.uses.reach(s, m.step(s));
		blocks.push_back(b);
	}
	void judge(const block &b, unsigned s)
	{
		const pool_rules &rules = pools[b.pool].rules;
		int verdict = m.judge(pools[b.pool].id(), rules, s, b.ptr, b.size);

		if (!CHECK(verdict >= 0))
			printf("  seed %llu: %zu bytes at %p of pool %u (%s%s%s%s), for stream %u, that may still be used\n",
			       (unsigned long long)o.seed, b.size, b.ptr, b.pool, rules.follow ? "follow " : "",
			       rules.opportunistic ? "opportunistic " : "", rules.internal ? "internal " : "",
			       rules.most ? "limited" : "", s);
		if (verdict <= 0)
			return;
		/* S45: it was made to wait, as there is no more memory to be had. */
		if (o.shared)
			return;
		uint64_t reserved = get(b.pool, hipMemPoolAttrReservedMemCurrent);
		CHECK(reserved + b.size > rules.most);
		CHECK_EQ(hipStreamQuery(stream(s)), hipErrorNotReady);
		(void)hipGetLastError();
	}
	void use(block &b, unsigned s)
	{
		put_behind(b, s);
		say("block %p: used on %u\n", b.ptr, s);
		look<<<1, LANES, 0, stream(s)>>>((unsigned *)b.ptr, b.size / 4, b.pattern, errors);
		if (once_in(2)) {
			b.pattern = next_pattern += LANES;
			mark<<<1, LANES, 0, stream(s)>>>((unsigned *)b.ptr, b.size / 4, b.pattern);
		}
		HIP_LAUNCHED();
		b.uses.reach(s, m.step(s));
	}
	void release(unsigned i)
	{
		block b = blocks[i];
		unsigned s = lane();

		use(b, s);
		blocks[i] = blocks.back();
		blocks.pop_back();
		if (b.pool != NO_POOL)
			pools[b.pool].used -= b.size;
		if (!o.shared && !o.exact && once_in(20)) {
			sync_device(); /* hipFree() waits for the device */
			m.frees_now(b.ptr);
			HIP(hipFree(b.ptr));
			return;
		}
		say("block %p: freed on %u\n", b.ptr, s);
		m.frees(b.ptr, s);
		HIP(hipFreeAsync(b.ptr, stream(s)));
	}
	uint64_t get(unsigned p, hipMemPoolAttr attribute)
	{
		uint64_t value = ~0ull;

		HIP(hipMemPoolGetAttribute(pools[p].at, attribute, &value));
		return value;
	}
	void count(unsigned p)
	{
		uint64_t used = get(p, hipMemPoolAttrUsedMemCurrent), used_high = get(p, hipMemPoolAttrUsedMemHigh);

		CHECK(used < 1ull << 47); /* S53: it is never below zero */
		if (o.shared)
			return;
		CHECK_EQ(used, pools[p].used); /* S19, S21 */
		CHECK(used <= used_high);
		CHECK(used <= get(p, hipMemPoolAttrReservedMemCurrent));
		CHECK(get(p, hipMemPoolAttrReservedMemCurrent) <= get(p, hipMemPoolAttrReservedMemHigh));
		if (pools[p].rules.most)
			CHECK(get(p, hipMemPoolAttrReservedMemHigh) <= pools[p].rules.most); /* S18 */
	}
	void set_rules(unsigned p)
	{
		int on[3] = {(int)below(2), (int)below(2), (int)below(2)};

		pools[p].rules.follow = on[0];
		pools[p].rules.opportunistic = on[1];
		pools[p].rules.internal = on[2];
		tell_rules(pools[p]);
	}
	static void tell_rules(const run_pool &p)
	{
		int on[3] = {p.rules.follow, p.rules.opportunistic, p.rules.internal};

		for (int i = 0; i < 3; i++)
			HIP(hipMemPoolSetAttribute(p.at, (hipMemPoolAttr)(hipMemPoolReuseFollowEventDependencies + i), &on[i]));
	}
	void add_pool(uint64_t most)
	{
		hipMemPoolProps props = pool_props(most);
		run_pool p = {nullptr, {false, false, false, most}, 0};
		uint64_t keep = below(3) * 8 * MIB;

		HIP(hipMemPoolCreate(&p.at, &props));
		HIP(hipMemPoolSetAttribute(p.at, hipMemPoolAttrReleaseThreshold, &keep));
		pools.push_back(p);
		tell_rules(p);
		if (!o.exact)
			set_rules(pools.size() - 1);
	}
	/* Its live memory is used on, S6. */
	void renew_pool(unsigned p)
	{
		uint64_t most = pools[p].rules.most;

		say("pool %u: destroyed\n", p);
		m.forgets(pools[p].id());
		HIP(hipMemPoolDestroy(pools[p].at));
		add_pool(most);
		pools[p] = pools.back();
		pools.pop_back();
		for (block &b : blocks)
			if (b.pool == p)
				b.pool = NO_POOL;
	}

	/* --- all of it --- */

	void renew_lane()
	{
		unsigned i = below(lanes.size()), s = lanes[i];

		if (m.streams[s].null)
			return;
		say("stream %u: destroyed\n", s);
		m.open_for(m.with(s));
		m.host_waits(m.with(s));
		HIP(hipStreamDestroy(stream(s)));
		bool blocking = m.streams[s].blocking;
		m.streams[s].blocking = false;
		add_lane(blocking ? hipStreamDefault : hipStreamNonBlocking);
		lanes[i] = lanes.back();
		lanes.pop_back();
	}
	void rarely()
	{
		switch (below(8)) {
		case 0:
			sync_device();
			break;
		case 1: {
			unsigned p = below(pools.size());

			m.trims(pools[p].id());
			HIP(hipMemPoolTrimTo(pools[p].at, below(16) * MIB));
			break;
		}
		case 2:
			set_rules(below(pools.size()));
			break;
		case 3:
			if (once_in(3))
				renew_pool(below(pools.size()));
			break;
		case 4:
			renew_lane();
			break;
		default:
			(void)hipStreamQuery(stream(lane()));
			(void)hipGetLastError();
		}
	}
	void step()
	{
		unsigned what = below(100), e = below(events.size());

		if (what < 30 && blocks.size() < 60)
			allocate();
		else if (what < 50 && !blocks.empty())
			use(blocks[below(blocks.size())], lane());
		else if (what < 74 && !blocks.empty())
			release(below(blocks.size()));
		else if (what < 79)
			close_gate(lane());
		else if (what < 83 && !gates.empty())
			m.open(gates[below(gates.size())]);
		else if (what < 88)
			record(e, lane());
		else if (what < 92)
			wait_event(e, lane());
		else if (what < 94)
			sync_stream(lane());
		else if (what < 95)
			sync_event(e);
		else if (what < 97)
			count(below(pools.size()));
		else if (!o.shared && !o.exact)
			rarely();
	}
	void end()
	{
		open_all();
		while (!blocks.empty())
			release(blocks.size() - 1);
		for (unsigned s : lanes)
			sync_stream(s);
		for (auto &e : events)
			HIP(hipEventDestroy(e.first));
		for (unsigned s : lanes)
			if (!m.streams[s].null)
				HIP(hipStreamDestroy(stream(s)));
	}
};

/* Memory that all runs share: errors that kernels saw, and words of gates. */
struct shared {
	unsigned *errors, *words;
	shared()
	{
		HIP(hipMalloc((void **)&errors, 16));
		HIP(hipMemset(errors, 0, 16));
		HIP(hipHostMalloc((void **)&words, GATE_WORDS * 4 * (THREADS + 1), hipHostMallocDefault));
	}
	void look()
	{
		unsigned got[4];

		HIP(hipDeviceSynchronize());
		HIP(hipMemcpy(got, errors, sizeof(got), hipMemcpyDeviceToHost));
		if (!CHECK_EQ(got[0], 0))
			printf("  pattern 0x%x became 0x%x\n", got[1], got[2]);
	}
	~shared()
	{
		HIP(hipFree(errors));
		HIP(hipHostFree(words));
	}
};

/* hash of what was given out. */
static uint64_t alone(options o)
{
	shared memory;
	model m;
	run r(m, o, memory.errors, memory.words, 0x1000);

	printf("seed %llu%s\n", (unsigned long long)o.seed, o.exact ? ", without policies" : "");
	fflush(stdout);
	if (!o.exact)
		r.lanes.push_back(m.add_stream(nullptr, true, true));
	for (unsigned i = 0; i < 5; i++)
		r.add_lane(i < 2 && !o.exact ? hipStreamDefault : hipStreamNonBlocking);
	for (unsigned i = 0; i < 8; i++)
		r.add_event();
	r.add_pool(0);
	r.add_pool(0);
	if (!o.exact)
		r.add_pool(8 * MIB);
	for (unsigned i = 0; i < o.steps && !check_failed_; i++)
		r.step();
	r.end();
	memory.look();
	for (run_pool &p : r.pools) {
		uint64_t value = ~0ull;

		HIP(hipMemPoolTrimTo(p.at, 0));
		HIP(hipMemPoolGetAttribute(p.at, hipMemPoolAttrReservedMemCurrent, &value));
		CHECK_EQ(value, 0);
		HIP(hipMemPoolDestroy(p.at));
	}
	printf("  %u given out, %u again, %u behind a wait, %u refused\n", r.given, m.reused, m.waited, r.refused);
	return r.hash;
}

/* Each thread has streams of its own; pools and the model are shared. */
static void together(uint64_t seed, unsigned steps)
{
	shared memory;
	model m;
	std::vector<std::thread> threads;
	std::vector<run> runs;
	run first(m, {seed, steps, false, true, false}, memory.errors, memory.words, 0);

	printf("seed %llu, %u threads\n", (unsigned long long)seed, THREADS);
	fflush(stdout);
	first.add_pool(0);
	first.add_pool(64 * MIB);
	for (unsigned t = 0; t < THREADS; t++) {
		options o = {seed + t, steps, false, true, false};

		runs.emplace_back(m, o, memory.errors, memory.words + (t + 1) * GATE_WORDS, (t + 1) << 24);
		runs.back().pools = first.pools;
		for (unsigned i = 0; i < 3; i++)
			runs.back().add_lane(hipStreamNonBlocking);
		for (unsigned i = 0; i < 4; i++)
			runs.back().add_event();
	}
	for (run &r : runs)
		threads.emplace_back([&r] {
			for (unsigned i = 0; i < r.o.steps; i++)
				r.step();
			r.end();
		});
	for (std::thread &t : threads)
		t.join();
	memory.look();
	for (run_pool &p : first.pools) {
		uint64_t value = ~0ull;

		HIP(hipMemPoolGetAttribute(p.at, hipMemPoolAttrUsedMemCurrent, &value));
		CHECK_EQ(value, 0);
		HIP(hipMemPoolDestroy(p.at));
	}
	printf("  %u again, %u behind a wait\n", m.reused, m.waited);
}

/* All threads on one stream of one pool: what one has no other has (S82). */
static void on_one_stream(unsigned steps)
{
	model m;
	pool p;
	stream s;
	std::vector<std::thread> threads;
	const unsigned lane = m.add_stream(s, false, false);

	for (unsigned t = 0; t < THREADS; t++)
		threads.emplace_back([&, t] {
			uint64_t random = t + 1;
			std::vector<std::pair<void *, size_t>> own;

			for (unsigned i = 0; i < steps || !own.empty(); i++) {
				if (i < steps && own.size() < 16 && test_random(&random) % 2) {
					size_t size = 512 << test_random(&random) % 14;
					void *ptr = p.take(size, s);

					CHECK(m.judge(&p, {false, false, false, 0}, lane, ptr, size) == 0);
					own.push_back({ptr, size});
				} else if (!own.empty()) {
					m.frees(own.back().first, lane);
					give(own.back().first, s);
					own.pop_back();
				}
			}
		});
	for (std::thread &t : threads)
		t.join();
	CHECK_EQ(p.used(), 0);
	HIP(hipStreamSynchronize(s));
}

int main(int argc, char **argv)
{
	const char *wish = getenv("TUFF_TEST_LONG");
	bool is_long = wish && *wish;
	unsigned seeds = is_long ? 200 : 12, steps = is_long ? 3000 : 1000;

	if (argc > 1) {
		uint64_t seed = strtoull(argv[1], nullptr, 0);

		if (argc > 2)
			together(seed, steps);
		else
			alone({seed, steps, false, false, true});
		return check_done("one seed of pools");
	}
	on_one_stream(steps);
	for (uint64_t seed = 1; seed <= seeds && !check_failed_; seed++) {
		alone({seed, steps, false, false, false});
		if (seed % 4 == 1)
			together(1000 * seed, steps / 4);
		/* Without policies what is given out depends on calls alone. */
		uint64_t hash = alone({seed, steps / 2, true, false, false});
		CHECK_EQ(alone({seed, steps / 2, true, false, false}), hash);
	}
	return check_done("pools against a model");
}
