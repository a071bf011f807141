#!/bin/sh
# Debian's packages that tuff needs, in sets: build; check, for the tests; fuzz; hip and clients, other people's
# programs and drivers; package, for Debian's packages.
#
#   deps.sh missing SET...   prints the missing ones, in one line
#   deps.sh install SET...   installs them with apt
#   deps.sh clang            prints the name of the compiler for GPUs
#
# A package counts as installed when its used part is found, whatever its origin. CC and PKG_CONFIG are those of the build, and
# so is CLANG; without it the compiler for GPUs is the first of these versions that is installed, else that apt knows.
set -eu
versions='19 20 21 22'
pkg_config=${PKG_CONFIG:-pkg-config}

clang() {
	for v in $versions; do
		! command -v "clang-$v" >/dev/null || { echo "clang-$v"; return; }
	done
	for v in $versions; do
		! apt-cache show "clang-$v" >/dev/null 2>&1 || { echo "clang-$v"; return; }
	done
	echo "clang-${versions%% *}"
}

compilers() {
	clang=${CLANG:-$(clang)}
	version=${clang##*clang}
	cc=${CC:-gcc}
	cc=${cc%% *}
	case $cc in
	*-linux-gnu-gcc) cc_package=gcc-${cc%-gcc} ;; # a cross compiler
	clang*) cc_package=$cc ;;
	*) cc_package=gcc ;;
	esac
}

# SET, PACKAGE, the used part: a command, a library (pkg-config's name), a file, a part of clang, or any of some patterns of files.
packages() {
	cat <<-END
	build    $cc_package                  command  $cc
	build    pkg-config           command  $pkg_config
	build    libdrm-dev           library  libdrm_amdgpu
	build    libelf-dev           library  libelf
	build    libnuma-dev          library  numa
	build    libpng-dev           library  libpng
	build    libjson-c-dev        library  json-c
	build    zlib1g-dev           library  zlib
	build    clang$version        command  $clang
	build    lld$version          clang    ld.lld
	check    llvm$version         command  llvm-mc$version
	check    clang-tools$version  clang    clang-offload-bundler
	check    rocm-device-libs     any      /usr/lib/*/amdgcn/bitcode/ocml.bc /usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode/ocml.bc
	check    libhsa-runtime-dev   file     /usr/include/hsa/hsa.h
	check    spin                 command  spin
	check    cmake                command  cmake
	fuzz     llvm$version         command  llvm-symbolizer$version
	fuzz     libclang-rt$version-dev  file     /usr/lib/llvm$version/lib/clang/${version#-}/lib/linux/libclang_rt.fuzzer-x86_64.a
	hip      rocminfo             command  rocminfo
	hip      hipcc                command  hipcc
	hip      libamdhip64-dev      file     /usr/include/hip/hip_runtime_api.h
	hip      librocrand-dev       file     /usr/include/rocrand/rocrand.h
	hip      librocsparse-dev     file     /usr/include/rocsparse/rocsparse.h
	hip      libhiprand-dev       file     /usr/include/hiprand/hiprand.h
	hip      libhipsparse-dev     file     /usr/include/hipsparse/hipsparse.h
	hip      librocprim-dev       file     /usr/include/rocprim/rocprim.hpp
	clients  libomp$version-dev   file     /usr/lib/llvm$version/lib/libomptarget-amdgpu-gfx906.bc
	clients  mesa-vulkan-drivers  file     /usr/share/vulkan/icd.d/radeon_icd.x86_64.json
	clients  libvulkan-dev        file     /usr/include/vulkan/vulkan.h
	clients  glslang-tools        command  glslangValidator
	clients  mesa-opencl-icd      file     /etc/OpenCL/vendors/mesa.icd
	clients  ocl-icd-opencl-dev   file     /usr/lib/x86_64-linux-gnu/libOpenCL.so
	clients  rocm-smi             command  rocm-smi
	clients  openmpi-bin          command  mpirun
	clients  libopenmpi-dev       command  mpicc
	clients  libclc-15            file     /usr/lib/clc/tahiti-amdgcn-mesa-mesa3d.bc
	package  debhelper            command  dh
	package  dpkg-dev             command  dpkg-buildpackage
	package  debootstrap          command  debootstrap
	END
}

is_there() {
	case $1 in
	command) command -v "$2" ;;
	library) "$pkg_config" --exists "$2" ;;
	file) [ -e "$2" ] ;;
	any) ls $2 2>/dev/null | grep . ;;
	clang) case $("$clang" --print-prog-name="$2") in /*) ;; *) false ;; esac ;;
	esac >/dev/null 2>&1
}

missing() {
	packages | while read -r set package kind name; do
		case " $* " in *" $set "*) is_there "$kind" "$name" || printf ' %s' "$package" ;; esac
	done
}

# The package's name in the release at hand. From Debian 13 on the device library is named by the LLVM that made it, and clang
# reads what no newer one made.
name_here() {
	case $1 in
	rocm-device-libs)
		apt-cache show "$1" >/dev/null 2>&1 || set -- "$(apt-cache search --names-only "^$1-[0-9]+\$" |
			awk -v newest="${version#-}" '{ v = $1; sub(/.*-/, "", v) } v + 0 <= newest + 0 && v + 0 > best + 0 { best = v; name = $1 }
				END { print name ? name : "'"$1"'" }')" ;;
	esac
	echo "$1"
}

install() {
	list=$(missing "$@")
	[ -n "$list" ] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "deps: there is no apt-get here; what is missing Debian calls:$list" >&2
		return 1
	fi
	if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo"; fi
	$sudo apt-get update -qq
	compilers
	list=$(for package in $(missing "$@"); do printf ' %s' "$(name_here "$package")"; done)
	echo "deps: installing$list"
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $list >/dev/null
	list=$(missing "$@")
	[ -z "$list" ] || { echo "deps: installed, but what the build uses of it is not found:$list" >&2; return 1; }
	echo "deps: done"
}

action=$1
shift
[ "$action" = clang ] || compilers
$action "$@"
