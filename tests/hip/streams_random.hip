/* Random programs of streams against a sequential model. Memory of all kinds is cut into cells; each operation reads some and
 * writes others. The generator knows what HIP orders (stream_order.h) and adds the waits that make the program free of races,
 * and seldom another: so the cells hold what the operations give one after the other, or an order was lost.
 *
 *   streams_random         programs with different seeds
 *   TUFF_TEST_SEED=n       that one alone, with a line for each call
 *   TUFF_TEST_LONG=1       many
 *
 * Operations: kernels, copies and fills of bytes and of rows, host functions and callbacks, values that streams write, captured
 * graphs, memory of stream-ordered pools. Waits: events (also old ones, and by way of third streams), values, the null stream's
 * rules, the host. Gates keep streams from beginning, delays keep kernels from reading and writing early. */
#include <deque>
#include <random>
#include <stdarg.h>
#include <string>

#include "tests/hip/stream_memory.h"
#include "tests/hip/stream_order.h"

#define EVENTS 5u /* for each device */
#define NONE   ~0u

/* --- a program -------------------------------------------------------------------------------- */

struct event {
	hipEvent_t at;
	int device;
	stream_clock until;
};

struct graph {
	std::deque<operation> operations;
	std::vector<unsigned> reads, writes;
	hipGraph_t graph;
	hipGraphExec_t exec;
};

struct program {
	unsigned seed;
	bool tells;
	std::mt19937 random;
	std::vector<cell> cells = all_cells;
	stream_order order;
	std::vector<hipStream_t> streams; /* by the model's numbers */
	std::vector<event> events;
	std::vector<unsigned> active; /* cells that take part */
	std::deque<operation> operations;
	std::deque<graph> graphs;
	cell_uses words[WORDS];
	uint64_t word_values[WORDS] = {};
	hipStream_t checkers[DEVICES];
	std::vector<unsigned> closed; /* gates */
	unsigned next_gate = 0, next_id = 1, step = 0;
	bool failed = false;

	program(unsigned seed, bool tells) : seed(seed), tells(tells), random(seed), order(all_cells.size())
	{
	}

	unsigned below(size_t count)
	{
		return (unsigned)(random() % count);
	}
	bool once_in(unsigned count)
	{
		return !below(count);
	}
	void say(const char *format, ...) __attribute__((format(printf, 2, 3)))
	{
		va_list list;

		if (!tells)
			return;
		va_start(list, format);
		vprintf(format, list);
		va_end(list);
		fflush(stdout);
	}

	/* --- streams --- */

	unsigned add_stream(int device, stream_kind kind, hipStream_t at)
	{
		streams.push_back(at);
		return order.add_stream(device, kind);
	}
	unsigned create_stream(int device, stream_kind kind)
	{
		hipStream_t at;

		HIP(hipSetDevice(device));
		HIP(hipStreamCreateWithPriority(&at, kind == BLOCKING ? hipStreamDefault : hipStreamNonBlocking,
						(int)below(3) - 1));
		return add_stream(device, kind, at);
	}
	/* Of those that live. */
	template <typename F> unsigned some_stream(F fits)
	{
		std::vector<unsigned> list;

		for (unsigned s = 0; s < streams.size(); s++)
			if (order.streams[s].alive && fits(s))
				list.push_back(s);
		return list.empty() ? NONE : list[below(list.size())];
	}
	unsigned any_stream()
	{
		return some_stream([](unsigned) { return true; });
	}
	bool has_handle(unsigned s)
	{
		return streams[s] && streams[s] != hipStreamPerThread;
	}
	/* The current device for a call on the stream. free: the call takes any, if the handle says which stream it is. */
	void select(unsigned s, bool free = false)
	{
		HIP(hipSetDevice(free && has_handle(s) ? (int)below(devices) : order.streams[s].device));
	}
	/* Behind the stream's work another one goes on: so the model has a way to wait for it. */
	void replace_stream()
	{
		unsigned old = some_stream([&](unsigned s) { return has_handle(s); });
		unsigned other = some_stream([&](unsigned s) { return s != old; });

		if (streams.size() == STREAMS_MAX)
			return;
		wait_event(other, record_event(old));
		open_gates();
		HIP(hipStreamDestroy(streams[old]));
		order.streams[old].alive = false;
		unsigned made = create_stream(order.streams[old].device, order.streams[old].kind);
		say("stream %u is destroyed; %u is created\n", old, made);
	}

