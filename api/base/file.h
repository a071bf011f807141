/* Reading files that the program names. */
#ifndef API_FILE_H
#define API_FILE_H

#include "api/base/base.h"

/* Opens a file; the caller closes it. Never waits: a FIFO, and any other file that has no bytes of its own, is empty. Errors:
 * FileNotFound; InvalidValue, when it is a folder. */
hipError_t hip_file_open(const char *path, int *fd, uint64_t *size_B);
/* Reads a file; the caller frees the image, which has one byte more. Errors: FileNotFound; InvalidValue, when the file
 * cannot be read. */
hipError_t hip_file_read(const char *path, char **image, size_t *size_B);

#endif
