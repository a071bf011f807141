#!/bin/sh
# Runs pairs of functions: run.sh BUILD SEED SEEDS PATTERN PROGRAM...
#
# BUILD/pairs/NAME.log has what the sanitizer reports; tests/known and tests/pairs/known list what is no race of the libraries,
# with reasons.
set -u
build=$1 seed=$2 seeds=$3 pattern=$4
shift 4
failed=0
mkdir -p "$build/pairs"
cat tests/known tests/pairs/known >"$build/pairs/known"
TSAN_OPTIONS="suppressions=$(realpath "$build/pairs/known") history_size=4 allocator_may_return_null=1"
ASAN_OPTIONS=allocator_may_return_null=1
export TSAN_OPTIONS ASAN_OPTIONS
for f in "$@"; do
	name=${f##*/} log=$build/pairs/${f##*/}.log
	# shellcheck disable=SC2254
	case $name in $pattern) ;; *) continue ;; esac
	if timeout -k 10 $((60 + 60 * seeds)) "$f" "$seed" "$seeds" >"$log" 2>&1; then
		echo "ok    pairs/$name: seeds $seed to $((seed + seeds - 1))"
	else
		echo "FAIL  pairs/$name: $log"
		awk '/^seed/ { s = $2 } /^(SUMMARY|FAIL|thread [0-9]:)/ { print "seed " s ": " $0 }' "$log" | sort | uniq -c | sort -rn | head -20
		failed=1
	fi
done
exit $failed
