#include "tests/device/device.h"

extern const struct device_test tests_ladder[], tests_queue[], tests_submit[], tests_memory[], tests_register[],
	tests_range[], tests_share[], tests_copy[], tests_battery[], tests_group[], tests_threads[], tests_loss[],
	tests_bad[], tests_growth[], tests_cache[];
extern const struct device_test tests_probe_packet[], tests_probe_kernel[], tests_probe_copy[], tests_probe_math[],
	tests_probe_raw[], tests_probe_fault[], tests_probe_xcc[];

const struct device_test *const device_test_groups[] = {
	tests_ladder,
	tests_queue,
	tests_submit,
	tests_memory,
	tests_register,
	tests_range,
	tests_share,
	tests_copy,
	tests_battery,
	tests_group,
	tests_threads,
	tests_loss,
	tests_bad,
	tests_growth,
	tests_cache,
	tests_probe_packet,
	tests_probe_kernel,
	tests_probe_copy,
	tests_probe_math,
	tests_probe_raw,
	tests_probe_fault,
	tests_probe_xcc,
	NULL,
};
