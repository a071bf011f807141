/* The functions of include/tuff/base.h, and its rule for structs whose size differs between caller and library. */
#include "embed/internal.h"

#include <errno.h>
#include <string.h>

unsigned tuff_version(void)
{
	return TUFF_VERSION;
}

#define TEXT(x)           #x
#define VERSION(maj, min) TEXT(maj) "." TEXT(min)

const char *tuff_version_text(void)
{
	return VERSION(TUFF_VERSION_MAJOR, TUFF_VERSION_MINOR);
}

const char *tuff_error(void)
{
	return drv_error_last()->text;
}

int embed_struct_take(void *own, size_t own_B, const void *in, size_t in_B)
{
	size_t both_B = in_B < own_B ? in_B : own_B;
	const unsigned char *byte = in;

	if (!in || !in_B)
		return drv_fail(-EINVAL, "no description, or one of 0 bytes");
	for (size_t i = own_B; i < in_B; i++)
		if (byte[i])
			return drv_fail(-E2BIG, "byte %zu of a struct is not 0; this library, %s, knows %zu bytes",
					i, tuff_version_text(), own_B);
	memcpy(own, in, both_B);
	memset((char *)own + both_B, 0, own_B - both_B);
	return 0;
}

void embed_struct_give(void *out, size_t out_B, const void *own, size_t own_B)
{
	size_t both_B = out_B < own_B ? out_B : own_B;

	memcpy(out, own, both_B);
	memset((char *)out + both_B, 0, out_B - both_B);
}
