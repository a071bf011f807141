/* Joining a run whose files are not what they should be: the member that they name has died, and another process has its
 * number, or descriptors of other files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "vgpu/kernel/base/core.h"
#include "vgpu/shim/shim.h"

static char root[] = "/tmp/tuff-join-XXXXXX";

static int memory(uint64_t size_B)
{
	int fd = memfd_create("join", MFD_CLOEXEC);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)size_B));
	return fd;
}

/* Joins with the text as the file of member `name`. */
static int join_by(const char *name, const char *text)
{
	char path[128];
	FILE *f;
	int r;

	snprintf(path, sizeof(path), "%s/procs/%s", root, name);
	f = fopen(path, "w");
	if (!CHECK(f))
		return 0;
	fputs(text, f);
	fclose(f);
	r = shim_run_join(root);
	CHECK_EQ(unlink(path), 0);
	return r;
}

/* This process is the member, with these two files. */
static int join_files(int segment, int phys)
{
	char name[16], text[96];
	struct stat s, p;

	CHECK(!fstat(segment, &s) && !fstat(phys, &p));
	snprintf(name, sizeof(name), "%d", (int)getpid());
	snprintf(text, sizeof(text), "%d %d %llu %llu\n", segment, phys, (unsigned long long)s.st_ino,
		 (unsigned long long)p.st_ino);
	return join_by(name, text);
}

static void names_that_lead_nowhere(void)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)getpid());
	CHECK_EQ(join_by("nobody", "3 4 5 6\n"), -ESRCH);
	CHECK_EQ(join_by("-5", "3 4 5 6\n"), -ESRCH);
	CHECK_EQ(join_by("99999999999999999999", "3 4 5 6\n"), -ESRCH);
	CHECK_EQ(join_by(name, ""), -ESRCH);
	CHECK_EQ(join_by(name, "seven eight nine ten\n"), -ESRCH);
	CHECK_EQ(join_by(name, "1000 1001 1 1\n"), -ESRCH);
	CHECK_EQ(join_by(name, "-1 -1 1 1\n"), -ESRCH);
	CHECK_EQ(join_by(name, "1 2 1 1\n"), -ESRCH); /* of other files */
}

static void files_of_another_kind(void)
{
	int empty = memory(0), sparse = memory(KERN_SEGMENT_B);
	struct kern_root *at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED, sparse, 0);

	CHECK_EQ(join_files(empty, empty), -EPROTO);
	CHECK_EQ(join_files(sparse, empty), -EPROTO);
	if (!CHECK(at != MAP_FAILED))
		return;
	at->magic = KERN_MAGIC;
	at->devices = 1;
	at->layout = kern_layout() ^ 1ull << 40;
	CHECK_EQ(join_files(sparse, sparse), -EPROTO); /* of another version */
	at->layout = kern_layout();
	at->devices = KERN_DEVICES + 1;
	CHECK_EQ(join_files(sparse, empty), -EPROTO);
	at->devices = 1;
	at->phys.size_B = 1ull << 20;
	CHECK_EQ(join_files(sparse, empty), -EPROTO);
	memset(at->device[0].chip_name, 'x', sizeof(at->device[0].chip_name));
	CHECK_EQ(join_files(sparse, sparse), -ENODEV);
	munmap(at, sizeof(*at));
	close(empty);
	close(sparse);
}

int main(void)
{
	char path[128];
	int fd;

	if (!CHECK(mkdtemp(root)))
		return check_done("joining a run");
	CHECK_EQ(shim_run_join(root), -ENOENT);
	snprintf(path, sizeof(path), "%s/lock", root);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && !close(fd));
	CHECK_EQ(shim_run_join(root), -ENOENT);
	snprintf(path, sizeof(path), "%s/procs", root);
	CHECK_EQ(mkdir(path, 0700), 0);
	CHECK_EQ(shim_run_join(root), -ESRCH);
	names_that_lead_nowhere();
	files_of_another_kind();
	CHECK_EQ(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/lock", root);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(root), 0);
	return check_done("joining a run");
}
