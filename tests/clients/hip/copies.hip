/* Copies: pageable and pinned memory, both ways, on the GPU, asynchronous, in two and three dimensions; and fills.
 */
#include "tests/clients/hip/hip.h"

static std::vector<unsigned char> bytes(size_t n, unsigned seed)
{
	std::vector<unsigned char> v(n);

	for (unsigned char &b : v)
		b = (unsigned char)((seed = seed * 1664525u + 1013904223u) >> 24);
	return v;
}

/* There and back at sizes and offsets around those at which CLR takes another way: 4 KiB, 16 KiB, 1 MiB, 4 MiB. */
static void pageable()
{
	static const size_t sizes[] = {
		1, 3, 64, 4095, 4097, 16 << 10, (1 << 20) - 1, (1 << 20) + 5, (4 << 20) + 33};
	gpu_array<unsigned char> a((5 << 20)), b(5 << 20);

	for (size_t n : sizes)
		for (size_t offset : {(size_t)0, (size_t)13}) {
			std::vector<unsigned char> from = bytes(n, (unsigned)n), to(n);

			HIP(hipMemcpy(a.at + offset, from.data(), n, hipMemcpyHostToDevice));
			HIP(hipMemcpy(b.at + 7, a.at + offset, n, hipMemcpyDeviceToDevice));
			HIP(hipMemcpy(to.data(), b.at + 7, n, hipMemcpyDeviceToHost));
			if (!CHECK(from == to))
				printf("  %zu bytes at %zu\n", n, offset);
		}
}

static void pinned()
{
	const size_t n = (3 << 20) + 17;
	std::vector<unsigned char> from = bytes(n, 5);
	gpu_array<unsigned char> gpu(n), second(n);
	unsigned char *in, *out;
	hipStream_t stream;

	HIP(hipHostMalloc((void **)&in, n, 0));
	HIP(hipHostMalloc((void **)&out, n, 0));
	HIP(hipStreamCreate(&stream));
	memcpy(in, from.data(), n);
	memset(out, 0, n);
	HIP(hipMemcpyAsync(gpu.at, in, n, hipMemcpyHostToDevice, stream));
	HIP(hipMemcpyAsync(second.at, gpu.at, n, hipMemcpyDeviceToDevice, stream));
	HIP(hipMemcpyAsync(out, second.at, n, hipMemcpyDefault, stream));
	HIP(hipStreamSynchronize(stream));
	CHECK(!memcmp(out, from.data(), n));
	/* Host to host, through HIP. */
	memset(out, 0, n);
	HIP(hipMemcpy(out, in, n, hipMemcpyHostToHost));
	CHECK(!memcmp(out, from.data(), n));
	HIP(hipStreamDestroy(stream));
	HIP(hipHostFree(in));
	HIP(hipHostFree(out));
}

/* CLR takes the pitch from what images want: without images it has none. */
static void malloc_pitch(unsigned char **at, size_t *pitch, size_t width, size_t rows)
{
	int images;

	HIP(hipDeviceGetAttribute(&images, hipDeviceAttributeMaxTexture1DWidth, 0));
	if (images) {
		HIP(hipMallocPitch((void **)at, pitch, width, rows));
	} else {
		*pitch = (width + 255) / 256 * 256;
		HIP(hipMalloc((void **)at, *pitch * rows));
	}
}

/* Rows of a matrix inside a wider one. */
static void two_dimensions(bool pin)
{
	const size_t width = 300, rows = 37, wide = 512;
	std::vector<unsigned char> from = bytes(wide * rows, 9), to(wide * rows, 0xee);
	unsigned char *a, *b;
	size_t pitch_a, pitch_b;
	unsigned wrong = 0;

	if (pin) {
		HIP(hipHostRegister(from.data(), from.size(), 0));
		HIP(hipHostRegister(to.data(), to.size(), 0));
	}
	malloc_pitch(&a, &pitch_a, width, rows);
	malloc_pitch(&b, &pitch_b, width + 400, rows);
	CHECK(pitch_a >= width && pitch_b >= width + 400);
	HIP(hipMemcpy2D(a, pitch_a, from.data() + 11, wide, width, rows, hipMemcpyHostToDevice));
	HIP(hipMemcpy2D(b + 4, pitch_b, a, pitch_a, width, rows, hipMemcpyDeviceToDevice));
	HIP(hipMemcpy2DAsync(to.data() + 1, wide, b + 4, pitch_b, width, rows, hipMemcpyDeviceToHost, 0));
	HIP(hipDeviceSynchronize());
	for (size_t y = 0; y < rows; y++)
		for (size_t x = 0; x < wide; x++) {
			bool inside = x >= 1 && x < 1 + width;

			wrong += to[y * wide + x] != (inside ? from[y * wide + x + 10] : 0xee);
		}
	CHECK_EQ(wrong, 0);
	HIP(hipFree(a));
	HIP(hipFree(b));
	if (pin) {
		HIP(hipHostUnregister(from.data()));
		HIP(hipHostUnregister(to.data()));
	}
}

