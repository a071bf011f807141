/* What the environment says: the specification of the devices (TUFF_VGPU), and planned failures (TUFF_VGPU_INJECT). The
 * devices that are accepted have a chip, and sizes that make sense. */
#include <stdlib.h>
#include <string.h>

#include "vgpu/chip.h"
#include "vgpu/report.h"
#include "vgpu/shim/shim.h"
#include "vgpu/vgpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static void check_config(const struct shim_config *config)
{
	if (!config->count || config->count > SHIM_DEVICES || !kern_phys_size(config->device, config->count))
		__builtin_trap();
	for (unsigned n = 0; n < config->count; n++) {
		const struct vgpu_chip *chip = vgpu_chip_find(config->device[n].chip);

		if (!chip ||
		    kern_config_visible_B(chip, &config->device[n]) > kern_config_vram_B(chip, &config->device[n]))
			__builtin_trap();
	}
}

static void stop_run(void)
{
	vgpu_stop();
}

/* Plans are of a run. */
static void start_run(void)
{
	static bool started;

	if (started)
		return;
	started = true;
	vgpu_strict_set(VGPU_STRICT_OFF);
	if (vgpu_start("null:gfx908"))
		abort();
	atexit(stop_run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	struct shim_config config;
	char *text = malloc(size_B + 1);

	if (!text)
		abort();
	start_run();
	if (size_B)
		memcpy(text, data, size_B);
	text[size_B] = 0;
	if (!shim_spec_parse(text, &config))
		check_config(&config);
	shim_inject_parse(text);
	free(text);
	return 0;
}
