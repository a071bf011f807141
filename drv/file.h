/* Reading files. */
#ifndef DRV_FILE_H
#define DRV_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads all bytes of the range. False: an error, or another process has shortened the file. Any thread. */
bool drv_file_pread(int fd, void *to, uint64_t size_B, uint64_t offset_B);

#endif
