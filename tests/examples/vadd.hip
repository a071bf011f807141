/* clang-19 -x hip --offload-device-only --offload-arch=gfx908 -nogpuinc -nogpulib --no-gpu-bundle-output -O2 vadd.hip */
extern "C" __attribute__((global)) void vadd(float *c, const float *a, const float *b, unsigned n)
{
	unsigned i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();

	if (i < n)
		c[i] = a[i] + b[i];
}
