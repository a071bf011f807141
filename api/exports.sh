#!/bin/sh
# The version map of a library, from names.h: exports.sh names.h 5|6. Each node inherits the previous one. Nodes
# without a function are in the map, too, because programs refer to them.
set -eu
awk -v abi="$2" '
/^HIP_(IMPL|UNSUPPORTED)\(/ {
	split($0, part, /[(), ]+/)
	if (part[2] == "both" || part[2] == (abi == 5 ? "five" : "six"))
		names[part[3]] = names[part[3]] "\t\t" part[4] ";\n"
}
END {
	count = split("4_2 4_3 4_4 4_5 5_0 5_1 5_2 5_3 5_5 5_6 6_0 6_1 6_2 6_4", node, " ")
	before = ""
	for (i = 1; i <= count; i++) {
		if (abi == 5 && node[i] ~ /^6/)
			break
		name = node[i]
		sub("_", ".", name)
		printf "hip_%s {\n%s%s} %s;\n", name, names[node[i]] ? "\tglobal:\n" names[node[i]] : "", \
			i == 1 ? "\tlocal:\n\t\t*;\n" : "", before
		before = "hip_" name
	}
}' "$1"
