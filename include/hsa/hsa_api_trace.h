/* The table of all functions, for tools: OnLoad of a library named in HSA_TOOLS_LIB gets it, and may replace any
 * function. Every call of a program goes through the live table. */
#ifndef HSA_RUNTIME_INC_HSA_API_TRACE_H
#define HSA_RUNTIME_INC_HSA_API_TRACE_H

#include <stddef.h>
#include <string.h>

#include "hsa.h"
#include "hsa_amd_tool.h"
#include "hsa_api_trace_version.h"
#include "hsa_ext_amd.h"
#include "hsa_ext_finalize.h"
#include "hsa_ext_image.h"
#include "hsa_ven_amd_pc_sampling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The format byte of a vendor packet that an intercept queue passes to its callback, and not on. */
__attribute__((unused)) static const uint32_t AMD_AQL_FORMAT_INTERCEPT_MARKER = 0xFE;

struct amd_aql_intercept_marker_s;

/* Called when the marker is reached, on the thread that processes the queue's packets; packet_id is its index. */
typedef void (*amd_intercept_marker_handler)(const struct amd_aql_intercept_marker_s *packet, hsa_queue_t *queue,
					     uint64_t packet_id);

typedef struct amd_aql_intercept_marker_s {
	uint16_t header;
	uint8_t format; /* AMD_AQL_FORMAT_INTERCEPT_MARKER */
	uint8_t reserved[5];
	amd_intercept_marker_handler callback;
	uint64_t user_data[6];
} amd_aql_intercept_marker_t;

/* Passes packets to the next interceptor, or to the queue if there is none. To be called inside a handler only. */
typedef void (*hsa_amd_queue_intercept_packet_writer)(const void *pkts, uint64_t pkt_count);

/* Gets each batch of packets before the queue does, and passes packets on through writer; user_pkt_index is the
 * queue index of the first. */
typedef void (*hsa_amd_queue_intercept_handler)(const void *pkts, uint64_t pkt_count, uint64_t user_pkt_index,
						void *data, hsa_amd_queue_intercept_packet_writer writer);

/* Adds a handler to a queue of hsa_amd_queue_intercept_create(); the last one added gets packets first.
 * INVALID_QUEUE for other queues. Callable through the table only. */
hsa_status_t hsa_amd_queue_intercept_register(hsa_queue_t *queue, hsa_amd_queue_intercept_handler callback,
					      void *user_data);

/* Like hsa_queue_create(), for a queue whose packets handlers may read and change. Callable through the table
 * only. */
hsa_status_t hsa_amd_queue_intercept_create(hsa_agent_t agent_handle, uint32_t size, hsa_queue_type32_t type,
					    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data),
					    void *data, uint32_t private_segment_size, uint32_t group_segment_size,
					    hsa_queue_t **queue);

typedef void (*hsa_amd_runtime_queue_notifier)(const hsa_queue_t *queue, hsa_agent_t agent, void *data);

/* Registers a callback for queues that the library creates for its own use. Callable through the table only. */
hsa_status_t hsa_amd_runtime_queue_create_register(hsa_amd_runtime_queue_notifier callback, void *user_data);

/* major: entries have moved. minor: the table's size in bytes, which tells which entries it has. step: a change
 * that neither shows. */
typedef struct ApiTableVersion {
	uint32_t major_id;
	uint32_t minor_id;
	uint32_t step_id;
	uint32_t reserved;
} ApiTableVersion;

#define HSA_TABLE_ENTRY(name) __typeof__(name) *name##_fn

