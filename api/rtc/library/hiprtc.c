/* libhiprtc.so.7: passes calls on to libamdhip64.so.7, which compiles for hipLink* functions, too. */
#include "api/rtc/functions.h"

#define HIPRTC_FUNCTION(result, name, parameters, arguments)                                                       \
	result name parameters                                                                                     \
	{                                                                                                          \
		return tuff_hip_rtc.name arguments;                                                                \
	}
HIPRTC_FUNCTIONS
