/* printf() and assert() for kernels. The host writes the text when it receives it, the lanes of a wave in order.
 * Both use ROCm's device libraries: programs are compiled with --rocm-device-lib-path. */
#ifndef HIP_DEVICE_PRINT_H
#define HIP_DEVICE_PRINT_H

#include <hip/device/attributes.h>
#include <stdint.h>

extern "C" {

/* clang replaces the calls. */
__attribute__((device)) int printf(const char *format, ...);

__attribute__((device)) unsigned long long __ockl_fprintf_stderr_begin();
__attribute__((device)) unsigned long long __ockl_fprintf_append_args(unsigned long long message, unsigned count,
								      unsigned long long a, unsigned long long b,
								      unsigned long long c, unsigned long long d,
								      unsigned long long e, unsigned long long f,
								      unsigned long long g, unsigned is_last);
__attribute__((device)) unsigned long long __ockl_fprintf_append_string_n(unsigned long long message,
									  const char *text,
									  unsigned long long size_B,
									  unsigned is_last);
}

/* Allocates a message in the launch's buffer, which the host prints when the kernel has ended; NULL: the buffer is
 * full. With -mprintf-kind=buffered, clang replaces printf() by calls of this function. The device libraries have
 * it, too, but clang links that part into OpenCL programs only. The optimizer drops it where it is not called.
 * Visibility is default since lld 19 crashes on hidden functions without callers, with -fgpu-rdc and -O0. */
extern "C" __attribute__((device)) __attribute__((constant)) const int __oclc_ABI_version;
extern "C" __attribute__((device)) __attribute__((weak, visibility("default")))
__attribute__((address_space(1))) char *
__printf_alloc(unsigned size_B)
{
	typedef __attribute__((address_space(4))) char *hidden_args;
	struct head {
		unsigned used_B, end_B;
	};
	const unsigned offset_B = __oclc_ABI_version < 500 ? 24 : 72;
	hidden_args args = (hidden_args)__builtin_amdgcn_implicitarg_ptr();
	head *buffer = *(head *__attribute__((address_space(4))) *)(args + offset_B);
	unsigned used_B = __hip_atomic_load(&buffer->used_B, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);

	do
		if (used_B + size_B + sizeof(head) > buffer->end_B)
			return nullptr;
	while (!__hip_atomic_compare_exchange_strong(&buffer->used_B, &used_B, used_B + size_B, __ATOMIC_RELAXED,
						     __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
	return (__attribute__((address_space(1))) char *)(buffer + 1) + used_B;
}

/* Ends the wave with a trap, and with the instruction that ends a program: without a trap handler a trap has no
 * effect, and after __builtin_trap() the wave would run into the code that follows. */
HIP_DEVICE void hip_trap()
{
	__asm__ volatile("s_trap 2");
	__builtin_amdgcn_endpgm();
}

/* Appends a text with its terminating 0. */
HIP_DEVICE unsigned long long hip_append_text(unsigned long long message, const char *text, bool is_last)
{
	unsigned long long size_B = 1;

	while (text[size_B - 1])
		size_B++;
	return __ockl_fprintf_append_string_n(message, text, size_B, is_last);
}

/* Called by assert(): one line to stderr, and a trap. */
extern "C" __attribute__((device)) __attribute__((noinline)) inline void
__assert_fail(const char *assertion, const char *file, unsigned int line, const char *function) noexcept
{
	unsigned long long message = __ockl_fprintf_stderr_begin();

	message = hip_append_text(message, "%s:%u: %s: Device-side assertion `%s' failed.\n", false);
	message = hip_append_text(message, file, false);
	message = __ockl_fprintf_append_args(message, 1, line, 0, 0, 0, 0, 0, 0, false);
	message = hip_append_text(message, function, false);
	hip_append_text(message, assertion, true);
	hip_trap();
}

/* The line to stderr tells the host the reason. */
extern "C" __attribute__((device)) __attribute__((noinline)) inline void abort() noexcept
{
	hip_append_text(__ockl_fprintf_stderr_begin(), "Device-side abort() was called.\n", true);
	hip_trap();
}

extern "C" HIP_DEVICE void __assertfail()
{
	abort();
}

#endif