	/* --- waits of streams --- */

	unsigned record_event(unsigned s)
	{
		unsigned e;

		do
			e = below(events.size());
		while (events[e].device != order.streams[s].device);
		events[e].until = order.record(s);
		say("record event %u on stream %u\n", e, s);
		select(s, true);
		HIP(hipEventRecord(events[e].at, streams[s]));
		return e;
	}
	void wait_event(unsigned s, unsigned e)
	{
		order.wait(s, events[e].until);
		say("stream %u waits for event %u\n", s, e);
		select(s, true);
		HIP(hipStreamWaitEvent(streams[s], events[e].at, 0));
	}
	/* A word that nobody writes or waits for any more. */
	unsigned free_word()
	{
		unsigned first = below(WORDS);

		for (unsigned k = 0; k < WORDS; k++) {
			const cell_uses &w = words[(first + k) % WORDS];

			if (order.host.covers(w.written) && order.host.covers(w.read))
				return (first + k) % WORDS;
		}
		return NONE;
	}
	bool wait_value(unsigned s, unsigned behind)
	{
		unsigned w = free_word();

		if (w == NONE)
			return false;
		const uint64_t value = word_values[w] += 1 + below(1000);
		const unsigned flags = once_in(2) ? hipStreamWaitValueGte : hipStreamWaitValueEq;
		const bool wide = once_in(2);
		stream_clock until = order.record(behind);
		say("stream %u writes value %u, stream %u waits for it\n", behind, w, s);
		select(behind);
		if (wide)
			HIP(hipStreamWriteValue64(streams[behind], value_words[w], value, 0));
		else
			HIP(hipStreamWriteValue32(streams[behind], value_words[w], (unsigned)value, 0));
		order.put(behind);
		words[w].written = {};
		words[w].written.at[behind] = order.streams[behind].behind.at[behind];
		order.wait(s, until);
		select(s);
		if (wide)
			HIP(hipStreamWaitValue64(streams[s], value_words[w], value, flags));
		else
			HIP(hipStreamWaitValue32(streams[s], value_words[w], (unsigned)value, flags));
		order.put(s);
		words[w].read = {};
		words[w].read.at[s] = order.streams[s].behind.at[s];
		return true;
	}
	void put_nothing(unsigned s)
	{
		say("stream %u: nothing\n", s);
		order.begin(s);
		select(s);
		nothing<<<1, 1, 0, streams[s]>>>();
		HIP_LAUNCHED();
		order.put(s);
	}
	/* By its rules the null stream between two others orders them. */
	bool wait_by_rule(unsigned s, unsigned behind)
	{
		const int device = order.streams[s].device;

		if (order.streams[s].kind != BLOCKING || order.streams[behind].kind != BLOCKING ||
		    device != order.streams[behind].device)
			return false;
		put_nothing(some_stream([&](unsigned n) {
			return order.streams[n].kind == NULL_STREAM && order.streams[n].device == device;
		}));
		return true;
	}
	bool wait_old_event(unsigned s, const stream_clock &point)
	{
		const unsigned first = below(events.size());

		for (unsigned k = 0; k < events.size(); k++) {
			unsigned e = (first + k) % (unsigned)events.size();

			if (events[e].until.covers(point)) {
				wait_event(s, e);
				return true;
			}
		}
		return false;
	}
	/* The stream's next operation is behind that point of another's. */
	void add_wait(unsigned s, const stream_clock &point)
	{
		unsigned way = below(16);
		unsigned behind = some_stream([&](unsigned t) { return t != s && order.streams[t].behind.covers(point); });

		if (behind == NONE || way == 0) {
			host_waits(point);
			return;
		}
		if ((way < 5 && wait_old_event(s, point)) || (way < 7 && wait_by_rule(s, behind)) ||
		    (way < 9 && wait_value(s, behind)))
			return;
		if (way < 12) {
			unsigned third = some_stream([&](unsigned t) { return t != s; });

			if (third != behind)
				wait_event(third, record_event(behind));
			behind = third;
		}
		wait_event(s, record_event(behind));
	}
	/* What the stream is given next is behind that. */
	void wait_for(unsigned s, const stream_clock &need)
	{
		for (;;) {
			const stream_clock next = order.next(s);
			std::vector<unsigned> open;
			stream_clock point;

			for (unsigned t = 0; t < streams.size(); t++)
				if (next.at[t] < need.at[t])
					open.push_back(t);
			if (open.empty())
				break;
			unsigned t = open[below(open.size())];
			point.at[t] = need.at[t];
			add_wait(s, point);
		}
		if (once_in(16))
			wait_event(s, below(events.size()));
	}

