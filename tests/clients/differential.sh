#!/bin/sh
# Asks our libraries of HIP 6 and 7 and AMD's the same questions (questions.c), each over our HSA library on a virtual gfx906, and
# prints the answers that differ, but for those that are decided (differences). Arguments: the build; --all prints these, too.
#
# AMD's libraries are Debian's of testing and experimental. They are downloaded once, by apt with lists of its own, and unpacked in a
# folder with their own libc: nothing is installed. Where that cannot be done the status is 77, and the last line says why.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) all=${2-}
work=$build/clients/differential amd=$work/amd libraries=$work/amd/usr/lib/x86_64-linux-gnu
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

skip() {
	echo "skipped: $1"
	exit 77
}

# Of experimental what has no version in testing that is new enough.
fetch() {
	rm -rf "$work/apt" "$amd"
	mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial" "$amd"
	for suite in testing experimental; do
		echo "deb [signed-by=$keyring] http://deb.debian.org/debian $suite main"
	done >"$work/apt/sources.list"
	: >"$work/apt/status"
	cat >"$work/apt/apt.conf" <<-END
		Dir::Etc::sourcelist "$work/apt/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::State::lists "$work/apt/lists";
		Dir::State::status "$work/apt/status";
		Dir::Cache "$work/apt";
		Acquire::Languages "none";
		APT::Sandbox::User "root";
	END
	export APT_CONFIG="$work/apt/apt.conf"
	apt-get update >"$work/apt/log" 2>&1 || skip "Debian's lists of testing and experimental cannot be had: $work/apt/log"
	(cd "$work/apt/archives" && apt-get download libamdhip64-6 libamdhip64-7/experimental libamd-comgr3/experimental libllvm22 \
		libc6 libstdc++6 libgcc-s1 libnuma1 libzstd1 zlib1g libffi8 libedit2 libxml2-16 libz3-4 libtinfo6 libbsd0 libmd0) \
		>>"$work/apt/log" 2>&1 || skip "not all of Debian's packages can be had: $work/apt/log"
	unset APT_CONFIG
	for package in "$work/apt/archives"/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x -C "$amd" --wildcards './usr/lib/x86_64-linux-gnu/*' 2>"$work/stderr"
	done
	[ -e "$libraries/libamdhip64.so.7" ] || skip "Debian's packages cannot be unpacked: $(tail -1 "$work/stderr")"
	rm -rf "$work/apt/archives" "$work/apt/lists"
	touch "$amd/.ready"
}

# ask FILE COMMAND...: the answers of each group, with release and group before each line.
ask() {
	to=$1 release=$2
	shift 2
	: >"$to"
	for group in $("$work/questions"); do
		"$build/tuff" run --gpu gfx906 -- "$@" "$group" 2>"$work/stderr" | sed "s/^/$release $group: /" >>"$to"
	done
}

mkdir -p "$work"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || skip "there is no apt"
[ -e "$keyring" ] || skip "Debian's keys are not there: $keyring"
[ -e "$amd/.ready" ] || fetch
cc -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -DTUFF_HIP_ABI=7 -I"$here/../../include" "$here/questions.c" -o "$work/questions" -ldl ||
	exit 1
: >"$work/found"
for release in 6 7; do
	so=libamdhip64.so.$release
	ask "$work/ours.$release" $release "$work/questions" "$build/lib/$so"
	# The loader is no program that `tuff run` prepares; the shell is.
	ask "$work/amd.$release" $release sh -c \
		'exec "$0/ld-linux-x86-64.so.2" --library-path "$0:$1/lib:/usr/lib/x86_64-linux-gnu" "$2" "$0/$3" "$4"' \
		"$libraries" "$build" "$work/questions" "$so"
	grep -q "memory: hipMalloc(&at, 4096) = 0" "$work/amd.$release" || {
		echo "AMD's $so does not work here:"
		sed 's/^/      | /' "$work/stderr"
		exit 1
	}
	diff "$work/amd.$release" "$work/ours.$release" | sed -n 's/^< /amd  /p; s/^> /ours /p' >>"$work/found"
done
grep -v -e '^#' -e '^$' "$here/differences" | sort >"$work/decided"
sort "$work/found" >"$work/sorted"
comm -23 "$work/sorted" "$work/decided" >"$work/new"
comm -13 "$work/sorted" "$work/decided" >"$work/gone"
[ -z "$all" ] || cat "$work/found"
sed 's/^/differs: /' "$work/new"
sed 's/^/does not differ any more: /' "$work/gone"
echo "$(cat "$work/ours.6" "$work/ours.7" | wc -l) answers, $(wc -l <"$work/found") lines differ, $(wc -l <"$work/new") undecided"
[ ! -s "$work/new" ] && [ ! -s "$work/gone" ]
