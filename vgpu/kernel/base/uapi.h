/* UAPI names of Linux up to 6.18 that the header of libdrm 2.4.114 does not have yet, with sizes asserted. */
#ifndef VGPU_KERNEL_BASE_UAPI_H
#define VGPU_KERNEL_BASE_UAPI_H

#include <stdint.h>
#include <drm.h>
#include <amdgpu_drm.h>

#ifndef AMDGPU_GEM_DOMAIN_DOORBELL
#define AMDGPU_GEM_DOMAIN_DOORBELL 0x40
#endif
#ifndef AMDGPU_GEM_CREATE_DISCARDABLE
#define AMDGPU_GEM_CREATE_DISCARDABLE (1 << 12)
#endif
#ifndef AMDGPU_GEM_CREATE_COHERENT
#define AMDGPU_GEM_CREATE_COHERENT (1 << 13)
#define AMDGPU_GEM_CREATE_UNCACHED (1 << 14)
#endif
#ifndef AMDGPU_GEM_CREATE_EXT_COHERENT
#define AMDGPU_GEM_CREATE_EXT_COHERENT (1 << 15)
#endif
#ifndef AMDGPU_GEM_CREATE_GFX12_DCC
#define AMDGPU_GEM_CREATE_GFX12_DCC (1 << 16)
#endif
#ifndef AMDGPU_VM_PAGE_NOALLOC
#define AMDGPU_VM_PAGE_NOALLOC (1 << 9)
#endif
#ifndef AMDGPU_CTX_QUERY2_FLAGS_RESET_IN_PROGRESS
#define AMDGPU_CTX_QUERY2_FLAGS_RESET_IN_PROGRESS (1 << 5)
#endif
#ifndef AMDGPU_CHUNK_ID_CP_GFX_SHADOW
#define AMDGPU_CHUNK_ID_CP_GFX_SHADOW 0x0a
#endif
#ifndef AMDGPU_INFO_SENSOR_PEAK_PSTATE_GFX_SCLK
#define AMDGPU_INFO_SENSOR_PEAK_PSTATE_GFX_SCLK 0xa
#define AMDGPU_INFO_SENSOR_PEAK_PSTATE_GFX_MCLK 0xb
#endif
#ifndef AMDGPU_INFO_SENSOR_GPU_INPUT_POWER
#define AMDGPU_INFO_SENSOR_GPU_INPUT_POWER 0xc
#endif
#ifndef AMDGPU_INFO_MAX_IBS
#define AMDGPU_INFO_MAX_IBS 0x22
#endif
#ifndef AMDGPU_INFO_GPUVM_FAULT
#define AMDGPU_INFO_GPUVM_FAULT 0x23
#endif

#define UAPI_IB_FLAG_SECURE (1u << 5) /* AMDGPU_IB_FLAGS_SECURE */

/* User queues, since 6.16. */
struct uapi_userq {
	uint32_t op, queue_id, ip_type, doorbell_handle, doorbell_offset, flags;
	uint64_t queue_va, queue_size, rptr_va, wptr_va;
	uint64_t mqd, mqd_size; /* user memory: eop_va for COMPUTE */
};
struct uapi_userq_signal {
	uint32_t queue_id, pad;
	uint64_t syncobj_handles, num_syncobj_handles, bo_read_handles, bo_write_handles;
	uint32_t num_bo_read_handles, num_bo_write_handles;
};
struct uapi_userq_wait {
	uint32_t waitq_id, pad;
	uint64_t syncobj_handles, syncobj_timeline_handles, syncobj_timeline_points;
	uint64_t bo_read_handles, bo_write_handles;
	uint16_t num_syncobj_timeline_handles, num_fences;
	uint32_t num_syncobj_handles, num_bo_read_handles, num_bo_write_handles;
	uint64_t out_fences;
};
struct uapi_userq_fence {
	uint64_t va, value;
};
_Static_assert(sizeof(struct uapi_userq) == 72 && sizeof(struct uapi_userq_signal) == 48 &&
		       sizeof(struct uapi_userq_wait) == 72,
	       "USERQ");
enum { UAPI_USERQ_CREATE = 1, UAPI_USERQ_FREE = 2 };
#define UAPI_USERQ_PRIORITY      3u
#define UAPI_USERQ_PRIORITY_HIGH 3u
#define UAPI_USERQ_SECURE        (1u << 2)
#define UAPI_IOCTL_USERQ         DRM_IOWR(DRM_COMMAND_BASE + 0x16, struct uapi_userq)
#define UAPI_IOCTL_USERQ_SIGNAL  DRM_IOWR(DRM_COMMAND_BASE + 0x17, struct uapi_userq_signal)
#define UAPI_IOCTL_USERQ_WAIT    DRM_IOWR(DRM_COMMAND_BASE + 0x18, struct uapi_userq_wait)
#define UAPI_ENOTSUPP            524

