# hiprtc: hiprtc::hiprtc.
get_filename_component(_hiprtc_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET hiprtc::hiprtc)
  add_library(hiprtc::hiprtc SHARED IMPORTED)
  set_target_properties(hiprtc::hiprtc PROPERTIES
    IMPORTED_LOCATION "${_hiprtc_root}/lib/libhiprtc.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_hiprtc_root}/include"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1")
endif()
set(hiprtc_INCLUDE_DIR "${_hiprtc_root}/include")
set(hiprtc_FOUND TRUE)
