/* The memory of an hsa_queue_t: the part that compilers and tools use. Programs may read it, but not write it.
 * Sizes are in bytes, indices count packets. The library writes read_dispatch_id, programs write write_dispatch_id,
 * both through the functions of hsa.h. */
#ifndef AMD_HSA_QUEUE_H
#define AMD_HSA_QUEUE_H
#include "amd_hsa_common.h"
#include "hsa.h"
typedef uint32_t amd_queue_properties32_t;
enum amd_queue_properties_t {
	AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER, 0, 1),
	AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_IS_PTR64, 1, 1),
	AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER_DEBUG_SGPRS, 2, 1),
	AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, 3, 1),
	AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE, 4, 1),
	AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_RESERVED1, 5, 27)
};

#define AMD_QUEUE_ALIGN_BYTES 64
#define AMD_QUEUE_ALIGN       __ALIGNED__(AMD_QUEUE_ALIGN_BYTES)
typedef uint32_t amd_queue_capabilities32_t;
enum amd_queue_capabilities_t {
	AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_CAPS_CP_ASYNC_RECLAIM, 0, 1),
	AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_CAPS_SW_ASYNC_RECLAIM, 1, 1),
};

typedef struct AMD_QUEUE_ALIGN amd_queue_s {
	hsa_queue_t hsa_queue;
	uint32_t caps;
	uint32_t reserved1[3];
	volatile uint64_t write_dispatch_id;
	uint32_t group_segment_aperture_base_hi;
	uint32_t private_segment_aperture_base_hi;
	uint32_t max_cu_id;
	uint32_t max_wave_id;
	volatile uint64_t max_legacy_doorbell_dispatch_id_plus_1;
	volatile uint32_t legacy_doorbell_lock;
	uint32_t reserved2[9];
	volatile uint64_t read_dispatch_id;
	uint32_t read_dispatch_id_field_base_byte_offset;
	uint32_t compute_tmpring_size;
	uint32_t scratch_resource_descriptor[4];
	uint64_t scratch_backing_memory_location;
	uint64_t scratch_backing_memory_byte_size;
	uint32_t scratch_wave64_lane_byte_size;
	amd_queue_properties32_t queue_properties;
	uint32_t reserved4[2];
	hsa_signal_t queue_inactive_signal;
	uint32_t reserved5[14];
} amd_queue_t;

#define MAX_NUM_XCC 128
typedef struct scratch_last_used_index_xcc_s {
	volatile uint64_t main;
	volatile uint64_t alt;
} scratch_last_used_index_xcc_t;

typedef struct AMD_QUEUE_ALIGN amd_queue_v2_s {
	hsa_queue_t hsa_queue;
	uint32_t caps;
	uint32_t reserved1[3];
	volatile uint64_t write_dispatch_id;
	uint32_t group_segment_aperture_base_hi;
	uint32_t private_segment_aperture_base_hi;
	uint32_t max_cu_id;
	uint32_t max_wave_id;
	volatile uint64_t max_legacy_doorbell_dispatch_id_plus_1;
	volatile uint32_t legacy_doorbell_lock;
	uint32_t reserved2[9];
	volatile uint64_t read_dispatch_id;
	uint32_t read_dispatch_id_field_base_byte_offset;
	uint32_t compute_tmpring_size;
	uint32_t scratch_resource_descriptor[4];
	uint64_t scratch_backing_memory_location;
	uint64_t scratch_backing_memory_byte_size;
	uint32_t scratch_wave64_lane_byte_size;
	amd_queue_properties32_t queue_properties;
	volatile uint64_t scratch_max_use_index;
	hsa_signal_t queue_inactive_signal;
	volatile uint64_t alt_scratch_max_use_index;
	uint32_t alt_scratch_resource_descriptor[4];
	uint64_t alt_scratch_backing_memory_location;
	uint32_t alt_scratch_dispatch_limit_x;
	uint32_t alt_scratch_dispatch_limit_y;
	uint32_t alt_scratch_dispatch_limit_z;
	uint32_t alt_scratch_wave64_lane_byte_size;
	uint32_t alt_compute_tmpring_size;
	uint32_t reserved5;
	scratch_last_used_index_xcc_t scratch_last_used_index[MAX_NUM_XCC];
} amd_queue_v2_t;

#endif
