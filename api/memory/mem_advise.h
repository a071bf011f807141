#ifndef API_ADVICE_H
#define API_ADVICE_H

#include "api/base/base.h"

/* What was advised for these addresses: the memory goes. */
void hip_advice_forget(uint64_t lo, uint64_t hi);

#endif
