/* The demo: common state and functions of its programs. One thread. */
#ifndef TOOLS_DEMO_H
#define TOOLS_DEMO_H

#include <tuff/tuff.h>

struct demo {
	struct tuff_device *device;
	struct tuff_queue *queue;
	struct tuff_code *code;
	const char *picture;   /* file for the Mandelbrot picture; NULL: none */
	unsigned copiers_used; /* bit per enum tuff_copier, since the last report */
	unsigned launches;     /* since the last report */
	uint64_t ioctls_before;
	double started_s;
	unsigned right, wrong;
};

/* A buffer. */
struct demo_memory {
	struct tuff_mem *mem; /* NULL: none */
	void *va;             /* address on the GPU, and on the CPU where the CPU reaches it */
};
TUFF_CHECK int demo_alloc(struct demo *d, uint64_t size_B, enum tuff_place place, struct demo_memory *memory);
void demo_free(struct demo_memory *memory);
/* Copies between any two addresses, or fills with a byte (from NULL), waits, and records the engine. */
TUFF_CHECK int demo_copy(struct demo *d, void *to, const void *from, uint64_t size_B);
TUFF_CHECK int demo_fill(struct demo *d, void *to, uint8_t value, uint64_t size_B);
/* Runs one kernel of the demo and waits. */
TUFF_CHECK int demo_launch(struct demo *d, const char *kernel, const uint32_t grid[3], const uint32_t group[3],
			   const void *args, uint32_t args_B);
/* Prints a program's line: name, path of its data, ioctls, right or wrong. Resets the counts for the next
 * program. */
void demo_report(struct demo *d, const char *name, const char *what, int r, bool right);
const char *demo_copier_name(enum tuff_copier copier);
double demo_now_s(void);

/* The programs; each prints its own line. */
void demo_vadd(struct demo *d);
void demo_sgemm(struct demo *d);
void demo_reduce(struct demo *d);
void demo_histogram(struct demo *d);
void demo_mandelbrot(struct demo *d);
void demo_copies(struct demo *d);

/* Writes an 8-bit RGB picture. 0 or -errno. */
int png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb);

#endif
