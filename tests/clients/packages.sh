#!/bin/sh
# packages.sh: Debian's packages of this commit are built in clean roots of Debian 12, twice in folders of different names, and
# compared; lintian reads them; they are installed beside ROCm's in another clean root, used and purged; ci.sh uses them in a third.
# They stay in build/packages/debs. Needs root, debootstrap, and half an hour. KEEP=1 leaves the roots in build/packages; DEBS=folder
# takes packages that are built.
set -eu
cd "$(dirname "$0")/../.."
out=$PWD/build/packages
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
version=$(dpkg-parsechangelog -S Version)
[ "$(id -u)" = 0 ] || { echo "packages: chroot needs root"; exit 77; }
for tool in dh debootstrap; do
	command -v $tool >/dev/null || { echo "packages: there is no $tool (make deps-package)"; exit 77; }
done

in_root() {
	root=$1
	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$out/$root" sh -ec "$*"
}

step() { echo "packages: $*"; }

end() {
	for root in build use; do
		umount "$out/$root/proc" 2>/dev/null || :
		[ -n "${KEEP:-}" ] || rm -rf "${out:?}/$root"
	done
}

make_root() {
	cp -a "$out/base" "$out/$1"
	# apt has no terminal to log, and would call that an error.
	echo 'Dpkg::Use-Pty "false";' >"$out/$1/etc/apt/apt.conf.d/99terminal"
	mount -t proc proc "$out/$1/proc"
}

rm -rf "$out/build" "$out/use"
mkdir -p "$out"
trap end EXIT
[ -e "$out/base/etc/debian_version" ] || debootstrap --variant=minbase bookworm "$out/base" "$mirror" >"$out/debootstrap.log"
# Twice, and compared; read by lintian. The first build's packages are the result.
build_packages() {
	step "source package"
	make --no-print-directory deb O="$out/source" DEB_FLAGS='-S -d' >"$out/source.log" 2>&1 || { cat "$out/source.log"; exit 1; }

	make_root build
	mkdir "$out/build/src"
	cp "$out/source/deb/"*.dsc "$out/source/deb/"*.tar.* "$out/build/src/"
	# Build-Depends alone are what the build has, beside lintian for later.
	in_root build "sed 's/^Types: deb$/Types: deb deb-src/' -i /etc/apt/sources.list.d/* 2>/dev/null || :; apt-get update -qq
		apt-get install -y -qq --no-install-recommends build-essential dpkg-dev lintian >/dev/null
		cd /src && dpkg-source -x *.dsc source >/dev/null && cd source && apt-get build-dep -y -qq --no-install-recommends ./ >/dev/null"
	for folder in one another-folder; do
		step "build in $folder"
		in_root build "mkdir /$folder && cd /$folder && dpkg-source -x /src/*.dsc tree-of-$folder && cd tree-of-$folder &&
			DEB_BUILD_OPTIONS='parallel=2 terse' dpkg-buildpackage -us -uc && cd .. && rm -r tree-of-$folder" >"$out/$folder.log" 2>&1 || {
			tail -30 "$out/$folder.log"
			exit 1
		}
	done
	step "both builds are the same"
	for deb in "$out/build/one/"*.deb; do cmp "$deb" "$out/build/another-folder/${deb##*/}"; done
	step "lintian"
	in_root build "cd /one && lintian --allow-root --fail-on error,warning --suppress-tags newer-standards-version *.changes"
	debs=$out/debs
	rm -rf "$debs"
	mkdir "$debs"
	cp "$out/build/one/"*.deb "$debs/"
}

debs=${DEBS:-}
[ -n "$debs" ] || build_packages
make_root use
mkdir "$out/use/debs"
cp "$debs"/*.deb "$out/use/debs/"
cp -r tests/stack/builds/sine.hip tests/examples/vadd.c tests/examples/vadd.hip "$out/use/root/"
step "installed beside ROCm's"
in_root use "apt-get update -qq && apt-get install -y -qq --no-install-recommends libamdhip64-5 rocminfo >/dev/null
	apt-get install -y -qq --no-install-recommends /debs/*.deb clang-19 lld-19 llvm-19 clang-tools-19 rocm-device-libs gcc libc6-dev libstdc++-12-dev pkg-config >/dev/null"
in_root use 'cd /root
	tuff --version
	tuff test --brief --gpu gfx908 ladder
	[ "$(dpkg -L libtuff-dev | grep -c /man3/)" -gt 50 ]
	gcc vadd.c $(pkg-config --cflags --libs tuff) -o vadd
	ldd vadd | grep -F /lib/x86_64-linux-gnu/libtuff.so.0
	clang-19 -x hip --offload-arch=gfx908 --offload-device-only -nogpuinc -nogpulib --no-gpu-bundle-output vadd.hip -o vadd.co
	apt-get purge -y -qq libtuff-dev >/dev/null
	tuff run --gpu gfx908 -- ./vadd vadd.co
	/usr/lib/x86_64-linux-gnu/tuff/rocm/bin/hipcc --offload-arch=gfx906 sine.hip -o sine
	tuff run --gpu gfx906 -- ./sine
	tuff run --gpu gfx906 -- rocminfo | grep gfx906'
step "the linker's list"
in_root use 'first() { ldconfig -p | grep -m1 "libamdhip64.so.5 "; }
	! first | grep /tuff/
	cp /usr/share/doc/libtuff-hip/examples/00-tuff.conf /etc/ld.so.conf.d/
	ldconfig
	first | grep /tuff/
	rm /etc/ld.so.conf.d/00-tuff.conf
	ldconfig'
step "purged"
in_root use 'apt-get purge -y -qq $(cd /debs && for f in *.deb; do echo ${f%%_*}; done | grep -v libtuff-dev) >/dev/null
	! find /usr /etc /var/lib /var/cache -path "*tuff*" -not -path "/var/lib/apt/*" | grep .'
step "the recipe of docs/ci.md"
tests/clients/ci.sh "$debs"
step "version $version passed"
