/* For the engine's tests: a GPU with a little memory and one ring, and a builder of IBs. */
#ifndef VGPU_ENGINE_TEST_GPU_H
#define VGPU_ENGINE_TEST_GPU_H

#include <stdarg.h>
#include <stdlib.h>

#include "tests/check.h"
#include "vgpu/engine/engine.h"
#include "vgpu/engine/pm4_body.h"
#include "vgpu/engine/sdma.h"
#include "vgpu/report.h"

/* GPU addresses are not host addresses, on purpose. */
#define TEST_IB_VA    0x10000000ull
#define TEST_DATA_VA  0x700000000000ull
#define TEST_CODE_VA  0x20000000ull
#define TEST_HOLE_VA  0x30000000ull /* never mapped */
#define TEST_RO_VA    0x40000000ull /* read only */
#define TEST_UNLISTED 0x50000000ull
#define TEST_PRT_VA   0x60000000ull
#define TEST_IB_B     (1u << 20)
#define TEST_DATA_B   (16u << 20)
#define TEST_CODE_B   (1u << 20)

struct test_gpu {
	struct engine_device *dev;
	struct engine_ring *ring;
	struct gpuvm_region region[8];
	struct gpuvm_view view;
	uint32_t *ib, *code;
	uint8_t *data;
	unsigned dw; /* of the IB so far */
	unsigned faults;
	struct gpuvm_fault fault; /* the last one */
	unsigned odd_B;           /* by which the IB's size is no multiple of 4 */
	uint64_t watchdog_ns;
	uint32_t gws_base, gws_count; /* of the jobs that come */
	uint64_t gws_given;
	uint64_t vmid_foreign, vmid_epoch; /* of the jobs that come */
	char why[1024];
};

static void test_on_fault(void *user, const struct gpuvm_fault *fault)
{
	struct test_gpu *t = user;

	__atomic_fetch_add(&t->faults, 1, __ATOMIC_RELAXED);
	t->fault = *fault;
}

static inline void test_region(struct test_gpu *t, uint64_t va, uint64_t size_B, void *host, uint32_t flags)
{
	t->region[t->view.count] = (struct gpuvm_region){va, va + size_B, host, flags, (uint32_t)t->view.count + 1};
	t->view.count++;
}

static inline void test_init_device(struct test_gpu *t, const char *chip, enum engine_ip ip,
				    const struct engine_config *config)
{
	memset(t, 0, sizeof(*t));
	t->dev = engine_device_create(vgpu_chip_find(chip), config);
	t->ring = engine_ring_create(t->dev, ip, 0, 0);
	t->ib = aligned_alloc(4096, TEST_IB_B);
	t->code = aligned_alloc(4096, TEST_CODE_B);
	t->data = aligned_alloc(4096, TEST_DATA_B);
	memset(t->data, 0, TEST_DATA_B);
	memset(t->code, 0, TEST_CODE_B);
	t->view.region = t->region;
	test_region(t, TEST_IB_VA, TEST_IB_B, t->ib, GPUVM_R | GPUVM_W | GPUVM_X | GPUVM_SYSTEM);
	test_region(t, TEST_CODE_VA, TEST_CODE_B, t->code, GPUVM_R | GPUVM_X);
	test_region(t, TEST_RO_VA, 4096, t->data, GPUVM_R);
	test_region(t, TEST_UNLISTED, 4096, t->data, GPUVM_R | GPUVM_W | GPUVM_UNLISTED);
	test_region(t, TEST_PRT_VA, 4096, NULL, GPUVM_PRT);
	test_region(t, TEST_DATA_VA, TEST_DATA_B, t->data, GPUVM_R | GPUVM_W);
	t->watchdog_ns = 60000000000ull;
}

static inline void test_init(struct test_gpu *t, const char *chip, enum engine_ip ip, bool null_device,
			     uint64_t service_ns)
{
	test_init_device(t, chip, ip, &(struct engine_config){1, 1, null_device, service_ns});
}

