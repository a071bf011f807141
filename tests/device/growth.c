/* Structs that grow: callers that were compiled with an older or a newer header than the library's. */
#include <errno.h>
#include <stddef.h>

#include "tests/device/device.h"

/* A struct of a newer header: the library's own, and a member that it does not know. */
#define NEWER(type)                                                                                                \
	struct {                                                                                                   \
		struct type known;                                                                                 \
		uint64_t later[2];                                                                                 \
	}

/* The size of a struct of an older header, in which `member` was the last. */
#define UP_TO(type, member) (offsetof(struct type, member) + sizeof(((struct type *)0)->member))

/* Inputs whose later members would be refused if the library read them. */
static void older_callers_keep_working(void)
{
	struct tuff_mem_create_info page = {.size_B = 4096, .place = 99, .flags = ~0u};
	struct tuff_range_create_info pages = {.size_B = 8192, .align_B = 3, .va = 1, .flags = ~0u};
	struct tuff_queue_create_info copy = {.engine = TUFF_COPY, .ring = ~0u, .priority = 99};
	struct tuff_mem_info info;
	struct tuff_range *range;
	struct tuff_queue *queue;
	struct tuff_mem *mem;
	uint64_t va;

	CHECK_OK(tuff_mem_create_sized(test_device(), &page, UP_TO(tuff_mem_create_info, size_B), &mem));
	CHECK_OK(tuff_mem_query(mem, &info));
	CHECK(info.place == TUFF_VRAM && !info.flags); /* what 0 stands for */
	CHECK_OK(tuff_mem_destroy(mem));
	CHECK_OK(
		tuff_range_create_sized(test_device(), &pages, UP_TO(tuff_range_create_info, size_B), &range, &va));
	CHECK_OK(tuff_range_destroy(range));
	CHECK_OK(tuff_queue_create_sized(test_device(), &copy, UP_TO(tuff_queue_create_info, engine), &queue));
	CHECK_OK(tuff_queue_destroy(queue));
}

/* A launch without the part of the grid and without arguments, after a point and without syncs. */
static void older_launches_keep_working(void)
{
	struct tuff_dispatch dispatch = {.kernel = test_kernel("group", 3, "k_empty"),
					 .grid = {64, 1, 1},
					 .group = {64, 1, 1},
					 .first_group = {9, 9, 9},
					 .dynamic_lds_B = ~0u,
					 .args_B = 99};
	struct tuff_point point = {0};
	struct tuff_order order = {.after = &point, .after_count = 1, .wait_count = 99, .signal_count = 99};
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);

	CHECK_OK(tuff_cmd_dispatch_sized(cmd, &dispatch, UP_TO(tuff_dispatch, group)));
	CHECK_OK(tuff_submit_sized(cmd, &order, UP_TO(tuff_order, after_count), &point));
	CHECK_OK(tuff_wait(point, TUFF_FOREVER));
}

/* True when the bytes [from_B, to_B) all have a value. */
static bool all_are(const void *bytes, size_t from_B, size_t to_B, unsigned char value)
{
	for (size_t i = from_B; i < to_B; i++)
		if (((const unsigned char *)bytes)[i] != value)
			return false;
	return true;
}

/* Calls a function that fills a struct, with half of its size, then twice: the library fills as much as there is.
 */
