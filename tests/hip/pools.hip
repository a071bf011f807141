/* Stream-ordered pools, statement by statement. The names S1 to S86 are those of the specification in
 * docs/pools.md. */
#include <unistd.h>

#include "tests/hip/pools.h"

/* --- A: handles ------------------------------------------------------------------------------- */

static void handles()
{
	hipMemPool_t first, again, current;
	stream s;

	HIP(hipDeviceGetDefaultMemPool(&first, 0));
	HIP(hipDeviceGetMemPool(&current, 0));
	CHECK_EQ((uintptr_t)current, (uintptr_t)first); /* S2 */
	{
		pool p;

		HIP(hipDeviceSetMemPool(0, p.at));
		HIP(hipDeviceGetMemPool(&current, 0));
		CHECK_EQ((uintptr_t)current, (uintptr_t)p.at);
		HIP(hipDeviceGetDefaultMemPool(&again, 0));
		CHECK_EQ((uintptr_t)again, (uintptr_t)first); /* S1 */
	}
	HIP(hipDeviceGetMemPool(&current, 0));
	CHECK_EQ((uintptr_t)current, (uintptr_t)first);           /* S3 */
	CHECK_EQ(hipMemPoolDestroy(first), hipErrorInvalidValue); /* S5 */
	{
		hipMemPoolProps props = {};
		hipMemPool_t dead;
		void *ptr;

		props.allocType = hipMemAllocationTypePinned;
		props.location.type = hipMemLocationTypeDevice;
		HIP(hipMemPoolCreate(&dead, &props));
		HIP(hipMallocFromPoolAsync(&ptr, MIB, dead, s));
		HIP(hipMemPoolDestroy(dead)); /* S6 */
		touch<<<4, 64, 0, s>>>((unsigned char *)ptr, MIB, 7);
		HIP_LAUNCHED();
		uint64_t value;
		void *more;
		CHECK_EQ(hipMemPoolGetAttribute(dead, hipMemPoolAttrUsedMemCurrent, &value),
			 hipErrorInvalidValue); /* S7 */
		CHECK_EQ(hipMallocFromPoolAsync(&more, 512, dead, s), hipErrorInvalidValue);
		CHECK_EQ(hipMemPoolDestroy(dead), hipErrorInvalidValue);
		give(ptr, s);
		HIP(hipStreamSynchronize(s));
	}
}

/* Destroying a pool, and freeing the last of one, wait for nothing; the memory goes when the GPU has passed. */
static void destroyed_while_busy()
{
	hipMemPoolProps props = pool_props();
	size_t before, now, all;
	hipMemPool_t first, second;
	void *ptr, *last;
	stream s;

	HIP(hipMemPoolCreate(&first, &props));
	HIP(hipMallocFromPoolAsync(&ptr, 2 * MIB, first, s)); /* the program's own memory comes */
	HIP(hipStreamSynchronize(s));
	HIP(hipMemGetInfo(&before, &all));
	HIP(hipMemPoolCreate(&second, &props));
	{
		gate g;

		wait_for<<<1, 1, 0, s>>>(g.word);
		HIP_LAUNCHED();
		HIP(hipMallocFromPoolAsync(&last, 32 * MIB, second, s));
		touch<<<4, 64, 0, s>>>((unsigned char *)last, MIB, 7);
		HIP_LAUNCHED();
		give(ptr, s);
		HIP(hipMemPoolDestroy(first)); /* S6 */
		HIP(hipMemPoolDestroy(second));
		give(last, s); /* S20 */
		CHECK_EQ(hipStreamQuery(s), hipErrorNotReady);
		(void)hipGetLastError();
		CHECK_EQ(hipFreeAsync(last, s), hipErrorInvalidValue);
		(void)hipGetLastError();
		HIP(hipMemGetInfo(&now, &all));
		CHECK(now < before);
	}
	HIP(hipMemGetInfo(&now, &all));
	CHECK(now >= before + 2 * MIB);
}

/* --- B and C: giving out, taking back --------------------------------------------------------- */

