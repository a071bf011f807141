/* HIP 5.2's library exports two functions under C++ names; later ones, and our headers, under C names. */
#include <hip/hip_runtime_api.h>

hipError_t
create(hipSurfaceObject_t *,
       const hipResourceDesc *) __asm__("_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc");
hipError_t destroy(hipSurfaceObject_t) __asm__("_Z23hipDestroySurfaceObjectP13__hip_surface");

hipError_t hipCreateSurfaceObject(hipSurfaceObject_t *surface, const hipResourceDesc *resource)
{
	return create(surface, resource);
}

hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surface)
{
	return destroy(surface);
}
