#!/bin/sh
# Installs the Debian packages that building and testing need, and those given, and says which. Elsewhere it prints the list.
set -eu

packages="gcc make pkg-config libdrm-dev libelf-dev libnuma-dev libpng-dev libjson-c-dev zlib1g-dev
clang-19 lld-19 llvm-19 $*"

missing=""
if command -v dpkg-query >/dev/null 2>&1; then
	for p in $packages; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
	done
	[ -n "$missing" ] || exit 0
else
	echo "deps: not a Debian system; this build needs what Debian calls:" $packages >&2
	exit 0
fi

echo "deps: installing$missing"
if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo"; fi
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
echo "deps: done"
