# hip: hip::host (headers and library), hip::device (that, and C++ compiled as HIP), hip::amdhip64. For project code that says
# find_package(hip).
get_filename_component(hip_ROOT_DIR "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
include("${CMAKE_CURRENT_LIST_DIR}/hip-config-version.cmake")
set(hip_VERSION "${PACKAGE_VERSION}")
set(HIP_VERSION "${PACKAGE_VERSION}")
set(hip_INCLUDE_DIR "${hip_ROOT_DIR}/include")
set(hip_INCLUDE_DIRS "${hip_INCLUDE_DIR}")
set(HIP_INCLUDE_DIR "${hip_INCLUDE_DIR}")
set(HIP_INCLUDE_DIRS "${hip_INCLUDE_DIR}")
set(hip_LIB_INSTALL_DIR "${hip_ROOT_DIR}/lib")
set(hip_BIN_INSTALL_DIR "${hip_ROOT_DIR}/bin")
set(hip_HIPCC_EXECUTABLE "${hip_BIN_INSTALL_DIR}/hipcc")
set(hip_HIPCONFIG_EXECUTABLE "${hip_BIN_INSTALL_DIR}/hipconfig")
set(HIP_COMPILER clang)
set(HIP_PLATFORM amd)
set(HIP_RUNTIME rocclr)
set(hip_LIBRARY hip::host)
set(hip_LIBRARIES hip::host hip::device)
foreach(_hip_name IN ITEMS LIB_INSTALL_DIR BIN_INSTALL_DIR HIPCC_EXECUTABLE HIPCONFIG_EXECUTABLE LIBRARY LIBRARIES)
  set(HIP_${_hip_name} "${hip_${_hip_name}}")
endforeach()

if(NOT DEFINED GPU_TARGETS)
  set(GPU_TARGETS "${AMDGPU_TARGETS}" CACHE STRING "chips to compile for")
endif()
if(NOT GPU_TARGETS)
  execute_process(COMMAND "${hip_BIN_INSTALL_DIR}/rocm_agent_enumerator" -t GPU OUTPUT_VARIABLE _hip_chips
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REPLACE "\n" ";" _hip_chips "${_hip_chips}")
  list(REMOVE_DUPLICATES _hip_chips)
else()
  set(_hip_chips "${GPU_TARGETS}")
endif()

if(NOT TARGET hip::amdhip64)
  include("${CMAKE_CURRENT_LIST_DIR}/../hip-lang/device-library.cmake")
  add_library(hip::amdhip64 SHARED IMPORTED)
  set_target_properties(hip::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${hip_ROOT_DIR}/lib/libamdhip64.so"
    INTERFACE_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1")
  add_library(hip::host INTERFACE IMPORTED)
  set_target_properties(hip::host PROPERTIES INTERFACE_LINK_LIBRARIES hip::amdhip64)
  add_library(hip::device INTERFACE IMPORTED)
  set_target_properties(hip::device PROPERTIES INTERFACE_LINK_LIBRARIES hip::host)
  set(_hip_flags "-x hip" "--rocm-path=${hip_ROOT_DIR}" ${_hip_device_library})
  foreach(_hip_chip IN LISTS _hip_chips)
    list(APPEND _hip_flags "--offload-arch=${_hip_chip}")
  endforeach()
  foreach(_hip_flag IN LISTS _hip_flags)
    set_property(TARGET hip::device APPEND PROPERTY
      INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:SHELL:${_hip_flag}>")
  endforeach()
  # Relocatable device code is linked for chips. clang itself would link the HIP of /usr, too.
  set(_hip_flags --hip-link -no-hip-rt)
  foreach(_hip_chip IN LISTS _hip_chips)
    list(APPEND _hip_flags "--offload-arch=${_hip_chip}")
  endforeach()
  set_target_properties(hip::device PROPERTIES
    INTERFACE_LINK_OPTIONS "$<$<LINK_LANG_AND_ID:CXX,Clang>:${_hip_flags}>")
endif()
set(hip_FOUND TRUE)
