#!/bin/sh
# Breaks the rules of docs/vgpu-contract.md one at a time, by the table `mutations`, and expects that a test which the
# rule's row names fails. What cannot be noticed stands in `exceptions`, with the reason.
#
#   break.sh check          has each row a mutation or a reason, and does each mutation fit the sources? (make check)
#   break.sh DIR [row...]   breaks all rows, or these, in a copy of the tree in DIR/contract (make check-contract)
set -eu
cd "$(dirname "$0")/../.."
here=tests/contract contract=docs/vgpu-contract.md
table=$here/mutations
passed=0 failed=0 skipped=0

pass() { echo "ok    row $1"; passed=$((passed + 1)); }
fail() { echo "FAIL  row $1"; failed=$((failed + 1)); }
skip() { echo "skip  row $1"; skipped=$((skipped + 1)); }

# Numbers of the contract's rows.
rows() { sed -n 's/^| \([0-9]*\) |.*/\1/p' $contract; }
# Test programs that row $1 names; none where the row says why there is none.
tests() { grep "^| $1 |" $contract | grep -o '`[a-z/_0-9]*\.c: ' | sed 's/`\(.*\)\.c: /\1/' | uniq; }
# Why row $1 cannot be broken, if so.
reason() {
	sed -n "s/^$1 \(.*\)/\1/p" $here/exceptions
	sed -n "s/^| $1 |.*| none: \(.*\) |$/\1/p" $contract
}
# The file that the mutation at line $1 of the table changes, changed.
mutate() { awk -v at="$1" -f $here/edit.awk "$table"; }

check() {
	list=$(awk -f $here/edit.awk "$table")
	for row in $(rows); do
		has=$(echo "$list" | grep -c "^[0-9]* $row " || true)
		[ -n "$(reason "$row")" ] || [ "$has" != 0 ] || fail "$row: has no mutation, and no reason"
		[ -z "$(reason "$row")" ] || [ "$has" = 0 ] || fail "$row: has a mutation, and a reason why there is none"
	done
	while read -r at row file; do
		if [ -z "$(tests "$row")" ]; then fail "$row: $here/mutations:$at: the contract names no test"
		elif mutate "$at" >/dev/null; then passed=$((passed + 1))
		else fail "$row: $here/mutations:$at does not fit $file"
		fi
	done <<-END
	$list
	END
	[ $failed != 0 ] || echo "ok    tests/contract: $passed mutations fit the sources"
}

# The tree, and what is built of it but for programs, so that little has to be compiled.
copy() {
	mkdir -p "$copy/build"
	git ls-files -z | xargs -0 cp -a --parents -t "$copy"
	for part in "$out"/*; do
		case ${part##*/} in bin | lib | contract*) ;; *) cp -a "$part" "$copy/build" ;; esac
	done
	find "$copy/build" -name '*.d' -exec sed -i "s,\\(^\\| \\)$out/,\\1build/,g" {} +
}

# Builds test program $1 and runs it. 1: it fails, 2: no build. Mutations may leave something unused.
run() {
	make -C "$copy" O=build CFLAGS=-Wno-error "build/bin/$1" >"$copy/log" 2>&1 || return 2
	(cd "$copy" && { O=build timeout -k 5 "${LIMIT:-60}" "build/bin/$1" || exit 1; }) >"$copy/log" 2>&1 || return 1
}

# Runs the tests of row $1 until one fails. Sets `by` to it, and `how` to what run() gave.
try() {
	for by in $(tests "$1"); do
		how=0
		run "$by" || how=$?
		[ $how = 0 ] || break
	done
}

# Whole, the tests of row $1 pass: each is run once.
whole() {
	for t in $(tests "$1"); do
		[ -e "$copy/whole/$t" ] && continue
		run "$t" || { cat "$copy/log"; return 1; }
		mkdir -p "$copy/whole/$(dirname "$t")" && touch "$copy/whole/$t"
	done
}

break_one() { # line of the table, row, file
	if ! whole "$2"; then fail "$2: its tests fail as it is"; return; fi
	mutate "$1" >"$copy/mutant" || { fail "$2: $here/mutations:$1 does not fit $3"; return; }
	cp "$copy/mutant" "$copy/$3"
	try "$2"
	case $how in
	0) fail "$2: $here/mutations:$1: no test notices" ;;
	1) pass "$2: $3: $(grep -m1 -E '^FAIL|Assert' "$copy/log" || echo "$by: $(tail -n1 "$copy/log")")" ;;
	2) fail "$2: $here/mutations:$1 does not compile"; grep -m3 error: "$copy/log" || true ;;
	esac
	cp "$3" "$copy/$3"
}

if [ "$1" = check ]; then check; exit $((failed != 0)); fi
out=$1 copy=$1/${COPY:-contract}
shift
rm -rf "$copy" && copy
cp $table "$copy/table" && table=$copy/table
awk -f $here/edit.awk "$table" >"$copy/list"
list=$*
for row in ${list:-$(rows)}; do
	[ -z "$(reason "$row")" ] || { skip "$row: $(reason "$row")"; continue; }
	grep "^[0-9]* $row " "$copy/list" >"$copy/now" || fail "$row: has no mutation, and no reason"
	while read -r at number file; do break_one "$at" "$number" "$file"; done <"$copy/now"
done
echo "rules of the contract that were broken: $passed passed, $failed failed, $skipped skipped"
exit $((failed != 0))