	/* --- waits of the host --- */

	void close_gate()
	{
		unsigned s = any_stream(), g = next_gate++;

		say("gate %u closes on stream %u\n", g, s);
		gate_words[g] = 0;
		closed.push_back(g);
		order.begin(s);
		select(s);
		if (once_in(2)) {
			HIP(hipStreamWaitValue32(streams[s], &gate_words[g], 1, hipStreamWaitValueEq));
		} else {
			hold<<<1, 1, 0, streams[s]>>>(&gate_words[g]);
			HIP_LAUNCHED();
		}
		order.put(s);
	}
	/* Before each call that may wait. */
	void open_gates()
	{
		for (unsigned g : closed)
			__atomic_store_n(&gate_words[g], 1, __ATOMIC_RELEASE);
		closed.clear();
	}
	void host_waits_stream(unsigned s)
	{
		open_gates();
		say("host waits for stream %u\n", s);
		select(s, true);
		if (order.streams[s].kind == NULL_STREAM)
			order.begin(s);
		if (once_in(2))
			HIP(hipStreamSynchronize(streams[s]));
		else
			while (hipStreamQuery(streams[s]) == hipErrorNotReady)
				continue;
		HIP(hipStreamQuery(streams[s]));
		order.host.merge(order.streams[s].behind);
	}
	void host_waits_event(unsigned e)
	{
		open_gates();
		say("host waits for event %u\n", e);
		if (once_in(2))
			HIP(hipEventSynchronize(events[e].at));
		else
			while (hipEventQuery(events[e].at) == hipErrorNotReady)
				continue;
		HIP(hipEventQuery(events[e].at));
		order.host.merge(events[e].until);
	}
	void host_waits_device(int device)
	{
		open_gates();
		say("host waits for device %d\n", device);
		HIP(hipSetDevice(device));
		HIP(hipDeviceSynchronize());
		for (const stream_order::stream &s : order.streams)
			if (s.device == device)
				order.host.merge(s.behind);
	}
	void host_waits(const stream_clock &point)
	{
		unsigned s = some_stream([&](unsigned t) { return order.streams[t].behind.covers(point); });

		if (s == NONE) /* of a stream that is gone */
			for (int d = 0; d < devices; d++)
				host_waits_device(d);
		else if (once_in(2))
			host_waits_stream(s);
		else
			host_waits_event(record_event(s));
	}
	void host_waits_somewhere()
	{
		unsigned way = below(8);

		if (way == 0)
			host_waits_device((int)below(devices));
		else if (way < 4)
			host_waits_stream(any_stream());
		else if (way < 6)
			host_waits_event(below(events.size()));
		else
			host_waits_event(record_event(any_stream()));
	}

	/* --- what the host sees --- */

