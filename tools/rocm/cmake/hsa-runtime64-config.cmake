# hsa-runtime64: hsa-runtime64::hsa-runtime64.
get_filename_component(_hsa_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET hsa-runtime64::hsa-runtime64)
  add_library(hsa-runtime64::hsa-runtime64 SHARED IMPORTED)
  set_target_properties(hsa-runtime64::hsa-runtime64 PROPERTIES
    IMPORTED_LOCATION "${_hsa_root}/lib/libhsa-runtime64.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_hsa_root}/include")
endif()
set(hsa-runtime64_FOUND TRUE)
