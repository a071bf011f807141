/* OpenMP on a GPU: LLVM's offloading over our HSA. Its plugin looks up our functions by name, among them those for
 * HSA 1.0's code objects. */
#include <omp.h>
#include <stdlib.h>

#include "tests/check.h"

#define COUNT 10000

#pragma omp declare target
extern int counter;
int counter = 7;

static double square(double x)
{
	return x * x;
}
#pragma omp end declare target

static void vectors(void)
{
	static float a[COUNT], b[COUNT], sum[COUNT];
	unsigned wrong = 0;

	for (int i = 0; i < COUNT; i++)
		a[i] = (float)i, b[i] = (float)(2 * i);
#pragma omp target teams distribute parallel for map(to : a, b) map(from : sum)
	for (int i = 0; i < COUNT; i++)
		sum[i] = a[i] + b[i];
	for (int i = 0; i < COUNT; i++)
		wrong += sum[i] != (float)(3 * i);
	CHECK_EQ(wrong, 0);
}

static void reduction(void)
{
	double sum = 0;

#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
	for (int i = 0; i < 1000; i++)
		sum += square(i);
	CHECK(sum == 332833500);
}

/* A variable of the GPU's own, which the host brings up to date and reads. */
static void variable(void)
{
	counter = 35;
#pragma omp target update to(counter)
#pragma omp target
	counter += 7;
#pragma omp target update from(counter)
	CHECK_EQ(counter, 42);
}

/* Memory that stays on the GPU over two kernels. */
static void resident(void)
{
	int *data = malloc(COUNT * sizeof(*data)), device = omp_get_default_device();
	int *there = omp_target_alloc(COUNT * sizeof(*data), device);
	unsigned wrong = 0;

	CHECK(there);
#pragma omp target teams distribute parallel for is_device_ptr(there)
	for (int i = 0; i < COUNT; i++)
		there[i] = i;
#pragma omp target teams distribute parallel for is_device_ptr(there)
	for (int i = 0; i < COUNT; i++)
		there[i] *= 3;
	CHECK_EQ(omp_target_memcpy(data, there, COUNT * sizeof(*data), 0, 0, omp_get_initial_device(), device), 0);
	for (int i = 0; i < COUNT; i++)
		wrong += data[i] != 3 * i;
	CHECK_EQ(wrong, 0);
	omp_target_free(there, device);
	free(data);
}

/* Tasks that depend on one another run in order. */
static void tasks(void)
{
	int x = 1;

#pragma omp target map(tofrom : x) depend(inout : x) nowait
	x += 4;
#pragma omp target map(tofrom : x) depend(inout : x) nowait
	x *= 10;
#pragma omp taskwait
	CHECK_EQ(x, 50);
}

int main(void)
{
	int host = 1;

	CHECK_EQ(omp_get_num_devices(), 1);
#pragma omp target map(from : host)
	host = omp_is_initial_device();
	CHECK_EQ(host, 0);
	vectors();
	reduction();
	variable();
	resident();
	tasks();
	return check_done("OpenMP on a GPU");
}
