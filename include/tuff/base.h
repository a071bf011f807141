/* Errors, handles, structs that grow, threads: the rules that hold for every function of tuff.
 *
 * Objects. The library owns each; the caller names it by a handle:
 *
 *   device   an open GPU, with a GPU address space of its own (device.h)
 *   mem      an allocation, registered host memory, or an import (memory.h)
 *   range    reserved addresses, in which memory is bound (memory.h)
 *   code     a loaded code object (code.h)
 *   kernel   a GPU function of a code object (code.h)
 *   queue    where jobs are submitted (queue.h)
 *   cmd      the commands of one job while they are written (queue.h)
 *   sync     a DRM syncobj (queue.h)
 *
 * Errors. A function that can fail gives 0 or -errno (from <errno.h>), must be checked, and changes nothing when it
 * fails: outputs stay as they were. The calling thread's record, tuff_error(), says why it failed. Errors that
 * every function may give and that are not repeated at each:
 *
 *   -EBADF   an object is not alive: NULL, destroyed before, or of another kind
 *   -EINVAL  an argument has no meaning: a NULL output, a size that is 0 or overflows, an unknown enum value
 *   -E2BIG   a struct has a member that this library does not know, and the member is not 0
 *   -EXDEV   objects of different devices where one is needed
 *   -ENOMEM  no host memory, or the kernel had none
 *   -ENODEV  the device is gone, or was opened by the process that this one was forked from
 *
 * Handles. A handle is a pointer that is not an address: each call looks it up in a table, so a freed or foreign
 * handle is refused and never followed. An object may be destroyed when its children are gone and no other thread
 * is in a call with it.
 *
 * Ownership. The caller destroys the objects that it creates. The library reads structs and arrays that are passed
 * in during the call only. Strings that it hands out live as long as the object that they belong to.
 *
 * Growth. A later release may append members to a struct and values to an enum. Programs keep working with the
 * newer library without being compiled again, and with the older one as long as they use nothing new. Each function
 * that takes a struct by pointer exists twice: the library exports NAME_sized(), which takes the struct's size as
 * well; NAME() is inline in the header and passes the size that the caller was compiled with. The two sides
 * compare:
 *
 *   A struct that the library reads    Members beyond the caller's size count as 0, and 0 in a new member means
 *                                      what the library did without it. Bytes beyond the library's own struct must
 *                                      be 0: else -E2BIG.
 *   A struct that the library fills    The library fills as many bytes as the caller has. Bytes beyond its own
 *                                      struct become 0.
 *
 * A new member begins beyond the size that the struct had, never in the padding at its end. A size of 0 is -EINVAL.
 * (Linux does the same in clone3() and openat2(). A size as the first member, or an sType as Vulkan's, would have
 * to be set before every call, also in structs that are filled, and a forgotten one is found at run time only; an
 * argument that the compiler fills in cannot be forgotten, and initialisers name the caller's members alone.)
 * Designated initialisers, or `= {0}`, leave 0 in members that the program does not know. struct tuff_point and
 * struct tuff_sync_point are values, elements of arrays, and never grow.
 *
 * Threads. Each function's description, or else that of its header or section, says one of these:
 *
 *   "Thread safe."            any thread, at any time
 *   "One thread at a time."   for one object, the caller keeps threads apart
 *
 * The library starts no thread and installs no signal handler. No function is a cancellation point
 * (pthread_cancel(3)). 64 KiB of stack are enough for each.
 *
 * Fork. A child may open devices anew; every call on an inherited object gives -ENODEV. */
#ifndef TUFF_BASE_H
#define TUFF_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. A release that adds to the interface raises the minor number. A release that
 * changes or removes a function changes the soname, libtuff.so.0, and the version node of the symbols, TUFF_0, as
 * well. */
#define TUFF_VERSION_MAJOR 0
#define TUFF_VERSION_MINOR 4

/* A version as one number, which compares as versions do: TUFF_VERSION >= TUFF_VERSION_NUMBER(0, 4). */
#define TUFF_VERSION_NUMBER(major, minor) ((major) * 1000 + (minor))
#define TUFF_VERSION                      TUFF_VERSION_NUMBER(TUFF_VERSION_MAJOR, TUFF_VERSION_MINOR)

#define TUFF_CHECK  __attribute__((warn_unused_result))
#define TUFF_API    __attribute__((visibility("default")))
#define TUFF_INLINE static inline TUFF_CHECK

struct tuff_device;
struct tuff_mem;
struct tuff_range;
struct tuff_code;
struct tuff_kernel;
struct tuff_queue;
struct tuff_cmd;
struct tuff_sync;

/* Gives the version of the library that the program runs with, as TUFF_VERSION_NUMBER() has it; TUFF_VERSION is
 * that of the headers that the program was compiled with. Thread safe. */
TUFF_API unsigned tuff_version(void);
/* Gives the same version as text, "0.4"; the string is static. Thread safe. */
TUFF_API const char *tuff_version_text(void);

/* Gives the reason why the calling thread's last failing call failed: the place inside tuff, the ioctl, the cause.
 * "" when none has failed yet; a successful call does not change it. Valid until the thread's next failure. Thread
 * safe. */
TUFF_API const char *tuff_error(void);

#ifdef __cplusplus
}
#endif

#endif
