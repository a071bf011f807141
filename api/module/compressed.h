#ifndef API_COMPRESSED_H
#define API_COMPRESSED_H

#include "api/base/base.h"

/* image: at least four bytes. */
bool hip_is_compressed(const void *image);
/* The bundle, which the caller frees. InvalidImage: broken, or the library that unpacks it is not installed. */
hipError_t hip_decompress(const void *image, void **plain, size_t *size_B);

#endif
