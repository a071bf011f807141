/* Integers and type traits under AMD's names (amd_detail/host_defines.h), for run-time compiled programs, where the headers of C and C++ may
 * be missing. */
#ifndef HIP_DEVICE_TRAITS_H
#define HIP_DEVICE_TRAITS_H

namespace __hip_internal
{

typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;

template <typename T, T v> struct integral_constant {
	static constexpr const T value = v;
	typedef T value_type;
	typedef integral_constant type;
	constexpr operator value_type() const
	{
		return value;
	}
};
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <bool b> using bool_constant = integral_constant<bool, b>;

template <typename T, typename U_> struct is_same : bool_constant<__is_same(T, U_)> {
};
template <typename T> struct is_integral : bool_constant<__is_integral(T)> {
};
template <typename T> struct is_floating_point : bool_constant<__is_floating_point(T)> {
};
template <typename T> struct is_arithmetic : bool_constant<__is_arithmetic(T)> {
};

template <typename T> struct is_signed : bool_constant<__is_signed(T)> {
};
template <typename T> struct is_standard_layout : bool_constant<__is_standard_layout(T)> {
};
template <typename T> struct is_trivial : bool_constant<__is_trivial(T)> {
};

template <bool b, typename T, typename U_> struct conditional {
	using type = T;
};
template <typename T, typename U_> struct conditional<false, T, U_> {
	using type = U_;
};
template <bool b, typename T = void> struct enable_if {
};
template <typename T> struct enable_if<true, T> {
	typedef T type;
};

} // namespace __hip_internal

typedef __hip_internal::uint8_t __hip_uint8_t;
typedef __hip_internal::uint16_t __hip_uint16_t;
typedef __hip_internal::uint32_t __hip_uint32_t;
typedef __hip_internal::uint64_t __hip_uint64_t;
typedef __hip_internal::int8_t __hip_int8_t;
typedef __hip_internal::int16_t __hip_int16_t;
typedef __hip_internal::int32_t __hip_int32_t;
typedef __hip_internal::int64_t __hip_int64_t;

#endif
