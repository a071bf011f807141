/* C++ without kernels, where hipcc is told so. */
#ifdef __HIP__
#error "this is compiled as HIP"
#endif

int main()
{
	return 0;
}