	void compare(unsigned c, const unsigned *got, unsigned stride, bool rows)
	{
		for (unsigned row = 0; row < ROWS && !failed; row++) {
			unsigned at = rows ? word_of(row, stride) : row;

			if (got[at] == cells[c].values[row])
				continue;
			failed = true;
			CHECK_EQ(got[at], cells[c].values[row]);
			printf("  seed %u, step %u: cell %u (home %d, rows of %u words), row %u\n", seed, step, c,
			       cells[c].home, cells[c].row_words, row);
		}
	}
	/* All cells whose last write the host has waited for. */
	void verify()
	{
		std::vector<unsigned> moves;

		open_gates();
		for (unsigned c : active) {
			const cell &at = cells[c];

			if (!at.live || !at.defined || !order.host_may_read(c))
				continue;
			if (!at.on_device()) {
				compare(c, at.at, at.row_words, true);
				continue;
			}
			HIP(hipSetDevice(at.device));
			move<<<1, ROWS, 0, checkers[at.device]>>>(at.at, at.row_words, moved + c * ROWS, false);
			HIP_LAUNCHED();
			moves.push_back(c);
		}
		for (int d = 0; d < devices; d++)
			HIP(hipStreamSynchronize(checkers[d]));
		for (unsigned c : moves)
			compare(c, moved + c * ROWS, 1, false);
		say("compared %zu cells\n", moves.size());
	}
	void host_writes()
	{
		unsigned c = some_cell([&](unsigned k) { return !cells[k].on_device() && order.host_may_write(k); });

		if (c == NONE)
			return;
		say("host writes cell %u\n", c);
		for (unsigned row = 0; row < ROWS; row++)
			cells[c].at[word_of(row, cells[c].row_words)] = cells[c].values[row] = (unsigned)random();
	}

	/* --- making operations --- */

