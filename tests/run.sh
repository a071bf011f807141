#!/bin/bash
# Runs test programs, two at a time, each under a time limit: O PROGRAM... Prints a line for each, the output of those that
# fail, and at the end "N passed, N failed, N skipped". A program that exits with 77 skipped itself and says why.
set -u
export O=$1
shift
# Our own tests stop at the first thing that real hardware would punish.
export TUFF_VGPU_STRICT=${TUFF_VGPU_STRICT:-fatal}
# Tests that fork start threads in the child.
export TSAN_OPTIONS=${TSAN_OPTIONS:-die_after_fork=0}
export LIMIT=${TUFF_TEST_LIMIT:-300}
mkdir -p "$O/logs"

one() {
	local name=${1#"$O/bin/"} log status
	log=$O/logs/${name//\//_}.log
	timeout -k 5 "$LIMIT" "$1" >"$log" 2>&1 </dev/null
	status=$?
	case $status in
	0) echo "ok    $name: $(tail -n 1 "$log")" ;;
	77) echo "skip  $name: $(tail -n 1 "$log")" ;;
	124 | 137) echo "FAIL  $name: over $LIMIT s"; tail -n 20 "$log" | sed 's/^/      | /' ;;
	*) echo "FAIL  $name: status $status"; tail -n 40 "$log" | sed 's/^/      | /' ;;
	esac
}
export -f one

printf '%s\n' "$@" | xargs -P "${TUFF_TEST_JOBS:-2}" -I{} bash -c 'one {}' | tee "$O/logs/summary"
passed=$(grep -c '^ok  ' "$O/logs/summary")
failed=$(grep -c '^FAIL' "$O/logs/summary")
skipped=$(grep -c '^skip' "$O/logs/summary")
[ $((passed + failed + skipped)) = $# ] || failed=$((failed + 1))
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
