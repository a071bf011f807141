/* Declarations that AMDGPU adds to C. */
typedef unsigned u32;
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected"))) void
