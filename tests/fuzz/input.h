/* The bytes of an input, drawn in order. A drawn number is 0 past the end. */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed from libFuzzer while the input runs. */
struct input {
	const uint8_t *at, *end;
};

static inline bool input_ended(const struct input *in)
{
	return in->at == in->end;
}

static inline uint64_t input_draw(struct input *in, unsigned bytes)
{
	uint64_t value = 0;

	if ((size_t)(in->end - in->at) < bytes)
		bytes = (unsigned)(in->end - in->at);
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)*in->at++ << 8 * i;
	return value;
}

static inline unsigned input_byte(struct input *in)
{
	return (unsigned)input_draw(in, 1);
}

#define INPUT_PICK(in, list) ((list)[input_byte(in) % (sizeof(list) / sizeof((list)[0]))])

#endif
