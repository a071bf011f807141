/* An OpenCL program that computes, copies and counts, on Mesa's clover and radeonsi: an independent check of the
 * virtual GPU by drivers that others wrote for real cards. `make check-clients`. Returns 0 when all is right; 1
 * with the mistakes; 77 when there is no such device. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define N      65536
#define GROUP  256
#define ROUNDS 3
#define MUST(call)                                                                                                 \
	do {                                                                                                       \
		cl_int result_ = (call);                                                                           \
		if (result_)                                                                                       \
			exit((printf("%s: %d\n", #call, result_), 1));                                             \
	} while (0)

static const char *const source =
	"kernel void mad(global const float *a, global const float *b, global float *c, local float *seen,"
	"                global int *count)\n"
	"{\n"
	"	int i = get_global_id(0), l = get_local_id(0), last = get_local_size(0) - 1;\n"
	"	seen[l] = a[i];\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	c[i] = seen[last - l] * 3.0f + b[i];\n"
	"	atomic_inc(count);\n"
	"}\n";

static cl_device_id device;
static cl_context context;
static float a[N], b[N], c[N];

static void open_device(void)
{
	cl_platform_id platform[4];
	cl_uint count = 0;
	char name[128];
	cl_int error;

	if (clGetPlatformIDs(4, platform, &count) || !count ||
	    clGetDeviceIDs(platform[0], CL_DEVICE_TYPE_GPU, 1, &device, NULL))
		exit((printf("no GPU with OpenCL\n"), 77));
	MUST(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL));
	printf("%s\n", name);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	MUST(error);
}

static cl_kernel build(void)
{
	cl_int error;
	cl_program program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &error);
	cl_kernel kernel;

	MUST(error);
	MUST(clBuildProgram(program, 1, &device, "", NULL, NULL));
	kernel = clCreateKernel(program, "mad", &error);
	MUST(error);
	MUST(clReleaseProgram(program));
	return kernel;
}

static cl_mem buffer(size_t size, void *content)
{
	cl_int error;
	cl_mem mem = clCreateBuffer(context, content ? CL_MEM_COPY_HOST_PTR : 0, size, content, &error);

	MUST(error);
	return mem;
}

int main(void)
{
	const size_t items = N, group = GROUP;
	int count = 0, wrong = 0;
	cl_command_queue queue;
	cl_kernel kernel;
	cl_mem mem[4];
	cl_int error;

	open_device();
	queue = clCreateCommandQueue(context, device, 0, &error);
	MUST(error);
	kernel = build();
	for (int i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = (float)(i % 31);
	}
	mem[0] = buffer(sizeof(a), a);
	mem[1] = buffer(sizeof(b), b);
	mem[2] = buffer(sizeof(c), NULL);
	mem[3] = buffer(sizeof(count), &count);
	for (cl_uint i = 0; i < 4; i++)
		MUST(clSetKernelArg(kernel, i < 3 ? i : 4, sizeof(cl_mem), &mem[i]));
	MUST(clSetKernelArg(kernel, 3, GROUP * sizeof(float), NULL));
	for (int round = 0; round < ROUNDS; round++)
		MUST(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL));
	MUST(clEnqueueReadBuffer(queue, mem[2], CL_TRUE, 0, sizeof(c), c, 0, NULL, NULL));
	MUST(clEnqueueReadBuffer(queue, mem[3], CL_TRUE, 0, sizeof(count), &count, 0, NULL, NULL));
	for (int i = 0; i < N; i++)
		wrong += c[i] != a[i / GROUP * GROUP + GROUP - 1 - i % GROUP] * 3.0f + b[i];
	for (int i = 0; i < 4; i++)
		MUST(clReleaseMemObject(mem[i]));
	MUST(clReleaseKernel(kernel));
	MUST(clReleaseCommandQueue(queue));
	MUST(clReleaseContext(context));
	printf("%d of %d wrong, %d items of %d\n%s\n", wrong, N, count, ROUNDS * N,
	       wrong || count != ROUNDS * N ? "WRONG" : "right");
	return wrong || count != ROUNDS * N;
}