/* Functions of a tool that the library calls; a NULL entry is not called. */
typedef struct ToolsApiTable {
	ApiTableVersion version;
	hsa_amd_tool_event hsa_amd_tool_scratch_event_alloc_start_fn;
	hsa_amd_tool_event hsa_amd_tool_scratch_event_alloc_end_fn;
	hsa_amd_tool_event hsa_amd_tool_scratch_event_free_start_fn;
	hsa_amd_tool_event hsa_amd_tool_scratch_event_free_end_fn;
	hsa_amd_tool_event hsa_amd_tool_scratch_event_async_reclaim_start_fn;
	hsa_amd_tool_event hsa_amd_tool_scratch_event_async_reclaim_end_fn;
} ToolsApiTable;

typedef struct FinalizerExtTable {
	ApiTableVersion version;
	HSA_TABLE_ENTRY(hsa_ext_program_create);
	HSA_TABLE_ENTRY(hsa_ext_program_destroy);
	HSA_TABLE_ENTRY(hsa_ext_program_add_module);
	HSA_TABLE_ENTRY(hsa_ext_program_iterate_modules);
	HSA_TABLE_ENTRY(hsa_ext_program_get_info);
	HSA_TABLE_ENTRY(hsa_ext_program_finalize);
} FinalizerExtTable;

typedef struct ImageExtTable {
	ApiTableVersion version;
	HSA_TABLE_ENTRY(hsa_ext_image_get_capability);
	HSA_TABLE_ENTRY(hsa_ext_image_data_get_info);
	HSA_TABLE_ENTRY(hsa_ext_image_create);
	HSA_TABLE_ENTRY(hsa_ext_image_import);
	HSA_TABLE_ENTRY(hsa_ext_image_export);
	HSA_TABLE_ENTRY(hsa_ext_image_copy);
	HSA_TABLE_ENTRY(hsa_ext_image_clear);
	HSA_TABLE_ENTRY(hsa_ext_image_destroy);
	HSA_TABLE_ENTRY(hsa_ext_sampler_create);
	HSA_TABLE_ENTRY(hsa_ext_sampler_destroy);
	HSA_TABLE_ENTRY(hsa_ext_image_get_capability_with_layout);
	HSA_TABLE_ENTRY(hsa_ext_image_data_get_info_with_layout);
	HSA_TABLE_ENTRY(hsa_ext_image_create_with_layout);
	HSA_TABLE_ENTRY(hsa_ext_sampler_create_v2);
} ImageExtTable;

typedef struct PcSamplingExtTable {
	ApiTableVersion version;
	HSA_TABLE_ENTRY(hsa_ven_amd_pcs_iterate_configuration);
	HSA_TABLE_ENTRY(hsa_ven_amd_pcs_create);
	HSA_TABLE_ENTRY(hsa_ven_amd_pcs_create_from_id);
	HSA_TABLE_ENTRY(hsa_ven_amd_pcs_destroy);
	HSA_TABLE_ENTRY(hsa_ven_amd_pcs_start);
	HSA_TABLE_ENTRY(hsa_ven_amd_pcs_stop);
	HSA_TABLE_ENTRY(hsa_ven_amd_pcs_flush);
} PcSamplingExtTable;

