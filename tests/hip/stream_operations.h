/* Cells of memory, and operations that read some and write others: on the GPU, on the host, and in a model. Used by
 * streams_random.hip. */
#ifndef TESTS_HIP_STREAM_OPERATIONS_H
#define TESTS_HIP_STREAM_OPERATIONS_H

#include <vector>

#include "tests/clients/hip/hip.h"

#define ROWS 16u /* of a cell: each has one word that operations look at */

enum home_kind { DEVICE, POOL, PINNED, NON_COHERENT, REGISTERED, MANAGED, PAGEABLE };

struct cell {
	unsigned *at;
	unsigned row_words;
	home_kind home;
	int device;         /* of DEVICE and POOL */
	bool live, defined; /* there is memory; something wrote all of it */
	unsigned values[ROWS];

	size_t size_B() const
	{
		return ROWS * row_words * sizeof(unsigned);
	}
	bool on_device() const
	{
		return home == DEVICE || home == POOL;
	}
};

/* The column of a row's word. */
__host__ __device__ static unsigned column_of(unsigned row, unsigned row_words)
{
	return (row * 37 + 5) % row_words;
}

__host__ __device__ static unsigned word_of(unsigned row, unsigned row_words)
{
	return row * row_words + column_of(row, row_words);
}

/* What kernels and host functions compute: each word of the outputs is a function of the same word of the inputs.
 */
struct work {
	struct {
		unsigned *at, row_words;
	} in[3], out[2];
	unsigned ins, outs, id, before, between; /* delays, in sleeps */
};

__host__ __device__ static unsigned mix(unsigned value, unsigned more)
{
	return (value ^ more) * 0x9e3779b1u + (value >> 15);
}

__host__ __device__ static void run_row(const work &w, unsigned row)
{
	unsigned value = w.id * ROWS + row;

	for (unsigned i = 0; i < w.ins; i++)
		value = mix(value, w.in[i].at[word_of(row, w.in[i].row_words)]);
#ifdef __HIP_DEVICE_COMPILE__
	for (unsigned i = 0; i < w.between; i++)
		__builtin_amdgcn_s_sleep(8);
#endif
	for (unsigned i = 0; i < w.outs; i++)
		w.out[i].at[word_of(row, w.out[i].row_words)] = mix(value, i);
}

__global__ void run_work(work w)
{
	for (unsigned i = 0; i < w.before; i++)
		__builtin_amdgcn_s_sleep(8);
	run_row(w, blockIdx.x * blockDim.x + threadIdx.x);
}

static void run_on_host(void *arg)
{
	for (unsigned row = 0; row < ROWS; row++)
		run_row(*static_cast<const work *>(arg), row);
}

static void run_as_callback(hipStream_t, hipError_t, void *arg)
{
	run_on_host(arg);
}

__global__ void nothing()
{
}

