#!/bin/sh
# suites.sh BUILD: a sample of the test suites of Debian's packages (gtest programs), on our HIP and the virtual GPU.
#
# The packages are unpacked in a folder with their own libc: `debian_root.sh ROOT trixie $PACKAGES`. Those of later releases of Debian
# have later releases of ROCm. Settings are variables:
#   ROOT=build/roots/trixie  GPUS="gfx906 gfx908 ..."  SEED=1  CASES=1 (of each program and GPU)  SECONDS_EACH=60
#   ONLY=pattern (of programs)  ROWS=BUILD/clients/suites.rows: a line for each case, for clients_page.sh
# A case is drawn evenly from a program's cases, without those that the program itself keeps for nights (nightly, daily). Where neither
# program nor library has code for a GPU it is left out.
#
# The programs of rocBLAS and rocSPARSE read a table of 300,000 to 1,500,000 cases at a path of the system, for minutes. RECORDS of them
# (200) are drawn evenly, by SEED, for a table that stands at that path in a mount namespace.
set -u
here=$(dirname "$0")
build=$1
root=${ROOT:-$here/../../build/roots/trixie}
out=$build/clients
rows=${ROWS:-$out/suites.rows}
mkdir -p "$out"
work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT
[ -d "$root/usr/libexec/rocm" ] || {
	echo "suites: no packages in $root: \`make deps-suites\` fetches them"
	exit 77
}

