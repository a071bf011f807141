/* Files: reading them, and memory that has a descriptor. */
#ifndef DRV_FILE_H
#define DRV_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads all bytes of the range. False: an error, or another process has shortened the file. Any thread. */
bool drv_file_pread(int fd, void *to, uint64_t size_B, uint64_t offset_B);
/* Opens a file to write text to, and makes it where there is none; flags: O_APPEND or O_TRUNC. The descriptor, or -errno. -ENXIO: a
 * FIFO that nobody reads; open() alone would wait for a reader. Any thread. */
int drv_file_create(const char *path, int flags, unsigned mode);
/* Creates a file in memory of that size, which may be sealed: the descriptor, or -errno. -EFBIG: RLIMIT_FSIZE is smaller; the kernel
 * would send SIGXFSZ, which ends a program. Any thread. */
int drv_file_memory(const char *name, uint64_t size_B);

#endif
