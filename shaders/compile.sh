#!/bin/sh
# Compiles a HIP source to a code object: OUT TARGET COMPILER FLAG... For GFX12, with the waits that clang 19 leaves out.
set -eu
out=$1
target=$2
shift 2
case $target in
gfx12*) ;;
*) exec "$@" --offload-arch="$target" -o "$out" ;;
esac
wave=
for flag; do
	case $flag in
	-mwavefrontsize64) wave=$flag ;;
	esac
done
"$@" --offload-arch="$target" -S -o "$out.compiled.s"
awk -f shaders/sgpr_waits.awk "$out.compiled.s" >"$out.s"
"$1" --target=amdgcn-amd-amdhsa -mcpu="$target" $wave "$out.s" -o "$out"
rm "$out.compiled.s" "$out.s"