	template <typename F> unsigned some_cell(F fits)
	{
		std::vector<unsigned> list;

		for (unsigned c : active)
			if (cells[c].live && fits(c))
				list.push_back(c);
		return list.empty() ? NONE : list[below(list.size())];
	}
	bool kernel_reaches(int device, const cell &c)
	{
		return c.on_device() ? reaches[device][c.device] : c.home != PAGEABLE;
	}
	bool make_work(operation &o, int device, bool captured)
	{
		auto fits = [&](unsigned c) {
			if (captured && (cells[c].home == POOL || cells[c].home == PAGEABLE))
				return false;
			return o.kind == HOST ? !cells[c].on_device() : kernel_reaches(device, cells[c]);
		};
		const unsigned ins = below(4), outs = 1 + below(2);

		o.what.id = next_id++;
		o.what.before = o.what.between = 0;
		if (o.kind == KERNEL && once_in(2))
			(once_in(2) ? o.what.before : o.what.between) = 20 + below(400);
		for (unsigned i = 0; i < ins; i++) {
			unsigned c = some_cell([&](unsigned k) { return fits(k) && cells[k].defined; });

			if (c == NONE)
				break;
			o.what.in[o.reads.size()] = {cells[c].at, cells[c].row_words};
			o.reads.push_back(c);
		}
		for (unsigned i = 0; i < outs; i++) {
			unsigned c = some_cell([&](unsigned k) {
				return fits(k) && std::find(o.writes.begin(), o.writes.end(), k) == o.writes.end();
			});

			if (c == NONE)
				break;
			o.what.out[o.writes.size()] = {cells[c].at, cells[c].row_words};
			o.writes.push_back(c);
		}
		o.what.ins = (unsigned)o.reads.size();
		o.what.outs = (unsigned)o.writes.size();
		return !o.writes.empty();
	}
	/* Which part of the cell. */
	void make_range(operation &o, const cell &to)
	{
		const unsigned all = ROWS * to.row_words;
		const bool whole = !to.defined || once_in(2);

		o.first = whole ? 0 : below(all);
		o.words = whole ? all : 1 + below(all - o.first);
		o.row = whole ? 0 : below(ROWS);
		o.rows = whole ? ROWS : 1 + below(ROWS - o.row);
		o.column = whole ? 0 : below(to.row_words);
		o.columns = whole ? to.row_words : 1 + below(to.row_words - o.column);
	}
	bool make_copy(operation &o, bool captured)
	{
		auto fits = [&](unsigned c) { return !captured || (cells[c].home != POOL && cells[c].home != PAGEABLE); };
		unsigned from = some_cell([&](unsigned c) { return fits(c) && cells[c].defined; });

		if (from == NONE)
			return false;
		unsigned to = some_cell([&](unsigned c) {
			return fits(c) && c != from && cells[c].row_words == cells[from].row_words;
		});
		if (to == NONE)
			return false;
		o.reads = {from};
		o.writes = {to};
		make_range(o, cells[to]);
		return true;
	}
	bool make_fill(operation &o, int device, bool captured)
	{
		unsigned to = some_cell([&](unsigned c) {
			return kernel_reaches(device, cells[c]) && !(captured && cells[c].home == POOL) &&
			       (o.kind != VALUE || (cells[c].defined && (!cells[c].on_device() || cells[c].device == device)));
		});

		if (to == NONE)
			return false;
		o.writes = {to};
		make_range(o, cells[to]);
		return true;
	}
	bool make(operation &o, int device, bool captured)
	{
		static const op_kind kinds[] = {KERNEL, KERNEL, KERNEL, KERNEL, COPY, COPY, COPY, COPY_ROWS, FILL, FILL_ROWS, HOST, VALUE};

		o.kind = kinds[below(12 - captured)];
		o.way = below(12);
		o.value = (unsigned)random();
		switch (o.kind) {
		case KERNEL:
		case HOST:
			return make_work(o, device, captured);
		case COPY:
		case COPY_ROWS:
			return make_copy(o, captured);
		default:
			return make_fill(o, device, captured);
		}
	}
	std::string text_of(const operation &o)
	{
		std::string text = op_names[o.kind];

		for (unsigned c : o.reads)
			text += " <" + std::to_string(c);
		for (unsigned c : o.writes)
			text += " >" + std::to_string(c);
		return text;
	}
	void put_operation()
	{
		unsigned s = any_stream();
		operations.emplace_back();
		operation &o = operations.back();
		bool copies, pageable, to_pageable, wait;

		if (!make(o, order.streams[s].device, false))
			return;
		copies = o.kind == COPY || o.kind == COPY_ROWS;
		pageable = copies && cells[o.reads[0]].home == PAGEABLE;
		to_pageable = copies && cells[o.writes[0]].home == PAGEABLE;
		wait = copies && !streams[s] && once_in(2);
		/* The call itself reads pageable memory, or puts that off until the stream gets there. */
		if (pageable && !order.host_may_read(o.reads[0]))
			host_waits(order.cells[o.reads[0]].written);
		wait_for(s, order.need(o.reads, o.writes));
		if (pageable || to_pageable || wait)
			open_gates();
		say("stream %u: %s%s\n", s, text_of(o).c_str(), wait ? ", and the host waits" : "");
		select(s, copies && !wait);
		order.begin(s);
		issue(o, cells, streams[s], wait, false);
		/* Pageable memory is not read any more when the call is over, and is written by then. So is what a call that waits
		 * copies, but for copies within a device. */
		order.put(s, pageable ? std::vector<unsigned>() : o.reads, o.writes);
		run_on_model(o, cells);
		if (to_pageable || (wait && !(cells[o.reads[0]].on_device() && cells[o.writes[0]].on_device())))
			order.host.merge(order.streams[s].behind);
	}

	/* --- memory of pools --- */

