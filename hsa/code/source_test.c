/* Readers of files: what another process does to the file afterwards changes nothing. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shaders/blob.h"
#include "tests/check.h"
#include "tests/hsa_find.h"
#include "vgpu/vgpu.h"

static struct hsa_find found;

static int file_make(const struct shader_blob *b)
{
	int fd = memfd_create("code", MFD_CLOEXEC);

	CHECK_EQ(write(fd, b->image, b->size_B), b->size_B);
	return fd;
}

static hsa_status_t load(hsa_code_object_reader_t reader)
{
	hsa_executable_t executable;
	hsa_status_t status;

	CHECK_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
					   &executable),
		 HSA_STATUS_SUCCESS);
	status = hsa_executable_load_agent_code_object(executable, found.gpu[0].agent, reader, NULL, NULL);
	CHECK_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
	return status;
}

/* A mapping of the file would be a SIGBUS. */
static void a_file_may_be_shortened(const struct shader_blob *b)
{
	hsa_code_object_reader_t reader;
	int fd = file_make(b);

	CHECK_EQ(hsa_code_object_reader_create_from_file(fd, &reader), HSA_STATUS_SUCCESS);
	CHECK(!ftruncate(fd, 0));
	CHECK_EQ(load(reader), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_code_object_reader_create_from_file(fd, &reader), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	close(fd);
}

/* A pipe cannot be read at an offset, and a folder not at all. */
static void what_is_no_file_is_refused(void)
{
	hsa_code_object_reader_t reader;
	int ends[2], folder = open("/tmp", O_RDONLY | O_CLOEXEC | O_DIRECTORY);

	CHECK(!pipe(ends));
	CHECK(hsa_code_object_reader_create_from_file(ends[0], &reader) != HSA_STATUS_SUCCESS);
	CHECK(hsa_code_object_reader_create_from_file(folder, &reader) != HSA_STATUS_SUCCESS);
	CHECK(hsa_code_object_reader_create_from_file(12345, &reader) != HSA_STATUS_SUCCESS);
	close(ends[0]);
	close(ends[1]);
	close(folder);
}

int main(void)
{
	const struct shader_blob *b = shader_find(shaders_blobs, "blit.O3", "gfx908");

	if (vgpu_start("gfx908:vram=128M") || hsa_init() || !hsa_find_all(&found))
		return 1;
	a_file_may_be_shortened(b);
	what_is_no_file_is_refused();
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	return check_done("readers of code objects");
}
