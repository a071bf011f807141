#!/bin/sh
# The version map of a library, from names.h: exports.sh names.h 5|6|7. Each node inherits the previous one, but for those
# with a parent of their own. Nodes without a function are in the map, too, because programs refer to them.
set -eu
awk -v abi="$2" '
/^HIP_(IMPL|UNSUPPORTED)\(/ {
	split($0, part, /[(), ]+/)
	if (index(part[2], abi))
		names[part[3]] = names[part[3]] "\t\t" part[4] ";\n"
}
# The last node of each library.
BEGIN {
	last[5] = "5_6"
	last[6] = "6_4"
	last[7] = "7_18"
	parent["7_14"] = "hip_7.2"
}
END {
	count = split("4_2 4_3 4_4 4_5 5_0 5_1 5_2 5_3 5_5 5_6 6_0 6_1 6_2 6_4 6_5 7_1 7_2 profiler_ext 7_14 7_15 7_16 7_17 7_18", node, " ")
	before = ""
	for (i = 1; i <= count; i++) {
		name = node[i]
		if (name ~ /^[0-9]/)
			sub("_", ".", name)
		printf "hip_%s {\n%s%s} %s;\n", name, names[node[i]] ? "\tglobal:\n" names[node[i]] : "", \
			i == 1 ? "\tlocal:\n\t\t*;\n" : "", node[i] in parent ? parent[node[i]] : before
		before = "hip_" name
		if (node[i] == last[abi])
			break
	}
	if (abi >= 7) # for libhiprtc (rtc/functions.h)
		print "tuff {\n\tglobal:\n\t\ttuff_hip_rtc;\n};"
}' "$1"
