/* Sharing: with other GPUs of the process, and with other processes. All functions are thread safe. */
#ifndef HIP_API_SHARE_H
#define HIP_API_SHARE_H

#include <hip/api/event.h>
#include <hip/api/memory.h>

#define HIP_IPC_HANDLE_SIZE           64
#define hipIpcMemLazyEnablePeerAccess 0x01

/* Bytes that can be sent to another process by any means. */
typedef struct hipIpcMemHandle_st {
	char reserved[HIP_IPC_HANDLE_SIZE];
} hipIpcMemHandle_t;

typedef struct hipIpcEventHandle_st {
	char reserved[HIP_IPC_HANDLE_SIZE];
} hipIpcEventHandle_t;

HIP_API_BEGIN

/* 1: the first device's kernels could use the second's memory. Of a device and itself: 0. */
hipError_t hipDeviceCanAccessPeer(int *canAccessPeer, int deviceId, int peerDeviceId);
/* Between the current device and the peer, in one direction; flags: 0. PeerAccessAlreadyEnabled,
 * PeerAccessNotEnabled, PeerAccessUnsupported, InvalidDevice. */
hipError_t hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags);
hipError_t hipDeviceDisablePeerAccess(int peerDeviceId);

/* A handle of the whole allocation that devPtr is in. The memory must live as long as others use it. */
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *devPtr);
/* flags: hipIpcMemLazyEnablePeerAccess. The same handle opened twice is the same address. InvalidContext: in the
 * process that has the memory. */
hipError_t hipIpcOpenMemHandle(void **devPtr, hipIpcMemHandle_t handle, unsigned int flags);
hipError_t hipIpcCloseMemHandle(void *devPtr);
/* The event needs hipEventInterprocess; hipEventDestroy() closes an opened one. */
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t *handle, hipEvent_t event);
hipError_t hipIpcOpenEventHandle(hipEvent_t *event, hipIpcEventHandle_t handle);

HIP_API_END

#endif
