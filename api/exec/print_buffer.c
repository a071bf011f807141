/* printf of kernels that were compiled with -mprintf-kind=buffered: kernels store messages in a buffer, and a host
 * function after the kernel prints them. A stream has a buffer while it has such kernels: they run one after the
 * other, and each begins with an empty buffer. The buffer is in device memory: kernels allocate in it by atomics of
 * the device's scope. Layout: ROCm-Device-Libs' printf_alloc.cl; messages: LLVM's AMDGPUEmitPrintf.cpp. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/exec/op.h"
#include "api/exec/print.h"

struct head {
	uint32_t used_B; /* bytes of the messages after the head */
	uint32_t end_B;  /* size of the buffer */
};

/* Control word of a message: bits 31:2 are its size in bytes, this word included. */
#define TO_STDERR      1u
#define HAS_HASH       2u /* a hash of the format follows; else the format itself */
#define SIZE_B(dw)     ((dw) >> 2)
#define CONTROL_B      4u
#define HASH_B         8u
#define BUFFER_LEAST_B 4096u

struct buffer {
	struct buffer *next;
	struct hip_device *device;
	struct hip_stream *stream; /* the stream whose kernels use the buffer; compared only. NULL: unused */
	unsigned users;            /* launches that use it */
	size_t size_B;
	void *memory; /* owned */
};

static struct {
	struct drv_mutex lock; /* guards the members below */
	struct buffer *first;  /* owned */
} print_buffers = {.lock = DRV_MUTEX(DRV_RANK_HIP_PRINT)};

struct job {
	struct buffer *buffer;     /* counts as a use of the buffer */
	const char *const *format; /* borrowed: the code stays loaded while work uses it */
};

/* --- messages --------------------------------------------------------------------------------- */

/* Finds the format with that hash. Each entry is "0:0:", the hash in hexadecimal, a comma, the text. NULL: none. */
static const char *find_format(const char *const *format, uint64_t hash)
{
	for (; format && *format; format++) {
		const char *text = *format;
		char *end;

		if (strncmp(text, "0:0:", 4))
			continue;
		if (strtoull(text + 4, &end, 16) == hash && *end == ',')
			return end + 1;
	}
	return NULL;
}

/* Prints a message. `words` follow the control word and end with a zero. */
static void print_message(uint32_t control, const uint64_t *words, size_t count, const char *const *formats)
{
	FILE *to = control & TO_STDERR ? stderr : stdout;
	const char *format;

	if (!(control & HAS_HASH)) {
		(void)!hip_print_words(to, words, words + count);
		return;
	}
	format = count ? find_format(formats, words[0]) : NULL;
	if (format)
		(void)!hip_print(to, format, words + 1, words + count);
}

/* Prints all messages. Sizes are checked, since a kernel may write anything. */
static void print_messages(const char *from, size_t size_B, const char *const *formats)
{
	uint64_t *words = calloc(size_B / sizeof(*words) + 2, sizeof(*words));
	uint32_t control;

	for (size_t at = 0, next; words && size_B - at >= CONTROL_B; at = next) {
		memcpy(&control, from + at, sizeof(control));
		if (SIZE_B(control) < CONTROL_B || SIZE_B(control) > size_B - at)
			break;
		next = at + SIZE_B(control);
		memcpy(words, from + at + CONTROL_B, SIZE_B(control) - CONTROL_B);
		words[(SIZE_B(control) - CONTROL_B) / sizeof(*words)] = 0;
		print_message(control, words, (SIZE_B(control) - CONTROL_B) / sizeof(*words), formats);
	}
	free(words);
}

/* --- buffers ---------------------------------------------------------------------------------- */

static hipError_t buffer_clear(struct buffer *b)
{
	const struct head head = {0, (uint32_t)b->size_B};

	return hip_of_hsa(hsa_memory_copy(b->memory, &head, sizeof(head)));
}

