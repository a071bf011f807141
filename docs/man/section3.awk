# One header of include/tuff/ as a page of mdoc; section3.sh starts it. Comments and declarations begin in the first column;
# a comment belongs to the lines up to the next comment or empty line.

# --- text ---

# Escapes what mdoc would read as its own.
function escape(s) {
	gsub(/\\/, "\\e", s)
	gsub(/`/, "\\(ga", s)
	gsub(/\^/, "\\(ha", s)
	gsub(/~/, "\\(ti", s)
	if (s ~ /^[.']/)
		s = "\\&" s
	if (s ~ /^-/)
		s = "\\" s
	while (match(s, /[^A-Za-z0-9\\]-[A-Z0-9-]/))
		s = substr(s, 1, RSTART) "\\" substr(s, RSTART + 1)
	return s
}

# Text of a paragraph, each sentence on a line of its own, as mdoc has it.
function sentences(s,    text, end) {
	while (match(s, /[A-Za-z0-9)"`]\. [A-Z*]/)) {
		end = RSTART + 1
		text = text escape(substr(s, 1, end)) "\n"
		s = substr(s, end + 2)
	}
	return text escape(s) "\n"
}

function close_block() {
	if (block == "text")
		out = out sentences(paragraph)
	else if (block == "list")
		out = out sentences(paragraph) ".El\n"
	else if (block == "example")
		out = out ".Ed\n"
	paragraph = ""
	block = ""
}

# One line of a comment, without its margin.
function comment_line(s,    term) {
	if (s ~ /^ *$/) {
		close_block()
		return
	} else if (s ~ /^  +[^ ]+( [^ ]+)*   *[^ ]/ && !(block == "list" && match(s, /^ */) && RLENGTH > list_indent)) {
		if (block != "list") {
			close_block()
			out = out ".Bl -tag -width Ds\n"
			block = "list"
			match(s, /^ */)
			list_indent = RLENGTH
		} else {
			out = out sentences(paragraph)
		}
		sub(/^ */, "", s)
		match(s, /   */)
		paragraph = substr(s, RSTART + RLENGTH)
		out = out ".It " escape(substr(s, 1, RSTART - 1)) "\n"
	} else if (block == "list" && s ~ /^  /) {
		sub(/^ */, "", s)
		paragraph = paragraph " " s
	} else if (s ~ /^    /) {
		if (block != "example") {
			close_block()
			out = out ".Bd -literal -offset indent\n"
			block = "example"
		}
		sub(/^    /, "", s)
		out = out escape(s) "\n"
	} else {
		if (block != "text") {
			close_block()
			if (any)
				out = out ".Pp\n"
			block = "text"
			paragraph = s
		} else {
			paragraph = paragraph " " s
		}
	}
	any = 1
}

# started: text of the page stands before it, and not a heading or the name of a function.
function write_comment(started,    i) {
	any = started && out !~ /\.Ss [^\n]*\n$/
	for (i = 1; i <= comments; i++)
		comment_line(comment[i])
	close_block()
	comments = 0
}

# --- declarations ---

function end_list() {
	if (in_list)
		out = out ".El\n"
	in_list = 0
}

