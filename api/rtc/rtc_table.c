/* The table of functions that libhiprtc.so.7 calls. */
#include "api/rtc/functions.h"

#if TUFF_HIP_ABI >= 7
const struct hip_rtc tuff_hip_rtc = {
#define HIPRTC_FUNCTION(result, name, parameters, arguments) .name = name,
	HIPRTC_FUNCTIONS
#undef HIPRTC_FUNCTION
};
#endif
