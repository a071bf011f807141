/* Functions that the 16-bit floating-point types share: names begin with __h, for one number and for two. A type N
 * has hip_native(N), which converts to the type of computations (no narrower than N), a conversion from that, which
 * rounds to nearest, and hip_fma(N, N, N), which rounds once. */
#ifndef HIP_DEVICE_NARROW_H
#define HIP_DEVICE_NARROW_H

#include <hip/device/vector_names.h>

/* Types that convert to N implicitly. */
template <typename T> struct hip_number {
};
#define HIP_NUMBER(type)                                                                                           \
	template <> struct hip_number<type> {                                                                      \
		typedef type itself;                                                                               \
	};
#define HIP_NUMBERS(type, name) HIP_NUMBER(type)
HIP_VECTOR_SCALARS(HIP_NUMBERS)
HIP_NUMBER(bool)
HIP_NUMBER(signed char)
#ifdef __clang__
HIP_NUMBER(_Float16)
#endif
#undef HIP_NUMBERS
#undef HIP_NUMBER

/* --- operators: friends, which are found for the type itself and not for what converts to it --------- */

#define HIP_FRIEND_BINARY(N, name, op)                                                                             \
	HIP_BOTH friend inline N operator op(const N &a, const N &b)                                               \
	{                                                                                                          \
		return __h##name(a, b);                                                                            \
	}                                                                                                          \
	HIP_BOTH friend inline N &operator op##=(N & a, const N & b)                                               \
	{                                                                                                          \
		return a = __h##name(a, b);                                                                        \
	}
#define HIP_FRIEND_COMPARE(N, name, op)                                                                            \
	HIP_BOTH friend inline bool operator op(const N &a, const N &b)                                            \
	{                                                                                                          \
		return __h##name(a, b);                                                                            \
	}
#define HIP_FRIEND_STEP(N, name, op, one)                                                                          \
	HIP_BOTH friend inline N &operator op(N & a)                                                               \
	{                                                                                                          \
		return a = __h##name(a, one);                                                                      \
	}                                                                                                          \
	HIP_BOTH friend inline N operator op(N &a, int)                                                            \
	{                                                                                                          \
		N before = a;                                                                                      \
		a = __h##name(a, one);                                                                             \
		return before;                                                                                     \
	}

/* Declares the functions that a type's operators call. two, both: 2 and b for pairs, else empty. */
#define HIP_OPERATOR_FUNCTIONS(N, two, both)                                                                       \
	HIP_BOTH N __hadd##two(N a, N b);                                                                          \
	HIP_BOTH N __hsub##two(N a, N b);                                                                          \
	HIP_BOTH N __hmul##two(N a, N b);                                                                          \
	HIP_BOTH N __hdiv##two(N a, N b);                                                                          \
	HIP_BOTH N __hneg##two(N x);                                                                               \
	HIP_BOTH bool __h##both##eq##two(N a, N b);                                                                \
	HIP_BOTH bool __h##both##ne##two(N a, N b);                                                                \
	HIP_BOTH bool __h##both##lt##two(N a, N b);                                                                \
	HIP_BOTH bool __h##both##le##two(N a, N b);                                                                \
	HIP_BOTH bool __h##both##gt##two(N a, N b);                                                                \
	HIP_BOTH bool __h##both##ge##two(N a, N b);

/* Pairs are unequal when they are not equal, as in AMD's headers; CUDA's operator is __hbne2(): both elements
 * differ. */