/* GEM_VA since 6.16: fences to wait for before the update, and a syncobj that gets the update's own. */
struct uapi_gem_va {
	uint32_t handle, pad, operation, flags;
	uint64_t va_address, offset_in_bo, map_size;
	uint64_t vm_timeline_point; /* 0: binary */
	uint32_t vm_timeline_syncobj_out;
	uint32_t num_syncobj_handles;
	uint64_t input_fence_syncobj_handles;
};
_Static_assert(sizeof(struct uapi_gem_va) == 64, "GEM_VA");
/* The struct of kernels before 6.16, and of libdrm's header until it got the longer one. */
struct uapi_gem_va_short {
	uint32_t handle, pad, operation, flags;
	uint64_t va_address, offset_in_bo, map_size;
};
_Static_assert(sizeof(struct uapi_gem_va_short) == __builtin_offsetof(struct uapi_gem_va, vm_timeline_point),
	       "GEM_VA");
#define UAPI_IOCTL_GEM_VA       DRM_IOW(DRM_COMMAND_BASE + DRM_AMDGPU_GEM_VA, struct uapi_gem_va)
#define UAPI_IOCTL_GEM_VA_SHORT DRM_IOW(DRM_COMMAND_BASE + DRM_AMDGPU_GEM_VA, struct uapi_gem_va_short)

/* GEM_LIST_HANDLES, since 6.18. */
struct uapi_gem_list_handles {
	uint64_t entries;
	uint32_t num_entries, pad;
};
struct uapi_gem_list_handles_entry {
	uint32_t gem_handle, flags;
	uint64_t size, preferred_domains, alloc_flags, alignment;
};
_Static_assert(sizeof(struct uapi_gem_list_handles) == 16, "GEM_LIST_HANDLES");
_Static_assert(sizeof(struct uapi_gem_list_handles_entry) == 40, "GEM_LIST_HANDLES entry");
#define UAPI_GEM_LIST_HANDLES_IS_IMPORT 1
#define UAPI_IOCTL_GEM_LIST_HANDLES     DRM_IOWR(DRM_COMMAND_BASE + 0x19, struct uapi_gem_list_handles)

/* GEM_OP with what 6.18 added. */
struct uapi_gem_op {
	uint32_t handle, op;
	uint64_t value;
	uint32_t num_entries, padding;
};
struct uapi_gem_vm_entry {
	uint64_t addr, size, offset, flags;
};
_Static_assert(sizeof(struct uapi_gem_op) == 24, "GEM_OP");
_Static_assert(sizeof(struct uapi_gem_vm_entry) == 32, "GEM_OP mapping");
#define UAPI_GEM_OP_GET_MAPPING_INFO 2
#define UAPI_IOCTL_GEM_OP            DRM_IOWR(DRM_COMMAND_BASE + DRM_AMDGPU_GEM_OP, struct uapi_gem_op)

/* Firmware types newer than AMDGPU_INFO_FW_TOC. */
enum uapi_info_fw {
	UAPI_INFO_FW_MES_KIQ = 0x19,
	UAPI_INFO_FW_MES = 0x1a,
	UAPI_INFO_FW_IMU = 0x1b,
	UAPI_INFO_FW_LAST = 0x1c, /* VPE */
};

