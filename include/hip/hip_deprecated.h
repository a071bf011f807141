/* Another name of api/properties.h, which has the record of HIP 5. */
#ifndef HIP_INCLUDE_HIP_HIP_DEPRECATED_H
#define HIP_INCLUDE_HIP_HIP_DEPRECATED_H

#include <hip/api/properties.h>

#endif
