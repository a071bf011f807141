#ifndef API_ADVICE_H
#define API_ADVICE_H

#include "api/base/base.h"

/* Drops the hints of a range of addresses whose memory is freed. */
void hip_advice_forget(uint64_t lo, uint64_t hi);

#endif
