# _hip_device_library: the option for the device library of the release at hand; empty without one, when kernels may not call
# mathematical functions, printf and assert.
set(_hip_device_library)
file(GLOB _hip_folders "${CMAKE_CURRENT_LIST_DIR}/../../../amdgcn/bitcode" "/usr/lib/*/amdgcn/bitcode"
  "/usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode" "/opt/rocm/amdgcn/bitcode")
foreach(_hip_folder IN ITEMS "$ENV{HIP_DEVICE_LIB_PATH}" LISTS _hip_folders)
  if(EXISTS "${_hip_folder}/ocml.bc" AND NOT _hip_device_library)
    set(_hip_device_library "--rocm-device-lib-path=${_hip_folder}")
  endif()
endforeach()
