/* Debian's libhipsparse0: a matrix in three formats, its transpose, and products with it, against the CPU. */
#include "tests/clients/hip/hip.h"

#include <hipsparse/hipsparse.h>

#define ROWS         300
#define COLS         257
#define SPARSE(call) CHECK_EQ(call, HIPSPARSE_STATUS_SUCCESS)

/* By rows. The values are small integers, so that no sum is rounded. */
struct matrix {
	std::vector<int> row, begin, col;
	std::vector<float> value;
};

static matrix make()
{
	matrix m;

	for (int r = 0; r < ROWS; r++) {
		m.begin.push_back((int)m.col.size());
		for (int c = r % 7; c < COLS && r % 11; c += 3 + r % 40) {
			m.row.push_back(r);
			m.col.push_back(c);
			m.value.push_back((float)((r * 31 + c * 17) % 15 - 7));
		}
	}
	m.begin.push_back((int)m.col.size());
	return m;
}

template <typename T> static unsigned differing(const std::vector<T> &got, const std::vector<T> &want)
{
	unsigned wrong = got.size() != want.size();

	for (size_t i = 0; i < want.size() && !wrong; i++)
		wrong += got[i] != want[i];
	return wrong;
}

static std::vector<float> times(const matrix &m, const std::vector<float> &x, bool transposed)
{
	std::vector<float> y(transposed ? COLS : ROWS);

	for (size_t i = 0; i < m.col.size(); i++)
		y[transposed ? m.col[i] : m.row[i]] += m.value[i] * x[transposed ? m.row[i] : m.col[i]];
	return y;
}

/* From a list of rows, and back. */
static void formats(hipsparseHandle_t handle, const matrix &m)
{
	const int count = (int)m.col.size();
	gpu_array<int> row(m.row), begin(ROWS + 1), again(m.row.size());

	SPARSE(hipsparseXcoo2csr(handle, row.at, count, ROWS, begin.at, HIPSPARSE_INDEX_BASE_ZERO));
	CHECK_EQ(differing(begin.read(), m.begin), 0);
	SPARSE(hipsparseXcsr2coo(handle, begin.at, count, ROWS, again.at, HIPSPARSE_INDEX_BASE_ZERO));
	CHECK_EQ(differing(again.read(), m.row), 0);
}

/* By columns is the transpose by rows. */
static void transpose(hipsparseHandle_t handle, const matrix &m)
{
	const int count = (int)m.col.size();
	gpu_array<int> begin(m.begin), col(m.col), col_begin(COLS + 1), row(m.col.size());
	gpu_array<float> value(m.value), by_col(m.col.size());
	std::vector<int> want_row;
	std::vector<float> want;

	SPARSE(hipsparseScsr2csc(handle, ROWS, COLS, count, value.at, begin.at, col.at, by_col.at, row.at,
				 col_begin.at, HIPSPARSE_ACTION_NUMERIC, HIPSPARSE_INDEX_BASE_ZERO));
	for (int c = 0; c < COLS; c++)
		for (int i = 0; i < count; i++)
			if (m.col[i] == c) {
				want_row.push_back(m.row[i]);
				want.push_back(m.value[i]);
			}
	CHECK_EQ(differing(row.read(), want_row), 0);
	CHECK_EQ(differing(by_col.read(), want), 0);
}

/* y = 3 A x - 2 y, or with the transpose. */
static void multiply(hipsparseHandle_t handle, const matrix &m, hipsparseOperation_t op)
{
	const bool transposed = op == HIPSPARSE_OPERATION_TRANSPOSE;
	const size_t in = transposed ? ROWS : COLS, out = transposed ? COLS : ROWS;
	const float alpha = 3, beta = -2;
	std::vector<float> x(in), y(out), want;
	hipsparseDnVecDescr_t vec_x, vec_y;
	hipsparseSpMatDescr_t mat;
	size_t size_B = 0;

	for (size_t i = 0; i < in; i++)
		x[i] = (float)(i % 13) - 6;
	for (size_t i = 0; i < out; i++)
		y[i] = (float)(i % 5);
	want = times(m, x, transposed);
	for (size_t i = 0; i < out; i++)
		want[i] = alpha * want[i] + beta * y[i];
	gpu_array<int> begin(m.begin), col(m.col);
	gpu_array<float> value(m.value), gpu_x(x), gpu_y(y);
	SPARSE(hipsparseCreateCsr(&mat, ROWS, COLS, m.col.size(), begin.at, col.at, value.at, HIPSPARSE_INDEX_32I,
				  HIPSPARSE_INDEX_32I, HIPSPARSE_INDEX_BASE_ZERO, HIP_R_32F));
	SPARSE(hipsparseCreateDnVec(&vec_x, in, gpu_x.at, HIP_R_32F));
	SPARSE(hipsparseCreateDnVec(&vec_y, out, gpu_y.at, HIP_R_32F));
	SPARSE(hipsparseSpMV_bufferSize(handle, op, &alpha, mat, vec_x, &beta, vec_y, HIP_R_32F,
					HIPSPARSE_MV_ALG_DEFAULT, &size_B));
	gpu_array<char> buffer(size_B + 1);
	SPARSE(hipsparseSpMV(handle, op, &alpha, mat, vec_x, &beta, vec_y, HIP_R_32F, HIPSPARSE_MV_ALG_DEFAULT,
			     buffer.at));
	CHECK_EQ(differing(gpu_y.read(), want), 0);
	SPARSE(hipsparseDestroyDnVec(vec_x));
	SPARSE(hipsparseDestroyDnVec(vec_y));
	SPARSE(hipsparseDestroySpMat(mat));
}

int main()
{
	const matrix m = make();
	hipsparseHandle_t handle;
	hipStream_t stream;

	SPARSE(hipsparseCreate(&handle));
	HIP(hipStreamCreate(&stream));
	SPARSE(hipsparseSetStream(handle, stream));
	formats(handle, m);
	transpose(handle, m);
	multiply(handle, m, HIPSPARSE_OPERATION_NON_TRANSPOSE);
	multiply(handle, m, HIPSPARSE_OPERATION_TRANSPOSE);
	SPARSE(hipsparseDestroy(handle));
	HIP(hipStreamDestroy(stream));
	return check_done("hipsparse's formats and products");
}
