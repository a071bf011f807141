#!/bin/sh
# in_root.sh FOLDER PROGRAM [ARGUMENT...]: runs a program of a folder of debian_root.sh, with its libc and libraries. Where
# LD_LIBRARY_PATH has tuff's folder (`tuff run`), tuff's libraries go first. A script is run by the interpreter of its name
# in the folder.
set -eu
folder=$(realpath "$1")
program=$2
shift 2
lib=usr/lib/x86_64-linux-gnu
case $program in
/*) program=$folder$program ;;
*) program=$folder/usr/bin/$program ;;
esac
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder/$lib
for sub in rocblas llvm; do
	[ ! -d "$folder/$lib/$sub" ] || LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$folder/$lib/$sub
done
export LD_LIBRARY_PATH
exec "$folder/$lib/ld-linux-x86-64.so.2" "$program" "$@"