__global__ void hold(const unsigned *go)
{
	while (!__hip_atomic_load(go, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(32);
}

/* The words of a cell to the host, or from there. */
__global__ void move(unsigned *at, unsigned row_words, unsigned *words, bool in)
{
	unsigned *word = at + word_of(threadIdx.x, row_words);

	if (in)
		*word = words[threadIdx.x];
	else
		words[threadIdx.x] = *word;
}

/* --- operations ------------------------------------------------------------------------------- */

enum op_kind { KERNEL, COPY, COPY_ROWS, FILL, FILL_ROWS, HOST, VALUE, OP_KINDS };
static const char *const op_names[] = {"kernel",       "copy",          "copy of rows", "fill",
				       "fill of rows", "host function", "value"};

struct operation {
	op_kind kind;
	std::vector<unsigned> reads, writes;
	unsigned first, words;               /* of bytes in a row */
	unsigned row, rows, column, columns; /* of rows; row is also where a value goes */
	unsigned value, way;                 /* which of the functions that do this */
	work what;
};

static unsigned fill_value_of(const operation &o)
{
	const unsigned byte = o.value & 0xff, half = o.value & 0xffff;

	if (o.kind == FILL && o.way % 4 == 0)
		return o.value;
	return o.kind == FILL && o.way % 4 == 1 ? half * 0x10001u : byte * 0x1010101u;
}

static bool reaches_row(const operation &o, unsigned row, unsigned row_words)
{
	unsigned word = word_of(row, row_words), column = column_of(row, row_words);

	if (o.kind == COPY || o.kind == FILL)
		return word >= o.first && word < o.first + o.words;
	return row >= o.row && row < o.row + o.rows && column >= o.column && column < o.column + o.columns;
}

/* The same on the values of the model. */
static void run_on_model(const operation &o, std::vector<cell> &cells)
{
	for (unsigned row = 0; row < ROWS; row++) {
		unsigned value = o.what.id * ROWS + row, *to = &cells[o.writes[0]].values[row];

		switch (o.kind) {
		case KERNEL:
		case HOST:
			for (unsigned c : o.reads)
				value = mix(value, cells[c].values[row]);
			for (unsigned i = 0; i < o.writes.size(); i++)
				cells[o.writes[i]].values[row] = mix(value, i);
			break;
		case VALUE:
			if (row == o.row)
				*to = o.value;
			break;
		default:
			if (reaches_row(o, row, cells[o.writes[0]].row_words))
				*to = o.reads.empty() ? fill_value_of(o) : cells[o.reads[0]].values[row];
		}
	}
	for (unsigned c : o.writes)
		cells[c].defined = true;
}

static hipMemcpyKind kind_of(const cell &to, const cell &from)
{
	if (to.home == MANAGED || from.home == MANAGED)
		return hipMemcpyDefault;
	if (to.on_device())
		return from.on_device() ? hipMemcpyDeviceToDevice : hipMemcpyHostToDevice;
	return from.on_device() ? hipMemcpyDeviceToHost : hipMemcpyHostToHost;
}

/* wait: the stream is the null stream, and the function without a stream copies. */
static void issue_copy(const operation &o, const cell &to, const cell &from, hipStream_t s, bool wait)
{
	hipMemcpyKind kind = o.way % 2 ? kind_of(to, from) : hipMemcpyDefault;
	const size_t size_B = o.words * 4, pitch_B = to.row_words * 4, at = o.row * to.row_words + o.column;

	if (o.kind == COPY && wait)
		HIP(hipMemcpy(to.at + o.first, from.at + o.first, size_B, kind));
	else if (o.kind == COPY && to.on_device() && from.on_device() && o.way % 3 == 0)
		HIP(hipMemcpyPeerAsync(to.at + o.first, to.device, from.at + o.first, from.device, size_B, s));
	else if (o.kind == COPY)
		HIP(hipMemcpyAsync(to.at + o.first, from.at + o.first, size_B, kind, s));
	else if (wait)
		HIP(hipMemcpy2D(to.at + at, pitch_B, from.at + at, pitch_B, o.columns * 4, o.rows, kind));
	else
		HIP(hipMemcpy2DAsync(to.at + at, pitch_B, from.at + at, pitch_B, o.columns * 4, o.rows, kind, s));
}

static void issue_fill(const operation &o, const cell &to, hipStream_t s)
{
	unsigned *first = to.at + o.first;

	if (o.kind == FILL_ROWS)
		HIP(hipMemset2DAsync(to.at + o.row * to.row_words + o.column, to.row_words * 4,
				     (int)(o.value & 0xff), o.columns * 4, o.rows, s));
	else if (o.way % 4 == 0)
		HIP(hipMemsetD32Async((hipDeviceptr_t)first, (int)o.value, o.words, s));
	else if (o.way % 4 == 1)
		HIP(hipMemsetD16Async((hipDeviceptr_t)first, (unsigned short)o.value, o.words * 2, s));
	else
		HIP(hipMemsetAsync(first, (int)(o.value & 0xff), o.words * 4, s));
}

/* The operation lives until it has run. */
static void issue(operation &o, const std::vector<cell> &cells, hipStream_t s, bool wait, bool captured)
{
	const cell &to = cells[o.writes[0]];
	const unsigned blocks = o.way % 4 == 0 ? ROWS : 1;

	switch (o.kind) {
	case KERNEL:
		run_work<<<blocks, ROWS / blocks, 0, s>>>(o.what);
		HIP_LAUNCHED();
		break;
	case COPY:
	case COPY_ROWS:
		issue_copy(o, to, cells[o.reads[0]], s, wait);
		break;
	case FILL:
	case FILL_ROWS:
		issue_fill(o, to, s);
		break;
	case HOST:
		if (o.way % 4 == 0 && !captured)
			HIP(hipStreamAddCallback(s, run_as_callback, &o.what, 0));
		else
			HIP(hipLaunchHostFunc(s, run_on_host, &o.what));
		break;
	default:
		HIP(hipStreamWriteValue32(s, to.at + word_of(o.row, to.row_words), o.value, 0));
	}
}

#endif
