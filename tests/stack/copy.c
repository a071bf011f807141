/* The copier: every engine, every pair of places, sizes and alignments around all limits, each byte compared. */
#include <errno.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

#define ROOM_B (9u << 20) /* more than two packets, and several staging slots */

static struct stack s;
static struct vm_mem *vram[2], *gtt[2];
static uint8_t *host[2], *model;

static struct sdma_end end_at(unsigned place, unsigned which, uint64_t offset_B)
{
	switch (place) {
	case SDMA_VRAM:
		return (struct sdma_end){vram[which]->va + offset_B, SDMA_VRAM, false};
	case SDMA_GTT:
		return (struct sdma_end){gtt[which]->va + offset_B, SDMA_GTT, true};
	default:
		return (struct sdma_end){(uintptr_t)host[which] + offset_B, SDMA_PAGEABLE, true};
	}
}

static bool finish(struct sdma_job *job, int r)
{
	if (CHECK_EQ(r, 0) && CHECK_EQ(cs_point_wait(job->point, CS_FOREVER), 0))
		return true;
	printf("  %s\n", drv_error_last()->text);
	return false;
}

/* Moves the whole room between `place` and host memory, so that the CPU can look. */
static bool fetch(unsigned place, uint8_t *to)
{
	struct sdma_job job = {
		.src = end_at(place, 1, 0), .size_B = ROOM_B, .dst = {(uintptr_t)to, SDMA_PAGEABLE, true}};

	return finish(&job, sdma_copier_copy(s.copier, &job));
}

static void put(unsigned place, unsigned which, const uint8_t *from)
{
	struct sdma_job job = {
		.dst = end_at(place, which, 0), .size_B = ROOM_B, .src = {(uintptr_t)from, SDMA_PAGEABLE, true}};

	finish(&job, sdma_copier_copy(s.copier, &job));
}

/* One copy in the middle of the room: the bytes around it must stay. */
static void copy_once(unsigned from, unsigned to, uint64_t src_B, uint64_t dst_B, uint64_t size_B)
{
	static uint8_t got[ROOM_B];
	struct sdma_job job = {.dst = end_at(to, 1, dst_B), .src = end_at(from, 0, src_B), .size_B = size_B};

	memset(model, 0x11, ROOM_B);
	put(to, 1, model);
	memcpy(model + dst_B, host[0] + src_B, size_B);
	if (finish(&job, sdma_copier_copy(s.copier, &job)) && fetch(to, got) && !CHECK(!memcmp(got, model, ROOM_B)))
		printf("  place %u + %llu to place %u + %llu, %llu bytes by %s\n", from, (long long)src_B, to,
		       (long long)dst_B, (long long)size_B, sdma_engine_name(job.engine));
}

static void fill_once(unsigned to, uint64_t dst_B, uint64_t size_B)
{
	static uint8_t got[ROOM_B];
	struct sdma_job job = {.dst = end_at(to, 1, dst_B), .size_B = size_B};

	memset(model, 0x22, ROOM_B);
	put(to, 1, model);
	memset(model + dst_B, 0xa7, size_B);
	if (finish(&job, sdma_copier_fill(s.copier, &job, 0xa7)) && fetch(to, got))
		CHECK(!memcmp(got, model, ROOM_B));
}

static void everything_arrives(void)
{
	static const struct {
		uint64_t src_B, dst_B, size_B;
	} shapes[] = {
		{0, 0, 1},      {3, 5, 7},          {4096, 0, 4096},         {1, 1, 65537},
		{2, 6, 300001}, {16, 32, 0x3fff00}, {5, 5, 0x3fff01 + 4096}, {0, 4, (8u << 20) + 12},
	};

	for (unsigned from = 0; from < 3; from++)
		for (unsigned to = 0; to < 3; to++)
			for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
				copy_once(from, to, shapes[i].src_B, shapes[i].dst_B, shapes[i].size_B);
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		fill_once(SDMA_VRAM, shapes[i].dst_B, shapes[i].size_B);
		fill_once(SDMA_GTT, shapes[i].dst_B, shapes[i].size_B);
	}
}

static void bad_copies_are_refused(void)
{
	struct sdma_job job = {.dst = end_at(SDMA_VRAM, 0, 0), .src = end_at(SDMA_VRAM, 0, 50), .size_B = 100};

	CHECK_EQ(sdma_copier_copy(s.copier, &job), -EINVAL);
	job.src.va = job.dst.va;
	CHECK_EQ(sdma_copier_copy(s.copier, &job), -EINVAL);
	job.src = end_at(SDMA_VRAM, 1, 0);
	job.size_B = UINT64_MAX;
	CHECK_EQ(sdma_copier_copy(s.copier, &job), -EINVAL);
	job.size_B = UINT64_MAX - job.dst.va;
	CHECK_EQ(sdma_copier_copy(s.copier, &job), -EINVAL);
	job.size_B = 0;
	CHECK_EQ(sdma_copier_copy(s.copier, &job), 0);
	CHECK_EQ(cs_point_poll(job.point), 1);
	job.dst = end_at(SDMA_PAGEABLE, 0, 0);
	job.size_B = 8;
	CHECK_EQ(sdma_copier_fill(s.copier, &job, 1), -EINVAL);
}

int main(int argc, char **argv)
{
	/* The engine is chosen by the environment, which is read once: one run of the program each. */
	static const char *const engines[] = {"auto", "sdma", "shader", "cpu"};

	if (argc < 2) {
		char command[512];

		for (unsigned i = 0; i < 4; i++) {
			snprintf(command, sizeof(command), "TUFF_COPY=%s '%s' %s", engines[i], argv[0], engines[i]);
			CHECK_EQ(system(command), 0);
		}
		return check_done("copies and fills by every engine");
	}
	CHECK_EQ(vgpu_start("gfx906"), 0);
	if (!CHECK_EQ(stack_open(&s), 0))
		return check_done(argv[1]);
	model = malloc(ROOM_B);
	for (unsigned i = 0; i < 2; i++) {
		vram[i] = stack_vram(&s, ROOM_B);
		gtt[i] = stack_gtt(&s, ROOM_B);
		host[i] = malloc(ROOM_B);
	}
	for (unsigned i = 0; i < ROOM_B; i++)
		host[0][i] = i * 31 + (i >> 11);
	put(SDMA_VRAM, 0, host[0]);
	put(SDMA_GTT, 0, host[0]);
	everything_arrives();
	bad_copies_are_refused();
	for (unsigned i = 0; i < 2; i++) {
		vm_mem_destroy(vram[i]);
		vm_mem_destroy(gtt[i]);
		free(host[i]);
	}
	free(model);
	stack_close(&s);
	vgpu_stop();
	return check_done(argv[1]);
}
