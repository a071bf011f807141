/* Type traits under AMD's names, for run-time compiled programs, where C++'s own headers may be missing. */
#ifndef HIP_DEVICE_TRAITS_H
#define HIP_DEVICE_TRAITS_H

namespace __hip_internal
{

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

template <bool b, typename T = void> struct enable_if {
};
template <typename T> struct enable_if<true, T> {
	typedef T type;
};

} // namespace __hip_internal

#endif
