/* C, not C++: a name of C++ is a variable. */
#include <hip/hip_runtime_api.h>

int main(void)
{
	int new = 0;

	return hipGetDeviceCount(&new) || new != 1;
}
