/* Texture and surface objects.
 *
 *   hip_texture  a texture or surface; owned by texture.c's tree. hip_texture_find() gives copies
 *
 * texture.c's lock guards the tree and its entries.
 */
#ifndef API_TEXTURE_H
#define API_TEXTURE_H

#include "api/image/image.h"

struct hip_texture {
	struct vm_node node; /* the address that kernels get */
	void *words;         /* owned: the image descriptor and the sampler descriptor */
	struct hip_device *device;
	bool surface, has_view;
	hipResourceDesc resource;
	hipTextureDesc how;
	hipResourceViewDesc view;
	size_t offset_B; /* offset in the texture of the address that a reference was bound to */
};

hipError_t hip_texture_create(hipTextureObject_t *out, const hipResourceDesc *resource, const hipTextureDesc *how,
			      const hipResourceViewDesc *view);
hipError_t hip_texture_destroy(hipTextureObject_t texture);
void hip_texture_set_offset(hipTextureObject_t texture, size_t offset_B);
/* Copies the entry. False: the object is no texture, or is destroyed. */
bool hip_texture_find(hipTextureObject_t object, struct hip_texture *texture);

void hip_textures_reset(struct hip_device *device);
#endif