static struct buffer *buffer_create(struct hip_device *device)
{
	struct buffer *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->device = device;
	b->size_B = device->printf_B < BUFFER_LEAST_B ? BUFFER_LEAST_B : device->printf_B;
	if (b->size_B > UINT32_MAX)
		b->size_B = UINT32_MAX;
	if (hsa_amd_memory_pool_allocate(device->vram, b->size_B, 0, &b->memory)) {
		free(b);
		return NULL;
	}
	if (buffer_clear(b)) {
		hsa_amd_memory_pool_free(b->memory);
		free(b);
		return NULL;
	}
	return b;
}

/* Finds the stream's buffer, or an unused one. */
static struct buffer *find_locked(const struct hip_stream *s)
{
	struct buffer *idle = NULL;

	drv_rank_assert(DRV_RANK_HIP_PRINT);
	for (struct buffer *b = print_buffers.first; b; b = b->next) {
		if (b->users && b->stream == s)
			return b;
		if (!b->users && b->device == s->device)
			idle = b;
	}
	return idle;
}

static struct buffer *buffer_take(struct hip_stream *s)
{
	struct buffer *b;

	drv_mutex_lock(&print_buffers.lock);
	b = find_locked(s);
	if (!b && (b = buffer_create(s->device))) {
		b->next = print_buffers.first;
		print_buffers.first = b;
	}
	if (b) {
		b->stream = s;
		b->users++;
	}
	drv_mutex_unlock(&print_buffers.lock);
	return b;
}

static void buffer_give(struct buffer *b)
{
	drv_mutex_lock(&print_buffers.lock);
	b->users--;
	drv_mutex_unlock(&print_buffers.lock);
}

void hip_print_reset(struct hip_device *device)
{
	struct buffer **at = &print_buffers.first;

	drv_mutex_lock(&print_buffers.lock);
	while (*at) {
		struct buffer *b = *at;

		if (b->device != device || b->users) {
			at = &b->next;
			continue;
		}
		*at = b->next;
		hsa_amd_memory_pool_free(b->memory);
		free(b);
	}
	drv_mutex_unlock(&print_buffers.lock);
}

/* --- launches --------------------------------------------------------------------------------- */

/* Messages that did not fit are absent: the kernel's printf has returned an error for them. */
static hipError_t read_messages(const struct job *job)
{
	struct buffer *b = job->buffer;
	struct head head;
	char *copy;
	hipError_t r = hip_of_hsa(hsa_memory_copy(&head, b->memory, sizeof(head)));

	if (r || !head.used_B || head.used_B > b->size_B - sizeof(head))
		return r ? r : buffer_clear(b);
	copy = malloc(head.used_B);
	if (!copy)
		return buffer_clear(b);
	r = hip_of_hsa(hsa_memory_copy(copy, (char *)b->memory + sizeof(head), head.used_B));
	if (!r)
		print_messages(copy, head.used_B, job->format);
	free(copy);
	return r ? r : buffer_clear(b);
}

/* Runs on the device's host thread, when the kernel has ended or never will. */
static void messages_run(void *data, hipError_t error, bool dropped)
{
	struct job *job = data;

	if (dropped) {
		/* A buffer that cannot be emptied is not used again. */
		if (!buffer_clear(job->buffer))
			buffer_give(job->buffer);
		free(job);
		return;
	}
	if (!error)
		error = read_messages(job);
	if (error)
		hip_device_fail(job->buffer->device, error);
	buffer_give(job->buffer);
	free(job);
}

hipError_t hip_print_put(struct hip_stream *s, const struct hip_launch *launch)
{
	struct hip_launch with = *launch;
	struct job *job = malloc(sizeof(*job));
	hipError_t r;

	if (!job)
		return hipErrorOutOfMemory;
	*job = (struct job){buffer_take(s), launch->kernel->cs->format};
	if (!job->buffer) {
		free(job);
		return hipErrorOutOfMemory;
	}
	with.messages = job->buffer->memory;
	r = hip_launch_put(s, &with);
	if (r)
		buffer_give(job->buffer);
	else /* when this fails, the end of the kernel is unknown, and the buffer is not used again */
		r = hip_host_put(s, &(struct hip_host){.own = messages_run, .data = job});
	if (r)
		free(job);
	return r;
}
