# Reads a table of mutations. A block begins with a line "name file ...". Without `at`: prints "line name file ..." of each
# mutation. With it: prints the file that the mutation at that line changes, changed; exits with 1 when its old text does
# not stand there exactly once. Leading blanks do not count, neither in the table nor in the file.
function trim(line) { sub(/^[ \t]+/, "", line); return line }
function join(text, line) { return text == "" ? line : text "\n" line }
function times(text, part,    count, from) {
	for (count = 0; from = index(text, part); count++)
		text = substr(text, from + length(part))
	return count
}
/^[0-9a-z]/ { here = NR; if (!at) print NR, $0; if (here == at) target = $2 }
/^- / { if (here == at) old = join(old, trim(substr($0, 3))) }
/^\+ / { if (here == at) new = join(new, trim(substr($0, 3))) }
END {
	if (!at)
		exit 0
	while ((getline line < target) > 0)
		text = join(text, trim(line))
	if (old == "" || old == new || times(text, old) != 1)
		exit 1
	from = index(text, old)
	print substr(text, 1, from - 1) new substr(text, from + length(old))
}
