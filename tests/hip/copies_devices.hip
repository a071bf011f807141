/* Copies and fills of memory of a device that is not the current one: they are ordered after earlier work of that
 * device's null stream and before later work, as if they had been submitted there. */
#include "tests/clients/hip/hip.h"

#define COUNT 256u
#define PITCH 96u
#define ROWS  10u

__global__ void late(unsigned *at, unsigned value, long long ticks)
{
	long long begin = wall_clock64();

	while (wall_clock64() - begin < ticks)
		;
	for (unsigned i = 0; i < COUNT; i++)
		at[i] = value;
}

__global__ void copy_word(unsigned *to, const unsigned *from)
{
	*to = *from;
}

static long long ticks; /* 20 ms */

static unsigned *memory_of(int device)
{
	unsigned *at;

	HIP(hipSetDevice(device));
	HIP(hipMalloc((void **)&at, COUNT * 4));
	HIP(hipMemset(at, 0, COUNT * 4));
	HIP(hipDeviceSynchronize());
	return at;
}

/* Device 1 is busy with it; device 0 is current afterwards. */
static void keep_busy(unsigned *at, unsigned value)
{
	HIP(hipSetDevice(1));
	late<<<1, 1>>>(at, value, ticks);
	HIP_LAUNCHED();
	HIP(hipSetDevice(0));
}

static unsigned word_of(const unsigned *at)
{
	unsigned word;

	HIP(hipSetDevice(1));
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy(&word, at, 4, hipMemcpyDeviceToHost));
	return word;
}

static void behind(unsigned *at, unsigned *other)
{
	unsigned word = 0, *pinned;
	hipStream_t s;

	HIP(hipHostMalloc((void **)&pinned, 4, hipHostMallocDefault));
	HIP(hipSetDevice(0));
	HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	keep_busy(at, 1);
	HIP(hipMemcpy(&word, at, 4, hipMemcpyDeviceToHost));
	CHECK_EQ(word, 1);
	keep_busy(at, 2);
	HIP(hipMemcpy(pinned, at, 4, hipMemcpyDeviceToHost));
	CHECK_EQ(*pinned, 2);
	keep_busy(at, 3);
	HIP(hipMemcpy2D(&word, 4, at, 4, 4, 1, hipMemcpyDeviceToHost));
	CHECK_EQ(word, 3);
	keep_busy(at, 4);
	HIP(hipMemcpyAsync(pinned, at, 4, hipMemcpyDeviceToHost, s));
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(*pinned, 4);
	keep_busy(at, 5);
	word = 100;
	HIP(hipMemcpy(at, &word, 4, hipMemcpyHostToDevice));
	CHECK_EQ(word_of(at), 100);
	keep_busy(at, 6);
	HIP(hipMemsetD32(at, 200, 1));
	CHECK_EQ(word_of(at), 200);
	keep_busy(at, 7);
	HIP(hipMemcpy(other, at, 4, hipMemcpyDeviceToDevice));
	HIP(hipSetDevice(1));
	copy_word<<<1, 1>>>(other + 1, other);
	HIP_LAUNCHED();
	CHECK_EQ(word_of(other + 1), 7);
	HIP(hipStreamDestroy(s));
	HIP(hipHostFree(pinned));
}

/* What the other stream is given next is behind it, too. */
static void and_back(unsigned *at)
{
	unsigned *pinned;
	hipStream_t s;

	HIP(hipHostMalloc((void **)&pinned, COUNT * 4, hipHostMallocDefault));
	HIP(hipSetDevice(0));
	HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	*pinned = 0;
	late<<<1, 1, 0, s>>>(pinned, 11, ticks);
	HIP(hipMemcpyAsync(at, pinned, 4, hipMemcpyHostToDevice, s));
	late<<<1, 1, 0, s>>>(pinned, 12, 0);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(word_of(at), 11);
	HIP(hipSetDevice(0));
	HIP(hipStreamDestroy(s));
	HIP(hipHostFree(pinned));
}

/* Rows between two devices, whether they are peers or not. */
static void rows(char *far, char *near)
{
	std::vector<unsigned char> in(PITCH * ROWS), out(PITCH * ROWS, 0xee);
	unsigned wrong = 0;

	for (unsigned i = 0; i < in.size(); i++)
		in[i] = (unsigned char)(i * 7);
	HIP(hipSetDevice(0));
	HIP(hipMemset2D(far, PITCH, 0x55, PITCH, ROWS));
	HIP(hipMemcpy2D(near, PITCH, in.data(), PITCH, PITCH, ROWS, hipMemcpyHostToDevice));
	HIP(hipMemcpy2D(far, PITCH, near, PITCH, 51, ROWS, hipMemcpyDeviceToDevice));
	HIP(hipMemcpy2D(out.data(), PITCH, far, PITCH, 60, ROWS, hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < out.size(); i++)
		wrong += out[i] != (i % PITCH < 51 ? in[i] : i % PITCH < 60 ? 0x55 : 0xee);
	CHECK_EQ(wrong, 0);
}

int main()
{
	unsigned *near = memory_of(0), *far = memory_of(1), *other = memory_of(1);
	int kHz;

	HIP(hipDeviceGetAttribute(&kHz, hipDeviceAttributeWallClockRate, 1));
	ticks = kHz * 20ll;
	behind(far, other);
	and_back(far);
	rows((char *)far, (char *)near);
	for (unsigned *at : {near, far, other})
		HIP(hipFree(at));
	return check_done("copies of other devices' memory");
}
