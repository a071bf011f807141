/* Random numbers that are the same on every machine. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

/* xorshift64*, from a seed that is not 0. */
static inline uint64_t test_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

/* A number from 0 on, of up to `bits` bits: one of few bits is as likely as one of many. */
static inline unsigned test_random_few(uint64_t *state, unsigned bits)
{
	uint64_t r = test_random(state);

	return (unsigned)(r >> 8) & ((2u << r % bits) - 1);
}

#endif
