/* Costs of HIP's hot paths on the null device: libamdhip64.so.6 and libhsa-runtime64.so.1 as programs load them,
 * procedure linkage included, through their public interface alone. bench/hip/rig.h describes a row. */
#include <stdio.h>

#include "tests/bench/hip/rig.h"

int main(void)
{
	printf("HIP on the null device: instructions of the calling thread outside the virtual device, by ptrace\n"
	       "kernels: without arguments; with 4; with 4 and the hidden ones of code objects v5 or v4\n");
	bench_launch();
	bench_wait();
	bench_copy();
	bench_graph();
	bench_event();
	bench_pool();
	return 0;
}