static void sizes()
{
	static const size_t odd[] = {1, 100, 257, 512, 513, 65537, 3 * MIB + 1};
	pool p;
	stream s;
	uint64_t used = 0;
	std::vector<void *> all;
	void *none = &none;

	HIP(hipMallocAsync(&none, 0, s));
	CHECK_EQ((uintptr_t)none, 0); /* S16 */
	for (size_t size : odd) {
		all.push_back(p.take(size, s));
		used += size;
		CHECK_EQ((uintptr_t)all.back() % 512, 0); /* S12 */
		CHECK_EQ(p.used(), used);                 /* S19 */
		touch<<<2, 64, 0, s>>>((unsigned char *)all.back(), size, 1);
		HIP_LAUNCHED();
	}
	CHECK(p.reserved() >= p.used());
	for (void *ptr : all)
		give(ptr, s);
	CHECK_EQ(p.used(), 0);                                   /* S21 */
	CHECK_EQ(hipFreeAsync(all[0], s), hipErrorInvalidValue); /* S26 */
	CHECK_EQ(hipFree(all[0]), hipErrorInvalidValue);
	void *block = p.take(4096, s);
	CHECK_EQ(hipFreeAsync((char *)block + 512, s), hipErrorInvalidValue); /* S27 */
	for (unsigned at = 1; at < 64; at++) {
		CHECK_EQ(hipFreeAsync((char *)block + at, s), hipErrorInvalidValue);
		CHECK_EQ(hipFree((char *)block + at), hipErrorInvalidValue);
	}
	CHECK_EQ(p.used(), 4096);
	HIP(hipFree(block)); /* S24 */
	CHECK_EQ(p.used(), 0);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(p.get(hipMemPoolAttrUsedMemHigh), used);
}

/* --- D: reuse within a stream ----------------------------------------------------------------- */

static void own_stream()
{
	pool p(false);
	stream s;
	gate g;

	wait_for<<<1, 1, 0, s>>>(g.word);
	HIP_LAUNCHED();
	void *a = p.take(MIB, s);
	give(a, s);
	void *b = p.take(MIB, s);
	CHECK_EQ((uintptr_t)a, (uintptr_t)b); /* S28 */
	give(b, s);
	uint64_t reserved = p.reserved();
	for (unsigned i = 0; i < 100; i++)
		give(p.take(MIB, s), s);
	CHECK_EQ(p.reserved(), reserved); /* S31 */
	void *large = p.take(64 * MIB, s);
	give(large, s);
	reserved = p.reserved();
	void *part[32];
	for (void *&x : part) {
		x = p.take(2 * MIB, s);
		CHECK_EQ(p.reserved(), reserved); /* S29 */
	}
	for (void *x : part)
		give(x, s);
	void *joined = p.take(64 * MIB, s);
	CHECK_EQ(p.reserved(), reserved); /* S30 */
	give(joined, s);
	CHECK_EQ(hipStreamQuery(s), hipErrorNotReady);
	g.open();
	HIP(hipStreamSynchronize(s));
}

/* --- E: events -------------------------------------------------------------------------------- */

enum how { WAIT_BEHIND, WAIT_BEFORE, CHAIN, NOBODY_WAITS, RECORDED_AGAIN };

static bool reused(how how, bool policy)
{
	pool p(false);
	stream a, b, c;
	event e, f;
	gate g;
	void *first, *second;

	p.set(hipMemPoolReuseFollowEventDependencies, policy);
	wait_for<<<1, 1, 0, a>>>(g.word);
	HIP_LAUNCHED();
	first = p.take(MIB, a);
	if (how == WAIT_BEFORE)
		HIP(hipEventRecord(e, a));
	give(first, a);
	if (how != WAIT_BEFORE)
		HIP(hipEventRecord(e, a));
	switch (how) {
	case CHAIN:
		HIP(hipStreamWaitEvent(c, e, 0));
		HIP(hipEventRecord(f, c));
		HIP(hipStreamWaitEvent(b, f, 0));
		break;
	case NOBODY_WAITS:
		break;
	case RECORDED_AGAIN:
		HIP(hipStreamWaitEvent(b, e, 0));
		HIP(hipEventRecord(e, c));
		break;
	default:
		HIP(hipStreamWaitEvent(b, e, 0));
	}
	second = p.take(MIB, b);
	give(second, b);
	g.open();
	HIP(hipDeviceSynchronize());
	return first == second;
}

static void events()
{
	CHECK(reused(WAIT_BEHIND, true)); /* S32 */
	CHECK(!reused(WAIT_BEHIND, false));
	CHECK(!reused(WAIT_BEFORE, true)); /* S33 */
	CHECK(!reused(WAIT_BEFORE, false));
	CHECK(reused(CHAIN, true)); /* S34 */
	CHECK(!reused(CHAIN, false));
	CHECK(!reused(NOBODY_WAITS, true));  /* S35 */
	CHECK(reused(RECORDED_AGAIN, true)); /* S36 */
	CHECK(!reused(RECORDED_AGAIN, false));
}

