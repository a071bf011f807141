/* Definitions of HIP's device language that the project's own kernels need; clang defines the rest. */
#ifndef SHADERS_DEVICE_H
#define SHADERS_DEVICE_H

#define __device__           __attribute__((device))
#define __global__           __attribute__((global))
#define __shared__           __attribute__((shared))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef u32 u32x4 __attribute__((ext_vector_type(4)));

#define LANE_X  __builtin_amdgcn_workitem_id_x()
#define LANE_Y  __builtin_amdgcn_workitem_id_y()
#define LANE_Z  __builtin_amdgcn_workitem_id_z()
#define GROUP_X __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y __builtin_amdgcn_workgroup_id_y()
#define GROUP_Z __builtin_amdgcn_workgroup_id_z()
/* Work-items of a full workgroup, from the hidden arguments. */
#define SIZE_X __builtin_amdgcn_workgroup_size_x()
#define SIZE_Y __builtin_amdgcn_workgroup_size_y()
#define SIZE_Z __builtin_amdgcn_workgroup_size_z()

/* A workgroup barrier that orders LDS. */
static inline __device__ void barrier()
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#endif
