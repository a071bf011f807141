# The version of the HIP library that libamdhip64.so names (share/hip/version); a request for an older one of its major is met.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../../share/hip/version" _hip_lines REGEX "^HIP_VERSION_(MAJOR|MINOR|PATCH)=")
string(REGEX REPLACE "HIP_VERSION_[A-Z]*=" "" _hip_lines "${_hip_lines}")
string(REPLACE ";" "." PACKAGE_VERSION "${_hip_lines}")
string(REGEX MATCH "^[0-9]+" _hip_major "${PACKAGE_VERSION}")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION AND
   ("${PACKAGE_FIND_VERSION_MAJOR}" STREQUAL "" OR "${PACKAGE_FIND_VERSION_MAJOR}" STREQUAL "${_hip_major}"))
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