static bool null_reused(bool policy, unsigned which)
{
	pool p(false);
	stream blocking(hipStreamDefault), other(hipStreamDefault);
	gate g;
	hipStream_t from = which == 0 ? (hipStream_t)0 : (hipStream_t)blocking;
	hipStream_t to = which == 0 ? (hipStream_t)blocking : which == 1 ? (hipStream_t)0 : (hipStream_t)other;
	void *first, *second;

	p.set(hipMemPoolReuseFollowEventDependencies, policy);
	wait_for<<<1, 1, 0, from>>>(g.word);
	HIP_LAUNCHED();
	first = p.take(MIB, from);
	give(first, from);
	if (which == 2) {
		touch<<<1, 1>>>((unsigned char *)g.word + 64, 1, 0);
		HIP_LAUNCHED();
	}
	/* What the stream is given is behind the other; asking alone is a question of the rules. */
	touch<<<1, 1, 0, to>>>((unsigned char *)g.word + 128, 1, 0);
	HIP_LAUNCHED();
	second = p.take(MIB, to);
	give(second, to);
	g.open();
	HIP(hipDeviceSynchronize());
	return first == second;
}

static void null_stream()
{
	for (unsigned which = 0; which < 3; which++) {
		CHECK(null_reused(true, which)); /* S38 */
		CHECK(!null_reused(false, which));
	}
}

/* --- F and G: what has ended, and what is waited for ------------------------------------------ */

static void opportunistic()
{
	for (bool on : {true, false}) {
		pool p(false);
		stream a, b;
		gate g;

		p.set(hipMemPoolReuseAllowOpportunistic, on);
		wait_for<<<1, 1, 0, a>>>(g.word);
		HIP_LAUNCHED();
		void *first = p.take(MIB, a);
		give(first, a);
		void *second = p.take(MIB, b);
		CHECK((uintptr_t)first != (uintptr_t)second); /* S41 */
		g.open();
		while (hipStreamQuery(a) == hipErrorNotReady)
			usleep(100);
		void *third = p.take(MIB, b);
		CHECK_EQ((uintptr_t)third == (uintptr_t)first, on); /* S40, S42 */
		HIP(hipStreamSynchronize(a));
		void *fourth = on ? third : p.take(MIB, b);
		CHECK_EQ((uintptr_t)fourth, (uintptr_t)first); /* S50 */
		give(second, b);
		give(third, b);
		if (!on)
			give(fourth, b);
		HIP(hipDeviceSynchronize());
	}
}

static void internal()
{
	for (bool on : {true, false}) {
		hipMemPoolProps props = {};
		hipMemPool_t at;
		size_t most = 32 * MIB;
		int no = 0, yes = on;
		stream a, b;
		gate g;
		void *first, *second = NULL;

		props.allocType = hipMemAllocationTypePinned;
		props.location.type = hipMemLocationTypeDevice;
		memcpy((char *)&props + 24, &most, sizeof(most));
		HIP(hipMemPoolCreate(&at, &props));
		HIP(hipMemPoolSetAttribute(at, hipMemPoolReuseFollowEventDependencies, &no));
		HIP(hipMemPoolSetAttribute(at, hipMemPoolReuseAllowOpportunistic, &no));
		HIP(hipMemPoolSetAttribute(at, hipMemPoolReuseAllowInternalDependencies, &yes));
		wait_for<<<1, 1, 0, a>>>(g.word);
		HIP_LAUNCHED();
		HIP(hipMallocFromPoolAsync(&first, most, at, a));
		give(first, a);
		CHECK_EQ(hipMallocFromPoolAsync(&second, most, at, b),
			 on ? hipSuccess : hipErrorOutOfMemory); /* S45, S46 */
		(void)hipGetLastError();
		if (on) {
			CHECK_EQ((uintptr_t)second, (uintptr_t)first);
			CHECK_EQ(hipStreamQuery(b), hipErrorNotReady);
			(void)hipGetLastError();
			give(second, b);
		}
		g.open();
		HIP(hipDeviceSynchronize());
		HIP(hipMemPoolDestroy(at));
	}
}

/* --- H: what is kept -------------------------------------------------------------------------- */