#define HIP_OPERATORS(N, two, both)                                                                                \
	HIP_FRIEND_BINARY(N, add##two, +)                                                                          \
	HIP_FRIEND_BINARY(N, sub##two, -)                                                                          \
	HIP_FRIEND_BINARY(N, mul##two, *)                                                                          \
	HIP_FRIEND_BINARY(N, div##two, /)                                                                          \
	HIP_FRIEND_COMPARE(N, both##eq##two, ==)                                                                   \
	HIP_BOTH friend inline bool operator!=(const N &a, const N &b)                                             \
	{                                                                                                          \
		return !(a == b);                                                                                  \
	}                                                                                                          \
	HIP_FRIEND_COMPARE(N, both##lt##two, <)                                                                    \
	HIP_FRIEND_COMPARE(N, both##gt##two, >)                                                                    \
	HIP_BOTH friend inline N operator-(const N &x)                                                             \
	{                                                                                                          \
		return __hneg##two(x);                                                                             \
	}                                                                                                          \
	HIP_BOTH friend inline N operator+(const N &x)                                                             \
	{                                                                                                          \
		return x;                                                                                          \
	}

#define HIP_OPERATORS_OR_EQUAL(N, two, both)                                                                       \
	HIP_FRIEND_COMPARE(N, both##le##two, <=)                                                                   \
	HIP_FRIEND_COMPARE(N, both##ge##two, >=)

#define HIP_NARROW_OPERATORS(N)                                                                                    \
	HIP_OPERATORS(N, , )                                                                                       \
	HIP_OPERATORS_OR_EQUAL(N, , )                                                                              \
	HIP_FRIEND_STEP(N, add, ++, N(1.0f))                                                                       \
	HIP_FRIEND_STEP(N, sub, --, N(1.0f))                                                                       \
	HIP_BOTH friend inline bool operator!(const N &x)                                                          \
	{                                                                                                          \
		return !(x.__x & 0x7fff);                                                                          \
	}

/* Keeps clang from contracting a product and a sum to one operation, which it does by default, even across
 * functions. */
#ifdef __clang__
#define HIP_EXACT _Pragma("clang fp contract(off)")
#else
#define HIP_EXACT
#endif

/* --- one number ----------------------------------------------------------------------------------- */

/* _rn: the result is rounded; the others may be contracted with later operations. */
#define HIP_NARROW_BINARY(N, name, op)                                                                             \
	HIP_BOTH inline N __h##name(N a, N b)                                                                      \
	{                                                                                                          \
		return N(hip_native(a) op hip_native(b));                                                          \
	}                                                                                                          \
	HIP_BOTH inline N __h##name##_rn(N a, N b)                                                                 \
	{                                                                                                          \
		HIP_EXACT                                                                                          \
		return N(hip_native(a) op hip_native(b));                                                          \
	}                                                                                                          \
	HIP_BOTH inline N __h##name##_sat(N a, N b)                                                                \
	{                                                                                                          \
		return hip_saturate(N(hip_native(a) op hip_native(b)));                                            \
	}

/* Comparisons with a NaN are false, or true with the suffix u. */
#define HIP_NARROW_COMPARE(N, name, op)                                                                            \
	HIP_BOTH inline bool __h##name(N a, N b)                                                                   \
	{                                                                                                          \
		return hip_native(a) op hip_native(b);                                                             \
	}                                                                                                          \
	HIP_BOTH inline bool __h##name##u(N a, N b)                                                                \
	{                                                                                                          \
		return __hisnan(a) || __hisnan(b) || hip_native(a) op hip_native(b);                               \
	}

/* Computed in float, which adds a rounding: precise enough for 16 bits. */
#define HIP_NARROW_MATH(N, name, function)                                                                         \
	HIP_DEVICE N h##name(N x)                                                                                  \
	{                                                                                                          \
		return N(function(static_cast<float>(x)));                                                         \
	}

#define HIP_NARROW_FUNCTIONS(N)                                                                                    \
	HIP_BOTH inline bool __hisnan(N x)                                                                         \
	{                                                                                                          \
		return hip_native(x) != hip_native(x);                                                             \
	}                                                                                                          \
	HIP_BOTH inline int __hisinf(N x)                                                                          \
	{                                                                                                          \
		return __builtin_isinf(static_cast<float>(x)) != 0;                                                \
	}                                                                                                          \
	HIP_BOTH inline N __hneg(N x)                                                                              \
	{                                                                                                          \
		x.__x ^= 0x8000;                                                                                   \
		return x;                                                                                          \
	}                                                                                                          \
	HIP_BOTH inline N __habs(N x)                                                                              \
	{                                                                                                          \
		x.__x &= 0x7fff;                                                                                   \
		return x;                                                                                          \
	}                                                                                                          \
	/* Clamps to 0 to 1; a NaN becomes 0. */                                                                   \
	HIP_BOTH inline N hip_saturate(N x)                                                                        \
	{                                                                                                          \
		return hip_native(x) > hip_native(N(0.0f)) ? (hip_native(x) < hip_native(N(1.0f)) ? x : N(1.0f))   \
							   : N(0.0f);                                              \
	}                                                                                                          \
	HIP_NARROW_BINARY(N, add, +)                                                                               \
	HIP_NARROW_BINARY(N, sub, -)                                                                               \
	HIP_NARROW_BINARY(N, mul, *)                                                                               \
	HIP_NARROW_BINARY(N, div, /)                                                                               \
	HIP_NARROW_COMPARE(N, eq, ==)                                                                              \
	HIP_NARROW_COMPARE(N, ne, !=)                                                                              \
	HIP_NARROW_COMPARE(N, lt, <)                                                                               \
	HIP_NARROW_COMPARE(N, le, <=)                                                                              \
	HIP_NARROW_COMPARE(N, gt, >)                                                                               \
	HIP_NARROW_COMPARE(N, ge, >=)                                                                              \
	HIP_BOTH inline N __hfma(N a, N b, N c)                                                                    \
	{                                                                                                          \
		return hip_fma(a, b, c);                                                                           \
	}                                                                                                          \
	HIP_BOTH inline N __hfma_sat(N a, N b, N c)                                                                \
	{                                                                                                          \
		return hip_saturate(__hfma(a, b, c));                                                              \
	}                                                                                                          \
	/* Returns the number if one operand is a NaN; with the suffix nan, the NaN. */                            \
	HIP_BOTH inline N __hmax(N a, N b)                                                                         \
	{                                                                                                          \
		return __hisnan(a) || __hlt(a, b) ? b : a;                                                         \
	}                                                                                                          \
	HIP_BOTH inline N __hmin(N a, N b)                                                                         \
	{                                                                                                          \
		return __hisnan(a) || __hgt(a, b) ? b : a;                                                         \
	}                                                                                                          \
	HIP_BOTH inline N __hmax_nan(N a, N b)                                                                     \
	{                                                                                                          \
		return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b);                                           \
	}                                                                                                          \
	HIP_BOTH inline N __hmin_nan(N a, N b)                                                                     \
	{                                                                                                          \
		return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b);                                           \
	}

#define HIP_NARROW_MATHS(N)                                                                                        \
	HIP_NARROW_MATH(N, sqrt, __builtin_sqrtf)                                                                  \
	HIP_NARROW_MATH(N, rsqrt, 1.0f / __builtin_sqrtf)                                                          \
	HIP_NARROW_MATH(N, rcp, 1.0f /)                                                                            \
	HIP_NARROW_MATH(N, ceil, __builtin_ceilf)                                                                  \
	HIP_NARROW_MATH(N, floor, __builtin_floorf)                                                                \
	HIP_NARROW_MATH(N, rint, __builtin_rintf)                                                                  \
	HIP_NARROW_MATH(N, trunc, __builtin_truncf)                                                                \
	HIP_NARROW_MATH(N, sin, ::sinf)                                                                            \
	HIP_NARROW_MATH(N, cos, ::cosf)                                                                            \
	HIP_NARROW_MATH(N, exp, ::expf)                                                                            \
	HIP_NARROW_MATH(N, exp2, ::exp2f)                                                                          \
	HIP_NARROW_MATH(N, exp10, ::exp10f)                                                                        \
	HIP_NARROW_MATH(N, log, ::logf)                                                                            \
	HIP_NARROW_MATH(N, log2, ::log2f)                                                                          \
	HIP_NARROW_MATH(N, log10, ::log10f)

/* --- two numbers ---------------------------------------------------------------------------------- */

#define HIP_PAIR_BINARY(P, name, op)                                                                               \
	HIP_BOTH inline P __h##name##2(P a, P b)                                                                   \
	{                                                                                                          \
		return P(__h##name(a.x, b.x), __h##name(a.y, b.y));                                                \
	}                                                                                                          \
	HIP_BOTH inline P __h##name##2_rn(P a, P b)                                                                \
	{                                                                                                          \
		return P(__h##name##_rn(a.x, b.x), __h##name##_rn(a.y, b.y));                                      \
	}                                                                                                          \
	HIP_BOTH inline P __h##name##2_sat(P a, P b)                                                               \
	{                                                                                                          \
		return P(__h##name##_sat(a.x, b.x), __h##name##_sat(a.y, b.y));                                    \
	}

/* Each element 1 or 0; with the prefix b, whether both are true. */
#define HIP_PAIR_COMPARE_AS(P, N, name)                                                                            \
	HIP_BOTH inline P __h##name##2(P a, P b)                                                                   \
	{                                                                                                          \
		return P(N(__h##name(a.x, b.x) ? 1.0f : 0.0f), N(__h##name(a.y, b.y) ? 1.0f : 0.0f));              \
	}                                                                                                          \
	HIP_BOTH inline bool __hb##name##2(P a, P b)                                                               \
	{                                                                                                          \
		return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                                 \
	}
#define HIP_PAIR_COMPARE(P, N, name)                                                                               \
	HIP_PAIR_COMPARE_AS(P, N, name)                                                                            \
	HIP_PAIR_COMPARE_AS(P, N, name##u)

#define HIP_PAIR_MATH(P, name)                                                                                     \
	HIP_DEVICE P h2##name(P x)                                                                                 \
	{                                                                                                          \
		return P(h##name(x.x), h##name(x.y));                                                              \
	}

#define HIP_PAIR_FUNCTIONS(P, N)                                                                                   \
	HIP_PAIR_BINARY(P, add, +)                                                                                 \
	HIP_PAIR_BINARY(P, sub, -)                                                                                 \
	HIP_PAIR_BINARY(P, mul, *)                                                                                 \
	HIP_PAIR_BINARY(P, div, /)                                                                                 \
	HIP_PAIR_COMPARE(P, N, eq)                                                                                 \
	HIP_PAIR_COMPARE(P, N, ne)                                                                                 \
	HIP_PAIR_COMPARE(P, N, lt)                                                                                 \
	HIP_PAIR_COMPARE(P, N, le)                                                                                 \
	HIP_PAIR_COMPARE(P, N, gt)                                                                                 \
	HIP_PAIR_COMPARE(P, N, ge)                                                                                 \
	HIP_BOTH inline P __hfma2(P a, P b, P c)                                                                   \
	{                                                                                                          \
		return P(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                                            \
	}                                                                                                          \
	HIP_BOTH inline P __hfma2_sat(P a, P b, P c)                                                               \
	{                                                                                                          \
		return P(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));                                    \
	}                                                                                                          \
	HIP_BOTH inline P __hneg2(P x)                                                                             \
	{                                                                                                          \
		return P(__hneg(x.x), __hneg(x.y));                                                                \
	}                                                                                                          \
	HIP_BOTH inline P __habs2(P x)                                                                             \
	{                                                                                                          \
		return P(__habs(x.x), __habs(x.y));                                                                \
	}                                                                                                          \
	HIP_BOTH inline P __hisnan2(P x)                                                                           \
	{                                                                                                          \
		return P(N(__hisnan(x.x) ? 1.0f : 0.0f), N(__hisnan(x.y) ? 1.0f : 0.0f));                          \
	}                                                                                                          \
	HIP_BOTH inline P __hisinf2(P x)                                                                           \
	{                                                                                                          \
		return P(N(__hisinf(x.x) ? 1.0f : 0.0f), N(__hisinf(x.y) ? 1.0f : 0.0f));                          \
	}                                                                                                          \
	HIP_BOTH inline P __hmax2(P a, P b)                                                                        \
	{                                                                                                          \
		return P(__hmax(a.x, b.x), __hmax(a.y, b.y));                                                      \
	}                                                                                                          \
	HIP_BOTH inline P __hmin2(P a, P b)                                                                        \
	{                                                                                                          \
		return P(__hmin(a.x, b.x), __hmin(a.y, b.y));                                                      \
	}                                                                                                          \
	/* x is the low element, y the high one. */                                                                \
	HIP_BOTH inline float __low2float(P x)                                                                     \
	{                                                                                                          \
		return static_cast<float>(x.x);                                                                    \
	}                                                                                                          \
	HIP_BOTH inline float __high2float(P x)                                                                    \
	{                                                                                                          \
		return static_cast<float>(x.y);                                                                    \
	}                                                                                                          \
	HIP_BOTH inline P __lowhigh2highlow(P x)                                                                   \
	{                                                                                                          \
		return P(x.y, x.x);                                                                                \
	}

#define HIP_PAIR_MATHS(P)                                                                                          \
	HIP_PAIR_MATH(P, sqrt)                                                                                     \
	HIP_PAIR_MATH(P, rsqrt)                                                                                    \
	HIP_PAIR_MATH(P, rcp)                                                                                      \
	HIP_PAIR_MATH(P, ceil)                                                                                     \
	HIP_PAIR_MATH(P, floor)                                                                                    \
	HIP_PAIR_MATH(P, rint)                                                                                     \
	HIP_PAIR_MATH(P, trunc)                                                                                    \
	HIP_PAIR_MATH(P, sin)                                                                                      \
	HIP_PAIR_MATH(P, cos)                                                                                      \
	HIP_PAIR_MATH(P, exp)                                                                                      \
	HIP_PAIR_MATH(P, exp2)                                                                                     \
	HIP_PAIR_MATH(P, exp10)                                                                                    \
	HIP_PAIR_MATH(P, log)                                                                                      \
	HIP_PAIR_MATH(P, log2)                                                                                     \
	HIP_PAIR_MATH(P, log10)

#endif
