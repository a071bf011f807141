#!/bin/sh
# section3.sh FOLDER HEADER...: writes the manual's section 3 from the library's headers into FOLDER.
#
# Each header NAME.h becomes the page tuff_NAME.3 (tuff.h: tuff.3), and each of its functions a link to that page. The
# head comment and the comments of functions, types and sections become the description: paragraphs, lists of "word  text"
# lines, and examples, which are indented. Nothing of a comment is left out, and nothing else is needed than awk.
set -eu
folder=$1
shift
date=$(sed -n 's/^\.Dd //p' "$(dirname "$0")/tuff.1")
rm -rf "$folder"
mkdir -p "$folder"

page_name() {
	name=$(basename "$1" .h)
	[ "$name" = tuff ] && echo tuff || echo "tuff_$name"
}

pages=""
for header in "$@"; do pages="$pages $(page_name "$header")"; done

for header in "$@"; do
	page=$(page_name "$header")
	awk -v page="$page" -v pages="$pages" -v date="$date" -v header="tuff/$(basename "$header")" \
		-f "$(dirname "$0")/section3.awk" "$header" >"$folder/$page.3"
	sed -n 's/^\.Nm \([a-z_0-9]*\).*/\1/p' "$folder/$page.3" | while read -r name; do
		[ "$name" = "$page" ] || ln -s "$page.3" "$folder/$name.3"
	done
done
