/* Sharing of memory and events with other GPUs of the process, and with other processes. All functions are thread
 * safe. */
#ifndef HIP_API_SHARE_H
#define HIP_API_SHARE_H

#include <hip/api/event.h>
#include <hip/api/memory.h>

#define HIP_IPC_HANDLE_SIZE           64
#define hipIpcMemLazyEnablePeerAccess 0x01

/* Bytes to send to another process by any means. */
typedef struct hipIpcMemHandle_st {
	char reserved[HIP_IPC_HANDLE_SIZE];
} hipIpcMemHandle_t;

typedef struct hipIpcEventHandle_st {
	char reserved[HIP_IPC_HANDLE_SIZE];
} hipIpcEventHandle_t;

HIP_API_BEGIN

/* 1: kernels of the first device can access the second's memory once that is enabled. 0 for a device and itself. */
hipError_t hipDeviceCanAccessPeer(int *canAccessPeer, int deviceId, int peerDeviceId);
/* Enables and disables access of the current device to the peer's memory, in one direction; flags: 0. Errors:
 * PeerAccessAlreadyEnabled, PeerAccessNotEnabled, PeerAccessUnsupported, InvalidDevice. */
hipError_t hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags);
hipError_t hipDeviceDisablePeerAccess(int peerDeviceId);

/* Makes a handle of the whole allocation that contains devPtr. The memory must live as long as others use it. */
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *devPtr);
/* flags: hipIpcMemLazyEnablePeerAccess; libamdhip64.so.5 also takes 0, its value in HIP 5.2. Opening a handle twice gives the same address. Errors: InvalidContext, in
 * the process that exported the memory. */
hipError_t hipIpcOpenMemHandle(void **devPtr, hipIpcMemHandle_t handle, unsigned int flags);
hipError_t hipIpcCloseMemHandle(void *devPtr);
/* The event needs hipEventInterprocess; hipEventDestroy() closes an opened one. */
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t *handle, hipEvent_t event);
hipError_t hipIpcOpenEventHandle(hipEvent_t *event, hipIpcEventHandle_t handle);

HIP_API_END

#endif
