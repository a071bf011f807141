# Finds calls of libc's cancellation points in functions that do not hold cancellation (drv/cancel.h).
#
#   awk -f tools/cancel.awk FILE...
BEGIN {
	names = "accept4|clock_nanosleep|close|closedir|connect|dprintf|fclose|fcntl|fflush|fgets|fopen|fprintf|fputs|fread|fsync|" \
		"fwrite|getline|getrandom|mkdtemp|mkostemp|nanosleep|open|openat|opendir|poll|posix_spawn|ppoll|pread|" \
		"pthread_cond_timedwait|pthread_cond_wait|pthread_join|pwrite|read|readdir|recv|recvmsg|send|sendmsg|sleep|usleep|" \
		"vdprintf|vfprintf|waitpid|write"
	call = "[^A-Za-z0-9_.>](" names ")\\("
}
/^{/ { held = 0 }
/HOLD_CANCEL/ { held = 1 }
/^[ \t]*(\/\*|\*)/ { next }
/^\t/ && !held && $0 ~ call {
	print FILENAME ":" FNR ": a cancellation point without DRV_HOLD_CANCEL: " $0
	bad = 1
}
END { exit bad }
