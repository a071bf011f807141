/* Replaces Debian's headers where they are not installed. */
#include <stddef.h>

#include "list.h"

const struct abi_row *const abi_debians = NULL;
