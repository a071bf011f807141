/* A model of the order that HIP guarantees: vector clocks over streams. An operation of a stream has a number; a
 * clock has, for each stream, the number up to which its operations are ordered before an operation. The model
 * includes the order of a stream, events, the rules of the null stream and the host's waits. HIP orders everything
 * that the model calls ordered; HIP may order more. */
#ifndef TESTS_HIP_STREAM_ORDER_H
#define TESTS_HIP_STREAM_ORDER_H

#include <algorithm>
#include <array>
#include <vector>

#define STREAMS_MAX 48u

struct stream_clock {
	std::array<unsigned, STREAMS_MAX> at = {};

	void merge(const stream_clock &other)
	{
		for (unsigned i = 0; i < STREAMS_MAX; i++)
			at[i] = std::max(at[i], other.at[i]);
	}
	bool covers(const stream_clock &other) const
	{
		for (unsigned i = 0; i < STREAMS_MAX; i++)
			if (at[i] < other.at[i])
				return false;
		return true;
	}
};

enum stream_kind { NULL_STREAM, BLOCKING, NON_BLOCKING };

/* What accessed a piece of memory since its last write, and that write. */
struct cell_uses {
	stream_clock written, read;
};

struct stream_order {
	struct stream {
		int device;
		stream_kind kind;
		bool alive;
		stream_clock behind; /* the stream's operations and what is ordered before the next one */
		stream_clock rule;   /* what the null stream's rules order before operations of other streams */
	};
	std::vector<stream> streams;
	std::vector<cell_uses> cells;
	stream_clock host; /* what the host waited for: calls from now on are behind it */

	explicit stream_order(size_t cell_count) : cells(cell_count)
	{
	}
	unsigned add_stream(int device, stream_kind kind)
	{
		streams.push_back({device, kind, true, host, host});
		return (unsigned)streams.size() - 1;
	}
	/* What the stream's next operation would be behind. */
	stream_clock next(unsigned s) const
	{
		const stream &self = streams[s];
		stream_clock clock = self.behind;

		clock.merge(host);
		for (const stream &other : streams)
			if (other.alive && other.device == self.device && rule_orders(other.kind, self.kind))
				clock.merge(other.rule);
		return clock;
	}
	/* The call that follows gives the stream an operation, a wait or a record. */
	void begin(unsigned s)
	{
		streams[s].behind = next(s);
	}
	/* An operation was put there, behind begin(). */
	void put(unsigned s)
	{
		streams[s].behind.at[s]++;
		streams[s].rule = streams[s].behind;
	}
	/* Memory of a pool was allocated or freed there: the null stream's rules order that, but nothing by it. */
	void put_memory(unsigned s)
	{
		streams[s].behind.at[s]++;
		streams[s].rule.at[s]++;
	}
	/* The present point of the stream, as an event records it. */
	stream_clock record(unsigned s)
	{
		begin(s);
		streams[s].rule = streams[s].behind;
		return streams[s].behind;
	}
	void wait(unsigned s, const stream_clock &until)
	{
		begin(s);
		streams[s].behind.merge(until);
		streams[s].rule = streams[s].behind;
	}
	/* What an operation with these accesses must be ordered behind. */
	stream_clock need(const std::vector<unsigned> &reads, const std::vector<unsigned> &writes) const
	{
		stream_clock need;

		for (unsigned c : reads)
			need.merge(cells[c].written);
		for (unsigned c : writes) {
			need.merge(cells[c].written);
			need.merge(cells[c].read);
		}
		return need;
	}
	/* put(), with the accesses. */
	void put(unsigned s, const std::vector<unsigned> &reads, const std::vector<unsigned> &writes)
	{
		put(s);
		access(s, reads, writes);
	}
	/* The stream's last operation does that. */
	void access(unsigned s, const std::vector<unsigned> &reads, const std::vector<unsigned> &writes)
	{
		for (unsigned c : reads)
			cells[c].read.at[s] = streams[s].behind.at[s];
		for (unsigned c : writes) {
			cells[c] = {};
			cells[c].written.at[s] = streams[s].behind.at[s];
		}
	}
	bool host_may_read(unsigned cell) const
	{
		return host.covers(cells[cell].written);
	}
	bool host_may_write(unsigned cell) const
	{
		return host_may_read(cell) && host.covers(cells[cell].read);
	}

      private:
	static bool rule_orders(stream_kind before, stream_kind after)
	{
		return (before == NULL_STREAM && after == BLOCKING) || (before == BLOCKING && after == NULL_STREAM);
	}
};

#endif
