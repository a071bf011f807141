# fish completion for tuff. The command itself tells its subcommands, options, chips and tests.

# Lines "  WORD VALUE  what it is" of a usage text, as WORD, a tab, what it is.
function __tuff_usage
	$argv --help 2>/dev/null | string match -r '^  [a-z-].*' | string replace -r '^  ([a-z-]+)( [A-Z]+)? +' '$1\t'
end

# The words before the cursor.
function __tuff_words
	commandline -opc
end

# True when the word is one of a program's arguments, or a program behind "--": file names, then.
function __tuff_in_program
	set -l words (__tuff_words)
	set -l i 3
	while test $i -le (count $words)
		switch $words[$i]
			case --
				test $words[2] != run -o $i -lt (count $words)
				return
			case --gpu --device
				set i (math $i + 1)
			case '-*'
			case '*'
				test $words[2] = run; and return 0
		end
		set i (math $i + 1)
	end
	return 1
end

# Devices with commas, each perhaps with null: before it; the last one's chip is completed.
function __tuff_spec
	set -l before (string match -r '^(?:.*,)?(?:null:)?' -- (commandline -ct))
	for line in (tuff run --list 2>/dev/null)
		echo $before(string replace -r ' +' '\t' -- $line)
	end
end

# What may stand at the cursor.
function __tuff_here
	set -l words (__tuff_words)
	if test (count $words) -le 1
		__tuff_usage tuff
		return
	end
	switch $words[-1]
		case --gpu
			__tuff_spec
			return
		case --device
			printf '%s\n' /dev/dri/renderD*
			return
		case --picture --report
			__fish_complete_path (commandline -ct)
			return
		case --timeout --jobs
			return
	end
	switch (commandline -ct)
		case '-*'
			__tuff_usage tuff $words[2]
			return
	end
	switch $words[2]
		case test
			tuff test --list --probe 2>/dev/null | string replace -r ' +' '\t'
		case run
			__fish_complete_command
	end
end

complete -c tuff -f
complete -c tuff -n 'not __tuff_in_program' -a '(__tuff_here)'
complete -c tuff -n __tuff_in_program -a '(__fish_complete_path (commandline -ct))'
