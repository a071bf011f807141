# Reads tests/hip/matrix: awk -v out=DIR -v sources="FILE..." -f matrix.awk matrix
#
# Prints, for make, the lists HIP_TESTS_KIND, and for each test RUN_PROGRAM, below $(O), RUN_GPU and RUN_VARIABLES. Writes
# beside each program DIR/PROGRAM.row, its flags for the compiler, when they have changed: a program is compiled again when
# its own row changes.

function fail(text)
{
	print FILENAME ": " text >"/dev/stderr"
	failed = 1
	exit 1
}

# Path of the program of a row below DIR.
function path_of(program, kind)
{
	return kind ~ /^(hipcc|openmp)/ ? "clients/" program : "hip/" program "." kind
}

function source_of(program, kind)
{
	if (kind ~ /^hipcc/ || sub(/^clients\./, "", program))
		return "tests/clients/hip/" program ".hip"
	return "tests/hip/" program ".hip"
}

function name_of(program, kind, gpu)
{
	if (kind == "hipcc" || kind == "openmp")
		return "clients/" program "." gpu
	if (kind == "hipcc-ours")
		return "clients/" program ".ours." gpu
	return "hip/" program "." (kind ~ /^ours/ ? gpu : kind == "generic" ? kind "." gpu : kind)
}

# What code of that kind for a chip is compiled for: gfx1013 or gfx10-1-generic, gfx1151 or gfx11-generic.
function target_of(chip, kind)
{
	if (kind != "generic")
		return chip
	if (chip ~ /^gfx10/)
		return "gfx10-" substr(chip, 6, 1) "-generic"
	return substr(chip, 1, chip ~ /^gfx9/ ? 4 : 5) "-generic"
}

function add_test(program, kind, gpu, variables, is_long,    name, spec, path, test, target)
{
	name = gpu
	sub(/:.*/, "", name)
	spec = name in specs ? specs[name] : gpu
	path = path_of(program, kind)
	test = "$(O)/bin/tests/" name_of(program, kind, name)
	if (test in tests)
		fail(test " is there twice")
	tests[test]
	printf "HIP_TESTS_%s += %s\n%s: $(O)/%s\n", is_long ? "long" : kind, test, test, path
	printf "%s: private RUN_PROGRAM := %s\n%s: private RUN_GPU := %s\n", test, path, test, spec
	printf "%s: private RUN_VARIABLES :=%s\n", test, variables environment[name]
	for (; match(spec, /gfx[0-9a-f]+/); spec = substr(spec, RSTART + RLENGTH)) {
		target = " --offload-arch=" target_of(substr(spec, RSTART, RLENGTH), kind)
		if (!index(targets[path] " ", target " "))
			targets[path] = targets[path] target
	}
}

/^#/ || !NF { next }
$1 == "each" {
	print "HIP_GPUS := " substr($0, 6)
	for (i = 2; i <= NF; i++)
		each[++count] = $i
	next
}
$1 == "gpu" {
	specs[$2] = $3
	for (i = 4; i <= NF; i++)
		environment[$2] = environment[$2] " " $i
	next
}
{
	variables = flags = ""
	is_long = 0
	for (i = 4; i <= NF; i++)
		if ($i ~ /^-/)
			flags = flags " " $i
		else if ($i ~ /=/)
			variables = variables " " $i
		else if ($i == "long")
			is_long = 1
		else
			fail("line " FNR ": " $i " is no variable, no flag and not \"long\"")
	path = path_of($1, $2)
	if (path in flags_of && flags_of[path] != flags)
		fail("line " FNR ": the rows of " path " differ in their flags")
	flags_of[path] = flags
	known[source_of($1, $2)]
	n = split($3, gpus, "+")
	for (i = 1; i <= n; i++)
		if (gpus[i] ~ /^each/)
			for (k = 1; k <= count; k++)
				add_test($1, $2, each[k] substr(gpus[i], 5), variables, is_long)
		else
			add_test($1, $2, gpus[i], variables, is_long)
}

END {
	if (failed)
		exit 1
	n = split(sources, list, " ")
	for (i = 1; i <= n; i++)
		if (!(list[i] in known))
			fail(list[i] " has no row")
	for (path in flags_of) {
		file = out "/" path ".row"
		row = targets[path] flags_of[path]
		old = "none"
		getline old <file
		close(file)
		if (old != row)
			print row >file
		close(file)
	}
}
