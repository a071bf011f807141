/* Stream-ordered pools, statements of docs/pools.md that pools.hip has not: which stream, which pool, and what is counted. */
#include <thread>
#include <unistd.h>

#include "tests/hip/pools.h"

static bool is_full_of(const void *at, size_t size, unsigned char value)
{
	std::vector<unsigned char> got(size);

	HIP(hipMemcpy(got.data(), at, size, hipMemcpyDeviceToHost));
	for (unsigned char byte : got)
		if (byte != value)
			return false;
	return true;
}

static void fill(void *at, size_t size, unsigned char value, hipStream_t on)
{
	touch<<<4, 256, 0, on>>>((unsigned char *)at, size, value);
	HIP_LAUNCHED();
}

static void close_gate(const gate &g, hipStream_t on)
{
	wait_for<<<1, 1, 0, on>>>(g.word);
	HIP_LAUNCHED();
}

static bool is_busy(hipStream_t s)
{
	bool busy = hipStreamQuery(s) == hipErrorNotReady;

	(void)hipGetLastError();
	return busy;
}

/* --- A to C: the address, and who may use it -------------------------------------------------- */

static void whose()
{
	pool p;
	stream s;
	hipMemPool_t owner = nullptr;
	void *ptr = p.take(MIB, s);

	HIP(hipPointerGetAttribute(&owner, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, (char *)ptr + 100));
	CHECK_EQ((uintptr_t)owner, (uintptr_t)p.at); /* S8 */
	HIP(hipFreeAsync(ptr, s));
	CHECK(hipPointerGetAttribute(&owner, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, ptr) != hipSuccess);
	(void)hipGetLastError();
	HIP(hipStreamSynchronize(s));
}

static void waits_for_nothing()
{
	pool p(false);
	stream a, b;
	event allocated, used;
	gate g;
	void *ptr, *more;

	close_gate(g, a);
	ptr = p.take(MIB, a); /* S9: and the stream is busy still */
	fill(ptr, MIB, 3, a); /* S10 */
	HIP(hipEventRecord(allocated, a));
	HIP(hipStreamWaitEvent(b, allocated, 0));
	fill((char *)ptr + 512, 512, 4, b); /* S11 */
	more = p.take(2 * MIB, b);
	HIP(hipFreeAsync(more, b)); /* S20 */
	HIP(hipEventRecord(used, b));
	HIP(hipStreamWaitEvent(a, used, 0));
	CHECK(is_busy(a) && is_busy(b));
	g.open();
	HIP(hipStreamSynchronize(a));
	CHECK(is_full_of(ptr, 512, 3));
	CHECK(is_full_of((char *)ptr + 512, 512, 4));
	CHECK(is_full_of((char *)ptr + 1024, MIB - 1024, 3));
	HIP(hipFreeAsync(ptr, b)); /* S23: not where it was allocated */
	CHECK_EQ(p.used(), 0);
	HIP(hipStreamSynchronize(b));
}

static void every_kind_of_stream()
{
	pool p;
	static const hipStream_t kinds[] = {
		nullptr,
		hipStreamPerThread,
#ifdef hipStreamLegacy
		hipStreamLegacy,
#endif
	};

	for (hipStream_t s : kinds) { /* S14 */
		void *ptr = nullptr, *own = p.take(MIB, s);

		HIP(hipMallocAsync(&ptr, MIB, s));
		fill(ptr, MIB, 6, s);
		fill(own, MIB, 7, s);
		HIP(hipStreamSynchronize(s));
		CHECK(is_full_of(ptr, MIB, 6) && is_full_of(own, MIB, 7));
		HIP(hipFreeAsync(ptr, s));
		HIP(hipFreeAsync(own, s));
		CHECK_EQ((uintptr_t)p.take(MIB, s), (uintptr_t)own);
		HIP(hipFreeAsync(own, s));
		HIP(hipStreamSynchronize(s));
	}
}

/* The address is another's at once; what it holds is in the stream's order. */
static void again_at_once()
{
	pool p(false);
	stream s;
	gate g;
	std::vector<unsigned char> first(MIB);

	close_gate(g, s);
	void *a = p.take(MIB, s);
	fill(a, MIB, 1, s);
	HIP(hipMemcpyAsync(first.data(), a, 0, hipMemcpyDeviceToHost, s));
	HIP(hipFreeAsync(a, s));
	void *b = p.take(MIB, s);
	CHECK_EQ((uintptr_t)b, (uintptr_t)a); /* S22 */
	fill(b, MIB, 2, s);
	g.open();
	HIP(hipStreamSynchronize(s));
	CHECK(is_full_of(b, MIB, 2));
	HIP(hipFreeAsync(b, s));
	HIP(hipStreamSynchronize(s));
}

