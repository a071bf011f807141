/* How public functions begin and end: initialisation, tracing, the slow path, the thread's last error. */
#ifndef API_ENTRY_H
#define API_ENTRY_H

#include "api/base/base.h"

/* Initialises HIP. With HIP 7 no call succeeds after a fault of a device. */
static inline hipError_t hip_ready(void)
{
	return __builtin_expect(hip_slow_path_flags() & HIP_SLOW_UNINITIALIZED, 0) ? hip_init()
										   : atomic_load(&hip.fault);
}
static inline bool hip_traced(void)
{
	return __builtin_expect(hip_slow_path_flags() & (HIP_SLOW_LOG | HIP_SLOW_TOOL), 0);
}
/* A copy of one argument of a call, for traces and tools. */
struct hip_arg {
	const void *value; /* NULL: end of the array */
	size_t size_B;
};
void hip_trace_call(const char *function, const struct hip_arg *args);
void hip_trace_result(const char *function, hipError_t error);
/* The arguments as an array of struct hip_arg. */
#define HIP_ARG(a) {(__typeof__(a)[1]){a}, sizeof(a)},
#define HIP_ARGS_0()
#define HIP_ARGS_1(a)                                                             HIP_ARG(a)
#define HIP_ARGS_2(a, ...)                                                        HIP_ARG(a) HIP_ARGS_1(__VA_ARGS__)
#define HIP_ARGS_3(a, ...)                                                        HIP_ARG(a) HIP_ARGS_2(__VA_ARGS__)
#define HIP_ARGS_4(a, ...)                                                        HIP_ARG(a) HIP_ARGS_3(__VA_ARGS__)
#define HIP_ARGS_5(a, ...)                                                        HIP_ARG(a) HIP_ARGS_4(__VA_ARGS__)
#define HIP_ARGS_6(a, ...)                                                        HIP_ARG(a) HIP_ARGS_5(__VA_ARGS__)
#define HIP_ARGS_7(a, ...)                                                        HIP_ARG(a) HIP_ARGS_6(__VA_ARGS__)
#define HIP_ARGS_8(a, ...)                                                        HIP_ARG(a) HIP_ARGS_7(__VA_ARGS__)
#define HIP_ARGS_9(a, ...)                                                        HIP_ARG(a) HIP_ARGS_8(__VA_ARGS__)
#define HIP_ARGS_10(a, ...)                                                       HIP_ARG(a) HIP_ARGS_9(__VA_ARGS__)
#define HIP_ARGS_11(a, ...)                                                       HIP_ARG(a) HIP_ARGS_10(__VA_ARGS__)
#define HIP_ARGS_12(a, ...)                                                       HIP_ARG(a) HIP_ARGS_11(__VA_ARGS__)
#define HIP_ARGS_13(a, ...)                                                       HIP_ARG(a) HIP_ARGS_12(__VA_ARGS__)
#define HIP_ARGS_14(a, ...)                                                       HIP_ARG(a) HIP_ARGS_13(__VA_ARGS__)
#define HIP_ARGS_OF(unused, a, b, c, d, e, f, g, h, i, j, k, l, m, n, macro, ...) macro
#define HIP_ARGS(...)                                                                                              \
	((const struct hip_arg[]){HIP_ARGS_OF(0, ##__VA_ARGS__, HIP_ARGS_14, HIP_ARGS_13, HIP_ARGS_12,             \
					      HIP_ARGS_11, HIP_ARGS_10, HIP_ARGS_9, HIP_ARGS_8, HIP_ARGS_7,        \
					      HIP_ARGS_6, HIP_ARGS_5, HIP_ARGS_4, HIP_ARGS_3, HIP_ARGS_2,          \
					      HIP_ARGS_1, HIP_ARGS_0)(__VA_ARGS__){0}})
/* Defines a public function: what follows is the body of a function that returns the call's error. The public function
 * counts the call (retire.h), initialises HIP, gives traces and tools the arguments, which are the names of all
 * parameters, and stores the error for the thread; the body does not run when there is no GPU.
 *
 *   HIP_PUBLIC(hipGetDevice, (int *device), (device))
 *   {
 *           ...
 *           return hipSuccess;
 *   }
 */
#define HIP_PUBLIC(name, parameters, arguments)                                                                    \
	HIP_PUBLIC_AFTER(HIP_INIT_AND_TRACE(__func__, HIP_UNPACK arguments), name, parameters, arguments)
/* The same for a function that runs without a GPU, and without HIP's initialisation. */
#define HIP_PUBLIC_WITHOUT_INIT(name, parameters, arguments)                                                       \
	HIP_PUBLIC_AFTER(HIP_RETURN_FAULT(__func__), name, parameters, arguments)
#define HIP_PUBLIC_AFTER(enter, name, parameters, arguments)                                                       \
	static hipError_t name##_body parameters;                                                                  \
	hipError_t name parameters                                                                                 \
	{                                                                                                          \
		hip_call_begin();                                                                                  \
		enter;                                                                                             \
		return hip_end_of(__func__, name##_body arguments);                                                \
	}                                                                                                          \
	static hipError_t name##_body parameters
#define HIP_UNPACK(...) __VA_ARGS__
#define HIP_RETURN_FAULT(function)                                                                                 \
	do {                                                                                                       \
		if (__builtin_expect(hip_slow_path_flags() & HIP_SLOW_FAULT && atomic_load(&hip.fault), 0))        \
			return hip_end_of(function, atomic_load(&hip.fault));                                      \
	} while (0)
/* Initialisation, traces and tools, if any of them is needed. Returns from the public function on failure. */
#define HIP_INIT_AND_TRACE(function, ...)                                                                          \
	do {                                                                                                       \
		if (__builtin_expect(hip_slow_path_flags(), 0)) {                                                  \
			hipError_t status_ = hip_ready();                                                          \
			if (status_)                                                                               \
				return hip_end_of(function, status_);                                              \
			if (hip_traced())                                                                          \
				hip_trace_call(function, HIP_ARGS(__VA_ARGS__));                                   \
		}                                                                                                  \
	} while (0)
/* With HIP 7 only errors replace the thread's last error, and "not ready" is none. */
static inline hipError_t hip_store_error(hipError_t error)
{
	hip_thread.result = error;
	if (TUFF_HIP_ABI < 7 || (error && error != hipErrorNotReady))
		hip_thread.last = error;
	return error;
}
static inline hipError_t hip_end_of(const char *function, hipError_t error)
{
	hip_store_error(error);
	if (hip_traced())
		hip_trace_result(function, error);
	hip_call_end();
	return error;
}

/* Fast paths. Calls that programs make all the time have a fast path, which does the usual case as a whole or
 * leaves everything as it was; it runs only while hip_slow_path_flags() is 0. A fast path calls no other function,
 * so that it saves no registers on the stack. A separate function, the slow path, does the other cases. Both
 * release the lock that the fast path took (NULL: none). */
#define HIP_SLOW_PATH __attribute__((noinline))
#define HIP_ENTER_SLOW(held, function, ...)                                                                        \
	do {                                                                                                       \
		if (held)                                                                                          \
			drv_unlock(held);                                                                          \
		drv_call_begin_slow(&hip_calls, &hip_thread.caller);                                               \
		HIP_INIT_AND_TRACE(function, __VA_ARGS__);                                                         \
	} while (0)
hipError_t hip_end_fast_wake(struct drv_lock *held);
static inline hipError_t hip_end_fast(struct drv_lock *held)
{
	hip_store_error(hipSuccess);
	hip_call_end();
	return drv_lock_release(held) ? hip_end_fast_wake(held) : hipSuccess;
}

#endif
