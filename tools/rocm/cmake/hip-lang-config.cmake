# hip-lang: what CMake's language HIP links and compiles with. CMake includes it itself, for enable_language(HIP).
get_filename_component(_hip_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
include("${CMAKE_CURRENT_LIST_DIR}/device-library.cmake")
if(NOT TARGET hip-lang::amdhip64)
  add_library(hip-lang::amdhip64 SHARED IMPORTED)
  set_target_properties(hip-lang::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_hip_root}/lib/libamdhip64.so")
  add_library(hip-lang::host INTERFACE IMPORTED)
  set_target_properties(hip-lang::host PROPERTIES INTERFACE_LINK_LIBRARIES hip-lang::amdhip64)
  add_library(hip-lang::device INTERFACE IMPORTED)
  set_target_properties(hip-lang::device PROPERTIES INTERFACE_LINK_LIBRARIES hip-lang::host)
  # The headers as an option: clang itself searches them last, behind the headers of another HIP in /usr/include, so CMake takes
  # their folder for one that the compiler knows, and drops it where it is given as a folder.
  foreach(_hip_flag IN ITEMS "--rocm-path=${_hip_root}" "SHELL:-isystem ${_hip_root}/include" LISTS _hip_device_library)
    set_property(TARGET hip-lang::device APPEND PROPERTY
      INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:HIP>:${_hip_flag}>")
  endforeach()
  # Relocatable device code is linked for chips, whose options CMake gives. clang itself would link the HIP of /usr, too.
  set_target_properties(hip-lang::device PROPERTIES INTERFACE_LINK_OPTIONS "$<$<LINK_LANGUAGE:HIP>:--hip-link;-no-hip-rt>")
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET "hip-lang::device")
set(CMAKE_HIP_RUNTIME_LIBRARIES_STATIC ${_CMAKE_HIP_DEVICE_RUNTIME_TARGET})
set(CMAKE_HIP_RUNTIME_LIBRARIES_SHARED ${_CMAKE_HIP_DEVICE_RUNTIME_TARGET})
