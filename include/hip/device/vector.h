/* Short vectors in C++: elements x, y, z, w, or data[i]; operators work by element, and between a vector and a
 * number. == compares all elements. Included by hip_vector_types.h. */
#ifndef HIP_DEVICE_VECTOR_H
#define HIP_DEVICE_VECTOR_H

#include <hip/device/vector_names.h>

#ifdef __clang__
/* x and the first element of data share storage; the struct without a name in a union is an extension that clang
 * warns about. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnested-anon-types"
#pragma clang diagnostic ignored "-Wgnu-anonymous-struct"

template <typename T, unsigned count> struct hip_vector_data {
	typedef T type __attribute__((ext_vector_type(count)));
};
#else
/* The storage of other compilers, in place of clang's vector types: the same size and alignment, and operator
 * []. */
template <typename T, unsigned count> struct hip_vector_data {
	struct alignas(count * sizeof(T)) type {
		T element[count];
		T &operator[](unsigned i)
		{
			return element[i];
		}
		const T &operator[](unsigned i) const
		{
			return element[i];
		}
	};
};
#endif

template <typename T> T hip_value_of();

template <typename T, unsigned count> struct HIP_vector_type;

template <typename T> struct HIP_vector_type<T, 1> {
	union {
		T x;
		typename hip_vector_data<T, 1>::type data;
	};
	using value_type = T;
	HIP_vector_type() = default;
	template <typename X_, typename = decltype(static_cast<T>(hip_value_of<X_>()))>
	HIP_BOTH constexpr HIP_vector_type(X_ x_) : x(static_cast<T>(x_))
	{
	}
};

template <typename T> struct HIP_vector_type<T, 2> {
	union {
		__extension__ struct {
			T x, y;
		};
		typename hip_vector_data<T, 2>::type data;
	};
	using value_type = T;
	HIP_vector_type() = default;
	template <typename X_, typename = decltype(static_cast<T>(hip_value_of<X_>()))>
	HIP_BOTH explicit constexpr HIP_vector_type(X_ all) : x(static_cast<T>(all)), y(static_cast<T>(all))
	{
	}
	template <typename X_, typename Y_>
	HIP_BOTH constexpr HIP_vector_type(X_ x_, Y_ y_) : x(static_cast<T>(x_)), y(static_cast<T>(y_))
	{
	}
};

template <typename T> struct HIP_vector_type<T, 3> {
	union {
		__extension__ struct {
			T x, y, z;
		};
		T data[3];
	};
	using value_type = T;
	HIP_vector_type() = default;
	template <typename X_, typename = decltype(static_cast<T>(hip_value_of<X_>()))>
	HIP_BOTH explicit constexpr HIP_vector_type(X_ all)
	    : x(static_cast<T>(all)), y(static_cast<T>(all)), z(static_cast<T>(all))
	{
	}
	template <typename X_, typename Y_, typename Z_>
	HIP_BOTH constexpr HIP_vector_type(X_ x_, Y_ y_, Z_ z_)
	    : x(static_cast<T>(x_)), y(static_cast<T>(y_)), z(static_cast<T>(z_))
	{
	}
};

template <typename T> struct HIP_vector_type<T, 4> {
	union {
		__extension__ struct {
			T x, y, z, w;
		};
		typename hip_vector_data<T, 4>::type data;
	};
	using value_type = T;
	HIP_vector_type() = default;
	template <typename X_, typename = decltype(static_cast<T>(hip_value_of<X_>()))>
	HIP_BOTH explicit constexpr HIP_vector_type(X_ all)
	    : x(static_cast<T>(all)), y(static_cast<T>(all)), z(static_cast<T>(all)), w(static_cast<T>(all))
	{
	}
	template <typename X_, typename Y_, typename Z_, typename W_>
	HIP_BOTH constexpr HIP_vector_type(X_ x_, Y_ y_, Z_ z_, W_ w_)
	    : x(static_cast<T>(x_)), y(static_cast<T>(y_)), z(static_cast<T>(z_)), w(static_cast<T>(w_))
	{
	}
};

#ifdef __clang__
#pragma clang diagnostic pop
#endif

/* --- operators -------------------------------------------------------------------------------- */