typedef struct AmdExtTable {
	ApiTableVersion version;
	HSA_TABLE_ENTRY(hsa_amd_coherency_get_type);
	HSA_TABLE_ENTRY(hsa_amd_coherency_set_type);
	HSA_TABLE_ENTRY(hsa_amd_profiling_set_profiler_enabled);
	HSA_TABLE_ENTRY(hsa_amd_profiling_async_copy_enable);
	HSA_TABLE_ENTRY(hsa_amd_profiling_get_dispatch_time);
	HSA_TABLE_ENTRY(hsa_amd_profiling_get_async_copy_time);
	HSA_TABLE_ENTRY(hsa_amd_profiling_convert_tick_to_system_domain);
	HSA_TABLE_ENTRY(hsa_amd_signal_async_handler);
	HSA_TABLE_ENTRY(hsa_amd_async_function);
	HSA_TABLE_ENTRY(hsa_amd_signal_wait_any);
	HSA_TABLE_ENTRY(hsa_amd_queue_cu_set_mask);
	HSA_TABLE_ENTRY(hsa_amd_memory_pool_get_info);
	HSA_TABLE_ENTRY(hsa_amd_agent_iterate_memory_pools);
	HSA_TABLE_ENTRY(hsa_amd_memory_pool_allocate);
	HSA_TABLE_ENTRY(hsa_amd_memory_pool_free);
	HSA_TABLE_ENTRY(hsa_amd_memory_async_copy);
	HSA_TABLE_ENTRY(hsa_amd_memory_async_copy_on_engine);
	HSA_TABLE_ENTRY(hsa_amd_memory_copy_engine_status);
	HSA_TABLE_ENTRY(hsa_amd_agent_memory_pool_get_info);
	HSA_TABLE_ENTRY(hsa_amd_agents_allow_access);
	HSA_TABLE_ENTRY(hsa_amd_memory_pool_can_migrate);
	HSA_TABLE_ENTRY(hsa_amd_memory_migrate);
	HSA_TABLE_ENTRY(hsa_amd_memory_lock);
	HSA_TABLE_ENTRY(hsa_amd_memory_unlock);
	HSA_TABLE_ENTRY(hsa_amd_memory_fill);
	HSA_TABLE_ENTRY(hsa_amd_interop_map_buffer);
	HSA_TABLE_ENTRY(hsa_amd_interop_unmap_buffer);
	HSA_TABLE_ENTRY(hsa_amd_image_create);
	HSA_TABLE_ENTRY(hsa_amd_pointer_info);
	HSA_TABLE_ENTRY(hsa_amd_pointer_info_set_userdata);
	HSA_TABLE_ENTRY(hsa_amd_ipc_memory_create);
	HSA_TABLE_ENTRY(hsa_amd_ipc_memory_attach);
	HSA_TABLE_ENTRY(hsa_amd_ipc_memory_detach);
	HSA_TABLE_ENTRY(hsa_amd_signal_create);
	HSA_TABLE_ENTRY(hsa_amd_ipc_signal_create);
	HSA_TABLE_ENTRY(hsa_amd_ipc_signal_attach);
	HSA_TABLE_ENTRY(hsa_amd_register_system_event_handler);
	HSA_TABLE_ENTRY(hsa_amd_queue_intercept_create);
	HSA_TABLE_ENTRY(hsa_amd_queue_intercept_register);
	HSA_TABLE_ENTRY(hsa_amd_queue_set_priority);
	HSA_TABLE_ENTRY(hsa_amd_memory_async_copy_rect);
	HSA_TABLE_ENTRY(hsa_amd_runtime_queue_create_register);
	HSA_TABLE_ENTRY(hsa_amd_memory_lock_to_pool);
	HSA_TABLE_ENTRY(hsa_amd_register_deallocation_callback);
	HSA_TABLE_ENTRY(hsa_amd_deregister_deallocation_callback);
	HSA_TABLE_ENTRY(hsa_amd_signal_value_pointer);
	HSA_TABLE_ENTRY(hsa_amd_svm_attributes_set);
	HSA_TABLE_ENTRY(hsa_amd_svm_attributes_get);
	HSA_TABLE_ENTRY(hsa_amd_svm_prefetch_async);
	HSA_TABLE_ENTRY(hsa_amd_spm_acquire);
	HSA_TABLE_ENTRY(hsa_amd_spm_release);
	HSA_TABLE_ENTRY(hsa_amd_spm_set_dest_buffer);
	HSA_TABLE_ENTRY(hsa_amd_queue_cu_get_mask);
	HSA_TABLE_ENTRY(hsa_amd_portable_export_dmabuf);
	HSA_TABLE_ENTRY(hsa_amd_portable_close_dmabuf);
	HSA_TABLE_ENTRY(hsa_amd_vmem_address_reserve);
	HSA_TABLE_ENTRY(hsa_amd_vmem_address_free);
	HSA_TABLE_ENTRY(hsa_amd_vmem_handle_create);
	HSA_TABLE_ENTRY(hsa_amd_vmem_handle_release);
	HSA_TABLE_ENTRY(hsa_amd_vmem_map);
	HSA_TABLE_ENTRY(hsa_amd_vmem_unmap);
	HSA_TABLE_ENTRY(hsa_amd_vmem_set_access);
	HSA_TABLE_ENTRY(hsa_amd_vmem_get_access);
	HSA_TABLE_ENTRY(hsa_amd_vmem_export_shareable_handle);
	HSA_TABLE_ENTRY(hsa_amd_vmem_import_shareable_handle);
	HSA_TABLE_ENTRY(hsa_amd_vmem_retain_alloc_handle);
	HSA_TABLE_ENTRY(hsa_amd_vmem_get_alloc_properties_from_handle);
	HSA_TABLE_ENTRY(hsa_amd_agent_set_async_scratch_limit);
	HSA_TABLE_ENTRY(hsa_amd_queue_get_info);
	HSA_TABLE_ENTRY(hsa_amd_vmem_address_reserve_align);
	HSA_TABLE_ENTRY(hsa_amd_enable_logging);
	HSA_TABLE_ENTRY(hsa_amd_signal_wait_all);
	HSA_TABLE_ENTRY(hsa_amd_memory_get_preferred_copy_engine);
	HSA_TABLE_ENTRY(hsa_amd_portable_export_dmabuf_v2);
} AmdExtTable;

