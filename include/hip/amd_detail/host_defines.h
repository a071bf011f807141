/* Another name of device/attributes.h, for programs that include it by AMD's name. */
#include <hip/device/attributes.h>