# Programs, and the library that has code for GPUs; "rtc": kernels are compiled when they are
# needed, with the device library of the system.
programs() {
	(cd "$root/usr/libexec/rocm" && find . -type f -perm /111 ! -name '*.py' ! -name '*.so*' | sed 's|^\./||' | sort) |
		while read -r program; do
			case $program in
			librccl?-tests/UnitTests) echo "$program librccl" ;;
			librocrand?-tests/* | libhiprand?-tests/*) echo "$program librocrand" ;;
			librocfft?-tests/rocfft-test | libhipfft?-tests/hipfft-test) echo "$program rtc" ;;
			libhipblas?-tests/hipblas-test | librocblas?-tests/rocblas-test) echo "$program librocblas" ;;
			libhipsparse?-tests/hipsparse-test | librocsparse?-tests/rocsparse-test) echo "$program librocsparse" ;;
			librocsolver?-tests/rocsolver-test | libhipsolver?-tests/hipsolver-test) echo "$program librocsolver" ;;
			librocalution?-tests/rocalution-test) echo "$program librocalution_hip" ;;
			libhipcub-tests/test_* | librocthrust-tests/*test* | librocprim-tests/test_*) echo "$program self" ;;
			esac
		done
}

# The target of LLVM whose code a GPU takes besides its own.
generic() {
	case $1 in
	gfx90[0-69c]) echo gfx9-generic ;;
	gfx942) echo gfx9-4-generic ;;
	gfx101*) echo gfx10-1-generic ;;
	gfx103*) echo gfx10-3-generic ;;
	gfx11*) echo gfx11-generic ;;
	gfx12*) echo gfx12-generic ;;
	*) echo "$1" ;;
	esac
}

# Whether there is code for the GPU.
has_code() {
	case $2 in
	rtc) [ -e "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/oclc_isa_version_${3#gfx}.bc" ]; return ;;
	self) file=$root/usr/libexec/rocm/$1 ;;
	*) file=$(find "$root/usr/lib/x86_64-linux-gnu" -maxdepth 1 -name "$2.so.?" | head -1) ;;
	esac
	[ -n "$file" ] && grep -qaF -e "amdgcn-amd-amdhsa--$3" -e "amdgcn-amd-amdhsa--$(generic "$3")" "$file"
}

run() {
	limit=$1 spec=$2 program=$3
	shift 3
	table=
	case $program in
	librocblas?-tests/* | librocsparse?-tests/*)
		table_draw "$program" || return 1
		table="$here/over_share.sh $out/tables/$(echo "$program" | tr / _)"
		;;
	esac
	# $table is a command and its argument, or nothing.
	timeout -k 5 "$limit" $table "$build/tuff" run --gpu "$spec" -- "$here/in_root.sh" "$root" "/usr/libexec/rocm/$program" "$@"
}

# Writes a program's table with RECORDS of its records: a magic, a record, the second magic, and then all records.
table_draw() {
	case $1 in
	librocblas?-tests/*) file=$(find "$root/usr/share" -name rocblas_gtest.data) magic=8 second=ROCblas ;;
	*) file=$(find "$root/usr/share" -name rocsparse_test.data) magic=10 second=ROCsparse ;;
	esac
	[ -s "$file" ] || return 1
	to=$out/tables/$(echo "$1" | tr / _)/${file#"$root/usr/share/"}
	[ "$(cat "$to.seed" 2>/dev/null)" != "${SEED:-1} ${RECORDS:-200}" ] || return 0
	size=$(($(head -c 4096 "$file" | LC_ALL=C grep -aobF $second | head -1 | cut -d: -f1) - magic))
	begin=$((2 * magic + size))
	mkdir -p "$(dirname "$to")"
	head -c $begin "$file" >"$to"
	seq 0 $((($(stat -c %s "$file") - begin) / size - 1)) | draw "${RECORDS:-200}" "${SEED:-1} $1" | while read -r record; do
		tail -c +$((begin + record * size + 1)) "$file" | head -c $size >>"$to"
	done
	echo "${SEED:-1} ${RECORDS:-200}" >"$to.seed"
	rm -f "$out/lists/$(echo "$1" | tr / _)"
}

# One case. Thrust's programs have a frame of their own.
run_case() {
	case $3 in
	librocthrust-tests/*) run "$1" "$2" "$3" --sizes=small "$4" ;;
	*) run "$1" "$2" "$3" "--gtest_filter=$4" ;;
	esac
}

list_cases() {
	case $1 in
	librocthrust-tests/*) run 120 null:gfx908 "$1" --list | grep '^Test' ;;
	*) run 120 null:gfx908 "$1" --gtest_list_tests | awk '/^[A-Za-z_][^ ]*\.( |$)/ { suite = $1; next } /^  [A-Za-z_0-9]/ && suite { print suite $1 }' ;;
	esac
}

# The full names of a program's cases, kept: some programs take seconds to list theirs.
cases() {
	list=$out/lists/$(echo "$1" | tr / _)
	mkdir -p "$out/lists"
	case $1 in librocblas?-tests/* | librocsparse?-tests/*) table_draw "$1" ;; esac
	[ -s "$list" ] || list_cases "$1" 2>/dev/null | grep -v -e DISABLED -e nightly -e daily >"$list"
	cat "$list"
}

# Draws lines evenly. Arguments: how many, and what the seed is made of. mawk takes every seed from 2^31 on for the same.
draw() {
	awk -v want="$1" -v seed="$(echo "$2" | cksum | cut -d' ' -f1)" '{ line[NR] = $0 } END {
		srand(seed % 2147483647)
		for (n = 0; n < want && n < NR; n++) {
			do i = int(rand() * NR) + 1; while (i in drawn)
			drawn[i] = 1
			print line[i]
		}
	}'
}

version() {
	awk '{ print $2 }' "$root/.apt/unpacked/$1" 2>/dev/null
}

# rocFFT's compiler would run as a program of its own, which the system's dynamic linker starts.
export ROCFFT_RTC_PROCESS=0
passed=0 failed=0 late=0 skipped=0
for gpu in ${GPUS:-gfx906 gfx908 gfx90a gfx1030 gfx1100}; do
	programs >"$work/programs"
	while read -r program code; do
		case $program in *${ONLY:-}*) ;; *) continue ;; esac
		has_code "$program" "$code" "$gpu" || continue
		cases "$program" | draw "${CASES:-1}" "${SEED:-1} $program $gpu" >"$work/drawn"
		while read -r name; do
			spec=$gpu
			case $program in librccl1*) spec=$gpu,$gpu ;; esac
			begin=$(date +%s)
			run_case "${SECONDS_EACH:-60}" "$spec" "$program" "$name" >"$log" 2>&1 </dev/null
			status=$?
			took=$(($(date +%s) - begin))
			if [ $status = 124 ] || [ $status = 137 ]; then
				result=time-out late=$((late + 1))
			elif grep -q 'Totals: 0 failures, [1-9][0-9]* known failures, 0 errors' "$log"; then
				result=skipped skipped=$((skipped + 1))
			elif [ $status != 0 ]; then
				result=FAIL failed=$((failed + 1))
				cp "$log" "$out/suites.$gpu.$(echo "$program.$name" | tr '/ ' __ | cut -c1-150).log"
			elif grep -q '\[  SKIPPED \]' "$log"; then
				result=skipped skipped=$((skipped + 1))
			elif grep -q -e '\[  PASSED  \] [1-9]' -e 'Totals: 0 failures, 0 known failures, 0 errors, and [1-9]' "$log"; then
				result=ok passed=$((passed + 1))
			else
				result=FAIL failed=$((failed + 1))
			fi
			echo "$result $gpu $program $name ($took s)"
			echo "${program%%/*}|$(version "${program%%/*}")|${program##*/}|$gpu|$result|$name" >>"$rows"
		done <"$work/drawn"
	done <"$work/programs"
done
echo "suites: $passed passed, $failed failed, $late timed out, $skipped skipped"
[ $failed = 0 ]
