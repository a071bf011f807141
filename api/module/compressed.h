#ifndef API_COMPRESSED_H
#define API_COMPRESSED_H

#include "api/base/base.h"

/* `image` has at least four bytes. */
bool hip_is_compressed(const void *image);
/* Decompresses a bundle, which the caller frees. Errors: InvalidImage, when the bundle is damaged or the library
 * that decompresses it is not installed. */
hipError_t hip_decompress(const void *image, void **plain, size_t *size_B);

#endif
