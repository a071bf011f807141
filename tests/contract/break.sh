#!/bin/sh
# Breaks the rules of docs/vgpu-contract.md one at a time, by the table `mutations`, and expects that a test which the
# rule's row names fails. What cannot be noticed stands in `exceptions`, with the reason.
#
#   break.sh check          has each row a mutation or a reason, and does each mutation fit the sources? (make check)
#   break.sh DIR [row...]   breaks all rows, or these, in a copy of the tree in DIR/contract (make check-contract)
set -eu
cd "$(dirname "$0")/../.."
here=tests/contract contract=docs/vgpu-contract.md noun=row
table=$here/mutations
. $here/mutants.sh

# Numbers of the contract's rows.
rows() { sed -n 's/^| \([0-9]*\) |.*/\1/p' $contract; }
# Test programs that row $1 names; none where the row says why there is none.
tests() { grep "^| $1 |" $contract | grep -o '`[a-z/_0-9]*\.c: ' | sed 's/`\(.*\)\.c: /\1/' | uniq; }
# Why row $1 cannot be broken, if so.
reason() {
	sed -n "s/^$1 \(.*\)/\1/p" $here/exceptions
	sed -n "s/^| $1 |.*| none: \(.*\) |$/\1/p" $contract
}

check() {
	all=$(list)
	for row in $(rows); do
		has=$(echo "$all" | grep -c "^[0-9]* $row " || true)
		[ -n "$(reason "$row")" ] || [ "$has" != 0 ] || fail "$row: has no mutation, and no reason"
		[ -z "$(reason "$row")" ] || [ "$has" = 0 ] || fail "$row: has a mutation, and a reason why there is none"
	done
	check_fit
}

if [ "$1" = check ]; then check; exit $((failed != 0)); fi
out=$1 copy=$1/${COPY:-contract}
shift
copy
list=$*
for row in ${list:-$(rows)}; do
	if [ -n "$(reason "$row")" ]; then skip "$row: $(reason "$row")"; else break_all_of "$row"; fi
done
echo "rules of the contract that were broken: $passed passed, $failed failed, $skipped skipped"
exit $((failed != 0))
