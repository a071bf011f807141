/* Complex numbers: hipFloatComplex and hipDoubleComplex, which are float2 and double2: x real, y imaginary. */
#ifndef HIP_INCLUDE_HIP_HIP_COMPLEX_H
#define HIP_INCLUDE_HIP_HIP_COMPLEX_H

#include <hip/hip_vector_types.h>

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;

/* Functions of one precision: hipC... for double, and with the suffix f for float (Cadd, Caddf). */
#define HIP_COMPLEX(T, S, f, made_by, sqrt)                                                                        \
	HIP_BOTH HIP_INLINE S hipCreal##f(T z)                                                                     \
	{                                                                                                          \
		return z.x;                                                                                        \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE S hipCimag##f(T z)                                                                     \
	{                                                                                                          \
		return z.y;                                                                                        \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE T make_##made_by(S real, S imaginary)                                                  \
	{                                                                                                          \
		T made;                                                                                            \
		made.x = real;                                                                                     \
		made.y = imaginary;                                                                                \
		return made;                                                                                       \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE T hipConj##f(T z)                                                                      \
	{                                                                                                          \
		return make_##made_by(z.x, -z.y);                                                                  \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE S hipCsqabs##f(T z)                                                                    \
	{                                                                                                          \
		return z.x * z.x + z.y * z.y;                                                                      \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE S hipCabs##f(T z)                                                                      \
	{                                                                                                          \
		return sqrt(hipCsqabs##f(z));                                                                      \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE T hipCadd##f(T a, T b)                                                                 \
	{                                                                                                          \
		return make_##made_by(a.x + b.x, a.y + b.y);                                                       \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE T hipCsub##f(T a, T b)                                                                 \
	{                                                                                                          \
		return make_##made_by(a.x - b.x, a.y - b.y);                                                       \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE T hipCmul##f(T a, T b)                                                                 \
	{                                                                                                          \
		return make_##made_by(a.x * b.x - a.y * b.y, a.y * b.x + a.x * b.y);                               \
	}                                                                                                          \
	HIP_BOTH HIP_INLINE T hipCdiv##f(T a, T b)                                                                 \
	{                                                                                                          \
		S size = hipCsqabs##f(b);                                                                          \
		return make_##made_by((a.x * b.x + a.y * b.y) / size, (a.y * b.x - a.x * b.y) / size);             \
	}                                                                                                          \
	/* a * b + c */                                                                                            \
	HIP_BOTH HIP_INLINE T hipCfma##f(T a, T b, T c)                                                            \
	{                                                                                                          \
		return hipCadd##f(hipCmul##f(a, b), c);                                                            \
	}
HIP_COMPLEX(hipFloatComplex, float, f, hipFloatComplex, __builtin_sqrtf)
HIP_COMPLEX(hipDoubleComplex, double, , hipDoubleComplex, __builtin_sqrt)
#undef HIP_COMPLEX

HIP_BOTH HIP_INLINE hipComplex make_hipComplex(float real, float imaginary)
{
	return make_hipFloatComplex(real, imaginary);
}

HIP_BOTH HIP_INLINE hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z)
{
	return make_hipFloatComplex((float)z.x, (float)z.y);
}

HIP_BOTH HIP_INLINE hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z)
{
	return make_hipDoubleComplex(z.x, z.y);
}

#endif