#define FILLS(function, object, type)                                                                              \
	do {                                                                                                       \
		union {                                                                                            \
			struct type known;                                                                         \
			unsigned char bytes[2 * sizeof(struct type)];                                              \
		} half, both, whole;                                                                               \
		size_t half_B = sizeof(struct type) / 2;                                                           \
                                                                                                                   \
		memset(&half, 0xa5, sizeof(half));                                                                 \
		memset(&both, 0xa5, sizeof(both));                                                                 \
		memset(&whole, 0xa5, sizeof(whole));                                                               \
		CHECK_OK(function##_sized(object, &whole.known, sizeof(struct type)));                             \
		CHECK_OK(function##_sized(object, &half.known, half_B));                                           \
		CHECK_OK(function##_sized(object, &both.known, sizeof(both)));                                     \
		CHECK(all_are(&whole, sizeof(struct type), sizeof(whole), 0xa5));                                  \
		CHECK(!memcmp(&half, &whole, half_B));                                                             \
		CHECK(all_are(&half, half_B, sizeof(half), 0xa5));                                                 \
		CHECK(all_are(&both, sizeof(struct type), sizeof(both), 0));                                       \
		CHECK_EQ(function##_sized(object, &whole.known, 0), -EINVAL);                                      \
	} while (0)

static void filled_structs_end_where_the_caller_says(void)
{
	struct test_memory m = test_gtt(4096);

	FILLS(tuff_device_query, test_device(), tuff_device_info);
	FILLS(tuff_device_usage, test_device(), tuff_usage);
	FILLS(tuff_mem_query, m.mem, tuff_mem_info);
	FILLS(tuff_kernel_query, test_kernel("group", 3, "k_empty"), tuff_kernel_info);
	FILLS(tuff_queue_query, test_compute(), tuff_queue_status);
}

static void gpus_have_the_callers_size(void)
{
	NEWER(tuff_gpu) newer[4];
	struct tuff_gpu plain[4];
	char paths[4][UP_TO(tuff_gpu, path)];
	size_t count, again;

	memset(newer, 0xa5, sizeof(newer));
	CHECK_OK(tuff_scan(plain, 4, &count));
	CHECK_OK(tuff_scan_sized(&newer[0].known, sizeof(newer[0]), 4, &again));
	CHECK_EQ(again, count);
	CHECK_OK(tuff_scan_sized((struct tuff_gpu *)paths, sizeof(paths[0]), 4, &again));
	CHECK_EQ(again, count);
	for (size_t i = 0; i < count; i++) {
		CHECK_STR(newer[i].known.path, plain[i].path);
		CHECK_STR(newer[i].known.pci, plain[i].pci);
		CHECK(!newer[i].later[0] && !newer[i].later[1]);
		CHECK_STR(paths[i], plain[i].path);
	}
	CHECK_EQ(tuff_scan_sized(plain, 0, 4, &again), -EINVAL);
}

/* Each function that reads a struct, with one of a newer header whose last member is `later`: each must give
 * `want`.
 */
static void read_newer(uint64_t later, int want)
{
	NEWER(tuff_mem_create_info) page = {{.size_B = 4096, .place = TUFF_GTT}, {0, later}};
	NEWER(tuff_range_create_info) pages = {{.size_B = 8192}, {0, later}};
	NEWER(tuff_queue_create_info) compute = {{.engine = TUFF_COMPUTE}, {0, later}};
	NEWER(tuff_dispatch) dispatch = {{.kernel = test_kernel("group", 3, "k_empty")}, {0, later}};
	NEWER(tuff_order) order = {{.after_count = 0}, {0, later}};
	struct tuff_range *range = NULL;
	struct tuff_queue *queue = NULL;
	struct tuff_mem *mem = NULL;
	struct tuff_cmd *cmd;
	uint64_t va;

	CHECK_EQ(tuff_mem_create_sized(test_device(), &page.known, sizeof(page), &mem), want);
	CHECK_EQ(tuff_range_create_sized(test_device(), &pages.known, sizeof(pages), &range, &va), want);
	CHECK_EQ(tuff_queue_create_sized(test_device(), &compute.known, sizeof(compute), &queue), want);
	CHECK_OK(tuff_mem_destroy(mem));
	CHECK_OK(tuff_range_destroy(range));
	CHECK_OK(tuff_queue_destroy(queue));
	cmd = test_begin(test_compute(), 0);
	CHECK_EQ(tuff_cmd_dispatch_sized(cmd, &dispatch.known, sizeof(dispatch)), want);
	CHECK_EQ(tuff_submit_sized(cmd, &order.known, sizeof(order), NULL), want);
	CHECK_EQ(tuff_abandon(cmd), -EBADF); /* the job has ended, also when its order was refused */
}

static void newer_callers_work_or_are_refused(void)
{
	read_newer(0, 0);
	read_newer(1, -E2BIG);
	read_newer(1ull << 63, -E2BIG); /* the last byte */
}

static void no_size_is_refused(void)
{
	struct tuff_mem_create_info page = {.size_B = 4096, .place = TUFF_GTT};
	struct tuff_range_create_info pages = {.size_B = 8192};
	struct tuff_queue_create_info compute = {.engine = TUFF_COMPUTE};
	struct tuff_dispatch dispatch = {.kernel = test_kernel("group", 3, "k_empty")};
	struct tuff_order order = {0};
	struct tuff_range *range;
	struct tuff_queue *queue;
	struct tuff_cmd *cmd;
	struct tuff_mem *mem;
	uint64_t va;

	CHECK_EQ(tuff_mem_create_sized(test_device(), &page, 0, &mem), -EINVAL);
	CHECK_EQ(tuff_range_create_sized(test_device(), &pages, 0, &range, &va), -EINVAL);
	CHECK_EQ(tuff_queue_create_sized(test_device(), &compute, 0, &queue), -EINVAL);
	cmd = test_begin(test_compute(), 0);
	CHECK_EQ(tuff_cmd_dispatch_sized(cmd, &dispatch, 0), -EINVAL);
	CHECK_EQ(tuff_submit_sized(cmd, &order, 0, NULL), -EINVAL);
	/* Without a struct its size means nothing. */
	cmd = test_begin(test_compute(), 0);
	CHECK_OK(tuff_submit_sized(cmd, NULL, 0, NULL));
}

const struct device_test tests_growth[] = {
	{"growth/older", "structs of an older header count as 0 where they end", older_callers_keep_working, 0},
	{"growth/older-launch", "launches and orders of an older header run", older_launches_keep_working, 0},
	{"growth/filled", "a struct that is filled ends where the caller says",
	 filled_structs_end_where_the_caller_says, 0},
	{"growth/scan", "GPUs are as far apart as the caller's structs", gpus_have_the_callers_size, TEST_ANY_CHIP},
	{"growth/newer", "members that the library does not know must be 0", newer_callers_work_or_are_refused, 0},
	{"growth/no-size", "a struct of 0 bytes is refused", no_size_is_refused, 0},
	{NULL},
};
