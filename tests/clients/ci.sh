#!/bin/sh
# ci.sh DEBS: the recipe of docs/ci.md, as written, in a fresh root of Debian 12 with the packages of that folder. Needs root and
# debootstrap. BASE: a root that debootstrap has made, else one is made.
set -eu
cd "$(dirname "$0")/../.."
debs=$1
out=$PWD/build/packages
root=$out/ci
[ "$(id -u)" = 0 ] || { echo "ci: chroot needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "ci: there is no debootstrap (make deps-package)"; exit 77; }

# The block that follows a line with `NAME`, without its indentation.
block() {
	awk -v name="\`$1\`:\$|is \`$1\`:\$" 'found && /^    /  { print substr($0, 5); inside = 1; next }
		found && /^$/ && inside { print ""; next }
		found && inside { exit }
		$0 ~ name { found = 1 }' docs/ci.md
}

in_root() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive chroot "$root" sh -ec "cd /root; $1"
}

mkdir -p "$out"
rm -rf "$root"
[ -e "$out/base/etc/debian_version" ] || debootstrap --variant=minbase bookworm "$out/base" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$out/debootstrap.log"
cp -a "$out/base" "$root"
echo 'Dpkg::Use-Pty "false";' >"$root/etc/apt/apt.conf.d/99terminal" # as in packages.sh
trap 'umount "$root/proc" 2>/dev/null || :; rm -rf "$root"' EXIT
mount -t proc proc "$root/proc"
mkdir "$root/debs"
cp "$debs"/*.deb "$root/debs/"
begin=$(date +%s)
in_root "$(block image)" >"$out/ci.log" 2>&1 || { tail -20 "$out/ci.log"; exit 1; }
echo "ci: the image took $(($(date +%s) - begin)) s"
block test >"$root/root/saxpy.hip"
block project >"$root/root/CMakeLists.txt"
workflow=$(block workflow | sed -n 's/^ *- //p')
[ -n "$workflow" ]
begin=$(date +%s)
in_root "$(block job)" | tee "$out/ci.job.log"
echo "ci: the job took $(($(date +%s) - begin)) s"
[ "$(grep -c '^0 of 10000 are wrong' "$out/ci.job.log")" = 3 ]
in_root "$workflow" | tee "$out/ci.workflow.log"
grep -q '^100% tests passed' "$out/ci.workflow.log"
# The test can fail: with a wrong kernel both end with an error.
sed -i 's/a \* x\[i\]/a + x[i]/' "$root/root/saxpy.hip"
! in_root "$(block job)" >/dev/null
! in_root "$workflow" >/dev/null
echo "ci: the recipe works"
