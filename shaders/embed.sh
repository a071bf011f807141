#!/bin/sh
# Writes the assembler source of a blob table: NAME TARGET/FILE.LEVEL.co... (shaders/blob.h has the layout).
set -eu
set_name=$1
shift
echo '	.section .rodata'
i=0
for co in "$@"; do
	printf '	.balign 64\n.Lstart%d:\n	.incbin "%s"\n.Lend%d:\n' $i "$co" $i
	target=${co%/*}
	file=${co##*/}
	printf '.Ltarget%d: .asciz "%s"\n.Lname%d: .asciz "%s"\n' $i "${target##*/}" $i "${file%.co}"
	i=$((i + 1))
done
# Addresses in the table need relocating: it is read-only after that.
printf '	.section .data.rel.ro,"aw"\n	.balign 8\n	.globl %s_blobs\n	.hidden %s_blobs\n%s_blobs:\n' \
	"$set_name" "$set_name" "$set_name"
n=0
while [ $n -lt $i ]; do
	printf '	.quad .Ltarget%d, .Lname%d, .Lstart%d, .Lend%d - .Lstart%d\n' $n $n $n $n $n
	n=$((n + 1))
done
printf '	.quad 0, 0, 0, 0\n	.section .note.GNU-stack,"",%%progbits\n'
