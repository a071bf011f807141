#!/bin/sh
# Runs fuzzers: run.sh BUILD SECONDS PATTERN FUZZER...
#
# Each has the time, two run at once. What libFuzzer says of one that fails is shown; BUILD/log/NAME has all of it. Inputs that are
# sequences of calls are long from the start: libFuzzer lengthens inputs so slowly that in an hour none has more than ten calls.
set -u
build=$1 seconds=$2 pattern=$3
shift 3

fuzz() {
	name=${1##*/}
	own=$build/corpus/$name found=$build/found/$name. log=$build/log/$name
	mkdir -p "$own" "$build/found" "$build/log"
	seeds=tests/fuzz/corpus/$name
	[ -d "$seeds" ] || seeds=
	case $name in *_calls) length="-len_control=0 -max_len=384" ;; *) length= ;; esac
	# shellcheck disable=SC2086
	if ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=0:handle_segv=1 \
		"$1" -max_total_time="$seconds" $length -timeout=60 -rss_limit_mb=6000 -print_final_stats=1 -artifact_prefix="$found" \
		"$own" $seeds >"$log" 2>&1; then
		echo "ok    fuzz/$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
	else
		echo "FAIL  fuzz/$name: $log"
		grep -m 1 -A 12 -E 'ERROR:|runtime error|FAIL' "$log"
		return 1
	fi
}

failed=0
for f in "$@"; do
	# shellcheck disable=SC2254
	case ${f##*/} in $pattern) ;; *) continue ;; esac
	fuzz "$f" &
	[ -z "${other:-}" ] || wait "$other" || failed=1
	other=$!
done
[ -z "${other:-}" ] || wait "$other" || failed=1
exit $failed
