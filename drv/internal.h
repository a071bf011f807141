/* Internal interface of drv/: the steps of opening, in their order. Each step fills a part of the device, which no
 * other thread can reach yet, and gives 0 or -errno with a record. */
#ifndef DRV_INTERNAL_H
#define DRV_INTERNAL_H

#include "drv/device.h"

struct amdgpu_device; /* libdrm_amdgpu's */
struct drv_override;

/* libdrm.c. drv_libdrm_open() makes libdrm_amdgpu's device for a GPU that is open, on a file description of its
 * own, and sets *drm_minor also when it refuses the kernel. It holds a lock until drv_libdrm_close(), so query, and
 * close at once. Errors: -ENODEV, -ENOTSUP, -EIO (amdgpu failed to start the GPU), or the error of open() or of
 * libdrm_amdgpu. 7 ioctls; 2 where /sys is masked. */
struct drv_libdrm {
	const struct drv_device *dev; /* borrowed */
	struct amdgpu_device *handle; /* owned; NULL: /sys is masked, and queries use our own descriptor */
};
DRV_MUST_CHECK int drv_libdrm_open(const struct drv_device *dev, uint32_t *drm_minor, struct drv_libdrm *lib);
void drv_libdrm_close(struct drv_libdrm *lib);
/* AMDGPU_INFO queries through libdrm_amdgpu's functions; 0 or -errno without a record. */
struct drm_amdgpu_info_hw_ip;
DRV_MUST_CHECK int drv_libdrm_info(const struct drv_libdrm *lib, unsigned query, void *data, uint32_t size_B);
DRV_MUST_CHECK int drv_libdrm_ip(const struct drv_libdrm *lib, unsigned type, struct drm_amdgpu_info_hw_ip *ip);
DRV_MUST_CHECK int drv_libdrm_ip_count(const struct drv_libdrm *lib, unsigned type, uint32_t *count);
DRV_MUST_CHECK int drv_libdrm_firmware(const struct drv_libdrm *lib, unsigned type, unsigned index,
				       uint32_t *version, uint32_t *feature);
DRV_MUST_CHECK int drv_libdrm_sensor(const struct drv_libdrm *lib, unsigned type, uint32_t *value);
/* Product name of the board; NULL: unknown. Valid until drv_libdrm_close(). */
const char *drv_libdrm_name(const struct drv_libdrm *lib);

/* facts.c */
DRV_MUST_CHECK int drv_read_device(struct drv_device *dev, const struct drv_libdrm *lib);
DRV_MUST_CHECK int drv_read_memory(struct drv_device *dev, const struct drv_libdrm *lib);
DRV_MUST_CHECK int drv_read_ips(struct drv_device *dev, const struct drv_libdrm *lib);
DRV_MUST_CHECK int drv_read_firmware(struct drv_device *dev, const struct drv_libdrm *lib);
/* Counts the XCCs. Runs after drv_read_ips() and drv_find_chip(). */
DRV_MUST_CHECK int drv_count_xccs(struct drv_device *dev);
/* Fills cache sizes that the kernel did not report from the chip table. */
void drv_read_caches(struct drv_device *dev);

/* identify.c */
DRV_MUST_CHECK int drv_find_chip(struct drv_device *dev);
/* Chooses the chip with an override, or without one (NULL). For drv_find_chip() and its test. */
DRV_MUST_CHECK int drv_choose_chip(struct drv_device *dev, const struct drv_override *override);

/* ability.c: tries an ioctl where the kernel's version does not decide; a failed try is an answer, not an error. */
void drv_read_abilities(struct drv_device *dev);
/* Decides the abilities from given facts: the result of trying the GEM flags (0 or -errno), and whether the process
 * may raise its priority. */
void drv_judge_abilities(struct drv_device *dev, int gem_trial, bool may_raise);

#endif
