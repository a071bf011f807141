/* The code objects of this folder: "variables.v5" and "outside.v5" for gfx900, gfx906, gfx908 and gfx90a in formats
 * 4 and 5, for "gfx9-generic", "gfx10-1-generic", "gfx10-3-generic" and "gfx11-generic" in 6. variables names
 * outside and does not define it. "image.v5" reads and writes images, for gfx900, gfx906, gfx908 and a chip of
 * each later generation. */
#ifndef TESTS_CODE_H
#define TESTS_CODE_H

#include "shaders/blob.h"

extern const struct shader_blob code_blobs[];

#endif
