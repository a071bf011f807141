#!/bin/sh
# releases.sh [RELEASE...]: this commit in fresh roots of Debian's releases, with what its own scripts install: make demo, make
# check-quick, and the tests of what finds compilers and device libraries. Needs root, debootstrap, and 20 minutes for each.
# The roots stay in build/releases, with logs beside them; a release that has been made is used again.
set -eu
cd "$(dirname "$0")/../.."
out=$PWD/build/releases
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
[ "$(id -u)" = 0 ] || { echo "releases: chroot needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "releases: there is no debootstrap (make deps-package)"; exit 77; }
[ $# -gt 0 ] || set -- bookworm trixie forky
mkdir -p "$out"
# tests/stack/install looks for the folder's path in what was built.
tree=tree-of-tuff

in_root() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$out/$1" sh -ec "$2"
}

leave() {
	for folder in dev sys proc; do umount "$out/$1/$folder" 2>/dev/null || :; done
}

# debootstrap knows no releases later than its own: theirs are made as unstable is. A mirror that is a snapshot has an old
# release file.
make_root() {
	script=/usr/share/debootstrap/scripts/$1
	[ -e "$script" ] || script=${script%/*}/sid
	rm -rf "${out:?}/$1"
	debootstrap --variant=minbase "$1" "$out/$1" "$mirror" "$script" >"$out/$1.log" 2>&1
	printf '%s\n' 'Acquire::Check-Valid-Until "false";' 'Dpkg::Use-Pty "false";' >"$out/$1/etc/apt/apt.conf.d/99snapshot"
	in_root "$1" 'apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc make >/dev/null' >>"$out/$1.log" 2>&1
}

step() {
	begin=$(date +%s)
	if in_root "$1" "cd /$tree && $2" >>"$out/$1.log" 2>&1; then
		echo "releases: $1: $2: passed in $(($(date +%s) - begin)) s"
	else
		echo "releases: $1: $2: failed: $out/$1.log"
		tail -n 20 "$out/$1.log"
		failed=1
	fi
}

failed=0
for release; do
	leave "$release"
	[ -e "$out/$release/etc/apt/apt.conf.d/99snapshot" ] || make_root "$release"
	mount -t proc proc "$out/$release/proc"
	mount -t sysfs sysfs "$out/$release/sys"
	mount --bind /dev "$out/$release/dev"
	rm -rf "${out:?}/$release/$tree"
	mkdir "$out/$release/$tree"
	git archive HEAD | tar -x -C "$out/$release/$tree"
	step "$release" 'make demo'
	step "$release" 'make deps-check'
	step "$release" 'make -j2 check-quick'
	step "$release" "make test T='tests/hip/rtc.* tests/hip/math.* tests/hip/print.* tests/stack/install'"
	leave "$release"
done
exit $failed
