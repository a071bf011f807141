#!/bin/sh
# The include rule: a room includes only itself and the rooms below it; vgpu/ and the driver never meet, except in
# tools/ and tests/. Arguments: the driver's rooms, lowest first.
set -eu
rooms="$*"
bad=0

# Lists "file:line:header" for each #include "..." below $1, test files (foo_test.c, test_foo.h) apart.
includes() {
	grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$1" --include='*.c' --include='*.h' |
		grep -vE '_test\.c:|/test_[a-z_]*\.h:' | sed -E 's/^([^:]*:[0-9]+):.*"([^"]*)".*/\1:\2/'
}

complain() { echo "layers: $1 may not include $2" >&2; bad=1; }

below=""
for room in $rooms; do
	below="$below $room"
	[ -d "$room" ] || continue
	for line in $(includes "$room"); do
		header=${line##*:}
		case "$header" in */*) ;; *) complain "${line%:*}" "\"$header\" without its room"; continue ;; esac
		ok=no
		for r in $below shaders; do case "$header" in "$r"/*) ok=yes ;; esac; done
		[ $ok = yes ] || complain "${line%:*}" "$header"
	done
done

below=""
for room in vgpu/isa vgpu/engine vgpu/kernel vgpu/shim; do
	below="$below $room"
	for line in $(includes "$room"); do
		header=${line##*:}
		ok=no
		case "$header" in vgpu/*.h) case "${header#vgpu/}" in */*) ;; *) ok=yes ;; esac ;; esac
		for r in $below; do case "$header" in "$r"/*) ok=yes ;; esac; done
		[ $ok = yes ] || complain "${line%:*}" "$header"
	done
done
# Device tests and examples know the public interface alone.
for line in $(includes tests/device) $(includes tests/examples); do
	header=${line##*:}
	case "$header" in tests/check.h | tests/battery.h | tests/descriptors.h | tests/random.h | tests/device/*.h | shaders/blob.h) ;; *) complain "${line%:*}" "$header" ;; esac
done
[ $bad = 0 ] && echo "layers: ok"
exit $bad
