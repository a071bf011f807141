// Fills memory of the first GPU and reads it back, in C++: objects that free themselves, and structs by their bare names.
//
//     c++ memory.cc $(pkg-config --cflags --libs tuff) -o memory
#include <stdio.h>
#include <stdlib.h>

#include <tuff/tuff.h>

static void must(int r)
{
	if (r) {
		fprintf(stderr, "memory: %s\n", tuff_error());
		exit(1);
	}
}

class device {
public:
	device()
	{
		must(tuff_device_open(nullptr, &handle));
	}
	device(const device &) = delete;
	~device()
	{
		must(tuff_device_close(handle));
	}
	tuff_device_info query() const
	{
		tuff_device_info info;

		must(tuff_device_query(handle, &info));
		return info;
	}
	tuff_device *handle;
};

class memory {
public:
	memory(const device &gpu, uint64_t size_B, tuff_place place, unsigned flags)
	{
		tuff_mem_create_info how = {};

		how.size_B = size_B;
		how.place = place;
		how.flags = flags;
		must(tuff_mem_create(gpu.handle, &how, &handle));
	}
	memory(const memory &) = delete;
	~memory()
	{
		must(tuff_mem_destroy(handle));
	}
	tuff_mem_info query() const
	{
		tuff_mem_info info;

		must(tuff_mem_query(handle, &info));
		return info;
	}
	tuff_mem *handle;
};

static const unsigned size_B = 1 << 20;

static unsigned count_right(const void *map, uint8_t value)
{
	const uint8_t *bytes = static_cast<const uint8_t *>(map);
	unsigned right = 0;

	for (unsigned i = 0; i < size_B; i++)
		right += bytes[i] == value;
	return right;
}

int main()
{
	device gpu;
	memory vram(gpu, size_B, TUFF_VRAM, 0), host(gpu, size_B, TUFF_GTT, TUFF_MEM_CPU);
	void *there = reinterpret_cast<void *>(vram.query().va), *here = host.query().map;
	const tuff_device_info info = gpu.query();
	tuff_queue_status status;
	tuff_queue_create_info copy = {};
	tuff_queue *queue;
	tuff_point filled, copied;
	unsigned right;

	must(tuff_fill(gpu.handle, there, 42, size_B, nullptr, 0, &filled));
	must(tuff_copy(gpu.handle, here, there, size_B, &filled, 1, &copied));
	must(tuff_wait(copied, TUFF_FOREVER));
	right = count_right(here, 42);
	printf("%s, tuff %s: %u of %u bytes are right\n", info.name, tuff_version_text(), right, size_B);

	copy.engine = TUFF_COPY;
	must(tuff_queue_create(gpu.handle, &copy, &queue));
	must(tuff_queue_query(queue, &status));
	must(tuff_queue_destroy(queue));
	return right != size_B || status.lost;
}
