#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <string.h>

#include "tools/demo.h"

int png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb)
{
	png_image image = {
		.version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGB};

	if (!png_image_write_to_file(&image, path, 0, rgb, 0, NULL)) {
		fprintf(stderr, "tuff demo: %s: %s\n", path, image.message);
		return -EIO;
	}
	return 0;
}
