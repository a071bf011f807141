#!/bin/sh
# The include rule: a room includes only itself and the rooms below it; vgpu/ and the driver never meet, except in
# tools/ and tests/. Arguments: chains of the driver's rooms, each lowest first; chains may begin alike.
set -eu
bad=0

# Lists "file:line:header" for each #include "..." below $1, test files (foo_test.c, test_foo.h) apart.
includes() {
	grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$1" --include='*.c' --include='*.h' |
		grep -vE '_test\.c:|/test_[a-z_]*\.h:' | sed -E 's/^([^:]*:[0-9]+):.*"([^"]*)".*/\1:\2/'
}

complain() { echo "layers: $1 may not include $2" >&2; bad=1; }

# Includes of room $1 that name none of the rooms $2.
check_room() {
	for line in $(includes "$1"); do
		header=${line##*:}
		case "$header" in */*) ;; *) complain "${line%:*}" "\"$header\" without its room"; continue ;; esac
		ok=no
		for r in $2 shaders; do case "$header" in "$r"/*) ok=yes ;; esac; done
		[ $ok = yes ] || complain "${line%:*}" "$header"
	done
}

judged=" "
for chain in "$@"; do
	below=""
	for room in $chain; do
		below="$below $room"
		case "$judged" in *" $room "*) continue ;; esac
		judged="$judged$room "
		[ ! -d "$room" ] || check_room "$room" "$below"
	done
done

# Folders inside a room: $2, lowest first.
check_folders() {
	lower=""
	for folder in $2; do
		lower="$lower $folder"
		for line in $(includes "$1/$folder"); do
			header=${line##*:}
			case "$header" in "$1"/*/*) ;; *) continue ;; esac
			ok=no
			for f in $lower; do case "$header" in "$1/$f"/*) ok=yes ;; esac; done
			[ $ok = yes ] || complain "${line%:*}" "$header"
		done
	done
}
check_folders hsa "core signal memory code queue copy image ipc entry"
check_folders api "base stream tool memory pool module exec image graph rtc device"

# Folders of the virtual GPU, lowest first: a file includes headers of its own folder and of those above it in this list.
vgpu="vgpu vgpu/memory
	vgpu/isa vgpu/isa/decode vgpu/isa/wave vgpu/isa/check vgpu/isa/valu vgpu/isa/mem vgpu/isa/exec
	vgpu/engine
	vgpu/kernel vgpu/kernel/base vgpu/kernel/sync vgpu/kernel/gem vgpu/kernel/sched vgpu/kernel/drm vgpu/kernel/tests
	vgpu/shim"
below=" "
for folder in $vgpu; do
	below="$below$folder "
	for line in $(includes "$folder"); do
		file=${line%%:*} header=${line##*:}
		[ "${file%/*}" = "$folder" ] || continue
		case "$below" in *" ${header%/*} "*) ;; *) complain "${line%:*}" "$header" ;; esac
	done
done
for folder in $(find vgpu -type d); do
	case "$below" in *" $folder "*) ;; *) complain "the list of folders" "a tree without $folder" ;; esac
done
# Tests of the public interfaces include only these, and the common headers of tests.
for line in $(includes tests/device) $(includes tests/examples) $(includes tests/hsa); do
	header=${line##*:}
	case "$line" in tests/hsa/*) also="vgpu/vgpu.h vgpu/report.h hsa/names.h tests/inject.h tests/ends.h" ;; *) also="" ;; esac
	case " $also " in *" $header "*) continue ;; esac
	case "$header" in tests/check.h | tests/battery.h | tests/count.h | tests/step.h | tests/step_rows.h | tests/hsa_*.h | tests/code/code.h | tests/descriptors.h | tests/random.h | tests/rest.h | \
		tests/device/*.h | tests/hsa/*.h | shaders/blob.h) ;; *) complain "${line%:*}" "$header" ;; esac
done
[ $bad = 0 ] && echo "layers: ok"
exit $bad
