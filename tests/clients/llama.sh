#!/bin/sh
# llama.sh BUILD: llama.cpp of Debian testing on our HIP and the virtual GPU: a small model's tokens are the CPU's. The packages are
# unpacked in build/roots/forky (debian_root.sh), a gigabyte; python3-numpy is the system's.
# GPUS="gfx906 ..."; FORMATS="F16 ..."; SEED (of the model); ROWS: a line for each, for clients_page.sh.
#
# The seed is one for which no two tokens are nearly as likely. In formats of 4 bits no seed would do: ggml's kernels take the sum of a
# block from before its quantization, the CPU's from after it, and results differ by 0.5 to 0.8 % (one ggml_mul_mat() of 256 terms;
# Q8_0 is the same to the last bit, and so is gfx906 to gfx1100).
set -eu
here=$(realpath "$(dirname "$0")")
build=$(realpath "$1")
root=$(realpath -m "${ROOT:-$here/../../build/roots/forky}")
out=$build/clients/llama
rows=${ROWS:-$build/clients/llama.rows}
lib=$root/usr/lib/x86_64-linux-gnu
mkdir -p "$out"
"$here/debian_root.sh" "$root" forky llama.cpp libggml0-backend-hip python3-gguf
/usr/bin/python3 "$here/llama_model.py" "$root/usr/lib/python3/dist-packages/gguf" "$out/F16.gguf" "${SEED:-5}" || exit 77
export LD_LIBRARY_PATH="$lib/llama"
# ggml looks for its backends in the current folder.
cd "$lib/ggml/backends0"

# FORMAT OFFLOAD [COMMAND...]: continues a text; the command runs the program.
generate() {
	model=$out/$1.gguf offload=$2
	shift 2
	# shellcheck disable=SC2086
	timeout 600 "$@" "$here/in_root.sh" "$root" llama-completion -m "$model" $offload -p "hello world" -n 32 --temp 0 --seed 1 --no-warmup \
		-no-cnv -v </dev/null 2>"$out/log"
}

passed=0 failed=0
for format in ${FORMATS:-F16 Q8_0}; do
	[ $format = F16 ] || "$here/in_root.sh" "$root" llama-quantize "$out/F16.gguf" "$out/$format.gguf" "$format" >"$out/log" 2>&1
	generate "$format" "-dev none" >"$out/cpu"
	for gpu in ${GPUS:-gfx906 gfx908 gfx90a gfx1030 gfx1100}; do
		begin=$(date +%s) result=ok
		generate "$format" "-ngl 99" "$build/tuff" run --gpu "$gpu" -- >"$out/gpu" && cmp -s "$out/cpu" "$out/gpu" &&
			grep -q 'offloaded 5/5 layers to GPU' "$out/log" || { result=FAIL; tail -n 5 "$out/log"; }
		[ $result = ok ] && passed=$((passed + 1)) || failed=$((failed + 1))
		echo "$result $gpu llama.cpp $format: the CPU's tokens ($(($(date +%s) - begin)) s)"
		echo "llama.cpp|$(awk '{ print $2 }' "$root/.apt/unpacked/llama.cpp")|32 tokens of a model, $format|$gpu|$result|" >>"$rows"
	done
done
echo "llama: $passed passed, $failed failed"
[ $failed = 0 ]
