#include "tests/ends.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/random.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

/* A process that takes so long hangs: it needs a second on an idle machine. */
#define HANGS_S 120

/* INSIDE is a SIGKILL between two instructions behind the system call. fork(), dlclose() and signals with a handler, which
 * interrupt every third system call from the n-th on, end nothing: both processes must complete their work. */
enum way { KILL, INSIDE, EXIT, EXIT_NOW, EXEC, FORK, DLCLOSE, SIGNAL, WAYS };
/* How many moments are tried: in a sample, and with TUFF_TEST_LONG; 0: each system call. */
static const struct {
	const char *name;
	long sample, all;
} ways[WAYS] = {{"kill", 16, 0},  {"inside", 16, 200}, {"exit", 4, 200},    {"_exit", 4, 200},
		{"exec", 4, 200}, {"fork", 4, 200},    {"dlclose", 4, 200}, {"signal", 4, 200}};
#define SIGNAL_EACH 3
#define STEP_BITS   13u /* of the number of instructions between a system call and INSIDE */

/* The moment of a case. n = 0: no process is ended. */
struct moment {
	enum way way;
	unsigned role; /* of the victim */
	long n;
};

bool ends_send(int socket, const void *what, size_t size_B)
{
	return TEMP_FAILURE_RETRY(send(socket, what, size_B, MSG_NOSIGNAL)) == (ssize_t)size_B;
}

bool ends_receive(int socket, void *what, size_t size_B)
{
	return TEMP_FAILURE_RETRY(recv(socket, what, size_B, 0)) == (ssize_t)size_B;
}

static bool has_hung_up(int socket, int timeout_ms)
{
	struct pollfd end = {.fd = socket, .events = POLLRDHUP};

	return TEMP_FAILURE_RETRY(poll(&end, 1, timeout_ms)) == 1;
}

bool ends_is_alone(int socket)
{
	return has_hung_up(socket, 10000);
}

bool ends_has_hung_up(int socket)
{
	return has_hung_up(socket, 0);
}

static bool is_waker(int dir, const char *name)
{
	char target[64] = "";

	return readlinkat(dir, name, target, sizeof(target) - 1) > 0 && strstr(target, "timerfd");
}

unsigned ends_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(dir)))
		count += !is_waker(dirfd(dir), entry->d_name);
	closedir(dir);
	return count;
}

/* --- the two processes ------------------------------------------------------------------------ */

static const struct ends *ends;
static enum way victims_way;
static _Atomic bool may_fork;

void ends_may_fork(void)
{
	may_fork = true;
}

