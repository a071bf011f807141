#!/bin/sh
# debian_root.sh FOLDER SUITE PACKAGE...: unpacks packages of a release of Debian, with what they depend on, in a folder.
#
# Nothing is installed on the system: the folder has its own libc, and its programs are started by its own dynamic linker
# (in_root.sh). Packages that are unpacked already are not fetched again. The folder's apt knows the release alone.
set -eu
folder=$(realpath -m "$1")
suite=$2
shift 2
apt=$folder/.apt
mkdir -p "$apt/apt.conf.d" "$apt/preferences.d" "$apt/lists/partial" "$apt/archives/partial" "$apt/unpacked"
[ -e "$apt/status" ] || : >"$apt/status"
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources.list"
# A mirror that is a snapshot has an old release file.
cat >"$apt/apt.conf" <<END
Dir::Etc "$apt";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Acquire::Check-Valid-Until "false";
APT::Sandbox::User "root";
Debug::NoLocking "true";
END
export APT_CONFIG="$apt/apt.conf"
[ -n "$(ls "$apt/lists/"*Packages* 2>/dev/null)" ] || apt-get update -qq
apt-get install --download-only --no-install-recommends -y -qq "$@" >/dev/null

for deb in "$apt/archives"/*.deb; do
	[ -e "$deb" ] || break
	dpkg-deb -x "$deb" "$folder"
	name=${deb##*/}
	echo "${name%%_*} $(dpkg-deb -f "$deb" Version)" >"$apt/unpacked/${name%%_*}"
	# apt fetches a package once: the status file names it.
	{ dpkg-deb -f "$deb" Package Version Architecture Multi-Arch Provides Depends; echo 'Status: install ok installed'; echo; } >>"$apt/status"
	rm "$deb"
done
