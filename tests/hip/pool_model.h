/* A model of the allowed results of stream-ordered pools: the order of operations, by vector clocks over streams,
 * and the host's waits. A test reports each call to it before it makes the call, so that at any time it has at
 * least the library's knowledge; it checks each address that a pool gives. Statements S22 to S50 of
 * docs/pools.md. */
#ifndef TESTS_HIP_POOL_MODEL_H
#define TESTS_HIP_POOL_MODEL_H

#include <map>
#include <mutex>

#include "tests/hip/pools.h"

/* How far each stream was given work: [stream] is the number of its last operation. */
struct timeline {
	std::vector<unsigned> at;
	unsigned of(unsigned stream) const
	{
		return stream < at.size() ? at[stream] : 0;
	}
	void reach(unsigned stream, unsigned number)
	{
		if (at.size() <= stream)
			at.resize(stream + 1);
		if (at[stream] < number)
			at[stream] = number;
	}
	void join(const timeline &other)
	{
		for (unsigned i = 0; i < other.at.size(); i++)
			reach(i, other.at[i]);
	}
};

/* What work is behind: for sure; and at most, as the library may make streams wait of itself. */
struct order {
	timeline sure, most;
	void reach(unsigned stream, unsigned number)
	{
		sure.reach(stream, number);
		most.reach(stream, number);
	}
	void join(const order &other)
	{
		sure.join(other.sure);
		most.join(other.most);
	}
};

/* What a pool was told, as its caller knows. */
struct pool_rules {
	bool follow, opportunistic, internal;
	uint64_t most; /* 0: no limit */
};

struct model_stream {
	hipStream_t at;
	bool blocking, null;
	unsigned number; /* of its last operation */
	order behind;    /* what its next operation is ordered behind, itself included */
};

struct model_gate {
	unsigned stream, number;
	bool open;
	unsigned *word; /* host memory that the stream waits for */
};

/* Memory that was freed and has not been seen since. */
struct model_freed {
	uintptr_t end;
	const void *pool;
	unsigned stream, number;
	timeline behind; /* what must have ended for sure */
	bool trimmed;    /* its memory may have gone and come back */
};

struct model_live {
	uintptr_t end;
	const void *pool;
};

struct model {
	std::mutex lock; /* guards all below */
	std::vector<model_stream> streams;
	std::vector<model_gate> gates;
	std::map<uintptr_t, model_freed> freed;
	std::map<uintptr_t, model_live> live;
	timeline host; /* what it has waited for, at most */
	unsigned reused = 0, waited = 0, wrong = 0;
	bool hidden = false; /* the library may have made streams wait for others */

