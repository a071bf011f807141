/* Debian's librocsparse: a sparse matrix times a vector, in several types and formats, against the CPU. */
#include "tests/clients/hip/hip.h"

#include <complex>
#include <math.h>
#include <rocsparse/rocsparse.h>

#define ROWS      500
#define COLS      431
#define ROC(call) CHECK_EQ(call, rocsparse_status_success)

struct csr {
	std::vector<int> row, col; /* row: ROWS + 1 beginnings */
	std::vector<double> value;
};

/* A few long rows, many short ones, some empty. The values are small integers, so that no sum is rounded. */
static csr matrix()
{
	unsigned seed = 12345;
	csr m;

	for (int r = 0; r < ROWS; r++) {
		int step = r % 97 == 0 ? 1 : r % 5 ? 40 + r % 23 : COLS;

		m.row.push_back((int)m.col.size());
		for (int c = r % step; c < COLS && step < COLS; c += step) {
			m.col.push_back(c);
			m.value.push_back((double)((seed = seed * 1664525u + 1013904223u) >> 28) - 8);
		}
	}
	m.row.push_back((int)m.col.size());
	return m;
}

template <typename T> struct host_type {
	typedef T type;
};
template <> struct host_type<rocsparse_float_complex> {
	typedef std::complex<float> type;
};
template <> struct host_type<rocsparse_double_complex> {
	typedef std::complex<double> type;
};

static rocsparse_status csrmv(rocsparse_handle h, const float *a, rocsparse_mat_descr d, const float *v,
			      const int *r, const int *c, int nnz, const float *x, const float *b, float *y)
{
	return rocsparse_scsrmv(h, rocsparse_operation_none, ROWS, COLS, nnz, a, d, v, r, c, NULL, x, b, y);
}

static rocsparse_status csrmv(rocsparse_handle h, const double *a, rocsparse_mat_descr d, const double *v,
			      const int *r, const int *c, int nnz, const double *x, const double *b, double *y)
{
	return rocsparse_dcsrmv(h, rocsparse_operation_none, ROWS, COLS, nnz, a, d, v, r, c, NULL, x, b, y);
}

static rocsparse_status csrmv(rocsparse_handle h, const rocsparse_float_complex *a, rocsparse_mat_descr d,
			      const rocsparse_float_complex *v, const int *r, const int *c, int nnz,
			      const rocsparse_float_complex *x, const rocsparse_float_complex *b,
			      rocsparse_float_complex *y)
{
	return rocsparse_ccsrmv(h, rocsparse_operation_none, ROWS, COLS, nnz, a, d, v, r, c, NULL, x, b, y);
}

static rocsparse_status csrmv(rocsparse_handle h, const rocsparse_double_complex *a, rocsparse_mat_descr d,
			      const rocsparse_double_complex *v, const int *r, const int *c, int nnz,
			      const rocsparse_double_complex *x, const rocsparse_double_complex *b,
			      rocsparse_double_complex *y)
{
	return rocsparse_zcsrmv(h, rocsparse_operation_none, ROWS, COLS, nnz, a, d, v, r, c, NULL, x, b, y);
}

/* y = 2 A x - 3 y */
template <typename T> static void multiply(rocsparse_handle handle, const csr &m)
{
	typedef typename host_type<T>::type H;
	const H alpha = 2, beta = -3;
	std::vector<H> value(m.value.begin(), m.value.end()), x(COLS), y(ROWS), want(ROWS);
	rocsparse_mat_descr about;
	unsigned wrong = 0;

	for (int i = 0; i < COLS; i++)
		x[i] = (H)(i % 13 - 6);
	for (int i = 0; i < ROWS; i++) {
		want[i] = y[i] = (H)(i % 7);
		want[i] *= beta;
		for (int k = m.row[i]; k < m.row[i + 1]; k++)
			want[i] += alpha * value[k] * x[m.col[k]];
	}
	gpu_array<int> row(m.row), col(m.col);
	gpu_array<H> gpu_value(value), gpu_x(x), gpu_y(y);
	ROC(rocsparse_create_mat_descr(&about));
	ROC(csrmv(handle, (const T *)&alpha, about, (const T *)gpu_value.at, row.at, col.at, (int)m.col.size(),
		  (const T *)gpu_x.at, (const T *)&beta, (T *)gpu_y.at));
	std::vector<H> got = gpu_y.read();
	for (int i = 0; i < ROWS; i++)
		wrong += got[i] != want[i];
	if (!CHECK_EQ(wrong, 0))
		printf("  a type of %zu bytes\n", sizeof(T));
	ROC(rocsparse_destroy_mat_descr(about));
}

/* The generic interface chooses the kernel itself; the adaptive one looks at the matrix first. */
static void generic(rocsparse_handle handle, const csr &m, rocsparse_spmv_alg algorithm)
{
	const double alpha = 1, beta = 0;
	std::vector<double> x(COLS), want(ROWS);
	rocsparse_spmat_descr a;
	rocsparse_dnvec_descr vx, vy;
	size_t size_B = 0;
	void *buffer = NULL;
	unsigned wrong = 0;

	for (int i = 0; i < COLS; i++)
		x[i] = i % 11;
	for (int i = 0; i < ROWS; i++)
		for (int k = m.row[i]; k < m.row[i + 1]; k++)
			want[i] += m.value[k] * x[m.col[k]];
	gpu_array<int> row(m.row), col(m.col);
	gpu_array<double> value(m.value), gpu_x(x), gpu_y(ROWS);
	ROC(rocsparse_create_csr_descr(&a, ROWS, COLS, (int64_t)m.col.size(), row.at, col.at, value.at,
				       rocsparse_indextype_i32, rocsparse_indextype_i32, rocsparse_index_base_zero,
				       rocsparse_datatype_f64_r));
	ROC(rocsparse_create_dnvec_descr(&vx, COLS, gpu_x.at, rocsparse_datatype_f64_r));
	ROC(rocsparse_create_dnvec_descr(&vy, ROWS, gpu_y.at, rocsparse_datatype_f64_r));
	for (unsigned call = 0; call < 3; call++) {
		ROC(rocsparse_spmv(handle, rocsparse_operation_none, &alpha, a, vx, &beta, vy,
				   rocsparse_datatype_f64_r, algorithm, &size_B, buffer));
		if (!buffer)
			HIP(hipMalloc(&buffer, size_B));
	}
	std::vector<double> got = gpu_y.read();
	for (int i = 0; i < ROWS; i++)
		wrong += got[i] != want[i];
	CHECK_EQ(wrong, 0);
	HIP(hipFree(buffer));
	ROC(rocsparse_destroy_spmat_descr(a));
	ROC(rocsparse_destroy_dnvec_descr(vx));
	ROC(rocsparse_destroy_dnvec_descr(vy));
}

int main()
{
	rocsparse_handle handle;
	csr m = matrix();

	ROC(rocsparse_create_handle(&handle));
	multiply<float>(handle, m);
	multiply<double>(handle, m);
	multiply<rocsparse_float_complex>(handle, m);
	multiply<rocsparse_double_complex>(handle, m);
	generic(handle, m, rocsparse_spmv_alg_csr_stream);
	generic(handle, m, rocsparse_spmv_alg_csr_adaptive);
	ROC(rocsparse_destroy_handle(handle));
	return check_done("rocsparse's matrix times vector");
}