typedef struct CoreApiTable {
	ApiTableVersion version;
	HSA_TABLE_ENTRY(hsa_init);
	HSA_TABLE_ENTRY(hsa_shut_down);
	HSA_TABLE_ENTRY(hsa_system_get_info);
	HSA_TABLE_ENTRY(hsa_system_extension_supported);
	HSA_TABLE_ENTRY(hsa_system_get_extension_table);
	HSA_TABLE_ENTRY(hsa_iterate_agents);
	HSA_TABLE_ENTRY(hsa_agent_get_info);
	HSA_TABLE_ENTRY(hsa_queue_create);
	HSA_TABLE_ENTRY(hsa_soft_queue_create);
	HSA_TABLE_ENTRY(hsa_queue_destroy);
	HSA_TABLE_ENTRY(hsa_queue_inactivate);
	HSA_TABLE_ENTRY(hsa_queue_load_read_index_scacquire);
	HSA_TABLE_ENTRY(hsa_queue_load_read_index_relaxed);
	HSA_TABLE_ENTRY(hsa_queue_load_write_index_scacquire);
	HSA_TABLE_ENTRY(hsa_queue_load_write_index_relaxed);
	HSA_TABLE_ENTRY(hsa_queue_store_write_index_relaxed);
	HSA_TABLE_ENTRY(hsa_queue_store_write_index_screlease);
	HSA_TABLE_ENTRY(hsa_queue_cas_write_index_scacq_screl);
	HSA_TABLE_ENTRY(hsa_queue_cas_write_index_scacquire);
	HSA_TABLE_ENTRY(hsa_queue_cas_write_index_relaxed);
	HSA_TABLE_ENTRY(hsa_queue_cas_write_index_screlease);
	HSA_TABLE_ENTRY(hsa_queue_add_write_index_scacq_screl);
	HSA_TABLE_ENTRY(hsa_queue_add_write_index_scacquire);
	HSA_TABLE_ENTRY(hsa_queue_add_write_index_relaxed);
	HSA_TABLE_ENTRY(hsa_queue_add_write_index_screlease);
	HSA_TABLE_ENTRY(hsa_queue_store_read_index_relaxed);
	HSA_TABLE_ENTRY(hsa_queue_store_read_index_screlease);
	HSA_TABLE_ENTRY(hsa_agent_iterate_regions);
	HSA_TABLE_ENTRY(hsa_region_get_info);
	HSA_TABLE_ENTRY(hsa_agent_get_exception_policies);
	HSA_TABLE_ENTRY(hsa_agent_extension_supported);
	HSA_TABLE_ENTRY(hsa_memory_register);
	HSA_TABLE_ENTRY(hsa_memory_deregister);
	HSA_TABLE_ENTRY(hsa_memory_allocate);
	HSA_TABLE_ENTRY(hsa_memory_free);
	HSA_TABLE_ENTRY(hsa_memory_copy);
	HSA_TABLE_ENTRY(hsa_memory_assign_agent);
	HSA_TABLE_ENTRY(hsa_signal_create);
	HSA_TABLE_ENTRY(hsa_signal_destroy);
	HSA_TABLE_ENTRY(hsa_signal_load_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_load_scacquire);
	HSA_TABLE_ENTRY(hsa_signal_store_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_store_screlease);
	HSA_TABLE_ENTRY(hsa_signal_wait_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_wait_scacquire);
	HSA_TABLE_ENTRY(hsa_signal_and_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_and_scacquire);
	HSA_TABLE_ENTRY(hsa_signal_and_screlease);
	HSA_TABLE_ENTRY(hsa_signal_and_scacq_screl);
	HSA_TABLE_ENTRY(hsa_signal_or_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_or_scacquire);
	HSA_TABLE_ENTRY(hsa_signal_or_screlease);
	HSA_TABLE_ENTRY(hsa_signal_or_scacq_screl);
	HSA_TABLE_ENTRY(hsa_signal_xor_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_xor_scacquire);
	HSA_TABLE_ENTRY(hsa_signal_xor_screlease);
	HSA_TABLE_ENTRY(hsa_signal_xor_scacq_screl);
	HSA_TABLE_ENTRY(hsa_signal_exchange_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_exchange_scacquire);
	HSA_TABLE_ENTRY(hsa_signal_exchange_screlease);
	HSA_TABLE_ENTRY(hsa_signal_exchange_scacq_screl);
	HSA_TABLE_ENTRY(hsa_signal_add_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_add_scacquire);
	HSA_TABLE_ENTRY(hsa_signal_add_screlease);
	HSA_TABLE_ENTRY(hsa_signal_add_scacq_screl);
	HSA_TABLE_ENTRY(hsa_signal_subtract_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_subtract_scacquire);
	HSA_TABLE_ENTRY(hsa_signal_subtract_screlease);
	HSA_TABLE_ENTRY(hsa_signal_subtract_scacq_screl);
	HSA_TABLE_ENTRY(hsa_signal_cas_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_cas_scacquire);
	HSA_TABLE_ENTRY(hsa_signal_cas_screlease);
	HSA_TABLE_ENTRY(hsa_signal_cas_scacq_screl);
	HSA_TABLE_ENTRY(hsa_isa_from_name);
	HSA_TABLE_ENTRY(hsa_isa_get_info);
	HSA_TABLE_ENTRY(hsa_isa_compatible);
	HSA_TABLE_ENTRY(hsa_code_object_serialize);
	HSA_TABLE_ENTRY(hsa_code_object_deserialize);
	HSA_TABLE_ENTRY(hsa_code_object_destroy);
	HSA_TABLE_ENTRY(hsa_code_object_get_info);
	HSA_TABLE_ENTRY(hsa_code_object_get_symbol);
	HSA_TABLE_ENTRY(hsa_code_symbol_get_info);
	HSA_TABLE_ENTRY(hsa_code_object_iterate_symbols);
	HSA_TABLE_ENTRY(hsa_executable_create);
	HSA_TABLE_ENTRY(hsa_executable_destroy);
	HSA_TABLE_ENTRY(hsa_executable_load_code_object);
	HSA_TABLE_ENTRY(hsa_executable_freeze);
	HSA_TABLE_ENTRY(hsa_executable_get_info);
	HSA_TABLE_ENTRY(hsa_executable_global_variable_define);
	HSA_TABLE_ENTRY(hsa_executable_agent_global_variable_define);
	HSA_TABLE_ENTRY(hsa_executable_readonly_variable_define);
	HSA_TABLE_ENTRY(hsa_executable_validate);
	HSA_TABLE_ENTRY(hsa_executable_get_symbol);
	HSA_TABLE_ENTRY(hsa_executable_symbol_get_info);
	HSA_TABLE_ENTRY(hsa_executable_iterate_symbols);
	HSA_TABLE_ENTRY(hsa_status_string);
	HSA_TABLE_ENTRY(hsa_extension_get_name);
	HSA_TABLE_ENTRY(hsa_system_major_extension_supported);
	HSA_TABLE_ENTRY(hsa_system_get_major_extension_table);
	HSA_TABLE_ENTRY(hsa_agent_major_extension_supported);
	HSA_TABLE_ENTRY(hsa_cache_get_info);
	HSA_TABLE_ENTRY(hsa_agent_iterate_caches);
	HSA_TABLE_ENTRY(hsa_signal_silent_store_relaxed);
	HSA_TABLE_ENTRY(hsa_signal_silent_store_screlease);
	HSA_TABLE_ENTRY(hsa_signal_group_create);
	HSA_TABLE_ENTRY(hsa_signal_group_destroy);
	HSA_TABLE_ENTRY(hsa_signal_group_wait_any_scacquire);
	HSA_TABLE_ENTRY(hsa_signal_group_wait_any_relaxed);
	HSA_TABLE_ENTRY(hsa_agent_iterate_isas);
	HSA_TABLE_ENTRY(hsa_isa_get_info_alt);
	HSA_TABLE_ENTRY(hsa_isa_get_exception_policies);
	HSA_TABLE_ENTRY(hsa_isa_get_round_method);
	HSA_TABLE_ENTRY(hsa_wavefront_get_info);
	HSA_TABLE_ENTRY(hsa_isa_iterate_wavefronts);
	HSA_TABLE_ENTRY(hsa_code_object_get_symbol_from_name);
	HSA_TABLE_ENTRY(hsa_code_object_reader_create_from_file);
	HSA_TABLE_ENTRY(hsa_code_object_reader_create_from_memory);
	HSA_TABLE_ENTRY(hsa_code_object_reader_destroy);
	HSA_TABLE_ENTRY(hsa_executable_create_alt);
	HSA_TABLE_ENTRY(hsa_executable_load_program_code_object);
	HSA_TABLE_ENTRY(hsa_executable_load_agent_code_object);
	HSA_TABLE_ENTRY(hsa_executable_validate_alt);
	HSA_TABLE_ENTRY(hsa_executable_get_symbol_by_name);
	HSA_TABLE_ENTRY(hsa_executable_iterate_agent_symbols);
	HSA_TABLE_ENTRY(hsa_executable_iterate_program_symbols);
} CoreApiTable;