/* --- limits ----------------------------------------------------------------------------------- */

static void fails_alone()
{
	pool p;
	stream s;
	void *kept = p.take(MIB, s), *ptr = kept;
	uint64_t used = p.used(), reserved = p.reserved(), high = p.get(hipMemPoolAttrUsedMemHigh);
	hipDeviceProp_t about;

	HIP(hipGetDeviceProperties(&about, 0));
	CHECK_EQ(hipMallocFromPoolAsync(&ptr, about.totalGlobalMem + 1, p.at, s), hipErrorOutOfMemory); /* S17 */
	CHECK_EQ(hipMallocFromPoolAsync(&ptr, SIZE_MAX, p.at, s), hipErrorOutOfMemory);
	CHECK_EQ(hipMallocFromPoolAsync(&ptr, SIZE_MAX - 511, p.at, s), hipErrorOutOfMemory);
	CHECK_EQ(hipMallocAsync(&ptr, SIZE_MAX, s), hipErrorOutOfMemory);
	(void)hipGetLastError();
	CHECK_EQ(p.used(), used);
	CHECK_EQ(p.reserved(), reserved);
	CHECK_EQ(p.get(hipMemPoolAttrUsedMemHigh), high);
	fill(kept, MIB, 8, s);
	HIP(hipStreamSynchronize(s));
	CHECK(is_full_of(kept, MIB, 8));
	give(kept, s);
	HIP(hipStreamSynchronize(s));
}

static void limited()
{
	pool p(false, pool_props(32 * MIB));
	stream s;
	void *part[16], *ptr;

	for (unsigned round = 0; round < 3; round++) { /* what once was its peak does not matter later */
		for (void *&x : part)
			x = p.take(2 * MIB, s);
		CHECK_EQ(p.reserved(), 32 * MIB);
		CHECK_EQ(hipMallocFromPoolAsync(&ptr, 1, p.at, s), hipErrorOutOfMemory); /* S18 */
		(void)hipGetLastError();
		give(part[5], s);
		part[5] = p.take(2 * MIB, s); /* what was freed counts as there */
		for (void *x : part)
			give(x, s);
		ptr = p.take(32 * MIB, s); /* all of it, in one */
		CHECK_EQ(p.reserved(), 32 * MIB);
		give(ptr, s);
		HIP(hipStreamSynchronize(s));
		HIP(hipMemPoolTrimTo(p.at, 0));
		CHECK_EQ(p.reserved(), 0);
	}
	CHECK_EQ(p.get(hipMemPoolAttrReservedMemHigh), 32 * MIB);
}

/* --- E: who is not ordered behind ------------------------------------------------------------- */

static void not_ordered(bool follow)
{
	pool p(false);
	stream a, b, c;
	event e;
	gate g;

	p.set(hipMemPoolReuseFollowEventDependencies, follow);
	void *first = p.take(MIB, a);
	HIP(hipEventRecord(e, a));
	HIP(hipStreamWaitEvent(b, e, 0));
	close_gate(g, b);
	HIP(hipFreeAsync(first, b));
	void *second = p.take(MIB, a);
	CHECK((uintptr_t)second != (uintptr_t)first); /* S37: it allocated it, but another freed it */
	close_gate(g, c);
	void *third = p.take(MIB, c);
	CHECK((uintptr_t)third != (uintptr_t)first); /* S39 */
	give(second, a);
	give(third, c);
	g.open();
	HIP(hipDeviceSynchronize());
}

/* Asked without any work given to the stream that asks. */
static void null_rules_alone(bool follow)
{
	pool p(false);
	stream blocking(hipStreamDefault);

	p.set(hipMemPoolReuseFollowEventDependencies, follow);
	for (bool from_null : {true, false}) {
		hipStream_t from = from_null ? nullptr : (hipStream_t)blocking, to = from_null ? (hipStream_t)blocking : nullptr;
		gate g;

		close_gate(g, from);
		void *first = p.take(MIB, from);
		give(first, from);
		void *second = p.take(MIB, to);
		CHECK_EQ((uintptr_t)second == (uintptr_t)first, follow); /* S38 */
		give(second, to);
		g.open();
		HIP(hipDeviceSynchronize());
	}
}

