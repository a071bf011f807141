/* Textures: what one was made of, and what else makes and asks them. */
#ifndef API_TEXTURE_H
#define API_TEXTURE_H

#include "api/image/image.h"

struct hip_texture {
	struct vm_node node; /* the address that kernels get */
	void *words;         /* owned: there, the image's descriptor and the sampler's */
	struct hip_device *device;
	bool surface, has_view;
	hipResourceDesc resource;
	hipTextureDesc how;
	hipResourceViewDesc view;
	size_t offset_B; /* of what a reference was bound to, in it */
};

hipError_t hip_texture_create(hipTextureObject_t *out, const hipResourceDesc *resource, const hipTextureDesc *how,
			      const hipResourceViewDesc *view);
hipError_t hip_texture_destroy(hipTextureObject_t texture);
void hip_texture_set_offset(hipTextureObject_t texture, size_t offset_B);
/* A copy of what there is. False: not a texture, or no longer. */
bool hip_texture_find(hipTextureObject_t object, struct hip_texture *texture);

void hip_textures_reset(struct hip_device *device);
#endif
