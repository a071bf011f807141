#!/bin/sh
# clients_page.sh ROWS...: writes docs/clients.md to standard output, from the rows of suites.sh and processes.sh:
# package|version|program or what was done|GPUs|result|case. Rows of earlier runs are in tests/clients/suites.rows, those of tests by
# hand in hand.rows; there a result may have a number of cases: ok:23. Whoever adds new rows to the page adds them there.
set -eu
here=$(dirname "$0")
cat <<'END'
# What was run

Other people's programs on our libraries and the virtual GPU, unmodified, as their packages of Debian have them. The table is made by
`tests/clients/clients_page.sh` from what `make check-suites` has written (`tests/clients/suites.rows`), and from
`tests/clients/hand.rows`, which has what was run by hand. A number is of test cases, or of runs. Suites have thousands of cases, of which a sample is drawn: the result is
of those that were drawn, with all seeds. "Time" is of cases that the virtual GPU did not end within the time limit (40 to 120 s): they
show neither a fault nor its absence. Skipped: the program itself leaves the case out, or knows that it fails. Rows of llama.cpp's
`test-backend-ops` (libggml0-backend-hip) count operators; of one that ran out of time no case had failed. `tests/clients/llama.sh` makes
those of llama.cpp: 32 tokens that a small model with random weights adds to a text are the CPU's. Packages with a slash are
sources of GitHub at the commit that is their version, compiled by our `hipcc` or CMake files with Debian's clang-19 (hip-tests: up to
twenty files at once, each in a namespace). clblast-tests and clfft-client run on AMD's OpenCL (rocm-opencl-icd) over our HSA, clblast-tests
a row for each program. HeCBench's programs that use hipCUB or rocThrust have those of 6.2.2; of those that
passed, 37 runs print results without a verdict. hashcat runs without -flegacy-pass-manager, an option that 6.2.6 gives
and LLVM 15 no longer knows.

`make check`, `check-hip` and `check-clients` run more, with fixed results: [support.md](support.md).