	void allocate()
	{
		unsigned s = any_stream();
		std::vector<unsigned> list;

		for (unsigned c : active)
			if (cells[c].home == POOL && !cells[c].live && cells[c].device == order.streams[s].device)
				list.push_back(c);
		if (list.empty())
			return;
		unsigned c = list[below(list.size())];
		select(s);
		HIP(hipMallocAsync((void **)&cells[c].at, cells[c].size_B(), streams[s]));
		say("stream %u: allocate cell %u: %p\n", s, c, (void *)cells[c].at);
		order.put_memory(s);
		order.access(s, {}, {c});
		cells[c].live = true;
		cells[c].defined = false;
	}
	void release(unsigned c)
	{
		unsigned s = some_stream([&](unsigned t) { return order.streams[t].device == cells[c].device; });

		wait_for(s, order.need({}, {c}));
		say("stream %u: free cell %u\n", s, c);
		select(s);
		HIP(hipFreeAsync(cells[c].at, streams[s]));
		order.put_memory(s);
		cells[c].live = false;
	}

	/* --- graphs --- */

	/* A program of its own, whose streams are captured: it begins with one, and ends there. */
	void capture(graph &g)
	{
		program inner(seed, tells);
		const unsigned count = 1 + below(3), operations = 2 + below(7);

		say("capture\n");
		inner.random.seed((unsigned)random());
		inner.next_id = next_id;
		for (unsigned c : active)
			if (cells[c].home != POOL)
				inner.active.push_back(c);
		for (unsigned c : inner.active)
			inner.cells[c].defined = true;
		for (unsigned i = 0; i < count; i++)
			inner.create_stream((int)below(devices), NON_BLOCKING);
		inner.create_events();
		HIP(hipSetDevice(inner.order.streams[0].device));
		HIP(hipStreamBeginCapture(inner.streams[0], hipStreamCaptureModeThreadLocal));
		unsigned first = inner.record_event(0);
		for (unsigned s = 1; s < count; s++)
			inner.wait_event(s, first);
		for (unsigned i = 0; i < operations; i++)
			inner.capture_operation(g);
		for (unsigned s = 1; s < count; s++)
			inner.wait_event(0, inner.record_event(s));
		HIP(hipSetDevice(inner.order.streams[0].device));
		HIP(hipStreamEndCapture(inner.streams[0], &g.graph));
		HIP(hipGraphInstantiate(&g.exec, g.graph, nullptr, nullptr, 0));
		inner.destroy_streams();
		next_id = inner.next_id;
		say("captured\n");
	}
	void capture_operation(graph &g)
	{
		const unsigned s = any_stream();
		operation made = {};

		if (!make(made, order.streams[s].device, true))
			return;
		g.operations.push_back(made);
		operation &o = g.operations.back();
		const stream_clock need = order.need(o.reads, o.writes);
		for (unsigned t = 0; t < streams.size(); t++)
			if (order.streams[s].behind.at[t] < need.at[t])
				wait_event(s, record_event(t));
		say("stream %u: %s\n", s, text_of(o).c_str());
		select(s);
		issue(o, cells, streams[s], false, true);
		order.put(s, o.reads, o.writes);
		g.reads.insert(g.reads.end(), o.reads.begin(), o.reads.end());
		g.writes.insert(g.writes.end(), o.writes.begin(), o.writes.end());
	}
	void launch()
	{
		unsigned s = any_stream();

		if (graphs.empty())
			return;
		unsigned i = below(graphs.size());
		graph &g = graphs[i];
		wait_for(s, order.need(g.reads, g.writes));
		say("stream %u: graph %u\n", s, i);
		order.begin(s);
		select(s);
		HIP(hipGraphLaunch(g.exec, streams[s]));
		order.put(s, g.reads, g.writes);
		for (const operation &o : g.operations)
			run_on_model(o, cells);
	}

	/* --- all of it --- */

