/* What clang's code calls before main() and at exit, to make a program's kernels and variables known. Programs do
 * not.
 *
 * Called on one thread for each binary, in the order below, perhaps before there is a GPU. Registering cannot fail;
 * the wrapper, names and host addresses live until the binary is unregistered. */
#ifndef HIP_API_REGISTRATION_H
#define HIP_API_REGISTRATION_H

#include <hip/api/base.h>

/* In .hipFatBinSegment: magic "HIPF", version 1, the bundle in .hip_fatbin, NULL. */
#define HIP_FAT_BINARY_MAGIC 0x48495046u
struct hip_fat_binary_wrapper {
	uint32_t magic;
	uint32_t version;
	const void *bundle;
	void *unused;
};

HIP_API_BEGIN

void **__hipRegisterFatBinary(const void *wrapper);
/* host: the address that launches name the kernel by. thread_limit: -1. The last five: NULL. */
void __hipRegisterFunction(void **binary, const void *host, char *device_name, const char *name, int thread_limit,
			   void *tid, void *bid, dim3 *block, dim3 *grid, int *warp_size);
void __hipRegisterVar(void **binary, void *host, char *device_name, const char *name, int external, size_t size_B,
		      int constant, int global);
/* *host becomes the variable's address, init its first contents. */
void __hipRegisterManagedVar(void **binary, void **host, void *init, const char *name, size_t size_B,
			     unsigned align_B);
void __hipRegisterSurface(void **binary, void *host, char *device_name, const char *name, int type, int external);
void __hipRegisterTexture(void **binary, void *host, char *device_name, const char *name, int type, int normalized,
			  int external);
void __hipUnregisterFatBinary(void **binary);
/* A precompiled header for hiprtc. */
void __hipGetPCH(const char **pch, unsigned int *size_B);
/* What compilers may call of whom they link: half as its bits, and float. */
float __gnu_h2f_ieee(unsigned short half);
unsigned short __gnu_f2h_ieee(float value);

HIP_API_END

#endif