#define HIP_VECTOR_OPERATOR(op)                                                                                    \
	template <typename T, unsigned count>                                                                      \
	HIP_BOTH HIP_INLINE HIP_vector_type<T, count> &operator op##=(HIP_vector_type<T, count> &a,                \
								      const HIP_vector_type<T, count> &b)          \
	{                                                                                                          \
		for (unsigned i = 0; i < count; i++)                                                               \
			a.data[i] = static_cast<T>(a.data[i] op b.data[i]);                                        \
		return a;                                                                                          \
	}                                                                                                          \
	template <typename T, unsigned count, typename U_,                                                         \
		  typename = decltype(static_cast<T>(hip_value_of<U_>()))>                                         \
	HIP_BOTH HIP_INLINE HIP_vector_type<T, count> &operator op##=(HIP_vector_type<T, count> &a, U_ b)          \
	{                                                                                                          \
		for (unsigned i = 0; i < count; i++)                                                               \
			a.data[i] = static_cast<T>(a.data[i] op static_cast<T>(b));                                \
		return a;                                                                                          \
	}                                                                                                          \
	template <typename T, unsigned count>                                                                      \
	HIP_BOTH HIP_INLINE HIP_vector_type<T, count> operator op(HIP_vector_type<T, count> a,                     \
								  const HIP_vector_type<T, count> &b)              \
	{                                                                                                          \
		return a op## = b;                                                                                 \
	}                                                                                                          \
	template <typename T, unsigned count, typename U_,                                                         \
		  typename = decltype(static_cast<T>(hip_value_of<U_>()))>                                         \
	HIP_BOTH HIP_INLINE HIP_vector_type<T, count> operator op(HIP_vector_type<T, count> a, U_ b)               \
	{                                                                                                          \
		return a op## = b;                                                                                 \
	}                                                                                                          \
	template <typename T, unsigned count, typename U_,                                                         \
		  typename = decltype(static_cast<T>(hip_value_of<U_>()))>                                         \
	HIP_BOTH HIP_INLINE HIP_vector_type<T, count> operator op(U_ a, const HIP_vector_type<T, count> &b)        \
	{                                                                                                          \
		HIP_vector_type<T, count> all(static_cast<T>(a));                                                  \
		return all op## = b;                                                                               \
	}
HIP_VECTOR_OPERATOR(+)
HIP_VECTOR_OPERATOR(-)
HIP_VECTOR_OPERATOR(*)
HIP_VECTOR_OPERATOR(/)
HIP_VECTOR_OPERATOR(%)
HIP_VECTOR_OPERATOR(&)
HIP_VECTOR_OPERATOR(|)
HIP_VECTOR_OPERATOR(^)
HIP_VECTOR_OPERATOR(<<)
HIP_VECTOR_OPERATOR(>>)
#undef HIP_VECTOR_OPERATOR

#define HIP_VECTOR_UNARY(op)                                                                                       \
	template <typename T, unsigned count>                                                                      \
	HIP_BOTH HIP_INLINE HIP_vector_type<T, count> operator op(HIP_vector_type<T, count> a)                     \
	{                                                                                                          \
		for (unsigned i = 0; i < count; i++)                                                               \
			a.data[i] = static_cast<T>(op a.data[i]);                                                  \
		return a;                                                                                          \
	}
HIP_VECTOR_UNARY(-)
HIP_VECTOR_UNARY(~)
#undef HIP_VECTOR_UNARY

#define HIP_VECTOR_STEP(op, sign)                                                                                  \
	template <typename T, unsigned count>                                                                      \
	HIP_BOTH HIP_INLINE HIP_vector_type<T, count> &operator op(HIP_vector_type<T, count> &a)                   \
	{                                                                                                          \
		return a sign static_cast<T>(1);                                                                   \
	}                                                                                                          \
	template <typename T, unsigned count>                                                                      \
	HIP_BOTH HIP_INLINE HIP_vector_type<T, count> operator op(HIP_vector_type<T, count> &a, int)               \
	{                                                                                                          \
		HIP_vector_type<T, count> before = a;                                                              \
		op a;                                                                                              \
		return before;                                                                                     \
	}
HIP_VECTOR_STEP(++, +=)
HIP_VECTOR_STEP(--, -=)
#undef HIP_VECTOR_STEP

template <typename T, unsigned count>
HIP_BOTH HIP_INLINE bool operator==(const HIP_vector_type<T, count> &a, const HIP_vector_type<T, count> &b)
{
	for (unsigned i = 0; i < count; i++)
		if (a.data[i] != b.data[i])
			return false;
	return true;
}

template <typename T, unsigned count>
HIP_BOTH HIP_INLINE bool operator!=(const HIP_vector_type<T, count> &a, const HIP_vector_type<T, count> &b)
{
	return !(a == b);
}

template <typename T, unsigned count, typename U_, typename = decltype(static_cast<T>(hip_value_of<U_>()))>
HIP_BOTH HIP_INLINE bool operator==(const HIP_vector_type<T, count> &a, U_ b)
{
	return a == HIP_vector_type<T, count>(static_cast<T>(b));
}

template <typename T, unsigned count, typename U_, typename = decltype(static_cast<T>(hip_value_of<U_>()))>
HIP_BOTH HIP_INLINE bool operator!=(const HIP_vector_type<T, count> &a, U_ b)
{
	return !(a == b);
}

#define HIP_VECTOR_NAMES(type, name)                                                                               \
	using name##1 = HIP_vector_type<type, 1>;                                                                  \
	using name##2 = HIP_vector_type<type, 2>;                                                                  \
	using name##3 = HIP_vector_type<type, 3>;                                                                  \
	using name##4 = HIP_vector_type<type, 4>;
HIP_VECTOR_SCALARS(HIP_VECTOR_NAMES)
#undef HIP_VECTOR_NAMES

#endif
