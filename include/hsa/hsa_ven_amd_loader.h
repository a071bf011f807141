/* Queries of loaded code, for debuggers and profilers: a table of functions that
 * hsa_system_get_major_extension_table() copies for HSA_EXTENSION_AMD_LOADER, version 1. The functions are not
 * exported by name.
 *
 * Addresses, sizes and offsets are in bytes. Results are valid as long as the executable; the code object's own
 * bytes, if they are the program's, as long as the program keeps them. All functions are thread safe. */
#ifndef HSA_VEN_AMD_LOADER_H
#define HSA_VEN_AMD_LOADER_H
#include "hsa.h"
#ifdef __cplusplus
extern "C" {
#endif
/* Returns the CPU's address of loaded code; a copy from the time of loading, if the memory is not mapped for the
 * CPU. */
hsa_status_t HSA_API hsa_ven_amd_loader_query_host_address(const void *device_address, const void **host_address);
typedef enum {
	HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_NONE = 0,
	HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE = 1,
	HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY = 2
} hsa_ven_amd_loader_code_object_storage_type_t;

typedef struct hsa_ven_amd_loader_segment_descriptor_s {
	hsa_agent_t agent;
	hsa_executable_t executable;
	hsa_ven_amd_loader_code_object_storage_type_t code_object_storage_type;
	const void *code_object_storage_base;
	size_t code_object_storage_size;
	size_t code_object_storage_offset;
	const void *segment_base;
	size_t segment_size;
} hsa_ven_amd_loader_segment_descriptor_t;

/* *num 0: returns the number of descriptors; else *num must be that number. Each loaded code object has one. */
hsa_status_t HSA_API hsa_ven_amd_loader_query_segment_descriptors(
	hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors, size_t *num_segment_descriptors);
/* The executable that owns the memory. */
hsa_status_t HSA_API hsa_ven_amd_loader_query_executable(const void *device_address, hsa_executable_t *executable);
hsa_status_t HSA_API hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
	hsa_executable_t executable,
	hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object,
				 void *data),
	void *data);
typedef enum {
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_PROGRAM = 1,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT = 2
} hsa_ven_amd_loader_loaded_code_object_kind_t;

typedef enum hsa_ven_amd_loader_loaded_code_object_info_e {
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE = 1,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND = 2,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT = 3,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE = 4,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE = 5,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE = 6,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE = 7,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA = 8,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE = 9,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE = 10,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH = 11,
	HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI = 12,
} hsa_ven_amd_loader_loaded_code_object_info_t;

/* The URI is copied without a terminating 0. */
hsa_status_t HSA_API
hsa_ven_amd_loader_loaded_code_object_get_info(hsa_loaded_code_object_t loaded_code_object,
					       hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value);
/* Reads a part of a file, which may be closed afterwards. The file must contain the whole part. */
hsa_status_t HSA_API hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(
	hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *code_object_reader);
hsa_status_t HSA_API hsa_ven_amd_loader_iterate_executables(hsa_status_t (*callback)(hsa_executable_t executable,
										     void *data),
							    void *data);
#define hsa_ven_amd_loader 001003
typedef struct hsa_ven_amd_loader_1_00_pfn_s {
	hsa_status_t (*hsa_ven_amd_loader_query_host_address)(const void *device_address,
							      const void **host_address);
	hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(
		hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors, size_t *num_segment_descriptors);
	hsa_status_t (*hsa_ven_amd_loader_query_executable)(const void *device_address,
							    hsa_executable_t *executable);
} hsa_ven_amd_loader_1_00_pfn_t;

typedef struct hsa_ven_amd_loader_1_01_pfn_s {
	hsa_status_t (*hsa_ven_amd_loader_query_host_address)(const void *device_address,
							      const void **host_address);
	hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(
		hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors, size_t *num_segment_descriptors);
	hsa_status_t (*hsa_ven_amd_loader_query_executable)(const void *device_address,
							    hsa_executable_t *executable);
	hsa_status_t (*hsa_ven_amd_loader_executable_iterate_loaded_code_objects)(
		hsa_executable_t executable,
		hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object,
					 void *data),
		void *data);
	hsa_status_t (*hsa_ven_amd_loader_loaded_code_object_get_info)(
		hsa_loaded_code_object_t loaded_code_object, hsa_ven_amd_loader_loaded_code_object_info_t attribute,
		void *value);
} hsa_ven_amd_loader_1_01_pfn_t;

typedef struct hsa_ven_amd_loader_1_02_pfn_s {
	hsa_status_t (*hsa_ven_amd_loader_query_host_address)(const void *device_address,
							      const void **host_address);
	hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(
		hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors, size_t *num_segment_descriptors);
	hsa_status_t (*hsa_ven_amd_loader_query_executable)(const void *device_address,
							    hsa_executable_t *executable);
	hsa_status_t (*hsa_ven_amd_loader_executable_iterate_loaded_code_objects)(
		hsa_executable_t executable,
		hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object,
					 void *data),
		void *data);
	hsa_status_t (*hsa_ven_amd_loader_loaded_code_object_get_info)(
		hsa_loaded_code_object_t loaded_code_object, hsa_ven_amd_loader_loaded_code_object_info_t attribute,
		void *value);
	hsa_status_t (*hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size)(
		hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *code_object_reader);
} hsa_ven_amd_loader_1_02_pfn_t;

typedef struct hsa_ven_amd_loader_1_03_pfn_s {
	hsa_status_t (*hsa_ven_amd_loader_query_host_address)(const void *device_address,
							      const void **host_address);
	hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(
		hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors, size_t *num_segment_descriptors);
	hsa_status_t (*hsa_ven_amd_loader_query_executable)(const void *device_address,
							    hsa_executable_t *executable);
	hsa_status_t (*hsa_ven_amd_loader_executable_iterate_loaded_code_objects)(
		hsa_executable_t executable,
		hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object,
					 void *data),
		void *data);
	hsa_status_t (*hsa_ven_amd_loader_loaded_code_object_get_info)(
		hsa_loaded_code_object_t loaded_code_object, hsa_ven_amd_loader_loaded_code_object_info_t attribute,
		void *value);
	hsa_status_t (*hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size)(
		hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *code_object_reader);
	hsa_status_t (*hsa_ven_amd_loader_iterate_executables)(hsa_status_t (*callback)(hsa_executable_t executable,
											void *data),
							       void *data);
} hsa_ven_amd_loader_1_03_pfn_t;

#ifdef __cplusplus
}
#endif
#endif
