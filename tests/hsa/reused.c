/* A program closes descriptors that it does not know, and has files of its own at their numbers: the library neither reads nor
 * writes nor closes them. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/hsa_rig.h"

#define NUMBERS_MAX 64
#define OWN_TEXT    "0123456789abcdef"

static struct hsa_rig_kernel slow;

/* Numbers at which the library has a descriptor, of which /proc says that it is such a thing. */
static unsigned find_numbers(const char *what, int *number)
{
	DIR *all = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned count = 0;

	while (all && (entry = readdir(all)) && count < NUMBERS_MAX) {
		char text[64] = "";

		if (readlinkat(dirfd(all), entry->d_name, text, sizeof(text) - 1) > 0 && strstr(text, what) == text)
			number[count++] = atoi(entry->d_name);
	}
	if (all)
		closedir(all);
	return count;
}

static bool handle_once(hsa_signal_value_t value, void *arg)
{
	(void)value;
	__atomic_fetch_add((unsigned *)arg, 1, __ATOMIC_SEQ_CST);
	return false;
}

#define ROUNDS 40
#define TURNS  20000 /* some milliseconds */

/* The library's threads sleep until jobs end, and are woken by more work. */
static void work(void)
{
	hsa_queue_t *queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	hsa_signal_t done[ROUNDS];
	struct {
		uint32_t *data;
		uint32_t turns, pad;
	} args = {rig_host(4096), TURNS, 0};
	unsigned handled = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		done[i] = rig_signal(1);
		CHECK_EQ(hsa_amd_signal_async_handler(done[i], HSA_SIGNAL_CONDITION_LT, 1, handle_once, &handled),
			 HSA_STATUS_SUCCESS);
		rig_launch(queue, &slow, 64, i, &args, sizeof(args), done[i]);
		usleep(i % 4 * 200);
	}
	while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) < ROUNDS)
		usleep(1000);
	for (unsigned i = 0; i < ROUNDS; i++)
		hsa_signal_destroy(done[i]);
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(args.data), HSA_STATUS_SUCCESS);
}

static int own_file(void)
{
	char path[] = "/tmp/tuff-reused-XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	CHECK(write(fd, OWN_TEXT, sizeof(OWN_TEXT)) == sizeof(OWN_TEXT));
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void is_untouched(int fd)
{
	char text[64] = "";

	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 0);
	CHECK_EQ(pread(fd, text, sizeof(text), 0), sizeof(OWN_TEXT));
	CHECK_STR(text, OWN_TEXT);
}

/* With a second descriptor of the program's for each file. */
static void files_at_the_numbers_of_wakers(int *number, unsigned count)
{
	int own[NUMBERS_MAX];

	for (unsigned i = 0; i < count; i++) {
		own[i] = own_file();
		CHECK_EQ(dup2(own[i], number[i]), number[i]);
	}
	work();
	for (unsigned i = 0; i < count; i++) {
		is_untouched(own[i]);
		close(own[i]);
	}
}

static int own_listener(struct sockaddr_un *address, socklen_t *size_B)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	*size_B = offsetof(struct sockaddr_un, sun_path) + 1 +
		  (socklen_t)snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "tuff-reused-%d",
				      getpid());
	CHECK_EQ(bind(fd, (const struct sockaddr *)address, *size_B), 0);
	CHECK_EQ(listen(fd, 8), 0);
	return fd;
}

/* The program's clients are its own. */
static void a_socket_at_the_number_of_the_server(int number)
{
	struct sockaddr_un address;
	socklen_t size_B;
	int own = own_listener(&address, &size_B), client;

	CHECK_EQ(dup2(own, number), number);
	sleep(2);
	client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	CHECK_EQ(connect(client, (const struct sockaddr *)&address, size_B), 0);
	usleep(100000);
	CHECK_EQ(poll(&(struct pollfd){.fd = own, .events = POLLIN}, 1, 0), 1);
	close(client);
	close(own);
}

static unsigned collect_wakers(int *number)
{
	unsigned count = find_numbers("anon_inode:[eventfd]", number);

	return count + find_numbers("anon_inode:[timerfd]", number + count);
}

int main(void)
{
	int number[2 * NUMBERS_MAX], socket_number[NUMBERS_MAX];
	unsigned count, sockets;
	hsa_amd_ipc_memory_t handle;
	void *memory;

	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return check_done("numbers of descriptors that are used again");
	slow = rig_kernel("k_work.kd");
	memory = rig_memory(rig.found.gpu[0].coarse, 1 << 20);
	CHECK_EQ(collect_wakers(number), 0);
	CHECK_EQ(find_numbers("socket:", socket_number), 0);
	CHECK_EQ(hsa_amd_ipc_memory_create(memory, 1 << 20, &handle), HSA_STATUS_SUCCESS);
	sockets = find_numbers("socket:", socket_number);
	CHECK_EQ(sockets, 1);
	work();
	count = collect_wakers(number);
	CHECK(count > 1);
	a_socket_at_the_number_of_the_server(socket_number[0]);
	files_at_the_numbers_of_wakers(number, count);
	CHECK_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
	rig_stop();
	for (unsigned i = 0; i < count; i++)
		is_untouched(number[i]);
	CHECK(fcntl(socket_number[0], F_GETFD) >= 0);
	return check_done("numbers of descriptors that are used again");
}
