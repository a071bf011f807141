/* tuff: AMD GPUs through the DRM render node, without HSA and HIP.
 *
 *   base.h    errors, handles, structs that grow, threads: the rules that hold for every function
 *   device.h  finding GPUs, opening one, its facts, its clock
 *   memory.h  allocations, host memory, sharing, address ranges
 *   code.h    code objects and their kernels
 *   queue.h   queues, commands, submission, waiting, synchronisation objects
 *   copy.h    copies and fills that plan themselves
 *
 * Compile and link with `pkg-config --cflags --libs tuff`. tests/examples/ has programs in C and C++; vadd.c is the
 * first to read. */
#ifndef TUFF_TUFF_H
#define TUFF_TUFF_H

#include <tuff/base.h>
#include <tuff/code.h>
#include <tuff/copy.h>
#include <tuff/device.h>
#include <tuff/memory.h>
#include <tuff/queue.h>

#endif
