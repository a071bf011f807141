#!/bin/sh
# install.sh install|uninstall DESTDIR PREFIX MANIFEST: what `make install` and `make uninstall` do.
#
# The list comes in INSTALL_LIST, and the commands of sed that replace words in INSTALL_WORDS (tools/install.mk). What was
# made is written to MANIFEST: "d PATH" for a folder that was not there before, parents first, "f PATH" for a file; paths
# without DESTDIR. Uninstalling removes those files, and those folders that are empty then: what others put beside stays, and
# so does a folder that was there.
set -eu
umask 022
action=$1
destdir=$2
prefix=${3%/}
manifest=$destdir$4

case $3 in
/*) ;;
*) echo "install: PREFIX must begin with /" >&2; exit 1 ;;
esac

# Makes a folder, and notes each that it had to make.
make_folder() {
	[ ! -d "$destdir$1" ] || return 0
	case ${1%/*} in '') ;; *) make_folder "${1%/*}" ;; esac
	mkdir "$destdir$1"
	echo "d $1" >>"$made"
}

# A new file under the name, so that a program that is running keeps the old one.
put() {
	make_folder "${3%/*}"
	case $1,$2 in
	all,*)
		put_folder "$2" "$3"
		return
		;;
	ln,*) ln -sfn "$2" "$destdir$3" ;;
	*.in)
		rm -f "$destdir$3"
		sed -e "$INSTALL_WORDS" "$2" >"$destdir$3"
		chmod "$1" "$destdir$3"
		;;
	*) install -m "$1" "$2" "$destdir$3" ;;
	esac
	echo "f $3" >>"$made"
}

put_folder() {
	for file in "$1"/*; do
		if [ -L "$file" ]; then
			put ln "$(readlink "$file")" "$2/${file##*/}"
		else
			put 644 "$file" "$2/${file##*/}"
		fi
	done
}

# Also when it stops half-way: what there is can be uninstalled.
keep_manifest() {
	[ ! -d "${manifest%/*}" ] || install -m 644 "$made" "$manifest"
	rm -f "$made"
}

install_all() {
	made=$(mktemp)
	trap keep_manifest EXIT
	mkdir -p "$destdir/"
	[ ! -f "$manifest" ] || grep '^d ' "$manifest" >>"$made" || :
	printf '%s\n' "$INSTALL_LIST" | while read -r mode from to; do
		[ -z "$mode" ] || put "$mode" "$from" "$to"
	done
	# What an older version installed and this one does not.
	if [ -f "$manifest" ]; then
		grep '^f ' "$manifest" | grep -vxFf "$made" | while read -r _ path; do rm -f "$destdir$path"; done
	fi
	echo "installed in $destdir$prefix"
}

uninstall_all() {
	if [ ! -f "$manifest" ]; then
		echo "nothing of tuff is installed in $destdir$prefix"
		return
	fi
	made=$(mktemp)
	trap 'rm -f "$made"' EXIT
	cp "$manifest" "$made"
	rm "$manifest"
	while read -r kind path; do
		[ "$kind" != f ] || rm -f "$destdir$path"
	done <"$made"
	grep '^d ' "$made" | tac | while read -r _ path; do
		rmdir "$destdir$path" 2>/dev/null || :
	done
	echo "uninstalled from $destdir$prefix"
}

${action}_all
