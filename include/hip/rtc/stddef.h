/* The types of C's <stddef.h>, for programs of hiprtc whose compiler has no headers (rtc/README.md). */
#ifndef HIP_RTC_STDDEF_H
#define HIP_RTC_STDDEF_H

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#define NULL                   __null
#define offsetof(type, member) __builtin_offsetof(type, member)

#endif