#undef HSA_TABLE_ENTRY

typedef struct HsaApiTable {
	ApiTableVersion version;
	CoreApiTable *core_;
	AmdExtTable *amd_ext_;
	FinalizerExtTable *finalizer_ext_;
	ImageExtTable *image_ext_;
	ToolsApiTable *tools_;
	PcSamplingExtTable *pc_sampling_ext_;
} HsaApiTable;

/* Copies a sub-table's entries, `size` bytes with the version at its begin, which is not changed. */
__attribute__((unused)) static inline void copyApi(void *dest, const void *src, size_t size)
{
	memcpy((char *)dest + sizeof(ApiTableVersion), (const char *)src + sizeof(ApiTableVersion),
	       size - sizeof(ApiTableVersion));
}

/* Copies the entries that both sub-tables have; afterwards dest's version tells which, all 0 if their majors
 * differ. */
__attribute__((unused)) static inline void copyElement(ApiTableVersion *dest, ApiTableVersion *src)
{
	if (!src->major_id || dest->major_id != src->major_id) {
		dest->major_id = dest->minor_id = dest->step_id = 0;
		return;
	}
	dest->step_id = src->step_id;
	if (dest->minor_id > src->minor_id)
		dest->minor_id = src->minor_id;
	copyApi(dest, src, dest->minor_id);
}

