/* Offload bundles, plain and compressed: loaded from files, whose size is known, and registered as the fat binary of a program,
 * where the sizes in the headers are true: the linker wrote them. */
#define HIP_DEPRECATED
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hip/api/registration.h>
#include <hip/hip_runtime_api.h>

#include "cs/code_object.h"
#include "drv/chip.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define MAGIC "__CLANG_OFFLOAD_BUNDLE__"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static uint64_t word_at(const uint8_t *at, unsigned size_B)
{
	uint64_t value = 0;

	memcpy(&value, at, size_B);
	return value;
}

/* --- what is picked --------------------------------------------------------------------------------- */

/* A part of the bundle. */
static void picks_check(const uint8_t *data, size_t size_B)
{
	const struct drv_chip *chip;

	for (unsigned i = 0; (chip = drv_chip_at(i)); i++) {
		const void *image = data;
		size_t image_B = size_B;

		if (!cs_bundle_pick(&image, &image_B, chip) &&
		    ((const uint8_t *)image < data || image_B > size_B ||
		     (size_t)((const uint8_t *)image - data) > size_B - image_B))
			__builtin_trap();
	}
}

/* --- sizes ------------------------------------------------------------------------------------------ */

static bool entries_are_inside(const uint8_t *data, size_t size_B)
{
	size_t at = sizeof(MAGIC) - 1 + 8;
	uint64_t count;

	if (size_B < at)
		return false;
	count = word_at(data + at - 8, 8);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t offset, image_B, name_B;

		if (size_B - at < 24)
			return false;
		offset = word_at(data + at, 8);
		image_B = word_at(data + at + 8, 8);
		name_B = word_at(data + at + 16, 8);
		at += 24;
		if (offset > size_B || image_B > size_B - offset || name_B > size_B - at)
			return false;
		at += name_B;
	}
	return true;
}

/* Version 1 has no size of its own. */
static bool compressed_is_inside(const uint8_t *data, size_t size_B)
{
	unsigned version = size_B >= 32 ? (unsigned)word_at(data + 4, 2) : 0;
	uint64_t total_B = version == 2 ? word_at(data + 8, 4) : version == 3 ? word_at(data + 8, 8) : 0;
	uint64_t plain_B = version == 2 ? word_at(data + 12, 4) : version == 3 ? word_at(data + 16, 8) : 0;

	return total_B && total_B <= size_B && plain_B < 16 << 20;
}

static bool sizes_are_true(const uint8_t *data, size_t size_B)
{
	if (size_B >= sizeof(MAGIC) && !memcmp(data, MAGIC, sizeof(MAGIC) - 1))
		return entries_are_inside(data, size_B);
	return size_B >= 4 && !memcmp(data, "CCOB", 4) && compressed_is_inside(data, size_B);
}

/* --- a file ------------------------------------------------------------------------------------------ */

static void file_load(const uint8_t *data, size_t size_B)
{
	int fd = memfd_create("bundle", MFD_CLOEXEC);
	hipModule_t module;
	hipFunction_t f;
	char path[64];

	if (fd < 0 || write(fd, data, size_B) != (ssize_t)size_B)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!hipModuleLoad(&module, path)) {
		(void)!hipModuleGetFunction(&f, module, "k");
		(void)!hipModuleUnload(module);
	}
	close(fd);
}

/* --- a program ---------------------------------------------------------------------------------------- */

static int kernel, variable; /* addresses of what host code names */

static void program_run(void)
{
	hipFuncAttributes attributes;
	size_t size_B;
	void *at;
	int count;

	for (int device = 0; device < 2; device++) {
		(void)!hipSetDevice(device);
		(void)!hipFuncGetAttributes(&attributes, &kernel);
		(void)!hipOccupancyMaxActiveBlocksPerMultiprocessor(&count, &kernel, 64, 0);
		(void)!hipGetSymbolAddress(&at, &variable);
		(void)!hipGetSymbolSize(&size_B, &variable);
	}
	(void)!hipSetDevice(0);
}

static void program_register(const uint8_t *data)
{
	static char kernel_name[] = "k", variable_name[] = "word";
	const struct hip_fat_binary_wrapper wrapper = {HIP_FAT_BINARY_MAGIC, 1, data, NULL};
	void **binary = __hipRegisterFatBinary(&wrapper);

	__hipRegisterFunction(binary, &kernel, kernel_name, kernel_name, -1, NULL, NULL, NULL, NULL, NULL);
	__hipRegisterVar(binary, &variable, variable_name, variable_name, 0, 4, 0, 0);
	program_run();
	__hipUnregisterFatBinary(binary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	static bool started;

	if (!started) {
		vgpu_strict_set(VGPU_STRICT_OFF);
		if (vgpu_start("gfx908:vram=32M:gtt=64M,gfx90a:vram=32M:gtt=64M"))
			abort();
	}
	started = true;
	picks_check(data, size_B);
	if (size_B >= 4 && (memcmp(data, "CCOB", 4) || sizes_are_true(data, size_B)))
		file_load(data, size_B);
	if (sizes_are_true(data, size_B))
		program_register(data);
	return 0;
}
