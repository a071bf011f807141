/* Another name of channel_descriptor.h. */
#ifndef HIP_AMD_DETAIL_AMD_CHANNEL_DESCRIPTOR_H
#define HIP_AMD_DETAIL_AMD_CHANNEL_DESCRIPTOR_H

#include <hip/channel_descriptor.h>

#endif
