#include "tests/device/device.h"

extern const struct device_test tests_ladder[], tests_queue[], tests_bad[];

const struct device_test *const device_test_groups[] = {tests_ladder, tests_queue, tests_bad, NULL};
