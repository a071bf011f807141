#!/bin/sh
# deb.sh FOLDER VERSION [OPTION...]: the script of `make deb`. Builds Debian's packages of the commit that is checked out, in
# FOLDER, by dpkg-buildpackage, which takes the options. VERSION is that of the headers: debian/changelog has to name it.
set -eu
folder=$(realpath -m "$1")
version=$2
shift 2
packaged=$(dpkg-parsechangelog -S Version)
[ "$packaged" = "$version" ] || {
	echo "deb: debian/changelog has version $packaged, include/tuff/base.h $version" >&2
	exit 1
}
git diff --quiet HEAD || echo "deb: changes that are not committed are left out" >&2
rm -rf "$folder"
mkdir -p "$folder"
git archive --prefix="tuff-$version/" HEAD | tar -x -C "$folder"
cd "$folder/tuff-$version"
# The Makefile that runs this has settings of its own build.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES O MODE CC CFLAGS CPPFLAGS LDFLAGS
dpkg-buildpackage -us -uc "$@"
cd ..
rm -r "tuff-$version"
ls
