#!/bin/sh
# match.sh FOLDER PATTERNS PROGRAM...: prints the programs below FOLDER that one of the shell patterns matches: a path, a path
# without tests/, a file's name, or the beginning of one of these up to a dot or a slash.
set -euf
folder=$1 patterns=$2
shift 2
for program in "$@"; do
	path=${program#"$folder"/}
	for pattern in $patterns; do
		for name in "$path" "${path#tests/}" "${path##*/}"; do
			# shellcheck disable=SC2254
			case $name in $pattern | $pattern.* | $pattern/*) echo "$program"; break 2 ;; esac
		done
	done
done