static void event_of_null(bool follow)
{
	pool p(false);
	stream apart;
	event e;
	gate g;

	p.set(hipMemPoolReuseFollowEventDependencies, follow);
	close_gate(g, nullptr);
	void *first = p.take(MIB, nullptr);
	give(first, nullptr);
	HIP(hipEventRecord(e, nullptr));
	HIP(hipStreamWaitEvent(apart, e, 0));
	void *second = p.take(MIB, apart);
	CHECK_EQ((uintptr_t)second == (uintptr_t)first, follow); /* S38: an event recorded on the null stream */
	give(second, apart);
	g.open();
	HIP(hipDeviceSynchronize());
}

/* --- F and G: policies ------------------------------------------------------------------------ */

static void policies()
{
	pool p(false);
	stream a, b;
	event e;
	gate g;

	close_gate(g, a);
	void *first = p.take(MIB, a);
	give(first, a);
	CHECK_EQ((uintptr_t)p.take(MIB, a), (uintptr_t)first); /* S43: S28 without opportunism */
	give(first, a);
	p.set(hipMemPoolReuseAllowInternalDependencies, 1);
	void *second = p.take(MIB, b);
	CHECK((uintptr_t)second != (uintptr_t)first); /* S44: there is room */
	CHECK_EQ(hipStreamQuery(b), hipSuccess);
	p.set(hipMemPoolReuseFollowEventDependencies, 1);
	HIP(hipEventRecord(e, a));
	HIP(hipStreamWaitEvent(b, e, 0));
	CHECK_EQ((uintptr_t)p.take(MIB, b), (uintptr_t)first); /* S43: S32 */
	give(first, b);
	give(second, b);
	g.open();
	HIP(hipDeviceSynchronize());
}

static void attributes()
{
	pool p;
	int two[2] = {0, 77};
	uint64_t number[2] = {5 * MIB, 77};
	hipMemPoolProps props = pool_props();
	hipMemPool_t fresh;

	HIP(hipMemPoolCreate(&fresh, &props));
	HIP(hipMemPoolGetAttribute(fresh, hipMemPoolAttrReleaseThreshold, &number[0]));
	CHECK_EQ(number[0], 0); /* S47 */
	HIP(hipMemPoolDestroy(fresh));
	number[0] = 5 * MIB;
	for (int a = hipMemPoolReuseFollowEventDependencies; a <= hipMemPoolReuseAllowInternalDependencies; a++) {
		HIP(hipMemPoolSetAttribute(p.at, (hipMemPoolAttr)a, &two[0]));
		two[0] = -1;
		HIP(hipMemPoolGetAttribute(p.at, (hipMemPoolAttr)a, &two[0]));
		CHECK_EQ(two[0], 0); /* S55 */
		CHECK_EQ(two[1], 77);
	}
	HIP(hipMemPoolSetAttribute(p.at, hipMemPoolAttrReleaseThreshold, number));
	number[0] = 0;
	HIP(hipMemPoolGetAttribute(p.at, hipMemPoolAttrReleaseThreshold, number));
	CHECK_EQ(number[0], 5 * MIB);
	CHECK_EQ(number[1], 77);
	CHECK_EQ(hipMemPoolGetAttribute(p.at, (hipMemPoolAttr)0, number), hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolGetAttribute(p.at, (hipMemPoolAttr)9, number), hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolSetAttribute(p.at, hipMemPoolAttrReservedMemCurrent, number), hipErrorInvalidValue); /* S54 */
	(void)hipGetLastError();
}

static void apart_from_malloc()
{
	hipMemPool_t first;
	uint64_t before[4], after[4];
	void *ptr;

	HIP(hipDeviceGetDefaultMemPool(&first, 0));
	for (int i = 0; i < 4; i++)
		HIP(hipMemPoolGetAttribute(first, (hipMemPoolAttr)(hipMemPoolAttrReservedMemCurrent + i), &before[i]));
	HIP(hipMalloc(&ptr, 16 * MIB));
	for (int i = 0; i < 4; i++)
		HIP(hipMemPoolGetAttribute(first, (hipMemPoolAttr)(hipMemPoolAttrReservedMemCurrent + i), &after[i]));
	HIP(hipFree(ptr));
	CHECK(!memcmp(before, after, sizeof(before))); /* S56 */
}

/* --- H: what waits release -------------------------------------------------------------------- */