# A line of a type: a comment that makes it too long for a terminal moves before it.
function type_line(s,    indent, note, word, n, i, line) {
	gsub(/\t/, "    ", s)
	match(s, /^ */)
	indent = substr(s, 1, RLENGTH)
	if (length(s) <= 72 || !match(s, / *\/\*.*\*\//)) {
		out = out escape(s) "\n"
		return
	}
	note = substr(s, RSTART, RLENGTH)
	s = substr(s, 1, RSTART - 1)
	gsub(/^ *\/\* *| *\*\/$/, "", note)
	n = split(note, word, / +/)
	line = indent "/* " word[1]
	for (i = 2; i <= n; i++) {
		if (length(line " " word[i]) > 70) {
			out = out escape(line) "\n"
			line = indent " * " word[i]
		} else {
			line = line " " word[i]
		}
	}
	out = out escape(line " */") "\n" (s ~ /[^ ]/ ? escape(s) "\n" : "")
}

# Lines of code without a function: types and macros. Comments of members that take several lines become one first.
function write_types(    i, s) {
	end_list()
	write_comment(1)
	out = out ".Bd -literal -offset indent\n"
	for (i = 1; i <= lines; i++) {
		s = line[i]
		while (s ~ /\/\*/ && s !~ /\*\// && i < lines) {
			i++
			sub(/^[ \t]*\* */, " ", line[i])
			s = s line[i]
		}
		type_line(s)
	}
	out = out ".Ed\n"
}

# One function: its name, its synopsis, and its line in the list of the description.
function write_function(s,    name, type, arguments, n, i, part, item, argument) {
	gsub(/TUFF_[A-Z]+ /, "", s)
	gsub(/[ \t]+/, " ", s)
	match(s, /[a-z_0-9]+\(/)
	name = substr(s, RSTART, RLENGTH - 1)
	type = substr(s, 1, RSTART - 1)
	sub(/ $/, "", type)
	arguments = substr(s, RSTART + RLENGTH)
	sub(/\).*/, "", arguments)
	names = names " ,\n.Nm " name
	synopsis = synopsis ".Ft \"" type "\"\n.Fo " name "\n"
	item = ".It Fn " name
	n = split(arguments, part, /, /)
	for (i = 1; i <= n; i++) {
		synopsis = synopsis ".Fa \"" part[i] "\"\n"
		argument = part[i]
		sub(/.*[ *]/, "", argument)
		if (argument != "void")
			item = item " " argument
	}
	synopsis = synopsis ".Fc\n"
	return item "\n"
}

# Functions: the plain form stands before the one that takes a size.
function write_functions(    i, s, items) {
	for (i = 1; i <= lines; i++) {
		s = s " " line[i]
		if (s ~ /TUFF_INLINE/ ? s ~ /\)/ : s ~ /;/) {
			sub(/^ */, "", s)
			if (s ~ /TUFF_INLINE/) {
				items = write_function(s) items
				while (line[i] != "}")
					i++
			} else {
				items = items write_function(s)
			}
			s = ""
		}
	}
	if (!in_list) {
		out = out ".Bl -tag -width Ds\n"
		in_list = 1
	}
	out = out items
	write_comment()
}

function end_code(    i, functions) {
	if (!lines)
		return
	for (i = 1; i <= lines; i++)
		functions = functions || line[i] ~ /^TUFF_(API|INLINE)/
	if (functions)
		write_functions()
	else
		write_types()
	lines = 0
}

# A comment whose first line is a heading begins a section.
function end_comment(    title, i) {
	if (!head_done) {
		head = comment[1]
		for (i = 2; i <= comments && head !~ /\.( |$)/; i++)
			head = head " " comment[i]
		sub(/\.( .*)?$/, "", head)
		write_comment()
		head_done = 1
	} else if (comment[1] ~ /^---/) {
		title = comment[1]
		gsub(/^-+ | -*$/, "", title)
		end_list()
		out = out ".Ss " toupper(substr(title, 1, 1)) substr(title, 2) "\n"
		comment[1] = ""
		write_comment()
	}
}

in_comment || /^\/\*/ {
	if (!in_comment)
		end_code()
	ends = /\*\/$/
	sub(/ *\*\/$/, "")
	sub(/^\/\* ?/, "")
	sub(/^ \* ?/, "")
	comment[++comments] = $0
	in_comment = !ends
	if (ends)
		end_comment()
	next
}
/^#(ifndef|include|ifdef|endif|if )|^extern "C"|^#define TUFF_[A-Z]*_H$/ {
	skipping = /extern|ifdef/
	next
}
skipping && /^}/ {
	skipping = 0
	next
}
/^$/ {
	end_code()
	comments = 0
	next
}
{
	line[++lines] = $0
}

END {
	end_code()
	end_list()
	sub(/^tuff: /, "", head)
	sub(/^[A-Z][a-z]/, tolower(substr(head, 1, 1)) substr(head, 2, 1), head)
	print ".\\\" Made from include/" header " by docs/man/section3.sh."
	print ".Dd " date "\n.Dt " toupper(page) " 3\n.Os"
	print ".Sh NAME\n.Nm " page names "\n.Nd " escape(head)
	print ".Sh SYNOPSIS\n.In " header
	printf "%s", synopsis
	print ".Sh DESCRIPTION"
	printf "%s", out
	print ".Sh SEE ALSO\n.Xr tuff 1" (page != "tuff" ? " ,\n.Xr tuff 3" : "") see_also()
}

function see_also(    list, n, i, all) {
	n = split(pages, list, " ")
	for (i = 1; i <= n; i++)
		if (list[i] != page && list[i] != "tuff")
			all = all " ,\n.Xr " list[i] " 3"
	return all
}
