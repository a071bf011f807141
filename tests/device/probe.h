/* Common parts of the probes: experiments that only hardware can answer (docs/probe.md). An experiment begins with
 * probe_open() and ends with probe_close(), which proves that no memory outside of it was touched. Between them a
 * job may be late or its queue lost: that is an answer, not a failure. An experiment fails only when it could not
 * be carried out. */
#ifndef TESTS_DEVICE_PROBE_H
#define TESTS_DEVICE_PROBE_H

#include "tests/device/device.h"

/* How long a job gets that should be done at once. */
#define PROBE_SOON_NS 2000000000ll
/* Above every kernel's watchdog of compute and copy rings (60 s to Linux 6.16), below a test's limit. */
#define PROBE_WATCHDOG_NS 80000000000ll

enum probe_end {
	PROBE_DONE,
	PROBE_LATE, /* not yet */
	PROBE_LOST, /* its ring hung and was reset */
};

/* Sentinels: system memory and VRAM that the experiment has no business with. */
void probe_open(void);
/* Destroys the queues, looks at the sentinels and guard pages, and shows that a new queue works. */
void probe_close(void);

/* Zeroed words that CPU and GPU poll, a guard page before and behind. Lives until the test ends. */
struct test_memory probe_words(uint64_t size_B);
/* A queue of the experiment's own, which may be lost. Owned by probe_close(). */
struct tuff_queue *probe_queue(enum tuff_engine engine, unsigned ring);
/* A compute queue on another ring than 0, or a copy queue where there is only one. */
struct tuff_queue *probe_other_queue(void);

struct tuff_cmd *probe_begin(struct tuff_queue *queue);
struct tuff_point probe_submit(struct tuff_cmd *cmd);
void probe_packet(struct tuff_cmd *cmd, const uint32_t *dw, unsigned count);
enum probe_end probe_wait(struct tuff_point point, int64_t timeout_ns);
/* Submits and waits until it is done or lost; a job that is neither after the watchdog's time fails the test. */
enum probe_end probe_finish(struct tuff_cmd *cmd);
/* Waits for that after a rescue. */
enum probe_end probe_settle(struct tuff_point point);
/* "the job ended", ... */
const char *probe_says(enum probe_end end);
/* A line about what the loss of the queue took along. */
void probe_note_loss(struct tuff_queue *queue);
/* Says that the experiment cost a ring, so that probe_close() gives the kernel time to come back. */
void probe_lose(bool vram_lost);

/* A word that the CPU sets and reads while the GPU is at it. */
void probe_set(const struct test_memory *words, unsigned index, uint32_t value);
uint32_t probe_get(const struct test_memory *words, unsigned index);
uint64_t probe_get64(const struct test_memory *words, unsigned index);
void probe_sleep(uint64_t ns);

/* --- packets: those that are alike from GFX9 to GFX12 --------------------------------------------- */

#define PM4(opcode, body_dw) (3u << 30 | (uint32_t)((body_dw) - 1) << 16 | (uint32_t)(opcode) << 8)
#define LO(va)               ((uint32_t)(va))
#define HI(va)               ((uint32_t)((uint64_t)(va) >> 32))

/* The dword at va has to be equal to, or at least, reference. */
enum probe_compare { PROBE_EQUAL = 3, PROBE_AT_LEAST = 5 };
void probe_wait_word(struct tuff_cmd *cmd, enum probe_compare compare, uint64_t va, uint32_t reference,
		     uint32_t interval);
/* A word written when the packet processor comes by, without waiting for waves. */
void probe_mark(struct tuff_cmd *cmd, uint64_t va, uint32_t value);

/* --- launches by hand ----------------------------------------------------------------------------- */

/* What a kernel descriptor says. */
struct probe_program {
	uint32_t rsrc1, rsrc2, rsrc3, properties, private_B;
	uint64_t entry;
};

struct probe_launch {
	const struct probe_program *program;
	const void *args; /* borrowed during the call */
	uint32_t args_B;
	uint32_t groups[3], lanes[3];
	uint64_t scratch; /* backing memory; 0: none */
	uint32_t scratch_B, tmpring;
	bool split;     /* START to RSRC2 in packets as small as others send them, instead of one */
	bool only_run;  /* nothing but that one run and USER_DATA */
	uint32_t order; /* other bits of the initiator */
};

/* 9, 0x10, 0x11 or 0x12: the first digits of the target. */
unsigned probe_generation(void);
/* Lanes of the program's waves. */
unsigned probe_lanes(const struct probe_program *program);
/* TMPRING_SIZE for so many waves of the whole device, each with so much scratch; before GFX11 of the device, then of each
 * shader engine, in units of 1 KiB and of 256 bytes. */
uint32_t probe_tmpring(uint32_t waves, uint32_t wave_KiB, uint32_t engines);
/* Reads the descriptor of a kernel of probe.hip. */
void probe_program(const char *kernel, struct probe_program *program);
/* What must precede the first launch by hand of a job: brings the code into view, and sets what is not launch's. */
void probe_prepare(struct tuff_cmd *cmd);
void probe_launch(struct tuff_cmd *cmd, const struct probe_launch *launch);

#endif
