/* Pools of two GPUs: the pool that a stream allocates from, and access by other devices. Statements S13, S15 and
 * S58 to S63 of docs/pools.md. */
#include "tests/hip/pools.h"

static void fill(void *at, size_t size, unsigned char value, int device)
{
	HIP(hipSetDevice(device));
	touch<<<4, 256>>>((unsigned char *)at, size, value);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
}

static unsigned char first_byte(const void *at)
{
	unsigned char byte = 0;

	HIP(hipMemcpy(&byte, at, 1, hipMemcpyDefault));
	return byte;
}

static hipMemAccessDesc desc(int device, unsigned flags)
{
	hipMemAccessDesc d = {};

	d.location.type = hipMemLocationTypeDevice;
	d.location.id = device;
	d.flags = (hipMemAccessFlags)flags;
	return d;
}

static hipError_t allow(const pool &p, std::vector<hipMemAccessDesc> list)
{
	hipError_t r = hipMemPoolSetAccess(p.at, list.data(), list.size());

	(void)hipGetLastError();
	return r;
}

static int access_of(const pool &p, int device)
{
	hipMemLocation where = {hipMemLocationTypeDevice, device};
	hipMemAccessFlags flags = (hipMemAccessFlags)-1;

	HIP(hipMemPoolGetAccess(&flags, p.at, &where));
	return flags;
}

/* The stream's device decides, whichever is current. */
static void whose()
{
	hipPointerAttribute_t about;
	hipStream_t second;
	hipMemPool_t pools[2];
	pool p; /* of device 0 */
	void *ptr;

	for (int d = 0; d < 2; d++)
		HIP(hipDeviceGetMemPool(&pools[d], d));
	CHECK(pools[0] != pools[1]);
	CHECK_EQ(hipDeviceSetMemPool(1, p.at), hipErrorInvalidDevice); /* S4 */
	(void)hipGetLastError();
	HIP(hipSetDevice(1));
	HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
	HIP(hipSetDevice(0));
	HIP(hipMallocAsync(&ptr, MIB, second)); /* S13 */
	HIP(hipPointerGetAttributes(&about, ptr));
	CHECK_EQ(about.device, 1);
	fill(ptr, MIB, 3, 1);
	CHECK_EQ(first_byte(ptr), 3);
	HIP(hipFreeAsync(ptr, second));
	ptr = p.take(MIB, second); /* S15 */
	HIP(hipPointerGetAttributes(&about, ptr));
	CHECK_EQ(about.device, 0);
	fill(ptr, MIB, 4, 0);
	CHECK_EQ(first_byte(ptr), 4);
	HIP(hipFreeAsync(ptr, second));
	HIP(hipStreamSynchronize(second));
	HIP(hipStreamDestroy(second));
	HIP(hipSetDevice(0));
}

static void refusals(const pool &p)
{
	CHECK_EQ(access_of(p, 0), hipMemAccessFlagsProtReadWrite); /* S58 */
	CHECK_EQ(access_of(p, 1), hipMemAccessFlagsProtNone);
	CHECK_EQ(allow(p, {desc(0, hipMemAccessFlagsProtNone)}), hipErrorInvalidDevice);
	CHECK_EQ(allow(p, {desc(0, hipMemAccessFlagsProtRead)}), hipErrorNotSupported);
	CHECK_EQ(allow(p, {desc(0, hipMemAccessFlagsProtReadWrite)}), hipSuccess);
	CHECK_EQ(allow(p, {desc(0, 2)}), hipErrorInvalidValue);
	CHECK_EQ(allow(p, {desc(0, 7)}), hipErrorInvalidValue);
	CHECK_EQ(allow(p, {desc(2, hipMemAccessFlagsProtReadWrite)}), hipErrorInvalidDevice); /* S63 */
	CHECK_EQ(allow(p, {desc(-1, hipMemAccessFlagsProtReadWrite)}), hipErrorInvalidDevice);
	CHECK_EQ(allow(p, {desc(1, hipMemAccessFlagsProtReadWrite), desc(2, hipMemAccessFlagsProtReadWrite)}),
		 hipErrorInvalidDevice);
	CHECK_EQ(access_of(p, 1), hipMemAccessFlagsProtNone); /* S60 */
	hipMemAccessDesc one = desc(1, hipMemAccessFlagsProtReadWrite);
	HIP(hipMemPoolSetAccess(p.at, &one, 0));
	CHECK_EQ(access_of(p, 1), hipMemAccessFlagsProtNone);
}