static void fork_here(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(HANGS_S);
		check_failed_ = 0;
		ends->forked();
		fflush(stdout);
		_exit(check_failed_ != 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

static void close_library(void)
{
	void *library = dlopen(ends->library, RTLD_NOW | RTLD_NOLOAD);

	CHECK(library && !dlclose(library));
}

/* The thread of the victim that ends it, when the tracer writes to its pipe. */
static void *end_here(void *pipe)
{
	static char name[] = "true", *const arguments[] = {name, NULL};
	char byte;

	if (read(*(int *)pipe, &byte, 1) != 1)
		return NULL;
	switch (victims_way) {
	case EXIT:
		exit(0);
	case EXIT_NOW:
		_exit(0);
	case EXEC:
		execv("/bin/true", arguments);
		abort();
	case FORK:
		if (may_fork)
			fork_here();
		break;
	case DLCLOSE:
		close_library();
		break;
	default:
		break;
	}
	return NULL;
}

/* Ends without what libraries do at exit(), which is the victim's to try. */
static void play(unsigned role, int socket)
{
	alarm(HANGS_S);
	check_failed_ = 0;
	ends->play(role, socket);
	fflush(stdout);
	_exit(check_failed_ != 0);
}

static void play_victim(unsigned role, int socket, int pipe)
{
	pthread_t thread;
	char byte;

	if (read(pipe, &byte, 1) != 1 || pthread_create(&thread, NULL, end_here, &pipe))
		abort();
	play(role, socket);
}

/* --- the tracer ------------------------------------------------------------------------------- */

struct duel {
	pid_t victim, survivor;
	int to_victim; /* a pipe */
	bool victim_over, survivor_over;
	int victim_status, survivor_status;
	long calls;     /* system calls that the victim has begun */
	pid_t stepping; /* INSIDE: the victim's thread that goes step by step; 0: none */
	unsigned steps; /* INSIDE: before the end */
};

static void interrupted(int number)
{
	(void)number;
}

static void duel_start(struct duel *d, const struct moment *m)
{
	const struct sigaction action = {.sa_handler = interrupted}; /* without SA_RESTART */
	int ends_of[2], pipes[2];

	sigaction(SIGUSR1, &action, NULL);
	*d = (struct duel){0};
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_of) && !pipe(pipes));
	victims_way = m->way;
	fflush(stdout);
	d->survivor = fork();
	if (!d->survivor) {
		close(ends_of[1]);
		close(pipes[1]);
		play(!m->role, ends_of[0]);
	}
	d->victim = fork();
	if (!d->victim) {
		close(ends_of[0]);
		close(pipes[1]);
		play_victim(m->role, ends_of[1], pipes[0]);
	}
	close(ends_of[0]);
	close(ends_of[1]);
	close(pipes[0]);
	d->to_victim = pipes[1];
	CHECK_EQ(ptrace(PTRACE_SEIZE, d->victim, NULL,
			PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL),
		 0);
	/* The victim stops; the tracer continues it from system call to system call. */
	CHECK_EQ(ptrace(PTRACE_INTERRUPT, d->victim, NULL, NULL), 0);
}

/* Instructions from the system call to the end: mostly few, the same ones when a case is repeated. */
static unsigned steps_of(const struct moment *m)
{
	uint64_t random = (uint64_t)m->n * 2 + m->role + 1;

	for (unsigned i = 0; i < 8; i++)
		(void)test_random(&random);
	return 1 + test_random_few(&random, STEP_BITS);
}

/* `thread` has begun the system call of the moment. */
static void end_victim(struct duel *d, pid_t thread, const struct moment *m)
{
	if (m->way == INSIDE) {
		d->stepping = thread;
		d->steps = steps_of(m);
	} else if (m->way == KILL) {
		kill(d->victim, SIGKILL);
	} else if (m->way == SIGNAL) {
		(void)tgkill(d->victim, thread, SIGUSR1);
	} else {
		CHECK_EQ(write(d->to_victim, "", 1), 1);
	}
}

static bool is_entry(pid_t thread)
{
	struct __ptrace_syscall_info info = {0};

	return ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

static bool is_moment(long calls, const struct moment *m)
{
	return m->n && (calls == m->n || (m->way == SIGNAL && calls > m->n && (calls - m->n) % SIGNAL_EACH == 0));
}

/* A thread of the victim has stopped. */
static void victim_stopped(struct duel *d, pid_t thread, int status, const struct moment *m)
{
	int signal = WSTOPSIG(status);

	if (signal == (SIGTRAP | 0x80)) {
		if (is_entry(thread) && is_moment(++d->calls, m))
			end_victim(d, thread, m);
		signal = 0;
	} else if (status >> 16) {
		signal = 0;
	} else if (thread == d->stepping && signal == SIGTRAP) {
		if (!d->steps--)
			kill(d->victim, SIGKILL);
		signal = 0;
	}
	/* Fails if the thread was killed meanwhile. */
	(void)ptrace(thread == d->stepping ? PTRACE_SINGLESTEP : PTRACE_SYSCALL, thread, NULL,
		     (void *)(long)signal);
}

static void duel_watch(struct duel *d, const struct moment *m)
{
	CHECK_EQ(write(d->to_victim, "", 1), 1);
	while (!d->victim_over || !d->survivor_over) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL);

		if (!CHECK(pid > 0))
			return;
		if (WIFSTOPPED(status)) {
			victim_stopped(d, pid, status, m);
		} else if (pid == d->survivor) {
			d->survivor_over = true;
			d->survivor_status = status;
		} else if (pid == d->victim) {
			d->victim_over = true;
			d->victim_status = status;
		}
	}
	close(d->to_victim);
}

