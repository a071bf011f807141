/* Definitions of HIP's headers, compared with those of AMD's of the same release. */
#ifndef TESTS_HIP_ABI_LIST_H
#define TESTS_HIP_ABI_LIST_H

struct abi_row {
	const char *what;
	long long value; /* of an enumerator, in bytes of a size or an offset */
	long long want;
};

/* They end with a row without what. Our headers of either interface; Debian's, or NULL where they are not
 * installed. */
extern const struct abi_row *const abi_ours5, *const abi_ours6, *const abi_debians;

#endif
