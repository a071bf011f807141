/* The demo: what its programs share. */
#ifndef TOOLS_DEMO_H
#define TOOLS_DEMO_H

#include "sdma/sdma.h"

struct demo {
	struct drv_device *dev;
	struct vm *vm;
	struct cs_ctx *ctx;
	struct cs_ring *ring;
	struct sdma_copier *copier;
	struct cs_code *code;
	const char *picture;  /* where the Mandelbrot picture goes; NULL: nowhere */
	unsigned engine_used; /* bit per enum sdma_engine, since the last report */
	unsigned launches;    /* since the last report */
	uint64_t ioctls_before;
	double started_s;
	unsigned right, wrong;
};

/* Buffers in VRAM. NULL with a message when it cannot be had. */
struct vm_mem *demo_alloc(struct demo *d, uint64_t size_B);
/* Copies between ordinary host memory and a buffer, and waits. */
DRV_MUST_CHECK int demo_upload(struct demo *d, struct vm_mem *to, const void *from, uint64_t size_B);
DRV_MUST_CHECK int demo_download(struct demo *d, void *to, const struct vm_mem *from, uint64_t size_B);
/* Runs one kernel of the demo and waits. */
DRV_MUST_CHECK int demo_launch(struct demo *d, const char *kernel, const uint32_t grid[3], const uint32_t group[3],
			       const void *args, uint32_t args_B);
/* Prints a program's line: what ran, the path of its data, ioctls, right or wrong. Begins the next program. */
void demo_report(struct demo *d, const char *name, const char *what, int r, bool right);
double demo_now_s(void);

/* The programs; each reports itself. */
void demo_vadd(struct demo *d);
void demo_sgemm(struct demo *d);
void demo_reduce(struct demo *d);
void demo_histogram(struct demo *d);
void demo_mandelbrot(struct demo *d);
void demo_copies(struct demo *d);

/* Writes an 8-bit RGB picture. 0 or -errno. */
int png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb);

#endif
