#!/bin/sh
# clients_page.sh ROWS...: writes docs/clients.md to standard output, from the rows of suites.sh and processes.sh:
# package|version|program or what was done|GPUs|result|case. Rows of tests by hand are in tests/clients/hand.rows.
set -eu
here=$(dirname "$0")
cat <<'END'
# What was run

Other people's programs on our libraries and the virtual GPU, unmodified, as their packages of Debian have them. The table is made by
`tests/clients/clients_page.sh` from what `make check-suites` writes, and from `tests/clients/hand.rows`, which has
what was run by hand. A number is of test cases, or of runs. Suites have thousands of cases, of which a sample is drawn: the result is
of those that were drawn, with all seeds. "Time" is of cases that the virtual GPU did not end within the time limit (40 to 120 s): they
show neither a fault nor its absence. Skipped: the program itself leaves the case out, or knows that it fails. Rows of llama.cpp's
`test-backend-ops` (libggml0-backend-hip) count operators; of one that ran out of time no case had failed.

`make check`, `check-hip` and `check-clients` run more, with fixed results: [support.md](support.md).

| package | version | GPU | passed | failed | time | skipped |
|---|---|---|---|---|---|---|
END
cat "$@" "$here/hand.rows" | grep -v '^#' | sort -t'|' -k1,1 -k2,2 -k4,4 | awk -F'|' '
	function flush() {
		if (key != "")
			printf "| %s | %s | %s | %d | %d | %d | %d |\n", package, version, gpu, n["ok"], n["FAIL"], n["time-out"], n["skipped"]
		delete n
	}
	{
		if ($1 "|" $2 "|" $4 != key)
			flush()
		key = $1 "|" $2 "|" $4
		package = $1; version = $2; gpu = $4
		n[$5]++
		if ($6 == "TestCopyIfNonTrivial")
			thrust = 1
		if ($5 == "FAIL" && $6 ~ /GESVDJ/)
			gesvdj = 1
		if ($5 == "FAIL")
			fault[++faults] = "- " $1 " " $2 ", " $4 ": " $3 " " $6
	}
	END {
		flush()
		print "\n## Failures\n"
		for (i = 1; i <= faults; i++)
			print fault[i]
		if (!faults)
			print "None of those that ended."
		if (thrust)
			print "\nTestCopyIfNonTrivial fails on every chip by a fault of rocPRIM (device_partition.hpp, partition_scatter()): it assigns to objects in" \
				"\nLDS that nobody constructed. They show the 0xd5 with which the virtual GPU fills LDS before a workgroup; on a card" \
				"\nthe result depends on what LDS had before. Read in rocPRIM of October 2024."
		if (gesvdj)
			print "\nGESVDJ fails on every chip that was tried by a fault of rocSOLVER (roclapack_syevj_heevj.hpp, run_syevj()): at the end of a" \
				"\nsweep all waves add up what is in LDS, and the first one begins to write there for the next sweep, without a barrier in between." \
				"\nTUFF_VGPU_WAITS=on finds it (row 123); on a card the first wave is rarely so far ahead. Read in rocSOLVER of October 2024."
	}'
