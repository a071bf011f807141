#!/bin/sh
# Programs of Vulkan and OpenCL on Mesa's drivers, unmodified, over the virtual GPU at its strictest. Argument: the build.
set -u
here=$(dirname "$0")
out=$1/clients
mkdir -p "$out"
glslangValidator --quiet --target-env vulkan1.3 -o "$out/vulkan.spv" "$here/vulkan.comp" || exit 1
cc -std=c11 -Wall -Wextra -O1 "$here/vulkan.c" -o "$out/vulkan" -lvulkan || exit 1
glslangValidator --quiet --target-env vulkan1.3 -o "$out/vulkan_image.spv" "$here/vulkan_image.comp" || exit 1
cc -std=c11 -Wall -Wextra -O1 "$here/vulkan_image.c" -o "$out/vulkan_image" -lvulkan -lm || exit 1
cc -std=c11 -Wall -Wextra -O1 "$here/opencl.c" -o "$out/opencl" -lOpenCL || exit 1
cc -std=c11 -Wall -Wextra -O1 -I"$here/../../include" "$here/vulkan_hip.c" -o "$out/vulkan_hip" -L"$1/lib" -lamdhip64 -lvulkan || exit 1
passed=0
failed=0

# LEVEL SPEC PROGRAM...
run() {
	level=$1 spec=$2
	shift 2
	if TUFF_VGPU_STRICT=$level timeout 300 "$out/../tuff" run --gpu "$spec" -- "$@" >"$out/log" 2>&1; then
		passed=$((passed + 1))
		echo "ok    $spec $(basename "$1"): $(grep -c . "$out/log") lines, $(tail -1 "$out/log")"
	else
		failed=$((failed + 1))
		echo "FAIL  $spec $(basename "$1"):"
		sed 's/^/      | /' "$out/log"
	fi
}

for gpu in gfx900 gfx902 gfx906 gfx90c; do
	run fatal $gpu "$out/vulkan" "$out/vulkan.spv"
done
# RADV relies on masks of shader engines that it does not set: row 67.
for gpu in gfx908 gfx90a; do
	run off $gpu "$out/vulkan" "$out/vulkan.spv" compute
done
for gpu in gfx1010 gfx1030 gfx1100; do
	run fatal $gpu "$out/vulkan" "$out/vulkan.spv" compute
done
for gpu in gfx900 gfx906 gfx1010 gfx1030 gfx1100; do
	run fatal $gpu "$out/vulkan_image" "$out/vulkan_image.spv"
done
# Debian's clover has the device library of these two.
for gpu in gfx900 gfx906; do
	run fatal $gpu "$out/opencl"
done
run fatal gfx906:kernel=6.1 "$out/vulkan" "$out/vulkan.spv"
run fatal gfx906:kernel=7.0 "$out/vulkan" "$out/vulkan.spv"
run fatal gfx906:bar=256M "$out/vulkan" "$out/vulkan.spv"
# With our HIP: memory and semaphores of both.
for gpu in gfx906 gfx906:kernel=6.1 gfx906:bar=256M; do
	run fatal $gpu "$out/vulkan_hip"
done
# KFD's topology as monitors and tools of topology read it.
run_smi() {
	smi=$("$out/../tuff" run --gpu "$1" -- rocm-smi --showproductname --showmeminfo vram --showclocks --showtopo 2>&1)
	for word in "$2" 'VRAM Total Memory (B): '"$3" 'sclk clock level: 1: ('"$4"; do
		case $smi in *"$word"*) continue ;; esac
		echo "FAIL  $1 rocm-smi: \"$word\" is not in"
		echo "$smi" | sed 's/^/      | /'
		failed=$((failed + 1))
		return
	done
	passed=$((passed + 1))
	echo "ok    $1 rocm-smi: $2"
}
run_smi gfx908:hive=1,gfx908:hive=1 'Instinct MI100' 34359738368 1502Mhz
run_smi gfx906 'Vega 20' 17179869184 1725Mhz
run_smi gfx1100 'Navi 31' 25769803776 2371Mhz
echo "$passed passed, $failed failed"
[ $failed = 0 ]
