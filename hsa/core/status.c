#include <errno.h>
#include <stddef.h>

#include "hsa/core/core.h"
#include "hsa/core/table.h"

/* The text begins with the status's name: programs print it unchanged, and some search it for the name. */
#define ROW(name, text) {(int)(name), #name ": " text}
static const struct {
	int status;
	const char *text;
} texts[] = {
	ROW(HSA_STATUS_SUCCESS, "it is done"),
	ROW(HSA_STATUS_INFO_BREAK, "a callback has ended the iteration"),
	ROW(HSA_STATUS_ERROR, "it failed, and no other status says why"),
	ROW(HSA_STATUS_ERROR_INVALID_ARGUMENT, "an argument has no meaning here"),
	ROW(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, "the agent has no queue of this kind or size"),
	ROW(HSA_STATUS_ERROR_INVALID_ALLOCATION, "this memory cannot be allocated in this way"),
	ROW(HSA_STATUS_ERROR_INVALID_AGENT, "no such agent, or not one that can do this"),
	ROW(HSA_STATUS_ERROR_INVALID_REGION, "no such region"),
	ROW(HSA_STATUS_ERROR_INVALID_SIGNAL, "no such signal"),
	ROW(HSA_STATUS_ERROR_INVALID_QUEUE, "no such queue"),
	ROW(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "memory, descriptors or threads are exhausted"),
	ROW(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "a packet in the queue cannot be understood"),
	ROW(HSA_STATUS_ERROR_RESOURCE_FREE, "what was to be released cannot be"),
	ROW(HSA_STATUS_ERROR_NOT_INITIALIZED, "hsa_init was not called, or what was asked is not there"),
	ROW(HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, "hsa_init was called too often"),
	ROW(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, "the arguments do not go together"),
	ROW(HSA_STATUS_ERROR_INVALID_INDEX, "the index is past the end"),
	ROW(HSA_STATUS_ERROR_INVALID_ISA, "no such instruction set, or not the agent's"),
	ROW(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "the code object is damaged, or of a kind that cannot be loaded"),
	ROW(HSA_STATUS_ERROR_INVALID_EXECUTABLE, "no such executable"),
	ROW(HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "the executable is frozen"),
	ROW(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "no symbol has this name"),
	ROW(HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED, "the variable has a definition"),
	ROW(HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "the variable has no definition"),
	ROW(HSA_STATUS_ERROR_EXCEPTION, "a kernel raised an exception"),
	ROW(HSA_STATUS_ERROR_INVALID_ISA_NAME, "no instruction set has this name"),
	ROW(HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, "no such symbol of a code object"),
	ROW(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL, "no such symbol of an executable"),
	ROW(HSA_STATUS_ERROR_INVALID_FILE, "the file descriptor cannot be read"),
	ROW(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, "no such code object reader"),
	ROW(HSA_STATUS_ERROR_INVALID_CACHE, "no such cache"),
	ROW(HSA_STATUS_ERROR_INVALID_WAVEFRONT, "no such wavefront"),
	ROW(HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, "no such signal group"),
	ROW(HSA_STATUS_ERROR_INVALID_RUNTIME_STATE, "not in this state of the runtime"),
	ROW(HSA_STATUS_ERROR_FATAL, "the queue cannot go on, and perhaps the process cannot"),
	ROW(HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "no such memory pool"),
	ROW(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION, "a kernel reached outside its address space"),
	ROW(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "a kernel has an instruction that the agent does not know"),
	ROW(HSA_STATUS_ERROR_MEMORY_FAULT, "a kernel reached memory that is not there for it"),
	ROW(HSA_STATUS_CU_MASK_REDUCED, "done, without those compute units that the process may not use"),
	ROW(HSA_STATUS_ERROR_OUT_OF_REGISTERS, "a kernel needs more registers than the agent has"),
	ROW(HSA_STATUS_ERROR_RESOURCE_BUSY, "something else uses it"),
	ROW(HSA_STATUS_ERROR_NOT_SUPPORTED, "this cannot be done here"),
	ROW(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED, "no image has this format"),
	ROW(HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED, "the image is too large"),
	ROW(HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED, "rows or slices cannot be that far apart"),
	ROW(HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED, "no sampler works like this"),
	ROW(HSA_EXT_STATUS_ERROR_INVALID_PROGRAM, "no such program"),
	ROW(HSA_EXT_STATUS_ERROR_INVALID_MODULE, "the module is damaged"),
	ROW(HSA_EXT_STATUS_ERROR_INCOMPATIBLE_MODULE, "the module does not suit the program"),
	ROW(HSA_EXT_STATUS_ERROR_MODULE_ALREADY_INCLUDED, "the program has this module"),
	ROW(HSA_EXT_STATUS_ERROR_SYMBOL_MISMATCH, "two modules disagree about a symbol"),
	ROW(HSA_EXT_STATUS_ERROR_FINALIZATION_FAILED, "no code could be made"),
	ROW(HSA_EXT_STATUS_ERROR_DIRECTIVE_MISMATCH, "a control directive contradicts another"),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

hsa_status_t impl_hsa_status_string(hsa_status_t status, const char **status_string)
{
	if (!status_string)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (size_t i = 0; i < COUNT(texts); i++)
		if (texts[i].status == (int)status) {
			*status_string = texts[i].text;
			return HSA_STATUS_SUCCESS;
		}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* The status of an -errno that a function does not translate itself; a function that knows more (which handle was
 * wrong, that it was a code object's) returns its own status. Values not in the table: HSA_STATUS_ERROR. */
static const struct {
	int error;
	hsa_status_t status;
} meanings[] = {
	{0, HSA_STATUS_SUCCESS},
	{-EINVAL, HSA_STATUS_ERROR_INVALID_ARGUMENT},
	{-EFAULT, HSA_STATUS_ERROR_INVALID_ARGUMENT},
	{-ERANGE, HSA_STATUS_ERROR_INVALID_ARGUMENT},
	{-EOVERFLOW, HSA_STATUS_ERROR_INVALID_ARGUMENT},
	{-EBADF, HSA_STATUS_ERROR_INVALID_ARGUMENT}, /* an object that does not exist any more */
	{-EXDEV, HSA_STATUS_ERROR_INVALID_AGENT},    /* an object of another device */
	{-ENOMEM, HSA_STATUS_ERROR_OUT_OF_RESOURCES},
	{-ENOSPC, HSA_STATUS_ERROR_OUT_OF_RESOURCES},
	{-EAGAIN, HSA_STATUS_ERROR_OUT_OF_RESOURCES}, /* no thread could be started */
	{-EMFILE, HSA_STATUS_ERROR_OUT_OF_RESOURCES},
	{-ENFILE, HSA_STATUS_ERROR_OUT_OF_RESOURCES},
	{-EFBIG, HSA_STATUS_ERROR_OUT_OF_RESOURCES}, /* RLIMIT_FSIZE */
	{-EBUSY, (hsa_status_t)HSA_STATUS_ERROR_RESOURCE_BUSY},
	{-ENOEXEC, HSA_STATUS_ERROR_INVALID_CODE_OBJECT},
	{-ENODEV, HSA_STATUS_ERROR_FATAL},    /* the GPU was removed, or belongs to the process that forked */
	{-ECANCELED, HSA_STATUS_ERROR_FATAL}, /* the context was reset */
};

hsa_status_t hsa_status_of(int r)
{
	for (size_t i = 0; i < COUNT(meanings); i++)
		if (meanings[i].error == r)
			return meanings[i].status;
	return HSA_STATUS_ERROR;
}