/* Copies all sub-tables that dest has room for. */
__attribute__((unused)) static inline void copyTables(const HsaApiTable *src, HsaApiTable *dest)
{
	if (dest->version.major_id != src->version.major_id) {
		dest->version.major_id = dest->version.minor_id = dest->version.step_id = 0;
		return;
	}
	dest->version.step_id = src->version.step_id;
	if (dest->version.minor_id > src->version.minor_id)
		dest->version.minor_id = src->version.minor_id;
#define HSA_TABLE_COPY(member)                                                                                     \
	if (offsetof(HsaApiTable, member) < dest->version.minor_id)                                                \
	copyElement(&dest->member->version, &src->member->version)
	HSA_TABLE_COPY(core_);
	HSA_TABLE_COPY(amd_ext_);
	HSA_TABLE_COPY(finalizer_ext_);
	HSA_TABLE_COPY(image_ext_);
	HSA_TABLE_COPY(tools_);
	HSA_TABLE_COPY(pc_sampling_ext_);
#undef HSA_TABLE_COPY
}

#ifdef __cplusplus
}

/* Room for a copy of all tables, with its versions filled in. */
struct HsaApiTableContainer {
	HsaApiTable root;
	CoreApiTable core;
	AmdExtTable amd_ext;
	FinalizerExtTable finalizer_ext;
	ImageExtTable image_ext;
	ToolsApiTable tools;
	PcSamplingExtTable pc_sampling_ext;

