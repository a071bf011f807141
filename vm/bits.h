/* Free places of a slab: a bit for each, set while it is free. Thread rule: none of its own. */
#ifndef VM_BITS_H
#define VM_BITS_H

#include <stdint.h>

/* Words for that many places. */
#define VM_BITS_WORDS(count) (((count) + 63) / 64)

/* Marks `count` places free. */
static inline void vm_bits_init(uint64_t *bits, unsigned count)
{
	for (unsigned i = 0; i < count / 64; i++)
		bits[i] = ~0ull;
	if (count % 64)
		bits[count / 64] = (1ull << (count % 64)) - 1;
}

/* Takes the first free place; there must be one. */
static inline unsigned vm_bits_take(uint64_t *bits)
{
	unsigned word = 0, bit;

	while (!bits[word])
		word++;
	bit = __builtin_ctzll(bits[word]);
	bits[word] &= ~(1ull << bit);
	return word * 64 + bit;
}

static inline void vm_bits_put(uint64_t *bits, unsigned place)
{
	bits[place / 64] |= 1ull << (place % 64);
}

#endif
