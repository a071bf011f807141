/* Programs that include it by this name want device/attributes.h. */
#include <hip/device/attributes.h>
