#ifndef API_COMPRESSED_H
#define API_COMPRESSED_H

#include "api/base/base.h"

/* size_B: the image's bytes; 0: not known, and the image's headers are trusted, as those of a linked program must be. */
bool hip_is_compressed(const void *image, size_t size_B);
/* The size that the header tells. 0: it tells none, or is damaged. */
size_t hip_compressed_size(const void *image);
/* Decompresses a bundle, which the caller frees. Errors: InvalidImage, when the bundle is damaged, when it is longer
 * than size_B, or when the library that decompresses it is not installed. */
hipError_t hip_decompress(const void *image, size_t size_B, void **plain, size_t *plain_B);
/* Decompresses a frame of Zstandard to exactly to_B bytes. from_B 0: only the frame itself says where it ends. False: the frame is
 * damaged or has another size, or the library is not installed. */
bool hip_zstd(void *to, size_t to_B, const void *from, size_t from_B);

#endif
