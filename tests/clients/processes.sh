#!/bin/sh
# processes.sh BUILD: other people's libraries between several processes on virtual GPUs, with device memory: RCCL, OpenMPI, and UCX with
# its transports for ROCm. Those of Debian 13 run in the folder of `make deps-suites` (ROOT), those of Debian 12 where they are
# installed. ROWS: a line for each, for clients_page.sh.
set -u
here=$(dirname "$0")
build=$(realpath "$1")
root=$(realpath -m "${ROOT:-$here/../../build/roots/trixie}")
out=$build/clients
rows=${ROWS:-$out/processes.rows}
log=$out/processes.log
lib=$root/usr/lib/x86_64-linux-gnu
mkdir -p "$out"
passed=0 failed=0
# As root OpenMPI asks twice.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

# LIBRARY VERSION GPUS WANTED COMMAND...: the output must have WANTED.
run() {
	library=$1 version=$2 gpus=$3 wanted=$4
	shift 4
	result=FAIL
	timeout -k 5 240 "$build/tuff" run --gpu "$gpus" -- "$@" >"$log" 2>&1 </dev/null &&
		grep -q "$wanted" "$log" && result=ok
	[ $result = ok ] && passed=$((passed + 1)) || { failed=$((failed + 1)); sed 's/^/      | /' "$log" | tail -20; }
	echo "$result $gpus $library: $wanted"
	echo "$library|$version|$what|$gpus|$result|" >>"$rows"
}

version() {
	awk '{ print $2 }' "$root/.apt/unpacked/$1"
}

if command -v mpicc >/dev/null; then
	what="two ranks, device memory" debian=$(dpkg-query -f '${Version}' -W openmpi-bin)
	mpicc -Wall -Wextra -I"$here/../../include" -D__HIP_PLATFORM_AMD__ "$here/mpi_device.c" -o "$out/mpi_device" -L"$build/lib" -lamdhip64 || exit 1
	for gpu in gfx906 gfx1100; do
		run openmpi-bin "$debian" $gpu "rank 1: 0 words are wrong" mpirun --oversubscribe -n 2 --mca pml ob1 "$out/mpi_device"
	done
fi
if [ ! -d "$root/usr/libexec/rocm/librccl1-tests" ]; then
	echo "processes: RCCL and UCX are left out: \`make deps-suites\` fetches them"
	echo "processes: $passed passed, $failed failed"
	[ $failed = 0 ]
	exit
fi

# The launcher of OpenMPI 5 finds its parts by these; the ranks are started by the folder's dynamic linker.
if [ -x "$out/mpi_device" ]; then
	what="two ranks, device memory, UCX with rocm_ipc"
	for gpu in gfx906 gfx908 gfx1100; do
		run libucx0 "$(version libucx0)" $gpu "rank 1: 0 words are wrong" env OPAL_PREFIX="$root/usr" PMIX_PREFIX="$root/usr" \
			PRTE_PREFIX="$root/usr" OMPI_MCA_pml=ucx "$here/in_root.sh" "$root" prterun --map-by :OVERSUBSCRIBE -n 2 \
			"$lib/ld-linux-x86-64.so.2" "$out/mpi_device"
	done
fi

# Collectives of two processes, each with a GPU of its own. RCCL goes by host memory: its way from GPU to GPU needs kernels of both that
# wait for one another, which DRM runs by turns (docs/support.md, Memory).
export UT_PROCESS_MASK=2 UT_MIN_GPUS=2 UT_DATATYPES=float32 UT_REDOPS=sum
what="two processes, collectives"
for gpus in gfx906,gfx906 gfx908:hive=1,gfx908:hive=1 gfx90a,gfx90a gfx1030,gfx1030 gfx1100,gfx1100; do
	run librccl1 "$(version librccl1)" $gpus 'PASSED  . 5 tests' "$here/in_root.sh" "$root" /usr/libexec/rocm/librccl1-tests/UnitTests \
		--gtest_filter=AllReduce.OutOfPlace:AllGather.InPlace:Broadcast.OutOfPlace:ReduceScatter.OutOfPlace:SendRecv.SinglePairs
done
echo "processes: $passed passed, $failed failed"
[ $failed = 0 ]