/* --- a case ----------------------------------------------------------------------------------- */

static void check_nothing_stays(void)
{
	struct vgpu_live live;

	for (unsigned i = 0; i < 10000 && vgpu_live_objects(); i++)
		usleep(1000);
	vgpu_live(&live);
	if (!CHECK_EQ(vgpu_live_objects(), 0))
		printf("  %lu BOs, %lu mappings, %lu contexts, %lu files, %lu syncobjs, %lu BO lists, %lu jobs stay\n",
		       live.bos, live.mappings, live.contexts, live.files, live.syncobjs, live.bo_lists, live.jobs);
}

/* The victim may have completed its work before the moment came, or the thread that stepped has ended; exit() may come between two
 * of its checks. */
static void check_victim(const struct duel *d, const struct moment *m)
{
	bool ended = m->n && d->calls >= m->n, over = m->way < FORK;

	if (ended && m->way == KILL)
		CHECK_EQ(d->victim_status, SIGKILL);
	else if (ended && m->way == INSIDE)
		CHECK(d->victim_status == SIGKILL || !d->victim_status);
	else if (ended && over)
		CHECK(WIFEXITED(d->victim_status));
	else
		CHECK_EQ(d->victim_status, 0);
}

/* The number of the victim's system calls. */
static long run_case(const struct moment *m)
{
	char folder[] = "/tmp/tuff-ends-XXXXXX";
	struct duel d;

	if (!CHECK(mkdtemp(folder)))
		return 0;
	setenv("TMPDIR", folder, 1);
	unsetenv("XDG_RUNTIME_DIR");
	vgpu_strict_set(VGPU_STRICT_OFF); /* the buffers of a killed process are a finding */
	if (!CHECK_EQ(vgpu_start(ends->gpu), 0))
		return 0;
	duel_start(&d, m);
	duel_watch(&d, m);
	CHECK_EQ(d.survivor_status, 0);
	check_victim(&d, m);
	check_nothing_stays();
	vgpu_stop();
	CHECK_EQ(rmdir(folder), 0); /* the run's directory is gone */
	return d.calls;
}

/* Runs the case in a process of its own. False: a check failed. */
static bool try_case(const struct moment *m, long *calls)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		check_failed_ = 0;
		*calls = run_case(m);
		fflush(stdout);
		_exit(check_failed_ != 0);
	}
	if (CHECK_EQ(waitpid(pid, &status, 0), pid) && CHECK_EQ(status, 0))
		return true;
	printf("  the case was: %s %u %ld\n", ways[m->way].name, m->role, m->n);
	return false;
}

/* Counts the calls, then tries `cases` moments spread over them. */
static void try_way(enum way way, unsigned role, long cases, long *calls)
{
	struct moment m = {way, role, 0};
	unsigned long failed = 0;
	long total;

	if (!try_case(&m, calls))
		return;
	total = *calls;
	if (!cases || cases > total)
		cases = total;
	for (long i = 0; i < cases; i++) {
		m.n = 1 + total * (2 * i + 1) / (2 * cases);
		failed += !try_case(&m, calls);
	}
	printf("%s, %s: %ld of %ld system calls, %lu failed\n", ways[way].name, role ? "importer" : "exporter",
	       cases, total, failed);
	fflush(stdout);
}

int ends_main(const struct ends *of, int argc, char **argv)
{
	long *calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool all = getenv("TUFF_TEST_LONG");
	struct moment m = {KILL, 0, 0};

	ends = of;
	if (argc == 4) {
		while (m.way < WAYS && strcmp(argv[1], ways[m.way].name))
			m.way++;
		m.role = (unsigned)atoi(argv[2]);
		m.n = atol(argv[3]);
		printf("%ld system calls\n", run_case(&m));
		return check_done("an end");
	}
	for (enum way way = KILL; way < WAYS; way++)
		for (unsigned role = 0; role < 2 && (way != FORK || of->forked); role++)
			try_way(way, role, all ? ways[way].all : ways[way].sample, calls);
	return check_done("ends of processes that share");
}