static inline void test_fini(struct test_gpu *t)
{
	engine_ring_destroy(t->ring);
	engine_device_destroy(t->dev);
	free(t->ib);
	free(t->code);
	free(t->data);
}

static inline void emit(struct test_gpu *t, unsigned count, ...)
{
	va_list args;

	va_start(args, count);
	for (unsigned n = 0; n < count; n++)
		t->ib[t->dw++] = va_arg(args, uint32_t);
	va_end(args);
}

#define LO(va) ((uint32_t)(va))
#define HI(va) ((uint32_t)((uint64_t)(va) >> 32))
/* Counts its dwords itself. */
#define COUNT_(...)   (sizeof((uint32_t[]){__VA_ARGS__}) / 4)
#define EMIT(t, ...)  emit(t, COUNT_(__VA_ARGS__), __VA_ARGS__)
#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)

/* Runs one job to its end. */
static inline enum engine_status test_execute(struct test_gpu *t, const struct engine_job *job)
{
	struct engine_run *run = engine_line_up(t->ring, job);
	enum engine_status status = engine_execute(run);

	snprintf(t->why, sizeof(t->why), "%s", engine_why(run));
	engine_leave(run);
	return status;
}

/* Runs the IB as built, padded to 8 dwords, and begins a new one. */
static inline enum engine_status test_run_at(struct test_gpu *t, uint64_t va, uint32_t pad)
{
	struct engine_ib ib;
	struct engine_job job = {
		.view = &t->view,
		.ib = &ib,
		.ib_count = 1,
		.watchdog_ns = t->watchdog_ns,
		.gws_base = t->gws_base,
		.gws_count = t->gws_count,
		.gws_given = t->gws_given,
		.vmid_foreign = t->vmid_foreign,
		.vmid_epoch = t->vmid_epoch,
	};
	enum engine_status status;

	while (t->dw % 8)
		t->ib[t->dw++] = pad;
	ib = (struct engine_ib){.va = va, .size_B = t->dw * 4 + t->odd_B};
	job.fault = test_on_fault;
	job.user = t;
	t->faults = 0;
	status = test_execute(t, &job);
	t->dw = 0;
	return status;
}

static inline enum engine_status test_run(struct test_gpu *t)
{
	return test_run_at(t, TEST_IB_VA, PM4_NOP_1DW);
}

static inline enum engine_status test_run_sdma(struct test_gpu *t)
{
	return test_run_at(t, TEST_IB_VA, 0);
}

static inline uint32_t data32(const struct test_gpu *t, unsigned offset)
{
	uint32_t value;

	memcpy(&value, t->data + offset, 4);
	return value;
}

static inline uint64_t data64(const struct test_gpu *t, unsigned offset)
{
	uint64_t value;

	memcpy(&value, t->data + offset, 8);
	return value;
}

static inline void set32(struct test_gpu *t, unsigned offset, uint32_t value)
{
	memcpy(t->data + offset, &value, 4);
}

static inline void set64(struct test_gpu *t, unsigned offset, uint64_t value)
{
	memcpy(t->data + offset, &value, 8);
}

/* The job ended so, with `findings` new findings, and the reason holds `text` (NULL: anything). */
static inline void expect_(const struct test_gpu *t, int line, int got, int want, long findings, long want_findings,
			   const char *text)
{
	bool ok = got == want && findings == want_findings && (!text || strstr(t->why, text));

	check_(ok, __FILE__, line, "the job ends as it should");
	if (!ok)
		printf("  status %d (want %d), %ld findings (want %ld), why: %s\n", got, want, findings,
		       want_findings, t->why);
}

#define EXPECT(run, status_, findings, text)                                                                       \
	do {                                                                                                       \
		long before_ = (long)vgpu_findings();                                                              \
		int got_ = (int)(run);                                                                             \
		expect_(t, __LINE__, got_, status_, (long)vgpu_findings() - before_, findings, text);              \
	} while (0)

#endif