static void three_dimensions()
{
	const hipExtent all = make_hipExtent(96, 20, 9), part = make_hipExtent(50, 11, 5);
	std::vector<unsigned char> from = bytes(all.width * all.height * all.depth, 3), to(from.size(), 0xcc);
	hipMemcpy3DParms p = {};
	hipPitchedPtr gpu;
	unsigned wrong = 0;

	gpu.xsize = all.width;
	gpu.ysize = all.height;
	malloc_pitch((unsigned char **)&gpu.ptr, &gpu.pitch, all.width, all.height * all.depth);
	p.srcPtr = make_hipPitchedPtr(from.data(), all.width, all.width, all.height);
	p.dstPtr = gpu;
	p.extent = all;
	p.kind = hipMemcpyHostToDevice;
	HIP(hipMemcpy3D(&p));
	p = {};
	p.srcPtr = gpu;
	p.srcPos = make_hipPos(7, 3, 2);
	p.dstPtr = make_hipPitchedPtr(to.data(), all.width, all.width, all.height);
	p.dstPos = make_hipPos(1, 2, 3);
	p.extent = part;
	p.kind = hipMemcpyDeviceToHost;
	HIP(hipMemcpy3D(&p));
	for (size_t z = 0; z < all.depth; z++)
		for (size_t y = 0; y < all.height; y++)
			for (size_t x = 0; x < all.width; x++) {
				bool inside = x >= 1 && x < 51 && y >= 2 && y < 13 && z >= 3 && z < 8;
				unsigned char want = 0xcc;

				if (inside)
					want = from[((z - 1) * all.height + y + 1) * all.width + x + 6];
				wrong += to[(z * all.height + y) * all.width + x] != want;
			}
	CHECK_EQ(wrong, 0);
	HIP(hipFree(gpu.ptr));
}

static void fills()
{
	const size_t n = 100003;
	gpu_array<unsigned char> gpu(n + 64);
	unsigned wrong = 0;

	HIP(hipMemset(gpu.at, 0x11, n + 64));
	HIP(hipMemset(gpu.at + 5, 0xa5, n));
	std::vector<unsigned char> got = gpu.read();
	for (size_t i = 0; i < n + 64; i++)
		wrong += got[i] != (i >= 5 && i < n + 5 ? 0xa5 : 0x11);
	CHECK_EQ(wrong, 0);
	HIP(hipMemsetD16((hipDeviceptr_t)(gpu.at + 2), 0xbeef, 999));
	HIP(hipMemsetD32((hipDeviceptr_t)(gpu.at + 4000), 0x12345678, 777));
	got = gpu.read();
	for (unsigned i = 0; i < 999; i++)
		wrong += got[2 + 2 * i] != 0xef || got[3 + 2 * i] != 0xbe;
	for (unsigned i = 0; i < 777; i++)
		wrong += got[4000 + 4 * i] != 0x78 || got[4003 + 4 * i] != 0x12;
	CHECK_EQ(wrong, 0);
	/* In two and three dimensions: 100 of 256 bytes of each row. */
	HIP(hipMemset2D(gpu.at, 256, 0x77, 100, 50));
	HIP(hipMemset3D(make_hipPitchedPtr(gpu.at + 128, 256, 100, 10), 0x99, make_hipExtent(100, 10, 5)));
	got = gpu.read();
	for (unsigned y = 0; y < 50; y++)
		for (unsigned x = 0; x < 100; x++)
			wrong += got[y * 256 + x] != 0x77 || got[y * 256 + 128 + x] != 0x99;
	CHECK_EQ(wrong, 0);
	CHECK(got[100] != 0x77 && got[128 + 100] != 0x99);
}

int main()
{
	pageable();
	pinned();
	two_dimensions(false);
	two_dimensions(true);
	three_dimensions();
	fills();
	return check_done("copies and fills of HIP");
}