	HsaApiTableContainer()
	{
		stamp(root.version, HSA_API_TABLE_MAJOR_VERSION, sizeof(root), HSA_API_TABLE_STEP_VERSION);
		stamp(core.version, HSA_CORE_API_TABLE_MAJOR_VERSION, sizeof(core),
		      HSA_CORE_API_TABLE_STEP_VERSION);
		stamp(amd_ext.version, HSA_AMD_EXT_API_TABLE_MAJOR_VERSION, sizeof(amd_ext),
		      HSA_AMD_EXT_API_TABLE_STEP_VERSION);
		stamp(finalizer_ext.version, HSA_FINALIZER_API_TABLE_MAJOR_VERSION, sizeof(finalizer_ext),
		      HSA_FINALIZER_API_TABLE_STEP_VERSION);
		stamp(image_ext.version, HSA_IMAGE_API_TABLE_MAJOR_VERSION, sizeof(image_ext),
		      HSA_IMAGE_API_TABLE_STEP_VERSION);
		stamp(tools.version, HSA_TOOLS_API_TABLE_MAJOR_VERSION, sizeof(tools),
		      HSA_TOOLS_API_TABLE_STEP_VERSION);
		stamp(pc_sampling_ext.version, HSA_PC_SAMPLING_API_TABLE_MAJOR_VERSION, sizeof(pc_sampling_ext),
		      HSA_PC_SAMPLING_API_TABLE_STEP_VERSION);
		root.core_ = &core;
		root.amd_ext_ = &amd_ext;
		root.finalizer_ext_ = &finalizer_ext;
		root.image_ext_ = &image_ext;
		root.tools_ = &tools;
		root.pc_sampling_ext_ = &pc_sampling_ext;
	}

      private:
	static void stamp(ApiTableVersion &version, uint32_t major, size_t size, uint32_t step)
	{
		version.major_id = major;
		version.minor_id = static_cast<uint32_t>(size);
		version.step_id = step;
		version.reserved = 0;
	}
};
#endif

#endif