static uint64_t left_after(void (*wait)(hipStream_t freed_on, hipEvent_t behind, hipEvent_t before))
{
	pool p;
	stream s;
	event before, behind;

	p.keep(0);
	void *ptr = p.take(32 * MIB, s);
	HIP(hipEventRecord(before, s));
	give(ptr, s);
	HIP(hipEventRecord(behind, s));
	while (is_busy(s))
		usleep(100);
	wait(s, behind, before);
	return p.reserved();
}

static void releases()
{
	static stream *other;
	stream apart;

	other = &apart;
	/* S48: what blocks and covers the free */
	CHECK_EQ(left_after([](hipStream_t s, hipEvent_t, hipEvent_t) { HIP(hipStreamSynchronize(s)); }), 0);
	CHECK_EQ(left_after([](hipStream_t, hipEvent_t e, hipEvent_t) { HIP(hipEventSynchronize(e)); }), 0);
	CHECK_EQ(left_after([](hipStream_t, hipEvent_t, hipEvent_t) { HIP(hipDeviceSynchronize()); }), 0);
	/* S50: transitively */
	CHECK_EQ(left_after([](hipStream_t, hipEvent_t e, hipEvent_t) {
			 HIP(hipStreamWaitEvent(*other, e, 0));
			 HIP(hipStreamSynchronize(*other));
		 }),
		 0);
	/* S48: what does not, although all has ended */
	CHECK_EQ(left_after([](hipStream_t, hipEvent_t, hipEvent_t e) { HIP(hipEventSynchronize(e)); }), 32 * MIB);
	CHECK_EQ(left_after([](hipStream_t s, hipEvent_t e, hipEvent_t) {
			 HIP(hipStreamQuery(s));
			 HIP(hipEventQuery(e));
		 }),
		 32 * MIB);
	CHECK_EQ(left_after([](hipStream_t, hipEvent_t, hipEvent_t) {
			 void *ptr;

			 HIP(hipMallocAsync(&ptr, 512, *other));
			 HIP(hipFreeAsync(ptr, *other));
			 HIP(hipStreamSynchronize(*other));
		 }),
		 32 * MIB);
}

/* --- L: streams that end, threads that wait --------------------------------------------------- */

static void outlives_stream()
{
	pool p(false);
	void *ptr;
	uint64_t reserved;
	{
		stream gone;

		ptr = p.take(4 * MIB, gone);
		fill(ptr, 4 * MIB, 5, gone);
		give(ptr, gone);
		reserved = p.reserved();
	}
	/* S84, S85: destroying a stream waits for its work, as HIP has it; so anybody may have what it freed. */
	stream next;
	CHECK_EQ(p.reserved(), reserved);
	CHECK_EQ((uintptr_t)p.take(4 * MIB, next), (uintptr_t)ptr);
	give(ptr, next);
	HIP(hipStreamSynchronize(next));
	HIP(hipMemPoolTrimTo(p.at, 0));
	CHECK_EQ(p.reserved(), 0);
}

static void beside_a_wait()
{
	pool p;
	stream s, other;
	event e;
	gate g;

	close_gate(g, s);
	HIP(hipEventRecord(e, s));
	std::thread waits([&] { HIP(hipEventSynchronize(e)); });
	usleep(1000);
	for (size_t size = 512; size <= 16 * MIB; size *= 4) { /* S83 */
		void *own = p.take(size, s), *others = p.take(size, other);

		give(own, s);
		give(others, other);
		HIP(hipMemPoolTrimTo(p.at, 0));
	}
	CHECK(is_busy(s));
	g.open();
	waits.join();
}

/* The null stream is behind a stream that is busy, and by its rules a free on another one is behind the null stream. */
static void freed_behind_null()
{
	pool p;
	stream holds(hipStreamDefault), frees(hipStreamDefault);
	void *ptr = p.take(MIB, nullptr);
	gate g;

	close_gate(g, holds);
	fill(ptr, MIB, 9, nullptr);
	give(ptr, frees);
	CHECK(is_busy(frees));
	g.open();
	HIP(hipStreamSynchronize(frees)); /* may give the memory back */
	HIP(hipDeviceSynchronize());
}

int main()
{
	freed_behind_null();
	whose();
	waits_for_nothing();
	every_kind_of_stream();
	again_at_once();
	fails_alone();
	limited();
	for (bool follow : {true, false}) {
		not_ordered(follow);
		null_rules_alone(follow);
		event_of_null(follow);
	}
	policies();
	attributes();
	apart_from_malloc();
	releases();
	outlives_stream();
	beside_a_wait();
	return check_done("streams of pools");
}
