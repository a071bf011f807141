/* Kills a process at a moment when none of its threads runs code of the virtual GPU: a real kernel's state would not
 * suffer from a killed client, either. */
#ifndef TESTS_REST_H
#define TESTS_REST_H

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* Whether all threads of a process sleep: then none is inside the virtual GPU. */
static inline bool at_rest(pid_t pid)
{
	char path[300], state;
	struct dirent *task;
	bool rest = true;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (rest && dir && (task = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, task->d_name);
		f = task->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1)
			rest = state == 'S';
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return rest;
}

static inline void kill_at_rest(pid_t pid)
{
	for (unsigned quiet = 0; quiet < 5; usleep(2000))
		quiet = at_rest(pid) ? quiet + 1 : 0;
	kill(pid, SIGKILL);
}

#endif
