/* Errors, handles, and the rules that hold for every function of tuff.
 *
 * Errors. A function that can fail gives 0 or -errno (from <errno.h>), must be checked, and changes nothing when it
 * fails: outputs stay as they were. Why it failed stands in the calling thread's record, tuff_error(). Errors that
 * every function may give and that are not repeated at each:
 *
 *   -EBADF   an object is not alive: NULL, destroyed before, or of another kind
 *   -EINVAL  an argument has no meaning: a NULL output, a size that is 0 or overflows, an unknown enum value
 *   -EXDEV   objects of different devices where one is needed
 *   -ENOMEM  no host memory, or the kernel had none
 *   -ENODEV  the device is gone, or was opened by the process that this one was forked from
 *
 * Handles. An object is named by a pointer that is not an address: it is looked up in a table at every call, so a
 * freed or foreign one is refused and never followed. An object may be destroyed when its children are gone and no
 * other thread is in a call with it.
 *
 * Ownership. Whoever creates an object destroys it. Structs and arrays that are passed in are read during the call
 * only. Strings that are handed out live as long as the object that they belong to.
 *
 * Threads. Each function ends with one of these words:
 *
 *   "Thread safe."            any thread, at any time
 *   "One thread at a time."   for one object, the caller keeps threads apart
 *
 * Fork. A child may open devices anew; what it inherited answers -ENODEV. */
#ifndef TUFF_BASE_H
#define TUFF_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUFF_VERSION_MAJOR 0
#define TUFF_VERSION_MINOR 3

#define TUFF_CHECK __attribute__((warn_unused_result))
#define TUFF_API   __attribute__((visibility("default")))

struct tuff_device;
struct tuff_mem;
struct tuff_range;
struct tuff_code;
struct tuff_kernel;
struct tuff_queue;
struct tuff_cmd;
struct tuff_sync;

/* Why the calling thread's last failing call failed: where inside tuff, in which ioctl, and why. "" when none has
 * failed yet; success leaves it. Valid until the thread's next failure. Thread safe. */
TUFF_API const char *tuff_error(void);

#ifdef __cplusplus
}
#endif

#endif