/* They reach one another. */
static void connected(pool &p, void *early)
{
	/* S59: that is another matter. */
	HIP(hipSetDevice(1));
	HIP(hipDeviceEnablePeerAccess(0, 0));
	CHECK_EQ(access_of(p, 1), hipMemAccessFlagsProtNone);
	/* S60: the last of several for one device counts; S61: reading alone is accepted, as HIP does. */
	CHECK_EQ(allow(p, {desc(1, hipMemAccessFlagsProtRead), desc(1, hipMemAccessFlagsProtReadWrite)}), hipSuccess);
	CHECK_EQ(access_of(p, 1), hipMemAccessFlagsProtReadWrite);
	HIP(hipDeviceDisablePeerAccess(0));
	fill(early, MIB, 9, 1); /* S62: what was there before, S59 */
	CHECK_EQ(first_byte(early), 9);
	void *late = p.take(8 * MIB, 0);
	fill(late, 8 * MIB, 10, 1);
	CHECK_EQ(first_byte(late), 10);
	give(late, 0);
	CHECK_EQ(allow(p, {desc(1, hipMemAccessFlagsProtNone)}), hipErrorInvalidDevice); /* S61: HIP takes nothing away */
	CHECK_EQ(allow(p, {desc(1, hipMemAccessFlagsProtRead)}), hipSuccess);
	CHECK_EQ(access_of(p, 1), hipMemAccessFlagsProtRead);
	/* S15: from a stream of the other device, used there. */
	HIP(hipSetDevice(1));
	stream second;
	void *ptr = p.take(MIB, second);
	touch<<<4, 256, 0, second>>>((unsigned char *)ptr, MIB, 12);
	HIP_LAUNCHED();
	give(ptr, second);
	HIP(hipStreamSynchronize(second));
}

/* They do not. */
static void apart(pool &p)
{
	CHECK(allow(p, {desc(1, hipMemAccessFlagsProtReadWrite)}) != hipSuccess); /* S63 */
	CHECK_EQ(access_of(p, 1), hipMemAccessFlagsProtNone);
}

/* A stream of device 1 has blocks of device 0's pools, used and cached, when device 0 is reset: the stream goes on, and the
 * default pool begins again. */
static void reset()
{
	hipMemPoolProps props = pool_props();
	hipMemPool_t pools[2];
	uint64_t used_B = 1;
	void *ptr;

	HIP(hipSetDevice(1));
	HIP(hipDeviceGetDefaultMemPool(&pools[0], 0));
	HIP(hipMemPoolCreate(&pools[1], &props));
	stream second;
	for (hipMemPool_t p : pools) {
		HIP(hipMallocFromPoolAsync(&ptr, 4 * KIB, p, second));
		HIP(hipFreeAsync(ptr, second));
	}
	HIP(hipMallocFromPoolAsync(&ptr, 4 * KIB, pools[0], second));
	HIP(hipSetDevice(0));
	HIP(hipDeviceReset());
	HIP(hipMemPoolGetAttribute(pools[0], hipMemPoolAttrUsedMemCurrent, &used_B));
	CHECK_EQ(used_B, 0);
	CHECK_EQ(hipMemPoolDestroy(pools[1]), hipErrorInvalidValue);
	(void)hipGetLastError();
	HIP(hipSetDevice(1));
	for (unsigned i = 0; i < 4; i++) {
		stream other; /* would get the stream's memory, if that were freed */
		HIP(hipStreamSynchronize(other));
	}
	HIP(hipStreamQuery(second));
	HIP(hipMallocFromPoolAsync(&ptr, 4 * KIB, pools[0], second));
	HIP(hipFreeAsync(ptr, second));
	HIP(hipStreamSynchronize(second));
}

int main()
{
	int reaches = 0;

	whose();
	HIP(hipDeviceCanAccessPeer(&reaches, 1, 0));
	{
		pool p;
		void *early;

		refusals(p);
		early = p.take(MIB, 0);
		if (reaches)
			connected(p, early);
		else
			apart(p);
		HIP(hipSetDevice(0));
		fill(early, MIB, 11, 0);
		CHECK_EQ(first_byte(early), 11);
		give(early, 0);
		HIP(hipDeviceSynchronize());
	}
	reset();
	return check_done(reaches ? "pools of two GPUs that are connected" : "pools of two GPUs that are not connected");
}
