/* The ranges of C's <limits.h>, for programs of hiprtc whose compiler has no headers. */
#ifndef HIP_RTC_LIMITS_H
#define HIP_RTC_LIMITS_H

#define CHAR_BIT   __CHAR_BIT__
#define SCHAR_MAX  __SCHAR_MAX__
#define SHRT_MAX   __SHRT_MAX__
#define INT_MAX    __INT_MAX__
#define LONG_MAX   __LONG_MAX__
#define LLONG_MAX  __LONG_LONG_MAX__
#define SCHAR_MIN  (-SCHAR_MAX - 1)
#define SHRT_MIN   (-SHRT_MAX - 1)
#define INT_MIN    (-INT_MAX - 1)
#define LONG_MIN   (-LONG_MAX - 1)
#define LLONG_MIN  (-LLONG_MAX - 1)
#define UCHAR_MAX  (SCHAR_MAX * 2 + 1)
#define USHRT_MAX  (SHRT_MAX * 2 + 1)
#define UINT_MAX   (INT_MAX * 2u + 1u)
#define ULONG_MAX  (LONG_MAX * 2ul + 1ul)
#define ULLONG_MAX (LLONG_MAX * 2ull + 1ull)
#define CHAR_MIN   SCHAR_MIN
#define CHAR_MAX   SCHAR_MAX

#endif