static void release()
{
	pool p;
	stream s, other;
	uint64_t zero = 0;

	p.keep(0); /* as a new pool has it */
	void *a = p.take(32 * MIB, s);
	HIP(hipStreamSynchronize(s));
	CHECK(p.reserved() >= 32 * MIB);
	give(a, s);
	CHECK(p.reserved() >= 32 * MIB);
	HIP(hipStreamSynchronize(other));
	CHECK(p.reserved() >= 32 * MIB); /* S48: another stream's */
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(p.reserved(), 0); /* S49 */
	p.keep(~0ull);
	give(p.take(32 * MIB, s), s);
	HIP(hipDeviceSynchronize());
	CHECK(p.reserved() >= 32 * MIB); /* S51 */
	CHECK_EQ(p.get(hipMemPoolAttrReservedMemHigh), p.reserved());
	void *part[3];
	for (void *&x : part)
		x = p.take(32 * MIB, s);
	for (void *x : part)
		give(x, s);
	HIP(hipStreamSynchronize(s));
	HIP(hipMemPoolTrimTo(p.at, 1000 * MIB));
	HIP(hipMemPoolTrimTo(p.at, SIZE_MAX));
	CHECK_EQ(p.reserved(), 96 * MIB);
	HIP(hipMemPoolTrimTo(p.at, 40 * MIB));
	CHECK(p.reserved() >= 40 * MIB && p.reserved() < 96 * MIB); /* S52 */
	HIP(hipMemPoolSetAttribute(p.at, hipMemPoolAttrReservedMemHigh, &zero));
	CHECK_EQ(p.get(hipMemPoolAttrReservedMemHigh), p.reserved()); /* S54 */
	zero = 1;
	CHECK_EQ(hipMemPoolSetAttribute(p.at, hipMemPoolAttrUsedMemHigh, &zero), hipErrorInvalidValue);
	CHECK_EQ(hipMemPoolSetAttribute(p.at, hipMemPoolAttrUsedMemCurrent, &zero), hipErrorInvalidValue);
	HIP(hipMemPoolTrimTo(p.at, 0));
	CHECK_EQ(p.reserved(), 0);
	(void)hipGetLastError();
}

/* A block that lies in several chunks is filled and copied as one. */
static void pieces()
{
	pool p;
	stream s;
	std::vector<unsigned char> host(8 * MIB), back(8 * MIB);
	unsigned char *part[4], *whole;

	for (unsigned char *&x : part)
		x = (unsigned char *)p.take(2 * MIB, s);
	for (unsigned char *x : part)
		give(x, s);
	whole = (unsigned char *)p.take(8 * MIB, s);
	CHECK_EQ(p.reserved(), 8 * MIB); /* S30 */
	for (size_t i = 0; i < host.size(); i++)
		host[i] = (unsigned char)(i >> 10);
	HIP(hipMemcpyAsync(whole, host.data(), host.size(), hipMemcpyHostToDevice, s));
	HIP(hipMemcpyAsync(whole + 3 * MIB, whole + MIB / 2, 2 * MIB, hipMemcpyDeviceToDevice, s));
	HIP(hipMemsetAsync(whole + 5 * MIB + 3, 9, 2 * MIB, s));
	HIP(hipMemcpyAsync(back.data(), whole, back.size(), hipMemcpyDeviceToHost, s));
	HIP(hipStreamSynchronize(s));
	memmove(&host[3 * MIB], &host[MIB / 2], 2 * MIB);
	memset(&host[5 * MIB + 3], 9, 2 * MIB);
	CHECK(back == host);
	HIP(hipMemcpy(back.data(), whole + MIB, 5 * MIB, hipMemcpyDeviceToHost));
	CHECK(!memcmp(back.data(), &host[MIB], 5 * MIB));
	give(whole, s);
	HIP(hipStreamSynchronize(s));
}

/* Memory of hipMalloc(), freed in a stream's order. */
static void plain()
{
	stream s;
	void *ptr;
	hipPointerAttribute_t about;

	HIP(hipMalloc(&ptr, MIB));
	touch<<<4, 64, 0, s>>>((unsigned char *)ptr, MIB, 1);
	HIP_LAUNCHED();
	HIP(hipFreeAsync(ptr, s)); /* S25 */
	CHECK_EQ(hipFreeAsync(ptr, s), hipErrorInvalidValue);
	HIP(hipStreamSynchronize(s));
	HIP(hipMallocAsync(&ptr, MIB, s));
	HIP(hipPointerGetAttributes(&about, (char *)ptr + 77));
	CHECK_EQ(about.device, 0);
	HIP(hipMemcpyAsync(ptr, &about, sizeof(about), hipMemcpyHostToDevice, s));
	HIP(hipMemsetAsync((char *)ptr + 4096, 5, 1000, s));
	HIP(hipFreeAsync(ptr, s));
	HIP(hipStreamSynchronize(s));
}

/* In a process that has allocated nothing else. */
static void pools_alone()
{
	pool p;
	stream s;

	p.keep(0); /* as a new pool has it */
	give(p.take(MIB, s), s);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(p.reserved(), 0); /* S49 */
}

int main()
{
	pools_alone();
	handles();
	destroyed_while_busy();
	sizes();
	own_stream();
	events();
	null_stream();
	opportunistic();
	internal();
	release();
	pieces();
	plain();
	return check_done("stream-ordered pools");
}
