/* Embedded device code: tables of code objects, one row for each source file, target and optimisation level.
 * Constant. */
#ifndef SHADERS_BLOB_H
#define SHADERS_BLOB_H

#include <stddef.h>
#include <string.h>

#include "drv/chip.h"

struct shader_blob {
	const char *target; /* "gfx908"; NULL ends the table */
	const char *name;   /* "blit.O3" */
	const void *image;
	size_t size_B;
};

/* The built-in kernels (shaders/blit.hip). */
extern const struct shader_blob shaders_blobs[];

/* Finds the row of that name and target; NULL: none. */
static inline const struct shader_blob *shader_find(const struct shader_blob *table, const char *name,
						    const char *target)
{
	for (; table->target; table++)
		if (!strcmp(table->target, target) && !strcmp(table->name, name))
			return table;
	return NULL;
}

/* The same for a chip: code for its own target, or for the chip whose code it runs. */
static inline const struct shader_blob *shader_for(const struct shader_blob *table, const char *name,
						   const struct drv_chip *chip)
{
	const struct shader_blob *blob = shader_find(table, name, chip->target);

	return blob || !chip->runs_mach ? blob : shader_find(table, name, drv_isa_name(chip->runs_mach));
}

#endif
