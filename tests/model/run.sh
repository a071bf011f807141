#!/bin/sh
# Checks the models: run.sh DIR [long]. Each must hold, and must fail without what it says it needs.
set -eu
out=$(realpath -m "$1")/model
cd "$(dirname "$0")"
length=${2:-}
mkdir -p "$out"

# errors of a model under those definitions
try() {
	rm -rf "$out/work" && mkdir "$out/work"
	cp "$1.pml" "$out/work/" && cd "$out/work"
	# shellcheck disable=SC2086
	spin $2 -a "$1.pml" >spin.log && gcc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=3000 -o pan pan.c && ./pan -m1000000 >pan.log
	cd - >/dev/null
	sed -n 's/.*errors: \([0-9]*\).*/\1/p' "$out/work/pan.log"
}

# model, definitions of the smaller one, what it needs, what happens otherwise
check() {
	small=$2
	[ "$length" = long ] && small=""
	errors=$(try "$1" "$small")
	grep -q "^Warning: \|search depth too small\|out of memory" "$out/work/pan.log" && errors="none, but not all states were seen"
	[ "$errors" = 0 ] || { echo "FAIL  tests/model/$1.pml: $4"; cat "$out/work/pan.log"; exit 1; }
	states=$(sed -n 's/ *\([0-9]*\) states, stored.*/\1/p' "$out/work/pan.log")
	for without in $3; do
		[ "$(try "$1" "$2 -D$without")" = 1 ] || { echo "FAIL  tests/model/$1.pml: holds with $without, too"; exit 1; }
	done
	echo "ok    tests/model/$1.pml holds in $states states; without any of its means $4"
}

check queue -DPACKETS=2 "NO_FENCE_PUBLISH NO_FENCE_RELEASE NO_LOOK_AGAIN NO_RELEASED NO_STALL" "a packet sleeps"
check lock -DROUNDS=1 "NO_NAP" "a thread sleeps for ever"
