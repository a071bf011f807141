# Assembler of GFX12 in; out comes the same with the waits that VALUReadSGPRHazard needs. clang has them from 20 on
# (AMDGPUWaitSGPRHazards.cpp); Mesa's aco_insert_NOPs.cpp knows the hazard of scalar writes.
#
# When a vector instruction has read an SGPR (or VCC) and an ALU instruction writes it, ALU instructions read what it was before,
# until s_wait_alu. (That LLVM lets memory instructions end it is not relied on.) Here every SGPR counts as read by a vector
# instruction, and as written at a label: no flow of control has to be known. A wait is for all writes: sa_sdst, va_vcc and
# va_sdst are 0.
BEGIN {
	name = "s[0-9]+|s\\[[0-9]+:[0-9]+\\]|vcc|vcc_lo|vcc_hi"
	split("", written) # SGPRs by number, "vcc", "all"
	since_pc_B = 0     # bytes put in since s_getpc_b64, from which distances to symbols count
}

# Puts the SGPRs that the operands from `begin` to `end` name into `set`; they count from 1.
function name_sgprs(text, begin, end, set,    operand, count, i, n, last) {
	count = split(text, operand, /, */)
	for (i = begin; i <= count && i <= end; i++) {
		if (!match(operand[i], "(^|[^a-z0-9_])(" name ")($|[^a-z0-9_])"))
			continue
		n = last = 106
		if (operand[i] !~ /vcc/) {
			n = operand[i]
			sub(/^[^0-9]*/, "", n)
			last = n
			sub(/^[0-9]+:/, "", last)
		}
		for (n += 0; n <= last + 0; n++)
			set[operand[i] ~ /vcc/ ? "vcc" : n]
	}
}

# Operands that are results.
function results_of(op) {
	return op ~ /^(v_cmpx|s_cmp|s_bitcmp|s_cbranch|s_branch|s_setpc|s_setreg)/ ? 0 : \
	       op ~ /^v_.*_co_|^v_div_scale|^v_mad_[iu]64/ ? 2 : 1
}

function needs_wait(op, operands,    read, n) {
	if (op ~ /^s_(setpc|swappc|call)/) # what is called does not know of it
		read["all"]
	if (op ~ /vcc|^v_div_fmas/)
		read["vcc"]
	name_sgprs(operands, results_of(op) + 1, 99, read)
	for (n in read)
		if (n in written || "all" in written || (n == "all" && length(written)))
			return 1
	return 0
}

# The distance of a symbol, as in sym@rel32@lo+4.
function move_symbol(line,    before, offset) {
	if (!since_pc_B || !match(line, /@(rel32|gotpcrel32)@(lo|hi)\+[0-9]+/))
		return line
	before = substr(line, 1, RSTART + RLENGTH - 1)
	line = substr(line, RSTART + RLENGTH)
	match(before, /[0-9]+$/)
	offset = substr(before, RSTART) + since_pc_B
	return substr(before, 1, RSTART - 1) offset line
}

/^[^ \t;#]+:/ {
	written["all"]
}

/^\t[sv]_/ && !/^\ts_(load|buffer_load|wait|nop|delay_alu|clause|endpgm|code_end|sendmsg|barrier|sleep|setprio)/ {
	operands = $0
	sub(/^\t[^ \t]+[ \t]*/, "", operands)
	sub(/[ \t]*;.*/, "", operands)
	if (needs_wait($1, operands)) {
		print "\ts_wait_alu 0xf1fc"
		split("", written)
		since_pc_B += 4
	}
	if ($1 == "s_getpc_b64")
		since_pc_B = 0
	name_sgprs(operands, 1, results_of($1), written)
	$0 = move_symbol($0)
}

{
	print
}
