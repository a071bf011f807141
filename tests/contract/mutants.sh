# What the scripts that break the project on purpose share: tests/contract/break.sh and tests/flow/break.sh. Each has a
# table of mutations in the format of edit.awk. It sets `here`, its folder; `table`; and `noun`, what a block of the
# table breaks. It defines tests(): the programs below bin/ that must notice when $1 is broken. To build and run it also
# sets `out`, the folder of the intact build, and `copy`, where the tree is copied to.
passed=0 failed=0 skipped=0
edit=tests/contract/edit.awk

pass() { echo "ok    $noun $1"; passed=$((passed + 1)); }
fail() { echo "FAIL  $noun $1"; failed=$((failed + 1)); }
skip() { echo "skip  $noun $1"; skipped=$((skipped + 1)); }

# "line name file ..." of each mutation.
list() { awk -f $edit "$table"; }
# The file that the mutation at line $1 of the table changes, changed.
mutate() { awk -v at="$1" -f $edit "$table"; }

# Each mutation has tests, and fits the sources.
check_fit() {
	while read -r at name file rest; do
		if [ -z "$(tests "$name")" ]; then fail "$name: $here/mutations:$at: no test is named"
		elif mutate "$at" >/dev/null; then passed=$((passed + 1))
		else fail "$name: $here/mutations:$at does not fit $file"
		fi
	done <<-END
	$(list)
	END
	[ $failed != 0 ] || echo "ok    $here: $passed mutations fit the sources"
}

# The tree, and what is built of it but for programs, so that little has to be compiled. The table may change meanwhile.
copy() {
	rm -rf "$copy"
	mkdir -p "$copy/build"
	git ls-files -z | xargs -0 cp -a --parents -t "$copy"
	for part in "$out"/*; do
		case ${part##*/} in bin | lib | contract* | mutants*) ;; *) cp -a "$part" "$copy/build" ;; esac
	done
	find "$copy/build" -name '*.d' -exec sed -i "s,\\(^\\| \\)$out/,\\1build/,g" {} +
	cp "$table" "$copy/table" && table=$copy/table
}

# Builds what test program $1 needs and runs it for $2 s at most. 1: it fails, or does not end; 2: no build. Mutations
# may leave something unused.
run() {
	# shellcheck disable=SC2046
	make -C "$copy" -j2 O=build WERROR= $(targets "$1") >"$copy/log" 2>&1 || return 2
	(cd "$copy" && { O=build timeout -k 5 "$2" "build/bin/$1" || exit 1; }) >"$copy/log" 2>&1 || return 1
}
# What is built for test program $1.
targets() { echo "build/bin/$1"; }

# Whole, the tests of $1 pass: each is run once. Notes the time limit of each, which is generous.
whole() {
	for t in $(tests "$1"); do
		[ -e "$copy/whole/$t" ] && continue
		begin=$(date +%s)
		run "$t" 600 || { cat "$copy/log"; return 1; }
		mkdir -p "$copy/whole/$(dirname "$t")"
		echo $((10 + 8 * ($(date +%s) - begin))) >"$copy/whole/$t"
	done
}

# Runs the tests of $1 until one fails. Sets `by` to it, and `how` to what run() gave.
try() {
	for by in $(tests "$1"); do
		how=0
		run "$by" "$(cat "$copy/whole/$by")" || how=$?
		[ $how = 0 ] || break
	done
}

break_one() { # line of the table, name, file
	if ! whole "$2"; then fail "$2: its tests fail as it is"; return; fi
	mutate "$1" >"$copy/mutant" || { fail "$2: $here/mutations:$1 does not fit $3"; return; }
	cp "$copy/mutant" "$copy/$3"
	try "$2"
	case $how in
	0) fail "$2: $here/mutations:$1: no test notices" ;;
	1) pass "$2: $3: $by: $(grep -m1 -E '^FAIL|Assert' "$copy/log" || tail -n1 "$copy/log")" ;;
	2) fail "$2: $here/mutations:$1 does not compile"; grep -m3 error: "$copy/log" || true ;;
	esac
	cp "$3" "$copy/$3"
}

# Breaks what the block of name $1 says, or the blocks.
break_all_of() {
	list | grep "^[0-9]* $1 " >"$copy/now" || fail "$1: has no mutation, and no reason"
	while read -r at name file rest; do break_one "$at" "$name" "$file"; done <"$copy/now"
}