/* DRM_IOCTL_AMDGPU_INFO, AMDGPU_INFO_DEV_INFO as of DRM 3.59. */
struct uapi_dev_info {
	uint32_t device_id, chip_rev, external_rev, pci_rev, family;
	uint32_t num_shader_engines, num_shader_arrays_per_engine;
	uint32_t gpu_counter_freq;
	uint64_t max_engine_clock, max_memory_clock;
	uint32_t cu_active_number, cu_ao_mask;
	uint32_t cu_bitmap[4][4];
	uint32_t enabled_rb_pipes_mask, num_rb_pipes, num_hw_gfx_contexts, pcie_gen;
	uint64_t ids_flags;
	uint64_t virtual_address_offset, virtual_address_max;
	uint32_t virtual_address_alignment, pte_fragment_size, gart_page_size, ce_ram_size;
	uint32_t vram_type, vram_bit_width, vce_harvest_config, gc_double_offchip_lds_buf;
	uint64_t prim_buf_gpu_addr, pos_buf_gpu_addr, cntl_sb_buf_gpu_addr, param_buf_gpu_addr;
	uint32_t prim_buf_size, pos_buf_size, cntl_sb_buf_size, param_buf_size;
	uint32_t wave_front_size, num_shader_visible_vgprs, num_cu_per_sh, num_tcc_blocks;
	uint32_t gs_vgt_table_depth, gs_prim_buffer_depth, max_gs_waves_per_vgt, pcie_num_lanes;
	uint32_t cu_ao_bitmap[4][4];
	uint64_t high_va_offset, high_va_max;
	uint32_t pa_sc_tile_steering_override, pad;
	uint64_t tcc_disabled_mask, min_engine_clock, min_memory_clock;
	uint32_t tcp_cache_size, num_sqc_per_wgp, sqc_data_cache_size, sqc_inst_cache_size;
	uint32_t gl1c_cache_size, gl2c_cache_size;
	uint64_t mall_size;
	uint32_t enabled_rb_pipes_mask_hi, shadow_size, shadow_alignment, csa_size, csa_alignment;
	uint32_t userq_ip_mask; /* since 6.16 */
};
_Static_assert(sizeof(struct uapi_dev_info) == 440, "DEV_INFO of DRM 3.59");
_Static_assert(__builtin_offsetof(struct uapi_dev_info, high_va_offset) == 336, "DEV_INFO layout");

struct uapi_hw_ip {
	uint32_t major, minor;
	uint64_t capabilities_flags;
	uint32_t ib_start_alignment, ib_size_alignment, available_rings, ip_discovery_version;
	uint32_t userq_num_slots, pad; /* since 6.16 */
};
_Static_assert(sizeof(struct uapi_hw_ip) == 40, "HW_IP_INFO");

struct uapi_gpuvm_fault {
	uint64_t addr;
	uint32_t status, vmhub;
};

struct uapi_heap_info {
	uint64_t total, usable, usage, max_allocation;
};

struct uapi_memory_info {
	struct uapi_heap_info vram, visible_vram, gtt;
};
_Static_assert(sizeof(struct uapi_memory_info) == 96, "MEMORY");

struct uapi_cp_gfx_shadow {
	uint64_t shadow_va, csa_va, gds_va, flags;
};

struct uapi_syncobj_eventfd {
	uint32_t handle, flags;
	uint64_t point;
	int32_t fd;
	uint32_t pad;
};
_Static_assert(sizeof(struct uapi_syncobj_eventfd) == 24, "SYNCOBJ_EVENTFD");
#define UAPI_IOCTL_SYNCOBJ_EVENTFD DRM_IOWR(0xcf, struct uapi_syncobj_eventfd)

/* SYNCOBJ_WAIT and _TIMELINE_WAIT with the deadline that 6.6 added. */
struct uapi_syncobj_wait {
	uint64_t handles;
	int64_t timeout_ns;
	uint32_t count, flags, first_signaled, pad;
	uint64_t deadline_ns;
};
_Static_assert(sizeof(struct uapi_syncobj_wait) == 40, "SYNCOBJ_WAIT");

struct uapi_syncobj_timeline_wait {
	uint64_t handles, points;
	int64_t timeout_ns;
	uint32_t count, flags, first_signaled, pad;
	uint64_t deadline_ns;
};
_Static_assert(sizeof(struct uapi_syncobj_timeline_wait) == 48, "SYNCOBJ_TIMELINE_WAIT");

#define UAPI_SYNCOBJ_WAIT_DEADLINE (1 << 3)

/* SYNCOBJ_HANDLE_TO_FD and _FD_TO_HANDLE with the point that 6.16 added for sync files. */
struct uapi_syncobj_handle {
	uint32_t handle, flags;
	int32_t fd;
	uint32_t pad;
	uint64_t point;
};
_Static_assert(sizeof(struct uapi_syncobj_handle) == 24, "SYNCOBJ_HANDLE_TO_FD");
#define UAPI_SYNCOBJ_SYNC_FILE          (1 << 0)
#define UAPI_SYNCOBJ_TIMELINE           (1 << 1)
#define UAPI_IOCTL_SYNCOBJ_HANDLE_TO_FD DRM_IOWR(0xc1, struct uapi_syncobj_handle)
#define UAPI_IOCTL_SYNCOBJ_FD_TO_HANDLE DRM_IOWR(0xc2, struct uapi_syncobj_handle)

#endif
