/* What kernels write for the host: formats and arguments of printf, and hostcalls, whose packets are drawn word by word. The first byte
 * of the input tells which. A function of the host, which a hostcall can name, is the program's to choose: none is drawn. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "api/exec/hostcall.h"
#include "api/exec/print.h"
#include "tests/fuzz/input.h"
#include "tests/hostcall.h"
#include "vgpu/vgpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);
const char *__asan_default_options(void);

/* C's library allocates what a precision of 2^31 digits asks for. */
const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=32";
}

#define FORMAT_B 256u
#define PACKETS  8u /* that are drawn, of those of the device */

static struct buffer *shared;

/* The input's words, with a zero behind them. Owned by the caller. */
static uint64_t *words_draw(struct input *in, size_t *count)
{
	uint64_t *words;

	*count = ((size_t)(in->end - in->at) + 7) / 8;
	words = calloc(*count + 1, sizeof(*words));
	for (size_t i = 0; words && i < *count; i++)
		words[i] = input_draw(in, 8);
	return words;
}

static void print_format(struct input *in, FILE *to)
{
	char format[FORMAT_B];
	size_t length = input_byte(in), count;
	uint64_t *words;

	for (size_t i = 0; i < length; i++)
		format[i] = (char)input_byte(in);
	format[length] = 0;
	words = words_draw(in, &count);
	if (words)
		hip_print(to, format, words, words + count);
	free(words);
}

static void print_words(struct input *in, FILE *to)
{
	size_t count;
	uint64_t *words = words_draw(in, &count);

	if (words)
		hip_print_words(to, words, words + count);
	free(words);
}

/* A message's bit for the standard error, which libFuzzer uses, is 0. */
static void packet_draw(struct input *in, unsigned index)
{
	struct header *h = &shared->headers[index];

	h->next = input_byte(in) % (2 * PACKETS);
	h->active = input_draw(in, 1 + input_byte(in) % 8);
	h->service = PRINTF + input_byte(in) % 3;
	for (unsigned lane = 0; lane < 64; lane++) {
		uint64_t *slot = shared->payloads[index][lane];

		for (unsigned i = 0; i < 8 && h->active >> lane & 1; i++)
			slot[i] = input_draw(in, input_byte(in) % 9);
		if (h->service == PRINTF && slot[0] & 1)
			slot[1] &= ~1ull;
	}
	h->control = READY;
}

/* What is printed to the standard output goes to `to` meanwhile. */
static void hostcalls(struct input *in, FILE *to)
{
	const int out = dup(STDOUT_FILENO);

	for (unsigned i = 1; i < PACKETS; i++)
		packet_draw(in, i);
	fflush(stdout);
	dup2(fileno(to), STDOUT_FILENO);
	shared->requested = 1;
	hsa_signal_add_screlease(shared->doorbell, 1);
	while (shared->headers[1].control & READY)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
}

static FILE *begin(void)
{
	FILE *to = fopen("/dev/full", "w"); /* ends what a width of 2^31 begins */

	if (!to || vgpu_start("gfx908:vram=128M:gtt=256M") || hip_init())
		abort();
	shared = (struct buffer *)(void *)hip_hostcall_buffer(&hip.device[0]);
	if (!shared)
		abort();
	return to;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	struct input in = {data, data + size_B};
	static FILE *to;

	if (!to)
		to = begin();
	switch (input_byte(&in) % 3) {
	case 0:
		print_format(&in, to);
		break;
	case 1:
		print_words(&in, to);
		break;
	default:
		hostcalls(&in, to);
	}
	return 0;
}
