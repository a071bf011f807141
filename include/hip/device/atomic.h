/* Atomic operations. Each returns the previous value. They order no other memory accesses; fences do. The suffix is
 * the scope: atomicX, the threads of the device; atomicX_system, also the host and other devices; atomicX_block,
 * the threads of the block. The memory may be global or LDS. */
#ifndef HIP_DEVICE_ATOMIC_H
#define HIP_DEVICE_ATOMIC_H

#include <hip/device/attributes.h>

/* An operation for one type; the function's suffix selects the scope. */
#define HIP_ATOMIC_SCOPE(type, name, suffix, operation, scope)                                                     \
	HIP_DEVICE type atomic##name##suffix(type *address, type value)                                            \
	{                                                                                                          \
		return __hip_atomic_##operation(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope);     \
	}
#define HIP_ATOMIC(type, name, operation)                                                                          \
	HIP_ATOMIC_SCOPE(type, name, , operation, AGENT)                                                           \
	HIP_ATOMIC_SCOPE(type, name, _system, operation, SYSTEM)                                                   \
	HIP_ATOMIC_SCOPE(type, name, _block, operation, WORKGROUP)

#define HIP_ATOMIC_COMPARE_SCOPE(type, suffix, scope)                                                              \
	HIP_DEVICE type atomicCAS##suffix(type *address, type compare, type value)                                 \
	{                                                                                                          \
		__hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
						     __HIP_MEMORY_SCOPE_##scope);                                  \
		return compare;                                                                                    \
	}
#define HIP_ATOMIC_COMPARE(type)                                                                                   \
	HIP_ATOMIC_COMPARE_SCOPE(type, , AGENT)                                                                    \
	HIP_ATOMIC_COMPARE_SCOPE(type, _system, SYSTEM)                                                            \
	HIP_ATOMIC_COMPARE_SCOPE(type, _block, WORKGROUP)

/* The hardware subtracts integers only; other types add the negative value. */
#define HIP_ATOMIC_SUB_SCOPE(type, suffix)                                                                         \
	HIP_DEVICE type atomicSub##suffix(type *address, type value)                                               \
	{                                                                                                          \
		return atomicAdd##suffix(address, -value);                                                         \
	}
#define HIP_ATOMIC_SUB(type)                                                                                       \
	HIP_ATOMIC_SUB_SCOPE(type, )                                                                               \
	HIP_ATOMIC_SUB_SCOPE(type, _system)                                                                        \
	HIP_ATOMIC_SUB_SCOPE(type, _block)

#define HIP_ATOMIC_NUMBER(type)                                                                                    \
	HIP_ATOMIC(type, Add, fetch_add)                                                                           \
	HIP_ATOMIC_SUB(type)                                                                                       \
	HIP_ATOMIC(type, Min, fetch_min)                                                                           \
	HIP_ATOMIC(type, Max, fetch_max)                                                                           \
	HIP_ATOMIC_COMPARE(type)
#define HIP_ATOMIC_INTEGER(type)                                                                                   \
	HIP_ATOMIC_NUMBER(type)                                                                                    \
	HIP_ATOMIC(type, And, fetch_and)                                                                           \
	HIP_ATOMIC(type, Or, fetch_or)                                                                             \
	HIP_ATOMIC(type, Xor, fetch_xor)

HIP_ATOMIC_INTEGER(int)
HIP_ATOMIC_INTEGER(unsigned int)
HIP_ATOMIC_INTEGER(long)
HIP_ATOMIC_INTEGER(unsigned long)
HIP_ATOMIC_INTEGER(long long)
HIP_ATOMIC_INTEGER(unsigned long long)
HIP_ATOMIC_NUMBER(float)
HIP_ATOMIC_NUMBER(double)
/* HIP has none for long and long long. */
HIP_ATOMIC(int, Exch, exchange)
HIP_ATOMIC(unsigned int, Exch, exchange)
HIP_ATOMIC(unsigned long, Exch, exchange)
HIP_ATOMIC(unsigned long long, Exch, exchange)
HIP_ATOMIC(float, Exch, exchange)
HIP_ATOMIC(double, Exch, exchange)