	void create_events()
	{
		static const unsigned flags[] = {hipEventDefault, hipEventDisableTiming, hipEventBlockingSync};

		for (int d = 0; d < devices; d++)
			for (unsigned i = 0; i < EVENTS; i++) {
				event e = {nullptr, d, {}};

				HIP(hipSetDevice(d));
				HIP(hipEventCreateWithFlags(&e.at, flags[below(3)]));
				events.push_back(e);
			}
	}
	void destroy_streams()
	{
		for (unsigned s = 0; s < streams.size(); s++)
			if (has_handle(s) && order.streams[s].alive)
				HIP(hipStreamDestroy(streams[s]));
		for (const event &e : events)
			HIP(hipEventDestroy(e.at));
	}
	void begin()
	{
		for (unsigned c = 0; c < cells.size(); c++)
			if (once_in(2) || cells[c].home == POOL)
				active.push_back(c);
		for (unsigned c : active) {
			cell &to = cells[c];

			for (unsigned row = 0; row < ROWS; row++)
				moved[c * ROWS + row] = to.values[row] = (unsigned)random();
			to.defined = to.home != POOL;
			if (to.on_device())
				HIP(hipSetDevice(to.device));
			if (to.home == DEVICE)
				move<<<1, ROWS>>>(to.at, to.row_words, moved + c * ROWS, true);
			for (unsigned row = 0; row < ROWS && !to.on_device(); row++)
				to.at[word_of(row, to.row_words)] = to.values[row];
		}
		for (uint64_t *word : value_words)
			*word = 0;
		for (int d = 0; d < devices; d++) {
			HIP(hipSetDevice(d));
			HIP(hipDeviceSynchronize());
			HIP(hipStreamCreateWithFlags(&checkers[d], hipStreamNonBlocking));
			add_stream(d, NULL_STREAM, nullptr);
			add_stream(d, BLOCKING, hipStreamPerThread);
			for (unsigned i = 0; i < 2; i++) {
				create_stream(d, BLOCKING);
				create_stream(d, NON_BLOCKING);
			}
		}
		create_events();
		for (unsigned i = below(3); i > 0; i--) {
			graphs.emplace_back();
			capture(graphs.back());
		}
	}
	void run_step()
	{
		unsigned way = below(64);
		unsigned freed = some_cell([&](unsigned c) { return cells[c].home == POOL; });

		if (once_in(6))
			open_gates();
		if (way < 40)
			put_operation();
		else if (way < 46)
			launch();
		else if (way < 49)
			allocate();
		else if (way < 51 && freed != NONE)
			release(freed);
		else if (way < 55 && closed.size() < 2)
			close_gate();
		else if (way < 57)
			host_writes();
		else if (way < 60)
			record_event(any_stream());
		else if (way < 61)
			replace_stream();
		else if (way < 63)
			host_waits_somewhere();
		else
			verify();
	}
	void end()
	{
		for (unsigned c : active)
			if (cells[c].live && cells[c].home == POOL && once_in(2))
				release(c);
		for (int d = 0; d < devices; d++)
			host_waits_device(d);
		verify();
		for (unsigned c : active)
			if (cells[c].live && cells[c].home == POOL)
				HIP(hipFree(cells[c].at));
		for (graph &g : graphs) {
			HIP(hipGraphExecDestroy(g.exec));
			HIP(hipGraphDestroy(g.graph));
		}
		for (int d = 0; d < devices; d++)
			HIP(hipStreamDestroy(checkers[d]));
		destroy_streams();
	}
	void run()
	{
		const unsigned failures = check_failed_;

		begin();
		for (step = 0; step < STEPS && !failed; step++) {
			run_step();
			failed = failed || check_failed_ != failures;
		}
		end();
		if (failed)
			printf("  TUFF_TEST_SEED=%u repeats it\n", seed);
	}
};

int main()
{
	const char *wish = getenv("TUFF_TEST_LONG"), *seed = getenv("TUFF_TEST_SEED");
	const unsigned seeds = wish && *wish ? 3000 : 100;

	HIP(hipGetDeviceCount(&devices));
	devices = std::min(devices, DEVICES);
	make_memory();
	if (seed)
		program((unsigned)strtoul(seed, nullptr, 0), true).run();
	for (unsigned i = 1; !seed && i <= seeds && !check_failed_; i++)
		program(i, false).run();
	free_memory();
	return check_done("random programs of streams");
}
