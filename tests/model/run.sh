#!/bin/sh
# Checks the models: run.sh DIR [long]. Each must hold, and must fail without what it says it needs.
set -eu
out=$(realpath -m "$1")/model
cd "$(dirname "$0")"
size=${2:--DPACKETS=2}
[ "$size" = long ] && size=""
mkdir -p "$out"

# states of queue.pml under those definitions, and how many errors
try() {
	rm -rf "$out/work" && mkdir "$out/work"
	cp queue.pml "$out/work/" && cd "$out/work"
	# shellcheck disable=SC2086
	spin $1 -a queue.pml >spin.log && gcc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=3000 -o pan pan.c && ./pan -m1000000 >pan.log
	cd - >/dev/null
	sed -n 's/.*errors: \([0-9]*\).*/\1/p' "$out/work/pan.log"
}

errors=$(try "$size")
grep -q "^Warning: \|search depth too small\|out of memory" "$out/work/pan.log" && errors="none, but not all states were seen"
[ "$errors" = 0 ] || { echo "FAIL  tests/model/queue.pml: a packet sleeps"; cat "$out/work/pan.log"; exit 1; }
states=$(sed -n 's/ *\([0-9]*\) states, stored.*/\1/p' "$out/work/pan.log")
for without in NO_FENCE_PUBLISH NO_FENCE_RELEASE NO_LOOK_AGAIN NO_RELEASED NO_STALL; do
	[ "$(try "-DPACKETS=2 -D$without")" = 1 ] || { echo "FAIL  tests/model/queue.pml: holds with $without, too"; exit 1; }
done
echo "ok    tests/model/queue.pml: no packet sleeps in $states states; without any of its means one does"
