#!/bin/sh
# over_share.sh FOLDER PROGRAM [ARGUMENT...]: runs a program that sees the folder's files in /usr/share as well, and before those that
# are there: in a mount namespace, which any user may make.
set -eu
exec unshare -rm sh -c 'mount -t overlay overlay -o lowerdir="$1":/usr/share /usr/share && shift && exec "$@"' over_share "$@"