#undef HIP_ATOMIC_INTEGER
#undef HIP_ATOMIC_NUMBER
#undef HIP_ATOMIC_SUB
#undef HIP_ATOMIC_SUB_SCOPE
#undef HIP_ATOMIC_COMPARE
#undef HIP_ATOMIC_COMPARE_SCOPE
#undef HIP_ATOMIC
#undef HIP_ATOMIC_SCOPE

/* Inc: adds 1, wraps to 0 after limit. Dec: subtracts 1, wraps to limit after 0, and for values above limit. */
HIP_DEVICE unsigned int atomicInc(unsigned int *address, unsigned int limit)
{
	return __builtin_amdgcn_atomic_inc32(address, limit, __ATOMIC_RELAXED, "agent");
}

HIP_DEVICE unsigned int atomicDec(unsigned int *address, unsigned int limit)
{
	return __builtin_amdgcn_atomic_dec32(address, limit, __ATOMIC_RELAXED, "agent");
}

HIP_DEVICE void atomicAddNoRet(float *address, float value)
{
	atomicAdd(address, value);
}

/* --- faster where the GPU adds floating point itself ---------------------------------------------- */

/* Not for host memory, where the adders of some GPUs lose values. For other memory the same as atomicAdd(). */
HIP_DEVICE float unsafeAtomicAdd(float *address, float value)
{
#if defined(__gfx90a__) || defined(__gfx942__)
	typedef __attribute__((address_space(1))) float *global;
	typedef __attribute__((address_space(3))) float *lds;
	typedef const __attribute__((address_space(0))) void *generic;

	if (__builtin_amdgcn_is_shared((generic)address))
		return __builtin_amdgcn_ds_faddf((lds)address, value, __ATOMIC_RELAXED, 0, false);
	if (!__builtin_amdgcn_is_private((generic)address))
		return __builtin_amdgcn_global_atomic_fadd_f32((global)address, value);
#endif
	return atomicAdd(address, value);
}

HIP_DEVICE double unsafeAtomicAdd(double *address, double value)
{
#if defined(__gfx90a__) || defined(__gfx942__)
	return __builtin_amdgcn_flat_atomic_fadd_f64(address, value);
#else
	return atomicAdd(address, value);
#endif
}

HIP_DEVICE float unsafeAtomicMin(float *address, float value)
{
	return atomicMin(address, value);
}

HIP_DEVICE float unsafeAtomicMax(float *address, float value)
{
	return atomicMax(address, value);
}

HIP_DEVICE double unsafeAtomicMin(double *address, double value)
{
#if defined(__gfx90a__) || defined(__gfx942__)
	return __builtin_amdgcn_flat_atomic_fmin_f64(address, value);
#else
	return atomicMin(address, value);
#endif
}

HIP_DEVICE double unsafeAtomicMax(double *address, double value)
{
#if defined(__gfx90a__) || defined(__gfx942__)
	return __builtin_amdgcn_flat_atomic_fmax_f64(address, value);
#else
	return atomicMax(address, value);
#endif
}

/* For all memory, by compare and swap. -munsafe-fp-atomics, which makes atomicAdd() behave like unsafeAtomicAdd(),
 * does not affect these. */
#define HIP_ATOMIC_SAFE(type, name, sum)                                                                           \
	HIP_DEVICE type safeAtomic##name(type *address, type value)                                                \
	{                                                                                                          \
		type old = __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                 \
                                                                                                                   \
		while (!__hip_atomic_compare_exchange_strong(address, &old, sum, __ATOMIC_RELAXED,                 \
							     __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))          \
			;                                                                                          \
		return old;                                                                                        \
	}
HIP_ATOMIC_SAFE(float, Add, old + value)
HIP_ATOMIC_SAFE(float, Min, __builtin_fminf(old, value))
HIP_ATOMIC_SAFE(float, Max, __builtin_fmaxf(old, value))
HIP_ATOMIC_SAFE(double, Add, old + value)
HIP_ATOMIC_SAFE(double, Min, __builtin_fmin(old, value))
HIP_ATOMIC_SAFE(double, Max, __builtin_fmax(old, value))
#undef HIP_ATOMIC_SAFE

#endif
