#compdef tuff
# zsh completion for tuff. The command itself tells its subcommands, options, chips and tests.

# Lines "  WORD VALUE  what it is" of a usage text, as WORD:what it is.
_tuff_usage() {
	"$@" --help 2>/dev/null | sed -n 's/:/\\:/g; s/^  \([a-z-]\{1,\}\)\( [A-Z]*\)\{0,1\}  *\(.*\)/\1:\3/p'
}

_tuff_describe() {
	local -a found=("${(@f)$(cat)}")
	_describe -t "$1" "$1" found
}

# A SPEC: devices with commas, each perhaps with null: before it; the last one's chip is completed.
_tuff_spec() {
	compset -P '*,'
	compset -P 'null:'
	$words[1] run --list 2>/dev/null | sed 's/  */:/' | _tuff_describe chip
}

# The value of an option; false: it takes none.
_tuff_value() {
	case $1 in
	--gpu) _tuff_spec ;;
	--device) compadd -- /dev/dri/renderD*(N:t) ;;
	--picture | --report) _files ;;
	--timeout | --jobs) _message number ;;
	*) return 1 ;;
	esac
}

_tuff_operand() {
	case $1 in
	test) $words[1] test --list --probe 2>/dev/null | sed 's/:/\\:/g; s/  */:/' | _tuff_describe test ;;
	run) _command_names -e ;;
	esac
}

# True when the word is one of a program's arguments, or a program behind "--": file names, then.
_tuff_is_programs() {
	local i
	for ((i = 3; i < CURRENT; i++)); do
		case $words[i] in
		--) [[ $words[2] == run ]] && return $((i + 1 == CURRENT)) || return 0 ;;
		--gpu | --device) ((i++)) ;;
		-*) ;;
		*) [[ $words[2] != run ]] || return 0 ;;
		esac
	done
	return 1
}

_tuff() {
	if ((CURRENT == 2)); then
		_tuff_usage $words[1] | _tuff_describe command
	elif _tuff_is_programs; then
		_files
	elif ! _tuff_value $words[CURRENT-1]; then
		if [[ $words[CURRENT] == -* ]]; then
			_tuff_usage $words[1] $words[2] | _tuff_describe option
		else
			_tuff_operand $words[2]
		fi
	fi
}

_tuff "$@"