| package | version | GPU | passed | failed | time | skipped |
|---|---|---|---|---|---|---|
END
cat "$@" "$here/suites.rows" "$here/hand.rows" | grep -v '^#' | sort -t'|' -k1,1 -k2,2 -k4,4 | awk -F'|' '
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
		split($5, result, ":")
		n[result[1]] += result[2] ? result[2] : 1
		if ($6 == "TestCopyIfNonTrivial")
			thrust = 1
		if ($5 == "FAIL" && $6 ~ /SortByKey/)
			true16 = 1
		if ($5 == "FAIL" && $6 ~ /GESVDJ/)
			gesvdj = 1
		if ($5 == "FAIL" && $6 ~ /GESVDA/)
			gesvda = 1
		if ($1 == "ROCm/hip-tests")
			hiptests = 1
		if (result[1] == "FAIL")
			fault[++faults] = "- " $1 " " $2 ", " $4 ": " $3 " " $6 (result[2] > 1 ? ", " result[2] " cases" : "")
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
		if (true16)
			print "\nTestStableSortByKeySimpleDevice and TestZipIteratorStableSortByKey of rocThrust 6.4.4 order keys of 8 bits wrongly on gfx1100, where" \
				"\nLLVM 21 uses halves of registers (real-true16). A sorting network of eight bytes, compiled by it with and without that feature, gives" \
				"\nthe right order without it alone; a second, independent interpretation of the code with it gives the same wrong order as the virtual" \
				"\nGPU. The kernels of rocThrust also use a half while the other is being loaded (row 122), which LLVM mended later (#157795)." \
				"\nCLBlast in half precision fails on gfx1100 by code of the same kind: TransposeMatrixFast of xomatcopy merges v0.l where its source" \
				"\nhas v0.h (v_bfi_b32; LLVM took such patterns out in #148715 and #149861). The other programs of CLBlast were not read." \
				"\nFlagHeads of rocPRIM 6.4.3 for hip_bfloat16 (equal_to, 4 items) shifts the low half of v2 up (v_lshlrev_b32) to compare the last item, which" \
				"\nis the high half: ds_store_b16_d16_hi of the same kernel stores that. It compares the third item with itself." \
				"\n504 random kernels of 8- and 16-bit arithmetic, which LLVM 22 compiled with that feature at -O1, -O2 and -O3, gave the CPU'\''s results" \
				"\non gfx1100 and gfx1200, without a finding of TUFF_VGPU_WAITS=on. Of 30 that LLVM 21 compiled at -O2, 4 gave others with the feature" \
				"\nand none without it; the one that was read has the bytes of a low half in v_perm_b32 where its source has the high half."
		if (gesvdj)
			print "\nGESVDJ fails on every chip that was tried by a fault of rocSOLVER (roclapack_syevj_heevj.hpp, run_syevj()): at the end of a" \
				"\nsweep all waves add up what is in LDS, and the first one begins to write there for the next sweep, without a barrier in between." \
				"\nTUFF_VGPU_WAITS=on finds it (row 123); on a card the first wave is rarely so far ahead. Read in rocSOLVER of October 2024."
		if (gesvda)
			print "\nGESVDA, GESVDX, BDSVDX, STEBZ and STEIN with a range of indices fail on chips with waves of 32 by two faults of rocSOLVER. STEBZ" \
				"\n(rocauxiliary_stebz.hpp, the splitting kernel): a thread adds up sidx[] of the threads before it and writes its own sidx[]" \
				"\nagain, without a barrier in between. STEIN (rocauxiliary_stein.hpp, run_stein()): a thread reads the pivot of work[] while" \
				"\nanother scales work[]. TUFF_VGPU_WAITS=on finds both on gfx908 and gfx1030 (row 123); with waves of 64 all elements of these tests are" \
				"\nthe first wave'\''s. rocSOLVER mended STEIN in August 2024 (#775) and listed STEBZ among its known issues in June 2024 (#752;" \
				"\n#794 took the entry out again, and the source has the race in October 2024)."
		if (hiptests)
			print "\nOf hip-tests, which assert what AMD'\''s library returned in October 2024: hipDeviceDisablePeerAccess_negative expects an error that" \
				"\nAMD'\''s library gives only where the GPUs are peers (hip_peer.cpp); hipGetDeviceCount_HideDevices starts a program that was not" \
				"\nbuilt; MapNonContiguousChunks expects the squares of three buffers from a kernel whose grid has the size of one." \
				"\nAMD'\''s own list for Linux (config_amd_linux) leaves out PhysicalMemoryReuse_MultiDev, VMMMemoryReuse_MultiGPU and" \
				"\nMapPhysChksFromMulDev. MultDevSetGet asks for access by another GPU, which is refused here: the two are no peers." \
				"\nAccessDirectlyFromHost uses a GPU'\''s memory of hipMemCreate() by the CPU. ROCr gives the CPU access where" \
				"\nhsa_amd_vmem_set_access() names it (July 2025, MappedHandleAllowedAgent::EnableAccess()), and HIP names the GPU alone." \
				"\nWhat differs from AMD'\''s library here (support.md): the tests of hipDeviceGetGraphMemAttribute, NodeGetParams_Functional_3 (the node owns" \
				"\nits list of accesses), Assert (the process lives on) and Rtc_fp16_header (__half2int_ru() rounds up; AMD'\''s truncates). AMD'\''s library refuses, too: mipmaps and cubemaps, linear filters of" \
				"\nlayers and volumes on gfx90a, and launchBounds with the same error. The tests'\'' own: MemVmm uses a handle type that nobody set;" \
				"\natomicSub_Multi_Kernel leaves a thread out of its sum that the kernel has; in Sequential_Consistency lanes of a wave wait for" \
				"\neach other, in an order that clang does not keep; tex1DLayered truncates between two steps of its reference. Tests of errors of" \
				"\nhiprtc count what another LLVM than Debian'\''s 15 prints. Accuracy tests allocate more memory than the machine had."
	}'
