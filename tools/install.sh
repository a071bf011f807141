#!/bin/sh
# install.sh install|uninstall DESTDIR PREFIX MANIFEST: the script of `make install` and `make uninstall`.
#
# INSTALL_LIST has the list of files, INSTALL_WORDS the commands of sed that replace words (tools/install.mk). MANIFEST
# records what was created: "d PATH" for a new folder, parents first, "f PATH" for a file; paths without DESTDIR. Uninstalling
# removes these files, and those of the folders that are empty then: files of others stay, and so does a folder that existed
# before.
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

# Creates a folder and its parents, and records the new ones.
make_folder() {
	[ ! -d "$destdir$1" ] || return 0
	case ${1%/*} in '') ;; *) make_folder "${1%/*}" ;; esac
	mkdir "$destdir$1"
	echo "d $1" >>"$made"
}

# Replaces the file by a new one, so that a running program keeps the old one.
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

# Writes the manifest also after a failure, so that a partial installation can be uninstalled.
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
