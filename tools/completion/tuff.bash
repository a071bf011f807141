# bash completion for tuff. The command itself tells its subcommands, options, chips and tests.

_tuff_words() {
	COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

# First words of the lines of a usage text that are indented by two spaces: "--" options, else subcommands.
_tuff_options() {
	"${COMP_WORDS[@]:0:$1}" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p'
}
_tuff_commands() {
	"${COMP_WORDS[0]}" --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'
}

# A SPEC: devices with commas; the last one's chip is completed. Bash splits words at colons and equal signs, so that
# what follows one is a word of its own.
_tuff_spec() {
	local before="" chip
	[[ $cur != *,* ]] || before=${cur%,*},
	COMPREPLY=()
	while read -r chip _; do
		[[ $before$chip != "$cur"* ]] || COMPREPLY+=("$before$chip")
	done < <("${COMP_WORDS[0]}" run --list 2>/dev/null)
	compopt -o nospace 2>/dev/null
}

_tuff_files() {
	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen -f -- "$cur"))
}

# The value of an option; false: it takes none.
_tuff_value() {
	case $1 in
	--gpu) _tuff_spec ;;
	--device) _tuff_words "$(cd /dev/dri 2>/dev/null && echo renderD*)" ;;
	--picture | --report) _tuff_files ;;
	--timeout | --jobs) COMPREPLY=() ;;
	*) return 1 ;;
	esac
	return 0
}

_tuff_operand() {
	case $1 in
	test) _tuff_words "$("${COMP_WORDS[0]}" test --list --probe 2>/dev/null | sed 's/ .*//')" ;;
	run) if [[ $cur == */* ]]; then _tuff_files; else COMPREPLY=($(compgen -c -- "$cur")); fi ;;
	*) COMPREPLY=() ;;
	esac
}

# True when the word is one of a program's arguments, or a program behind "--": file names, then.
_tuff_is_programs() {
	local i
	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) [[ ${COMP_WORDS[1]} == run ]] && return $((i + 1 == COMP_CWORD)) || return 0 ;;
		--gpu | --device) ((i++)) ;;
		, | : | = | -*) ;;
		*) [[ ${COMP_WORDS[1]} != run || ${COMP_WORDS[i-1]} == [:=] ]] || return 0 ;;
		esac
	done
	return 1
}

_tuff() {
	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	if [[ $cur == [:=] ]]; then
		before=$cur cur=""
	fi
	if ((COMP_CWORD == 1)); then
		_tuff_words "$(_tuff_commands; _tuff_options 1)"
	elif _tuff_is_programs; then
		_tuff_files
	elif [[ $before == [:=] ]]; then
		_tuff_spec
	elif ! _tuff_value "$before"; then
		if [[ $cur == -* ]]; then
			_tuff_words "$(_tuff_options 2)"
		else
			_tuff_operand "${COMP_WORDS[1]}"
		fi
	fi
}

complete -F _tuff tuff