	unsigned add_stream(hipStream_t at, bool blocking, bool null)
	{
		std::lock_guard<std::mutex> hold(lock);
		streams.push_back({at, blocking, null, 0, {}});
		return streams.size() - 1;
	}
	/* An operation of the stream: HIP's rules come first. Its number. */
	unsigned step(unsigned s)
	{
		std::lock_guard<std::mutex> hold(lock);
		return step_locked(s);
	}
	/* What an event that is recorded now stands for. */
	order record(unsigned s)
	{
		std::lock_guard<std::mutex> hold(lock);
		step_locked(s);
		return streams[s].behind;
	}
	void wait(unsigned s, const order &event)
	{
		std::lock_guard<std::mutex> hold(lock);
		step_locked(s);
		streams[s].behind.join(event);
	}
	order behind(unsigned s)
	{
		std::lock_guard<std::mutex> hold(lock);
		return streams[s].behind;
	}
	/* What the host waits for with the stream: for the null stream, all blocking ones. */
	order with(unsigned s)
	{
		std::lock_guard<std::mutex> hold(lock);
		return streams[s].null ? by_rules(s) : streams[s].behind;
	}
	/* The host is about to wait. */
	void host_waits(const order &what)
	{
		std::lock_guard<std::mutex> hold(lock);
		host.join(what.most);
	}
	unsigned close_gate(unsigned s, unsigned *word)
	{
		std::lock_guard<std::mutex> hold(lock);
		unsigned number = step_locked(s);
		gates.push_back({s, number, false, word});
		return gates.size() - 1;
	}
	/* Opens those that may keep this from being reached. */
	void open_for(const order &what)
	{
		std::lock_guard<std::mutex> hold(lock);
		for (model_gate &g : gates)
			if (!g.open && (hidden || what.sure.of(g.stream) >= g.number))
				open_locked(g);
	}
	void open(unsigned gate)
	{
		std::lock_guard<std::mutex> hold(lock);
		open_locked(gates[gate]);
	}
	/* The caller is about to free it on that stream. */
	void frees(void *ptr, unsigned s)
	{
		std::lock_guard<std::mutex> hold(lock);
		auto at = live.find((uintptr_t)ptr);
		unsigned number = count_locked(s); /* it gives the stream no work */

		freed.insert(
			{at->first, {at->second.end, at->second.pool, s, number, streams[s].behind.sure, false}});
		live.erase(at);
	}
	/* hipFree(): nobody uses it any more. */
	void frees_now(void *ptr)
	{
		std::lock_guard<std::mutex> hold(lock);
		live.erase((uintptr_t)ptr);
	}
	void trims(const void *pool)
	{
		std::lock_guard<std::mutex> hold(lock);
		for (auto &f : freed)
			f.second.trimmed |= f.second.pool == pool;
	}
	/* The pool is destroyed, and its addresses may become another's. */
	void forgets(const void *pool)
	{
		std::lock_guard<std::mutex> hold(lock);
		for (auto &f : freed)
			f.second.trimmed |= f.second.pool == pool;
	}
	/* An address that the stream was given: 0: nobody may still use it but who the stream is behind; 1: the
	 * stream must have been made to wait for work that cannot have ended; -1: it breaks the rules. */
	int judge(const void *pool, const pool_rules &rules, unsigned s, void *ptr, size_t size)
	{
		std::lock_guard<std::mutex> hold(lock);
		const uintptr_t lo = (uintptr_t)ptr, hi = lo + (size + 511) / 512 * 512;
		int verdict = 0;

		const timeline known = by_rules(s).most;

		hidden |= rules.internal && rules.most;
		if (overlaps_live(lo, hi)) {
			printf("  %p is used\n", ptr);
			wrong++;
			return -1;
		}
		for (auto f = first_freed(lo); f != freed.end() && f->first < hi;) {
			int one = judge_freed(rules, s, known, f->second);

			if (one < 0)
				printf("  %p to %p was freed on stream %u as its operation %u; the host waited for %u, the stream for %u\n",
				       (void *)f->first, (void *)f->second.end, f->second.stream, f->second.number,
				       host.of(f->second.stream), known.of(f->second.stream));
			if (one < 0 || verdict < 0)
				verdict = -1;
			else
				verdict |= one;
			if (one == 1)
				streams[s].behind.sure.join(f->second.behind);
			/* It may be behind more of that stream, as its free blocks are joined. */
			if (rules.internal && rules.most)
				streams[s].behind.most.reach(f->second.stream, streams[f->second.stream].number);
			f = cut(f, lo, hi);
			reused++;
		}
		live.insert({lo, {hi, pool}});
		wrong += verdict < 0;
		waited += verdict > 0;
		return verdict;
	}

      private:
	/* What the null stream's rules add. */
	order by_rules(unsigned s) const
	{
		const model_stream &own = streams[s];
		order behind = own.behind;

		for (const model_stream &other : streams)
			if (other.blocking && own.blocking && (own.null || other.null))
				behind.join(other.behind);
		return behind;
	}
	unsigned count_locked(unsigned s)
	{
		streams[s].behind.reach(s, ++streams[s].number);
		return streams[s].number;
	}
	unsigned step_locked(unsigned s)
	{
		streams[s].behind = by_rules(s);
		return count_locked(s);
	}
	static void open_locked(model_gate &g)
	{
		g.open = true;
		__atomic_store_n(g.word, 1, __ATOMIC_RELEASE);
	}
	/* It cannot have ended: something that it is behind waits for the host. */
	bool is_pending(const model_freed &f) const
	{
		for (const model_gate &g : gates)
			if (!g.open && f.behind.of(g.stream) >= g.number)
				return true;
		return false;
	}
	int judge_freed(const pool_rules &rules, unsigned s, const timeline &known, const model_freed &f) const
	{
		bool pending = is_pending(f);

		if (f.stream == s || host.of(f.stream) >= f.number)
			return 0;
		if (rules.follow && known.of(f.stream) >= f.number)
			return 0;
		/* What has ended may have been given back, and taken anew, where memory runs out. */
		if (!pending && (rules.opportunistic || f.trimmed || rules.most))
			return 0;
		return rules.internal && rules.most ? 1 : -1;
	}
	bool overlaps_live(uintptr_t lo, uintptr_t hi) const
	{
		auto at = live.lower_bound(hi);

		return at != live.begin() && (--at)->second.end > lo;
	}
	std::map<uintptr_t, model_freed>::iterator first_freed(uintptr_t lo)
	{
		auto at = freed.upper_bound(lo);

		if (at != freed.begin() && std::prev(at)->second.end > lo)
			--at;
		return at;
	}
	/* What is left of it on both sides stays. */
	std::map<uintptr_t, model_freed>::iterator cut(std::map<uintptr_t, model_freed>::iterator f, uintptr_t lo,
						       uintptr_t hi)
	{
		const uintptr_t begin = f->first, end = f->second.end;
		model_freed rest = f->second;

		f = freed.erase(f);
		if (begin < lo) {
			rest.end = lo;
			freed.insert({begin, rest});
		}
		if (end > hi) {
			rest.end = end;
			f = freed.insert({hi, rest}).first;
			++f;
		}
		return f;
	}
};

#endif
