#!/bin/sh
# Breaks the rules of order, caches and time in flow/, and what they rest on in cs/ and sdma/, one at a time, by the table
# `mutations`, and expects that a test which the mutation names fails.
#
#   break.sh check           does each mutation fit the sources? (make check)
#   break.sh DIR [name...]   breaks all rules, or these, in a copy of the tree in DIR/mutants (make check-flow)
set -eu
cd "$(dirname "$0")/../.."
here=tests/flow noun=rule
table=$here/mutations
. tests/contract/mutants.sh

# Test programs that the mutation of name $1 names.
tests() { list | sed -n "s/^[0-9]* $1 [^ ]* //p"; }

if [ "$1" = check ]; then check_fit; exit $((failed != 0)); fi
out=$1 copy=$1/${COPY:-mutants}
shift
copy
# Programs of HIP and HSA use the library: once they are there, it is all that changes.
make -C "$copy" -j2 O=build lib build/tuff $(list | cut -d ' ' -f 4- | tr ' ' '\n' | sort -u | sed 's,^,build/bin/,') >"$copy/log" 2>&1 ||
	{ cat "$copy/log"; exit 1; }
targets() { case $1 in tests/hip/* | tests/hsa/*) echo build/lib/libhsa-runtime64.so.1 ;; *) echo "build/bin/$1" ;; esac; }
# As under make check: what is out of order, or stale in a cache, ends a program.
export TUFF_VGPU_STRICT=fatal
names=$*
for name in ${names:-$(list | cut -d ' ' -f 2)}; do break_all_of "$name"; done
echo "rules of flow/ that were broken: $passed passed, $failed failed"
exit $((failed != 0))
