/* A list of all definitions of HSA's headers, instantiated with two sets of headers. */
#ifndef TESTS_HSA_ABI_LIST_H
#define TESTS_HSA_ABI_LIST_H

#ifdef __cplusplus
extern "C" {
#endif

struct abi_row {
	const char *what;
	long long value;  /* of an enumerator, in bytes of a size or an offset */
	const char *type; /* of a function, as the compiler spells it; NULL */
};

/* They end with a row without what. */
extern const struct abi_row *const abi_ours, *const abi_debians;

#ifdef __cplusplus
}
#endif

#endif
